/*
 * looks.h - are there enough processes? The sequential rule of a full sweep: harness/decide.h looks
 * at the intervals of all points after 5, 10, 20 and 30 processes of each side, and nowhere else;
 * where the session has goals, goals.h at those.
 */
#ifndef RIFT_SWEEP_LOOKS_H
#define RIFT_SWEEP_LOOKS_H

#include "harness/decide.h"
#include "harness/record/journal.h"

/* The number of processes of each side at the next look, given those that ended; 0: none follows.
 */
int looks_next(const struct design *d, int processes);

/* Is there to be a look after so many processes of each side? Not where their number is fixed. */
bool looks_due(const struct design *d, int processes);

/*
 * The look after so many. A point is as wide as on the side where it is wider. One that some
 * process has no result of has no interval, however many more there are: it is left out of the
 * rule. Where no point is left, it says stop. *json: NULL, or gets what the trailer says of it, a
 * new reference.
 */
struct look looks_take(const struct journal *j, int processes, json_t **json);

#endif
