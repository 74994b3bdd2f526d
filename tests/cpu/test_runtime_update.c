/* test_runtime_update.c - changing executable graphs. */
#include "tests/plain.h"
#include "tests/graphs.h"

TestSuite(small_runtime_update, .timeout = 300);

/* *p before is 0. */
static int run(cudaGraphExec_t exec, int *p)
{
	OK(cudaMemset(p, 0, sizeof(int)));
	OK(cudaGraphLaunch(exec, NULL));
	OK(cudaDeviceSynchronize());
	return device_int(p);
}

/* ---- changes ---------------------------------------------------------------------------- */

Test(small_runtime_update, a_node_can_be_given_other_arguments)
{
	struct cudaKernelNodeParams params;
	int factor = 1, term = 9, gate = 0;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	size_t n = 1;

	NEED_DEVICE();
	int *p = device_ints(2), *q = p + 1;
	cudaGraph_t graph = one_affine(p, 1, 4);
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaGraphGetNodes(graph, &node, &n));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	cr_assert(run(exec, p) == 4, "%d", device_int(p));
	OK(cudaGraphKernelNodeGetParams(node, &params));
	params.kernelParams = (void *[]){ &q, &factor, &term };
	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	OK(cudaGraphLaunch(exec, s)); /* before the change: adds 4 to *p */
	OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
	term = 0;		      /* was copied */
	OK(cudaGraphLaunch(exec, s)); /* adds 9 to *q */
	open_gate(&gate);
	OK(cudaStreamSynchronize(s));
	cr_assert(device_int(p) == 8, "%d", device_int(p));
	cr_assert(device_int(q) == 9, "%d", device_int(q));
	OK(cudaGraphKernelNodeGetParams(node, &params));
	cr_assert(*(int *)params.kernelParams[2] == 4, "the graph itself is as it was");
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphExecDestroy(exec));
}

Test(small_runtime_update, a_whole_graph_can_be_updated)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t exec;
	int first = -1, second = -1;

	NEED_DEVICE();
	int *p = device_ints(2);
	cudaGraph_t graph = diamond(p, &first), other = diamond(p + 1, &second);

	OK(cudaGraphInstantiate(&exec, graph, 0));
	cr_assert(run(exec, p) == 5 && first == 5, "%d %d", device_int(p), first);
	first = -1;
	OK(cudaGraphExecUpdate(exec, other, &info));
	cr_assert(info.result == cudaGraphExecUpdateSuccess, "%d", info.result);
	OK(cudaGraphDestroy(other)); /* the executable has a copy */
	cr_assert(run(exec, p + 1) == 5, "%d", device_int(p + 1));
	cr_assert(first == -1 && second == 5, "%d %d", first, second);
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphExecDestroy(exec));
}

Test(small_runtime_update, an_update_leaves_launches_in_flight_alone)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t exec;
	int gate = 0;

	NEED_DEVICE();
	int *p = device_ints(1);
	cudaGraph_t graph = one_affine(p, 10, 1), other = one_affine(p, 10, 2);
	cudaStream_t s = new_stream(cudaStreamNonBlocking);

	OK(cudaGraphInstantiate(&exec, graph, 0));
	run(exec, p);
	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaGraphExecUpdate(exec, other, &info));
	OK(cudaGraphLaunch(exec, s));
	open_gate(&gate);
	OK(cudaStreamSynchronize(s));
	cr_assert(device_int(p) == 112, "%d", device_int(p));
}

Test(small_runtime_update, a_node_can_be_given_another_kernel)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t exec;

	NEED_DEVICE();
	int *p = device_ints(2);
	cudaGraph_t graph = one_affine(p, 1, 3);
	cudaStream_t s = begin_capture();

	append(p, p + 1, s);
	OK(cudaMemset(p + 1, 1, 1));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphExecUpdate(exec, end_capture(s), &info));
	cr_assert(run(exec, p) == 1, "%d", device_int(p));
}

/* ---- updates that are refused ----------------------------------------------------------- */

static cudaGraphNode_t refused_update(enum cudaGraphExecUpdateResult want, cudaGraph_t from,
				      cudaGraph_t to)
{
	cudaGraphExecUpdateResultInfo info = { 0 };
	cudaGraphExec_t exec;

	OK(cudaGraphInstantiate(&exec, from, 0));
	REFUSED(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, to, &info));
	cr_assert(info.result == want, "%d, not %d", info.result, want);
	OK(cudaGraphLaunch(exec, NULL)); /* as it was */
	OK(cudaDeviceSynchronize());
	OK(cudaGraphExecDestroy(exec));
	return info.errorNode;
}

/* Two kernels, in one stream or side by side. */
static cudaGraph_t two_affine(int *p, int side_by_side)
{
	cudaStream_t a = begin_capture(), b = new_stream(cudaStreamNonBlocking);

	if (side_by_side)
		order(a, b);
	affine(p, 1, 1, a);
	affine(p + side_by_side, 1, 1, side_by_side ? b : a);
	if (side_by_side)
		order(b, a);
	return end_capture(a);
}

Test(small_runtime_update, shapes_must_be_equal)
{
	NEED_DEVICE();
	int *p = device_ints(2);
	cudaGraph_t one = one_affine(p, 1, 1), chain = two_affine(p, 0), pair = two_affine(p, 1);
	cudaGraphNode_t node;

	node = refused_update(cudaGraphExecUpdateErrorTopologyChanged, one, chain);
	cr_assert(!node, "%p: no particular node", (void *)node);
	refused_update(cudaGraphExecUpdateErrorTopologyChanged, chain, pair);
	cr_assert(device_int(p) == 3, "%d", device_int(p));
}

Test(small_runtime_update, types_must_be_equal)
{
	enum cudaGraphNodeType type = (enum cudaGraphNodeType)9;
	cudaGraphNode_t node;

	NEED_DEVICE();
	int *p = device_ints(1);
	cudaStream_t s = begin_capture();

	OK(cudaMemsetAsync(p, 0, sizeof(*p), s));
	node = refused_update(cudaGraphExecUpdateErrorNodeTypeChanged, one_affine(p, 1, 1),
			      end_capture(s));
	OK(cudaGraphNodeGetType(node, &type));
	cr_assert(type == cudaGraphNodeTypeMemset, "%d", type);
}

#ifdef RIFT_CPU_DEVICE /* NVIDIA's runtime was seen to follow such pointers and crash */
Test(small_runtime_update, nothing_is_no_graph)
{
	cudaGraphExecUpdateResultInfo info;
	enum cudaGraphNodeType type;
	cudaGraphExec_t exec;

	NEED_DEVICE();
	cudaGraph_t graph = one_affine(device_ints(1), 1, 1);

	OK(cudaGraphInstantiate(&exec, graph, 0));
	REFUSED(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, NULL, &info));
	REFUSED(cudaErrorInvalidValue, cudaGraphExecUpdate(NULL, graph, &info));
	REFUSED(cudaErrorInvalidValue, cudaGraphNodeGetType(NULL, &type));
	REFUSED(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, NULL, NULL));
}
#endif
