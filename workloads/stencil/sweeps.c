#include "sweeps.h"

#include "../common/attributes.h"

#include <string.h>

NOINLINE void resid(struct grid_shape shape, const double *u, const double *v, double *r, size_t i3,
                    enum op op)
{
    const size_t n = shape.n, row = ghost_row(shape), plane = ghost_plane(shape);

    for (size_t i2 = 0; i2 < n; i2++) {
        const size_t ghost = (i3 + 1) * plane + (i2 + 1) * row + 1;
        const double *uc = u + ghost, *vc = v + ghost;
        double *rc = r + (i3 * n + i2) * n;
#pragma GCC unroll 4
        for (size_t i1 = 0; i1 < n; i1++) {
            rc[i1] = vc[i1] - 6.0 * uc[i1] + uc[i1 - 1] + uc[i1 + 1] + uc[i1 - row] + uc[i1 + row] +
                     uc[i1 - plane] + uc[i1 + plane];
        }
        op_apply(rc, n * sizeof *rc, op);
    }
}

NOINLINE double psinv(struct grid_shape shape, const double *u, const double *r, double *out, double weight, size_t i3,
                      enum op op)
{
    const size_t n = shape.n, row = ghost_row(shape), plane = ghost_plane(shape);
    double sum = 0;

    for (size_t i2 = 0; i2 < n; i2++) {
        const double *uc = u + (i3 + 1) * plane + (i2 + 1) * row + 1;
        const double *rc = r + (i3 * n + i2) * n;
        double *oc = out + (i3 * n + i2) * n;
        double corrected = 0;
#pragma GCC unroll 4
        for (size_t i1 = 0; i1 < n; i1++) {
            corrected = uc[i1] + weight * rc[i1];
            oc[i1] = corrected;
        }
        op_apply(oc, n * sizeof *oc, op);
        sum += corrected;
    }
    return sum;
}

NOINLINE double psinv_skip(struct grid_shape shape, const double *u, const double *r, double *out, double weight,
                           size_t i3)
{
    const size_t n = shape.n, row = ghost_row(shape), plane = ghost_plane(shape);
    double sum = 0;

    for (size_t i2 = 0; i2 < n; i2++) {
        const double *uc = u + (i3 + 1) * plane + (i2 + 1) * row + 1;
        const double *rc = r + (i3 * n + i2) * n;
        prestore_writer_t writer;
        double corrected = 0;
        prestore_writer_open(&writer, out + (i3 * n + i2) * n);
#pragma GCC unroll 4
        for (size_t i1 = 0; i1 < n; i1++) {
            uint64_t bits;
            corrected = uc[i1] + weight * rc[i1];
            memcpy(&bits, &corrected, sizeof bits);
            prestore_writer_put8(&writer, bits);
        }
        prestore_writer_close(&writer);
        sum += corrected;
    }
    prestore_fence();
    return sum;
}

NOINLINE double psinv_copy_skip(struct grid_shape shape, const double *u, const double *r, double *out, double weight,
                                size_t i3, double *made)
{
    const size_t n = shape.n, row = ghost_row(shape), plane = ghost_plane(shape);
    double sum = 0;

    for (size_t i2 = 0; i2 < n; i2++) {
        const double *uc = u + (i3 + 1) * plane + (i2 + 1) * row + 1;
        const double *rc = r + (i3 * n + i2) * n;
        double corrected = 0;
#pragma GCC unroll 4
        for (size_t i1 = 0; i1 < n; i1++) {
            corrected = uc[i1] + weight * rc[i1];
            made[i1] = corrected;
        }
        prestore_copy_skip(out + (i3 * n + i2) * n, made, n * sizeof *made);
        sum += corrected;
    }
    prestore_fence();
    return sum;
}
