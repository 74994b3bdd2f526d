/* setup.c - what graphs are made of, and the graphs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/graph/graph.h"

/* By the clock that the device states; clock64() of the CPU device counts ns. */
static int size_kernel(const struct graph_opts *o, struct graph_state *s)
{
	bool cpu = !device_attribute(cudaDevAttrComputeCapabilityMajor);
	double per_us = cpu ? 1000 : device_attribute(cudaDevAttrClockRate) / 1e3;

	if ((o->us || o->first_us) && !(per_us > 0))
		return complain(ENOTSUP, "us=%ld: the device does not report its clock",
				(long)o->us);
	s->cycles = (unsigned long long)llround((double)o->us * per_us);
	s->first_cycles = s->cycles;
	if (o->first_us)
		s->first_cycles = (unsigned long long)llround((double)o->first_us * per_us);
	return 0;
}

static int allocate_memory(struct graph_state *s)
{
	size_t n = (size_t)s->shape.nodes, ends = (GRAPH_WIDTH_MAX + 1) * sizeof(*s->ends);

	if (device_new(&s->trace, n * sizeof(*s->trace), "traces of %zu nodes", n) ||
	    device_new(&s->source, n * sizeof(*s->source), "traces of %zu nodes", n) ||
	    device_new(&s->ends, ends, "traces of %zu nodes", n))
		return -ENOMEM;
	s->found = calloc(n, sizeof(*s->found));
	s->add = malloc(n);
	s->kernel = calloc(n, sizeof(*s->kernel));
	s->kernel_number = calloc(n, sizeof(*s->kernel_number));
	CHECK(s->found && s->add && s->kernel && s->kernel_number, "%zu nodes", n);
	memset(s->add, GRAPH_ADD, n);
	for (size_t i = 0; i < n; i++)
		s->found[i] = graph_copied_word((int64_t)i);
	CUDA(cudaMemcpy(s->source, s->found, n * sizeof(*s->source), cudaMemcpyHostToDevice));
	return graph_areas_init(&s->areas, &s->shape);
}

static void make_streams(struct graph_state *s)
{
	CUDA(cudaEventCreateWithFlags(&s->forked, cudaEventDisableTiming));
	for (int i = 0; i < s->shape.width; i++) {
		CUDA(cudaStreamCreateWithFlags(&s->stream[i], cudaStreamNonBlocking));
		CUDA(cudaEventCreateWithFlags(&s->joined[i], cudaEventDisableTiming));
	}
}

/* Its number is what its first argument points to. */
static void take_kernel(struct graph_state *s, cudaGraphNode_t node)
{
	struct cudaKernelNodeParams p;
	enum cudaGraphNodeType type;

	CUDA(cudaGraphNodeGetType(node, &type));
	if (type != cudaGraphNodeTypeKernel)
		return;
	CUDA(cudaGraphKernelNodeGetParams(node, &p));
	s->kernel[s->kernels] = node;
	s->kernel_number[s->kernels++] = *(unsigned long long **)p.kernelParams[0] - s->trace;
}

static void find_kernels(struct graph_state *s)
{
	size_t n = (size_t)s->shape.nodes;
	cudaGraphNode_t *node = calloc(n + 1, sizeof(*node));

	CHECK(node, "%zu nodes", n);
	CUDA(cudaGraphGetNodes(s->graph, node, &n));
	for (size_t i = 0; i < n && (int64_t)i < s->shape.nodes; i++)
		take_kernel(s, node[i]);
	free(node);
}

void graph_clear(struct graph_state *s, cudaStream_t stream)
{
	CUDA(cudaMemsetAsync(s->trace, 0, (size_t)s->shape.nodes * sizeof(*s->trace), stream));
	graph_areas_clear(&s->areas, &s->shape, stream);
}

