/* point_record.h - the record of a point: of its visits, what a step costs, and a line of CSV. */
#ifndef RIFT_RECORD_POINT_RECORD_H
#define RIFT_RECORD_POINT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct cost;

/* ---- visits made into a record ---------------------------------------------------------- */

/*
 * The fields of a point record that come from its visits, a JSON object each, in the order of
 * their rounds; NULL: the round is missing. status is "ok", or "check_failed" where a check failed.
 * New reference.
 */
json_t *assemble_point(json_t *const *visit, int rounds);

/* The summary of a point's blocks: of its t_enq_ns, t_total_ns and marks. New reference. */
json_t *assemble_summary(const json_t *point);

/*
 * The same as records before schema 2.3 have it: a full queue counted as a disturbance, and fewer
 * than half of the blocks undisturbed as noise. New reference.
 */
json_t *assemble_former_summary(const json_t *point);

/*
 * What a recorded point's blocks say today, whatever rule its own summary was made by; of a point
 * without blocks its own. New reference, NULL: it has neither.
 */
json_t *point_summary(const json_t *point);

/* Median of the blocks that a summary takes, ns; NAN: none. */
double summary_median(const json_t *summary, const char *series);

/*
 * What a process says of a point in one round, of "t_total_ns" or "t_enq_ns": the median of its
 * blocks, ns, of those that nothing disturbed where there are any; NAN: none. A thinned record has
 * only the one or two such medians that decide the pair's ratio, as rounds 0 and 1.
 */
enum turn { TURN_TOTAL, TURN_ENQ, TURN_SERIES };
extern const char *const turn_series[TURN_SERIES];
double point_turn_ns(const json_t *point, int series, int round);

/* The median of a point's host canaries, ns; NAN: it has none. */
double point_host_ns(const json_t *point);

/* ---- steps ------------------------------------------------------------------------------ */

/*
 * What a workload counts of a step (struct cost), as far as records keep it: launches, copies and
 * allocations. The fields are those of `step` in docs/records.md.
 */

/* New reference. */
json_t *work_count_json(const struct cost *c);

/* Back from a record; where it has none (NULL) or a damaged one, *out stays as it is. */
void work_count_take(struct cost *out, const json_t *step);

/* ---- summaries as CSV ------------------------------------------------------------------- */

struct csv_points {
	FILE *out;
	const char *side; /* "a", "b": the points of this side only; NULL: of all */
	json_t *columns;  /* names of the axes, of the first point; NULL before it */
	bool at_start;	  /* of a line */
};

/*
 * Writes the columns that the table of fields marks (harness/record/fields.h), and their names
 * before the first point. Passes over points of another side. Leaves out an axis that only later
 * points have. ferror() says whether something could not be written.
 */
void csv_point(struct csv_points *c, const json_t *point);

/* A text in quotes where it needs them; what is missing or null stays empty. */
void csv_value(FILE *out, const json_t *v);

void csv_points_release(struct csv_points *c);

#endif
