/* cuda_profiler_api.h - where a profiler records: here the trace of RIFT_TRACE (C and C++). */
#ifndef RIFT_CPU_CUDA_PROFILER_API_H
#define RIFT_CPU_CUDA_PROFILER_API_H

#include "driver_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
