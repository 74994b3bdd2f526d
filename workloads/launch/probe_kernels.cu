/* probe_kernels.cu - kernels of probe=yes that talk to the host while they run. */
#include "common/cuda_check.h"
#include "common/gpu.h"
#include "workloads/launch/device.h"

/* Words of mapped host memory, and the device's timer in ns. */
#ifdef __CUDACC__
static __device__ inline uint32_t read_host(const uint32_t *p)
{
	uint32_t v;

	asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

static __device__ inline void write_host(uint32_t *p, uint32_t v)
{
	asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

static __device__ inline unsigned long long timer_ns()
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
#else
static inline uint32_t read_host(const uint32_t *p)
{
	return load_acquire(p);
}

static inline void write_host(uint32_t *p, uint32_t v)
{
	store_release(p, v);
}

static inline unsigned long long timer_ns()
{
	return (unsigned long long)clock64();
}
#endif

/* Two ways out: the host's word, and the time. A third is the host's watchdog. */
extern "C" __global__ void launch_hold(const uint32_t *go, uint32_t *timed_out,
				       unsigned long long timeout_ns)
{
	unsigned long long start = timer_ns();

	while (!read_host(go))
		if (timer_ns() - start > timeout_ns) {
			write_host(timed_out, 1);
			return;
		}
}
KERNEL(launch_hold);

extern "C" __global__ void launch_tell(uint32_t *flag, uint32_t value)
{
	if (threadIdx.x == 0)
		write_host(flag, value);
}
KERNEL(launch_tell);

extern "C" __global__ void launch_two_clocks(unsigned long long *out)
{
	unsigned long long ns = timer_ns(), spun;
	long long start = clock64();

	do
		spun = (unsigned long long)(clock64() - start);
	while (spun < out[0]);
	out[2] = timer_ns() - ns;
	out[1] = spun;
}
KERNEL(launch_two_clocks);

const void *launch_holder(void)
{
	return (const void *)launch_hold;
}

const void *launch_teller(void)
{
	return (const void *)launch_tell;
}

const void *launch_clock(void)
{
	return (const void *)launch_two_clocks;
}

void launch_load_probe_kernels(void)
{
	const void *const kernels[] = { launch_holder(), launch_teller(), launch_clock() };
	struct cudaFuncAttributes ignored;

	for (const void *kernel : kernels)
		CUDA(cudaFuncGetAttributes(&ignored, kernel));
}
