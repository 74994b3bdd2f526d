/*
 * gpu.c - preloaded, makes the device a GPU at 0000:3b:00.0, the one of nvml.c, for `rift sweep`
 * itself; its workers see what there is.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static bool is_worker;

__attribute__((constructor)) static void note_worker(int argc, char **argv)
{
	is_worker = argc > 1 && !strcmp(argv[1], "sweep-worker");
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	cudaError_t (*real)(int *, enum cudaDeviceAttr, int) =
		(cudaError_t(*)(int *, enum cudaDeviceAttr, int))dlsym(RTLD_NEXT,
								       "cudaDeviceGetAttribute");
	bool is_address = attribute == cudaDevAttrPciBusId || attribute == cudaDevAttrPciDomainId ||
			  attribute == cudaDevAttrPciDeviceId;

	if (is_worker || (!is_address && attribute != cudaDevAttrComputeCapabilityMajor))
		return real(value, attribute, device);
	*value = attribute == cudaDevAttrPciBusId ? 0x3b : is_address ? 0 : 9;
	return cudaSuccess;
}
