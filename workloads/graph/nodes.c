/* nodes.c - the same graph made node by node, not by capture. */
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/graph/graph.h"

/* A graph under way: what each chain's next node hangs on. */
struct making {
	const struct graph_state *s;
	cudaGraph_t graph;
	unsigned add;
	cudaGraphNode_t last[GRAPH_WIDTH_MAX];
	size_t lasts[GRAPH_WIDTH_MAX]; /* 0: nothing yet, or 1 */
};

static cudaGraphNode_t add_kernel(const struct making *m, int64_t node,
				  const cudaGraphNode_t *needs, size_t n)
{
	const struct graph_state *s = m->s;
	unsigned long long *word = s->trace + node, amount = m->add;
	unsigned long long cycles = node < s->shape.length ? s->first_cycles : s->cycles;
	void *args[] = { &word, &amount, &cycles };
	struct cudaKernelNodeParams p = { .func = (void *)(uintptr_t)graph_kernel(),
					  .gridDim = { 1, 1, 1 },
					  .blockDim = { GRAPH_THREADS, 1, 1 },
					  .kernelParams = args };
	cudaGraphNode_t made;

	CUDA(cudaGraphAddKernelNode(&made, m->graph, needs, n, &p));
	return made;
}

static cudaGraphNode_t add_set(const struct making *m, int64_t node, const cudaGraphNode_t *needs,
			       size_t n)
{
	struct cudaMemsetParams p = { .dst = m->s->trace + node,
				      .elementSize = 1,
				      .height = 1,
				      .value = (unsigned)(graph_set_word(node) & 0xff),
				      .width = 4 };
	cudaGraphNode_t made;

	CUDA(cudaGraphAddMemsetNode(&made, m->graph, needs, n, &p));
	return made;
}

static cudaGraphNode_t add_copy(const struct making *m, int64_t node, const cudaGraphNode_t *needs,
				size_t n)
{
	const struct graph_state *s = m->s;
	cudaGraphNode_t made;

	CUDA(cudaGraphAddMemcpyNode1D(&made, m->graph, needs, n, s->trace + node, s->source + node,
				      sizeof(*s->trace), cudaMemcpyDeviceToDevice));
	return made;
}

static cudaGraphNode_t add_node(const struct making *m, int64_t node, const cudaGraphNode_t *needs,
				size_t n)
{
	switch (graph_node_kind(&m->s->shape, node)) {
	case GRAPH_MEMSET:
		return add_set(m, node, needs, n);
	case GRAPH_MEMCPY:
		return add_copy(m, node, needs, n);
	default:
		return add_kernel(m, node, needs, n);
	}
}

static void add_chains(struct making *m)
{
	const struct graph_shape *shape = &m->s->shape;
	int64_t made[GRAPH_WIDTH_MAX] = { 0 };

	for (int64_t i = 0; i < shape->width * shape->length; i++) {
		int c = shape->order[i];

		m->last[c] = add_node(m, c * shape->length + made[c]++, &m->last[c], m->lasts[c]);
		m->lasts[c] = 1;
	}
}

bool graph_can_be_made(const struct graph_shape *shape)
{
	return shape->kind == GRAPH_KERNEL || shape->kind == GRAPH_MEMSET ||
	       shape->kind == GRAPH_MEMCPY || shape->kind == GRAPH_MIXED;
}

cudaGraph_t graph_make(const struct graph_state *s, unsigned add)
{
	const struct graph_shape *shape = &s->shape;
	struct making m = { .s = s, .add = add };
	int64_t others = shape->width * shape->length;

	CUDA(cudaGraphCreate(&m.graph, 0));
	if (shape->root) {
		m.last[0] = add_kernel(&m, others, NULL, 0);
		for (int c = 0; c < shape->width; c++) {
			m.last[c] = m.last[0];
			m.lasts[c] = 1;
		}
	}
	add_chains(&m);
	if (shape->end)
		add_kernel(&m, others + 1, m.last, (size_t)shape->width);
	return m.graph;
}
