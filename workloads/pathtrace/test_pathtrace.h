/* test_pathtrace.h - what the tests of the path tracer share: options, and runs by the hooks. */
#ifndef RIFT_PATHTRACE_TEST_H
#define RIFT_PATHTRACE_TEST_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cli.h"
#include "tests/races.h"
#include "workloads/pathtrace/pathtrace.h"

#define RUN pathtrace
#include "tests/workload_run.h"

/* A square picture, all else as by default. */
static inline struct pathtrace_opts make_opts(enum pt_scene_kind scene, int64_t side,
					      int64_t samples)
{
	return (struct pathtrace_opts){
		.samples = samples,
		.width = side,
		.height = side,
		.bounces = 8,
		.rr = 3,
		.nee = 1,
		.scene = scene,
		.seed = 1,
		.limit_ms = 0,
		.image = NULL,
	};
}

/* The caller's to free. */
static inline struct pt_pixel *run_pixels(const struct run *r)
{
	struct pt_pixel *pixel = pathtrace_read(&r->s);

	cr_assert(pixel, "pixels");
	return pixel;
}

static inline struct pt_totals run_totals(const struct run *r)
{
	struct pt_pixel *pixel = run_pixels(r);
	struct pt_totals t = pathtrace_add_up(pixel, r->o.width * r->o.height);

	free(pixel);
	return t;
}

/* What the reference is for these options. */
static inline struct pt_ref make_ref(const struct pathtrace_opts *o)
{
	return (struct pt_ref){
		.scene = pathtrace_scene((enum pt_scene_kind)o->scene),
		.width = o->width,
		.height = o->height,
		.bounces = (int)o->bounces,
		.rr = (int)o->rr,
		.nee = o->nee != 0,
		.seed = (uint64_t)o->seed,
	};
}

/* Its mean over all pixels. */
static inline void ref_mean(const struct pathtrace_opts *o, double mean[3])
{
	struct pt_ref r = make_ref(o);
	struct pt_ref_rays rays;

	memset(&rays, 0, sizeof(rays));
	mean[0] = mean[1] = mean[2] = 0;
	for (int64_t i = 0; i < r.width * r.height; i++) {
		double pixel[3];

		cr_assert(!pathtrace_ref_pixel(&r, i, (uint32_t)o->samples, pixel, &rays), "%ld",
			  (long)i);
		for (int k = 0; k < 3; k++)
			mean[k] += pixel[k] / (double)(r.width * r.height);
	}
}

#endif
