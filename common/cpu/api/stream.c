/*
 * stream.c - streams as the host sees them; and events, marks in a stream that hosts and other
 * streams wait for.
 */
#include "common/cpu/api/api.h"

#include <sched.h>
#include <stdlib.h>

/* ---- streams --------------------------------------------------------------------------- */

static cudaError_t create_stream(cudaStream_t *stream, unsigned flags)
{
	if (!stream || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking))
		return cudaErrorInvalidValue;
	struct stream *s = stream_new(flags == cudaStreamDefault);

	if (!s)
		return cudaErrorMemoryAllocation;
	*stream = handle_open(HANDLE_STREAM, s);
	if (*stream)
		return cudaSuccess;
	stream_quit(s);
	stream_unref(s);
	return cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	CALL(other);
	return result(create_stream(stream, flags));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	CALL(other);
	return result(create_stream(stream, cudaStreamDefault));
}

/* A priority outside the range is brought into it, and here the range is 0 alone. */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	CALL(other);
	(void)priority;
	return result(create_stream(stream, flags));
}

/* Returns at once; what is queued still runs. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	CALL(other);
	struct stream *s = handle_close(HANDLE_STREAM, stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	capture_drop(s);
	stream_quit(s);
	stream_unref(s);
	return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	INJECT();
	if (!call_stream(stream))
		return result(cudaErrorInvalidResourceHandle);
	if (!priority)
		return result(cudaErrorInvalidValue);
	*priority = 0;
	return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
	INJECT();
	const struct stream *s = call_stream(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!flags)
		return result(cudaErrorInvalidValue);
	*flags = s->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
	return cudaSuccess;
}

/* ---- waiting for one ------------------------------------------------------------------- */

static cudaError_t may_wait(struct stream *s)
{
	if (!s)
		return cudaErrorInvalidResourceHandle;
	if (in_host_function)
		return cudaErrorNotPermitted;
	if (stream_captures(s))
		return capture_forbids(s);
	cudaError_t error = legacy_call(s);

	return error ? error : unsafe_call();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	CALL(sync_stream);
	struct stream *s = call_stream(stream);
	cudaError_t error = may_wait(s);

	if (error)
		return result(error);
	/* The default stream is behind all blocking ones, so waiting for it is waiting for them. */
	if (stream_is_null(s))
		streams_wait_all(true);
	else
		stream_wait(s);
	return charge(COST_SYNC, cudaSuccess);
}

static void find_busy(struct stream *s, void *arg)
{
	bool *busy = arg;

	if (s->blocking && !stream_done(s))
		*busy = true;
}

/* An answer, not an error to remember. Who polls may be on the core that the device waits for. */
static cudaError_t not_ready(void)
{
	enum { ANSWERS_PER_YIELD = 1024 };
	static _Thread_local unsigned answers;

	if (++answers % ANSWERS_PER_YIELD == 0)
		sched_yield();
	return cudaErrorNotReady;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	CALL(query);
	struct stream *s = call_stream(stream);
	cudaError_t error = may_wait(s);
	bool busy = false;

	if (error)
		return result(error);
	if (stream_is_null(s))
		streams_each(find_busy, &busy);
	else
		busy = !stream_done(s);
	return busy ? not_ready() : cudaSuccess;
}

/* ---- events ---------------------------------------------------------------------------- */

