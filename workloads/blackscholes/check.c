/*
 * check.c - are the prices right, all of them there, and nothing written besides?
 *
 * Prices are compared with the formula in double on options made anew: all, or a seeded sample
 * and the ends of every piece of 2^18, which are borders of blocks. All outputs are looked at for
 * what no step has written, and what no step may write for poison. Streamed prices are compared
 * byte by byte with those of another launch, which came back in a copy of another kind.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "workloads/blackscholes/blackscholes.h"
#include "workloads/blackscholes/inputs.h"
#include "workloads/blackscholes/reference.h"

enum {
	PIECE = 1 << 18,  /* options looked at in one go; whole blocks */
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
static const double each_missing = 1000; /* added to the error for what is not as it must be */

static const char *const outputs[OUTPUTS] = { "call", "put" };

struct audit {
	const struct blackscholes_opts *o;
	const struct blackscholes_state *s;
	struct verdict *v;
	float *piece[OUTPUTS]; /* room for PIECE floats of each output */
	float *again;	       /* and of one output that was computed again */
	double price, parity, exact;
	double off[OUTPUTS], sum[OUTPUTS]; /* sums of errors and of prices */
	uint64_t answers;		   /* a bit for each slot that has them */
	int64_t missing;
};

/* The first is told. */
static void missing(struct audit *a, const char *what, int64_t slot, int64_t i)
{
	if (!a->missing++)
		snprintf(a->v->worst, sizeof(a->v->worst), "%s, slot %ld, option %ld", what,
			 (long)slot, (long)i);
}

/* ---- prices ----------------------------------------------------------------------------- */

static void note_price(struct audit *a, double error, int k, int64_t slot, int64_t i)
{
	a->off[k] += error;
	if (error <= a->price)
		return;
	a->price = error;
	if (!a->missing)
		snprintf(a->v->worst, sizeof(a->v->worst),
			 "%s of option %ld, slot %ld: off by %.3g", outputs[k], (long)i, (long)slot,
			 error);
}

static void compare(struct audit *a, int64_t slot, int64_t i, double call, double put)
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

/* Of n options from `at` on. */
static void compare_some(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	bool all = a->v->full || a->v->total <= SAMPLE;
	int64_t some = all ? n : (int64_t)((double)SAMPLE * (double)n / (double)a->v->total);

	for (int64_t j = 0; j < some; j++) {
		struct philox r = philox4x32((uint32_t)j, (uint32_t)slot, SAMPLE_TAG,
					     (uint32_t)(at / PIECE), a->v->seed);
		int64_t i = all ? j : r.word[0] % n;

		compare(a, slot, at + i, a->piece[0][i], a->piece[1][i]);
	}
	if (all)
		return;
	compare(a, slot, at, a->piece[0][0], a->piece[1][0]);
	compare(a, slot, at + n - 1, a->piece[0][n - 1], a->piece[1][n - 1]);
}

/* ---- what is there and what is not ------------------------------------------------------ */

/* Streamed: the prices of a slot once more, from inputs that were not copied. */
static void price_again(const struct audit *a, int64_t slot)
{
	const struct blackscholes_opts *o = a->o;
	const struct blackscholes_arrays *d = &a->s->device;
	struct blackscholes_launch l = blackscholes_launch_of(o, a->s, 1);

	l.advance = 0;
	blackscholes_fill(d, o->options, (uint32_t)slot, (uint64_t)o->seed, 0);
	CUDA(cudaMemset(d->out[0], SLOTS_POISON_REAL, OUTPUTS * d->stride * sizeof(float)));
	blackscholes_price(&l, (enum blackscholes_cnd)o->cnd, (enum blackscholes_math)o->math, 0);
}

/* n floats of every output of a slot into a->piece. */
static void fetch(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	size_t bytes = (size_t)n * sizeof(float);

	for (int k = 0; k < OUTPUTS; k++) {
		const struct blackscholes_arrays *from =
			a->o->data == STREAMED_STREAMED ? &a->s->host : &a->s->device;
		const float *p = from->out[k] + slot * from->stride + at;

		if (a->o->data == STREAMED_STREAMED)
			memcpy(a->piece[k], p, bytes);
		else
			CUDA(cudaMemcpy(a->piece[k], p, bytes, cudaMemcpyDeviceToHost));
	}
}

