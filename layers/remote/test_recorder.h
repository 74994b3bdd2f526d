/*
 * test_recorder.h - a CUDA runtime that loads fat binaries and launches nothing: it writes down
 * which libraries, kernels, shapes and arguments it was given. Memory, streams and events are the
 * CPU device's. For one file of a test program, which defines the runtime's functions in its place,
 * and is a GPU's daemon thereby (backend.h).
 *
 * What a real runtime reads in the fat binary, it is told: recorder_kernels, recorder_variables.
 */
#ifndef RIFT_REMOTE_TEST_RECORDER_H
#define RIFT_REMOTE_TEST_RECORDER_H

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "layers/remote/daemon/backend.h"
#include "layers/remote/daemon/driver.h"
#include "layers/remote/daemon/serve.h"

/* The test program has them; each ends with NULL. */
extern const struct recorder_kernel {
	const char *name;
	unsigned size[5]; /* of each argument, bytes; 0: no more */
	unsigned align[5];
} recorder_kernels[];

extern struct recorder_variable {
	const char *name;
	size_t bytes;
	void *at;
} recorder_variables[];

/* The last so many of each. */
enum { RECORDED = 64, RECORDED_BYTES = 6000 };

struct recorded_launch {
	char kernel[128];
	dim3 grid, block;
	cudaStream_t stream;
	size_t shared_bytes, bytes;
	unsigned attributes;
	int attribute; /* the first one's number */
	uint8_t arguments[RECORDED_BYTES];
};

/* In memory that the daemon's processes share with the test. */
static struct recorded {
	int libraries, launches, unloaded;
	struct {
		struct remote_hash hash;
		uint64_t bytes;
	} library[RECORDED];
	struct recorded_launch launch[RECORDED];
	int commands[REMOTE_OPS_COUNT]; /* that came */
	uint64_t pool_keeps, pool_trimmed_to;
	int elsewhere, given_back; /* pieces of memory: to lie where a program has something */
	bool no_driver;		   /* whose functions are given out */
	char maps[64 << 10]; /* of the process that gave out memory last, as Linux lists them */
} * recorded;

static void recorder_count(const struct remote_command *c)
{
	recorded->commands[c->op % REMOTE_OPS_COUNT]++;
}

static inline void recorder_begin(void)
{
	recorded = mmap(NULL, sizeof(*recorded), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	cr_assert(recorded != MAP_FAILED);
	serve_shown = recorder_count;
	remote_backend_instead = backend_cuda();
}

/* ---- libraries ---------------------------------------------------------------------------- */

static int recorder_loaded; /* in this process; variables go with the last */

/* As the fat binary itself says. A real one has more in it than a header. */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, void *jit_options,
				void **jit_values, unsigned jit_n, void *options, void **values,
				unsigned n)
{
	uint16_t header;
	uint64_t behind;
	int i = recorded->libraries % RECORDED;

	(void)jit_options;
	(void)jit_values;
	(void)options;
	(void)values;
	memcpy(&header, (const uint8_t *)code + 6, sizeof(header));
	memcpy(&behind, (const uint8_t *)code + 8, sizeof(behind));
	if (behind < 100 || jit_n || n)
		return cudaErrorInvalidKernelImage;
	recorded->library[i].bytes = header + behind;
	recorded->library[i].hash = remote_hash_of(code, header + behind);
	recorded->libraries++;
	recorder_loaded++;
	*library = (cudaLibrary_t)(uintptr_t)(i + 1);
	return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
	(void)library;
	recorded->unloaded++;
	if (!--recorder_loaded)
		for (struct recorder_variable *v = recorder_variables; v->name; v++) {
			cudaFree(v->at);
			v->at = NULL;
		}
	return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
	for (const struct recorder_kernel *k = recorder_kernels; library && k->name; k++)
		if (!strcmp(k->name, name)) {
			*kernel = (cudaKernel_t)k;
			return cudaSuccess;
		}
	return cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library,
				 const char *name)
{
	for (struct recorder_variable *v = recorder_variables; library && v->name; v++)
		if (!strcmp(v->name, name)) {
			if (!v->at && cudaMalloc(&v->at, v->bytes))
				return cudaErrorMemoryAllocation;
			*address = v->at;
			*bytes = v->bytes;
			return cudaSuccess;
		}
	return cudaErrorInvalidSymbol;
}

