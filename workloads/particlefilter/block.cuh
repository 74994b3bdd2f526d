/*
 * block.cuh - sums over the threads of a block, whole warps of it. Every order is fixed, so a sum
 * has the same bits in each run.
 */
#ifndef RIFT_PARTICLEFILTER_BLOCK_CUH
#define RIFT_PARTICLEFILTER_BLOCK_CUH

#include "common/gpu.h"

/* Arrays of a thread's particles stay in registers; what is known need not be compiled. */
#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define ASSUME(what) __builtin_assume(what)
#else
#define UNROLLED
#define ROLLED
#define ASSUME(what) (void)(what)
#endif

namespace pf
{
static const unsigned all_lanes = 0xFFFFFFFFu;
enum { WARP = 32, WARPS_MAX = 32, SUMS = 4 };

struct scratch {
	double warp[WARPS_MAX], best[WARPS_MAX];
	double sums[SUMS][WARPS_MAX];
};

static __device__ inline int lane()
{
	return (int)(threadIdx.x % WARP);
}

static __device__ inline int warp()
{
	return (int)(threadIdx.x / WARP);
}

static __device__ inline int warps()
{
	return (int)(blockDim.x / WARP);
}

/* Inclusive scan over the first N lanes. */
template <int N = WARP, class T> static __device__ inline T scan_warp(T v)
{
	for (int d = 1; d < N; d *= 2) {
		T below = __shfl_up_sync(all_lanes, v, d);

		v = lane() >= d ? v + below : v;
	}
	return v;
}

/*
 * Sum of the values of all threads before this one; *total is that of all. The block has at most N
 * warps. Everybody waits once; since the last use of the scratch memory all must have waited, too.
 */
template <int N = WARPS_MAX, class T>
static __device__ inline T scan_block(T v, struct scratch *s, T *total)
{
	T *sums = (T *)s->warp;
	T through = scan_warp(v);
	T before = __shfl_up_sync(all_lanes, through, 1);

	if (lane() == WARP - 1)
		sums[warp()] = through;
	__syncthreads();
	T warp_sums = scan_warp<N>(lane() < warps() ? sums[lane()] : T(0));
	T base = __shfl_sync(all_lanes, warp_sums, warp() ? warp() - 1 : 0);

	*total = __shfl_sync(all_lanes, warp_sums, warps() - 1);
	return (warp() ? base : T(0)) + (lane() ? before : T(0));
}

/* The largest value of all threads; waits twice, first for who still reads the scratch memory. */
template <class T> static __device__ inline T max_block(T v, struct scratch *s)
{
	T *best = (T *)s->best;

	for (int d = WARP / 2; d; d /= 2) {
		T other = __shfl_xor_sync(all_lanes, v, d);

		v = other > v ? other : v;
	}
	__syncthreads();
	if (!lane())
		best[warp()] = v;
	__syncthreads();
	v = best[lane() < warps() ? lane() : 0];
	for (int d = WARP / 2; d; d /= 2) {
		T other = __shfl_xor_sync(all_lanes, v, d);

		v = other > v ? other : v;
	}
	return v;
}

/* Sum over the first N lanes, in each of them. */
template <int N = WARP> static __device__ inline double sum_warp(double v)
{
	for (int d = N / 2; d; d /= 2)
		v += __shfl_xor_sync(all_lanes, v, d);
	return v;
}

/*
 * Four sums over the warp, of which lane l has number l/8. Halves of the warp exchange what the
 * other half adds up, then quarters: 6 shuffles instead of 20.
 */
static __device__ inline double sum_four(const double v[SUMS])
{
	bool upper = lane() & 16, odd = lane() & 8;
	double a = upper ? v[2] : v[0], b = upper ? v[3] : v[1];

	a += __shfl_xor_sync(all_lanes, upper ? v[0] : v[2], 16);
	b += __shfl_xor_sync(all_lanes, upper ? v[1] : v[3], 16);
	double sum = (odd ? b : a) + __shfl_xor_sync(all_lanes, odd ? a : b, 8);

	for (int d = 4; d; d /= 2)
		sum += __shfl_xor_sync(all_lanes, sum, d);
	return sum;
}

/* Four sums over all threads: when it returns, those of the warps are in scratch memory. */
static __device__ inline void sum_warps(const double v[SUMS], struct scratch *s)
{
	double sum = sum_four(v);

	if (lane() % 8 == 0)
		s->sums[lane() / 8][warp()] = sum;
	__syncthreads();
}

/* The block's sum number i, from those of the warps; for a warp of a block of at most N warps. */
template <int N = WARPS_MAX>
static __device__ inline double sum_warp_sums(const struct scratch *s, int i)
{
	return sum_warp<N>(lane() < warps() ? s->sums[i][lane()] : 0);
}

/* The first of n ascending numbers that is t or more; n - 1 if there is none. */
template <class T> static __device__ inline int first_from(const T *v, int n, double t)
{
	int low = 0, high = n - 1;

	while (low < high) {
		int middle = (low + high) / 2;

		if (double(v[middle]) >= t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
} // namespace pf

#endif
