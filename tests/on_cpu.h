/*
 * on_cpu.h - the CPU device takes some thousand times as long as a GPU (a sort of 2^20 pairs 0.9 s,
 * an H200 47 us). There sizes are left out that go the same way as smaller ones: if (!ON_CPU).
 */
#ifndef RIFT_TESTS_ON_CPU_H
#define RIFT_TESTS_ON_CPU_H

#include <cuda_runtime_api.h>

#ifdef RIFT_CPU_DEVICE
#define ON_CPU 1
#else
#define ON_CPU 0
#endif

#endif
