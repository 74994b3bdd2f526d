/*
 * capture.c - turning what is submitted to streams into a graph. A capture begins on one stream;
 * others join it by waiting for its events, and must have been waited for in turn when it ends.
 */
#include "common/cpu/base/base.h"

#include <stdlib.h>

struct lock capture_lock;
static _Atomic(struct capture *) open_captures;
static uint64_t n_captures; /* ever begun */

const void *this_thread(void)
{
	static __thread char its_address_differs;

	return &its_address_differs;
}

struct capture *capture_find(uint64_t id)
{
	struct capture *c = open_captures;

	while (c && c->id != id)
		c = c->next;
	return c;
}

bool captures_find(bool (*test)(const struct capture *c, const void *arg), const void *arg,
		   bool invalidate)
{
	bool found = false;

	if (!atomic_load_explicit(&open_captures, memory_order_relaxed))
		return false; /* nearly always: spares every call the lock */
	lock_acquire(&capture_lock);
	for (struct capture *c = open_captures; c; c = c->next) {
		if (!test(c, arg))
			continue;
		found = true;
		if (invalidate)
			c->status = cudaStreamCaptureStatusInvalidated;
	}
	lock_release(&capture_lock);
	return found;
}

enum cudaStreamCaptureStatus capture_status(struct stream *s)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

	if (!stream_captures(s))
		return status;
	lock_acquire(&capture_lock);
	if (s->capture)
		status = s->capture->status;
	lock_release(&capture_lock);
	return status;
}

static void invalidate(struct stream *s)
{
	lock_acquire(&capture_lock);
	if (s->capture)
		s->capture->status = cudaStreamCaptureStatusInvalidated;
	lock_release(&capture_lock);
}

cudaError_t capture_forbids(struct stream *s)
{
	invalidate(s);
	return cudaErrorStreamCaptureUnsupported;
}

void capture_spoil(struct stream *s)
{
	if (stream_captures(s))
		invalidate(s);
}

/* ---- members ---------------------------------------------------------------------------- */

/* Under capture_lock, like all below that take a capture. */
void capture_enter(struct capture *c, struct stream *s)
{
	s->next_captured = c->members;
	c->members = s;
	c->n_blocking += s->blocking;
	s->capture = c;
}

static void leave(struct capture *c, struct stream *s)
{
	struct stream **link = &c->members;

	while (*link != s)
		link = &(*link)->next_captured;
	*link = s->next_captured;
	c->n_blocking -= s->blocking;
	nodes_clear(&s->frontier);
	s->capture = NULL;
}

static void close_capture(struct capture *c)
{
	struct capture *before = open_captures;

	while (c->members)
		leave(c, c->members);
	if (before == c) {
		open_captures = c->next;
	} else {
		while (before->next != c)
			before = before->next;
		before->next = c->next;
	}
	graph_free(c->graph);
	free(c->told);
	free(c->told_edges);
	free(c);
}

void capture_drop(struct stream *s)
{
	if (!stream_captures(s))
		return;
	lock_acquire(&capture_lock);
	struct capture *c = s->capture;

	if (c && c->origin == s)
		close_capture(c);
	else if (c)
		leave(c, s);
	lock_release(&capture_lock);
}

/* ---- begin and end ---------------------------------------------------------------------- */

static cudaError_t begin(struct stream *s, enum cudaStreamCaptureMode mode)
{
	struct capture *c = calloc(1, sizeof(*c));
	struct graph *g = graph_new();

	if (!c || !g) {
		free(c);
		graph_free(g);
		return cudaErrorMemoryAllocation;
	}
	g->capturing = true;
	c->status = cudaStreamCaptureStatusActive;
	c->mode = mode;
	c->thread = this_thread();
	c->origin = s;
	c->graph = g;
	c->id = ++n_captures;
	c->next = open_captures;
	open_captures = c;
	capture_enter(c, s);
	return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	INJECT();
	struct stream *s = stream_find(stream);
	cudaError_t error = cudaErrorIllegalState;

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
		return result(cudaErrorInvalidValue);
	if (stream_is_null(s))
		return result(cudaErrorStreamCaptureUnsupported);
	lock_acquire(&capture_lock);
	if (!s->capture)
		error = begin(s, mode);
	lock_release(&capture_lock);
	return result(error);
}

/* Nodes that none needs must be what the origin has come to. */
static bool is_joined(const struct capture *c)
{
	const struct node_set *end = &c->origin->frontier;

	for (size_t i = 0; i < c->graph->n_nodes; i++) {
		const struct node *node = c->graph->node[i];
		size_t at = 0;

		while (!node->needed && at < end->n && end->node[at] != node)
			at++;
		if (!node->needed && at == end->n)
			return false;
	}
	return true;
}

/* Whatever is wrong, the capture ends. */
static cudaError_t finish(struct capture *c, cudaGraph_t *graph)
{
	if (c->status == cudaStreamCaptureStatusInvalidated)
		return cudaErrorStreamCaptureInvalidated;
	if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != this_thread())
		return cudaErrorStreamCaptureWrongThread;
	if (!is_joined(c))
		return cudaErrorStreamCaptureUnjoined;
	*graph = graph_handle(c->graph);
	if (!*graph)
		return cudaErrorMemoryAllocation;
	c->graph->capturing = false;
	c->graph = NULL; /* the handle has it now */
	return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	INJECT();
	struct stream *s = stream_find(stream);
	cudaError_t error = cudaErrorIllegalState;

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!graph)
		return result(cudaErrorInvalidValue);
	*graph = NULL; /* also after an error */
	lock_acquire(&capture_lock);
	struct capture *c = s->capture;

	if (c && c->origin != s) { /* goes on, to be ended where it began, but to no avail */
		c->status = cudaStreamCaptureStatusInvalidated;
		error = cudaErrorStreamCaptureUnmatched;
	} else if (c) {
		error = finish(c, graph);
		close_capture(c);
	}
	lock_release(&capture_lock);
	return result(error);
}
