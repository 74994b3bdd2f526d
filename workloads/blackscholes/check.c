/*
 * check.c - are the prices right, all of them there, and nothing written besides?
 *
 * Prices are compared with the formula in double on options made anew: all, or a seeded sample
 * and the ends of every piece of 2^18, which are borders of blocks. Bytes that are no prices, and
 * copies, are looked at by dataset_audit().
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "workloads/blackscholes/blackscholes.h"
#include "workloads/blackscholes/inputs.h"
#include "workloads/blackscholes/reference.h"
#include "workloads/workload.h"

enum {
	PIECE = DATASET_PIECE,
	SAMPLE = 1 << 20, /* options compared where there are more */
	SUM_LEAST = 1024, /* of fewer no sums are judged: one option may be worth nothing */
	SAMPLE_TAG = 31,
	OUTPUTS = BLACKSCHOLES_OUTPUTS,
};

/*
 * Absolute errors; those of sums relative to sums. In plain float a price of S, X up to 100 is off
 * by up to 1.6e-5, sums by 1.7e-7, and the polynomial adds 1e-5.
 */
static const double allowed_price = 1e-4, allowed_sum = 1e-6, allowed_exact = 1.1e-4;
static const double each_flaw = 1000; /* added to the error for what is not as it must be */

static const char *const outputs[OUTPUTS] = { "call", "put" };

struct audit {
	const struct blackscholes_opts *o;
	const struct dataset *set;
	struct verdict *v;
	struct dataset_audit found;
	float *piece[OUTPUTS]; /* PIECE floats of each output */
	double price, parity, exact;
	double off[OUTPUTS], sum[OUTPUTS]; /* sums of errors and of prices */
};

/* ---- prices ----------------------------------------------------------------------------- */

static void note_price(struct audit *a, double error, int k, int64_t slot, int64_t i)
{
	a->off[k] += error;
	if (error <= a->price)
		return;
	a->price = error;
	if (!a->found.flaws)
		snprintf(a->v->worst, sizeof(a->v->worst),
			 "%s of option %ld, slot %ld: off by %.3g", outputs[k], (long)i, (long)slot,
			 error);
}

static void compare_option(struct audit *a, int64_t slot, int64_t i, double call, double put)
{
	const struct blackscholes_opts *o = a->o;
	struct blackscholes_option x =
		blackscholes_option((uint32_t)i, (uint32_t)slot, (uint64_t)o->seed);
	bool exact = o->cnd == BLACKSCHOLES_EXACT;
	struct blackscholes_prices want =
		blackscholes_reference(x.S, x.X, x.T, o->rate, o->volatility, exact);
	struct blackscholes_prices truth =
		exact ? want : blackscholes_reference(x.S, x.X, x.T, o->rate, o->volatility, true);

	note_price(a, fabs(call - want.call), 0, slot, i);
	note_price(a, fabs(put - want.put), 1, slot, i);
	a->sum[0] += fabs(want.call);
	a->sum[1] += fabs(want.put);
	a->parity = fmax(a->parity, fabs(call - put - blackscholes_parity(x.S, x.X, x.T, o->rate)));
	a->exact = fmax(a->exact, fmax(fabs(call - truth.call), fabs(put - truth.put)));
	a->v->compared++;
}

/* Compares all or a sample of n options from `at` on. */
static void compare_sample(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	bool all = a->v->full || a->v->total <= SAMPLE;
	int64_t some = all ? n : (int64_t)((double)SAMPLE * (double)n / (double)a->v->total);

	for (int64_t j = 0; j < some; j++) {
		struct philox r = philox4x32((uint32_t)j, (uint32_t)slot, SAMPLE_TAG,
					     (uint32_t)(at / PIECE), a->v->seed);
		int64_t i = all ? j : r.word[0] % n;

		compare_option(a, slot, at + i, a->piece[0][i], a->piece[1][i]);
	}
	if (all)
		return;
	compare_option(a, slot, at, a->piece[0][0], a->piece[1][0]);
	compare_option(a, slot, at + n - 1, a->piece[0][n - 1], a->piece[1][n - 1]);
}

/* Checks the n prices from `at` on, which have been fetched. */
static void check_piece(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	int64_t before = a->found.flaws;

	for (int k = 0; k < OUTPUTS; k++)
		for (int64_t i = 0; i < n; i++)
			if (isnan(a->piece[k][i]))
				dataset_flaw(&a->found, a->set, "no price", slot, at + i);
	if (a->found.flaws == before)
		compare_sample(a, slot, at, n);
}

static int check_slot(struct audit *a, int64_t slot)
{
	for (int64_t at = 0; at < a->o->options; at += PIECE) {
		int64_t n = a->o->options - at < PIECE ? a->o->options - at : PIECE;

		if (interrupted())
			return -EINTR;
		for (int k = 0; k < OUTPUTS; k++)
			dataset_fetch(a->set, k, slot, at, n, a->piece[k]);
		check_piece(a, slot, at, n);
	}
	return 0;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static double worst_error(const struct audit *a)
{
	double worst = fmax(a->price, a->parity) / allowed_price;

	worst = fmax(worst, a->exact / allowed_exact);
	for (int k = 0; k < OUTPUTS && a->v->compared >= SUM_LEAST; k++)
		worst = fmax(worst, a->off[k] / a->sum[k] / allowed_sum);
	return worst;
}

static int check_all_slots(struct audit *a)
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
			err = check_slot(a, slot);
	v->error = worst_error(a) + each_flaw * (double)a->found.flaws;
	v->passed = v->error <= v->tolerance;
	if (a->found.flaws)
		snprintf(v->worst, sizeof(v->worst), "%s", a->found.first);
	return err;
}

int blackscholes_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct blackscholes_state *s = state;
	struct audit a = { .o = opts, .set = &s->set, .v = v };
	const struct dataset_extent extent = { steps, v->graph_steps, v->full, v->seed };
	int err = dataset_audit(&s->set, &blackscholes_work, opts, state, &extent, &a.found);
	float *buffer = malloc(OUTPUTS * PIECE * sizeof(*buffer));

	CHECK(buffer, "%d floats", OUTPUTS * PIECE);
	for (int k = 0; k < OUTPUTS; k++)
		a.piece[k] = buffer + k * PIECE;
	if (!err)
		err = check_all_slots(&a);
	free(buffer);
	return err;
}
