/*
 * between.h - what separate sessions differ by, though nothing was changed: a boot's layout of
 * memory, temperatures, neighbours. The scatter of the processes of one session does not show it,
 * as it is common to all of them, and two sessions are too few to measure it: it is assumed.
 *
 * The model: all times of a session are off by one common factor, lognormal with a standard
 * deviation of `sd` (a share of 1). Every draw of the bootstrap gets a factor of its own for B
 * over A, of sd * sqrt(2), and the same one for all points: their mean does not average it away.
 */
#ifndef RIFT_COMPARE_BETWEEN_H
#define RIFT_COMPARE_BETWEEN_H

#include <stdint.h>

/*
 * 1 %, the smaller of the two session effects in the simulation of which 7 % and 15 % (at 2 %) of
 * pairs of equal sessions held a point that was called slower.
 */
#define BETWEEN_DEFAULT 0.01

/* Wide enough that sessions of one system are the same, with the effect above on both. */
#define BETWEEN_MARGIN_DEFAULT 0.05

/* BOOTSTRAP_DRAWS factors for the caller to free; NULL where sd is 0: there is nothing to add. */
double *between_factors(double sd, uint64_t seed);

#endif
