/*
 * library.h - functions of CUDA 13's runtime that a GPU's daemon needs and the CPU device does not
 * have: those that load fat binaries, and those of pools. Weak, as there they are missing.
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

typedef struct CUmemPoolHandle_st *cudaMemPool_t;

enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
				    void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);

#endif

#pragma weak cudaDeviceGetDefaultMemPool
#pragma weak cudaMemPoolSetAttribute
#pragma weak cudaMemPoolTrimTo
#pragma weak cudaLibraryLoadData
#pragma weak cudaLibraryUnload
#pragma weak cudaLibraryGetKernel
#pragma weak cudaLibraryGetGlobal

#endif
