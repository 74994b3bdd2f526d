/*
 * check.c - are the tokens those of the model, all of them, and is nothing lost on the way?
 *
 * One sequence of the batch, drawn by the seed (all with --check full), is computed again in double
 * from the rounded weights, each step from the token that the device had chosen before, with a
 * cache of its own. Every launch serves all sequences, so what is lost or done twice shows there.
 * Compared are each step's token and logit, the last step's logits, and each row of the cache that
 * is still there. Of some other sequences one step each is computed, from the device's own rows
 * before it.
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
#include "common/interrupt.h"
#include "workloads/decode/decode.h"
#include "workloads/decode/reference.h"

enum {
	COLUMNS = 64, /* steps that are computed together */
	OTHERS = 3,   /* sequences of which one step is */
	THREADS_MAX = 64,
	STRETCHES = 3,
	STRETCH_LEAST = 16, /* steps */
	SAMPLE_TAG = 41,
};

/*
 * Deviations, as verdict.measure says. fp32: sums of up to 14,336 products, more than an order of
 * magnitude above what was seen. bf16: keys and values are rounded in the reference too, but a sum
 * near the middle between two numbers of 8 bits may fall to either side, and what follows then
 * differs by parts of 2^-8. launches=many besides rounds what products read, by 2^-9 / sqrt(3)
 * each, four times a layer: up to 0.07 was seen, of a million numbers in 16 layers. A launch that
 * is lost makes 0.9 or more.
 */
static double tolerance(const struct decode_opts *o)
{
	if (o->precision == DECODE_FP32)
		return 1e-4;
	return o->launches == DECODE_FEW ? 2e-2 : 0.2;
}

static const double each_flaw = 1000;	 /* added to the error for what is not as it must be */
static const double flops_each = 1.5e10; /* of a thread: a second or several */

struct audit {
	const struct decode_opts *o;
	const struct decode_state *s;
	struct verdict *v;
	int64_t steps, noted; /* since the reset; the first one that the device has notes of */
	struct reference reference;
	uint32_t *token; /* [history][batch]: chosen by the device, step by step, round and round */
	float *logit;
	bool *fresh;	/* [positions]: the reference has what the device's row should have */
	double *logits; /* [COLUMNS][vocab], of the reference */
	float *last;	/* [vocab], of the device: one sequence's last step */
	double worst;
	int64_t flaws;
};

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	CHECK(p, "%zu times %zu bytes", n, size);
	return p;
}

static void fetch(void *to, const void *from, size_t bytes)
{
	CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

/* ---- what is found
 * ------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void flaw(struct audit *a, const char *format, ...)
{
	va_list args;

	if (a->flaws++)
		return;
	va_start(args, format);
	vsnprintf(a->v->worst, sizeof(a->v->worst), format, args);
	va_end(args);
}

/* An error that is no number counts as the worst. */
static bool is_worst(struct audit *a, double error)
{
	if (error <= a->worst || a->flaws)
		return false;
	a->worst = error == error ? error : HUGE_VAL;
	return true;
}

/* Where the notes of a step are. */
static size_t note_of(const struct audit *a, uint32_t sequence, int64_t step)
{
	return (size_t)(step % a->s->shape.history) * a->s->shape.batch + sequence;
}

/* ---- tokens and logits
 * --------------------------------------------------------------------------- */

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
	size_t at = note_of(a, sequence, step);
	uint32_t token = a->token[at];
	double sd = deviation(logits, vocab), largest = logits[0], error;

	a->v->compared++;
	if (token >= vocab) {
		flaw(a, "sequence %u, step %ld: no token was noted", sequence, (long)step);
		return;
	}
	for (uint32_t i = 1; i < vocab; i++)
		largest = fmax(largest, logits[i]);
	error = fmax(fabs((double)a->logit[at] - logits[token]), largest - logits[token]) / sd;
	if ((double)a->logit[at] != (double)a->logit[at])
		error = NAN;
	if (is_worst(a, error))
		snprintf(a->v->worst, sizeof(a->v->worst),
			 "sequence %u, step %ld, token %u: logit %.6g instead of %.6g", sequence,
			 (long)step, token, (double)a->logit[at], logits[token]);
}

