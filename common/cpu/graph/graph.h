/*
 * graph.h - the floor of graphs: graphs, the captures that make them, and what is submitted, which
 * goes into a queue or into a capture (CPU device, internal).
 *
 * Each stream of a capture has a frontier: the nodes that stand for all that was submitted to it.
 * What is submitted next becomes a node that needs the frontier, and is the frontier from then
 * on. An event recorded in a capture keeps a copy of the frontier; a stream that waits for the
 * event takes these nodes into its own, and joins the capture if it was in none.
 *
 * Nodes are created after those that they need, so the order of creation is one in which they
 * may run.
 */
#ifndef RIFT_CPU_GRAPH_H
#define RIFT_CPU_GRAPH_H

#include "common/cpu/stream/stream.h"

/* ---- graphs (graph.c) ------------------------------------------------------------------ */

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
	struct object_set objects;
	uint64_t id;	    /* no other graph of the process has or had it */
	cudaGraph_t handle; /* NULL: nobody has asked for it */
	bool capturing;	    /* still growing: cannot be destroyed */
};

struct graph *graph_new(void); /* NULL: no memory */
void graph_free(struct graph *g);
struct graph *graph_clone(const struct graph *g); /* NULL: no memory */

/* A new node after *needs, which then holds the new node alone; NULL: no memory. */
struct node *graph_add(struct graph *g, struct op *op, struct node_set *needs);

/* Takes the newest node back, which none needs. */
void graph_drop_last(struct graph *g);

/* NULL for a handle that is closed, or none. */
struct graph *graph_find(cudaGraph_t handle);
struct node *node_find(cudaGraphNode_t handle);

/* NULL when the table of handles is full. */
cudaGraph_t graph_handle(struct graph *g);

/*
 * As CUDA gives lists: without out their number, else as many as *room allows and NULLs behind.
 * edges, if not NULL, has as much room.
 */
cudaError_t nodes_list(struct node *const *node, size_t n, cudaGraphNode_t *out,
		       cudaGraphEdgeData *edges, size_t *room);

void graphs_close_all(void);

/* ---- their executable copies (graph.c) ------------------------------------------------- */

struct exec *exec_new(const struct graph *g); /* NULL: no memory */
struct body *body_of_graph(const struct graph *g);

/* Gives a node that is a kernel other parameters; launches in flight keep theirs. */
cudaError_t exec_set_params(struct exec *x, size_t index, const struct cudaKernelNodeParams *p);

/* Whether the graph could take the place of the one that x was made from. */
void exec_compare(const struct exec *x, const struct graph *g, cudaGraphExecUpdateResultInfo *info);

/* ---- captures (capture.c) -------------------------------------------------------------- */

static inline bool stream_captures(struct stream *s)
{
	return atomic_load_explicit(&s->capture, memory_order_relaxed);
}

enum cudaStreamCaptureStatus capture_status(struct stream *s);

/* For a call that a capturing stream does not allow: invalidates and returns the error. */
cudaError_t capture_forbids(struct stream *s);

/* After a failed submission: the capture would lack an operation. */
void capture_spoil(struct stream *s);

/* When a stream is destroyed: it leaves its capture, which ends if it began there. */
void capture_drop(struct stream *s);

/* Begins one on the stream; ends the one that the stream is in, whatever is wrong with it. */
cudaError_t capture_begin(struct stream *s, enum cudaStreamCaptureMode mode);
cudaError_t capture_end(struct stream *s, cudaGraph_t *graph);

/* What cudaStreamGetCaptureInfo tells; every pointer but status may be NULL. */
cudaError_t capture_tell(struct stream *s, enum cudaStreamCaptureStatus *status,
			 unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **needs,
			 const cudaGraphEdgeData **edges, size_t *n_needs);

/* Records an event in the stream's capture. */
cudaError_t capture_mark(struct stream *s, struct capture_point *p);

/* Lets a stream wait for an event where one of the two is captured. */
cudaError_t capture_wait(struct stream *s, const struct capture_point *p, bool recorded);

/* ---- what captures forbid (capture.c) -------------------------------------------------- */

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

/* ---- what is submitted (capture.c) ----------------------------------------------------- */

/* Whether an operation may be submitted to the stream now. */
cudaError_t stream_accepts(struct stream *s);

/* Queues a filled op, or adds it to the capture; on an error the op is freed. */
cudaError_t stream_submit(struct stream *s, struct op *op);

#endif
