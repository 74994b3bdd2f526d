/*
 * event.c - events: marks in a stream that hosts and other streams wait for.
 *
 * Each record has a number. Who waits takes the number of the last record at the call, as CUDA
 * promises: a later record does not concern him.
 */
#include "common/cpu/base/base.h"

#include <stdlib.h>
#include <string.h>

struct event {
	struct progress done; /* number of the last record that was reached */
	atomic_uint_least64_t recorded;
	struct capture_point point;   /* where a capture recorded it last */
	atomic_int_least64_t time_ns; /* when the last record was reached */
	unsigned flags;
	char tag; /* orders what came before the record before who waits */
	atomic_int n_refs;
};

static void event_ref(struct event *e)
{
	atomic_fetch_add_explicit(&e->n_refs, 1, memory_order_relaxed);
}

void event_unref(struct event *e)
{
	if (atomic_fetch_sub_explicit(&e->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	nodes_clear(&e->point.nodes);
	free(e);
}

void event_record(struct event *e, uint64_t generation)
{
	TS_RELEASE(&e->tag);
	if (!(e->flags & cudaEventDisableTiming))
		atomic_store(&e->time_ns, clock_ns());
	progress_raise(&e->done, generation);
}

void event_await(struct event *e, uint64_t generation)
{
	progress_wait(&e->done, generation, config()->spin_ns);
	TS_ACQUIRE(&e->tag);
}

/* ---- life ------------------------------------------------------------------------------- */

static cudaError_t create(cudaEvent_t *event, unsigned flags)
{
	if (!event || flags & ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming))
		return cudaErrorInvalidValue;
	struct event *e = calloc(1, sizeof(*e));

	if (!e)
		return cudaErrorMemoryAllocation;
	e->flags = flags;
	progress_init(&e->done);
	atomic_init(&e->n_refs, 1);
	*event = handle_open(HANDLE_EVENT, e);
	if (*event)
		return cudaSuccess;
	free(e);
	return cudaErrorMemoryAllocation;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	INJECT();
	return result(create(event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	INJECT();
	return result(create(event, cudaEventDefault));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	INJECT();
	struct event *e = handle_close(HANDLE_EVENT, event);

	if (!e)
		return result(cudaErrorInvalidResourceHandle);
	event_unref(e);
	return cudaSuccess;
}

void events_close_all(void)
{
	for (struct event *e; (e = handle_close_any(HANDLE_EVENT));)
		event_unref(e);
}

/* ---- in streams ------------------------------------------------------------------------- */

static cudaError_t submit(struct stream *s, enum op_kind kind, struct event *e, uint64_t generation)
{
	struct op *op = stream_new_op(s);

	if (!op)
		return cudaErrorMemoryAllocation;
	event_ref(e);
	op->kind = kind;
	op->event.event = e;
	op->event.generation = generation;
	return stream_submit(s, op);
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream, bool external)
{
	struct event *e = handle_object(HANDLE_EVENT, event);
	struct stream *s = stream_find(stream);

	if (!e || !s)
		return cudaErrorInvalidResourceHandle;
	cudaError_t error = stream_accepts(s);

	if (error)
		return error;
	if (external) /* would be a node that records at each launch */
		return stream_captures(s) ? cudaErrorNotSupported : cudaErrorInvalidValue;
	if (stream_captures(s))
		return capture_mark(s, &e->point); /* not an operation */
	/* The number is taken now, so that waits from here on mean this record. */
	e->point.id = 0;
	return submit(s, OP_RECORD, e, atomic_fetch_add(&e->recorded, 1) + 1);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	INJECT();
	return result(record(event, stream, false));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	INJECT();
	if (flags & ~(unsigned)cudaEventRecordExternal)
		return result(cudaErrorInvalidValue);
	return result(record(event, stream, flags == cudaEventRecordExternal));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	INJECT();
	struct event *e = handle_object(HANDLE_EVENT, event);
	struct stream *s = stream_find(stream);

	if (!e || !s)
		return result(cudaErrorInvalidResourceHandle);
	if (flags != cudaEventWaitDefault)
		return result(cudaErrorInvalidValue);
	cudaError_t error = stream_accepts(s);

	if (error)
		return result(error);
	if (stream_captures(s) || e->point.id)
		return result(capture_wait(s, &e->point, e->recorded));
	return result(submit(s, OP_WAIT, e, e->recorded));
}

/* ---- for the host ----------------------------------------------------------------------- */

/* Asking about an event is one of the calls that captures in global mode forbid. */
static cudaError_t may_ask(const struct event *e)
{
	if (!e)
		return cudaErrorInvalidResourceHandle;
	cudaError_t error = captured_event_call(e->point.id);

	return error ? error : unsafe_call();
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	INJECT();
	struct event *e = handle_object(HANDLE_EVENT, event);
	cudaError_t error = may_ask(e);

	if (error)
		return result(error);
	int64_t spin_ns = e->flags & cudaEventBlockingSync ? 0 : host_spin_ns;

	progress_wait(&e->done, e->recorded, spin_ns);
	TS_ACQUIRE(&e->tag);
	return charge(COST_SYNC, cudaSuccess);
}

static bool reached(struct event *e)
{
	bool done = progress_passed(&e->done, e->recorded);

	if (done)
		TS_ACQUIRE(&e->tag);
	return done;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	INJECT();
	struct event *e = handle_object(HANDLE_EVENT, event);
	cudaError_t error = may_ask(e);

	if (error)
		return result(error);
	return reached(e) ? cudaSuccess : cudaErrorNotReady;
}

/* Times are taken when the stream gets there, not when the host calls. */
static bool was_timed(const struct event *e)
{
	return e && e->recorded && !(e->flags & cudaEventDisableTiming);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	INJECT();
	struct event *a = handle_object(HANDLE_EVENT, start);
	struct event *b = handle_object(HANDLE_EVENT, end);

	if (!ms)
		return result(cudaErrorInvalidValue);
	if (a && b && (a->point.id || b->point.id))
		return result(cudaErrorCapturedEvent);
	if (!was_timed(a) || !was_timed(b))
		return result(cudaErrorInvalidResourceHandle);
	if (!reached(a) || !reached(b))
		return cudaErrorNotReady;
	*ms = (float)((double)(b->time_ns - a->time_ns) * 1e-6);
	return cudaSuccess;
}
