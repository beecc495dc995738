/* A level hash (Zuo et al., OSDI 2018), which P2 runs: a key may be in two buckets of an upper level and in two of a lower one
 * that has half as many. What is in a bucket is said by one word, so that almost nothing needs a log: only a value that
 * is replaced in a full bucket. Where there is no place, one element is moved; else the lower level's are, to a new upper one. */
#include "level.h"

#include "../modes/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define KIND UINT64_C(0x706d2d6c65766531)

struct area {
    struct levels levels;
    struct log_space log;
    struct bucket buckets[];
};

struct table {
    struct low low;
    struct area *area;
    struct log log;
    uint64_t most; /* the highest upper level there is memory for */
    pthread_mutex_t lock;
};

static struct table table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct place NO_PLACE = { NULL, 0 };

/* It has six slots a key, so it never has to grow further. */
static uint64_t most_level(uint64_t keys)
{
    uint64_t level = FIRST_LEVEL + 1;

    while (UINT64_C(1) << level < keys)
        level++;
    return level;
}

static size_t bytes_of(uint64_t keys)
{
    return sizeof(struct area) + level_buckets(most_level(keys)) * sizeof(struct bucket);
}

static void attach(void)
{
    table.area = table.low.data;
    table.most = most_level(table.low.keys);
}

static uint64_t upper(void)
{
    return table.area->levels.upper / 2;
}

static void set_upper(uint64_t level, int grows)
{
    put(table.low.pool.form, &table.area->levels.upper, level * 2 + (uint64_t)grows);
    persist(table.low.pool.form, &table.area->levels, sizeof table.area->levels.upper);
}

/* Where the key is, in one of its buckets of a level. */
static struct place find_in(uint64_t level, uint64_t key)
{
    struct bucket *of[2];

    level_candidates(table.area->buckets, level, key, of);
    for (int i = 0; i < 2; i++) {
        uint64_t slot = bucket_find(of[i], key);
        if (slot < SLOTS)
            return (struct place){ of[i], slot };
    }
    return NO_PLACE;
}

static struct place find(uint64_t key)
{
    struct place place = find_in(upper(), key);

    return place.bucket ? place : find_in(upper() - 1, key);
}

/* A free slot for the key in the emptier of its buckets of a level. */
static struct place free_in(uint64_t level, uint64_t key)
{
    struct bucket *of[2];

    level_candidates(table.area->buckets, level, key, of);
    int second = __builtin_popcountll(of[1]->tokens) < __builtin_popcountll(of[0]->tokens);
    uint64_t slot = bucket_free(of[second]);
    return slot < SLOTS ? (struct place){ of[second], slot } : NO_PLACE;
}

static void fill(struct place place, uint64_t key, uint64_t value)
{
    bucket_fill(table.low.pool.form, place.bucket, place.slot, key, value, SLOTS);
}

/* Moves an element of one of the key's buckets of a level to the other bucket it may be in. */
static NOINLINE struct place moved_in(uint64_t level, uint64_t key)
{
    struct bucket *of[2], *its[2];

    level_candidates(table.area->buckets, level, key, of);
    for (uint64_t i = 0; i < 2 * SLOTS; i++) {
        struct bucket *bucket = of[i / SLOTS];
        struct slot *slot = &bucket->slots[i % SLOTS];
        level_candidates(table.area->buckets, level, slot->key, its);
        struct bucket *other = its[its[0] == bucket];
        uint64_t to = bucket_free(other);
        if (to == SLOTS)
            continue;
        fill((struct place){ other, to }, slot->key, slot->value);
        bucket_empty(table.low.pool.form, bucket, i % SLOTS);
        return (struct place){ bucket, i % SLOTS };
    }
    return NO_PLACE;
}

/* Puts what the lower level holds into the level that is to be the upper one, as far as that is not done. */
static NOINLINE void rehash(void)
{
    uint64_t lower = upper() - 1;

    for (uint64_t b = 0; b < UINT64_C(1) << lower; b++) {
        struct bucket *bucket = level_bucket(table.area->buckets, lower, b);
        for (uint64_t slot = 0; slot < SLOTS; slot++) {
            const struct slot *from = &bucket->slots[slot];
            if (!(bucket->tokens >> slot & 1))
                continue;
            if (!find_in(lower + 2, from->key).bucket && !find_in(lower + 1, from->key).bucket) {
                struct place to = free_in(lower + 2, from->key);
                if (!to.bucket)
                    to = free_in(lower + 1, from->key);
                if (!to.bucket) {
                    fprintf(stderr, "the table cannot grow: too many keys have the same buckets\n");
                    exit(1);
                }
                fill(to, from->key, from->value);
            }
            bucket_empty(table.low.pool.form, bucket, slot);
        }
    }
    set_upper(lower + 2, 0);
}

