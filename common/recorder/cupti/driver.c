/* driver.c - the driver's functions, and the calls of the calibration. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/recorder/cupti/driver.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/recorder/calibration.h"
#include "common/recorder/cupti/abi.h"
#include "common/recorder/cupti/feed.h"
#include "common/recorder/recorder.h"

enum { ROWS = 10, ROW_CALLS = 100, WAITS = 50, NON_BLOCKING = 1 };
enum { COPY_BYTES = 65536 }; /* an engine's: a few bytes to the device go with the launch */
enum { GRAPH_LAUNCHES = 30, GRAPH_NODES = 64, RELAXED = 2 /* CU_STREAM_CAPTURE_MODE_RELAXED */ };

/* What is asked; all return CUresult, 0 is success. Names as libcuda.so.1 exports them. */
#define DRIVER_FUNCTIONS(ROW)                                                                      \
	ROW(cuCtxGetCurrent, (void **context))                                                     \
	ROW(cuModuleLoadData, (void **module, const void *image))                                  \
	ROW(cuModuleGetFunction, (void **function, void *module, const char *name))                \
	ROW(cuModuleUnload, (void *module))                                                        \
	ROW(cuStreamCreate, (void **stream, unsigned flags))                                       \
	ROW(cuStreamDestroy_v2, (void *stream))                                                    \
	ROW(cuStreamSynchronize, (void *stream))                                                   \
	ROW(cuEventCreate, (void **event, unsigned flags))                                         \
	ROW(cuEventDestroy_v2, (void *event))                                                      \
	ROW(cuEventRecord, (void *event, void *stream))                                            \
	ROW(cuEventElapsedTime, (float *ms, void *from, void *to))                                 \
	ROW(cuLaunchHostFunc, (void *stream, void (*function)(void *), void *argument))            \
	ROW(cuModuleGetGlobal_v2,                                                                  \
	    (unsigned long long *address, size_t *bytes, void *module, const char *name))          \
	ROW(cuMemHostRegister_v2, (void *from, size_t bytes, unsigned flags))                      \
	ROW(cuMemHostUnregister, (void *from))                                                     \
	ROW(cuMemcpyHtoDAsync_v2,                                                                  \
	    (unsigned long long to, const void *from, size_t bytes, void *stream))                 \
	ROW(cuCtxGetDevice, (int *device))                                                         \
	ROW(cuLaunchKernel,                                                                        \
	    (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,      \
	     unsigned bz, unsigned shared, void *stream, void **arguments, void **extra))

#define GRAPH_FUNCTIONS(ROW)                                                                       \
	ROW(cuStreamBeginCapture_v2, (void *stream, int mode))                                     \
	ROW(cuStreamEndCapture, (void *stream, void **graph))                                      \
	ROW(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))     \
	ROW(cuGraphLaunch, (void *exec, void *stream))                                             \
	ROW(cuGraphExecDestroy, (void *exec))                                                      \
	ROW(cuGraphDestroy, (void *graph))

static struct {
#define ROW(name, parameters) int(*name) parameters;
	DRIVER_FUNCTIONS(ROW)
	GRAPH_FUNCTIONS(ROW)
#undef ROW
} cuda;

/* The library that the program has; it is never loaded for this. */
static void *find(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	return dlsym(library ? library : RTLD_DEFAULT, name);
}

static bool bind(void)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define ROW(name, parameters) { #name, offsetof(__typeof__(cuda), name) },
		DRIVER_FUNCTIONS(ROW) GRAPH_FUNCTIONS(ROW)
#undef ROW
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *found = find(functions[i].name);

		if (!found)
			return false;
		memcpy((char *)&cuda + functions[i].offset, &found, sizeof(found));
	}
	return true;
}

int driver_version(void)
{
	int (*get)(int *version) = NULL;
	int version = 0;

	*(void **)&get = find("cuDriverGetVersion");
	return get && !get(&version) ? version : 0;
}

void driver_name_device(char *out, size_t room)
{
	int (*current)(int *device) = NULL, (*name)(char *out, int room, int device) = NULL;
	int device = 0;

	*(void **)&current = find("cuCtxGetDevice");
	*(void **)&name = find("cuDeviceGetName");
	if (!current || !name || current(&device) || name(out, (int)room, device))
		*out = '\0';
}

bool driver_has_context(void)
{
	int (*get)(void **context) = NULL;
	void *context = NULL;

	*(void **)&get = find("cuCtxGetCurrent");
	return get && !get(&context) && context;
}

/* ---- an empty kernel ------------------------------------------------------------------- */

