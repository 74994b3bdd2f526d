/*
 * test_sweep_calibrate.c - harness/session/calibrate.h with a clock that is read in steps: the rate
 * of the processor's counter must come from a time that is long beside them.
 */
#include "tests/test.h"
#include "common/interrupt.h"
#include "harness/measure/measure.h"
#include "harness/session/calibrate.h"
#include "harness/platform/system.h"
#include "tests/cli.h"
#include "tests/on_cpu.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

TestSuite(small_sweep_calibrate, .timeout = 300);

static _Atomic long step_ns = 1; /* the device reads the clock too */

/* In place of the library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	t->tv_nsec -= t->tv_nsec % step_ns;
	return rc;
}

/* In front of CUDA's own. */
static int launches;

cudaError_t cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **args,
			     size_t shared, cudaStream_t stream)
{
	cudaError_t (*real)(const void *, struct dim3, struct dim3, void **, size_t, cudaStream_t) =
		(cudaError_t(*)(const void *, struct dim3, struct dim3, void **, size_t,
				cudaStream_t))dlsym(RTLD_NEXT, "cudaLaunchKernel");

	launches++;
	return real(kernel, grid, block, args, shared, stream);
}

static bool stands_still;

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
	cudaError_t (*real)(float *, cudaEvent_t, cudaEvent_t) =
		(cudaError_t(*)(float *, cudaEvent_t, cudaEvent_t))dlsym(RTLD_NEXT,
									 "cudaEventElapsedTime");

	if (!stands_still)
		return real(ms, begin, end);
	*ms = 0.5F;
	return cudaSuccess;
}

/* The CPU device's clock64() counts ns: 1000 a us. A disturbed median is tried again. */
Test(small_sweep_calibrate, cycles_and_ticks_are_in_their_units)
{
	struct canary canary;
	cudaStream_t stream;
	double best = INFINITY;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: its cycles are ns");
	cr_assert(zero(int, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)), "stream");
	canary_init(&canary, stream, false);
	for (int i = 0; i < 5 && best > 0.3; i++) {
		struct calibration c;

		step_ns = 1000;
		calibrate(&c, &canary);
		step_ns = 1;
		cr_assert(eq(dbl, fmod(c.clock_tick_ns, 1000), 0), "%g", c.clock_tick_ns);
		cr_assert(le(dbl, c.clock_tick_ns, 1e6), "%g", c.clock_tick_ns);
		cr_assert(le(dbl, c.clock_cost_ns, 1e5), "%g", c.clock_cost_ns);
		best = fmin(best, fabs(c.spin_cycles_per_us / 1000 - 1));
	}
	cr_assert(le(dbl, best, 0.3), "%g", best);
	canary_release(&canary);
}

Test(small_sweep_calibrate, a_rate_is_of_a_time_above_0)
{
	double ns[] = { 200, 100, 300 }, still[] = { 0, 0, 5 }, back[] = { -100, 4, -50 };

	cr_assert(eq(dbl, calibration_rate(ns, 3, 400), 2000), "400 in the median, 200 ns");
	cr_assert(isnan(calibration_rate(still, 3, 400)), "most of them took no time");
	cr_assert(isnan(calibration_rate(back, 3, 400)), "most of them took less than none");
	cr_assert(isnan(calibration_rate(NULL, 0, 400)), "none");
}

/* Events that are all alike: nothing holds the stream then, and no launches are tried behind it. */
Test(small_sweep_calibrate, a_clock_that_stands_still_gives_no_rate)
{
	struct calibration c;
	struct canary canary;
	cudaStream_t stream;
	json_t *o;

	need_device();
	cr_assert(zero(int, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)), "stream");
	canary_init(&canary, stream, !ON_CPU);
	cr_assert(ne(ptr, canary.begin, NULL), "events");
	stands_still = true;
	launches = 0;
	calibrate(&c, &canary);
	cr_assert(isnan(c.spin_cycles_per_us), "%g", c.spin_cycles_per_us);
	cr_assert(isnan(c.queue_depth), "%g", c.queue_depth);
	/* 16 of them tell how long to hold the stream, which a GPU is not asked for */
	if (ON_CPU)
		cr_expect(eq(int, launches, 250), "%d launches", launches);
	cr_assert(lt(int, launches, 300), "%d launches", launches);
	o = calibration_json(&c);
	cr_assert(ne(int, json_is_null(json_object_get(o, "spin_cycles_per_us")), 0), "null");
	json_decref(o);
	canary_release(&canary);
}

