/* Solves a linear system by elimination with pivoting, and checks the residual. */
#include "threads.h"
#include <math.h>
#include <string.h>

enum { N = 96 };

static double a[N][N], lu[N][N], b[N], x[N];
static int pivots[N];

static void *
factor(void *arg)
{
    int id = (int)(long)arg;
    for (int k = 0; k < N; k++) {
        if (id == 0) {
            int best = k;
            for (int i = k + 1; i < N; i++)
                best = fabs(lu[i][k]) > fabs(lu[best][k]) ? i : best;
            pivots[k] = best;
            for (int j = 0; j < N && best != k; j++) {
                double t = lu[k][j];
                lu[k][j] = lu[best][j];
                lu[best][j] = t;
            }
        }
        wait_for_all();
        long begin, end;
        part_of(N - k - 1, id, &begin, &end);
        for (long i = k + 1 + begin; i < k + 1 + end; i++) {
            double by = lu[i][k] /= lu[k][k];
            for (int j = k + 1; j < N; j++)
                lu[i][j] -= by * lu[k][j];
        }
        wait_for_all();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    double error = 0;
    read_threads(argc, argv);
    for (int i = 0; i < N * N; i++)
        a[i / N][i % N] = random_at((uint64_t)i) - 0.5;
    for (int i = 0; i < N; i++)
        x[i] = b[i] = random_at((uint64_t)(N * N + i));
    memcpy(lu, a, sizeof(a));
    run_on_all(factor);
    for (int i = 0; i < N; i++) {
        double t = x[pivots[i]];
        x[pivots[i]] = x[i];
        x[i] = t;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            x[i] -= lu[i][j] * x[j];
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++)
            x[i] -= lu[i][j] * x[j];
        x[i] /= lu[i][i];
    }
    for (int i = 0; i < N; i++) {
        double left = -b[i];
        for (int j = 0; j < N; j++)
            left += a[i][j] * x[j];
        error = fmax(error, fabs(left));
        if (i % 13 == 0)
            printf("%a\n", x[i]);
    }
    return verdict("lu", error, 1e-10);
}
