/*
 * calls.c - the library that is preloaded where CUPTI is refused: calls of the shared CUDA runtime
 * and their times on the host become the trace that RIFT_TRACE names. What the device does is not
 * known.
 *
 * Arguments are passed on as words, as registers and stack hold them, so that no version's
 * signatures are needed. It does not see a statically linked runtime, nor the one that a library
 * such as NVIDIA's cuBLAS brings along.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdlib.h>

#include "common/recorder/preload/handles.h"
#include "common/recorder/recorder.h"
#include "layers/interpose.h"

#define SHOWN __attribute__((visibility("default")))

enum { WORDS = 8, NONE = -1, NOT_RECORDED = -1 };

enum call {
#define PRELOAD_CALL(class, function, words, stream, event, bytes, memory, async) CALLED_##function,
#include "common/recorder/preload/calls.h"
#undef PRELOAD_CALL
	CALLS
};

static const struct row {
	const char *name;
	enum runtime_call next;
	enum trace_class class;
	int words, stream, event, bytes;
	enum trace_memory memory;
	bool is_async;
} rows[] = {
#define PRELOAD_CALL(class, function, words, stream, event, bytes, memory, async)                  \
	{ #function, CALL_##function, TRACE_CLASS_##class,   words, stream,                        \
	  event,     bytes,	      TRACE_MEMORY_##memory, async },
#include "common/recorder/preload/calls.h"
#undef PRELOAD_CALL
};

/* ---- the recorder's side --------------------------------------------------------------- */

static int ask(enum runtime_call call, void *out)
{
	void *found = runtime_call_next(call);
	int (*get)(void *out, uint64_t device);

	memcpy(&get, &found, sizeof(get));
	return get(out, 0);
}

/* The name comes first in what any version tells of a device. */
static void name_device(char *out, size_t room)
{
	enum { MORE_THAN_ANY = 1 << 14 };
	char *told = calloc(1, MORE_THAN_ANY);

	if (told && !ask(CALL_cudaGetDeviceProperties, told))
		snprintf(out, room, "%s", told);
	free(told);
}

static bool begin(struct recorder_source *s)
{
	name_device(s->device, sizeof(s->device));
	if (ask(CALL_cudaRuntimeGetVersion, &s->runtime))
		s->runtime = 0;
	if (ask(CALL_cudaDriverGetVersion, &s->driver))
		s->driver = 0;
	return true;
}

static struct recorder_source source = {
	.name = "calls",
	.begin = begin,
	.is_ordered = true,
	.has_no_times = true,
};

static bool per_thread[CALLS]; /* the variant on the thread's own default stream */

/* At the first call, as shells and the like never make one. */
static void load(void)
{
	for (int i = 0; i < CALLS; i++) {
		const char *end = rows[i].name + strlen(rows[i].name) - strlen("_ptsz");

		per_thread[i] = !strcmp(end, "_ptsz") || !strcmp(end, "_ptds");
	}
	recorder_load(&source);
}

/* ---- what a call tells ----------------------------------------------------------------- */

static __thread int depth;    /* calls that this thread is in */
static __thread int captures; /* that it has begun and not ended */

/* The default stream's handles: 0 is one of these two, by the variant. */
enum { LEGACY = 1, PER_THREAD = 2 };

static void tell_stream(struct trace_event *e, const struct row *row, uint64_t handle)
{
	struct handle made = { .kind = TRACE_STREAM_blocking };

	if (!handle)
		handle = per_thread[row - rows] ? PER_THREAD : LEGACY;
	if (handle == LEGACY)
		made.kind = TRACE_STREAM_legacy;
	if (handle == PER_THREAD) {
		made.kind = TRACE_STREAM_per_thread;
		handle = (uintptr_t)&depth; /* one of each thread */
	}
	made = handle_find(HANDLE_STREAM, handle, &made);
	e->stream = made.number;
	e->stream_kind = made.kind;
	e->priority = made.priority;
}

/* cudaLaunchConfig_t has it behind two dim3 and the bytes of shared memory. */
static uint64_t configured_stream(uint64_t config)
{
	enum { AT = 32 };
	uint64_t stream = 0;

	if (config)
		memcpy(&stream, (const char *)(uintptr_t)config + AT, sizeof(stream));
	return stream;
}

static bool has_work(const struct row *row)
{
	return row->class == TRACE_CLASS_launch || row->class == TRACE_CLASS_graph_launch ||
	       row->class == TRACE_CLASS_copy || row->class == TRACE_CLASS_memset ||
	       row->class == TRACE_CLASS_hostfunc;
}

