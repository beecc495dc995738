#include "updates.h"

#include <stdio.h>
#include <stdlib.h>

/* Of eight updates five insert or replace. */
#define OF_UPDATES 8
#define INSERT 5

struct updates updates_of(const struct map_shape *shape, uint64_t thread)
{
    return (struct updates){ *shape, prng_new(shape->seed, thread), thread };
}

uint64_t updates_key(struct updates *updates, struct prng *prng)
{
    uint64_t threads = updates->shape.threads, keys = updates->shape.keys;
    uint64_t own = keys / threads + (updates->thread < keys % threads);

    return updates->thread + threads * prng_below(prng, own);
}

struct update updates_next(struct updates *updates)
{
    uint64_t key = updates_key(updates, &updates->prng);
    int inserts = prng_below(&updates->prng, OF_UPDATES) < INSERT;
    uint64_t value = prng_next(&updates->prng) | 1;

    return (struct update){ key, inserts ? value : 0 };
}

struct content *content_new(uint64_t keys)
{
    struct content *content = calloc(1, sizeof *content + keys * sizeof *content->values);

    if (!content) {
        fprintf(stderr, "no memory for what has to be there\n");
        exit(1);
    }
    content->keys = keys;
    return content;
}

const char *content_add(struct content *content, uint64_t key, uint64_t value)
{
    if (key >= content->keys)
        return "a key is none that was ever inserted";
    if (value == 0)
        return "a key has no value";
    if (content->values[key] != 0)
        return "a key is there twice";
    content->values[key] = value;
    return NULL;
}

static uint64_t differs(const struct content *found, const struct content *expected, const struct map_shape *shape,
                        uint64_t thread)
{
    uint64_t key = thread;

    while (key < shape->keys && found->values[key] == expected->values[key])
        key += shape->threads;
    return key;
}

const char *content_compare(const struct content *content, const struct map_shape *shape, uint64_t thread,
                            uint64_t done, int exact)
{
    static char said[200];
    struct content *expected = content_new(shape->keys);
    struct updates updates = updates_of(shape, thread);
    uint64_t key;

    for (uint64_t i = 0; i < done; i++) {
        struct update update = updates_next(&updates);
        expected->values[update.key] = update.value;
    }
    key = differs(content, expected, shape, thread);
    if (key < shape->keys)
        snprintf(said, sizeof said, "after %llu updates of thread %llu key %llu has value %llx instead of %llx",
                 (unsigned long long)done, (unsigned long long)thread, (unsigned long long)key,
                 (unsigned long long)content->values[key], (unsigned long long)expected->values[key]);
    if (key < shape->keys && !exact) {
        struct update update = updates_next(&updates);
        expected->values[update.key] = update.value;
        key = differs(content, expected, shape, thread);
    }
    free(expected);
    return key < shape->keys ? said : NULL;
}
