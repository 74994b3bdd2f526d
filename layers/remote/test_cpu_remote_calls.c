/*
 * test_cpu_remote_calls.c - calls of CUDA by way of the layer remote: the suite small_remote_calls
 * holds with and without it; then it runs again as a client of this program's daemon. What that one
 * was sent, damaged in many ways, is given to a session (small_remote_daemon).
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "layers/remote/daemon/serve.h"
#include "layers/remote/test_cpu_remote_calls.h"
#include "layers/remote/test_daemon.h"
#include "layers/remote/test_fuzz.h"
#include "layers/remote/test_passes.h"

TestSuite(small_remote_calls, .fini = await_daemon, .timeout = 100);
TestSuite(small_remote_stray, .timeout = 100);
TestSuite(small_remote_daemon, .init = layers_apart, .timeout = 300);
TestSuite(large_remote_daemon, .init = layers_apart, .timeout = 300);

/* ---- calls -------------------------------------------------------------------------------- */

static void add(uint64_t *to, uint64_t value, cudaStream_t stream)
{
	uint8_t times = 2;
	void *arguments[] = { &to, &value, &times };

	OK(cudaLaunchKernel(kernel_add(), (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, arguments, 0,
			    stream));
}

static uint64_t *zeroed_word(void)
{
	uint64_t *word;

	OK(cudaMalloc((void **)&word, sizeof(*word)));
	OK(cudaMemset(word, 0, sizeof(*word)));
	return word;
}

static uint64_t value_of(const uint64_t *word)
{
	uint64_t value = 99;

	OK(cudaMemcpy(&value, word, sizeof(value), cudaMemcpyDeviceToHost));
	return value;
}

Test(small_remote_calls, launches_come_in_order_and_arguments_as_they_were)
{
	uint64_t *word = zeroed_word();
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	OK(cudaDeviceSynchronize());
	for (uint64_t i = 0; i < 12000; i++) /* more than the ring holds */
		add(word, i, stream);
	OK(cudaStreamSynchronize(stream));
	cr_assert(eq(u64, value_of(word), 12000ull * 11999));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(word));
}

Test(small_remote_calls, grids_and_blocks_have_three_sides)
{
	uint64_t *word = zeroed_word();
	void *arguments[] = { &word };
	cudaLaunchAttribute attribute = {
		.id = cudaLaunchAttributeProgrammaticStreamSerialization,
		.val.programmaticStreamSerializationAllowed = 1,
	};
	cudaLaunchConfig_t config = {
		.gridDim = { 7, 6, 5 },
		.blockDim = { 4, 3, 2 },
		.attrs = &attribute,
		.numAttrs = 1,
	};

	OK(cudaLaunchKernel(kernel_tell_shape(), (dim3){ 2, 3, 4 }, (dim3){ 5, 6, 7 }, arguments, 0,
			    0));
	cr_assert(eq(u64, value_of(word), 765432));
	OK(cudaLaunchKernelExC(&config, kernel_tell_shape(), arguments));
	cr_assert(eq(u64, value_of(word), 234567));
}

