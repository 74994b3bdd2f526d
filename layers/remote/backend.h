/*
 * backend.h - where a daemon's device comes from, and how it finds a client's kernels there. All
 * else that a daemon does are calls of the CUDA runtime, the same for each.
 *
 * On the CPU device kernels are functions of the program, and the daemon runs the same program. A
 * GPU's daemon will load the client's fat binaries in their place (cudaLibraryLoadData).
 */
#ifndef RIFT_REMOTE_BACKEND_H
#define RIFT_REMOTE_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct remote_backend {
	/* Memory of the device is to come from these addresses, which are mapped without access. */
	void (*place)(void *base, uint64_t bytes);
	/* What cudaLaunchKernel() takes for the kernel of that name, so far into the program; NULL:
	 * there is none. The name ends with 0. */
	const void *(*kernel)(uint64_t offset, const char *name);
	/* Where the variable lies on the device that is so far into the program, and its bytes. */
	bool (*symbol)(uint64_t offset, uint64_t *address, uint64_t *bytes);
};

/* This build's; NULL: it has none yet, and cannot serve. */
const struct remote_backend *remote_backend(void);

#ifdef __cplusplus
}
#endif
#endif
