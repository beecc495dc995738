/* A lower-upper solver, as NAS LU: sweeps over a grid of small vectors, each coupled with its neighbours by full blocks that
 * are made up on the way. Threads share each plane's rows; a thread begins a plane when the one before it is through with
 * its part, which it awaits in a loop that reads a flag and flushes, as OpenMP's `flush` does. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "../common/team.h"

#include <sched.h>
#include <stdatomic.h>

#define M 5 /* components of a point */
/* Looks before a thread that waits lets another one run. */
#define POLLS 64

struct solver {
    uint64_t n, steps, threads, seed;
    double *v; /* n^3 vectors of M */
    struct {
        _Alignas(CACHE_LINE_SIZE) volatile uint64_t planes; /* that the thread is through with */
    } done[TEAM_MAX_THREADS];
    double sums[TEAM_MAX_THREADS][CACHE_LINE_SIZE / sizeof(double)];
};

static NOINLINE void fill(double *grid, size_t count, struct prng *prng)
{
    for (size_t i = 0; i < count; i++)
        grid[i] = prng_unit(prng);
}

static void flush(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

/* Waits until the neighbour is through with so many planes. */
static NOINLINE void await_planes(volatile uint64_t *done, uint64_t planes)
{
    for (unsigned polls = 1; *done < planes; polls++) {
        flush();
        if (polls % POLLS == 0)
            sched_yield();
    }
    flush();
}

/* Takes the coupling with one neighbour off `sum`: a block times a vector. */
static inline void take_off(double sum[M], const double *neighbour, double weight)
{
    const double a = neighbour[0] * weight, b = neighbour[M - 1] * weight;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            sum[i] -= (a * (i + 1) + b * (j + 1) + (i == j)) * weight * neighbour[j];
}

/* One row of a plane, in place; `step` is the stride from a point to the next, backwards in the upper sweep. */
static NOINLINE void sweep_row(double *row, size_t n, ptrdiff_t step, ptrdiff_t line, ptrdiff_t plane)
{
    for (size_t i = 1; i < n; i++) {
        double *v = row + (ptrdiff_t)i * step;
        double sum[M];
        for (int m = 0; m < M; m++)
            sum[m] = v[m];
        take_off(sum, v - step, 0.01);
        take_off(sum, v - line, 0.01);
        take_off(sum, v - plane, 0.01);
        for (int m = 0; m < M; m++)
            v[m] = sum[m] * 0.9;
    }
}

static void run(void *context, uint64_t thread)
{
    struct solver *s = context;
    const size_t n = s->n;
    const ptrdiff_t point = M, line = (ptrdiff_t)n * M, plane = line * (ptrdiff_t)n;
    const size_t first = 1 + (n - 2) * thread / s->threads, last = 1 + (n - 2) * (thread + 1) / s->threads;
    uint64_t planes = 0;

    for (uint64_t step = 0; step < s->steps; step++) {
        for (size_t k = 1; k + 1 < n; k++, planes++) {
            if (thread > 0)
                await_planes(&s->done[thread - 1].planes, planes + 1);
            for (size_t j = first; j < last; j++)
                sweep_row(s->v + (ptrdiff_t)k * plane + (ptrdiff_t)j * line, n, point, line, plane);
            flush();
            s->done[thread].planes = planes + 1;
        }
        /* The upper sweep begins when the last thread is through with the lower one. */
        await_planes(&s->done[s->threads - 1].planes, planes);
        for (size_t k = n - 2; k > 0; k--, planes++) {
            if (thread > 0)
                await_planes(&s->done[thread - 1].planes, planes + 1);
            for (size_t j = last; j-- > first;)
                sweep_row(s->v + (ptrdiff_t)k * plane + (ptrdiff_t)(j + 1) * line - point, n - 1, -point, -line, -plane);
            flush();
            s->done[thread].planes = planes + 1;
        }
        await_planes(&s->done[s->threads - 1].planes, planes);
    }
    s->sums[thread][0] = s->v[plane * (ptrdiff_t)(n / 2) + line * (ptrdiff_t)first + M];
}

int main(int argc, char **argv)
{
    static struct solver s = { .n = 48, .steps = 4, .threads = 1, .seed = 1 };
    const struct arg args[] = {
        ARG_COUNT_OF("n", &s.n, 4, 512, "points of the grid in each direction"),
        ARG_COUNT_OF("steps", &s.steps, 1, 1e5, "lower and upper sweeps"),
        ARG_COUNT_OF("threads", &s.threads, 1, TEAM_MAX_THREADS, "threads"),
        ARG_COUNT_OF("seed", &s.seed, 0, 1e18, "seed of the grid's contents"),
    };

    args_parse(argc, argv, "Lower and upper sweeps over a grid of small vectors.", args, sizeof args / sizeof *args);
    const size_t count = s.n * s.n * s.n * M;
    struct prng prng = prng_new(s.seed, 0);
    s.v = memory_fresh(count * sizeof *s.v);
    fill(s.v, count, &prng);

    double start = result_now();
    team_run(s.threads, run, &s);
    double seconds = result_now() - start;

    result_print("solver", s.steps * s.n * s.n * s.n, seconds, s.threads == 1 ? result_bits(s.sums[0][0]) : 0);
    return 0;
}
