/* Conjugate gradients with a random sparse matrix, as NAS CG: long rows are read for each element written. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/meeting.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "../common/team.h"

struct system {
    uint64_t rows, row_length, iters, threads, seed;
    double *values;    /* rows * row_length */
    uint32_t *columns; /* of the values */
    double *p, *q, *r, *x;
    struct meeting met[2];
    struct {
        _Alignas(CACHE_LINE_SIZE) double pq, rr;
    } parts[TEAM_MAX_THREADS];
};

static NOINLINE void create_rows(struct system *s, uint64_t first, uint64_t last, struct prng *prng)
{
    for (uint64_t i = first * s->row_length; i < last * s->row_length; i++) {
        s->values[i] = 0.001 * prng_unit(prng);
        s->columns[i] = (uint32_t)prng_below(prng, s->rows);
    }
    for (uint64_t i = first; i < last; i++) {
        s->values[i * s->row_length] = 1.0;
        s->columns[i * s->row_length] = (uint32_t)i;
        s->p[i] = s->r[i] = 1.0;
    }
}

/* q = A p, and p q. */
static NOINLINE double multiply(const struct system *s, uint64_t first, uint64_t last)
{
    double pq = 0;

    for (uint64_t i = first; i < last; i++) {
        double sum = 0;
        for (uint64_t k = i * s->row_length; k < (i + 1) * s->row_length; k++)
            sum += s->values[k] * s->p[s->columns[k]];
        s->q[i] = sum;
        pq += sum * s->p[i];
    }
    return pq;
}

static NOINLINE double step(const struct system *s, uint64_t first, uint64_t last, double alpha)
{
    double rr = 0;

    for (uint64_t i = first; i < last; i++) {
        s->x[i] += alpha * s->p[i];
        const double r = s->r[i] - alpha * s->q[i];
        s->r[i] = r;
        rr += r * r;
    }
    return rr;
}

static NOINLINE void turn(const struct system *s, uint64_t first, uint64_t last, double beta)
{
    for (uint64_t i = first; i < last; i++)
        s->p[i] = s->r[i] + beta * s->p[i];
}

static double add_up(const struct system *s, int rr)
{
    double sum = 0;
    for (uint64_t t = 0; t < s->threads; t++)
        sum += rr ? s->parts[t].rr : s->parts[t].pq;
    return sum;
}

static void run(void *context, uint64_t thread)
{
    struct system *s = context;
    const uint64_t first = s->rows * thread / s->threads, last = s->rows * (thread + 1) / s->threads;
    struct prng prng = prng_new(s->seed, thread);
    double rr = (double)s->rows;

    create_rows(s, first, last, &prng);
    meeting_attend(&s->met[0], s->threads, thread);
    for (uint64_t i = 0; i < s->iters; i++) {
        s->parts[thread].pq = multiply(s, first, last);
        meeting_attend(&s->met[1], s->threads, thread);
        s->parts[thread].rr = step(s, first, last, rr / add_up(s, 0));
        meeting_attend(&s->met[0], s->threads, thread);
        const double next = add_up(s, 1);
        turn(s, first, last, next / rr);
        rr = next;
        meeting_attend(&s->met[1], s->threads, thread);
    }
}

int main(int argc, char **argv)
{
    static struct system s = { .rows = 32 << 10, .row_length = 48, .iters = 8, .threads = 1, .seed = 1 };
    const struct arg args[] = {
        ARG_COUNT_OF("rows", &s.rows, 1, 1e8, "rows of the matrix"),
        ARG_COUNT_OF("row-length", &s.row_length, 1, 1e4, "elements of a row that are not zero"),
        ARG_COUNT_OF("iters", &s.iters, 1, 1e6, "iterations"),
        ARG_COUNT_OF("threads", &s.threads, 1, TEAM_MAX_THREADS, "threads"),
        ARG_COUNT_OF("seed", &s.seed, 0, 1e18, "seed of the matrix"),
    };

    args_parse(argc, argv, "Conjugate gradients with a sparse matrix.", args, sizeof args / sizeof *args);
    s.values = memory_fresh(s.rows * s.row_length * sizeof *s.values);
    s.columns = memory_fresh(s.rows * s.row_length * sizeof *s.columns);
    double *vectors[4];
    for (int i = 0; i < 4; i++)
        vectors[i] = memory_fresh(s.rows * sizeof **vectors);
    s.p = vectors[0], s.q = vectors[1], s.r = vectors[2], s.x = vectors[3];

    double start = result_now();
    team_run(s.threads, run, &s);
    double seconds = result_now() - start;

    result_print("sparse", s.iters * s.rows * s.row_length, seconds, s.threads == 1 ? result_bits(s.x[s.rows / 2]) : 0);
    return 0;
}
