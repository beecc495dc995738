#include "index.h"

#include "../common/attributes.h"
#include "../common/back_off.h"
#include "../common/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKET_KEYS 3
#define NO_KEY 0

/* One cache line: a get touches nothing else of the index. */
struct bucket {
    _Atomic uint32_t lock;
    _Atomic uint64_t keys[BUCKET_KEYS];
    void *_Atomic values[BUCKET_KEYS];
    struct bucket *_Atomic next;
};

_Static_assert(sizeof(struct bucket) == CACHE_LINE_SIZE, "a bucket is one cache line");

struct kv_index {
    struct bucket *buckets;
    unsigned shift; /* the top 64 - shift bits of the hash choose the bucket */
};

struct kv_index *kv_index_new(uint64_t keys)
{
    struct kv_index *index = malloc(sizeof *index);
    unsigned bits = 1;

    if (!index) {
        perror("kv_index_new");
        exit(1);
    }
    /* At most 1.5 keys a bucket of three, so that few buckets overflow. */
    while ((UINT64_C(3) << bits) / 2 < keys)
        bits++;
    index->shift = 64 - bits;
    index->buckets = memory_fresh(sizeof(struct bucket) << bits);
    return index;
}

static struct bucket *bucket_of(const struct kv_index *index, uint64_t key)
{
    return &index->buckets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> index->shift];
}

void *kv_get(const struct kv_index *index, uint64_t key)
{
    struct bucket *bucket = bucket_of(index, key);

    for (; bucket; bucket = atomic_load_explicit(&bucket->next, memory_order_acquire)) {
        for (int i = 0; i < BUCKET_KEYS; i++) {
            if (atomic_load_explicit(&bucket->keys[i], memory_order_acquire) == key)
                return atomic_load_explicit(&bucket->values[i], memory_order_acquire);
        }
    }
    return NULL;
}

static void lock_bucket(struct bucket *bucket)
{
    uint32_t unlocked = 0;
    unsigned attempt = 0;

    while (!atomic_compare_exchange_weak_explicit(&bucket->lock, &unlocked, 1, memory_order_seq_cst,
                                                  memory_order_relaxed)) {
        while (atomic_load_explicit(&bucket->lock, memory_order_relaxed))
            back_off(attempt++);
        unlocked = 0;
    }
}

static void unlock_bucket(struct bucket *bucket)
{
    atomic_store_explicit(&bucket->lock, 0, memory_order_release);
}

static struct bucket *bucket_new(void)
{
    struct bucket *bucket = aligned_alloc(CACHE_LINE_SIZE, sizeof *bucket);

    if (!bucket) {
        perror("bucket_new");
        exit(1);
    }
    atomic_init(&bucket->lock, 0);
    for (int i = 0; i < BUCKET_KEYS; i++) {
        atomic_init(&bucket->keys[i], NO_KEY);
        atomic_init(&bucket->values[i], NULL);
    }
    atomic_init(&bucket->next, NULL);
    return bucket;
}

/* The value goes in before the key that makes it visible to gets. */
static void insert(struct bucket *bucket, int slot, uint64_t key, void *value)
{
    atomic_store_explicit(&bucket->values[slot], value, memory_order_release);
    atomic_store_explicit(&bucket->keys[slot], key, memory_order_release);
}

static void *put_locked(struct bucket *bucket, uint64_t key, void *value)
{
    for (;;) {
        for (int i = 0; i < BUCKET_KEYS; i++) {
            uint64_t present = atomic_load_explicit(&bucket->keys[i], memory_order_relaxed);
            if (present == key) {
                void *old = atomic_load_explicit(&bucket->values[i], memory_order_relaxed);
                atomic_store_explicit(&bucket->values[i], value, memory_order_release);
                return old;
            }
            /* Keys are never removed and fill slots in order, so the first empty slot ends the search. */
            if (present == NO_KEY) {
                insert(bucket, i, key, value);
                return NULL;
            }
        }
        struct bucket *next = atomic_load_explicit(&bucket->next, memory_order_relaxed);
        if (!next) {
            next = bucket_new();
            insert(next, 0, key, value);
            atomic_store_explicit(&bucket->next, next, memory_order_release);
            return NULL;
        }
        bucket = next;
    }
}

void *kv_put(struct kv_index *index, uint64_t key, void *value)
{
    struct bucket *bucket = bucket_of(index, key);

    lock_bucket(bucket);
    void *old = put_locked(bucket, key, value);
    unlock_bucket(bucket);
    return old;
}
