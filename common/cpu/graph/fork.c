/*
 * fork.c - what a capture takes in: operations, records of events, and streams that wait for
 * them and thereby join.
 */
#include "common/cpu/base/base.h"

cudaError_t capture_add(struct stream *s, struct op *op)
{
	cudaError_t error = cudaErrorStreamCaptureInvalidated;

	lock_acquire(&capture_lock);
	struct capture *c = s->capture;

	if (c && c->status == cudaStreamCaptureStatusActive)
		error = graph_add(c->graph, op, &s->frontier) ? cudaSuccess
							      : cudaErrorMemoryAllocation;
	if (c && error)
		c->status = cudaStreamCaptureStatusInvalidated;
	lock_release(&capture_lock);
	if (error)
		op_free(op);
	return error;
}

cudaError_t capture_mark(struct stream *s, struct capture_point *p)
{
	cudaError_t error = cudaErrorStreamCaptureInvalidated;

	lock_acquire(&capture_lock);
	if (s->capture) {
		nodes_clear(&p->nodes);
		p->id = s->capture->id;
		error = nodes_merge(&p->nodes, &s->frontier) ? cudaSuccess
							     : cudaErrorMemoryAllocation;
	}
	lock_release(&capture_lock);
	return error;
}

/* Waiting for work outside would make the graph depend on something that is not in it. */
static cudaError_t wait_inside(struct stream *s, struct capture *other,
			       const struct capture_point *p, bool recorded)
{
	if (other == s->capture)
		return nodes_merge(&s->frontier, &p->nodes) ? cudaSuccess
							    : cudaErrorMemoryAllocation;
	if (!p->id && !recorded)
		return cudaSuccess;
	s->capture->status = cudaStreamCaptureStatusInvalidated;
	if (!other)
		return cudaErrorStreamCaptureIsolation;
	other->status = cudaStreamCaptureStatusInvalidated;
	return cudaErrorStreamCaptureMerge;
}

static cudaError_t join(struct capture *c, struct stream *s, const struct capture_point *p)
{
	if (c->status == cudaStreamCaptureStatusInvalidated)
		return cudaErrorStreamCaptureInvalidated;
	if (stream_is_null(s)) { /* cannot be captured */
		c->status = cudaStreamCaptureStatusInvalidated;
		return cudaErrorStreamCaptureUnsupported;
	}
	if (!nodes_merge(&s->frontier, &p->nodes))
		return cudaErrorMemoryAllocation;
	capture_enter(c, s);
	return cudaSuccess;
}

cudaError_t capture_wait(struct stream *s, const struct capture_point *p, bool recorded)
{
	cudaError_t error = cudaErrorInvalidValue; /* of a capture that has ended */

	lock_acquire(&capture_lock);
	struct capture *c = capture_find(p->id);

	if (s->capture)
		error = wait_inside(s, c, p, recorded);
	else if (c)
		error = join(c, s, p);
	lock_release(&capture_lock);
	return error;
}
