/*
 * kernels.c - functions about kernels. A kernel is made known to the daemon at its first use: by
 * its place in the program, which the daemon runs as well, and by its name.
 */
#include <string.h>

#include "layers/interpose.h"
#include "layers/remote/image.h"
#include "layers/remote/preload/client.h"

SHOWN int cudaLaunchKernel(const void *function, struct cuda_dim grid, struct cuda_dim block,
			   void **arguments, size_t shared_bytes, void *stream);
SHOWN int cudaLaunchKernelExC(const struct cuda_launch_config *config, const void *function,
			      void **arguments);
SHOWN int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
							int threads, size_t shared_bytes);
SHOWN int cudaFuncGetAttributes(void *attributes, const void *function);
SHOWN int cudaFuncSetAttribute(const void *function, int attribute, int value);
SHOWN int cudaFuncGetName(const char **name, const void *function);
SHOWN int cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size);

/* ---- which there are ---------------------------------------------------------------------- */

enum { PLACES = 2 * REMOTE_KERNELS };

static struct kernel *by_function[PLACES], *by_number[REMOTE_KERNELS];
static uint32_t n_kernels;

bool kernel_offset(const void *address, uint64_t *offset)
{
	static struct image program;

	if (!program.end)
		program = image_of_program();
	*offset = (uint64_t)(uintptr_t)address - program.base;
	return *offset < program.end - program.base;
}

/* As the runtime of the CPU device, which the program has loaded as well, knows it. */
static const char *name_of(const void *function)
{
	int (*next)(const char **, const void *);
	void *found = runtime_call_next(CALL_cudaFuncGetName);
	const char *name = NULL;

	memcpy(&next, &found, sizeof(next));
	return next(&name, function) ? NULL : name;
}

static struct kernel **place_of(const void *function)
{
	size_t i = (size_t)((uint64_t)(uintptr_t)function * 0x9e3779b97f4a7c15u >> 51);

	while (by_function[i % PLACES] && by_function[i % PLACES]->function != function)
		i++;
	return &by_function[i % PLACES];
}

/* What a launch may ask for; without an answer, nothing is promising. */
static int ask_attributes(struct kernel *k)
{
	enum { MAX_DYNAMIC_AT = 44 }; /* offsetof(cudaFuncAttributes, maxDynamicSharedSizeBytes) */
	int error = client_ask(REMOTE_FUNC_ATTRIBUTES, WORDS(k->number), k->attributes,
			       sizeof(k->attributes));

	k->has_attributes = !error;
	k->shared_max = 0;
	if (!error)
		memcpy(&k->shared_max, k->attributes + MAX_DYNAMIC_AT, sizeof(k->shared_max));
	return error;
}

static struct kernel *enter_kernel(const void *function, const uint8_t *answer)
{
	struct kernel *k;
	uint32_t n;

	memcpy(&n, answer, sizeof(n));
	k = n <= REMOTE_PARAMS ? calloc(1, sizeof(*k) + n * sizeof(*k->param)) : NULL;
	if (!k)
		return NULL;
	k->function = function;
	k->params = n;
	memcpy(k->param, answer + sizeof(n), n * sizeof(*k->param));
	for (uint32_t i = 0; i < n; i++)
		k->bytes = k->param[i].offset + k->param[i].size;
	*place_of(function) = k;
	return k;
}

static struct kernel *introduce(const void *function, int *error)
{
	uint8_t answer[sizeof(uint32_t) + REMOTE_PARAMS * sizeof(struct remote_param)];
	const char *name = name_of(function);
	uint32_t number = n_kernels;
	struct kernel *k;
	uint64_t offset; /* the lock is kept, so nobody else introduces it meanwhile */
	size_t bytes;

	*error = function ? CUDA_INVALID_HANDLE : CUDA_NO_KERNEL;
	if (!name)
		return NULL;
	if (!kernel_offset(function, &offset) || number == REMOTE_KERNELS ||
	    (bytes = strlen(name) + 1) > 512) {
		*error = client_refuse("kernels of other libraries than the program");
		return NULL;
	}
	memcpy(client_begin(REMOTE_KERNEL, WORDS(number, offset), (uint32_t)bytes), name, bytes);
	*error = client_ask_now(answer, sizeof(answer), true);
	k = *error ? NULL : enter_kernel(function, answer);
	if (!k) {
		*error = *error ? *error : CUDA_NO_MEMORY;
		return NULL;
	}
	k->number = number;
	n_kernels++;
	by_number[number] = k;
	ask_attributes(k);
	return k;
}

struct kernel *kernel_of(const void *function, int *error)
{
	struct kernel *k = *place_of(function);

	*error = 0;
	return k ? k : introduce(function, error);
}

const struct kernel *kernel_numbered(uint64_t number)
{
	return number < REMOTE_KERNELS ? by_number[number] : NULL;
}

/* ---- launches ----------------------------------------------------------------------------- */

/* Limits of all GPUs since compute capability 3.0 (CUDA programming guide, technical
 * specifications). */
bool kernel_may_run(const struct kernel *k, struct cuda_dim grid, struct cuda_dim block,
		    uint64_t shared_bytes)
{
	uint64_t threads = (uint64_t)block.x * block.y * block.z;

	return grid.x && grid.y && grid.z && grid.x <= INT32_MAX && grid.y <= 65535 &&
	       grid.z <= 65535 && threads && block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
	       threads <= 1024 && k->has_attributes && shared_bytes <= k->shared_max;
}

