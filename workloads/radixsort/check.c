/*
 * check.c - are the pairs in order, all of them, equal keys as they came, and nothing else touched?
 *
 * Up to 2^22 pairs are compared with those of a merge sort, on keys made anew. Above, each pair is
 * looked at with the one before it: keys do not fall, values of equal keys rise, every value comes
 * once, and its key is the one that was given with it. No other order has all that. Bytes that are
 * no pairs, and copies, are looked at by dataset_audit().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "workloads/radixsort/radixsort.h"
#include "workloads/radixsort/reference.h"

enum { PIECE = DATASET_PIECE, MERGE_MAX = 1 << 22 };

static const uint32_t POISON = 0x01010101u * SLOTS_POISON_INTEGER;

struct audit {
	const struct radixsort_opts *o;
	const struct dataset *set;
	struct dataset_audit found;
	uint32_t *piece[RADIXSORT_ARRAYS]; /* room for PIECE words each */
	struct radixsort_pair *want;	   /* a sorted slot, and as much again; else NULL */
	uint64_t *seen;			   /* a bit for each value, where `want` is NULL */
	struct radixsort_pair last;
};

/* ---- one pair --------------------------------------------------------------------------- */

/* NULL: right. */
static const char *against_reference(const struct audit *a, int64_t i, struct radixsort_pair p)
{
	const struct radixsort_pair *want = &a->want[i];

	if (p.key == want->key && p.value == want->value)
		return NULL;
	if (p.value == POISON)
		return "no pair";
	return p.key == want->key ? "another value than merged" : "another key than merged";
}

static const char *against_rules(struct audit *a, int64_t slot, int64_t i, struct radixsort_pair p)
{
	const struct radixsort_opts *o = a->o;
	struct radixsort_pair last = a->last;
	uint64_t bit = 1ull << p.value % 64;

	a->last = p;
	if (p.value >= o->pairs)
		return p.value == POISON ? "no pair" : "a value that was not given";
	if (a->seen[p.value / 64] & bit)
		return "a value that came before";
	a->seen[p.value / 64] |= bit;
	if (p.key != radixsort_reference_key(o->keys, p.value, (uint32_t)o->pairs, (uint32_t)slot,
					     (uint64_t)o->seed))
		return "another key than was given with its value";
	if (i && p.key < last.key)
		return "a key below the one before it";
	if (i && p.key == last.key && p.value < last.value)
		return "equal keys, not as they came";
	return NULL;
}

/* Of the n pairs from `at` on, which have been fetched. */
static void look_at(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		struct radixsort_pair p = { a->piece[0][i], a->piece[1][i] };
		const char *flaw = a->want ? against_reference(a, at + i, p)
					   : against_rules(a, slot, at + i, p);

		if (flaw)
			dataset_flaw(&a->found, a->set, flaw, slot, at + i);
	}
}

/* ---- inputs ----------------------------------------------------------------------------- */

/* They are read by each step that comes to the slot. */
static void look_at_inputs(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	const struct radixsort_opts *o = a->o;

	for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		CUDA(cudaMemcpy(a->piece[k], (uint32_t *)dataset_device(a->set, k, slot) + at,
				(size_t)n * sizeof(uint32_t), cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < n; i++) {
		uint32_t key =
			radixsort_reference_key(o->keys, (uint32_t)(at + i), (uint32_t)o->pairs,
						(uint32_t)slot, (uint64_t)o->seed);

		if (a->piece[0][i] != key || a->piece[1][i] != at + i)
			dataset_flaw(&a->found, a->set, "the input has changed", slot, at + i);
	}
}

/* ---- slots ------------------------------------------------------------------------------ */

static void prepare(struct audit *a, int64_t slot)
{
	uint32_t n = (uint32_t)a->o->pairs;

	if (!a->want) {
		memset(a->seen, 0, (n / 64 + 1) * sizeof(*a->seen));
		return;
	}
	radixsort_reference_input(a->want, n, a->o->keys, (uint32_t)slot, (uint64_t)a->o->seed);
	radixsort_reference_sort(a->want, a->want + n, n);
}

static int look_at_slot(struct audit *a, int64_t slot)
{
	prepare(a, slot);
	for (int64_t at = 0; at < a->o->pairs; at += PIECE) {
		int64_t n = a->o->pairs - at < PIECE ? a->o->pairs - at : PIECE;

		if (interrupted())
			return -EINTR;
		for (int k = 0; k < RADIXSORT_ARRAYS; k++)
			dataset_fetch(a->set, k, slot, at, n, a->piece[k]);
		look_at(a, slot, at, n);
		if (!a->set->host)
			look_at_inputs(a, slot, at, n);
	}
	return 0;
}

static int look_at_all(struct audit *a, struct verdict *v)
{
	int err = 0;

	v->measure = "pairs and other words that are not as they must be";
	v->total = a->o->pairs * __builtin_popcountll(a->found.answers);
	v->compared = v->total;
	v->tolerance = 0;
	for (int64_t slot = 0; slot < a->o->set.slots && !err; slot++)
		if (a->found.answers >> slot & 1)
			err = look_at_slot(a, slot);
	v->error = (double)a->found.flaws;
	v->passed = v->error <= v->tolerance;
	if (a->found.flaws)
		snprintf(v->worst, sizeof(v->worst), "%s", a->found.first);
	return err;
}

int radixsort_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct radixsort_opts *o = opts;
	struct radixsort_state *s = state;
	struct audit a = { .o = opts, .set = &s->set };
	size_t n = (size_t)o->pairs;
	bool merged = n <= MERGE_MAX;
	int err = dataset_audit(&s->set, &radixsort_work, opts, state, steps, v->graph_steps,
				&a.found);
	void *room = malloc(merged ? 2 * n * sizeof(*a.want) : (n / 64 + 1) * sizeof(*a.seen));

	a.piece[0] = malloc(RADIXSORT_ARRAYS * PIECE * sizeof(uint32_t));
	CHECK(room && a.piece[0], "memory for %zu pairs", n);
	a.piece[1] = a.piece[0] + PIECE;
	a.want = merged ? room : NULL;
	a.seen = merged ? NULL : room;
	if (!err)
		err = look_at_all(&a, v);
	free(a.piece[0]);
	free(room);
	return err;
}
