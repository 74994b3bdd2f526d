/* report.c - what `rift run` prints about a batch, its cost by counting, and results=FILE. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/alignment/alignment.h"
#include "workloads/workload.h"

const char *alignment_status_name(unsigned status)
{
	static const char *const names[ALIGN_STATUS_COUNT] = {
		"ok",
		"over_cap",
		"too_long",
		"bad_character",
		"out_of_memory",
		"result_truncated",
		"not_done",
	};

	return status < ALIGN_STATUS_COUNT ? names[status] : "no status";
}

/* ---- results=FILE ----------------------------------------------------------------------- */

/* Text of a pair's runs, extended or classic, to be freed. */
static char *make_cigar(const uint32_t *runs, uint32_t n, bool classic)
{
	int64_t bytes = alignment_cigar_text(runs, n, classic, NULL, 0) + 1;
	char *text = malloc((size_t)bytes);

	CHECK(text, "%ld bytes", (long)bytes);
	alignment_cigar_text(runs, n, classic, text, bytes);
	return text;
}

/* Names of generated pairs are their numbers. */
static void write_names(FILE *f, const struct alignment_batch *b, int64_t i)
{
	if (b->name)
		fprintf(f, "%s\t%s\t", b->name[2 * i], b->name[2 * i + 1]);
	else
		fprintf(f, "query%" PRId64 "\ttarget%" PRId64 "\t", i, i);
}

/* Where the first bad letter is: "query:0" is the first of the query. */
static void write_place(FILE *f, const struct alignment_pair *p, uint32_t at)
{
	bool query = at < p->m;

	fprintf(f, "%s:%" PRIu32, query ? "query" : "target", query ? at : at - p->m);
}

static void write_cigar(FILE *f, const struct alignment_outcome *out, int64_t i, bool classic)
{
	char *text = make_cigar(out->runs[i], out->runs[i] ? out->result[i].runs : 0, classic);

	fprintf(f, "\t%s", text);
	free(text);
}

static void write_row(FILE *f, const struct alignment_batch *b, const struct alignment_outcome *out,
		      int64_t i, bool all)
{
	const struct alignment_result *r = &out->result[i];

	write_names(f, b, i);
	fprintf(f, "%s\t", alignment_status_name(r->status));
	if (r->status == ALIGN_OK)
		fprintf(f, "%" PRIu32, r->distance);
	write_cigar(f, out, i, false);
	if (all) {
		fprintf(f, "\t%u", r->rounds);
		write_cigar(f, out, i, true);
		fputc('\t', f);
		if (r->status == ALIGN_BAD_CHARACTER)
			write_place(f, &b->pair[i], r->at);
	}
	fputc('\n', f);
}

int alignment_write_results(const struct alignment_opts *o, struct alignment_state *s,
			    const struct alignment_outcome *out)
{
	FILE *f = s->results.file;

	CHECK(f, "results: setup opens it for one report");
	fprintf(f, "query\ttarget\tstatus\tdistance\tcigar%s\n",
		o->columns ? "\trounds\tclassic\tbad" : "");
	for (int64_t i = 0; i < s->batch.n; i++)
		write_row(f, &s->batch, out, i, o->columns);
	return output_commit(&s->results);
}

/* ---- rows ------------------------------------------------------------------------------- */

