/* reference.h - the order in which pairs must be, found otherwise than the kernels do. */
#ifndef RIFT_RADIXSORT_REFERENCE_H
#define RIFT_RADIXSORT_REFERENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radixsort_pair {
	uint32_t key, value;
};

/* Key i of a slot of n, as options say. */
uint32_t radixsort_reference_key(int kind, uint32_t i, uint32_t n, uint32_t slot, uint64_t seed);

/* All pairs of a slot as steps are given them: value i is i. */
void radixsort_reference_input(struct radixsort_pair *pair, uint32_t n, int kind, uint32_t slot,
			       uint64_t seed);

/*
 * Sorts by merging, which keeps equal keys in the order that they come in. workspace: n pairs.
 */
void radixsort_reference_sort(struct radixsort_pair *pair, struct radixsort_pair *workspace,
			      int64_t n);

#ifdef __cplusplus
}
#endif
#endif
