/* test_runtime_graph.c - capturing a stream, and launching what was captured. */
#include "tests/plain.h"
#include "tests/graphs.h"

#include <pthread.h>
#include <stdatomic.h>

TestSuite(small_runtime_graph, .timeout = 300);

static void add_one(void *value)
{
	++*(int *)value;
}

Test(small_runtime_graph, captured_work_runs_when_launched)
{
	int host = 5, back = 0, calls = 0;
	size_t n_nodes = 0;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaEvent_t event;

	NEED_DEVICE();
	int *p = device_ints(2);
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaEventCreate(&event));
	cr_assert(status_of(s) == cudaStreamCaptureStatusNone, "%d", status_of(s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	cr_assert(status_of(s) == cudaStreamCaptureStatusActive, "%d", status_of(s));
	OK(cudaMemcpyAsync(p, &host, sizeof(host), cudaMemcpyHostToDevice, s));
	affine(p, 10, 1, s);
	OK(cudaEventRecord(event, s)); /* an edge, not a node */
	OK(cudaStreamWaitEvent(s, event, 0));
	OK(cudaMemsetAsync(p + 1, 0, sizeof(int), s));
	OK(cudaLaunchHostFunc(s, add_one, &calls));
	OK(cudaMemcpyAsync(&back, p, sizeof(back), cudaMemcpyDeviceToHost, s));
	OK(cudaStreamEndCapture(s, &graph));
	cr_assert(device_int(p) == 0 && calls == 0, "ran during the capture");
	OK(cudaGraphGetNodes(graph, NULL, &n_nodes));
	cr_assert(n_nodes == 5, "%zu nodes", n_nodes);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph)); /* the executable has its own copy */
	OK(cudaGraphUpload(exec, s));
	for (int i = 6; i < 9; i++) {
		host = i;
		OK(cudaGraphLaunch(exec, s));
		OK(cudaStreamSynchronize(s));
		cr_assert(back == 10 * i + 1, "launch %d: %d", i, back);
	}
	cr_assert(calls == 3, "%d", calls);
	OK(cudaGraphExecDestroy(exec));
}

Test(small_runtime_graph, launches_of_one_graph_do_not_overlap)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	NEED_DEVICE();
	int *p = device_ints(1);
	cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);

	OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	for (int i = 0; i < 50; i++)
		affine(p, 1, 1, a);
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 100; i++)
		OK(cudaGraphLaunch(exec, i % 3 ? a : b));
	OK(cudaDeviceSynchronize());
	cr_assert(device_int(p) == 5000, "%d", device_int(p));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

struct visits {
	atomic_int inside, most;
};

static void visit(void *arg)
{
	struct visits *v = arg;
	int inside = atomic_fetch_add(&v->inside, 1) + 1;

	if (inside > v->most)
		v->most = inside;
	usleep(2000);
	atomic_fetch_sub(&v->inside, 1);
}

Test(small_runtime_graph, a_graph_waits_for_its_last_launch)
{
	struct visits v = { 0, 0 };
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	NEED_DEVICE();
	cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);

	OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
	OK(cudaLaunchHostFunc(a, visit, &v));
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 10; i++)
		OK(cudaGraphLaunch(exec, i % 2 ? a : b));
	OK(cudaDeviceSynchronize());
	cr_assert(v.most == 1, "%d at once", v.most);
}

Test(small_runtime_graph, nodes_are_listed)
{
	cudaGraphNode_t nodes[4] = { 0 };
	size_t n = 4;
	cudaGraph_t graph;

	NEED_DEVICE();
	int *p = device_ints(1);
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	affine(p, 1, 1, s);
	affine(p, 1, 1, s);
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphGetNodes(graph, nodes, &n));
	cr_assert(n == 2 && nodes[0] && nodes[1] && !nodes[2], "%zu nodes", n);
	REFUSED(cudaErrorInvalidValue, cudaGraphGetNodes(graph, NULL, NULL));
	OK(cudaGraphDestroy(graph));
}

/* ---- what a capture does not allow ------------------------------------------------------ */

/* The capture is invalid, and ending it says so once. */
static void is_spoilt(cudaStream_t s)
{
	cudaGraph_t graph = (cudaGraph_t)&graph;

	cr_assert(status_of(s) == cudaStreamCaptureStatusInvalidated, "%d", status_of(s));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
	cr_assert(!graph, "%p", (void *)graph);
	cr_assert(status_of(s) == cudaStreamCaptureStatusNone, "%d", status_of(s));
}

#define SPOILS(s, want, call)                                                                      \
	do {                                                                                       \
		OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));                        \
		REFUSED(want, call);                                                               \
		is_spoilt(s);                                                                      \
	} while (0)

