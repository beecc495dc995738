#include "low.h"

static struct low low_of(struct pool pool, uint64_t keys)
{
    return (struct low){ pool, (struct counters *)pool.data, pool.data + sizeof(struct counters), keys };
}

struct low low_make(const struct command *command, const struct map_shape *shape, size_t bytes)
{
    return low_of(pool_make(&command->pool, sizeof(struct counters) + bytes), shape->keys);
}

void low_publish(struct low *low, uint64_t kind, const struct map_shape *shape)
{
    const uint64_t words[] = { shape->seed, shape->threads, shape->keys };

    pool_publish(&low->pool, kind, words, 3);
}

static size_t (*structure_bytes)(uint64_t keys);

static size_t bytes_of(const uint64_t *words)
{
    if (words[1] < 1 || words[1] > MOST_THREADS || words[2] < MOST_THREADS || words[2] > UINT64_C(1) << 32)
        return SIZE_MAX / 2;
    return sizeof(struct counters) + structure_bytes(words[2]);
}

struct low low_left(const struct command *command, uint64_t kind, struct map_shape *shape,
                    size_t (*structure)(uint64_t keys))
{
    structure_bytes = structure;
    struct pool pool = pool_left(&command->pool, kind, bytes_of);
    *shape = (struct map_shape){ pool.root->shape[0], pool.root->shape[1], pool.root->shape[2] };
    return low_of(pool, shape->keys);
}

uint64_t low_done(void *map, uint64_t thread)
{
    return ((struct low *)map)->counters->of[thread].done;
}
