/*
 * nodes.c - graphs that are made node by node, without a capture.
 */
#include "common/cpu/api/api.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a node needs ----------------------------------------------------------------- */

/* The node, where it is one of the graph's. */
static struct node *node_of(const struct graph *g, cudaGraphNode_t handle)
{
	struct node *n = node_find(handle);

	return n && n->graph == g ? n : NULL;
}

/* Each of them once. */
static cudaError_t collect(const struct graph *g, const cudaGraphNode_t *needs, size_t n,
			   struct node_set *set)
{
	for (size_t i = 0; i < n; i++) {
		struct node *node = node_of(g, needs[i]);
		struct node_set one = { &node, 1 };

		if (!node)
			return cudaErrorInvalidValue;
		if (!nodes_merge(set, &one))
			return cudaErrorMemoryAllocation;
		if (set->n != i + 1)
			return cudaErrorInvalidValue;
	}
	return cudaSuccess;
}

/* An operation to be filled, and where it is to go. */
struct addition {
	struct graph *graph;
	struct node_set needs;
	struct op *op;
};

/* While a capture makes a graph, its streams say what comes next. */
static cudaError_t begin(struct addition *a, const cudaGraphNode_t *out, cudaGraph_t graph,
			 const cudaGraphNode_t *needs, size_t n)
{
	cudaError_t error;

	*a = (struct addition){ .graph = graph_find(graph) };
	if (!out || !a->graph || (n && !needs))
		return cudaErrorInvalidValue;
	if (a->graph->capturing)
		return cudaErrorNotSupported;
	error = collect(a->graph, needs, n, &a->needs);
	if (!error && !(a->op = op_new()))
		error = cudaErrorMemoryAllocation;
	return error;
}

/* After begin(), whatever that has returned. */
static cudaError_t end(struct addition *a, cudaGraphNode_t *out, cudaError_t error)
{
	struct node *node = NULL;

	if (!error) {
		TS_RELEASE(&a->op->tag);
		node = graph_add(a->graph, a->op, &a->needs);
		error = node ? cudaSuccess : cudaErrorMemoryAllocation;
	}
	nodes_clear(&a->needs); /* it now holds the new node */
	if (!node)
		op_free(a->op);
	if (!error)
		error = nodes_list(&node, 1, out, NULL, &(size_t){ 1 });
	if (node && error)
		graph_drop_last(a->graph);
	return error;
}

/* ---- nodes ----------------------------------------------------------------------------- */

