#include "slots.h"

#include <stdio.h>
#include <stdlib.h>

void slots_init(struct slots *slots, void *array, uint64_t count, size_t bytes)
{
    *slots = (struct slots){ .array = array, .bytes = bytes, .count = count };
    slots->taken = calloc(count, 1);
    slots->free = calloc(count, sizeof *slots->free);
    pthread_mutex_init(&slots->lock, NULL);
    if (!slots->taken || !slots->free) {
        fprintf(stderr, "no memory for a list of what is free\n");
        exit(1);
    }
}

int slots_has(const struct slots *slots, const void *at)
{
    size_t from = (size_t)((const char *)at - slots->array);

    return (const char *)at >= slots->array && from % slots->bytes == 0 && from / slots->bytes < slots->count;
}

int slots_claim(struct slots *slots, const void *at)
{
    if (!slots_has(slots, at))
        return 0;
    unsigned char *taken = &slots->taken[(size_t)((const char *)at - slots->array) / slots->bytes];
    return *taken ? 0 : (*taken = 1);
}

void slots_open(struct slots *slots)
{
    slots->used = 0;
    for (uint64_t i = slots->count; i-- > 0;)
        if (slots->taken[i])
            slots->used++;
        else
            slots->free[slots->count - 1 - i - slots->used] = slots->array + i * slots->bytes;
}

void *slots_take(struct slots *slots)
{
    pthread_mutex_lock(&slots->lock);
    if (slots->used == slots->count) {
        fprintf(stderr, "the pool is full\n");
        exit(1);
    }
    void *at = slots->free[slots->count - ++slots->used];
    pthread_mutex_unlock(&slots->lock);
    return at;
}

void slots_give(struct slots *slots, void *at)
{
    pthread_mutex_lock(&slots->lock);
    slots->free[slots->count - slots->used--] = at;
    pthread_mutex_unlock(&slots->lock);
}
