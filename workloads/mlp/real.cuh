/* real.cuh - the two kinds of numbers that activations are made of, and one kernel for both. */
#ifndef RIFT_MLP_REAL_CUH
#define RIFT_MLP_REAL_CUH

#include <type_traits>

#include "common/cuda_check.h"
#include "common/gpu.h"
#include "workloads/mlp/kernels.h"

enum { MLP_THREADS = 256, MLP_LANES = 32, MLP_WARPS = MLP_THREADS / MLP_LANES };

/* Numbers that a thread reads before it works on the first of them, as loads take long. */
enum { MLP_AHEAD = 8 };

#define MLP_ALL_LANES 0xffffffffu

static __device__ inline float widen(float v)
{
	return v;
}

static __device__ inline void narrow(float *to, float v)
{
	*to = v;
}

#ifdef __CUDACC__
#include <cuda_bf16.h>

static __device__ inline float widen(__nv_bfloat16 v)
{
	return __bfloat162float(v);
}

static __device__ inline void narrow(__nv_bfloat16 *to, float v)
{
	*to = __float2bfloat16(v);
}
#endif

/*
 * Calls f with a null pointer to numbers of the kind that `half` says: KIND(that) is their type.
 * The CPU device has only floats.
 */
#define KIND(pointer) std::remove_pointer_t<decltype(pointer)>
template <class F> static inline void by_kind(bool half, F f)
{
#ifdef __CUDACC__
	if (half)
		return f((__nv_bfloat16 *)nullptr);
#endif
	CHECK(!half, "bf16 on the CPU device");
	f((float *)nullptr);
}

static __device__ inline uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Four numbers that are moved at once. */
template <class T> struct alignas(4 * sizeof(T)) vec4 {
	T v[4];
};

/* Blocks of MLP_THREADS for n threads. */
static inline unsigned blocks_for(size_t n)
{
	size_t blocks = (n + MLP_THREADS - 1) / MLP_THREADS;

	CHECK(blocks <= INT32_MAX, "%zu threads", n);
	return (unsigned)blocks;
}

static __device__ inline size_t thread_index()
{
	return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Sum over a block of MLP_THREADS, for thread 0; in the same order each time. */
static __device__ inline float block_sum(float value, float *shared)
{
	shared[threadIdx.x] = value;
	for (uint32_t n = MLP_THREADS / 2; n; n /= 2) {
		__syncthreads();
		if (threadIdx.x < n)
			shared[threadIdx.x] += shared[threadIdx.x + n];
	}
	return shared[0];
}

#endif
