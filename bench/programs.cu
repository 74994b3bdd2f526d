/*
 * programs.cu - small programs of known kinds, to try `rift profile` and `rift predict` on.
 *
 *   build/cuda/bench/programs NAME [TIMES]
 *
 * Work is fixed: kernels and the host's own work are loops of so many steps, never of so much time,
 * so that a platform may make them longer. A step is a fused multiply-add that waits for the one
 * before. The program does its work TIMES over (default 1), then checks
 * how many kernels have run: exit 1 where one is missing. It prints its wall time, context and all
 * allocations left out, which is the NVTX range `work`.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"
#include "harness/measure/nvtx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Steps of what the programs below call a microsecond; docs/reference/predict.md has how long
 * `gpu` takes. */
enum { US = 500 };

enum { BYTES = 1 << 20 };

static cudaStream_t stream, second;
static cudaEvent_t event;
static unsigned *count; /* kernels that have run, on the device */
static float *device_data, *pinned_data, *pageable_data;
static unsigned launched;

/* ---- work --------------------------------------------------------------------------------- */

/* Falls towards 1 from a start that no compiler knows, so that no step can be left out. */
static __host__ __device__ float chain(int steps)
{
	float x = (float)steps;

	for (int i = 0; i < steps; i++)
		x = x * 0.999f + 0.001f;
	return x;
}

/* One thread; x is above 0.5 whatever its rounding, so the count goes up by one. */
extern "C" __global__ void programs_busy(unsigned *count, int steps)
{
	float x = chain(steps);

	if (x > 0.5f)
		atomicAdd(count, 1u);
}
KERNEL(programs_busy);

static void kernel_on(cudaStream_t s, int us)
{
	CUDA(LAUNCH(programs_busy, dim3(1), dim3(1), 0, s, count, us * US));
	launched++;
}

static void host_work(int us)
{
	volatile float kept = chain(us * US);

	(void)kept;
}

static void wait()
{
	CUDA(cudaStreamSynchronize(stream));
}

/* ---- the programs ------------------------------------------------------------------------- */

/* What all of them do before and behind their work. */
static void start()
{
}

/* Kernels of 5 to 50 us, gaps of the host of 0 to 30 us, a wait every 20. */
static void mixed()
{
	static const int kernel_us[] = { 5, 20, 50 }, gap_us[] = { 0, 10, 30, 0 };

	for (int i = 0; i < 2000; i++) {
		host_work(gap_us[i % 4]);
		kernel_on(stream, kernel_us[i % 3]);
		if (i % 20 == 19)
			wait();
	}
}

/* The host computes for ten times as long as the device. */
static void host()
{
	for (int i = 0; i < 1000; i++) {
		host_work(50);
		kernel_on(stream, 5);
	}
}

/* Kernels shorter than their launches. */
static void launches()
{
	for (int i = 0; i < 20000; i++) {
		kernel_on(stream, 1);
		if (i % 500 == 499)
			wait();
	}
}

static void waits()
{
	for (int i = 0; i < 5000; i++) {
		kernel_on(stream, 5);
		wait();
	}
}

static void gpu()
{
	for (int i = 0; i < 200; i++)
		kernel_on(stream, 500);
}

/* Short, so that TIMES sets how long the program takes: 57 ms for 280 on an H200, 2026-12-01. */
static void ms()
{
	for (int i = 0; i < 10; i++) {
		kernel_on(stream, 9);
		wait();
	}
}

/* Two streams that wait for each other by events. */
static void streams()
{
	for (int i = 0; i < 1000; i++) {
		kernel_on(stream, 30);
		CUDA(cudaEventRecord(event, stream));
		kernel_on(second, 20);
		CUDA(cudaStreamWaitEvent(second, event, 0));
		kernel_on(second, 10);
		if (i % 10 == 9)
			CUDA(cudaStreamSynchronize(second));
	}
}

/* A step of pageable copies to the device and back around a short kernel. */
static void copies()
{
	for (int i = 0; i < 400; i++) {
		CUDA(cudaMemcpyAsync(device_data, pageable_data, BYTES, cudaMemcpyHostToDevice,
				     stream));
		kernel_on(stream, 20);
		CUDA(cudaMemcpyAsync(pageable_data, device_data, BYTES, cudaMemcpyDeviceToHost,
				     stream));
		wait();
	}
}

