/*
 * capture.c - turning what is submitted to streams into a graph. A capture begins on one stream;
 * others join it by waiting for its events, and must have been waited for in turn when it ends.
 */
#include "common/cpu/graph/graph.h"

#include <stdlib.h>

struct capture {
	enum cudaStreamCaptureStatus status; /* Active or Invalidated */
	enum cudaStreamCaptureMode mode;
	const void *thread;	/* that began it; see this_thread() */
	struct stream *origin;	/* where it began */
	struct stream *members; /* the origin and all that joined */
	unsigned n_blocking;	/* members in the legacy default stream's order */
	struct graph *graph;
	uint64_t id;
	struct capture *next;  /* of those that are open */
	cudaGraphNode_t *told; /* what cudaStreamGetCaptureInfo gave out */
	cudaGraphEdgeData *told_edges;
};

/* Guards all captures. One lock is enough: capture is no hot path, and two captures may join. */
static struct lock capture_lock;
static _Atomic(struct capture *) open_captures;
static uint64_t n_captures; /* ever begun */

/* Under capture_lock: the capture of that number, NULL when it has ended. */
static struct capture *capture_find(uint64_t id)
{
	struct capture *c = open_captures;

	while (c && c->id != id)
		c = c->next;
	return c;
}

/*
 * Whether an open capture satisfies test(c, arg); those that do are invalidated on demand.
 */
static bool captures_find(bool (*test)(const struct capture *c, const void *arg), const void *arg,
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

/* ---- members --------------------------------------------------------------------------- */

/* Under capture_lock, like all below that take a capture. */
static void capture_enter(struct capture *c, struct stream *s)
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

/* Returns its graph, or NULL. That is freed without the lock: objects that it keeps may be the
 * last of theirs, and the program's functions that destroy them may wait for other threads. */
static struct graph *close_capture(struct capture *c)
{
	struct graph *graph = c->graph;
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
	free(c->told);
	free(c->told_edges);
	free(c);
	return graph;
}

void capture_drop(struct stream *s)
{
	struct graph *graph = NULL;

	if (!stream_captures(s))
		return;
	lock_acquire(&capture_lock);
	struct capture *c = s->capture;

	if (c && c->origin == s)
		graph = close_capture(c);
	else if (c)
		leave(c, s);
	lock_release(&capture_lock);
	graph_free(graph);
}

/* ---- begin and end --------------------------------------------------------------------- */

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

cudaError_t capture_begin(struct stream *s, enum cudaStreamCaptureMode mode)
{
	cudaError_t error = cudaErrorIllegalState;

	lock_acquire(&capture_lock);
	if (!s->capture)
		error = begin(s, mode);
	lock_release(&capture_lock);
	return error;
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

cudaError_t capture_end(struct stream *s, cudaGraph_t *graph)
{
	cudaError_t error = cudaErrorIllegalState;
	struct graph *failed = NULL;

	lock_acquire(&capture_lock);
	struct capture *c = s->capture;

	if (c && c->origin != s) { /* goes on, to be ended where it began, but to no avail */
		c->status = cudaStreamCaptureStatusInvalidated;
		error = cudaErrorStreamCaptureUnmatched;
	} else if (c) {
		error = finish(c, graph);
		failed = close_capture(c);
	}
	lock_release(&capture_lock);
	graph_free(failed);
	return error;
}

/* ---- what one takes in ----------------------------------------------------------------- */

/* Adds a filled op to the stream's capture; on an error the op is freed. */
static cudaError_t capture_add(struct stream *s, struct op *op)
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

/* ---- what one is asked ----------------------------------------------------------------- */

/* Under capture_lock: the frontier, as handles that live until the next call about the stream. */
static cudaError_t tell_frontier(struct stream *s)
{
	struct capture *c = s->capture;
	size_t n = s->frontier.n;

	free(c->told);
	free(c->told_edges);
	c->told = calloc(n + 1, sizeof(*c->told));
	c->told_edges = calloc(n + 1, sizeof(*c->told_edges));
	if (!c->told || !c->told_edges)
		return cudaErrorMemoryAllocation;
	return nodes_list(s->frontier.node, n, c->told, NULL, &n);
}

static cudaError_t tell(struct stream *s, unsigned long long *id, cudaGraph_t *graph,
			const cudaGraphNode_t **needs, const cudaGraphEdgeData **edges,
			size_t *n_needs)
{
	cudaError_t error = tell_frontier(s);

	if (id)
		*id = s->capture->id;
	if (graph)
		*graph = graph_handle(s->capture->graph);
	if (graph && !*graph)
		error = cudaErrorMemoryAllocation;
	if (needs)
		*needs = s->capture->told;
	if (edges)
		*edges = s->capture->told_edges;
	if (n_needs)
		*n_needs = s->frontier.n;
	return error;
}

cudaError_t capture_tell(struct stream *s, enum cudaStreamCaptureStatus *status,
			 unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **needs,
			 const cudaGraphEdgeData **edges, size_t *n_needs)
{
	cudaError_t error = cudaSuccess;

	lock_acquire(&capture_lock);
	*status = s->capture ? s->capture->status : cudaStreamCaptureStatusNone;
	if (*status == cudaStreamCaptureStatusActive)
		error = tell(s, id, graph, needs, edges, n_needs);
	lock_release(&capture_lock);
	return error;
}

/* ---- what may not be called meanwhile, and what such a call spoils --------------------- */

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

/* ---- what is submitted ----------------------------------------------------------------- */

cudaError_t stream_accepts(struct stream *s)
{
	if (in_host_function)
		return cudaErrorNotPermitted;
	if (capture_status(s) == cudaStreamCaptureStatusInvalidated)
		return cudaErrorStreamCaptureInvalidated;
	return legacy_call(s);
}

cudaError_t stream_submit(struct stream *s, struct op *op)
{
	cudaError_t error = stream_accepts(s);

	if (error) {
		op_free(op);
		return error;
	}
	TS_RELEASE(&op->tag);
	if (stream_captures(s))
		return capture_add(s, op);
	stream_queue(s, op);
	return cudaSuccess;
}
