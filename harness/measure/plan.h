/*
 * plan.h - which points a sweep measures.
 *
 * A configuration is one full set of a workload's parameters; a point is a configuration, a mode
 * and a depth. A plan is fixed before anything is timed, is stored in the record file, and is what
 * supervisor and workers talk about: points are known by their number in it.
 */
#ifndef RIFT_MEASURE_PLAN_H
#define RIFT_MEASURE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/measure/wait.h"
#include "harness/measure/goals.h"
#include "harness/base/param.h"
#include "common/hash.h"

enum { PLAN_POINTS_MAX = 20000, PLAN_DEPTH_MAX = 1 << 24 };

/* How long a configuration takes on one side, by a probe of that side (session_probe()); ns. */
struct side_timing {
	double setup_ns;		     /* NAN in any of these: not known */
	double ends_ns, step_ns;	     /* a block of D steps takes ends_ns + D * step_ns */
	double gap_ns;			     /* beside the block: reset and synchronize */
	double check_ends_ns, check_step_ns; /* to check D steps: D * step, no less than ends */
	double launch_max_ns; /* of the workload's limits, on the device probed; 0, NAN: any */
	double device_bytes;  /* of the device's memory that it takes; 0, NAN: not known */
};

struct config {
	const struct workload *workload;
	struct params params;	      /* params.opts is owned */
	int64_t depth_max;	      /* of the workload's limits; 0: any */
	int size_index;		      /* place among the sizes, which are neighbours in the plan */
	bool size_given;	      /* the user named the sizes */
	bool apart;		      /* of a pair: it does not fit into memory twice, so the sides
					 measure all of it one after the other */
	struct side_timing timing[2]; /* of a side */
};

struct plan_point {
	int config;
	enum mode mode;
	int64_t depth;
	enum wait_policy sync; /* how the end of its blocks is waited for */
	double corner;	       /* 0: first size or depth; 1: corner of the last ones */
	double block_ns[2];    /* predicted, of a side; NAN: not known */
	char key[HASH_TEXT];   /* of the canonical axes */
	char alone[HASH_TEXT]; /* what its key is in a session of one wait policy */
};

enum { ROUNDS_MAX = 100 };

/* More than any rift plans; bounds what a damaged number makes readers reserve. */
enum { PROCESSES_MAX = 100000 };

/* As many as a sweep may be asked for. */
enum { PROCESSES_ASKED_MAX = 100 };

/* Visits by the process of a pair that starts first, before the other one is there (company.h). */
enum { ALONE_ROUNDS = 5 };

enum { VISIT_BLOCKS_MAX = 200 };

/* How points are measured. */
struct design {
	bool quick;
	bool express;	   /* and the points that say most of the model, in 15 s */
	int processes;	   /* of each platform; sequential: at most */
	bool pairs;	   /* of two sides: one of each is alive together, and they take turns */
	double company[2]; /* pairs were given up: of a side, in company over alone; 0: they were
			      not */
	bool sequential;   /* ends at an interim analysis (harness/stats/decide.h) that finds enough
			    */
	double half_width_max; /* of an interval that is narrow enough, a share */
	int rounds;
	int64_t visit_ns;	    /* blocks of a visit last about this long ... */
	int blocks_min, blocks_max; /* ... within these numbers */
	int64_t warmup_min_ns, warmup_max_ns;
	int64_t pause_min_ns, pause_max_ns; /* between processes */
	int64_t check_steps;
	enum wait_policy sync;		     /* of all points; of several policies the first */
	int policies;			     /* several wait policies: how many; 0: one */
	enum wait_policy policy[SYNC_COUNT]; /* they */
	struct goals goals; /* when a sequential design ends, where there are any */
	bool lock;	    /* the GPU's clock is locked ... */
	int lock_mhz;	    /* ... at so many MHz; 0: the base clock */
	uint64_t seed;
};

