/*
 * test_runtime_modes.c - the modes of captures: which calls, unsafe while something is captured,
 * are refused to the thread that captures and to others, and break the capture.
 */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

#include <pthread.h>

TestSuite(small_runtime_modes, .timeout = 300);

/* Calls that are no work for a stream; none has to do with the stream that is captured. */
enum call { WAIT_STREAM, WAIT_EVENT, ASK_EVENT, ALLOCATE, ALLOCATE_PINNED, CALLS };

struct caller {
	cudaStream_t stream;
	cudaEvent_t event; /* recorded, and reached */
	enum call call;
	cudaError_t error;
	void *device, *pinned; /* what it was given */
};

static void *make_call(void *arg)
{
	struct caller *c = arg;

	switch (c->call) {
	case WAIT_STREAM:
		c->error = cudaStreamSynchronize(c->stream);
		break;
	case WAIT_EVENT:
		c->error = cudaEventSynchronize(c->event);
		break;
	case ASK_EVENT:
		c->error = cudaEventQuery(c->event);
		break;
	case ALLOCATE:
		c->error = cudaMalloc(&c->device, 64);
		break;
	default:
		c->error = cudaMallocHost(&c->pinned, 64);
	}
	cudaGetLastError();
	return NULL;
}

static void make_call_elsewhere(struct caller *c)
{
	pthread_t thread;

	cr_assert(!pthread_create(&thread, NULL, make_call, c), "no thread");
	pthread_join(thread, NULL);
}

/* Each call while another stream is captured: refused, which breaks the capture, or not. */
static void each_call_is(bool refused, enum cudaStreamCaptureMode mode, bool elsewhere)
{
	cudaStream_t captured;
	cudaGraph_t graph;
	struct caller c = { 0 };

	OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&c.event, cudaEventDisableTiming));
	OK(cudaEventRecord(c.event, c.stream));
	OK(cudaStreamSynchronize(c.stream));
	for (c.call = 0; c.call < CALLS; c.call++) {
		OK(cudaStreamBeginCapture(captured, mode));
		if (elsewhere)
			make_call_elsewhere(&c);
		else
			make_call(&c);
		cudaError_t end = cudaStreamEndCapture(captured, &graph);

		cudaGetLastError();
		cr_assert(c.error == (refused ? cudaErrorStreamCaptureUnsupported : cudaSuccess),
			  "call %d: %s", c.call, cudaGetErrorName(c.error));
		cr_assert(end == (refused ? cudaErrorStreamCaptureInvalidated : cudaSuccess),
			  "end after call %d: %s", c.call, cudaGetErrorName(end));
		if (!end)
			OK(cudaGraphDestroy(graph));
	}
	OK(cudaFree(c.device));
	OK(cudaFreeHost(c.pinned));
}

Test(small_runtime_modes, global_forbids_all_threads)
{
	NEED_DEVICE();
	each_call_is(true, cudaStreamCaptureModeGlobal, false);
	each_call_is(true, cudaStreamCaptureModeGlobal, true);
}

Test(small_runtime_modes, thread_local_forbids_the_own_thread)
{
	NEED_DEVICE();
	each_call_is(true, cudaStreamCaptureModeThreadLocal, false);
	each_call_is(false, cudaStreamCaptureModeThreadLocal, true);
}

Test(small_runtime_modes, relaxed_forbids_nobody)
{
	NEED_DEVICE();
	each_call_is(false, cudaStreamCaptureModeRelaxed, false);
	each_call_is(false, cudaStreamCaptureModeRelaxed, true);
}

/* One of two captures fails; while the other is not ended, no stream may be waited for. */
Test(small_runtime_modes, a_failed_merge_leaves_captures_under_way)
{
	cudaStream_t a, b, outside;
	cudaGraph_t graph;
	cudaEvent_t e;

	NEED_DEVICE();
	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&outside, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
	OK(cudaStreamBeginCapture(b, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(e, b));
	REFUSED(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(a, e, 0));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(outside));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(b, &graph));
	OK(cudaStreamSynchronize(outside));
}
