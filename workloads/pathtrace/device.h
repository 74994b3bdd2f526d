/*
 * device.h - what the kernel and its host share: the scene in the kernel's form, the tally of a
 * pixel, a launch.
 */
#ifndef RIFT_PATHTRACE_DEVICE_H
#define RIFT_PATHTRACE_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "workloads/pathtrace/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PT_THREADS = 128, PT_LIGHTS = PT_QUADS, PT_BOUNCES_MAX = 64 };

/* Radiance is summed in units of 2^-24; a sample adds at most 2^20. */
enum { PT_FIXED_BITS = 24, PT_RADIANCE_MAX = 1 << 20 };

/* What random numbers are drawn for: the last word of a counter. */
enum { PT_TAG = 23 };

/* A quad for rays: n.p = d is its plane; inside it a.p + a0 and b.p + b0 are in 0 to 1. */
struct pt_plane {
	float n[3], d, a[3], a0, b[3], b0;
};

/* A ball for rays. */
struct pt_round {
	float c[3], r2;
};

/* Shading data of a surface, quads first: threads of a warp read different ones. */
struct pt_surface {
	float n[3]; /* normal; for a ball its centre */
	float r;    /* radius of a ball; 0: a quad */
	float rho[3], le[3];
	int32_t material;
};

struct pt_light {
	float q[3], u[3], v[3], n[3];
	float power[3]; /* Le x area x lights / pi */
};

/* Integers, so that sums do not depend on how samples were grouped. */
struct pt_pixel {
	int64_t sum[3];
	uint64_t segments; /* rays of paths, those to lights not counted */
	uint32_t count;	   /* samples; one that is no number is not counted */
	uint32_t lost;	   /* rays that left a closed scene */
};

/* The parameters of a launch; at most 4 KiB. */
struct pt_job {
	struct pt_plane plane[PT_QUADS];
	struct pt_round ball[PT_BALLS];
	struct pt_surface surface[PT_SURFACES];
	struct pt_light light[PT_LIGHTS];
	int32_t quads, balls, lights; /* lights: 0 where none is sampled */
	int32_t width, height, bounces, rr, nee;
	float background, eye[3];
	float right, up; /* of the view's edge, at a distance of 1 */
	uint64_t seed;
	struct pt_pixel *pixel;
};

/* Loads the kernel: the first launch takes no longer than others. */
void pathtrace_load_kernel(void);

/* Adds samples to every pixel, in blocks of so many threads, a multiple of 32. */
void pathtrace_launch(const struct pt_job *job, uint32_t samples, int threads, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
