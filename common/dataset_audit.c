/* dataset_audit.c - is there what steps leave, in all slots, and nothing else? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/dataset.h"
#include "common/interrupt.h"
#include "common/pieces.h"

enum {
	WORD = 4,
	WINDOW = 1 << 14, /* words of a piece of a sample: the least block that steps copy */
};

/* The dataset under audit, and its buffers. */
struct audit {
	struct dataset *d;
	const struct dataset_work *w;
	const void *opts;
	void *state;
	const struct dataset_extent *extent;
	struct dataset_audit *out;
	uint32_t *piece, *again; /* buffers of DATASET_PIECE words each */
};

void dataset_flaw(struct dataset_audit *a, const struct dataset *d, const char *what, int64_t slot,
		  int64_t i)
{
	if (!a->flaws++)
		snprintf(a->first, sizeof(a->first), "%s, slot %ld, %s %ld", what, (long)slot,
			 d->shape.unit, (long)i);
}

void dataset_fetch(const struct dataset *d, int output, int64_t slot, int64_t at, int64_t n,
		   void *words)
{
	int k = d->shape.inputs + output;

	if (d->host)
		memcpy(words, (uint32_t *)dataset_host(d, k, slot) + at, (size_t)n * WORD);
	else
		CUDA(cudaMemcpy(words, (uint32_t *)dataset_device(d, k, slot) + at,
				(size_t)n * WORD, cudaMemcpyDeviceToHost));
}

/* ---- slots ------------------------------------------------------------------------------ */

/*
 * How many slots, from the first on, a step came to. Where the host chooses them, graphs repeat
 * those of their captures: the longest comes to as many as it has steps, whatever came before.
 */
static int64_t slots_answered(const struct dataset *d, int64_t steps, int64_t graph_steps)
{
	int64_t chosen = d->enqueued > graph_steps ? d->enqueued : graph_steps;
	bool by_host = d->host || d->shape.host_turn;

	return slots_used(by_host && chosen < steps ? chosen : steps, d->o.slots);
}

static void audit_counters(const struct dataset *d, int64_t steps, int64_t graph_steps,
			   struct dataset_audit *out)
{
	uint32_t counted = slots_counter_read(d->counter);
	int64_t answered = slots_answered(d, steps, graph_steps);

	if (!d->shape.uncounted && counted != (uint64_t)steps && !out->flaws++)
		snprintf(out->first, sizeof(out->first), "%" PRIu32 " steps were counted, not %ld",
			 counted, (long)steps);
	for (int64_t slot = 0; slot < answered; slot++)
		out->answers |= 1ull << slot;
	if (steps && !out->answers)
		dataset_flaw(out, d, "no slot has answers", 0, 0);
}

/* ---- one slot --------------------------------------------------------------------------- */

/* Streamed: the outputs of a slot once more, from inputs that were not copied. */
static void compute_again(const struct audit *l, int64_t slot)
{
	const struct dataset *d = l->d;
	const struct dataset_part all = { 0, 1, false, 0 };

	l->w->make(l->opts, l->state, slot, 0);
	CUDA(cudaMemset(dataset_device(d, d->shape.inputs, 0), d->shape.poison,
			dataset_output_bytes(&d->shape, 1)));
	l->w->compute(l->opts, l->state, &all, 0);
}

static void must_be_poison(const struct audit *l, int64_t slot, int64_t at, int64_t n)
{
	size_t bytes = (size_t)n * WORD, ends;

	ends = slots_poison_ends(l->piece, bytes, l->d->shape.poison);
	if (ends < bytes)
		dataset_flaw(l->out, l->d, "written where nothing was to be", slot,
			     at + (int64_t)(ends / WORD));
}

/* l->piece is what compute_again() has left on the device. */
static void same_again(const struct audit *l, int output, int64_t slot, int64_t at, int64_t n)
{
	const uint32_t *device = dataset_device(l->d, l->d->shape.inputs + output, 0);
	int64_t i = 0;

	CUDA(cudaMemcpy(l->again, device + at, (size_t)n * WORD, cudaMemcpyDeviceToHost));
	if (!memcmp(l->again, l->piece, (size_t)n * WORD))
		return;
	while (l->again[i] == l->piece[i])
		i++;
	dataset_flaw(l->out, l->d, "came back different from what was computed", slot, at + i);
}

/* ---- all slots -------------------------------------------------------------------------- */

static bool has_answers(const struct audit *l, int64_t slot)
{
	return l->out->answers >> slot & 1;
}

/* Answers on the device are the workload's to compare. */
static bool is_audited(const struct audit *l, int64_t slot)
{
	return l->d->host || !has_answers(l, slot);
}

int64_t dataset_look = 1 << 24;

/* Words of each array, if all that are audited have as many as this one. */
static int64_t audited_words(const struct audit *l, const struct dataset_array *a)
{
	int64_t arrays = 0;

	for (int64_t slot = 0; slot < l->d->o.slots; slot++)
		arrays += is_audited(l, slot) ? l->d->shape.outputs : 0;
	return l->extent->full || arrays * a->words <= dataset_look ? a->words
								    : dataset_look / arrays;
}

/* The words of an array: answers of streamed slots, or poison. */
static int audit_output(const struct audit *l, int output, int64_t slot)
{
	const struct dataset_array *a = &l->d->shape.array[l->d->shape.inputs + output];
	int64_t most = audited_words(l, a);
	struct pieces s = pieces_of(a->words, most < a->words ? WINDOW : DATASET_PIECE, most,
				    l->extent->seed, (uint32_t)slot, (uint32_t)output);

	for (int64_t i = 0; i < s.count; i++) {
		int64_t at = pieces_at(&s, i), n = pieces_units(&s, i);

		if (interrupted())
			return -EINTR;
		dataset_fetch(l->d, output, slot, at, n, l->piece);
		if (has_answers(l, slot))
			same_again(l, output, slot, at, n);
		else
			must_be_poison(l, slot, at, n);
	}
	return 0;
}

/* From the end of the array on. */
static void audit_end(const struct audit *l, int output, int64_t slot)
{
	const struct dataset_array *a = &l->d->shape.array[l->d->shape.inputs + output];
	int64_t n = dataset_stride(a) - a->words;

	dataset_fetch(l->d, output, slot, a->words, n, l->piece);
	must_be_poison(l, slot, a->words, n);
}

static int audit_slot(const struct audit *l, int64_t slot)
{
	int err = 0;

	if (l->d->host && has_answers(l, slot))
		compute_again(l, slot);
	for (int k = 0; k < l->d->shape.outputs && !err; k++) {
		if (is_audited(l, slot))
			err = audit_output(l, k, slot);
		audit_end(l, k, slot);
	}
	return err;
}

int dataset_audit(struct dataset *d, const struct dataset_work *w, const void *opts, void *state,
		  const struct dataset_extent *extent, struct dataset_audit *out)
{
	struct audit l = {
		.d = d, .w = w, .opts = opts, .state = state, .extent = extent, .out = out
	};
	int err = 0;

	*out = (struct dataset_audit){ 0 };
	l.piece = malloc(2 * (size_t)DATASET_PIECE * WORD);
	CHECK(l.piece, "%d words", 2 * DATASET_PIECE);
	l.again = l.piece + DATASET_PIECE;
	audit_counters(d, extent->steps, extent->graph_steps, out);
	for (int64_t slot = 0; slot < d->o.slots && !err; slot++)
		err = audit_slot(&l, slot);
	free(l.piece);
	return err;
}