static NOINLINE void grow(void)
{
    if (upper() == table.most) {
        fprintf(stderr, "the pool is full\n");
        exit(1);
    }
    set_upper(upper(), 1);
    rehash();
}

static struct place place_for(uint64_t key)
{
    for (;;) {
        struct place (*const ways[])(uint64_t, uint64_t) = { free_in, moved_in };
        for (int way = 0; way < 2; way++)
            for (uint64_t below = 0; below < 2; below++) {
                struct place place = ways[way](upper() - below, key);
                if (place.bucket)
                    return place;
            }
        grow();
    }
}

static NOINLINE void replace(struct place place, uint64_t key, uint64_t value)
{
    uint64_t slot = bucket_free(place.bucket);

    if (slot < SLOTS) {
        bucket_fill(table.low.pool.form, place.bucket, slot, key, value, place.slot);
        return;
    }
    struct slot *in_place = &place.bucket->slots[place.slot];
    log_begin(&table.log);
    log_store(&table.log, &in_place->value, value);
    log_store(&table.log, &in_place->echo, prng_mix(value));
    log_commit(&table.log);
}

static void update(void *map, uint64_t thread, const struct update *update, uint64_t done)
{
    (void)map;
    pthread_mutex_lock(&table.lock);
    struct place place = find(update->key);
    if (!place.bucket && update->value)
        fill(place_for(update->key), update->key, update->value);
    else if (place.bucket && update->value)
        replace(place, update->key, update->value);
    else if (place.bucket)
        bucket_empty(table.low.pool.form, place.bucket, place.slot);
    pthread_mutex_unlock(&table.lock);
    counters_set(table.low.pool.form, table.low.counters, thread, done);
}

static uint64_t get(void *map, uint64_t key)
{
    (void)map;
    pthread_mutex_lock(&table.lock);
    struct place place = find(key);
    uint64_t value = place.bucket ? place.bucket->slots[place.slot].value : 0;
    pthread_mutex_unlock(&table.lock);
    return value;
}

static void *make(const struct command *command, const struct map_shape *shape)
{
    table.low = low_make(command, shape, bytes_of(shape->keys));
    attach();
    set_upper(FIRST_LEVEL, 0);
    table.log = log_open(&table.low.pool, &table.area->log);
    low_publish(&table.low, KIND, shape);
    return &table;
}

/* An element that was being moved within a level is there twice, in two buckets. */
static void finish_move(uint64_t level, struct bucket *bucket)
{
    struct bucket *its[2];

    for (uint64_t slot = 0; slot < SLOTS; slot++) {
        if (!(bucket->tokens >> slot & 1))
            continue;
        level_candidates(table.area->buckets, level, bucket->slots[slot].key, its);
        if (bucket_find(its[its[0] == bucket], bucket->slots[slot].key) < SLOTS)
            bucket_empty(table.low.pool.form, bucket, slot);
    }
}

static void *left(const struct command *command, struct map_shape *shape, const char **wrong)
{
    table.low = low_left(command, KIND, shape, bytes_of);
    attach();
    struct levels *levels = &table.area->levels;
    if (upper() < FIRST_LEVEL || upper() + levels->upper % 2 > table.most)
        *wrong = "there is no such level";
    else if (!log_recover(&table.low.pool, &table.area->log))
        *wrong = "the log names what is not in the pool";
    if (*wrong)
        return NULL;
    table.log = log_open(&table.low.pool, &table.area->log);
    for (uint64_t level = upper() - 1; level <= upper(); level++)
        for (uint64_t b = 0; b < UINT64_C(1) << level; b++)
            finish_move(level, level_bucket(table.area->buckets, level, b));
    if (levels->upper % 2)
        rehash();
    return &table;
}

static const char *walk_bucket(const struct bucket *bucket, struct content *content)
{
    const char *wrong = NULL;

    for (uint64_t slot = 0; slot < SLOTS && !wrong; slot++) {
        const struct slot *at = &bucket->slots[slot];
        if (!(bucket->tokens >> slot & 1))
            continue;
        wrong = at->echo == prng_mix(at->value) ? content_add(content, at->key, at->value) : "a value is torn";
    }
    return wrong;
}

static const char *walk(void *map, struct content *content)
{
    const char *wrong = NULL;

    (void)map;
    for (uint64_t level = upper() - 1; level <= upper(); level++)
        for (uint64_t b = 0; b < UINT64_C(1) << level && !wrong; b++)
            wrong = walk_bucket(level_bucket(table.area->buckets, level, b), content);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct map_program program = {
        "pm_level", "A level hash.", 0, make, left, update, get, low_done, walk,
    };
    return map_main(argc, argv, &program);
}
