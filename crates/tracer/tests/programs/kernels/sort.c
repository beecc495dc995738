/* Sorts: by counting digits, by comparison through a pointer, and in a heap; all must agree. */
#include "threads.h"
#include <string.h>

enum { N = 6000 };

static uint32_t input[MAX_THREADS][N], counted[MAX_THREADS][N], compared[MAX_THREADS][N];
static uint64_t sums[MAX_THREADS];
static int wrong[MAX_THREADS];

static int
by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void
count_digits(uint32_t *keys, uint32_t *other)
{
    for (int shift = 0; shift < 32; shift += 8) {
        unsigned starts[257] = { 0 };
        for (int i = 0; i < N; i++)
            starts[(keys[i] >> shift & 255) + 1]++;
        for (int i = 0; i < 256; i++)
            starts[i + 1] += starts[i];
        for (int i = 0; i < N; i++)
            other[starts[keys[i] >> shift & 255]++] = keys[i];
        memcpy(keys, other, N * sizeof(*keys));
    }
}

static void
sift(uint32_t *heap, int at, int n)
{
    for (int child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && heap[child + 1] > heap[child];
        if (heap[at] >= heap[child])
            return;
        uint32_t t = heap[at];
        heap[at] = heap[child];
        heap[child] = t;
    }
}

static void *
work(void *arg)
{
    int id = (int)(long)arg;
    uint32_t *heap = input[id], *other = malloc(N * sizeof(*other));
    for (int i = 0; i < N; i++)
        heap[i] = (uint32_t)(random_at((uint64_t)(i + id * N)) * 4294967296.0);
    memcpy(counted[id], heap, sizeof(input[id]));
    memcpy(compared[id], heap, sizeof(input[id]));
    count_digits(counted[id], other);
    qsort(compared[id], N, sizeof(uint32_t), by_value);
    for (int i = N / 2 - 1; i >= 0; i--)
        sift(heap, i, N);
    for (int n = N - 1; n > 0; n--) {
        uint32_t t = heap[0];
        heap[0] = heap[n];
        heap[n] = t;
        sift(heap, 0, n);
    }
    for (int i = 0; i < N; i++) {
        wrong[id] += heap[i] != counted[id][i] || heap[i] != compared[id][i];
        sums[id] = sums[id] * 31 + heap[i];
    }
    free(other);
    return NULL;
}

int
main(int argc, char **argv)
{
    int bad = 0;
    read_threads(argc, argv);
    run_on_all(work);
    for (int i = 0; i < n_threads; i++) {
        printf("%016llx\n", (unsigned long long)sums[i]);
        bad += wrong[i];
    }
    return verdict("sort", bad, 0);
}
