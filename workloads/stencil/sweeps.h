/*
 * Two sweeps over 3-D grids, in the spirit of the multigrid kernel NAS MG.
 *
 * Inputs u and v have a ghost layer: (n + 2)^3 points. Outputs have n^3 points and no gaps. Each call sweeps one plane,
 * i3 from 0 to n - 1; planes are independent of each other.
 */
#ifndef STENCIL_SWEEPS_H
#define STENCIL_SWEEPS_H

#include "../common/op.h"

#include <stddef.h>

struct grid_shape {
    size_t n;
};

/* Points of a row, and of a plane, of a grid with ghosts. */
static inline size_t ghost_row(struct grid_shape shape)
{
    return shape.n + 2;
}

static inline size_t ghost_plane(struct grid_shape shape)
{
    return ghost_row(shape) * ghost_row(shape);
}

/* The residual r = v - A u of the 7-point Poisson operator A. Each row is pre-stored. */
void resid(struct grid_shape shape, const double *u, const double *v, double *r, size_t i3, enum op op);

/* A damped Jacobi correction: out = u + weight * r. Returns the sum of each row's last point, so that
 * a checksum need not read the grid. Each row is pre-stored; psinv_skip writes them around the caches. */
double psinv(struct grid_shape shape, const double *u, const double *r, double *out, double weight, size_t i3,
             enum op op);
double psinv_skip(struct grid_shape shape, const double *u, const double *r, double *out, double weight, size_t i3);

/* The same with each row built in `row`, of n points, and copied. */
double psinv_copy_skip(struct grid_shape shape, const double *u, const double *r, double *out, double weight, size_t i3,
                       double *row);

#endif
