/* Two-level multigrid for the Poisson equation in three dimensions: residual, restriction, smoothing,
 * interpolation. The residual must fall as it does for the first cycle, in every cycle. */
#include "threads.h"
#include <math.h>

enum { N = 18, H = N / 2 + 1, CYCLES = 6, SMOOTHINGS = 2, COARSE = 12 };

static double u[N][N][N], v[N][N][N], r[N][N][N], next[N][N][N];
static double cu[H][H][H], cr[H][H][H], cnext[H][H][H];
static double norms[CYCLES + 1];

#define SUM(a, i, j, k)                                                                            \
    ((a)[(i) - 1][j][k] + (a)[(i) + 1][j][k] + (a)[i][(j) - 1][k] + (a)[i][(j) + 1][k] +           \
     (a)[i][j][(k) - 1] + (a)[i][j][(k) + 1])
#define INNER(n, id)                                                                               \
    long begin, end;                                                                               \
    part_of((n) - 2, id, &begin, &end);                                                            \
    for (long i = begin + 1; i < end + 1; i++)                                                     \
        for (int j = 1; j < (n) - 1; j++)                                                          \
            for (int k = 1; k < (n) - 1; k++)

static void
smooth(int id)
{
    { INNER(N, id) next[i][j][k] = u[i][j][k] / 3 + (SUM(u, i, j, k) + v[i][j][k]) / 9; }
    wait_for_all();
    { INNER(N, id) u[i][j][k] = next[i][j][k]; }
    wait_for_all();
}

static void
residual(int id, int cycle)
{
    { INNER(N, id) r[i][j][k] = v[i][j][k] - (6 * u[i][j][k] - SUM(u, i, j, k)); }
    wait_for_all();
    if (id == 0) {
        double sum = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++)
                    sum += r[i][j][k] * r[i][j][k];
        norms[cycle] = sqrt(sum);
    }
}

static void *
cycles(void *arg)
{
    int id = (int)(long)arg;
    residual(id, 0);
    for (int cycle = 1; cycle <= CYCLES; cycle++) {
        for (int s = 0; s < SMOOTHINGS; s++)
            smooth(id);
        residual(id, cycle);
        wait_for_all();
        { INNER(H, id) {
            cr[i][j][k] = 2 * r[2 * i][2 * j][2 * k] + SUM(r, 2 * i, 2 * j, 2 * k) / 3;
            cu[i][j][k] = 0;
        } }
        wait_for_all();
        for (int s = 0; s < COARSE; s++) {
            { INNER(H, id) cnext[i][j][k] = (SUM(cu, i, j, k) + cr[i][j][k]) / 6; }
            wait_for_all();
            { INNER(H, id) cu[i][j][k] = cnext[i][j][k]; }
            wait_for_all();
        }
        { INNER(N, id) {
            int a = (int)i / 2, b = j / 2, c = k / 2;
            u[i][j][k] += (cu[a][b][c] + cu[a + (i & 1)][b + (j & 1)][c + (k & 1)]) / 2;
        } }
        wait_for_all();
        for (int s = 0; s < SMOOTHINGS; s++)
            smooth(id);
        residual(id, cycle);
        wait_for_all();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    read_threads(argc, argv);
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            for (int k = 1; k < N - 1; k++)
                v[i][j][k] = random_at((uint64_t)(i * N * N + j * N + k)) - 0.5;
    run_on_all(cycles);
    double worst = 0;
    for (int c = 1; c <= CYCLES; c++) {
        printf("%a\n", norms[c]);
        worst = fmax(worst, norms[c] / norms[c - 1]);
    }
    return verdict("multigrid", worst, 0.9);
}