/* ---- memory: the CPU device's, or none, at addresses of a program's ----------------------------
 */

#define RECORDER_ELSEWHERE UINT64_C(0x500000000000)

static inline void *recorder_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void recorder_keep_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t n = maps ? fread(recorded->maps, 1, sizeof(recorded->maps) - 1, maps) : 0;

	recorded->maps[n] = '\0';
	if (maps)
		fclose(maps);
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
	cudaError_t (*next)(void **, size_t);
	void *found = recorder_next("cudaMalloc");

	recorder_keep_maps();
	if (recorded->elsewhere) {
		*memory = (void *)(RECORDER_ELSEWHERE + (uint64_t)--recorded->elsewhere * bytes);
		return cudaSuccess;
	}
	memcpy(&next, &found, sizeof(next));
	return next(memory, bytes);
}

cudaError_t cudaFree(void *memory)
{
	cudaError_t (*next)(void *);
	void *found = recorder_next("cudaFree");

	if ((uint64_t)(uintptr_t)memory - RECORDER_ELSEWHERE < 64 << 20) {
		recorded->given_back++;
		return cudaSuccess;
	}
	memcpy(&next, &found, sizeof(next));
	return next(memory);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	*pool = (cudaMemPool_t)recorded;
	return device ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	if ((void *)pool != recorded || attribute != cudaMemPoolAttrReleaseThreshold)
		return cudaErrorInvalidValue;
	memcpy(&recorded->pool_keeps, value, sizeof(recorded->pool_keeps));
	return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
	recorded->pool_trimmed_to = bytes;
	return (void *)pool == recorded ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- kernels ------------------------------------------------------------------------------ */

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size)
{
	const struct recorder_kernel *k = function;
	size_t at = 0;

	for (size_t i = 0; i < 5 && k->size[i]; i++) {
		at = (at + k->align[i] - 1) / k->align[i] * k->align[i];
		if (i == index) {
			*offset = at;
			*size = k->size[i];
			return cudaSuccess;
		}
		at += k->size[i];
	}
	return cudaErrorInvalidValue;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
	(void)function;
	*attributes = (struct cudaFuncAttributes){ .maxDynamicSharedSizeBytes = 48 << 10 };
	return cudaSuccess;
}

/* ---- graphs: launches on a stream that records. Their kernels are the driver's alone ----------
 */

static struct recorder_node {
	CUDA_KERNEL_NODE_PARAMS_v2 p;
	void *argument[5];
	uint8_t bytes[256];
} recorder_node[8];
static size_t recorder_nodes;

/* What the driver calls a kernel of a library: another thing than the library does. */
static CUfunction driver_s(const void *kernel)
{
	return (CUfunction)((const char *)kernel + 1);
}

/* By turns as the driver may have it: as a function, as a library's. */
static void note_node(const cudaLaunchConfig_t *config, const struct recorder_kernel *k,
		      const struct recorded_launch *l)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	struct recorder_node *n = &recorder_node[recorder_nodes % 8];
	size_t offset, size;

	if (cudaStreamIsCapturing(config->stream, &status) || !status ||
	    l->bytes > sizeof(n->bytes))
		return;
	memcpy(n->bytes, l->arguments, l->bytes);
	for (size_t i = 0; !cudaFuncGetParamInfo(k, i, &offset, &size); i++)
		n->argument[i] = n->bytes + offset;
	n->p = (CUDA_KERNEL_NODE_PARAMS_v2){
		.func = recorder_nodes % 2 ? NULL : driver_s(k),
		.kern = recorder_nodes % 2 ? (CUkernel)(uintptr_t)k : NULL,
		.gridDimX = config->gridDim.x,
		.gridDimY = config->gridDim.y,
		.gridDimZ = config->gridDim.z,
		.blockDimX = config->blockDim.x,
		.blockDimY = config->blockDim.y,
		.blockDimZ = config->blockDim.z,
		.sharedMemBytes = (unsigned)config->dynamicSmemBytes,
		.kernelParams = n->argument,
	};
	recorder_nodes++;
}

