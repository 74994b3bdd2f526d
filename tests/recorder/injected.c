/*
 * injected.c - a program that loads the recorder's library as the driver does, and prepares records
 * as CUPTI (cupti.c) would make them of a program on a GPU.
 *
 *   injected LIBRARY WORD...     see `words` below
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/recorder/cupti/abi.h"

static void (*add)(const void *record, size_t bytes);
static void (*deliver)(void);
static void (*lose)(size_t n);
static void (*hear)(int domain, uint32_t cbid, int site);
static int (*launches_of_stub)(void);
static int (*live_of_stub)(void), (*heard_by_stub)(void);
static int (*recorded_by_stub)(bool driver);
static void *(*table_of_stub)(void);
static int (*first_range)(void *table);
static uint32_t correlation;
static uint64_t clock_ns;

/* A time after all before, so that rows are in order. */
static uint64_t later(uint64_t ns)
{
	struct timespec t;

	if (!clock_ns) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		clock_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	}
	return clock_ns += ns;
}

static uint32_t call(uint32_t domain, uint32_t cbid)
{
	struct cupti_api api = { .kind = domain,
				 .cbid = cbid,
				 .start = later(100),
				 .end = later(3000),
				 .thread = (uint32_t)syscall(SYS_gettid),
				 .correlation = ++correlation };

	add(&api, sizeof(api));
	return correlation;
}

static void kernel(uint32_t of, uint64_t start)
{
	struct cupti_kernel k = { .kind = CUPTI_KERNEL,
				  .registers = 32,
				  .start = start,
				  .end = start + 5000,
				  .stream = 7,
				  .grid = { 4, 2, 1 },
				  .block = { 128, 1, 1 },
				  .static_shared = 100,
				  .dynamic_shared = 28,
				  .correlation = of,
				  .name = "_Z5saxpyPf" };

	add(&k, sizeof(k));
}

static void stream(uint32_t number, uint32_t flag)
{
	struct cupti_stream s = { .kind = CUPTI_STREAM, .stream = number, .flag = flag };

	add(&s, sizeof(s));
}

static void copy(uint32_t of, uint8_t direction, uint8_t from, uint8_t to, uint64_t bytes)
{
	struct cupti_copy c = { .kind = CUPTI_MEMCPY,
				.direction = direction,
				.from = from,
				.to = to,
				.flags = CUPTI_ASYNC,
				.bytes = bytes,
				.start = later(0),
				.end = later(1000),
				.stream = 13,
				.correlation = of };

	add(&c, sizeof(c));
}

static void event(uint32_t of, uint32_t number)
{
	struct cupti_event e = {
		.kind = CUPTI_CUDA_EVENT, .correlation = of, .stream = 13, .event = number
	};

	add(&e, sizeof(e));
}

static void synchronization(uint32_t of, uint32_t stream, uint32_t number)
{
	struct cupti_sync s = {
		.kind = CUPTI_SYNCHRONIZATION, .correlation = of, .stream = stream, .event = number
	};

	add(&s, sizeof(s));
}

static void marker_at(uint64_t ns, uint32_t flags, const char *name)
{
	struct cupti_marker m = { .kind = CUPTI_MARKER,
				  .flags = flags,
				  .timestamp = ns,
				  .object = CUPTI_OBJECT_THREAD,
				  .thread = (uint32_t)syscall(SYS_gettid),
				  .name = name };

	add(&m, sizeof(m));
}

static void marker(uint32_t flags, const char *name)
{
	marker_at(later(10), flags, name);
}

