/*
 * test_cpu_threads.c - how the CPU device runs threads: their order, barriers between coroutines,
 * workers. Each test is a process of its own, so settings made before the first runtime call
 * count.
 */
#include "tests/plain.h"
#include "tests/races.h"
#include "tests/cpu/test_runtime.h"

const void *k_odd_ones_wait(void);
const void *k_arrival(void);
const void *k_rotate(void);
const void *k_arrays(void);
const void *k_work(void);

TestSuite(small_cpu_threads, .timeout = 300);

static void launch_kernel(const void *kernel, unsigned grid, unsigned block, void **args)
{
	OK(cudaLaunchKernel(kernel, blocks(grid), blocks(block), args, 0, NULL));
}

/* ---- the order of threads --------------------------------------------------------------- */

static void arrivals(const char *order, const char *seed, int got[100])
{
	setenv("RIFT_CPU_ORDER", order, 1);
	setenv("RIFT_CPU_SEED", seed, 1);
	int *count = device_ints(1), *p = device_ints(100);

	launch_kernel(k_arrival(), 1, 100, (void *[]){ &count, &p });
	OK(cudaMemcpy(got, p, 100 * sizeof(int), cudaMemcpyDeviceToHost));
}

Test(small_cpu_threads, threads_run_up)
{
	int got[100];

	arrivals("up", "", got);
	for (int i = 0; i < 100; i++)
		cr_assert(got[i] == i, "%d-th: thread %d", i, got[i]);
}

Test(small_cpu_threads, threads_run_down)
{
	int got[100];

	arrivals("down", "", got);
	for (int i = 0; i < 100; i++)
		cr_assert(got[i] == 99 - i, "%d-th: thread %d", i, got[i]);
}

Test(small_cpu_threads, threads_run_at_random)
{
	int got[100], times[100] = { 0 }, in_place = 0;

	arrivals("random", "5", got);
	for (int i = 0; i < 100; i++) {
		times[got[i]]++;
		in_place += got[i] == i;
	}
	for (int i = 0; i < 100; i++)
		cr_assert(times[i] == 1, "thread %d ran %d times", i, times[i]);
	cr_assert(in_place < 30, "%d of 100 in order", in_place);
}

/* The thread sanitizer takes 0.4 ms to make a coroutine and much longer to switch among many. */
#ifdef __SANITIZE_THREAD__
enum { MOST_THREADS = 256 };
#else
enum { MOST_THREADS = 1024 };
#endif

static void rotation_holds(const char *order, const char *workers)
{
	static int got[4 * MOST_THREADS];

	setenv("RIFT_CPU_ORDER", order, 1);
	setenv("RIFT_CPU_WORKERS", workers, 1);
	int *p = device_ints(4 * MOST_THREADS);

	for (unsigned n = 1; n <= MOST_THREADS; n = n < 8 ? n + 1 : n * 5 / 3) {
		int steps = 7;

		launch_kernel(k_rotate(), 4, n, (void *[]){ &p, &steps });
		OK(cudaMemcpy(got, p, 4 * n * sizeof(int), cudaMemcpyDeviceToHost));
		for (unsigned i = 0; i < 4 * n; i++)
			cr_assert(got[i] == (int)((i % n + 7) % n),
				  "%s, %s workers, %u threads: %u: %d", order, workers, n, i,
				  got[i]);
	}
}

Test(small_cpu_threads, barriers_hold_upwards_one_worker)
{
	rotation_holds("up", "1");
}

Test(small_cpu_threads, barriers_hold_upwards_four_workers)
{
	rotation_holds("up", "4");
}

Test(small_cpu_threads, barriers_hold_downwards)
{
	rotation_holds("down", "2");
}

Test(small_cpu_threads, barriers_hold_at_random)
{
	rotation_holds("random", "2");
}

Test(small_cpu_threads, returned_threads_open_the_barrier)
{
	int *p = device_ints(1);

	for (int n = 1; n <= 100; n++) {
		int before = device_int(p);

		launch_kernel(k_odd_ones_wait(), 3, (unsigned)n, (void *[]){ &p });
		cr_assert(device_int(p) == before + 3 * n, "%d threads: %d", n,
			  device_int(p) - before);
	}
}

Test(small_cpu_threads, shared_arrays_are_apart)
{
	int got[32];
	int *p = device_ints(32);

	launch_kernel(k_arrays(), 1, 32, (void *[]){ &p });
	OK(cudaMemcpy(got, p, sizeof(got), cudaMemcpyDeviceToHost));
	for (int t = 0; t < 32; t++)
		cr_assert(got[t] == 10101 * (31 - t), "%d: %d", t, got[t]);
}

/* ---- workers ---------------------------------------------------------------------------- */

static unsigned worked(unsigned v, int rounds)
{
	for (int i = 0; i < rounds; i++)
		v = v * 1664525 + 1013904223;
	return v;
}

static void workers_share(const char *workers, const char *spin_us)
{
	static unsigned got[64 * 32];
	int rounds = 300;

	setenv("RIFT_CPU_WORKERS", workers, 1);
	setenv("RIFT_CPU_SPIN_US", spin_us, 1);
	int *p = device_ints(64 * 32);

	for (unsigned n = 1; n <= 64; n++) {
		OK(cudaMemset(p, 0, sizeof(got)));
		launch_kernel(k_work(), n, 32, (void *[]){ &p, &rounds });
		OK(cudaMemcpy(got, p, sizeof(got), cudaMemcpyDeviceToHost));
		for (unsigned i = 0; i < 64 * 32; i++)
			cr_assert(got[i] == (i < n * 32 ? worked(i, rounds) : 0),
				  "%s workers, %u blocks: thread %u", workers, n, i);
	}
}

Test(small_cpu_threads, one_worker_runs_all_blocks)
{
	workers_share("1", "200");
}

Test(small_cpu_threads, eight_workers_run_each_block_once)
{
	workers_share("8", "200");
}

Test(small_cpu_threads, workers_that_never_poll)
{
	workers_share("3", "0");
}

Test(small_cpu_threads, streams_run_side_by_side)
{
	cudaStream_t s[4];
	int *p[4], steps = RACES ? 5 : 20;

	for (int i = 0; i < 4; i++) {
		OK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
		p[i] = device_ints(40 * 64);
	}
	for (int i = 0; i < (RACES ? 20 : 80); i++)
		OK(cudaLaunchKernel(k_rotate(), blocks(40), blocks(64),
				    (void *[]){ &p[i % 4], &steps }, 0, s[i % 4]));
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 4; i++) {
		int got[64];

		OK(cudaMemcpy(got, p[i] + 39 * 64, sizeof(got), cudaMemcpyDeviceToHost));
		for (int t = 0; t < 64; t++)
			cr_assert(got[t] == (t + steps) % 64, "stream %d: %d: %d", i, t, got[t]);
	}
}
