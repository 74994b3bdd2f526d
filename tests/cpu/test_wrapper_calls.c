/*
 * test_wrapper_calls.c - each call that the preloaded wrapper (wrapper.c) knows leaves its line
 * and is otherwise what it was, on both devices.
 */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"
#include "tests/wrapped.h"

const void *k_count(void);
const void *symbol_words(void);

TestSuite(small_wrapped, .timeout = 300);
TestSuite(small_wrapper_calls, .timeout = 300);

/* What the calls of small_wrapped leave, in the order of the calls. */
static const char *const wanted[] = {
	"cudaMalloc 64 = 0",
	"cudaMallocAsync 64 = 0",
	"cudaMallocHost 64 = 0",
	"cudaHostAlloc 64 flags 2 = 0",
	"cudaHostRegister 4096 flags 0 = 0",
	"cudaMemset 64 = 0",
	"cudaMemsetAsync 64 = 0",
	"cudaMemcpy 64 kind 1 = 0",
	"cudaMemcpyAsync 64 kind 2 = 0",
	"cudaMemcpy2D 4 x 3 kind 1 = 0",
	"cudaMemcpy2DAsync 4 x 3 kind 2 = 0",
	"cudaMemcpyToSymbol 8 at 4 kind 1 = 0",
	"cudaMemcpyToSymbolAsync 8 at 4 kind 1 = 0",
	"cudaMemcpyFromSymbol 8 at 4 kind 2 = 0",
	"cudaMemcpyFromSymbolAsync 8 at 4 kind 2 = 0",
	"cudaLaunchKernel count grid 2,1,1 block 3,1,1 shared 16 params 8,4 = 0",
	"cudaLaunchKernelExC count grid 2,1,1 block 3,1,1 shared 16 params 8,4 attributes 0 = 0",
#ifdef RIFT_CPU_DEVICE /* what CUDA does with none is not documented */
	"cudaLaunchKernelExC count without configuration = 1",
#endif
	"cudaMemcpy 64 kind 7 = 21",
	"cudaEventRecord = 0",
	"cudaEventSynchronize = 0",
	"cudaStreamSynchronize = 0",
	"cudaDeviceSynchronize = 0",
	"cudaHostUnregister = 0",
	"cudaFreeHost = 0",
	"cudaFreeHost = 0",
	"cudaFreeAsync = 0",
	"cudaFree NULL = 0",
	"cudaFree = 0",
	NULL,
};

struct memory {
	void *device, *ordered, *pinned, *mapped, *host;
};

static void take_memory(struct memory *m)
{
	m->host = aligned_alloc(4096, 4096);
	memset(m->host, 0, 4096);
	OK(cudaMalloc(&m->device, 64));
	OK(cudaMallocAsync(&m->ordered, 64, NULL));
	OK(cudaMallocHost(&m->pinned, 64));
	OK(cudaHostAlloc(&m->mapped, 64, cudaHostAllocMapped));
	OK(cudaHostRegister(m->host, 4096, cudaHostRegisterDefault));
}

static void copy(const struct memory *m)
{
	const enum cudaMemcpyKind in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
	const void *symbol = symbol_words();

	OK(cudaMemset(m->device, 0, 64));
	OK(cudaMemsetAsync(m->device, 0, 64, NULL));
	OK(cudaMemcpy(m->device, m->pinned, 64, in));
	OK(cudaMemcpyAsync(m->pinned, m->device, 64, out, NULL));
	OK(cudaMemcpy2D(m->device, 8, m->pinned, 8, 4, 3, in));
	OK(cudaMemcpy2DAsync(m->pinned, 8, m->device, 8, 4, 3, out, NULL));
	OK(cudaMemcpyToSymbol(symbol, m->pinned, 8, 4, in));
	OK(cudaMemcpyToSymbolAsync(symbol, m->pinned, 8, 4, in, NULL));
	OK(cudaMemcpyFromSymbol(m->pinned, symbol, 8, 4, out));
	OK(cudaMemcpyFromSymbolAsync(m->pinned, symbol, 8, 4, out, NULL));
}

static void launch(const struct memory *m)
{
	int *p = m->device, term = 1;
	cudaLaunchConfig_t config = { .gridDim = { 2, 1, 1 }, .blockDim = { 3, 1, 1 } };

	config.dynamicSmemBytes = 16;
	OK(cudaLaunchKernel(k_count(), blocks(2), blocks(3), (void *[]){ &p, &term }, 16, NULL));
	OK(cudaLaunchKernelExC(&config, k_count(), (void *[]){ &p, &term }));
#ifdef RIFT_CPU_DEVICE
	REFUSED(cudaErrorInvalidValue,
		cudaLaunchKernelExC(NULL, k_count(), (void *[]){ &p, &term }));
#endif
	REFUSED(cudaErrorInvalidMemcpyDirection,
		cudaMemcpy(m->device, m->pinned, 64, (enum cudaMemcpyKind)7));
}

static void wait_and_give_back(const struct memory *m)
{
	cudaEvent_t e;

	OK(cudaEventCreate(&e));
	OK(cudaEventRecord(e, NULL));
	OK(cudaEventSynchronize(e));
	OK(cudaStreamSynchronize(NULL));
	OK(cudaDeviceSynchronize());
	OK(cudaHostUnregister(m->host));
	OK(cudaFreeHost(m->pinned));
	OK(cudaFreeHost(m->mapped));
	OK(cudaFreeAsync(m->ordered, NULL));
	OK(cudaFree(NULL));
	OK(cudaFree(m->device));
	free(m->host);
}

/* By itself and, below, under the wrapper: which must change nothing. */
Test(small_wrapped, calls)
{
	struct memory m;

	NEED_DEVICE();
	take_memory(&m);
	copy(&m);
	launch(&m);
	wait_and_give_back(&m);
}

Test(small_wrapper_calls, each_call_is_a_line)
{
	struct log log;
	char self[2048] = "";

	NEED_DEVICE();
	cr_assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "/proc/self/exe");
	/* the variable tells Criterion that it is the child of a test */
	run_wrapped(&log, "env -u BXFI_MAP '%s' --filter small_wrapped/calls 2>&1", self);
	for (int i = 0; wanted[i] || i < log.n; i++)
		cr_assert(wanted[i] && !strcmp(log.line[i], wanted[i]), "line %d: '%s', not '%s'",
			  i, log.line[i], wanted[i] ? wanted[i] : "");
	log_release(&log);
}