/* What the user asked for. Texts as request.h reads them; NULL: the design's own values. */
struct plan_request {
	const struct workload *const *workload; /* ends with NULL */
	char **assignment; /* name=values, or of one workload WORKLOAD.name=values */
	int n_assignments;
	char **around; /* the same, varied one at a time at the centre of the grid */
	int n_arounds;
	const char *size, *depth, *mode;
	struct design design;
	bool pairs_by_workloads; /* as many pairs as its workloads need; the design's number if not
				  */
};

struct plan {
	struct design design;
	char declared[65]; /* what the user says side a is; "": nothing */
	struct config *config;
	int n_configs;
	struct plan_point *point;
	int n_points;
	bool depth_given;
	double start_ns[2];	/* of a side: from a worker's start to its first line; NAN */
	double free_bytes[2];	/* of a side: of the device's memory, with nothing set up; NAN */
	double calibrate_ns[2]; /* to calibrate clocks; NAN */
	double warmup_ns[2];	/* until the clock is stable; NAN */
	int refused;		/* points that the workload's limits do not allow */
	char refused_why[160];	/* the first reason */
};

/* Nothing is known of how long anything takes. */
struct side_timing side_timing_unknown(void);

/* "full", "quick" or "express". */
const char *design_name(const struct design *d);

/* The two designs of `rift sweep`; a seed is drawn by the caller. */
struct design design_of(bool quick);

/* Cuts the quick design to what gives most parameters of the model, in a quarter of the time. */
void design_express(struct design *d);

/* Rounds of a pair, where predict_fill_rounds() finds no time for more. */
enum { TURNS_LEAST = 16 };

/* The two sides run in pairs, with turns of a few ms. */
void design_pairs(struct design *d);

/* Blocks of t_ns each that a visit has by the design. */
int design_visit_blocks(const struct design *d, double t_ns);

/*
 * Does an untimed block come first? The first one of a visit takes about 15 us longer than others
 * on an H200 host, whatever its length. With a limit of 1 ms it was on one side alone where a block
 * took 0.7 ms there and 1.1 ms on the other: 20 us more a step were found as 20.34
 * (docs/validation.md). At 10 ms that is 0.15 % of a block at most.
 */
bool design_has_untimed(double t_ns);

/* The sides got in each other's way, so processes come one after the other. */
/*
 * The processes of each side at the next interim analysis, given those that ended; 0: there is
 * none, as none follows or their number is fixed. Whether two sides differ plays no part in when to
 * stop, only how wide intervals are.
 *
 *   full             5, 10, 20, 30; of pairs 12, 20, 30: fewer could not decide (contrast.h)
 *   goals (goals.h)  8, 12, 18, 28, 42, 64, 100
 */
int design_next_interim(const struct design *d, int processes);

/* How many there can be, which the session's verdicts share their level with; 1: it is fixed. */
int design_looks(const struct design *d);

bool design_gave_pairs_up(const struct design *d);

/*
 * All points of the request that the workloads allow, in a fixed order. Returns 0, or a negative
 * errno after one line. *out may be released after a failure too.
 */
int plan_make(struct plan *out, const struct plan_request *r);

/*
 * Every point once for each of these wait policies; n: 1 or more. With several, a process has an
 * operating-system process for each, as CUDA settles the policy before a device is opened.
 */
void plan_take_policies(struct plan *p, const enum wait_policy *policy, int n);

/* Leaves one policy of several: the plan of a session that was swept with it alone. */
void plan_keep_policy(struct plan *p, enum wait_policy policy);

/* How many policies, 1 or more; whether this is one of them. */
int plan_policies(const struct plan *p);
bool plan_has_policy(const struct plan *p, enum wait_policy policy);

/* Which workload a point is of; whether there is a point of this one. */
const struct workload *plan_workload(const struct plan *p, int point);
bool plan_has_workload(const struct plan *p, const struct workload *w);

/* Is it the first of its workload: of the smallest size? */
bool plan_is_first(const struct plan *p, int config);

/* Removes the points that `drop` says so of, and configurations without points. Returns how many.
 */
int plan_drop(struct plan *p, bool (*drop)(const struct plan *, int point, void *), void *arg);

void plan_release(struct plan *p);

#endif
