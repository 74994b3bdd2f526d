/*
 * kernels_infer.cu - work=inference, launches=one: all layers of a batch in one launch.
 *
 * fp16, on tensor cores. A warp takes 32 rows through all layers, and no activation leaves its
 * registers: the sums of one product, as fp16, are the left operand of the next, lane by lane
 * (mma.m16n8k16). Weights lie in shared memory, fetched once per launch, in the order in which
 * lanes take them (infer.h). Blocks stay and warps walk over the batch, so that from DRAM come the
 * inputs once, and outputs go there once. Sums are in fp32; an activation is rounded to fp16
 * between layers, as those that cuBLASLt leaves in memory are.
 *
 * fp32, on both devices: the plain version, a thread per row, with the same steps and slots.
 */
#include "common/device.h"
#include "common/slots.cuh"
#include "workloads/mlp/infer.h"
#include "workloads/mlp/real.cuh"

/* A batch of one slot. */
struct infer_batch {
	const char *x;
	char *y;
};

/* Of step k of a launch that begins with step first. */
static __device__ inline struct infer_batch batch_of(const struct mlp_infer_launch &l,
						     uint32_t first, uint32_t k)
{
	uint32_t slot = (first + k) % l.slots;

	return { (const char *)l.x + slot * l.x_stride, (char *)l.y + slot * l.y_stride };
}

/* ---- fp32 ------------------------------------------------------------------------------ */

/* out = W in, for a layer that is not the last cut at 0; NaN stays. */
static __device__ inline void plain_layer(const struct mlp_infer_net &n, uint32_t l,
					  const float *weight, const float *in, float *out)
{
	uint32_t k = mlp_infer_in(&n, l);

	for (uint32_t j = 0; j < mlp_infer_out(&n, l); j++) {
		const float *w = weight + mlp_infer_at(&n, l) + j * k;
		float sum = 0;

		for (uint32_t i = 0; i < k; i++)
			sum += w[i] * in[i];
		out[j] = l <= n.hidden && sum < 0 ? 0 : sum;
	}
}

static __device__ inline void plain_row(const struct mlp_infer_launch &l, const float *x, float *y)
{
	float a[2][MLP_INFER_WIDTH_MAX];
	uint32_t layer = 1;

	plain_layer(l.net, 1, (const float *)l.weight, x, a[1]);
	for (layer = 2; layer <= l.net.hidden; layer++)
		plain_layer(l.net, layer, (const float *)l.weight, a[(layer - 1) % 2],
			    a[layer % 2]);
	plain_layer(l.net, layer, (const float *)l.weight, a[(layer - 1) % 2], y);
}

extern "C" __global__ void mlp_infer_plain(struct mlp_infer_launch l)
{
	uint32_t first = slots_step(l.counter), row = blockIdx.x * MLP_THREADS + threadIdx.x;

	slots_advance(l.counter, l.steps);
	if (row >= l.batch)
		return;
	for (uint32_t k = 0; k < l.steps; k++) {
		struct infer_batch b = batch_of(l, first, k);

		plain_row(l, (const float *)b.x + (size_t)row * l.net.features,
			  (float *)b.y + (size_t)row * MLP_OUTPUTS);
	}
}
KERNEL(mlp_infer_plain);

/* ---- fp16 ------------------------------------------------------------------------------ */

#ifdef __CUDACC__
#include <cuda_fp16.h>

#include "workloads/mlp/mbarrier.cuh"

enum {
	ROWS = 32,     /* of a warp: two tiles, which share each load of weights */
	ROW_TILES = 2, /* of 16 rows */
	GROUP = 2, /* units side by side: 8 products of a warp that do not wait for each other */
	WARPS_64 = 16, /* of a block, by the registers of a thread */
	WARPS_128 = 8,
	WARPS_LEAST = 4,
	MBARRIERS = sizeof(uint64_t) * (MLP_INFER_HIDDEN_MAX + 1), /* bytes */
};

