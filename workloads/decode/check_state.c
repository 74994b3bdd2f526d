/*
 * check_state.c - what the check of the decode workload looks at besides tokens and the cache: the
 * device's count of steps, its weights, and the tokens that were copied to the host.
 */
#include <stdlib.h>
#include <string.h>

#include "workloads/decode/check.h"

void decode_audit_progress(struct audit *a)
{
	struct decode_progress p;
	uint32_t want = decode_position(&a->s->shape, a->steps);

	decode_audit_fetch(&p, a->s->device.progress, sizeof(p));
	if (p.step != a->steps || p.position != want || p.tickets)
		decode_audit_flaw(
			a, "the device counts %u steps and goes on at position %u, not %ld at %u",
			p.step, p.position, (long)a->steps, want);
}

/* The first row of each tensor, its last one, and one between. */
int decode_audit_weights(struct audit *a)
{
	const struct decode_state *s = a->s;
	const struct decode_model *m = &s->shape.model;
	int err = 0;

	for (uint32_t i = 0; i < decode_tensors(m) && !err; i++) {
		struct decode_tensor t = decode_tensor_at(m, i);
		struct philox r = philox4x32(i, 2, DECODE_SAMPLE_TAG, 0, a->v->seed);
		const uint32_t row[] = { 0, r.word[0] % t.rows, t.rows - 1 };
		size_t bytes = (size_t)t.stride * (size_t)decode_bytes(s);
		char *want = decode_audit_allocate(1, bytes),
		     *got = decode_audit_allocate(1, bytes);

		for (int j = 0; j < 3 && !err; j++) {
			size_t at = t.at * (size_t)decode_bytes(s) + row[j] * bytes;

			err = decode_source_rows(s, &t, row[j], 1, want);
			decode_audit_fetch(got, (const char *)s->arena + at, bytes);
			if (!err && memcmp(got, want, bytes))
				decode_audit_flaw(
					a,
					"row %u of weights %u (layer %u) is not what was uploaded",
					row[j], (unsigned)t.part, t.layer);
		}
		free(want);
		free(got);
	}
	return err;
}

/* ---- tokens on the host ---------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Has a slot of the host the tokens of that step? Of step -1: was it not written? */
static bool has_step(const struct audit *a, int64_t slot, int64_t step)
{
	const uint32_t batch = a->s->shape.batch, *got = a->s->host + slot * batch;
	uint32_t n = 0;

	for (uint32_t b = 0; b < batch; b++)
		n += got[b] == (step < 0 ? UINT32_MAX : a->token[decode_audit_note(a, b, step)]);
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
			decode_audit_flaw(a, "step %ld: the host has other tokens in slot %ld",
					  (long)step, (long)slot);
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
			decode_audit_flaw(a, "the host has tokens of no step in slot %ld",
					  (long)slot);
	}
	if (!last || filled < want)
		decode_audit_flaw(a, "the host has tokens of %ld steps, of %ld, %s the last",
				  (long)filled, (long)want, last ? "among them" : "without");
}

void decode_audit_host(struct audit *a)
{
	if (a->s->host && a->v->graph_steps)
		check_graph_slots(a);
	else if (a->s->host)
		check_slots(a);
}