/* Each kind of record once; cbids as calls.h has them. */
static void every(void)
{
	struct cupti_memory memory = {
		.kind = CUPTI_MEMORY, .operation = 1, .memory = CUPTI_MEMORY_DEVICE, .bytes = 4096
	};
	struct cupti_set set = { .kind = CUPTI_MEMSET, .bytes = 64, .stream = 13 };
	struct cupti_graph graph = { .kind = CUPTI_GRAPH, .graph = 3, .stream = 13 };

	stream(7, CUPTI_STREAM_NULL);
	stream(13, CUPTI_STREAM_NON_BLOCKING);
	memory.correlation = call(CUPTI_RUNTIME, 20); /* cudaMalloc */
	add(&memory, sizeof(memory));
	copy(call(CUPTI_RUNTIME, 41), CUPTI_COPY_TO_DEVICE, CUPTI_MEMORY_PINNED,
	     CUPTI_MEMORY_DEVICE, 200); /* cudaMemcpyAsync */
	copy(call(CUPTI_RUNTIME, 41), CUPTI_COPY_TO_HOST, CUPTI_MEMORY_DEVICE,
	     CUPTI_MEMORY_PAGEABLE, 300);
	set.correlation = call(CUPTI_RUNTIME, 51); /* cudaMemsetAsync */
	set.start = later(0);
	set.end = later(10);
	add(&set, sizeof(set));
	event(call(CUPTI_RUNTIME, 135), 5);			   /* cudaEventRecord */
	synchronization(call(CUPTI_RUNTIME, 147), 7, 5);	   /* cudaStreamWaitEvent */
	synchronization(call(CUPTI_RUNTIME, 137), 0xffffffffu, 5); /* cudaEventSynchronize */
	graph.correlation = call(CUPTI_DRIVER, 514);		   /* cuGraphLaunch */
	graph.start = later(0);
	graph.end = later(100);
	add(&graph, sizeof(graph));
	synchronization(call(CUPTI_RUNTIME, 131), 13, 0); /* cudaStreamSynchronize */
	call(CUPTI_RUNTIME, 165);			  /* cudaDeviceSynchronize */
	call(CUPTI_RUNTIME, 17);			  /* of no class */
}

/* Kernels come first, and in the wrong order. The calls are not delivered yet. */
static void launch_times(uint32_t n)
{
	uint64_t start = later(0) + 1000;

	for (uint32_t i = 0; i < n; i++)
		kernel(correlation + n - i, start + (n - 1 - i) * 6000 + 400000);
	deliver();
	for (uint32_t i = 0; i < n; i++)
		call(CUPTI_DRIVER, 307); /* cuLaunchKernel */
	later(1200000);
}

static void launches(void)
{
	launch_times(100);
	deliver();
}

static struct cupti_api launch(uint32_t domain, uint32_t cbid, uint64_t start, uint64_t end)
{
	struct cupti_api api = { .kind = domain,
				 .cbid = cbid,
				 .start = start,
				 .end = end,
				 .thread = (uint32_t)syscall(SYS_gettid),
				 .correlation = ++correlation };

	add(&api, sizeof(api));
	return api;
}

static void *launch_at(void *ns)
{
	const uint64_t *start = ns;

	launch(CUPTI_DRIVER, 307, *start, *start + 1000);
	return NULL;
}

/*
 * More calls and operations at once than a thread's buffer holds. Kernels come with their calls: on
 * a busy machine what was to follow may take seconds. The first of them is of another
 * thread, of which nothing has come before the end.
 */
static void many(void)
{
	uint64_t start = later(2000);
	pthread_t other;

	later(2000);
	for (int i = 0; i < 300; i++) {
		launch_times(1000);
		deliver();
	}
	if (pthread_create(&other, NULL, launch_at, &start) || pthread_join(other, NULL))
		exit(9);
}

/* A launch of the runtime's with a record of the driver's within it, which the kernel is of. */
static void nested(void)
{
	for (int i = 0; i < 3; i++) {
		call(CUPTI_RUNTIME, 211); /* cudaLaunchKernel */
		launch(CUPTI_DRIVER, 307, later(0) - 2000, later(0) - 1000);
		kernel(correlation, later(0));
		later(6000);
	}
}

/* The same, but both start at once, and the driver's record comes first. */
static void together(void)
{
	for (int i = 0; i < 3; i++) {
		struct cupti_api inner = launch(CUPTI_DRIVER, 307, later(100), later(0) + 1000);

		launch(CUPTI_RUNTIME, 211, inner.start, inner.start + 3000);
		kernel(inner.correlation, later(4000));
		later(6000);
	}
}

