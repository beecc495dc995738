/* Row transforms, as NAS FT in the paper's sections 7.2.2 and 7.4.2: each row is transformed in a small buffer that is
 * rewritten at once, then copied to a big matrix that is written once. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "fft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Puts the row's input in the small buffer; returns its energy. */
static double copy_in(struct complex_number *y1, size_t points, struct prng *prng)
{
    double energy = 0;

    for (size_t i = 0; i < points; i++) {
        y1[i] = (struct complex_number){ prng_unit(prng) - 0.5, prng_unit(prng) - 0.5 };
        energy += y1[i].re * y1[i].re + y1[i].im * y1[i].im;
    }
    return energy;
}

/* Moves the transformed row to the matrix, scaled to keep its energy; returns that energy. */
static NOINLINE double copy_back(struct complex_number *xout, const struct complex_number *y1, size_t points)
{
    const double scale = 1 / sqrt((double)points);
    double energy = 0;

    for (size_t i = 0; i < points; i++) {
        const double re = y1[i].re * scale, im = y1[i].im * scale;
        xout[i].re = re;
        xout[i].im = im;
        energy += re * re + im * im;
    }
    return energy;
}

int main(int argc, char **argv)
{
    uint64_t points = 1024, rows = 4096, seed = 1;
    const struct arg args[] = {
        ARG_COUNT_OF("points", &points, 2, 1 << 20, "points of a row, a power of two; 16 bytes each"),
        ARG_COUNT_OF("rows", &rows, 1, 1e9, "rows of the matrix"),
        ARG_COUNT_OF("seed", &seed, 0, 1e18, "seed of the matrix's contents"),
    };

    args_parse(argc, argv, "Fourier transforms of the rows of a matrix.", args, sizeof args / sizeof *args);
    if (points & (points - 1))
        args_fail("--points must be a power of two");
    struct complex_number *twiddles = fft_twiddles(points);
    struct complex_number *y1 = memory_fresh(points * sizeof *y1);
    struct complex_number *xout = memory_fresh(rows * points * sizeof *xout);
    struct prng prng = prng_new(seed, 0);
    double total = 0;

    double start = result_now();
    for (uint64_t row = 0; row < rows; row++) {
        double before = copy_in(y1, points, &prng);
        fft_row(y1, points, twiddles);
        double after = copy_back(xout + row * points, y1, points);
        /* Parseval: a unitary transform keeps the energy. */
        if (fabs(after - before) > 1e-9 * before) {
            fprintf(stderr, "fft: row %llu had energy %g and has %g\n", (unsigned long long)row, before, after);
            return 1;
        }
        total += after + y1[1].re;
    }
    double seconds = result_now() - start;

    result_print("fft", rows * points, seconds, result_bits(total));
    free(twiddles);
    return 0;
}
