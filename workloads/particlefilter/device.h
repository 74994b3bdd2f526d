/*
 * device.h - what the host and the kernels of the particle filter share: memory of the particles,
 * and the launches.
 *
 * Cumulative weights come in three levels: a chunk is what a block works on at a time, with
 * granularity=frame PF_EACH particles a thread; a tile is what it works on in a launch, some
 * chunks; the sums of the tiles are added up by every block of the next launch. An ancestor is
 * looked up level by level. Where L is taken relative to a maximum, weights of a chunk, chunks of a
 * tile and tiles have shifts of their own. So nothing overflows and nothing vanishes: a pair (m, s)
 * stands for s e^m.
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
	PF_THREADS = 256,
	PF_WARPS = PF_THREADS / 32,
	PF_EACH = 2, /* particles of a thread: what one waits for, the other computes */
	PF_CHUNK = PF_THREADS * PF_EACH,
	PF_TILES_MAX = 396,  /* three blocks on each multiprocessor of an H200 */
	PF_ONE_BLOCK = 1024, /* particles up to which one block does everything */
	PF_PARTICLES_MAX = 1 << 26,
	PF_TILE_CHUNKS_MAX = 332, /* of so many particles: 331 */
	PF_STAGED = 4,		  /* chunks that ancestors are looked up in at once */
	PF_TOTALS_THREADS = 1024, /* of the block that adds up chunks, with granularity=split */
};

/* What a frame comes to; one slot of the ring. */
struct pf_estimate {
	double xe, ye;	 /* row and column, before resampling */
	double sum, max; /* of weights exp(L)/N: sum x e^max */
	double ess;
	double u; /* uniform offset that the frame is resampled with */
};

/* Sums of weights, in units of e^m: the last of the inclusive sums. */
struct pf_mass {
	double m, s;
};

/* The same once more, added up in double, and of what they weigh. */
enum pf_moment {
	PF_WEIGHTS,
	PF_ROWS,
	PF_COLUMNS,
	PF_SQUARES, /* of weights, in units of e^2m */
	PF_MOMENTS
};

struct pf_moments {
	double v[PF_MOMENTS];
};

struct pf_head {
	uint32_t step;	/* 0 after a reset: which frame comes next (particle.cuh) */
	uint32_t begun; /* blocks of this launch that know it */
	double total;	/* of all inclusive sums, in units of e^max */
	double u[2];	/* uniform offsets of the last two frames: of even and odd steps */
};

/* One of two sets: of the frame before and of this one. */
struct pf_buffer {
	void *x, *y;		    /* [N] before resampling */
	void *c;		    /* [N] inclusive sums of weights within a chunk */
	double *chunk;		    /* [chunks] inclusive sums within a tile */
	double *scale;		    /* [chunks] what a chunk's unit is in the tile's; NULL: 1 */
	struct pf_mass *mass;	    /* [tiles], with split [chunks] */
	struct pf_moments *moments; /* [tiles x PF_WARPS], with split [chunks] */
};

struct pf_filter {
	struct pf_rules rules;
	int64_t particles;
	int32_t chunk;		     /* particles of a chunk */
	int32_t chunks, tile_chunks; /* in all, and of a tile */
	int32_t tiles;
	double loglik_unit; /* L is a whole number of these */
	double share;	    /* 1 / particles */
	bool single;	    /* float; else double */
	bool shifted;	    /* L relative to the maximum of its chunk */
	bool split;	    /* four launches a frame */
	bool direct;	    /* a stencil pixel by pixel; else by sums along rows */
	int8_t half_width[2 * PF_RADIUS_MAX - 1]; /* of the disk's rows, from the top */
	/* centres of disks that are inside, counted from 4, for radius 5; else 0: none */
	uint32_t inner_rows, inner_cols;
	uint32_t pitch; /* bytes from one row's sums to the next row's */

	const uint8_t *video;	 /* [frames][rows][cols] */
	const uint32_t *row_sum; /* [frames][rows][cols + 1]: of the pixels to the left */
	int32_t *lcg;		 /* [N] states; NULL with Philox */

	struct pf_head *head;
	double *tile;	    /* [tiles] of a closed frame: inclusive sums over tiles, in e^max */
	double *tile_scale; /* [tiles] what a tile's unit is in those */
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

/*
 * The estimate of the last frame, which with granularity=frame the next launch would make, and what
 * a look at the particles needs. Changes nothing else; may be called again.
 */
void particlefilter_close(const struct pf_filter *f, cudaStream_t stream);

/* The particles after the last frame, closed, by the functions that weigh and resample them. */
void particlefilter_expose(const struct pf_filter *f, const struct pf_look *look,
			   cudaStream_t stream);

/* The above in one precision; launch.c picks. */
struct pf_code {
	void (*load_kernels)(void);
	void (*frame)(const struct pf_filter *, cudaStream_t);
	void (*frames)(const struct pf_filter *, int64_t, cudaStream_t);
	void (*close)(const struct pf_filter *, cudaStream_t);
	void (*expose)(const struct pf_filter *, const struct pf_look *, cudaStream_t);
};

extern const struct pf_code particlefilter_code_double, particlefilter_code_float;

#ifdef __cplusplus
}
#endif
#endif
