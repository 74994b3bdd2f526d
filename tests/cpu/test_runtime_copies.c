/* test_runtime_copies.c - copies of rows, registered memory, memory in stream order. */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

enum { PAGE = 4096 };

const void *k_add(void);

TestSuite(small_runtime_copies, .timeout = 300);

static void launch_add(int *p, int n, int term, cudaStream_t stream)
{
	OK(cudaLaunchKernel(k_add(), blocks(1), blocks(32), (void *[]){ &p, &n, &term }, 0,
			    stream));
}

/* ---- pageable memory --------------------------------------------------------------------- */

/* It has been read when the call returns, though the stream has not come to the copy. */
Test(small_runtime_copies, pageable_memory_may_be_written_after_the_call)
{
	int gate = 0, host[2] = { 1, 2 }, back[2] = { 0, 0 };
	cudaStream_t s;

	NEED_DEVICE();
	int *p = device_ints(2);

	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	OK(cudaMemcpyAsync(p, host, sizeof(host), cudaMemcpyHostToDevice, s));
	memset(host, 0, sizeof(host));
	open_gate(&gate);
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(back, p, sizeof(back), cudaMemcpyDeviceToHost));
	cr_assert(back[0] == 1 && back[1] == 2, "%d %d", back[0], back[1]);
	OK(cudaStreamDestroy(s));
	OK(cudaFree(p));
}

/* ---- rows ------------------------------------------------------------------------------- */

Test(small_runtime_copies, rows_keep_what_lies_between_them)
{
	char host[4][10], back[4][16];
	void *device;

	NEED_DEVICE();
	memset(host, 'h', sizeof(host));
	memset(back, '.', sizeof(back));
	OK(cudaMalloc(&device, 4 * 32));
	OK(cudaMemset(device, 'd', 4 * 32));
	OK(cudaMemcpy2D(device, 32, host, 10, 7, 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2DAsync(back, 16, device, 32, 9, 3, cudaMemcpyDeviceToHost, NULL));
	OK(cudaDeviceSynchronize());
	for (int row = 0; row < 3; row++)
		cr_assert(!memcmp(back[row], "hhhhhhhdd.......", 16), "row %d: %.16s", row,
			  back[row]);
	cr_assert(back[3][0] == '.', "a row too many");
	OK(cudaFree(device));
}

Test(small_runtime_copies, rows_in_a_graph)
{
	int host[2][2] = { { 1, 2 }, { 3, 4 } }, back[2] = { 0, 0 };
	cudaGraphExec_t exec;
	cudaStream_t s;
	cudaGraph_t graph;

	NEED_DEVICE();
	int *p = device_ints(2);

	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	OK(cudaMemcpy2DAsync(p, 4, host, 8, 4, 2, cudaMemcpyHostToDevice, s));
	launch_add(p, 2, 10, s);
	OK(cudaMemcpyAsync(back, p, sizeof(back), cudaMemcpyDeviceToHost, s));
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	cr_assert(back[0] == 11 && back[1] == 13, "%d %d", back[0], back[1]);
}

Test(small_runtime_copies, rows_refuse)
{
	char host[64];

	NEED_DEVICE();
	char *p = (char *)device_ints(16); /* 64 bytes */

	OK(cudaMemcpy2D(p, 16, host, 16, 0, 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2D(p, 16, host, 16, 8, 0, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidPitchValue,
		cudaMemcpy2D(p, 8, host, 16, 9, 2, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidPitchValue,
		cudaMemcpy2DAsync(p, 16, host, 8, 9, 2, cudaMemcpyHostToDevice, NULL));
	REFUSED(cudaErrorInvalidMemcpyDirection,
		cudaMemcpy2D(p, 16, host, 16, 8, 2, (enum cudaMemcpyKind)7));
}

/* ---- registered memory ------------------------------------------------------------------ */

Test(small_runtime_copies, registered_memory_is_the_hosts_and_the_devices)
{
	struct cudaPointerAttributes attr;
	int *host = aligned_alloc(PAGE, PAGE), *device = NULL;

	NEED_DEVICE();
	memset(host, 0, PAGE);
	OK(cudaHostRegister(host, PAGE, cudaHostRegisterMapped));
	OK(cudaPointerGetAttributes(&attr, host + 5));
	cr_assert(attr.type == cudaMemoryTypeHost, "%d", attr.type);
	OK(cudaHostGetDevicePointer((void **)&device, host, 0));
	launch_add(device, PAGE / 4, 3, NULL);
	OK(cudaDeviceSynchronize());
	cr_assert(host[0] == 3 && host[PAGE / 4 - 1] == 3, "%d", host[0]);
	REFUSED(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, PAGE, 0));
	OK(cudaHostUnregister(host));
	REFUSED(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
	OK(cudaPointerGetAttributes(&attr, host + 5));
	cr_assert(attr.type == cudaMemoryTypeUnregistered, "%d", attr.type);
	REFUSED(cudaErrorInvalidValue, cudaHostRegister(NULL, PAGE, 0));
	REFUSED(cudaErrorInvalidValue, cudaHostRegister(host, 0, 0));
	free(host);
}

/* ---- memory in stream order ------------------------------------------------------------- */

Test(small_runtime_copies, memory_comes_and_goes_in_stream_order)
{
	int pools = 0;
	int *host, *p[2];
	cudaStream_t s;

	NEED_DEVICE();
	OK(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0));
	cr_assert(pools, "cudaMallocAsync is not supported");
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaMallocHost((void **)&host, 2 * sizeof(int)));
	for (int i = 0; i < 2; i++) {
		OK(cudaMallocAsync((void **)&p[i], 1000, s));
		cr_assert((uintptr_t)p[i] % 256 == 0, "%p", (void *)p[i]);
		OK(cudaMemsetAsync(p[i], 0, 1000, s));
		launch_add(p[i], 250, 7 + i, s);
		OK(cudaMemcpyAsync(host + i, p[i] + 249, 4, cudaMemcpyDeviceToHost, s));
		OK(cudaFreeAsync(p[i], s)); /* after the copy, though it may not have run yet */
	}
	OK(cudaStreamSynchronize(s));
	cr_assert(host[0] == 7 && host[1] == 8, "%d %d", host[0], host[1]);
	OK(cudaMallocAsync((void **)&p[0], 1000, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaFree(p[0])); /* allowed as well */
	REFUSED(cudaErrorInvalidValue, cudaMallocAsync(NULL, 1000, s));
	REFUSED(cudaErrorMemoryAllocation, cudaMallocAsync((void **)&p[0], (size_t)1 << 50, s));
}
