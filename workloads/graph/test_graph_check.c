/*
 * test_graph_check.c - the check passes after each call on each graph, and on nothing else: nodes
 * that do not run, or twice, or in a graph of another shape; updates that do not arrive.
 */
#include "tests/plain.h"
#include "workloads/graph/test_graphs.h"

#include <dlfcn.h>

TestSuite(small_graph_check, .timeout = 300);

/* ---- a layer below that misbehaves ------------------------------------------------------ */

enum fault {
	NONE,
	LOST_LAUNCH,
	DOUBLE_LAUNCH,
	LOST_KERNEL,
	LOST_SET,
	LOST_COPY,
	NO_UPDATE,
	NO_EDGES
};

static enum fault fault;
static int calls_until_fault;

static bool now(enum fault f)
{
	return fault == f && !calls_until_fault--;
}

#define REAL(name, type) ((type *)dlsym(RTLD_NEXT, name))

typedef cudaError_t graph_launch_fn(cudaGraphExec_t, cudaStream_t);
typedef cudaError_t launch_fn(const void *, dim3, dim3, void **, size_t, cudaStream_t);
typedef cudaError_t set_fn(void *, int, size_t, cudaStream_t);
typedef cudaError_t copy_fn(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
typedef cudaError_t update_fn(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *);
typedef cudaError_t params_fn(cudaGraphExec_t, cudaGraphNode_t,
			      const struct cudaKernelNodeParams *);
typedef cudaError_t needs_fn(cudaGraphNode_t, cudaGraphNode_t *,
#if CUDART_VERSION >= 13000
			     cudaGraphEdgeData *,
#endif
			     size_t *);

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	if (now(LOST_LAUNCH))
		return cudaSuccess;
	if (now(DOUBLE_LAUNCH))
		REAL("cudaGraphLaunch", graph_launch_fn)(exec, stream);
	return REAL("cudaGraphLaunch", graph_launch_fn)(exec, stream);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
			     cudaStream_t stream)
{
	if (now(LOST_KERNEL))
		return cudaSuccess;
	return REAL("cudaLaunchKernel", launch_fn)(func, grid, block, args, shared, stream);
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	if (bytes == 4 && now(LOST_SET))
		return cudaSuccess;
	return REAL("cudaMemsetAsync", set_fn)(dst, value, bytes, stream);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	if (now(LOST_COPY))
		return cudaSuccess;
	return REAL("cudaMemcpyAsync", copy_fn)(dst, src, bytes, kind, stream);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
				cudaGraphExecUpdateResultInfo *info)
{
	if (now(NO_UPDATE))
		return cudaSuccess;
	return REAL("cudaGraphExecUpdate", update_fn)(exec, graph, info);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *params)
{
	if (now(NO_UPDATE))
		return cudaSuccess;
	return REAL("cudaGraphExecKernelNodeSetParams", params_fn)(exec, node, params);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *needs,
#if CUDART_VERSION >= 13000
					 cudaGraphEdgeData *edges,
#endif
					 size_t *n)
{
	if (fault == NO_EDGES)
		return cudaErrorInvalidValue;
#if CUDART_VERSION >= 13000
	return REAL("cudaGraphNodeGetDependencies", needs_fn)(node, needs, edges, n);
#else
	return REAL("cudaGraphNodeGetDependencies", needs_fn)(node, needs, n);
#endif
}

/* ---- passes ----------------------------------------------------------------------------- */

static void passes(struct graph_opts o)
{
	const int64_t steps[] = { 0, 1, 7, 70 };
	struct run *r = run_begin(o);

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct verdict v;

		run_reset(r);
		run_steps(r, steps[i]);
		v = run_verdict(r, steps[i]);
		cr_assert(v.passed, "op %d, %ld nodes, %ld steps: %s", o.op, (long)r->s.shape.nodes,
			  (long)steps[i], v.worst);
	}
	run_end(r);
}

Test(small_graph_check, passes_after_every_call)
{
	need_device();
	for (int op = 0; op < GRAPH_OPS; op++)
		for (int node = 0; node <= GRAPH_STREAMED; node++) {
			struct graph_opts o =
				make_graph_opts(GRAPH_FORKJOIN, (enum graph_kind)node, 5);

			o.op = op;
			o.bytes = 24;
			if (op != GRAPH_PARAMS || node <= GRAPH_MIXED)
				passes(o);
		}
}

/* Layers that refuse captures can still be measured so. */
Test(small_graph_check, an_eager_step_needs_no_graph)
{
	struct graph_opts o = make_graph_opts(GRAPH_FORKJOIN, GRAPH_STREAMED, 4);
	struct run *r;
	struct verdict v;

	need_device();
	o.op = GRAPH_EAGER;
	r = run_begin(o);
	cr_assert(!r->s.graph && !r->s.exec[0], "nothing was captured");
	run_reset(r);
	run_steps(r, 2);
	v = run_verdict(r, 2);
	cr_assert(v.passed, "%s", v.worst);
	v = run_verdict(r, 3);
	cr_assert(!v.passed, "a step is missing");
	run_end(r);
}

