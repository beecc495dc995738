/*
 * A thread's pool of value memory: first in, first out.
 *
 * A value that a put replaced is kept back until `spare` younger ones have been replaced too, and until no reader can
 * hold it. So memory is rarely rewritten soon after it was written, as in a store much larger than the caches.
 */
#ifndef KV_POOL_H
#define KV_POOL_H

#include "quiescence.h"

#include <stddef.h>

struct pool;

/* A pool of values of `size` bytes that keeps back `spare` of them. */
struct pool *pool_new(struct quiescence *quiescence, uint64_t thread, size_t size, uint64_t spare);

/* Memory for one value, on a line boundary. The caller holds no pointer into the store. */
void *pool_take(struct pool *pool);

/* Hands back a value that is no longer linked into the store. */
void pool_give(struct pool *pool, void *value);

#endif
