/* Arguments of 1, 64 and 5,000 bytes, of which none is a pointer though all look like one. */
#include <cuda_runtime.h>
#include <stdint.h>

struct bytes_64 {
	uint8_t at[64];
};

struct bytes_5000 {
	uint8_t at[5000];
};

extern "C" __global__ void image_arguments(uint8_t *to, uint8_t one, bytes_64 some, bytes_5000 many)
{
	*to = one + some.at[one] + many.at[one];
}

/* Byte i is i * 7 + 1, of each argument. */
extern "C" int run_arguments(uint8_t *to)
{
	uint8_t one = 1;
	bytes_64 some;
	bytes_5000 many;
	void *arguments[] = { &to, &one, &some, &many };
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	for (int i = 0; i < 64; i++)
		some.at[i] = (uint8_t)(i * 7 + 1);
	for (int i = 0; i < 5000; i++)
		many.at[i] = (uint8_t)(i * 7 + 1);
	image_arguments<<<1, 1>>>(to, one, some, many);
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = 2;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	config.gridDim = dim3(4);
	config.blockDim = dim3(32);
	config.attrs = &attribute;
	config.numAttrs = 1;
	if (cudaLaunchKernelExC(&config, (const void *)image_arguments, arguments))
		return (int)cudaGetLastError();
	return (int)cudaGetLastError();
}

/* An attribute that the layer does not have: refused, not dropped. */
extern "C" int run_attribute(uint8_t *to)
{
	static bytes_64 some;
	static bytes_5000 many;
	uint8_t one = 1;
	void *arguments[] = { &to, &one, &some, &many };
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	attribute.id = cudaLaunchAttributeAccessPolicyWindow;
	config.gridDim = config.blockDim = dim3(1);
	config.attrs = &attribute;
	config.numAttrs = 1;
	return (int)cudaLaunchKernelExC(&config, (const void *)image_arguments, arguments);
}
