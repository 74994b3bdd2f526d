/*
 * test_cpu_device.c - what is particular to the CPU device as the host sees it: settings, memory,
 * handles, arguments. Each test is a process of its own, so settings made before the first
 * runtime call count.
 */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

#include <pthread.h>

const void *k_takes_much(void);
const void *k_work(void);
const void *k_without_description(void);

TestSuite(small_cpu_device, .timeout = 300);

static void launch_kernel(const void *kernel, unsigned grid, unsigned block, void **args)
{
	OK(cudaLaunchKernel(kernel, blocks(grid), blocks(block), args, 0, NULL));
}

static unsigned worked(unsigned v, int rounds)
{
	for (int i = 0; i < rounds; i++)
		v = v * 1664525 + 1013904223;
	return v;
}

/* ---- the queue of a stream -------------------------------------------------------------- */

enum { QUEUED = 1024, SUBMITTED = 3000 };

struct submitter {
	cudaStream_t stream;
	int submitted, ran;
};

static void count_call(void *n)
{
	__atomic_fetch_add((int *)n, 1, __ATOMIC_RELAXED);
}

static void *submit_many(void *arg)
{
	struct submitter *s = arg;

	for (int i = 0; i < SUBMITTED; i++) {
		OK(cudaLaunchHostFunc(s->stream, count_call, &s->ran));
		count_call(&s->submitted);
	}
	return NULL;
}

static int value_of(int *n)
{
	return __atomic_load_n(n, __ATOMIC_RELAXED);
}

/* A gate holds the stream: what is submitted behind it stops at the length of the queue. */
Test(small_cpu_device, a_full_queue_makes_who_submits_wait)
{
	struct submitter s = { NULL, 0, 0 };
	pthread_t thread;
	int gate = 0;

	OK(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
	OK(cudaLaunchHostFunc(s.stream, wait_at_gate, &gate));
	cr_assert(!pthread_create(&thread, NULL, submit_many, &s), "no thread");
	while (value_of(&s.submitted) < QUEUED - 1)
		sched_yield();
	usleep(20000); /* time to submit more, if it could */
	cr_assert(value_of(&s.submitted) == QUEUED - 1, "%d besides the gate",
		  value_of(&s.submitted));
	open_gate(&gate);
	pthread_join(thread, NULL);
	OK(cudaStreamSynchronize(s.stream));
	cr_assert(s.ran == SUBMITTED, "%d", s.ran);
}

/* Into a graph goes what fits memory: nothing runs that could free memory. */
Test(small_cpu_device, a_capture_is_not_a_queue)
{
	struct submitter s = { NULL, 0, 0 };
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
	submit_many(&s);
	OK(cudaStreamEndCapture(s.stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, s.stream));
	OK(cudaStreamSynchronize(s.stream));
	cr_assert(s.ran == SUBMITTED, "%d", s.ran);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

/* ---- settings and properties ------------------------------------------------------------ */

/* Both ways to ask whether the work has ended agree, whichever says so first. */
Test(small_cpu_device, a_stream_is_done_when_its_last_event_is)
{
	cudaStream_t s;
	cudaEvent_t e;

	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	for (int i = 0; i < 2000; i++) {
		OK(cudaEventRecord(e, s));
		while (i % 2 && cudaEventQuery(e) == cudaErrorNotReady)
			;
		OK(cudaEventSynchronize(e));
		OK(cudaStreamQuery(s));
		OK(cudaEventRecord(e, s));
		while (cudaStreamQuery(s) == cudaErrorNotReady)
			;
		OK(cudaEventQuery(e));
	}
}

/* The time is that of the last record, even where one before it is reached later. */
Test(small_cpu_device, a_late_record_does_not_change_the_time)
{
	int gate = 0;
	float before, after;

	cudaStream_t a = new_stream(cudaStreamNonBlocking),
		     idle = new_stream(cudaStreamNonBlocking);
	cudaEvent_t e, start;

	OK(cudaEventCreate(&e));
	OK(cudaEventCreate(&start));
	OK(cudaEventRecord(start, idle));
	OK(cudaLaunchHostFunc(a, wait_at_gate, &gate));
	OK(cudaEventRecord(e, a));
	OK(cudaEventRecord(e, idle));
	OK(cudaEventSynchronize(e));
	OK(cudaEventElapsedTime(&before, start, e));
	open_gate(&gate);
	OK(cudaStreamSynchronize(a));
	OK(cudaEventElapsedTime(&after, start, e));
	cr_assert(before == after, "%g, %g ms", before, after);
}

Test(small_cpu_device, device_is_named_for_what_it_is)
{
	struct cudaDeviceProp prop;
	int n = 0;

	setenv("RIFT_CPU_WORKERS", "3", 1);
	OK(cudaGetDeviceProperties(&prop, 0));
	OK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
	cr_assert(!strcmp(prop.name, "CPU device (3 workers)"), "%s", prop.name);
	cr_assert(n == 3 && prop.multiProcessorCount == 3, "%d", n);
	cr_assert(prop.major == 0 && prop.integrated == 1, "%d.x %d", prop.major, prop.integrated);
}

Test(small_cpu_device, memory_is_not_promised_twice)
{
	size_t before, after, total, part;
	struct cudaDeviceProp prop;
	void *p, *q;

	OK(cudaGetDeviceProperties(&prop, 0));
	OK(cudaMemGetInfo(&before, &total));
	cr_assert(prop.totalGlobalMem == total, "%zu, %zu", prop.totalGlobalMem, total);
	REFUSED(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
	/* More takes the address sanitizer seconds. */
	part = before / 16;
	OK(cudaMalloc(&p, part)); /* untouched, but given away all the same */
	OK(cudaMemGetInfo(&after, &total));
	cr_assert(after <= before - part, "%zu free, then %zu", before, after);
	REFUSED(cudaErrorMemoryAllocation, cudaMalloc(&q, after + (64 << 20)));
	OK(cudaFree(p));
	OK(cudaMalloc(&q, part));
}

/* ---- handles, arguments ----------------------------------------------------------------- */

Test(small_cpu_device, stale_handles_are_known)
{
	cudaStream_t s, unused = (cudaStream_t)0x123456789abcull;
	cudaEvent_t e;
	cudaGraph_t g;

	OK(cudaStreamCreate(&s));
	OK(cudaEventCreate(&e));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventRecord((cudaEvent_t)s, NULL));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	OK(cudaStreamEndCapture(s, &g));
	OK(cudaStreamDestroy(s));
	OK(cudaEventDestroy(e));
	OK(cudaGraphDestroy(g));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamDestroy(s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(unused));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventRecord(e, NULL));
	REFUSED(cudaErrorInvalidValue, cudaGraphDestroy(g));
	for (int i = 0; i < 3000; i++) { /* more than one chunk of the table */
		OK(cudaEventCreate(&e));
		OK(cudaEventRecord(e, NULL));
		if (i % 2)
			OK(cudaEventDestroy(e));
	}
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(s));
}