static void tell_event(struct trace_event *e, const struct row *row, uint64_t event)
{
	const struct handle unknown = { .number = 0 };
	struct handle is = row->class == TRACE_CLASS_record
				   ? handle_record(event)
				   : handle_find(HANDLE_EVENT, event, &unknown);

	e->event = is.number;
	e->recording = is.recorded;
}

static void tell(struct trace_event *e, const struct row *row, const uint64_t *w)
{
	static const struct handle unknown = { .number = 0 };
	bool launches = row->class == TRACE_CLASS_launch;
	bool configured = launches && row->stream == NONE;

	if (launches)
		e->kernel = handle_kernel_name(w[configured]);
	if (row->stream != NONE)
		tell_stream(e, row, w[row->stream]);
	else if (configured)
		tell_stream(e, row, configured_stream(w[0]));
	else if (row->class == TRACE_CLASS_copy || row->class == TRACE_CLASS_memset)
		tell_stream(e, row, 0);
	if (row->event != NONE)
		tell_event(e, row, w[row->event]);
	if (row->class == TRACE_CLASS_graph_launch)
		e->graph = handle_find(HANDLE_GRAPH, w[0], &unknown).number;
	e->bytes = row->bytes == NONE ? 0 : w[row->bytes];
	e->memory = (uint8_t)row->memory;
	e->is_async = row->is_async;
	e->is_captured = captures > 0 && has_work(row);
}

/* ---- what is made and goes -------------------------------------------------------------- */

/* What the call has written where its first argument points to. */
static uint64_t written(const uint64_t *w)
{
	uint64_t handle;

	memcpy(&handle, (const void *)(uintptr_t)w[0], sizeof(handle));
	return handle;
}

static void made_stream(const uint64_t *w, uint64_t flags, uint64_t priority)
{
	const struct handle made = {
		.kind = flags & 1 ? TRACE_STREAM_non_blocking : TRACE_STREAM_blocking,
		.priority = (int32_t)priority,
	};

	handle_make(HANDLE_STREAM, written(w), &made);
}

/* The call has succeeded. */
static void keep(enum call call, const uint64_t *w)
{
	static const struct handle made = { .number = 0 };

	switch ((int)call) {
	case CALLED_cudaStreamCreate:
		made_stream(w, 0, 0);
		break;
	case CALLED_cudaStreamCreateWithFlags:
		made_stream(w, w[1], 0);
		break;
	case CALLED_cudaStreamCreateWithPriority:
		made_stream(w, w[1], w[2]);
		break;
	case CALLED_cudaEventCreate:
	case CALLED_cudaEventCreateWithFlags:
		handle_make(HANDLE_EVENT, written(w), &made);
		break;
	case CALLED_cudaGraphInstantiate:
	case CALLED_cudaGraphInstantiateWithFlags:
	case CALLED_cudaGraphInstantiateWithParams:
	case CALLED_cudaGraphInstantiateWithParams_ptsz:
		handle_make(HANDLE_GRAPH, written(w), &made);
		break;
	case CALLED_cudaStreamBeginCapture:
	case CALLED_cudaStreamBeginCapture_ptsz:
	case CALLED_cudaStreamBeginCaptureToGraph:
	case CALLED_cudaStreamBeginCaptureToGraph_ptsz:
		captures++;
		break;
	default:
		break;
	}
}

/* Before the call, as its handle may be another thread's thereafter. */
static void drop(enum call call, const uint64_t *w)
{
	switch ((int)call) {
	case CALLED_cudaStreamDestroy:
		handle_drop(HANDLE_STREAM, w[0]);
		break;
	case CALLED_cudaEventDestroy:
		handle_drop(HANDLE_EVENT, w[0]);
		break;
	case CALLED_cudaGraphExecDestroy:
		handle_drop(HANDLE_GRAPH, w[0]);
		break;
	case CALLED_cudaStreamEndCapture:
	case CALLED_cudaStreamEndCapture_ptsz:
		captures -= captures > 0;
		break;
	case CALLED_cudaProfilerStart:
		recorder_mark(TRACE_MARK_start, NULL);
		break;
	case CALLED_cudaProfilerStop:
		recorder_mark(TRACE_MARK_stop, NULL);
		break;
	default:
		break;
	}
}

/* Where a call goes next. Looking it up takes a while. */
static void *next_of(enum runtime_call call)
{
	static void *next[RUNTIME_CALLS];
	void *found = __atomic_load_n(&next[call], __ATOMIC_ACQUIRE);
	int (*f)(void);

	if (!found) {
		found = runtime_call_next(call);
		memcpy(&f, &found, sizeof(f));
		if (f != runtime_call_missing) /* a plug-in may bring it later */
			__atomic_store_n(&next[call], found, __ATOMIC_RELEASE);
	}
	return found;
}

INTERPOSE_DLSYM

/* ---- calls ------------------------------------------------------------------------------- */