/* Every logit of the last step. */
static void compare_logits(struct audit *a, uint32_t sequence, const double *logits)
{
	const uint32_t vocab = a->s->shape.model.vocab;
	double sd = deviation(logits, vocab);

	fetch(a->last, a->s->device.logits + (size_t)sequence * vocab, vocab * sizeof(*a->last));
	for (uint32_t i = 0; i < vocab; i++)
		if (is_worst(a, fabs((double)a->last[i] - logits[i]) / sd))
			snprintf(a->v->worst, sizeof(a->v->worst),
				 "sequence %u, last step: logit %u is %.6g instead of %.6g",
				 sequence, i, (double)a->last[i], logits[i]);
}

/* What the last step noted must be the largest of its logits, whoever computed these. */
static void check_last(struct audit *a, uint32_t sequence)
{
	const uint32_t vocab = a->s->shape.model.vocab;
	size_t at = note_of(a, sequence, a->steps - 1);
	uint32_t best = 0;

	fetch(a->last, a->s->device.logits + (size_t)sequence * vocab, vocab * sizeof(*a->last));
	for (uint32_t i = 1; i < vocab; i++)
		if (a->last[i] > a->last[best])
			best = i;
	if (a->token[at] != best || a->logit[at] != a->last[best])
		flaw(a, "sequence %u, last step: token %u, but logit %u is the largest", sequence,
		     a->token[at], best);
}

/* ---- the cache
 * ------------------------------------------------------------------------------------ */

/* A row of the device's cache, in double. */
static void fetch_row(const struct audit *a, const void *cache, uint32_t layer, uint32_t sequence,
		      uint32_t head, uint32_t position, uint32_t positions, double *out,
		      uint32_t out_stride)
{
	const struct decode_device *d = &a->s->device;
	size_t row = (((size_t)layer * d->batch + sequence) * d->kv_heads + head) * d->positions +
		     position;
	size_t bytes = (size_t)decode_bytes(a->s), n = (size_t)positions * d->head_stride;
	void *raw = allocate(n, bytes);

	fetch(raw, (const char *)cache + row * d->head_stride * bytes, n * bytes);
	for (uint32_t p = 0; p < positions; p++)
		for (uint32_t i = 0; i < d->head_dim; i++) {
			size_t at = (size_t)p * d->head_stride + i;

			out[(size_t)p * out_stride + i] =
				a->s->half ? (double)decode_widen(((struct decode_bf16 *)raw)[at])
					   : (double)((float *)raw)[at];
		}
	free(raw);
}

/* The device's rows of all heads below `positions`, into a cache of the reference's form. */
static void fetch_cache(const struct audit *a, uint32_t sequence, uint32_t positions,
			struct reference_cache *out)
{
	const struct decode_model *m = &a->s->shape.model;
	uint32_t width = m->kv_heads * m->head_dim;

	for (uint32_t layer = 0; layer < m->layers; layer++)
		for (uint32_t head = 0; head < m->kv_heads; head++) {
			size_t at = (size_t)layer * out->positions * width + head * m->head_dim;

			fetch_row(a, a->s->key, layer, sequence, head, 0, positions, out->key + at,
				  width);
			fetch_row(a, a->s->value, layer, sequence, head, 0, positions,
				  out->value + at, width);
		}
}

/* Rows that some step, or what came before, has written. */
static uint32_t rows_there(const struct audit *a)
{
	const struct decode_shape *s = &a->s->shape;
	int64_t rows = s->start + a->steps;

	return rows < s->positions ? (uint32_t)rows : s->positions;
}

/* Beyond one unit in the last place of bfloat16: near the middle between two both may be right. */
static double stored_difference(const struct audit *a, double got, double want)
{
	double off = fabs(got - want), unit = ldexp(1, ilogb(fmax(fabs(want), 0x1p-100)) - 7);

	if (!a->s->half || !(off <= 1.5 * unit))
		return off;
	return 0;
}

