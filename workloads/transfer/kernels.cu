/* kernels.cu - copies within the device by a kernel, whose threads share out the words by a stride.
 */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/transfer/transfer.h"

enum { THREADS = 256, BLOCKS_MAX = 2048 };

/* Words that a thread has under way: enough for the memory to have work in hand. */
enum { UNDER_WAY = 8 };

/*
 * Each of n words once, at its place. Neighbouring threads take words that are `stride` apart: of
 * rows of that many words, all first ones, then all second ones, and so on. A stride of 1 is the
 * order of memory, which the device reads and writes in as few pieces as there are (coalesced).
 * What is left behind the last whole word is copied by one thread. To divide for each word would
 * take longer than to copy it: each thread goes on by so many rows and columns.
 */
extern "C" __global__ void transfer_copy_words(unsigned char *__restrict__ dst,
					       const unsigned char *__restrict__ src,
					       uint64_t bytes, uint64_t stride)
{
	uint64_t n = bytes / sizeof(uint32_t), rows = (n + stride - 1) / stride;
	uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
	uint64_t row = rows ? first % rows : 0, column = rows ? first / rows : stride;
	uint64_t rows_on = rows ? threads % rows : 0, columns_on = rows ? threads / rows : 0;
	const uint32_t *from = (const uint32_t *)src;
	uint32_t *to = (uint32_t *)dst;

	while (column < stride) {
		uint32_t value[UNDER_WAY];
		uint64_t at[UNDER_WAY];

		for (int k = 0; k < UNDER_WAY; k++) {
			at[k] = column < stride ? row * stride + column : n;
			value[k] = at[k] < n ? from[at[k]] : 0;
			row += rows_on;
			column += columns_on + (row >= rows);
			row -= row >= rows ? rows : 0;
		}
		for (int k = 0; k < UNDER_WAY; k++)
			if (at[k] < n)
				to[at[k]] = value[k];
	}
	for (uint64_t i = sizeof(uint32_t) * n; !first && i < bytes; i++)
		dst[i] = src[i];
}
KERNEL(transfer_copy_words);

void transfer_load_kernels(void)
{
	device_load_kernel((const void *)transfer_copy_words);
}

void transfer_kernel_copy(void *dst, const void *src, size_t bytes, int64_t stride,
			  cudaStream_t stream)
{
	uint64_t blocks = (bytes / sizeof(uint32_t) + THREADS - 1) / THREADS;

	blocks = blocks < 1 ? 1 : blocks < BLOCKS_MAX ? blocks : (uint64_t)BLOCKS_MAX;
	CUDA(LAUNCH(transfer_copy_words, (unsigned)blocks, THREADS, 0, stream, (unsigned char *)dst,
		    (const unsigned char *)src, (uint64_t)bytes, (uint64_t)stride));
}
