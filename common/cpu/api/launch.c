/*
 * launch.c - cudaLaunchKernel: checks a launch against the device's limits and queues it. The
 * error codes are those of CUDA 13.0 on an H200, where the documentation leaves a choice.
 */
#include "common/cpu/base/base.h"

#include <string.h>

/* Limits of compute capability 7.0 to 12.0, as device.c reports them. */
static bool shape_fits(dim3 grid, dim3 block)
{
	uint64_t threads = (uint64_t)block.x * block.y * block.z;

	return grid.x && grid.y && grid.z && grid.x <= INT32_MAX && grid.y <= 65535 &&
	       grid.z <= 65535 && block.x <= MAX_THREADS && block.y <= MAX_THREADS &&
	       block.z <= 64 && threads && threads <= MAX_THREADS;
}

static bool shared_fits(const struct cpudev_kernel *k, size_t bytes)
{
	int limit = k->dynamic_limit_bytes ? k->dynamic_limit_bytes : DYNAMIC_BYTES_DEFAULT;

	return bytes <= (size_t)(limit > DYNAMIC_BYTES_DEFAULT ? limit : DYNAMIC_BYTES_DEFAULT);
}

/* The launch is asynchronous: the arguments may be gone when it runs. */
static bool copy_arguments(struct op *op, const struct cpudev_kernel *k, void **args)
{
	op->data = op_data(op, k->offset[k->n_params]);
	if (!op->data)
		return false;
	for (unsigned i = 0; i < k->n_params; i++)
		memcpy(op->data + k->offset[i], args[i], k->size[i]);
	return true;
}

cudaError_t launch_fill(struct op *op, struct cpudev_kernel *k, dim3 grid, dim3 block, void **args,
			size_t shared_bytes)
{
	if (!shape_fits(grid, block) || !shared_fits(k, shared_bytes) || (k->n_params && !args))
		return cudaErrorInvalidValue;
	if (!copy_arguments(op, k, args))
		return cudaErrorMemoryAllocation;
	op->kind = OP_KERNEL;
	op->launch.kernel = k;
	op->launch.grid = grid;
	op->launch.block = block;
	op->launch.shared_bytes = shared_bytes;
	return cudaSuccess;
}

static cudaError_t launch(const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			  cudaStream_t stream)
{
	struct cpudev_kernel *k = kernel_find(func);
	struct stream *s = stream_find(stream);

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
	INJECT();
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
	INJECT();
	cudaError_t error = config ? judge_attributes(config) : cudaErrorInvalidValue;

	if (error)
		return result(error);
	return charge(COST_LAUNCH, result(launch(func, config->gridDim, config->blockDim, args,
						 config->dynamicSmemBytes, config->stream)));
}

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
