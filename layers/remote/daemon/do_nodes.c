/*
 * do_nodes.c - a daemon's commands that make a graph node by node. What a node needs, the client
 * names by places (do_graphs.c).
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "layers/remote/daemon/session.h"

/* ---- graphs ------------------------------------------------------------------------------- */

int do_graph_create(struct session *s, struct request *r)
{
	cudaGraph_t graph;
	int err = (int)cudaGraphCreate(&graph, 0);

	return err ? err : graph_enter(s, r->word[0], graph);
}

int do_graph_clone(struct session *s, struct request *r)
{
	const struct served_graph *g = table_get(&s->graphs, r->word[1]);
	cudaGraph_t clone;
	int err = g ? (int)cudaGraphClone(&clone, g->graph) : (int)cudaErrorInvalidValue;

	return err ? err : graph_enter(s, r->word[0], clone);
}

/* ---- what a node needs -------------------------------------------------------------------- */

/* A graph with room for a node more, and what that one needs. */
struct addition {
	struct served_graph *graph;
	cudaGraphNode_t *needs;
	size_t n;
};

static uint64_t place_at(const uint8_t *places, size_t i)
{
	uint64_t place;

	memcpy(&place, places + 8 * i, sizeof(place));
	return place;
}

static bool make_room(struct served_graph *g)
{
	struct served_node *larger;
	size_t room = 2 * g->room;

	if (g->nodes >= REMOTE_NODES)
		return false;
	if (g->nodes < g->room)
		return true;
	larger = realloc(g->node, room * sizeof(*larger));
	if (!larger)
		return false;
	g->node = larger;
	g->room = room;
	return true;
}

/* After an error there is nothing to be freed. */
static int begin(const struct session *s, uint64_t graph, const uint8_t *places, size_t n,
		 struct addition *a)
{
	int err;

	*a = (struct addition){ .graph = graph_find(s, graph, &err), .n = n };
	if (err)
		return err;
	a->needs = make_room(a->graph) ? calloc(n + 1, sizeof(*a->needs)) : NULL;
	if (!a->needs)
		return cudaErrorMemoryAllocation;
	for (size_t i = 0; i < n; i++) {
		uint64_t place = place_at(places, i);

		if (place >= a->graph->nodes) {
			free(a->needs);
			return cudaErrorInvalidValue;
		}
		a->needs[i] = a->graph->node[place].last;
	}
	return 0;
}

/* The whole payload. */
static int begin_with(const struct session *s, const struct request *r, struct addition *a)
{
	return r->payload_bytes % 8 ? (int)cudaErrorInvalidValue
				    : begin(s, r->word[0], r->payload, r->payload_bytes / 8, a);
}

/* Answers its place. */
static int end(struct request *r, struct addition *a, const struct served_node *node, int err)
{
	uint64_t place = a->graph->nodes;

	free(a->needs);
	if (err)
		return err;
	a->graph->node[a->graph->nodes++] = *node;
	answer_put(r, &place, sizeof(place));
	return 0;
}

