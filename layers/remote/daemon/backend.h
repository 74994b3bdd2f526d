/*
 * backend.h - whose device a daemon has, and how it finds a client's kernels there. All else that a
 * daemon does are calls of the CUDA runtime, the same for each.
 *
 * On the CPU device kernels are functions of the program, and the daemon runs the same program. A
 * GPU's daemon loads the fat binaries of any program (cudaLibraryLoadData).
 */
#ifndef RIFT_REMOTE_BACKEND_H
#define RIFT_REMOTE_BACKEND_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/remote/wire/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

struct remote_backend {
	enum remote_kernels kernels; /* that a client is to have */
	/* Before a listener works, which must not open the device: its processes could not then.
	 * Why there is none, one line without a full stop; NULL: there may be. */
	const char *(*missing)(void);
	/* Opens the device of that number for who serves. Likewise. */
	const char *(*open)(int device);
	/* Memory of the device that this thread takes is to come from these addresses, which are
	 * mapped without access, until unplace(). NULL: it comes from where the runtime takes it.
	 */
	void (*place)(void *base, uint64_t bytes);
	void (*unplace)(void);
	/* Loads a fat binary and gives it back; the bytes are the caller's. NULL: it has none. The
	 * first returns a CUDA error. */
	int (*load)(const void *image, void **library);
	void (*unload)(void *library);
	/* What cudaLaunchKernel() takes for the kernel of that name, of a library or so far into
	 * the program; NULL: there is none. The name ends with 0. */
	const void *(*kernel)(void *library, uint64_t offset, const char *name);
	/* Where the variable lies on the device, and its bytes. */
	bool (*symbol)(void *library, uint64_t offset, const char *name, uint64_t *address,
		       uint64_t *bytes);
	/* Has the default pool keep so many bytes when it is waited for, or now. A CUDA error.
	 * NULL: it has no pool. */
	int (*keep)(uint64_t bytes);
	int (*trim)(uint64_t bytes);
	/* Kernels of nodes in graphs, where the runtime does not know them: its functions
	 * cudaGraphKernelNodeGetParams() and cudaGraphExecKernelNodeSetParams(), and whether the
	 * first has named the kernel that kernel() gave. NULL: the runtime's own do. */
	int (*node_get)(cudaGraphNode_t node, struct cudaKernelNodeParams *p);
	int (*node_set)(cudaGraphExec_t exec, cudaGraphNode_t node,
			const struct cudaKernelNodeParams *p);
	bool (*is_kernel)(const void *kernel, const void *named);
	/* As cudaGraphAddKernelNode(), likewise. */
	int (*node_add)(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
			size_t n, const struct cudaKernelNodeParams *p);
};

/* NULL: this build's runtime cannot do that. */
const struct remote_backend *backend_cpu(void);
const struct remote_backend *backend_cuda(void);

/* For tests: another than this build's. NULL: none. */
extern const struct remote_backend *remote_backend_instead;

/* The one that serves; NULL: this build has none. */
static inline const struct remote_backend *remote_backend(void)
{
	const struct remote_backend *own = backend_cpu() ? backend_cpu() : backend_cuda();

	return remote_backend_instead ? remote_backend_instead : own;
}

#ifdef __cplusplus
}
#endif
#endif
