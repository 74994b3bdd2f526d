/* probe_kernels.cu - kernels of probe=yes that talk to the host while they run. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/launch/device.h"

extern "C" __global__ void launch_tell(uint32_t *flag, uint32_t value)
{
	if (threadIdx.x == 0)
		write_host(flag, value);
}
KERNEL(launch_tell);

extern "C" __global__ void launch_two_clocks(unsigned long long *out)
{
	unsigned long long ns = device_timer_ns(), spun;
	long long start = clock64();

	do
		spun = (unsigned long long)(clock64() - start);
	while (spun < out[0]);
	out[2] = device_timer_ns() - ns;
	out[1] = spun;
}
KERNEL(launch_two_clocks);

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
	const void *const kernels[] = { launch_teller(), launch_clock() };
	for (const void *kernel : kernels)
		device_load_kernel(kernel);
}
