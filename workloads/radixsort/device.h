/* device.h - what the host and the kernels of the radixsort workload share. */
#ifndef RIFT_RADIXSORT_DEVICE_H
#define RIFT_RADIXSORT_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/slots.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	RADIXSORT_PASSES = 4, /* of 8 bits, whatever the keys are */
	RADIXSORT_DIGITS = 256,
	RADIXSORT_ARRAYS = 2,	  /* keys, values */
	RADIXSORT_BIN_COPIES = 4, /* of the bins in global memory: fewer blocks share a bin */
	RADIXSORT_ONE_MAX = 4096, /* pairs that one block sorts */
};

/*
 * The arrays of all slots, of `stride` words each, a multiple of 4; what is behind the pairs stays
 * as it is.
 */
struct radixsort_arrays {
	uint32_t *in[RADIXSORT_ARRAYS], *out[RADIXSORT_ARRAYS];
	int64_t stride;
};

/* Sizes of tiles, in the order of their pairs. */
enum radixsort_size {
	RADIXSORT_TINY,
	RADIXSORT_NARROW,
	RADIXSORT_MIDDLE,
	RADIXSORT_BROAD,
	RADIXSORT_WIDE,
	RADIXSORT_SIZES,
};

/*
 * What the launches of a sort share. The bins of all digits come in several copies, as blocks that
 * add to one bin wait for each other. All are zero when a sort begins and when it has ended. Behind
 * them follow the tile statuses: for each pass, tile and digit a word with the number of such keys.
 */
struct radixsort_board {
	uint32_t count[RADIXSORT_BIN_COPIES][RADIXSORT_PASSES][RADIXSORT_DIGITS];
};

/* Sorts, each of the next slot: `steps` of up to RADIXSORT_ONE_MAX pairs, else one. */
struct radixsort_launch {
	struct radixsort_arrays arrays;
	uint32_t *between[RADIXSORT_ARRAYS]; /* workspace: the pairs between two passes */
	struct radixsort_board *board;
	uint32_t n; /* pairs, below 2^30 */
	uint32_t slots;
	uint32_t steps;
	uint32_t advance; /* what the step counter rises by: `steps` or 0 */
	enum radixsort_size size;
	bool pdl;	      /* programmatic dependent launches; they also want: */
	uint32_t processors;  /* SMs of the device */
	uint32_t alone_bytes; /* shared memory of a block that has an SM to itself; 0: not possible
			       */
	struct slots_counter *counter;
};

/* The size of tiles for n pairs; all sizes sort any number. */
enum radixsort_size radixsort_size_for(int64_t n);

/* Shared memory of a block with such a tile. */
size_t radixsort_tile_bytes(enum radixsort_size size);

/* Bytes of the board of a sort; 0 where one block sorts. */
int64_t radixsort_board_bytes(int64_t n, enum radixsort_size size);

/* Launches of a sort. */
int radixsort_launches(int64_t n);

/* Makes the driver load the kernels of such a sort, of one block, and of inputs. */
void radixsort_load_kernels(const struct radixsort_launch *launch);

/* Enqueues the sorts of a launch. */
void radixsort_sort(const struct radixsort_launch *launch, cudaStream_t stream);

/* Enqueues: the inputs of one slot, n pairs at `arrays` (its slot 0), kind: enum radixsort_keys. */
void radixsort_fill(const struct radixsort_arrays *arrays, int64_t n, uint32_t slot, int kind,
		    uint64_t seed, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
