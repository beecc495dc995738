/* An in-place radix-2 Fourier transform of one row that fits in the L1 cache. */
#ifndef FFT_FFT_H
#define FFT_FFT_H

#include <stddef.h>

/* Complex numbers, their real and imaginary parts apart. */
struct complex_row {
    double *re, *im;
};

/* Memory for a row. */
struct complex_row complex_row_new(size_t points);

/* Twiddle factors exp(-2 pi i k / points) for k below points / 2. */
struct complex_row fft_twiddles(size_t points);

/* Transforms the row, unscaled; `points` is a power of two. */
void fft_row(struct complex_row row, size_t points, struct complex_row twiddles);

#endif
