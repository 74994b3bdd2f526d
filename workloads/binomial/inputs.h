/* inputs.h - which options are priced. */
#ifndef RIFT_BINOMIAL_INPUTS_H
#define RIFT_BINOMIAL_INPUTS_H

#include "common/philox.h"

enum { BINOMIAL_TAG = 17 }; /* of these random numbers */

enum { BINOMIAL_YEARS_MAX = 10, BINOMIAL_PRICE_MAX = 30 };

/* The price of a share, what an option on it costs to use, and when that may be. */
struct binomial_input {
	float S, X, T;
};

/* Option i of a slot: the ranges of NVIDIA's binomialOptions sample. */
PHILOX_FN struct binomial_input binomial_input(uint32_t i, uint32_t slot, uint64_t seed)
{
	struct philox r = philox4x32(i, slot, BINOMIAL_TAG, 0, seed);
	struct binomial_input o;

	o.S = philox_range(r.word[0], 5, BINOMIAL_PRICE_MAX);
	o.X = philox_range(r.word[1], 1, 100);
	o.T = philox_range(r.word[2], 0.25, BINOMIAL_YEARS_MAX);
	return o;
}

#endif