static cudaError_t fill_kernel(struct op *op, const struct cudaKernelNodeParams *p)
{
	struct cpudev_kernel *k;

	if (!p || p->extra)
		return cudaErrorInvalidValue;
	k = kernel_find(p->func);
	if (!k)
		return p->func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
	return launch_fill(op, k, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *needs, size_t n_needs,
				   const struct cudaKernelNodeParams *params)
{
	CALL(other);
	struct addition a;
	cudaError_t error = begin(&a, node, graph, needs, n_needs);

	return result(end(&a, node, error ? error : fill_kernel(a.op, params)));
}

static cudaError_t fill_copy(struct op *op, const struct transfer *t, enum cudaMemcpyKind kind)
{
	op->memory = *t;
	op->kind = OP_COPY;
	return copy_check(&op->memory, kind);
}

/* A corner of linear memory: the position's x is in bytes. */
static char *corner(struct cudaPitchedPtr p, struct cudaPos at)
{
	return (char *)p.ptr + at.y * p.pitch + at.x;
}

/* One layer, of memory that is no array. */
static cudaError_t fill_rows(struct op *op, const struct cudaMemcpy3DParms *p)
{
	struct transfer t;

	if (!p)
		return cudaErrorInvalidValue;
	if (p->srcArray || p->dstArray || p->extent.depth != 1 || p->srcPos.z || p->dstPos.z)
		return cudaErrorNotSupported;
	if (!p->extent.width || !p->extent.height || !p->srcPtr.ptr || !p->dstPtr.ptr)
		return cudaErrorInvalidValue;
	if (p->extent.height > 1 && (p->extent.width + p->srcPos.x > p->srcPtr.pitch ||
				     p->extent.width + p->dstPos.x > p->dstPtr.pitch))
		return cudaErrorInvalidPitchValue;
	t = (struct transfer){
		.dst = corner(p->dstPtr, p->dstPos),
		.src = corner(p->srcPtr, p->srcPos),
		.bytes = p->extent.width,
		.rows = p->extent.height,
		.dst_pitch = p->dstPtr.pitch,
		.src_pitch = p->srcPtr.pitch,
	};
	return fill_copy(op, &t, p->kind);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *needs, size_t n_needs,
				   const struct cudaMemcpy3DParms *params)
{
	CALL(other);
	struct addition a;
	cudaError_t error = begin(&a, node, graph, needs, n_needs);

	return result(end(&a, node, error ? error : fill_rows(a.op, params)));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *needs, size_t n_needs, void *dst,
				     const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	CALL(other);
	struct addition a;
	struct transfer t = { .dst = dst, .src = src, .bytes = bytes, .rows = 1 };
	cudaError_t error = begin(&a, node, graph, needs, n_needs);

	if (!error && !bytes)
		error = cudaErrorInvalidValue;
	return result(end(&a, node, error ? error : fill_copy(a.op, &t, kind)));
}

/* The width is in elements. */
static cudaError_t fill_set(struct op *op, const struct cudaMemsetParams *p)
{
	size_t bytes;

	if (!p || !p->width || !p->height ||
	    (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
	    __builtin_mul_overflow(p->width, (size_t)p->elementSize, &bytes) ||
	    (p->height > 1 && bytes > p->pitch))
		return cudaErrorInvalidValue;
	op->kind = OP_SET;
	op->memory = (struct transfer){
		.dst = p->dst,
		.bytes = bytes,
		.rows = p->height,
		.dst_pitch = p->pitch,
		.value = (int)p->value,
		.element = p->elementSize,
	};
	return set_check(&op->memory);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *needs, size_t n_needs,
				   const struct cudaMemsetParams *params)
{
	CALL(other);
	struct addition a;
	cudaError_t error = begin(&a, node, graph, needs, n_needs);

	return result(end(&a, node, error ? error : fill_set(a.op, params)));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
				 const cudaGraphNode_t *needs, size_t n_needs,
				 const struct cudaHostNodeParams *params)
{
	CALL(other);
	struct addition a;
	cudaError_t error = begin(&a, node, graph, needs, n_needs);

	if (!error && (!params || !params->fn))
		error = cudaErrorInvalidValue;
	if (!error) {
		a.op->kind = OP_HOST;
		a.op->host.fn = params->fn;
		a.op->host.user_data = params->userData;
	}
	return result(end(&a, node, error));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
				  const cudaGraphNode_t *needs, size_t n_needs)
{
	CALL(other);
	struct addition a;
	cudaError_t error = begin(&a, node, graph, needs, n_needs);

	if (!error)
		a.op->kind = OP_EMPTY;
	return result(end(&a, node, error));
}

/* ---- graphs ---------------------------------------------------------------------------- */

static cudaError_t give_out(struct graph *g, cudaGraph_t *graph)
{
	*graph = g ? graph_handle(g) : NULL;
	if (*graph)
		return cudaSuccess;
	graph_free(g);
	return cudaErrorMemoryAllocation;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
	CALL(other);
	if (!graph || flags)
		return result(cudaErrorInvalidValue);
	return result(give_out(graph_new(), graph));
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
	CALL(other);
	const struct graph *g = graph_find(graph);

	if (!clone || !g)
		return result(cudaErrorInvalidValue);
	return result(give_out(graph_clone(g), clone));
}

static bool is_ordinary(const cudaGraphEdgeData *edge)
{
	static const cudaGraphEdgeData ordinary;

	return !memcmp(edge, &ordinary, sizeof(ordinary));
}

/* Nodes run in the order of their creation, which an edge cannot change here. */
static cudaError_t add_edge(const struct graph *g, cudaGraphNode_t from, cudaGraphNode_t to)
{
	struct node *first = node_of(g, from), *second = node_of(g, to);
	struct node_set one = { &first, 1 };
	size_t before;

	if (!first || !second || first == second)
		return cudaErrorInvalidValue;
	if (first->index > second->index)
		return cudaErrorNotSupported;
	before = second->needs.n;
	if (!nodes_merge(&second->needs, &one))
		return cudaErrorMemoryAllocation;
	if (second->needs.n == before)
		return cudaErrorInvalidValue; /* it is there */
	first->needed = true;
	return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
				     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
				     size_t n)
{
	CALL(other);
	const struct graph *g = graph_find(graph);
	cudaError_t error = g && (!n || (from && to)) ? cudaSuccess : cudaErrorInvalidValue;

	if (!error && g->capturing)
		error = cudaErrorNotSupported;
	for (size_t i = 0; edges && !error && i < n; i++)
		error = is_ordinary(&edges[i]) ? cudaSuccess : cudaErrorNotSupported;
	for (size_t i = 0; !error && i < n; i++)
		error = add_edge(g, from[i], to[i]);
	return result(error);
}
