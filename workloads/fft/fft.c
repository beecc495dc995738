#include "fft.h"

#include "../common/attributes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct complex_number *fft_twiddles(size_t points)
{
    struct complex_number *twiddles = malloc(points / 2 * sizeof *twiddles);

    if (!twiddles) {
        perror("fft_twiddles");
        exit(1);
    }
    for (size_t k = 0; k < points / 2; k++) {
        double angle = -2 * acos(-1) * (double)k / (double)points;
        twiddles[k] = (struct complex_number){ cos(angle), sin(angle) };
    }
    return twiddles;
}

static void reverse_bits(struct complex_number *row, size_t points)
{
    for (size_t i = 1, j = 0; i < points; i++) {
        size_t bit = points >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            struct complex_number swapped = row[i];
            row[i] = row[j];
            row[j] = swapped;
        }
    }
}

/* Combines pairs of transforms of `half` points: the whole row is read and rewritten. */
static NOINLINE void fft_pass(struct complex_number *row, size_t points, size_t half,
                              const struct complex_number *twiddles)
{
    const size_t stride = points / (2 * half);

    for (size_t block = 0; block < points; block += 2 * half) {
        struct complex_number *low = row + block, *high = low + half;
        for (size_t k = 0; k < half; k++) {
            const struct complex_number w = twiddles[k * stride];
            const double re = high[k].re * w.re - high[k].im * w.im;
            const double im = high[k].re * w.im + high[k].im * w.re;
            high[k].re = low[k].re - re;
            high[k].im = low[k].im - im;
            low[k].re += re;
            low[k].im += im;
        }
    }
}

void fft_row(struct complex_number *row, size_t points, const struct complex_number *twiddles)
{
    reverse_bits(row, points);
    for (size_t half = 1; half < points; half *= 2)
        fft_pass(row, points, half, twiddles);
}