Test(small_remote_calls, errors_come_and_stay_as_in_cuda)
{
	uint64_t *word = zeroed_word();
	int count;

	FAILS(cudaLaunchKernel(kernel_add(), (dim3){ 0, 1, 1 }, (dim3){ 1, 1, 1 },
			       (void *[]){ &word, &word, &word }, 0, 0),
	      cudaErrorInvalidValue);
	OK(cudaGetDeviceCount(&count));
	FAILS(cudaPeekAtLastError(), cudaErrorInvalidValue);
	FAILS(cudaGetLastError(), cudaErrorInvalidValue);
	OK(cudaGetLastError());
	FAILS(cudaLaunchKernel("none", (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, 0),
	      cudaErrorInvalidResourceHandle);
	FAILS(cudaStreamSynchronize((cudaStream_t)0x1234568), cudaErrorInvalidResourceHandle);
	FAILS(cudaEventRecord((cudaEvent_t)0x99, 0), cudaErrorInvalidResourceHandle);
	FAILS(cudaFree((char *)word + 8), cudaErrorInvalidValue);
	FAILS(cudaMemcpy(word, &count, 4096, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	FAILS(cudaMemcpy(word, &count, 4, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
	FAILS(cudaMemset(word, 0, 4096), cudaErrorInvalidValue);
	FAILS(cudaMalloc((void **)&word, (size_t)1 << 60), cudaErrorMemoryAllocation);
	FAILS(cudaGetLastError(), cudaErrorMemoryAllocation);
}

/* Only the daemon knows: a stream that records keeps the default stream from being used. */
Test(small_remote_calls, an_error_of_a_call_sent_ahead_comes_by_the_next_answer)
{
	uint64_t *word = zeroed_word(), value = 1;
	uint8_t times = 1;
	void *arguments[] = { &word, &value, &times };
	cudaStream_t captured;
	cudaGraph_t graph;
	unsigned flags;
	int at_once, later;

	OK(cudaStreamCreate(&captured));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
	at_once = (int)cudaLaunchKernel(kernel_add(), (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 },
					arguments, 0, 0);
	later = (int)cudaGetDeviceFlags(&flags);
	cr_assert(eq(int, at_once ? at_once : later, cudaErrorStreamCaptureImplicit));
	FAILS(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
	OK(cudaGetDeviceFlags(&flags));
	FAILS(cudaStreamEndCapture(captured, &graph), cudaErrorStreamCaptureInvalidated);
}

/* Host memory of that many bytes, filled. */
static uint8_t *pattern(size_t bytes)
{
	uint8_t *p = malloc(bytes);

	for (size_t i = 0; i < bytes; i++)
		p[i] = (uint8_t)(i * 7 + (i >> 13));
	return p;
}

static void round_trip(size_t bytes, bool async)
{
	uint8_t *want = pattern(bytes), *from = malloc(bytes), *back = calloc(bytes, 1);
	void *device;

	memcpy(from, want, bytes);
	OK(cudaMalloc(&device, bytes));
	OK(async ? cudaMemcpyAsync(device, from, bytes, cudaMemcpyHostToDevice, 0)
		 : cudaMemcpy(device, from, bytes, cudaMemcpyHostToDevice));
	if (async) /* it has been read */
		memset(from, 0, bytes);
	OK(async ? cudaMemcpyAsync(back, device, bytes, cudaMemcpyDeviceToHost, 0)
		 : cudaMemcpy(back, device, bytes, cudaMemcpyDefault));
	OK(cudaDeviceSynchronize());
	cr_assert(zero(int, memcmp(want, back, bytes)), "%zu bytes, async %d", bytes, async);
	OK(cudaFree(device));
	free(want);
	free(from);
	free(back);
}

Test(small_remote_calls, copies_of_any_length_come_back)
{
	static const size_t bytes[] = { 1, 4096, 4097, 1 << 20, (1 << 20) + 1, (5 << 20) + 13 };

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		round_trip(bytes[i], false);
		round_trip(bytes[i], true);
	}
}

/* Copies that are one command: the daemon has both sides. */
Test(small_remote_calls, copies_from_pinned_memory_and_on_the_device_come_back)
{
	enum { WORDS_IN = 10000, BYTES = 8 * WORDS_IN };
	uint64_t *from, *back, *device[2];

	OK(cudaMallocHost((void **)&from, BYTES));
	OK(cudaMallocHost((void **)&back, BYTES));
	for (int i = 0; i < 2; i++)
		OK(cudaMalloc((void **)&device[i], BYTES));
	for (uint64_t i = 0; i < WORDS_IN; i++)
		from[i] = i * i;
	OK(cudaMemcpyAsync(device[0], from, BYTES, cudaMemcpyHostToDevice, 0));
	OK(cudaMemcpy2DAsync(device[1], 800, device[0], 800, 800, 100, cudaMemcpyDeviceToDevice,
			     0));
	OK(cudaMemcpyAsync(back, device[1], BYTES, cudaMemcpyDeviceToHost, 0));
	OK(cudaStreamSynchronize(0));
	cr_assert(zero(int, memcmp(from, back, BYTES)));
	OK(cudaMemcpy(back + 1, from, BYTES - 8, cudaMemcpyHostToHost));
	cr_assert(zero(int, memcmp(from, back + 1, BYTES - 8)));
	FAILS(cudaMemcpyAsync(device[0], from + 1, BYTES, cudaMemcpyHostToDevice, 0),
	      cudaErrorInvalidValue);
}

/* Rows of 3000 bytes in 1000, and longer ones than a block. */
Test(small_remote_calls, copies_of_rows_leave_the_gaps_alone)
{
	static const size_t widths[] = { 3000, (3 << 20) / 2 };

	for (int i = 0; i < 2; i++) {
		size_t width = widths[i], pitch = width + 72, rows = i ? 3 : 1000;
		uint8_t *from = pattern(pitch * rows), *back = calloc(pitch, rows);
		void *device;

		OK(cudaMalloc(&device, (width + 8) * rows));
		OK(cudaMemcpy2D(device, width + 8, from, pitch, width, rows,
				cudaMemcpyHostToDevice));
		OK(cudaMemcpy2DAsync(back, pitch, device, width + 8, width, rows,
				     cudaMemcpyDeviceToHost, 0));
		OK(cudaDeviceSynchronize());
		for (size_t row = 0; row < rows; row++) {
			cr_assert(zero(int, memcmp(back + row * pitch, from + row * pitch, width)),
				  "row %zu", row);
			cr_assert(eq(u8, back[row * pitch + width], 0), "row %zu", row);
		}
		FAILS(cudaMemcpy2D(device, width - 1, from, pitch, width, rows, cudaMemcpyDefault),
		      cudaErrorInvalidPitchValue);
		OK(cudaFree(device));
		free(from);
		free(back);
	}
}

Test(small_remote_calls, mapped_memory_is_the_kernel_s_and_the_host_s)
{
	uint64_t *to = zeroed_word();
	uint32_t *word, *on_device;
	void *arguments[] = { &on_device, &to };
	struct cudaPointerAttributes a;
	cudaEvent_t event;

	OK(cudaHostAlloc((void **)&word, sizeof(*word), cudaHostAllocMapped));
	*word = 0;
	OK(cudaHostGetDevicePointer((void **)&on_device, word, 0));
	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	OK(cudaLaunchKernel(kernel_await(), (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, arguments, 0, 0));
	OK(cudaEventRecord(event, 0));
	FAILS(cudaEventQuery(event), cudaErrorNotReady);
	FAILS(cudaStreamQuery(0), cudaErrorNotReady);
	OK(cudaGetLastError());
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	OK(cudaEventSynchronize(event));
	cr_assert(eq(u64, value_of(to), 1));
	OK(cudaPointerGetAttributes(&a, word));
	cr_assert(eq(int, a.type, cudaMemoryTypeHost));
	OK(cudaPointerGetAttributes(&a, to));
	cr_assert(eq(int, a.type, cudaMemoryTypeDevice));
	OK(cudaPointerGetAttributes(&a, &a));
	cr_assert(eq(int, a.type, cudaMemoryTypeUnregistered));
	OK(cudaFreeHost(word));
	FAILS(cudaFreeHost(word), cudaErrorInvalidValue);
}

Test(small_remote_calls, pinned_memory_is_given_back)
{
	enum { PIECES = 200, BYTES = 1 << 20 };
	uint8_t *piece[PIECES];
	size_t before, after, total;

	OK(cudaMemGetInfo(&before, &total));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < PIECES; i++) {
			OK(cudaMallocHost((void **)&piece[i], BYTES));
			piece[i][BYTES - 1] = 1;
		}
		for (int i = 0; i < PIECES; i++)
			OK(cudaFreeHost(piece[i ^ 1]));
	}
	OK(cudaMemGetInfo(&after, &total));
	cr_assert(lt(u64, 0, after));
}

Test(small_remote_calls, registered_memory_is_copied)
{
	uint64_t own[512], *word = zeroed_word();

	own[0] = 77;
	OK(cudaHostRegister(own, sizeof(own), cudaHostRegisterDefault));
	FAILS(cudaHostRegister(own + 8, 8, 0), cudaErrorHostMemoryAlreadyRegistered);
	OK(cudaMemcpyAsync(word, own, 8, cudaMemcpyHostToDevice, 0));
	OK(cudaMemcpyAsync(own + 1, word, 8, cudaMemcpyDeviceToHost, 0));
	OK(cudaStreamSynchronize(0));
	cr_assert(eq(u64, own[1], 77));
	OK(cudaHostUnregister(own));
	FAILS(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
}

Test(small_remote_calls, variables_are_found_by_their_address)
{
	uint64_t in[4] = { 5, 6, 7, 8 }, out[4] = { 0 }, *word = zeroed_word();
	size_t bytes;
	void *address;

	OK(cudaMemcpyToSymbol(variable(), in, sizeof(in), 0, cudaMemcpyHostToDevice));
	OK(cudaLaunchKernel(kernel_read_variable(), (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 },
			    (void *[]){ &word }, 0, 0));
	cr_assert(eq(u64, value_of(word), 13));
	OK(cudaMemcpyFromSymbol(out, variable(), 16, 16, cudaMemcpyDeviceToHost));
	cr_assert(eq(u64, out[0] + out[1], 15));
	OK(cudaGetSymbolSize(&bytes, variable()));
	cr_assert(eq(sz, bytes, sizeof(in)));
	OK(cudaGetSymbolAddress(&address, variable()));
	OK(cudaMemset(address, 0, 8));
	FAILS(cudaMemcpyToSymbol(variable(), in, 33, 0, cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	FAILS(cudaGetSymbolSize(&bytes, in), cudaErrorInvalidSymbol);
}

Test(small_remote_calls, memory_in_stream_order)
{
	cudaStream_t stream;
	uint64_t *word;

	OK(cudaStreamCreate(&stream));
	for (int i = 0; i < 50; i++) {
		OK(cudaMallocAsync((void **)&word, 1 << 20, stream));
		OK(cudaMemsetAsync(word, 0, 8, stream));
		add(word, 1, stream);
		OK(cudaFreeAsync(word, stream));
	}
	FAILS(cudaFreeAsync(word, stream), cudaErrorInvalidValue);
	OK(cudaStreamSynchronize(stream));
	OK(cudaStreamDestroy(stream));
}

Test(small_remote_calls, events_order_streams_and_take_times)
{
	uint64_t *word = zeroed_word();
	cudaStream_t a, b;
	cudaEvent_t start, end;
	float ms = -1;

	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	OK(cudaDeviceSynchronize());
	FAILS(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
	OK(cudaEventRecord(start, a));
	for (int i = 0; i < 100; i++)
		add(word, 1, a);
	OK(cudaEventRecord(end, a));
	OK(cudaStreamWaitEvent(b, end, 0));
	add(word, 1, b);
	OK(cudaStreamSynchronize(b));
	cr_assert(eq(u64, value_of(word), 202));
	OK(cudaEventElapsedTime(&ms, start, end));
	cr_assert(le(flt, 0, ms));
	OK(cudaEventDestroy(start));
	FAILS(cudaEventRecord(start, a), cudaErrorInvalidResourceHandle);
}

/* ---- graphs ------------------------------------------------------------------------------- */

static cudaGraph_t graph_of(uint64_t *word, uint64_t value, int n)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	enum cudaStreamCaptureStatus status;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < n; i++)
		add(word, value, stream);
	OK(cudaMemsetAsync(word + 1, 0xff, 8, stream));
	OK(cudaStreamIsCapturing(stream, &status));
	cr_assert(eq(int, status, cudaStreamCaptureStatusActive));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaStreamDestroy(stream));
	return graph;
}

static void look_at_nodes(cudaGraph_t graph, uint64_t *word, cudaGraphNode_t *first)
{
	cudaGraphNode_t node[8], needs[2];
	struct cudaKernelNodeParams p;
	enum cudaGraphNodeType type;
	size_t n = 8, n_needs = 2;

	OK(cudaGraphGetNodes(graph, node, &n));
	cr_assert(eq(sz, n, 4));
	OK(cudaGraphNodeGetType(node[3], &type));
	cr_assert(eq(int, type, cudaGraphNodeTypeMemset));
	OK(cudaGraphNodeGetDependencies(node[3], needs, NULL, &n_needs));
	cr_assert(n_needs == 1 && needs[0] == node[2]);
	OK(cudaGraphKernelNodeGetParams(node[0], &p));
	cr_assert(p.func == kernel_add() && *(uint64_t **)p.kernelParams[0] == word);
	cr_assert(eq(u64, *(uint64_t *)p.kernelParams[1], 3));
	FAILS(cudaGraphKernelNodeGetParams(node[3], &p), cudaErrorInvalidValue);
	*first = node[0];
}

Test(small_remote_calls, graphs_run_and_change)
{
	uint64_t *word, value = 100;
	uint8_t times = 1;
	void *arguments[] = { &word, &value, &times };
	struct cudaKernelNodeParams p = {
		.func = (void *)kernel_add(),
		.gridDim = { 1, 1, 1 },
		.blockDim = { 1, 1, 1 },
		.kernelParams = arguments,
	};
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph, other, longer;
	cudaGraphNode_t first;
	cudaGraphExec_t exec;

	OK(cudaMalloc((void **)&word, 16));
	OK(cudaMemset(word, 0, 16));
	graph = graph_of(word, 3, 3);
	other = graph_of(word, 4, 3);
	longer = graph_of(word, 4, 5);
	look_at_nodes(graph, word, &first);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphUpload(exec, 0));
	OK(cudaGraphLaunch(exec, 0));
	cr_assert(eq(u64, value_of(word), 18));
	OK(cudaGraphExecKernelNodeSetParams(exec, first, &p));
	OK(cudaGraphLaunch(exec, 0));
	cr_assert(eq(u64, value_of(word), 18 + 112));
	OK(cudaGraphExecUpdate(exec, other, &info));
	OK(cudaGraphLaunch(exec, 0));
	cr_assert(eq(u64, value_of(word), 130 + 24));
	FAILS(cudaGraphExecUpdate(exec, longer, &info), cudaErrorGraphExecUpdateFailure);
	cr_assert(ne(int, info.result, 0));
	OK(cudaGraphDestroy(graph));
	FAILS(cudaGraphExecKernelNodeSetParams(exec, first, &p), cudaErrorInvalidValue);
	OK(cudaGraphExecDestroy(exec));
	FAILS(cudaGraphLaunch(exec, 0), cudaErrorInvalidValue);
}

/* ---- what is asked ------------------------------------------------------------------------ */

Test(small_remote_calls, the_device_says_what_it_is)
{
	struct cudaDeviceProp p;
	struct cudaFuncAttributes a;
	int value = 0, blocks = 0, least, greatest;
	unsigned flags;
	size_t bytes;

	OK(cudaGetDeviceProperties(&p, 0));
	cr_assert(eq(int, p.warpSize, 32));
	OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
	cr_assert(eq(int, value, p.multiProcessorCount));
	FAILS(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 3), cudaErrorInvalidDevice);
	OK(cudaRuntimeGetVersion(&value));
	cr_assert(eq(int, value, CUDART_VERSION));
	OK(cudaFuncGetAttributes(&a, kernel_add()));
	cr_assert(eq(int, a.maxThreadsPerBlock, 1024));
	OK(cudaFuncSetAttribute(kernel_add(), cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
	OK(cudaFuncGetAttributes(&a, kernel_add()));
	cr_assert(eq(int, a.maxDynamicSharedSizeBytes, 100000));
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_add(), 32, 0));
	cr_assert(eq(int, blocks, 1));
	OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
	OK(cudaGetDeviceFlags(&flags));
	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
	OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, bytes));
	OK(cudaDeviceSynchronize());
}

static void *calls_of_a_thread(void *unused)
{
	uint64_t *word = zeroed_word();
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	OK(cudaStreamSynchronize(0));
	for (int i = 0; i < 1000; i++)
		add(word, 1, stream);
	OK(cudaStreamSynchronize(stream));
	cr_assert(eq(u64, value_of(word), 2000));
	FAILS(cudaFree(&stream), cudaErrorInvalidValue);
	FAILS(cudaGetLastError(), cudaErrorInvalidValue);
	return unused;
}

/* A kernel that waits for the host, and a thread that waits for the kernel. */
struct waiting {
	cudaStream_t stream;
	cudaEvent_t event;
	int how;
	atomic_bool begins;
};

static void *wait_in_a_thread(void *waiting)
{
	struct waiting *w = waiting;
	unsigned flags;

	OK(cudaGetDeviceFlags(&flags)); /* it is a thread that calls, from here on */
	atomic_store(&w->begins, true);
	OK(w->how == 0	 ? cudaStreamSynchronize(w->stream)
	   : w->how == 1 ? cudaEventSynchronize(w->event)
			 : cudaDeviceSynchronize());
	return NULL;
}

/* What comes back later is not asserted to come late: a session that stands still ends this test.
 */
static void others_call_while_one_waits(int how)
{
	struct waiting w = { .how = how };
	uint64_t *to = zeroed_word(), *more;
	uint32_t *word, *on_device;
	void *arguments[] = { &on_device, &to };
	const struct timespec moment = { .tv_nsec = 20000000 };
	pthread_t thread;

	OK(cudaHostAlloc((void **)&word, sizeof(*word), cudaHostAllocMapped));
	*word = 0;
	OK(cudaHostGetDevicePointer((void **)&on_device, word, 0));
	OK(cudaStreamCreateWithFlags(&w.stream, cudaStreamNonBlocking));
	OK(cudaEventCreate(&w.event));
	OK(cudaDeviceSynchronize());
	OK(cudaLaunchKernel(kernel_await(), (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, arguments, 0,
			    w.stream));
	OK(cudaEventRecord(w.event, w.stream));
	pthread_create(&thread, NULL, wait_in_a_thread, &w);
	while (!atomic_load(&w.begins))
		sched_yield();
	nanosleep(&moment, NULL);
	OK(cudaMalloc((void **)&more, 64));
	FAILS(cudaStreamQuery(w.stream), cudaErrorNotReady);
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	OK(cudaStreamSynchronize(w.stream));
	cr_assert(eq(u64, value_of(to), 1));
}

Test(small_remote_calls, a_thread_that_waits_holds_no_other_back)
{
	for (int how = 0; how < 3; how++)
		others_call_while_one_waits(how);
}

Test(small_remote_calls, threads_call_at_the_same_time)
{
	pthread_t thread[8];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&thread[i], NULL, calls_of_a_thread, NULL);
		for (int i = 0; i < 8; i++)
			pthread_join(thread[i], NULL);
	}
	OK(cudaGetLastError());
}

