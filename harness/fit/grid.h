/*
 * grid.h - the mode x K x D grid of one side of a session: what the model is fitted to.
 *
 * A session may hold several workloads, and sizes swept with several values of other parameters. A
 * grid takes one workload and one set of these: the defaults where the session has them, else what
 * its first configuration has. Points around the centre, or with other values, are left out and
 * counted.
 */
#ifndef RIFT_FIT_GRID_H
#define RIFT_FIT_GRID_H

#include "harness/measure/model.h"
#include "harness/record/journal.h"

struct grid_point {
	struct batch batch;
	int point; /* number in the plan */
	int size;  /* number in size[] */
	/* Medians over processes of the process values (harness/stats/stats.h), per block. */
	double total_ns, enq_ns;
	double *total, *enq; /* process values, in the order of processes; owned */
	bool is_k;	     /* K of its size was taken from it: it is no test of the model */
};

struct grid_size {
	double value;	  /* of the axis: us, cells */
	double kernel_ns; /* K, see model.h */
	double launches;  /* of a step */
	/* Where K is measured: the points that gave it, K = (total[large] - total[small]) over
	 * their launches; small -1: total[large] alone. Else -1. */
	int large, small;
};

struct grid {
	const struct journal *j; /* must outlive the grid */
	int side;		 /* 0: a, 1: b */
	int processes;		 /* of the side, those that count */
	const struct workload *workload;
	const struct param *axis;
	const struct config *base; /* of the plan: its parameters but for the axis */
	const struct grid *beside; /* of pairs: side a's, where this is b's (grid_pair()); NULL */
	char others[256]; /* "equations=rodinia ...": parameters that are at no default; "": none */
	bool nominal;	  /* K is the axis, a duration */
	double queue;	  /* Q of the probe, median over processes; INFINITY: no limit seen */

	struct grid_size *size; /* ascending */
	int n_sizes;
	int64_t *depth; /* ascending, of all modes */
	int n_depths;
	struct grid_point *point;
	int n_points;
	int left_out; /* points of this workload that are in the session but not in the grid */
	int failed;   /* points of the grid that some process has no good result of: left out too */
};

/*
 * name: of the workload, with values of parameters behind it where these are not to be the
 * defaults, "radixsort data=streamed"; NULL: the session's only one. Returns 0, or -EINVAL after
 * one line: several workloads and no name, none of that name, no such side, too few points. *out
 * may be released after a failure too.
 */
int grid_make(struct grid *out, const struct journal *j, int side, const char *name);

/*
 * The same over another numeric parameter: its values are the sizes, and what else varies, the
 * size axis too, is left out but for one value. NULL: the size axis. The workload has to have it.
 */
int grid_make_over(struct grid *out, const struct journal *j, int side, const char *name,
		   const struct param *over);

/* The same of the parameters of this configuration of the plan, whatever the defaults are. */
int grid_make_like(struct grid *out, const struct journal *j, int side, const struct config *c);

/* Are two configurations of one workload alike but for this parameter? */
bool grid_alike(const struct config *x, const struct config *y, const struct param *axis);

/* The same of some of the plan's points: those whose number is true in wanted[]; NULL: all. */
int grid_make_of(struct grid *out, const struct journal *j, int side, const char *name,
		 const bool *wanted);

/*
 * b and a are the two sides of pairs, of the same points. What a point takes on b is from here on
 * what it takes on a, times the median over the pairs of b / a: of all pairs and in every draw. The
 * difference of two medians would be of two different pairs: on one H200, where launches took 3.3
 * us in some processes and 4.3 us in others, 149 ns for a layer that cost 84 in the median pair. a
 * must outlive b.
 */
void grid_pair(struct grid *b, const struct grid *a);

/* The point of this mode, size and depth; NULL: not measured. */
const struct grid_point *grid_find(const struct grid *g, enum mode mode, int size, int64_t depth);

/* The two deepest blocks of a size and mode, the deepest first; NULL where there are fewer. */
void grid_two_deepest(const struct grid *g, int size, enum mode mode,
		      const struct grid_point **first, const struct grid_point **second);

void grid_release(struct grid *g);

/* ---- which of a session's configurations a grid is of ----------------------------------- */

/* The workload of that name, NULL: the session's only one. NULL after one line: there is none. */
const struct workload *grid_workload(const struct journal *j, const char *name);

/* The workload's defaults where some configuration has them, else its first configuration. */
const struct config *grid_base(const struct grid *g);

/* Sets g->others by its base. */
void grid_name_others(struct grid *g);

/* ---- K of each size of a grid: the axis where it is a duration, else measured ----------- */

/* Fills in nominal, size[].kernel_ns, large and small, is_k, and K of every point. */
void grid_kernels(struct grid *g);

/* Is K measured in stream blocks, of every size, as there are no others? */
bool grid_is_of_streams(const struct grid *g);

/*
 * K of a size where it is measured, from totals of all points (in the order of g->point): the slope
 * between the two deepest blocks of the mode that says it best.
 */
double grid_kernel_ns(const struct grid *g, int size, const double *total_ns);

#endif
