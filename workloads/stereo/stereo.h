/*
 * stereo.h - the stereo workload: disparities of two images, by sums of absolute differences over
 * windows.
 *
 * A step matches the pair of images of one slot. Options and what they mean: README.md.
 */
#ifndef RIFT_STEREO_H
#define RIFT_STEREO_H

#include "common/dataset.h"
#include "workloads/stereo/device.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	STEREO_SIDE_MAX = 32768,
	STEREO_DISPARITY_MAX = 64, /* to either side */
	STEREO_STRIP_MAX = 1024,
};

struct stereo_opts {
	int64_t width, height; /* height 0: stereo_height_for() */
	int64_t dmin, dmax;
	int64_t strip; /* 0: by the size */
	int64_t seed;
	const char *left, *right; /* PPM files; NULL: images are made */
	int64_t upload_output;	  /* 0 or 1 */
	struct dataset_opts set;
};

struct stereo_state {
	struct dataset set;
	struct stereo_size size;
	int32_t strip;		/* which it is */
	uint32_t *left, *right; /* from files; else NULL */
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int stereo_setup(const void *opts, void *state);
int stereo_reset(const void *opts, void *state, cudaStream_t stream);
int stereo_step(const void *opts, void *state, cudaStream_t stream);
int stereo_fused(const void *opts, void *state, cudaStream_t stream, int64_t n);
int stereo_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int stereo_report(const void *opts, void *state, struct report *out);
void stereo_teardown(void *state);

/* The height of images that are made. */
int32_t stereo_height_for(int32_t width);

/* The size of the images, from their files if there are any. 0, or a negative errno after one line.
 */
int stereo_image_size(const struct stereo_opts *o, struct stereo_size *size);

/* The arrays of a slot: left, right, with upload_output zeros, then disparities. */
struct dataset_shape stereo_layout(const struct stereo_opts *o, struct stereo_size size);

/*
 * Row y of the pair of a slot, as it must be on the device: read, or made anew. Written are the
 * pixels of columns [from, end) in both.
 */
struct stereo_part {
	uint32_t slot;
	int32_t y, from, end;
};

void stereo_row(const struct stereo_opts *o, const struct stereo_state *s,
		const struct stereo_part *part, uint32_t *left, uint32_t *right);

extern const struct dataset_work stereo_work;

extern const struct workload workload_stereo;

#ifdef __cplusplus
}
#endif
#endif
