#include "tpcc.h"

struct new_order new_order_draw(struct prng *prng, uint64_t items)
{
    struct new_order ask = { .district = prng_below(prng, DISTRICTS),
                             .customer = prng_below(prng, CUSTOMERS),
                             .lines = LEAST_LINES + prng_below(prng, MOST_LINES - LEAST_LINES + 1) };

    /* One in a hundred. */
    ask.item_unknown = prng_below(prng, 100) == 0;
    for (uint64_t l = 0; l < ask.lines; l++) {
        uint64_t item = prng_below(prng, items), before = 0;
        while (before < l)
            if (ask.line[before].item == item) {
                item = (item + 1) % items;
                before = 0;
            } else {
                before++;
            }
        ask.line[l].item = item;
        ask.line[l].quantity = 1 + prng_below(prng, 10);
    }
    return ask;
}

static uint64_t read_only(uint64_t seed, uint64_t table, uint64_t a, uint64_t b)
{
    return prng_mix(seed + prng_mix(table + prng_mix(a + prng_mix(b + 1))));
}

uint64_t price_of(uint64_t seed, uint64_t item)
{
    return 100 + read_only(seed, 1, item, 0) % 9901;
}

uint64_t discount_of(uint64_t seed, uint64_t warehouse, uint64_t district, uint64_t customer)
{
    return read_only(seed, 2, warehouse * DISTRICTS + district, customer) % 5001;
}

uint64_t tax_of(uint64_t seed, uint64_t warehouse, uint64_t district)
{
    return read_only(seed, 3, warehouse, district) % 2001;
}

uint64_t quantity_first(uint64_t seed, uint64_t warehouse, uint64_t item)
{
    return 10 + read_only(seed, 4, warehouse, item) % 91;
}

uint64_t quantity_after(uint64_t quantity, uint64_t ordered)
{
    return quantity >= ordered + 10 ? quantity - ordered : quantity + 91 - ordered;
}

struct order order_of(const struct new_order *ask, uint64_t seed, uint64_t warehouse, uint64_t id)
{
    struct order order = { .district = ask->district, .id = id, .customer = ask->customer, .lines = ask->lines,
                           .is_new = 1 };
    uint64_t sum = 0;

    for (uint64_t l = 0; l < ask->lines; l++) {
        uint64_t amount = ask->line[l].quantity * price_of(seed, ask->line[l].item);
        order.line[l] = (struct order_line){ ask->line[l].item, ask->line[l].quantity, amount, 0 };
        sum += amount;
    }
    order.total = sum * (10000 - discount_of(seed, warehouse, ask->district, ask->customer)) / 10000 *
                  (10000 + tax_of(seed, warehouse, ask->district)) / 10000;
    return order;
}