/* a->piece[k] of n prices is what price_again() has left on the device. */
static void same_again(struct audit *a, int k, int64_t slot, int64_t at, int64_t n)
{
	int64_t i = 0;

	CUDA(cudaMemcpy(a->again, a->s->device.out[k] + at, (size_t)n * sizeof(float),
			cudaMemcpyDeviceToHost));
	if (!memcmp(a->again, a->piece[k], (size_t)n * sizeof(float)))
		return;
	while (!memcmp(a->again + i, a->piece[k] + i, sizeof(float)))
		i++;
	missing(a, "came back otherwise than it was computed", slot, at + i);
}

/* From piece[begin] to piece[end] nothing may be but poison. */
static void must_be_poison(struct audit *a, int64_t slot, int64_t at, int64_t begin, int64_t end)
{
	for (int k = 0; k < OUTPUTS; k++) {
		size_t bytes = (size_t)(end - begin) * sizeof(float);
		size_t ends = slots_poison_ends(a->piece[k] + begin, bytes, SLOTS_POISON_REAL);

		if (ends < bytes)
			missing(a, "written where nothing was to be", slot,
				at + begin + (int64_t)(ends / sizeof(float)));
	}
}

static void must_be_prices(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	int64_t before = a->missing;

	for (int k = 0; k < OUTPUTS; k++) {
		for (int64_t i = 0; i < n; i++)
			if (isnan(a->piece[k][i]))
				missing(a, "no price", slot, at + i);
		if (a->o->data == STREAMED_STREAMED)
			same_again(a, k, slot, at, n);
	}
	if (a->missing == before)
		compare_some(a, slot, at, n);
}

static bool holds_answers(struct audit *a, int64_t slot, int64_t steps)
{
	enum streamed_holds holds;

	if (a->o->data != STREAMED_STREAMED)
		return slot < slots_used(steps, a->o->slots);
	holds = streamed_turn_holds(&a->s->turn, steps, a->o->slots, slot);
	if (holds != STREAMED_EITHER)
		return holds == STREAMED_ANSWER;
	fetch(a, slot, 0, 1);
	return !isnan(a->piece[0][0]);
}

static int look_at(struct audit *a, int64_t slot)
{
	int64_t options = a->o->options, stride = a->s->device.stride;
	bool answers = a->answers >> slot & 1;

	if (answers && a->o->data == STREAMED_STREAMED)
		price_again(a, slot);
	for (int64_t at = 0; at < stride; at += PIECE) {
		int64_t n = stride - at < PIECE ? stride - at : PIECE, priced = 0;

		if (interrupted())
			return -EINTR;
		if (answers && options > at)
			priced = options - at < n ? options - at : n;
		fetch(a, slot, at, n);
		if (priced)
			must_be_prices(a, slot, at, priced);
		must_be_poison(a, slot, at, priced, n);
	}
	return 0;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static double worst_of(const struct audit *a)
{
	double worst = fmax(a->price, a->parity) / allowed_price;

	worst = fmax(worst, a->exact / allowed_exact);
	for (int k = 0; k < OUTPUTS && a->v->compared >= SUM_LEAST; k++)
		worst = fmax(worst, a->off[k] / a->sum[k] / allowed_sum);
	return worst;
}

static void count_steps(struct audit *a, int64_t steps)
{
	uint32_t counted = slots_counter_read(a->s->counter);

	if (counted == (uint64_t)steps)
		return;
	if (!a->missing++)
		snprintf(a->v->worst, sizeof(a->v->worst),
			 "%" PRIu32 " steps were counted, not %ld", counted, (long)steps);
}

static int audit(struct audit *a, int64_t steps)
{
	struct verdict *v = a->v;
	int err = 0;

	v->measure = "largest of the errors, in units of what each may be; 1000 more for each "
		     "value that is not what steps leave";
	v->total = v->compared = 0;
	v->tolerance = 1;
	for (int64_t slot = 0; slot < a->o->slots; slot++)
		if (holds_answers(a, slot, steps)) {
			a->answers |= 1ull << slot;
			v->total += a->o->options;
		}
	count_steps(a, steps);
	if (steps && !a->answers)
		missing(a, "no slot has prices", 0, 0);
	for (int64_t slot = 0; slot < a->o->slots && !err; slot++)
		err = look_at(a, slot);
	v->error = worst_of(a) + each_missing * (double)a->missing;
	v->passed = v->error <= v->tolerance;
	return err;
}

int blackscholes_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct audit a = { .o = opts, .s = state, .v = v };
	float *room = malloc((OUTPUTS + 1) * PIECE * sizeof(*room));
	int err;

	CHECK(room, "%d floats", (OUTPUTS + 1) * PIECE);
	for (int k = 0; k < OUTPUTS; k++)
		a.piece[k] = room + k * PIECE;
	a.again = room + OUTPUTS * PIECE;
	err = audit(&a, steps);
	free(room);
	return err;
}