/* A kernel that seems to start before its call. */
static void early(void)
{
	kernel(call(CUPTI_DRIVER, 307), later(0) - 3500);
}

static void ranges(void)
{
	marker(CUPTI_MARKER_START, "outer");
	kernel(call(CUPTI_DRIVER, 307), later(0));
	later(6000);
	marker(CUPTI_MARKER_END, NULL);
	kernel(call(CUPTI_DRIVER, 307), later(0));
	later(6000);
}

/* A range that begins with its launch, whose record comes first. */
static void edge(void)
{
	uint64_t start = later(100);
	struct cupti_api api = launch(CUPTI_DRIVER, 307, start, start + 3000);

	marker_at(start, CUPTI_MARKER_START, "outer");
	kernel(api.correlation, later(4000));
	later(6000);
	marker(CUPTI_MARKER_END, NULL);
}

static void capture(void)
{
	call(CUPTI_RUNTIME, 315); /* cudaStreamBeginCapture */
	call(CUPTI_DRIVER, 307);
	call(CUPTI_RUNTIME, 319); /* cudaStreamEndCapture */
}

/* Six calls that have no record, then a launch, and so on. */
static void asks(void)
{
	for (int i = 0; i < 30; i++) {
		for (int k = 0; k < 6; k++)
			call(CUPTI_RUNTIME, 17); /* cudaGetDevice */
		kernel(call(CUPTI_DRIVER, 307), later(0));
		later(6000);
	}
}

/* A launch of that thread, which begins so long after the call before and takes 3 us. */
static void launch_of(uint32_t thread, int64_t gap)
{
	uint64_t start = later(0) + (uint64_t)gap;
	struct cupti_api api = { .kind = CUPTI_DRIVER,
				 .cbid = 307, /* cuLaunchKernel */
				 .start = start,
				 .end = start + 3000,
				 .thread = thread,
				 .correlation = ++correlation };

	later((uint64_t)gap + 3000);
	add(&api, sizeof(api));
	kernel(correlation, later(0) + 500000);
}

/* Two threads, one after the other: five calls of one, four of the other, and so on. */
static void turns(void)
{
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 5; k++)
			launch_of(1000001, 4000);
		for (int k = 0; k < 4; k++)
			launch_of(1000002, 4000);
	}
}

/* A wait of that thread, which begins so long after the call before. */
static void wait_of(uint32_t thread, int64_t gap, uint64_t took)
{
	uint64_t start = later(0) + (uint64_t)gap;
	struct cupti_api api = { .kind = CUPTI_RUNTIME,
				 .cbid = 165, /* cudaDeviceSynchronize */
				 .start = start,
				 .end = start + took,
				 .thread = thread,
				 .correlation = ++correlation };

	later((uint64_t)gap + took);
	add(&api, sizeof(api));
}

/* Four calls of each thread by turns, then a wait of 10 us or 1 ms. */
static void turn_and_wait(int i)
{
	for (int k = 0; k < 4; k++)
		launch_of(1000002, 4000);
	for (int k = 0; k < 4; k++)
		launch_of(1000001, 4000);
	wait_of(1000001, 1000, i % 2 ? 1000000 : 10000);
}

/* In turns, but once a call begins while the other thread waits for 1 ms. */
static void out_of_turn(void)
{
	uint64_t end;

	for (int i = 0; i < 100; i++)
		turn_and_wait(i);
	end = later(0);
	launch_of(1000002, -900000);
	later(end - later(0));
	for (int i = 0; i < 100; i++)
		turn_and_wait(i);
}

/* A thread with forty launches a step, and bursts of three calls of another one at any time. */
static void bursts(void)
{
	unsigned random = 1;

	for (int i = 0; i < 40 * 2000; i++) {
		launch_of(1000001, i % 40 ? 2000 : 60000);
		random = random * 1103515245 + 12345;
		for (int k = 0; k < 3 && (random >> 16) % 30 == 0; k++)
			launch_of(1000002, 500);
	}
}

