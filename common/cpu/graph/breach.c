/* breach.c - what may not be called while streams are captured, and what such a call spoils. */
#include "common/cpu/base/base.h"

/* What a call does that some captures cannot bear. */
struct breach {
	enum { UNSAFE, LEGACY, DEVICE_WIDE, CAPTURED_EVENT } kind;
	uint64_t id; /* CAPTURED_EVENT: the capture of the event */
};

/* Which captures a call breaks; as CUDA 13.0 did on an H200. */
static bool breaks(const struct capture *c, const void *arg)
{
	const struct breach *b = arg;
	bool active = c->status == cudaStreamCaptureStatusActive;

	switch (b->kind) {
	case DEVICE_WIDE:
		return true;
	case LEGACY:
		return active && c->n_blocking;
	case CAPTURED_EVENT:
		return c->id == b->id;
	case UNSAFE:
		break;
	}
	/* Valid or not, it is under way until it is ended. */
	return c->mode == cudaStreamCaptureModeGlobal ||
	       (c->mode == cudaStreamCaptureModeThreadLocal && c->thread == this_thread());
}

static bool breaks_capture(struct breach b)
{
	return captures_find(breaks, &b, true);
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

static bool has_blocking_stream(const struct capture *c, const void *unused)
{
	(void)unused;
	return c->n_blocking;
}

cudaError_t capture_ask_legacy(struct stream *s)
{
	if (stream_is_null(s) && captures_find(has_blocking_stream, NULL, false))
		return cudaErrorStreamCaptureImplicit;
	return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	INJECT();
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!status)
		return result(cudaErrorInvalidValue);
	cudaError_t error = capture_ask_legacy(s);

	if (!error)
		*status = capture_status(s);
	return result(error);
}