Test(small_cpu_device, graph_in_flight_may_be_destroyed)
{
	int gate = 0;
	int *p = device_ints(64), rounds = 3;
	cudaGraphExec_t exec;
	cudaStream_t s;
	cudaGraph_t g;

	OK(cudaStreamCreate(&s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	OK(cudaLaunchKernel(k_work(), blocks(2), blocks(32), (void *[]){ &p, &rounds }, 0, s));
	OK(cudaStreamEndCapture(s, &g));
	OK(cudaGraphInstantiate(&exec, g, 0));
	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaGraphExecDestroy(exec));
	open_gate(&gate);
	OK(cudaStreamSynchronize(s));
	cr_assert((unsigned)device_int(p + 63) == worked(63, 3), "%x", device_int(p + 63));
}

Test(small_cpu_device, large_arguments_are_copied)
{
	struct {
		int value[250];
	} a, b;
	int *p = device_ints(1);

	for (int i = 0; i < 250; i++) {
		a.value[i] = 5 * i;
		b.value[i] = 4 * i;
	}
	launch_kernel(k_takes_much(), 1, 1, (void *[]){ &a, &b, &p });
	memset(&a, 0, sizeof(a));
	cr_assert(device_int(p) == 250 * 249 / 2, "%d", device_int(p));
}

Test(small_cpu_device, kernels_need_a_description)
{
	int *p = device_ints(1);

	REFUSED(cudaErrorInvalidResourceHandle,
		cudaLaunchKernel(k_without_description(), blocks(1), blocks(1), (void *[]){ &p }, 0,
				 NULL));
}

Test(small_cpu_device, reset_closes_everything)
{
	int *p = device_ints(4);
	cudaStream_t s;
	cudaEvent_t e;

	OK(cudaStreamCreate(&s));
	OK(cudaEventCreate(&e));
	OK(cudaDeviceReset());
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventQuery(e));
	REFUSED(cudaErrorInvalidValue, cudaFree(p));
}