Test(small_graph_check, passes_on_every_shape)
{
	need_device();
	for (int topology = 0; topology <= GRAPH_FORKJOIN; topology++)
		for (int length = 1; length <= 40; length += 13) {
			struct graph_opts o =
				make_graph_opts((enum graph_topology)topology, GRAPH_MIXED, length);

			passes(o);
			for (int order = 0; order <= GRAPH_LATE; order++) {
				o.order = order;
				o.width = 16;
				passes(o);
				o.width = 1;
				passes(o);
			}
		}
}

Test(small_graph_check, passes_with_kernels_that_take_time)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_KERNEL, 3);

	need_device();
	o.us = 2;
	passes(o);
}

/* Nodes and words are looked at as ever. */
Test(small_graph_check, a_layer_that_does_not_say_edges_is_named)
{
	struct run *r;
	struct verdict v;

	need_device();
	fault = NO_EDGES;
	r = run_begin(make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 5));
	run_steps(r, 2);
	v = run_verdict(r, 2);
	cr_assert(v.passed && tells(v.measure, "*is not said here"), "%g: %s", v.error, v.measure);
	r->s.shape.edges++;
	v = run_verdict(r, 2);
	cr_assert(v.passed, "%s", v.worst);
	fault = NONE;
	v = run_verdict(r, 2);
	cr_assert(!v.passed && tells(v.measure, "*hang on the wrong ones*"), "%s", v.measure);
	r->s.shape.edges--;
	run_end(r);
}

/* ---- fails ------------------------------------------------------------------------------ */

static void launch_fails(enum fault what, const char *says)
{
	struct run *r = run_begin(make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 5));
	struct verdict v;

	fault = what;
	calls_until_fault = 2;
	run_steps(r, 4);
	fault = NONE;
	v = run_verdict(r, 4);
	cr_assert(v.error == 5 && tells(v.worst, says), "%g: %s", v.error, v.worst);
	run_end(r);
}

Test(small_graph_check, fails_on_launches_that_are_lost_or_doubled)
{
	need_device();
	launch_fails(LOST_LAUNCH, "node 0: *3, *4");
	launch_fails(DOUBLE_LAUNCH, "node 0: *5, *4");
}

/* Lost in the capture of the graph that is run: the third node of its kind. */
static void capture_fails(enum graph_kind node, enum fault what, const char *says)
{
	struct graph_opts o = make_graph_opts(GRAPH_LINE, node, 5);
	struct run *r;
	struct verdict v;

	fault = what;
	calls_until_fault = 2;
	r = run_begin(o);
	fault = NONE;
	run_steps(r, 2);
	v = run_verdict(r, 2);
	cr_assert(!v.passed && tells(v.worst, says), "fault %d: %g: %s", what, v.error, v.worst);
	run_end(r);
}

static struct run *run_staged(enum graph_kind node)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, node, 2);
	struct run *r;

	o.bytes = 64;
	r = run_begin(o);
	run_reset(r);
	run_steps(r, 1);
	return r;
}

static void copies_fail(struct run *r, const char *says)
{
	struct verdict v = run_verdict(r, 1);

	cr_assert(v.error == 1 && tells(v.worst, says), "%g: %s", v.error, v.worst);
	run_end(r);
}

/* Copy 1 of chain 1: any word of it, on either side. */
Test(small_graph_check, fails_on_a_word_that_was_not_copied)
{
	unsigned long long damaged = 1;
	struct run *r;

	need_device();
	r = run_staged(GRAPH_H2D);
	CUDA(cudaMemcpy(r->s.areas.to + 8 * 3 + 5, &damaged, 8, cudaMemcpyHostToDevice));
	copies_fail(r, "copy 3: its word 5 *");
	r = run_staged(GRAPH_D2H);
	r->s.areas.to[8 * 3 + 5] = damaged;
	copies_fail(r, "copy 3: its word 5 *");
}

/* Chains of seven nodes: three copies to the device, two of them come back. */
Test(small_graph_check, fails_on_a_word_that_did_not_come_back)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_STREAMED, 7);
	const int copy[] = { 3, 4 }, unread = 5;

	need_device();
	o.bytes = 64;
	for (int i = 0; i < 3; i++) {
		struct run *r = run_begin(o);
		struct verdict v;

		run_reset(r);
		run_steps(r, 1);
		r->s.areas.back[8 * (i < 2 ? copy[i] : unread) + 5] ^= 1;
		v = run_verdict(r, 1);
		cr_assert(v.error == (i < 2), "copy %d: %g: %s", i, v.error, v.worst);
		cr_assert(i == 2 || tells(v.worst,
					  i ? "copy 4: its word 5 *" : "copy 3: its word 5 *"),
			  "%s", v.worst);
		run_end(r);
	}
}

