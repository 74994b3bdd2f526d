/* inputs.h - which keys are sorted: the same on the device and on the host. */
#ifndef RIFT_RADIXSORT_INPUTS_H
#define RIFT_RADIXSORT_INPUTS_H

#include "common/philox.h"

enum { RADIXSORT_TAG = 22 }; /* of these random numbers */

enum radixsort_keys {
	RADIXSORT_UNIFORM,
	RADIXSORT_FEW, /* 16 different ones */
	RADIXSORT_EQUAL,
	RADIXSORT_SORTED,
	RADIXSORT_REVERSE,
	RADIXSORT_TOPBYTE, /* three passes find nothing to do */
};

/* Keys i to i + 3 draw from one block of random numbers; i is a multiple of 4. */
PHILOX_FN struct philox radixsort_words(uint32_t i, uint32_t slot, uint64_t seed)
{
	return philox4x32(i >> 2, slot, RADIXSORT_TAG, 0, seed);
}

/* Key i of n, for which the word w was drawn. */
PHILOX_FN uint32_t radixsort_key(int kind, uint32_t i, uint32_t n, uint32_t w)
{
	switch (kind) {
	case RADIXSORT_FEW:
		return (w & 15) * 0x11111111u;
	case RADIXSORT_EQUAL:
		return 0x5a5a5a5au;
	case RADIXSORT_SORTED:
		return i;
	case RADIXSORT_REVERSE:
		return n - 1 - i;
	case RADIXSORT_TOPBYTE:
		return w & 0xff000000u;
	default:
		return w;
	}
}

#endif
