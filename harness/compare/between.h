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
 * Assumed, with a margin that is wide enough for sessions of one system to be found the same. Of
 * 400 simulated pairs of equal sessions (10 processes each that scatter by 1.5 %), this many were
 * called something else, or the same:
 *
 *   sessions are off by        1 %                2 %
 *   margin 2 %, sd 0           8, the same 62     97, the same 31
 *   margin 5 %, sd 1 %         0, the same 284    2, the same 172
 */
#define BETWEEN_DEFAULT 0.01
#define BETWEEN_MARGIN_DEFAULT 0.05

/* BOOTSTRAP_DRAWS factors for the caller to free; NULL where sd is 0: there is nothing to add. */
double *between_factors(double sd, uint64_t seed);

#endif
