/*
 * test_cpu_nodes.c - nodes of graphs and updates where CUDA's documentation leaves open what
 * happens: what the CPU device does then.
 */
#include "tests/plain.h"
#include "tests/graphs.h"

TestSuite(small_cpu_nodes, .timeout = 300);

static cudaGraph_t captured(cudaStream_t s, int *p, int with_set)
{
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	launch_count(p, s);
	if (with_set)
		OK(cudaMemsetAsync(p, 0, 4, s));
	OK(cudaStreamEndCapture(s, &graph));
	return graph;
}

Test(small_cpu_nodes, nodes_are_known_by_their_handles)
{
	struct pair p = new_pair();
	cudaGraph_t graph = captured(p.a, p.d, 1), other = captured(p.a, p.d, 0);
	struct cudaKernelNodeParams params;
	enum cudaGraphNodeType type;
	cudaGraphNode_t node[3], foreign;
	cudaGraphEdgeData edge = { 1, 1, 1, { 1 } };
	cudaGraphExec_t exec;
	size_t n = 3;

	OK(cudaGraphGetNodes(graph, node, &n));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	REFUSED(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(node[1], &params));
	OK(cudaGraphKernelNodeGetParams(node[0], &params));
	cr_assert(params.func == k_affine(), "%p", params.func);
	REFUSED(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, node[1], &params));
	params.gridDim.x = 0;
	REFUSED(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, node[0], &params));
	params.gridDim.x = 1;
	params.func = &n;
	REFUSED(cudaErrorInvalidResourceHandle,
		cudaGraphExecKernelNodeSetParams(exec, node[0], &params));
	n = 1;
	OK(cudaGraphNodeGetDependencies(node[1], &foreign, &edge, &n));
	cr_assert(n == 1 && foreign == node[0] && !edge.type && !edge.from_port, "%zu", n);
	n = 1;
	OK(cudaGraphGetNodes(other, &foreign, &n));
	OK(cudaGraphKernelNodeGetParams(foreign, &params));
	REFUSED(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, foreign, &params));
	OK(cudaGraphDestroy(graph));
	REFUSED(cudaErrorInvalidValue, cudaGraphNodeGetType(node[0], &type));
}

Test(small_cpu_nodes, dependencies_must_be_the_same_nodes)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph[2];
	cudaGraphExec_t exec;
	cudaGraphNode_t node[3];
	size_t n = 3;

	/* Two kernels side by side; the third comes after the one or the other. */
	for (int i = 0; i < 2; i++) {
		struct pair p = forked();

		launch_count(p.d, p.a);
		launch_count(p.d, p.b);
		launch_count(p.d, i ? p.a : p.b);
		OK(cudaEventRecord(p.f, p.b));
		OK(cudaStreamWaitEvent(p.a, p.f, 0));
		OK(cudaStreamEndCapture(p.a, &graph[i]));
	}
	OK(cudaGraphInstantiate(&exec, graph[0], 0));
	REFUSED(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph[1], &info));
	cr_assert(info.result == cudaGraphExecUpdateErrorTopologyChanged, "%d", info.result);
	n = 1;
	OK(cudaGraphNodeGetDependencies(info.errorNode, node, NULL, &n));
	cr_assert(n == 1 && node[0] == info.errorFromNode, "%zu", n);
}

Test(small_cpu_nodes, copies_stay_between_the_same_memories)
{
	struct pair p = new_pair();
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph[2];
	cudaGraphExec_t exec;
	int host = 5;

	for (int i = 0; i < 2; i++) {
		OK(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeRelaxed));
		OK(cudaMemcpyAsync(p.d, i ? p.d : &host, 4, cudaMemcpyDefault, p.a));
		OK(cudaStreamEndCapture(p.a, &graph[i]));
	}
	OK(cudaGraphInstantiate(&exec, graph[0], 0));
	REFUSED(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph[1], &info));
	cr_assert(info.result == cudaGraphExecUpdateErrorParametersChanged, "%d", info.result);
}

Test(small_cpu_nodes, a_growing_graph_can_be_seen_but_not_destroyed)
{
	struct pair p = forked();
	enum cudaStreamCaptureStatus status;
	const cudaGraphEdgeData *edges;
	const cudaGraphNode_t *needs;
	cudaGraph_t growing, graph;
	size_t n = 0;

	launch_count(p.d, p.a);
	OK(cudaStreamGetCaptureInfo(p.a, &status, NULL, &growing, &needs, &edges, &n));
	cr_assert(n == 1 && !edges[0].type, "%zu", n);
	OK(cudaGraphGetNodes(growing, NULL, &n));
	cr_assert(n == 2, "%zu nodes", n);
	REFUSED(cudaErrorInvalidValue, cudaGraphDestroy(growing));
	OK(cudaStreamEndCapture(p.a, &graph));
	cr_assert(graph == growing, "the same graph");
	OK(cudaGraphDestroy(graph));
	p = forked();
	OK(cudaStreamGetCaptureInfo(p.a, &status, NULL, &growing, NULL, NULL, NULL));
	launch_count(p.d, p.b);
	REFUSED(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(p.a, &graph));
	REFUSED(cudaErrorInvalidValue, cudaGraphGetNodes(growing, NULL, &n)); /* gone */
}

Test(small_cpu_nodes, a_graph_can_be_part_of_another)
{
	struct pair p = new_pair();
	cudaGraphExecUpdateResultInfo info;
	enum cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
	cudaGraph_t inner = captured(p.a, p.d, 0), other = captured(p.a, device_ints(1), 0), outer,
		    changed;
	cudaGraphExec_t inner_exec, outer_exec;
	cudaGraphNode_t node[3];
	size_t n = 3;

	OK(cudaGraphInstantiate(&inner_exec, inner, 0));
	OK(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeRelaxed));
	launch_count(p.d, p.a);
	OK(cudaGraphLaunch(inner_exec, p.a));
	OK(cudaGraphLaunch(inner_exec, p.a));
	OK(cudaStreamEndCapture(p.a, &outer));
	OK(cudaGraphGetNodes(outer, node, &n));
	OK(cudaGraphNodeGetType(node[1], &type));
	cr_assert(n == 3 && type == cudaGraphNodeTypeGraph, "%zu nodes, type %d", n, type);
	cr_assert(device_int(p.d) == 0, "ran during the capture");
	OK(cudaGraphInstantiate(&outer_exec, outer, 0));
	OK(cudaGraphExecUpdate(inner_exec, other, &info)); /* too late for the outer one */
	OK(cudaGraphExecUpdate(outer_exec, outer, &info));
	OK(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeRelaxed));
	launch_count(p.d, p.a);
	OK(cudaGraphLaunch(inner_exec, p.a));
	OK(cudaGraphLaunch(inner_exec, p.a));
	OK(cudaStreamEndCapture(p.a, &changed));
	REFUSED(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(outer_exec, changed, &info));
	cr_assert(info.result == cudaGraphExecUpdateErrorNotSupported, "%d", info.result);
	OK(cudaGraphExecDestroy(inner_exec));
	OK(cudaGraphDestroy(inner));
	OK(cudaGraphDestroy(outer));
	OK(cudaGraphLaunch(outer_exec, p.b));
	OK(cudaStreamSynchronize(p.b));
	cr_assert(device_int(p.d) == 3, "%d", device_int(p.d));
	OK(cudaGraphExecDestroy(outer_exec));
}
