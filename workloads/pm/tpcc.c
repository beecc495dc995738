/* TPC-C's new-order transaction: a section takes the district's next order number and the items from the stock; the
 * order's rows are persistent before it commits, and count from then on. Each thread is the terminal of a warehouse. */
#include "tpcc.h"

#include "tables.h"

#include <stdlib.h>
#include <string.h>

struct warehouse {
    struct district *districts;
    struct stock *stock;
    struct order *orders; /* of all districts, in the order in which they were committed */
};

static size_t warehouse_bytes(uint64_t items, uint64_t room)
{
    size_t stock = (items * sizeof(struct stock) + CACHE_LINE_SIZE - 1) & ~(size_t)(CACHE_LINE_SIZE - 1);

    return DISTRICTS * sizeof(struct district) + stock + room * sizeof(struct order);
}

static size_t bytes_of(uint64_t items, uint64_t threads, uint64_t room)
{
    return threads * warehouse_bytes(items, room);
}

static struct warehouse warehouse_of(const struct tables *tables, uint64_t number)
{
    size_t each = warehouse_bytes(tables->size, tables->room);
    char *data = tables->data + number * each;

    return (struct warehouse){ (struct district *)data, (struct stock *)(data + DISTRICTS * sizeof(struct district)),
                               (struct order *)(data + each) - tables->room };
}

static void fill(struct tables *tables)
{
    enum form form = tables->pool.form;

    for (uint64_t w = 0; w < tables->threads; w++) {
        struct warehouse of = warehouse_of(tables, w);
        for (uint64_t d = 0; d < DISTRICTS; d++) {
            put(form, &of.districts[d].next_order, 1);
            put(form, &of.districts[d].tax, tax_of(tables->seed, w, d));
        }
        for (uint64_t i = 0; i < tables->size; i++)
            put(form, &of.stock[i].quantity, quantity_first(tables->seed, w, i));
        persist(form, of.districts, DISTRICTS * sizeof *of.districts);
        persist(form, of.stock, tables->size * sizeof *of.stock);
    }
}

static uint64_t committed(const struct warehouse *of)
{
    uint64_t orders = 0;

    for (int d = 0; d < DISTRICTS; d++)
        orders += of->districts[d].next_order - 1;
    return orders;
}

static NOINLINE void write_order(enum form form, struct order *to, const struct order *order)
{
    const uint64_t *from = (const uint64_t *)order;
    size_t bytes = order_bytes(order->lines);

    for (size_t w = 0; w < bytes / sizeof *from; w++)
        put(form, (uint64_t *)to + w, from[w]);
    /* The defect: of its lines only those in the first cache line are persistent. */
    persist(form, to, DEFECT ? CACHE_LINE_SIZE : bytes);
}

/* Answers 0 where an item is unknown. */
static NOINLINE int take_from_stock(struct log *log, struct stock *stock, const struct new_order *ask)
{
    for (uint64_t l = 0; l < ask->lines; l++) {
        if (ask->item_unknown && l == ask->lines - 1)
            return 0;
        struct stock *row = &stock[ask->line[l].item];
        log_store(log, &row->quantity, quantity_after(row->quantity, ask->line[l].quantity));
        log_store(log, &row->ytd, row->ytd + ask->line[l].quantity);
        log_store(log, &row->orders, row->orders + 1);
    }
    return 1;
}

static NOINLINE void new_order(struct tables *tables, uint64_t thread, const struct new_order *ask, struct log *log,
                               uint64_t done)
{
    struct warehouse of = warehouse_of(tables, thread);
    struct district *district = &of.districts[ask->district];
    struct order order = order_of(ask, tables->seed, thread, district->next_order);

    write_order(tables->pool.form, &of.orders[committed(&of)], &order);
    log_begin(log);
    log_store(log, &district->next_order, district->next_order + 1);
    if (!take_from_stock(log, of.stock, ask)) {
        log_roll_back(log);
        log_begin(log);
    }
    sections_commit(log, tables->sections, thread, done);
}

static void update(struct tables *tables, uint64_t thread, struct prng *prng, struct log *log, uint64_t done)
{
    struct new_order ask = new_order_draw(prng, tables->size);

    if (log)
        new_order(tables, thread, &ask, log, done);
}

/* The orders that were committed are there, in `stock` and the numbers of orders is what they leave. */
static const char *replay(const struct tables *tables, uint64_t number, struct stock *stock, uint64_t *next)
{
    struct warehouse of = warehouse_of(tables, number);
    struct prng prng = prng_new(tables->seed, number);
    uint64_t orders = 0;

    for (uint64_t left = tables_done(tables, number); left > 0; left--) {
        struct new_order ask = new_order_draw(&prng, tables->size);
        if (ask.item_unknown)
            continue;
        struct order order = order_of(&ask, tables->seed, number, next[ask.district]++);
        if (memcmp(&of.orders[orders++], &order, order_bytes(order.lines)) != 0)
            return "an order is not what was asked for";
        for (uint64_t l = 0; l < ask.lines; l++) {
            struct stock *row = &stock[ask.line[l].item];
            row->quantity = quantity_after(row->quantity, ask.line[l].quantity);
            row->ytd += ask.line[l].quantity;
            row->orders++;
        }
    }
    return NULL;
}

static const char *compare_one(const struct tables *tables, uint64_t number, struct stock *stock)
{
    struct warehouse of = warehouse_of(tables, number);
    uint64_t next[DISTRICTS];

    for (uint64_t i = 0; i < tables->size; i++)
        stock[i] = (struct stock){ .quantity = quantity_first(tables->seed, number, i) };
    for (int d = 0; d < DISTRICTS; d++)
        next[d] = 1;
    const char *wrong = replay(tables, number, stock, next);
    for (uint64_t d = 0; d < DISTRICTS && !wrong; d++)
        if (of.districts[d].next_order != next[d] || of.districts[d].tax != tax_of(tables->seed, number, d))
            wrong = "a district has not the orders that were counted";
    if (!wrong && memcmp(of.stock, stock, tables->size * sizeof *stock) != 0)
        wrong = "the stock is not what the orders left";
    return wrong;
}

static const char *compare(const struct tables *tables)
{
    struct stock *stock = malloc(tables->size * sizeof *stock);
    const char *wrong = stock ? NULL : "no memory for what has to be there";

    for (uint64_t w = 0; w < tables->threads && !wrong; w++)
        wrong = compare_one(tables, w, stock);
    free(stock);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct tables_program program = {
        .name = "pm_tpcc",
        .summary = "TPC-C's new-order transaction, a warehouse a thread.",
        .kind = UINT64_C(0x706d2d7470636331),
        .size = "items",
        .says = "rows of the tables of items and of a warehouse's stock",
        .usual = 1000,
        .least = 2 * MOST_LINES,
        .bytes_of = bytes_of,
        .fill = fill,
        .update = update,
        .compare = compare,
    };
    return tables_main(argc, argv, &program);
}
