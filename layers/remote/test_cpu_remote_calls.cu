/* Kernels of tests of the layer remote. */
#include <stdint.h>

#include "common/gpu.h"
#include "layers/remote/test_cpu_remote_calls.h"

static __device__ uint64_t remote_variable[4];
SYMBOL(remote_variable);

extern "C" __global__ void remote_add(uint64_t *to, uint64_t value, uint8_t times)
{
	if (threadIdx.x == 0)
		*to += value * times;
}
KERNEL(remote_add);

/* With the same parameters: whatever these are, it does no harm. */
extern "C" __global__ void remote_nothing(uint64_t *to, uint64_t value, uint8_t times)
{
	(void)to;
	(void)value;
	(void)times;
}
KERNEL(remote_nothing);

extern "C" __global__ void remote_await(const uint32_t *word, uint64_t *to)
{
	while (!read_host(word))
		;
	*to = 1;
}
KERNEL(remote_await);

extern "C" __global__ void remote_read_variable(uint64_t *to)
{
	*to = remote_variable[0] + remote_variable[3];
}
KERNEL(remote_read_variable);

extern "C" __global__ void remote_tell_shape(uint64_t *to)
{
	if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y + threadIdx.z == 0)
		*to = gridDim.x + 10 * gridDim.y + 100 * gridDim.z + 1000 * blockDim.x +
		      10000 * blockDim.y + 100000 * blockDim.z;
}
KERNEL(remote_tell_shape);

const void *kernel_tell_shape(void)
{
	return (const void *)remote_tell_shape;
}

const void *kernel_add(void)
{
	return (const void *)remote_add;
}

const void *kernel_nothing(void)
{
	return (const void *)remote_nothing;
}

const void *kernel_await(void)
{
	return (const void *)remote_await;
}

const void *kernel_read_variable(void)
{
	return (const void *)remote_read_variable;
}

const void *variable(void)
{
	return (const void *)&remote_variable;
}
