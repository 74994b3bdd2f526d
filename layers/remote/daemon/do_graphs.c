/*
 * do_graphs.c - a daemon's commands about captures and graphs. A client names a node by its graph
 * and its place in cudaGraphGetNodes.
 */
#include "layers/remote/daemon/session.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

#define NO_NODE UINT64_MAX

/* ---- captures ----------------------------------------------------------------------------- */

int do_capture_begin(struct session *s, struct request *r)
{
	enum cudaStreamCaptureMode mode = (enum cudaStreamCaptureMode)r->word[1];
	cudaStream_t stream;
	int err;

	if (s->order)
		return order_capture_begin(s, r->word[0], mode);
	err = session_stream(s, r->word[0], &stream);
	return err ? err : (int)cudaStreamBeginCapture(stream, mode);
}

int graph_enter(struct session *s, uint64_t number, cudaGraph_t graph)
{
	struct served_graph *g = calloc(1, sizeof(*g));
	int err = g ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;

	if (g)
		g->graph = graph;
	if (g && table_put(&s->graphs, number, g))
		return 0;
	cudaGraphDestroy(graph);
	free(g);
	return err;
}

static int end_capture(struct session *s, uint64_t word, cudaGraph_t *graph)
{
	cudaStream_t stream;
	int err;

	if (s->order)
		return order_capture_end(s, word, graph);
	err = session_stream(s, word, &stream);
	return err ? err : (int)cudaStreamEndCapture(stream, graph);
}

int do_capture_end(struct session *s, struct request *r)
{
	cudaGraph_t graph = NULL;
	int err = end_capture(s, r->word[0], &graph);

	if (!err && !graph)
		err = cudaErrorInvalidValue;
	return err ? err : graph_enter(s, r->word[1], graph);
}

int do_capture_status(struct session *s, struct request *r)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	cudaStream_t stream;
	int err = session_find_stream(s, r->word[0], &stream), answer;

	if (err)
		return err;
	if (s->order && (err = order_ask_default(s, r->word[0])))
		return err;
	err = (int)cudaStreamIsCapturing(stream, &status);
	answer = (int)status;
	answer_put(r, &answer, sizeof(answer));
	return err;
}

/* ---- graphs and nodes --------------------------------------------------------------------- */

void graph_release(struct served_graph *g)
{
	cudaGraphDestroy(g->graph);
	free(g->node);
	free(g);
}

int do_graph_destroy(struct session *s, struct request *r)
{
	struct served_graph *g = table_take(&s->graphs, r->word[0]);

	if (!g)
		return cudaErrorInvalidValue;
	graph_release(g);
	return 0;
}

static int get_needs(cudaGraphNode_t node, cudaGraphNode_t *needs, size_t *n)
{
#if CUDART_VERSION >= 13000
	return (int)cudaGraphNodeGetDependencies(node, needs, NULL, n);
#else
	return (int)cudaGraphNodeGetDependencies(node, needs, n);
#endif
}

static struct served_node *served(const struct served_graph *g, cudaGraphNode_t node)
{
	for (size_t i = 0; i < g->nodes; i++)
		if (g->node[i].node == node)
			return &g->node[i];
	return NULL;
}

/* What moves the client's memory for a copy: it stands before the copy, or behind it. */
static int join_mover(const struct served_graph *g, cudaGraphNode_t mover)
{
	cudaGraphNode_t copy;
	struct served_node *found;
	size_t n = 1;
	int err = get_needs(mover, &copy, &n);

	found = err || n != 1 ? NULL : served(g, copy);
	if (found)
		found->last = mover;
	return err;
}

static int join_copy(struct served_node *copy)
{
	cudaGraphNode_t mover;
	enum cudaGraphNodeType type;
	size_t n = 1;
	bool in;
	int err = (int)cudaGraphNodeGetType(copy->node, &type);

	if (err || type != cudaGraphNodeTypeMemcpy)
		return err;
	err = get_needs(copy->node, &mover, &n);
	if (!err && n == 1 && hosts_moves(mover, &in) && in)
		copy->first = mover;
	return err;
}

/* Without those that the client does not know of. */
static int serve_nodes(struct served_graph *g, const cudaGraphNode_t *all, size_t n)
{
	bool in;
	int err = 0;

	for (size_t i = 0; i < n; i++)
		if (!hosts_moves(all[i], &in))
			g->node[g->nodes++] = (struct served_node){ all[i], all[i], all[i] };
	for (size_t i = 0; !err && i < n; i++)
		if (hosts_moves(all[i], &in) && !in)
			err = join_mover(g, all[i]);
	for (size_t i = 0; !err && i < g->nodes; i++)
		err = join_copy(&g->node[i]);
	return err;
}

