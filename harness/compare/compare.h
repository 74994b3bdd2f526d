/* compare.h - two sides compared: B over A; and what separate sessions differ by anyway. */
#ifndef RIFT_COMPARE_COMPARE_H
#define RIFT_COMPARE_COMPARE_H

#include <stdint.h>

#include "harness/base/command.h"
#include "harness/compare/parameters.h"
#include "harness/compare/faults.h"
#include "harness/compare/side.h"
#include "harness/stats/contrast.h"
#include "harness/stats/outcome.h"
#include "harness/stats/stats.h"

/* ---- what separate sessions differ by --------------------------------------------------- */

/*
 * What separate sessions differ by, though nothing was changed: a boot's layout of memory,
 * temperatures, neighbours. The scatter of the processes of one session does not show it, as it is
 * common to all of them, and two sessions are too few to measure it: it is assumed.
 *
 * The model: all times of a session are off by one common factor, lognormal with a standard
 * deviation of `sd` (a share of 1). For ratios it is contrast_apart(). For parameters every draw of
 * the bootstrap gets a factor of its own for B over A, of sd * sqrt(2).
 */

/*
 * Assumed, with a margin that is wide enough for sessions of one system to be found the same
 * (docs/validation.md has how often they are).
 */
#define BETWEEN_DEFAULT 0.01
#define BETWEEN_MARGIN_DEFAULT 0.05

/* BOOTSTRAP_DRAWS factors for the caller to free; NULL where sd is 0: there is nothing to add. */
double *session_factors(double sd, uint64_t seed);

/* ---- two sides compared --------------------------------------------------------------- */

/*
 * Two sides compared: B over A, point by point, workload by workload, and in the parameters of
 * the model.
 *
 * A workload's value in a pair is the geometric mean of b / a over its points, and its result is
 * the median over the pairs; of processes that are no pairs the mean of the times is taken
 * (harness/stats/contrast.h). One workload is decided by itself, at JUDGE_LEVEL. Of several, half
 * of the level is spent on the mean over all of them, which few processes can decide, and half on
 * each one, corrected by Holm. Same and not slower take the interval of every workload and no
 * correction.
 *
 * Parameters and single points inform, corrected by the false discovery rate; with --strict, points
 * count too. A session that could stop at several interim analyses shares the level among them.
 *
 * Wrong results come before all times: a program that computes something else has no slowdown.
 */

struct compare_options {
	double margin;			 /* a share of 1 */
	double session_sd;		 /* sd of what sessions differ by; 0: sides of one */
	bool strict;			 /* points count too */
	bool force;			 /* another device or --sync does not matter */
	const struct workload *workload; /* NULL: all */
};

extern const struct compare_options compare_not_given; /* NAN, false and NULL */

/* What was not given, which is NAN, is what is usual: of separate sessions, or of one. */
struct compare_options compare_options_usual(struct compare_options o, bool separate);

struct compared_point {
	const struct pair *pair;
	struct interval step_ns[2]; /* not known unless every process has measured it */
	struct interval ratio;
	struct judged judged;
};

struct compared_workload {
	const struct workload *workload; /* NULL: the mean over all */
	int points;			 /* in the mean */
	int left_out;			 /* not measured by every process of both */
	double *mean[2];		 /* of each process of A, B; NULL without points */
	struct interval ratio;
	struct judged judged;
	bool all_slower, all_faster; /* every pair, or process over process, beyond the margin */
	struct modality kinds[2];    /* of the processes of A, B */
};

struct comparison {
	const struct compared_side *side[2]; /* A, B */
	struct compare_options options;
	struct pairs pairs;
	json_t *environment_diff, *warnings; /* environment_diff.h */
	struct compared_point *point;	     /* pairs.n */
	struct compared_workload *workload;  /* pairs.n_workloads */
	struct compared_workload whole;	     /* of several workloads: their mean */
	struct parameters parameters;
	struct faults faults[2];

	/* processes a side, below which no workload, and not even the mean, can be decided */
	int needed, needed_by_mean;
	int count[VERDICT_INCONCLUSIVE +
		  1];	      /* points of each verdict, of those that every process has */
	int left_out;	      /* points that some process has no good result of */
	int alone;	      /* points that only the correction leaves open */
	enum outcome by_time; /* whatever the results are */
	enum outcome outcome;

	struct contrast contrast;
	struct resamples resamples[2]; /* of the medians of one side, and of parameters */
	double *factor, *draws;	       /* session_factors(); buffer */
};

/*
 * Compares; prints nothing but the line of a refusal. Returns 0, -EPROTONOSUPPORT where the two
 * cannot be compared, or another negative errno. The sides must live as long. Release it after a
 * failure too.
 */
int compare(struct comparison *c, const struct compared_side *a, const struct compared_side *b,
	    const struct compare_options *options);

/*
 * The same of points alone: no model is fitted, there are no workloads, and nothing is decided.
 * What charts mark.
 */
int compare_by_points(struct comparison *c, const struct compared_side *a,
		      const struct compared_side *b, const struct compare_options *options);
void compare_release(struct comparison *c);

/*
 * 0 same or faster; 1 slower, or B computes wrong results; with --strict also if B lacks calls;
 * 2 inconclusive, or a result is missing for another reason, or A's is wrong.
 */
enum exit_code compare_exit_code(const struct comparison *c);

/* ---- what is printed ---------------------------------------------------------------------- */

/* The finding: the verdict and what it comes from, in one line, as far as it fits into it. */
void compare_finding(const struct comparison *c, char *out, size_t size);

/* Its workloads, those that take longest first; to be freed. */
const struct compared_workload **compare_worst_first(const struct comparison *c);

/*
 * The workload that alone puts the mean over all beyond the margin: without it, the furthest from
 * 1, the mean is within. rest: the mean without it. NULL: there is none.
 */
const struct compared_workload *compare_carrier(const struct comparison *c, struct interval *rest);

/* all: also the points that are the same or open. */
void compare_print(const struct comparison *c, bool all, FILE *out);

/* New reference. */
json_t *compare_json(const struct comparison *c);

#endif
