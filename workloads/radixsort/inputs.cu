/* inputs.cu - the pairs to sort: for 2^30 of them the host would take half a minute. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/radixsort/inputs.h"
#include "workloads/radixsort/kernels.h"

enum { THREADS = 256, EACH = 4 /* keys of one number of Philox */ };

extern "C" __global__ void __launch_bounds__(THREADS)
	radixsort_inputs(radixsort_arrays a, uint32_t n, uint32_t slot, int kind, uint64_t seed)
{
	uint32_t at = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
	struct philox words = radixsort_words(at, slot, seed);

	for (uint32_t i = at; i < at + EACH && i < n; i++) {
		a.in[0][i] = radixsort_key(kind, i, n, words.word[i - at]);
		a.in[1][i] = i;
	}
}
KERNEL(radixsort_inputs);

void radixsort_load_inputs(void)
{
	device_load_kernel((const void *)radixsort_inputs);
}

void radixsort_fill(const struct radixsort_arrays *arrays, int64_t n, uint32_t slot, int kind,
		    uint64_t seed, cudaStream_t stream)
{
	uint32_t blocks = (uint32_t)((n + THREADS * EACH - 1) / (THREADS * EACH));

	CUDA(LAUNCH(radixsort_inputs, blocks, THREADS, 0, stream, *arrays, (uint32_t)n, slot, kind,
		    seed));
}
