/*
 * nvtx.h - named ranges for NVIDIA's profilers: setup, warm-up, block, check.
 *
 * On a CUDA build with the header-only NVTX 3 they cost a function pointer test when no profiler
 * listens; elsewhere they are nothing at all.
 */
#ifndef RIFT_MEASURE_NVTX_H
#define RIFT_MEASURE_NVTX_H

#include <cuda_runtime_api.h>

#if !defined(RIFT_CPU_DEVICE) && defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define NVTX_BEGIN(name) nvtxRangePushA(name)
#define NVTX_END() nvtxRangePop()
#endif
#endif

#ifndef NVTX_BEGIN
#define NVTX_BEGIN(name) ((void)(name))
#define NVTX_END() ((void)0)
#endif

#endif
