/* device.cu - the device's end of the transfer workload: fills and compares, never copies. */
#include "common/cuda_check.h"
#include "common/gpu.h"
#include "workloads/transfer/transfer.h"

enum { THREADS = 256, BLOCKS_MAX = 2048 };

extern "C" __global__ void transfer_fill_words(uint64_t *dst, uint64_t n, uint32_t guards)
{
	uint64_t stride = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
		dst[i] = guards ? TRANSFER_GUARD : transfer_word(i);
}
KERNEL(transfer_fill_words);

extern "C" __global__ void transfer_compare_words(const uint64_t *slot, uint64_t n, uint64_t bytes,
						  uint64_t first, struct transfer_wrong *out)
{
	uint64_t stride = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
		if (slot[i] != transfer_expected(i, first, bytes)) {
			atomicAdd(&out->words, 1ull);
			atomicMin(&out->first, (unsigned long long)i);
		}
}
KERNEL(transfer_compare_words);

void transfer_load_kernels(void)
{
	struct cudaFuncAttributes ignored;

	CUDA(cudaFuncGetAttributes(&ignored, (const void *)transfer_fill_words));
	CUDA(cudaFuncGetAttributes(&ignored, (const void *)transfer_compare_words));
}

static unsigned blocks_for(uint64_t n)
{
	uint64_t blocks = (n + THREADS - 1) / THREADS;

	return (unsigned)(blocks < BLOCKS_MAX ? blocks : (uint64_t)BLOCKS_MAX);
}

void transfer_fill(void *dst, size_t bytes, bool guards)
{
	uint64_t n = bytes / 8;

	CUDA(LAUNCH(transfer_fill_words, blocks_for(n), THREADS, 0, 0, (uint64_t *)dst, n, guards));
}

void transfer_compare(const void *slot, size_t stride, int64_t bytes, uint64_t word,
		      struct transfer_wrong *out)
{
	uint64_t n = stride / 8;

	CUDA(LAUNCH(transfer_compare_words, blocks_for(n), THREADS, 0, 0, (const uint64_t *)slot, n,
		    (uint64_t)bytes, word, out));
}