static void compare_row(struct audit *a, const char *what, uint32_t layer, uint32_t sequence,
			uint32_t position, const double *got, const double *want)
{
	const struct decode_model *m = &a->s->shape.model;
	const uint32_t width = m->kv_heads * m->head_dim;
	double squares = 0;

	for (uint32_t i = 0; i < width; i++)
		squares += want[i] * want[i];
	for (uint32_t i = 0; i < width; i++)
		if (is_worst(a, stored_difference(a, got[i], want[i]) / sqrt(squares / width)))
			snprintf(a->v->worst, sizeof(a->v->worst),
				 "%s, sequence %u, layer %u, position %u: %.6g instead of %.6g",
				 what, sequence, layer, position, got[i], want[i]);
}

/* Rows that nothing has written yet are no numbers. */
static void check_unwritten(struct audit *a, const char *what, uint32_t layer, uint32_t sequence,
			    uint32_t position, const double *got)
{
	const struct decode_model *m = &a->s->shape.model;

	for (uint32_t i = 0; i < m->kv_heads * m->head_dim; i++)
		if (!isnan(got[i])) {
			flaw(a, "%s, sequence %u, layer %u, position %u: was written by no step",
			     what, sequence, layer, position);
			return;
		}
}

static void compare_rows(struct audit *a, uint32_t sequence, uint32_t position,
			 const struct reference_cache *got, const struct reference_cache *want)
{
	const struct decode_model *m = &a->s->shape.model;
	const bool there = position < rows_there(a);

	if (there && !a->fresh[position])
		return;
	for (uint32_t layer = 0; layer < m->layers; layer++) {
		size_t at = ((size_t)layer * got->positions + position) * m->kv_heads * m->head_dim;

		if (there) {
			compare_row(a, "key", layer, sequence, position, got->key + at,
				    want->key + at);
			compare_row(a, "value", layer, sequence, position, got->value + at,
				    want->value + at);
		} else {
			check_unwritten(a, "key", layer, sequence, position, got->key + at);
			check_unwritten(a, "value", layer, sequence, position, got->value + at);
		}
	}
}

/* ---- a whole sequence
 * ----------------------------------------------------------------------------- */

/* What a step takes. */
static uint32_t input_of(const struct audit *a, uint32_t sequence, int64_t step)
{
	uint32_t token;

	if (!step)
		return decode_first_token(a->o, &a->s->shape, sequence);
	token = a->token[note_of(a, sequence, step - 1)];
	return token < a->s->shape.model.vocab ? token : 0; /* which is a flaw already */
}

