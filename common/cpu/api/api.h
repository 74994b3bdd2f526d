/*
 * api.h - the highest floor of the CPU device: the functions of CUDA's runtime (internal).
 *
 * include/cuda_runtime_api.h is what this floor offers. A function here looks at its arguments,
 * asks the floors below to do what it says, and returns their error:
 *
 *   cudaError_t cudaThing(struct thing *t)
 *   {
 *           CALL(alloc);
 *           return charge(COST_ALLOC, result(thing(t)));
 *   }
 *
 * result() remembers the error for cudaGetLastError; charge() spends what the settings say that
 * the call costs. No function here calls another of CUDA's.
 */
#ifndef RIFT_CPU_API_H
#define RIFT_CPU_API_H

#include "common/cpu/graph/graph.h"

/* ---- what memory.c knows of copies ----------------------------------------------------- */

/* Checks the pointers against the kind and the table of allocations. */
cudaError_t copy_check(struct transfer *t, enum cudaMemcpyKind kind);
cudaError_t set_check(struct transfer *t);

/*
 * The first line of every call of the interface: returns the error that RIFT_CPU_FAIL has for it,
 * before the call has done anything.
 */
#define INJECT()                                                                                   \
	do {                                                                                       \
		cudaError_t injected_ = injects ? injected_error(__func__) : cudaSuccess;          \
		if (injected_)                                                                     \
			return result(injected_);                                                  \
	} while (0)

/*
 * The same for calls that a trace has, of that class (common/recorder): the row ends when the
 * function returns, and holds what it tells of itself by the functions below.
 */
#define CALL(class)                                                                                \
	INJECT();                                                                                  \
	__attribute__((cleanup(call_end), unused)) char row_ = 0;                                  \
	recorder_call_begin(TRACE_CLASS_##class, __func__)

static inline void call_end(const char *unused)
{
	(void)unused;
	recorder_call_end();
}

/* The stream of a handle, which the call is about. */
static inline struct stream *call_stream(cudaStream_t handle)
{
	struct stream *s = stream_find(handle);

	if (recorder_has_call() && s) {
		stream_tell(s, recorder_call);
		recorder_call->is_captured = stream_captures(s);
	}
	return s;
}

/* Its event, and the number of the record that it is about. */
static inline void call_tells_event(const struct event *e)
{
	if (recorder_has_call() && e) {
		recorder_call->event = e->number;
		recorder_call->recording = e->recorded;
	}
}

static inline void call_tells_memory(size_t bytes, enum trace_memory memory)
{
	if (recorder_has_call()) {
		recorder_call->bytes = bytes;
		recorder_call->memory = (uint8_t)memory;
	}
}

static inline void call_is_async(void)
{
	if (recorder_has_call())
		recorder_call->is_async = true;
}

static inline void call_tells_graph(const struct exec *x)
{
	if (recorder_has_call()) {
		recorder_call->graph = x->number;
		recorder_call->nodes = (uint32_t)x->body->n_ops;
		recorder_call->kernels = (uint32_t)x->body->n_kernels;
	}
}

#endif