Test(small_runtime_graph, synchronizing_spoils_a_capture)
{
	cudaEvent_t event;
	void *q;

	NEED_DEVICE();
	cudaStream_t s = new_stream(cudaStreamNonBlocking), t = new_stream(cudaStreamNonBlocking);

	OK(cudaEventCreate(&event));
	OK(cudaEventRecord(event, t));
	OK(cudaStreamSynchronize(t));
	SPOILS(s, cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
	SPOILS(s, cudaErrorStreamCaptureUnsupported, cudaStreamQuery(s));
	SPOILS(s, cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize());
	SPOILS(s, cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(t));
	SPOILS(s, cudaErrorStreamCaptureUnsupported, cudaEventSynchronize(event));
	SPOILS(s, cudaErrorStreamCaptureUnsupported, cudaEventQuery(event));
	SPOILS(s, cudaErrorStreamCaptureUnsupported, cudaMalloc(&q, 64));
	SPOILS(s, cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s, event, 0));
}

Test(small_runtime_graph, default_stream_spoils_a_blocking_capture)
{
	enum cudaStreamCaptureStatus status;

	NEED_DEVICE();
	int *p = device_ints(1);
	cudaStream_t blocking = new_stream(cudaStreamDefault);
	cudaStream_t free_one = new_stream(cudaStreamNonBlocking);

	SPOILS(blocking, cudaErrorStreamCaptureImplicit, cudaMemset(p, 0, 4));
	SPOILS(blocking, cudaErrorStreamCaptureImplicit, cudaStreamSynchronize(NULL));
	OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(NULL, &status));
	cr_assert(status_of(blocking) == cudaStreamCaptureStatusActive, "only asked");
	OK(cudaStreamEndCapture(blocking, &(cudaGraph_t){ NULL }));
	OK(cudaStreamBeginCapture(free_one, cudaStreamCaptureModeGlobal));
	OK(cudaMemset(p, 0, 4)); /* the default stream does not concern this one */
	OK(cudaStreamEndCapture(free_one, &(cudaGraph_t){ NULL }));
}

Test(small_runtime_graph, relaxed_capture_allows_allocation)
{
	void *q;

	NEED_DEVICE();
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	OK(cudaMalloc(&q, 64));
	OK(cudaStreamEndCapture(s, &(cudaGraph_t){ NULL }));
}

Test(small_runtime_graph, captured_events_cannot_be_asked)
{
	cudaEvent_t event;
	float ms;

	NEED_DEVICE();
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaEventCreate(&event));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(event, s));
	REFUSED(cudaErrorCapturedEvent, cudaEventElapsedTime(&ms, event, event));
	REFUSED(cudaErrorCapturedEvent, cudaEventQuery(event));
	is_spoilt(s);
	REFUSED(cudaErrorInvalidValue, cudaEventQuery(event)); /* belongs to no graph now */
	OK(cudaEventRecord(event, s));
	OK(cudaEventSynchronize(event));
}

static void *end_from_thread(void *stream)
{
	cudaGraph_t graph;

	return (void *)(intptr_t)cudaStreamEndCapture(stream, &graph);
}

Test(small_runtime_graph, wrong_states_are_refused)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaEvent_t event;
	pthread_t thread;
	void *error;

	NEED_DEVICE();
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaEventCreate(&event));
	REFUSED(cudaErrorStreamCaptureUnsupported,
		cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorInvalidValue, cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)5));
	REFUSED(cudaErrorIllegalState, cudaStreamEndCapture(s, &graph));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorIllegalState, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	cr_assert(!pthread_create(&thread, NULL, end_from_thread, s), "no thread");
	pthread_join(thread, &error);
	EXPECT(cudaErrorStreamCaptureWrongThread, (cudaError_t)(intptr_t)error);
	REFUSED(cudaErrorIllegalState, cudaStreamEndCapture(s, &graph)); /* it ended there */
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	OK(cudaStreamWaitEvent(s, event, 0)); /* never recorded: nothing to wait for */
	OK(cudaStreamEndCapture(s, &graph));
	REFUSED(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 1024));
	REFUSED(cudaErrorInvalidValue, cudaGraphInstantiate(NULL, graph, 0));
	OK(cudaGraphInstantiate(&exec, graph, 0)); /* without nodes */
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaGraphUpload(exec, s));
	is_spoilt(s);
	REFUSED(cudaErrorInvalidValue, cudaGraphLaunch(NULL, s));
	REFUSED(cudaErrorInvalidValue, cudaGraphDestroy(NULL));
	REFUSED(cudaErrorInvalidValue, cudaGraphExecDestroy(NULL));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
}
