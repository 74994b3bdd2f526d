/*
 * graph.c - graphs: operations, and which of them need which; and their executable copies, which a
 * stream's thread runs (op.c) and which can be changed in what they do, but not in their shape.
 */
#include "common/cpu/graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets of nodes --------------------------------------------------------------------- */

static bool holds(const struct node_set *set, const struct node *node)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->node[i] == node)
			return true;
	return false;
}

/* Sets are small: as many nodes as streams were joined without work in between. */
bool nodes_merge(struct node_set *set, const struct node_set *more)
{
	if (!more->n)
		return true;
	struct node **larger = realloc(set->node, (set->n + more->n) * sizeof(struct node *));

	if (!larger)
		return false;
	set->node = larger;
	for (size_t i = 0; i < more->n; i++)
		if (!holds(set, more->node[i]))
			set->node[set->n++] = more->node[i];
	return true;
}

void nodes_clear(struct node_set *set)
{
	free(set->node);
	*set = (struct node_set){ NULL, 0 };
}

/* ---- graphs ---------------------------------------------------------------------------- */

struct graph *graph_new(void)
{
	static atomic_uint_least64_t n_graphs;
	struct graph *g = calloc(1, sizeof(*g));

	if (g)
		g->id = atomic_fetch_add(&n_graphs, 1);
	return g;
}

static bool make_room(struct graph *g)
{
	if (g->n_nodes < g->room)
		return true;
	size_t room = g->room ? 2 * g->room : 16;
	struct node **larger = realloc(g->node, room * sizeof(struct node *));

	if (!larger)
		return false;
	g->node = larger;
	g->room = room;
	return true;
}

struct node *graph_add(struct graph *g, struct op *op, struct node_set *needs)
{
	struct node *node = calloc(1, sizeof(*node));
	struct node_set self = { &node, 1 }, after = { NULL, 0 };

	if (!node || !make_room(g) || !nodes_merge(&after, &self)) {
		free(node);
		return NULL;
	}
	for (size_t i = 0; i < needs->n; i++)
		needs->node[i]->needed = true;
	op->next = NULL;
	node->op = op;
	node->needs = *needs;
	node->graph = g;
	node->index = g->n_nodes;
	*needs = after;
	g->node[g->n_nodes++] = node;
	return node;
}

static void node_free(struct node *node)
{
	if (node->handle)
		handle_close(HANDLE_NODE, node->handle);
	nodes_clear(&node->needs);
	free(node->params);
	op_free(node->op);
	free(node);
}

void graph_drop_last(struct graph *g)
{
	node_free(g->node[--g->n_nodes]);
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	if (g->handle)
		handle_close(HANDLE_GRAPH, g->handle); /* of a capture that failed */
	for (size_t i = 0; i < g->n_nodes; i++)
		node_free(g->node[i]);
	objects_clear(&g->objects);
	free(g->node);
	free(g);
}

/* The node of g that stands where this one of another graph does, and needs the same. */
static bool add_clone(struct graph *g, const struct node *node)
{
	struct op *op = op_clone(node->op);
	struct node_set needs = { NULL, 0 };
	bool ok = op;

	for (size_t i = 0; ok && i < node->needs.n; i++) {
		struct node_set one = { &g->node[node->needs.node[i]->index], 1 };

		ok = nodes_merge(&needs, &one);
	}
	ok = ok && graph_add(g, op, &needs);
	if (!ok)
		op_free(op);
	nodes_clear(&needs); /* it now holds the new node */
	return ok;
}

struct graph *graph_clone(const struct graph *g)
{
	struct graph *clone = graph_new();
	bool ok = clone && objects_copy(&clone->objects, &g->objects);

	for (size_t i = 0; ok && i < g->n_nodes; i++)
		ok = add_clone(clone, g->node[i]);
	if (ok)
		return clone;
	graph_free(clone);
	return NULL;
}

struct graph *graph_find(cudaGraph_t handle)
{
	return handle_object(HANDLE_GRAPH, handle);
}

struct node *node_find(cudaGraphNode_t handle)
{
	return handle_object(HANDLE_NODE, handle);
}

cudaGraph_t graph_handle(struct graph *g)
{
	if (!g->handle)
		g->handle = handle_open(HANDLE_GRAPH, g);
	return g->handle;
}

static cudaGraphNode_t node_handle(struct node *n)
{
	if (!n->handle)
		n->handle = handle_open(HANDLE_NODE, n);
	return n->handle;
}

void graphs_close_all(void)
{
	for (struct graph *g; (g = handle_close_any(HANDLE_GRAPH));)
		graph_free(g);
}

