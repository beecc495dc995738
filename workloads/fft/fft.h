/* An in-place radix-2 Fourier transform of one row that fits in the L1 cache. */
#ifndef FFT_FFT_H
#define FFT_FFT_H

#include <stddef.h>

struct complex_number {
    double re, im;
};

/* Twiddle factors exp(-2 pi i k / points) for k below points / 2; the caller frees them. */
struct complex_number *fft_twiddles(size_t points);

/* Transforms the row, unscaled; `points` is a power of two. */
void fft_row(struct complex_number *row, size_t points, const struct complex_number *twiddles);

#endif
