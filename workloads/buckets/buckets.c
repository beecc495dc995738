/* Distribution of keys into buckets, as the ranking of NAS IS with buckets, or a partitioned join: every bucket is written
 * front to back, and all of them by turns. Then each bucket's keys are counted. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "../common/team.h"

#include <string.h>

#define MAX_BUCKETS (64 << 10)

struct ranking {
    uint64_t keys, buckets, max_key, seed, threads;
    unsigned shift;
    uint32_t *from, *to; /* each thread a part of its own */
    uint64_t sums[TEAM_MAX_THREADS][CACHE_LINE_SIZE / sizeof(uint64_t)];
};

static NOINLINE void create_keys(uint32_t *keys, uint64_t count, uint64_t max_key, struct prng *prng)
{
    for (uint64_t i = 0; i < count; i++)
        keys[i] = (uint32_t)prng_below(prng, max_key);
}

static NOINLINE void count_keys(uint32_t *ends, const uint32_t *keys, uint64_t count, unsigned shift)
{
    for (uint64_t i = 0; i < count; i++)
        ends[keys[i] >> shift]++;
}

/* `at` holds where each bucket begins, and then where it ends. */
static NOINLINE void distribute(uint32_t *to, uint32_t *at, const uint32_t *keys, uint64_t count, unsigned shift)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t key = keys[i];
        to[at[key >> shift]++] = key;
    }
}

static void run(void *context, uint64_t thread)
{
    struct ranking *r = context;
    const uint64_t count = team_share(r->keys, r->threads, thread);
    const uint64_t first = r->keys / r->threads * thread + (thread < r->keys % r->threads ? thread : r->keys % r->threads);
    struct prng prng = prng_new(r->seed, thread);
    uint32_t *at = memory_fresh(r->buckets * sizeof *at);
    uint32_t sum = 0;

    create_keys(r->from + first, count, r->max_key, &prng);
    count_keys(at, r->from + first, count, r->shift);
    for (uint64_t b = 0; b < r->buckets; b++) {
        const uint32_t size = at[b];
        at[b] = sum;
        sum += size;
    }
    distribute(r->to + first, at, r->from + first, count, r->shift);
    r->sums[thread][0] = at[r->buckets / 2] ^ r->to[first];
}

int main(int argc, char **argv)
{
    static struct ranking r = { .keys = 4 << 20, .buckets = 1024, .threads = 1, .seed = 1 };
    const struct arg args[] = {
        ARG_COUNT_OF("keys", &r.keys, 1, 1e9, "keys of 4 bytes"),
        ARG_COUNT_OF("buckets", &r.buckets, 1, MAX_BUCKETS, "buckets, a power of two"),
        ARG_COUNT_OF("threads", &r.threads, 1, TEAM_MAX_THREADS, "threads, each with its own keys and buckets"),
        ARG_COUNT_OF("seed", &r.seed, 0, 1e18, "seed of the keys"),
    };

    args_parse(argc, argv, "Distributes keys into buckets.", args, sizeof args / sizeof *args);
    if (r.buckets & (r.buckets - 1))
        args_fail("--buckets must be a power of two");
    r.max_key = (uint64_t)MAX_BUCKETS * 16;
    while (r.max_key >> r.shift > r.buckets)
        r.shift++;
    r.from = memory_fresh(r.keys * sizeof *r.from);
    r.to = memory_fresh(r.keys * sizeof *r.to);

    double start = result_now();
    team_run(r.threads, run, &r);
    double seconds = result_now() - start;

    uint64_t sum = 0;
    for (uint64_t t = 0; t < r.threads; t++)
        sum += r.sums[t][0];
    result_print("buckets", r.keys, seconds, sum);
    return 0;
}
