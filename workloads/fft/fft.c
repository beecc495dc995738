#include "fft.h"

#include "../common/attributes.h"
#include "../common/memory.h"

#include <math.h>

struct complex_row complex_row_new(size_t points)
{
    double *memory = memory_fresh(2 * points * sizeof *memory);
    return (struct complex_row){ memory, memory + points };
}

struct complex_row fft_twiddles(size_t points)
{
    struct complex_row twiddles = complex_row_new(points / 2);

    for (size_t k = 0; k < points / 2; k++) {
        double angle = -2 * acos(-1) * (double)k / (double)points;
        twiddles.re[k] = cos(angle);
        twiddles.im[k] = sin(angle);
    }
    return twiddles;
}

static void swap(double *a, double *b)
{
    double swapped = *a;
    *a = *b;
    *b = swapped;
}

static void reverse_bits(struct complex_row row, size_t points)
{
    for (size_t i = 1, j = 0; i < points; i++) {
        size_t bit = points >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            swap(&row.re[i], &row.re[j]);
            swap(&row.im[i], &row.im[j]);
        }
    }
}

/* Combines pairs of transforms of `half` points: the whole row is read and rewritten. */
static NOINLINE void fft_pass(struct complex_row row, size_t points, size_t half, struct complex_row twiddles)
{
    const size_t stride = points / (2 * half);

    for (size_t block = 0; block < points; block += 2 * half) {
        for (size_t low = block; low < block + half; low++) {
            const size_t high = low + half, k = (low - block) * stride;
            const double re = row.re[high] * twiddles.re[k] - row.im[high] * twiddles.im[k];
            const double im = row.re[high] * twiddles.im[k] + row.im[high] * twiddles.re[k];
            row.re[high] = row.re[low] - re;
            row.im[high] = row.im[low] - im;
            row.re[low] += re;
            row.im[low] += im;
        }
    }
}

void fft_row(struct complex_row row, size_t points, struct complex_row twiddles)
{
    reverse_bits(row, points);
    for (size_t half = 1; half < points; half *= 2)
        fft_pass(row, points, half, twiddles);
}
