/*
 * check.c - has every byte come to its place, and to no other?
 *
 * Every copy brings other bytes than the one before it to its slot, and all slots are looked at
 * whole, guards behind the copy included. So a slot shows whether the last copy that went to it
 * came, complete and from where it should; with as many slots as copies that is every copy.
 * Whatever lies on the device is compared by the device, so that a check does not rest on copies.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "workloads/transfer/transfer.h"

/* The last copy that went to this slot; -1: none. */
static int64_t last_copy_to(const struct transfer_state *s, int slot)
{
	int64_t behind = (s->copies - 1 - slot) % s->slots;

	return slot < s->copies ? s->copies - 1 - behind : -1;
}

static struct pattern_wrong compare_on_device(const struct transfer_state *s, const char *slot,
					      uint64_t word, uint64_t bytes)
{
	struct pattern_wrong wrong = pattern_all_wrong(s->stride);

	CUDA(cudaMemcpy(s->wrong, &wrong, sizeof(wrong), cudaMemcpyHostToDevice));
	pattern_compare(slot, s->stride, word, bytes, s->wrong, 0);
	CUDA(cudaMemcpy(&wrong, s->wrong, sizeof(wrong), cudaMemcpyDeviceToHost));
	return wrong;
}

static struct pattern_wrong compare_slot(const struct transfer_state *s, int slot)
{
	const char *base = s->dst.base + (size_t)slot * s->stride;
	int64_t copy = last_copy_to(s, slot);
	uint64_t bytes = copy < 0 ? 0 : (uint64_t)s->bytes;
	uint64_t word = copy < 0 ? 0 : transfer_source_word(copy);

	return s->dst.on_device ? compare_on_device(s, base, word, bytes)
				: pattern_compare_host(base, s->stride, word, bytes);
}

static void check_slot(struct verdict *v, const struct transfer_state *s, int slot)
{
	struct pattern_wrong wrong = compare_slot(s, slot);

	v->compared++;
	if (!wrong.words)
		return;
	if (!*v->worst && wrong.first == ~0ull)
		snprintf(v->worst, sizeof(v->worst), "copy %" PRId64 " to slot %d: not compared",
			 last_copy_to(s, slot), slot);
	else if (!*v->worst)
		snprintf(v->worst, sizeof(v->worst),
			 "copy %" PRId64 " to slot %d: wrong from byte %llu on%s",
			 last_copy_to(s, slot), slot, 8 * wrong.first,
			 8 * wrong.first >= (unsigned long long)s->bytes ? ", after its end" : "");
	v->error += (double)wrong.words;
}

int transfer_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct transfer_state *s = state;

	(void)opts;
	v->measure = "8-byte words that are wrong, and copies that are missing";
	v->total = s->slots;
	v->compared = 0;
	v->tolerance = 0;
	v->error = steps > s->steps ? (double)(steps - s->steps) : (double)(s->steps - steps);
	if (v->error > 0)
		snprintf(v->worst, sizeof(v->worst), "%" PRId64 " copies were asked for, not %ld",
			 s->steps, (long)steps);
	for (int i = 0; i < s->slots; i++)
		check_slot(v, s, i);
	v->passed = v->error <= v->tolerance;
	return 0;
}
