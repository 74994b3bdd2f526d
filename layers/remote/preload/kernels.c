/*
 * kernels.c - functions about kernels. A kernel is made known to the daemon at its first use: by
 * its name in a fat binary; on the CPU device by its place in the program, which the daemon runs as
 * well, and by its name.
 */
#include <string.h>

#include "layers/interpose.h"
#include "layers/remote/wire/image.h"
#include "layers/remote/preload/client.h"

SHOWN int cudaLaunchKernel(const void *function, struct cuda_dim grid, struct cuda_dim block,
			   void **arguments, size_t shared_bytes, void *stream);
SHOWN int cudaLaunchKernelExC(const struct cuda_launch_config *config, const void *function,
			      void **arguments);
SHOWN int cudaLaunchCooperativeKernel(const void *function, struct cuda_dim grid,
				      struct cuda_dim block, void **arguments, size_t shared_bytes,
				      void *stream);
SHOWN unsigned __cudaPushCallConfiguration(struct cuda_dim grid, struct cuda_dim block,
					   size_t shared_bytes, void *stream);
SHOWN int __cudaPopCallConfiguration(struct cuda_dim *grid, struct cuda_dim *block,
				     size_t *shared_bytes, void *stream);
SHOWN int __cudaGetKernel(void **kernel, const void *function);
SHOWN int cudaGetKernel(void **kernel, const void *function);
SHOWN int __cudaLaunchKernel(const void *kernel, struct cuda_dim grid, struct cuda_dim block,
			     void **arguments, size_t shared_bytes, void *stream);
SHOWN int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
								 int threads, size_t shared_bytes,
								 unsigned flags);
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

/* The function that the kernels of a program on the CPU device make themselves known to. */
bool kernels_are_functions(void)
{
	static int known; /* 0: not yet, 1: no, 2: yes; a failed search costs microseconds */

	if (!known)
		known = dlsym(RTLD_DEFAULT, "cpudev_register") ? 2 : 1;
	return known == 2;
}