static void make_graphs(struct graph_state *s)
{
	s->graph = graph_capture(s, GRAPH_ADD);
	s->other = graph_capture(s, GRAPH_ADD_OTHER);
	find_kernels(s);
	for (int i = 0; i < 2; i++) {
		CUDA(cudaGraphInstantiate(&s->exec[i], s->graph, 0));
		CUDA(cudaGraphUpload(s->exec[i], s->stream[0]));
		CUDA(cudaGraphLaunch(s->exec[i], s->stream[0]));
	}
}

/* Some layers refuse captures: op=eager does without. */
int graph_prepare(const struct graph_opts *o, struct graph_state *s)
{
	int err = size_kernel(o, s);

	if (err)
		return err;
	graph_shape_init(&s->shape, o);
	err = allocate_memory(s);
	if (err)
		return err;
	make_streams(s);
	if (o->op == GRAPH_EAGER)
		graph_enqueue(s, GRAPH_ADD, s->stream[0]);
	else
		make_graphs(s);
	graph_clear(s, s->stream[0]);
	CUDA(cudaStreamSynchronize(s->stream[0]));
	return 0;
}

int graph_setup(const void *opts, void *state)
{
	const struct graph_opts *o = opts;
	int err = device_present();

	if (err)
		return err;
	graph_load_kernels();
	/* a probe makes graphs of several lengths itself */
	return o->probe ? 0 : graph_prepare(o, state);
}

static void drop_exec(struct graph_state *s, int i)
{
	if (s->kept[i])
		CUDA(cudaGraphExecDestroy(s->kept[i]));
	if (s->kept_graph[i])
		CUDA(cudaGraphDestroy(s->kept_graph[i]));
	s->kept[i] = NULL;
	s->kept_graph[i] = NULL;
}

void graph_instantiate(struct graph_state *s)
{
	int i = (int)(s->made++ % GRAPH_KEPT_MAX);

	drop_exec(s, i);
	CUDA(cudaGraphInstantiate(&s->kept[i], s->graph, 0));
}

void graph_keep(struct graph_state *s, cudaGraph_t graph)
{
	int i = (int)(s->made++ % GRAPH_KEPT_MAX);

	drop_exec(s, i);
	s->kept_graph[i] = graph;
}

void graph_drop(struct graph_state *s)
{
	for (int i = 0; i < GRAPH_KEPT_MAX; i++)
		drop_exec(s, i);
	s->made = s->used = 0;
}

void graph_end_captures(struct graph_state *s)
{
	for (int i = 0; i < GRAPH_WIDTH_MAX; i++)
		refusal_settle(s->stream[i]);
}

static void release_graphs(struct graph_state *s)
{
	graph_drop(s);
	for (int i = 0; i < 2; i++) {
		if (s->exec[i])
			CUDA(cudaGraphExecDestroy(s->exec[i]));
		s->exec[i] = NULL;
	}
	if (s->graph)
		CUDA(cudaGraphDestroy(s->graph));
	if (s->other)
		CUDA(cudaGraphDestroy(s->other));
	s->graph = s->other = NULL;
}

static void release_streams(struct graph_state *s)
{
	for (int i = 0; i < GRAPH_WIDTH_MAX; i++) {
		if (s->stream[i])
			CUDA(cudaStreamDestroy(s->stream[i]));
		if (s->joined[i])
			CUDA(cudaEventDestroy(s->joined[i]));
		s->stream[i] = NULL;
		s->joined[i] = NULL;
	}
	if (s->forked)
		CUDA(cudaEventDestroy(s->forked));
	s->forked = NULL;
}

void graph_teardown(void *state)
{
	struct graph_state *s = state;

	graph_end_captures(s);
	release_graphs(s);
	release_streams(s);
	device_free(s->trace);
	device_free(s->source);
	device_free(s->ends);
	graph_areas_release(&s->areas, &s->shape);
	s->trace = s->source = s->ends = NULL;
	graph_shape_release(&s->shape);
	free(s->found);
	free(s->add);
	free(s->kernel);
	free(s->kernel_number);
	free(s->names);
	s->found = NULL;
	s->add = NULL;
	s->kernel = NULL;
	s->kernel_number = NULL;
	s->names = NULL;
}
