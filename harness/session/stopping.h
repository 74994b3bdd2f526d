/* stopping.h - when a session has enough processes, and what it is to tell. */
#ifndef RIFT_SESSION_STOPPING_H
#define RIFT_SESSION_STOPPING_H

#include "harness/record/journal.h"
#include "harness/stats/decide.h"

/* ---- what a session is to tell ---------------------------------------------------------- */

/*
 * A session ends when it tells what was asked of it.
 *
 *   --resolve c=100ns,Z=0.5us   parameters of the model (model.h), to plus or minus so much: of two
 *                               sides the difference b - a, of one side the value
 *   --margin 2%                 each workload's mean ratio b / a, to plus or minus half of that, so
 *                               that `rift compare --margin 2` is rarely inconclusive
 *
 * At each interim analysis (design_next_interim()): how wide is the interval of every goal? To stop
 * where it happens to be narrow would make intervals too narrow on the whole, so each of the seven
 * has a seventh of the 5 %. The ratios of --margin have exact intervals of that level
 * (harness/stats/contrast.h); the bootstrap's of a parameter count as 1.37 times as wide
 * (goals_interim_factor), and cover 93 to 96 % (docs/validation.md).
 */

/* What the plan cannot tell: -EINVAL after one line. */
int goals_refuse(const struct plan *p, int sides);

/* The two-sided normal quantile of 5 % / 7, over that of 5 %. */
extern const double goals_interim_factor;

/* The interim analysis after so many processes of each side; *json as in interims_take(). */
struct interim goals_take_interim(const struct journal *j, int processes, json_t **json);

/* "c ±140 ns of 100 ns, Z ±0.40 us of 0.50 us": as of the last interim analysis, beside what was
 * asked for. */
void goals_text(const struct journal *j, char *out, size_t size);

/* What the session tells of each, and what more time would; took_ns: for all of it. */
void goals_print(const struct journal *j, double took_ns, FILE *out);

/* ---- are there enough processes? -------------------------------------------------------- */

/*
 * The sequential rule of a full sweep: the intervals of all points are analysed at each interim
 * (design_next_interim()) and nowhere else, or the session's goals.
 */

/* Is there to be an interim analysis after so many processes of each side? */
bool interims_due(const struct design *d, int processes);

/*
 * The interim after so many. A point is as wide as on the side where it is wider. One that some
 * process has no result of has no interval, however many more there are: it is left out of the
 * rule. Where no point is left, it says stop. *json: NULL, or gets what the trailer says of it, a
 * new reference.
 */
struct interim interims_take(const struct journal *j, int processes, json_t **json);

#endif
