/*
 * estimate.h - how long points, processes and a session will take.
 *
 * From a probe of each configuration: a block of D steps takes ends + D * step, whatever the mode.
 * Good to a factor of two; deadlines, the quick design and the ETA need no more.
 */
#ifndef RIFT_MEASURE_ESTIMATE_H
#define RIFT_MEASURE_ESTIMATE_H

#include "harness/measure/plan.h"

/* A block of a point on a side, by its configuration's timing; NAN: not known. */
double predict_block_ns(const struct plan *p, const struct plan_point *at, int side);

/* Sets block_ns of every point, on each side. */
void predict_blocks(struct plan *p);

/*
 * What a configuration will take on a side, by the two smaller sizes before it; false: they are not
 * known, and *out is not either.
 */
bool predict_by_smaller(const struct plan *p, int side, int config, struct side_timing *out);

/* How many times as large a configuration is as a smaller one of its workload; 1 at least. */
double plan_times_the_size(const struct plan *p, int config, int smaller);

/* Its check, where that was not timed, by the last one before it that was: in proportion to sizes.
 */
void predict_check_by_smaller(struct plan *p, int side, int config);

/*
 * What was not probed of side b, by its first configuration of the workload: a block's ends and
 * steps take so much longer than on side a, set-ups and checks so many times as long.
 */
void predict_side_b(struct plan *p);

/* What checks that are not due may take, as a share of the time of all visits. */
static const double check_share = 0.05;

/* What is not known of side 1 is taken to be as on side 0. */
double predict_visit_ns(const struct plan *p, int side, int point);
/* Steps that a check of the point is of, and how long it takes, with a block of its own if need be.
 */
int64_t predict_check_steps(const struct plan *p, int point);
double predict_check_ns(const struct plan *p, int side, int point);
/* What a process takes before its first visit; of several wait policies, before that of each. */
double predict_start_ns(const struct plan *p, int side);
double predict_process_ns(const struct plan *p, int side);
/* The process of this number on its side, with the pauses before it; the first checks all points.
 */
double predict_turn_ns(const struct plan *p, int side, int process);
/* So many processes of 1 or 2 platforms, with the pauses between them. */
double predict_processes_ns(const struct plan *p, int sides, int processes);
/* All that the design has at most. */
double predict_session_ns(const struct plan *p, int sides);

/* What the sides spend on this point, without its set-up. */
double predict_point_ns(const struct plan *p, int sides, int point);
/* And for its configuration, once a process. */
double predict_setups_ns(const struct plan *p, int sides, int config);

#endif
