/*
 * nvtx.h - named ranges for profilers: setup, warm-up, timed, block, check.
 *
 * On a CUDA build with the header-only NVTX 3 they cost a function pointer test when no profiler
 * listens, on the CPU device a call; elsewhere they are nothing at all.
 */
#ifndef RIFT_MEASURE_NVTX_H
#define RIFT_MEASURE_NVTX_H

#include <cuda_runtime_api.h>

#ifdef RIFT_CPU_DEVICE
#include <cpudev_trace.h>
#define NVTX_BEGIN(name) cpudev_range_push(name)
#define NVTX_END() cpudev_range_pop()
#elif defined(__has_include)
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
