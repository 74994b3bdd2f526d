/* shape.c - which nodes a graph has, what hangs on what, and how they are captured. */
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/pattern.h"
#include "common/philox.h"
#include "workloads/graph/graph.h"

static bool has_root(const struct graph_opts *o)
{
	return o->topology == GRAPH_ROOTED || o->topology == GRAPH_FORKJOIN;
}

static int graph_width(const struct graph_opts *o)
{
	return o->topology == GRAPH_LINE ? 1 : (int)o->width;
}

int64_t graph_nodes(const struct graph_opts *o)
{
	return graph_width(o) * o->length + has_root(o) + (o->topology == GRAPH_FORKJOIN);
}

/*
 * Fisher-Yates over the chains of all nodes. A chain's nodes are made from its first to its last,
 * so no node is made before the one that it depends on.
 */
static void shuffle_nodes(unsigned char *order, int64_t n)
{
	for (int64_t i = n - 1; i > 0; i--) {
		struct philox r = philox4x32((uint32_t)i, 0, 0, 0, 1);
		int64_t j = (int64_t)(((uint64_t)r.word[0] * (uint64_t)(i + 1)) >> 32);
		unsigned char kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
}

void graph_shape_init(struct graph_shape *shape, const struct graph_opts *o)
{
	int width = graph_width(o);
	int64_t chains = width * o->length;

	*shape = (struct graph_shape){ .width = width,
				       .length = o->length,
				       .nodes = graph_nodes(o),
				       .root = has_root(o),
				       .end = o->topology == GRAPH_FORKJOIN,
				       .kind = (enum graph_kind)o->node,
				       .order = malloc((size_t)chains) };
	CHECK(shape->order, "%ld nodes", (long)chains);
	shape->edges = chains - width + (shape->root + shape->end) * width;
	shape->roots = shape->root ? 1 : width;
	for (int64_t i = 0; i < chains; i++)
		shape->order[i] = (unsigned char)(i / o->length);
	if (o->order == GRAPH_SHUFFLED)
		shuffle_nodes(shape->order, chains);
	for (int64_t i = 0; i < chains && o->order == GRAPH_LEVELS; i++)
		shape->order[i] = (unsigned char)(i % width);
	for (int64_t i = 0; i < chains && o->order == GRAPH_LATE; i++)
		shape->order[i] = (unsigned char)((i / o->length + 1) % width);
	shape->before_kernel = o->copies;
	shape->copies = graph_copies(o);
	shape->copies_back = graph_copies_back(o);
	shape->copy_bytes = o->bytes;
}

void graph_shape_release(struct graph_shape *shape)
{
	free(shape->order);
	shape->order = NULL;
}

bool graph_stages(enum graph_kind kind)
{
	return kind == GRAPH_STAGED || kind == GRAPH_STREAMED;
}

/* Staged, streamed: from one row of copies to the next, and where in there a node is. */
static int64_t nodes_in_turn(enum graph_kind kind, int64_t before_kernel)
{
	return before_kernel + (kind == GRAPH_STREAMED ? 2 : 1);
}

static int64_t place_in_turn(const struct graph_shape *shape, int64_t node)
{
	return node % shape->length % nodes_in_turn(shape->kind, shape->before_kernel);
}

static enum graph_kind kind_in_turn(const struct graph_shape *shape, int64_t node)
{
	int64_t place = place_in_turn(shape, node);

	return place < shape->before_kernel    ? GRAPH_H2D
	       : place == shape->before_kernel ? GRAPH_KERNEL
					       : GRAPH_D2H;
}

/* Root and end are kernels. */
enum graph_kind graph_node_kind(const struct graph_shape *shape, int64_t node)
{
	static const enum graph_kind mixed[] = { GRAPH_KERNEL, GRAPH_MEMSET, GRAPH_MEMCPY };

	if (node >= shape->width * shape->length)
		return GRAPH_KERNEL;
	if (graph_stages(shape->kind))
		return kind_in_turn(shape, node);
	return shape->kind == GRAPH_MIXED ? mixed[node % shape->length % 3] : shape->kind;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t copies_of_chain(enum graph_kind kind, int64_t length, int64_t before_kernel)
{
	int64_t turn = nodes_in_turn(kind, before_kernel);

	if (graph_stages(kind))
		return length / turn * before_kernel + smaller(length % turn, before_kernel);
	return kind == GRAPH_H2D || kind == GRAPH_D2H ? length : 0;
}

int64_t graph_copies(const struct graph_opts *o)
{
	return graph_width(o) * copies_of_chain((enum graph_kind)o->node, o->length, o->copies);
}

int64_t graph_copies_back(const struct graph_opts *o)
{
	return o->node == GRAPH_STREAMED
		       ? graph_width(o) * (o->length / nodes_in_turn(GRAPH_STREAMED, o->copies))
		       : 0;
}

/* The last node of a turn is a copy back, or a kernel of staged nodes. */
static int64_t kernels_of_turns(const struct graph_opts *o)
{
	int64_t turn = nodes_in_turn((enum graph_kind)o->node, o->copies);

	return o->length / turn + (o->length % turn > o->copies);
}

int64_t graph_kernels(const struct graph_opts *o)
{
	int64_t length = o->length, chain = 0;

	if (o->node == GRAPH_KERNEL)
		chain = length;
	else if (o->node == GRAPH_MIXED)
		chain = (length + 2) / 3;
	else if (graph_stages((enum graph_kind)o->node))
		chain = kernels_of_turns(o);
	return graph_width(o) * chain + has_root(o) + (o->topology == GRAPH_FORKJOIN);
}

int64_t graph_copy_number(const struct graph_shape *shape, int64_t node)
{
	int64_t place = node % shape->length, before = shape->before_kernel;
	int64_t first = shape->copies / shape->width * (node / shape->length);

	if (!graph_stages(shape->kind))
		return first + place;
	return first + place / nodes_in_turn(shape->kind, before) * before +
	       smaller(place_in_turn(shape, node), before - 1);
}

int64_t graph_copied_back(const struct graph_shape *shape, int64_t i)
{
	int64_t each = shape->copies_back / shape->width, before = shape->before_kernel;

	return i / each * (shape->copies / shape->width) + i % each * before + before - 1;
}

static int node_byte(int64_t node)
{
	return (int)(node % 255 + 1);
}

unsigned long long graph_set_word(int64_t node)
{
	return (unsigned long long)node_byte(node) * 0x01010101;
}

unsigned long long graph_copied_word(int64_t node)
{
	return pattern_word((uint64_t)node);
}

/* ---- capture ------------------------------------------------------------------------------ */

static void add_staged_kernel(const struct graph_state *s, int64_t node, unsigned add,
			      cudaStream_t stream)
{
	const struct graph_shape *shape = &s->shape;
	const dim3 grid = { 1, 1, 1 }, block = { GRAPH_THREADS, 1, 1 };
	bool of_chain = node < shape->width * shape->length;
	int64_t copy = of_chain ? graph_copy_number(shape, node) : 0;
	const unsigned long long *copied =
		of_chain ? graph_areas_last(&s->areas, shape, copy) : NULL;
	unsigned long long expected =
		pattern_word((uint64_t)((copy + 1) * shape->copy_bytes / 8 - 1));
	unsigned long long *ended = of_chain ? s->ends + node / shape->length : NULL;
	unsigned long long *word = s->trace + node, amount = add;
	unsigned long long cycles = node < shape->length ? s->first_cycles : s->cycles;
	void *args[] = { &word, &amount, &cycles, &copied, &expected, &ended };

	CUDA(cudaLaunchKernel(graph_staged_kernel(), grid, block, args, 0, stream));
}

static void add_kernel(const struct graph_state *s, int64_t node, unsigned add, cudaStream_t stream)
{
	const dim3 grid = { 1, 1, 1 }, block = { GRAPH_THREADS, 1, 1 };
	unsigned long long *word = s->trace + node, amount = add;
	unsigned long long cycles = node < s->shape.length ? s->first_cycles : s->cycles;
	void *args[] = { &word, &amount, &cycles };

	if (graph_stages(s->shape.kind))
		add_staged_kernel(s, node, add, stream);
	else
		CUDA(cudaLaunchKernel(graph_kernel(), grid, block, args, 0, stream));
}

static void add_node(const struct graph_state *s, int64_t node, unsigned add, cudaStream_t stream)
{
	enum graph_kind kind = graph_node_kind(&s->shape, node);

	switch (kind) {
	case GRAPH_MEMSET:
		CUDA(cudaMemsetAsync(s->trace + node, node_byte(node), 4, stream));
		break;
	case GRAPH_MEMCPY:
		CUDA(cudaMemcpyAsync(s->trace + node, s->source + node, sizeof(*s->trace),
				     cudaMemcpyDeviceToDevice, stream));
		break;
	case GRAPH_H2D:
	case GRAPH_D2H:
		graph_areas_copy(&s->areas, &s->shape, kind == GRAPH_D2H,
				 graph_copy_number(&s->shape, node), stream);
		break;
	default:
		add_kernel(s, node, add, stream);
	}
}

static void add_chains(const struct graph_state *s, unsigned add, cudaStream_t first)
{
	const struct graph_shape *shape = &s->shape;
	int64_t made[GRAPH_WIDTH_MAX] = { 0 };

	for (int64_t i = 0; i < shape->width * shape->length; i++) {
		int chain = shape->order[i];

		add_node(s, chain * shape->length + made[chain]++, add,
			 chain ? s->stream[chain] : first);
	}
}

/* Every chain is a stream. A stream that waits for the first one before that holds anything hangs
 * on nothing. */
void graph_enqueue(const struct graph_state *s, unsigned add, cudaStream_t stream)
{
	const struct graph_shape *shape = &s->shape;

	if (shape->root)
		add_kernel(s, shape->width * shape->length, add, stream);
	if (shape->width > 1)
		CUDA(cudaEventRecord(s->forked, stream));
	for (int i = 1; i < shape->width; i++)
		CUDA(cudaStreamWaitEvent(s->stream[i], s->forked, 0));
	add_chains(s, add, stream);
	for (int i = 1; i < shape->width; i++) {
		CUDA(cudaEventRecord(s->joined[i], s->stream[i]));
		CUDA(cudaStreamWaitEvent(stream, s->joined[i], 0));
	}
	if (shape->end)
		add_kernel(s, shape->width * shape->length + 1, add, stream);
}

cudaGraph_t graph_capture(struct graph_state *s, unsigned add)
{
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(s->stream[0], cudaStreamCaptureModeThreadLocal));
	graph_enqueue(s, add, s->stream[0]);
	CUDA(cudaStreamEndCapture(s->stream[0], &graph));
	return graph;
}

/* ---- what came of it ---------------------------------------------------------------------- */

/* False: it is not said. Lupine refuses the call of CUDA 13, as of 2026-11. */
static bool dependency_count(cudaGraphNode_t node, size_t *n)
{
#if CUDART_VERSION >= 13000
	cudaError_t err = cudaGraphNodeGetDependencies(node, NULL, NULL, n);
#else
	cudaError_t err = cudaGraphNodeGetDependencies(node, NULL, n);
#endif

	if (err)
		cudaGetLastError();
	return !err;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

int64_t graph_misshapen(const struct graph_shape *shape, cudaGraph_t graph, bool *edges_hidden)
{
	int64_t edges = 0, roots = 0;
	cudaGraphNode_t *node;
	size_t n = 0, needs = 0;
	bool said = true;

	CUDA(cudaGraphGetNodes(graph, NULL, &n));
	node = calloc(n + 1, sizeof(*node));
	CHECK(node, "%zu nodes", n);
	CUDA(cudaGraphGetNodes(graph, node, &n));
	for (size_t i = 0; i < n && said; i++) {
		said = dependency_count(node[i], &needs);
		edges += (int64_t)needs;
		roots += !needs;
	}
	free(node);
	*edges_hidden |= !said;
	return distance((int64_t)n, shape->nodes) +
	       (said ? distance(edges, shape->edges) + distance(roots, shape->roots) : 0);
}
