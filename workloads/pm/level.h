/* The table of the level hash: buckets of two levels, and what one change does to a bucket. */
#ifndef WORKLOADS_LEVEL_H
#define WORKLOADS_LEVEL_H

#include "low.h"

#define SLOTS 4
/* The logarithm of the buckets that the upper level has at first. */
#define FIRST_LEVEL 2
#define MOST_LEVEL 40

/* A slot holds something if its bit is set in `tokens`: one word says it for the bucket. Two lines. */
struct bucket {
    uint64_t tokens;
    uint64_t unused;
    struct slot {
        uint64_t key, value, echo; /* what follows from the value */
    } slots[SLOTS];
    uint64_t unused_too[2];
};

/* The upper level, and whether a larger one is being filled from the lower one, that has half as many buckets. */
struct levels {
    uint64_t upper; /* twice the logarithm of its buckets, and 1 while it grows */
    uint64_t unused[7];
};

/* Where an element is, or could be. */
struct place {
    struct bucket *bucket;
    uint64_t slot;
};

/* A level's bucket; a level has 2^level buckets. */
struct bucket *level_bucket(struct bucket *all, uint64_t level, uint64_t number);

/* Buckets of all levels from the lowest to this one. */
uint64_t level_buckets(uint64_t level);

/* The two buckets of a level that the key may be in. */
void level_candidates(struct bucket *all, uint64_t level, uint64_t key, struct bucket *of[2]);

/* The key's slot in the bucket; SLOTS if it is in none. */
uint64_t bucket_find(const struct bucket *bucket, uint64_t key);

/* A slot that holds nothing; SLOTS if there is none. */
uint64_t bucket_free(const struct bucket *bucket);

/* Fills a free slot, and instead of slot `old`, if it is none of SLOTS: at one moment. */
void bucket_fill(enum form form, struct bucket *bucket, uint64_t slot, uint64_t key, uint64_t value, uint64_t old);

void bucket_empty(enum form form, struct bucket *bucket, uint64_t slot);

#endif