/* Two threads that know nothing of each other. */
static void mixed(void)
{
	for (int i = 0; i < 300; i++) {
		launch_of(1000001, 2000);
		launch_of(1000002, i % 3 ? 3000 : 1000);
	}
}

static void lost(void)
{
	lose(3);
	deliver();
	kernel(1000000, later(0)); /* of no call */
}

static void die(void)
{
	deliver();
	sleep(5); /* two rounds and more */
	raise(SIGKILL);
}

/* The program's first call of the runtime returns; the library begins. */
static void first_call(void)
{
	hear(CUPTI_DOMAIN_RUNTIME, 20, CUPTI_ENTER);
	hear(CUPTI_DOMAIN_RUNTIME, 20, CUPTI_EXIT);
	hear(CUPTI_DOMAIN_RUNTIME, 20, CUPTI_EXIT);
}

/* What begins nothing: a call of the runtime, and the end of a launch by the driver. */
static void no_first_call(void)
{
	hear(CUPTI_DOMAIN_RUNTIME, 20, CUPTI_ENTER);
	hear(CUPTI_DOMAIN_DRIVER, 307, CUPTI_EXIT);
}

static void first_launch(void)
{
	hear(CUPTI_DOMAIN_DRIVER, 307, CUPTI_ENTER);
}

/* What the calibration launched, and what it left behind. */
static void count(void)
{
	printf("launches %d live %d\n", launches_of_stub(), live_of_stub());
}

/* Calls that CUPTI is told to give a record: number 0 is none. */
static void recorded(void)
{
	printf("recorded %d and %d, heard %d\n", recorded_by_stub(false), recorded_by_stub(true),
	       heard_by_stub());
}

/* NVTX hands its table to the library that is named to it. */
static void range(void)
{
	int table, heard = first_range(&table);

	printf("heard %d, passed on %d\n", heard, table_of_stub() == &table);
}

static void print_now(void)
{
	puts("printed");
}

static const struct {
	const char *word;
	void (*run)(void);
} words[] = {
	{ "first", first_call },    { "every", every },	      { "launches", launches },
	{ "early", early },	    { "ranges", ranges },     { "capture", capture },
	{ "lost", lost },	    { "die", die },	      { "print", print_now },
	{ "count", count },	    { "nested", nested },     { "together", together },
	{ "many", many },	    { "range", range },	      { "asks", asks },
	{ "turns", turns },	    { "mixed", mixed },	      { "out_of_turn", out_of_turn },
	{ "bursts", bursts },	    { "edge", edge },	      { "none", no_first_call },
	{ "launch", first_launch }, { "recorded", recorded },
};

static void *find(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		exit(9);
	return found;
}

int main(int argc, char **argv)
{
	void *recorder = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	const char *path = getenv("STUB_CUPTI");
	void *stub = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
	int (*initialize)(void);

	if (!recorder || !stub) {
		fprintf(stderr, "injected: %s\n", dlerror());
		return 9;
	}
	*(void **)&add = find(stub, "stub_add");
	*(void **)&deliver = find(stub, "stub_deliver");
	*(void **)&lose = find(stub, "stub_lose");
	*(void **)&hear = find(stub, "stub_call");
	*(void **)&launches_of_stub = find(stub, "stub_launches");
	*(void **)&live_of_stub = find(stub, "stub_live");
	*(void **)&recorded_by_stub = find(stub, "stub_recorded");
	*(void **)&heard_by_stub = find(stub, "stub_heard");
	*(void **)&table_of_stub = find(stub, "stub_table");
	*(void **)&first_range = find(recorder, "InitializeInjectionNvtx2");
	*(void **)&initialize = find(recorder, "InitializeInjection");
	if (initialize() != 1 || initialize() != 1)
		return 9;
	for (int i = 2; i < argc; i++)
		for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
			if (!strcmp(argv[i], words[w].word))
				words[w].run();
	return 0;
}
