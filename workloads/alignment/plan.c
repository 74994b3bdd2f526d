/* plan.c - which kernel takes which pair, and how much memory that needs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/alignment/alignment.h"
#include "workloads/alignment/kernels.h"

/* ---- classes ---------------------------------------------------------------------------- */

/*
 * What a batch would take with strips of a shape, in clocks of an H200, roughly: turns of a pair,
 * by the longer of what a turn lasts and what the warps that share a scheduler issue in it. Wide
 * strips are few, but hold more rows outside the band, and so a larger trace: if not all pairs fit
 * into memory at once, others wait.
 */
static double strip_clocks(const struct alignment_extent *e, enum alignment_strip strip)
{
	struct alignment_shape shape = alignment_strip_shape(strip);
	double rows = 32.0 * shape.lanes * shape.words, band = 2.0 * e->first_band;
	double columns = rows + band < e->longest ? rows + band : e->longest;
	double turns = ceil(e->longest / rows) * (columns + shape.lanes);
	double warps = e->pairs * shape.lanes / 32 / 528, alone = 70.0 + 25 * shape.words;
	double shared = warps * (30 + 30 * shape.words);
	double trace = e->pairs * turns * shape.lanes * shape.words * 8;

	return turns * (alone > shared ? alone : shared) * (e->cigar ? ceil(trace / e->memory) : 1);
}

enum alignment_strip alignment_strip_for(const struct alignment_extent *e)
{
	enum alignment_strip best = ALIGN_L4;

	for (int strip = 0; strip < ALIGN_STRIPS; strip++)
		if (strip_clocks(e, (enum alignment_strip)strip) < strip_clocks(e, best))
			best = (enum alignment_strip)strip;
	return best;
}

/*
 * The same for pairs whose strips many warps share: a strip begins as soon as the one above has the
 * steps that it needs, about three words more than a strip has rows and lanes are late. Clocks of a
 * column: 95 alone, by 33.2 ms for the distance of 512k letters on an H200, taken as 1.98 GHz
 * (2026-12-03); 35 where warps share a scheduler, by counting instructions and not measured.
 */
static double wave_clocks(const struct alignment_extent *e)
{
	double rows = ALIGN_WAVE_ROWS, band = 2.0 * e->first_band, late = 31.0 * ALIGN_WAVE_LAG;
	double columns = (rows + band < e->longest ? rows + band : e->longest) + late;
	double strips = ceil(e->longest / rows), apart = rows + late + 96;
	double alone = (strips - 1) * (apart < columns ? apart : columns) + columns;
	double shared = e->pairs * strips * columns / 528;

	return alone * 95 > shared * 35 ? alone * 95 : shared * 35;
}

enum { WAVE_BYTES_MAX = 1 << 30 }; /* of device memory */

bool alignment_wave_pays(const struct alignment_extent *e)
{
	double bytes = (double)alignment_wave_bytes((int)e->longest, (int)e->longest);

	return e->longest >= 4 * ALIGN_WAVE_ROWS && e->pairs <= ALIGN_WAVE_PAIRS &&
	       e->pairs * bytes <= WAVE_BYTES_MAX &&
	       wave_clocks(e) < strip_clocks(e, alignment_strip_for(e));
}

/* A pair without a query or a target has nothing that the long kernel could do. */
enum alignment_class alignment_class_in(const struct alignment_choice *choice,
					const struct alignment_pair *p)
{
	enum alignment_class c = alignment_first_class(choice->band, p);

	return c < choice->least && p->m && p->n ? choice->least : c;
}

/* ---- order ------------------------------------------------------------------------------ */

struct sort_key {
	uint32_t pair, length;
	int class;
};

