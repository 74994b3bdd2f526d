/*
 * truth.h - sessions whose truth is known, judged by rift's own code: how often is it wrong?
 *
 * A process's time of a workload is exp(e) of the true one. Of the variance of e a quarter is what
 * the process does to all its workloads alike, the rest is the workload's own; together they have a
 * standard deviation of TRUTH_SD, in one of the ways below. Separate sessions are each off by a
 * factor of their own as well, of a standard deviation of TRUTH_SESSION_SD, as `rift compare`
 * assumes.
 */
#ifndef RIFT_BENCH_TRUTH_H
#define RIFT_BENCH_TRUTH_H

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/compare/compare.h"
#include "harness/measure/plan.h"
#include "harness/session/stopping.h"
#include "harness/stats/bootstrap.h"
#include "harness/stats/contrast.h"
#include "harness/stats/outcome.h"
#include "harness/stats/stats.h"

#define TRUTH_SD 0.015
#define TRUTH_SESSION_SD BETWEEN_DEFAULT

enum { TRUTH_N_MAX = 100, TRUTH_WORKLOADS_MAX = 12, TRUTH_LARGE = 20000 };

enum scatter {
	NORMAL,
	HEAVY,	    /* Student's t with 3 degrees of freedom */
	TWO_KINDS,  /* three processes of ten take 5 % longer */
	KINDS_OF_B, /* only those of B do */
	SPREAD,	    /* those of B scatter three times as much */
	DRIFT,	    /* all get 5 % slower from the first process to the last, of both sessions */
	CORRELATED, /* each is half like the one before it */
	SCATTERS,
};

static const char *const scatter_names[] = {
	"normal",	  "heavy tail", "two kinds",	  "two kinds of B",
	"B scatters 3 x", "drift",	"autocorrelated",
};

enum design_of_world {
	PAIRED,	      /* pairs of one session */
	ONE_SESSION,  /* one process at a time, A and B in turn: groups */
	TWO_SESSIONS, /* groups, B after A */
};

struct world {
	enum scatter scatter;
	enum design_of_world design;
	int n, workloads;
	double longer; /* B's true ratio to A, of the first `planted` workloads; the others: 1 */
	int planted;
	double correlation; /* of CORRELATED */
};

/* What came of many sessions, in percent of them. */
struct found {
	double slower;	/* "B is slower" */
	double covered; /* the interval of the first workload holds its true ratio */
	double level;	/* what the interval says of itself */
};

/* ---- random numbers ------------------------------------------------------------------------- */

struct dice {
	uint32_t trial, thrown;
};

static inline double uniform(struct dice *d)
{
	return philox_uniform(philox4x32(d->thrown++, d->trial, 0, 0x7275, 1).word[0]);
}

/* Box and Muller, Ann. Math. Statist. 29, 1958. */
static inline double normal(struct dice *d)
{
	double radius = sqrt(-2 * log(uniform(d)));

	return radius * cos(2 * acos(-1) * uniform(d));
}

/* Standard deviation 1. */
static inline double heavy(struct dice *d)
{
	double t = normal(d), x = normal(d), y = normal(d), z = normal(d);

	return t / sqrt((x * x + y * y + z * z) / 3) / sqrt(3);
}

/* ---- a session ------------------------------------------------------------------------------ */

/* From 0, the first process of all, to 1, the last. */
static inline double position(const struct world *w, bool of_b, int i)
{
	if (w->design == TWO_SESSIONS)
		return (double)(i + (of_b ? w->n : 0)) / (2 * w->n - 1);
	return (double)i / (w->n - 1);
}

/* What process i of n does to all its workloads: logarithms; before: to the one before it. */
static inline double process_effect(const struct world *w, bool of_b, int i, double before,
				    struct dice *d)
{
	double e = (w->scatter == HEAVY ? heavy(d) : normal(d)) * TRUTH_SD / 2;

	if (w->scatter == TWO_KINDS || (w->scatter == KINDS_OF_B && of_b))
		e += uniform(d) < 0.3 ? 0.05 : 0;
	if (w->scatter == DRIFT)
		e += 0.05 * position(w, of_b, i);
	if (w->scatter == CORRELATED && i)
		e = w->correlation * before + sqrt(1 - w->correlation * w->correlation) * e;
	return w->scatter == SPREAD && of_b ? 3 * e : e;
}

