/*
 * test_runtime_kernel.c - what kernels may use, against answers worked out on the host: shared
 * memory, barriers, warp operations, publication between blocks, atomics, intrinsics.
 */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

const void *k_reduce_static(void);
const void *k_reduce_dynamic(void);
const void *k_early_return(void);
const void *k_block_scan(void);
const void *k_masks(void);
const void *k_partial_warp(void);
const void *k_match(void);
const void *k_lanes_leave(void);
const void *k_look_back(void);
const void *k_last_block(void);
const void *k_atomics(void);
const void *k_intrinsics(void);
cudaError_t launch_scaled(int *i, double *d);

TestSuite(small_runtime_kernel, .timeout = 300);

enum { N = 16384 };

/* Device memory with n ints of a fixed pattern, also left in host[]. */
static int *pattern(int *host, int n)
{
	int *p = device_ints((size_t)n);

	for (int i = 0; i < n; i++)
		host[i] = i * 7 % 11 - 3;
	OK(cudaMemcpy(p, host, (size_t)n * sizeof(int), cudaMemcpyHostToDevice));
	return p;
}

static void fetch(void *host, const void *device, size_t bytes)
{
	OK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

static int sum(const int *x, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += x[i];
	return s;
}

Test(small_runtime_kernel, shared_memory_reduction)
{
	static int x[N], got[N / 32];

	NEED_DEVICE();
	int *dx = pattern(x, N), *ds = device_ints(N / 32);
	void *args[] = { &dx, &ds };

	OK(cudaLaunchKernel(k_reduce_static(), blocks(N / 256), blocks(256), args, 0, NULL));
	fetch(got, ds, N / 256 * sizeof(int));
	for (int b = 0; b < N / 256; b++)
		cr_assert(got[b] == sum(x + b * 256, 256), "block %d: %d", b, got[b]);
	for (int threads = 32; threads <= 1024; threads *= 2) {
		OK(cudaLaunchKernel(k_reduce_dynamic(), blocks((unsigned)(N / threads)),
				    blocks((unsigned)threads), args, (size_t)threads * sizeof(int),
				    NULL));
		fetch(got, ds, (size_t)(N / threads) * sizeof(int));
		for (int b = 0; b < N / threads; b++)
			cr_assert(got[b] == sum(x + b * threads, threads),
				  "%d threads: block %d: %d", threads, b, got[b]);
	}
}

Test(small_runtime_kernel, returned_threads_count_as_arrived)
{
	static const int want[] = { 70, 24, 1, 1, 0, 0 };
	int got[6], n = 70;

	NEED_DEVICE();
	int *p = device_ints(6);

	OK(cudaLaunchKernel(k_early_return(), blocks(1), blocks(100), (void *[]){ &p, &n }, 0,
			    NULL));
	fetch(got, p, sizeof(got));
	for (int i = 0; i < 6; i++)
		cr_assert(got[i] == want[i], "%d: %d, not %d", i, got[i], want[i]);
}

Test(small_runtime_kernel, scan_of_whole_blocks)
{
	static int x[N], y[N];

	NEED_DEVICE();
	int *dx = pattern(x, N), *dy = device_ints(N);

	for (int threads = 32; threads <= 1024; threads += 96) {
		int n_blocks = N / threads, s = 0;

		OK(cudaLaunchKernel(k_block_scan(), blocks((unsigned)n_blocks),
				    blocks((unsigned)threads), (void *[]){ &dx, &dy }, 0, NULL));
		fetch(y, dy, sizeof(y));
		for (int i = 0; i < n_blocks * threads; i++) {
			s = i % threads ? s + x[i] : x[i];
			cr_assert(y[i] == s, "%d threads, element %d: %d, not %d", threads, i, y[i],
				  s);
		}
	}
}

Test(small_runtime_kernel, divergent_masks)
{
	int got[64], r[32];

	NEED_DEVICE();
	int *p = device_ints(64);

	OK(cudaLaunchKernel(k_masks(), blocks(1), blocks(64), (void *[]){ &p }, 0, NULL));
	fetch(got, p, sizeof(got));
	for (int lane = 0; lane < 32; lane++)
		r[lane] = lane < 8 ? (lane + 1) % 8 * 10 : lane < 24 ? lane ^ 1 : 32 - lane;
	r[24] = -1; /* took part in no vote */
	for (int t = 0; t < 64; t++) {
		int lane = t % 32, other = lane % 8 < 4 ? lane + 4 : lane;

		cr_assert(got[t] == r[lane] * 100 + r[other], "thread %d: %d", t, got[t]);
	}
}

Test(small_runtime_kernel, warp_with_eight_lanes)
{
	long long got[40];

	NEED_DEVICE();
	int *p = device_ints(80);

	OK(cudaLaunchKernel(k_partial_warp(), blocks(1), blocks(40), (void *[]){ &p }, 0, NULL));
	fetch(got, p, sizeof(got));
	for (int t = 0; t < 40; t++) {
		long long odd = t < 32 ? 0xaaaaaaaall : 0xaa, second = t >= 32;
		long long up = t % 32 < 3 ? t : t - 3;
		long long want = odd | second << 32 | second << 33 | up << 40;

		cr_assert(got[t] == want, "thread %d: %llx, not %llx", t, got[t], want);
	}
}

Test(small_runtime_kernel, match_finds_equal_lanes)
{
	unsigned got[32];

	NEED_DEVICE();
	int *p = device_ints(32);

	for (int group = 1; group <= 32; group++) {
		OK(cudaLaunchKernel(k_match(), blocks(1), blocks(32), (void *[]){ &p, &group }, 0,
				    NULL));
		fetch(got, p, sizeof(got));
		for (int t = 0; t < 32; t++) {
			unsigned want = 0;

			for (int other = 0; other < 32; other++)
				want |= (unsigned)(other / group == t / group) << other;
			cr_assert(got[t] == want, "groups of %d, lane %d: %x", group, t, got[t]);
		}
	}
}

Test(small_runtime_kernel, lanes_that_returned_are_not_waited_for)
{
	unsigned got[32];

	NEED_DEVICE();
	int *p = device_ints(32);

	for (int n = 1; n <= 31; n++) {
		unsigned want = ((1u << n) - 1) ^ 5;

		OK(cudaLaunchKernel(k_lanes_leave(), blocks(1), blocks(32), (void *[]){ &p, &n }, 0,
				    NULL));
		fetch(got, p, sizeof(got));
		for (int t = 0; t < n; t++)
			cr_assert(got[t] == want, "%d lanes, lane %d: %x, not %x", n, t, got[t],
				  want);
	}
}

Test(small_runtime_kernel, blocks_look_back)
{
	static int got[500];

	NEED_DEVICE();
	int *ready = device_ints(500), *sums = device_ints(500);

	OK(cudaLaunchKernel(k_look_back(), blocks(500), blocks(32), (void *[]){ &ready, &sums }, 0,
			    NULL));
	fetch(got, sums, sizeof(got));
	for (int b = 0; b < 500; b++)
		cr_assert(got[b] == b * (b + 1) / 2, "block %d: %d", b, got[b]);
}

Test(small_runtime_kernel, last_block_sees_all_others)
{
	NEED_DEVICE();
	int *n_done = device_ints(1), *parts = device_ints(300), *total = device_ints(1);

	for (int round = 0; round < 20; round++) {
		OK(cudaMemset(n_done, 0, sizeof(int)));
		OK(cudaLaunchKernel(k_last_block(), blocks(300), blocks(32),
				    (void *[]){ &n_done, &parts, &total }, 0, NULL));
		cr_assert(device_int(total) == 45150, "round %d: %d", round, device_int(total));
	}
}

Test(small_runtime_kernel, atomics_lose_nothing)
{
	int i[5] = { 0, 0, 0, 0, 0 };
	unsigned u[6] = { ~0u, 0, 0, 0, 0, 0 };
	unsigned long long l;
	float f;
	double d;

	NEED_DEVICE();
	int *di = device_ints(5), *du = device_ints(6), *dl = device_ints(2);
	int *df = device_ints(1), *dd = device_ints(2);

	OK(cudaMemcpy(du, u, sizeof(u), cudaMemcpyHostToDevice));
	OK(cudaLaunchKernel(k_atomics(), blocks(40), blocks(64),
			    (void *[]){ &di, &du, &dl, &df, &dd }, 0, NULL));
	fetch(i, di, sizeof(i));
	fetch(u, du, sizeof(u));
	fetch(&l, dl, sizeof(l));
	fetch(&f, df, sizeof(f));
	fetch(&d, dd, sizeof(d));
	/* 2560 threads: 80 for each of 32 bits, 256 rounds of a counter modulo 10 */
	cr_assert(i[0] == 2560 * 2559 / 2 && i[1] == -2560, "%d %d", i[0], i[1]);
	cr_assert(i[2] == -2559 && i[3] == 2559 && i[4] == 7, "%d %d %d", i[2], i[3], i[4]);
	cr_assert(u[0] == 0 && u[1] == ~0u && u[2] == 0, "%x %x %x", u[0], u[1], u[2]);
	cr_assert(u[3] == 0 && u[4] == 0 && u[5] == 5120, "%u %u %u", u[3], u[4], u[5]);
	cr_assert(l == 2560ull << 32, "%llx", l);
	cr_assert(f == 1280 && d == 640, "%g %g", f, d);
}

Test(small_runtime_kernel, intrinsics_mean_what_cuda_says)
{
	static const int want[] = {
		8 + 64,
		31 + 32 + 63,
		0 + 4 + 41,
		128 + 1,
		(1 << 4 | 8) + 1, /* bits that cross from one word into the other */
		2 + 2 + 1,
		(127 << 23) + 2,
		-2 + 4 + 2,
		4,
		4 + 2,
	};
	static const float fast[] = { 2.7182817f, 0.6931472f, 0.25f, 0.125f, 32, 1 };
	int got[10];
	float f[6];

	NEED_DEVICE();
	int host[2], *x = pattern(host, 2), *p = device_ints(10), *q = device_ints(6);

	OK(cudaLaunchKernel(k_intrinsics(), blocks(1), blocks(1), (void *[]){ &x, &p, &q }, 0,
			    NULL));
	fetch(got, p, sizeof(got));
	fetch(f, q, sizeof(f));
	for (int i = 0; i < 10; i++)
		cr_assert(got[i] == want[i], "%d: %d, not %d", i, got[i], want[i]);
	for (int i = 0; i < 6; i++) /* __powf is good to about 1e-6 here */
		cr_assert(fabsf(f[i] - fast[i]) <= 1e-5f * fast[i], "%d: %g, not %g", i, f[i],
			  fast[i]);
}

Test(small_runtime_kernel, templates_with_commas_launch)
{
	int got[8];
	double real[8];

	NEED_DEVICE();
	int *i = device_ints(8), *d = device_ints(16);

	OK(launch_scaled(i, (double *)d));
	fetch(got, i, sizeof(got));
	fetch(real, d, sizeof(real));
	cr_assert(got[0] == 15 && got[7] == 15, "%d %d", got[0], got[7]);
	cr_assert(real[0] == 10 && real[7] == 10, "%g %g", real[0], real[7]);
}
