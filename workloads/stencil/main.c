/* Multigrid-like sweeps, as NAS MG in the paper's section 7.2.2. Each step computes a residual, which the corrections
 * of two relaxation weights read again soon; the corrections themselves go to fresh grids that nobody reads. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "sweeps.h"

#define WEIGHTS 2

struct grids {
    struct grid_shape shape;
    double *u, *v; /* read by every step */
    double *r;     /* one grid a step */
    double *out;   /* WEIGHTS grids a step */
};

static NOINLINE void fill(double *grid, size_t points, struct prng *prng)
{
    for (size_t i = 0; i < points; i++)
        grid[i] = prng_unit(prng);
}

/* One step: every plane's residual, and right after it the corrections that need it. */
static double step(const struct grids *grids, uint64_t index, uint64_t threads)
{
    const size_t n = grids->shape.n, points = n * n * n;
    double *r = grids->r + index * points;
    double *out = grids->out + index * WEIGHTS * points;
    const double first_weight = 1.0 / (8.0 + (double)index);
    double sum = 0;

#pragma omp parallel for schedule(static) num_threads((int)threads) reduction(+ : sum)
    for (size_t i3 = 0; i3 < n; i3++) {
        resid(grids->shape, grids->u, grids->v, r, i3);
        for (size_t w = 0; w < WEIGHTS; w++)
            sum += psinv(grids->shape, grids->u, r, out + w * points, first_weight / (double)(w + 1), i3);
    }
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t n = 64, steps = 40, threads = 1, seed = 1;
    const struct arg args[] = {
        ARG_COUNT_OF("n", &n, 4, 1024, "points of a grid in each direction"),
        ARG_COUNT_OF("steps", &steps, 1, 1e5, "steps; each writes three fresh grids of n^3 doubles"),
        ARG_COUNT_OF("threads", &threads, 1, 256, "OpenMP threads"),
        ARG_COUNT_OF("seed", &seed, 0, 1e18, "seed of the grids' contents"),
    };

    args_parse(argc, argv, "Multigrid-like sweeps over 3-D grids.", args, sizeof args / sizeof *args);
    struct grids grids = { .shape = { n } };
    const size_t inputs = (n + 2) * (n + 2) * (n + 2), points = n * n * n;
    struct prng prng = prng_new(seed, 0);
    grids.u = memory_fresh(inputs * sizeof(double));
    grids.v = memory_fresh(inputs * sizeof(double));
    grids.r = memory_fresh(steps * points * sizeof(double));
    grids.out = memory_fresh(steps * WEIGHTS * points * sizeof(double));
    fill(grids.u, inputs, &prng);
    fill(grids.v, inputs, &prng);

    double sum = 0;
    double start = result_now();
    for (uint64_t i = 0; i < steps; i++)
        sum += step(&grids, i, threads);
    double seconds = result_now() - start;

    result_print("stencil", steps * points, seconds, result_bits(sum));
    return 0;
}
