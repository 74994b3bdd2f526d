/*
 * nodes.c - functions that make a graph node by node, and clone one. Each waits for its answer, the
 * node's place.
 */
#include <string.h>

#include "layers/remote/preload/client.h"

SHOWN int cudaGraphCreate(void **graph, unsigned flags);
SHOWN int cudaGraphClone(void **clone, void *graph);
SHOWN int cudaGraphAddKernelNode(void **node, void *graph, void *const *needs, size_t n,
				 const struct cuda_kernel_node *params);
SHOWN int cudaGraphAddMemcpyNode(void **node, void *graph, void *const *needs, size_t n,
				 const struct cuda_copy_node *params);
SHOWN int cudaGraphAddMemcpyNode1D(void **node, void *graph, void *const *needs, size_t n,
				   void *dst, const void *src, size_t bytes, int kind);
SHOWN int cudaGraphAddMemsetNode(void **node, void *graph, void *const *needs, size_t n,
				 const struct cuda_set_node *params);
SHOWN int cudaGraphAddHostNode(void **node, void *graph, void *const *needs, size_t n,
			       const struct cuda_host_node *params);
SHOWN int cudaGraphAddEmptyNode(void **node, void *graph, void *const *needs, size_t n);
SHOWN int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to,
				   const void *edges, size_t n);
SHOWN int cudaGraphAddDependencies_v2(void *graph, void *const *from, void *const *to,
				      const void *edges, size_t n);

/* ---- graphs ------------------------------------------------------------------------------- */

/* The number of a new graph, and perhaps of which it is made. */
static int open_graph(void **graph, enum remote_op op, const uint64_t *from)
{
	uint64_t word[2] = { 0, from ? *from : 0 };
	int error;

	*graph = handle_open(HANDLE_GRAPH, &word[0]);
	if (!*graph)
		return CUDA_NO_MEMORY;
	error = client_ask(op, word, from ? 2 : 1, NULL, 0);
	if (error) {
		handle_close(HANDLE_GRAPH, *graph, &word[0]);
		*graph = NULL;
	}
	return error;
}

int cudaGraphCreate(void **graph, unsigned flags)
{
	int error = graph && !flags ? client_enter() : client_result(CUDA_INVALID_VALUE);

	return error ? error : client_leave(open_graph(graph, REMOTE_GRAPH_CREATE, NULL));
}

int cudaGraphClone(void **clone, void *graph)
{
	int error = clone ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t from;

	if (error)
		return error;
	return client_leave(handle_number(HANDLE_GRAPH, graph, &from)
				    ? open_graph(clone, REMOTE_GRAPH_CLONE, &from)
				    : CUDA_INVALID_VALUE);
}

/* ---- what a node needs -------------------------------------------------------------------- */

enum { NEEDS_MAX = REMOTE_NEEDS_BYTES / 8 };

static void put_place(uint8_t *out, size_t i, uint64_t place)
{
	memcpy(out + 8 * i, &place, sizeof(place));
}

static bool is_of(void *node, uint64_t graph, uint64_t *place)
{
	uint64_t its;

	return handle_node_numbers(node, &its, place) && its == graph;
}

/* The graph's number, if there can be such a node; with the lock, if it returns 0. */
static int enter(void **node, void *graph, void *const *needs, size_t n, uint64_t *number)
{
	int error = node && (needs || !n) ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t place;

	if (error)
		return error;
	if (n > NEEDS_MAX)
		return client_leave(client_refuse("nodes that need more than 4096 others"));
	if (!handle_number(HANDLE_GRAPH, graph, number))
		return client_leave(CUDA_INVALID_VALUE);
	for (size_t i = 0; i < n; i++)
		if (!is_of(needs[i], *number, &place))
			return client_leave(CUDA_INVALID_VALUE);
	return 0;
}

/* Sends the words with what the node needs, and perhaps more behind that, which is put there. */
static uint8_t *begin(enum remote_op op, const uint64_t *word, size_t words, void *const *needs,
		      size_t n, uint32_t more)
{
	uint8_t *out = client_begin(op, word, words, (uint32_t)(8 * n) + more);
	uint64_t place;

	for (size_t i = 0; i < n; i++) {
		is_of(needs[i], word[0], &place);
		put_place(out, i, place);
	}
	return out + 8 * n;
}

/* The answer: where it is in the graph. */
static int finish(void **node, uint64_t graph)
{
	uint64_t place;
	int error = client_ask_now(&place, sizeof(place), false);

	if (!error)
		*node = handle_node(graph, place);
	return error;
}

