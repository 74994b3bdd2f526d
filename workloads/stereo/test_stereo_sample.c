/*
 * test_stereo_sample.c - of many pixels the check compares some, in all slots together: how many,
 * and which faults it finds all the same. The reference is compiled into the test, so that what it
 * does by the definition can be counted.
 */
/* compiled with -O2: it computes much */
#include "tests/plain.h"
#include "workloads/stereo/reference.h"

int32_t uncounted_defined(const struct stereo_pair *p, int32_t x, int32_t y);
#define stereo_defined uncounted_defined
#include "workloads/stereo/reference.c"
#undef stereo_defined

#include "workloads/stereo/test_stereo.h"

TestSuite(large_stereo_sample, .timeout = 300);

static int64_t defined; /* pixels */

int32_t stereo_defined(const struct stereo_pair *p, int32_t x, int32_t y)
{
	defined++;
	return uncounted_defined(p, x, y);
}

enum { W = 780, H = 650, PIXELS = W * H };

/* n pixels are off by `more`, or poison: the check fails with this text; they are as before. */
static void finds(struct run *r, int64_t slot, int at, int n, int more, const char *says)
{
	int32_t *pixel = out_on_device(r, slot) + at;
	size_t bytes = (size_t)n * sizeof(*pixel);
	int32_t *keep = malloc(bytes), *other = malloc(bytes);
	struct verdict v;

	CHECK(keep && other, "memory");
	CUDA(cudaMemcpy(keep, pixel, bytes, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		other[i] = more ? keep[i] + more : 0x7f7f7f7f;
	CUDA(cudaMemcpy(pixel, other, bytes, cudaMemcpyHostToDevice));
	v = run_check(r, 2, false);
	cr_assert(!v.passed && strstr(v.worst, says), "not '%s': error %g, %s", says, v.error,
		  v.worst);
	CUDA(cudaMemcpy(pixel, keep, bytes, cudaMemcpyHostToDevice));
	free(keep);
	free(other);
}

static void exchange_slots(struct run *r, int64_t a, int64_t b)
{
	size_t bytes = (size_t)(r->o.width * r->o.height) * sizeof(int32_t);
	int32_t *keep = malloc(bytes);

	CHECK(keep, "memory");
	CUDA(cudaMemcpy(keep, out_on_device(r, a), bytes, cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(out_on_device(r, a), out_on_device(r, b), bytes, cudaMemcpyDeviceToDevice));
	CUDA(cudaMemcpy(out_on_device(r, b), keep, bytes, cudaMemcpyHostToDevice));
	free(keep);
}

Test(large_stereo_sample, faults_are_found_in_some_pixels)
{
	struct verdict v;
	struct run *r;

	need_device();
	r = run_begin(make_opts(W, H));
	run_steps(r, 2);
	v = run_check(r, 2, false);
	cr_assert(v.passed && v.total == 2 * PIXELS, "error %g: %s", v.error, v.worst);
	cr_assert(v.compared >= 18 && v.compared <= 50000, "%ld pixels", (long)v.compared);
	for (int64_t slot = 0; slot < 2; slot++) {
		finds(r, slot, 0, 1, 1, "pixel (0,0), slot ");
		finds(r, slot, PIXELS - 1, 1, -1, "pixel (779,649), slot ");
		finds(r, slot, H / 2 * W, 9 * W, 1, "pixel (");
		finds(r, slot, H / 2 * W + 77, 1, 0, "no disparity, slot ");
		finds(r, slot, 0, PIXELS, 0, "no disparity, slot ");
	}
	exchange_slots(r, 0, 1);
	v = run_check(r, 2, false);
	cr_assert(!v.passed && v.error > 20, "%g of %ld in another slot", v.error,
		  (long)v.compared);
	exchange_slots(r, 0, 1);
	v = run_check(r, 2, true);
	cr_assert(v.passed && v.compared == 2 * PIXELS, "full: error %g: %s", v.error, v.worst);
	run_end(r);
}

/* Each slot alone would be compared as a whole. */
Test(large_stereo_sample, many_slots_share_the_time_of_one)
{
	enum { SLOTS = 6 };
	struct stereo_opts o = make_opts(480, 400);
	struct verdict v;
	struct run *r;

	need_device();
	o.set.slots = SLOTS;
	r = run_begin(o);
	run_steps(r, SLOTS);
	v = run_check(r, SLOTS, false);
	cr_assert(v.passed && v.total == SLOTS * 480 * 400, "error %g: %s", v.error, v.worst);
	cr_assert(v.compared >= 18 && v.compared <= v.total / 4, "%ld", (long)v.compared);
	for (int64_t slot = 1; slot < SLOTS; slot += 2) { /* each of them is in one */
		exchange_slots(r, slot - 1, slot);
		v = run_check(r, SLOTS, false);
		cr_assert(!v.passed, "slots %ld and the one before", (long)slot);
		exchange_slots(r, slot - 1, slot);
	}
	run_reset(r);
	run_steps(r, 1);
	v = run_check(r, 1, false);
	cr_assert(v.passed && v.compared == v.total, "%ld of one slot", (long)v.compared);
	run_end(r);
}

/* By the definition a pixel takes longer, so many small images are not compared by it. */
Test(large_stereo_sample, many_small_images_are_compared_by_sums)
{
	enum { SLOTS = 64 };
	struct stereo_opts o = make_opts(80, 70);
	struct verdict v;
	struct run *r;

	need_device();
	o.set.slots = SLOTS;
	r = run_begin(o);
	for (int64_t steps = 1; steps <= SLOTS; steps += SLOTS - 1) {
		run_reset(r);
		run_steps(r, steps);
		defined = 0;
		v = run_check(r, steps, false);
		cr_assert(v.passed && v.compared == v.total, "error %g: %s", v.error, v.worst);
		cr_assert(defined == (steps == 1 ? 80 * 70 : 0), "%ld by the definition",
			  (long)defined);
	}
	run_end(r);
}
