/* do_kernels.c - a daemon's commands about kernels, and about the device that runs them. */
#include "layers/remote/daemon/session.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* ---- launches ----------------------------------------------------------------------------- */

bool kernel_arguments(const struct served_kernel *k, const uint8_t *at, uint32_t bytes,
		      void **argument)
{
	if (bytes != k->bytes)
		return false;
	for (uint32_t i = 0; i < k->params; i++)
		argument[i] = (void *)(at + k->param[i].offset);
	return true;
}

/* Attributes hold values only: the client sends none with pointers, nor would this let them pass.
 * Their numbers are CUDA's, of which the CPU device's headers have one. */
static bool is_value(int attribute)
{
	enum { COOPERATIVE = 2, CLUSTER = 4, CLUSTER_POLICY = 5, PROGRAMMATIC = 6, PRIORITY = 8 };

	return attribute == COOPERATIVE || attribute == CLUSTER || attribute == CLUSTER_POLICY ||
	       attribute == PROGRAMMATIC || attribute == PRIORITY;
}

static int launch_with_attributes(const struct served_kernel *k, const struct remote_shape *shape,
				  cudaStream_t stream, const uint8_t *attributes, unsigned n,
				  void **argument)
{
	cudaLaunchAttribute attribute[REMOTE_ATTRIBUTES];
	cudaLaunchConfig_t config = {
		.gridDim = { low_of(shape->grid_xy), high_of(shape->grid_xy), low_of(shape->z) },
		.blockDim = { low_of(shape->block_xy), high_of(shape->block_xy),
			      high_of(shape->z) },
		.dynamicSmemBytes = shape->shared_bytes,
		.stream = stream,
		.attrs = attribute,
		.numAttrs = n,
	};

	memcpy(attribute, attributes, n * sizeof(*attribute));
	for (unsigned i = 0; i < n; i++)
		if (!is_value((int)attribute[i].id))
			return cudaErrorNotSupported;
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

/* The payload: attributes, then arguments. */
int do_launch(struct session *s, struct request *r)
{
	const struct served_kernel *k = table_get(&s->kernels, r->word[0]);
	uint64_t n = r->word[6], before = n * sizeof(cudaLaunchAttribute);
	void *argument[REMOTE_PARAMS];
	struct remote_shape shape;
	cudaStream_t stream;
	int err = k ? session_stream(s, r->word[5], &stream) : (int)cudaErrorInvalidResourceHandle;

	memcpy(&shape, r->word, sizeof(shape));
	if (err)
		return err;
	if (n > REMOTE_ATTRIBUTES || before > r->payload_bytes ||
	    !kernel_arguments(k, r->payload + before, r->payload_bytes - (uint32_t)before,
			      argument))
		return cudaErrorInvalidValue;
	return n ? launch_with_attributes(k, &shape, stream, r->payload, (unsigned)n, argument)
		 : launch(k, &shape, stream, argument);
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

/* The client's device 0 is the one that it was given; there is no other. */
static int device_of(const struct session *s, uint64_t word)
{
	return word ? -1 : s->device;
}

int do_properties(struct session *s, struct request *r)
{
	struct cudaDeviceProp properties;
	int err = (int)cudaGetDeviceProperties(&properties, device_of(s, r->word[0]));

	if (!err)
		answer_put(r, &properties, sizeof(properties));
	return err;
}

int do_attribute(struct session *s, struct request *r)
{
	int value = 0, err = (int)cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)r->word[0],
							 device_of(s, r->word[1]));

	answer_put(r, &value, sizeof(value));
	return err;
}

int do_error_text(struct session *s, struct request *r)
{
	const char *text = r->word[1] ? cudaGetErrorString((cudaError_t)r->word[0])
				      : cudaGetErrorName((cudaError_t)r->word[0]);
	size_t bytes = strlen(text) + 1;

	(void)s;
	if (bytes > REMOTE_ANSWER_BYTES)
		return cudaErrorInvalidValue;
	answer_put(r, text, bytes);
	return 0;
}

int do_device_count(struct session *s, struct request *r)
{
	int count = 0, err = (int)cudaGetDeviceCount(&count);

	(void)s;
	count = count > 1 ? 1 : count; /* a daemon has one */
	answer_put(r, &count, sizeof(count));
	return err;
}

/* How the daemon waits is the process's: a client that shares it waits so by itself. */
int do_set_flags(struct session *s, struct request *r)
{
	const unsigned known = cudaDeviceScheduleMask | cudaDeviceMapHost |
			       cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;

	if (!s->order)
		return (int)cudaSetDeviceFlags((unsigned)r->word[0]);
	if (r->word[0] & ~(uint64_t)known)
		return cudaErrorInvalidValue;
	s->order->flags = (unsigned)r->word[0];
	return 0;
}

int do_get_flags(struct session *s, struct request *r)
{
	unsigned flags = 0;
	int err = (int)cudaGetDeviceFlags(&flags);

	if (s->order)
		flags = (flags & cudaDeviceMapHost) | s->order->flags;
	answer_put(r, &flags, sizeof(flags));
	return err;
}

/* Limits are the process's, and what one client needs another may not take. */
int do_set_limit(struct session *s, struct request *r)
{
	size_t now = 0;
	int err = s->order ? (int)cudaDeviceGetLimit(&now, (enum cudaLimit)r->word[0]) : 0;

	if (err || (s->order && r->word[1] <= now))
		return err;
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
	(void)r;
	return s->order ? order_wait(s) : (int)cudaDeviceSynchronize();
}