/* ---- nodes -------------------------------------------------------------------------------- */

int cudaGraphAddKernelNode(void **node, void *graph, void *const *needs, size_t n,
			   const struct cuda_kernel_node *params)
{
	uint64_t word[2 + REMOTE_SHAPE_WORDS] = { 0, n };
	int error = params && !params->extra ? enter(node, graph, needs, n, &word[0])
					     : client_result(CUDA_INVALID_VALUE);
	struct remote_shape shape;
	const struct kernel *k;

	if (error)
		return error;
	k = kernel_of(params->function, &error);
	if (!k || (k->params && !params->arguments))
		return client_leave(error ? error : CUDA_INVALID_VALUE);
	if (8 * n + k->bytes > REMOTE_PAYLOAD_BYTES)
		return client_leave(client_refuse("nodes that need more than 4096 others"));
	shape = kernel_shape(k, params->grid, params->block, params->shared_bytes);
	memcpy(word + 2, &shape, sizeof(shape));
	kernel_pack(k, params->arguments,
		    begin(REMOTE_ADD_KERNEL, word, 2 + REMOTE_SHAPE_WORDS, needs, n, k->bytes));
	return client_leave(finish(node, word[0]));
}

static int add_own_copy(void **node, uint64_t graph, void *const *needs, size_t n,
			const struct remote_rows *rows, bool to_device)
{
	uint64_t number = hosts_enter_copy(rows, to_device);
	const uint64_t word[] = { graph,
				  number,
				  to_device ? rows->dst : rows->src,
				  to_device ? rows->dst_pitch : rows->src_pitch,
				  rows->width,
				  rows->height,
				  to_device };
	int error;

	if (number == UINT64_MAX)
		return CUDA_NO_MEMORY;
	begin(REMOTE_ADD_HOST_COPY, word, sizeof(word) / 8, needs, n, 0);
	error = finish(node, graph);
	if (error)
		hosts_forget(number);
	return error;
}

static int add_copy(void **node, uint64_t graph, void *const *needs, size_t n,
		    const struct remote_rows *rows, int kind)
{
	bool dst_there, src_there;
	int error = copy_judge(rows, kind, &dst_there, &src_there);
	uint64_t word[8] = { graph };

	if (error || !rows->width || !rows->height)
		return error ? error : CUDA_INVALID_VALUE;
	if (!dst_there && !src_there)
		return client_refuse("graphs that copy within the program's own memory");
	if (!dst_there || !src_there)
		return add_own_copy(node, graph, needs, n, rows, dst_there);
	memcpy(word + 1, rows, sizeof(*rows));
	word[7] = (uint64_t)kind;
	begin(REMOTE_ADD_COPY, word, 8, needs, n, 0);
	return finish(node, graph);
}

static uint64_t corner(const struct cuda_pitched *p, const struct cuda_pos *at)
{
	return (uint64_t)(uintptr_t)p->at + at->y * p->pitch + at->x;
}

/* One layer of linear memory. */
static int rows_of(const struct cuda_copy_node *p, struct remote_rows *rows)
{
	if (p->src_array || p->dst_array || p->extent.depth != 1 || p->src_pos.z || p->dst_pos.z)
		return client_refuse("cudaGraphAddMemcpyNode of arrays, or of more than one layer");
	if (!p->src.at || !p->dst.at)
		return CUDA_INVALID_VALUE;
	if (p->extent.height > 1 && (p->extent.width + p->src_pos.x > p->src.pitch ||
				     p->extent.width + p->dst_pos.x > p->dst.pitch))
		return CUDA_INVALID_PITCH;
	*rows = (struct remote_rows){
		corner(&p->dst, &p->dst_pos),
		p->dst.pitch,
		corner(&p->src, &p->src_pos),
		p->src.pitch,
		p->extent.width,
		p->extent.height,
	};
	return 0;
}

int cudaGraphAddMemcpyNode(void **node, void *graph, void *const *needs, size_t n,
			   const struct cuda_copy_node *params)
{
	uint64_t number;
	int error =
		params ? enter(node, graph, needs, n, &number) : client_result(CUDA_INVALID_VALUE);
	struct remote_rows rows;

	if (error)
		return error;
	error = rows_of(params, &rows);
	return client_leave(error ? error : add_copy(node, number, needs, n, &rows, params->kind));
}