/* Keys and values of the positions before the first step, generated as on the device. */
static void generate_cache(const struct audit *a, uint32_t sequence, struct reference_cache *c)
{
	const struct decode_shape *shape = &a->s->shape;
	const struct decode_model *m = &shape->model;

	for (uint32_t layer = 0; layer < m->layers; layer++)
		for (uint32_t head = 0; head < m->kv_heads; head++)
			for (uint32_t i = 0; i < shape->start * m->head_dim; i++) {
				uint64_t row =
					((uint64_t)layer * shape->batch + sequence) * m->kv_heads +
					head;
				uint64_t n = row * shape->start * m->head_dim + i;
				size_t at = ((size_t)layer * c->positions + i / m->head_dim) *
						    m->kv_heads * m->head_dim +
					    head * m->head_dim + i % m->head_dim;
				float key = decode_bell(n, DECODE_TAG_KEY, 0, a->s->seed);
				float value = decode_bell(n, DECODE_TAG_VALUE, 0, a->s->seed);

				c->key[at] = a->s->half ? (double)decode_widen(decode_round(key))
							: (double)key;
				c->value[at] = a->s->half
						       ? (double)decode_widen(decode_round(value))
						       : (double)value;
			}
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
		err = reference_step(&a->reference, column, n, NULL);
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
		err = reference_step(&a->reference, column, n, a->logits);
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

/* Steps of a stretch. */
static int64_t stretch_steps(const struct audit *a)
{
	double all = flops_each * a->reference.threads;
	double n = all / (2.0 * (double)decode_parameters(&a->s->shape.model)) / STRETCHES;

	return n < STRETCH_LEAST ? STRETCH_LEAST : n > 1e6 ? 1000000 : (int64_t)n;
}

/* A lap between the first steps and the last ones, all of it noted; or 0, the first one. */
static int64_t draw_lap(const struct audit *a, int64_t n)
{
	struct philox r = philox4x32(0, 3, SAMPLE_TAG, 0, a->v->seed);
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

	if (step <= lap)
		return compute_steps(a, sequence, lap, a->steps, c);
	fetch_cache(a, sequence, decode_position(&a->s->shape, step), c);
	return compute_steps(a, sequence, step, a->steps, c);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
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
	struct reference_cache want = reference_cache_new(&shape->model, shape->positions);
	struct reference_cache got = reference_cache_new(&shape->model, shape->positions);
	int err;

	if (shape->prompts)
		err = take_prompt(a, sequence, &want);
	else
		err = (generate_cache(a, sequence, &want), 0);
	for (uint32_t p = 0; p < shape->positions; p++)
		a->fresh[p] = p < shape->lap;
	if (!err)
		err = compute_stretches(a, sequence, &want);
	if (!err) {
		fetch_cache(a, sequence, shape->positions, &got);
		for (uint32_t p = 0; p < shape->positions; p++)
			compare_rows(a, sequence, p, &got, &want);
	}
	reference_cache_free(&want);
	reference_cache_free(&got);
	return err;
}

/* ---- one step of another sequence
 * ----------------------------------------------------------------- */

/* One of the last lap, whose rows before it are there. */
static int64_t draw_step(const struct audit *a, uint32_t sequence)
{
	const struct decode_shape *s = &a->s->shape;
	struct philox r = philox4x32(sequence, 1, SAMPLE_TAG, 0, a->v->seed);
	uint32_t last = decode_position(s, a->steps - 1);
	int64_t lap = a->steps <= s->positions - s->start ? a->steps : last - s->lap + 1;

	return a->steps - 1 - r.word[0] % lap;
}

static int check_other(struct audit *a, uint32_t sequence)
{
	const struct decode_shape *shape = &a->s->shape;
	int64_t step = draw_step(a, sequence);
	uint32_t position = decode_position(shape, step);
	struct reference_cache want = reference_cache_new(&shape->model, position + 1);
	struct reference_cache got = reference_cache_new(&shape->model, position + 1);
	const struct reference_column column = { input_of(a, sequence, step), position, &want,
						 true };
	int err;

	fetch_cache(a, sequence, position + 1, &got);
	fetch_cache(a, sequence, position, &want);
	err = reference_step(&a->reference, &column, 1, a->logits);
	if (!err) {
		a->fresh[position] = true;
		compare_choice(a, sequence, step, a->logits);
		compare_rows(a, sequence, position, &got, &want);
	}
	reference_cache_free(&want);
	reference_cache_free(&got);
	return err;
}

/* ---- everything else
 * ------------------------------------------------------------------------------ */

static void check_progress(struct audit *a)
{
	struct decode_progress p;
	uint32_t want = decode_position(&a->s->shape, a->steps);

	fetch(&p, a->s->device.progress, sizeof(p));
	if (p.step != a->steps || p.position != want || p.tickets)
		flaw(a, "the device counts %u steps and goes on at position %u, not %ld at %u",
		     p.step, p.position, (long)a->steps, want);
}

/* The first row of each tensor, its last one, and one between. */
static int check_weights(struct audit *a)
{
	const struct decode_state *s = a->s;
	const struct decode_model *m = &s->shape.model;
	int err = 0;

	for (uint32_t i = 0; i < decode_tensors(m) && !err; i++) {
		struct decode_tensor t = decode_tensor_at(m, i);
		struct philox r = philox4x32(i, 2, SAMPLE_TAG, 0, a->v->seed);
		const uint32_t row[] = { 0, r.word[0] % t.rows, t.rows - 1 };
		size_t bytes = (size_t)t.stride * (size_t)decode_bytes(s);
		char *want = allocate(1, bytes), *got = allocate(1, bytes);

		for (int j = 0; j < 3 && !err; j++) {
			size_t at = t.at * (size_t)decode_bytes(s) + row[j] * bytes;

			err = decode_source_rows(s, &t, row[j], 1, want);
			fetch(got, (const char *)s->arena + at, bytes);
			if (!err && memcmp(got, want, bytes))
				flaw(a, "row %u of weights %u (layer %u) is not what was uploaded",
				     row[j], (unsigned)t.part, t.layer);
		}
		free(want);
		free(got);
	}
	return err;
}

/* Has a slot of the host the tokens of that step? Of step -1: was it not written? */
static bool has_step(const struct audit *a, int64_t slot, int64_t step)
{
	const uint32_t batch = a->s->shape.batch, *got = a->s->host + slot * batch;
	uint32_t n = 0;

	for (uint32_t b = 0; b < batch; b++)
		n += got[b] == (step < 0 ? UINT32_MAX : a->token[note_of(a, b, step)]);
	return n == batch;
}

/* Steps that were enqueued one by one took the slots in turn. */
static void check_slots(struct audit *a)
{
	for (int64_t slot = 0; slot < DECODE_HOST_SLOTS; slot++) {
		int64_t step = a->steps - 1;

		while (step >= a->noted && step % DECODE_HOST_SLOTS != slot)
			step--;
		if (!has_step(a, slot, step < a->noted ? -1 : step))
			flaw(a, "step %ld: the host has other tokens in slot %ld", (long)step,
			     (long)slot);
	}
}

/*
 * Those in graphs took them when they were captured, each graph others. So a slot may have any
 * step's tokens; one has the last step's, and as many have some as the longest graph has steps.
 */
static void check_graph_slots(struct audit *a)
{
	int64_t want = least(least(a->v->graph_steps, a->steps), DECODE_HOST_SLOTS), filled = 0;
	bool last = false;

	for (int64_t slot = 0; slot < DECODE_HOST_SLOTS; slot++) {
		int64_t step = a->steps - 1;

		if (has_step(a, slot, -1))
			continue;
		filled++;
		last = last || has_step(a, slot, step);
		while (step >= a->noted && !has_step(a, slot, step))
			step--;
		if (step < a->noted)
			flaw(a, "the host has tokens of no step in slot %ld", (long)slot);
	}
	if (!last || filled < want)
		flaw(a, "the host has tokens of %ld steps, of %ld, %s the last", (long)filled,
		     (long)want, last ? "among them" : "without");
}

static void check_host(struct audit *a)
{
	if (a->s->host && a->v->graph_steps)
		check_graph_slots(a);
	else if (a->s->host)
		check_slots(a);
}

/* ---- the verdict
 * ------------------------------------------------------------------------------------ */

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

	fetch(out, (const char *)s->arena + at * bytes, (size_t)rows * t->stride * bytes);
	return 0;
}

