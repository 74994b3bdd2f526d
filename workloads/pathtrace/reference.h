/*
 * reference.h - the path tracer in double precision on the CPU: the same paths by the same random
 * numbers, written apart from the kernel. It shares with it the scene's data and common/philox.h.
 */
#ifndef RIFT_PATHTRACE_REFERENCE_H
#define RIFT_PATHTRACE_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/pathtrace/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PT_REF_BOUNCES_MAX = 64 };

/* What is seen, how, and by which random numbers. */
struct pt_ref {
	struct pt_scene scene;
	int64_t width, height;
	int bounces, rr;
	bool nee;
	uint64_t seed;
};

/* A hit of a path: distance, point; what is carried and what has arrived when it is met. */
struct pt_ref_hit {
	double t, p[3], carried[3], light[3];
};

struct pt_ref_path {
	double light[3];
	int segments, shadows; /* rays; the last segment of a path that is lost hits nothing */
	bool lost;
	struct pt_ref_hit hit[PT_REF_BOUNCES_MAX + 1];
};

void pathtrace_ref_path(const struct pt_ref *r, int64_t pixel, uint32_t sample,
			struct pt_ref_path *out);

/* Rays of so many paths. */
struct pt_ref_rays {
	double paths, segments, shadows, lost;
};

void pathtrace_ref_count(struct pt_ref_rays *rays, const struct pt_ref_path *path);

/*
 * Mean of a pixel's first n samples; adds to *rays. Returns 0, or -EINTR. light is in units of
 * 2^-24 a sample, as a pixel's sums are, each sample at most 2^20.
 */
int pathtrace_ref_pixel(const struct pt_ref *r, int64_t pixel, uint32_t n, double mean[3],
			struct pt_ref_rays *rays);

#ifdef __cplusplus
}
#endif
#endif
