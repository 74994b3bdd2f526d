/* test_pattern.c - common/pattern.h: host and device agree, and find what is off. */
#include "tests/plain.h"
#include "common/pattern.h"

#include "common/cuda_check.h"
#include "tests/cli.h"

TestSuite(small_pattern, .timeout = 300);

enum { SIZE = 4096 };

Test(small_pattern, behind_the_pattern_are_guards)
{
	uint64_t part = pattern_expected(1, 5, 11), word = pattern_word(6);

	cr_assert(pattern_expected(0, 5, 11) == pattern_word(5), "whole");
	cr_assert((part & 0xffffff) == (word & 0xffffff), "three bytes");
	cr_assert(part >> 24 == PATTERN_GUARD >> 24, "five guards");
	cr_assert(pattern_expected(2, 5, 11) == PATTERN_GUARD, "all guards");
	cr_assert(pattern_expected(0, 5, 0) == PATTERN_GUARD, "nothing was copied");
}

Test(small_pattern, the_device_fills_what_the_host_expects)
{
	const uint64_t bytes[] = { 0, 1, 8, 4093, SIZE };
	char *memory, host[SIZE];

	need_device();
	pattern_load_kernels();
	CUDA(cudaMalloc((void **)&memory, SIZE));
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		pattern_fill(memory, SIZE, 77, bytes[i], 0);
		CUDA(cudaMemcpy(host, memory, SIZE, cudaMemcpyDeviceToHost));
		cr_assert(!pattern_compare_host(host, SIZE, 77, bytes[i]).words, "%lu bytes",
			  (unsigned long)bytes[i]);
	}
	CUDA(cudaFree(memory));
}

/* Two words wrong, found by both alike. */
Test(small_pattern, what_is_off_is_found)
{
	struct pattern_wrong all = pattern_all_wrong(SIZE), found, *out;
	char *memory, *host = calloc(1, SIZE);

	need_device();
	CHECK(host, "memory");
	CUDA(cudaMalloc((void **)&memory, SIZE));
	CUDA(cudaMalloc((void **)&out, sizeof(*out)));
	pattern_fill(memory, SIZE, 5, SIZE, 0);
	CUDA(cudaMemcpy(host, memory, SIZE, cudaMemcpyDeviceToHost));
	host[100] ^= 1;
	host[4095] ^= 1;
	CUDA(cudaMemcpy(memory, host, SIZE, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(out, &all, sizeof(all), cudaMemcpyHostToDevice));
	pattern_compare(memory, SIZE, 5, SIZE, out, 0);
	CUDA(cudaMemcpy(&found, out, sizeof(found), cudaMemcpyDeviceToHost));
	cr_assert(found.words == 2 && found.first == 12, "%llu words from %llu on", found.words,
		  found.first);
	found = pattern_compare_host(host, SIZE, 5, SIZE);
	cr_assert(found.words == 2 && found.first == 12, "on the host");
	cr_assert(pattern_compare_host(host, SIZE, 6, SIZE).words == SIZE / 8, "another place");
	CUDA(cudaFree(out));
	CUDA(cudaFree(memory));
	free(host);
}
