/* What is done to a map: a function of the seed, so that a check knows what must be there after any number of updates. */
#ifndef WORKLOADS_UPDATES_H
#define WORKLOADS_UPDATES_H

#include "../common/prng.h"

#include <stddef.h>

struct map_shape {
    uint64_t seed, threads, keys;
};

/* Inserts the key, or replaces its value; with value 0 erases it if it is there. */
struct update {
    uint64_t key, value;
};

/* One thread's, from the first on. */
struct updates {
    struct map_shape shape;
    struct prng prng;
    uint64_t thread;
};

struct updates updates_of(const struct map_shape *shape, uint64_t thread);

/* Keys are those whose remainder by the number of threads is the thread: which are there depends on no other thread. */
struct update updates_next(struct updates *updates);

/* A key of the thread, for a look-up. */
uint64_t updates_key(struct updates *updates, struct prng *prng);

/* What is found in a map, key by key. */
struct content {
    uint64_t keys;
    uint64_t values[]; /* 0: not there */
};

/* Nothing, for so many keys. */
struct content *content_new(uint64_t keys);

/* Adds what was found. Answers what is wrong with it: no key, no value, or found before. */
const char *content_add(struct content *content, uint64_t key, uint64_t value);

/* Compares a thread's keys with what they have to be after `done` updates, or one more if it need not be `exact`.
 * Answers what differs, in words that are overwritten by the next call. */
const char *content_compare(const struct content *content, const struct map_shape *shape, uint64_t thread,
                            uint64_t done, int exact);

#endif
