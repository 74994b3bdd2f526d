/* test_probe.c - common/probe.h: the smallest kernel does what it says. */
#include "tests/plain.h"
#include "common/probe.h"
#include "tests/cpu/test_runtime.h"

TestSuite(small_probe, .timeout = 300);

Test(small_probe, it_writes_one_value)
{
	uint32_t *device, host[2] = { 0, 0 };

	NEED_DEVICE();
	OK(cudaMalloc((void **)&device, sizeof(host)));
	OK(cudaMemset(device, 0, sizeof(host)));
	OK(probe_launch(device, 42, NULL));
	OK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
	cr_assert(host[0] == 42 && host[1] == 0, "%u %u", host[0], host[1]);
	OK(cudaFree(device));
}