/* A row's registers for products of `tiles` tiles of inputs: operand A, and what becomes it. */
template <int TILES> struct infer_rows {
	uint32_t a[ROW_TILES][TILES][4];
};

/* The compiler is asked for older devices too, which cannot fetch weights so. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* c += a b, of 16 x 16 and 16 x 8. */
static __device__ inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
				       uint32_t b1)
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
	    "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Two sums as fp16, the first in the lower half; RELU: cut at 0, and NaN stays. */
template <bool RELU> static __device__ inline uint32_t pack(float low, float high)
{
	uint32_t both;

	if (RELU)
		asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
	else
		asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
	return both;
}

/* UNITS x 16 outputs of a layer, for all rows of the warp. w: this lane's part of the first unit.
 */
template <int TILES, int UNITS>
static __device__ inline void sums(const infer_rows<TILES> &in, const uint4 *w,
				   float (&c)[ROW_TILES][2 * UNITS][4])
{
#pragma unroll
	for (int s = 0; s < TILES; s++) {
#pragma unroll
		for (int u = 0; u < UNITS; u++) {
			uint4 b = w[(u * TILES + s) * MLP_LANES];

#pragma unroll
			for (int m = 0; m < ROW_TILES; m++) {
				multiply(c[m][2 * u], in.a[m][s], b.x, b.y);
				multiply(c[m][2 * u + 1], in.a[m][s], b.z, b.w);
			}
		}
	}
}

/* A hidden layer: out = max(W in, 0). */
template <int TILES, int WIDTH>
static __device__ inline void hidden_layer(const infer_rows<TILES> &in, const uint4 *w,
					   infer_rows<WIDTH / MLP_TILE> &out)
{
#pragma unroll
	for (int first = 0; first < WIDTH / MLP_TILE; first += GROUP) {
		float c[ROW_TILES][2 * GROUP][4] = {};

		sums<TILES, GROUP>(in, w + first * TILES * MLP_LANES, c);
#pragma unroll
		for (int i = 0; i < ROW_TILES * GROUP * 2; i++) {
			int m = i / (GROUP * 2), u = i / 2 % GROUP, tile = 2 * u + i % 2;
			uint32_t *to = &out.a[m][first + u][2 * (i % 2)];

			to[0] = pack<true>(c[m][tile][0], c[m][tile][1]);
			to[1] = pack<true>(c[m][tile][2], c[m][tile][3]);
		}
	}
}

/* The row of the batch that a lane has in its registers 0 or 1 (half) of a tile. */
static __device__ inline uint32_t row_of(uint32_t tile, int m, int half)
{
	return tile * ROWS + (uint32_t)(m * 16 + half * 8) + threadIdx.x % MLP_LANES / 4;
}

/* Rows beyond the batch are 0. */
template <int FEATURES>
static __device__ inline void load_rows(const struct mlp_infer_launch &l, const char *x,
					uint32_t tile, infer_rows<FEATURES / MLP_TILE> &in)
{
	enum { LOADS = FEATURES / 32, ROW_LOADS = FEATURES / 8 };

#pragma unroll
	for (int i = 0; i < ROW_TILES * 2 * LOADS; i++) {
		int m = i / (2 * LOADS), half = i / LOADS % 2, load = i % LOADS;
		uint32_t row = row_of(tile, m, half);
		uint4 v = {};

		if (row < l.batch)
			v = __ldcs((const uint4 *)x + (size_t)row * ROW_LOADS + load * 4 +
				   threadIdx.x % 4);
		in.a[m][2 * load][half] = v.x;
		in.a[m][2 * load][half + 2] = v.y;
		in.a[m][2 * load + 1][half] = v.z;
		in.a[m][2 * load + 1][half + 2] = v.w;
	}
}