/* Compiled by the driver, for any GPU from compute capability 7.5 on. */
static const char image[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
			    ".visible .global .align 16 .b8 rift_block[65536];\n"
			    ".visible .entry rift_calibration()\n{\n\tret;\n}\n";

_Static_assert(COPY_BYTES == 65536, "as large as rift_block");

static _Alignas(4096) char host_block[COPY_BYTES];

static struct bench {
	void *module, *function, *stream, *from, *to;
	unsigned long long block; /* on the device */
	bool is_pinned;		  /* host_block */
} bench;

static void bench_end(void)
{
	if (bench.from)
		cuda.cuEventDestroy_v2(bench.from);
	if (bench.to)
		cuda.cuEventDestroy_v2(bench.to);
	if (bench.stream)
		cuda.cuStreamDestroy_v2(bench.stream);
	if (bench.is_pinned)
		cuda.cuMemHostUnregister(host_block);
	if (bench.module)
		cuda.cuModuleUnload(bench.module);
	bench = (struct bench){ NULL };
}

static bool bench_begin(void)
{
	if (bind() && !cuda.cuModuleLoadData(&bench.module, image) &&
	    !cuda.cuModuleGetFunction(&bench.function, bench.module, "rift_calibration") &&
	    !cuda.cuStreamCreate(&bench.stream, NON_BLOCKING) &&
	    !cuda.cuEventCreate(&bench.from, 0) && !cuda.cuEventCreate(&bench.to, 0))
		return true;
	bench_end();
	return false;
}

static int launch(void)
{
	return cuda.cuLaunchKernel(bench.function, 1, 1, 1, 1, 1, 1, 0, bench.stream, NULL, NULL);
}

/* Where memory cannot be pinned, copies are not calibrated. */
static bool pin_block(void)
{
	size_t bytes = 0;

	if (!bench.is_pinned &&
	    !cuda.cuModuleGetGlobal_v2(&bench.block, &bytes, bench.module, "rift_block"))
		bench.is_pinned = bytes == COPY_BYTES &&
				  !cuda.cuMemHostRegister_v2(host_block, COPY_BYTES, 0);
	return bench.is_pinned;
}

static int copy(void)
{
	return cuda.cuMemcpyHtoDAsync_v2(bench.block, host_block, COPY_BYTES, bench.stream);
}

/* ---- rows of calls --------------------------------------------------------------------- */

struct times {
	int64_t call[ROWS * ROW_CALLS], wait[WAITS], pace[ROWS];
	int n_calls, n_waits, n_rows;
};

/* On a thread of the driver: the stream waits until all launches are queued. */
static void hold(void *gate)
{
	while (!__atomic_load_n((int *)gate, __ATOMIC_ACQUIRE))
		sched_yield();
}

static bool time_row(struct times *t, int (*submit)(void))
{
	int gate = 0, err;
	float ms = 0;

	err = cuda.cuLaunchHostFunc(bench.stream, hold, &gate);
	if (err)
		return false;
	err = cuda.cuEventRecord(bench.from, bench.stream);
	for (int i = 0; i < ROW_CALLS && !err; i++) {
		int64_t start = recorder_now();

		err = submit();
		t->call[t->n_calls++] = recorder_now() - start;
	}
	err = err ? err : cuda.cuEventRecord(bench.to, bench.stream);
	__atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
	err = cuda.cuStreamSynchronize(bench.stream) || err; /* the gate is on this stack */
	if (err || cuda.cuEventElapsedTime(&ms, bench.from, bench.to))
		return false;
	t->pace[t->n_rows++] = (int64_t)((double)ms * 1e6 / ROW_CALLS);
	return true;
}

static bool time_waits(struct times *t)
{
	for (int i = 0; i < WAITS; i++) {
		int64_t start = recorder_now();

		if (launch() || cuda.cuStreamSynchronize(bench.stream))
			return false;
		t->wait[t->n_waits++] = recorder_now() - start;
	}
	return true;
}

static bool time_rows(struct times *t, int (*submit)(void), int rows)
{
	bool fine = true;

	for (int i = 0; i < rows && fine; i++)
		fine = time_row(t, submit);
	return fine;
}

/* From one queued copy to the next; 0: not measured. The first row warms up. */
static int64_t copy_pace_ns(void)
{
	struct times *t = calloc(2, sizeof(*t));
	int64_t ns = 0;

	if (t && pin_block() && time_rows(t, copy, 1) && time_rows(t + 1, copy, ROWS))
		ns = trace_spread_of(t[1].pace, t[1].n_rows).p50;
	free(t);
	return ns;
}

/*
 * A call that has no row, as libraries make it: a few before each launch. In a loop of their own
 * they take less (an H200, CUPTI 13.0.1).
 */
static int64_t ask_ns(void)
{
	enum { ASKS = 6 };
	int64_t some[ROW_CALLS];
	int device;

	for (int i = 0; i < ROW_CALLS; i++) {
		int64_t start = recorder_now();

		for (int k = 0; k < ASKS; k++)
			(void)cuda.cuCtxGetDevice(&device);
		some[i] = (recorder_now() - start) / ASKS;
		(void)launch();
	}
	(void)cuda.cuStreamSynchronize(bench.stream);
	return trace_spread_of(some, ROW_CALLS).p50;
}

/* ---- launches of graphs ---------------------------------------------------------------- */

/* A line of so many nodes; NULL: a call failed. */
static void *graph_of(int nodes)
{
	void *graph = NULL, *exec = NULL;
	int err = cuda.cuStreamBeginCapture_v2(bench.stream, RELAXED);

	if (err)
		return NULL;
	for (int i = 0; i < nodes && !err; i++)
		err = launch();
	err = cuda.cuStreamEndCapture(bench.stream, &graph) || err;
	if (!err && cuda.cuGraphInstantiateWithFlags(&exec, graph, 0))
		exec = NULL;
	if (graph)
		cuda.cuGraphDestroy(graph);
	return exec;
}

/*
 * The first launch uploads it. Each of the others finds the device idle: behind a launch of the
 * same graph that has not begun, a call takes 0.2 to 0.4 us more for each node (an H200, driver
 * 580).
 */
static bool time_graph(void *exec, int64_t *call)
{
	int err = cuda.cuGraphLaunch(exec, bench.stream);

	err = err || cuda.cuStreamSynchronize(bench.stream);
	for (int i = 0; i < GRAPH_LAUNCHES && !err; i++) {
		int64_t start = recorder_now();

		err = cuda.cuGraphLaunch(exec, bench.stream);
		call[i] = recorder_now() - start;
		err = err || cuda.cuStreamSynchronize(bench.stream);
	}
	return !err;
}

/* The median call of a graph of so many nodes; -1: a call failed. */
static int64_t graph_call_ns(int nodes)
{
	int64_t call[GRAPH_LAUNCHES], ns = -1;
	void *exec = graph_of(nodes);

	if (!exec)
		return -1;
	if (time_graph(exec, call))
		ns = trace_spread_of(call, GRAPH_LAUNCHES).p50;
	cuda.cuGraphExecDestroy(exec);
	return ns;
}

/* The line through two lengths; where it would fall, all calls cost the same. */
static void time_graphs(struct trace_calibration *out)
{
	int64_t one = graph_call_ns(1), more = one < 0 ? -1 : graph_call_ns(1 + GRAPH_NODES);

	if (more < 0)
		return;
	out->has_graphs = true;
	out->graph_node_ns = more > one ? (more - one) / GRAPH_NODES : 0;
	out->graph_launch_ns = one - out->graph_node_ns;
}

/* The first launches are those of a kernel that is not loaded yet. */
static bool warm_up(void)
{
	struct times unused = { .n_calls = 0 };

	return time_rows(&unused, launch, 1);
}

/* Without the recorder. */
static int64_t bare_copy_pace_ns, bare_ask_ns;

bool driver_calibrate(struct trace_calibration *out)
{
	struct times *t = calloc(1, sizeof(*t));
	bool fine = t && bench_begin();

	fine = fine && warm_up() && time_rows(t, launch, ROWS) && time_waits(t);
	if (fine) {
		out->launch_call = trace_spread_of(t->call, t->n_calls);
		out->launch_and_wait = trace_spread_of(t->wait, t->n_waits);
		out->gap = trace_spread_of(t->pace, t->n_rows);
		time_graphs(out);
		bare_copy_pace_ns = copy_pace_ns();
		bare_ask_ns = ask_ns();
	}
	free(t);
	if (!fine)
		bench_end();
	return fine;
}

static int64_t without(int64_t ns, int64_t part_ns)
{
	return ns > part_ns ? ns - part_ns : 0;
}

void driver_calibrate_recorder(struct trace_calibration *out, int (*flush)(uint32_t flag))
{
	struct calibration *c = calibration_new();
	struct times *t = calloc(1, sizeof(*t));
	struct trace_calibration with = { .window = 0 };

	if (c && t) {
		feed_divert(c);
		if (time_rows(t, launch, ROWS)) {
			if (bare_copy_pace_ns)
				out->copy_pace_ns = without(copy_pace_ns(), bare_copy_pace_ns);
			flush(CUPTI_FLUSH_FORCED);
			calibration_result(c, &with);
			out->call_ns = with.call_ns;
			out->kernel_ns = calibration_kernel_ns(c);
			out->pace_ns =
				without(trace_spread_of(t->pace, t->n_rows).p50, out->gap.p50);
			out->gap.p05 = without(out->gap.p05, out->kernel_ns);
			out->gap.p50 = without(out->gap.p50, out->kernel_ns);
			out->gap.p95 = without(out->gap.p95, out->kernel_ns);
			out->not_recorded_ns = without(ask_ns(), bare_ask_ns);
			flush(CUPTI_FLUSH_FORCED); /* while these launches go nowhere */
		}
		feed_divert(NULL);
	}
	calibration_free(c);
	free(t);
	bench_end();
}
