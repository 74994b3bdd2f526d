/*
 * cupti.c - a CUPTI that delivers the records that a test has prepared, and a driver whose calls
 * take times of its own, for tests of the recorder's library. All records take as much room.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/recorder/cupti/abi.h"

#define SHOWN __attribute__((visibility("default")))

enum { RECORD_BYTES = 256, KINDS = 64, CALLS = 1024, REFUSED = 15 };

static cupti_request *request;
static cupti_complete *complete;
static int enabled[KINDS], has_clock;
static uint8_t *buffer;
static size_t room, used, dropped;

SHOWN int cuptiGetVersion(uint32_t *version);
SHOWN int cuptiActivityRegisterCallbacks(cupti_request *r, cupti_complete *c);
SHOWN int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void));
SHOWN int cuptiActivityEnable(uint32_t kind);
SHOWN int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
SHOWN int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
SHOWN int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, struct cupti_record **record);
SHOWN int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
SHOWN int cuptiActivityFlushAll(uint32_t flag);
SHOWN int cuptiGetResultString(int result, const char **text);
SHOWN int cuptiFinalize(void);
SHOWN int InitializeInjectionNvtx2(void *table);
SHOWN void *stub_table(void);
SHOWN void stub_add(const void *record, size_t bytes);
SHOWN void stub_deliver(void);
SHOWN void stub_lose(size_t n);
SHOWN int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *unused);
SHOWN int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
SHOWN void stub_call(int domain, uint32_t cbid, int site);

static int n_heard;
static uint8_t records_call[2][CALLS]; /* of the runtime, of the driver */
static cupti_callback *heard;

static int setting(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

int cuptiGetVersion(uint32_t *version)
{
	*version = setting("STUB_CUPTI_VERSION") ? (uint32_t)setting("STUB_CUPTI_VERSION") : 130001;
	return 0;
}

int cuptiActivityRegisterCallbacks(cupti_request *r, cupti_complete *c)
{
	request = r;
	complete = c;
	return 0;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void))
{
	has_clock = now != NULL;
	return 0;
}

int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *unused)
{
	(void)unused;
	if (setting("STUB_CUPTI_OTHER"))
		return CUPTI_OTHER_SUBSCRIBER;
	*subscriber = &heard;
	heard = callback;
	return 0;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid)
{
	(void)domain, (void)cbid;
	if (subscriber != &heard)
		return REFUSED;
	n_heard += enable ? 1 : -1;
	return 0;
}

/* Whoever has subscribed hears of a call of the program. */
void stub_call(int domain, uint32_t cbid, int site)
{
	if (heard && n_heard > 0)
		heard(NULL, domain, cbid, &site);
}

/* The clock must have been set before. */
int cuptiActivityEnable(uint32_t kind)
{
	if (setting("STUB_CUPTI_REFUSES") == (int)kind)
		return setting("STUB_CUPTI_WHY") ? setting("STUB_CUPTI_WHY") : REFUSED;
	enabled[kind % KINDS] = has_clock;
	if (kind == CUPTI_RUNTIME || kind == CUPTI_DRIVER)
		memset(records_call[kind == CUPTI_DRIVER], 1, CALLS);
	return 0;
}

/* As CUPTI 13.0 has it once there is a context: nothing comes of it while the kind is off. */
static int switch_call(bool driver, uint32_t cbid, uint8_t enable)
{
	if (cbid >= CALLS)
		return REFUSED;
	if (enabled[driver ? CUPTI_DRIVER : CUPTI_RUNTIME])
		records_call[driver][cbid] = enable;
	return 0;
}

int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	return switch_call(false, cbid, enable);
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	return switch_call(true, cbid, enable);
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, struct cupti_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + RECORD_BYTES : from;

	if (next + RECORD_BYTES > from + valid)
		return CUPTI_NO_MORE;
	*record = (struct cupti_record *)next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	(void)context, (void)stream;
	*n = dropped;
	dropped = 0;
	return 0;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == REFUSED ? "NOT_COMPATIBLE" : "OTHER";
	return 0;
}

int cuptiFinalize(void)
{
	if (setting("STUB_CUPTI_SAYS"))
		fputs("finalized\n", stderr);
	return 0;
}

static void *table_of_ranges;

int InitializeInjectionNvtx2(void *table)
{
	if (setting("STUB_CUPTI_NO_RANGES"))
		return 0;
	table_of_ranges = table;
	return 1;
}

void *stub_table(void)
{
	return table_of_ranges;
}

