/* template.cu - the kernel. docs/portable-kernels.md lets it run on GPU and CPU device. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/template/template.h"

static const unsigned THREADS = 256, BLOCKS_MAX = 1024;

/*
 * A thread has the same elements in every step, so none waits for another. Each step goes through
 * all of them: fused steps read and write as much as launched ones do.
 */
extern "C" __global__ void template_next(uint32_t *y, uint32_t n, uint32_t steps)
{
	const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;

	for (uint32_t step = 0; step < steps; step++)
		for (uint32_t i = first; i < n; i += gridDim.x * blockDim.x)
			y[i] = 5 * y[i] + 2 * i + 1;
}
KERNEL(template_next);

void template_load(void)
{
	device_load_kernel((const void *)template_next);
}

/* LAUNCH converts the arguments to the types of the kernel's parameters. */
void template_launch(const struct template_opts *o, const struct template_state *s, int64_t steps,
		     cudaStream_t stream)
{
	const unsigned blocks = (unsigned)(o->n + THREADS - 1) / THREADS;

	CUDA(LAUNCH(template_next, blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX, THREADS, 0, stream,
		    s->y, o->n, steps));
}
