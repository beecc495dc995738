/* Multigrid-like sweeps, as NAS MG in the paper's section 7.2.2. Each step computes a residual, which the corrections
 * of two relaxation weights read again soon; the corrections themselves go to fresh grids that nobody reads. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/meeting.h"
#include "../common/memory.h"
#include "../common/op.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "../common/team.h"
#include "sweeps.h"

#define WEIGHTS 2
/* The region of the steps after those of the warm-up. */
#define RUN_REGION 1

/* Nothing is rewritten, so there is no demote. The residual is read again, so skip leaves it alone. */
static const char *const STENCIL_OP_WORDS[] = { "none", "clean", "skip", NULL };
static const enum op STENCIL_OPS[] = { OP_NONE, OP_CLEAN, OP_SKIP };

/* How corrections are skipped, and which rows are cleaned. */
static const char *const SKIP_WORDS[] = { "writer", "buffer", NULL };
static const char *const CLEANED_WORDS[] = { "all", "residual", "corrections", NULL };
enum { CLEAN_ALL, CLEAN_RESIDUAL, CLEAN_CORRECTIONS };

struct sweep {
    struct grid_shape shape;
    double *u, *v; /* read by every step */
    double *r;     /* one grid a step */
    double *out;   /* WEIGHTS grids a step */
    uint64_t steps, warmup, threads;
    enum op op;
    int buffered, cleaned;
    struct meeting warm;
    double sums[TEAM_MAX_THREADS][CACHE_LINE_SIZE / sizeof(double)];
};

static NOINLINE void fill(double *grid, size_t points, struct prng *prng)
{
    for (size_t i = 0; i < points; i++)
        grid[i] = prng_unit(prng);
}

/* The first plane of thread `thread`: each has a slab of planes that lie side by side. */
static size_t first_plane(const struct sweep *sweep, uint64_t thread)
{
    return sweep->shape.n * thread / sweep->threads;
}

/* A thread's part of one step: every plane's residual, and right after it the corrections that need it. */
static double step(const struct sweep *sweep, uint64_t index, uint64_t thread, double *row)
{
    const size_t n = sweep->shape.n, points = n * n * n;
    double *r = sweep->r + index * points;
    double *out = sweep->out + index * WEIGHTS * points;
    const double first_weight = 1.0 / (8.0 + (double)index);
    double sum = 0;

    for (size_t i3 = first_plane(sweep, thread); i3 < first_plane(sweep, thread + 1); i3++) {
        resid(sweep->shape, sweep->u, sweep->v, r, i3, sweep->cleaned == CLEAN_CORRECTIONS ? OP_NONE : sweep->op);
        for (size_t w = 0; w < WEIGHTS; w++) {
            const double weight = first_weight / (double)(w + 1);
            double *corrections = out + w * points;
            if (sweep->op == OP_SKIP && sweep->buffered)
                sum += psinv_copy_skip(sweep->shape, sweep->u, r, corrections, weight, i3, row);
            else if (sweep->op == OP_SKIP)
                sum += psinv_skip(sweep->shape, sweep->u, r, corrections, weight, i3);
            else
                sum += psinv(sweep->shape, sweep->u, r, corrections, weight, i3,
                             sweep->cleaned == CLEAN_RESIDUAL ? OP_NONE : sweep->op);
        }
    }
    return sum;
}

/* Planes are independent of each other, so threads need not wait for each other between steps. */
static void run(void *context, uint64_t thread)
{
    struct sweep *sweep = context;
    double *row = memory_fresh(sweep->shape.n * sizeof *row);
    double sum = 0;

    for (uint64_t i = 0; i < sweep->warmup + sweep->steps; i++) {
        if (i == sweep->warmup) {
            meeting_attend(&sweep->warm, sweep->threads, thread);
            PRESTORE_REGION_BEGIN(RUN_REGION);
        }
        sum += step(sweep, i, thread, row);
    }
    PRESTORE_REGION_END(RUN_REGION);
    sweep->sums[thread][0] = sum;
}

int main(int argc, char **argv)
{
    static struct sweep sweep = { .steps = 40, .threads = 1 };
    uint64_t n = 64, seed = 1;
    int op = OP_NONE;
    const struct arg args[] = {
        ARG_COUNT_OF("n", &n, 4, 1024, "points of a grid in each direction"),
        ARG_COUNT_OF("steps", &sweep.steps, 1, 1e5, "steps; each writes three fresh grids of n^3 doubles"),
        ARG_COUNT_OF("warmup", &sweep.warmup, 0, 1e5, "steps before those"),
        ARG_COUNT_OF("threads", &sweep.threads, 1, TEAM_MAX_THREADS, "threads"),
        ARG_COUNT_OF("seed", &seed, 0, 1e18, "seed of the grids' contents"),
        ARG_CHOICE_OF("op", &op, STENCIL_OP_WORDS, "pre-store applied to each row written; skip: to corrections"),
        ARG_CHOICE_OF("skip", &sweep.buffered, SKIP_WORDS, "how corrections are skipped: the library's writer, or its copy"),
        ARG_CHOICE_OF("cleaned", &sweep.cleaned, CLEANED_WORDS, "which rows are cleaned"),
    };

    args_parse(argc, argv, "Multigrid-like sweeps over 3-D grids.", args, sizeof args / sizeof *args);
    sweep.shape.n = n;
    sweep.op = STENCIL_OPS[op];
    const size_t inputs = (n + 2) * (n + 2) * (n + 2);
    const size_t outputs = (sweep.warmup + sweep.steps) * n * n * n;
    struct prng prng = prng_new(seed, 0);
    sweep.u = memory_fresh(inputs * sizeof(double));
    sweep.v = memory_fresh(inputs * sizeof(double));
    sweep.r = memory_fresh(outputs * sizeof(double));
    sweep.out = memory_fresh(WEIGHTS * outputs * sizeof(double));
    fill(sweep.u, inputs, &prng);
    fill(sweep.v, inputs, &prng);

    double start = result_now();
    team_run(sweep.threads, run, &sweep);
    double seconds = result_now() - start;

    double sum = 0;
    for (uint64_t t = 0; t < sweep.threads; t++)
        sum += sweep.sums[t][0];
    result_print("stencil", sweep.steps * n * n * n, seconds, result_bits(sum));
    return 0;
}