static int list_nodes(struct served_graph *g)
{
	cudaGraphNode_t *all;
	size_t n;
	int err = (int)cudaGraphGetNodes(g->graph, NULL, &n);

	if (err)
		return err;
	all = calloc(n + 1, sizeof(*all));
	g->nodes = 0;
	g->room = n + 1;
	g->node = calloc(g->room, sizeof(*g->node));
	if (!g->node || !all)
		err = cudaErrorMemoryAllocation;
	err = err || !n ? err : (int)cudaGraphGetNodes(g->graph, all, &n);
	err = err ? err : serve_nodes(g, all, n);
	free(all);
	if (err) {
		free(g->node);
		g->node = NULL;
	}
	return err;
}

struct served_graph *graph_find(const struct session *s, uint64_t number, int *err)
{
	struct served_graph *g = table_get(&s->graphs, number);

	*err = cudaErrorInvalidValue;
	if (g)
		*err = g->node ? 0 : list_nodes(g);
	return *err ? NULL : g;
}

static cudaGraphNode_t find_node(const struct session *s, uint64_t graph, uint64_t node, int *err)
{
	const struct served_graph *g = graph_find(s, graph, err);

	if (g && node < g->nodes)
		return g->node[node].node;
	*err = *err ? *err : cudaErrorInvalidValue;
	return NULL;
}

static uint64_t place_of(const struct served_graph *g, cudaGraphNode_t node)
{
	const struct served_node *found = served(g, node);

	return found ? (uint64_t)(found - g->node) : NO_NODE;
}

int do_graph_nodes(struct session *s, struct request *r)
{
	int err;
	const struct served_graph *g = graph_find(s, r->word[0], &err);
	uint64_t n = g ? g->nodes : 0;

	answer_put(r, &n, sizeof(n));
	return err;
}

int do_node_type(struct session *s, struct request *r)
{
	enum cudaGraphNodeType type;
	int err, answer;
	cudaGraphNode_t node = find_node(s, r->word[0], r->word[1], &err);

	err = err ? err : (int)cudaGraphNodeGetType(node, &type);
	answer = err ? 0 : (int)type;
	answer_put(r, &answer, sizeof(answer));
	return err;
}

/* Places of nodes that one needs. */
struct needs {
	uint64_t *place;
	size_t n, room;
};

static bool put_need(struct needs *needs, uint64_t place)
{
	if (needs->n == needs->room) {
		size_t room = needs->room ? 2 * needs->room : 16;
		uint64_t *larger = realloc(needs->place, room * sizeof(*larger));

		if (!larger)
			return false;
		needs->place = larger;
		needs->room = room;
	}
	needs->place[needs->n++] = place;
	return true;
}

/* In place of one that the client does not know of: what that one needs. Twice at most, as a copy
 * stands between two of those. */
static int collect_needs(const struct served_graph *g, cudaGraphNode_t node, struct needs *out)
{
	cudaGraphNode_t *raw;
	size_t n = 0;
	bool in;
	int err = get_needs(node, NULL, &n);

	if (err || !n)
		return err;
	raw = calloc(n, sizeof(*raw));
	err = raw ? get_needs(node, raw, &n) : (int)cudaErrorMemoryAllocation;
	for (size_t i = 0; !err && i < n; i++) {
		if (hosts_moves(raw[i], &in))
			err = collect_needs(g, raw[i], out);
		else if (!put_need(out, place_of(g, raw[i])))
			err = cudaErrorMemoryAllocation;
	}
	free(raw);
	return err;
}

/* As many as fit, from the first that is asked for. */
static void put_needs(struct request *r, const struct needs *needs)
{
	enum { FIT = REMOTE_ANSWER_BYTES / 8 - 1 };
	uint64_t n = needs->n, first = r->word[2], put = first < n ? n - first : 0;

	answer_put(r, &n, sizeof(n));
	if (put)
		answer_put(r, needs->place + first, (put < FIT ? put : FIT) * sizeof(uint64_t));
}

int do_node_needs(struct session *s, struct request *r)
{
	struct needs needs = { NULL };
	int err;
	cudaGraphNode_t node = find_node(s, r->word[0], r->word[1], &err);

	err = err ? err : collect_needs(table_get(&s->graphs, r->word[0]), node, &needs);
	if (!err)
		put_needs(r, &needs);
	free(needs.place);
	return err;
}

/* ---- kernels in graphs -------------------------------------------------------------------- */

static uint64_t number_of(const struct session *s, const void *function)
{
	for (uint64_t i = 0; i < s->kernels.room; i++) {
		const struct served_kernel *k = s->kernels.at[i];

		if (k && (s->backend->is_kernel ? s->backend->is_kernel(k->function, function)
						: k->function == function))
			return i;
	}
	return REMOTE_KERNELS;
}

static int refuse_node(const char *why)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		complain(ENOTSUP, "layer remote: a kernel of a graph %s", why);
	return cudaErrorNotSupported;
}

