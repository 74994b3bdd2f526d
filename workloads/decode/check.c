/*
 * check.c - are the tokens those of the model, all of them, and is nothing lost on the way?
 *
 * One sequence of the batch (all with --check full) is computed again in double from the rounded
 * weights, each step from the token that the device had chosen before, with a
 * cache of its own. Every launch serves all sequences, so what is lost or done twice shows there.
 * Compared are each step's token and logit, the last step's logits, and each row of the cache that
 * is still there. Of up to 15 others, with the first and the last among them, one step each is
 * computed, from the device's own rows before it.
 *
 * Where all steps since the reset would take seconds, three stretches of them are computed: the
 * first steps, a lap's first steps, and the last ones, these from the device's own rows before
 * them.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "workloads/decode/check.h"

enum {
	COLUMNS = 64, /* steps that are computed together */
	OTHERS = 15,  /* sequences of which one step is */
	THREADS_MAX = 64,
	STRETCHES = 3,
	STRETCH_LEAST = 16, /* steps */
};

/*
 * Deviations, as verdict.measure says. fp32: sums of up to 14,336 products, more than an order of
 * magnitude above what was seen. bf16: keys and values are rounded in the reference too, but a sum
 * near the middle between two numbers of 8 bits may fall to either side, and what follows then
 * differs by parts of 2^-8. launches=many besides rounds what products read, by 2^-9 / sqrt(3)
 * each, four times a layer, and so do products on tensor cores: up to 0.07 was seen, of a million
 * numbers in 16 layers, and 0.16 in the small golden checkpoints.
 */
static double tolerance(const struct decode_opts *o, const struct decode_state *s)
{
	if (o->precision == DECODE_FP32)
		return 1e-4;
	return o->launches == DECODE_FEW && !s->device.tensor ? 2e-2 : 0.2;
}

/*
 * The tolerance is for the largest of many differences. A step's own logit is one of a few, and the
 * root mean square of all is a fourth or less of the largest: they count so often.
 */
static const double choice_counts = 2.5, rms_counts = 5;

static const double each_flaw = 1000; /* added to the error for what is not as it must be */
double decode_audit_flops_each = 1.5e10;
static const double caches_most = 2e9; /* bytes of other sequences' caches at a time */

void *decode_audit_allocate(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	CHECK(p, "%zu times %zu bytes", n, size);
	return p;
}