static int end_one(struct request *r, struct addition *a, cudaGraphNode_t node, int err)
{
	return end(r, a, &(struct served_node){ node, node, node }, err);
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* What it needs, then its arguments. */
int do_add_kernel(struct session *s, struct request *r)
{
	uint64_t n = r->word[1], before = n * 8;
	void *argument[REMOTE_PARAMS + 1] = { NULL };
	const struct served_kernel *k = table_get(&s->kernels, r->word[2]);
	struct cudaKernelNodeParams p;
	struct remote_shape shape;
	cudaGraphNode_t node = NULL;
	struct addition a;
	int err;

	memcpy(&shape, r->word + 2, sizeof(shape));
	if (!k || n > REMOTE_NEEDS_BYTES / 8 || before > r->payload_bytes ||
	    !kernel_arguments(k, r->payload + before, r->payload_bytes - (uint32_t)before,
			      argument))
		return cudaErrorInvalidValue;
	p = (struct cudaKernelNodeParams){
		.func = (void *)k->function,
		.gridDim = { low_of(shape.grid_xy), high_of(shape.grid_xy), low_of(shape.z) },
		.blockDim = { low_of(shape.block_xy), high_of(shape.block_xy), high_of(shape.z) },
		.sharedMemBytes = (unsigned)shape.shared_bytes,
		.kernelParams = argument,
	};
	err = begin(s, r->word[0], r->payload, n, &a);
	if (err)
		return err;
	err = s->backend->node_add
		      ? s->backend->node_add(&node, a.graph->graph, a.needs, a.n, &p)
		      : (int)cudaGraphAddKernelNode(&node, a.graph->graph, a.needs, a.n, &p);
	return end_one(r, &a, node, err);
}

struct cudaMemcpy3DParms graph_copy_of(const struct remote_rows *rows, int kind)
{
	return (struct cudaMemcpy3DParms){
		.srcPtr = { pointer_of(rows->src), rows->src_pitch, rows->width, rows->height },
		.dstPtr = { pointer_of(rows->dst), rows->dst_pitch, rows->width, rows->height },
		.extent = { rows->width, rows->height, 1 },
		.kind = (enum cudaMemcpyKind)kind,
	};
}

static bool holds_rows(const struct session *s, uint64_t base, uint64_t pitch,
		       const struct remote_rows *rows)
{
	return (rows->height == 1 || pitch >= rows->width) &&
	       regions_hold(&s->regions, base, rows_extent(rows->height, pitch, rows->width));
}

int do_add_copy(struct session *s, struct request *r)
{
	const struct remote_rows rows = { r->word[1], r->word[2], r->word[3],
					  r->word[4], r->word[5], r->word[6] };
	struct cudaMemcpy3DParms p;
	cudaGraphNode_t node = NULL;
	struct addition a;
	int err;

	if (r->word[7] > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!rows.width || !rows.height || !holds_rows(s, rows.dst, rows.dst_pitch, &rows) ||
	    !holds_rows(s, rows.src, rows.src_pitch, &rows))
		return cudaErrorInvalidValue;
	err = begin_with(s, r, &a);
	if (err)
		return err;
	p = graph_copy_of(&rows, (int)r->word[7]);
	err = (int)cudaGraphAddMemcpyNode(&node, a.graph->graph, a.needs, a.n, &p);
	return end_one(r, &a, node, err);
}

/* Elements of 1, 2 or 4 bytes: the runtime refuses others. */
int do_add_set(struct session *s, struct request *r)
{
	const struct cudaMemsetParams p = {
		.dst = pointer_of(r->word[1]),
		.pitch = r->word[2],
		.value = (unsigned)r->word[3],
		.elementSize = (unsigned)r->word[4],
		.width = r->word[5],
		.height = r->word[6],
	};
	struct remote_rows rows = { .height = p.height };
	cudaGraphNode_t node = NULL;
	struct addition a;
	int err;

	if (!p.width || !p.height || !p.elementSize || p.elementSize > 4 ||
	    __builtin_mul_overflow(p.width, (uint64_t)p.elementSize, &rows.width) ||
	    !holds_rows(s, r->word[1], p.pitch, &rows))
		return cudaErrorInvalidValue;
	err = begin_with(s, r, &a);
	if (err)
		return err;
	err = (int)cudaGraphAddMemsetNode(&node, a.graph->graph, a.needs, a.n, &p);
	return end_one(r, &a, node, err);
}

int do_add_host(struct session *s, struct request *r)
{
	struct served_node node = { NULL };
	struct addition a;
	int err = begin_with(s, r, &a);

	if (err)
		return err;
	err = hosts_add_call(s, a.graph->graph, r->word[1], a.needs, a.n, &node);
	return end(r, &a, &node, err);
}

int do_add_host_copy(struct session *s, struct request *r)
{
	struct served_node node = { NULL };
	struct addition a;
	int err = begin_with(s, r, &a);

	if (err)
		return err;
	err = hosts_add_copy(s, a.graph->graph, r->word[1], r->word + 2, a.needs, a.n, &node);
	return end(r, &a, &node, err);
}

int do_add_empty(struct session *s, struct request *r)
{
	cudaGraphNode_t node = NULL;
	struct addition a;
	int err = begin_with(s, r, &a);

	if (err)
		return err;
	err = (int)cudaGraphAddEmptyNode(&node, a.graph->graph, a.needs, a.n);
	return end_one(r, &a, node, err);
}

/* ---- edges -------------------------------------------------------------------------------- */

static int add_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
		     size_t n)
{
#if CUDART_VERSION >= 13000
	return (int)cudaGraphAddDependencies(graph, from, to, NULL, n);
#else
	return (int)cudaGraphAddDependencies(graph, from, to, n);
#endif
}

int do_add_needs(struct session *s, struct request *r)
{
	size_t n = r->payload_bytes / 16;
	int err;
	const struct served_graph *g = graph_find(s, r->word[0], &err);
	cudaGraphNode_t *node = g ? calloc(2 * n + 1, sizeof(*node)) : NULL;

	if (!node || r->payload_bytes % 16)
		err = err ? err : (int)(node ? cudaErrorInvalidValue : cudaErrorMemoryAllocation);
	for (size_t i = 0; !err && i < n; i++) {
		uint64_t from = place_at(r->payload, 2 * i), to = place_at(r->payload, 2 * i + 1);

		if (from >= g->nodes || to >= g->nodes || from == to) {
			err = cudaErrorInvalidValue;
			break;
		}
		node[i] = g->node[from].last;
		node[n + i] = g->node[to].first;
	}
	err = err ? err : add_edges(g->graph, node, node + n, n);
	free(node);
	return err;
}
