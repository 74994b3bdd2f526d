/* compare.h - two sides compared: B over A; and what separate sessions differ by anyway. */
#ifndef RIFT_COMPARE_COMPARE_H
#define RIFT_COMPARE_COMPARE_H

#include <stdint.h>

#include "harness/base/command.h"
#include "harness/compare/parameters.h"
#include "harness/compare/side.h"
#include "harness/stats/decide.h"

/* ---- what separate sessions differ by --------------------------------------------------- */

/*
 * What separate sessions differ by, though nothing was changed: a boot's layout of memory,
 * temperatures, neighbours. The scatter of the processes of one session does not show it, as it is
 * common to all of them, and two sessions are too few to measure it: it is assumed.
 *
 * The model: all times of a session are off by one common factor, lognormal with a standard
 * deviation of `sd` (a share of 1). Every draw of the bootstrap gets a factor of its own for B
 * over A, of sd * sqrt(2), and the same one for all points: their mean does not average it away.
 */

/*
 * Assumed, with a margin that is wide enough for sessions of one system to be found the same. This
 * many of 400 simulated pairs of equal sessions (10 processes each that scatter by 1.5 %) were
 * called something else, or the same:
 *
 *   sessions are off by        1 %                2 %
 *   margin 2 %, sd 0           8, the same 62     97, the same 31
 *   margin 5 %, sd 1 %         0, the same 284    2, the same 172
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
 * What decides are the geometric mean of each workload's ratios and the parameters marked so in
 * parameters.h, corrected by Holm among each other; single points inform, corrected by the false
 * discovery rate (harness/stats/decide.h). A parameter that is not identified on both sides decides
 * nothing.
 */

struct compare_options {
	double margin;			 /* a share of 1 */
	double session_sd;		 /* sd of what sessions differ by; 0: sides of one */
	bool strict;			 /* points count too */
	bool force;			 /* another device or --sync does not matter */
	const struct workload *workload; /* NULL: all */
};

struct compared_point {
	const struct pair *pair;
	struct interval step_ns[2]; /* not known unless every process has measured it */
	struct interval ratio;
	struct judged judged;
};

struct compared_workload {
	const struct workload *workload;
	int points;   /* in the mean */
	int left_out; /* not measured by every process of both */
	struct interval ratio;
	struct judged judged;
};

/* What all that decides comes to. */
enum outcome {
	OUTCOME_SAME,
	OUTCOME_SLOWER,	      /* one of them is */
	OUTCOME_FASTER,	      /* one is, and none may be slower */
	OUTCOME_NOT_SLOWER,   /* none may be slower; of some it is open whether they are faster */
	OUTCOME_INCONCLUSIVE, /* one may be slower */
};

/* In the words of verdict_names, where an outcome is one of these. */
const char *outcome_name(enum outcome outcome);

/* The outcome over all that decides, once judged. */
enum outcome compare_outcome(struct judged *const *all, int n);

struct comparison {
	const struct compared_side *side[2]; /* A, B */
	struct compare_options options;
	struct pairs pairs;
	json_t *environment_diff, *warnings; /* environment_diff.h */
	struct compared_point *point;	     /* pairs.n */
	struct compared_workload *workload;  /* pairs.n_workloads */
	struct parameters parameters;

	int tests; /* that decide, corrected by Holm together */
	int count[VERDICT_INCONCLUSIVE +
		  1]; /* points of each verdict, of those that every process has */
	int left_out; /* points that some process has no good result of */
	int alone;    /* points that only the correction leaves open */
	enum outcome outcome;

	struct resamples resamples[2];
	struct groups groups;
	double *factor, *draws; /* session_factors(); buffer */
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

/* 0 same or faster, 1 slower, 2 inconclusive, or a result is missing or failed its check. */
enum exit_code compare_exit_code(const struct comparison *c);

/* ---- what is printed ---------------------------------------------------------------------- */

/* all: also the points that are the same or open. */
void compare_print(const struct comparison *c, bool all, FILE *out);

/* New reference. */
json_t *compare_json(const struct comparison *c);

#endif
