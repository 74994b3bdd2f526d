/*
 * gpu_queued.cu - how far apart queued operations are on a GPU, by what stands behind what.
 *
 *   build/cuda/bench/gpu_queued
 *   rift profile --runs 0 --recordings 1 -- build/cuda/bench/gpu_queued
 *
 * Rows of operations wait in a stream behind a host function, so that none waits for its call. Each
 * row repeats a few operations, a letter each: k an empty kernel, K one of some 6 us, U a copy to
 * the device, D one back, W one within the device, S a memset. Printed is what a repeat takes by
 * the device's events, in us: without the recorder and under it, the difference is what CUPTI adds.
 *
 * Printed are medians and quartiles over n rows. Nothing is asserted.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"

#include <algorithm>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 25, ROW_OPERATIONS = 96, BYTES_MOST = 512 << 10, STEPS = 2500 };

static cudaStream_t stream;
static cudaEvent_t begin, end;
static char *device, *second, *pinned, *pinned_second;
static unsigned *count;

/* x stays above 0.5, which no compiler knows. */
extern "C" __global__ void queued_busy(unsigned *count, int steps)
{
	float x = (float)steps;

	for (int i = 0; i < steps; i++)
		x = x * 0.999f + 0.001f;
	if (x > 0.5f)
		atomicAdd(count, 1u);
}
KERNEL(queued_busy);

static void kernel(int steps)
{
	CUDA(LAUNCH(queued_busy, dim3(1), dim3(1), 0, stream, count, steps));
}

static void submit(char operation, size_t bytes)
{
	switch (operation) {
	case 'k':
		kernel(0);
		return;
	case 'K':
		kernel(STEPS);
		return;
	case 'U':
		CUDA(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream));
		return;
	case 'D':
		CUDA(cudaMemcpyAsync(pinned_second, second, bytes, cudaMemcpyDeviceToHost, stream));
		return;
	case 'W':
		CUDA(cudaMemcpyAsync(device, second, bytes, cudaMemcpyDeviceToDevice, stream));
		return;
	default:
		CUDA(cudaMemsetAsync(device, 0, bytes, stream));
	}
}

/* On a thread of the driver: the stream waits until all is queued. */
static void hold(void *gate)
{
	while (!__atomic_load_n((int *)gate, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* us of one repeat. */
static double time_row(const char *operations, size_t bytes)
{
	int repeats = ROW_OPERATIONS / (int)strlen(operations), gate = 0;
	float ms;

	CUDA(cudaLaunchHostFunc(stream, hold, &gate));
	CUDA(cudaEventRecord(begin, stream));
	for (int i = 0; i < repeats; i++)
		for (const char *o = operations; *o; o++)
			submit(*o, bytes);
	CUDA(cudaEventRecord(end, stream));
	__atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaEventElapsedTime(&ms, begin, end));
	return 1e3 * (double)ms / repeats;
}

static void measure(const char *operations, size_t bytes)
{
	double us[ROWS];

	time_row(operations, bytes); /* warms up */
	for (double &row : us)
		row = time_row(operations, bytes);
	std::sort(us, us + ROWS);
	printf("%-6s %7zu B %8.2f us (%.2f to %.2f)\n", operations, bytes, us[ROWS / 2],
	       us[ROWS / 4], us[3 * ROWS / 4]);
}

/* The first launch loads the kernel, which would wait for the row that holds it. */
static void set_up()
{
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaEventCreate(&begin));
	CUDA(cudaEventCreate(&end));
	CUDA(cudaMalloc((void **)&device, BYTES_MOST));
	CUDA(cudaMalloc((void **)&second, BYTES_MOST));
	CUDA(cudaMalloc((void **)&count, sizeof(*count)));
	CUDA(cudaMallocHost((void **)&pinned, BYTES_MOST));
	CUDA(cudaMallocHost((void **)&pinned_second, BYTES_MOST));
	for (const char *o = "kKUDWS"; *o; o++)
		submit(*o, 4);
	CUDA(cudaStreamSynchronize(stream));
}

int main()
{
	static const char *const kernels[] = { "k", "K" };
	static const char *const rows[] = { "U",  "D",	"W",  "S",  "kU",  "kD",
					    "kW", "kS", "UD", "US", "UKD", "UKKD" };

	set_up();
	printf("a repeat of queued operations, medians and quartiles of n = %d rows\n", ROWS);
	for (const char *row : kernels)
		measure(row, 0);
	for (const char *row : rows)
		for (size_t bytes : { (size_t)4, (size_t)64 << 10, (size_t)BYTES_MOST })
			measure(row, bytes);
	return 0;
}
