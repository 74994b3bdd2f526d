/*
 * launch.c - what is launched: kernels, host functions and graphs; and what hosts ask about
 * kernels. The error codes are those of CUDA 13.0 on an H200, where the documentation leaves a
 * choice.
 */
#include "common/cpu/api/api.h"

#include <string.h>

/* ---- kernels --------------------------------------------------------------------------- */

static cudaError_t launch(const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			  cudaStream_t stream)
{
	struct cpudev_kernel *k = kernel_find(func);
	struct stream *s = call_stream(stream);

	if (!k || !s)
		return func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
	struct op *op = stream_new_op(s);
	cudaError_t error = op ? launch_fill(op, k, grid, block, args, shared_bytes)
			       : cudaErrorMemoryAllocation;

	if (!error)
		return stream_submit(s, op);
	op_free(op);
	capture_spoil(s);
	return error;
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
			     size_t shared_bytes, cudaStream_t stream)
{
	CALL(launch);
	return charge(COST_LAUNCH, result(launch(func, grid, block, args, shared_bytes, stream)));
}

/* Launches that may overlap the one before need not: they follow it. */
static cudaError_t judge_attributes(const cudaLaunchConfig_t *config)
{
	if (config->numAttrs && !config->attrs)
		return cudaErrorInvalidValue;
	for (unsigned i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id != cudaLaunchAttributeProgrammaticStreamSerialization)
			return cudaErrorNotSupported;
	return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
	CALL(launch);
	cudaError_t error = config ? judge_attributes(config) : cudaErrorInvalidValue;

	if (error)
		return result(error);
	return charge(COST_LAUNCH, result(launch(func, config->gridDim, config->blockDim, args,
						 config->dynamicSmemBytes, config->stream)));
}

/* ---- host functions and graphs --------------------------------------------------------- */

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *user_data)
{
	CALL(hostfunc);
	struct stream *s = call_stream(stream);

	if (!fn)
		return result(cudaErrorInvalidValue);
	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	struct op *op = stream_new_op(s);

	if (!op)
		return result(cudaErrorMemoryAllocation);
	op->kind = OP_HOST;
	op->host.fn = fn;
	op->host.user_data = user_data;
	return result(stream_submit(s, op));
}

/* Nothing to upload: the copy that launches use was made when it was instantiated. */
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	CALL(other);
	struct stream *s = call_stream(stream);

	if (!handle_object(HANDLE_EXEC, exec))
		return result(cudaErrorInvalidValue);
	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (stream_captures(s))
		return result(capture_forbids(s));
	return result(stream_accepts(s));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	CALL(graph_launch);
	struct exec *x = handle_object(HANDLE_EXEC, exec);
	struct stream *s = call_stream(stream);

	if (!x)
		return result(cudaErrorInvalidValue);
	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	cudaError_t error = stream_accepts(s);

	if (error)
		return result(error);
	struct op *op = stream_new_op(s);

	if (!op)
		return result(cudaErrorMemoryAllocation);
	call_tells_graph(x);
	body_ref(x->body);
	op->graph.body = x->body;
	if (stream_captures(s)) {
		op->kind = OP_CHILD; /* of what it does now: a later update does not concern it */
		return charge(COST_LAUNCH, result(stream_submit(s, op)));
	}
	atomic_fetch_add_explicit(&x->n_refs, 1, memory_order_relaxed);
	op->kind = OP_GRAPH;
	op->graph.exec = x;
	/* Last, as a ticket that never runs would hold up all later launches. */
	op->graph.ticket = atomic_fetch_add(&x->n_launches, 1);
	return charge(COST_LAUNCH, result(stream_submit(s, op)));
}

/* ---- what hosts ask about kernels ------------------------------------------------------ */

/* A worker runs one block at a time. */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, const void *func,
							  int block, size_t shared_bytes)
{
	INJECT();
	const struct cpudev_kernel *k = kernel_find(func);

	if (!n_blocks || block < 1)
		return result(cudaErrorInvalidValue);
	if (!k)
		return result(func ? cudaErrorInvalidResourceHandle
				   : cudaErrorInvalidDeviceFunction);
	*n_blocks = block <= MAX_THREADS && shared_fits(k, shared_bytes);
	return cudaSuccess;
}

/* As CUDA 13.0 did on an H200: only NULL is "no device function". */
static cudaError_t not_a_kernel(const void *func)
{
	return func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
	INJECT();
	const struct cpudev_kernel *k = kernel_find(func);

	if (!name)
		return result(cudaErrorInvalidValue);
	if (!k)
		return result(not_a_kernel(func));
	*name = k->name;
	return cudaSuccess;
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *size)
{
	INJECT();
	const struct cpudev_kernel *k = kernel_find(func);

	if (!k)
		return result(not_a_kernel(func));
	if (!offset || index >= k->n_params)
		return result(cudaErrorInvalidValue);
	*offset = k->offset[index];
	if (size)
		*size = k->size[index];
	return cudaSuccess;
}

/* What a launch may ask for; cudaFuncSetAttribute raises it, as on a GPU beyond 48 KiB. */
static int dynamic_limit(const struct cpudev_kernel *k)
{
	return k->dynamic_limit_bytes ? k->dynamic_limit_bytes : DYNAMIC_BYTES_DEFAULT;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
	INJECT();
	const struct cpudev_kernel *k = kernel_find(func);

	if (!attr)
		return result(cudaErrorInvalidValue);
	if (!k)
		return result(not_a_kernel(func));
	memset(attr, 0, sizeof(*attr)); /* registers and the like: a CPU has no such numbers */
	attr->maxThreadsPerBlock = MAX_THREADS;
	attr->maxDynamicSharedSizeBytes = dynamic_limit(k);
	return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
	INJECT();
	struct cpudev_kernel *k = kernel_find(func);

	if (!k)
		return result(not_a_kernel(func));
	if (attr == cudaFuncAttributePreferredSharedMemoryCarveout)
		return cudaSuccess; /* a hint */
	if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
	    value > DYNAMIC_BYTES_MAX)
		return result(cudaErrorInvalidValue);
	k->dynamic_limit_bytes = value;
	return cudaSuccess;
}