/* For one graph; none is empty. */
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
	(void)graph;
	for (size_t i = 0; nodes && i < *n && i < recorder_nodes; i++)
		nodes[i] = (cudaGraphNode_t)&recorder_node[i];
	*n = recorder_nodes;
	return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	(void)node;
	*type = cudaGraphNodeTypeKernel;
	return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
	(void)node;
	(void)p;
	return cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *p)
{
	(void)exec;
	return cudaGraphKernelNodeGetParams(node, (struct cudaKernelNodeParams *)p);
}

static int driver_get(cudaGraphNode_t node, CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
	*p = ((struct recorder_node *)node)->p;
	return 0;
}

/* Is recorded as a launch. */
static int driver_set(cudaGraphExec_t exec, cudaGraphNode_t node,
		      const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
	const cudaLaunchConfig_t config = {
		.gridDim = { p->gridDimX, p->gridDimY, p->gridDimZ },
		.blockDim = { p->blockDimX, p->blockDimY, p->blockDimZ },
		.dynamicSmemBytes = p->sharedMemBytes,
	};

	(void)exec;
	(void)node;
	return (int)cudaLaunchKernelExC(&config, (const char *)p->func - 1, p->kernelParams);
}

/* Likewise. */
static int driver_add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
		      size_t n, const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
	(void)graph;
	(void)needs;
	(void)n;
	*node = (cudaGraphNode_t)&recorder_node[7];
	return driver_set(NULL, NULL, p);
}

static int driver_function(CUfunction *function, CUkernel kernel)
{
	*function = driver_s(kernel);
	return 0;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
					     unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *status)
{
	static const struct {
		const char *name;
		void *function;
	} has[] = {
		{ "cuGraphKernelNodeGetParams", (void *)driver_get },
		{ "cuGraphExecKernelNodeSetParams", (void *)driver_set },
		{ "cuGraphAddKernelNode", (void *)driver_add },
		{ "cuKernelGetFunction", (void *)driver_function },
	};

	*status = (enum cudaDriverEntryPointQueryResult)1;
	for (size_t i = 0; !recorded->no_driver && i < sizeof(has) / sizeof(*has); i++)
		if (!strcmp(has[i].name, symbol) && version == 12000 && !flags) {
			*function = has[i].function;
			*status = cudaDriverEntryPointSuccess;
		}
	return cudaSuccess;
}

/* ---- launches ----------------------------------------------------------------------------- */

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
				void **arguments)
{
	const struct recorder_kernel *k = function;
	struct recorded_launch *l = &recorded->launch[recorded->launches % RECORDED];
	size_t offset, size;

	snprintf(l->kernel, sizeof(l->kernel), "%s", k->name);
	l->grid = config->gridDim;
	l->block = config->blockDim;
	l->stream = config->stream;
	l->shared_bytes = config->dynamicSmemBytes;
	l->attributes = config->numAttrs;
	l->attribute = config->numAttrs ? (int)config->attrs[0].id : 0;
	for (size_t i = 0; !cudaFuncGetParamInfo(k, i, &offset, &size); i++) {
		memcpy(l->arguments + offset, arguments[i], size);
		l->bytes = offset + size;
	}
	recorded->launches++;
	note_node(config, k, l);
	return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
			     size_t shared_bytes, cudaStream_t stream)
{
	const cudaLaunchConfig_t config = {
		.gridDim = grid,
		.blockDim = block,
		.dynamicSmemBytes = shared_bytes,
		.stream = stream,
	};

	return cudaLaunchKernelExC(&config, function, arguments);
}

/* cudaDevAttrCanUseHostPointerForRegisteredMem; the others are the CPU device's. */
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	enum { SAME_ADDRESS = 91 };
	cudaError_t (*next)(int *, enum cudaDeviceAttr, int);
	void *found = recorder_next("cudaDeviceGetAttribute");

	*value = 1;
	if ((int)attribute == SAME_ADDRESS)
		return cudaSuccess;
	memcpy(&next, &found, sizeof(next));
	return next(value, attribute, device);
}

#endif
