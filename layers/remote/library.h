/*
 * library.h - the runtime's functions that load fat binaries (CUDA 13). Weak, as the CPU device has
 * none of them.
 */
#ifndef RIFT_REMOTE_LIBRARY_H
#define RIFT_REMOTE_LIBRARY_H

#include <cuda_runtime_api.h>

#ifdef RIFT_CPU_DEVICE

typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUkern_st *cudaKernel_t;

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, void *jit_options,
				void **jit_values, unsigned jit_n, void *options, void **values,
				unsigned n);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library,
				 const char *name);

#endif

#pragma weak cudaLibraryLoadData
#pragma weak cudaLibraryUnload
#pragma weak cudaLibraryGetKernel
#pragma weak cudaLibraryGetGlobal

#endif