static struct report_row *add_row(struct report *r, const char *name, const char *unit,
				  double value)
{
	struct report_row *row = &r->row[r->n];

	CHECK(r->n < REPORT_ROWS_MAX, "%s", name);
	r->n++;
	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

/* Which kernels a batch launches. */
static void report_kernels(const struct alignment_state *s, struct report *out)
{
	static const char *const shorts[] = { "S1", "S2", "S4" };
	static const char *const strips[] = { "L4", "L8", "L16", "L32", "L32x4" };
	const char *long_name = s->slot[0].wave ? "wavefront" : strips[s->choice.strip];
	struct report_row *row = add_row(out, "kernels", "", 0);
	unsigned classes = 0, warps = 0, ones = 0, kept = 0;
	size_t at = 0;

	for (int i = 0; i < s->slots; i++) {
		classes |= s->slot[i].classes;
		ones += s->slot[i].one;
		kept += s->slot[i].kept_pairs;
		for (int c = ALIGN_S1; c < ALIGN_L; c++)
			warps |= s->slot[i].warps[c] ? 1u << c : 0;
	}
	for (int c = ALIGN_S1; c <= ALIGN_L; c++)
		if (classes >> c & 1)
			at += (size_t)snprintf(row->text + at, sizeof(row->text) - at, "%s%s%s",
					       at ? ", " : "", c < ALIGN_L ? shorts[c] : long_name,
					       warps >> c & 1 ? " by warps" : "");
	if (kept)
		at += (size_t)snprintf(row->text + at, sizeof(row->text) - at,
				       "; %u traces strip by strip", kept);
	if (ones)
		snprintf(row->text + at, sizeof(row->text) - at, "%s%s",
			 (int)ones < s->slots ? "; in part one launch" : "; one launch",
			 s->mapped ? " on mapped memory" : "");
}

static void report_statuses(const struct alignment_batch *b, const struct alignment_outcome *out,
			    struct report *report)
{
	static const char *const names[] = { "pairs ok",
					     "pairs over_cap",
					     "pairs too_long",
					     "pairs bad_character",
					     "pairs out_of_memory",
					     "pairs result_truncated" };
	int64_t count[ALIGN_STATUS_COUNT] = { 0 };

	for (int64_t i = 0; i < b->n; i++)
		if (out->result[i].status < ALIGN_STATUS_COUNT)
			count[out->result[i].status]++;
	for (int i = 0; i < ALIGN_NOT_DONE; i++)
		if (!i || count[i])
			add_row(report, names[i], "pairs", (double)count[i]);
}

static uint64_t cigars_fnv(const struct alignment_batch *b, const struct alignment_outcome *out)
{
	uint64_t fnv = ALIGN_FNV_START;

	for (int64_t i = 0; i < b->n; i++)
		if (out->runs[i]) {
			char *text = make_cigar(out->runs[i], out->result[i].runs, false);

			for (const char *c = text; *c; c++)
				fnv = alignment_fnv(fnv, c, 1);
			free(text);
		}
	return fnv;
}

/* Values to compare runs by: of the letters, the distances, the CIGARs. */
static void report_sums(const struct alignment_opts *o, const struct alignment_batch *b,
			const struct alignment_outcome *out, struct report *report)
{
	double sum = 0, most = 0;
	struct report_row *row;

	for (int64_t i = 0; i < b->n; i++)
		if (out->result[i].status == ALIGN_OK) {
			sum += out->result[i].distance;
			most = out->result[i].distance > most ? out->result[i].distance : most;
		}
	row = add_row(report, "letters, FNV-1a", "", 0);
	snprintf(row->text, sizeof(row->text), "%016" PRIx64, alignment_batch_fnv(b));
	add_row(report, "sum of distances", "edits", sum);
	add_row(report, "largest distance", "edits", most);
	if (o->output != ALIGN_CIGAR)
		return;
	row = add_row(report, "CIGARs, FNV-1a", "", 0);
	snprintf(row->text, sizeof(row->text), "%016" PRIx64, cigars_fnv(b, out));
}

int alignment_report(const void *opts, void *state, struct report *out)
{
	const struct alignment_opts *o = opts;
	struct alignment_state *s = state;
	struct alignment_outcome outcome;
	int err = 0;

	alignment_outcome_init(o, s, &outcome);
	add_row(out, "pairs a batch", "pairs", (double)s->batch.n);
	report_kernels(s, out);
	if (o->transfer == ALIGN_PACKED)
		add_row(out, "packing at setup, by one host thread", "ns", (double)s->packing_ns);
	report_statuses(&s->batch, &outcome, out);
	report_sums(o, &s->batch, &outcome, out);
	if (o->results)
		err = alignment_write_results(o, s, &outcome);
	if (o->results && !err)
		snprintf(add_row(out, "results", "", 0)->text, sizeof(out->row->text),
			 "%ld rows in %s", (long)s->batch.n, o->results);
	alignment_outcome_release(&outcome);
	return err;
}

/* ---- cost ------------------------------------------------------------------------------- */

/* Letters in planes are written once and read by a kernel; a trace is written and not counted
 * again where the walk reads parts of it. */
int alignment_cost(const void *opts, const void *state, struct cost *out)
{
	const struct alignment_opts *o = opts;
	const struct alignment_state *s = state;
	double in = 0, back = 0, trace = 0, launches = 0;
	struct copies to_device = { 0 }, to_host = { 0 };

	for (int i = 0; i < s->slots; i++) {
		const struct alignment_slot *slot = &s->slot[i];

		in += (double)slot->blob_bytes;
		back += (double)slot->back_bytes;
		trace += o->output == ALIGN_CIGAR ? (double)slot->trace_bytes : 0;
		launches += slot->one ? 1
				      : 1 + __builtin_popcount(slot->classes) +
						(slot->kept_pairs ? 1 : 0) +
						(o->output == ALIGN_CIGAR ? 2 : 0);
		if (o->resident || (slot->one && s->mapped))
			continue;
		to_device.calls++;
		to_device.bytes += (double)slot->blob_bytes;
		to_host.calls++;
		to_host.bytes += (double)slot->back_bytes;
	}
	*out = (struct cost){
		.launches = launches,
		.bytes_moved = (o->transfer == ALIGN_PACKED ? 4 : 1.75) * in + back + trace,
		.bytes_transferred = o->resident ? 0 : in + back,
		.to_device = to_device,
		.to_host = to_host,
		.pageable = s->pageable,
		.evaluations = (double)s->batch.n,
		.evaluation = "pair",
		.formula = "launches: pack, one a class that pairs come to, one for traces that do "
			   "not fit, 2 for CIGARs, for each stream; moved: 1.75 x letters in "
			   "(read, and 3/8 as planes written and "
			   "read; 4 x where they are packed) + results + trace; transferred: "
			   "letters and results",
	};
	return 0;
}
