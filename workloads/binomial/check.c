/*
 * check.c - are the prices right, all of them there, and nothing written besides?
 *
 * Prices are compared with two references in double on options made anew: with the same tree as
 * many as a tenth of a second allows, and at least the first and the last of all; with its sum in
 * closed form, as many again, and at least the first and the last of each slot. Which others is
 * drawn. Bytes that are no prices, and copies, are looked at by dataset_audit().
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/pieces.h"
#include "workloads/binomial/binomial.h"
#include "workloads/binomial/inputs.h"
#include "workloads/binomial/reference.h"
#include "workloads/workload.h"

enum { SUM_LEAST = 16, SAMPLE_TREES = 0, SAMPLE_SUMS = 1 };

/* In 0.1 s each; a leaf of a tree takes as long as so many nodes before it. */
static const double nodes_in_time = 6e7, leaf_nodes = 16;
static const double leaves_in_time = 6e6; /* of sums */

/*
 * Errors of single prices are absolute; those of the sum of at least SUM_LEAST prices are relative,
 * and n steps add to them. In plain float on a CPU prices were off by up to 2.4e-4 (lerp)
 * and 4.4e-3 (two) at 8192 steps, sums by 6.0e-6 and 1.7e-4.
 */
static const double allowed_price[] = { 1e-3, 1e-2 };
static const double allowed_sum[] = { 5e-6, 5e-4 }, allowed_step[] = { 2e-9, 0 };
static const double each_flaw = 1000; /* added to the error for what is not as it must be */

struct audit {
	const struct binomial_opts *o;
	const struct dataset *set;
	struct verdict *v;
	struct dataset_audit found;
	struct pieces trees;	  /* which options have one: all slots with answers, end to end */
	int64_t done;		  /* trees */
	bool *compared;		  /* which options of the slot in hand */
	float *price;		  /* of a slot */
	double *workspace, *logs; /* steps + 1 each */
	double worst, off, sum;
};

/* ---- single prices ---------------------------------------------------------------------- */

static struct binomial_case make_case(const struct audit *a, int64_t slot, int64_t i)
{
	struct binomial_input in =
		binomial_input((uint32_t)i, (uint32_t)slot, (uint64_t)a->o->seed);

	return (struct binomial_case){ in.S, in.X, in.T, a->o->rate, a->o->volatility };
}

static void compare_price(struct audit *a, int64_t slot, int64_t i, double want)
{
	double error = fabs(a->price[i] - want);

	a->off += error;
	a->sum += want;
	a->v->compared += !a->compared[i];
	a->compared[i] = true;
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
	struct binomial_case c = make_case(a, slot, i);

	compare_price(a, slot, i, binomial_tree(&c, a->o->steps, a->workspace));
}

static void compare_sum(struct audit *a, int64_t slot, int64_t i)
{
	struct binomial_case c = make_case(a, slot, i);

	compare_price(a, slot, i, binomial_sum(&c, a->o->steps, a->logs));
}

/* ---- slots ------------------------------------------------------------------------------ */

/* Compares options of the slot with their trees; it is the n-th slot that has answers. */
static int compare_trees(struct audit *a, int64_t slot, int64_t n)
{
	int64_t before = n * a->o->options;

	for (; a->done < a->trees.count; a->done++) {
		int64_t i = pieces_at(&a->trees, a->done) - before;

		if (i >= a->o->options)
			break;
		if (interrupted())
			return -EINTR;
		if (i >= 0) /* else of a slot that was left out */
			compare_tree(a, slot, i);
	}
	return 0;
}

static int compare_sums(struct audit *a, int64_t slot)
{
	double each = (double)(a->o->steps + 1) * (double)(a->v->total / a->o->options);
	struct pieces s = pieces_of(a->o->options, 1, (int64_t)(leaves_in_time / each), a->v->seed,
				    (uint32_t)slot, SAMPLE_SUMS);

	for (int64_t i = 0; i < s.count; i++) {
		if (interrupted())
			return -EINTR;
		compare_sum(a, slot, pieces_at(&s, i));
	}
	return 0;
}

/* Where all options have their trees, sums add nothing. */
static int compare_options(struct audit *a, int64_t slot, int64_t n)
{
	int err;

	memset(a->compared, 0, (size_t)a->o->options * sizeof(*a->compared));
	err = compare_trees(a, slot, n);
	return err || a->trees.all ? err : compare_sums(a, slot);
}

static int check_slot(struct audit *a, int64_t slot, int64_t n)
{
	int64_t before = a->found.flaws;

	dataset_fetch(a->set, 0, slot, 0, a->o->options, a->price);
	for (int64_t i = 0; i < a->o->options; i++)
		if (isnan(a->price[i]))
			dataset_flaw(&a->found, a->set, "no price", slot, i);
	return a->found.flaws == before ? compare_options(a, slot, n) : 0;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static double total_error(const struct audit *a)
{
	int form = a->o->form;
	double sum = allowed_sum[form] + allowed_step[form] * (double)a->o->steps;
	double error = a->worst / allowed_price[form];

	if (a->v->compared >= SUM_LEAST)
		error = fmax(error, a->off / a->sum / sum);
	return error + each_flaw * (double)a->found.flaws;
}

static int64_t trees_in_time(const struct audit *a)
{
	double leaves = (double)a->o->steps + 1;

	return (int64_t)(nodes_in_time / (leaves * (leaves / 2 + leaf_nodes)));
}

static int check_all_slots(struct audit *a)
{
	struct verdict *v = a->v;
	int64_t n = 0;
	int err = 0;

	v->measure = "largest of the errors, in units of what each may be; 1000 more for each "
		     "value that is not what steps leave";
	v->total = a->o->options * __builtin_popcountll(a->found.answers);
	v->compared = 0;
	v->tolerance = 1;
	a->trees = pieces_of(v->total, 1, v->full ? v->total : trees_in_time(a), v->seed, 0,
			     SAMPLE_TREES);
	for (int64_t slot = 0; slot < a->o->set.slots && !err; slot++)
		if (a->found.answers >> slot & 1)
			err = check_slot(a, slot, n++);
	v->error = total_error(a);
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
	const struct dataset_extent extent = { steps, v->graph_steps, v->full, v->seed };
	int err = dataset_audit(&s->set, &binomial_work, opts, state, &extent, &a.found);

	a.price = malloc((size_t)a.o->options * sizeof(*a.price));
	a.compared = malloc((size_t)a.o->options * sizeof(*a.compared));
	a.workspace = malloc(2 * leaves * sizeof(*a.workspace));
	CHECK(a.price && a.compared && a.workspace, "memory of %ld prices", (long)a.o->options);
	a.logs = a.workspace + leaves;
	binomial_logs(a.o->steps, a.logs);
	if (!err)
		err = check_all_slots(&a);
	free(a.price);
	free(a.compared);
	free(a.workspace);
	return err;
}
