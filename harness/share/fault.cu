/* fault.cu - see fault.h. */
#include "harness/share/fault.h"

#include "common/cuda_check.h"
#include "common/gpu.h"

extern "C" __global__ void rift_fault_crash(int64_t *nowhere)
{
	*nowhere = 1;
}
KERNEL(rift_fault_crash);

/* The GPU's globaltimer, and the clock behind the CPU device's clock64(): ns both. */
extern "C" __global__ void rift_fault_hang(int64_t ns)
{
	int64_t begin, now;

#ifdef __CUDACC__
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < ns);
#else
	begin = clock64();
	do
		now = clock64();
	while (now - begin < ns);
#endif
}
KERNEL(rift_fault_hang);

/* Within the first page, which no device maps. */
void fault_crash(cudaStream_t stream)
{
	CUDA(LAUNCH(rift_fault_crash, dim3(1), dim3(1), 0, stream, (int64_t *)8));
}

void fault_hang(cudaStream_t stream)
{
	CUDA(LAUNCH(rift_fault_hang, dim3(1), dim3(1), 0, stream,
		    (int64_t)FAULT_HANG_S * 1000000000));
}

int64_t fault_take_memory(void)
{
	int64_t taken = 0;
	void *piece;

	for (size_t bytes = (size_t)1 << 36; bytes >= (size_t)1 << 20; bytes /= 2)
		while (!cudaMalloc(&piece, bytes))
			taken += (int64_t)bytes;
	cudaGetLastError();
	return taken;
}
