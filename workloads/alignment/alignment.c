/*
 * alignment.c - the alignment workload: its parameters and its entry in the table.
 *
 * A step aligns a batch of pairs of sequences once more, by edit distance:
 *
 *   copy in      pairs, their order and letters (unless resident, or mapped and in one launch)
 *   pack         letters -> three bit planes                               kernels_pack.cu
 *   short        pairs of up to 1024 letters, in bands of up to 128 rows   kernels_short.cu
 *   long         the others, strip by strip, in bands that double          kernels_long.cu
 *                or, a few very long ones, their strips by many warps      kernels_wave.cu
 *   sum, gather  CIGARs in the order of the pairs, if they are wanted      kernels_pack.cu
 *   copy out     distances and runs
 *
 * Small batches of short pairs go in one launch (kernels_one.cu). With streams=N each stream does
 * its share of the batch. step.c enqueues all that; setup.c runs the batch once to size memory.
 */
#include "workloads/alignment/alignment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/output.h"
#include "workloads/workload.h"

static const char *const profiles[] = { "balanced", "illumina",	 "hifi", "ont",
					"bursty",   "unrelated", NULL };
static const char *const outputs[] = { "distance", "cigar", NULL };
static const char *const columns[] = { "few", "all", NULL };
static const char *const letters[] = { "fold", "exact", NULL };
static const char *const transfers[] = { "bytes", "packed", NULL };
static const char *const hosts[] = { "auto", "pinned", "pageable", "mapped", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(alignment_opts, pairs, "pairs", "1k", 1, ALIGN_PAIRS_MAX,
		   "1,8,64,512,4k,32k,256k", "pairs of sequences in a batch"),
	PARAM_SIZE(alignment_opts, length, "letters", "150", 1, ALIGN_LENGTH_MAX / 2,
		   "letters of a query; targets are about as long, unrelated ones half as long again"),
	PARAM_REAL(alignment_opts, error, "1", "-1", -1, 0.5,
		   "edits per letter of a query; -1: the profile's own rate"),
	PARAM_CHOICE(alignment_opts, profile, "balanced", profiles,
		     "how targets differ from queries"),
	PARAM_CHOICE_ASIDE(alignment_opts, output, "cigar", outputs, "distance,cigar",
		     "result of a pair: its distance, or its CIGAR as well"),
	PARAM_CHOICE(alignment_opts, letters, "fold", letters,
		     "lower-case letters count as upper case, or as bad characters"),
	PARAM_INT(alignment_opts, cap, "edits", "-1", -1, ALIGN_LENGTH_MAX,
		  "largest distance of interest, others are over_cap; -1: all are"),
	PARAM_REAL(alignment_opts, band, "1", "0.05", 0, 1,
		   "cost of the first band, as a share of the shorter sequence"),
	PARAM_CHOICE(alignment_opts, transfer, "bytes", transfers,
		     "letters travel as bytes, or in 2 bits each, packed on the host at setup, "
		     "which must all be A, C, G or T"),
	PARAM_CHOICE(alignment_opts, host, "auto", hosts,
		     "memory of the host that batches travel from and to; mapped: without copies"),
	PARAM_CHOICE_ASIDE(alignment_opts, resident, "no", no_yes, "no,yes",
		     "batch and results stay on the device, instead of travelling each step"),
	PARAM_INT_ASIDE(alignment_opts, streams, "streams", "1", 1, ALIGN_STREAMS_MAX, "1,2,4,8",
		  "streams that a step forks into, with a part of the batch in each"),
	PARAM_SIZE(alignment_opts, memory, "bytes", "4G", 64 << 20, 1099511627776.0,
		   "device memory for the traces that CIGARs are read from"),
	PARAM_INT(alignment_opts, seed, "1", "1", 0, 9007199254740992.0, "seed of the generated pairs"),
	PARAM_PATH(alignment_opts, input,
		   "FASTA or FASTQ, plain or gzip: QUERIES,TARGETS, or one file with both "
		   "alternating"),
	PARAM_PATH_OUT(alignment_opts, results, "TSV file to write, with a row per pair"),
	PARAM_CHOICE(alignment_opts, columns, "few", columns,
		     "of results=: query to cigar, or also rounds, the CIGAR with M, and where a "
		     "bad letter is"),
	PARAM_END
};

static const struct param_need needs[] = {
	{ "pairs", "!input" },
	{ "length", "!input" },
	{ "profile", "!input" },
	{ "error", "!input" },
	{ "error", "profile=balanced|illumina|hifi|ont|bursty" },
	{ "seed", "!input" },
	{ "transfer", "resident=no" },
	{ "host", "resident=no" },
	{ "memory", "output=cigar" },
	{ "columns", "results" },
	{ NULL, NULL },
};
/* clang-format on */

/* ---- limits ----------------------------------------------------------------------------- */

/* results= must not be one of the files that input= names. */
static int check_files(const struct alignment_opts *o)
{
	const char *comma = o->input ? strchr(o->input, ',') : NULL;
	char *first;
	bool same;

	if (!o->input || !o->results)
		return 0;
	first = strdup(o->input);
	CHECK(first, "a path");
	if (comma)
		first[comma - o->input] = '\0';
	same = output_same_file(first, o->results) ||
	       (comma && output_same_file(comma + 1, o->results));
	free(first);
	if (same)
		return complain(EINVAL, "results=%s is read as input=: write to another file",
				o->results);
	return 0;
}

int alignment_limits(const void *opts, struct limits *out)
{
	const struct alignment_opts *o = opts;
	/* No profile makes targets half as short as queries; the generator counts what it makes. */
	double letters = 1.5 * (double)o->pairs * (double)o->length;

	if (o->error < 0 && o->error != -1)
		return complain(EINVAL,
				"error=%g: give a rate from 0 to 0.5, or -1 for the profile's own",
				o->error);
	if (!o->input && o->streams > o->pairs)
		return complain(
			EINVAL,
			"streams=%ld: a batch has only pairs=%ld, and each stream needs one",
			(long)o->streams, (long)o->pairs);
	if (!o->input && letters > ALIGN_BYTES_MAX)
		return complain(EINVAL,
				"pairs=%ld of length=%ld: at least %.3g GiB of letters; a batch "
				"takes 4",
				(long)o->pairs, (long)o->length, letters / (1 << 30));
	if (o->host == ALIGN_PAGEABLE)
		out->mode_refused[MODE_GRAPH] = "copies of host=pageable memory cannot be captured";
	out->mode_refused[MODE_FUSED] = "a batch is several kernels, which is more than one launch";
	out->depth_run = 16;
	return check_files(o);
}

const struct workload workload_alignment = {
	.name = "alignment",
	.summary = "edit distances and CIGARs of pairs of DNA sequences, exact, in batches",
	.source = "Myers 1999 and Hyyro 2003, bit-parallel; compare GenomeWorks cudaaligner",
	.step_unit = "batch of pairs",
	.params = params,
	.needs = needs,
	.opts_size = sizeof(struct alignment_opts),
	.state_size = sizeof(struct alignment_state),
	.limits = alignment_limits,
	.setup = alignment_setup,
	.reset = alignment_reset,
	.step = alignment_step,
	.check = alignment_check,
	.report = alignment_report,
	.cost = alignment_cost,
	.teardown = alignment_teardown,
};
