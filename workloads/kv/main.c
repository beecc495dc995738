/* A key-value store under YCSB, as the paper's section 7.2.3: the values of puts are written once, front to back, right
 * before the lock of their bucket is taken. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/meeting.h"
#include "../common/op.h"
#include "../common/result.h"
#include "index.h"
#include "pool.h"
#include "requests.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

/* The region of the run phase; loading and warming up are outside. */
#define RUN_REGION 1
/* Requests between two announcements that a thread holds no value. */
#define ANNOUNCE_EVERY 256
#define MAX_VALUE_SIZE 4096

/* Values are not rewritten, so there is no demote. */
static const char *const KV_OP_WORDS[] = { "none", "clean", "skip", NULL };
static const enum op KV_OPS[] = { OP_NONE, OP_CLEAN, OP_SKIP };

/* A put makes its value up in place, or copies one that it has made up elsewhere. */
enum making { CRAFTED, COPIED };
static const char *const MAKINGS[] = { "crafted", "copied", NULL };

struct options {
    uint64_t threads, keys, ops, warmup, value_size, spare_mb, seed;
    double theta;
    int workload, distribution, op, making;
};

struct store {
    const struct options *options;
    struct requests requests;
    struct kv_index *index;
    struct quiescence quiescence;
    struct meeting warm;
    _Alignas(CACHE_LINE_SIZE) _Atomic uint64_t keys;
    struct {
        _Alignas(CACHE_LINE_SIZE) struct pool *pool;
        uint64_t checksum;
    } threads[TEAM_MAX_THREADS];
    struct result_span spans[TEAM_MAX_THREADS];
};

static NOINLINE void copy_value(uint64_t *value, size_t size, uint64_t key, uint64_t version)
{
    uint64_t made[MAX_VALUE_SIZE / sizeof(uint64_t)];

    craft_value(made, size, key, version);
    memcpy(value, made, size);
}

/* The same around the caches. */
static NOINLINE void copy_value_skip(uint64_t *value, size_t size, uint64_t key, uint64_t version)
{
    uint64_t made[MAX_VALUE_SIZE / sizeof(uint64_t)];

    craft_value(made, size, key, version);
    prestore_copy_skip(value, made, size);
    prestore_fence();
}

static NOINLINE void ycsb_put(struct store *store, struct pool *pool, uint64_t key, uint64_t version)
{
    size_t size = store->options->value_size;
    uint64_t *value = pool_take(pool);

    if (store->options->op == OP_SKIP && store->options->making == COPIED)
        copy_value_skip(value, size, key, version);
    else if (store->options->op == OP_SKIP)
        craft_value_skip(value, size, key, version);
    else if (store->options->making == COPIED)
        copy_value(value, size, key, version);
    else
        craft_value(value, size, key, version);
    if (store->options->op == OP_CLEAN)
        prestore(value, size, PRESTORE_CLEAN);
    void *old = kv_put(store->index, key, value);
    if (old)
        pool_give(pool, old);
}

static NOINLINE uint64_t ycsb_get(struct store *store, uint64_t key)
{
    const uint64_t *value = kv_get(store->index, key);

    /* A key that another thread is still inserting has no value yet. */
    return value ? read_value(value, store->options->value_size) : 0;
}

/* Key 0 is not a key. */
static uint64_t key_at(uint64_t index)
{
    return index + 1;
}

static uint64_t request(struct store *store, struct pool *pool, struct prng *prng, uint64_t version)
{
    bool put = requests_next_is_put(&store->requests, prng);

    if (put && store->requests.workload == WORKLOAD_D) {
        ycsb_put(store, pool, key_at(atomic_fetch_add(&store->keys, 1)), version);
        return 0;
    }
    uint64_t keys = atomic_load_explicit(&store->keys, memory_order_relaxed);
    uint64_t key = key_at(requests_next_key(&store->requests, prng, keys));
    if (!put)
        return ycsb_get(store, key);
    ycsb_put(store, pool, key, version);
    return 0;
}

/* The end of the warm-up. Who waits holds no value: others may reuse what it has read. */
static void wait_for_all(struct store *store, uint64_t thread)
{
    uint64_t count = quiescence_count(&store->quiescence, thread);

    quiescence_leave(&store->quiescence, thread);
    meeting_attend(&store->warm, store->options->threads, thread);
    quiescence_return(&store->quiescence, thread, count);
}