/* ---- the same by way of a daemon ---------------------------------------------------------- */

static void passes_with(bool strict, void (*begin)(void))
{
	const char *out = passes_as_client("small_remote_calls/*", 17, strict, begin);

	cr_assert(strstr(out, "not supported") == NULL, "%s", out);
}

Test(small_remote_daemon, all_calls_pass_by_way_of_it)
{
	passes_with(false, NULL);
}

Test(small_remote_daemon, strict_ones_pass_too)
{
	passes_with(true, NULL);
}

Test(small_remote_daemon, all_calls_pass_over_a_unix_socket)
{
	own_transport = REMOTE_UNIX;
	passes_with(false, NULL);
}

Test(small_remote_daemon, all_calls_pass_over_tcp)
{
	own_transport = REMOTE_TCP;
	passes_with(false, NULL);
}

Test(large_remote_daemon, all_calls_pass_where_one_process_serves)
{
	own_is_shared = true;
	passes_with(false, NULL);
	own_transport = REMOTE_TCP;
	passes_with(false, NULL);
}

/* Is run by the next test. Without the layer the program would end here. */
Test(small_remote_stray, copies_from_where_nothing_is)
{
	enum { BYTES = 16 << 20 };
	void *device, *nothing;

	if (!getenv("RIFT_REMOTE_STRAY"))
		return;
	nothing = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OK(cudaMalloc(&device, BYTES));
	cudaMemcpy(device, nothing, BYTES, cudaMemcpyHostToDevice);
	cr_assert(eq(int, (int)cudaDeviceSynchronize(), cudaErrorContextIsDestroyed));
}

