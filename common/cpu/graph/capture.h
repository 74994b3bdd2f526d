/*
 * capture.h - graphs, and the captures that make them (CPU device, internal).
 *
 * Each stream of a capture has a frontier: the nodes that stand for all that was submitted to it.
 * What is submitted next becomes a node that needs the frontier, and is the frontier from then
 * on. An event recorded in a capture keeps a copy of the frontier; a stream that waits for the
 * event takes these nodes into its own, and joins the capture if it was in none.
 *
 * Nodes are created after those that they need, so the order of creation is one in which they
 * may run.
 */
#ifndef RIFT_CPU_CAPTURE_H
#define RIFT_CPU_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/cpu/include/cuda_runtime_api.h"
#include "common/cpu/base/progress.h"

struct op;
struct stream;
struct node;
struct graph;

/* ---- graphs (graph.c) ------------------------------------------------------------------ */

struct node_set {
	struct node **node;
	size_t n;
};

/* Adds those that are not yet in the set; false when there is no memory. */
bool nodes_merge(struct node_set *set, const struct node_set *more);
void nodes_clear(struct node_set *set);

struct node {
	struct op *op;
	struct node_set needs; /* nodes that must be done before */
	struct graph *graph;
	size_t index;		/* in the graph's order */
	bool needed;		/* another node needs this one */
	void **params;		/* what cudaGraphKernelNodeGetParams gave out */
	cudaGraphNode_t handle; /* made when it is first asked for */
};

struct graph {
	struct node **node;
	size_t n_nodes, room;
	uint64_t id;	    /* no other graph of the process has or had it */
	cudaGraph_t handle; /* NULL: nobody has asked for it */
	bool capturing;	    /* still growing: cannot be destroyed */
};

struct graph *graph_new(void); /* NULL: no memory */
void graph_free(struct graph *g);

/* A new node after *needs, which then holds the new node alone; NULL: no memory. */
struct node *graph_add(struct graph *g, struct op *op, struct node_set *needs);

/* NULL for a handle that is closed, or none. */
struct graph *graph_find(cudaGraph_t handle);
struct node *node_find(cudaGraphNode_t handle);

/* NULL when the table of handles is full. */
cudaGraph_t graph_handle(struct graph *g);
cudaGraphNode_t node_handle(struct node *n);

/*
 * As CUDA gives lists: without out their number, else as many as *room allows and NULLs behind.
 * edges, if not NULL, has as much room.
 */
cudaError_t nodes_list(struct node *const *node, size_t n, cudaGraphNode_t *out,
		       cudaGraphEdgeData *edges, size_t *room);

void graphs_close_all(void);

/* ---- captures (capture.c) -------------------------------------------------------------- */

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

/* What an event that was recorded in a capture stands for. */
struct capture_point {
	atomic_uint_least64_t id; /* of the capture; 0: recorded outside, or never */
	struct node_set nodes;
};

/* Tells host threads apart. */
const void *this_thread(void);

enum cudaStreamCaptureStatus capture_status(struct stream *s);

/* For a call that a capturing stream does not allow: invalidates and returns the error. */
cudaError_t capture_forbids(struct stream *s);

/* After a failed submission: the capture would lack an operation. */
void capture_spoil(struct stream *s);

/* When a stream is destroyed: it leaves its capture, which ends if it began there. */
void capture_drop(struct stream *s);

/* Whether an open capture satisfies test(c, arg); those that do are invalidated on demand. */
bool captures_find(bool (*test)(const struct capture *c, const void *arg), const void *arg,
		   bool invalidate);

/* Guards all captures: who captures is not in a hurry, and two of them may meet. */
extern struct lock capture_lock;

/* Under capture_lock: the capture of that number, NULL when it has ended. */
struct capture *capture_find(uint64_t id);

/* Under capture_lock: the stream is captured from now on. */
void capture_enter(struct capture *c, struct stream *s);

/* ---- what they take in (fork.c) --------------------------------------------------------- */

/* Adds a filled op to the stream's capture; on an error the op is freed. */
cudaError_t capture_add(struct stream *s, struct op *op);

/* Records an event in the stream's capture. */
cudaError_t capture_mark(struct stream *s, struct capture_point *p);

/* Lets a stream wait for an event where one of the two is captured. */
cudaError_t capture_wait(struct stream *s, const struct capture_point *p, bool recorded);

/* ---- what captures forbid (breach.c) --------------------------------------------------- */

/*
 * Whether a call that is no stream operation is allowed now: not between begin and end of a
 * capture (by its mode) and not in a host function. Invalidates captures that it would break.
 */
cudaError_t unsafe_call(void);

/* The same for a call that waits for the whole device. */
cudaError_t device_wide_call(void);

/* The same for asking about an event that capture `id` recorded last (0: none did). */
cudaError_t captured_event_call(uint64_t id);

/* Whether the legacy default stream may be used: not while a blocking stream captures. */
cudaError_t legacy_call(struct stream *s);

/* The same for asking whether it is captured: an error, but the captures go on. */
cudaError_t capture_ask_legacy(struct stream *s);

#endif
