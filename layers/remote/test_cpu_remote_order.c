/*
 * test_cpu_remote_order.c - what CUDA promises of default streams, waits and captures: it holds
 * with and without the layer (small_remote_order), and for a client whose daemon's process has
 * others, too, which has streams of its own in their place (order.c).
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <pthread.h>
#include <time.h>

#include "layers/remote/test_daemon.h"
#include "layers/remote/test_streams.h"

TestSuite(small_remote_order, .timeout = 100);
TestSuite(small_remote_order_daemon, .init = layers_apart, .timeout = 300);

/* ---- the default stream's order ---------------------------------------------------- */

/* What `later` copies is there when `first` has got past the gate. */
static void comes_after(const struct gate *g, cudaStream_t first, cudaStream_t later)
{
	uint64_t *seen = zeroed_word();

	gate_close(g, first);
	OK(cudaMemcpyAsync(seen, g->reached, sizeof(*seen), cudaMemcpyDeviceToDevice, later));
	FAILS(cudaStreamQuery(later), cudaErrorNotReady);
	gate_open(g);
	OK(cudaStreamSynchronize(later));
	cr_assert(eq(u64, value_of(seen), 1));
	OK(cudaFree(seen));
}

Test(small_remote_order, blocking_streams_and_the_default_one_wait_for_each_other)
{
	cudaStream_t a = new_stream(cudaStreamDefault), b = new_stream(cudaStreamDefault);
	const struct gate g = gate_new();

	for (int i = 0; i < 2; i++) {
		comes_after(&g, a, 0);
		comes_after(&g, 0, b);
		comes_after(&g, 0, cudaStreamPerThread);
		comes_after(&g, b, cudaStreamLegacy);
	}
}

Test(small_remote_order, other_streams_do_not)
{
	cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamDefault);
	const struct gate g = gate_new(), other = gate_new();
	uint64_t *word = zeroed_word();

	gate_close(&g, 0);
	add(word, 5, a);
	OK(cudaStreamSynchronize(a));
	OK(cudaStreamQuery(a));
	FAILS(cudaStreamQuery(0), cudaErrorNotReady);
	gate_open(&g);
	gate_close(&other, a);
	add(word, 6, 0);
	add(word, 7, b);
	OK(cudaStreamSynchronize(b));
	OK(cudaStreamSynchronize(0));
	FAILS(cudaStreamQuery(a), cudaErrorNotReady);
	gate_open(&other);
	cr_assert(eq(u64, value_of(word), 18));
}

Test(small_remote_order, what_is_left_in_a_destroyed_stream_is_waited_for)
{
	const unsigned flags[] = { cudaStreamDefault, cudaStreamNonBlocking };
	const struct gate g = gate_new();
	uint64_t *seen = zeroed_word();
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	for (int i = 0; i < 2; i++) {
		cudaStream_t stream = new_stream(flags[i]);

		gate_close(&g, stream);
		OK(cudaStreamDestroy(stream));
		if (!i) {
			OK(cudaMemcpyAsync(seen, g.reached, sizeof(*seen), cudaMemcpyDeviceToDevice,
					   0));
			OK(cudaEventRecord(event, 0));
			FAILS(cudaEventQuery(event), cudaErrorNotReady);
		}
		gate_open(&g);
		OK(cudaDeviceSynchronize());
		cr_assert(eq(u64, value_of(g.reached), 1));
	}
	cr_assert(eq(u64, value_of(seen), 1));
}

/* Though the stream takes part in a capture by then. */
Test(small_remote_order, what_came_before_a_capture_is_waited_for)
{
	cudaStream_t stream = new_stream(cudaStreamDefault);
	const struct gate g = gate_new();
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	gate_close(&g, stream);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaStreamDestroy(stream));
	OK(cudaEventRecord(event, 0));
	FAILS(cudaEventQuery(event), cudaErrorNotReady);
	gate_open(&g);
	OK(cudaDeviceSynchronize());
	cr_assert(eq(u64, value_of(g.reached), 1));
}

static void *open_later(void *gate)
{
	const struct timespec nap = { .tv_nsec = 20000000 };

	nanosleep(&nap, NULL);
	gate_open(gate);
	return NULL;
}

/* A stream that has a copy to make, behind the gate, begins a capture or joins another stream's. */
static void copy_ahead_of_capture(struct gate *g, uint64_t *to, const uint64_t *from,
				  cudaStream_t stream, cudaStream_t origin)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	gate_close(g, stream);
	OK(cudaMemcpyAsync(to, from, sizeof(*to), cudaMemcpyDeviceToDevice, stream));
	OK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed));
	if (origin != stream) {
		OK(cudaEventRecord(event, origin));
		OK(cudaStreamWaitEvent(stream, event, 0));
	}
}

