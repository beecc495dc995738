#include "pool.h"

#include "../common/memory.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK_BYTES (8u << 20)
/* Values handed back between two snapshots: reader safety costs next to nothing a put. */
#define BATCH 1024

struct pool {
    struct quiescence *quiescence;
    uint64_t thread;
    size_t size;
    char *chunk;
    size_t chunk_left;
    void **ring; /* capacity is a multiple of BATCH */
    uint64_t capacity, given, taken;
    uint64_t *snapshots; /* one a batch of the ring, taken when the batch was full */
};

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        perror("pool");
        exit(1);
    }
    return memory;
}

struct pool *pool_new(struct quiescence *quiescence, uint64_t thread, size_t size, uint64_t spare)
{
    struct pool *pool = allocate(sizeof *pool);
    /* A batch more than kept back, because the youngest batch may still be filling. */
    uint64_t batches = spare / BATCH + 2;

    *pool = (struct pool){
        .quiescence = quiescence,
        .thread = thread,
        .size = size,
        .capacity = batches * BATCH,
    };
    pool->ring = allocate(pool->capacity * sizeof *pool->ring);
    pool->snapshots = allocate(batches * quiescence->threads * sizeof *pool->snapshots);
    return pool;
}

static uint64_t *snapshot_of(struct pool *pool, uint64_t position)
{
    return pool->snapshots + position % pool->capacity / BATCH * pool->quiescence->threads;
}

/* Values lie a line apart, like blocks of an allocator that keeps a header: writing one is never a continuation of
 * writing its neighbour. */
static void *carve(struct pool *pool)
{
    const size_t stride = pool->size + CACHE_LINE_SIZE;

    if (pool->chunk_left < stride) {
        pool->chunk = memory_fresh(CHUNK_BYTES);
        pool->chunk_left = CHUNK_BYTES;
    }
    void *value = pool->chunk;
    pool->chunk += stride;
    pool->chunk_left -= stride;
    return value;
}

void *pool_take(struct pool *pool)
{
    if (pool->given - pool->taken < pool->capacity)
        return carve(pool);
    if (pool->taken % BATCH == 0) {
        while (!quiescence_passed(pool->quiescence, snapshot_of(pool, pool->taken), pool->thread)) {
            quiescence_announce(pool->quiescence, pool->thread);
            sched_yield();
        }
    }
    return pool->ring[pool->taken++ % pool->capacity];
}

void pool_give(struct pool *pool, void *value)
{
    pool->ring[pool->given % pool->capacity] = value;
    if (pool->given % BATCH == BATCH - 1)
        quiescence_snapshot(pool->quiescence, snapshot_of(pool, pool->given));
    pool->given++;
}
