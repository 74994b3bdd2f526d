/*
 * test_runtime_stream.c - order and asynchrony: streams, the legacy default stream, events, host
 * functions. A gate (a host function that waits) holds a stream, so nothing depends on timing.
 */
#include "tests/plain.h"
#include "tests/graphs.h"

#include <pthread.h>

TestSuite(small_runtime_stream, .timeout = 300);

/* A zero that affine() has been run on: a GPU loads a kernel when it is first launched, and may
   then wait for everything, gates included. */
static int *loaded_zero(void)
{
	int *p = device_ints(1);

	affine(p, 1, 0, NULL);
	OK(cudaDeviceSynchronize());
	return p;
}

static cudaEvent_t new_event(unsigned flags)
{
	cudaEvent_t e = NULL;

	OK(cudaEventCreateWithFlags(&e, flags));
	return e;
}

Test(small_runtime_stream, work_is_asynchronous_and_in_order)
{
	int gate = 0;

	NEED_DEVICE();
	int *p = loaded_zero();
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	for (int i = 1; i <= 5; i++)
		affine(p, 10, i, s);
	EXPECT(cudaErrorNotReady, cudaStreamQuery(s));
	OK(cudaGetLastError()); /* "not ready" is an answer, not an error */
	open_gate(&gate);
	OK(cudaStreamSynchronize(s));
	OK(cudaStreamQuery(s));
	cr_assert(device_int(p) == 12345, "%d", device_int(p));
	OK(cudaStreamDestroy(s));
}

Test(small_runtime_stream, many_operations_queue_up)
{
	NEED_DEVICE();
	int *p = loaded_zero();
	cudaStream_t s = new_stream(cudaStreamDefault);

	for (int i = 0; i < 20000; i++)
		affine(p, 1, 1, s);
	OK(cudaStreamSynchronize(s));
	cr_assert(device_int(p) == 20000, "%d", device_int(p));
}

Test(small_runtime_stream, destroyed_stream_finishes_its_work)
{
	int gate = 0;

	NEED_DEVICE();
	int *p = loaded_zero();
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	affine(p, 1, 7, s);
	OK(cudaStreamDestroy(s)); /* returns although the gate is closed */
	open_gate(&gate);
	OK(cudaDeviceSynchronize());
	cr_assert(device_int(p) == 7, "%d", device_int(p));
}

/* ---- the legacy default stream ---------------------------------------------------------- */

Test(small_runtime_stream, default_stream_waits_for_blocking_streams)
{
	int gate = 0;

	NEED_DEVICE();
	int *p = loaded_zero(), *q = device_ints(1);
	cudaStream_t blocking = new_stream(cudaStreamDefault);
	cudaStream_t free_one = new_stream(cudaStreamNonBlocking);

	OK(cudaLaunchHostFunc(blocking, wait_at_gate, &gate));
	affine(p, 10, 1, blocking);
	affine(p, 10, 2, NULL);
	affine(p, 10, 3, blocking);
	affine(q, 1, 9, free_one);
	OK(cudaStreamSynchronize(free_one)); /* takes no part in the order */
	EXPECT(cudaErrorNotReady, cudaStreamQuery(NULL));
	EXPECT(cudaErrorNotReady, cudaStreamQuery(blocking));
	open_gate(&gate);
	OK(cudaStreamSynchronize(blocking));
	cr_assert(device_int(p) == 123, "%d", device_int(p));
	cr_assert(device_int(q) == 9, "%d", device_int(q));
}

Test(small_runtime_stream, synchronizing_the_default_stream_waits_for_blocking_ones)
{
	NEED_DEVICE();
	int *p = loaded_zero();
	cudaStream_t blocking = new_stream(cudaStreamDefault);

	for (int i = 0; i < 1000; i++)
		affine(p, 1, 1, blocking);
	OK(cudaStreamSynchronize(NULL));
	OK(cudaStreamQuery(blocking));
	cr_assert(device_int(p) == 1000, "%d", device_int(p));
}

/* ---- events ----------------------------------------------------------------------------- */

Test(small_runtime_stream, event_orders_two_streams)
{
	int gate = 0;

	NEED_DEVICE();
	int *p = loaded_zero();
	cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
	cudaEvent_t e = new_event(cudaEventDisableTiming);

	OK(cudaStreamWaitEvent(b, e, 0)); /* never recorded: nothing to wait for */
	OK(cudaStreamSynchronize(b));
	OK(cudaLaunchHostFunc(a, wait_at_gate, &gate));
	affine(p, 10, 1, a);
	OK(cudaEventRecord(e, a));
	OK(cudaStreamWaitEvent(b, e, 0));
	affine(p, 10, 2, b);
	EXPECT(cudaErrorNotReady, cudaStreamQuery(b));
	EXPECT(cudaErrorNotReady, cudaEventQuery(e));
	open_gate(&gate);
	OK(cudaEventSynchronize(e));
	OK(cudaEventQuery(e));
	OK(cudaStreamSynchronize(b));
	cr_assert(device_int(p) == 12, "%d", device_int(p));
	OK(cudaEventDestroy(e));
}

