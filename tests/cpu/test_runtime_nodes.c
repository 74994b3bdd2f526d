/* test_runtime_nodes.c - asking about graphs: what their nodes are, do and need. */
#include "tests/plain.h"
#include "tests/graphs.h"

TestSuite(small_runtime_nodes, .timeout = 300);

static size_t count_needs(cudaGraphNode_t node)
{
	size_t n = 99;

#if CUDART_VERSION >= 13000
	OK(cudaGraphNodeGetDependencies(node, NULL, NULL, &n));
#else
	OK(cudaGraphNodeGetDependencies(node, NULL, &n));
#endif
	return n;
}

Test(small_runtime_nodes, nodes_tell_what_they_are_and_need)
{
	static const size_t needs[] = { [cudaGraphNodeTypeMemset] = 0,
					[cudaGraphNodeTypeKernel] = 1,
					[cudaGraphNodeTypeHost] = 1,
					[cudaGraphNodeTypeMemcpy] = 2 };
	cudaGraphNode_t node[4];
	unsigned seen = 0;
	size_t n = 4;
	int host = 0;

	NEED_DEVICE();
	cudaGraph_t graph = diamond(device_ints(1), &host);

	OK(cudaGraphGetNodes(graph, node, &n));
	cr_assert(n == 4, "%zu nodes", n);
	for (int i = 0; i < 4; i++) {
		enum cudaGraphNodeType type = (enum cudaGraphNodeType)99;

		OK(cudaGraphNodeGetType(node[i], &type));
		cr_assert(type <= cudaGraphNodeTypeHost, "type %d", type);
		cr_assert(count_needs(node[i]) == needs[type], "type %d: %zu", type,
			  count_needs(node[i]));
		seen |= 1u << type;
	}
	cr_assert(seen == 15, "types %x", seen);
	OK(cudaGraphDestroy(graph));
}

Test(small_runtime_nodes, kernel_nodes_show_their_launch)
{
	dim3 grid = { 3, 2, 1 }, block = { 4, 1, 2 };
	struct cudaKernelNodeParams got = { 0 };
	int factor = 7, term = 8;
	cudaGraphNode_t node;
	size_t n = 1;

	NEED_DEVICE();
	int *p = device_ints(1);
	cudaStream_t s = begin_capture();

	OK(cudaLaunchKernel(k_affine(), grid, block, (void *[]){ &p, &factor, &term }, 64, s));
	cudaGraph_t graph = end_capture(s);

	OK(cudaGraphGetNodes(graph, &node, &n));
	OK(cudaGraphKernelNodeGetParams(node, &got));
	cr_assert(got.func != NULL, "no function");
	cr_assert(got.gridDim.x == 3 && got.gridDim.y == 2 && got.gridDim.z == 1, "grid");
	cr_assert(got.blockDim.x == 4 && got.blockDim.y == 1 && got.blockDim.z == 2, "block");
	cr_assert(got.sharedMemBytes == 64, "%u bytes", got.sharedMemBytes);
	cr_assert(*(int **)got.kernelParams[0] == p, "first argument");
	cr_assert(*(int *)got.kernelParams[1] == 7, "second argument");
	cr_assert(*(int *)got.kernelParams[2] == 8, "third argument");
	OK(cudaGraphDestroy(graph));
}

#if CUDART_VERSION >= 13000
static unsigned long long capture_id(cudaStream_t s, size_t want_needs)
{
	enum cudaStreamCaptureStatus status = (enum cudaStreamCaptureStatus)9;
	const cudaGraphNode_t *needs = NULL;
	unsigned long long id = 0;
	cudaGraph_t graph = NULL;
	size_t n = 99;

	OK(cudaStreamGetCaptureInfo(s, &status, &id, &graph, &needs, NULL, &n));
	cr_assert(status == cudaStreamCaptureStatusActive, "%d", status);
	cr_assert(n == want_needs, "%zu, not %zu", n, want_needs);
	cr_assert(graph != NULL, "no graph");
	for (size_t i = 0; i < n; i++)
		cr_assert(count_needs(needs[i]) <= 1, "a node of the graph");
	return id;
}

Test(small_runtime_nodes, captures_tell_what_comes_next_needs)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;

	NEED_DEVICE();
	int *p = device_ints(1);
	cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking),
		     c;

	OK(cudaStreamGetCaptureInfo(a, &status, NULL, NULL, NULL, NULL, NULL));
	cr_assert(status == cudaStreamCaptureStatusNone, "%d", status);
	REFUSED(cudaErrorInvalidValue,
		cudaStreamGetCaptureInfo(a, NULL, NULL, NULL, NULL, NULL, NULL));
	OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	unsigned long long id = capture_id(a, 0);

	affine(p, 1, 1, a);
	capture_id(a, 1);
	order(a, b);
	cr_assert(capture_id(b, 1) == id, "b is in the same capture");
	affine(p, 1, 1, a);
	affine(p, 1, 1, b);
	order(b, a);
	cr_assert(capture_id(a, 2) == id, "still the same");
	c = begin_capture();
	cr_assert(capture_id(c, 0) != id, "another capture");
	OK(cudaGraphDestroy(end_capture(c)));
	OK(cudaGraphDestroy(end_capture(a)));
}
#endif
