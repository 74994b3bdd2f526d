/*
 * test_system.c - harness/platform/system.h with CUDA calls that this program answers: what keeps a
 * GPU awake, and its address.
 */
#include "tests/test.h"
#include "harness/platform/system.h"

#include <cuda_runtime.h>

TestSuite(small_system, .timeout = 300);

static int devices = 1, major = 9, compute_mode = cudaComputeModeDefault, opened;

/* In place of the library's. */
cudaError_t cudaGetDeviceCount(int *count)
{
	*count = devices;
	return devices < 0 ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	(void)device;
	opened++;
	return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	(void)device;
	switch ((int)attribute) {
	case cudaDevAttrComputeCapabilityMajor:
		*value = major;
		return cudaSuccess;
	case cudaDevAttrComputeMode:
		*value = compute_mode;
		return cudaSuccess;
	case cudaDevAttrPciDomainId:
		*value = 1;
		return cudaSuccess;
	case cudaDevAttrPciBusId:
		*value = 0x3b;
		return cudaSuccess;
	case cudaDevAttrPciDeviceId:
		*value = 0x1f;
		return cudaSuccess;
	default:
		return cudaErrorInvalidValue;
	}
}

/* How often it was opened. */
static int kept(char pci[32], int want)
{
	int err;

	opened = 0;
	divert_stderr();
	err = keep_device_alive(pci);
	diverted_stderr();
	cr_assert(eq(int, err, want), "%d", err);
	return opened;
}

/* One process alone may use it in another mode than the default: that one is the worker. */
Test(small_system, a_gpu_is_kept_awake_where_others_may_use_it)
{
	char pci[32] = "x";

	cr_assert(eq(int, kept(pci, 0), 1), "default");
	cr_assert(eq(str, pci, "0001:3b:1f.0"), "%s", pci);
	compute_mode = 3; /* exclusive process */
	cr_assert(zero(int, kept(pci, 0)), "exclusive");
	cr_assert(eq(str, pci, "0001:3b:1f.0"), "%s", pci);
	compute_mode = cudaComputeModeDefault;
	major = 0;
	cr_assert(zero(int, kept(pci, 0)), "the CPU device does not sleep");
	cr_assert(eq(str, pci, ""), "%s", pci);
	devices = 0;
	cr_assert(zero(int, kept(pci, -ENODEV)), "none");
	devices = -1;
	cr_assert(zero(int, kept(pci, -ENODEV)), "none to be asked");
}
