/*
 * check.c - are the prices right, all of them there, and nothing written besides?
 *
 * Prices are compared with two references in double on options made anew: a seeded sample, and the
 * first and last, with the same tree; as many as a fifth of a second allows with its sum in closed
 * form. Bytes that are no prices, and copies, are looked at by dataset_audit().
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "workloads/binomial/binomial.h"
#include "workloads/binomial/inputs.h"
#include "workloads/binomial/reference.h"

enum { TREES = 64, TREES_LARGE = 16, LARGE = 2048, SAMPLE_TAG = 31, SUM_LEAST = 16 };

static const double leaves_in_time = 2e7; /* of sums, in 0.2 s */

/*
 * Of single prices: absolute. Of all, if at least SUM_LEAST: relative, with what n steps add. In
 * plain float on a CPU prices were off by up to 2.4e-4 (lerp) and 4.4e-3 (two) at 8192 steps, sums
 * by 6.0e-6 and 1.7e-4.
 */
static const double allowed_price[] = { 1e-3, 1e-2 };
static const double allowed_sum[] = { 5e-6, 5e-4 }, allowed_step[] = { 2e-9, 0 };
static const double each_flaw = 1000; /* added to the error for what is not as it must be */

struct audit {
	const struct binomial_opts *o;
	const struct dataset *set;
	struct verdict *v;
	struct dataset_audit found;
	float *price;	     /* of a slot */
	double *room, *logs; /* steps + 1 each */
	double worst, off, sum;
};

/* ---- single prices ---------------------------------------------------------------------- */

static struct binomial_case case_of(const struct audit *a, int64_t slot, int64_t i)
{
	struct binomial_input in =
		binomial_input((uint32_t)i, (uint32_t)slot, (uint64_t)a->o->seed);

	return (struct binomial_case){ in.S, in.X, in.T, a->o->rate, a->o->volatility };
}

static void compare(struct audit *a, int64_t slot, int64_t i, double want)
{
	double error = fabs(a->price[i] - want);

	a->off += error;
	a->sum += want;
	a->v->compared++;
	if (error <= a->worst)
		return;
	a->worst = error;
	if (!a->found.flaws)
		snprintf(a->v->worst, sizeof(a->v->worst),
			 "option %ld, slot %ld: %.9g, off by %.3g", (long)i, (long)slot,
			 a->price[i], error);
}

static void compare_tree(struct audit *a, int64_t slot, int64_t i)
{
	struct binomial_case c = case_of(a, slot, i);

	compare(a, slot, i, binomial_tree(&c, a->o->steps, a->room));
}

static void compare_sum(struct audit *a, int64_t slot, int64_t i)
{
	struct binomial_case c = case_of(a, slot, i);

	compare(a, slot, i, binomial_sum(&c, a->o->steps, a->logs));
}

/* ---- slots ------------------------------------------------------------------------------ */

/* An option drawn for the sample; the first two are the ends. */
static int64_t drawn(const struct audit *a, int64_t slot, int64_t j)
{
	struct philox r = philox4x32((uint32_t)j, (uint32_t)slot, SAMPLE_TAG, 0, a->v->seed);

	return j < 2 ? j * (a->o->options - 1) : r.word[0] % a->o->options;
}

/* Of `most` options in all slots as many as fall to one, the ends of each among them. */
static int64_t share(const struct audit *a, double most)
{
	double all = (double)a->v->total, n = fmax(2, ceil(most * (double)a->o->options / all));

	return a->v->full || n >= (double)a->o->options ? a->o->options : (int64_t)n;
}

static int compare_slot(struct audit *a, int64_t slot)
{
	int64_t trees = share(a, a->o->steps > LARGE ? TREES_LARGE : TREES);
	int64_t sums = share(a, leaves_in_time / (double)(a->o->steps + 1));
	bool all = sums == a->o->options;

	for (int64_t j = 0; j < trees; j++) {
		if (interrupted())
			return -EINTR;
		compare_tree(a, slot, trees == a->o->options ? j : drawn(a, slot, j));
	}
	if (trees == a->o->options)
		return 0;
	a->v->compared -= all ? trees : 0; /* they come again */
	for (int64_t j = 0; j < sums; j++)
		compare_sum(a, slot, all ? j : drawn(a, slot, trees + j));
	return 0;
}

static int look_at(struct audit *a, int64_t slot)
{
	int64_t before = a->found.flaws;

	dataset_fetch(a->set, 0, slot, 0, a->o->options, a->price);
	for (int64_t i = 0; i < a->o->options; i++)
		if (isnan(a->price[i]))
			dataset_flaw(&a->found, a->set, "no price", slot, i);
	return a->found.flaws == before ? compare_slot(a, slot) : 0;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static double error_of(const struct audit *a)
{
	int form = a->o->form;
	double sum = allowed_sum[form] + allowed_step[form] * (double)a->o->steps;
	double error = a->worst / allowed_price[form];

	if (a->v->compared >= SUM_LEAST)
		error = fmax(error, a->off / a->sum / sum);
	return error + each_flaw * (double)a->found.flaws;
}

static int look_at_all(struct audit *a)
{
	struct verdict *v = a->v;
	int err = 0;

	v->measure = "largest of the errors, in units of what each may be; 1000 more for each "
		     "value that is not what steps leave";
	v->total = a->o->options * __builtin_popcountll(a->found.answers);
	v->compared = 0;
	v->tolerance = 1;
	for (int64_t slot = 0; slot < a->o->set.slots && !err; slot++)
		if (a->found.answers >> slot & 1)
			err = look_at(a, slot);
	v->error = error_of(a);
	v->passed = v->error <= v->tolerance;
	if (a->found.flaws)
		snprintf(v->worst, sizeof(v->worst), "%s", a->found.first);
	return err;
}

int binomial_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct binomial_state *s = state;
	struct audit a = { .o = opts, .set = &s->set, .v = v };
	size_t leaves = (size_t)a.o->steps + 1;
	int err = dataset_audit(&s->set, &binomial_work, opts, state, steps, v->graph_steps,
				&a.found);

	a.price = malloc((size_t)a.o->options * sizeof(*a.price));
	a.room = malloc(2 * leaves * sizeof(*a.room));
	CHECK(a.price && a.room, "memory of %ld prices", (long)a.o->options);
	a.logs = a.room + leaves;
	binomial_logs(a.o->steps, a.logs);
	if (!err)
		err = look_at_all(&a);
	free(a.price);
	free(a.room);
	return err;
}