/* The last layer, and its outputs to memory: 4 of a row per lane. */
template <int WIDTH>
static __device__ inline void last_layer(const struct mlp_infer_launch &l, char *y, uint32_t tile,
					 const infer_rows<WIDTH / MLP_TILE> &in, const uint4 *w)
{
	float c[ROW_TILES][2][4] = {};

	sums<WIDTH / MLP_TILE, 1>(in, w, c);
#pragma unroll
	for (int i = 0; i < ROW_TILES * 2; i++) {
		int m = i / 2, half = i % 2;
		uint32_t row = row_of(tile, m, half);
		uint2 v = { pack<false>(c[m][0][2 * half], c[m][0][2 * half + 1]),
			    pack<false>(c[m][1][2 * half], c[m][1][2 * half + 1]) };

		if (row < l.batch)
			__stcs((uint2 *)y + (size_t)row * (MLP_OUTPUTS / 4) + threadIdx.x % 4, v);
	}
}

/* Where a lane finds its part of the weights of the first layer, of the others, of the last. */
struct infer_weights {
	const uint4 *first, *hidden, *last;
	uint64_t *there; /* an mbarrier for each layer */
};

/* first: the block may still wait for weights. */
static __device__ inline void await(const struct infer_weights &w, bool first, uint32_t layer)
{
	if (first)
		mbarrier_wait(&w.there[layer - 1], 0);
}

template <int WIDTH, int FEATURES>
static __device__ inline void infer_tile(const struct mlp_infer_launch &l, char *y, uint32_t tile,
					 const infer_rows<FEATURES / MLP_TILE> &in,
					 const struct infer_weights &w, bool first)
{
	enum { TILES = WIDTH / MLP_TILE };
	infer_rows<TILES> even, odd;
	const uint4 *at = w.hidden;
	uint32_t layer = 2;

	await(w, first, 1);
	hidden_layer<FEATURES / MLP_TILE, WIDTH>(in, w.first, even);
	for (; layer < l.net.hidden; layer += 2, at += 2 * (WIDTH * WIDTH / 8)) {
		await(w, first, layer);
		hidden_layer<TILES, WIDTH>(even, at, odd);
		await(w, first, layer + 1);
		hidden_layer<TILES, WIDTH>(odd, at + WIDTH * WIDTH / 8, even);
	}
	if (layer == l.net.hidden) {
		await(w, first, layer);
		hidden_layer<TILES, WIDTH>(even, at, odd);
		even = odd;
	}
	await(w, first, l.net.hidden + 1);
	last_layer<WIDTH>(l, y, tile, even, w.last);
}

/* For one thread: n words of 16 bytes to shared memory, whose mbarrier waits for them; 0: for none.
 */
static __device__ inline void fetch_layer(uint4 *to, const uint4 *from, uint32_t n, uint64_t *there)
{
	mbarrier_expect(there, n * sizeof(*to));
	if (n)
		fetch(to, from, n * sizeof(*to), there);
}

/*
 * Layer by layer, so that the first rows need not wait for all. The first and the last layer stay
 * in global memory (ENDS_STAY) where shared memory has no room for all: they are few, and the
 * first-level cache keeps them. Others see the mbarriers behind a barrier.
 */
template <int WIDTH, int FEATURES, bool ENDS_STAY>
static __device__ inline struct infer_weights fetch_weights(const struct mlp_infer_launch &l,
							    uint4 *shared, uint64_t *there)
{
	const uint32_t square = WIDTH * WIDTH / 8,
		       ends[] = { WIDTH * FEATURES / 8, WIDTH * MLP_OUTPUTS / 8 };
	const uint4 *first = (const uint4 *)l.weight, *hidden = first + ends[0];
	const uint4 *last = hidden + (l.net.hidden - 1) * square;
	uint4 *own = ENDS_STAY ? shared : shared + ends[0];
	uint4 *own_last = own + (l.net.hidden - 1) * square;
	uint32_t lane = threadIdx.x % MLP_LANES;

	if (!threadIdx.x) {
		for (uint32_t i = 0; i <= l.net.hidden; i++)
			mbarrier_init(&there[i]);
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		fetch_layer(shared, first, ENDS_STAY ? 0 : ends[0], &there[0]);
		for (uint32_t i = 0; i < l.net.hidden - 1; i++)
			fetch_layer(own + i * square, hidden + i * square, square, &there[i + 1]);
		fetch_layer(own_last, last, ENDS_STAY ? 0 : ends[1], &there[l.net.hidden]);
	}
	return { (ENDS_STAY ? first : shared) + lane, own + lane,
		 (ENDS_STAY ? last : own_last) + lane, there };
}

