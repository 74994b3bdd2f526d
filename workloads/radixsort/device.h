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
	RADIXSORT_PLACES = 4,	  /* where the digits of all keys are counted */
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

/* Of tiles. */
enum radixsort_size {
	RADIXSORT_TINY,
	RADIXSORT_NARROW,
	RADIXSORT_MIDDLE,
	RADIXSORT_BROAD,
	RADIXSORT_WIDE,
	RADIXSORT_SIZES,
};

/*
 * What the launches of a sort tell each other. Keys of each digit are counted in several places, as
 * blocks wait for each other at one; counts are zero when a sort begins, and when it has ended. For
 * each pass a word of each digit for each tile follows, through which the tile's number of such
 * keys is made known.
 */
struct radixsort_board {
	uint32_t count[RADIXSORT_PLACES][RADIXSORT_PASSES][RADIXSORT_DIGITS];
};

/* Sorts, each of the next slot: `steps` of up to RADIXSORT_ONE_MAX pairs, else one. */
struct radixsort_launch {
	struct radixsort_arrays arrays;
	uint32_t *between[RADIXSORT_ARRAYS]; /* room for the pairs between two passes */
	struct radixsort_board *board;
	uint32_t n; /* pairs, below 2^30 */
	uint32_t slots;
	uint32_t steps;
	uint32_t advance; /* steps that are counted: these or none */
	enum radixsort_size size;
	bool overlaps;	      /* its launches may overlap the ones before; then also: */
	uint32_t processors;  /* SMs of the device */
	uint32_t alone_bytes; /* shared memory with which a block has an SM to itself; 0: none */
	struct slots_counter *counter;
};

/* Which tiles are meant for so many pairs; all are right for any number. */
enum radixsort_size radixsort_size_for(int64_t n);

/* Shared memory that a block with such a tile takes. */
size_t radixsort_tile_bytes(enum radixsort_size size);

/* Of the board of a sort; none for one block. */
int64_t radixsort_board_bytes(int64_t n, enum radixsort_size size);

/* Of a sort. */
int radixsort_launches(int64_t n);

/* Makes the driver load what such a sort takes, and the kernels of one block and of inputs. */
void radixsort_load_kernels(const struct radixsort_launch *launch);

/* Enqueues. */
void radixsort_sort(const struct radixsort_launch *launch, cudaStream_t stream);

/* Enqueues: the inputs of one slot, n pairs at `arrays` (its slot 0), kind: enum radixsort_keys. */
void radixsort_fill(const struct radixsort_arrays *arrays, int64_t n, uint32_t slot, int kind,
		    uint64_t seed, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
