/*
 * test_slots.cu - a launch that counts, and says which step each of its threads saw. Of its 15
 * blocks `forgetful` leaves it out.
 */
#include "common/cuda_check.h"
#include "common/slots.cuh"

extern "C" __global__ void slots_count(struct slots_counter *counter, uint32_t *seen, uint32_t n,
				       uint32_t forgetful)
{
	uint32_t thread = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y +
			  threadIdx.y * blockDim.x + threadIdx.x;

	seen[thread] = slots_step(counter);
	if (blockIdx.y * gridDim.x + blockIdx.x != forgetful)
		slots_advance(counter, n);
}
KERNEL(slots_count);

extern "C" void slots_count_launch(struct slots_counter *counter, uint32_t *seen, uint32_t n,
				   uint32_t forgetful, cudaStream_t stream)
{
	CUDA(LAUNCH(slots_count, dim3(5, 3), dim3(8, 4), 0, stream, counter, seen, n, forgetful));
}
