/* do_kernels.c - a daemon's commands about kernels, and about the device that runs them. */
#include "layers/remote/session.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* ---- which there are ---------------------------------------------------------------------- */

/* Asked one after the other until there is none; false: there are too many, or they are too large.
 */
static bool ask_params(struct served_kernel *k)
{
	size_t offset, size;

	while (!cudaFuncGetParamInfo(k->function, k->params, &offset, &size)) {
		if (k->params == REMOTE_PARAMS || offset + size > REMOTE_PAYLOAD_BYTES)
			return false;
		k->param[k->params++] = (struct remote_param){ (uint32_t)offset, (uint32_t)size };
		k->bytes = (uint32_t)(offset + size);
	}
	cudaGetLastError();
	return true;
}

static int enter_kernel(struct session *s, uint64_t number, const void *function,
			struct served_kernel *k)
{
	if (!k)
		return cudaErrorMemoryAllocation;
	k->function = function;
	if (!ask_params(k))
		return cudaErrorNotSupported;
	return table_put(&s->kernels, number, k) ? 0 : cudaErrorInvalidValue;
}

int do_kernel(struct session *s, struct request *r)
{
	const void *function = NULL;
	struct served_kernel *k;
	int err;

	if (r->payload_bytes && !r->payload[r->payload_bytes - 1])
		function = s->backend->kernel(r->word[1], (const char *)r->payload);
	if (!function)
		return cudaErrorInvalidResourceHandle;
	k = calloc(1, sizeof(*k));
	err = enter_kernel(s, r->word[0], function, k);
	if (err) {
		free(k);
		return err;
	}
	answer_put(r, &k->params, sizeof(k->params));
	answer_put(r, k->param, k->params * sizeof(*k->param));
	return 0;
}

int do_symbol(struct session *s, struct request *r)
{
	struct region piece = { .kind = REGION_SYMBOL };
	const struct region *known;

	if (!s->backend->symbol(r->word[0], &piece.base, &piece.bytes))
		return cudaErrorInvalidSymbol;
	known = regions_find(&s->regions, piece.base);
	if (!known && !regions_add(&s->regions, piece))
		return cudaErrorMemoryAllocation;
	answer_put(r, &piece.base, sizeof(piece.base));
	answer_put(r, &piece.bytes, sizeof(piece.bytes));
	return 0;
}

/* ---- launches ----------------------------------------------------------------------------- */

bool kernel_arguments(const struct served_kernel *k, const struct request *r, void **argument)
{
	if (r->payload_bytes != k->bytes)
		return false;
	for (uint32_t i = 0; i < k->params; i++)
		argument[i] = (void *)(r->payload + k->param[i].offset);
	return true;
}

static int launch_with_attribute(const struct served_kernel *k, const struct remote_shape *shape,
				 cudaStream_t stream, bool allowed, void **argument)
{
	cudaLaunchAttribute attribute = {
		.id = cudaLaunchAttributeProgrammaticStreamSerialization,
		.val.programmaticStreamSerializationAllowed = allowed,
	};
	cudaLaunchConfig_t config = {
		.gridDim = { low_of(shape->grid_xy), high_of(shape->grid_xy), low_of(shape->z) },
		.blockDim = { low_of(shape->block_xy), high_of(shape->block_xy),
			      high_of(shape->z) },
		.dynamicSmemBytes = shape->shared_bytes,
		.stream = stream,
		.attrs = &attribute,
		.numAttrs = 1,
	};

	return (int)cudaLaunchKernelExC(&config, k->function, argument);
}

static int launch(const struct served_kernel *k, const struct remote_shape *shape,
		  cudaStream_t stream, void **argument)
{
	const struct dim3 grid = { low_of(shape->grid_xy), high_of(shape->grid_xy),
				   low_of(shape->z) };
	const struct dim3 block = { low_of(shape->block_xy), high_of(shape->block_xy),
				    high_of(shape->z) };

	return (int)cudaLaunchKernel(k->function, grid, block, argument, shape->shared_bytes,
				     stream);
}

