/* kernels.cu - the kernel that stands for all others: it counts itself, and lasts. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/replay/replay.h"

/* The count is inside the time that is spun. One thread of a block spins for all of them. */
extern "C" __global__ void replay_spin(unsigned long long *count, unsigned long long ticks)
{
	const long long start = clock64();

	if (threadIdx.x)
		return;
	atomicAdd(count, 1ull);
	while ((unsigned long long)(clock64() - start) < ticks)
		;
}
KERNEL(replay_spin);

/* An empty kernel, as the recorder is calibrated with. */
extern "C" __global__ void replay_nothing()
{
}
KERNEL(replay_nothing);

/* Both clocks at both ends of a spin: out is ticks, ns. */
extern "C" __global__ void replay_clocks(unsigned long long *out, unsigned long long ticks)
{
	const long long start = clock64();
	const unsigned long long start_ns = device_timer_ns();

	while ((unsigned long long)(clock64() - start) < ticks)
		;
	out[0] = (unsigned long long)(clock64() - start);
	out[1] = device_timer_ns() - start_ns;
}
KERNEL(replay_clocks);

void replay_load_kernels(void)
{
	device_load_kernel((const void *)replay_spin);
	device_load_kernel((const void *)replay_nothing);
	device_load_kernel((const void *)replay_clocks);
}

const void *replay_kernel(void)
{
	return (const void *)replay_spin;
}

void replay_launch(unsigned long long *count, unsigned long long ticks, int blocks, int threads,
		   cudaStream_t stream)
{
	CUDA(LAUNCH(replay_spin, (unsigned)blocks, (unsigned)threads, 0, stream, count, ticks));
}

void replay_launch_nothing(cudaStream_t stream)
{
	CUDA(LAUNCH(replay_nothing, 1, 1, 0, stream));
}

void replay_launch_clocks(unsigned long long *out, unsigned long long ticks, cudaStream_t stream)
{
	CUDA(LAUNCH(replay_clocks, 1, 1, 0, stream, out, ticks));
}
