/*
 * trace.c - the CPU device records the program that runs on it (common/recorder): what it is to the
 * recorder, the calls of its calibration, and ranges that programs name.
 */
#include "common/cpu/api/api.h"

#include "common/cpu/include/cpudev_trace.h"
#include "common/cpu/include/cuda_profiler_api.h"

#include <string.h>

enum {
	BATCHES = 2,
	BATCH_LAUNCHES = 500,	    /* less than a queue holds: none waits for room */
	WAITS = 4000,		    /* threads take some ms to find cores of their own */
	CALIBRATION_NS = 200000000, /* where calls are given high costs, fewer must do */
};

/* ---- calibration ----------------------------------------------------------------------- */

static void run_nothing(const char *args)
{
	(void)args;
	while (cpudev_next_thread())
		continue;
}

static const unsigned no_parameters[1];
static struct cpudev_kernel nothing = {
	.function = no_parameters,
	.run = run_nothing,
	.name = "calibration",
	.size = no_parameters,
	.offset = no_parameters,
};

static void launch_nothing(cudaStream_t stream)
{
	cudaLaunchKernel(nothing.function, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, stream);
}

static void wait_for_gate(void *gate)
{
	progress_wait(gate, 1, 0);
}

static void end_batch(void *unused)
{
	(void)unused;
}

/* Launches behind a gate: no kernel runs meanwhile, and all run one after the other. */
static void launch_batch(cudaStream_t stream, int64_t until)
{
	struct progress gate;

	progress_init(&gate);
	cudaLaunchHostFunc(stream, wait_for_gate, &gate);
	for (int i = 0; i < BATCH_LAUNCHES && clock_ns() < until; i++)
		launch_nothing(stream);
	progress_raise(&gate, 1);
	cudaLaunchHostFunc(stream, end_batch, NULL);
	cudaStreamSynchronize(stream);
}

static void calibrate(void)
{
	int64_t until = clock_ns() + CALIBRATION_NS;
	cudaError_t before = forget_error();
	cudaStream_t stream;

	cpudev_register(&nothing);
	if (!cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) {
		for (int i = 0; i < BATCHES; i++)
			launch_batch(stream, until);
		until += CALIBRATION_NS;
		for (int i = 0; i < WAITS && clock_ns() < until; i++) {
			launch_nothing(stream);
			cudaStreamSynchronize(stream);
		}
		cudaStreamDestroy(stream);
	}
	forget_error();
	result(before);
}

/* ---- what the recorder knows ----------------------------------------------------------- */

static bool begin(struct recorder_source *source)
{
	struct cudaDeviceProp prop;

	if (!cudaGetDeviceProperties(&prop, 0))
		memcpy(source->device, prop.name, sizeof(source->device));
	return true;
}

static struct recorder_source source = {
	.name = "cpu-device",
	.runtime = CUDART_VERSION,
	.driver = CUDART_VERSION,
	.window = QUEUE_OPS,
	.begin = begin,
	.calibrate = calibrate,
	.ends_process = true,
};

__attribute__((constructor)) static void load(void)
{
	recorder_load(&source);
}

/* ---- ranges ---------------------------------------------------------------------------- */

void cpudev_range_push(const char *name)
{
	recorder_mark(TRACE_MARK_push, name);
}

void cpudev_range_pop(void)
{
	recorder_mark(TRACE_MARK_pop, NULL);
}

cudaError_t cudaProfilerStart(void)
{
	INJECT();
	recorder_mark(TRACE_MARK_start, NULL);
	return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
	INJECT();
	recorder_mark(TRACE_MARK_stop, NULL);
	return cudaSuccess;
}