void stub_deliver(void)
{
	uint8_t *full = buffer;

	buffer = NULL;
	if (full)
		complete(NULL, 0, full, room, used);
}

/* What is in hand comes only then, as CUPTI's does. */
int cuptiActivityFlushAll(uint32_t flag)
{
	if (flag & CUPTI_FLUSH_FORCED)
		stub_deliver();
	return 0;
}

/* ---- a driver ------------------------------------------------------------------------------ */

enum { KERNEL_NS = 600, PACE_NS = 2000, COPY_PACE_NS = 4000, ASK_NS = 1000 };

SHOWN int cuDriverGetVersion(int *version);
SHOWN int cuCtxGetCurrent(void **context);
SHOWN int cuCtxGetDevice(int *device);
SHOWN int cuDeviceGetName(char *out, int bytes, int device);
SHOWN int cuModuleLoadData(void **module, const void *image);
SHOWN int cuModuleGetFunction(void **function, void *module, const char *name);
SHOWN int cuModuleUnload(void *module);
SHOWN int cuStreamCreate(void **stream, unsigned flags);
SHOWN int cuStreamDestroy_v2(void *stream);
SHOWN int cuStreamSynchronize(void *stream);
SHOWN int cuEventCreate(void **event, unsigned flags);
SHOWN int cuEventDestroy_v2(void *event);
SHOWN int cuEventRecord(void *event, void *stream);
SHOWN int cuEventElapsedTime(float *ms, void *from, void *to);
SHOWN int cuStreamBeginCapture_v2(void *stream, int mode);
SHOWN int cuStreamEndCapture(void *stream, void **graph);
SHOWN int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
SHOWN int cuGraphLaunch(void *exec, void *stream);
SHOWN int cuGraphExecDestroy(void *exec);
SHOWN int cuGraphDestroy(void *graph);
SHOWN int cuLaunchHostFunc(void *stream, void (*function)(void *), void *argument);
SHOWN int cuModuleGetGlobal_v2(unsigned long long *address, size_t *bytes, void *module,
			       const char *name);
SHOWN int cuMemHostRegister_v2(void *from, size_t bytes, unsigned flags);
SHOWN int cuMemHostUnregister(void *from);
SHOWN int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream);
SHOWN int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			 unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments,
			 void **extra);

static struct {
	void (*function)(void *);
	void *argument;
} held;
static pthread_t holder;
static int holds, n_live, n_launches;
static bool row_copies; /* what was submitted last */

int cuDriverGetVersion(int *version)
{
	*version = 13000;
	return 0;
}

int cuCtxGetCurrent(void **context)
{
	*context = setting("STUB_CUPTI_NO_CONTEXT") ? NULL : &holds;
	return 0;
}

/* Takes so long where calls of the driver are recorded, though this one has no record. */
int cuCtxGetDevice(int *device)
{
	struct timespec t;
	int64_t begin = -1, now = 0;

	for (; enabled[CUPTI_DRIVER] && now < begin + ASK_NS; begin = begin < 0 ? now : begin) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	}
	return *device = 0;
}

int cuDeviceGetName(char *out, int bytes, int device)
{
	snprintf(out, (size_t)bytes, "stub GPU %d", device);
	return 0;
}

/* What is made is given back: the end of the process looks. */
static int make(void **out)
{
	*out = &n_live;
	n_live++;
	return 0;
}

static int give_back(void)
{
	n_live--;
	return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
	return setting("STUB_CUPTI_NO_MODULE") || !strstr(image, "rift_calibration") ? REFUSED
										     : make(module);
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
	(void)module;
	*function = &n_launches;
	return strcmp(name, "rift_calibration") ? REFUSED : 0;
}

int cuModuleUnload(void *module)
{
	(void)module;
	return give_back();
}

int cuStreamCreate(void **stream, unsigned flags)
{
	return flags == 1 ? make(stream) : REFUSED;
}

int cuStreamDestroy_v2(void *stream)
{
	(void)stream;
	return give_back();
}

int cuStreamSynchronize(void *stream)
{
	(void)stream;
	if (holds)
		pthread_join(holder, NULL);
	holds = 0;
	return 0;
}

int cuEventCreate(void **event, unsigned flags)
{
	(void)flags;
	return make(event);
}

int cuEventDestroy_v2(void *event)
{
	(void)event;
	return give_back();
}

int cuEventRecord(void *event, void *stream)
{
	(void)event, (void)stream;
	return 0;
}

/* As if each launch had taken the pace, and 300 ns more where it is recorded; each copy its own,
 * and 2,100 ns more. */