/* Two turns of three copies, and one copy more: those before each kernel come back. */
Test(small_graph_check, rows_of_copies_are_checked_and_what_comes_back)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_STREAMED, 11);
	const int copy[] = { 0, 2, 5, 6, 7 + 2 };
	struct run *r;
	struct verdict v;

	need_device();
	o.bytes = 64;
	o.copies = 3;
	passes(o);
	for (int i = 0; i < 5; i++) {
		int back = copy[i] % 7 % 3 == 2;

		r = run_begin(o);
		run_reset(r);
		run_steps(r, 1);
		r->s.areas.back[8 * copy[i] + 5] ^= 1;
		v = run_verdict(r, 1);
		cr_assert(v.error == back, "copy %d: %g: %s", copy[i], v.error, v.worst);
		run_end(r);
	}
}

/* A kernel that does not wait for its copy says so in its own word. */
Test(small_graph_check, fails_on_a_kernel_that_ran_before_its_copy)
{
	unsigned long long damaged = 1;
	struct run *r;
	struct verdict v;

	need_device();
	r = run_begin(make_graph_opts(GRAPH_CHAINS, GRAPH_STAGED, 2));
	run_reset(r);
	CUDA(cudaMemcpy(r->s.areas.from + 2, &damaged, 8, cudaMemcpyDefault));
	run_steps(r, 1);
	v = run_verdict(r, 1);
	cr_assert(v.error == 2 && tells(v.worst, "node 5: *4294967297, *1"), "%g: %s", v.error,
		  v.worst);
	run_end(r);
}

/* Calls that run nothing must not have copied either. */
Test(small_graph_check, fails_on_copies_that_nothing_should_have_run)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_H2D, 2);
	struct run *r;
	struct verdict v;

	need_device();
	o.op = GRAPH_INSTANTIATE;
	r = run_begin(o);
	run_reset(r);
	CUDA(cudaGraphLaunch(r->s.exec[0], r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	v = run_verdict(r, 0);
	cr_assert(v.error == 8 && tells(v.worst, "copy 0: *"), "%g: %s", v.error, v.worst);
	run_end(r);
}

/* One node and one edge less; and its word. */
Test(small_graph_check, fails_on_nodes_that_are_missing)
{
	need_device();
	capture_fails(GRAPH_KERNEL, LOST_KERNEL, "2 nodes, edges");
	capture_fails(GRAPH_MEMSET, LOST_SET, "2 nodes, edges");
	capture_fails(GRAPH_MEMCPY, LOST_COPY, "2 nodes, edges");
}

/* The trace alone, without the count of nodes. */
Test(small_graph_check, fails_on_each_kind_of_node_that_has_not_run)
{
	struct run *r;
	struct verdict v;
	const char *want[] = { "node 0: *0, *2", "node 1: *0, *", "node 2: *0, *" };

	need_device();
	for (int node = 0; node < 3; node++) {
		r = run_begin(make_graph_opts(GRAPH_LINE, GRAPH_MIXED, 3));
		run_steps(r, 2);
		CUDA(cudaMemset(r->s.trace + node, 0, sizeof(*r->s.trace)));
		v = run_verdict(r, 2);
		cr_assert(v.error == 1 && tells(v.worst, want[node]), "%s", v.worst);
		run_end(r);
	}
}

/* As if an edge were missing, and a root. */
Test(small_graph_check, fails_on_nodes_that_hang_on_too_little)
{
	struct run *r;
	struct verdict v;

	need_device();
	r = run_begin(make_graph_opts(GRAPH_FORKJOIN, GRAPH_KERNEL, 3));
	r->s.shape.edges++;
	v = run_verdict(r, 0);
	cr_assert(!v.passed && strstr(v.worst, "nodes, edges"), "%s", v.worst);
	r->s.shape.edges--;
	r->s.shape.roots++;
	cr_assert(!run_verdict(r, 0).passed, "roots");
	r->s.shape.roots--;
	cr_assert(run_verdict(r, 0).passed, "as it is");
	run_end(r);
}

static void update_fails(enum graph_op op, int at, const char *says)
{
	struct graph_opts o = make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 4);
	struct run *r;
	struct verdict v;

	o.op = op;
	r = run_begin(o);
	fault = NO_UPDATE;
	calls_until_fault = at;
	run_steps(r, 3);
	fault = NONE;
	v = run_verdict(r, 3);
	cr_assert(!v.passed && tells(v.worst, says), "%s", v.worst);
	run_end(r);
}

Test(small_graph_check, fails_on_updates_that_do_not_arrive)
{
	need_device();
	update_fails(GRAPH_UPDATE, 2, "node 0: *1, *3");
	update_fails(GRAPH_PARAMS, 1, "node 1: *1, *5");
}

Test(small_graph_check, fails_on_a_missing_step)
{
	struct graph_opts o = make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 2);
	struct run *r;

	need_device();
	o.op = GRAPH_INSTANTIATE;
	r = run_begin(o);
	run_steps(r, 3);
	cr_assert(!strcmp(run_verdict(r, 4).worst, "3 steps, not 4"), "one missing");
	run_end(r);
}
