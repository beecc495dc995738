/* Fast Fourier transform of many rows, forward and back: what was there must be there again. */
#include "threads.h"
#include <complex.h>
#include <math.h>
#include <string.h>

enum { ROWS = 24, LOG = 9, N = 1 << LOG };

static double complex data[ROWS][N], before[ROWS][N], roots[N / 2];

static void
transform(double complex *x, int inverse)
{
    for (unsigned i = 1, j = 0; i < N; i++) {
        unsigned bit = N >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex t = x[i];
            x[i] = x[j];
            x[j] = t;
        }
    }
    for (int half = 1; half < N; half *= 2) {
        for (int i = 0; i < N; i += 2 * half) {
            for (int k = 0; k < half; k++) {
                double complex w = roots[k * (N / 2 / half)];
                double complex t = (inverse ? conj(w) : w) * x[i + k + half];
                x[i + k + half] = x[i + k] - t;
                x[i + k] += t;
            }
        }
    }
}

static void *
work(void *arg)
{
    long begin, end;
    part_of(ROWS, (int)(long)arg, &begin, &end);
    for (long row = begin; row < end; row++)
        transform(data[row], 0);
    wait_for_all();
    if (arg == NULL)
        for (int i = 0; i < N; i += 61)
            printf("%a %a\n", creal(data[i % ROWS][i]), cimag(data[i % ROWS][i]));
    wait_for_all();
    for (long row = begin; row < end; row++) {
        transform(data[row], 1);
        for (int i = 0; i < N; i++)
            data[row][i] /= N;
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    double error = 0;
    read_threads(argc, argv);
    for (int i = 0; i < N / 2; i++)
        roots[i] = cexp(-2 * M_PI * I * i / N);
    for (int i = 0; i < ROWS * N; i++)
        data[i / N][i % N] = random_at((uint64_t)i) + random_at((uint64_t)(i + ROWS * N)) * I;
    memcpy(before, data, sizeof(data));
    run_on_all(work);
    for (int i = 0; i < ROWS * N; i++)
        error = fmax(error, cabs(data[i / N][i % N] - before[i / N][i % N]));
    return verdict("fft", error, 1e-13);
}
