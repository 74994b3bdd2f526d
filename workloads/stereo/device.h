/* device.h - what the host and the kernels of the stereo workload share. */
#ifndef RIFT_STEREO_DEVICE_H
#define RIFT_STEREO_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "common/slots.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	STEREO_RADIUS = 8, /* of the window */
	STEREO_WINDOW = 2 * STEREO_RADIUS + 1,
};

struct stereo_size {
	int32_t w, h;
};

/* The images of all slots, row by row; those of slot s begin s strides behind the first. */
struct stereo_arrays {
	uint32_t *left, *right;
	int32_t *out; /* disparities */
	int64_t stride;
};

/* A launch: n steps on rows [first, end) of slots in turn. */
struct stereo_launch {
	struct stereo_arrays arrays;
	struct stereo_size size;
	int32_t first, end;
	int32_t strip; /* rows of a block */
	int32_t dmin, dmax;
	uint32_t slots;
	uint32_t steps;
	uint32_t advance; /* steps that it counts: all of them, or 0 where more launches follow */
	struct slots_counter *counter;
};

/* Rows of a block with which an image of this size is done soonest on an H200. */
int32_t stereo_strip_for(struct stereo_size size);

/* Makes the driver load the kernels. */
void stereo_load_kernels(void);

/* Enqueues the steps of a launch. */
void stereo_match(const struct stereo_launch *launch, cudaStream_t stream);

/* Enqueues: the images of one slot, at `arrays` (its slot 0), become those of the seed. */
void stereo_fill(const struct stereo_arrays *arrays, struct stereo_size size, uint32_t slot,
		 uint64_t seed, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
