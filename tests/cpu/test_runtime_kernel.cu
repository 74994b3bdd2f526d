/* test_runtime_kernel.cu - kernels of test_runtime_kernel.c: what device code may use. */
#include "common/gpu.h"

/* ---- shared memory and barriers --------------------------------------------------------- */

/* Sum of 256 ints a block. */
extern "C" __global__ void reduce_static(const int *x, int *sums)
{
	SHARED_ARRAY(int, tile, [256]);
	int t = threadIdx.x;

	tile[t] = x[blockIdx.x * 256 + t];
	__syncthreads();
	for (int half = 128; half; half /= 2) {
		if (t < half)
			tile[t] += tile[t + half];
		__syncthreads();
	}
	if (t == 0)
		sums[blockIdx.x] = tile[0];
}
KERNEL(reduce_static);

/* The same in dynamic shared memory, for any power of two of threads. */
extern "C" __global__ void reduce_dynamic(const int *x, int *sums)
{
	DYN_SHARED(int, tile);
	int t = threadIdx.x;

	tile[t] = x[blockIdx.x * blockDim.x + t];
	__syncthreads();
	for (int half = blockDim.x / 2; half; half /= 2) {
		if (t < half)
			tile[t] += tile[t + half];
		__syncthreads();
	}
	if (t == 0)
		sums[blockIdx.x] = tile[0];
}
KERNEL(reduce_dynamic);

/* Threads from n on return early; the others count themselves and vote. */
extern "C" __global__ void early_return(int *out, int n)
{
	SHARED_ARRAY(int, count, [1]);
	int t = threadIdx.x;

	if (t == 0)
		count[0] = 0;
	__syncthreads();
	if (t >= n)
		return;
	atomicAdd(&count[0], 1);
	__syncthreads();
	if (t == 0)
		out[0] = count[0];
	int thirds = __syncthreads_count(t % 3 == 0);
	int five = __syncthreads_or(t == 5), all = __syncthreads_and(t < n);
	int none = __syncthreads_or(t >= n), not_all = __syncthreads_and(t != 5);

	if (t == 1) {
		out[1] = thirds;
		out[2] = five;
		out[3] = all;
		out[4] = none;
		out[5] = not_all;
	}
}
KERNEL(early_return);

/* Inclusive sums within each block of up to 1024 threads: warp shuffles, then shared memory. */
extern "C" __global__ void block_scan(const int *x, int *y)
{
	SHARED_ARRAY(int, warp_sum, [32]);
	int t = threadIdx.x, lane = t % 32, warp = t / 32, v = x[blockIdx.x * blockDim.x + t];

	for (int d = 1; d < 32; d *= 2) {
		int left = __shfl_up_sync(0xffffffff, v, d);

		if (lane >= d)
			v += left;
	}
	if (lane == 31)
		warp_sum[warp] = v;
	__syncthreads();
	if (warp == 0) {
		int n = blockDim.x / 32, s = lane < n ? warp_sum[lane] : 0;

		for (int d = 1; d < 32; d *= 2) {
			int left = __shfl_up_sync(0xffffffff, s, d);

			if (lane >= d)
				s += left;
		}
		if (lane < n)
			warp_sum[lane] = s;
	}
	__syncthreads();
	y[blockIdx.x * blockDim.x + t] = v + (warp ? warp_sum[warp - 1] : 0);
}
KERNEL(block_scan);

/* ---- warp operations -------------------------------------------------------------------- */

/* Three groups of lanes in different operations at once, then all of them in segments of 8. */
extern "C" __global__ void masks(int *y)
{
	int lane = threadIdx.x % 32, r = -1;

	if (lane < 8) {
		r = __shfl_sync(0x000000ffu, lane * 10, (lane + 1) % 8);
	} else if (lane < 24) {
		r = __shfl_xor_sync(0x00ffff00u, lane, 1);
	} else {
		/* Lane 24 + i takes part in the first i votes; each vote loses its lowest lane. */
		for (int i = 0; i < lane - 24; i++)
			r = __popc(__ballot_sync(0xff000000u << (i + 1), 1));
	}
	__syncwarp();
	y[threadIdx.x] = r * 100 + __shfl_down_sync(0xffffffff, r, 4, 8);
}
KERNEL(masks);

/* 40 threads: the second warp has 8. Votes and a shuffle of 64 bits. */
extern "C" __global__ void partial_warp(long long *y)
{
	int t = threadIdx.x;
	unsigned mask = t < 32 ? 0xffffffff : 0xff;
	long long odd = __ballot_sync(mask, t % 2);
	long long any = __any_sync(mask, t == 39), all = __all_sync(mask, t >= 32);
	double up = __shfl_up_sync(mask, (double)t, 3);

	y[t] = odd | any << 32 | all << 33 | (long long)up << 40;
}
KERNEL(partial_warp);

extern "C" __global__ void match(unsigned *y, int group)
{
	y[threadIdx.x] = __match_any_sync(0xffffffff, (int)threadIdx.x / group);
}
KERNEL(match);

