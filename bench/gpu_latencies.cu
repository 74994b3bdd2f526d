/*
 * gpu_latencies.cu - cycles until what depends on an operation can begin, on a GPU.
 *
 *   build/cuda/bench/gpu_latencies
 *
 * What the floors of latency-bound kernels are made of (docs/lab/myocyte.md). Each chain
 * runs in one warp, or in all of a block where it meets barriers; the least of a few runs counts.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"

#include <stdio.h>

enum { CHAIN = 256, TURNS = 20, THREADS = 384, WORDS = 512 };

struct chain {
	const char *what;
	void (*kernel)(long long *, double);
	int threads;
};

/* Cycles of an operation: `x` is what the chain hands on, so that nothing is left out. */
#define LATENCY_OF(name, T, operation)                                                             \
	static __global__ void name(long long *cycles, double seed)                                \
	{                                                                                          \
		__shared__ T shared[WORDS];                                                        \
		T x = (T)seed, a = x, b = x;                                                       \
		int me = (int)threadIdx.x, other = (me + 32) % THREADS;                            \
                                                                                                   \
		for (int i = me; i < WORDS; i += (int)blockDim.x)                                  \
			shared[i] = (T)seed;                                                       \
		__syncthreads();                                                                   \
		long long begin = clock64();                                                       \
		_Pragma("unroll 16") for (int i = 0; i < CHAIN; i++)                               \
		{                                                                                  \
			operation;                                                                 \
		}                                                                                  \
		long long taken = clock64() - begin;                                               \
                                                                                                   \
		if (me == 0)                                                                       \
			cycles[0] = taken;                                                         \
		cycles[1 + me] = (long long)(x + a + b + shared[other]);                           \
	}

LATENCY_OF(add_float, float, x = __fadd_rn(x, a))
LATENCY_OF(fma_float, float, x = __fmaf_rn(x, a, b))
LATENCY_OF(fma_double, double, x = __fma_rn(x, a, b))
LATENCY_OF(add_double, double, x = __dadd_rn(x, a))
LATENCY_OF(exp2_float, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)))
LATENCY_OF(rcp_float, float,
	   asm volatile("rcp.approx.ftz.f32 %0, %0;"
			: "+f"(x));
	   x = __fadd_rn(x, a))
LATENCY_OF(rcp_double, double, asm volatile("rcp.approx.ftz.f64 %0, %0;" : "+d"(x)))
LATENCY_OF(round_trip_int, double, x = (double)(int)x)
LATENCY_OF(load_shared, int, x = shared[x])
LATENCY_OF(shuffle, int, x = __shfl_xor_sync(~0u, x, 1) + me)
LATENCY_OF(barrier, int, __syncthreads())
LATENCY_OF(hand_over_float, float, shared[me] = x; __syncthreads(); x = shared[other])
LATENCY_OF(hand_over_double, double, shared[me] = x; __syncthreads(); x = shared[other])

static const struct chain chains[] = {
	{ "float a + b", add_float, 32 },
	{ "float a b + c", fma_float, 32 },
	{ "double a + b", add_double, 32 },
	{ "double a b + c", fma_double, 32 },
	{ "float 2^x, approximate", exp2_float, 32 },
	{ "float 1/x, approximate, + a", rcp_float, 32 },
	{ "double 1/x, approximate", rcp_double, 32 },
	{ "double to int and back", round_trip_int, 32 },
	{ "load from shared memory", load_shared, 32 },
	{ "shuffle + a, of integers", shuffle, 32 },
	{ "barrier, 12 warps", barrier, THREADS },
	{ "store, barrier, load: float", hand_over_float, THREADS },
	{ "store, barrier, load: double", hand_over_double, THREADS },
};

static double cycles_of(const struct chain *c, long long *device)
{
	long long cycles, least = 0;

	for (int t = 0; t < TURNS; t++) {
		c->kernel<<<1, c->threads>>>(device, 0);
		CUDA(cudaGetLastError());
		CUDA(cudaMemcpy(&cycles, device, sizeof(cycles), cudaMemcpyDeviceToHost));
		least = !t || cycles < least ? cycles : least;
	}
	return (double)least / CHAIN;
}

int main(void)
{
	struct cudaDeviceProp prop;
	long long *device;

	CUDA(cudaGetDeviceProperties(&prop, 0));
	CUDA(cudaMalloc(&device, (1 + THREADS) * sizeof(*device)));
	printf("%s\n\ncycles, least of %d runs of %d\n", prop.name, (int)TURNS, (int)CHAIN);
	for (const struct chain &c : chains)
		printf("%-30s %6.1f\n", c.what, cycles_of(&c, device));
	CUDA(cudaFree(device));
	return 0;
}
