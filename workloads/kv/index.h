/* A hash index of cache-line buckets, in the spirit of CLHT (David et al., ASPLOS'15): lock-free gets, and puts under
 * the lock of their bucket. */
#ifndef KV_INDEX_H
#define KV_INDEX_H

#include <stdint.h>

struct kv_index;

/* An index for about `keys` keys. */
struct kv_index *kv_index_new(uint64_t keys);

/* The value of a key, or NULL. Keys are not 0. */
void *kv_get(const struct kv_index *index, uint64_t key);

/* Points the key to `value`; returns what it pointed to, or NULL for a new key. */
void *kv_put(struct kv_index *index, uint64_t key, void *value);

#endif
