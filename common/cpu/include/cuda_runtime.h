/*
 * cuda_runtime.h - CUDA for the CPU device: the runtime functions, and for C++ what kernels use.
 *
 * A .cu file compiled by g++ or clang++ with this folder on the include path gets CUDA's names
 * from here: threadIdx and its kin, barriers, warp operations, atomics, intrinsics. Together
 * with common/gpu.h it is the same source for both devices. Deliberately not here:
 *   __shared__     SHARED_ARRAY and DYN_SHARED of common/gpu.h let checkers see overruns
 *   __activemask   name the lanes that arrive
 *   __noinline__   standard headers use that word inside attributes
 */
#ifndef RIFT_CPU_CUDA_RUNTIME_H
#define RIFT_CPU_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include "cpudev.h"
#include "cpudev/overloads.cuh"
#include "cpudev/kernel.cuh"
#include "cpudev/warp.cuh"
#include "cpudev/atomic.cuh"
#include "cpudev/math.cuh"
#endif

#endif
