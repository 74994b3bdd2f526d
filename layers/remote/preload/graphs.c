/* graphs.c - functions about captures, graphs and their nodes. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "layers/remote/preload/client.h"

SHOWN int cudaStreamBeginCapture(void *stream, int mode);
SHOWN int cudaStreamEndCapture(void *stream, void **graph);
SHOWN int cudaStreamIsCapturing(void *stream, int *status);
SHOWN int cudaGraphGetNodes(void *graph, void **nodes, size_t *n);
SHOWN int cudaGraphNodeGetType(void *node, int *type);
SHOWN int cudaGraphNodeGetDependencies(void *node, void **needs, void *edges, size_t *n);
SHOWN int cudaGraphKernelNodeGetParams(void *node, struct cuda_kernel_node *params);
SHOWN int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
SHOWN int cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
SHOWN int cudaGraphUpload(void *exec, void *stream);
SHOWN int cudaGraphLaunch(void *exec, void *stream);
SHOWN int cudaGraphExecKernelNodeSetParams(void *exec, void *node,
					   const struct cuda_kernel_node *params);
SHOWN int cudaGraphExecUpdate(void *exec, void *graph, struct cuda_update_result *info);
SHOWN int cudaGraphExecDestroy(void *exec);
SHOWN int cudaGraphDestroy(void *graph);

/* ---- captures ----------------------------------------------------------------------------- */

int client_captures;

int cudaStreamBeginCapture(void *stream, int mode)
{
	int error = client_enter();
	uint64_t where;

	if (error)
		return error;
	if (!handle_stream(stream, &where))
		return client_leave(CUDA_INVALID_HANDLE);
	error = client_ask(REMOTE_CAPTURE_BEGIN, WORDS(where, (uint64_t)(unsigned)mode), NULL, 0);
	client_captures += !error;
	return client_leave(error);
}

int cudaStreamEndCapture(void *stream, void **graph)
{
	int error = graph ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t where, number;

	if (error)
		return error;
	*graph = NULL;
	if (!handle_stream(stream, &where))
		return client_leave(CUDA_INVALID_HANDLE);
	*graph = handle_open(HANDLE_GRAPH, &number);
	if (!*graph)
		return client_leave(CUDA_NO_MEMORY);
	error = client_ask(REMOTE_CAPTURE_END, WORDS(where, number), NULL, 0);
	/* with these it goes on, or there was none */
	client_captures -= client_captures > 0 && error != CUDA_CAPTURE_UNMATCHED &&
			   error != CUDA_ILLEGAL_STATE;
	if (error) {
		handle_close(HANDLE_GRAPH, *graph, &number);
		*graph = NULL;
	}
	return client_leave(error);
}

int client_is_captured(uint64_t where, bool *captured)
{
	int status = 0, error = 0;

	if (client_captures)
		error = client_ask(REMOTE_CAPTURE_STATUS, WORDS(where), &status, sizeof(status));
	*captured = status != 0;
	return error;
}

int cudaStreamIsCapturing(void *stream, int *status)
{
	int error = client_enter();
	uint64_t where;

	if (error)
		return error;
	if (!handle_stream(stream, &where) || !status)
		return client_leave(status ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE);
	return client_leave(
		client_ask(REMOTE_CAPTURE_STATUS, WORDS(where), status, sizeof(*status)));
}

/* ---- graphs and their nodes --------------------------------------------------------------- */

int cudaGraphGetNodes(void *graph, void **nodes, size_t *n)
{
	int error = n ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t number, there;

	if (error)
		return error;
	if (!handle_number(HANDLE_GRAPH, graph, &number))
		return client_leave(CUDA_INVALID_VALUE);
	error = client_ask(REMOTE_GRAPH_NODES, WORDS(number), &there, sizeof(there));
	if (error)
		return client_leave(error);
	for (size_t i = 0; nodes && i < *n; i++)
		nodes[i] = i < there ? handle_node(number, i) : NULL;
	if (!nodes || *n > there)
		*n = there;
	return client_leave(0);
}

int cudaGraphNodeGetType(void *node, int *type)
{
	int error = type ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t graph, place;

	if (error)
		return error;
	return client_leave(
		handle_node_numbers(node, &graph, &place)
			? client_ask(REMOTE_NODE_TYPE, WORDS(graph, place), type, sizeof(*type))
			: CUDA_INVALID_VALUE);
}

/* Nodes that it needs, by places, as many as an answer holds, from the first. */
struct needs {
	uint64_t n, place[REMOTE_ANSWER_BYTES / 8 - 1];
};

