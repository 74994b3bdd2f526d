/*
 * gpu.h - one spelling of CUDA for both devices: an NVIDIA GPU (nvcc) and the CPU device (g++
 * with common/cpu/include). For .cu files; the rules that portable kernels keep are in
 * docs/portable-kernels.md.
 *
 *   static __constant__ float factors[16];      // or __device__; its address names it to
 *   SYMBOL(factors);                            // cudaMemcpyToSymbol; after the definition, once
 *
 *   extern "C" __global__ void scale(float *x, float a, int n)
 *   {
 *           SHARED_ARRAY(float, tile, [256]);   // static shared memory
 *           DYN_SHARED(float, more);            // the launch's dynamic shared memory
 *           ...
 *   }
 *   KERNEL(scale);                              // after the definition, once
 *
 *   CUDA(LAUNCH(scale, grid, block, shared_bytes, stream, x, 2.0f, n));
 *
 * LAUNCH converts the arguments to the kernel's parameter types and calls cudaLaunchKernel on
 * both devices, so that a preloaded wrapper sees the same call: nvcc's <<<>>> goes another way.
 * It returns cudaError_t. A template kernel is written in parentheses: LAUNCH((k<int, 3>), ...).
 */
#ifndef RIFT_GPU_H
#define RIFT_GPU_H

#include <cuda_runtime.h>
#ifndef __CUDACC__
#include <sched.h>
#endif
#include <stdint.h>

#include <tuple>
#include <utility>

#ifdef __CUDACC__
#define KERNEL(...) static_assert(true, "nvcc registers kernels by itself")
#define SYMBOL(name) static_assert(true, "nvcc registers variables by itself")
#define SHARED_ARRAY(T, name, ...) __shared__ T name __VA_ARGS__
/* Declared as bytes in block scope: two kernels of one file may name or type theirs alike. */
#define DYN_SHARED(T, name)                                                                        \
	extern __shared__ __align__(16) unsigned char rift_dynamic_shared[];                       \
	T *const name = (T *)rift_dynamic_shared
#endif

#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                     \
	gpu_launch(kernel, grid, block, shared_bytes, stream, ##__VA_ARGS__)

template <class... P, size_t... I>
static inline cudaError_t gpu_launch_tuple(void (*kernel)(P...), dim3 grid, dim3 block,
					   size_t shared_bytes, cudaStream_t stream,
					   std::tuple<P...> &values, std::index_sequence<I...>)
{
	void *args[] = { (void *)&std::get<I>(values)..., nullptr };

	return cudaLaunchKernel((const void *)kernel, grid, block, args, shared_bytes, stream);
}

template <class... P, class... A>
static inline cudaError_t gpu_launch(void (*kernel)(P...), dim3 grid, dim3 block,
				     size_t shared_bytes, cudaStream_t stream, A &&...args)
{
	std::tuple<P...> values{ static_cast<P>(std::forward<A>(args))... };

	return gpu_launch_tuple(kernel, grid, block, shared_bytes, stream, values,
				std::index_sequence_for<P...>());
}

/*
 * Publishing between blocks. A plain store followed by __threadfence() is invisible to race
 * checkers and easy to get wrong; these say what is meant, at GPU scope:
 *   store_release(p, v)       all earlier writes of this thread are seen by who reads v
 *   load_acquire(p)           sees what the writer of the value wrote before it
 *   load_relaxed(p)           only the value, without the fence, which costs half a microsecond
 *   store_relaxed(p, v)       likewise: v is all that is published
 *   atomic_add_acq_rel(p, v)  both, returns the old value ("am I the last block?")
 *   wait_briefly()            in a loop that waits for another block: others go first
 * p points to a 32-bit unsigned in global memory; of the relaxed two also to a 64-bit one.
 */
#ifdef __CUDACC__
static __device__ inline void store_release(uint32_t *p, uint32_t v)
{
	asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

static __device__ inline uint32_t load_acquire(const uint32_t *p)
{
	uint32_t v;

	asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

static __device__ inline uint32_t load_relaxed(const uint32_t *p)
{
	uint32_t v;

	asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p));
	return v;
}

static __device__ inline void store_relaxed(uint32_t *p, uint32_t v)
{
	asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

static __device__ inline void wait_briefly()
{
	__nanosleep(32);
}

static __device__ inline uint64_t load_relaxed(const uint64_t *p)
{
	uint64_t v;

	asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p));
	return v;
}

static __device__ inline void store_relaxed(uint64_t *p, uint64_t v)
{
	asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

static __device__ inline uint32_t atomic_add_acq_rel(uint32_t *p, uint32_t v)
{
	uint32_t old;

	asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;"
		     : "=r"(old)
		     : "l"(p), "r"(v)
		     : "memory");
	return old;
}
#else
static inline void store_release(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static inline uint32_t load_acquire(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline uint32_t load_relaxed(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void store_relaxed(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline void wait_briefly()
{
	sched_yield();
}

static inline uint64_t load_relaxed(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void store_relaxed(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline uint32_t atomic_add_acq_rel(uint32_t *p, uint32_t v)
{
	return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
}
#endif

/*
 * Words of mapped host memory, which the host reads and writes by __atomic_load_n() and
 * __atomic_store_n(), and the device's clock in ns: on a GPU its tick is 32 ns to 1 us.
 */
#ifdef __CUDACC__
static __device__ inline uint32_t read_host(const uint32_t *p)
{
	uint32_t v;

	asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

static __device__ inline void write_host(uint32_t *p, uint32_t v)
{
	asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

static __device__ inline unsigned long long device_timer_ns()
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
#else
static inline uint32_t read_host(const uint32_t *p)
{
	return load_acquire(p);
}

static inline void write_host(uint32_t *p, uint32_t v)
{
	store_release(p, v);
}

static inline unsigned long long device_timer_ns()
{
	return (unsigned long long)clock64();
}
#endif

#endif
