/* The pool of a map that flushes its stores itself: the counters, and behind them the structure. */
#ifndef WORKLOADS_LOW_H
#define WORKLOADS_LOW_H

#include "counters.h"
#include "map.h"

struct low {
    struct pool pool;
    struct counters *counters;
    void *data; /* on a line; zeros in a new pool */
    uint64_t keys;
};

/* A new pool; `bytes` are the structure's. The structure is made, then published. */
struct low low_make(const struct command *command, const struct map_shape *shape, size_t bytes);
void low_publish(struct low *low, uint64_t kind, const struct map_shape *shape);

/* A pool that was left, as pool_left; `bytes_of` knows the structure's bytes by the number of keys. */
struct low low_left(const struct command *command, uint64_t kind, struct map_shape *shape,
                    size_t (*bytes_of)(uint64_t keys));

/* For struct map_program: the structure begins with its struct low. */
uint64_t low_done(void *map, uint64_t thread);

#endif
