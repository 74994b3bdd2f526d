/* test_programmatic.c - which devices run launches that overlap. */
#include "tests/plain.h"
#include "common/programmatic.h"
#include "tests/cli.h"
#include "tests/ledger.h"

#include <cuda_runtime_api.h>

TestSuite(small_programmatic, .timeout = 300);

static int major = -1, minor; /* what the device says it is; -1: what it is */

typedef cudaError_t attribute_fn(int *, enum cudaDeviceAttr, int);

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	attribute_fn *real = (attribute_fn *)ledger_next("cudaDeviceGetAttribute");

	if (major < 0 || (attribute != cudaDevAttrComputeCapabilityMajor &&
			  attribute != cudaDevAttrComputeCapabilityMinor))
		return real(value, attribute, device);
	*value = attribute == cudaDevAttrComputeCapabilityMajor ? major : minor;
	return cudaSuccess;
}

static int check_of(int capability_major, int capability_minor)
{
	int err;

	major = capability_major, minor = capability_minor;
	err = programmatic_check(PROGRAMMATIC_YES);
	major = -1;
	return err;
}

Test(small_programmatic, devices_from_compute_capability_9_on_take_it)
{
	const char *text;

	need_device();
	cr_assert(!check_of(9, 0) && !check_of(12, 1), "GPUs");
	cr_assert(!check_of(0, 0), "the CPU device");
	divert_stderr();
	cr_assert(check_of(8, 6) == -ENOTSUP, "8.6");
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && tells(text, "launch=programmatic: *8.6"), "%s", text);
	major = 7;
	cr_assert(!programmatic_check(PROGRAMMATIC_NO), "nobody asked");
}
