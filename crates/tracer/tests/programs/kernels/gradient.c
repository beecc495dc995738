/* Conjugate gradients on a sparse matrix; the residual is computed anew at the end. */
#include "threads.h"
#include <math.h>

enum { N = 1500, PER_ROW = 8, ROUNDS = 25 };

static int columns[N][PER_ROW];
static double values[N][PER_ROW], x[N], r[N], p[N], q[N], b[N], partial[N];
static double rho, alpha;

static void
multiply(const double *from, double *to, long begin, long end)
{
    for (long i = begin; i < end; i++) {
        double sum = 12 * from[i];
        for (int j = 0; j < PER_ROW; j++)
            sum += values[i][j] * from[columns[i][j]];
        to[i] = sum;
    }
}

/* In the same order whatever the number of threads. */
static double
sum_of(const double *terms)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += terms[i];
    return sum;
}

static void *
solve(void *arg)
{
    long begin, end;
    part_of(N, (int)(long)arg, &begin, &end);
    for (int round = 0; round < ROUNDS; round++) {
        multiply(p, q, begin, end);
        for (long i = begin; i < end; i++)
            partial[i] = p[i] * q[i];
        wait_for_all();
        if (arg == NULL)
            alpha = rho / sum_of(partial);
        wait_for_all();
        for (long i = begin; i < end; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            partial[i] = r[i] * r[i];
        }
        wait_for_all();
        double old = rho;
        wait_for_all();
        if (arg == NULL)
            rho = sum_of(partial);
        wait_for_all();
        for (long i = begin; i < end; i++)
            p[i] = r[i] + rho / old * p[i];
        wait_for_all();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    read_threads(argc, argv);
    for (int i = 0; i < N; i++) {
        /* Symmetric: i with i + d and i - d, by the same value. */
        for (int j = 0; j < PER_ROW / 2; j++) {
            int d = 1 + j * j * 7, up = (i + d) % N, down = (i - d + N) % N;
            columns[i][2 * j] = up;
            values[i][2 * j] = -random_at((uint64_t)(i * 4 + j));
            columns[i][2 * j + 1] = down;
            values[i][2 * j + 1] = -random_at((uint64_t)(down * 4 + j));
        }
        b[i] = r[i] = p[i] = random_at((uint64_t)(i + 7 * N));
        rho += r[i] * r[i];
    }
    run_on_all(solve);
    multiply(x, q, 0, N);
    double error = 0;
    for (int i = 0; i < N; i++)
        error = fmax(error, fabs(q[i] - b[i]));
    printf("%a %a\n", rho, x[N / 2]);
    return verdict("gradient", error, 1e-6);
}
