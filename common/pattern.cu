/* pattern.cu - fills and compares memory of the device; see pattern.h. */
#include "common/pattern.h"

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"

enum { THREADS = 256, BLOCKS_MAX = 2048 };

extern "C" __global__ void pattern_fill_words(uint64_t *dst, uint64_t n, uint64_t first,
					      uint64_t bytes)
{
	uint64_t stride = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
		dst[i] = pattern_expected(i, first, bytes);
}
KERNEL(pattern_fill_words);

extern "C" __global__ void pattern_compare_words(const uint64_t *src, uint64_t n, uint64_t first,
						 uint64_t bytes, struct pattern_wrong *out)
{
	uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
	unsigned long long right = 0;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
		if (src[i] == pattern_expected(i, first, bytes))
			right++;
		else
			atomicMin(&out->first, (unsigned long long)i);
	}
	if (right)
		atomicAdd(&out->words, 0 - right); /* modulo 2^64: less */
}
KERNEL(pattern_compare_words);

void pattern_load_kernels(void)
{
	device_load_kernel((const void *)pattern_fill_words);
	device_load_kernel((const void *)pattern_compare_words);
}

static unsigned blocks_for(uint64_t n)
{
	uint64_t blocks = (n + THREADS - 1) / THREADS;

	return (unsigned)(blocks < BLOCKS_MAX ? blocks : (uint64_t)BLOCKS_MAX);
}

void pattern_fill(void *dst, size_t size, uint64_t first, uint64_t bytes, cudaStream_t stream)
{
	uint64_t n = size / 8;

	CUDA(LAUNCH(pattern_fill_words, blocks_for(n), THREADS, 0, stream, (uint64_t *)dst, n,
		    first, bytes));
}

void pattern_compare(const void *src, size_t size, uint64_t first, uint64_t bytes,
		     struct pattern_wrong *out, cudaStream_t stream)
{
	uint64_t n = size / 8;

	CUDA(LAUNCH(pattern_compare_words, blocks_for(n), THREADS, 0, stream, (const uint64_t *)src,
		    n, first, bytes, out));
}
