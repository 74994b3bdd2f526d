/*
 * check.c - are the results those of the reference?
 *
 * The number of pairs that are wrong must be 0. The check looks at the status of every pair. For a
 * sample it computes the distance by scalar arithmetic, and replays the CIGAR, which must turn the
 * query into the target at that cost. Where the full table is small enough, it must be edlib's
 * CIGAR.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/alignment/alignment.h"
#include "workloads/workload.h"

/* Cells of the reference that take 0.2 s at 1e8 a second; and pairs, at least. */
enum { CELLS_BUDGET = 20000000, SAMPLE_LEAST = 16 };

/* Cells of a full table up to which the choice among best paths is checked too. */
enum { TABLE_CELLS = 1 << 20 };

/* ---- what came of the batch ------------------------------------------------------------- */

static const uint8_t *fetch_results(const struct alignment_opts *o,
				    const struct alignment_slot *slot,
				    struct alignment_outcome *out, int i)
{
	if (!o->resident)
		return slot->back;
	out->back[i] = malloc(slot->back_bytes + 1);
	CHECK(out->back[i], "%zu bytes", slot->back_bytes);
	CUDA(cudaMemcpy(out->back[i], slot->back_device, slot->back_bytes, cudaMemcpyDeviceToHost));
	return out->back[i];
}

void alignment_outcome_init(const struct alignment_opts *o, const struct alignment_state *s,
			    struct alignment_outcome *out)
{
	size_t n = (size_t)s->batch.n;

	memset(out, 0, sizeof(*out));
	out->result = calloc(n, sizeof(*out->result));
	out->runs = calloc(n, sizeof(*out->runs));
	CHECK(out->result && out->runs, "%zu results", n);
	for (int i = 0; i < s->slots; i++) {
		const struct alignment_slot *slot = &s->slot[i];
		const uint8_t *back = fetch_results(o, slot, out, i);
		const uint32_t *runs;

		memcpy(&out->result[slot->first], back, slot->part.n * sizeof(*out->result));
		runs = (const uint32_t *)(back + slot->part.n * sizeof(*out->result));
		for (uint32_t p = 0; p < slot->part.n; p++) {
			struct alignment_result *r = &out->result[slot->first + p];
			bool there = r->status == ALIGN_OK &&
				     (uint64_t)r->at + r->runs <= slot->part.runs_max;

			out->runs[slot->first + p] =
				there && slot->part.cigar ? runs + r->at : NULL;
		}
	}
}

void alignment_outcome_release(struct alignment_outcome *out)
{
	for (int i = 0; i < ALIGN_STREAMS_MAX; i++)
		free(out->back[i]);
	free(out->result);
	free(out->runs);
	memset(out, 0, sizeof(*out));
}

struct alignment_view alignment_pair_view(const struct alignment_opts *o,
					  const struct alignment_batch *b, int64_t pair)
{
	const struct alignment_pair *p = &b->pair[pair];
	bool there = p->m != ALIGN_TOO_LONG;

	return (struct alignment_view){ b->letters + p->query, b->letters + p->target,
					there ? p->m : 0, there ? p->n : 0,
					o->letters == ALIGN_FOLD };
}

/* ---- one pair --------------------------------------------------------------------------- */

static const char *wrong_runs(const struct alignment_view *v, const struct alignment_result *r,
			      const uint32_t *runs)
{
	int64_t n;
	uint32_t *path;
	bool differs;

	if (!runs)
		return "no CIGAR";
	if (alignment_replay(v, runs, r->runs) != (int64_t)r->distance)
		return "a CIGAR that does not cost its distance";
	if ((v->m + 1) * (v->n + 1) > TABLE_CELLS)
		return NULL;
	n = alignment_path(v, &path);
	differs = n != (int64_t)r->runs || memcmp(path, runs, (size_t)n * sizeof(*path)) != 0;
	free(path);
	return differs ? "a CIGAR that is not the one of the rule" : NULL;
}

/* Only the device knows what is out of memory; distances alone never are. */
static enum alignment_status expected_status(const struct alignment_batch *b,
					     const struct alignment_view *v, int64_t pair,
					     int64_t distance, const struct alignment_result *r)
{
	if (b->pair[pair].m == ALIGN_TOO_LONG)
		return ALIGN_LONG_SEQUENCE;
	if (alignment_bad_letter(v) >= 0)
		return ALIGN_BAD_CHARACTER;
	if (distance < 0)
		return ALIGN_OVER_CAP;
	return r->status == ALIGN_OUT_OF_MEMORY ? ALIGN_OUT_OF_MEMORY : ALIGN_OK;
}