/* Over a socket the system reads the program's memory: what it cannot read ends the session. */
Test(small_remote_daemon, a_copy_from_where_nothing_is_ends_in_order)
{
	static const enum remote_transport sockets[] = { REMOTE_UNIX, REMOTE_TCP };

	for (size_t i = 0; i < 2; i++) {
		struct own_daemon d;
		const char *out;

		own_transport = sockets[i];
		d = own_daemon_start(false, NULL);
		cr_assert(zero(int, run_own_tests(&d, "small_remote_stray/*", "RIFT_REMOTE_STRAY=1",
						  &out)),
			  "%s", out);
		cr_assert(strstr(out, "rift: layer remote: the daemon has ended") != NULL, "%s",
			  out);
		own_daemon_end(&d);
	}
}

/* ---- calls without effect, and what is missing ---------------------------------------------- */

/* Functions of NVIDIA's runtime that the CPU device's lacks: only the layer's has them. */
#define CALL(function, ...) ((int (*)(__VA_ARGS__))dlsym(RTLD_DEFAULT, #function))

/* Is run by the next test. */
Test(small_remote_hints, are_answered)
{
	void *entry = &entry;
	uint64_t value = 1;
	int got = -1, status = -1;
	char id[16];
	cudaStream_t s;

	if (!getenv("RIFT_REMOTE_HINTS"))
		return;
	OK(cudaStreamCreate(&s));
	OK(CALL(cudaDeviceSetCacheConfig, int)(2));
	OK(CALL(cudaDeviceGetCacheConfig, int *)(&got));
	cr_assert(eq(int, got, 2));
	OK(CALL(cudaThreadGetCacheConfig, int *)(&got));
	FAILS(CALL(cudaDeviceSetCacheConfig, int)(4), cudaErrorInvalidValue);
	OK(CALL(cudaDeviceSetSharedMemConfig, int)(2));
	OK(CALL(cudaDeviceGetSharedMemConfig, int *)(&got));
	cr_assert(eq(int, got, 1));
	OK(CALL(cudaFuncSetCacheConfig, const void *, int)(kernel_add(), 1));
	OK(CALL(cudaFuncSetSharedMemConfig, const void *, int)(kernel_add(), 1));
	FAILS(CALL(cudaFuncSetCacheConfig, const void *, int)(kernel_add(), 9),
	      cudaErrorInvalidValue);
	OK(CALL(cudaCtxResetPersistingL2Cache, void)());
	OK(CALL(cudaStreamSetAttribute, void *, int, const void *)(s, 1, &value));
	FAILS(CALL(cudaStreamSetAttribute, void *, int, const void *)(&got, 1, &value),
	      cudaErrorInvalidResourceHandle);
	OK(CALL(cudaStreamGetDevice, void *, int *)(s, &got));
	cr_assert(eq(int, got, 0));
	OK(CALL(cudaInitDevice, int, unsigned, unsigned)(0, 0, 0));
	FAILS(CALL(cudaInitDevice, int, unsigned, unsigned)(1, 0, 0), cudaErrorInvalidDevice);
	OK(CALL(cudaSetValidDevices, const int *, int)(&got, 1));
	got = 1;
	OK(CALL(cudaDeviceCanAccessPeer, int *, int, int)(&got, 0, 0));
	cr_assert(eq(int, got, 0));
	FAILS(CALL(cudaDeviceEnablePeerAccess, int, unsigned)(1, 0), cudaErrorInvalidDevice);
	OK(CALL(cudaDeviceGetPCIBusId, char *, int, int)(id, sizeof(id), 0));
	cr_assert(eq(sz, strlen(id), 12), "%s", id);
	OK(CALL(cudaDeviceGetByPCIBusId, int *, const char *)(&got, id));
	FAILS(CALL(cudaDeviceGetByPCIBusId, int *, const char *)(&got, "ffff:ff:1f.0"),
	      cudaErrorInvalidDevice);
	FAILS(CALL(cudaDeviceGetPCIBusId, char *, int, int)(id, 12, 0), cudaErrorInvalidValue);
	OK(CALL(cudaDeviceGetGraphMemAttribute, int, int, uint64_t *)(0, 0, &value));
	cr_assert(eq(u64, value, 0));
	OK(CALL(cudaDeviceGraphMemTrim, int)(0));
	OK(CALL(cudaThreadSynchronize, void)());
	OK(CALL(cudaSetDoubleForDevice, double *)(NULL));
	FAILS(CALL(cudaGetDriverEntryPoint, const char *, void **, uint64_t,
		   int *)("cuMemCreate", &entry, 0, &status),
	      cudaErrorNotSupported);
	cr_assert(eq(ptr, entry, NULL));
	cr_assert(eq(int, status, 1), "not found");
	FAILS(CALL(cudaDeviceReset, void)(), cudaErrorNotSupported);
	OK(cudaStreamDestroy(s));
}