Test(small_runtime_stream, wait_means_the_record_before_it)
{
	int gate = 0;

	NEED_DEVICE();
	int *p = loaded_zero();
	cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
	cudaEvent_t e = new_event(cudaEventBlockingSync | cudaEventDisableTiming);

	OK(cudaEventRecord(e, a));
	OK(cudaStreamWaitEvent(b, e, 0));
	OK(cudaLaunchHostFunc(a, wait_at_gate, &gate));
	OK(cudaEventRecord(e, a)); /* later: does not concern b */
	affine(p, 1, 5, b);
	OK(cudaStreamSynchronize(b));
	cr_assert(device_int(p) == 5, "%d", device_int(p));
	open_gate(&gate);
	OK(cudaEventSynchronize(e));
}

/* Nor does it release who waits, though it is reached before. */
Test(small_runtime_stream, a_record_elsewhere_releases_nobody)
{
	int gate = 0;

	NEED_DEVICE();
	int *p = loaded_zero();
	cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
	cudaStream_t idle = new_stream(cudaStreamNonBlocking);
	cudaEvent_t e = new_event(cudaEventDisableTiming);

	OK(cudaLaunchHostFunc(a, wait_at_gate, &gate));
	affine(p, 10, 1, a);
	OK(cudaEventRecord(e, a));
	OK(cudaStreamWaitEvent(b, e, 0));
	affine(p, 10, 2, b);
	OK(cudaEventRecord(e, idle));
	OK(cudaEventSynchronize(e));
	usleep(20000); /* for b, if it were released */
	open_gate(&gate);
	OK(cudaStreamSynchronize(b));
	cr_assert(device_int(p) == 12, "%d", device_int(p));
	OK(cudaEventDestroy(e));
}

Test(small_runtime_stream, events_tell_the_time)
{
	int gate = 0;
	float ms = -1;

	NEED_DEVICE();
	cudaStream_t s = new_stream(cudaStreamNonBlocking);
	cudaEvent_t start, end, untimed = new_event(cudaEventDisableTiming);

	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, end));
	OK(cudaEventRecord(start, s));
	OK(cudaEventRecord(untimed, s));
	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	OK(cudaEventRecord(end, s));
	EXPECT(cudaErrorNotReady, cudaEventElapsedTime(&ms, start, end));
	OK(cudaEventSynchronize(start)); /* reached: the gate is behind it */
	usleep(20000);
	open_gate(&gate);
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	cr_assert(20 <= ms && ms <= 10000, "%g ms, slept 20", ms);
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, untimed, end));
	REFUSED(cudaErrorInvalidValue, cudaEventElapsedTime(NULL, start, end));
}

/* ---- what is refused -------------------------------------------------------------------- */

Test(small_runtime_stream, bad_arguments_are_refused)
{
	cudaStream_t s;
	cudaEvent_t e;

	NEED_DEVICE();
	REFUSED(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&s, 2));
	REFUSED(cudaErrorInvalidValue, cudaStreamCreate(NULL));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamDestroy(cudaStreamLegacy));
	REFUSED(cudaErrorInvalidValue, cudaEventCreate(NULL));
	REFUSED(cudaErrorInvalidValue, cudaEventCreateWithFlags(&e, 64));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventDestroy(NULL));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventRecord(NULL, NULL));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventQuery(NULL));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventSynchronize(NULL));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(NULL, NULL, 0));
	REFUSED(cudaErrorInvalidValue, cudaLaunchHostFunc(NULL, NULL, NULL));
	OK(cudaStreamCreate(&s));
	OK(cudaEventCreate(&e));
	REFUSED(cudaErrorInvalidValue, cudaStreamWaitEvent(s, e, 8));
}

static void call_runtime(void *error)
{
	*(cudaError_t *)error = cudaDeviceSynchronize();
}

Test(small_runtime_stream, host_functions_may_not_call_the_runtime)
{
	cudaError_t error = cudaSuccess;

	NEED_DEVICE();
	OK(cudaLaunchHostFunc(NULL, call_runtime, &error));
	OK(cudaStreamSynchronize(NULL));
	EXPECT(cudaErrorNotPermitted, error);
}

static void *make_an_error(void *unused)
{
	(void)unused;
	cudaSetDevice(99);
	return NULL;
}

Test(small_runtime_stream, each_thread_has_its_own_last_error)
{
	pthread_t thread;

	NEED_DEVICE();
	cr_assert(!pthread_create(&thread, NULL, make_an_error, NULL), "no thread");
	pthread_join(thread, NULL);
	OK(cudaGetLastError());
}

struct submitter {
	int *p;
	cudaStream_t stream;
};

static void *submit_many(void *arg)
{
	struct submitter *s = arg;

	for (int i = 0; i < 2000; i++)
		affine(s->p, 1, 1, s->stream);
	return NULL;
}

Test(small_runtime_stream, threads_share_a_stream)
{
	pthread_t thread[3];

	NEED_DEVICE();
	struct submitter s = { device_ints(1), new_stream(cudaStreamNonBlocking) };

	for (int i = 0; i < 3; i++)
		cr_assert(!pthread_create(&thread[i], NULL, submit_many, &s), "no thread");
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	OK(cudaStreamSynchronize(s.stream));
	cr_assert(device_int(s.p) == 6000, "%d", device_int(s.p));
}
