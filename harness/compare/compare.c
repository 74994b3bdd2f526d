/* compare.c - two sides compared, and what separate sessions differ by. */
#include "harness/compare/compare.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/compare/environment_diff.h"
#include "harness/stats/bootstrap.h"

/* ---- what separate sessions differ by --------------------------------------------------- */

/* The draws of two sides are groups 0 and 1. */
enum { GROUP = 2 };

double *session_factors(double sd, uint64_t seed)
{
	double *factor;

	if (!(sd > 0))
		return NULL;
	factor = calloc(BOOTSTRAP_DRAWS, sizeof(*factor));
	CHECK(factor, "memory of draws");
	for (uint32_t d = 0; d < BOOTSTRAP_DRAWS; d++)
		factor[d] = exp(sd * sqrt(2) * standard_normal(philox4x32(0, d, GROUP, 0, seed)));
	return factor;
}

const struct compare_options compare_not_given = { .margin = NAN, .session_sd = NAN };

struct compare_options compare_options_usual(struct compare_options o, bool separate)
{
	if (!isfinite(o.margin))
		o.margin = separate ? BETWEEN_MARGIN_DEFAULT : MARGIN_DEFAULT;
	if (!isfinite(o.session_sd))
		o.session_sd = separate ? BETWEEN_DEFAULT : 0;
	return o;
}

/* ---- points ----------------------------------------------------------------------------- */

static void step_interval(const struct comparison *c, const struct pair *pair, int k,
			  struct interval *out)
{
	struct sample some;

	if (pair->n[k] == c->side[k]->n &&
	    !bootstrap_median(out, &c->resamples[k], pair->value[k], c->draws))
		return;
	*out = interval_unknown(pair->n[k]);
	if (!sample_of(&some, pair->value[k], pair->n[k]))
		out->value = some.median;
}

static struct point_pair values_of(const struct pair *p)
{
	return (struct point_pair){ .b = p->value[PAIR_B], .a = p->value[PAIR_A] };
}

static void judge_pairs(struct comparison *c)
{
	struct point_pair *pair = calloc((size_t)c->pairs.n + 1, sizeof(*pair));
	struct judged_point *judged = calloc((size_t)c->pairs.n + 1, sizeof(*judged));

	CHECK(pair && judged, "memory of %d points", c->pairs.n);
	for (int i = 0; i < c->pairs.n; i++)
		if (c->pairs.pair[i].whole)
			pair[i] = values_of(&c->pairs.pair[i]);
	contrast_points(judged, pair, c->pairs.n, &c->contrast, c->options.margin);
	for (int i = 0; i < c->pairs.n; i++) {
		c->point[i].ratio = judged[i].ratio;
		c->point[i].judged = judged[i].judged;
	}
	free(pair);
	free(judged);
}

static void compare_points(struct comparison *c)
{
	c->point = calloc((size_t)c->pairs.n + 1, sizeof(*c->point));
	CHECK(c->point, "memory of %d points", c->pairs.n);
	judge_pairs(c);
	for (int i = 0; i < c->pairs.n; i++) {
		struct compared_point *p = &c->point[i];

		p->pair = &c->pairs.pair[i];
		for (int k = 0; k < 2; k++)
			step_interval(c, p->pair, k, &p->step_ns[k]);
		if (p->pair->whole)
			c->count[p->judged.verdict]++;
		else
			c->left_out++;
		c->alone += p->judged.verdict == VERDICT_INCONCLUSIVE &&
			    p->judged.alone != VERDICT_INCONCLUSIVE;
	}
}

/* ---- workloads -------------------------------------------------------------------------- */

/* Takes the means over these points, or of several workloads over their means, and judges them. */
static void compare_means(const struct comparison *c, struct compared_workload *w,
			  const struct point_pair *values, int n)
{
	struct point_pair means;

	w->points = n;
	w->ratio = interval_unknown(0);
	w->judged = judged_unknown();
	if (!n)
		return;
	for (int k = 0; k < 2; k++) {
		w->mean[k] = calloc((size_t)c->side[k]->n, sizeof(double));
		CHECK(w->mean[k], "memory of %d processes", c->side[k]->n);
	}
	means = (struct point_pair){ .b = w->mean[PAIR_B], .a = w->mean[PAIR_A] };
	contrast_means(&c->contrast, values, n, w->mean[PAIR_B], w->mean[PAIR_A]);
	if (!contrast_ratio(&w->ratio, &c->contrast, &means))
		w->judged = contrast_judge(&c->contrast, &means, c->options.margin, 0);
	w->all_slower = w->judged.p_slower <= contrast_least_p(&c->contrast);
	w->all_faster = w->judged.p_faster <= contrast_least_p(&c->contrast);
	for (int k = 0; k < 2; k++)
		if (modality_of(&w->kinds[k], w->mean[k], c->side[k]->n))
			w->kinds[k].bimodal = false;
}

