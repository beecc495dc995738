#include "tatp.h"

#include <stddef.h>
#include <string.h>

/* The benchmark's mix, in percent, in the order of the enumeration. */
static const uint64_t MIX[] = { 35, 10, 35, 2, 14, 2, 2 };

struct transaction transaction_draw(struct prng *prng, uint64_t subscribers)
{
    struct transaction drawn = { .subscriber = prng_below(prng, subscribers),
                                 .facility = prng_below(prng, FACILITIES),
                                 .start = prng_below(prng, STARTS),
                                 .end = 1 + prng_below(prng, 24),
                                 .value = prng_next(prng) };
    uint64_t percent = prng_below(prng, 100), kind = 0;

    while (percent >= MIX[kind])
        percent -= MIX[kind++];
    drawn.kind = (enum transaction_kind)kind;
    return drawn;
}

struct subscriber subscriber_first(uint64_t seed, uint64_t id)
{
    struct prng prng = prng_new(seed, ~id);
    struct subscriber first = { .id = id, .number = prng_mix(id), .bits = prng_below(&prng, 2) };

    first.msc_location = prng_next(&prng);
    first.vlr_location = prng_next(&prng);
    for (int i = 0; i < FACILITIES; i++) {
        first.access[i] = prng_next(&prng);
        /* Of the facilities 85% are active. */
        first.facilities[i].active = prng_below(&prng, 100) < 85;
        first.facilities[i].data = prng_next(&prng);
    }
    return first;
}

uint64_t subscriber_sum(const struct subscriber *subscriber)
{
    return subscriber->number + subscriber->bits + subscriber->msc_location + subscriber->vlr_location;
}

void transaction_expect(const struct transaction *what, struct subscriber *of)
{
    struct facility *facility = &of->facilities[what->facility];
    struct forwarding *row = &facility->forwardings[what->start];

    if (what->kind == UPDATE_SUBSCRIBER_DATA) {
        of->bits = what->end;
        facility->data = what->value;
    } else if (what->kind == UPDATE_LOCATION) {
        of->vlr_location = what->value;
    } else if (what->kind == INSERT_CALL_FORWARDING && !row->present) {
        *row = (struct forwarding){ 1, what->end, { what->value, prng_mix(what->value) } };
    } else if (what->kind == DELETE_CALL_FORWARDING) {
        row->present = 0;
    }
}

const char *subscriber_differs(const struct subscriber *found, const struct subscriber *expected)
{
    if (memcmp(found, expected, offsetof(struct subscriber, facilities)) != 0)
        return "a subscriber is not as the transactions that were counted left it";
    for (int f = 0; f < FACILITIES; f++) {
        const struct facility *a = &found->facilities[f], *b = &expected->facilities[f];
        if (a->active != b->active || a->data != b->data)
            return "a special facility is not as the transactions that were counted left it";
        for (int s = 0; s < STARTS; s++) {
            if (a->forwardings[s].present != b->forwardings[s].present)
                return "a call forwarding is there that was deleted, or is not";
            if (a->forwardings[s].present && memcmp(&a->forwardings[s], &b->forwardings[s], sizeof *a->forwardings))
                return "a call forwarding is not what was inserted";
        }
    }
    return NULL;
}
