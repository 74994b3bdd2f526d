/*
 * test_sweep_canary.c - harness/session/canary.h: the canary is timed by the device's own clock.
 * Between two events lies also what the host takes to submit the kernel; here that is 50 ms, 200
 * times what a canary takes, so that a machine that is busy makes no difference.
 */
#include "tests/test.h"
#include "harness/session/canary.h"
#include "tests/cpu/test_runtime.h"

#include <dlfcn.h>
#include <time.h>

TestSuite(small_sweep_canary, .timeout = 300);

/* LEAST: 400000 cycles at 4 GHz, and 120000 multiply-adds of 4 cycles at 5 GHz, take longer. */
enum { HOST_NS = 50000000, FAR_BELOW_NS = HOST_NS / 2, LEAST_NS = 90000, RUNS = 3 };

/* The host is slow to submit, on a GPU as on the CPU device: in front of CUDA's own. */
static bool slow_to_submit;

cudaError_t cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **args,
			     size_t shared, cudaStream_t stream)
{
	cudaError_t (*real)(const void *, struct dim3, struct dim3, void **, size_t, cudaStream_t) =
		(cudaError_t(*)(const void *, struct dim3, struct dim3, void **, size_t,
				cudaStream_t))dlsym(RTLD_NEXT, "cudaLaunchKernel");
	const struct timespec delay = { 0, HOST_NS };

	if (slow_to_submit)
		nanosleep(&delay, NULL);
	return real(kernel, grid, block, args, shared, stream);
}

/* The shortest of a few: one may have been interrupted. */
static int64_t canary_ns(void)
{
	struct canary c;
	cudaStream_t stream;
	int64_t least = INT64_MAX;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	canary_init(&c, stream, false);
	for (int i = 0; i < RUNS; i++) {
		int64_t ns = canary_run(&c);

		least = ns < least ? ns : least;
	}
	canary_release(&c);
	OK(cudaStreamDestroy(stream));
	return least;
}

static void must_be_a_canary(int64_t ns)
{
	cr_assert(le(i64, LEAST_NS, ns), "the kernel's work is in it");
	cr_assert(lt(i64, ns, FAR_BELOW_NS), "the host's is not");
}

/* On a GPU the variable is without effect; the next test slows the host there too. */
Test(small_sweep_canary, what_a_launch_costs_the_host_is_not_in_it)
{
	setenv("RIFT_CPU_LAUNCH_NS", "50000000", 1);
	NEED_DEVICE();
	must_be_a_canary(canary_ns());
}

Test(small_sweep_canary, nor_is_how_late_the_host_submits)
{
	NEED_DEVICE();
	slow_to_submit = true;
	must_be_a_canary(canary_ns());
}

Test(small_sweep_canary, its_time_says_the_clock_of_a_gpu)
{
	const struct canary gpu = { .is_gpu = true }, cpu = { .is_gpu = false };

	cr_assert(eq(dbl, canary_mhz(&gpu, 200000), 2000), "400000 cycles in 200 us");
	cr_assert(ne(int, isnan(canary_mhz(&gpu, 0)), 0), "no time");
	cr_assert(ne(int, isnan(canary_mhz(&cpu, 200000)), 0), "CPU device");
}
