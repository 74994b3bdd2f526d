/*
 * cuda_check.h - CUDA calls that must succeed.
 *
 * A failure prints one line with file, line, function, the call as written, CUDA's name of the
 * error and its text, then aborts (common/check.h). For calls that may fail because of what a
 * user asked for (cudaMalloc, mostly), look at the result instead and complain().
 */
#ifndef RIFT_CUDA_CHECK_H
#define RIFT_CUDA_CHECK_H

#include <cuda_runtime_api.h>
#include <errno.h>

#include "common/check.h"

/* CUDA(cudaStreamSynchronize(s)); evaluates the call once. */
#define CUDA(call)                                                                                 \
	do {                                                                                       \
		cudaError_t err_ = (call);                                                         \
		if (err_ == cudaErrorMemoryAllocation)                                             \
			errno = ENOMEM;                                                            \
		if (err_ != cudaSuccess)                                                           \
			die_at(__FILE__, __LINE__, __func__, #call, "%s: %s",                      \
			       cudaGetErrorName(err_), cudaGetErrorString(err_));                  \
	} while (0)

/* After a launch whose own result is not at hand: was it accepted? Clears the error. */
#define CUDA_LAUNCHED() CUDA(cudaGetLastError())

#endif
