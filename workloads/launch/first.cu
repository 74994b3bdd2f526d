/*
 * first.cu - kernels that are launched once, in a file and so in a module of their own: nothing
 * may load them before, so nothing else belongs here.
 */
#include "common/gpu.h"
#include "workloads/launch/device.h"

#define FIRST(i)                                                                                   \
	extern "C" __global__ void launch_first_##i(unsigned long long *count)                     \
	{                                                                                          \
		if (threadIdx.x == 0)                                                              \
			atomicAdd(count, 1ull);                                                    \
	}                                                                                          \
	KERNEL(launch_first_##i)

FIRST(0);
FIRST(1);
FIRST(2);
FIRST(3);
FIRST(4);
FIRST(5);
FIRST(6);
FIRST(7);

const void *launch_first(int i)
{
	static const void *const table[LAUNCH_FIRSTS] = {
		(const void *)launch_first_0, (const void *)launch_first_1,
		(const void *)launch_first_2, (const void *)launch_first_3,
		(const void *)launch_first_4, (const void *)launch_first_5,
		(const void *)launch_first_6, (const void *)launch_first_7,
	};

	return table[i];
}
