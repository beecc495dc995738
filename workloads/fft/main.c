/* Row transforms, as NAS FT in the paper's sections 7.2.2 and 7.4.2: each row is transformed in a small buffer that is
 * rewritten at once, then copied to a big matrix that is written once. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/op.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "fft.h"

#include <math.h>
#include <stdio.h>

/* The region of the rows after those of the warm-up. */
#define RUN_REGION 1

/* The matrix is written once; what is rewritten is the small buffer, which nothing is done to. */
static const char *const FFT_OP_WORDS[] = { "none", "clean", "skip", NULL };
static const enum op FFT_OPS[] = { OP_NONE, OP_CLEAN, OP_SKIP };

/* Points that are gathered before they are copied around the caches. */
#define GATHERED 512

/* Puts the row's input in the small buffer; returns its energy. */
static NOINLINE double copy_in(struct complex_row y1, size_t points, struct prng *prng)
{
    double energy = 0;

    for (size_t i = 0; i < points; i++) {
        const double re = prng_unit(prng) - 0.5, im = prng_unit(prng) - 0.5;
        y1.re[i] = re;
        y1.im[i] = im;
        energy += re * re + im * im;
    }
    return energy;
}

/* Moves one part of the transformed row to the matrix, scaled to keep the energy; returns its share of that. */
static NOINLINE double copy_back(double *xout, const double *y1, size_t points, enum op op)
{
    const double scale = 1 / sqrt((double)points);
    double energy = 0;

#pragma GCC unroll 4
    for (size_t i = 0; i < points; i++) {
        const double scaled = y1[i] * scale;
        xout[i] = scaled;
        energy += scaled * scaled;
    }
    op_apply(xout, points * sizeof *xout, op);
    return energy;
}

/* The same around the caches. */
static NOINLINE double copy_back_skip(double *xout, const double *y1, size_t points)
{
    const double scale = 1 / sqrt((double)points);
    double gathered[GATHERED], energy = 0;

    for (size_t first = 0; first < points; first += GATHERED) {
        const size_t count = points - first < GATHERED ? points - first : GATHERED;
#pragma GCC unroll 4
        for (size_t i = 0; i < count; i++) {
            const double scaled = y1[first + i] * scale;
            gathered[i] = scaled;
            energy += scaled * scaled;
        }
        prestore_copy_skip(xout + first, gathered, count * sizeof *gathered);
    }
    return energy;
}

static double move_back(double *xout, const double *y1, size_t points, enum op op)
{
    return op == OP_SKIP ? copy_back_skip(xout, y1, points) : copy_back(xout, y1, points, op);
}

int main(int argc, char **argv)
{
    uint64_t points = 1024, rows = 4096, warmup = 0, seed = 1;
    int op = OP_NONE;
    const struct arg args[] = {
        ARG_COUNT_OF("points", &points, 2, 1 << 20, "points of a row, a power of two; 16 bytes each"),
        ARG_COUNT_OF("rows", &rows, 1, 1e9, "rows of the matrix"),
        ARG_COUNT_OF("warmup", &warmup, 0, 1e9, "rows before those"),
        ARG_COUNT_OF("seed", &seed, 0, 1e18, "seed of the matrix's contents"),
        ARG_CHOICE_OF("op", &op, FFT_OP_WORDS, "pre-store applied to each row of the matrix"),
    };

    args_parse(argc, argv, "Fourier transforms of the rows of a matrix.", args, sizeof args / sizeof *args);
    if (points & (points - 1))
        args_fail("--points must be a power of two");
    struct complex_row twiddles = fft_twiddles(points);
    struct complex_row y1 = complex_row_new(points);
    double *xout = memory_fresh(2 * (warmup + rows) * points * sizeof *xout);
    struct prng prng = prng_new(seed, 0);
    double total = 0;

    double start = result_now();
    for (uint64_t row = 0; row < warmup + rows; row++) {
        if (row == warmup)
            PRESTORE_REGION_BEGIN(RUN_REGION);
        double before = copy_in(y1, points, &prng);
        fft_row(y1, points, twiddles);
        double *to = xout + 2 * row * points;
        double after =
            move_back(to, y1.re, points, FFT_OPS[op]) + move_back(to + points, y1.im, points, FFT_OPS[op]);
        /* Parseval: a unitary transform keeps the energy. */
        if (fabs(after - before) > 1e-9 * before) {
            fprintf(stderr, "fft: row %llu had energy %g and has %g\n", (unsigned long long)row, before, after);
            return 1;
        }
        total += after + y1.re[1];
    }
    PRESTORE_REGION_END(RUN_REGION);
    double seconds = result_now() - start;

    result_print("fft", rows * points, seconds, result_bits(total));
    return 0;
}
