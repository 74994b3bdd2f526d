/*
 * chart.h - the charts of `rift plot`: what they share.
 *
 *   heat.c           overhead over ideal, or B over A: kernel size x depth, a panel a mode
 *   latency.c        a block against its depth, a step against the length of its kernels
 *   depth_needed.c   how deep blocks must be for an overhead of 5 %
 *   stack.c          where the time of a step goes: kernels, gaps, submission, ...
 *   copied.c         a step against the bytes that it copies
 *   dots.c           workloads, B over A
 *   collection.c     workloads, overhead at two depths
 *
 * A chart is made of what a session says of one workload (struct chart_set): its function writes
 * the data files, says in title and finding what they show, and names its gnuplot script, which is
 * in plots/. harness/base/picture.h then draws it. What a reader of a data file should know stands
 * in its first line, the names of the columns; what is not known is left empty.
 *
 * Overhead over ideal is T / ideal - 1, T the time of a block and ideal what nothing but its
 * kernels would take (model_ideal_ns() in harness/measure/model.h).
 */
#ifndef RIFT_CHART_CHART_H
#define RIFT_CHART_CHART_H

#include <string.h>

#include "common/plot.h"
#include "harness/compare/compare.h"
#include "harness/fit/fit.h"
#include "harness/fit/stack.h"
#include "harness/record/journal.h"
#include "harness/stats/bootstrap.h"

enum { CHART_SIDES = 2 };

/* Over the bytes that a step copies, which no workload may have as a parameter. */
#define CHART_COPIED "copied"

/* over: as --over has it, or NULL. */
static inline bool chart_is_over_copied(const char *over)
{
	return over && !strcmp(over, CHART_COPIED);
}

/* The share that titles speak of: less is hardly worth a change of a program. */
#define CHART_SHARE 0.05

/* ---- a platform --------------------------------------------------------------------------- */

/* One side of one session. */
struct chart_side {
	const struct journal *journal;
	int side;	    /* of the journal */
	const char *letter; /* "A", "B"; where there is one only, "" */
	bool is_gpu;
	char device[128]; /* "NVIDIA H200" */
	char made[1024];  /* device, platform, processes, date: the small print */
	const char *over; /* what is drawn over: a parameter or CHART_COPIED; NULL: the size axis */
};

/* The journal must live as long. letter: as above. Over the size axis. */
void chart_side_init(struct chart_side *s, const struct journal *j, int side, const char *letter);

/* Two platforms, compared point by point as `rift compare` does it: all workloads together. */
struct chart_pair {
	struct compared_side side[CHART_SIDES];
	struct comparison comparison;
	const struct compared_point **of_a; /* [point of A's plan]; NULL: B lacks it */
};

/*
 * Returns 0, or -EXDEV after one line where they have no point in common. *out must stay where it
 * is; it may be released after a failure, and zeroed.
 */
int chart_pair_init(struct chart_pair *out, const struct chart_side side[CHART_SIDES]);
void chart_pair_release(struct chart_pair *p);

/* ---- a workload --------------------------------------------------------------------------- */

/* What one or two platforms say of one workload. */
struct chart_set {
	const struct chart_side *side;
	int sides;
	char subject[352]; /* the workload, and its parameters that are at no default */
	struct grid grid[CHART_SIDES];
	struct fit fit[CHART_SIDES];
	bool fitted[CHART_SIDES];
	struct resamples resamples[CHART_SIDES];
	double *draws;		       /* buffer */
	const struct chart_pair *pair; /* NULL: one side */
	/* As in rift compare, between two sessions: factors of the draws, and a wider margin. */
	bool two_sessions; /* not the two sides of one */
	double margin;	   /* of B over A */
	int common;	   /* points that both sides have */
	/* for time stacks: see struct stack_request; NULL: none */
	const struct fit *from;
	const struct copy_costs *costs;
};