struct remote_shape kernel_shape(const struct kernel *k, struct cuda_dim grid,
				 struct cuda_dim block, uint64_t shared_bytes)
{
	return (struct remote_shape){
		.kernel = k->number,
		.grid_xy = grid.x | (uint64_t)grid.y << 32,
		.block_xy = block.x | (uint64_t)block.y << 32,
		.z = grid.z | (uint64_t)block.z << 32,
		.shared_bytes = shared_bytes,
	};
}

void kernel_pack(const struct kernel *k, void **arguments, uint8_t *out)
{
	for (uint32_t i = 0; i < k->params; i++)
		memcpy(out + k->param[i].offset, arguments[i], k->param[i].size);
}

static int launch(const void *function, const struct cuda_launch_config *c,
		  enum remote_programmatic attribute, void **arguments)
{
	int error;
	const struct kernel *k = kernel_of(function, &error);
	uint64_t word[REMOTE_SHAPE_WORDS + 2];
	struct remote_shape shape;

	if (!k)
		return error;
	if (!handle_stream(c->stream, &word[REMOTE_SHAPE_WORDS]))
		return CUDA_INVALID_HANDLE;
	if (k->params && !arguments)
		return CUDA_INVALID_VALUE;
	shape = kernel_shape(k, c->grid, c->block, c->shared_bytes);
	memcpy(word, &shape, sizeof(shape));
	word[REMOTE_SHAPE_WORDS + 1] = attribute;
	kernel_pack(k, arguments,
		    client_begin(REMOTE_LAUNCH, word, REMOTE_SHAPE_WORDS + 2, k->bytes));
	return kernel_may_run(k, c->grid, c->block, c->shared_bytes)
		       ? client_send()
		       : client_ask_now(NULL, 0, false);
}

int cudaLaunchKernel(const void *function, struct cuda_dim grid, struct cuda_dim block,
		     void **arguments, size_t shared_bytes, void *stream)
{
	const struct cuda_launch_config c = { grid, block, shared_bytes, stream, NULL, 0 };
	int error = client_enter();

	return error ? error : client_leave(launch(function, &c, REMOTE_NO_ATTRIBUTE, arguments));
}

int cudaLaunchKernelExC(const struct cuda_launch_config *config, const void *function,
			void **arguments)
{
	enum remote_programmatic attribute = REMOTE_NO_ATTRIBUTE;
	int error = config && (!config->n_attributes || config->attributes)
			    ? client_enter()
			    : client_result(CUDA_INVALID_VALUE);

	if (error)
		return error;
	for (unsigned i = 0; i < config->n_attributes; i++) {
		if (config->attributes[i].id != ATTRIBUTE_PROGRAMMATIC)
			return client_leave(client_refuse("this attribute of cudaLaunchKernelExC"));
		attribute = config->attributes[i].value ? REMOTE_MAY_OVERLAP : REMOTE_SERIAL;
	}
	return client_leave(launch(function, config, attribute, arguments));
}

/* ---- what is asked about kernels ---------------------------------------------------------- */

int cudaFuncGetAttributes(void *attributes, const void *function)
{
	enum { ATTRIBUTES_BYTES = 144 }; /* sizeof(struct cudaFuncAttributes), CUDA 13.0 */
	int error = attributes ? client_enter() : client_result(CUDA_INVALID_VALUE);
	struct kernel *k;

	if (error)
		return error;
	k = kernel_of(function, &error);
	if (k && !k->has_attributes)
		error = ask_attributes(k);
	if (!error)
		memcpy(attributes, k->attributes, ATTRIBUTES_BYTES);
	return client_leave(error);
}

int cudaFuncSetAttribute(const void *function, int attribute, int value)
{
	int error = client_enter();
	struct kernel *k;

	if (error)
		return error;
	k = kernel_of(function, &error);
	if (!k)
		return client_leave(error);
	error = client_ask(REMOTE_FUNC_SET,
			   WORDS(k->number, (uint64_t)attribute, (uint64_t)(unsigned)value), NULL,
			   0);
	k->occupancy.threads = 0;
	ask_attributes(k);
	return client_leave(error);
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
						  size_t shared_bytes)
{
	int error = blocks && threads > 0 ? client_enter() : client_result(CUDA_INVALID_VALUE);
	struct kernel *k;

	if (error)
		return error;
	k = kernel_of(function, &error);
	if (k && (k->occupancy.threads != threads || k->occupancy.shared_bytes != shared_bytes)) {
		error = client_ask(REMOTE_OCCUPANCY,
				   WORDS(k->number, (uint64_t)threads, shared_bytes),
				   &k->occupancy.blocks, sizeof(k->occupancy.blocks));
		k->occupancy.threads = error ? 0 : threads;
		k->occupancy.shared_bytes = shared_bytes;
	}
	if (!error)
		*blocks = k->occupancy.blocks;
	return client_leave(error);
}

int cudaFuncGetName(const char **name, const void *function)
{
	int error = name ? client_enter() : client_result(CUDA_INVALID_VALUE);

	if (error)
		return error;
	if (kernel_of(function, &error))
		*name = name_of(function);
	return client_leave(error);
}

int cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size)
{
	int error = client_enter();
	const struct kernel *k;

	if (error)
		return error;
	k = kernel_of(function, &error);
	if (k && (!offset || index >= k->params))
		error = CUDA_INVALID_VALUE;
	if (!error) {
		*offset = k->param[index].offset;
		if (size)
			*size = k->param[index].size;
	}
	return client_leave(error);
}