bool kernel_offset(const void *address, uint64_t *offset)
{
	static struct image program;

	if (!program.end)
		program = image_of_program();
	*offset = (uint64_t)(uintptr_t)address - program.base;
	return *offset < program.end - program.base && kernels_are_functions();
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

/* The name of the kernel, and where it is; or NULL and *error. */
static const char *find_kernel(const void *function, uint64_t *where, int *error)
{
	const char *name = image_kernel(function, where, error);

	if (name || *error)
		return name;
	*error = function && kernels_are_functions() ? CUDA_INVALID_HANDLE : CUDA_NO_KERNEL;
	name = *error == CUDA_INVALID_HANDLE ? name_of(function) : NULL;
	if (!name || kernel_offset(function, where))
		return name;
	*error = client_refuse("kernels of other libraries than the program");
	return NULL;
}

static struct kernel *introduce(const void *function, int *error)
{
	uint8_t answer[sizeof(uint32_t) + REMOTE_PARAMS * sizeof(struct remote_param)];
	uint32_t number = n_kernels;
	struct kernel *k;
	uint64_t where; /* the lock is kept, so nobody else introduces it meanwhile */
	const char *name = find_kernel(function, &where, error);
	size_t bytes = name ? strlen(name) + 1 : 0;

	if (!name)
		return NULL;
	if (number == REMOTE_KERNELS || bytes > REMOTE_NAME_BYTES) {
		*error = client_refuse("more than 4096 kernels, or names of more than 16 KiB");
		return NULL;
	}
	memcpy(client_begin(REMOTE_KERNEL, WORDS(number, where), (uint32_t)bytes), name, bytes);
	*error = client_ask_now(answer, sizeof(answer), true);
	k = *error ? NULL : enter_kernel(function, answer);
	if (!k) {
		*error = *error ? *error : CUDA_NO_MEMORY;
		return NULL;
	}
	k->name = name;
	k->number = number;
	n_kernels++;
	by_number[number] = k;
	ask_attributes(k);
	return k;
}

/* Its number stays: graphs may have it. */
void kernel_forget(const void *function)
{
	struct kernel *k = *place_of(function);

	if (k)
		k->function = NULL;
}

struct kernel *kernel_of(const void *function, int *error)
{
	struct kernel *k = function ? *place_of(function) : NULL;

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

/* Nothing that a launch asks for is dropped. NULL: the daemon may have all of them. */
static const char *refused_attribute(const struct cuda_launch_config *c)
{
	static const char *const names[] = {
		[1] = "cudaLaunchKernelExC with cudaLaunchAttributeAccessPolicyWindow",
		[3] = "cudaLaunchKernelExC with cudaLaunchAttributeSynchronizationPolicy",
		[7] = "cudaLaunchKernelExC with cudaLaunchAttributeProgrammaticEvent",
		[9] = "cudaLaunchKernelExC with cudaLaunchAttributeMemSyncDomainMap",
		[10] = "cudaLaunchKernelExC with cudaLaunchAttributeMemSyncDomain",
		[11] = "cudaLaunchKernelExC with cudaLaunchAttributePreferredClusterDimension",
		[12] = "cudaLaunchKernelExC with cudaLaunchAttributeLaunchCompletionEvent",
		[13] = "cudaLaunchKernelExC with cudaLaunchAttributeDeviceUpdatableKernelNode",
		[14] = "cudaLaunchKernelExC with "
		       "cudaLaunchAttributePreferredSharedMemoryCarveout",
	};

	if (c->n_attributes > REMOTE_ATTRIBUTES)
		return "cudaLaunchKernelExC with more than 16 attributes";
	for (unsigned i = 0; i < c->n_attributes; i++) {
		int id = c->attributes[i].id;

		if (id == ATTRIBUTE_COOPERATIVE || id == ATTRIBUTE_CLUSTER ||
		    id == ATTRIBUTE_CLUSTER_POLICY || id == ATTRIBUTE_PROGRAMMATIC ||
		    id == ATTRIBUTE_PRIORITY)
			continue;
		return id > 0 && id < (int)(sizeof(names) / sizeof(*names)) && names[id]
			       ? names[id]
			       : "cudaLaunchKernelExC with an attribute that it does not know";
	}
	return NULL;
}

/* Do they leave whether the launch succeeds as it is? */
static bool attributes_are_harmless(const struct cuda_launch_config *c)
{
	for (unsigned i = 0; i < c->n_attributes; i++)
		if (c->attributes[i].id != ATTRIBUTE_PROGRAMMATIC)
			return false;
	return true;
}

/* The payload: attributes, then arguments. */
static int launch(const void *function, const struct cuda_launch_config *c, void **arguments)
{
	int error;
	const struct kernel *k = kernel_of(function, &error);
	uint64_t word[REMOTE_SHAPE_WORDS + 2];
	uint32_t before = c->n_attributes * REMOTE_ATTRIBUTE_BYTES;
	struct remote_shape shape;
	uint8_t *payload;

	if (!k)
		return error;
	if (!handle_stream(c->stream, &word[REMOTE_SHAPE_WORDS]))
		return CUDA_INVALID_HANDLE;
	if (k->params && !arguments)
		return CUDA_INVALID_VALUE;
	shape = kernel_shape(k, c->grid, c->block, c->shared_bytes);
	memcpy(word, &shape, sizeof(shape));
	word[REMOTE_SHAPE_WORDS + 1] = c->n_attributes;
	payload = client_begin(REMOTE_LAUNCH, word, REMOTE_SHAPE_WORDS + 2, before + k->bytes);
	if (before)
		memcpy(payload, c->attributes, before);
	kernel_pack(k, arguments, payload + before);
	return kernel_may_run(k, c->grid, c->block, c->shared_bytes) && attributes_are_harmless(c)
		       ? client_send()
		       : client_ask_now(NULL, 0, false);
}

int cudaLaunchKernel(const void *function, struct cuda_dim grid, struct cuda_dim block,
		     void **arguments, size_t shared_bytes, void *stream)
{
	const struct cuda_launch_config c = { grid, block, shared_bytes, stream, NULL, 0 };
	int error = client_enter();

	return error ? error : client_leave(launch(function, &c, arguments));
}

int cudaLaunchCooperativeKernel(const void *function, struct cuda_dim grid, struct cuda_dim block,
				void **arguments, size_t shared_bytes, void *stream)
{
	const struct cuda_attribute cooperative = { .id = ATTRIBUTE_COOPERATIVE, .value = 1 };
	const struct cuda_launch_config c = { grid, block, shared_bytes, stream, &cooperative, 1 };
	int error = client_enter();

	return error ? error : client_leave(launch(function, &c, arguments));
}

int cudaLaunchKernelExC(const struct cuda_launch_config *config, const void *function,
			void **arguments)
{
	const char *refused;
	int error = config && (!config->n_attributes || config->attributes)
			    ? client_enter()
			    : client_result(CUDA_INVALID_VALUE);

	if (error)
		return error;
	refused = refused_attribute(config);
	return client_leave(refused ? client_refuse(refused) : launch(function, config, arguments));
}

/* ---- launches as nvcc writes them: <<<>>> leaves a configuration for the kernel's stub --------
 */

enum { CONFIGURATIONS = 16 }; /* of a thread: one launch within the arguments of another */

static __thread struct {
	struct cuda_launch_config at[CONFIGURATIONS];
	unsigned n;
} pushed __attribute__((tls_model("initial-exec")));

/* Not 0: the launch is left out, with the error. */
unsigned __cudaPushCallConfiguration(struct cuda_dim grid, struct cuda_dim block,
				     size_t shared_bytes, void *stream)
{
	if (pushed.n == CONFIGURATIONS)
		return (unsigned)client_refuse("launches within 16 others");
	pushed.at[pushed.n++] =
		(struct cuda_launch_config){ grid, block, shared_bytes, stream, NULL, 0 };
	return 0;
}

int __cudaPopCallConfiguration(struct cuda_dim *grid, struct cuda_dim *block, size_t *shared_bytes,
			       void *stream)
{
	const struct cuda_launch_config *c;

	if (!pushed.n)
		return client_result(CUDA_NO_CONFIGURATION);
	c = &pushed.at[--pushed.n];
	*grid = c->grid;
	*block = c->block;
	*shared_bytes = c->shared_bytes;
	memcpy(stream, &c->stream, sizeof(c->stream));
	return 0;
}

/* A kernel's handle is its function. */
int __cudaGetKernel(void **kernel, const void *function)
{
	*kernel = (void *)function;
	return function ? 0 : client_result(CUDA_NO_KERNEL);
}

int cudaGetKernel(void **kernel, const void *function)
{
	return kernel ? __cudaGetKernel(kernel, function) : client_result(CUDA_INVALID_VALUE);
}

int __cudaLaunchKernel(const void *kernel, struct cuda_dim grid, struct cuda_dim block,
		       void **arguments, size_t shared_bytes, void *stream)
{
	return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
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

/* The flag is about caches of GPUs before CUDA 13's. */
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
							   int threads, size_t shared_bytes,
							   unsigned flags)
{
	enum { DISABLE_CACHING = 1 };

	return flags & ~(unsigned)DISABLE_CACHING
		       ? client_result(CUDA_INVALID_VALUE)
		       : cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads,
								       shared_bytes);
}

int cudaFuncGetName(const char **name, const void *function)
{
	int error = name ? client_enter() : client_result(CUDA_INVALID_VALUE);
	const struct kernel *k;

	if (error)
		return error;
	k = kernel_of(function, &error);
	if (k)
		*name = k->name;
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
