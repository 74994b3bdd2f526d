/*
 * check.c - are the pairs in order, all of them, equal keys as they came, and nothing else touched?
 *
 * Up to 2^22 pairs are compared with those of a merge sort, on keys made anew. Above, each pair is
 * looked at with the one before it: keys do not fall, values of equal keys rise, every value comes
 * once, and its key is the one that was given with it. No other order has all that. Where all slots
 * together have too many pairs, these rules are asked of a seeded sample: windows of each slot, the
 * first and the last among them. Keys do not fall from window to window either. Bytes that are no
 * pairs, and copies, are looked at by dataset_audit().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/pieces.h"
#include "workloads/radixsort/inputs.h"
#include "workloads/radixsort/radixsort.h"
#include "workloads/radixsort/reference.h"
#include "workloads/workload.h"

enum {
	PIECE = DATASET_PIECE,
	MERGE_MAX = 1 << 22,
	WINDOW = 1 << 12, /* pairs side by side */
};

int64_t radixsort_looked_at = 1 << 20;

static const uint32_t POISON = 0x01010101u * SLOTS_POISON_INTEGER;
static const uint32_t NONE = UINT32_MAX; /* no value is as large */

enum rule {
	MERGED,	 /* as a merge sort has them */
	RULES,	 /* all, by what only the right order has */
	SAMPLED, /* some, by the same */
};

struct audit {
	const struct radixsort_opts *o;
	const struct dataset *set;
	struct verdict *v;
	struct dataset_audit found;
	enum rule rule;
	struct pieces sample;		   /* of the slot in hand */
	uint32_t *piece[RADIXSORT_ARRAYS]; /* PIECE words each */
	struct radixsort_pair *want;	   /* MERGED: a sorted slot, and as much again */
	uint64_t *seen;			   /* RULES: a bit for each value */
	uint32_t *values;		   /* SAMPLED: those of the slot, by their hashes */
	uint32_t mask;			   /* size of the hash table, a power of two, less one */
	struct radixsort_pair last;	   /* that was looked at; no_last: none yet */
	bool no_last;
};

/* ---- one pair --------------------------------------------------------------------------- */

/* NULL: right. */
static const char *compare_with_reference(const struct audit *a, int64_t i, struct radixsort_pair p)
{
	const struct radixsort_pair *want = &a->want[i];

	if (p.key == want->key && p.value == want->value)
		return NULL;
	if (p.value == POISON)
		return "no pair";
	return p.key == want->key ? "another value than merged" : "another key than merged";
}

/* Has the value come before? Marks it as seen. */
static bool was_seen(struct audit *a, uint32_t value)
{
	uint64_t bit = 1ull << value % 64;
	uint32_t at = value * 0x9E3779B9u >> 7 & a->mask;

	if (a->rule == RULES) {
		bool come = a->seen[value / 64] & bit;

		a->seen[value / 64] |= bit;
		return come;
	}
	while (a->values[at] != NONE && a->values[at] != value)
		at = (at + 1) & a->mask;
	if (a->values[at] == value)
		return true;
	a->values[at] = value;
	return false;
}

static const char *check_rules(struct audit *a, int64_t slot, struct radixsort_pair p)
{
	const struct radixsort_opts *o = a->o;
	struct radixsort_pair last = a->last;
	bool first = a->no_last;

	a->last = p;
	a->no_last = false;
	if (p.value >= o->pairs)
		return p.value == POISON ? "no pair" : "a value that was not given";
	if (was_seen(a, p.value))
		return "a value that came before";
	if (p.key != radixsort_reference_key(o->keys, p.value, (uint32_t)o->pairs, (uint32_t)slot,
					     (uint64_t)o->seed))
		return "another key than was given with its value";
	if (!first && p.key < last.key)
		return "a key below the one before it";
	if (!first && p.key == last.key && p.value < last.value)
		return "equal keys, not as they came";
	return NULL;
}

/* Checks the n pairs from `at` on, which have been fetched. */
static void check_pairs(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		struct radixsort_pair p = { a->piece[0][i], a->piece[1][i] };
		const char *flaw = a->rule == MERGED ? compare_with_reference(a, at + i, p)
						     : check_rules(a, slot, p);

		if (flaw)
			dataset_flaw(&a->found, a->set, flaw, slot, at + i);
	}
}

/* ---- inputs ----------------------------------------------------------------------------- */