static int put_kernel(const struct session *s, struct request *r,
		      const struct cudaKernelNodeParams *p)
{
	const struct remote_shape shape = {
		.kernel = number_of(s, p->func),
		.grid_xy = pair(p->gridDim.x, p->gridDim.y),
		.block_xy = pair(p->blockDim.x, p->blockDim.y),
		.z = pair(p->gridDim.z, p->blockDim.z),
		.shared_bytes = p->sharedMemBytes,
	};
	const struct served_kernel *k = table_get(&s->kernels, shape.kernel);
	uint8_t arguments[REMOTE_ANSWER_BYTES] = { 0 };

	if (!k)
		return refuse_node("was not named by the client");
	if (sizeof(shape) + k->bytes > REMOTE_ANSWER_BYTES)
		return refuse_node("has more arguments than an answer can hold");
	if (k->params && !p->kernelParams)
		return refuse_node("has its arguments in one piece");
	for (uint32_t i = 0; i < k->params; i++)
		memcpy(arguments + k->param[i].offset, p->kernelParams[i], k->param[i].size);
	answer_put(r, &shape, sizeof(shape));
	answer_put(r, arguments, k->bytes);
	return 0;
}

int do_node_kernel(struct session *s, struct request *r)
{
	struct cudaKernelNodeParams p;
	int err;
	cudaGraphNode_t node = find_node(s, r->word[0], r->word[1], &err);

	if (!err)
		err = s->backend->node_get ? s->backend->node_get(node, &p)
					   : (int)cudaGraphKernelNodeGetParams(node, &p);
	return err ? err : put_kernel(s, r, &p);
}

int do_exec_set_kernel(struct session *s, struct request *r)
{
	cudaGraphExec_t exec = table_get(&s->execs, r->word[0]);
	struct remote_shape shape;
	void *argument[REMOTE_PARAMS + 1] = { NULL };
	const struct served_kernel *k;
	struct cudaKernelNodeParams p;
	int err;
	cudaGraphNode_t node = find_node(s, r->word[1], r->word[2], &err);

	memcpy(&shape, r->word + 3, sizeof(shape));
	k = table_get(&s->kernels, shape.kernel);
	if (err || !exec || !k || !kernel_arguments(k, r->payload, r->payload_bytes, argument))
		return err ? err : (int)cudaErrorInvalidValue;
	p = (struct cudaKernelNodeParams){
		.func = (void *)k->function,
		.gridDim = { low_of(shape.grid_xy), high_of(shape.grid_xy), low_of(shape.z) },
		.blockDim = { low_of(shape.block_xy), high_of(shape.block_xy), high_of(shape.z) },
		.sharedMemBytes = (unsigned)shape.shared_bytes,
		.kernelParams = argument,
	};
	return s->backend->node_set ? s->backend->node_set(exec, node, &p)
				    : (int)cudaGraphExecKernelNodeSetParams(exec, node, &p);
}

/* ---- executable graphs -------------------------------------------------------------------- */

int do_exec_create(struct session *s, struct request *r)
{
	const struct served_graph *g = table_get(&s->graphs, r->word[1]);
	cudaGraphExec_t exec;
	int err = g ? (int)cudaGraphInstantiate(&exec, g->graph, r->word[2])
		    : (int)cudaErrorInvalidValue;

	if (err || table_put(&s->execs, r->word[0], exec))
		return err;
	cudaGraphExecDestroy(exec);
	return cudaErrorInvalidValue;
}

int do_exec_upload(struct session *s, struct request *r)
{
	cudaGraphExec_t exec = table_get(&s->execs, r->word[0]);
	cudaStream_t stream;
	int err = exec ? session_stream(s, r->word[1], &stream) : (int)cudaErrorInvalidValue;

	return err ? err : (int)cudaGraphUpload(exec, stream);
}

int do_exec_launch(struct session *s, struct request *r)
{
	cudaGraphExec_t exec = table_get(&s->execs, r->word[0]);
	cudaStream_t stream;
	int err = exec ? session_stream(s, r->word[1], &stream) : (int)cudaErrorInvalidValue;

	return err ? err : (int)cudaGraphLaunch(exec, stream);
}

/* What stopped an update is an answer, too. */
int do_exec_update(struct session *s, struct request *r)
{
	cudaGraphExec_t exec = table_get(&s->execs, r->word[0]);
	cudaGraphExecUpdateResultInfo info = { .result = cudaGraphExecUpdateError };
	int err;
	const struct served_graph *g = graph_find(s, r->word[1], &err);
	uint64_t answer[3];

	if (!exec || !g)
		return err ? err : (int)cudaErrorInvalidValue;
	err = (int)cudaGraphExecUpdate(exec, g->graph, &info);
	answer[0] = pair((uint32_t)info.result, (uint32_t)err);
	answer[1] = place_of(g, info.errorNode);
	answer[2] = place_of(g, info.errorFromNode);
	answer_put(r, answer, sizeof(answer));
	return 0;
}

int do_exec_destroy(struct session *s, struct request *r)
{
	cudaGraphExec_t exec = table_take(&s->execs, r->word[0]);

	return exec ? (int)cudaGraphExecDestroy(exec) : (int)cudaErrorInvalidValue;
}
