/*
 * graph.c - graphs: a list of operations, and its executable copy, which a stream's thread runs
 * node by node without the queue in between.
 */
#include "runtime.h"

#include <stdlib.h>

struct exec {
	struct op **node; /* own copies: the graph may be destroyed before */
	size_t n_nodes;
	atomic_uint_least64_t n_launches; /* ever submitted */
	struct progress finished;	  /* launches that have run */
	atomic_int n_refs;
};

struct graph *graph_new(void)
{
	struct graph *g = calloc(1, sizeof(*g));

	if (g)
		g->last = &g->first;
	return g;
}

void graph_add(struct graph *g, struct op *op)
{
	op->next = NULL;
	*g->last = op;
	g->last = &op->next;
	g->n_nodes++;
}

void graph_free(struct graph *g)
{
	for (struct op *op = g ? g->first : NULL, *next; op; op = next) {
		next = op->next;
		op_free(op);
	}
	free(g);
}

static void exec_free(struct exec *x)
{
	for (size_t i = 0; i < x->n_nodes; i++)
		op_free(x->node[i]);
	free(x->node);
	free(x);
}

void exec_unref(struct exec *x)
{
	if (atomic_fetch_sub_explicit(&x->n_refs, 1, memory_order_acq_rel) == 1)
		exec_free(x);
}

/*
 * Nodes run in the order of their capture, on the stream's thread: handing each to a queue would
 * cost more than most of them. Launches of one exec run in the order of their submission,
 * whatever their streams.
 */
void exec_run(struct exec *x, uint64_t ticket)
{
	progress_wait(&x->finished, ticket, config()->spin_ns);
	TS_ACQUIRE(&x->finished);
	for (size_t i = 0; i < x->n_nodes; i++)
		op_run(x->node[i]);
	TS_RELEASE(&x->finished);
	progress_raise(&x->finished, ticket + 1);
}

void graphs_close_all(void)
{
	for (struct graph *g; (g = handle_close_any(HANDLE_GRAPH));)
		graph_free(g);
	for (struct exec *x; (x = handle_close_any(HANDLE_EXEC));)
		exec_unref(x);
}

/* ---- the runtime's functions ------------------------------------------------------------ */

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n_nodes)
{
	const struct graph *g = handle_object(HANDLE_GRAPH, graph);
	size_t i = 0;

	if (!g || !n_nodes)
		return result(cudaErrorInvalidValue);
	if (!nodes) {
		*n_nodes = g->n_nodes;
		return cudaSuccess;
	}
	for (struct op *op = g->first; op && i < *n_nodes; op = op->next)
		nodes[i++] = (cudaGraphNode_t)op;
	for (size_t rest = i; rest < *n_nodes; rest++)
		nodes[rest] = NULL;
	*n_nodes = i;
	return cudaSuccess;
}

/* Copies, arguments included: changing or destroying the graph does not touch it. */
static struct exec *exec_new(const struct graph *g)
{
	struct exec *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	progress_init(&x->finished);
	atomic_init(&x->n_refs, 1);
	x->node = calloc(g->n_nodes + 1, sizeof(*x->node));
	for (const struct op *op = g->first; op && x->node; op = op->next) {
		x->node[x->n_nodes] = op_clone(op);
		if (!x->node[x->n_nodes])
			break;
		x->n_nodes++;
	}
	if (x->node && x->n_nodes == g->n_nodes)
		return x;
	exec_free(x);
	return NULL;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	const unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch |
					 cudaGraphInstantiateFlagUpload |
					 cudaGraphInstantiateFlagUseNodePriority;
	const struct graph *g = handle_object(HANDLE_GRAPH, graph);

	if (!exec || !g || flags & ~known)
		return result(cudaErrorInvalidValue);
	struct exec *x = exec_new(g);

	if (!x)
		return result(cudaErrorMemoryAllocation);
	*exec = handle_open(HANDLE_EXEC, x);
	if (*exec)
		return cudaSuccess;
	exec_free(x);
	return result(cudaErrorMemoryAllocation);
}

/* Nothing to upload: the copy that launches use was made when it was instantiated. */
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	struct stream *s = stream_find(stream);

	if (!handle_object(HANDLE_EXEC, exec))
		return result(cudaErrorInvalidValue);
	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (s->capture.status != cudaStreamCaptureStatusNone)
		return result(capture_forbids(s));
	return result(stream_accepts(s));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	struct exec *x = handle_object(HANDLE_EXEC, exec);
	struct stream *s = stream_find(stream);

	if (!x)
		return result(cudaErrorInvalidValue);
	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	cudaError_t error = stream_accepts(s);

	if (error)
		return result(error);
	if (s->capture.status != cudaStreamCaptureStatusNone)
		return result(capture_forbids(s)); /* would be a child graph */
	struct op *op = stream_new_op(s);

	if (!op)
		return result(cudaErrorMemoryAllocation);
	atomic_fetch_add_explicit(&x->n_refs, 1, memory_order_relaxed);
	op->kind = OP_GRAPH;
	op->graph.exec = x;
	/* Last, as a ticket that never runs would hold up all later launches. */
	op->graph.ticket = atomic_fetch_add(&x->n_launches, 1);
	return charge(COST_LAUNCH, result(stream_submit(s, op)));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	struct exec *x = handle_close(HANDLE_EXEC, exec);

	if (!x)
		return result(cudaErrorInvalidValue);
	exec_unref(x);
	return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	struct graph *g = handle_close(HANDLE_GRAPH, graph);

	if (!g)
		return result(cudaErrorInvalidValue);
	graph_free(g);
	return cudaSuccess;
}
