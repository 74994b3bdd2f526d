/* inputs.h - which options are priced: the same bits on the device and on the host. */
#ifndef RIFT_BLACKSCHOLES_INPUTS_H
#define RIFT_BLACKSCHOLES_INPUTS_H

#include "common/philox.h"

enum { BLACKSCHOLES_TAG = 16 }; /* of these random numbers */

struct blackscholes_option {
	float S, X, T;
};

/* Option i of a slot: the ranges of NVIDIA's BlackScholes sample. */
PHILOX_FN struct blackscholes_option blackscholes_option(uint32_t i, uint32_t slot, uint64_t seed)
{
	struct philox r = philox4x32(i, slot, BLACKSCHOLES_TAG, 0, seed);
	struct blackscholes_option o;

	o.S = philox_range(r.word[0], 5, 30);
	o.X = philox_range(r.word[1], 1, 100);
	o.T = philox_range(r.word[2], 0.25, 10);
	return o;
}

#endif