void decode_audit_fetch(void *to, const void *from, size_t bytes)
{
	CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

/* ---- what is found --------------------------------------------------------------------------- */

void decode_audit_flaw(struct audit *a, const char *format, ...)
{
	va_list args;

	if (a->flaws++)
		return;
	va_start(args, format);
	vsnprintf(a->v->worst, sizeof(a->v->worst), format, args);
	va_end(args);
}

bool decode_audit_is_worst(struct audit *a, double error)
{
	if (error <= a->worst || a->flaws)
		return false;
	a->worst = error == error ? error : HUGE_VAL;
	return true;
}

size_t decode_audit_note(const struct audit *a, uint32_t sequence, int64_t step)
{
	return (size_t)(step % a->s->shape.history) * a->s->shape.batch + sequence;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- tokens and logits ----------------------------------------------------------------------- */

static double deviation(const double *x, uint32_t n)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += x[i];
	for (uint32_t i = 0; i < n; i++)
		squares += (x[i] - sum / n) * (x[i] - sum / n);
	return sqrt(squares / n);
}

/* The chosen logit must be the reference's, and that one nearly its largest. */
static void compare_choice(struct audit *a, uint32_t sequence, int64_t step, const double *logits)
{
	const uint32_t vocab = a->s->shape.model.vocab;
	size_t at = decode_audit_note(a, sequence, step);
	uint32_t token = a->token[at];
	double sd = deviation(logits, vocab), largest = logits[0], error;

	a->v->compared++;
	if (token >= vocab) {
		decode_audit_flaw(a, "sequence %u, step %ld: no token was noted", sequence,
				  (long)step);
		return;
	}
	for (uint32_t i = 1; i < vocab; i++)
		largest = fmax(largest, logits[i]);
	error = fmax(fabs((double)a->logit[at] - logits[token]), largest - logits[token]) / sd;
	if ((double)a->logit[at] != (double)a->logit[at])
		error = NAN;
	if (decode_audit_is_worst(a, choice_counts * error))
		snprintf(a->v->worst, sizeof(a->v->worst),
			 "sequence %u, step %ld, token %u: logit %.6g instead of %.6g", sequence,
			 (long)step, token, (double)a->logit[at], logits[token]);
}

/* Every logit of the last step. */
static void compare_logits(struct audit *a, uint32_t sequence, const double *logits)
{
	const uint32_t vocab = a->s->shape.model.vocab;
	double sd = deviation(logits, vocab), squares = 0, rms;

	decode_audit_fetch(a->last, a->s->device.logits + (size_t)sequence * vocab,
			   vocab * sizeof(*a->last));
	for (uint32_t i = 0; i < vocab; i++)
		squares += ((double)a->last[i] - logits[i]) * ((double)a->last[i] - logits[i]);
	rms = sqrt(squares / vocab) / sd;
	if (decode_audit_is_worst(a, rms_counts * rms))
		snprintf(a->v->worst, sizeof(a->v->worst),
			 "sequence %u, last step: logits are off by %.3g deviations, root mean "
			 "square",
			 sequence, rms);
	for (uint32_t i = 0; i < vocab; i++)
		if (decode_audit_is_worst(a, fabs((double)a->last[i] - logits[i]) / sd))
			snprintf(a->v->worst, sizeof(a->v->worst),
				 "sequence %u, last step: logit %u is %.6g instead of %.6g",
				 sequence, i, (double)a->last[i], logits[i]);
}

/* What the last step noted must be the largest of its logits, whoever computed these. */
static void check_last(struct audit *a, uint32_t sequence)
{
	const uint32_t vocab = a->s->shape.model.vocab;
	size_t at = decode_audit_note(a, sequence, a->steps - 1);
	uint32_t best = 0;

	decode_audit_fetch(a->last, a->s->device.logits + (size_t)sequence * vocab,
			   vocab * sizeof(*a->last));
	for (uint32_t i = 1; i < vocab; i++)
		if (a->last[i] > a->last[best])
			best = i;
	if (a->token[at] != best || a->logit[at] != a->last[best])
		decode_audit_flaw(a,
				  "sequence %u, last step: token %u, but logit %u is the largest",
				  sequence, a->token[at], best);
}

/* ---- a whole sequence ------------------------------------------------------------------------ */

/* What a step takes. */
static uint32_t input_of(const struct audit *a, uint32_t sequence, int64_t step)
{
	uint32_t token;

	if (!step)
		return decode_first_token(a->o, &a->s->shape, sequence);
	token = a->token[decode_audit_note(a, sequence, step - 1)];
	return token < a->s->shape.model.vocab ? token : 0; /* which is a flaw already */
}

/* The whole prompt: the first step's row stays for all laps. */
static int take_prompt(struct audit *a, uint32_t sequence, struct reference_cache *c)
{
	const struct decode_shape *shape = &a->s->shape;
	struct reference_column column[COLUMNS];
	uint32_t n;

	for (uint32_t p = 0; p < shape->prompts; p += n) {
		int err;

		for (n = 0; n < COLUMNS && p + n < shape->prompts; n++) {
			uint32_t at = p + n, token = shape->prompt[at];

			if (at == shape->start)
				token = decode_first_token(a->o, shape, sequence);
			column[n] = (struct reference_column){ token, at, c, false };
		}
		err = decode_reference_step(&a->reference, column, n, NULL);
		if (err)
			return err;
	}
	return 0;
}

/* Steps from `step` on, before `end`, that follow each other in the cache. */
static uint32_t take_columns(const struct audit *a, uint32_t sequence, int64_t step, int64_t end,
			     struct reference_cache *c, struct reference_column *column)
{
	uint32_t n = 0, before = 0;

	while (n < COLUMNS && step + n < end) {
		uint32_t position = decode_position(&a->s->shape, step + n);

		if (n && position <= before)
			break;
		column[n] = (struct reference_column){ input_of(a, sequence, step + n), position, c,
						       true };
		before = position;
		n++;
	}
	return n;
}

/* Was it the last step that has written its row? */
static bool is_last_writer(const struct audit *a, int64_t step, uint32_t position)
{
	const struct decode_shape *s = &a->s->shape;

	return position < s->lap || step + s->positions - s->lap >= a->steps;
}

static int compute_steps(struct audit *a, uint32_t sequence, int64_t step, int64_t end,
			 struct reference_cache *c)
{
	const uint32_t vocab = a->s->shape.model.vocab;
	struct reference_column column[COLUMNS];
	uint32_t n;

	for (; step < end; step += n) {
		int err;

		n = take_columns(a, sequence, step, end, c, column);
		err = decode_reference_step(&a->reference, column, n, a->logits);
		if (err)
			return err;
		for (uint32_t i = 0; i < n; i++) {
			compare_choice(a, sequence, step + i, a->logits + (size_t)i * vocab);
			if (is_last_writer(a, step + i, column[i].position))
				a->fresh[column[i].position] = true;
		}
		if (step + n == a->steps)
			compare_logits(a, sequence, a->logits + (size_t)(n - 1) * vocab);
	}
	return 0;
}

/* Where the lap of this step begins. */
static int64_t lap_of(const struct audit *a, int64_t step)
{
	const struct decode_shape *s = &a->s->shape;

	if (step < s->positions - s->start)
		return 0;
	return step - (decode_position(s, step) - s->lap);
}

/* Steps of a stretch; the token before them is noted too. */
static int64_t stretch_steps(const struct audit *a)
{
	double all = decode_audit_flops_each * a->reference.threads;
	double n = all / (2.0 * (double)decode_parameters(&a->s->shape.model)) / STRETCHES;

	n = n < STRETCH_LEAST ? STRETCH_LEAST : n > 1e6 ? 1e6 : n;
	return least((int64_t)n, (int64_t)a->s->shape.history - 1);
}

/* A lap between the first steps and the last ones, all of it noted; or 0, the first one. */
static int64_t draw_lap(const struct audit *a, int64_t n)
{
	struct philox r = philox4x32(0, 3, DECODE_SAMPLE_TAG, 0, a->v->seed);
	int64_t room = a->steps - a->noted - n, step;

	if (room <= 0)
		return 0;
	step = lap_of(
		a, a->noted + (int64_t)(((uint64_t)r.word[0] << 32 | r.word[1]) % (uint64_t)room));
	return step > a->noted ? step : 0;
}

/* The last steps: from the beginning of their lap, or from rows of the device's own. */
static int compute_last(struct audit *a, uint32_t sequence, int64_t n, struct reference_cache *c)
{
	int64_t lap = lap_of(a, a->steps - 1), step = a->steps - n;
	uint32_t position = decode_position(&a->s->shape, step), from = 0;

	if (step <= lap)
		return compute_steps(a, sequence, lap, a->steps, c);
	while (from < position && a->fresh[from])
		from++;
	for (uint32_t p = from; p < position; p++)
		a->fresh[p] = false; /* there is nothing to compare the device's own with */
	if (from < position)
		decode_audit_fetch_cache(a, sequence, from, position, c);
	return compute_steps(a, sequence, step, a->steps, c);
}

static int compute_stretches(struct audit *a, uint32_t sequence, struct reference_cache *c)
{
	int64_t n = stretch_steps(a), lap;
	int err;

	if (!a->noted && (a->v->full || a->steps <= STRETCHES * n))
		return compute_steps(a, sequence, 0, a->steps, c);
	lap = draw_lap(a, n);
	err = a->noted ? 0 : compute_steps(a, sequence, 0, least(n, a->steps), c);
	if (!err && lap)
		err = compute_steps(a, sequence, lap, least(lap + n, a->steps), c);
	return err ? err : compute_last(a, sequence, n, c);
}

static int check_sequence(struct audit *a, uint32_t sequence)
{
	const struct decode_shape *shape = &a->s->shape;
	struct reference_cache want = decode_reference_cache_new(&shape->model, shape->positions);
	int err = shape->prompts ? take_prompt(a, sequence, &want)
				 : decode_audit_generate_cache(a, sequence, &want);

	for (uint32_t p = 0; p < shape->positions; p++)
		a->fresh[p] = p < shape->lap;
	if (!err)
		err = compute_stretches(a, sequence, &want);
	if (!err)
		decode_audit_compare_cache(a, sequence, 0, shape->positions, &want, a->fresh);
	decode_reference_cache_free(&want);
	return err;
}

/* ---- one step of other sequences ------------------------------------------------------------- */

/* One of the last lap, whose rows before it are there; and the token before it is noted. */
static int64_t draw_step(const struct audit *a, uint32_t sequence)
{
	const struct decode_shape *s = &a->s->shape;
	struct philox r = philox4x32(sequence, 1, DECODE_SAMPLE_TAG, 0, a->v->seed);
	int64_t lap = a->steps - lap_of(a, a->steps - 1);

	if (a->noted)
		lap = least(lap, (int64_t)s->history - 1);
	return a->steps - 1 - r.word[0] % lap;
}

struct other {
	uint32_t sequence;
	int64_t step;
	struct reference_cache want;
};

static struct reference_column begin_other(const struct audit *a, struct other *o)
{
	const struct decode_shape *shape = &a->s->shape;
	uint32_t position = decode_position(shape, o->step);

	o->want = decode_reference_cache_new(&shape->model, position + 1);
	decode_audit_fetch_cache(a, o->sequence, 0, position, &o->want);
	return (struct reference_column){ input_of(a, o->sequence, o->step), position, &o->want,
					  true };
}

/* So many at a time go through the model together. */
static int check_others(struct audit *a, struct other *o, uint32_t n)
{
	const uint32_t vocab = a->s->shape.model.vocab;
	struct reference_column column[OTHERS];
	int err;

	for (uint32_t i = 0; i < n; i++)
		column[i] = begin_other(a, &o[i]);
	err = decode_reference_step(&a->reference, column, n, a->logits);
	for (uint32_t i = 0; i < n; i++) {
		if (!err)
			compare_choice(a, o[i].sequence, o[i].step, a->logits + (size_t)i * vocab);
		if (!err)
			decode_audit_compare_cache(a, o[i].sequence, column[i].position,
						   column[i].position + 1, &o[i].want, NULL);
		decode_reference_cache_free(&o[i].want);
	}
	return err;
}

/* Spread from the first sequence to the last, without the one that is computed as a whole. */
static uint32_t draw_others(const struct audit *a, uint32_t whole, struct other o[OTHERS])
{
	const uint32_t batch = a->s->shape.batch, most = batch < OTHERS ? batch : OTHERS;
	uint32_t n = 0;

	for (uint32_t i = 0; i < most; i++) {
		uint32_t b = most < 2 ? 0 : (uint32_t)((uint64_t)i * (batch - 1) / (most - 1));

		if (b != whole)
			o[n++] = (struct other){ .sequence = b, .step = draw_step(a, b) };
	}
	return n;
}

/* Others whose caches fit into memory together; at least one. */
static uint32_t others_together(const struct audit *a)
{
	const struct decode_model *m = &a->s->shape.model;
	double each = 2.0 * sizeof(double) * m->layers * m->kv_heads * m->head_dim *
		      a->s->shape.positions;
	double n = caches_most / each;

	return n < 1 ? 1 : n > OTHERS ? OTHERS : (uint32_t)n;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Whoever may run on as many processors as that shares the rows among them. */
static int count_threads(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return n < THREADS_MAX ? n : THREADS_MAX;
}

static int device_rows(void *from, const struct decode_tensor *t, uint32_t row, uint32_t rows,
		       void *out)
{
	const struct decode_state *s = from;
	size_t bytes = (size_t)decode_bytes(s), at = t->at + (size_t)row * t->stride;

	decode_audit_fetch(out, (const char *)s->arena + at * bytes,
			   (size_t)rows * t->stride * bytes);
	return 0;
}

static int check_sequences(struct audit *a)
{
	const uint32_t batch = a->s->shape.batch, whole = (uint32_t)(a->v->seed % batch);
	struct other other[OTHERS];
	uint32_t n, each = others_together(a);
	int err = 0;

	if (a->v->full) {
		for (uint32_t b = 0; b < batch && !err; b++)
			err = check_sequence(a, b);
		return err;
	}
	err = check_sequence(a, whole);
	n = draw_others(a, whole, other);
	for (uint32_t i = 0; i < n && !err; i += each)
		err = check_others(a, other + i, n - i < each ? n - i : each);
	return err;
}

static void fetch_notes(struct audit *a)
{
	const int64_t history = a->s->shape.history;
	size_t n = (size_t)least(a->steps, history) * a->s->shape.batch;

	a->noted = a->steps > history ? a->steps - history : 0;
	a->token = decode_audit_allocate(n, sizeof(*a->token));
	a->logit = decode_audit_allocate(n, sizeof(*a->logit));
	decode_audit_fetch(a->token, a->s->device.history_token, n * sizeof(*a->token));
	decode_audit_fetch(a->logit, a->s->device.history_logit, n * sizeof(*a->logit));
}

static void set_verdict(struct audit *a)
{
	struct verdict *v = a->v;

	v->measure = "largest difference of a logit in deviations of its step's, or of a key or "
		     "value in those of its row; 2.5 times that of a chosen logit, 5 times the "
		     "root mean square";
	v->total = a->steps * a->s->shape.batch;
	v->tolerance = tolerance(a->o, a->s);
	v->error = a->worst + each_flaw * (double)a->flaws;
	v->passed = v->error <= v->tolerance;
}

int decode_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct decode_state *s = state;
	struct audit a = {
		.o = opts,
		.s = s,
		.v = v,
		.steps = steps,
		.reference = { &s->shape.model, decode_bytes(s), device_rows, state, s->half,
			       count_threads() },
	};
	int err;

	CHECK(steps > 0, "%ld steps", (long)steps);
	v->compared = 0;
	fetch_notes(&a);
	a.logits = decode_audit_allocate((size_t)COLUMNS * s->shape.model.vocab, sizeof(*a.logits));
	a.last = decode_audit_allocate(s->shape.model.vocab, sizeof(*a.last));
	a.fresh = decode_audit_allocate(s->shape.positions, sizeof(*a.fresh));
	decode_audit_progress(&a);
	decode_audit_host(&a);
	for (uint32_t b = 0; b < s->shape.batch; b++)
		check_last(&a, b);
	err = decode_audit_weights(&a);
	if (!err)
		err = check_sequences(&a);
	set_verdict(&a);
	free(a.token);
	free(a.logit);
	free(a.logits);
	free(a.last);
	free(a.fresh);
	return err;
}