static int check_sequences(struct audit *a)
{
	const uint32_t batch = a->s->shape.batch, whole = (uint32_t)(a->v->seed % batch);
	int err = 0;

	if (a->v->full) {
		for (uint32_t b = 0; b < batch && !err; b++)
			err = check_sequence(a, b);
		return err;
	}
	err = check_sequence(a, whole);
	for (uint32_t i = 1; i <= OTHERS && i < batch && !err; i++) {
		uint32_t first = (whole + 1 + (i - 1) * (batch - 1) / OTHERS) % batch;

		if (batch - 1 > OTHERS || i < batch)
			err = check_other(a, batch - 1 > OTHERS ? first : (whole + i) % batch);
	}
	return err;
}

static void fetch_notes(struct audit *a)
{
	const int64_t history = a->s->shape.history;
	size_t n = (size_t)least(a->steps, history) * a->s->shape.batch;

	a->noted = a->steps > history ? a->steps - history : 0;
	a->token = allocate(n, sizeof(*a->token));
	a->logit = allocate(n, sizeof(*a->logit));
	fetch(a->token, a->s->device.history_token, n * sizeof(*a->token));
	fetch(a->logit, a->s->device.history_logit, n * sizeof(*a->logit));
}

static void set_verdict(struct audit *a)
{
	struct verdict *v = a->v;

	v->measure = "largest difference of a logit in deviations of its step's, or of a key or "
		     "value in those of its row";
	v->total = a->steps * a->s->shape.batch;
	v->tolerance = tolerance(a->o);
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
	a.logits = allocate((size_t)COLUMNS * s->shape.model.vocab, sizeof(*a.logits));
	a.last = allocate(s->shape.model.vocab, sizeof(*a.last));
	a.fresh = allocate(s->shape.positions, sizeof(*a.fresh));
	check_progress(&a);
	check_host(&a);
	for (uint32_t b = 0; b < s->shape.batch; b++)
		check_last(&a, b);
	err = check_weights(&a);
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