/* The numeric parameter of that name; NULL: the workload has none, or the name is NULL. */
const struct param *chart_over(const struct workload *w, const char *name);

/*
 * Returns 0, or a negative errno after one line: the session has too few points of it. The sides
 * must live as long, and of two their pair, else NULL; *out may be released after a failure too.
 */
int chart_set_init(struct chart_set *out, const struct chart_side *side, int sides,
		   const struct chart_pair *pair, const struct workload *w);
/* The same of the parameters of one configuration, of one side over the size axis. */
int chart_set_init_like(struct chart_set *out, const struct chart_side *side,
			const struct config *c);
void chart_set_release(struct chart_set *s);

/* The same measurement on the other platform; NULL: there is none. */
const struct grid_point *chart_partner(const struct chart_set *s, const struct grid_point *a);

/* A point on a side: T of a block, in ns; the same per step; T / ideal. */
struct interval chart_total(const struct chart_set *s, int side, const struct grid_point *p);
struct interval chart_step(const struct chart_set *s, int side, const struct grid_point *p);
struct interval chart_over_ideal(const struct chart_set *s, int side, const struct grid_point *p);

/*
 * T on B over T on A, and what rift compare says of it. Not known (n = 0; NULL) without a partner.
 */
struct interval chart_ratio(const struct chart_set *s, const struct grid_point *a);
const struct judged *chart_judged(const struct chart_set *s, const struct grid_point *a);

/* The geometric mean of such ratios; not known as above. */
struct interval chart_mean_ratio(const struct chart_set *s, const struct point_pair *pair,
				 int points);

/*
 * Does the interval of T / ideal not show it to be more or less than 1 by more than the margin?
 * Without an interval: false. B over A is chart_judged()'s.
 */
bool chart_is_even(const struct interval *ratio, double margin);

/* Is there an ideal for this size: kernels that take time? */
bool chart_has_ideal(const struct grid *g, int size);

/* The size of a side that is size number `size` of A; -1: it was not swept there. */
int chart_size_on(const struct chart_set *s, int side, int size);

/*
 * Between x, where overhead is the share at_x, above `share`, and y, where it is not: where it is
 * that share on a straight line between logarithms.
 */
double chart_crossing(double share, double x, double at_x, double y, double at_y);

/* Does the grid of a side have points in this mode? */
bool chart_has_mode(const struct chart_set *s, int side, enum mode mode);

/* ---- the charts --------------------------------------------------------------------------- */

/*
 * Each writes its data files and sets script and values of a plot that has begun. Returns 0; 1
 * where there is nothing to draw, and nothing has been written; or a negative errno after one line.
 */
int chart_overhead(const struct chart_set *s, int side, struct plot *p);
int chart_ratios(const struct chart_set *s, struct plot *p);
int chart_latency(const struct chart_set *s, struct plot *p);
int chart_depth_needed(const struct chart_set *s, struct plot *p);
int chart_stack(const struct chart_set *s, int side, struct plot *p);
/* The workload's points that copy between host and device, with all sets of parameters. */
int chart_copied(const struct chart_set *s, struct plot *p);
/* All workloads of the session. */
int chart_dots(const struct chart_set *set, int sets, struct plot *p);
/* The same, of one side; and all of the session's points, also those that the sets leave out. */
int chart_collection(const struct chart_set *set, int sets, struct plot *p);

/* ---- all sets of parameters of a session ------------------------------------------------ */

/*
 * All that a session holds, by sets of parameters: a workload may be there with
 * several.
 */

/* One set for each workload and each of its sets of parameters but for the size. */
struct variants {
	const struct chart_set **set; /* those that were given first, then the others */
	int sets;
	struct chart_set *other; /* made here */
	int others;
};

/*
 * The given sets, of one side over the size axis, and what they leave out of their workloads.
 * Returns 0, or a negative errno after one line. To be released after a failure too.
 */
int variants_init(struct variants *v, const struct chart_set *given, int sets);
void variants_release(struct variants *v);

#endif