/* Lanes from n on return; the mask names them all the same, which counts as arrived. */
extern "C" __global__ void lanes_leave(unsigned *y, int n)
{
	int lane = threadIdx.x;

	if (lane >= n)
		return;
	unsigned there = __ballot_sync(0xffffffff, 1);

	y[lane] = there ^ (unsigned)__shfl_sync(0xffffffff, lane + 5, 0);
}
KERNEL(lanes_leave);

/* ---- between blocks --------------------------------------------------------------------- */

/* Each block adds to what the block before it published. */
extern "C" __global__ void look_back(uint32_t *ready, int *sums)
{
	if (threadIdx.x)
		return;
	int before = 0;

	if (blockIdx.x) {
		while (!load_acquire(&ready[blockIdx.x - 1]))
			;
		before = sums[blockIdx.x - 1];
	}
	sums[blockIdx.x] = before + (int)blockIdx.x;
	store_release(&ready[blockIdx.x], 1);
}
KERNEL(look_back);

/* The last block to finish sums what the others left. */
extern "C" __global__ void last_block(uint32_t *n_done, int *parts, int *sum)
{
	if (threadIdx.x)
		return;
	parts[blockIdx.x] = (int)blockIdx.x + 1;
	if (atomic_add_acq_rel(n_done, 1) != gridDim.x - 1)
		return;
	*sum = 0;
	for (unsigned b = 0; b < gridDim.x; b++)
		*sum += parts[b];
}
KERNEL(last_block);

/* ---- atomics, intrinsics, templates ----------------------------------------------------- */

extern "C" __global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(&i[0], t);
	atomicSub(&i[1], 1);
	atomicMin(&i[2], -t);
	atomicMax(&i[3], t);
	atomicAnd(&u[0], ~(1u << t % 32));
	atomicOr(&u[1], 1u << t % 32);
	atomicXor(&u[2], 1u << t % 32);
	atomicInc(&u[3], 9);
	atomicDec(&u[4], 9);
	for (unsigned seen = 0, want; (want = atomicCAS(&u[5], seen, seen + 2)) != seen;)
		seen = want;
	atomicAdd(&l[0], 1ull << 32);
	atomicAdd(f, 0.5f);
	atomicAdd(d, 0.25);
	atomicExch(&i[4], 7);
}
KERNEL(atomics);

extern "C" __global__ void intrinsics(const int *x, int *y, float *f)
{
	int n = 0;

	y[n++] = __popc(0xf0f0u) + __popcll(~0ull);
	y[n++] = __clz(1) + __clz(0) + __clzll(1);
	y[n++] = __ffs(0) + __ffs(8) + __ffsll(1ll << 40);
	y[n++] = (int)(__brev(1u) >> 24) + (int)__brevll(1ull << 63);
	y[n++] = (int)__funnelshift_l(0x80000000u, 1u, 4) + (int)__funnelshift_r(16u, 0u, 4);
	y[n++] = __mulhi(1 << 30, 8) + (int)__umulhi(1u << 31, 4) + (int)__umul64hi(1ull << 63, 2);
	y[n++] = __float_as_int(1.0f) + (int)__int_as_float(0x40000000);
	y[n++] = min(3, -2) + max(4, 1) + (int)max(2.5f, 1.0f);
	y[n++] = __ldg(&x[1]);
	y[n++] = make_int4(1, 2, 3, 4).w + (int)make_float2(1, 2).y;
	f[0] = __expf(1.0f);
	f[1] = __logf(2.0f);
	f[2] = rsqrtf(16.0f);
	f[3] = __fdividef(1.0f, 8.0f);
	f[4] = __powf(2.0f, 5.0f);
	f[5] = __saturatef(3.0f);
}
KERNEL(intrinsics);

template <class T, int N> __global__ void scaled(T *y, T x)
{
	y[threadIdx.x] = x * N;
}
KERNEL(scaled<int, 3>);
KERNEL(scaled<double, 4>);

/* ---- for C ------------------------------------------------------------------------------ */

/* A template is launched from C++: commas inside LAUNCH's first argument need parentheses. */
extern "C" cudaError_t launch_scaled(int *i, double *d)
{
	cudaError_t error = LAUNCH((scaled<int, 3>), 1, 8, 0, 0, i, 5);

	return error ? error : LAUNCH((scaled<double, 4>), 1, 8, 0, 0, d, 2.5f);
}

#define ENTRY(kernel)                                                                              \
	extern "C" const void *k_##kernel(void)                                                    \
	{                                                                                          \
		return (const void *)kernel;                                                       \
	}
ENTRY(reduce_static)
ENTRY(reduce_dynamic)
ENTRY(early_return)
ENTRY(block_scan)
ENTRY(masks)
ENTRY(partial_warp)
ENTRY(match)
ENTRY(lanes_leave)
ENTRY(look_back)
ENTRY(last_block)
ENTRY(atomics)
ENTRY(intrinsics)