static int get_needs(const uint64_t node[2], void **out, size_t room, size_t *n)
{
	enum { FIT = sizeof((struct needs){ 0 }.place) / 8 };
	struct needs *answer = calloc(1, sizeof(*answer));
	int error = answer ? 0 : CUDA_NO_MEMORY;
	size_t first = 0;

	do {
		error = error ? error
			      : client_ask(REMOTE_NODE_NEEDS, WORDS(node[0], node[1], first),
					   answer, sizeof(*answer));
		for (size_t i = 0; !error && out && i < FIT && first + i < room; i++)
			out[first + i] = first + i < answer->n
						 ? handle_node(node[0], answer->place[i])
						 : NULL;
		first += FIT;
	} while (!error && out && first < room && first < answer->n);
	if (!error)
		*n = answer->n;
	free(answer);
	return error;
}

bool client_is_of_cuda_12(void)
{
	return dlopen("libcudart.so.12", RTLD_LAZY | RTLD_NOLOAD) &&
	       !dlopen("libcudart.so.13", RTLD_LAZY | RTLD_NOLOAD);
}

/* Edges are ordinary ones, which zeros say. */
int cudaGraphNodeGetDependencies(void *node, void **needs, void *edges, size_t *n)
{
	enum { EDGE_BYTES = 8 }; /* sizeof(cudaGraphEdgeData) */
	int error = client_is_of_cuda_12()
			    ? client_refuse("cudaGraphNodeGetDependencies of CUDA 12")
		    : n && (needs || !edges) ? client_enter()
					     : client_result(CUDA_INVALID_VALUE);
	uint64_t at[2];
	size_t there;

	if (error)
		return error;
	if (!handle_node_numbers(node, &at[0], &at[1]))
		return client_leave(CUDA_INVALID_VALUE);
	error = get_needs(at, needs, *n, &there);
	if (error)
		return client_leave(error);
	if (edges)
		memset(edges, 0, *n * EDGE_BYTES);
	if (!needs || *n > there)
		*n = there;
	return client_leave(0);
}

/* ---- kernels in graphs -------------------------------------------------------------------- */

/* What cudaGraphKernelNodeGetParams gave out; it lives as long as the graph. */
struct kept {
	struct kept *next;
	uint64_t place;
	void *argument[REMOTE_PARAMS];
	uint8_t bytes[]; /* struct remote_shape, arguments */
};

static struct kept *keep(uint64_t graph, uint64_t place)
{
	uint64_t *list = handle_note(HANDLE_GRAPH, graph);
	struct kept *k = (struct kept *)(uintptr_t)*list;

	while (k && k->place != place)
		k = k->next;
	if (k)
		return k;
	k = calloc(1, sizeof(*k) + REMOTE_ANSWER_BYTES);
	if (!k)
		return NULL;
	k->place = place;
	k->next = (struct kept *)(uintptr_t)*list;
	*list = (uint64_t)(uintptr_t)k;
	return k;
}

static void drop_kept(uint64_t list)
{
	struct kept *k = (struct kept *)(uintptr_t)list, *next;

	for (; k; k = next) {
		next = k->next;
		free(k);
	}
}

static int describe(struct kept *kept, struct cuda_kernel_node *params)
{
	struct remote_shape shape;
	const struct kernel *k;

	memcpy(&shape, kept->bytes, sizeof(shape));
	k = kernel_numbered(shape.kernel);
	if (!k)
		return CUDA_INVALID_VALUE;
	for (uint32_t i = 0; i < k->params; i++)
		kept->argument[i] = kept->bytes + sizeof(shape) + k->param[i].offset;
	*params = (struct cuda_kernel_node){
		.function = k->function,
		.grid = { (unsigned)shape.grid_xy, (unsigned)(shape.grid_xy >> 32),
			  (unsigned)shape.z },
		.block = { (unsigned)shape.block_xy, (unsigned)(shape.block_xy >> 32),
			   (unsigned)(shape.z >> 32) },
		.shared_bytes = (unsigned)shape.shared_bytes,
		.arguments = kept->argument,
	};
	return 0;
}

int cudaGraphKernelNodeGetParams(void *node, struct cuda_kernel_node *params)
{
	int error = params ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t graph, place;
	struct kept *kept;

	if (error)
		return error;
	if (!handle_node_numbers(node, &graph, &place))
		return client_leave(CUDA_INVALID_VALUE);
	kept = keep(graph, place);
	if (!kept)
		return client_leave(CUDA_NO_MEMORY);
	error = client_ask(REMOTE_NODE_KERNEL, WORDS(graph, place), kept->bytes,
			   REMOTE_ANSWER_BYTES);
	return client_leave(error ? error : describe(kept, params));
}