/* Long pairs first, so that none is left for the end; for short kernels, equal ones together. */
static int by_class_and_length(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

void alignment_order(const struct alignment_choice *choice, const struct alignment_pair *pair,
		     uint32_t n, uint32_t *order, uint32_t first[ALIGN_CLASSES + 1])
{
	struct sort_key *sort_key = malloc((n + 1) * sizeof(*sort_key));
	uint32_t count[ALIGN_CLASSES + 1] = { 0 };

	CHECK(sort_key, "%u pairs", n);
	for (uint32_t i = 0; i < n; i++) {
		sort_key[i] = (struct sort_key){ i, pair[i].n,
						 (int)alignment_class_in(choice, &pair[i]) };
		count[sort_key[i].class]++;
	}
	qsort(sort_key, n, sizeof(*sort_key), by_class_and_length);
	for (uint32_t i = 0; i < n; i++)
		order[i] = sort_key[i].pair;
	first[0] = 0;
	for (int c = 0; c < ALIGN_CLASSES; c++)
		first[c + 1] = first[c] + count[c];
	free(sort_key);
}

/* ---- what the run at setup found ------------------------------------------------------- */

static uint64_t runs_most(const struct alignment_pair *p, uint64_t distance)
{
	uint64_t all = (uint64_t)p->m + p->n;

	return 2 * distance + 1 < all ? 2 * distance + 1 : all;
}

/* Did it, in the run for distances? */
static bool reached_long(const struct alignment_state *s, const struct alignment_pair *p,
			 const struct alignment_result *r)
{
	enum alignment_class c = alignment_class_in(&s->choice, p);

	return (r->status == ALIGN_OK || r->status == ALIGN_OVER_CAP) && c != ALIGN_CLASSES &&
	       (int)r->rounds > (int)(ALIGN_L - c);
}

/* Words of the trace of the band that it ended with. */
static uint64_t long_trace_words(const struct alignment_state *s, const struct alignment_pair *p,
				 const struct alignment_result *r)
{
	return alignment_long_words(alignment_strip_shape(s->choice.strip), (int)p->m, (int)p->n,
				    (int)r->at, true);
}

static void plan_pair(const struct alignment_state *s, struct alignment_slot *slot,
		      const struct alignment_pair *p, const struct alignment_result *r)
{
	enum alignment_class c = alignment_class_in(&s->choice, p);
	uint64_t words;

	if (r->status == ALIGN_OK)
		slot->staged += runs_most(p, r->distance);
	for (int w = 0; c + w < ALIGN_L && w < r->rounds; w++)
		if (!slot->warps[c + w])
			slot->trace_bytes += (uint64_t)p->n * (8u << (c + w));
	if (!reached_long(s, p, r))
		return;
	words = long_trace_words(s, p, r);
	slot->trace_bytes += 4 * words;
	slot->needed = words > slot->needed ? words : slot->needed;
	slot->long_pairs++;
}

void alignment_plan(const struct alignment_state *s, struct alignment_slot *slot)
{
	const struct alignment_result *result = (const struct alignment_result *)slot->back;
	const struct alignment_pair *pair = &s->batch.pair[slot->first];

	for (uint32_t i = 0; i < slot->part.n; i++)
		if (result[i].status == ALIGN_OK || result[i].status == ALIGN_OVER_CAP)
			plan_pair(s, slot, &pair[i], &result[i]);
}

/* ---- pairs that many warps share -------------------------------------------------------- */

/* A pair has a block for each of its strips, as far as all of them run at once. */
void alignment_plan_wave(const struct alignment_state *s, struct alignment_slot *slot)
{
	struct alignment_part *p = &slot->part;
	uint64_t fit = device_resident(alignment_wave_kernel(true), 32, 0) / p->n, strips = 1;

	p->wave_bytes = alignment_wave_bytes(1, 1);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct alignment_pair *pair = &s->batch.pair[slot->first + i];
		uint64_t bytes;

		if (pair->m == ALIGN_TOO_LONG)
			continue;
		bytes = alignment_wave_bytes((int)pair->m, (int)pair->n);
		p->wave_bytes = bytes > p->wave_bytes ? bytes : p->wave_bytes;
		if (alignment_wave_strips((int)pair->m) > strips)
			strips = alignment_wave_strips((int)pair->m);
	}
	p->wave_blocks = (uint32_t)(strips < fit ? strips : fit ? fit : 1);
}

void alignment_plan_wave_traces(const struct alignment_state *s, struct alignment_slot *slot,
				size_t bytes)
{
	const struct alignment_result *result = (const struct alignment_result *)slot->back;
	uint64_t most = 0, written = slot->trace_bytes;

	for (uint32_t i = 0; slot->wave && i < slot->part.n; i++) {
		const struct alignment_pair *p = &s->batch.pair[slot->first + i];
		uint64_t words;

		if (!reached_long(s, p, &result[i]))
			continue;
		words = alignment_wave_strips((int)p->m) *
			alignment_wave_trace((int)p->m, (int)p->n, (int)result[i].at);
		most = words > most ? words : most;
		written += 4 * words - 4 * long_trace_words(s, p, &result[i]);
	}
	slot->wave = slot->wave && 4 * most * slot->wave_pairs <= bytes;
	if (!slot->wave)
		return;
	slot->part.wave_words = most;
	slot->trace_bytes = written;
}

/* ---- workspace -------------------------------------------------------------------------- */