Test(small_remote_daemon, hints_are_answered_and_what_is_missing_is_named)
{
	struct own_daemon d = own_daemon_start(false, NULL);
	const char *out;

	cr_assert(zero(int, run_own_tests(&d, "small_remote_hints/*", "RIFT_REMOTE_HINTS=1", &out)),
		  "%s", out);
	cr_expect(ne(ptr,
		     strstr(out, "rift: layer remote: not supported: the driver's own function "
				 "cuMemCreate, by cudaGetDriverEntryPoint\n"
				 "rift: layer remote: not supported: cudaDeviceReset\n"),
		     NULL),
		  "%s", out);
	own_daemon_end(&d);
}

/*
 * Is run by the next test. Offsets of some fields in CUDA 12.4's struct cudaDeviceProp, each behind
 * one more of those that CUDA 13 has no longer.
 */
Test(small_remote_properties, of_cuda_12)
{
	static const struct {
		size_t at;
		enum cudaDeviceAttr attribute;
	} row[] = { { 320, cudaDevAttrMaxThreadsPerBlock },
		    { 360, cudaDevAttrComputeCapabilityMajor },
		    { 388, cudaDevAttrMultiProcessorCount },
		    { 400, cudaDevAttrCanMapHostMemory },
		    { 604, cudaDevAttrUnifiedAddressing },
		    { 616, cudaDevAttrL2CacheSize },
		    { 624, cudaDevAttrMaxThreadsPerMultiProcessor },
		    { 688, cudaDevAttrCooperativeLaunch } };
	struct cudaDeviceProp now;
	uint8_t p[1032 + 4];
	int got, want;

	if (!getenv("RIFT_REMOTE_PROPERTIES"))
		return;
	memset(p, 0xa5, sizeof(p));
	OK(cudaGetDeviceProperties(&now, 0));
	OK(CALL(cudaGetDeviceProperties_v2, void *, int)(p, 0));
	cr_assert(eq(str, (char *)p, now.name));
	cr_assert(eq(sz, *(size_t *)(p + 288), now.totalGlobalMem));
	cr_assert(eq(int, *(int *)(p + 648), now.regsPerMultiprocessor));
	cr_assert(eq(int, *(int *)(p + 712), now.maxBlocksPerMultiProcessor));
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		OK(cudaDeviceGetAttribute(&want, row[i].attribute, 0));
		memcpy(&got, p + row[i].at, sizeof(got));
		cr_expect(eq(int, got, want), "at %zu", row[i].at);
	}
	cr_assert(eq(int, p[1032], 0xa5), "no byte more");
	OK(cudaGetLastError());
	FAILS(CALL(cudaGetDeviceProperties_v2, void *, int)(p, 1), cudaErrorInvalidDevice);
	FAILS(CALL(cudaGetDeviceProperties_v2, void *, int)(NULL, 0), cudaErrorInvalidValue);
}

