/* test_philox.c - Philox4x32-10: published answers, and the same bits on the device. */
#include "tests/test.h"
#include "common/cuda_check.h"
#include "common/philox.h"
#include "tests/cli.h"

cudaError_t philox_fill_launch(uint32_t *out, uint64_t key, uint32_t n);

TestSuite(small_philox, .timeout = 300);

static void expect_words(struct philox got, const uint32_t want[4], const char *which)
{
	for (int w = 0; w < 4; w++)
		cr_assert(eq(u32, got.word[w], want[w]), "%s, word %d", which, w);
}

/* From the generator's authors; also in the statistical tests of other implementations. */
Test(small_philox, known_answers)
{
	const uint32_t zeros[4] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 };
	const uint32_t ones[4] = { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd };
	const uint32_t pi[4] = { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 };

	expect_words(philox4x32(0, 0, 0, 0, 0), zeros, "zeros");
	expect_words(philox4x32(~0u, ~0u, ~0u, ~0u, ~UINT64_C(0)), ones, "ones");
	expect_words(philox4x32(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344,
				UINT64_C(0x299f31d0a4093822)),
		     pi, "digits of pi");
}

Test(small_philox, uniform_stays_inside_the_open_interval)
{
	cr_assert(lt(dbl, 0.0, philox_uniform(0)), "%g", philox_uniform(0));
	cr_assert(lt(dbl, philox_uniform(~0u), 1.0), "%.17g", philox_uniform(~0u));
	cr_assert(eq(dbl, philox_uniform(0x80000000u), 0.5 + 0.5 / 4294967296.0), "middle");
}

Test(small_philox, device_draws_the_same_bits)
{
	enum { N = 1000 };
	const uint64_t key = UINT64_C(0xfedcba9876543210);
	uint32_t *device = NULL, *host = malloc(16 * N);

	need_device();
	CUDA(cudaMalloc((void **)&device, 16 * N));
	CUDA(cudaMemset(device, 0, 16 * N));
	CUDA(philox_fill_launch(device, key, N));
	CUDA(cudaMemcpy(host, device, 16 * N, cudaMemcpyDeviceToHost));
	for (uint32_t i = 0; i < N; i++) {
		struct philox want = philox4x32(i, 3 * i, ~i, i << 7, key + i);

		cr_assert(zero(int, memcmp(host + 4 * i, want.word, 16)), "draw %u", i);
	}
	CUDA(cudaFree(device));
	free(host);
}
