/* driver.c - see driver.h. Numbers of the driver's errors are the runtime's. */
#include "layers/remote/daemon/driver.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "common/check.h"

#if CUDART_VERSION >= 13000 /* the CPU device says so, too */

/* ---- the driver's functions --------------------------------------------------------------- */

typedef int get_function(cudaGraphNode_t node, CUDA_KERNEL_NODE_PARAMS_v2 *p);
typedef int set_function(cudaGraphExec_t exec, cudaGraphNode_t node,
			 const CUDA_KERNEL_NODE_PARAMS_v2 *p);
typedef int add_function(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
			 size_t n, const CUDA_KERNEL_NODE_PARAMS_v2 *p);
typedef int function_function(CUfunction *function, CUkernel kernel);

/* As CUDA 12.0 has them, which is the first with kernels of libraries. NULL: the driver has none.
 */
static void *find(const char *name)
{
	enum { VERSION = 12000 };
	enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
	void *function = NULL;

	if (!cudaGetDriverEntryPointByVersion)
		return NULL;
	if (cudaGetDriverEntryPointByVersion(name, &function, VERSION, 0, &status)) {
		cudaGetLastError();
		return NULL;
	}
	return status == cudaDriverEntryPointSuccess ? function : NULL;
}

/* One line, as the runtime is then asked, which knows no kernels of libraries. */
static void lacks(const char *name)
{
	static bool said;

	if (!said)
		complain(ENOTSUP,
			 "layer remote: the driver does not provide %s, without which kernels of "
			 "graphs stay unknown",
			 name);
	said = true;
}

/* The driver's name for it in the device's context; NULL: it has none. */
static CUfunction function_of(const void *kernel)
{
	static function_function *get;
	void *found = get ? NULL : find("cuKernelGetFunction");
	CUfunction function = NULL;

	if (found)
		memcpy(&get, &found, sizeof(get));
	if (!get)
		lacks("cuKernelGetFunction");
	return get && !get(&function, (CUkernel)(uintptr_t)kernel) ? function : NULL;
}

/* ---- kernels of nodes --------------------------------------------------------------------- */

bool driver_is_kernel(const void *kernel, const void *nodes)
{
	return nodes && (nodes == kernel || nodes == (const void *)function_of(kernel));
}

int driver_node_get(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
	static get_function *get;
	void *found = get ? NULL : find("cuGraphKernelNodeGetParams");
	CUDA_KERNEL_NODE_PARAMS_v2 d;
	int err;

	if (found)
		memcpy(&get, &found, sizeof(get));
	if (!get) {
		lacks("cuGraphKernelNodeGetParams");
		return (int)cudaGraphKernelNodeGetParams(node, p);
	}
	memset(&d, 0, sizeof(d));
	err = get(node, &d);
	if (err)
		return err;
	*p = (struct cudaKernelNodeParams){
		.func = d.func ? (void *)d.func : (void *)d.kern,
		.gridDim = { d.gridDimX, d.gridDimY, d.gridDimZ },
		.blockDim = { d.blockDimX, d.blockDimY, d.blockDimZ },
		.sharedMemBytes = d.sharedMemBytes,
		.kernelParams = d.kernelParams,
		.extra = d.extra,
	};
	return 0;
}

static CUDA_KERNEL_NODE_PARAMS_v2 drivers(const struct cudaKernelNodeParams *p)
{
	return (CUDA_KERNEL_NODE_PARAMS_v2){
		.func = function_of(p->func),
		.gridDimX = p->gridDim.x,
		.gridDimY = p->gridDim.y,
		.gridDimZ = p->gridDim.z,
		.blockDimX = p->blockDim.x,
		.blockDimY = p->blockDim.y,
		.blockDimZ = p->blockDim.z,
		.sharedMemBytes = p->sharedMemBytes,
		.kernelParams = p->kernelParams,
	};
}

int driver_node_set(cudaGraphExec_t exec, cudaGraphNode_t node,
		    const struct cudaKernelNodeParams *p)
{
	static set_function *set;
	void *found = set ? NULL : find("cuGraphExecKernelNodeSetParams");
	const CUDA_KERNEL_NODE_PARAMS_v2 d = drivers(p);

	if (found)
		memcpy(&set, &found, sizeof(set));
	if (!set) {
		lacks("cuGraphExecKernelNodeSetParams");
		return (int)cudaGraphExecKernelNodeSetParams(exec, node, p);
	}
	return d.func ? set(exec, node, &d) : (int)cudaErrorInvalidDeviceFunction;
}

int driver_node_add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
		    size_t n, const struct cudaKernelNodeParams *p)
{
	static add_function *add;
	void *found = add ? NULL : find("cuGraphAddKernelNode");
	const CUDA_KERNEL_NODE_PARAMS_v2 d = drivers(p);

	if (found)
		memcpy(&add, &found, sizeof(add));
	if (!add) {
		lacks("cuGraphAddKernelNode");
		return (int)cudaGraphAddKernelNode(node, graph, needs, n, p);
	}
	return d.func ? add(node, graph, needs, n, &d) : (int)cudaErrorInvalidDeviceFunction;
}

#endif