Test(small_remote_daemon, programs_of_cuda_12_get_properties)
{
	struct own_daemon d = own_daemon_start(false, NULL);
	const char *out;

	cr_assert(zero(int, run_own_tests(&d, "small_remote_properties/*",
					  "RIFT_REMOTE_PROPERTIES=1", &out)),
		  "%s", out);
	own_daemon_end(&d);
}

/* Is run by the next test: any library of the driver's name, loaded before the first call. */
Test(small_remote_driver, is_loaded)
{
	const char *library = getenv("RIFT_REMOTE_DRIVER");
	int n;

	if (!library)
		return;
	cr_assert(ne(ptr, dlopen(library, RTLD_NOW | RTLD_LOCAL), NULL), "%s", dlerror());
	OK(cudaGetDeviceCount(&n));
	cr_assert(eq(int, n, 1));
}

/* PyTorch asks the driver past the runtime; it would end with the driver's error alone. */
Test(small_remote_daemon, a_program_that_loads_the_driver_is_told)
{
	static const char said[] = "rift: layer remote: not supported: the driver (libcuda.so)";
	struct own_daemon d = own_daemon_start(false, NULL);
	char library[600], other[PATH_MAX + 32], set[700];
	const char *out;

	snprintf(library, sizeof(library), "%s/libcuda.so.1", d.folder);
	snprintf(other, sizeof(other), "%.*s/recorder/ends.so",
		 (int)(strrchr(rift(), '/') - rift()), rift());
	cr_assert(zero(int, symlink(other, library)), "%s", library);
	snprintf(set, sizeof(set), "RIFT_REMOTE_DRIVER=%s", library);
	cr_assert(zero(int, run_own_tests(&d, "small_remote_driver/*", set, &out)), "%s", out);
	cr_expect(ne(ptr, strstr(out, said), NULL), "%s", out);
	unlink(library);
	cr_assert(zero(int, run_own_tests(&d, "small_remote_hints/*", "RIFT_REMOTE_HINTS=1", &out)),
		  "%s", out);
	cr_expect(eq(ptr, strstr(out, said), NULL), "%s", out);
	own_daemon_end(&d);
}

