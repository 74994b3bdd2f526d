/* test_runtime_fork.c - captures that spread over several streams by events and come together. */
#include "tests/plain.h"
#include "tests/graphs.h"

TestSuite(small_runtime_fork, .timeout = 300);

/* Streams and events that each test uses as it needs; d[0..3] are zero. */
struct set {
	cudaStream_t a, b, c;
	cudaEvent_t e, f, g;
	int *d;
};

static struct set new_set(void)
{
	struct set s;

	OK(cudaStreamCreateWithFlags(&s.a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&s.b, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&s.c, cudaStreamNonBlocking));
	OK(cudaEventCreate(&s.e));
	OK(cudaEventCreateWithFlags(&s.f, cudaEventDisableTiming));
	OK(cudaEventCreateWithFlags(&s.g, cudaEventDisableTiming));
	s.d = device_ints(4);
	return s;
}

static void run(cudaGraph_t graph, cudaStream_t stream)
{
	cudaGraphExec_t exec;

	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaGraphExecDestroy(exec));
}

/* ---- what works ------------------------------------------------------------------------- */

Test(small_runtime_fork, branches_become_one_graph)
{
	size_t n_nodes = 0;
	cudaGraph_t graph;

	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
	affine(s.d, 10, 1, s.a);
	cr_assert(status_of(s.b) == cudaStreamCaptureStatusNone, "%d", status_of(s.b));
	order_by(s.e, s.a, s.b);
	cr_assert(status_of(s.b) == cudaStreamCaptureStatusActive, "%d", status_of(s.b));
	append(s.d + 1, s.d, s.b);
	affine(s.d + 2, 10, 2, s.a);
	order_by(s.f, s.b, s.a);
	append(s.d + 3, s.d + 1, s.a);
	append(s.d + 3, s.d + 2, s.a);
	OK(cudaStreamEndCapture(s.a, &graph));
	cr_assert(status_of(s.a) == cudaStreamCaptureStatusNone, "%d", status_of(s.a));
	cr_assert(status_of(s.b) == cudaStreamCaptureStatusNone, "%d", status_of(s.b));
	OK(cudaGraphGetNodes(graph, NULL, &n_nodes));
	cr_assert(n_nodes == 5, "%zu nodes", n_nodes);
	cr_assert(device_int(s.d + 3) == 0, "ran during the capture");
	run(graph, s.b);
	cr_assert(device_int(s.d + 3) == 12, "%d", device_int(s.d + 3));
	run(graph, s.c);
	/* 11, 1*10 + 11, 22; 12*10 + 21 = 141, 1410 + 22 */
	cr_assert(device_int(s.d + 3) == 1432, "%d", device_int(s.d + 3));
	OK(cudaGraphDestroy(graph));
}

Test(small_runtime_fork, streams_join_through_others)
{
	cudaGraph_t graph;

	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeThreadLocal));
	order_by(s.e, s.a, s.b); /* before there is any work */
	affine(s.d, 10, 1, s.b);
	order_by(s.f, s.b, s.c);
	affine(s.d, 10, 2, s.c);
	order_by(s.g, s.c, s.a); /* b has joined by way of c */
	affine(s.d, 10, 3, s.a);
	OK(cudaStreamEndCapture(s.a, &graph));
	run(graph, s.a);
	cr_assert(device_int(s.d) == 123, "%d", device_int(s.d));
	OK(cudaGraphDestroy(graph));
}

Test(small_runtime_fork, an_event_may_be_recorded_again)
{
	cudaGraph_t graph;

	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeRelaxed));
	for (int i = 1; i <= 3; i++) {
		affine(s.d, 10, 2 * i - 1, s.a);
		order_by(s.e, s.a, s.b);
		affine(s.d, 10, 2 * i, s.b);
		order_by(s.e, s.b, s.a);
	}
	OK(cudaStreamEndCapture(s.a, &graph));
	run(graph, s.a);
	cr_assert(device_int(s.d) == 123456, "%d", device_int(s.d));
	OK(cudaEventRecord(s.e, s.b)); /* an ordinary event again */
	OK(cudaStreamWaitEvent(s.a, s.e, 0));
	OK(cudaEventSynchronize(s.e));
	OK(cudaGraphDestroy(graph));
}

Test(small_runtime_fork, work_around_the_capture_is_not_in_it)
{
	cudaGraph_t graph;

	NEED_DEVICE();
	struct set s = new_set();

	affine(s.d, 10, 1, s.b); /* runs at once */
	OK(cudaStreamSynchronize(s.b));
	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
	order_by(s.e, s.a, s.b);
	affine(s.d, 10, 2, s.b);
	affine(s.d, 10, 3, s.c); /* not captured */
	order_by(s.f, s.b, s.a);
	OK(cudaStreamEndCapture(s.a, &graph));
	OK(cudaStreamSynchronize(s.c));
	affine(s.d, 10, 4, s.b);
	OK(cudaStreamSynchronize(s.b));
	cr_assert(device_int(s.d) == 134, "%d", device_int(s.d));
	run(graph, s.a);
	cr_assert(device_int(s.d) == 1342, "%d", device_int(s.d));
	OK(cudaGraphDestroy(graph));
}

