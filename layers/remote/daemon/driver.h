/*
 * driver.h - what a GPU's daemon needs of CUDA's driver: kernels of nodes in graphs. The runtime
 * knows a node's kernel only where the program registered it, and a daemon's are those of
 * libraries: cudaGraphKernelNodeGetParams() says "invalid device function" of them (seen with CUDA
 * 13.0 on an H100, 2026-11-26).
 */
#ifndef RIFT_REMOTE_DRIVER_H
#define RIFT_REMOTE_DRIVER_H

#include <stdbool.h>

#include "layers/remote/daemon/library.h"

#ifdef RIFT_CPU_DEVICE

/* As cuda.h has it, which is not here. */
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;

typedef struct {
	CUfunction func;
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
	CUkernel kern; /* where func is NULL */
	void *ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;

enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess };

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
					     unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *status);

#else
#include <cuda.h>
#endif

#pragma weak cudaGetDriverEntryPointByVersion

/*
 * As cudaGraphKernelNodeGetParams(), cudaGraphExecKernelNodeSetParams() and
 * cudaGraphAddKernelNode(), for kernels of libraries. A node's p->func is the driver's, which
 * driver_is_kernel() compares; the others' is a cudaKernel_t. They return a CUDA error. Where the
 * driver has no such functions, the runtime is asked.
 */
int driver_node_get(cudaGraphNode_t node, struct cudaKernelNodeParams *p);
int driver_node_set(cudaGraphExec_t exec, cudaGraphNode_t node,
		    const struct cudaKernelNodeParams *p);
int driver_node_add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
		    size_t n, const struct cudaKernelNodeParams *p);
bool driver_is_kernel(const void *kernel, const void *nodes);

#endif
