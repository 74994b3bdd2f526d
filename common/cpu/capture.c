/*
 * capture.c - turning what is submitted to a stream into a graph, and what may not be called
 * meanwhile. A capture is linear here: it stays on the stream where it began.
 */
#include "runtime.h"

static atomic_uint_least64_t n_captures; /* ever begun */
static atomic_int n_open;		 /* begun and not ended */

/* Its address tells threads apart. */
static __thread char this_thread;

/* What a call does that some captures cannot bear. */
struct breach {
	enum { UNSAFE, LEGACY, DEVICE_WIDE, CAPTURED_EVENT } kind;
	uint64_t id; /* CAPTURED_EVENT: the capture of the event */
	bool found;
};

/* Which captures a call breaks; as CUDA 13.0 did on an H200. */
static bool forbidden_by(const struct stream *s, const struct breach *b)
{
	const struct capture *c = &s->capture;

	if (c->status == cudaStreamCaptureStatusNone)
		return false;
	switch (b->kind) {
	case DEVICE_WIDE:
		return true;
	case LEGACY:
		return c->status == cudaStreamCaptureStatusActive && s->blocking;
	case CAPTURED_EVENT:
		return c->id == b->id;
	case UNSAFE:
		break;
	}
	return c->status == cudaStreamCaptureStatusActive &&
	       (c->mode == cudaStreamCaptureModeGlobal ||
		(c->mode == cudaStreamCaptureModeThreadLocal && c->thread == &this_thread));
}

static void look_for_breach(struct stream *s, void *arg)
{
	struct breach *b = arg;

	if (!forbidden_by(s, b))
		return;
	s->capture.status = cudaStreamCaptureStatusInvalidated;
	b->found = true;
}

/* Invalidates the captures that the call breaks; false when there are none. */
static bool breaks_capture(struct breach b)
{
	if (!atomic_load_explicit(&n_open, memory_order_relaxed))
		return false; /* nearly always: spares every call the walk over the streams */
	streams_each(look_for_breach, &b);
	return b.found;
}

cudaError_t unsafe_call(void)
{
	if (in_host_function)
		return cudaErrorNotPermitted;
	if (breaks_capture((struct breach){ .kind = UNSAFE }))
		return cudaErrorStreamCaptureUnsupported;
	return cudaSuccess;
}

cudaError_t device_wide_call(void)
{
	if (in_host_function)
		return cudaErrorNotPermitted;
	if (breaks_capture((struct breach){ .kind = DEVICE_WIDE }))
		return cudaErrorStreamCaptureUnsupported;
	return cudaSuccess;
}

cudaError_t legacy_call(struct stream *s)
{
	if (stream_is_null(s) && breaks_capture((struct breach){ .kind = LEGACY }))
		return cudaErrorStreamCaptureImplicit;
	return cudaSuccess;
}

/* An event whose capture has ended stands for nothing until it is recorded again. */
cudaError_t captured_event_call(uint64_t id)
{
	if (!id)
		return cudaSuccess;
	if (breaks_capture((struct breach){ .kind = CAPTURED_EVENT, .id = id }))
		return cudaErrorCapturedEvent;
	return cudaErrorInvalidValue;
}

struct search {
	uint64_t id;
	bool found;
};

static void look_for_capture(struct stream *s, void *arg)
{
	struct search *search = arg;

	if (s->capture.status != cudaStreamCaptureStatusNone && s->capture.id == search->id)
		search->found = true;
}

bool capture_is_open(uint64_t id)
{
	struct search search = { .id = id };

	streams_each(look_for_capture, &search);
	return search.found;
}

void capture_spoil(struct stream *s)
{
	if (s->capture.status == cudaStreamCaptureStatusActive)
		s->capture.status = cudaStreamCaptureStatusInvalidated;
}

cudaError_t capture_forbids(struct stream *s)
{
	s->capture.status = cudaStreamCaptureStatusInvalidated;
	return cudaErrorStreamCaptureUnsupported;
}

void capture_drop(struct stream *s)
{
	if (s->capture.status == cudaStreamCaptureStatusNone)
		return;
	graph_free(s->capture.graph);
	s->capture.graph = NULL;
	s->capture.status = cudaStreamCaptureStatusNone;
	atomic_fetch_sub(&n_open, 1);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
		return result(cudaErrorInvalidValue);
	if (stream_is_null(s))
		return result(cudaErrorStreamCaptureUnsupported);
	if (s->capture.status != cudaStreamCaptureStatusNone)
		return result(cudaErrorIllegalState);
	s->capture.graph = graph_new();
	if (!s->capture.graph)
		return result(cudaErrorMemoryAllocation);
	s->capture.mode = mode;
	s->capture.thread = &this_thread;
	s->capture.id = atomic_fetch_add(&n_captures, 1) + 1;
	s->capture.status = cudaStreamCaptureStatusActive;
	atomic_fetch_add(&n_open, 1);
	return cudaSuccess;
}

/* Ends the capture all the same, as CUDA does. */
static bool wrong_thread(const struct capture *c)
{
	return c->mode != cudaStreamCaptureModeRelaxed && c->thread != &this_thread;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!graph)
		return result(cudaErrorInvalidValue);
	*graph = NULL; /* also after an error */
	if (s->capture.status == cudaStreamCaptureStatusNone)
		return result(cudaErrorIllegalState);
	bool valid = s->capture.status == cudaStreamCaptureStatusActive;

	bool foreign = valid && wrong_thread(&s->capture);

	if (valid && !foreign) {
		*graph = handle_open(HANDLE_GRAPH, s->capture.graph);
		if (*graph)
			s->capture.graph = NULL; /* the handle has it now */
	}
	capture_drop(s);
	if (!valid)
		return result(cudaErrorStreamCaptureInvalidated);
	if (foreign)
		return result(cudaErrorStreamCaptureWrongThread);
	return result(*graph ? cudaSuccess : cudaErrorMemoryAllocation);
}

static void find_blocking_capture(struct stream *s, void *arg)
{
	if (s->blocking && s->capture.status != cudaStreamCaptureStatusNone)
		*(bool *)arg = true;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	struct stream *s = stream_find(stream);
	bool implicit = false;

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!status)
		return result(cudaErrorInvalidValue);
	if (stream_is_null(s))
		streams_each(find_blocking_capture, &implicit);
	if (implicit)
		return result(cudaErrorStreamCaptureImplicit);
	*status = s->capture.status;
	return cudaSuccess;
}
