/* reference.c - pairs in the order of their keys, by merging. */
#include "workloads/radixsort/reference.h"

#include <stdbool.h>
#include <string.h>

#include "workloads/radixsort/inputs.h"

uint32_t radixsort_reference_key(int kind, uint32_t i, uint32_t n, uint32_t slot, uint64_t seed)
{
	return radixsort_key(kind, i, n, radixsort_words(i, slot, seed).word[i & 3]);
}

void radixsort_reference_input(struct radixsort_pair *pair, uint32_t n, int kind, uint32_t slot,
			       uint64_t seed)
{
	struct philox words = radixsort_words(0, slot, seed);

	for (uint32_t i = 0; i < n; i++) {
		if (!(i & 3))
			words = radixsort_words(i, slot, seed);
		pair[i] =
			(struct radixsort_pair){ radixsort_key(kind, i, n, words.word[i & 3]), i };
	}
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Two runs, [at, mid) and [mid, end), into one: of equal keys that of the first run goes first. */
static void merge_runs(struct radixsort_pair *to, const struct radixsort_pair *from, int64_t at,
		       int64_t mid, int64_t end)
{
	int64_t a = at, b = mid;

	to += at;
	while (a < mid && b < end) { /* without a branch, which nobody could foretell */
		bool second = from[b].key < from[a].key;

		*to++ = from[second ? b : a];
		b += second;
		a += !second;
	}
	memcpy(to, from + a, (size_t)(mid - a) * sizeof(*to));
	memcpy(to + (mid - a), from + b, (size_t)(end - b) * sizeof(*to));
}

void radixsort_reference_sort(struct radixsort_pair *pair, struct radixsort_pair *workspace,
			      int64_t n)
{
	struct radixsort_pair *from = pair, *to = workspace;

	for (int64_t run = 1; run < n; run *= 2) {
		struct radixsort_pair *done = to;

		for (int64_t at = 0; at < n; at += 2 * run)
			merge_runs(to, from, at, lesser(at + run, n), lesser(at + 2 * run, n));
		to = from;
		from = done;
	}
	if (from != pair)
		memcpy(pair, from, (size_t)n * sizeof(*pair));
}
