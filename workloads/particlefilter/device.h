/*
 * device.h - what the host and the kernels of the particle filter share: memory of the particles,
 * and the launches.
 *
 * Cumulative weights come in three levels: a chunk is PF_CHUNK particles, one a thread of a block;
 * a tile is what one block works on, some chunks; the head of it all is written by the block that
 * is done last. An ancestor is looked up level by level. Weights of a chunk, chunks of a tile and
 * tiles have shifts of their own where L is taken relative to a maximum, so nothing overflows and
 * nothing vanishes: a pair (m, s) stands for s e^m.
 *
 * Every pointer is to device memory. Arrays of void are of the particles' precision.
 */
#ifndef RIFT_PARTICLEFILTER_DEVICE_H
#define RIFT_PARTICLEFILTER_DEVICE_H

#include <cuda_runtime_api.h>

#include "workloads/particlefilter/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	PF_CHUNK = 256,
	PF_TILES_MAX = 528,  /* four blocks on each multiprocessor of an H200 */
	PF_ONE_BLOCK = 1024, /* particles up to which one block does everything */
	PF_PARTICLES_MAX = 1 << 26,
	PF_TILE_CHUNKS_MAX = 512, /* of so many particles: 497 */
	PF_TOTALS_THREADS = 1024, /* of the block that adds up chunks, with granularity=split */
};

/* What a frame comes to; one slot of the ring. */
struct pf_estimate {
	double xe, ye;	 /* row and column, before resampling */
	double sum, max; /* of weights exp(L)/N: sum x e^max */
	double ess;
	double u; /* uniform offset that the frame is resampled with */
};

/* Sums of weights, in units of e^m, and of what they weigh. */
struct pf_mass {
	double m;
	double s;	/* the last of the inclusive sums */
	double w, x, y; /* s again, but added up in double; rows and columns */
	double squares; /* of weights, in units of e^2m */
};

struct pf_head {
	uint32_t step; /* since the reset, modulo 2 (frames - 1): which frame, which buffers */
	uint32_t done; /* blocks of this launch that are done */
	double total;  /* of all inclusive sums, in units of e^max */
	double u;      /* uniform offset of the frame that was weighed last */
	double drawn;  /* by generator 0 in this frame: u, once nobody needs the old one */
};

/* One of two sets: of the frame before and of this one. */
struct pf_buffer {
	void *x, *y;   /* [N] before resampling */
	void *c;       /* [N] inclusive sums of weights within a chunk */
	double *chunk; /* [chunks] inclusive sums within a tile */
	double *scale; /* [chunks] what a chunk's unit is in the tile's; NULL: 1 */
};

struct pf_filter {
	struct pf_rules rules;
	int64_t particles;
	int32_t chunk;		     /* particles of a chunk, threads of a block */
	int32_t chunks, tile_chunks; /* in all, and of a tile */
	int32_t tiles;
	double loglik_unit; /* L is a whole number of these */
	double share;	    /* 1 / particles */
	bool single;	    /* float; else double */
	bool shifted;	    /* L relative to the maximum of its chunk */
	bool split;	    /* four launches a frame */
	bool direct;	    /* a stencil pixel by pixel; else by sums along rows */
	int8_t half_width[2 * PF_RADIUS_MAX - 1]; /* of the disk's rows, from the top */

	const uint8_t *video;	 /* [frames][rows][cols] */
	const uint32_t *row_sum; /* [frames][rows][cols + 1]: of the pixels to the left */
	int32_t *lcg;		 /* [N] states; NULL with Philox */

	struct pf_head *head;
	struct pf_mass *mass; /* [tiles], or [chunks] with split */
	double *tile;	      /* [tiles] inclusive sums over tiles, in units of e^max */
	double *tile_scale;   /* [tiles] what a tile's unit is in those */
	struct pf_buffer buffer[2];
	struct pf_estimate *ring; /* [frames - 1], slot k - 1 */

	/* granularity=split */
	void *w;			 /* [N] weights, in units of their chunk */
	double *sum;			 /* [N] inclusive sums of normalised weights */
	void *resampled_x, *resampled_y; /* [N] */
};

/* What a look at the particles after a frame shows, all [N]: device memory. */
struct pf_look {
	double *x, *y, *loglik, *w, *c; /* weights that add up to 1, and their inclusive sums */
	int32_t *ancestor;
};

/* Loads every kernel: none is first loaded between two clocks. */
void particlefilter_load_kernels(const struct pf_filter *f);

/* One frame, by the launches of the filter's granularity. */
void particlefilter_frame(const struct pf_filter *f, cudaStream_t stream);

/* n frames in one launch: of PF_ONE_BLOCK particles or fewer, not split. */
void particlefilter_frames(const struct pf_filter *f, int64_t n, cudaStream_t stream);

/* The particles after the last frame, by the functions that weigh and resample them. */
void particlefilter_expose(const struct pf_filter *f, const struct pf_look *look,
			   cudaStream_t stream);

/* The above in one precision; launch.c picks. */
struct pf_code {
	void (*load_kernels)(void);
	void (*frame)(const struct pf_filter *, cudaStream_t);
	void (*frames)(const struct pf_filter *, int64_t, cudaStream_t);
	void (*expose)(const struct pf_filter *, const struct pf_look *, cudaStream_t);
};

extern const struct pf_code particlefilter_code_double, particlefilter_code_float;

#ifdef __cplusplus
}
#endif
#endif
