/* touch.cu - kernels of the memory workload: one that touches memory, one that takes time. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/memory/memory.h"

enum { THREADS = 256, BLOCKS_MAX = 1024 };

/* Pages may be less than the last word is away: of 1 byte that byte is touched. */
extern "C" __global__ void memory_touch_pages(unsigned char *p, unsigned long long bytes,
					      unsigned long long *stamps)
{
	unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x * MEMORY_PAGE;
	unsigned long long at = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) *
				(unsigned long long)MEMORY_PAGE;
	unsigned long long agree = 0;

	for (; at < bytes; at += stride) {
		volatile unsigned char *byte = p + at;

		*byte = (unsigned char)(at / MEMORY_PAGE * 7 + 1);
		agree += *byte == (unsigned char)(at / MEMORY_PAGE * 7 + 1);
	}
	if (agree)
		atomicAdd(stamps, agree);
}
KERNEL(memory_touch_pages);

/* One thread; it ends by the device's clock, whatever else happens. */
extern "C" __global__ void memory_busy_for(unsigned long long ns, unsigned long long *count)
{
	unsigned long long start = device_timer_ns();

	while (device_timer_ns() - start < ns)
		;
	atomicAdd(count, 1ull);
}
KERNEL(memory_busy_for);

void memory_load_kernels(void)
{
	device_load_kernel((const void *)memory_touch_pages);
	device_load_kernel((const void *)memory_busy_for);
	pattern_load_kernels();
}

void memory_touch(void *p, size_t bytes, unsigned long long *stamps, cudaStream_t stream)
{
	size_t pages = (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE;
	size_t blocks = (pages + THREADS - 1) / THREADS;

	CUDA(LAUNCH(memory_touch_pages,
		    (unsigned)(blocks < BLOCKS_MAX ? blocks : (size_t)BLOCKS_MAX), THREADS, 0,
		    stream, (unsigned char *)p, (unsigned long long)bytes, stamps));
}

void memory_busy(unsigned long long ns, unsigned long long *count, cudaStream_t stream)
{
	CUDA(LAUNCH(memory_busy_for, 1, 1, 0, stream, ns, count));
}
