/*
 * test_cpu_fork.c - captures over several streams where CUDA's documentation leaves open what
 * happens: what the CPU device does then.
 */
#include "tests/plain.h"
#include "tests/graphs.h"

#include <pthread.h>

TestSuite(small_cpu_fork, .timeout = 300);

Test(small_cpu_fork, a_branch_without_work_needs_no_join)
{
	struct pair p = forked();
	cudaGraph_t graph;

	OK(cudaStreamEndCapture(p.a, &graph));
	cr_assert(status_of(p.b) == cudaStreamCaptureStatusNone, "%d", status_of(p.b));
	OK(cudaGraphDestroy(graph));
}

Test(small_cpu_fork, destroying_the_origin_ends_the_capture)
{
	struct pair p = forked();

	OK(cudaStreamDestroy(p.a));
	cr_assert(status_of(p.b) == cudaStreamCaptureStatusNone, "%d", status_of(p.b));
	REFUSED(cudaErrorInvalidValue, cudaStreamWaitEvent(p.b, p.e, 0)); /* its capture is gone */
	OK(cudaDeviceSynchronize());
}

Test(small_cpu_fork, destroying_a_branch_leaves_its_work)
{
	struct pair p = forked();
	cudaGraph_t graph;
	size_t n = 0;

	launch_count(p.d, p.b);
	OK(cudaEventRecord(p.f, p.b));
	OK(cudaStreamDestroy(p.b));
	OK(cudaStreamWaitEvent(p.a, p.f, 0));
	OK(cudaStreamEndCapture(p.a, &graph));
	OK(cudaGraphGetNodes(graph, NULL, &n));
	cr_assert(n == 2, "%zu nodes", n);
	OK(cudaGraphDestroy(graph));
}

Test(small_cpu_fork, ending_elsewhere_spoils_the_capture)
{
	struct pair p = forked();
	cudaGraph_t graph;

	REFUSED(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(p.b, &graph));
	cr_assert(status_of(p.a) == cudaStreamCaptureStatusInvalidated, "%d", status_of(p.a));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(p.a, &graph));
}

Test(small_cpu_fork, merging_spoils_both)
{
	struct pair p = forked(), q = forked();

	REFUSED(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(p.b, q.e, 0));
	cr_assert(status_of(p.a) == cudaStreamCaptureStatusInvalidated, "%d", status_of(p.a));
	cr_assert(status_of(q.b) == cudaStreamCaptureStatusInvalidated, "%d", status_of(q.b));
}

Test(small_cpu_fork, a_spoilt_capture_takes_no_stream_in)
{
	struct pair p = forked(), q = new_pair();

	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(p.a));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamWaitEvent(q.a, p.e, 0));
	cr_assert(status_of(q.a) == cudaStreamCaptureStatusNone, "%d", status_of(q.a));
}

Test(small_cpu_fork, a_spoilt_capture_is_under_way_until_it_ends)
{
	struct pair p = new_pair();
	cudaGraph_t graph;
	void *q;

	OK(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(p.b));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(p.b));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(p.b));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaMalloc(&q, 64));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(p.a, &graph));
	OK(cudaStreamSynchronize(p.b));
}

Test(small_cpu_fork, the_default_stream_cannot_join)
{
	struct pair p = forked();

	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamWaitEvent(NULL, p.e, 0));
	cr_assert(status_of(p.b) == cudaStreamCaptureStatusInvalidated, "%d", status_of(p.b));
}

Test(small_cpu_fork, a_blocking_branch_counts_for_the_default_stream)
{
	struct pair p = forked();
	cudaStream_t blocking;
	cudaGraph_t graph;

	OK(cudaMemset(p.d, 0, 4)); /* so far there is none */
	OK(cudaStreamCreate(&blocking));
	OK(cudaStreamWaitEvent(blocking, p.e, 0));
	REFUSED(cudaErrorStreamCaptureImplicit, cudaMemset(p.d, 0, 4));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(p.a, &graph));
	OK(cudaMemset(p.d, 0, 4));
}

Test(small_cpu_fork, reset_ends_captures)
{
	struct pair p = forked();

	OK(cudaDeviceReset());
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventQuery(p.e));
	p = forked();
	cr_assert(status_of(p.b) == cudaStreamCaptureStatusActive, "%d", status_of(p.b));
}

struct branch {
	cudaStream_t stream;
	int *d;
};

static void *submit_many(void *arg)
{
	struct branch *b = arg;

	for (int i = 0; i < 500; i++)
		launch_count(b->d, b->stream);
	return NULL;
}

Test(small_cpu_fork, threads_fill_one_graph)
{
	struct pair p = forked();
	struct branch b = { p.b, p.d };
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	pthread_t thread;

	cr_assert(!pthread_create(&thread, NULL, submit_many, &b), "no thread");
	submit_many(&(struct branch){ p.a, p.d });
	pthread_join(thread, NULL);
	OK(cudaEventRecord(p.f, p.b));
	OK(cudaStreamWaitEvent(p.a, p.f, 0));
	OK(cudaStreamEndCapture(p.a, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, p.b));
	OK(cudaStreamSynchronize(p.b));
	cr_assert(device_int(p.d) == 1001, "%d", device_int(p.d));
}
