/* kernels.cu - the kernel that stands for all others: it counts itself, and lasts. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/replay/replay.h"

#include <math.h>

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
	struct cudaFuncAttributes ignored;

	CUDA(cudaFuncGetAttributes(&ignored, (const void *)replay_spin));
	CUDA(cudaFuncGetAttributes(&ignored, (const void *)replay_clocks));
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

static double try_clocks(unsigned long long *out)
{
	const unsigned long long ticks =
		2000000; /* 1 ms and more, of which a timer's tick is 1 us */
	unsigned long long found[2];

	CUDA(LAUNCH(replay_clocks, 1, 1, 0, 0, out, ticks));
	CUDA(cudaMemcpy(found, out, sizeof(found), cudaMemcpyDeviceToHost));
	return found[1] ? (double)found[0] / (double)found[1] : NAN;
}

/* A device that idled begins with a lower clock. */
double replay_ticks_per_ns(void)
{
	enum { TRIALS = 200 };
	const double agree = 0.002;
	unsigned long long *out;
	double before = 0, now = 0;

	CUDA(cudaMalloc((void **)&out, 2 * sizeof(*out)));
	for (int i = 0; i < TRIALS; i++) {
		now = try_clocks(out);
		if (fabs(now - before) <= agree * before)
			break;
		before = now;
	}
	CUDA(cudaFree(out));
	return now;
}