static cudaError_t create_event(cudaEvent_t *event, unsigned flags)
{
	static atomic_uint n_events;

	if (!event || flags & ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming))
		return cudaErrorInvalidValue;
	struct event *e = calloc(1, sizeof(*e));

	if (!e)
		return cudaErrorMemoryAllocation;
	e->flags = flags;
	e->number = 1 + atomic_fetch_add(&n_events, 1);
	atomic_init(&e->n_refs, 1);
	*event = handle_open(HANDLE_EVENT, e);
	if (*event)
		return cudaSuccess;
	free(e);
	return cudaErrorMemoryAllocation;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	CALL(other);
	return result(create_event(event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	CALL(other);
	return result(create_event(event, cudaEventDefault));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	CALL(other);
	struct event *e = handle_close(HANDLE_EVENT, event);

	if (!e)
		return result(cudaErrorInvalidResourceHandle);
	event_unref(e);
	return cudaSuccess;
}

/* ---- events in streams ----------------------------------------------------------------- */

static struct op *event_op(struct stream *s, enum op_kind kind, struct event *e)
{
	struct op *op = stream_new_op(s);

	if (!op)
		return NULL;
	event_ref(e);
	op->kind = kind;
	op->event.event = e;
	op->event.point = (struct stream_point){ NULL, 0 };
	return op;
}

/* Not captured. The number orders records of several threads: event_move() takes none back. */
static cudaError_t put_record(struct stream *s, struct event *e)
{
	struct op *op = event_op(s, OP_RECORD, e);

	if (!op)
		return cudaErrorMemoryAllocation;
	e->point.id = 0;
	uint64_t record = op->event.record = atomic_fetch_add(&e->recorded, 1) + 1;

	call_tells_event(e);
	TS_RELEASE(&op->tag);
	stream_ref(s);
	event_move(e, record, (struct stream_point){ s, stream_queue(s, op) });
	return cudaSuccess;
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream, bool external)
{
	struct event *e = handle_object(HANDLE_EVENT, event);
	struct stream *s = call_stream(stream);

	if (!e || !s)
		return cudaErrorInvalidResourceHandle;
	cudaError_t error = stream_accepts(s);

	if (error)
		return error;
	if (external) /* would be a node that records at each launch */
		return stream_captures(s) ? cudaErrorNotSupported : cudaErrorInvalidValue;
	if (stream_captures(s))
		return capture_mark(s, &e->point); /* not an operation */
	return put_record(s, e);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	CALL(record);
	return result(record(event, stream, false));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	CALL(record);
	if (flags & ~(unsigned)cudaEventRecordExternal)
		return result(cudaErrorInvalidValue);
	return result(record(event, stream, flags == cudaEventRecordExternal));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	CALL(wait_event);
	struct event *e = handle_object(HANDLE_EVENT, event);
	struct stream *s = call_stream(stream);

	if (!e || !s)
		return result(cudaErrorInvalidResourceHandle);
	if (flags != cudaEventWaitDefault)
		return result(cudaErrorInvalidValue);
	cudaError_t error = stream_accepts(s);

	if (error)
		return result(error);
	call_tells_event(e);
	if (stream_captures(s) || e->point.id)
		return result(capture_wait(s, &e->point, e->recorded));
	struct op *op = event_op(s, OP_WAIT, e);

	if (!op)
		return result(cudaErrorMemoryAllocation);
	op->event.point = event_point(e);
	return result(stream_submit(s, op));
}

/* ---- events for the host --------------------------------------------------------------- */

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
	CALL(sync_event);
	struct event *e = handle_object(HANDLE_EVENT, event);
	cudaError_t error = may_ask(e);

	if (error)
		return result(error);
	call_tells_event(e);
	int64_t spin_ns = e->flags & cudaEventBlockingSync ? 0 : host_spin_ns;
	struct stream_point p = event_point(e);

	if (p.stream) {
		progress_wait(&p.stream->done, p.count, spin_ns);
		stream_unref(p.stream);
	}
	TS_ACQUIRE(&e->tag);
	return charge(COST_SYNC, cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	CALL(query);
	struct event *e = handle_object(HANDLE_EVENT, event);
	cudaError_t error = may_ask(e);

	if (error)
		return result(error);
	call_tells_event(e);
	return event_reached(e) ? cudaSuccess : not_ready();
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
	if (!event_reached(a) || !event_reached(b))
		return cudaErrorNotReady;
	*ms = (float)((double)(b->time_ns - a->time_ns) * 1e-6);
	return cudaSuccess;
}
