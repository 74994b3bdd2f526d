/*
 * test_cpu_made.c - graphs that are made node by node, copies of graphs, and objects of the program
 * that graphs keep, on the CPU device.
 */
#include "tests/plain.h"
#include "tests/graphs.h"

TestSuite(small_cpu_made, .timeout = 300);
TestSuite(large_cpu_made, .timeout = 300);

static cudaGraph_t new_graph(void)
{
	cudaGraph_t graph;

	OK(cudaGraphCreate(&graph, 0));
	return graph;
}

static struct cudaKernelNodeParams affine_params(int **p, int *factor, int *term, void **argument)
{
	argument[0] = p;
	argument[1] = factor;
	argument[2] = term;
	return (struct cudaKernelNodeParams){
		.func = (void *)k_affine(),
		.gridDim = { 1, 1, 1 },
		.blockDim = { 1, 1, 1 },
		.kernelParams = argument,
	};
}

static cudaGraphNode_t add_affine(cudaGraph_t graph, const cudaGraphNode_t *needs, size_t n, int *p,
				  int factor, int term)
{
	void *argument[3];
	struct cudaKernelNodeParams params = affine_params(&p, &factor, &term, argument);
	cudaGraphNode_t node;

	OK(cudaGraphAddKernelNode(&node, graph, needs, n, &params));
	return node;
}

static cudaGraphExec_t exec_of(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	OK(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void run(cudaGraphExec_t exec)
{
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaStreamSynchronize(0));
}

static void add_one(void *p)
{
	__atomic_fetch_add((int *)p, 1, __ATOMIC_ACQ_REL);
}

/* ---- nodes ------------------------------------------------------------------------------ */

/* in -> p; p = 3 p + 1; p -> out; *out += 1. All is read and written when the graph runs. */
static cudaGraph_t round_trip(int *p, int *in, int *out)
{
	struct cudaMemcpy3DParms rows = {
		.srcPtr = { in, 4, 1, 1 },
		.dstPtr = { p, 4, 1, 1 },
		.extent = { 4, 1, 1 },
		.kind = cudaMemcpyHostToDevice,
	};
	struct cudaHostNodeParams host = { add_one, out };
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t node[4];

	OK(cudaGraphAddMemcpyNode(&node[0], graph, NULL, 0, &rows));
	node[1] = add_affine(graph, &node[0], 1, p, 3, 1);
	OK(cudaGraphAddMemcpyNode1D(&node[2], graph, &node[1], 1, out, p, 4,
				    cudaMemcpyDeviceToHost));
	OK(cudaGraphAddHostNode(&node[3], graph, &node[2], 1, &host));
	return graph;
}

Test(small_cpu_made, nodes_run_after_what_they_need)
{
	int in = 5, out = 0, *p = device_ints(1);
	cudaGraph_t graph = round_trip(p, &in, &out);
	cudaGraphExec_t exec = exec_of(graph);
	cudaGraphNode_t node[5], need;
	enum cudaGraphNodeType type;
	struct cudaHostNodeParams host;
	size_t n = 5;

	run(exec);
	cr_assert(out == 17, "%d", out);
	in = 7;
	run(exec);
	cr_assert(out == 23, "%d", out);
	OK(cudaGraphGetNodes(graph, node, &n));
	cr_assert(n == 4, "%zu", n);
	OK(cudaGraphNodeGetType(node[3], &type));
	cr_assert(type == cudaGraphNodeTypeHost, "%d", type);
	OK(cudaGraphHostNodeGetParams(node[3], &host));
	cr_assert(host.fn == add_one && host.userData == &out, "its own");
	REFUSED(cudaErrorInvalidValue, cudaGraphHostNodeGetParams(node[0], &host));
	n = 1;
	OK(cudaGraphNodeGetDependencies(node[3], &need, NULL, &n));
	cr_assert(n == 1 && need == node[2], "%zu", n);
}

Test(small_cpu_made, sets_have_elements_and_rows)
{
	static const struct cudaMemsetParams of[] = {
		{ .value = 0x12345678, .elementSize = 4, .width = 2, .height = 1 },
		{ .value = 0xabcd, .elementSize = 2, .width = 1, .height = 3, .pitch = 8 },
		{ .value = 0x1ff, .elementSize = 1, .width = 3, .height = 1 },
	};
	static const unsigned want[][6] = {
		{ 0x12345678, 0x12345678, 0, 0, 0, 0 },
		{ 0xabcd, 0, 0xabcd, 0, 0xabcd, 0 },
		{ 0xffffff, 0, 0, 0, 0, 0 },
	};

	for (int i = 0; i < 3; i++) {
		struct cudaMemsetParams p = of[i];
		cudaGraph_t graph = new_graph();
		cudaGraphNode_t node;
		unsigned got[6];

		p.dst = device_ints(6);
		OK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &p));
		run(exec_of(graph));
		OK(cudaMemcpy(got, p.dst, sizeof(got), cudaMemcpyDeviceToHost));
		cr_assert(!memcmp(got, want[i], sizeof(got)), "case %d: %x %x", i, got[0], got[2]);
	}
}