cudaError_t nodes_list(struct node *const *node, size_t n, cudaGraphNode_t *out,
		       cudaGraphEdgeData *edges, size_t *room)
{
	if (!out) {
		*room = n;
		return cudaSuccess;
	}
	if (edges)
		memset(edges, 0, *room * sizeof(*edges)); /* ordinary ones; there are no others */
	for (size_t i = 0; i < *room; i++) {
		out[i] = i < n ? node_handle(node[i]) : NULL;
		if (i < n && !out[i])
			return cudaErrorMemoryAllocation;
	}
	if (*room > n)
		*room = n;
	return cudaSuccess;
}

/* ---- executable copies ----------------------------------------------------------------- */

struct body *body_of_graph(const struct graph *g)
{
	struct op **op = calloc(g->n_nodes + 1, sizeof(struct op *));
	struct body *b = NULL;

	for (size_t i = 0; op && i < g->n_nodes; i++)
		op[i] = g->node[i]->op;
	if (op)
		b = body_new(op, g->n_nodes, &g->objects);
	free(op);
	return b;
}

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

struct exec *exec_new(const struct graph *g)
{
	static atomic_uint n_execs;
	struct exec *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	progress_init(&x->finished);
	atomic_init(&x->n_refs, 1);
	x->graph_id = g->id;
	x->number = 1 + atomic_fetch_add(&n_execs, 1);
	x->body = body_of_graph(g);
	if (x->body && copy_edges(x, g))
		return x;
	exec_unref(x);
	return NULL;
}

/* ---- changing one ---------------------------------------------------------------------- */

/* Launches that are queued or running keep what they were submitted with. */

/* Its operations, not shared with any launch; NULL: no memory. */
static struct body *own_body(struct exec *x)
{
	if (atomic_load_explicit(&x->body->n_refs, memory_order_acquire) == 1)
		return x->body;
	struct body *copy = body_new(x->body->op, x->body->n_ops, &x->body->objects);

	if (!copy)
		return NULL;
	body_unref(x->body);
	x->body = copy;
	return copy;
}

cudaError_t exec_set_params(struct exec *x, size_t index, const struct cudaKernelNodeParams *p)
{
	struct cpudev_kernel *k = kernel_find(p->func);
	struct op *op;

	if (!k)
		return p->func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
	op = op_new();
	if (!op)
		return cudaErrorMemoryAllocation;
	cudaError_t error =
		launch_fill(op, k, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes);
	struct body *b = error ? NULL : own_body(x);

	if (!b) {
		op_free(op);
		return error ? error : cudaErrorMemoryAllocation;
	}
	TS_RELEASE(&op->tag);
	op_free(b->op[index]);
	b->op[index] = op;
	return cudaSuccess;
}

/* The first dependency that is not as it was; NULL when all are. Nodes are paired by order. */
static struct node *changed_need(const struct exec *x, const struct node *n)
{
	size_t start = n->index ? x->needs_end[n->index - 1] : 0;

	for (size_t i = 0; i < n->needs.n; i++)
		if (x->needs[start + i] != n->needs.node[i]->index)
			return n->needs.node[i];
	return NULL;
}

static size_t count_needs(const struct exec *x, size_t index)
{
	return x->needs_end[index] - (index ? x->needs_end[index - 1] : 0);
}

/* Operands of a copy stay where they are, on the device or on the host. */
static bool parameters_fit(const struct op *old, const struct op *new)
{
	return old->kind != OP_COPY || (old->memory.dst_on_device == new->memory.dst_on_device &&
					old->memory.src_on_device == new->memory.src_on_device);
}

static enum cudaGraphExecUpdateResult compare_node(const struct exec *x, const struct node *n,
						   struct node **from)
{
	const struct op *old = x->body->op[n->index];

	if (n->needs.n != count_needs(x, n->index))
		return cudaGraphExecUpdateErrorTopologyChanged;
	*from = changed_need(x, n);
	if (*from)
		return cudaGraphExecUpdateErrorTopologyChanged;
	if (old->kind != n->op->kind)
		return cudaGraphExecUpdateErrorNodeTypeChanged;
	if (old->kind == OP_CHILD && old->graph.body != n->op->graph.body)
		return cudaGraphExecUpdateErrorNotSupported;
	if (!parameters_fit(old, n->op))
		return cudaGraphExecUpdateErrorParametersChanged;
	return cudaGraphExecUpdateSuccess;
}

void exec_compare(const struct exec *x, const struct graph *g, cudaGraphExecUpdateResultInfo *info)
{
	struct node *from = NULL;

	*info = (cudaGraphExecUpdateResultInfo){ .result = cudaGraphExecUpdateSuccess };
	if (g->n_nodes != x->body->n_ops)
		info->result = cudaGraphExecUpdateErrorTopologyChanged;
	for (size_t i = 0; i < g->n_nodes && !info->result; i++) {
		info->result = compare_node(x, g->node[i], &from);
		if (info->result)
			info->errorNode = node_handle(g->node[i]);
		if (from)
			info->errorFromNode = node_handle(from);
	}
}
