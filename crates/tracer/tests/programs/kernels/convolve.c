/* A two-dimensional convolution with a mask of a rank of one, whole and as two passes; and one of
 * bytes with saturation. Both ways must agree. */
#include "threads.h"
#include <math.h>

enum { N = 72, R = 3, W = 2 * R + 1 };

static float in[N + 2 * R][N + 2 * R], whole[N][N], half[N + 2 * R][N], two[N][N];
static uint8_t bytes[N + 2 * R][N + 2 * R], clipped[N][N];
static const float taps[W] = { 1, 6, 15, 20, 15, 6, 1 };

static void *
work(void *arg)
{
    long begin, end;
    part_of(N, (int)(long)arg, &begin, &end);
    for (long i = begin; i < end; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0;
            int small = 0;
            for (int y = 0; y < W; y++)
                for (int x = 0; x < W; x++) {
                    sum += taps[y] * taps[x] * in[i + y][j + x];
                    small += (x == y ? 3 : -1) * bytes[i + y][j + x];
                }
            whole[i][j] = sum;
            clipped[i][j] = (uint8_t)(small < 0 ? 0 : small > 255 ? 255 : small);
        }
    }
    part_of(N + 2 * R, (int)(long)arg, &begin, &end);
    for (long i = begin; i < end; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int x = 0; x < W; x++)
                sum += taps[x] * in[i][j + x];
            half[i][j] = sum;
        }
    wait_for_all();
    part_of(N, (int)(long)arg, &begin, &end);
    for (long i = begin; i < end; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int y = 0; y < W; y++)
                sum += taps[y] * half[i + y][j];
            two[i][j] = sum;
        }
    return NULL;
}

int
main(int argc, char **argv)
{
    double error = 0;
    uint64_t sum = 0;
    read_threads(argc, argv);
    for (int i = 0; i < (N + 2 * R) * (N + 2 * R); i++) {
        float *to = &in[i / (N + 2 * R)][i % (N + 2 * R)];
        *to = (float)random_at((uint64_t)i);
        bytes[i / (N + 2 * R)][i % (N + 2 * R)] = (uint8_t)(*to * 256);
    }
    run_on_all(work);
    for (int i = 0; i < N * N; i++) {
        double one = whole[i / N][i % N];
        error = fmax(error, fabs(one - two[i / N][i % N]) / fabs(one));
        sum = sum * 31 + clipped[i / N][i % N];
    }
    printf("%a %016llx\n", (double)two[N / 2][N / 3], (unsigned long long)sum);
    return verdict("convolve", error, 1e-5);
}
