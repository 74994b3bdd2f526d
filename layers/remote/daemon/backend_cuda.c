/* backend_cuda.c - a GPU as a daemon's device, by the CUDA runtime and, for graphs, its driver
 * (backend.h). */
#include "layers/remote/daemon/backend.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "layers/remote/daemon/driver.h"

const struct remote_backend *remote_backend_instead;

#if CUDART_VERSION >= 13000 /* the CPU device says so, too */

/* What NVIDIA's driver makes on Linux, and Windows for its Linux. */
static const char *missing(void)
{
	static const char *const files[] = { "/dev/nvidiactl", "/dev/dxg" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!access(files[i], F_OK))
			return NULL;
	return "there is no GPU: neither /dev/nvidiactl nor /dev/dxg";
}

/* Pinned memory is passed to kernels by the address that the program has it at. */
static const char *open_device(int device)
{
	/* cudaDevAttrCanUseHostPointerForRegisteredMem, which the CPU device's headers lack */
	const enum cudaDeviceAttr same_address = (enum cudaDeviceAttr)91;
	static _Thread_local char why[REMOTE_REASON];
	int same = 0;
	cudaError_t err = cudaSetDevice(device);

	err = err ? err : cudaFree(NULL);
	err = err ? err : cudaDeviceGetAttribute(&same, same_address, device);
	if (err)
		snprintf(why, sizeof(why), "the daemon's GPU does not work: %s",
			 cudaGetErrorString(err));
	else if (!same)
		return "the daemon's GPU knows registered memory by another address than the host";
	return err ? why : NULL;
}

static int load(const void *image, void **library)
{
	cudaLibrary_t loaded = NULL;
	cudaError_t err = cudaLibraryLoadData(&loaded, image, NULL, NULL, 0, NULL, NULL, 0);

	*library = loaded;
	return (int)err;
}

static void unload(void *library)
{
	cudaLibraryUnload(library);
}

static const void *kernel(void *library, uint64_t offset, const char *name)
{
	cudaKernel_t found = NULL;

	(void)offset;
	if (!library || cudaLibraryGetKernel(&found, library, name)) {
		cudaGetLastError();
		return NULL;
	}
	return found;
}

static bool symbol(void *library, uint64_t offset, const char *name, uint64_t *address,
		   uint64_t *bytes)
{
	void *at = NULL;
	size_t size = 0;

	(void)offset;
	if (!library || cudaLibraryGetGlobal(&at, &size, library, name)) {
		cudaGetLastError();
		return false;
	}
	*address = (uint64_t)(uintptr_t)at;
	*bytes = size;
	return at && size;
}

static cudaError_t own_pool(cudaMemPool_t *pool)
{
	int device;
	cudaError_t err = cudaGetDevice(&device);

	return err ? err : cudaDeviceGetDefaultMemPool(pool, device);
}

static int keep(uint64_t bytes)
{
	cudaMemPool_t pool;
	cudaError_t err = own_pool(&pool);

	return (int)(err ? err
			 : cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes));
}

static int trim(uint64_t bytes)
{
	cudaMemPool_t pool;
	cudaError_t err = own_pool(&pool);

	return (int)(err ? err : cudaMemPoolTrimTo(pool, bytes));
}

const struct remote_backend *backend_cuda(void)
{
	static const struct remote_backend cuda = {
		.kernels = REMOTE_IMAGES,
		.missing = missing,
		.open = open_device,
		.load = load,
		.unload = unload,
		.kernel = kernel,
		.symbol = symbol,
		.keep = keep,
		.trim = trim,
		.node_get = driver_node_get,
		.node_set = driver_node_set,
		.is_kernel = driver_is_kernel,
		.node_add = driver_node_add,
	};

	return &cuda;
}

#else

const struct remote_backend *backend_cuda(void)
{
	return NULL;
}

#endif
