#include "level.h"

_Static_assert(sizeof(struct bucket) == 2 * CACHE_LINE_SIZE, "buckets share no line");

uint64_t level_buckets(uint64_t level)
{
    return (UINT64_C(2) << level) - (UINT64_C(1) << (FIRST_LEVEL - 1));
}

struct bucket *level_bucket(struct bucket *all, uint64_t level, uint64_t number)
{
    return all + level_buckets(level - 1) + number;
}

void level_candidates(struct bucket *all, uint64_t level, uint64_t key, struct bucket *of[2])
{
    uint64_t mask = (UINT64_C(1) << level) - 1, first = prng_mix(key + 1) & mask;
    uint64_t second = prng_mix(key + (UINT64_C(1) << 60)) & mask;

    of[0] = level_bucket(all, level, first);
    of[1] = level_bucket(all, level, first == second ? first ^ 1 : second);
}

uint64_t bucket_find(const struct bucket *bucket, uint64_t key)
{
    uint64_t slot = 0;

    while (slot < SLOTS && !(bucket->tokens >> slot & 1 && bucket->slots[slot].key == key))
        slot++;
    return slot;
}

uint64_t bucket_free(const struct bucket *bucket)
{
    uint64_t slot = 0;

    while (slot < SLOTS && bucket->tokens >> slot & 1)
        slot++;
    return slot;
}

static void set_tokens(enum form form, struct bucket *bucket, uint64_t tokens)
{
    put(form, &bucket->tokens, tokens);
    persist(form, &bucket->tokens, sizeof tokens);
}

void bucket_fill(enum form form, struct bucket *bucket, uint64_t slot, uint64_t key, uint64_t value, uint64_t old)
{
    struct slot *to = &bucket->slots[slot];
    uint64_t tokens = bucket->tokens | UINT64_C(1) << slot;

    put(form, &to->key, key);
    put(form, &to->value, value);
    put(form, &to->echo, prng_mix(value));
    if (!DEFECT)
        persist(form, to, sizeof *to);
    set_tokens(form, bucket, old < SLOTS ? tokens & ~(UINT64_C(1) << old) : tokens);
    if (DEFECT)
        persist(form, to, sizeof *to);
}

void bucket_empty(enum form form, struct bucket *bucket, uint64_t slot)
{
    set_tokens(form, bucket, bucket->tokens & ~(UINT64_C(1) << slot));
}