/* The guide has each function of the runtime that the client's library refuses. */
Test(small_remote_daemon, the_guide_names_what_is_missing)
{
	char own[512] = "";
	const char *out;

	cr_assert(lt(long, 0, readlink("/proc/self/exe", own, sizeof(own) - 1)));
	cr_assert(zero(int, shell(&out,
				  "refused=$(nm -D $(dirname '%s')/../remote.so | sed -n "
				  "'s/_ptsz$//; s/.* W "
				  "\\(cuda.*\\)/\\1/p') && test $(echo \"$refused\" | wc -l) -gt "
				  "100 && for f in $refused; do grep -qw $f "
				  "docs/guide/remote.md || echo $f; done",
				  own)),
		  "%s", out);
	cr_assert(eq(str, (char *)out, ""), "not in docs/guide/remote.md: %s", out);
}

/* ---- commands that no client sends --------------------------------------------------------- */

#define ASK(op, ...)                                                                               \
	command_error(&s, &answer, op, "", (const uint64_t[]){ __VA_ARGS__ },                      \
		      sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* The daemon's own memory is out of reach, whichever command names it. */
Test(small_remote_daemon, addresses_of_its_own_are_refused)
{
	static uint8_t blocks[2 * REMOTE_BLOCKS][REMOTE_BLOCK_BYTES];
	static struct remote_answer answer;
	static uint64_t secret = 42;
	uint64_t there = word_of(&secret), own;
	struct session s = session_new(backend_cpu(), UINT64_C(0x7e8000000000), blocks[0],
				       blocks[REMOTE_BLOCKS], 1 << 20);

	cr_assert(zero(int, ASK(REMOTE_MALLOC, 64)));
	memcpy(&own, answer.data, sizeof(own));
	cr_assert(zero(int, ASK(REMOTE_COPY, own, 8, own + 8, 8, 8, 1, 4, 0)));
	cr_assert(eq(int, ASK(REMOTE_COPY, there, 8, own, 8, 8, 1, 4, 0), 1));
	cr_assert(eq(int, ASK(REMOTE_COPY, own, 8, there, 8, 8, 1, 4, 0), 1));
	cr_assert(eq(int, ASK(REMOTE_COPY, own, 64, own, 64, 8, 2, 4, 0), 1));
	cr_assert(eq(int, ASK(REMOTE_COPY_IN, there, 8, 8, 1, 0), 1));
	cr_assert(eq(int, ASK(REMOTE_COPY_OUT, there, 8, 8, 1, 0), 1));
	cr_assert(eq(int, ASK(REMOTE_COPY_OUT, own, 8, 8, pair(1, REMOTE_BLOCKS), 0), 1));
	cr_assert(eq(int, ASK(REMOTE_SET, there, 1, 8, 0), 1));
	cr_assert(eq(int, ASK(REMOTE_FREE, there), 1));
	cr_assert(eq(int, ASK(REMOTE_FREE_ASYNC, there, 0), 1));
	cr_assert(eq(int, ASK(REMOTE_PIN, there & ~UINT64_C(4095), 4096), 1));
	cr_assert(eq(int, ASK(REMOTE_UNPIN, there), 1));
	cr_assert(eq(int, ASK(REMOTE_MALLOC, 1 << 20), cudaErrorMemoryAllocation));
	cr_assert(eq(u64, secret, 42));
	session_close(&s);
}

static void are_refused(bool by_socket)
{
	fuzz_new_record();
	passes_with(false, fuzz_watch);
	cr_assert(lt(u64, 10000, fuzz_record->bytes));
	fuzz_session(&harmless, NULL, REMOTE_KERNEL, REMOTE_EXEC_DESTROY, fuzz_messages(),
		     by_socket);
}

Test(small_remote_daemon, damaged_commands_are_refused)
{
	are_refused(false);
}

Test(small_remote_daemon, damaged_messages_of_a_socket_are_refused)
{
	are_refused(true);
}

Test(small_remote_daemon, damaged_commands_are_refused_in_a_shared_process)
{
	fuzz_shares = true;
	are_refused(false);
}
