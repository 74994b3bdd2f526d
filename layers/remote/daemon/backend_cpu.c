/* backend_cpu.c - the CPU device as a daemon's device (backend.h). */
#include "layers/remote/daemon/backend.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef RIFT_CPU_DEVICE

#include <cpudev_serve.h>
#include <string.h>

#include "layers/remote/wire/image.h"

static void place(void *base, uint64_t bytes)
{
	cpudev_place(base, bytes);
}

static const void *kernel(void *library, uint64_t offset, const char *name)
{
	struct image program = image_of_program();
	const void *function = (const void *)(uintptr_t)(program.base + offset);
	const char *is;

	(void)library;
	/* what KERNEL() has not named is no kernel, wherever it points */
	if (offset >= program.end - program.base || cudaFuncGetName(&is, function)) {
		cudaGetLastError();
		return NULL;
	}
	return strcmp(is, name) ? NULL : function;
}

static bool symbol(void *library, uint64_t offset, const char *name, uint64_t *address,
		   uint64_t *bytes)
{
	struct image program = image_of_program();
	const void *variable = (const void *)(uintptr_t)(program.base + offset);
	size_t size;

	(void)library;
	(void)name;
	if (offset >= program.end - program.base || cudaGetSymbolSize(&size, variable)) {
		cudaGetLastError();
		return false;
	}
	*address = (uint64_t)(uintptr_t)variable;
	*bytes = size;
	return true;
}

const struct remote_backend *backend_cpu(void)
{
	static const struct remote_backend cpu = {
		.kernels = REMOTE_FUNCTIONS,
		.place = place,
		.unplace = cpudev_unplace,
		.kernel = kernel,
		.symbol = symbol,
	};

	return &cpu;
}

#else

const struct remote_backend *backend_cpu(void)
{
	return NULL;
}

#endif
