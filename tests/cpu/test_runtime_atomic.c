/* test_runtime_atomic.c - atomic functions: each with each type, 1024 threads at once. */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

enum { SUM = 1023 * 1024 / 2 };

const void *k_atomic(int which);
const void *k_atomic_others(void);

TestSuite(small_runtime_atomic, .timeout = 300);

static int64_t word(const int *p, int bytes, int i, int is_signed)
{
	const int64_t *wide = (const int64_t *)p;

	if (bytes == 8)
		return wide[i];
	return is_signed ? p[i] : (int64_t)(unsigned)p[i];
}

/* The eight words of test_runtime_atomic.cu; p[6] starts with all bits, the others with none. */
static void check_words(int which, int bytes, int is_signed)
{
	int64_t mask = bytes == 4 && !is_signed ? (int64_t)UINT32_MAX : -1;
	/* As unsigned the numbers below 0 are the highest, -1 above all. */
	int64_t low = is_signed ? -500 : 0, high = is_signed ? 523 : -1 & mask;
	const int64_t want[] = {
		SUM, -SUM & mask, low, 0, 0xffff, 0, mask & ~(int64_t)0xffff, 1024
	};
	int host[16] = { 0 };
	int *p = device_ints(16);

	OK(cudaMemset((char *)p + 6 * bytes, 0xff, (size_t)bytes));
	OK(cudaLaunchKernel(k_atomic(which), blocks(8), blocks(128), (void *[]){ &p }, 0, NULL));
	OK(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++) {
		int64_t got = word(host, bytes, i, is_signed);

		cr_assert(got == (i == 3 ? high : want[i]), "kernel %d word %d: %lld", which, i,
			  (long long)got);
	}
	OK(cudaFree(p));
}

Test(small_runtime_atomic, integers)
{
	NEED_DEVICE();
	check_words(0, 4, 1);
	check_words(1, 4, 0);
	check_words(2, 8, 1);
	check_words(3, 8, 0);
}

Test(small_runtime_atomic, floating_point_exchange_and_wrapping_counters)
{
	float f[2];
	double d[2];
	unsigned u[5];
	int i[2];
	unsigned long long l[2];

	NEED_DEVICE();
	int *p = device_ints(64);
	void *at[] = { p, p + 8, p + 16, p + 24, p + 32 };

	OK(cudaLaunchKernel(k_atomic_others(), blocks(8), blocks(128),
			    (void *[]){ &at[0], &at[1], &at[2], &at[3], &at[4] }, 0, NULL));
	OK(cudaMemcpy(f, at[0], sizeof(f), cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(d, at[1], sizeof(d), cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(i, at[2], sizeof(i), cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(u, at[3], sizeof(u), cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(l, at[4], sizeof(l), cudaMemcpyDeviceToHost));
	cr_assert(f[0] == 1024 && d[0] == 1024, "%g %g", f[0], d[0]);
	cr_assert(f[1] + d[1] == SUM, "%g", f[1] + d[1]);
	cr_assert(i[0] + i[1] == SUM, "%d", i[0] + i[1]);
	cr_assert(u[0] + u[1] == SUM, "%u", u[0] + u[1]);
	cr_assert(l[0] + l[1] == SUM, "%llu", l[0] + l[1]);
	cr_assert(u[2] == 1024 % 100, "%u", u[2]);
	cr_assert(u[4] == 1024, "%u", u[4]);
	cr_assert(u[3] == 99 - (1024 - 1) % 100, "%u", u[3]);
}
