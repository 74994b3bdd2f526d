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

/* Normal deviates by Box and Muller, Ann. Math. Statist. 29, 1958. */
double *session_factors(double sd, uint64_t seed)
{
	const double turn = 2 * acos(-1);
	double *factor;

	if (!(sd > 0))
		return NULL;
	factor = calloc(BOOTSTRAP_DRAWS, sizeof(*factor));
	CHECK(factor, "memory of draws");
	for (uint32_t d = 0; d < BOOTSTRAP_DRAWS; d++) {
		struct philox random = philox4x32(0, d, GROUP, 0, seed);
		double radius = sqrt(-2 * log(philox_uniform(random.word[0])));

		factor[d] = exp(sd * sqrt(2) * radius * cos(turn * philox_uniform(random.word[1])));
	}
	return factor;
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

static void judge_pairs(struct comparison *c)
{
	struct point_pair *pair = calloc((size_t)c->pairs.n + 1, sizeof(*pair));
	struct judged_point *judged = calloc((size_t)c->pairs.n + 1, sizeof(*judged));

	CHECK(pair && judged, "memory of %d points", c->pairs.n);
	for (int i = 0; i < c->pairs.n; i++) {
		const struct pair *p = &c->pairs.pair[i];

		if (p->whole)
			pair[i] =
				(struct point_pair){ .b = p->value[PAIR_B], .a = p->value[PAIR_A] };
	}
	judge_points(judged, pair, c->pairs.n, &c->groups, c->factor, c->options.margin);
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

static void compare_workload(const struct comparison *c, int number, struct compared_workload *w)
{
	struct point_pair *values = calloc((size_t)c->pairs.n + 1, sizeof(*values));

	CHECK(values, "memory of %d points", c->pairs.n);
	w->workload = c->pairs.workload[number];
	for (int i = 0; i < c->pairs.n; i++) {
		const struct pair *p = &c->pairs.pair[i];

		if (p->workload != number)
			continue;
		w->left_out += !p->whole;
		if (p->whole)
			values[w->points++] =
				(struct point_pair){ .b = p->value[PAIR_B], .a = p->value[PAIR_A] };
	}
	w->ratio = interval_unknown(0);
	if (w->points && !bootstrap_geomean(&w->ratio, &c->groups, values, w->points, c->draws))
		judge_widen(&w->ratio, c->draws, c->factor);
	w->judged = judged_ratio(&w->ratio, &c->groups, c->draws, c->options.margin);
	free(values);
}

static void compare_workloads(struct comparison *c)
{
	c->workload = calloc((size_t)c->pairs.n_workloads, sizeof(*c->workload));
	CHECK(c->workload, "memory of %d workloads", c->pairs.n_workloads);
	for (int i = 0; i < c->pairs.n_workloads; i++)
		compare_workload(c, i, &c->workload[i]);
}

/* ---- what it comes to ------------------------------------------------------------------- */

const char *outcome_name(enum outcome outcome)
{
	static const enum ratio_verdict alike[] = {
		[OUTCOME_SAME] = VERDICT_SAME,
		[OUTCOME_SLOWER] = VERDICT_SLOWER,
		[OUTCOME_FASTER] = VERDICT_FASTER,
		[OUTCOME_INCONCLUSIVE] = VERDICT_INCONCLUSIVE,
	};

	return outcome == OUTCOME_NOT_SLOWER ? "same or faster" : verdict_names[alike[outcome]];
}

enum outcome compare_outcome(struct judged *const *all, int n)
{
	bool slower = false, faster = false, may_be = false, inconclusive = false;

	for (int i = 0; i < n; i++) {
		slower |= all[i]->verdict == VERDICT_SLOWER;
		faster |= all[i]->verdict == VERDICT_FASTER;
		may_be |= !all[i]->not_slower;
		inconclusive |= all[i]->verdict == VERDICT_INCONCLUSIVE;
	}
	return slower	      ? OUTCOME_SLOWER
	       : may_be	      ? OUTCOME_INCONCLUSIVE
	       : faster	      ? OUTCOME_FASTER
	       : inconclusive ? OUTCOME_NOT_SLOWER
			      : OUTCOME_SAME;
}

static void judge_all(struct comparison *c)
{
	size_t capacity = (size_t)(c->pairs.n_workloads + c->parameters.n + c->pairs.n);
	struct judged **all = calloc(capacity + 1, sizeof(*all));
	int n = 0;

	CHECK(all, "memory of %zu verdicts", capacity);
	for (int i = 0; i < c->pairs.n_workloads; i++)
		all[n++] = &c->workload[i].judged;
	for (int i = 0; i < c->parameters.n; i++)
		if (c->parameters.row[i].decides && c->parameters.row[i].judged.known)
			all[n++] = &c->parameters.row[i].judged;
	judge(all, n, p_adjust_holm);
	c->tests = n;
	for (int i = 0; c->options.strict && i < c->pairs.n; i++)
		all[n++] = &c->point[i].judged;
	c->outcome = compare_outcome(all, n);
	free(all);
}

enum exit_code compare_exit_code(const struct comparison *c)
{
	bool failed = c->side[PAIR_A]->failed || c->side[PAIR_B]->failed;

	if (c->outcome == OUTCOME_SLOWER)
		return RIFT_CHECK_FAILED;
	return c->outcome == OUTCOME_INCONCLUSIVE || failed ? RIFT_FAILED_POINTS : RIFT_OK;
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
	c->groups = (struct groups){ .b = &c->resamples[PAIR_B],
				     .a = &c->resamples[PAIR_A],
				     .paired = paired };
	c->factor = session_factors(c->options.session_sd, seed);
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
			   &(struct parameter_terms){ &c->groups, c->factor, c->options.margin });
	judge_all(c);
	return 0;
}

void compare_release(struct comparison *c)
{
	for (int k = 0; k < 2; k++)
		resamples_release(&c->resamples[k]);
	parameters_release(&c->parameters);
	pairs_release(&c->pairs);
	json_decref(c->environment_diff);
	json_decref(c->warnings);
	free(c->point);
	free(c->workload);
	free(c->factor);
	free(c->draws);
	*c = (struct comparison){ 0 };
}
