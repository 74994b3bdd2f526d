/* test_slots.cu - a launch that counts, and says which step each of its threads saw. */
#include "common/cuda_check.h"
#include "common/slots.cuh"

extern "C" __global__ void slots_count(struct slots_counter *counter, uint32_t *seen, uint32_t n)
{
	uint32_t thread = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y +
			  threadIdx.y * blockDim.x + threadIdx.x;

	seen[thread] = slots_step(counter);
	slots_advance(counter, n);
}
KERNEL(slots_count);

extern "C" void slots_count_launch(struct slots_counter *counter, uint32_t *seen, uint32_t n,
				   cudaStream_t stream)
{
	CUDA(LAUNCH(slots_count, dim3(5, 3), dim3(8, 4), 0, stream, counter, seen, n));
}
