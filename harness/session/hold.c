/* hold.c - keeps a GPU awake between the processes of a session. */
#include "harness/session/hold.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

#include "harness/platform.h"
#include "harness/session/host.h"

int hold_device(char pci[32])
{
	struct platform ignored = { 0 };
	int mode = cudaComputeModeDefault, count = 0, major = 0;

	*pci = '\0';
	if (cudaGetDeviceCount(&count) || count < 1)
		return platform_device(&ignored); /* says why */
	cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
	if (!major)
		return 0;
	system_pci_address(pci);
	cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0);
	cudaGetLastError(); /* a question that was not answered is no failure of the sweep */
	return mode == cudaComputeModeDefault ? platform_device(&ignored) : 0;
}