static inline double own_effect(const struct world *w, bool of_b, int i, double before,
				struct dice *d)
{
	double e = (w->scatter == HEAVY ? heavy(d) : normal(d)) * TRUTH_SD * sqrt(0.75);

	if (w->scatter == CORRELATED && i)
		e = w->correlation * before + sqrt(1 - w->correlation * w->correlation) * e;
	return w->scatter == SPREAD && of_b ? 3 * e : e;
}

struct side_times {
	double ns[TRUTH_WORKLOADS_MAX][TRUTH_N_MAX];
};

static inline void make_side(struct side_times *s, const struct world *w, bool of_b,
			     const double *truth, struct dice *d)
{
	double session = w->design == TWO_SESSIONS ? TRUTH_SESSION_SD * normal(d) : 0;
	double common = 0, own[TRUTH_WORKLOADS_MAX] = { 0 };

	for (int i = 0; i < w->n; i++) {
		common = process_effect(w, of_b, i, common, d);
		for (int k = 0; k < w->workloads; k++) {
			own[k] = own_effect(w, of_b, i, own[k], d);
			s->ns[k][i] = truth[k] * exp(session + common + own[k]);
		}
	}
}

/* ---- what rift says of it ------------------------------------------------------------------- */

struct said {
	enum outcome outcome;
	struct interval first; /* the first workload's */
};

static inline struct said judge_session(const struct contrast *c, const struct world *w,
					const struct side_times *a, const struct side_times *b,
					double margin)
{
	struct judged each[TRUTH_WORKLOADS_MAX], *all[TRUTH_WORKLOADS_MAX], mean;
	struct point_pair pair[TRUTH_WORKLOADS_MAX];
	double mean_b[TRUTH_N_MAX], mean_a[TRUTH_N_MAX];
	struct said said;

	for (int k = 0; k < w->workloads; k++) {
		pair[k] = (struct point_pair){ .b = b->ns[k], .a = a->ns[k] };
		each[k] = contrast_judge(c, &pair[k], margin, 0);
		all[k] = &each[k];
	}
	contrast_means(c, pair, w->workloads, mean_b, mean_a);
	mean = contrast_judge(c, &(struct point_pair){ .b = mean_b, .a = mean_a }, margin, 0);
	outcome_judge(all, w->workloads, &mean, c->tail);
	said.outcome = outcome_of(all, w->workloads, &mean);
	CHECK(!contrast_ratio(&said.first, c, &pair[0]), "times above 0");
	return said;
}

/*
 * What scatter alone makes of the median of b / a, of one workload and of the mean over all: 1,
 * unless only B has two kinds. The larger one is what a verdict is about.
 */
struct medians {
	double first, most;
};

static inline struct medians medians_of(const struct world *w)
{
	struct world one = *w;
	double truth[TRUTH_WORKLOADS_MAX], *first = calloc(TRUTH_LARGE, sizeof(*first)),
					   *mean = calloc(TRUTH_LARGE, sizeof(*mean));
	struct medians m;

	CHECK(first && mean, "memory of %d ratios", TRUTH_LARGE);
	one.n = 1;
	one.design = PAIRED; /* without the factors of sessions */
	for (int k = 0; k < w->workloads; k++)
		truth[k] = 1;
	for (int t = 0; t < TRUTH_LARGE; t++) {
		struct dice d = { (uint32_t)t, 1U << 30 };
		struct side_times a, b;
		double sum = 0;

		make_side(&a, &one, false, truth, &d);
		make_side(&b, &one, true, truth, &d);
		for (int k = 0; k < w->workloads; k++)
			sum += log(b.ns[k][0] / a.ns[k][0]) / w->workloads;
		first[t] = b.ns[0][0] / a.ns[0][0];
		mean[t] = exp(sum);
	}
	m.first = median_of(first, TRUTH_LARGE);
	m.most = fmax(m.first, median_of(mean, TRUTH_LARGE));
	free(first);
	free(mean);
	return m;
}

