/* Tridiagonal systems along the lines of a grid, as NAS SP and BT do: a right-hand side for the whole grid, written once
 * and read when it has long left the cache; then each line is eliminated forwards in a small buffer and substituted
 * backwards into the grid of the solution. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/op.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "../common/team.h"

/* What the pre-store is applied to. */
static const char *const PLACES[] = { "both", "rhs", "solution", NULL };
enum { BOTH, RHS, SOLUTION };
static const char *const LINES_OP_WORDS[] = { "none", "clean", "skip", NULL };
static const enum op LINES_OPS[] = { OP_NONE, OP_CLEAN, OP_SKIP };

struct grid {
    uint64_t n, steps, threads, seed;
    int place;
    enum op op;
    double *u, *rhs; /* n^3; the right-hand side anew each step */
    double sums[TEAM_MAX_THREADS][CACHE_LINE_SIZE / sizeof(double)];
};

static NOINLINE void fill(double *grid, size_t points, struct prng *prng)
{
    for (size_t i = 0; i < points; i++)
        grid[i] = prng_unit(prng);
}

/* The right-hand side of a line: a difference along it and to the lines beside it. */
static NOINLINE void compute_rhs(double *restrict rhs, const double *restrict u, const double *restrict beside, size_t n)
{
    rhs[0] = u[0];
    for (size_t i = 1; i + 1 < n; i++)
        rhs[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) + 0.05 * (beside[i] - u[i]);
    rhs[n - 1] = u[n - 1];
}

/* Thomas's algorithm: the eliminated line, and the factors, are small and used again for each line. */
static NOINLINE void eliminate(double *restrict line, double *restrict factors, const double *restrict rhs, size_t n)
{
    factors[0] = -0.1;
    line[0] = rhs[0];
    for (size_t i = 1; i < n; i++) {
        const double pivot = 1.0 / (1.2 + 0.1 * factors[i - 1]);
        factors[i] = -0.1 * pivot;
        line[i] = (rhs[i] + 0.1 * line[i - 1]) * pivot;
    }
}

static NOINLINE double substitute(double *restrict u, const double *restrict line, const double *restrict factors,
                                  size_t n)
{
    double x = line[n - 1];
    u[n - 1] = x;
    for (size_t i = n - 1; i-- > 0;) {
        x = line[i] - factors[i] * x;
        u[i] = x;
    }
    return x;
}

/* Applies the operation to a line that was written to `made`: to be skipped, or to its place `line`. */
static inline void finish(double *line, const double *made, size_t n, enum op op)
{
    if (op == OP_SKIP)
        prestore_copy_skip(line, made, n * sizeof *made);
    else
        op_apply(line, n * sizeof *line, op);
}

static void run(void *context, uint64_t thread)
{
    struct grid *g = context;
    const size_t n = g->n, lines = n * n;
    const size_t first = lines * thread / g->threads, last = lines * (thread + 1) / g->threads;
    double *line = memory_fresh(n * sizeof *line), *factors = memory_fresh(n * sizeof *factors);
    double *made = memory_fresh(n * sizeof *made);
    const enum op rhs_op = g->place == SOLUTION ? OP_NONE : g->op, u_op = g->place == RHS ? OP_NONE : g->op;
    double sum = 0;

    for (uint64_t step = 0; step < g->steps; step++) {
        for (size_t l = first; l < last; l++) {
            double *rhs = g->rhs + l * n;
            compute_rhs(rhs_op == OP_SKIP ? made : rhs, g->u + l * n, g->u + (l + 1 < last ? l + 1 : l) * n, n);
            finish(rhs, made, n, rhs_op);
        }
        for (size_t l = first; l < last; l++) {
            double *u = g->u + l * n;
            eliminate(line, factors, g->rhs + l * n, n);
            sum += substitute(u_op == OP_SKIP ? made : u, line, factors, n);
            finish(u, made, n, u_op);
        }
    }
    if (g->op == OP_SKIP)
        prestore_fence();
    g->sums[thread][0] = sum;
}

int main(int argc, char **argv)
{
    static struct grid g = { .n = 128, .steps = 2, .threads = 1, .seed = 1 };
    int op = OP_NONE;
    const struct arg args[] = {
        ARG_COUNT_OF("n", &g.n, 4, 1024, "points of the grid in each direction"),
        ARG_COUNT_OF("steps", &g.steps, 1, 1e5, "steps"),
        ARG_COUNT_OF("threads", &g.threads, 1, TEAM_MAX_THREADS, "threads, each with its own lines"),
        ARG_COUNT_OF("seed", &g.seed, 0, 1e18, "seed of the grid's contents"),
        ARG_CHOICE_OF("op", &op, LINES_OP_WORDS, "pre-store applied to each line written to a grid"),
        ARG_CHOICE_OF("place", &g.place, PLACES, "to which grid's lines"),
    };

    args_parse(argc, argv, "Tridiagonal systems along the lines of a grid.", args, sizeof args / sizeof *args);
    g.op = LINES_OPS[op];
    const size_t points = g.n * g.n * g.n;
    struct prng prng = prng_new(g.seed, 0);
    g.u = memory_fresh(points * sizeof *g.u);
    g.rhs = memory_fresh(points * sizeof *g.rhs);
    fill(g.u, points, &prng);

    double start = result_now();
    team_run(g.threads, run, &g);
    double seconds = result_now() - start;

    double sum = 0;
    for (uint64_t t = 0; t < g.threads; t++)
        sum += g.sums[t][0];
    result_print("lines", g.steps * points, seconds, result_bits(sum));
    return 0;
}