/* They are read by each step that comes to the slot. Four keys are drawn at a time. */
static void check_inputs(struct audit *a, int64_t slot, int64_t at, int64_t n)
{
	const struct radixsort_opts *o = a->o;
	uint32_t pairs = (uint32_t)o->pairs;
	struct philox words = { { 0 } };

	for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		CUDA(cudaMemcpy(a->piece[k], (uint32_t *)dataset_device(a->set, k, slot) + at,
				(size_t)n * sizeof(uint32_t), cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < n; i++) {
		uint32_t value = (uint32_t)(at + i);

		if (!i || !(value & 3))
			words = radixsort_words(value, (uint32_t)slot, (uint64_t)o->seed);
		if (a->piece[0][i] != radixsort_key(o->keys, value, pairs, words.word[value & 3]) ||
		    a->piece[1][i] != value)
			dataset_flaw(&a->found, a->set, "the input has changed", slot, at + i);
	}
}

/* ---- slots ------------------------------------------------------------------------------ */

static int64_t answered_slots(const struct audit *a)
{
	return __builtin_popcountll(a->found.answers);
}

/* Pairs of a slot that are looked at. */
static int64_t pairs_to_check(const struct audit *a)
{
	int64_t slots = answered_slots(a);

	return a->rule == SAMPLED ? radixsort_looked_at / (slots ? slots : 1) : a->o->pairs;
}

static void prepare_slot(struct audit *a, int64_t slot)
{
	const struct radixsort_opts *o = a->o;
	uint32_t n = (uint32_t)o->pairs;

	a->sample = pieces_of(n, a->rule == SAMPLED ? WINDOW : PIECE, pairs_to_check(a), a->v->seed,
			      (uint32_t)slot, 0);
	a->no_last = true;
	if (a->rule == RULES)
		memset(a->seen, 0, (n / 64 + 1) * sizeof(*a->seen));
	if (a->rule == SAMPLED)
		memset(a->values, 0xff, ((size_t)a->mask + 1) * sizeof(*a->values));
	if (a->rule != MERGED)
		return;
	radixsort_reference_input(a->want, n, o->keys, (uint32_t)slot, (uint64_t)o->seed);
	radixsort_reference_sort(a->want, a->want + n, n);
}

static int check_slot(struct audit *a, int64_t slot)
{
	prepare_slot(a, slot);
	for (int64_t i = 0; i < a->sample.count; i++) {
		int64_t at = pieces_at(&a->sample, i), n = pieces_units(&a->sample, i);

		if (interrupted())
			return -EINTR;
		for (int k = 0; k < RADIXSORT_ARRAYS; k++)
			dataset_fetch(a->set, k, slot, at, n, a->piece[k]);
		check_pairs(a, slot, at, n);
		if (!a->set->host)
			check_inputs(a, slot, at, n);
		a->v->compared += n;
	}
	return 0;
}

static int check_all_slots(struct audit *a)
{
	struct verdict *v = a->v;
	int err = 0;

	v->measure = "pairs and other words that are not as they must be";
	v->total = a->o->pairs * answered_slots(a);
	v->compared = 0;
	v->tolerance = 0;
	for (int64_t slot = 0; slot < a->o->set.slots && !err; slot++)
		if (a->found.answers >> slot & 1)
			err = check_slot(a, slot);
	v->error = (double)a->found.flaws;
	v->passed = v->error <= v->tolerance;
	if (a->found.flaws)
		snprintf(v->worst, sizeof(v->worst), "%s", a->found.first);
	return err;
}

/* ---- the check -------------------------------------------------------------------------- */

static enum rule choose_rule(const struct audit *a)
{
	if (!a->v->full && a->o->pairs * answered_slots(a) > 2 * radixsort_looked_at)
		return SAMPLED;
	return a->o->pairs <= MERGE_MAX ? MERGED : RULES;
}

/* What pairs are compared with; the caller frees it. */
static void *allocate_expected(struct audit *a)
{
	size_t n = (size_t)a->o->pairs, bytes = 2 * n * sizeof(*a->want);
	void *memory;

	if (a->rule == RULES)
		bytes = (n / 64 + 1) * sizeof(*a->seen);
	if (a->rule == SAMPLED) { /* at most half of the hash table is used */
		for (a->mask = 1; a->mask < 2 * pairs_to_check(a); a->mask = 2 * a->mask + 1)
			;
		bytes = ((size_t)a->mask + 1) * sizeof(*a->values);
	}
	memory = malloc(bytes);
	CHECK(memory, "memory for %zu pairs", n);
	a->want = memory;
	a->seen = memory;
	a->values = memory;
	return memory;
}

int radixsort_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct radixsort_state *s = state;
	struct audit a = { .o = opts, .set = &s->set, .v = v };
	const struct dataset_extent extent = { steps, v->graph_steps, v->full, v->seed };
	int err = dataset_audit(&s->set, &radixsort_work, opts, state, &extent, &a.found);
	void *memory;

	if (err)
		return err;
	a.rule = choose_rule(&a);
	memory = allocate_expected(&a);
	a.piece[0] = malloc(RADIXSORT_ARRAYS * PIECE * sizeof(uint32_t));
	CHECK(a.piece[0], "%d words", RADIXSORT_ARRAYS * PIECE);
	a.piece[1] = a.piece[0] + PIECE;
	err = check_all_slots(&a);
	free(a.piece[0]);
	free(memory);
	return err;
}
