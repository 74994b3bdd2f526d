/*
 * reference.h - distances and CIGARs in plain scalar arithmetic, one cell after the other: what
 * the kernels are checked against. Shares no code with them.
 *
 * Letters are folded to upper case first where `fold` is set.
 */
#ifndef RIFT_ALIGNMENT_REFERENCE_H
#define RIFT_ALIGNMENT_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A pair's letters, as the reference and the check look at them. */
struct alignment_view {
	const uint8_t *query, *target;
	int64_t m, n;
	bool fold;
};

/* Offset of the first byte that is no letter of ACGTN, in query, else m + in target; -1: none. */
int64_t alignment_bad_letter(const struct alignment_view *v);

/*
 * Edit distance by Ukkonen's band of diagonals, doubled until it is proven. `most`: gives up and
 * returns -1 once the distance is known to be larger; below 0: never.
 */
int64_t alignment_distance(const struct alignment_view *v, int64_t most);

/*
 * The CIGAR by the full table of (m + 1) * (n + 1) cells. The walk from the end prefers I to D to a
 * diagonal, which is edlib's choice among the best. Returns the number of runs, forward, in
 * *runs (to be freed), or -1 where the table would have more than ALIGN_TABLE_MAX cells.
 */
#define ALIGN_TABLE_MAX (INT64_C(1) << 24)
int64_t alignment_path(const struct alignment_view *v, uint32_t **runs);

/*
 * Follows a CIGAR through both sequences. Its cost, or -1 where it is none of these two: an
 * operation that does not fit the letters, a run of no length, two runs that should be one, or
 * letters left over.
 */
int64_t alignment_replay(const struct alignment_view *v, const uint32_t *runs, int64_t n);

/*
 * Writes it as text, extended (= X I D) or classic (M I D, neighbours merged), ended by a zero.
 * Returns the length that it has or would have had.
 */
int64_t alignment_cigar_text(const uint32_t *runs, int64_t n, bool classic, char *text,
			     int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
