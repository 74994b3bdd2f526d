/* test_ledger.c - the ledger that tests of teardowns rely on sees every kind of thing. */
#include "tests/plain.h"
#include "tests/ledger.h"
#include "tests/cpu/test_runtime.h"

TestSuite(small_ledger, .timeout = 300);

static void is_open(const char *want)
{
	cr_assert(!strcmp(ledger_open(), want), "'%s', not '%s'", ledger_open(), want);
}

Test(small_ledger, memory)
{
	void *p, *q, *pinned, *mapped, *host = aligned_alloc(4096, 4096);

	NEED_DEVICE();
	is_open("");
	OK(cudaMalloc(&p, 64));
	is_open("1 device memory");
	OK(cudaMallocAsync(&q, 64, NULL));
	is_open("2 device memory");
	OK(cudaMallocHost(&pinned, 64));
	OK(cudaHostAlloc(&mapped, 64, cudaHostAllocMapped));
	OK(cudaHostRegister(host, 4096, cudaHostRegisterDefault));
	is_open("2 device memory, 2 pinned memory, 1 registered memory");
	OK(cudaFreeAsync(q, NULL));
	OK(cudaFreeHost(mapped));
	OK(cudaHostUnregister(host));
	is_open("1 device memory, 1 pinned memory");
	OK(cudaFreeHost(pinned));
	OK(cudaFree(p));
	is_open("");
	free(host);
}

Test(small_ledger, nothing_and_failures_do_not_count)
{
	void *p;

	NEED_DEVICE();
	OK(cudaMalloc(&p, 0));
	OK(cudaFree(NULL));
	OK(cudaFreeHost(NULL));
	REFUSED(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)1 << 50));
	is_open("");
}

Test(small_ledger, handles)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaStream_t s, t, u;
	cudaEvent_t e, f;

	NEED_DEVICE();
	OK(cudaStreamCreate(&s));
	OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithPriority(&u, cudaStreamNonBlocking, 0));
	OK(cudaEventCreate(&e));
	OK(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
	is_open("3 stream, 2 event");
	OK(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
	OK(cudaStreamEndCapture(t, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	is_open("3 stream, 2 event, 1 graph, 1 executable graph");
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaEventDestroy(f));
	OK(cudaStreamDestroy(t));
	is_open("2 stream, 1 event");
	OK(cudaEventDestroy(e));
	OK(cudaStreamDestroy(s));
	OK(cudaStreamDestroy(u));
	is_open("");
}