static int make(enum call call, const uint64_t *w)
{
	void *found = next_of(rows[call].next);
	int (*f)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

	/* Words behind a function's own are in registers and on a stack that it does not read. */
	memcpy(&f, &found, sizeof(f));
	return f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}

/* A program does not know the variant: it stands behind the plain one. CUPTI's recorder has no
 * underscores either. */
static const char *plain_name(const struct row *row)
{
	const char *name = per_thread[row - rows] ? row[-1].name : row->name;

	return name + strspn(name, "_");
}

static int record(enum call call, const uint64_t *w)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct row *row = &rows[call];
	int64_t entered, before_ns = NOT_RECORDED;
	int err;

	pthread_once(&once, load);
	if (!__atomic_load_n(&recorder_state, __ATOMIC_RELAXED) || depth)
		return make(call, w);
	depth++;
	entered = recorder_now();
	drop(call, w);
	recorder_call_begin(row->class, plain_name(row));
	if (recorder_has_call()) {
		tell(recorder_call, row, w);
		recorder_call_begins();
		before_ns = recorder_call->t0 - entered;
	}
	err = make(call, w);
	recorder_call_end();
	if (!err)
		keep(call, w);
	if (before_ns != NOT_RECORDED)
		recorder_call_done(before_ns);
	depth--;
	return err;
}

/* ---- kernels' names ---------------------------------------------------------------------- */

SHOWN void __cudaRegisterFunction(void **image, const void *function, char *device_function,
				  const char *name, int threads, void *tid, void *bid, void *block,
				  void *grid, int *warp);
SHOWN int __cudaGetKernel(void **kernel, const void *function);
SHOWN int cudaGetKernel(void **kernel, const void *function);

/* As constructors of nvcc's objects call it, with the mangled name that CUPTI has, too. */
void __cudaRegisterFunction(void **image, const void *function, char *device_function,
			    const char *name, int threads, void *tid, void *bid, void *block,
			    void *grid, int *warp)
{
	void *found = next_of(CALL___cudaRegisterFunction);
	void (*next)(void **, const void *, char *, const char *, int, void *, void *, void *,
		     void *, int *);

	memcpy(&next, &found, sizeof(next));
	handle_name_kernel((uintptr_t)function, name);
	next(image, function, device_function, name, threads, tid, bid, block, grid, warp);
}

static int get_kernel(enum runtime_call call, void **kernel, const void *function)
{
	void *found = next_of(call);
	int (*next)(void **, const void *);
	int err;

	memcpy(&next, &found, sizeof(next));
	err = next(kernel, function);
	if (!err)
		handle_like_kernel((uintptr_t)*kernel, (uintptr_t)function);
	return err;
}

int __cudaGetKernel(void **kernel, const void *function)
{
	return get_kernel(CALL___cudaGetKernel, kernel, function);
}

int cudaGetKernel(void **kernel, const void *function)
{
	return get_kernel(CALL_cudaGetKernel, kernel, function);
}

/* ---- the functions ------------------------------------------------------------------------ */

/* w: words[i]; a function has as many parameters as its row has words. */
#define PARAMETERS_0 void
#define PARAMETERS_1 uint64_t a
#define PARAMETERS_2 PARAMETERS_1, uint64_t b
#define PARAMETERS_3 PARAMETERS_2, uint64_t c
#define PARAMETERS_4 PARAMETERS_3, uint64_t d
#define PARAMETERS_5 PARAMETERS_4, uint64_t e
#define PARAMETERS_6 PARAMETERS_5, uint64_t f
#define PARAMETERS_7 PARAMETERS_6, uint64_t g
#define PARAMETERS_8 PARAMETERS_7, uint64_t h
#define ARGUMENTS_0 0
#define ARGUMENTS_1 a
#define ARGUMENTS_2 ARGUMENTS_1, b
#define ARGUMENTS_3 ARGUMENTS_2, c
#define ARGUMENTS_4 ARGUMENTS_3, d
#define ARGUMENTS_5 ARGUMENTS_4, e
#define ARGUMENTS_6 ARGUMENTS_5, f
#define ARGUMENTS_7 ARGUMENTS_6, g
#define ARGUMENTS_8 ARGUMENTS_7, h

#define PRELOAD_CALL(class, function, words, stream, event, bytes, memory, async)                  \
	SHOWN int function(PARAMETERS_##words);                                                    \
	int function(PARAMETERS_##words)                                                           \
	{                                                                                          \
		const uint64_t w[WORDS] = { ARGUMENTS_##words };                                   \
                                                                                                   \
		return record(CALLED_##function, w);                                               \
	}
#include "common/recorder/preload/calls.h"
#undef PRELOAD_CALL
