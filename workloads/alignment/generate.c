/* generate.c - pairs of sequences from a seed, and the batch that they are put into. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "workloads/alignment/pairs.h"

/* ---- the batch -------------------------------------------------------------------------- */

static void *grow_buffer(void *p, size_t bytes)
{
	void *more = realloc(p, bytes ? bytes : 1);

	CHECK(more, "%zu bytes", bytes);
	return more;
}

static uint32_t append_text(struct alignment_batch *b, const uint8_t *letters, size_t n)
{
	size_t at = b->bytes, padded = (n + 3) & ~(size_t)3;

	if (!b->letters || at + padded > b->bytes_capacity) {
		b->bytes_capacity = 2 * (at + padded) + 64;
		b->letters = grow_buffer(b->letters, b->bytes_capacity);
	}
	if (n)
		memcpy(b->letters + at, letters, n);
	memset(b->letters + at + n, 0, padded - n);
	b->bytes += padded;
	return (uint32_t)at;
}

static char *copy_text(const char *text)
{
	char *copy = strdup(text);

	CHECK(copy, "a name");
	return copy;
}

int alignment_batch_add(struct alignment_batch *b, const uint8_t *query, size_t m,
			const uint8_t *target, size_t n, const char *query_name,
			const char *target_name)
{
	bool fits = m <= ALIGN_LENGTH_MAX && n <= ALIGN_LENGTH_MAX;
	struct alignment_pair *p;

	if (fits && b->bytes + m + n + 6 > ALIGN_BYTES_MAX)
		return -E2BIG;
	if (b->n == b->capacity) {
		b->capacity = b->capacity ? 2 * b->capacity : 64;
		b->pair = grow_buffer(b->pair, (size_t)b->capacity * sizeof(*b->pair));
		if (query_name)
			b->name = grow_buffer(b->name, 2 * (size_t)b->capacity * sizeof(*b->name));
	}
	p = &b->pair[b->n];
	p->query = append_text(b, query, fits ? m : 0);
	p->target = append_text(b, target, fits ? n : 0);
	p->m = fits ? (uint32_t)m : ALIGN_TOO_LONG;
	p->n = fits ? (uint32_t)n : ALIGN_TOO_LONG;
	if (query_name && target_name) {
		b->name[2 * b->n] = copy_text(query_name);
		b->name[2 * b->n + 1] = copy_text(target_name);
	}
	b->n++;
	return 0;
}

void alignment_batch_release(struct alignment_batch *b)
{
	for (int64_t i = 0; b->name && i < 2 * b->n; i++)
		free(b->name[i]);
	free(b->name);
	free(b->pair);
	free(b->letters);
	memset(b, 0, sizeof(*b));
}

/* ---- the generator ---------------------------------------------------------------------- */

/* The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t mix_bits(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static uint64_t next_random(uint64_t *state)
{
	*state += UINT64_C(0x9E3779B97F4A7C15);
	return mix_bits(*state);
}

static uint64_t seed_state(uint64_t seed, uint64_t index)
{
	return mix_bits(seed ^ mix_bits(index + 1));
}

static const char letter_of[4] = { 'A', 'C', 'G', 'T' };

/* Codes 0 to 3, two bits of a draw each, from the low end. */
static void draw_codes(uint64_t *state, uint8_t *code, int64_t n)
{
	uint64_t v = 0;

	for (int64_t i = 0; i < n; i++) {
		if (i % 32 == 0)
			v = next_random(state);
		code[i] = v >> 2 * (i % 32) & 3;
	}
}

/* Upper ends of the draws that are a substitution, an insertion, a deletion. */
struct thresholds {
	uint64_t substitution, insertion, deletion;
	bool bursts;
};

double alignment_error_rate(const struct alignment_recipe *r)
{
	static const double own[] = { 0.05, 0.01, 0.005, 0.1, 0.05, 0 };

	return r->error < 0 ? own[r->profile] : r->error;
}

/* Rates are whole parts per million, so that no rounding of a machine's can matter. */
static struct thresholds make_thresholds(const struct alignment_recipe *r)
{
	uint64_t total = (uint64_t)llround(alignment_error_rate(r) * 1e6), gaps = total / 3;
	struct thresholds t;