int cudaGraphAddMemcpyNode1D(void **node, void *graph, void *const *needs, size_t n, void *dst,
			     const void *src, size_t bytes, int kind)
{
	const struct remote_rows rows = {
		(uint64_t)(uintptr_t)dst, bytes, (uint64_t)(uintptr_t)src, bytes, bytes, 1,
	};
	uint64_t number;
	int error = enter(node, graph, needs, n, &number);

	return error ? error : client_leave(add_copy(node, number, needs, n, &rows, kind));
}

int cudaGraphAddMemsetNode(void **node, void *graph, void *const *needs, size_t n,
			   const struct cuda_set_node *params)
{
	uint64_t number;
	int error =
		params ? enter(node, graph, needs, n, &number) : client_result(CUDA_INVALID_VALUE);

	if (error)
		return error;
	begin(REMOTE_ADD_SET,
	      WORDS(number, (uint64_t)(uintptr_t)params->dst, params->pitch, params->value,
		    params->element, params->width, params->height),
	      needs, n, 0);
	return client_leave(finish(node, number));
}

static int add_host(void **node, uint64_t graph, void *const *needs, size_t n,
		    const struct cuda_host_node *params)
{
	uint64_t number = hosts_enter_call(params->function, params->data);
	int error;

	if (number == UINT64_MAX)
		return CUDA_NO_MEMORY;
	begin(REMOTE_ADD_HOST, WORDS(graph, number), needs, n, 0);
	error = finish(node, graph);
	if (error)
		hosts_forget(number);
	return error;
}

int cudaGraphAddHostNode(void **node, void *graph, void *const *needs, size_t n,
			 const struct cuda_host_node *params)
{
	uint64_t number;
	int error = params && params->function ? enter(node, graph, needs, n, &number)
					       : client_result(CUDA_INVALID_VALUE);

	return error ? error : client_leave(add_host(node, number, needs, n, params));
}

int cudaGraphAddEmptyNode(void **node, void *graph, void *const *needs, size_t n)
{
	uint64_t number;
	int error = enter(node, graph, needs, n, &number);

	if (error)
		return error;
	begin(REMOTE_ADD_EMPTY, WORDS(number), needs, n, 0);
	return client_leave(finish(node, number));
}

/* ---- edges -------------------------------------------------------------------------------- */

/* Ordinary ones, which zeros say. */
static bool are_ordinary(const uint8_t *edges, size_t n)
{
	enum { EDGE_BYTES = 8 }; /* sizeof(cudaGraphEdgeData) */

	for (size_t i = 0; edges && i < n * EDGE_BYTES; i++)
		if (edges[i])
			return false;
	return true;
}

static int add_edges(uint64_t graph, void *const *from, void *const *to, size_t n)
{
	uint64_t place;
	uint8_t *out;

	for (size_t i = 0; i < n; i++)
		if (!is_of(from[i], graph, &place) || !is_of(to[i], graph, &place))
			return CUDA_INVALID_VALUE;
	out = client_begin(REMOTE_ADD_NEEDS, &graph, 1, (uint32_t)(16 * n));
	for (size_t i = 0; i < n; i++) {
		is_of(from[i], graph, &place);
		put_place(out, 2 * i, place);
		is_of(to[i], graph, &place);
		put_place(out, 2 * i + 1, place);
	}
	return client_ask_now(NULL, 0, false);
}

static int add_dependencies(void *graph, void *const *from, void *const *to, const void *edges,
			    size_t n)
{
	int error = (from && to) || !n ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t number;

	if (error)
		return error;
	if (!are_ordinary(edges, n))
		return client_leave(client_refuse("edges of graphs with data"));
	if (!handle_number(HANDLE_GRAPH, graph, &number))
		return client_leave(CUDA_INVALID_VALUE);
	for (size_t i = 0, some; !error && i < n; i += some) {
		some = n - i < NEEDS_MAX / 2 ? n - i : NEEDS_MAX / 2;
		error = add_edges(number, from + i, to + i, some);
	}
	return client_leave(error);
}

int cudaGraphAddDependencies_v2(void *graph, void *const *from, void *const *to, const void *edges,
				size_t n)
{
	return add_dependencies(graph, from, to, edges, n);
}

/* CUDA 12's has the number of edges in the place of their data. */
int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *edges,
			     size_t n)
{
	return client_is_of_cuda_12() ? add_dependencies(graph, from, to, NULL, (uintptr_t)edges)
				      : add_dependencies(graph, from, to, edges, n);
}
