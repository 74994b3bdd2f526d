/*
 * test_slots.cu - launches that count, and say which step each of their threads saw. The block
 * `forgetful` leaves it out.
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

extern "C" __global__ void slots_overlap(struct slots_counter *counter, uint32_t *seen,
					 uint32_t forgetful)
{
	SHARED_ARRAY(uint32_t, shared, [1]);

	if (blockIdx.x == forgetful)
		return;
	seen[blockIdx.x * blockDim.x + threadIdx.x] = slots_step_overlapped(counter, shared[0]);
	programmatic_go();
	programmatic_wait();
}
KERNEL(slots_overlap);

/* As many launches as there are, one behind the other; each has its own place in `seen`. */
extern "C" void slots_overlap_launch(struct slots_counter *counter, uint32_t *seen, uint32_t blocks,
				     uint32_t threads, uint32_t launches, uint32_t forgetful,
				     cudaStream_t stream)
{
	for (uint32_t i = 0; i < launches; i++)
		CUDA(LAUNCH_PROGRAMMATIC(true, slots_overlap, blocks, threads, 0, stream, counter,
					 seen + i * blocks * threads, forgetful));
}

extern "C" void slots_count_launch(struct slots_counter *counter, uint32_t *seen, uint32_t n,
				   uint32_t forgetful, cudaStream_t stream)
{
	CUDA(LAUNCH(slots_count, dim3(5, 3), dim3(8, 4), 0, stream, counter, seen, n, forgetful));
}