/* NULL where the result is right, else what is wrong with it. */
static const char *find_flaw(const struct alignment_opts *o, const struct alignment_batch *b,
			     const struct alignment_outcome *out, int64_t pair)
{
	const struct alignment_result *r = &out->result[pair];
	struct alignment_view v = alignment_pair_view(o, b, pair);
	int64_t bad = alignment_bad_letter(&v),
		distance = bad < 0 ? alignment_distance(&v, o->cap) : 0;

	if (r->status != expected_status(b, &v, pair, distance, r))
		return "the status";
	if (r->status == ALIGN_BAD_CHARACTER)
		return r->at == (uint64_t)bad ? NULL : "the index of the bad letter";
	if (r->status != ALIGN_OK)
		return r->distance == ALIGN_UNKNOWN ? NULL : "a distance in spite of the status";
	if (r->distance != (uint64_t)distance)
		return "the distance";
	return o->output == ALIGN_CIGAR ? wrong_runs(&v, r, out->runs[pair]) : NULL;
}

/* ---- all of them ------------------------------------------------------------------------ */

static void note_flaw(struct verdict *v, int64_t pair, const char *what)
{
	if (!v->error++)
		snprintf(v->worst, sizeof(v->worst), "pair %ld: %s", (long)pair, what);
}

/* Each batch counts on the device: none was left out, and none ran twice. */
static void check_batches(const struct alignment_state *s, int64_t steps, struct verdict *v)
{
	for (int i = 0; i < s->slots; i++) {
		struct alignment_counters c;

		CUDA(cudaMemcpy(&c, s->slot[i].part.counters, sizeof(c), cudaMemcpyDeviceToHost));
		if (c.batches != (uint32_t)steps && !v->error++)
			snprintf(v->worst, sizeof(v->worst), "stream %d: %u batches, not %ld", i,
				 c.batches, (long)steps);
	}
}

/* No pair may have a status of not being done, or of a result that was cut off. */
static void check_statuses(const struct alignment_batch *b, const struct alignment_outcome *out,
			   struct verdict *v)
{
	for (int64_t i = 0; i < b->n; i++) {
		unsigned status = out->result[i].status;

		if (status >= ALIGN_RESULT_TRUNCATED)
			note_flaw(v, i, alignment_status_name(status));
	}
}

/* The reference's cells for a pair, by the distance that was found: a band of twice that. */
static double reference_cells(const struct alignment_pair *p, const struct alignment_result *r,
			      bool cigar)
{
	double m = p->m, n = p->n, gap = m > n ? m - n : n - m;
	double band = r->status == ALIGN_OK ? 4.0 * r->distance + gap + 32 : m + n;
	double cells = m * (band < m + n ? band : m + n);

	if (p->m == ALIGN_TOO_LONG)
		return 1;
	return 2 * cells + m + n + (cigar && (m + 1) * (n + 1) <= TABLE_CELLS ? m * n : 0);
}

static bool fits_budget(const struct alignment_opts *o, const struct alignment_batch *b,
			const struct alignment_outcome *out)
{
	double cells = 0;

	for (int64_t i = 0; i < b->n && cells <= CELLS_BUDGET; i++)
		cells += reference_cells(&b->pair[i], &out->result[i], o->output == ALIGN_CIGAR);
	return cells <= CELLS_BUDGET;
}

static int compare_all(const struct alignment_opts *o, const struct alignment_batch *b,
		       const struct alignment_outcome *out, struct verdict *v)
{
	for (int64_t i = 0; i < b->n; i++, v->compared++) {
		const char *what = find_flaw(o, b, out, i);

		if (what)
			note_flaw(v, i, what);
		if (interrupted())
			return -EINTR;
	}
	return 0;
}

/* The first and the last pair, and others by the seed until the budget is used up. */
static int compare_sample(const struct alignment_opts *o, const struct alignment_batch *b,
			  const struct alignment_outcome *out, struct verdict *v)
{
	double cells = 0;

	for (uint32_t k = 0; k < b->n && (k < SAMPLE_LEAST || cells < CELLS_BUDGET); k++) {
		struct philox r = philox4x32(k, 0, 0, 0, v->seed);
		int64_t i = k == 0 ? 0 : k == 1 ? b->n - 1 : r.word[0] % b->n;
		const char *what = find_flaw(o, b, out, i);

		if (what)
			note_flaw(v, i, what);
		v->compared++;
		cells += reference_cells(&b->pair[i], &out->result[i], o->output == ALIGN_CIGAR);
		if (interrupted())
			return -EINTR;
	}
	return 0;
}

int alignment_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct alignment_opts *o = opts;
	const struct alignment_state *s = state;
	struct alignment_outcome out;
	int err;

	alignment_outcome_init(o, s, &out);
	v->measure = "pairs whose result is wrong";
	v->total = s->batch.n;
	v->compared = 0;
	v->error = 0;
	v->tolerance = 0;
	check_batches(s, steps, v);
	check_statuses(&s->batch, &out, v);
	err = (v->full || fits_budget(o, &s->batch, &out) ? compare_all
							  : compare_sample)(o, &s->batch, &out, v);
	v->passed = v->error <= v->tolerance;
	alignment_outcome_release(&out);
	return err;
}