/* The gate is opened while the memory is given back, which has to wait for that. */
static void is_given_back_behind_copies(cudaStream_t stream, cudaStream_t origin)
{
	struct gate g = gate_new();
	uint64_t *from = zeroed_word(), *seen = zeroed_word();
	pthread_t opener;

	add(from, 7, 0);
	OK(cudaDeviceSynchronize());
	copy_ahead_of_capture(&g, seen, from, stream, origin);
	cr_assert(zero(int, pthread_create(&opener, NULL, open_later, &g)));
	OK(cudaFree(from));
	cr_assert(zero(int, pthread_join(opener, NULL)));
	cr_assert(eq(u64, value_of(seen), 7));
}

Test(small_remote_order, memory_is_needed_by_copies_ahead_of_a_capture)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);

	is_given_back_behind_copies(stream, stream);
}

Test(small_remote_order, and_ahead_of_taking_part_in_one)
{
	is_given_back_behind_copies(new_stream(cudaStreamNonBlocking),
				    new_stream(cudaStreamNonBlocking));
}

/* ---- captures ---------------------------------------------------------------------- */

static void is_spoiled(cudaStream_t stream)
{
	cudaGraph_t graph = NULL;

	FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
	OK(cudaStreamSynchronize(stream));
	cudaGetLastError();
}

/* By way of a daemon it may have been sent ahead. */
static int by_now(cudaError_t error)
{
	unsigned flags;

	if (!error)
		cudaGetDeviceFlags(&flags);
	return (int)cudaGetLastError();
}

Test(small_remote_order, captures_forbid_what_they_do)
{
	cudaStream_t a = new_stream(cudaStreamDefault), b = new_stream(cudaStreamNonBlocking);
	enum cudaStreamCaptureStatus status;
	uint64_t *word = zeroed_word();
	cudaEvent_t event;
	void *memory;

	OK(cudaEventCreate(&event));
	FAILS(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
	      cudaErrorStreamCaptureUnsupported);
	OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	FAILS(cudaStreamIsCapturing(0, &status), cudaErrorStreamCaptureImplicit);
	FAILS(by_now(cudaMemset(word, 0, sizeof(*word))), cudaErrorStreamCaptureImplicit);
	is_spoiled(a);
	OK(cudaStreamBeginCapture(b, cudaStreamCaptureModeGlobal));
	FAILS(cudaMalloc(&memory, 64), cudaErrorStreamCaptureUnsupported);
	is_spoiled(b);
	OK(cudaStreamBeginCapture(b, cudaStreamCaptureModeGlobal));
	FAILS(cudaFree(word), cudaErrorStreamCaptureUnsupported);
	is_spoiled(b);
	OK(cudaStreamBeginCapture(b, cudaStreamCaptureModeRelaxed));
	FAILS(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
	is_spoiled(b);
	OK(cudaStreamBeginCapture(b, cudaStreamCaptureModeRelaxed));
	OK(cudaEventRecord(event, b));
	FAILS(by_now(cudaStreamWaitEvent(0, event, 0)), cudaErrorStreamCaptureUnsupported);
	is_spoiled(b);
	OK(cudaStreamBeginCapture(b, cudaStreamCaptureModeRelaxed));
	OK(cudaMalloc(&memory, 64));
	OK(cudaFree(memory));
	OK(cudaGraphDestroy(ended(b)));
	add(word, 1, 0);
	cr_assert(eq(u64, value_of(word), 1));
}

Test(small_remote_order, what_is_the_device_s_is_set_and_told)
{
	unsigned flags;
	size_t before, after;
	void *memory = &flags;

	OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
	OK(cudaGetDeviceFlags(&flags));
	cr_assert(eq(uint, flags & cudaDeviceScheduleMask, cudaDeviceScheduleYield));
	FAILS(cudaSetDeviceFlags(1u << 30), cudaErrorInvalidValue);
	OK(cudaFree(NULL));
	OK(cudaMalloc(&memory, 0));
	cr_assert(zero(ptr, memory));
	cudaGetLastError();
	OK(cudaDeviceGetLimit(&before, cudaLimitPrintfFifoSize));
	OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, before + 4096));
	OK(cudaDeviceGetLimit(&after, cudaLimitPrintfFifoSize));
	cr_assert(eq(sz, after, before + 4096));
}

/* ---- by way of a daemon ------------------------------------------------------------------- */

Test(small_remote_order_daemon, it_holds_where_one_process_serves)
{
	own_is_shared = true;
	own_transport = REMOTE_UNIX;
	passes_as_client("small_remote_order/*", 8, false, NULL);
}

Test(small_remote_order_daemon, it_holds_in_a_process_of_its_own)
{
	passes_as_client("small_remote_order/*", 8, false, NULL);
}
