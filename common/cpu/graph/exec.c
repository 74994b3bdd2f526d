/*
 * exec.c - executable graphs: copies of a graph's operations, which a stream's thread runs one
 * after the other without the queue in between.
 */
#include "common/cpu/graph/graph.h"

#include <stdlib.h>

void body_ref(struct body *b)
{
	atomic_fetch_add_explicit(&b->n_refs, 1, memory_order_relaxed);
}

void body_unref(struct body *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < b->n_ops; i++)
		op_free(b->op[i]);
	free(b->op);
	free(b);
}

struct body *body_new(struct op *const *op, size_t n)
{
	struct body *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	atomic_init(&b->n_refs, 1);
	b->op = calloc(n + 1, sizeof(struct op *));
	while (b->op && b->n_ops < n) {
		b->op[b->n_ops] = op_clone(op[b->n_ops]);
		if (!b->op[b->n_ops])
			break;
		b->n_ops++;
	}
	if (b->op && b->n_ops == n)
		return b;
	body_unref(b);
	return NULL;
}

struct body *body_of_graph(const struct graph *g)
{
	struct op **op = calloc(g->n_nodes + 1, sizeof(struct op *));
	struct body *b = NULL;

	for (size_t i = 0; op && i < g->n_nodes; i++)
		op[i] = g->node[i]->op;
	if (op)
		b = body_new(op, g->n_nodes);
	free(op);
	return b;
}

static void exec_unref(struct exec *x)
{
	if (atomic_fetch_sub_explicit(&x->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	body_unref(x->body);
	free(x->needs_end);
	free(x->needs);
	free(x);
}

void exec_release(struct exec *x, struct body *b)
{
	body_unref(b);
	exec_unref(x);
}

/*
 * Nodes run in the order of their capture, on the stream's thread: handing independent ones to
 * other threads would cost more than most of them.
 */
void body_run(const struct body *b)
{
	for (size_t i = 0; i < b->n_ops; i++)
		op_run(b->op[i]);
}

/* Launches of one exec run in the order of their submission, whatever their streams. */
void exec_run(struct exec *x, struct body *b, uint64_t ticket)
{
	progress_wait(&x->finished, ticket, config()->spin_ns);
	TS_ACQUIRE(&x->finished);
	body_run(b);
	TS_RELEASE(&x->finished);
	progress_raise(&x->finished, ticket + 1);
}

void execs_close_all(void)
{
	for (struct exec *x; (x = handle_close_any(HANDLE_EXEC));)
		exec_unref(x);
}

/* ---- the runtime's functions ------------------------------------------------------------ */

/* Which nodes need which, for updates to be compared with. */
static bool copy_edges(struct exec *x, const struct graph *g)
{
	size_t end = 0;

	for (size_t i = 0; i < g->n_nodes; i++)
		end += g->node[i]->needs.n;
	x->needs_end = calloc(g->n_nodes + 1, sizeof(*x->needs_end));
	x->needs = calloc(end + 1, sizeof(*x->needs));
	if (!x->needs_end || !x->needs)
		return false;
	end = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct node_set *needs = &g->node[i]->needs;

		for (size_t j = 0; j < needs->n; j++)
			x->needs[end++] = needs->node[j]->index;
		x->needs_end[i] = end;
	}
	return true;
}

static struct exec *exec_new(const struct graph *g)
{
	struct exec *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	progress_init(&x->finished);
	atomic_init(&x->n_refs, 1);
	x->graph_id = g->id;
	x->body = body_of_graph(g);
	if (x->body && copy_edges(x, g))
		return x;
	exec_unref(x);
	return NULL;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	INJECT();
	const unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch |
					 cudaGraphInstantiateFlagUpload |
					 cudaGraphInstantiateFlagUseNodePriority;
	const struct graph *g = graph_find(graph);

	if (!exec || !g || flags & ~known)
		return result(cudaErrorInvalidValue);
	struct exec *x = exec_new(g);

	if (!x)
		return result(cudaErrorMemoryAllocation);
	*exec = handle_open(HANDLE_EXEC, x);
	if (*exec)
		return cudaSuccess;
	exec_unref(x);
	return result(cudaErrorMemoryAllocation);
}

/* Nothing to upload: the copy that launches use was made when it was instantiated. */
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	INJECT();
	struct stream *s = stream_find(stream);

	if (!handle_object(HANDLE_EXEC, exec))
		return result(cudaErrorInvalidValue);
	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (stream_captures(s))
		return result(capture_forbids(s));
	return result(stream_accepts(s));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	INJECT();
	struct exec *x = handle_object(HANDLE_EXEC, exec);
	struct stream *s = stream_find(stream);

	if (!x)
		return result(cudaErrorInvalidValue);
	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	cudaError_t error = stream_accepts(s);

	if (error)
		return result(error);
	struct op *op = stream_new_op(s);

	if (!op)
		return result(cudaErrorMemoryAllocation);
	body_ref(x->body);
	op->graph.body = x->body;
	if (stream_captures(s)) {
		op->kind = OP_CHILD; /* of what it does now: a later update does not concern it */
		return charge(COST_LAUNCH, result(stream_submit(s, op)));
	}
	atomic_fetch_add_explicit(&x->n_refs, 1, memory_order_relaxed);
	op->kind = OP_GRAPH;
	op->graph.exec = x;
	/* Last, as a ticket that never runs would hold up all later launches. */
	op->graph.ticket = atomic_fetch_add(&x->n_launches, 1);
	return charge(COST_LAUNCH, result(stream_submit(s, op)));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	INJECT();
	struct exec *x = handle_close(HANDLE_EXEC, exec);

	if (!x)
		return result(cudaErrorInvalidValue);
	exec_unref(x);
	return cudaSuccess;
}
