/*
 * test_runtime_memory.c - the CUDA runtime: allocation, copies, what a pointer is. Error codes are
 * those of CUDA 13.0 on an H200 where the documentation leaves them open.
 */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"
#include "tests/on_cpu.h"

const void *k_fill(void);

TestSuite(small_runtime_memory, .timeout = 300);

Test(small_runtime_memory, memory_is_given_and_taken)
{
	void *p = &p, *q;
	size_t before, after, total;

	NEED_DEVICE();
	OK(cudaMalloc(&p, 0));
	cr_assert(!p, "nothing asked, %p given", p);
	OK(cudaMalloc(&p, 1000));
	cr_assert((uintptr_t)p % 256 == 0, "%p", p);
	OK(cudaFree(p));
	REFUSED(cudaErrorInvalidValue, cudaFree(p));
	OK(cudaFree(NULL));
	OK(cudaMemGetInfo(&before, &total));
	OK(cudaMalloc(&q, 64 << 20));
	OK(cudaMemGetInfo(&after, &total));
	cr_assert(before <= total && after <= total, "%zu, then %zu of %zu", before, after, total);
	cr_assert(after < before || !ON_CPU, "%zu, then %zu", before, after); /* a GPU is shared */
	OK(cudaFree(q));
}

Test(small_runtime_memory, memory_refuses)
{
	void *device, *pinned, *p;
	int host[4];

	NEED_DEVICE();
	OK(cudaMalloc(&device, 1024));
	OK(cudaMallocHost(&pinned, 1024));
	REFUSED(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)1 << 50));
	REFUSED(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
	REFUSED(cudaErrorInvalidValue, cudaHostAlloc(&p, 4, 0x80));
	REFUSED(cudaErrorInvalidValue, cudaFree(host));
	REFUSED(cudaErrorInvalidValue, cudaFree((char *)device + 256));
	REFUSED(cudaErrorInvalidValue, cudaFree(pinned));
	REFUSED(cudaErrorInvalidValue, cudaFreeHost(host));
	REFUSED(cudaErrorInvalidValue, cudaFreeHost(device));
	REFUSED(cudaErrorInvalidValue, cudaHostGetDevicePointer(&p, host, 0));
	REFUSED(cudaErrorInvalidValue, cudaHostGetDevicePointer(&p, pinned, 1));
	OK(cudaFreeHost(NULL));
	OK(cudaFreeHost(pinned));
	OK(cudaFree(device));
}

Test(small_runtime_memory, copies_go_there_and_back)
{
	int host[100], back[100] = { 0 };

	NEED_DEVICE();
	int *a = device_ints(100), *b = device_ints(100);

	for (int i = 0; i < 100; i++)
		host[i] = i * i;
	OK(cudaMemcpy(a, host, sizeof(host), cudaMemcpyHostToDevice));
	OK(cudaMemcpyAsync(b, a, sizeof(host), cudaMemcpyDeviceToDevice, NULL));
	OK(cudaMemsetAsync(b + 50, 0xff, 4, NULL));
	OK(cudaMemcpy(back, b, sizeof(host), cudaMemcpyDefault));
	for (int i = 0; i < 100; i++)
		cr_assert(back[i] == (i == 50 ? -1 : i * i), "element %d: %d", i, back[i]);
}

/* By its kind from one to the other; the rest by what the pointers are. */
static void goes_over(int *from, int *to, enum cudaMemcpyKind kind)
{
	int value = 1000 + kind, got = 0;

	OK(cudaMemcpy(from, &value, sizeof(value), cudaMemcpyDefault));
	OK(cudaMemcpy(to, from, sizeof(*to), kind));
	OK(cudaMemcpy(&got, to, sizeof(got), cudaMemcpyDefault));
	cr_assert(got == value, "kind %d: %d", kind, got);
}

Test(small_runtime_memory, every_kind_of_copy)
{
	int pageable[2];
	int *pinned;

	NEED_DEVICE();
	int *device = device_ints(2);

	OK(cudaMallocHost((void **)&pinned, 8));
	goes_over(pageable, pageable + 1, cudaMemcpyHostToHost);
	goes_over(pageable, pinned, cudaMemcpyHostToHost);
	goes_over(pinned, pinned + 1, cudaMemcpyHostToHost);
	goes_over(pageable, device, cudaMemcpyHostToDevice);
	goes_over(pinned, device, cudaMemcpyHostToDevice);
	goes_over(device, pageable, cudaMemcpyDeviceToHost);
	goes_over(device, pinned, cudaMemcpyDeviceToHost);
	goes_over(device, device + 1, cudaMemcpyDeviceToDevice);
	OK(cudaFreeHost(pinned));
}

Test(small_runtime_memory, copies_check_their_pointers)
{
	int host[64];

	NEED_DEVICE();
	int *p = device_ints(64);

	REFUSED(cudaErrorInvalidValue, cudaMemcpy(host, p, 64, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidValue, cudaMemcpy(p, host, 64, cudaMemcpyDeviceToHost));
	REFUSED(cudaErrorInvalidValue, cudaMemcpy(p, host, 64, cudaMemcpyDeviceToDevice));
	REFUSED(cudaErrorInvalidValue, cudaMemcpyAsync(host, p, 64, cudaMemcpyHostToDevice, NULL));
	REFUSED(cudaErrorInvalidValue, cudaMemcpy(p + 60, host, 64, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidValue, cudaMemcpy(NULL, host, 4, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidMemcpyDirection, cudaMemcpy(p, host, 4, (enum cudaMemcpyKind)7));
	REFUSED(cudaErrorInvalidValue, cudaMemset(host, 0, 4));
	REFUSED(cudaErrorInvalidValue, cudaMemset(p, 0, 64 * 4 + 1));
	OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
}

Test(small_runtime_memory, mapped_memory_is_seen_by_both)
{
	int n = 64, value = 77;
	int *host, *device;

	NEED_DEVICE();
	OK(cudaHostAlloc((void **)&host, 256, cudaHostAllocMapped));
	OK(cudaHostGetDevicePointer((void **)&device, host, 0));
	OK(cudaLaunchKernel(k_fill(), blocks(2), blocks(32), (void *[]){ &device, &n, &value }, 0,
			    NULL));
	OK(cudaDeviceSynchronize());
	cr_assert(host[0] == 77 && host[63] == 77, "%d %d", host[0], host[63]);
	OK(cudaFreeHost(host));
}

Test(small_runtime_memory, pointers_are_known)
{
	struct cudaPointerAttributes a;
	char *device, *pinned, host[8];

	NEED_DEVICE();
	OK(cudaMalloc((void **)&device, 1024));
	OK(cudaMallocHost((void **)&pinned, 1024));
	OK(cudaPointerGetAttributes(&a, device + 100));
	cr_assert(a.type == cudaMemoryTypeDevice && a.devicePointer == device + 100, "%d", a.type);
	OK(cudaPointerGetAttributes(&a, pinned + 100));
	cr_assert(a.type == cudaMemoryTypeHost && a.hostPointer == pinned + 100, "%d", a.type);
	OK(cudaPointerGetAttributes(&a, host));
	cr_assert(a.type == cudaMemoryTypeUnregistered && !a.devicePointer, "%d", a.type);
	REFUSED(cudaErrorInvalidValue, cudaPointerGetAttributes(NULL, host));
}