/* As slots_step(), whose second load waits for the first: here both words of it come at once. */
static __device__ inline uint32_t step_now(const struct slots_counter *counter)
{
	uint2 steps = *(const uint2 *)counter->part[0].steps;

	return slots_launches<false>(counter) % 2 ? steps.y : steps.x;
}

/* Weights, the step and the first rows are on their way side by side. */
template <int WIDTH, int FEATURES, bool ENDS_STAY>
static __global__ void __launch_bounds__((WIDTH == 64 ? WARPS_64 : WARPS_128) * MLP_LANES, 1)
	mlp_infer_tensor(struct mlp_infer_launch l)
{
	DYN_SHARED(uint4, shared);
	SHARED_ARRAY(uint64_t, there, [MLP_INFER_HIDDEN_MAX + 1]);
	const struct infer_weights w = fetch_weights<WIDTH, FEATURES, ENDS_STAY>(l, shared, there);
	const uint32_t tiles = (l.batch + ROWS - 1) / ROWS;
	const uint32_t warp = threadIdx.x / MLP_LANES * gridDim.x + blockIdx.x;
	const uint32_t warps = blockDim.x / MLP_LANES * gridDim.x, step = step_now(l.counter);
	infer_rows<FEATURES / MLP_TILE> in;
	bool first = true;

	load_rows<FEATURES>(l, batch_of(l, step, 0).x, warp, in);
	slots_advance(l.counter, l.steps); /* a barrier is within */
	for (uint32_t k = 0; k < l.steps; k++) {
		struct infer_batch b = batch_of(l, step, k);

		for (uint32_t tile = warp; tile < tiles; tile += warps, first = false) {
			if (!first)
				load_rows<FEATURES>(l, b.x, tile, in);
			infer_tile<WIDTH, FEATURES>(l, b.y, tile, in, w, first);
		}
	}
}
#else
template <int WIDTH, int FEATURES, bool ENDS_STAY>
static __global__ void mlp_infer_tensor(struct mlp_infer_launch)
{
	__trap();
}
#endif

typedef void (*infer_kernel)(struct mlp_infer_launch);

/* The kernel for a network, and its bytes of shared memory. */
static infer_kernel choose_kernel(const struct mlp_infer_launch *l, size_t *bytes)
{
	const struct mlp_infer_net &n = l->net;
	const size_t all = 2 * (size_t)mlp_infer_weights(&n);
	const bool fits = all + MBARRIERS <= l->shared_most, narrow = n.features == 32;

	*bytes = fits ? all : 2 * (size_t)(n.hidden - 1) * n.width * n.width;
	if (n.width == 64)
		return narrow ? mlp_infer_tensor<64, 32, false> : mlp_infer_tensor<64, 64, false>;
	if (fits)
		return narrow ? mlp_infer_tensor<128, 32, false> : mlp_infer_tensor<128, 64, false>;
	return narrow ? mlp_infer_tensor<128, 32, true> : mlp_infer_tensor<128, 64, true>;
}

static const char *prepare_tensor(struct mlp_infer_launch *l)
{
	size_t bytes;
	infer_kernel kernel;

	if (device_attribute(cudaDevAttrComputeCapabilityMajor) < 9)
		return "with precision=fp16 it needs a device of compute capability 9.0 or newer";
	l->processors = device_attribute(cudaDevAttrMultiProcessorCount);
	l->shared_most = (size_t)device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
	kernel = choose_kernel(l, &bytes);
	if (!cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)bytes))
		return NULL;
	cudaGetLastError();
	return "this device's shared memory has no room for these weights: use fewer or narrower "
	       "layers";
}

