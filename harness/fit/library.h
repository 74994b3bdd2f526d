/*
 * library.h - what a layer adds to calls of a library, such as cuBLAS.
 *
 * A library computes before it launches, and may make calls beside the launch. A layer that adds to
 * each call, as CUPTI does, adds to these too. One that takes the library's whole call, as emulate
 * and remote do, makes it elsewhere, and a program that waits for something else gets it for
 * nothing. Launches say neither; products by cuBLAS (the workload matmul with impl=cublas) do.
 */
#ifndef RIFT_FIT_LIBRARY_H
#define RIFT_FIT_LIBRARY_H

#include <stdbool.h>

#include "harness/fit/fit.h"

/*
 * How many times as much longer than a launch a product takes on B as on A, one after another in a
 * stream: 0 where B hides that. a and b are fits of launches, whose sessions are to have the
 * products. False: one of them has none, or on A they take hardly longer than launches.
 */
bool library_ratio(double *out, const struct fit *a, const struct fit *b);

#endif