static void run(void *context, uint64_t thread)
{
    struct store *store = context;
    const struct options *options = store->options;
    struct pool *pool = store->threads[thread].pool;
    struct prng prng = prng_new(options->seed, thread);
    uint64_t ops = team_share(options->ops, options->threads, thread);
    uint64_t warmup = team_share(options->warmup, options->threads, thread);
    uint64_t checksum = 0;

    if (ops == 0)
        wait_for_all(store, thread);
    for (uint64_t i = 0; i < warmup + ops; i++) {
        if (i == warmup) {
            wait_for_all(store, thread);
            store->spans[thread].begin = result_now();
            PRESTORE_REGION_BEGIN(RUN_REGION);
        }
        if (i % ANNOUNCE_EVERY == 0)
            quiescence_announce(&store->quiescence, thread);
        checksum += request(store, pool, &prng, i + 1);
    }
    quiescence_leave(&store->quiescence, thread);
    if (ops > 0) {
        PRESTORE_REGION_END(RUN_REGION);
        store->spans[thread].end = result_now();
    }
    store->threads[thread].checksum = checksum;
}

static void load(struct store *store)
{
    for (uint64_t i = 0; i < store->options->keys; i++)
        ycsb_put(store, store->threads[0].pool, key_at(i), 0);
    atomic_store(&store->keys, store->options->keys);
}

static void store_init(struct store *store, const struct options *options)
{
    uint64_t spare = (options->spare_mb << 20) / options->value_size / options->threads;
    uint64_t growth = options->workload == WORKLOAD_D ? (options->warmup + options->ops) / 20 : 0;

    store->options = options;
    store->requests = requests_new((enum workload)options->workload, (enum distribution)options->distribution,
                                   options->keys, options->theta);
    store->index = kv_index_new(options->keys + growth);
    store->quiescence.threads = options->threads;
    for (uint64_t t = 0; t < options->threads; t++)
        store->threads[t].pool = pool_new(&store->quiescence, t, options->value_size, spare);
}

int main(int argc, char **argv)
{
    struct options options = {
        .threads = 1, .keys = 32 << 10, .ops = 1000000, .value_size = 1024, .spare_mb = 64, .seed = 1,
        .theta = 0.99, .workload = WORKLOAD_A, .distribution = ZIPFIAN, .op = OP_NONE,
    };
    const struct arg args[] = {
        ARG_CHOICE_OF("workload", &options.workload, WORKLOADS,
                      "YCSB mix: 50% puts, 5% puts, gets only, or 5% inserts and gets of the latest"),
        ARG_COUNT_OF("keys", &options.keys, 1, UINT32_MAX, "keys loaded before the run"),
        ARG_COUNT_OF("ops", &options.ops, 1, 1e12, "requests, by all threads together"),
        ARG_COUNT_OF("warmup", &options.warmup, 0, 1e12, "requests before those, by all threads together"),
        ARG_COUNT_OF("value-size", &options.value_size, 64, MAX_VALUE_SIZE, "bytes of a value, a multiple of 64"),
        ARG_COUNT_OF("threads", &options.threads, 1, TEAM_MAX_THREADS, "threads"),
        ARG_CHOICE_OF("distribution", &options.distribution, DISTRIBUTIONS, "popularity of the keys"),
        ARG_REAL_OF("theta", &options.theta, 0.01, 0.999, "skew of the zipfian distribution"),
        ARG_COUNT_OF("spare-mb", &options.spare_mb, 0, 1e6, "MiB of replaced values kept back before their reuse"),
        ARG_COUNT_OF("seed", &options.seed, 0, 1e18, "seed of the requests"),
        ARG_CHOICE_OF("value", &options.making, MAKINGS, "how puts write values; skip: with the library's writer, or its copy"),
        ARG_CHOICE_OF("op", &options.op, KV_OP_WORDS, "pre-store applied to each value crafted"),
    };
    static struct store store;

    args_parse(argc, argv, "A hash-indexed key-value store under YCSB.", args, sizeof args / sizeof *args);
    if (options.value_size % 64)
        args_fail("--value-size must be a multiple of 64");
    options.op = KV_OPS[options.op];
    store_init(&store, &options);
    load(&store);

    team_run(options.threads, run, &store);
    double seconds = result_spanned(store.spans, options.threads);

    uint64_t checksum = 0;
    for (uint64_t t = 0; t < options.threads; t++)
        checksum += store.threads[t].checksum;
    result_print("kv", options.ops, seconds, checksum);
    return 0;
}