/* As few warps as one round takes, up to what registers allow: so a small batch is spread out. */
static unsigned block_warps(const struct mlp_infer_launch *l)
{
	const unsigned tiles = (l->batch + ROWS - 1) / ROWS, each = (unsigned)l->processors;
	const unsigned least = WARPS_LEAST, most = l->net.width == 64 ? WARPS_64 : WARPS_128;
	unsigned warps = (tiles + each - 1) / each;

	return warps < least ? least : warps < most ? warps : most;
}

static void launch_tensor(const struct mlp_infer_launch *l, cudaStream_t stream)
{
	unsigned warps = block_warps(l), tiles = (l->batch + ROWS - 1) / ROWS;
	unsigned grid = (tiles + warps - 1) / warps, most = (unsigned)l->processors;
	size_t bytes;
	infer_kernel kernel = choose_kernel(l, &bytes);

	CUDA(LAUNCH(kernel, grid < most ? grid : most, warps * MLP_LANES, bytes, stream, *l));
}
#endif

/* ---- both ------------------------------------------------------------------------------ */

#ifdef __CUDACC__
static __device__ inline void narrow(__half *to, float v)
{
	*to = __float2half_rn(v);
}
#endif

template <class T>
static __global__ void mlp_infer_inputs(T *x, uint32_t n, uint32_t slot, uint64_t seed)
{
	size_t i = thread_index();

	if (i < n)
		narrow(&x[i], mlp_infer_input((uint32_t)i, slot, seed));
}
KERNEL(mlp_infer_inputs<float>);

template <class T>
static __global__ void mlp_infer_make_weights(T *w, struct mlp_infer_net net, bool packed,
					      uint64_t seed)
{
	size_t i = thread_index();

	if (i < mlp_infer_weights(&net))
		narrow(&w[i],
		       mlp_infer_weight(packed ? mlp_infer_source(&net, (uint32_t)i) : (uint32_t)i,
					seed));
}
KERNEL(mlp_infer_make_weights<float>);

/* As by_kind(), of fp16. */
template <class F> static inline void by_precision(bool half, F f)
{
#ifdef __CUDACC__
	if (half)
		return f((__half *)nullptr);
#endif
	CHECK(!half, "fp16 on the CPU device");
	f((float *)nullptr);
}

void mlp_infer_fill(void *x, uint32_t n, uint32_t slot, uint64_t seed, bool half,
		    cudaStream_t stream)
{
	by_precision(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_infer_inputs<KIND(kind)>, blocks_for(n), MLP_THREADS, 0, stream,
			    (KIND(kind) *)x, n, slot, seed));
	});
}

void mlp_infer_fill_weights(void *w, const struct mlp_infer_net *n, bool packed, uint64_t seed,
			    bool half, cudaStream_t stream)
{
	by_precision(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_infer_make_weights<KIND(kind)>, blocks_for(mlp_infer_weights(n)),
			    MLP_THREADS, 0, stream, (KIND(kind) *)w, *n, packed, seed));
	});
}

const char *mlp_infer_prepare(struct mlp_infer_launch *l, bool half)
{
#ifdef __CUDACC__
	if (half)
		return prepare_tensor(l);
#endif
	(void)l;
	CHECK(!half, "fp16 on the CPU device");
	return NULL;
}

void mlp_infer(const struct mlp_infer_launch *l, bool half, cudaStream_t stream)
{
#ifdef __CUDACC__
	if (half)
		return launch_tensor(l, stream);
#endif
	CHECK(!half, "fp16 on the CPU device");
	CUDA(LAUNCH(mlp_infer_plain, blocks_for(l->batch), MLP_THREADS, 0, stream, *l));
}
