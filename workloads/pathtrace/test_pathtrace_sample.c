/*
 * test_pathtrace_sample.c - of many paths or pixels the check walks or looks at some: how many, and
 * which faults it finds all the same. What it copies back is counted; and the reference is compiled
 * into the test, so that its rays can be.
 */
/* compiled with -O2: it computes much */
#include "tests/plain.h"
#include "tests/counted_back.h"
#include "workloads/pathtrace/reference.h"

int uncounted_pixel(const struct pt_ref *r, int64_t pixel, uint32_t n, double mean[3],
		    struct pt_ref_rays *rays);
#define pathtrace_ref_pixel uncounted_pixel
#include "workloads/pathtrace/reference.c"
#undef pathtrace_ref_pixel

#include "workloads/pathtrace/test_pathtrace.h"

TestSuite(large_pathtrace_sample, .timeout = 300);

enum { LEAST = 18 /* pixels */, RAYS = 600000 /* of pixels that are compared */ };

static double walked; /* rays, of pixels */

int pathtrace_ref_pixel(const struct pt_ref *r, int64_t pixel, uint32_t n, double mean[3],
			struct pt_ref_rays *rays)
{
	double before = rays->segments + rays->shadows;
	int err = uncounted_pixel(r, pixel, n, mean, rays);

	walked += rays->segments + rays->shadows - before;
	return err;
}

static void walks_some(struct pathtrace_opts o)
{
	struct run *r = run_begin(o);
	struct verdict v;

	run_steps(r, 1);
	walked = 0;
	v = run_check(r, 1, false);
	cr_assert(v.passed, "error %g: %s", v.error, v.worst);
	cr_assert(v.compared >= LEAST && v.compared < v.total, "%ld pixels", (long)v.compared);
	cr_assert(walked > RAYS / 2 && walked < 2 * RAYS, "%g rays", walked);
	run_end(r);
}

/* Paths of the furnace have 65 rays, of the box 7. */
Test(large_pathtrace_sample, long_paths_and_many_of_them_leave_time_for_fewer_pixels)
{
	struct pathtrace_opts o = make_opts(PT_FURNACE, 40, 32);

	need_device();
	walks_some(make_opts(PT_BOX, 32, 1024));
	o.nee = 0;
	o.rr = 1000;
	o.bounces = 64;
	walks_some(o);
}

/* ---- faults ----------------------------------------------------------------------------- */

/* What becomes of pixels. */
typedef void fault(struct pt_pixel *pixel);

static void miss_a_sample(struct pt_pixel *pixel)
{
	pixel->count--;
}

static void forget(struct pt_pixel *pixel)
{
	memset(pixel, 0, sizeof(*pixel));
}

static void poison(struct pt_pixel *pixel)
{
	memset(pixel, 0xff, sizeof(*pixel));
}

static void brighten(struct pt_pixel *pixel)
{
	pixel->sum[1] += pixel->sum[1] / 500 + 10000;
}

/* n pixels are not as they must be: the check fails with this text; they are as before. */
static void finds(struct run *r, int64_t at, int64_t n, fault *fault, const char *says)
{
	size_t bytes = (size_t)n * sizeof(struct pt_pixel);
	struct pt_pixel *keep = malloc(bytes), *other = malloc(bytes);
	struct verdict v;

	CHECK(keep && other, "memory");
	CUDA(cudaMemcpy(keep, r->s.job.pixel + at, bytes, cudaMemcpyDeviceToHost));
	memcpy(other, keep, bytes);
	for (int64_t i = 0; i < n; i++)
		fault(&other[i]);
	CUDA(cudaMemcpy(r->s.job.pixel + at, other, bytes, cudaMemcpyHostToDevice));
	v = run_check(r, 1, false);
	cr_assert(!v.passed && strstr(v.worst, says), "not '%s': error %g, %s", says, v.error,
		  v.worst);
	CUDA(cudaMemcpy(r->s.job.pixel + at, keep, bytes, cudaMemcpyHostToDevice));
	free(keep);
	free(other);
}

Test(large_pathtrace_sample, faults_are_found_in_some_pixels)
{
	enum { SIDE = 32, PIXELS = SIDE * SIDE, ROWS = 8 * SIDE };
	struct run *r;

	need_device();
	r = run_begin(make_opts(PT_BOX, SIDE, 1024));
	run_steps(r, 1);
	finds(r, 0, 1, miss_a_sample, "wrong number of samples of pixel 0, 0");
	finds(r, PIXELS - 1, 1, miss_a_sample, "wrong number of samples of pixel 31, 31");
	finds(r, PIXELS / 2, 1, forget, "wrong number of samples of pixel 0, 16");
	finds(r, 0, PIXELS, poison, "pixel");
	finds(r, 0, ROWS, brighten, "colour");
	finds(r, PIXELS / 2, ROWS, brighten, "colour");
	finds(r, PIXELS - ROWS, ROWS, brighten, "colour");
	finds(r, 0, PIXELS, brighten, "colour");
	cr_assert(run_check(r, 1, false).passed, "as before");
	run_end(r);
}

/* 80 MiB of counters: 40 are read. */
Test(large_pathtrace_sample, counters_of_large_pictures_are_looked_at_in_pieces)
{
	enum {
		WIDTH = 2048,
		HEIGHT = 1024,
		PIXELS = WIDTH * HEIGHT,
		LOOK = 1 << 20,
		STRETCH = 1 << 14, /* pieces are closer than that */
	};
	struct pathtrace_opts o = make_opts(PT_BOX, WIDTH, 1);
	struct verdict v;
	struct run *r;

	need_device();
	o.height = HEIGHT;
	o.bounces = 0;
	r = run_begin(o);
	run_steps(r, 1);
	back = 0;
	v = run_check(r, 1, false);
	cr_assert(v.passed && v.compared >= LEAST, "error %g: %s", v.error, v.worst);
	cr_assert(back <= (LOOK + (1 << 14)) * sizeof(struct pt_pixel), "%zu bytes", back);
	finds(r, 0, 1, miss_a_sample, "wrong number of samples of pixel 0, 0");
	finds(r, PIXELS - 1, 1, miss_a_sample, "wrong number of samples of pixel 2047, 1023");
	finds(r, PIXELS / 2, STRETCH, miss_a_sample, "wrong number of samples of pixel");
	finds(r, 0, PIXELS, forget, "wrong number of samples of pixel 0, 0");
	run_end(r);
}