static inline double truth_margin(const struct world *w)
{
	return w->design == TWO_SESSIONS ? BETWEEN_MARGIN_DEFAULT : MARGIN_DEFAULT;
}

/* w->longer is what the median of b / a is, with what scatter makes of it. */
static inline struct found simulate(const struct world *w, int trials)
{
	double margin = truth_margin(w);
	double of_a[TRUTH_WORKLOADS_MAX], of_b[TRUTH_WORKLOADS_MAX];
	struct medians m = { 1, 1 };
	int slower = 0, covered = 0;
	struct contrast c;

	if (w->scatter == KINDS_OF_B)
		m = medians_of(w);
	for (int k = 0; k < w->workloads; k++) {
		of_a[k] = 1;
		of_b[k] = (k < w->planted ? w->longer : 1) / m.most;
	}
	contrast_init(&c, w->n, w->n, w->design == PAIRED, 1);
	c.apart = w->design == TWO_SESSIONS ? contrast_apart(BETWEEN_DEFAULT) : 1;
	for (int t = 0; t < trials; t++) {
		struct dice d = { (uint32_t)t, 0 };
		struct side_times a, b;
		struct said said;

		make_side(&a, w, false, of_a, &d);
		make_side(&b, w, true, of_b, &d);
		said = judge_session(&c, w, &a, &b, margin);
		slower += said.outcome == OUTCOME_SLOWER;
		covered += said.first.known && said.first.lo <= of_b[0] * m.first &&
			   of_b[0] * m.first <= said.first.hi;
	}
	contrast_release(&c);
	return (struct found){ 100.0 * slower / trials, 100.0 * covered / trials, 100 * c.level };
}

/* ---- a fitted parameter --------------------------------------------------------------------- */

/*
 * A parameter of a fit is a smooth function of the points' medians, and its interval comes from
 * refits to draws of processes: here the simplest one, the difference of one point's medians on
 * both sides, over the same draws of pairs.
 */
struct parameter_found {
	double covered; /* in percent of sessions */
	double pairs;	/* the mean over sessions */
};

static inline struct interval difference_of(const struct side_times *a, const struct side_times *b,
					    const struct resamples *r)
{
	static double of_a[BOOTSTRAP_DRAWS], of_b[BOOTSTRAP_DRAWS];
	double at_a, at_b;
	struct interval out;

	CHECK(!resamples_medians(r, a->ns[0], of_a, &at_a) &&
		      !resamples_medians(r, b->ns[0], of_b, &at_b),
	      "times above 0");
	for (int draw = 0; draw < BOOTSTRAP_DRAWS; draw++)
		of_b[draw] -= of_a[draw];
	CHECK(!interval_of_draws(&out, at_b - at_a, r->n, of_b), "finite draws");
	return out;
}

/*
 * The session ends at the first of its looks where the interval, as much wider as `--resolve` asks
 * for, is within plus or minus goal of A's time; w->n is the last look. goal 0: at w->n alone.
 */
static inline struct parameter_found simulate_parameter(const struct world *w, double goal,
							int trials)
{
	struct design d = { .pairs = true, .sequential = true, .processes = w->n };
	struct parameter_found found = { 0 };
	const double truth = 1;

	d.goals.parameter_ns[0] = goal;
	for (int t = 0; t < trials; t++) {
		struct dice dice = { (uint32_t)t, 0 };
		struct side_times a, b;
		struct interval i;
		int n = goal > 0 ? design_next_interim(&d, 0) : w->n;

		make_side(&a, w, false, &truth, &dice);
		make_side(&b, w, true, &truth, &dice);
		for (;; n = design_next_interim(&d, n)) {
			struct resamples r;

			CHECK(!resamples_init(&r, n, (uint64_t)t, 0), "%d pairs", n);
			i = difference_of(&a, &b, &r);
			resamples_release(&r);
			if (n == w->n || goals_interim_factor * (i.hi - i.lo) / 2 <= goal)
				break;
		}
		found.covered += 100.0 * (i.lo <= 0 && 0 <= i.hi) / trials;
		found.pairs += (double)n / trials;
	}
	return found;
}

#endif