	if (r->profile == ALIGN_ILLUMINA)
		gaps = total / 20;
	if (r->profile == ALIGN_HIFI)
		gaps = total * 34 / 100;
	t.substitution = ((total - 2 * gaps) << 32) / 1000000;
	t.insertion = t.substitution + (gaps << 32) / 1000000;
	t.deletion = t.insertion + (gaps << 32) / 1000000;
	t.bursts = r->profile == ALIGN_BURSTY;
	return t;
}

/* Letters that a deletion takes: one, or 5 to 50 for one burst in ten. */
static int64_t draw_deletion(const struct thresholds *t, uint32_t low, uint64_t *state)
{
	if (!t->bursts || low >= UINT32_MAX / 10)
		return 1;
	return 5 + (int64_t)((next_random(state) >> 32) * 46 >> 32);
}

/* The query with errors; at most two letters for each of its. */
static int64_t mutate_query(const struct thresholds *t, uint64_t *state, const uint8_t *code,
			    int64_t m, uint8_t *target)
{
	int64_t n = 0;

	for (int64_t i = 0; i < m; i++) {
		uint64_t v = next_random(state), u = v >> 32;
		uint32_t low = (uint32_t)v;

		if (u < t->substitution) {
			target[n++] = (uint8_t)((code[i] + 1 + ((uint64_t)low * 3 >> 32)) % 4);
		} else if (u < t->insertion) {
			target[n++] = low % 4;
			target[n++] = code[i];
		} else if (u < t->deletion) {
			i += draw_deletion(t, low, state) - 1;
		} else {
			target[n++] = code[i];
		}
	}
	return n;
}

static void to_letters(uint8_t *code, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		code[i] = (uint8_t)letter_of[code[i]];
}

/* Queries have indices below 2^32, unrelated targets above. */
static int64_t make_pair(const struct alignment_recipe *r, const struct thresholds *t,
			 int64_t index, uint8_t *query, uint8_t *target)
{
	uint64_t state = seed_state(r->seed, (uint64_t)index);
	int64_t n = r->length * 3 / 2;

	draw_codes(&state, query, r->length);
	if (r->profile == ALIGN_UNRELATED) {
		state = seed_state(r->seed, (uint64_t)index + (UINT64_C(1) << 32));
		draw_codes(&state, target, n);
	} else {
		n = mutate_query(t, &state, query, r->length, target);
	}
	to_letters(query, r->length);
	to_letters(target, n);
	return n;
}

int alignment_generate(const struct alignment_recipe *r, struct alignment_batch *b)
{
	uint8_t *query = grow_buffer(NULL, (size_t)r->length),
		*target = grow_buffer(NULL, 2 * (size_t)r->length);
	struct thresholds t = make_thresholds(r);
	int err = 0;

	for (int64_t i = 0; !err && i < r->pairs; i++) {
		int64_t n = make_pair(r, &t, i, query, target);

		err = alignment_batch_add(b, query, (size_t)r->length, target, (size_t)n, NULL,
					  NULL);
		if (interrupted())
			err = -EINTR;
	}
	free(query);
	free(target);
	if (err == -E2BIG)
		return complain(EINVAL,
				"pairs=%ld of length=%ld: a batch takes at most 4 GiB of letters",
				(long)r->pairs, (long)r->length);
	return err;
}

/* ---- check values ----------------------------------------------------------------------- */

uint64_t alignment_fnv(uint64_t state, const void *bytes, size_t n)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < n; i++)
		state = (state ^ byte[i]) * UINT64_C(1099511628211);
	return state;
}

uint64_t alignment_batch_fnv(const struct alignment_batch *b)
{
	uint64_t state = ALIGN_FNV_START;

	for (int64_t i = 0; i < b->n; i++) {
		const struct alignment_pair *p = &b->pair[i];
		bool there = p->m != ALIGN_TOO_LONG;

		state = alignment_fnv(state, b->letters + p->query, there ? p->m : 0);
		state = alignment_fnv(state, "", 1);
		state = alignment_fnv(state, b->letters + p->target, there ? p->n : 0);
		state = alignment_fnv(state, "", 1);
	}
	return state;
}
