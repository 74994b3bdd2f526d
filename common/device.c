/* device.c - is there a device at all? */
#include "common/device.h"

#include <cuda_runtime_api.h>
#include <errno.h>

#include "common/check.h"

int device_present(void)
{
	int n = 0;
	cudaError_t err = cudaGetDeviceCount(&n);

	if (!err && n)
		return 0;
	cudaGetLastError(); /* forget it: the next check is not about this */
	return complain(ENODEV, "no CUDA device: %s",
			err ? cudaGetErrorString(err) : "none is visible");
}