static void compare_workload(const struct comparison *c, int number, struct compared_workload *w)
{
	struct point_pair *values = calloc((size_t)c->pairs.n + 1, sizeof(*values));
	int n = 0;

	CHECK(values, "memory of %d points", c->pairs.n);
	w->workload = c->pairs.workload[number];
	for (int i = 0; i < c->pairs.n; i++) {
		const struct pair *p = &c->pairs.pair[i];

		if (p->workload != number)
			continue;
		w->left_out += !p->whole;
		if (p->whole)
			values[n++] = values_of(p);
	}
	compare_means(c, w, values, n);
	free(values);
}

/* One without points is left out of the mean over all. */
static void compare_workloads(struct comparison *c)
{
	struct point_pair *means = calloc((size_t)c->pairs.n_workloads, sizeof(*means));
	int n = 0;

	c->workload = calloc((size_t)c->pairs.n_workloads, sizeof(*c->workload));
	CHECK(c->workload && means, "memory of %d workloads", c->pairs.n_workloads);
	for (int i = 0; i < c->pairs.n_workloads; i++) {
		const struct compared_workload *w = &c->workload[i];

		compare_workload(c, i, &c->workload[i]);
		if (w->points)
			means[n++] = (struct point_pair){ w->mean[PAIR_B], w->mean[PAIR_A] };
	}
	compare_means(c, &c->whole, means, n);
	free(means);
}

static double far_of(const struct compared_workload *w)
{
	return w->points ? fabs(log(w->ratio.value)) : -1;
}

/* The mean over all workloads but one. */
static void mean_without(const struct comparison *c, const struct compared_workload *one,
			 struct compared_workload *rest)
{
	struct point_pair *means = calloc((size_t)c->pairs.n_workloads, sizeof(*means));
	int n = 0;

	CHECK(means, "memory of %d workloads", c->pairs.n_workloads);
	for (int i = 0; i < c->pairs.n_workloads; i++) {
		const struct compared_workload *w = &c->workload[i];

		if (w != one && w->points)
			means[n++] = (struct point_pair){ w->mean[PAIR_B], w->mean[PAIR_A] };
	}
	compare_means(c, rest, means, n);
	free(means);
}

const struct compared_workload *compare_carrier(const struct comparison *c, struct interval *rest)
{
	const struct compared_workload *furthest = &c->workload[0];
	struct compared_workload without = { 0 };
	double margin = c->options.margin;
	bool carries;

	*rest = interval_unknown(0);
	if (c->whole.points < 2 || !(fabs(c->whole.ratio.value - 1) > margin))
		return NULL;
	for (int i = 1; i < c->pairs.n_workloads; i++)
		if (far_of(&c->workload[i]) > far_of(furthest))
			furthest = &c->workload[i];
	mean_without(c, furthest, &without);
	*rest = without.ratio;
	carries = fabs(rest->value - 1) <= margin;
	for (int k = 0; k < 2; k++)
		free(without.mean[k]);
	return carries ? furthest : NULL;
}

/* ---- what it comes to ------------------------------------------------------------------- */

static void judge_parameters(struct comparison *c)
{
	struct judged **all = calloc((size_t)c->parameters.n + 1, sizeof(*all));

	CHECK(all, "memory of %d verdicts", c->parameters.n);
	for (int i = 0; i < c->parameters.n; i++)
		all[i] = &c->parameters.row[i].judged;
	judge(all, c->parameters.n, p_adjust_fdr, JUDGE_LEVEL);
	free(all);
}