int cudaGraphExecKernelNodeSetParams(void *exec, void *node, const struct cuda_kernel_node *params)
{
	int error = params && !params->extra ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t word[3 + REMOTE_SHAPE_WORDS];
	struct remote_shape shape;
	const struct kernel *k;

	if (error)
		return error;
	if (!handle_number(HANDLE_EXEC, exec, &word[0]) ||
	    !handle_node_numbers(node, &word[1], &word[2]))
		return client_leave(CUDA_INVALID_VALUE);
	k = kernel_of(params->function, &error);
	if (!k || (k->params && !params->arguments))
		return client_leave(error ? error : CUDA_INVALID_VALUE);
	shape = kernel_shape(k, params->grid, params->block, params->shared_bytes);
	memcpy(word + 3, &shape, sizeof(shape));
	kernel_pack(k, params->arguments,
		    client_begin(REMOTE_EXEC_SET_KERNEL, word, 3 + REMOTE_SHAPE_WORDS, k->bytes));
	return client_leave(client_ask_now(NULL, 0, false));
}

/* ---- executable graphs -------------------------------------------------------------------- */

int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags)
{
	int error = exec ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t number, from;

	if (error)
		return error;
	if (!handle_number(HANDLE_GRAPH, graph, &from))
		return client_leave(CUDA_INVALID_VALUE);
	*exec = handle_open(HANDLE_EXEC, &number);
	if (!*exec)
		return client_leave(CUDA_NO_MEMORY);
	error = client_ask(REMOTE_EXEC_CREATE, WORDS(number, from, flags), NULL, 0);
	if (error) {
		handle_close(HANDLE_EXEC, *exec, &number);
		*exec = NULL;
	}
	return client_leave(error);
}

/* Since CUDA 12 the same. */
int cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	return cudaGraphInstantiate(exec, graph, flags);
}

/* The words of a call on an executable graph and a stream; with the lock, if it returns 0. */
static int enter_with(void *exec, void *stream, uint64_t word[2])
{
	int error = client_enter();

	if (error)
		return error;
	if (!handle_number(HANDLE_EXEC, exec, &word[0]))
		return client_leave(CUDA_INVALID_VALUE);
	return handle_stream(stream, &word[1]) ? 0 : client_leave(CUDA_INVALID_HANDLE);
}

int cudaGraphUpload(void *exec, void *stream)
{
	uint64_t word[2];
	int error = enter_with(exec, stream, word);

	return error ? error : client_leave(client_ask(REMOTE_EXEC_UPLOAD, word, 2, NULL, 0));
}

int cudaGraphLaunch(void *exec, void *stream)
{
	uint64_t word[2];
	int error = enter_with(exec, stream, word);

	return error ? error : client_leave(client_ahead(REMOTE_EXEC_LAUNCH, word, 2));
}

static void *node_or_none(uint64_t graph, uint64_t place)
{
	return place == UINT64_MAX ? NULL : handle_node(graph, place);
}

int cudaGraphExecUpdate(void *exec, void *graph, struct cuda_update_result *info)
{
	int error = info ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t number, from, answer[3];

	if (error)
		return error;
	if (!handle_number(HANDLE_EXEC, exec, &number) ||
	    !handle_number(HANDLE_GRAPH, graph, &from))
		return client_leave(CUDA_INVALID_VALUE);
	error = client_ask(REMOTE_EXEC_UPDATE, WORDS(number, from), answer, sizeof(answer));
	if (error)
		return client_leave(error);
	*info = (struct cuda_update_result){ (int)(unsigned)answer[0],
					     node_or_none(from, answer[1]),
					     node_or_none(from, answer[2]) };
	return client_leave((int)(answer[0] >> 32));
}

int cudaGraphExecDestroy(void *exec)
{
	int error = client_enter();
	uint64_t number;

	if (error)
		return error;
	return client_leave(handle_close(HANDLE_EXEC, exec, &number)
				    ? client_ahead(REMOTE_EXEC_DESTROY, WORDS(number))
				    : CUDA_INVALID_VALUE);
}

int cudaGraphDestroy(void *graph)
{
	int error = client_enter();
	uint64_t number, list;

	if (error)
		return error;
	if (!handle_number(HANDLE_GRAPH, graph, &number))
		return client_leave(CUDA_INVALID_VALUE);
	list = *handle_note(HANDLE_GRAPH, number);
	handle_close(HANDLE_GRAPH, graph, &number);
	drop_kept(list);
	return client_leave(client_ahead(REMOTE_GRAPH_DESTROY, WORDS(number)));
}
