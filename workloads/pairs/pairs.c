/* Embarrassingly parallel, as NAS EP: batches of random pairs, of which those in the unit circle are made normal deviates
 * and tallied. Nearly all is arithmetic. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "../common/team.h"

#include <math.h>

#define BATCH (64 << 10) /* pairs */
#define RINGS 10

struct sampling {
    uint64_t batches, seed, threads;
    uint64_t sums[TEAM_MAX_THREADS][CACHE_LINE_SIZE / sizeof(uint64_t)];
};

static NOINLINE void draw(double *numbers, size_t count, struct prng *prng)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = 2.0 * prng_unit(prng) - 1.0;
}

static NOINLINE uint64_t tally(const double *numbers, size_t pairs)
{
    uint64_t rings[RINGS] = { 0 }, sum = 0;

    for (size_t i = 0; i < pairs; i++) {
        const double x = numbers[2 * i], y = numbers[2 * i + 1], t = x * x + y * y;
        if (t > 1.0 || t == 0.0)
            continue;
        const double scale = sqrt(-2.0 * log(t) / t);
        const double most = fmax(fabs(x * scale), fabs(y * scale));
        rings[most < RINGS ? (int)most : RINGS - 1]++;
    }
    for (int i = 0; i < RINGS; i++)
        sum += rings[i] * (uint64_t)(i + 1);
    return sum;
}

static void run(void *context, uint64_t thread)
{
    struct sampling *s = context;
    double *numbers = memory_fresh(2 * BATCH * sizeof *numbers);
    struct prng prng = prng_new(s->seed, thread);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < team_share(s->batches, s->threads, thread); i++) {
        draw(numbers, 2 * BATCH, &prng);
        sum += tally(numbers, BATCH);
    }
    s->sums[thread][0] = sum;
}

int main(int argc, char **argv)
{
    static struct sampling s = { .batches = 16, .threads = 1, .seed = 1 };
    const struct arg args[] = {
        ARG_COUNT_OF("batches", &s.batches, 1, 1e9, "batches of 64 Ki pairs, by all threads together"),
        ARG_COUNT_OF("threads", &s.threads, 1, TEAM_MAX_THREADS, "threads"),
        ARG_COUNT_OF("seed", &s.seed, 0, 1e18, "seed of the numbers"),
    };

    args_parse(argc, argv, "Tallies random pairs.", args, sizeof args / sizeof *args);
    double start = result_now();
    team_run(s.threads, run, &s);
    double seconds = result_now() - start;

    uint64_t sum = 0;
    for (uint64_t t = 0; t < s.threads; t++)
        sum += s.sums[t][0];
    result_print("pairs", s.batches * BATCH, seconds, sum);
    return 0;
}
