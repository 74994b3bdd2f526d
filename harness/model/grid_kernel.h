/* grid_kernel.h - K of each size of a grid: the axis where it is a duration, else measured. */
#ifndef RIFT_MODEL_GRID_KERNEL_H
#define RIFT_MODEL_GRID_KERNEL_H

#include "harness/model/grid.h"

/* Fills in nominal, size[].kernel_ns, deep and shallow, is_k, and K of every point. */
void grid_kernels(struct grid *g);

/*
 * K of a size where it is measured, from totals of all points (in the order of g->point): the slope
 * between the two deepest blocks of the mode that says it best.
 */
double grid_kernel_ns(const struct grid *g, int size, const double *total_ns);

#endif
