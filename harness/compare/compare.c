/* compare.c - two parties compared, and what separate sessions differ by. */
#include "harness/compare/compare.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/compare/surroundings.h"
#include "harness/stats/bootstrap.h"

/* ---- what separate sessions differ by --------------------------------------------------- */

/* The draws of two parties are groups 0 and 1. */
enum { GROUP = 2 };

/* Normal deviates by Box and Muller, Ann. Math. Statist. 29, 1958. */
double *between_factors(double sd, uint64_t seed)
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

static void step_of(const struct comparison *c, const struct pair *pair, int k,
		    struct interval *out)
{
	struct sample some;

	if (pair->n[k] == c->party[k]->n &&
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
			step_of(c, p->pair, k, &p->step_ns[k]);
		if (p->pair->whole)
			c->count[p->judged.verdict]++;
		else
			c->left_out++;
		c->alone += p->judged.verdict == VERDICT_OPEN && p->judged.alone != VERDICT_OPEN;
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

const char *const outcome_names[] = { "same", "slower", "faster", "same or faster", "open" };

enum outcome compare_outcome(struct judged *const *all, int n)
{
	bool slower = false, faster = false, may_be = false, open = false;

	for (int i = 0; i < n; i++) {
		slower |= all[i]->verdict == VERDICT_SLOWER;
		faster |= all[i]->verdict == VERDICT_FASTER;
		may_be |= !all[i]->not_slower;
		open |= all[i]->verdict == VERDICT_OPEN;
	}
	return slower	? OUTCOME_SLOWER
	       : may_be ? OUTCOME_OPEN
	       : faster ? OUTCOME_FASTER
	       : open	? OUTCOME_NOT_SLOWER
			: OUTCOME_SAME;
}

static void decide(struct comparison *c)
{
	size_t room = (size_t)(c->pairs.n_workloads + c->parameters.n + c->pairs.n) + 1;
	struct judged **all = calloc(room, sizeof(*all));
	int n = 0;

	CHECK(all, "memory of %zu verdicts", room);
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
	bool failed = c->party[PAIR_A]->failed || c->party[PAIR_B]->failed;

	if (c->outcome == OUTCOME_SLOWER)
		return RIFT_CHECK_FAILED;
	return c->outcome == OUTCOME_OPEN || failed ? RIFT_FAILED_POINTS : RIFT_OK;
}

static void draw(struct comparison *c)
{
	uint64_t seed = c->party[PAIR_A]->view.plan.design.seed;
	bool paired = party_is_pair(c->party[PAIR_A], c->party[PAIR_B]);

	c->draws = calloc(BOOTSTRAP_DRAWS, sizeof(*c->draws));
	CHECK(c->draws, "memory of draws");
	for (int k = 0; k < 2; k++)
		CHECK(!resamples_init(&c->resamples[k], c->party[k]->n, seed,
				      paired ? 0 : (uint32_t)k),
		      "%d processes", c->party[k]->n);
	c->groups = (struct groups){ .b = &c->resamples[PAIR_B],
				     .a = &c->resamples[PAIR_A],
				     .paired = paired };
	c->factor = between_factors(c->options.between, seed);
}

int compare_by_points(struct comparison *c, const struct party *a, const struct party *b,
		      const struct compare_options *options)
{
	int err = options->force ? 0 : surroundings_refuse(a, b);

	*c = (struct comparison){ .party = { a, b }, .options = *options };
	if (!err)
		err = pairs_make(&c->pairs, a, b, options->workload);
	if (err)
		return err;
	draw(c);
	compare_points(c);
	return 0;
}

int compare(struct comparison *c, const struct party *a, const struct party *b,
	    const struct compare_options *options)
{
	int err = compare_by_points(c, a, b, options);

	if (err)
		return err;
	c->surroundings = surroundings_differ(a, b);
	c->warnings = surroundings_warn(a, b);
	compare_workloads(c);
	parameters_compare(&c->parameters, c->party, &c->pairs,
			   &(struct parameter_terms){ &c->groups, c->factor, c->options.margin });
	decide(c);
	return 0;
}

void compare_release(struct comparison *c)
{
	for (int k = 0; k < 2; k++)
		resamples_release(&c->resamples[k]);
	parameters_release(&c->parameters);
	pairs_release(&c->pairs);
	json_decref(c->surroundings);
	json_decref(c->warnings);
	free(c->point);
	free(c->workload);
	free(c->factor);
	free(c->draws);
	*c = (struct comparison){ 0 };
}