/* As many canaries as a window has, then as long as it is told to; a spread is a share. */
Test(small_sweep_calibrate, warm_ups_end)
{
	struct design d = design_of(true);
	struct canary canary;
	cudaStream_t stream;
	struct warm w;

	need_device();
	cr_assert(zero(int, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)), "stream");
	canary_init(&canary, stream, !ON_CPU);
	for (int64_t ms = 0; ms <= 60; ms += 60) {
		d.warmup_min_ns = d.warmup_max_ns = ms * 1000000;
		w = (struct warm){ .spread = NAN };
		cr_assert(zero(int, warm_up(&w, &canary, NULL, &d)), "%ld ms", (long)ms);
		cr_assert(le(dbl, 1e-3 * (double)ms, w.seconds), "%g s", w.seconds);
		cr_assert(le(dbl, w.seconds, 10), "%g s", w.seconds);
		cr_assert(w.canary_ns > 0 && w.canary_ns < 1e9, "%g", w.canary_ns);
		cr_assert(w.spread >= 0 && w.spread < 1, "%g", w.spread);
		cr_assert(strcmp(w.ended_by, "time") == 0 || strcmp(w.ended_by, "steady") == 0,
			  "%s", w.ended_by);
	}
	canary_release(&canary);
}

/* One without a point of its own, and as every hook says it. */
Test(small_sweep_calibrate, an_interrupt_ends_a_warm_up)
{
	const struct design d = design_of(true);
	struct canary canary;
	cudaStream_t stream;
	struct warm w = { .spread = NAN };

	need_device();
	cr_assert(zero(int, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)), "stream");
	canary_init(&canary, stream, !ON_CPU);
	interrupt_install();
	raise(SIGINT);
	cr_expect(eq(int, warm_up(&w, &canary, NULL, &d), -EINTR), "interrupted");
	canary_release(&canary);
}

#if defined(__x86_64__)
#include <x86intrin.h>

static double mhz_of_20_ms(void)
{
	int64_t start = clock_ns(), ns = 0;
	uint64_t first = __rdtsc(), last = first;

	while (ns < 20000000) {
		last = __rdtsc();
		ns = clock_ns() - start;
	}
	return 1e3 * (double)(last - first) / (double)ns;
}

/* Whoever is switched away from between the two clocks counts too few ticks, never too many. */
static double true_mhz(void)
{
	double most = 0;

	for (int i = 0; i < 5; i++)
		most = fmax(most, mhz_of_20_ms());
	return most;
}

/* Steps of 0.1 ms are 5 % of 2 ms. One in five may be disturbed by others. */
Test(small_sweep_calibrate, the_counter_is_timed_for_long_enough)
{
	struct canary canary;
	cudaStream_t stream;
	double mhz, best = INFINITY;

	need_device();
	if (!system_tsc_is_invariant())
		cr_skip("this processor's counter is no clock");
	cr_assert(zero(int, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)), "stream");
	canary_init(&canary, stream, false);
	mhz = true_mhz();
	for (int i = 0; i < 5 && best > 0.06; i++) {
		struct calibration c;

		step_ns = 100000;
		calibrate(&c, &canary);
		step_ns = 1;
		best = fmin(best, fabs(c.tsc_mhz / mhz - 1));
	}
	cr_assert(le(dbl, best, 0.06), "%g %% off %g MHz", 100 * best, mhz);
	canary_release(&canary);
}
#endif
