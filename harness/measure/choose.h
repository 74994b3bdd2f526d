/* choose.h - which points of a plan there is time for, and how often. */
#ifndef RIFT_MEASURE_CHOOSE_H
#define RIFT_MEASURE_CHOOSE_H

#include "harness/measure/plan.h"

/* A block that takes longer is no point of a design's own (ns). */
enum { BLOCK_LONGEST_NS = 100000000 };

/* A quick sweep's limit, ns, for each side and wait policy; and its fewest points a workload, and
 * processes of its own where there is no time for more. */
static const double quick_limit_ns = 60e9, express_limit_ns = 15e9;
double design_limit_ns(const struct design *d);
enum { QUICK_POINTS_LEAST = 8, QUICK_PROCESSES_LEAST = 3 };

/* Planning may take a fifth of the limit, and no more than this, ns; a side's probe this at least.
 */
static const double planning_longest_ns = 12e9, planning_share = 0.2, planning_shortest_ns = 1e9;

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
 * Where two sides take turns: marks the configurations of which there is no memory for two on the
 * device (struct config, apart). Returns how many.
 */
int predict_apart(struct plan *p);

/*
 * Pairs get as many rounds, up to ROUNDS_MAX, as make the visits of a process take as long as its
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
 * the set-up that it needs. Every workload has QUICK_POINTS_LEAST points, or all that it has: of
 * fewer sizes, where those first ones take longer.
 * policies: of waiting, each of which has processes of its own. Returns how many are left out; -1,
 * and nothing is, where these few take longer already. *least_ns: how long the session is predicted
 * to take.
 */
int predict_choose(struct plan *p, int sides, int policies, double limit_ns, double *least_ns);

/*
 * The same, and where these few take longer, with fewer processes of each side, if they are the
 * design's own; then with more time, up to most_ns. -1: they take longer than that.
 */
int predict_choose_at_all(struct plan *p, int sides, int policies, bool own_processes,
			  double limit_ns, double most_ns, double *least_ns);

/*
 * The same once the first process of each side is complete, in took_ns: *times as long as
 * predicted. Which points stay (stays[point]), so that the other processes take left_ns. Returns
 * how many do not; 0: all can stay.
 */
int predict_choose_again(const struct plan *p, int sides, double took_ns, double left_ns,
			 bool *stays, double *times);

#endif