Test(small_runtime_fork, two_captures_side_by_side)
{
	cudaGraph_t first, second;

	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
	OK(cudaStreamBeginCapture(s.b, cudaStreamCaptureModeGlobal));
	affine(s.d, 10, 1, s.a);
	affine(s.d, 10, 2, s.b);
	OK(cudaStreamEndCapture(s.a, &first));
	cr_assert(status_of(s.b) == cudaStreamCaptureStatusActive, "%d", status_of(s.b));
	OK(cudaStreamEndCapture(s.b, &second));
	run(second, s.c);
	run(first, s.c);
	cr_assert(device_int(s.d) == 21, "%d", device_int(s.d));
}

/* ---- what does not ---------------------------------------------------------------------- */

/* Ending the capture gives that error and no graph, and frees all its streams. */
static void ends_with(cudaError_t want, const struct set *s)
{
	cudaGraph_t graph = (cudaGraph_t)&graph;

	REFUSED(want, cudaStreamEndCapture(s->a, &graph));
	cr_assert(!graph, "%p", (void *)graph);
	cr_assert(status_of(s->a) == cudaStreamCaptureStatusNone, "%d", status_of(s->a));
	cr_assert(status_of(s->b) == cudaStreamCaptureStatusNone, "%d", status_of(s->b));
	affine(s->d, 1, 1, s->b);
	OK(cudaStreamSynchronize(s->b));
}

Test(small_runtime_fork, branches_must_be_joined)
{
	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
	affine(s.d, 10, 1, s.a);
	order_by(s.e, s.a, s.b);
	affine(s.d, 10, 2, s.b);
	affine(s.d, 10, 3, s.a);
	ends_with(cudaErrorStreamCaptureUnjoined, &s);
	cr_assert(device_int(s.d) == 1, "%d", device_int(s.d));
}

Test(small_runtime_fork, work_after_the_join_must_be_joined)
{
	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
	affine(s.d, 10, 1, s.a);
	order_by(s.e, s.a, s.b);
	affine(s.d, 10, 2, s.b);
	order_by(s.f, s.b, s.a);
	affine(s.d, 10, 3, s.b);
	ends_with(cudaErrorStreamCaptureUnjoined, &s);
}

Test(small_runtime_fork, a_capture_ends_where_it_began)
{
	cudaGraph_t graph;

	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
	order_by(s.e, s.a, s.b);
	affine(s.d, 10, 1, s.b);
	REFUSED(cudaErrorIllegalState, cudaStreamBeginCapture(s.b, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(s.b, &graph));
	cudaStreamEndCapture(s.a, &graph); /* what it returns now is not documented */
	cudaGetLastError();
	cr_assert(status_of(s.b) == cudaStreamCaptureStatusNone, "%d", status_of(s.b));
}

Test(small_runtime_fork, captures_do_not_merge)
{
	cudaGraph_t graph;

	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
	OK(cudaStreamBeginCapture(s.c, cudaStreamCaptureModeGlobal));
	affine(s.d, 10, 1, s.c);
	OK(cudaEventRecord(s.e, s.c));
	REFUSED(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(s.a, s.e, 0));
	cr_assert(status_of(s.a) == cudaStreamCaptureStatusInvalidated, "%d", status_of(s.a));
	/* while any global capture goes on, no stream may be waited for */
	cudaStreamEndCapture(s.c, &graph);
	cudaGetLastError();
	ends_with(cudaErrorStreamCaptureInvalidated, &s);
	cr_assert(status_of(s.c) == cudaStreamCaptureStatusNone, "%d", status_of(s.c));
}

Test(small_runtime_fork, a_branch_cannot_wait_for_work_outside)
{
	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaEventRecord(s.g, s.c));
	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
	order_by(s.e, s.a, s.b);
	REFUSED(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s.b, s.g, 0));
	cr_assert(status_of(s.a) == cudaStreamCaptureStatusInvalidated, "%d", status_of(s.a));
	ends_with(cudaErrorStreamCaptureInvalidated, &s);
}

Test(small_runtime_fork, a_branch_cannot_be_synchronized)
{
	float ms;

	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaEventRecord(s.g, s.c));
	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeRelaxed));
	order_by(s.e, s.a, s.b);
	OK(cudaEventRecord(s.f, s.b));
	REFUSED(cudaErrorCapturedEvent, cudaEventElapsedTime(&ms, s.e, s.e));
	OK(cudaEventSynchronize(s.g)); /* an event outside does not matter in relaxed mode */
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s.b));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaEventRecord(s.f, s.b));
	ends_with(cudaErrorStreamCaptureInvalidated, &s);
}

Test(small_runtime_fork, the_host_cannot_wait_for_a_captured_event)
{
	NEED_DEVICE();
	struct set s = new_set();

	OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeRelaxed));
	order_by(s.e, s.a, s.b);
	affine(s.d, 10, 1, s.b);
	OK(cudaEventRecord(s.f, s.b));
	REFUSED(cudaErrorCapturedEvent, cudaEventSynchronize(s.f));
	ends_with(cudaErrorStreamCaptureInvalidated, &s);
}
