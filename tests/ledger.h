/*
 * ledger.h - counts what a test program takes from the CUDA runtime and has not given back.
 *
 * For one source of a test program: it defines the runtime's functions that make or destroy
 * something, and these call the real ones. Free memory, the other way to see a leak, also
 * changes with every other program on the machine. Known are the functions that the CPU device
 * has; what others make (arrays, pools) is not counted.
 */
#ifndef RIFT_TESTS_LEDGER_H
#define RIFT_TESTS_LEDGER_H

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum ledger_kind {
	LEDGER_DEVICE_MEMORY,
	LEDGER_HOST_MEMORY,
	LEDGER_REGISTERED,
	LEDGER_STREAM,
	LEDGER_EVENT,
	LEDGER_GRAPH,
	LEDGER_EXEC,
	LEDGER_KINDS
};

static atomic_int ledger_count[LEDGER_KINDS];

/* How many times device memory is still given; less than 0: always. A device that is really full
 * would be so for every other program, too. */
static atomic_int ledger_room = -1;

static inline bool ledger_refuses(enum ledger_kind kind, int change)
{
	return kind == LEDGER_DEVICE_MEMORY && change > 0 && ledger_room >= 0 &&
	       atomic_fetch_sub(&ledger_room, 1) == 0 && !(ledger_room = 0);
}

/*
 * What has not been given back: "2 device memory, 1 stream", or "" for nothing. Less than 0: more
 * was destroyed than had been made. Static memory, until the next call.
 */
static inline const char *ledger_open(void)
{
	static const char *const name[LEDGER_KINDS] = {
		"device memory", "pinned memory", "registered memory", "stream",
		"event",	 "graph",	  "executable graph"
	};
	static char text[256];
	int n = 0;

	text[0] = '\0';
	for (int kind = 0; kind < LEDGER_KINDS; kind++)
		if (ledger_count[kind])
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%d %s", n ? ", " : "",
				      ledger_count[kind], name[kind]);
	return text;
}

static inline void *ledger_next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f) {
		fprintf(stderr, "ledger: %s\n", dlerror());
		abort();
	}
	return f;
}

/* LEDGER(kind, change, what counts as one, function, its parameters, its arguments) */
#define LEDGER(kind, change, counts, name, parameters, arguments)                                  \
	cudaError_t name parameters                                                                \
	{                                                                                          \
		cudaError_t(*real) parameters = (cudaError_t(*) parameters)ledger_next(#name);     \
		cudaError_t error = ledger_refuses(LEDGER_##kind, change)                          \
					    ? cudaErrorMemoryAllocation                            \
					    : real arguments;                                      \
                                                                                                   \
		if (!error && (counts))                                                            \
			atomic_fetch_add(&ledger_count[LEDGER_##kind], change);                    \
		return error;                                                                      \
	}
#define LEDGER_TAKES(kind, made, ...) LEDGER(kind, 1, *(made), __VA_ARGS__)
#define LEDGER_GIVES(kind, back, ...) LEDGER(kind, -1, back, __VA_ARGS__)

/* ---- memory: nothing asked is nothing taken --------------------------------------------- */

LEDGER_TAKES(DEVICE_MEMORY, ptr, cudaMalloc, (void **ptr, size_t bytes), (ptr, bytes))
LEDGER_TAKES(DEVICE_MEMORY, ptr, cudaMallocAsync, (void **ptr, size_t bytes, cudaStream_t stream),
	     (ptr, bytes, stream))
LEDGER_GIVES(DEVICE_MEMORY, ptr, cudaFree, (void *ptr), (ptr))
LEDGER_GIVES(DEVICE_MEMORY, ptr, cudaFreeAsync, (void *ptr, cudaStream_t stream), (ptr, stream))
LEDGER_TAKES(HOST_MEMORY, ptr, cudaMallocHost, (void **ptr, size_t bytes), (ptr, bytes))
LEDGER_TAKES(HOST_MEMORY, ptr, cudaHostAlloc, (void **ptr, size_t bytes, unsigned flags),
	     (ptr, bytes, flags))
LEDGER_GIVES(HOST_MEMORY, ptr, cudaFreeHost, (void *ptr), (ptr))
LEDGER_TAKES(REGISTERED, &ptr, cudaHostRegister, (void *ptr, size_t bytes, unsigned flags),
	     (ptr, bytes, flags))
LEDGER_GIVES(REGISTERED, ptr, cudaHostUnregister, (void *ptr), (ptr))

/* ---- handles ---------------------------------------------------------------------------- */

LEDGER_TAKES(STREAM, stream, cudaStreamCreate, (cudaStream_t * stream), (stream))
LEDGER_TAKES(STREAM, stream, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
	     (stream, flags))
LEDGER_TAKES(STREAM, stream, cudaStreamCreateWithPriority,
	     (cudaStream_t * stream, unsigned flags, int priority), (stream, flags, priority))
LEDGER_GIVES(STREAM, stream, cudaStreamDestroy, (cudaStream_t stream), (stream))
LEDGER_TAKES(EVENT, event, cudaEventCreate, (cudaEvent_t * event), (event))
LEDGER_TAKES(EVENT, event, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags),
	     (event, flags))
LEDGER_GIVES(EVENT, event, cudaEventDestroy, (cudaEvent_t event), (event))
LEDGER_TAKES(GRAPH, graph, cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph),
	     (stream, graph))
LEDGER_GIVES(GRAPH, graph, cudaGraphDestroy, (cudaGraph_t graph), (graph))
LEDGER_TAKES(EXEC, exec, cudaGraphInstantiate,
	     (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
	     (exec, graph, flags))
LEDGER_GIVES(EXEC, exec, cudaGraphExecDestroy, (cudaGraphExec_t exec), (exec))

#endif
