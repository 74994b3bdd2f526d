/*
 * cuda_check.h - CUDA calls that must succeed.
 *
 * A failure prints one line with file, line, function, the call as written, CUDA's name of the
 * error and its text, then aborts (common/check.h); but for what a platform may lack, which whoever
 * is ready for it catches (common/refusal.h). For calls that may fail because of what a
 * user asked for (cudaMalloc, mostly), look at the result instead and complain().
 */
#ifndef RIFT_CUDA_CHECK_H
#define RIFT_CUDA_CHECK_H

#include <cuda_runtime_api.h>

#include "common/check.h"
#include "common/refusal.h"

/* CUDA(cudaStreamSynchronize(s)); evaluates the call once. */
#define CUDA(call)                                                                                 \
	do {                                                                                       \
		cudaError_t err_ = (call);                                                         \
		if (err_ != cudaSuccess)                                                           \
			cuda_failed(__FILE__, __LINE__, __func__, #call, err_);                    \
	} while (0)

/* Leaves for refusal_catch() or aborts. */
#ifdef __cplusplus
extern "C"
	[[noreturn]]
#else
_Noreturn
#endif
	void
	cuda_failed(const char *file, int line, const char *func, const char *call,
		    cudaError_t err);

/*
 * For a call whose failure the code looks at itself, as of memory that may not be there: what the
 * platform lacks still leaves as it does from CUDA(); every other error is the value.
 */
#define CUDA_RESULT(call) refusal_or_error(__FILE__, __LINE__, #call, (call))

/* After a launch whose own result is not at hand: was it accepted? Clears the error. */
#define CUDA_LAUNCHED() CUDA(cudaGetLastError())

#endif
