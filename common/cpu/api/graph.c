/* node.c - what hosts ask about the nodes of a graph, and about a graph that is being captured. */
#include "common/cpu/base/base.h"

#include <stdlib.h>

static enum cudaGraphNodeType type_of(const struct node *n)
{
	switch (n->op->kind) {
	case OP_KERNEL:
		return cudaGraphNodeTypeKernel;
	case OP_COPY:
		return cudaGraphNodeTypeMemcpy;
	case OP_SET:
		return cudaGraphNodeTypeMemset;
	case OP_HOST:
		return cudaGraphNodeTypeHost;
	case OP_CHILD:
		return cudaGraphNodeTypeGraph;
	default:
		return cudaGraphNodeTypeEmpty;
	}
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	INJECT();
	const struct node *n = node_find(node);

	if (!n || !type)
		return result(cudaErrorInvalidValue);
	*type = type_of(n);
	return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *needs,
					 cudaGraphEdgeData *edges, size_t *n_needs)
{
	INJECT();
	const struct node *n = node_find(node);

	if (!n || !n_needs || (edges && !needs))
		return result(cudaErrorInvalidValue);
	return result(nodes_list(n->needs.node, n->needs.n, needs, edges, n_needs));
}

/* The pointers live as long as the node, as CUDA promises. */
static void **params_of(struct node *n)
{
	const struct cpudev_kernel *k = n->op->launch.kernel;

	if (!n->params)
		n->params = malloc((k->n_params + 1) * sizeof(void *));
	for (unsigned i = 0; n->params && i < k->n_params; i++)
		n->params[i] = n->op->data + k->offset[i];
	return n->params;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
	INJECT();
	struct node *n = node_find(node);

	if (!n || !params || n->op->kind != OP_KERNEL)
		return result(cudaErrorInvalidValue);
	if (!params_of(n))
		return result(cudaErrorMemoryAllocation);
	*params = (struct cudaKernelNodeParams){
		.func = (void *)n->op->launch.kernel->function,
		.gridDim = n->op->launch.grid,
		.blockDim = n->op->launch.block,
		.sharedMemBytes = (unsigned)n->op->launch.shared_bytes,
		.kernelParams = n->params,
	};
	return cudaSuccess;
}

/* ---- a graph that is being captured ----------------------------------------------------- */

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

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
				     unsigned long long *id, cudaGraph_t *graph,
				     const cudaGraphNode_t **needs, const cudaGraphEdgeData **edges,
				     size_t *n_needs)
{
	INJECT();
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!status)
		return result(cudaErrorInvalidValue);
	cudaError_t error = capture_ask_legacy(s);

	if (error)
		return result(error);
	lock_acquire(&capture_lock);
	*status = s->capture ? s->capture->status : cudaStreamCaptureStatusNone;
	if (*status == cudaStreamCaptureStatusActive)
		error = tell(s, id, graph, needs, edges, n_needs);
	lock_release(&capture_lock);
	return result(error);
}