int do_launch(struct session *s, struct request *r)
{
	const struct served_kernel *k = table_get(&s->kernels, r->word[0]);
	void *argument[REMOTE_PARAMS];
	struct remote_shape shape;
	cudaStream_t stream;

	memcpy(&shape, r->word, sizeof(shape));
	if (!k || !session_stream(s, r->word[5], &stream))
		return cudaErrorInvalidResourceHandle;
	if (!kernel_arguments(k, r, argument) || r->word[6] > REMOTE_MAY_OVERLAP)
		return cudaErrorInvalidValue;
	if (r->word[6] == REMOTE_NO_ATTRIBUTE)
		return launch(k, &shape, stream, argument);
	return launch_with_attribute(k, &shape, stream, r->word[6] == REMOTE_MAY_OVERLAP, argument);
}

/* ---- what is asked about kernels ---------------------------------------------------------- */

int do_func_attributes(struct session *s, struct request *r)
{
	const struct served_kernel *k = table_get(&s->kernels, r->word[0]);
	struct cudaFuncAttributes attributes;
	int err = k ? (int)cudaFuncGetAttributes(&attributes, k->function)
		    : (int)cudaErrorInvalidResourceHandle;

	if (!err)
		answer_put(r, &attributes, sizeof(attributes));
	return err;
}

int do_func_set(struct session *s, struct request *r)
{
	const struct served_kernel *k = table_get(&s->kernels, r->word[0]);

	if (!k)
		return cudaErrorInvalidResourceHandle;
	return (int)cudaFuncSetAttribute(k->function, (enum cudaFuncAttribute)r->word[1],
					 (int)r->word[2]);
}

int do_occupancy(struct session *s, struct request *r)
{
	const struct served_kernel *k = table_get(&s->kernels, r->word[0]);
	int blocks = 0, err = cudaErrorInvalidResourceHandle;

	if (k)
		err = (int)cudaOccupancyMaxActiveBlocksPerMultiprocessor(
			&blocks, k->function, (int)r->word[1], r->word[2]);
	answer_put(r, &blocks, sizeof(blocks));
	return err;
}

/* ---- the device --------------------------------------------------------------------------- */

int do_properties(struct session *s, struct request *r)
{
	struct cudaDeviceProp properties;
	int err = (int)cudaGetDeviceProperties(&properties, (int)r->word[0]);

	(void)s;
	if (!err)
		answer_put(r, &properties, sizeof(properties));
	return err;
}

int do_attribute(struct session *s, struct request *r)
{
	int value = 0, err = (int)cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)r->word[0],
							 (int)r->word[1]);

	(void)s;
	answer_put(r, &value, sizeof(value));
	return err;
}

int do_device_count(struct session *s, struct request *r)
{
	int count = 0, err = (int)cudaGetDeviceCount(&count);

	(void)s;
	answer_put(r, &count, sizeof(count));
	return err;
}

int do_set_flags(struct session *s, struct request *r)
{
	(void)s;
	return (int)cudaSetDeviceFlags((unsigned)r->word[0]);
}

int do_get_flags(struct session *s, struct request *r)
{
	unsigned flags = 0;
	int err = (int)cudaGetDeviceFlags(&flags);

	(void)s;
	answer_put(r, &flags, sizeof(flags));
	return err;
}

int do_set_limit(struct session *s, struct request *r)
{
	(void)s;
	return (int)cudaDeviceSetLimit((enum cudaLimit)r->word[0], r->word[1]);
}

int do_get_limit(struct session *s, struct request *r)
{
	size_t value = 0;
	int err = (int)cudaDeviceGetLimit(&value, (enum cudaLimit)r->word[0]);

	(void)s;
	answer_put(r, &value, sizeof(value));
	return err;
}

int do_versions(struct session *s, struct request *r)
{
	int version[2] = { 0, 0 }, err = (int)cudaDriverGetVersion(&version[0]);

	(void)s;
	err = err ? err : (int)cudaRuntimeGetVersion(&version[1]);
	answer_put(r, version, sizeof(version));
	return err;
}

int do_priorities(struct session *s, struct request *r)
{
	int range[2] = { 0, 0 }, err = (int)cudaDeviceGetStreamPriorityRange(&range[0], &range[1]);

	(void)s;
	answer_put(r, range, sizeof(range));
	return err;
}

int do_device_wait(struct session *s, struct request *r)
{
	(void)s;
	(void)r;
	return (int)cudaDeviceSynchronize();
}
