/*
 * graph.c - captures as the host sees them, graphs and their nodes, and executable graphs.
 */
#include "common/cpu/api/api.h"

#include <limits.h>
#include <stdlib.h>

/* ---- captures -------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	CALL(other);
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
		return result(cudaErrorInvalidValue);
	if (stream_is_null(s))
		return result(cudaErrorStreamCaptureUnsupported);
	return result(capture_begin(s, mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	CALL(other);
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!graph)
		return result(cudaErrorInvalidValue);
	*graph = NULL; /* also after an error */
	return result(capture_end(s, graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	INJECT();
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!status)
		return result(cudaErrorInvalidValue);
	cudaError_t error = capture_ask_legacy(s);

	if (!error)
		*status = capture_status(s);
	return result(error);
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
	return result(capture_tell(s, status, id, graph, needs, edges, n_needs));
}

/* ---- graphs and their nodes ------------------------------------------------------------ */

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n_nodes)
{
	INJECT();
	const struct graph *g = graph_find(graph);

	if (!g || !n_nodes)
		return result(cudaErrorInvalidValue);
	return result(nodes_list(g->node, g->n_nodes, nodes, NULL, n_nodes));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	CALL(other);
	const struct graph *g = graph_find(graph);

	if (!g || g->capturing)
		return result(cudaErrorInvalidValue);
	graph_free(handle_close(HANDLE_GRAPH, graph));
	return cudaSuccess;
}

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

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *params)
{
	INJECT();
	const struct node *n = node_find(node);

	if (!n || !params || n->op->kind != OP_HOST)
		return result(cudaErrorInvalidValue);
	*params = (struct cudaHostNodeParams){ n->op->host.fn, n->op->host.user_data };
	return cudaSuccess;
}

/* ---- objects of the program's that graphs keep ----------------------------------------- */

static struct object *object_find(cudaUserObject_t handle)
{
	return handle_object(HANDLE_OBJECT, handle);
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data, cudaHostFn_t destroy,
				 unsigned n_refs, unsigned flags)
{
	CALL(other);
	struct object *o;

	if (!object || !destroy || !n_refs || n_refs > INT_MAX ||
	    flags != cudaUserObjectNoDestructorSync)
		return result(cudaErrorInvalidValue);
	o = malloc(sizeof(*o));
	if (!o)
		return result(cudaErrorMemoryAllocation);
	*o = (struct object){ .data = data, .destroy = destroy };
	atomic_init(&o->n_refs, (int)n_refs);
	*object = o->handle = handle_open(HANDLE_OBJECT, o);
	if (*object)
		return cudaSuccess;
	free(o);
	return result(cudaErrorMemoryAllocation);
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
	CALL(other);
	struct object *o = object_find(object);

	if (!o || !count || count > INT_MAX)
		return result(cudaErrorInvalidValue);
	atomic_fetch_add(&o->n_refs, (int)count);
	return cudaSuccess;
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
	CALL(other);
	struct object *o = object_find(object);

	if (!o || !count || count > INT_MAX)
		return result(cudaErrorInvalidValue);
	object_unref(o, count);
	return cudaSuccess;
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
				      unsigned flags)
{
	CALL(other);
	struct graph *g = graph_find(graph);
	struct object *o = object_find(object);

	if (!g || !o || !count || count > INT_MAX || flags & ~(unsigned)cudaGraphUserObjectMove)
		return result(cudaErrorInvalidValue);
	if (!flags)
		atomic_fetch_add(&o->n_refs, (int)count);
	if (objects_add(&g->objects, o, count))
		return cudaSuccess;
	if (!flags)
		object_unref(o, count);
	return result(cudaErrorMemoryAllocation);
}

/* ---- executable graphs ----------------------------------------------------------------- */

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	CALL(other);
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

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	CALL(other);
	struct exec *x = handle_close(HANDLE_EXEC, exec);

	if (!x)
		return result(cudaErrorInvalidValue);
	exec_unref(x);
	return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *params)
{
	CALL(other);
	struct exec *x = handle_object(HANDLE_EXEC, exec);
	const struct node *n = node_find(node);

	/* the graph may have grown since */
	if (!x || !n || !params || params->extra || n->graph->id != x->graph_id ||
	    n->index >= x->body->n_ops || x->body->op[n->index]->kind != OP_KERNEL)
		return result(cudaErrorInvalidValue);
	return result(exec_set_params(x, n->index, params));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
				cudaGraphExecUpdateResultInfo *info)
{
	CALL(other);
	struct exec *x = handle_object(HANDLE_EXEC, exec);
	const struct graph *g = graph_find(graph);

	if (!x || !g || !info)
		return result(cudaErrorInvalidValue);
	exec_compare(x, g, info);
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
