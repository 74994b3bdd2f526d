/*
 * predict.h - how long points, processes and a session will take, and which points to leave out.
 *
 * From a probe of each configuration: a block of D steps takes ends + D * step, whatever the mode.
 * Good to a factor of two; deadlines, the quick design and the ETA need no more.
 */
#ifndef RIFT_SWEEP_PREDICT_H
#define RIFT_SWEEP_PREDICT_H

#include "harness/sweep/plan.h"

/* A block that takes longer is no point of a design's own (ns). */
enum { BLOCK_LONGEST_NS = 100000000 };

/* A quick sweep's limit, ns, for each side and kind of waiting; and its fewest points a workload.
 */
static const double quick_limit_ns = 60e9, express_limit_ns = 15e9;
enum { QUICK_POINTS_LEAST = 8 };

/* Planning may take a fifth of the limit, and no more than this, ns; a side's probe this at least.
 */
static const double planning_longest_ns = 12e9, planning_share = 0.2, planning_shortest_ns = 1e9;

/* A block of a point on a side, by its configuration's timing; NAN: not known. */
double predict_block_ns(const struct plan *p, const struct plan_point *at, int side);

/* Sets block_ns of every point, on each side. */
void predict_blocks(struct plan *p);

/*
 * What a configuration will take on a side, by the two smaller sizes before it; false: they are not
 * known, and *out is not either.
 */
bool predict_by_smaller(const struct plan *p, int side, int config, struct side_timing *out);

/* Its check, by that of the first configuration of its workload, the only one that is timed. */
void predict_check_by_first(struct plan *p, int side, int config);

/*
 * What was not probed of side b, by its first configuration of the workload: a block's ends and
 * steps take so much longer than on side a, set-ups and checks so many times as long.
 */
void predict_side_b(struct plan *p);

/* Shares of the time of all visits: checks that are not due; visits that are thrown away. */
static const double check_share = 0.05, again_share = 0.05;

/* What is not known of side 1 is taken to be as on side 0. */
double predict_visit_ns(const struct plan *p, int side, int point);
/* Steps that a check of the point is of, and how long it takes, with a block of its own if need be.
 */
int64_t predict_check_steps(const struct plan *p, int point);
double predict_check_ns(const struct plan *p, int side, int point);
/* What a process takes before its first visit; of several kinds of waiting, before that of each. */
double predict_start_ns(const struct plan *p, int side);
double predict_process_ns(const struct plan *p, int side);
/* The process of this number on its side, with the pauses before it; the first checks all points.
 */
double predict_turn_ns(const struct plan *p, int side, int process);
/* So many processes of 1 or 2 platforms, with the pauses between them. */
double predict_processes_ns(const struct plan *p, int sides, int processes);
/* All that the design has at most. */
double predict_session_ns(const struct plan *p, int sides);

/*
 * Leaves out points with a launch that would take longer on a side than their workload allows, the
 * user's own too. Returns how many; of some *max_ns is then the limit.
 */
int predict_drop_launches(struct plan *p, int sides, double *max_ns);

/*
 * Leaves out points whose block would take more than BLOCK_LONGEST_NS on a side or is not known,
 * where the sizes or the depths are the design's own; depth 1 stays of a size that the user named,
 * and where the workload limits its launches. Returns how many.
 */
int predict_drop_long(struct plan *p, int sides);

/*
 * Of pairs: as many rounds, up to ROUNDS_MAX, as make the visits of a process take as long as its
 * start. Pairs differ far less than single turns (on one H200 by 25 ns and by 150 to 400 ns, of a
 * launch call of 3 us), so that time within a pair is worth more than another pair.
 */
void predict_fill_rounds(struct plan *p);

/* As many rounds, up to ROUNDS_MAX and no fewer than there are, as fit in. */
void predict_fill_time(struct plan *p, int sides, double limit_ns);

/* As many processes of each side, up to PROCESSES_ASKED_MAX and no fewer than there are, as fit in.
 */
void predict_fill_processes(struct plan *p, int sides, double limit_ns);

/*
 * Leaves the points of a session that takes at most limit_ns: in turns over the workloads, each the
 * next one of small sizes and depths, which say what a launch costs, that there is time for with
 * the set-up that it needs. Every workload has QUICK_POINTS_LEAST points, or all that it has.
 * kinds: of waiting, each of which has processes of its own. Returns how many are left out; -1, and
 * nothing is, where these few take longer already. *least_ns: how long the session is predicted to
 * take.
 */
int predict_choose(struct plan *p, int sides, int kinds, double limit_ns, double *least_ns);

/*
 * The same of a session whose first process of each side has shown that all takes `times` as long
 * as predicted: which points stay (stays[point]) so that the processes to come take left_ns.
 * Returns how many do not.
 */
int predict_choose_again(const struct plan *p, int sides, double times, double left_ns,
			 bool *stays);

#endif