/* The same of pinned memory, in halves. */
static void pinned()
{
	for (int i = 0; i < 1000; i++) {
		CUDA(cudaMemcpyAsync(device_data, pinned_data, BYTES / 2, cudaMemcpyHostToDevice,
				     stream));
		kernel_on(stream, 20);
		CUDA(cudaMemcpyAsync(pinned_data, device_data, BYTES / 2, cudaMemcpyDeviceToHost,
				     stream));
		wait();
	}
}

/* A kernel, then a blocking copy of four bytes of its result, as of solvers that ask whether they
 * are done. */
static void results_of(int us)
{
	for (int i = 0; i < 3000; i++) {
		unsigned done;

		kernel_on(NULL, us);
		CUDA(cudaMemcpy(&done, count, sizeof(done), cudaMemcpyDeviceToHost));
	}
}

static void results5()
{
	results_of(5);
}

static void results30()
{
	results_of(30);
}

static void results100()
{
	results_of(100);
}

static void memory()
{
	for (int i = 0; i < 500; i++) {
		void *p;

		CUDA(cudaMalloc(&p, BYTES));
		kernel_on(stream, 20);
		wait();
		CUDA(cudaFree(p));
	}
}

/* A graph of 50 short kernels. */
static void graph()
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < 50; i++)
		kernel_on(stream, 2);
	CUDA(cudaStreamEndCapture(stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 500; i++) {
		CUDA(cudaGraphLaunch(exec, stream));
		if (i % 5 == 4)
			wait();
	}
	wait();
	launched += 499 * 50; /* 50 are counted above, as they were captured */
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
}

/* Ninety calls that a trace does not have for each launch, as libraries make them. */
static void asks()
{
	for (int i = 0; i < 2000; i++) {
		for (int k = 0; k < 30; k++) {
			cudaStreamCaptureStatus status;
			int device;

			CUDA(cudaGetDevice(&device));
			CUDA(cudaPeekAtLastError());
			CUDA(cudaStreamIsCapturing(stream, &status));
		}
		kernel_on(stream, 5);
	}
}

static const struct program {
	const char *name, *what;
	void (*run)();
} programs[] = {
	{ "start", "nothing but what the others begin and end with", start },
	{ "mixed", "kernels, gaps of the host, a wait every 20", mixed },
	{ "host", "the host computes ten times as long as the device", host },
	{ "launches", "kernels shorter than their launches", launches },
	{ "waits", "a wait after each launch", waits },
	{ "gpu", "long kernels", gpu },
	{ "ms", "ten short kernels, each waited for", ms },
	{ "streams", "two streams with events", streams },
	{ "copies", "pageable copies", copies },
	{ "pinned", "pinned copies", pinned },
	{ "results5", "a blocking copy of a result after each short kernel", results5 },
	{ "results30", "the same of longer ones", results30 },
	{ "results100", "the same of long ones", results100 },
	{ "memory", "an allocation for each kernel", memory },
	{ "graph", "graphs of 50 kernels", graph },
	{ "asks", "calls between launches that no trace has", asks },
};

/* ---- running one -------------------------------------------------------------------------- */

static void set_up()
{
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	CUDA(cudaMalloc((void **)&count, sizeof(*count)));
	CUDA(cudaMemset(count, 0, sizeof(*count)));
	CUDA(cudaMalloc((void **)&device_data, BYTES));
	CUDA(cudaMallocHost((void **)&pinned_data, BYTES));
	pageable_data = (float *)calloc(1, BYTES);
	CHECK(pageable_data, "%d bytes", BYTES);
	memset(pinned_data, 0, BYTES);
}

static double now_ms()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int run(const struct program *p, int times)
{
	unsigned ran;
	double begin, work_ms;

	set_up();
	CUDA(cudaDeviceSynchronize());
	NVTX_BEGIN("work");
	begin = now_ms();
	for (int i = 0; i < times; i++)
		p->run();
	CUDA(cudaDeviceSynchronize());
	work_ms = now_ms() - begin;
	NVTX_END();
	printf("%s: %.3f ms, %u kernels\n", p->name, work_ms, launched);
	CUDA(cudaMemcpy(&ran, count, sizeof(ran), cudaMemcpyDeviceToHost));
	if (ran != launched)
		fprintf(stderr, "programs: %s: %u kernels ran, not %u\n", p->name, ran, launched);
	return ran != launched;
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : 1;

	for (const struct program &p : programs)
		if (argc > 1 && times >= 1 && !strcmp(argv[1], p.name))
			return run(&p, times);
	fprintf(stderr, "usage: programs NAME [TIMES]\n");
	for (const struct program &p : programs)
		fprintf(stderr, "  %-9s %s\n", p.name, p.what);
	return 3;
}