/* Two rows of 8 bytes out of a wider one. */
Test(small_cpu_made, copies_have_rows_and_corners)
{
	char from[3][16] = { "0123456789abcde", "ABCDEFGHIJKLMNO", "abcdefghijklmno" };
	char to[2][8];
	char *device = (char *)device_ints(16);
	struct cudaMemcpy3DParms p = {
		.srcPtr = { from, 16, 16, 3 },
		.srcPos = { 2, 1, 0 },
		.dstPtr = { device, 32, 32, 2 },
		.extent = { 8, 2, 1 },
		.kind = cudaMemcpyDefault,
	};
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t node;

	OK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
	run(exec_of(graph));
	OK(cudaMemcpy2D(to, 8, device, 32, 8, 2, cudaMemcpyDeviceToHost));
	cr_assert(!memcmp(to, "CDEFGHIJcdefghij", 16), "%.16s", to[0]);
}

Test(small_cpu_made, an_empty_node_joins_and_edges_can_come_later)
{
	int *p = device_ints(2);
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t node[3], needs[3];
	cudaGraphEdgeData port = { 1, 0, 0, { 0 } };
	size_t n = 3;

	node[0] = add_affine(graph, NULL, 0, p, 1, 4);
	node[1] = add_affine(graph, NULL, 0, p + 1, 1, 4);
	OK(cudaGraphAddEmptyNode(&node[2], graph, &node[0], 1));
	OK(cudaGraphAddDependencies(graph, &node[1], &node[2], NULL, 1));
	OK(cudaGraphNodeGetDependencies(node[2], needs, NULL, &n));
	cr_assert(n == 2 && needs[1] == node[1], "%zu", n);
	REFUSED(cudaErrorInvalidValue,
		cudaGraphAddDependencies(graph, &node[1], &node[2], NULL, 1)); /* there is one */
	REFUSED(cudaErrorInvalidValue,
		cudaGraphAddDependencies(graph, &node[1], &node[1], NULL, 1));
	REFUSED(cudaErrorNotSupported, cudaGraphAddDependencies(graph, &node[1], &node[0], NULL,
								1)); /* against the order */
	REFUSED(cudaErrorNotSupported,
		cudaGraphAddDependencies(graph, &node[0], &node[1], &port, 1));
	run(exec_of(graph));
	cr_assert(device_int(p) == 4 && device_int(p + 1) == 4, "%d", device_int(p));
}