static uint64_t least_block_count(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t ab = a < b ? a : b, all = ab < c ? ab : c;

	return all ? all : 1;
}

/* Columns of the longest pair that short kernels may see. */
static uint64_t short_columns(const struct alignment_state *s, const struct alignment_slot *slot)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < slot->part.n; i++) {
		const struct alignment_pair *p = &s->batch.pair[slot->first + i];

		if (alignment_class_in(&s->choice, p) < ALIGN_L && p->m && p->n > most)
			most = p->n;
	}
	return most;
}

/* A block's slice holds the trace of the widest band, so that all short kernels can use it. */
static void plan_short(const struct alignment_state *s, struct alignment_slot *slot, uint64_t words)
{
	struct alignment_part *p = &slot->part;
	uint64_t blocks = (p->n + ALIGN_SHORT_THREADS - 1) / ALIGN_SHORT_THREADS;
	uint64_t fit =
		device_resident(alignment_short_kernel(ALIGN_S1, p->cigar), ALIGN_SHORT_THREADS, 0);

	slot->columns = short_columns(s, slot);
	p->short_words = p->cigar ? slot->columns * 8 * ALIGN_SHORT_THREADS : 0;
	p->short_blocks = (uint32_t)least_block_count(
		blocks, fit, p->short_words ? words / p->short_words : fit);
}

/* The largest trace of at most so many words; others are for plan_kept(). */
static uint64_t largest_within(const struct alignment_state *s, const struct alignment_slot *slot,
			       uint64_t words)
{
	const struct alignment_result *result = (const struct alignment_result *)slot->back;
	uint64_t most = 2;

	for (uint32_t i = 0; i < slot->part.n; i++) {
		const struct alignment_pair *pair = &s->batch.pair[slot->first + i];
		uint64_t own = reached_long(s, pair, &result[i])
				       ? long_trace_words(s, pair, &result[i])
				       : 0;

		if (own > most && own <= words)
			most = own;
	}
	return most;
}

/* Where the traces of one block of the usual size do not fit, it gets fewer threads. */
static void plan_long(const struct alignment_state *s, struct alignment_slot *slot, uint64_t words)
{
	struct alignment_part *p = &slot->part;
	uint64_t lanes = (uint64_t)alignment_strip_shape(s->choice.strip).lanes, each, fit;

	p->long_words = slot->needed;
	p->long_threads = ALIGN_LONG_THREADS;
	if (p->long_words * (p->long_threads / lanes) > words)
		p->long_threads = 32;
	each = p->long_threads / lanes;
	if (p->long_words * each > words)
		p->long_words = p->cigar ? largest_within(s, slot, words / each)
					 : words / each & ~(uint64_t)1;
	fit = device_resident(alignment_long_kernel(s->choice.strip, p->cigar),
			      (int)p->long_threads, 0);
	p->long_blocks =
		(uint32_t)least_block_count((slot->long_pairs + each - 1) / each, fit,
					    p->long_words ? words / (p->long_words * each) : fit);
}

/* Pairs whose last band has too large a trace for the long kernel, by the run for distances. */
static void plan_kept(const struct alignment_state *s, struct alignment_slot *slot, uint64_t words)
{
	const struct alignment_result *result = (const struct alignment_result *)slot->back;
	const struct alignment_shape own = alignment_strip_shape(ALIGN_L32);
	struct alignment_part *p = &slot->part;

	for (uint32_t i = 0; slot->needed > p->long_words && i < p->n; i++) {
		const struct alignment_pair *pair = &s->batch.pair[slot->first + i];
		uint64_t kept;

		if (!reached_long(s, pair, &result[i]) ||
		    long_trace_words(s, pair, &result[i]) <= p->long_words)
			continue;
		kept = alignment_kept_words(own, (int)pair->m, (int)pair->n, (int)result[i].at);
		p->kept_words = kept > p->kept_words ? kept : p->kept_words;
		slot->kept_pairs++;
	}
	if (!slot->kept_pairs)
		return;
	p->kept_words = (p->kept_words < words ? p->kept_words : words) & ~(uint64_t)1;
	p->kept_blocks = (uint32_t)least_block_count(
		slot->kept_pairs, device_resident(alignment_kept_kernel(), 32, 0),
		words / p->kept_words);
}

void alignment_plan_workspace(const struct alignment_state *s, struct alignment_slot *slot,
			      size_t bytes)
{
	plan_short(s, slot, bytes / 4);
	if (slot->wave)
		return;
	plan_long(s, slot, bytes / 4);
	if (slot->part.cigar)
		plan_kept(s, slot, bytes / 4);
}