static void judge_all(struct comparison *c)
{
	size_t capacity = (size_t)(c->pairs.n_workloads + c->pairs.n);
	struct judged **all = calloc(capacity + 1, sizeof(*all)), *mean = &c->whole.judged;
	double level;
	int n = 0;

	CHECK(all, "memory of %zu verdicts", capacity);
	for (int i = 0; i < c->pairs.n_workloads; i++)
		all[n++] = &c->workload[i].judged;
	outcome_judge(all, n, mean, c->contrast.tail);
	level = outcome_level(n, c->contrast.tail);
	c->needed = contrast_processes_needed(level / n, c->contrast.paired);
	c->needed_by_mean = contrast_processes_needed(level, c->contrast.paired);
	judge_parameters(c);
	for (int i = 0; c->options.strict && i < c->pairs.n; i++)
		all[n++] = &c->point[i].judged;
	c->by_time = outcome_of(all, n, mean);
	c->outcome = c->faults[PAIR_B].wrong ? OUTCOME_WRONG : c->by_time;
	free(all);
}

enum exit_code compare_exit_code(const struct comparison *c)
{
	const struct faults *a = &c->faults[PAIR_A], *b = &c->faults[PAIR_B];

	if (c->outcome == OUTCOME_SLOWER || c->outcome == OUTCOME_WRONG ||
	    (c->options.strict && b->lacking))
		return RIFT_CHECK_FAILED;
	return c->outcome == OUTCOME_INCONCLUSIVE || a->wrong || a->missing || b->missing
		       ? RIFT_FAILED_POINTS
		       : RIFT_OK;
}

/* Of two sessions the one that was looked at more often. */
static int looks_of(const struct comparison *c)
{
	int a = journal_looks(&c->side[PAIR_A]->view), b = journal_looks(&c->side[PAIR_B]->view);

	return a > b ? a : b;
}

static void draw(struct comparison *c)
{
	uint64_t seed = c->side[PAIR_A]->view.plan.design.seed;
	bool paired = side_is_pair(c->side[PAIR_A], c->side[PAIR_B]);

	c->draws = calloc(BOOTSTRAP_DRAWS, sizeof(*c->draws));
	CHECK(c->draws, "memory of draws");
	for (int k = 0; k < 2; k++)
		CHECK(!resamples_init(&c->resamples[k], c->side[k]->n, seed,
				      paired ? 0 : (uint32_t)k),
		      "%d processes", c->side[k]->n);
	c->factor = session_factors(c->options.session_sd, seed);
	contrast_init(&c->contrast, c->side[PAIR_B]->n, c->side[PAIR_A]->n, paired, looks_of(c));
	c->contrast.apart = contrast_apart(c->options.session_sd);
}

int compare_by_points(struct comparison *c, const struct compared_side *a,
		      const struct compared_side *b, const struct compare_options *options)
{
	int err = options->force ? 0 : environment_diff_refuse(a, b);

	*c = (struct comparison){ .side = { a, b }, .options = *options };
	if (!err)
		err = pairs_make(&c->pairs, a, b, options->workload);
	if (err)
		return err;
	draw(c);
	compare_points(c);
	return 0;
}

int compare(struct comparison *c, const struct compared_side *a, const struct compared_side *b,
	    const struct compare_options *options)
{
	int err = compare_by_points(c, a, b, options);

	if (err)
		return err;
	c->environment_diff = environment_diff_any(a, b);
	c->warnings = environment_diff_warn(a, b);
	compare_workloads(c);
	parameters_compare(&c->parameters, c->side, &c->pairs,
			   &(struct parameter_terms){ c->factor, c->options.margin });
	for (int k = 0; k < 2; k++)
		c->faults[k] = faults_of(c->side[k], &c->pairs, k);
	judge_all(c);
	return 0;
}

static void release_means(struct compared_workload *w)
{
	free(w->mean[0]);
	free(w->mean[1]);
}

void compare_release(struct comparison *c)
{
	for (int k = 0; k < 2; k++)
		resamples_release(&c->resamples[k]);
	parameters_release(&c->parameters);
	json_decref(c->environment_diff);
	json_decref(c->warnings);
	for (int i = 0; c->workload && i < c->pairs.n_workloads; i++)
		release_means(&c->workload[i]);
	release_means(&c->whole);
	contrast_release(&c->contrast);
	free(c->point);
	free(c->workload);
	free(c->factor);
	free(c->draws);
	pairs_release(&c->pairs);
	*c = (struct comparison){ 0 };
}
