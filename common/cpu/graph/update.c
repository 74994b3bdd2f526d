/*
 * update.c - changing what an executable graph does, but not its shape. Launches that are queued
 * or running keep what they were submitted with.
 */
#include "common/cpu/graph/graph.h"

/* Its operations, not shared with any launch; NULL: no memory. */
static struct body *own_body(struct exec *x)
{
	if (atomic_load_explicit(&x->body->n_refs, memory_order_acquire) == 1)
		return x->body;
	struct body *copy = body_new(x->body->op, x->body->n_ops);

	if (!copy)
		return NULL;
	body_unref(x->body);
	x->body = copy;
	return copy;
}

static cudaError_t set_params(struct exec *x, size_t index, const struct cudaKernelNodeParams *p)
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

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *params)
{
	INJECT();
	struct exec *x = handle_object(HANDLE_EXEC, exec);
	const struct node *n = node_find(node);

	if (!x || !n || !params || params->extra || n->graph->id != x->graph_id ||
	    x->body->op[n->index]->kind != OP_KERNEL)
		return result(cudaErrorInvalidValue);
	return result(set_params(x, n->index, params));
}

/* ---- from another graph ----------------------------------------------------------------- */

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

static void compare(const struct exec *x, const struct graph *g,
		    cudaGraphExecUpdateResultInfo *info)
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

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
				cudaGraphExecUpdateResultInfo *info)
{
	INJECT();
	struct exec *x = handle_object(HANDLE_EXEC, exec);
	const struct graph *g = graph_find(graph);

	if (!x || !g || !info)
		return result(cudaErrorInvalidValue);
	compare(x, g, info);
	if (info->result)
		return result(cudaErrorGraphExecUpdateFailure);
	struct body *b = body_of_graph(g);

	if (!b) {
		info->result = cudaGraphExecUpdateError;
		return result(cudaErrorMemoryAllocation);
	}
	body_unref(x->body);
	x->body = b;
	return cudaSuccess;
}