Test(small_cpu_made, what_is_wrong_is_refused)
{
	int host = 0, *p = device_ints(1);
	cudaGraph_t graph = new_graph(), other = new_graph(), none;
	cudaGraphNode_t foreign = add_affine(other, NULL, 0, p, 1, 1), node;
	cudaGraphNode_t twice[] = { add_affine(graph, NULL, 0, p, 1, 1), NULL };
	struct cudaMemsetParams set = { .dst = p, .elementSize = 3, .width = 1, .height = 1 };
	struct cudaMemcpy3DParms copy = { .srcPtr = { p, 4, 1, 1 },
					  .dstPtr = { &host, 4, 1, 1 },
					  .extent = { 4, 1, 2 },
					  .kind = cudaMemcpyDeviceToHost };
	struct cudaHostNodeParams nothing = { NULL, NULL };
	size_t n;

	twice[1] = twice[0];
	REFUSED(cudaErrorInvalidValue, cudaGraphCreate(&none, 1));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph, &foreign, 1));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph, twice, 2));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph, NULL, 1));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, graph, NULL, 0, NULL));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddHostNode(&node, graph, NULL, 0, &nothing));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set));
	set.elementSize = 4;
	set.width = 2;
	REFUSED(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set));
	REFUSED(cudaErrorNotSupported, cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, &host, p, 8,
								cudaMemcpyDeviceToHost));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, &host, &host,
								4, cudaMemcpyDeviceToHost));
	OK(cudaGraphGetNodes(graph, NULL, &n));
	cr_assert(n == 1, "%zu", n);
	OK(cudaGraphDestroy(graph));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph, NULL, 0));
	REFUSED(cudaErrorInvalidValue, cudaGraphClone(&none, graph));
}

/* A graph may grow after it was instantiated: what was made of it then has no such nodes. */
Test(small_cpu_made, an_executable_graph_has_no_later_nodes)
{
	int factor = 1, term = 7, *p = device_ints(1);
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t first = add_affine(graph, NULL, 0, p, 1, 1), later[100];
	cudaGraphExec_t exec = exec_of(graph);
	void *argument[3];
	struct cudaKernelNodeParams params = affine_params(&p, &factor, &term, argument);

	for (int i = 0; i < 100; i++) {
		later[i] = add_affine(graph, NULL, 0, p, 1, 1);
		REFUSED(cudaErrorInvalidValue,
			cudaGraphExecKernelNodeSetParams(exec, later[i], &params));
	}
	OK(cudaGraphExecKernelNodeSetParams(exec, first, &params));
	run(exec);
	cr_assert(device_int(p) == 7, "%d", device_int(p));
}

/* The process has a million handles. */
Test(large_cpu_made, a_node_without_a_handle_is_none)
{
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t node;
	cudaEvent_t event;
	size_t n;

	while (!cudaEventCreateWithFlags(&event, cudaEventDisableTiming))
		;
	for (int i = 0; i < 3; i++)
		REFUSED(cudaErrorMemoryAllocation, cudaGraphAddEmptyNode(&node, graph, NULL, 0));
	OK(cudaGraphGetNodes(graph, NULL, &n));
	cr_assert(n == 0, "%zu", n);
}

/* ---- copies of graphs ------------------------------------------------------------------- */

Test(small_cpu_made, a_clone_is_a_graph_of_its_own)
{
	int in = 5, out = 0, *p = device_ints(1);
	cudaGraph_t graph = round_trip(p, &in, &out), clone;
	cudaGraphNode_t node[4], need;
	cudaGraphExec_t exec;
	size_t n = 4;

	OK(cudaGraphClone(&clone, graph));
	add_affine(graph, NULL, 0, p, 0, 0);
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphGetNodes(clone, node, &n));
	cr_assert(n == 4, "%zu", n);
	n = 1;
	OK(cudaGraphNodeGetDependencies(node[1], &need, NULL, &n));
	cr_assert(n == 1 && need == node[0], "%zu", n);
	exec = exec_of(clone);
	OK(cudaGraphDestroy(clone));
	run(exec);
	cr_assert(out == 17, "%d", out);
}

