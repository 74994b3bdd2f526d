/* test_philox.cu - a kernel that draws what test_philox.c draws on the host. */
#include "common/gpu.h"
#include "common/philox.h"

extern "C" __global__ void philox_fill(uint32_t *out, uint64_t key, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	struct philox r = philox4x32(i, 3 * i, ~i, i << 7, key + i);
	for (int w = 0; w < 4; w++)
		out[4 * i + w] = r.word[w];
}
KERNEL(philox_fill);

/* out: 4 n words on the device. */
extern "C" cudaError_t philox_fill_launch(uint32_t *out, uint64_t key, uint32_t n)
{
	return LAUNCH(philox_fill, dim3((n + 127) / 128), dim3(128), 0, 0, out, key, n);
}