int cuEventElapsedTime(float *ms, void *from, void *to)
{
	(void)from, (void)to;
	int more = enabled[CUPTI_KERNEL] ? row_copies ? 2100 : 300 : 0;

	*ms = 100 * (float)((row_copies ? COPY_PACE_NS : PACE_NS) + more) / 1e6f;
	return 0;
}

static void *run_held(void *unused)
{
	(void)unused;
	held.function(held.argument);
	return NULL;
}

int cuLaunchHostFunc(void *stream, void (*function)(void *), void *argument)
{
	(void)stream;
	held.function = function;
	held.argument = argument;
	holds = 1;
	return pthread_create(&holder, NULL, run_held, NULL);
}

/* 400 ns between two calls. */
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
	static uint64_t now = 1000;
	struct cupti_api api = { .kind = CUPTI_DRIVER,
				 .cbid = 307,
				 .start = now += 400,
				 .end = now += 3000,
				 .correlation = 0x10000000u + (uint32_t)n_launches };
	struct cupti_kernel k = { .kind = CUPTI_KERNEL,
				  .start = now,
				  .end = now + KERNEL_NS,
				  .correlation = api.correlation,
				  .name = "rift_calibration" };

	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream;
	(void)arguments, (void)extra;
	n_launches++;
	row_copies = false;
	if (enabled[CUPTI_KERNEL]) {
		stub_add(&api, sizeof(api));
		stub_add(&k, sizeof(k));
	}
	return function ? 0 : REFUSED;
}

int cuModuleGetGlobal_v2(unsigned long long *address, size_t *bytes, void *module, const char *name)
{
	(void)module;
	*address = 4096;
	*bytes = 65536;
	return strcmp(name, "rift_block") ? REFUSED : 0;
}

int cuMemHostRegister_v2(void *from, size_t bytes, unsigned flags)
{
	void *unused;

	(void)flags;
	return setting("STUB_CUPTI_NO_PINNED") || (uintptr_t)from % 4096 || bytes % 4096
		       ? REFUSED
		       : make(&unused);
}

int cuMemHostUnregister(void *from)
{
	(void)from;
	return give_back();
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream)
{
	(void)stream;
	row_copies = true;
	return to == 4096 && from && bytes == 65536 ? 0 : REFUSED;
}

int cuStreamBeginCapture_v2(void *stream, int mode)
{
	(void)stream, (void)mode;
	return setting("STUB_CUPTI_NO_GRAPHS") ? REFUSED : 0;
}

int cuStreamEndCapture(void *stream, void **graph)
{
	(void)stream;
	return make(graph);
}

int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	(void)graph, (void)flags;
	return make(exec);
}

int cuGraphLaunch(void *exec, void *stream)
{
	(void)exec, (void)stream;
	return 0;
}

int cuGraphExecDestroy(void *exec)
{
	(void)exec;
	return give_back();
}

int cuGraphDestroy(void *graph)
{
	(void)graph;
	return give_back();
}

SHOWN int stub_launches(void);
SHOWN int stub_live(void);
SHOWN int stub_recorded(bool driver);
SHOWN int stub_heard(void);

int stub_launches(void)
{
	return n_launches;
}

int stub_live(void)
{
	return n_live;
}

/* Calls that are still listened to. */
int stub_heard(void)
{
	return n_heard;
}

/* Calls that are given a record. */
int stub_recorded(bool driver)
{
	int n = 0;

	for (int i = 0; i < CALLS; i++)
		n += records_call[driver][i];
	return n;
}

void stub_lose(size_t n)
{
	dropped = n;
}

static bool is_wanted(const void *record, size_t bytes)
{
	struct cupti_api api = { 0 };

	memcpy(&api, record, bytes < sizeof(api) ? bytes : sizeof(api));
	if (api.kind == CUPTI_RUNTIME || api.kind == CUPTI_DRIVER)
		return records_call[api.kind == CUPTI_DRIVER][api.cbid % CALLS];
	return enabled[api.kind % KINDS];
}

void stub_add(const void *record, size_t bytes)
{
	size_t records_max;

	if (!is_wanted(record, bytes))
		return;
	if (buffer && used + RECORD_BYTES > room)
		stub_deliver();
	if (!buffer) {
		request(&buffer, &room, &records_max);
		used = 0;
	}
	memset(buffer + used, 0, RECORD_BYTES);
	memcpy(buffer + used, record, bytes);
	used += RECORD_BYTES;
}