/* ---- objects ---------------------------------------------------------------------------- */

static cudaUserObject_t counted(int *gone, unsigned n_refs)
{
	cudaUserObject_t object;

	OK(cudaUserObjectCreate(&object, gone, add_one, n_refs, cudaUserObjectNoDestructorSync));
	return object;
}

Test(small_cpu_made, objects_go_with_the_last_that_refers_to_them)
{
	int gone = 0;
	cudaUserObject_t object = counted(&gone, 1);

	OK(cudaUserObjectRetain(object, 2));
	OK(cudaUserObjectRelease(object, 2));
	cr_assert(gone == 0, "%d", gone);
	OK(cudaUserObjectRelease(object, 1));
	cr_assert(gone == 1, "%d", gone);
	REFUSED(cudaErrorInvalidValue, cudaUserObjectRelease(object, 1));
	REFUSED(cudaErrorInvalidValue, cudaGraphRetainUserObject(new_graph(), object, 1, 0));
	REFUSED(cudaErrorInvalidValue, cudaUserObjectCreate(&object, &gone, add_one, 1, 0));
}

/* A graph, its clone, what is made of it, and a launch under way each keep them. */
Test(small_cpu_made, objects_live_as_long_as_graphs_and_their_launches)
{
	int gone = 0, gate = 0;
	cudaUserObject_t object = counted(&gone, 1);
	struct cudaHostNodeParams host = { wait_at_gate, &gate };
	cudaGraph_t graph = new_graph(), clone;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;

	OK(cudaGraphAddHostNode(&node, graph, NULL, 0, &host));
	OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
	OK(cudaGraphClone(&clone, graph));
	OK(cudaGraphDestroy(graph));
	exec = exec_of(clone);
	OK(cudaGraphDestroy(clone));
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaGraphExecDestroy(exec));
	cr_assert(__atomic_load_n(&gone, __ATOMIC_ACQUIRE) == 0, "gone before its launch is over");
	open_gate(&gate);
	while (!__atomic_load_n(&gone, __ATOMIC_ACQUIRE))
		sched_yield();
	OK(cudaStreamSynchronize(0));
	cr_assert(gone == 1, "%d", gone);
}

/* A capture that ends without a graph lets go of them. */
Test(small_cpu_made, objects_of_a_capture_that_fails_go)
{
	int gone = 0, *p = device_ints(1);
	cudaStream_t s = begin_capture();
	enum cudaStreamCaptureStatus status;
	cudaGraph_t growing, graph;

	launch_count(p, s);
	OK(cudaStreamGetCaptureInfo(s, &status, NULL, &growing, NULL, NULL, NULL));
	OK(cudaGraphRetainUserObject(growing, counted(&gone, 1), 1, cudaGraphUserObjectMove));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
	cr_assert(gone == 1, "%d", gone);
}

static void ask_about_capture(void *stream)
{
	enum cudaStreamCaptureStatus status;

	OK(cudaStreamIsCapturing(*(cudaStream_t *)stream, &status));
}

/* Its function may wait for a thread that looks at captures: here it does so itself. */
Test(small_cpu_made, objects_of_a_capture_go_without_its_lock)
{
	cudaStream_t other = begin_capture(), s;
	enum cudaStreamCaptureStatus status;
	cudaGraph_t growing, graph;
	cudaUserObject_t object;

	for (int i = 0; i < 2; i++) {
		s = begin_capture();
		OK(cudaUserObjectCreate(&object, &other, ask_about_capture, 1,
					cudaUserObjectNoDestructorSync));
		OK(cudaStreamGetCaptureInfo(s, &status, NULL, &growing, NULL, NULL, NULL));
		OK(cudaGraphRetainUserObject(growing, object, 1, cudaGraphUserObjectMove));
		if (i == 0) {
			REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
			REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
		}
		OK(cudaStreamDestroy(s));
	}
	OK(cudaStreamEndCapture(other, &graph));
}
