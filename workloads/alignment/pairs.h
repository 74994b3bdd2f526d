/*
 * pairs.h - a batch of pairs of sequences in host memory: generated (generate.c) or read from
 * files (app_reader.c).
 *
 * Letters are bytes as they came; whether they are letters of the alphabet is for the kernels and
 * the reference to say. In `letters` each sequence starts at a multiple of 4 bytes, a pair's query
 * before its target, pairs in order.
 */
#ifndef RIFT_ALIGNMENT_PAIRS_H
#define RIFT_ALIGNMENT_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/alignment/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ALIGN_INPUT_PAIRS_MAX = 1 << 20 };

enum alignment_profile {
	ALIGN_BALANCED,	 /* as many insertions as deletions, a third each */
	ALIGN_ILLUMINA,	 /* 18 substitutions to an insertion and a deletion */
	ALIGN_HIFI,	 /* 16 : 17 : 17 */
	ALIGN_ONT,	 /* a third each */
	ALIGN_BURSTY,	 /* balanced, and one deletion in ten is 5 to 50 letters long */
	ALIGN_UNRELATED, /* two random sequences, the target half as long again */
};

struct alignment_batch {
	int64_t n, capacity; /* pairs */
	struct alignment_pair *pair;
	uint8_t *letters;
	size_t bytes, bytes_capacity; /* of letters, with the padding */
	char **name;		      /* 2 a pair, query and target; NULL where generated */
};

/* Offsets are 32 bits wide. */
#define ALIGN_BYTES_MAX ((size_t)UINT32_MAX - 3)

/*
 * Appends. A sequence longer than ALIGN_LENGTH_MAX leaves no letters and a length of
 * ALIGN_TOO_LONG. Returns 0, or -E2BIG without a line when the letters no longer fit. Names are
 * copied; NULL: no names.
 */
int alignment_batch_add(struct alignment_batch *b, const uint8_t *query, size_t m,
			const uint8_t *target, size_t n, const char *query_name,
			const char *target_name);

void alignment_batch_release(struct alignment_batch *b);

/* ---- the generator ---------------------------------------------------------------------- */

struct alignment_recipe {
	int64_t pairs, length;
	enum alignment_profile profile;
	double error; /* edits for each query letter; below 0: the profile's own */
	uint64_t seed;
};

/* Edits for each query letter of a recipe. */
double alignment_error_rate(const struct alignment_recipe *r);

/*
 * Fills a zeroed batch: the same letters on every machine, integer arithmetic only. Returns 0,
 * -EINTR, or -EINVAL after a line.
 */
int alignment_generate(const struct alignment_recipe *r, struct alignment_batch *b);

/* FNV-1a, 64 bits, over bytes; state starts at ALIGN_FNV_START. */
#define ALIGN_FNV_START UINT64_C(14695981039346656037)
uint64_t alignment_fnv(uint64_t state, const void *bytes, size_t n);

/* Over every sequence followed by a zero byte, query then target, pairs in order. */
uint64_t alignment_batch_fnv(const struct alignment_batch *b);

/* ---- files ------------------------------------------------------------------------------ */

/*
 * Reads a zeroed batch from "FILE", whose records are query, target, query, ..., or from
 * "QUERIES,TARGETS". FASTA or FASTQ, as the first letter of a record says; plain or gzip. Returns
 * 0, -EINTR, or an errno after one line.
 */
int alignment_read(const char *input, struct alignment_batch *b);

#ifdef __cplusplus
}
#endif
#endif
