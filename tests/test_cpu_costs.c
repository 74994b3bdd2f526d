/*
 * test_cpu_costs.c - costs that the CPU device's settings add to calls. Judged by lower bounds
 * only: a call takes at least what was added. That it takes no more is for bench/cpu_costs.c.
 */
#include "tests/divert.h"
#include "tests/test_runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const void *k_nothing(void);

TestSuite(small_cpu_costs, .timeout = 30);

enum { COST_NS = 50000000 };

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void set(const char *name)
{
	setenv(name, "50000000", 1);
}

#define COSTS(call)                                                                                \
	do {                                                                                       \
		int64_t start_ = now_ns();                                                         \
		OK(call);                                                                          \
		cr_assert(now_ns() - start_ >= COST_NS, "line %d: %s: %ld ns", __LINE__, #call,    \
			  (long)(now_ns() - start_));                                              \
	} while (0)

static cudaStream_t new_stream(void)
{
	cudaStream_t s = NULL;

	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	return s;
}

static cudaError_t launch(cudaStream_t s)
{
	return cudaLaunchKernel(k_nothing(), blocks(1), blocks(1), NULL, 0, s);
}

Test(small_cpu_costs, launches_cost_captured_or_not)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	set("RIFT_CPU_LAUNCH_NS");
	cudaStream_t s = new_stream();

	COSTS(launch(s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	COSTS(launch(s));
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	COSTS(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
}

Test(small_cpu_costs, synchronizing_costs)
{
	cudaEvent_t e;

	set("RIFT_CPU_SYNC_NS");
	cudaStream_t s = new_stream();

	OK(cudaEventCreate(&e));
	OK(cudaEventRecord(e, s));
	COSTS(cudaStreamSynchronize(s));
	COSTS(cudaEventSynchronize(e));
	COSTS(cudaDeviceSynchronize());
}

static int gate;
static int64_t opened_ns;

static void *open_late(void *unused)
{
	usleep(2 * COST_NS / 1000);
	opened_ns = now_ns();
	open_gate(&gate);
	return unused;
}

Test(small_cpu_costs, the_cost_of_synchronizing_comes_after_the_wait)
{
	pthread_t thread;

	set("RIFT_CPU_SYNC_NS");
	cudaStream_t s = new_stream();

	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	cr_assert(!pthread_create(&thread, NULL, open_late, NULL), "no thread");
	OK(cudaStreamSynchronize(s));
	int64_t end_ns = now_ns();

	pthread_join(thread, NULL);
	cr_assert(end_ns - opened_ns >= COST_NS, "%ld ns after", (long)(end_ns - opened_ns));
}

Test(small_cpu_costs, allocating_and_freeing_cost)
{
	void *p;

	set("RIFT_CPU_ALLOC_NS");
	COSTS(cudaMalloc(&p, 64));
	COSTS(cudaFree(p));
	COSTS(cudaMallocHost(&p, 64));
	COSTS(cudaFreeHost(p));
	COSTS(cudaHostAlloc(&p, 64, cudaHostAllocDefault));
	COSTS(cudaFreeHost(p));
}

Test(small_cpu_costs, copies_cost)
{
	int value = 7;

	set("RIFT_CPU_COPY_NS");
	int *p = device_ints(1);
	cudaStream_t s = new_stream();

	COSTS(cudaMemcpy(p, &value, sizeof(value), cudaMemcpyHostToDevice));
	COSTS(cudaMemcpyAsync(&value, p, sizeof(value), cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	COSTS(cudaMemset(p, 0, sizeof(*p)));
	COSTS(cudaMemsetAsync(p, 0, sizeof(*p), s));
	OK(cudaStreamSynchronize(s));
}

/* The first call reads the settings; what it complains about is returned. */
static const char *complaint(const char *text)
{
	void *p;

	setenv("RIFT_CPU_SYNC_NS", text, 1);
	divert_stderr();
	OK(cudaMalloc(&p, 64));
	return diverted_stderr();
}

static void is_refused(const char *text)
{
	const char *said = complaint(text);

	cr_assert(is_one_complaint(said), "%s: %s", text, said);
	cr_assert(strstr(said, "RIFT_CPU_SYNC_NS") && strstr(said, text), "%s: %s", text, said);
}

Test(small_cpu_costs, a_unit_is_refused)
{
	is_refused("20us");
}

Test(small_cpu_costs, a_negative_cost_is_refused)
{
	is_refused("-1");
}

Test(small_cpu_costs, more_than_a_second_is_refused)
{
	is_refused("1000000001");
}

Test(small_cpu_costs, a_number_is_taken)
{
	cr_assert(!*complaint("20000"), "a number");
}

Test(small_cpu_costs, an_empty_setting_is_none)
{
	cr_assert(!*complaint(""), "empty");
}
