/* graph.c - graphs: operations, and which of them need which. exec.c runs them. */
#include "common/cpu/base/base.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets of nodes ---------------------------------------------------------------------- */

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

/* ---- graphs ----------------------------------------------------------------------------- */

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

void graph_free(struct graph *g)
{
	if (!g)
		return;
	if (g->handle)
		handle_close(HANDLE_GRAPH, g->handle); /* of a capture that failed */
	for (size_t i = 0; i < g->n_nodes; i++)
		node_free(g->node[i]);
	free(g->node);
	free(g);
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

cudaGraphNode_t node_handle(struct node *n)
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

/* ---- the runtime's functions ------------------------------------------------------------ */

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
	INJECT();
	const struct graph *g = graph_find(graph);

	if (!g || g->capturing)
		return result(cudaErrorInvalidValue);
	graph_free(handle_close(HANDLE_GRAPH, graph));
	return cudaSuccess;
}
