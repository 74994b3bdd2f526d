/*
 * counted_back.h - for tests: bytes that cudaMemcpy() brings back from the device. It takes the
 * place of the runtime's in the program that includes it, once.
 */
#ifndef RIFT_TESTS_COUNTED_BACK_H
#define RIFT_TESTS_COUNTED_BACK_H

#include <cuda_runtime_api.h>
#include <dlfcn.h>

static size_t back; /* since it was set to 0 */

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	cudaError_t (*real)(void *, const void *, size_t, enum cudaMemcpyKind) =
		dlsym(RTLD_NEXT, __func__);

	if (kind == cudaMemcpyDeviceToHost)
		back += bytes;
	return real(to, from, bytes, kind);
}

#endif
