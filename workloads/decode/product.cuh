/*
 * product.cuh - the products of launches=few: rows of a matrix times the activations of all
 * sequences, with what comes before (a norm) and after (rotation, silu, an addition, the best).
 *
 * Two rows are a *unit*, as what comes after needs them: the two halves of a pair that is rotated,
 * a gate and what it lets through. A warp takes one unit at a time, or TOGETHER of them where sums
 * are few; its lanes share the columns and add up what they have. A block keeps the activations of
 * up to DECODE_CHUNK_MAX sequences in shared memory, in which the two halves of each group lie
 * apart: so lanes that read 16 bytes each use all banks.
 */
#ifndef RIFT_DECODE_PRODUCT_CUH
#define RIFT_DECODE_PRODUCT_CUH

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/programmatic.cuh"
#include "workloads/decode/kernels.h"
#include "workloads/decode/stored.cuh"

/* What a thread knows when its products begin. */
struct product_context {
	const decode_device &d;
	const decode_layer &l;
	uint32_t position;
};

template <class T> struct unit_rows {
	const T *a, *b;
};

/* ---- the five products -------------------------------------------------------------------- */

/* Pairs of rows of q, k and v that are rotated together, then stored. */
template <class T> struct qkv_product {
	static constexpr bool HAS_NORM = true, HAS_BEST = false;
	static constexpr int TOGETHER = 1;

	static __device__ uint32_t units(const decode_device &d)
	{
		return (d.heads + 2 * d.kv_heads) * (d.head_dim / 2);
	}

	static __device__ uint32_t stride(const decode_device &d)
	{
		return d.dim_stride;
	}

	static __device__ const float *input(const decode_device &d)
	{
		return d.x;
	}

	static __device__ const void *norm(const decode_device &, const decode_layer &l)
	{
		return l.norm_att;
	}

	static __device__ unit_rows<T> rows(const decode_device &d, const decode_layer &l,
					    uint32_t u)
	{
		uint32_t half = d.head_dim / 2, row = u / half * d.head_dim + u % half;
		const T *a = (const T *)l.qkv + (size_t)row * d.dim_stride;

		return { a, a + (size_t)half * d.dim_stride };
	}

	static __device__ void store_row(const product_context &c, uint32_t b, uint32_t head,
					 uint32_t i, float low, float high)
	{
		const decode_device &d = c.d;
		T *cache = (T *)(head < d.kv_heads ? c.l.key : c.l.value);
		uint32_t of = head < d.kv_heads ? head : head - d.kv_heads;
		size_t row = ((size_t)b * d.kv_heads + of) * d.positions + c.position;

		store(cache + row * d.head_stride + i, low);
		store(cache + row * d.head_stride + i + d.head_dim / 2, high);
	}

	/* Cosine and sine of the pair's angle. */
	static __device__ float2 before(const product_context &c, uint32_t u, uint32_t)
	{
		uint32_t half = c.d.head_dim / 2;

		return ((const float2 *)c.d.rotation)[(size_t)c.position * half + u % half];
	}

	static __device__ void finish(const product_context &c, uint32_t u, uint32_t b, float2 turn,
				      float low, float high)
	{
		const decode_device &d = c.d;
		uint32_t half = d.head_dim / 2, head = u / half, i = u % half;
		float *q = d.q + ((size_t)b * d.heads + head) * d.head_stride + i;

		if (head < d.heads + d.kv_heads) {
			float turned = low * turn.x - high * turn.y;

			high = high * turn.x + low * turn.y;
			low = turned;
		}
		if (head >= d.heads) {
			store_row(c, b, head - d.heads, i, low, high);
		} else {
			q[0] = low;
			q[half] = high;
		}
	}
};

/* What attention and the wide layer leave is added to x. */
template <class T, bool WIDE> struct residual_product {
	static constexpr bool HAS_NORM = false, HAS_BEST = false;
	static constexpr int TOGETHER = 1;

	static __device__ uint32_t units(const decode_device &d)
	{
		return (d.dim + 1) / 2;
	}

	static __device__ uint32_t stride(const decode_device &d)
	{
		return WIDE ? d.hidden_stride : d.att_stride;
	}

	static __device__ const float *input(const decode_device &d)
	{
		return (const float *)(WIDE ? d.act : d.att);
	}

	static __device__ const void *norm(const decode_device &, const decode_layer &)
	{
		return nullptr;
	}

	/* The last of an odd number stands for both. */
	static __device__ unit_rows<T> rows(const decode_device &d, const decode_layer &l,
					    uint32_t u)
	{
		const T *w = (const T *)(WIDE ? l.down : l.o);
		uint32_t second = 2 * u + 1 < d.dim ? 2 * u + 1 : 2 * u;

		return { w + (size_t)2 * u * stride(d), w + (size_t)second * stride(d) };
	}

	/* What the sums are added to; the second of an odd number lies in what fills the row up. */
	static __device__ float2 before(const product_context &c, uint32_t u, uint32_t b)
	{
		return *(const float2 *)(c.d.x + (size_t)b * c.d.dim_stride + 2 * u);
	}

	static __device__ void finish(const product_context &c, uint32_t u, uint32_t b, float2 x,
				      float low, float high)
	{
		float *out = c.d.x + (size_t)b * c.d.dim_stride + 2 * u;

		out[0] = x.x + low;
		if (2 * u + 1 < c.d.dim)
			out[1] = x.y + high;
	}
};

static __device__ inline float silu(float z)
{
	return z / (1 + expf(-z));
}

template <class T> struct gate_up_product {
	static constexpr bool HAS_NORM = true, HAS_BEST = false;
	static constexpr int TOGETHER = 1;

	static __device__ uint32_t units(const decode_device &d)
	{
		return d.hidden;
	}

	static __device__ uint32_t stride(const decode_device &d)
	{
		return d.dim_stride;
	}

	static __device__ const float *input(const decode_device &d)
	{
		return d.x;
	}

	static __device__ const void *norm(const decode_device &, const decode_layer &l)
	{
		return l.norm_ffn;
	}

	static __device__ unit_rows<T> rows(const decode_device &d, const decode_layer &l,
					    uint32_t u)
	{
		size_t at = (size_t)u * d.dim_stride;

		return { (const T *)l.gate + at, (const T *)l.up + at };
	}

	static __device__ float2 before(const product_context &, uint32_t, uint32_t)
	{
		return {};
	}

	static __device__ void finish(const product_context &c, uint32_t u, uint32_t b, float2,
				      float gate, float up)
	{
		((float *)c.d.act)[(size_t)b * c.d.hidden_stride + u] = silu(gate) * up;
	}
};

template <class T> struct logits_product {
	static constexpr bool HAS_NORM = true, HAS_BEST = true;
	static constexpr int TOGETHER = 4;

	static __device__ uint32_t units(const decode_device &d)
	{
		return (d.vocab + 1) / 2;
	}

	static __device__ uint32_t stride(const decode_device &d)
	{
		return d.dim_stride;
	}

	static __device__ const float *input(const decode_device &d)
	{
		return d.x;
	}

	static __device__ const void *norm(const decode_device &d, const decode_layer &)
	{
		return d.norm_out;
	}

	static __device__ unit_rows<T> rows(const decode_device &d, const decode_layer &,
					    uint32_t u)
	{
		uint32_t second = 2 * u + 1 < d.vocab ? 2 * u + 1 : 2 * u;

		return { (const T *)d.head + (size_t)2 * u * d.dim_stride,
			 (const T *)d.head + (size_t)second * d.dim_stride };
	}

	static __device__ float2 before(const product_context &, uint32_t, uint32_t)
	{
		return {};
	}

	static __device__ void finish(const product_context &c, uint32_t u, uint32_t b, float2,
				      float low, float high)
	{
		float *out = c.d.logits + (size_t)b * c.d.vocab + 2 * u;

		out[0] = low;
		if (2 * u + 1 < c.d.vocab)
			out[1] = high;
	}
};

/* ---- the kernel --------------------------------------------------------------------------- */

/* Sums of a block's threads become what the norm divides by, in factor[NB] of shared memory. */
template <int NB>
static __device__ inline void norm_factors(const decode_device &d, const float sum[NB],
					   float *shared, float *factor)
{
	uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	for (int s = 0; s < NB; s++) {
		float all = sum_lanes(sum[s], 32);

		if (!lane)
			shared[s * DECODE_WARPS + warp] = all;
	}
	__syncthreads();
	if (threadIdx.x < NB) {
		float all = 0;

		for (int w = 0; w < DECODE_WARPS; w++)
			all += shared[threadIdx.x * DECODE_WARPS + w];
		factor[threadIdx.x] = 1 / sqrtf(all / (float)d.dim + d.eps);
	}
	__syncthreads();
}

/*
 * The activations of sequences from `first` on, times the norm's weights, into shared memory; and
 * what their products are to be multiplied with.
 */
template <class P, class T, int NB>
static __device__ inline void load_activations(const decode_device &d, const decode_layer &l,
					       uint32_t first, float *xs, float *shared,
					       float *factor)
{
	const uint32_t stride = P::stride(d), quarters = stride / 4;
	const T *weight = (const T *)P::norm(d, l);
	float squares[NB] = {};

	for (int s = 0; s < NB && first + s < d.batch; s++) {
		const float4 *in = (const float4 *)(P::input(d) + (size_t)(first + s) * stride);
		float4 *out = (float4 *)(xs + s * stride);

		UNROLLED(8)
		for (uint32_t i = threadIdx.x; i < quarters; i += DECODE_THREADS) {
			float4 v = in[i];

			squares[s] += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
			if (P::HAS_NORM)
				v = times(v, load_quarter(weight + 4 * i));
			out[i / 2 + i % 2 * (quarters / 2)] = v;
		}
	}
	if (P::HAS_NORM)
		norm_factors<NB>(d, squares, shared, factor);
	else
		__syncthreads();
}

/*
 * Weights of some units that a lane has loaded and not yet used: TIMES groups of each row, which
 * lie 32 groups apart. Sixteen loads of 16 bytes are under way at a time, which is what memory
 * wants, and eight where a block has several sequences.
 */
template <class T, int NB, int UNITS> struct weights_batch {
	static constexpr int TIMES = (NB > 1 ? 4 : 8) / UNITS / (int)(sizeof(T) / 2);
	raw_group<T> row[TIMES][2 * UNITS];
};

template <class T, int NB, int UNITS>
static __device__ inline void load_batch(const unit_rows<T> r[UNITS], uint32_t first,
					 uint32_t groups, weights_batch<T, NB, UNITS> *out)
{
	for (int t = 0; t < out->TIMES; t++) {
		uint32_t g = first + 32 * t < groups ? first + 32 * t : groups - 1;

		if (first / 32 * 32 + 32 * t >= groups)
			return; /* the whole warp, so that other loads need no branch */
		for (int u = 0; u < UNITS; u++) {
			out->row[t][2 * u] = load_weights(r[u].a + g * DECODE_GROUP);
			out->row[t][2 * u + 1] = load_weights(r[u].b + g * DECODE_GROUP);
		}
	}
}

/* Adds the products with the activations of all sequences of the chunk: sum[unit][sequence][row].
 */
template <class T, int NB, int UNITS>
static __device__ inline void use_batch(const weights_batch<T, NB, UNITS> &w, uint32_t first,
					uint32_t groups, const float *xs, float sum[UNITS * NB * 2])
{
	for (int t = 0; t < w.TIMES; t++) {
		uint32_t g = first + 32 * t;
		float v[2 * UNITS][DECODE_GROUP];

		if (g >= groups)
			return;
		for (int i = 0; i < 2 * UNITS; i++)
			widen_group(w.row[t][i], v[i]);
		for (int s = 0; s < NB; s++) {
			const float4 *x = (const float4 *)(xs + (size_t)s * groups * DECODE_GROUP);
			float4 l = x[g], h = x[groups + g];

			for (int i = 0; i < 2 * UNITS; i++)
				sum[(i / 2 * NB + s) * 2 + i % 2] +=
					v[i][0] * l.x + v[i][1] * l.y + v[i][2] * l.z +
					v[i][3] * l.w +
					(v[i][4] * h.x + v[i][5] * h.y + v[i][6] * h.z +
					 v[i][7] * h.w);
		}
	}
}

/*
 * The sums over a warp of n values, a power of two: value i is left in lanes i * 32 / n and those
 * behind it. In each round lanes give away the half that they do not keep.
 */
template <int N> static __device__ inline float sum_values(float v[N])
{
	uint32_t lane = threadIdx.x % 32, bit = 16;

	for (int half = N / 2; half; half /= 2, bit /= 2)
		for (int i = 0; i < half; i++) {
			bool upper = lane & bit;
			float gives = upper ? v[i] : v[i + half];

			v[i] = (upper ? v[i + half] : v[i]) +
			       __shfl_xor_sync(0xffffffffu, gives, (int)bit);
		}
	for (; bit; bit /= 2)
		v[0] += __shfl_xor_sync(0xffffffffu, v[0], (int)bit);
	return v[0];
}

/* The candidate of a lane's sequence. */
struct candidate {
	float logit;
	uint32_t token;
};

static __device__ inline void take_better(candidate *best, float logit, uint32_t token)
{
	if (is_better(logit, token, best->logit, best->token))
		*best = { logit, token };
}

static __device__ inline candidate best_of_warp(candidate best)
{
	for (uint32_t bit = 16; bit; bit /= 2) {
		float logit = __shfl_xor_sync(0xffffffffu, best.logit, (int)bit);
		uint32_t token = __shfl_xor_sync(0xffffffffu, best.token, (int)bit);

		take_better(&best, logit, token);
	}
	return best;
}

/* The best of a block's rows for each sequence, of `each` candidates a warp: [unit][sequence]. */
template <int NB>
static __device__ inline void store_best(const decode_device &d, uint32_t first, int each,
					 const candidate *shared)
{
	const uint32_t s = threadIdx.x;
	candidate best = { -INFINITY, 0 };

	__syncthreads();
	if (s >= NB || first + s >= d.batch)
		return;
	for (int i = s; i < each * DECODE_WARPS; i += NB)
		take_better(&best, shared[i].logit, shared[i].token);
	d.best_logit[(size_t)(first + s) * d.blocks + blockIdx.x] = best.logit;
	d.best_token[(size_t)(first + s) * d.blocks + blockIdx.x] = best.token;
}

/* Rows of the units from `at` on; behind the last one, that one's. */
template <class P, class T, int UNITS>
static __device__ inline void find_rows(const decode_device &d, const decode_layer &l, uint32_t at,
					unit_rows<T> rows[UNITS])
{
	const uint32_t last = P::units(d) - 1;

	for (uint32_t i = 0; i < UNITS; i++)
		rows[i] = P::rows(d, l, at + i < last ? at + i : last);
}

/*
 * Weights depend on no launch before, nor on the units in hand. So the first batch of each unit is
 * on its way while the launch before ends, or the sums of the units before are made.
 */
template <class P, class T, int NB>
__global__ void __launch_bounds__(DECODE_THREADS)
	decode_product_kernel(decode_device d, decode_layer l)
{
	constexpr int UNITS = NB > 1 ? 1 : P::TOGETHER; /* that a warp takes at a time */
	constexpr int OWNERS = UNITS * NB, LANES = 32 / OWNERS;
	DYN_SHARED(float, xs);
	SHARED_ARRAY(float, factor, [NB]);
	SHARED_ARRAY(candidate, shared, [OWNERS * DECODE_WARPS]);
	const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, units = P::units(d);
	const uint32_t groups = P::stride(d) / DECODE_GROUP;
	const uint32_t every = gridDim.x * DECODE_WARPS * UNITS;
	const uint32_t first = blockIdx.y * NB, mine = lane / LANES, s = mine % NB;
	const bool owns = lane % LANES == 0 && first + s < d.batch;
	uint32_t at = (warp * gridDim.x + blockIdx.x) * UNITS;
	weights_batch<T, NB, UNITS> batch;
	candidate best = { -INFINITY, 0 };
	unit_rows<T> rows[UNITS];

	programmatic_go();
	find_rows<P, T, UNITS>(d, l, at, rows);
	load_batch<T, NB, UNITS>(rows, lane, groups, &batch);
	programmatic_wait();
	const product_context c = { d, l, d.progress->position };

	load_activations<P, T, NB>(d, l, first, xs, (float *)shared, factor);
	for (; at < units; at += every) {
		const uint32_t u = at + mine / NB;
		const bool finishes = owns && u < units;
		float2 with = finishes ? P::before(c, u, first + s) : float2{};
		float sum[2 * OWNERS] = {}, low, high;

		use_batch<T, NB, UNITS>(batch, lane, groups, xs, sum);
		for (uint32_t g = lane + 32 * batch.TIMES; g < groups; g += 32 * batch.TIMES) {
			load_batch<T, NB, UNITS>(rows, g, groups, &batch);
			use_batch<T, NB, UNITS>(batch, g, groups, xs, sum);
		}
		if (at + every < units) {
			find_rows<P, T, UNITS>(d, l, at + every, rows);
			load_batch<T, NB, UNITS>(rows, lane, groups, &batch);
		}
		low = sum_values<2 * OWNERS>(sum) * (P::HAS_NORM ? factor[s] : 1);
		high = __shfl_xor_sync(0xffffffffu, low, LANES / 2);
		if (!finishes)
			continue;
		P::finish(c, u, first + s, with, low, high);
		if (P::HAS_BEST) {
			take_better(&best, low, 2 * u);
			if (2 * u + 1 < d.vocab)
				take_better(&best, high, 2 * u + 1);
		}
	}
	if (!P::HAS_BEST)
		return;
	if (lane % LANES == 0)
		shared[warp * OWNERS + mine] = best;
	store_best<NB>(d, first, OWNERS, shared);
}

#define DECODE_PRODUCT_KERNELS(T, NB)                                                              \
	KERNEL(decode_product_kernel<qkv_product<T>, T, NB>);                                      \
	KERNEL(decode_product_kernel<residual_product<T, false>, T, NB>);                          \
	KERNEL(decode_product_kernel<gate_up_product<T>, T, NB>);                                  \
	KERNEL(decode_product_kernel<residual_product<T, true>, T, NB>);                           \
	KERNEL(decode_product_kernel<logits_product<T>, T, NB>)

/* ---- for the host ------------------------------------------------------------------------- */

typedef void product_kernel(decode_device, decode_layer);

template <class T, int NB> static product_kernel *choose_product(enum decode_product which)
{
	static product_kernel *const kernels[DECODE_PRODUCTS] = {
		[DECODE_QKV] = decode_product_kernel<qkv_product<T>, T, NB>,
		[DECODE_OUT] = decode_product_kernel<residual_product<T, false>, T, NB>,
		[DECODE_GATE_UP] = decode_product_kernel<gate_up_product<T>, T, NB>,
		[DECODE_BACK] = decode_product_kernel<residual_product<T, true>, T, NB>,
		[DECODE_LOGITS] = decode_product_kernel<logits_product<T>, T, NB>,
	};

	return kernels[which];
}

/* Units of a product: pairs of rows. */
static inline uint32_t product_units(enum decode_product which, const struct decode_device *d)
{
	switch (which) {
	case DECODE_QKV:
		return (d->heads + 2 * d->kv_heads) * d->head_dim / 2;
	case DECODE_GATE_UP:
		return d->hidden;
	case DECODE_LOGITS:
		return (d->vocab + 1) / 2;
	default:
		return (d->dim + 1) / 2;
	}
}

/*
 * As many blocks as have work, so that the next launch's find room. The logits' have candidates
 * each, which decode_choose() wants.
 */
static inline uint32_t product_blocks(enum decode_product which, const struct decode_device *d)
{
	uint32_t blocks = (product_units(which, d) + DECODE_WARPS - 1) / DECODE_WARPS;

	return which == DECODE_LOGITS || blocks > d->blocks ? d->blocks : blocks;
}

template <class T> static product_kernel *find_product(enum decode_product which, uint32_t chunk)
{
	return chunk == 8   ? choose_product<T, 8>(which)
	       : chunk == 4 ? choose_product<T, 4>(which)
	       : chunk == 2 ? choose_product<T, 2>(which)
			    : choose_product<T, 1>(which);
}

static inline uint32_t product_stride(enum decode_product which, const struct decode_device *d)
{
	return which == DECODE_OUT    ? d->att_stride
	       : which == DECODE_BACK ? d->hidden_stride
				      : d->dim_stride;
}

template <class T>
static void launch_product(enum decode_product which, const struct decode_device *d,
			   const struct decode_layer *l, bool overlaps, cudaStream_t stream)
{
	uint32_t stride = product_stride(which, d), chunk = decode_chunk(d, stride);
	dim3 grid(product_blocks(which, d), (d->batch + chunk - 1) / chunk);

	CUDA(LAUNCH_PROGRAMMATIC(overlaps, find_product<T>(which, chunk), grid, DECODE_THREADS,
				 (size_t)chunk * stride * sizeof(float), stream, *d, *l));
}

/* The kernels of this shape, and as much shared memory as they want. */
template <class T> static void load_products(const struct decode_device *d)
{
	for (int i = 0; i < DECODE_PRODUCTS; i++) {
		enum decode_product which = (enum decode_product)i;
		uint32_t stride = product_stride(which, d), chunk = decode_chunk(d, stride);
		const void *kernel = (const void *)find_product<T>(which, chunk);

		CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
					  (int)(chunk * stride * sizeof(float))));
		device_load_kernel(kernel);
	}
}

/* For kernels.cu, which knows the precision. */
extern "C" void decode_multiply_float(enum decode_product which, const struct decode_device *d,
				      const struct decode_layer *l, bool overlaps,
				      cudaStream_t stream);
extern "C" void decode_multiply_bf16(enum decode_product which, const struct decode_device *d,
				     const struct decode_layer *l, bool overlaps,
				     cudaStream_t stream);
extern "C" void decode_multiply_tensor(enum decode_product which, const struct decode_device *d,
				       const struct decode_layer *l, bool overlaps,
				       cudaStream_t stream);
extern "C" void decode_load_tensor(const struct decode_device *d);
extern "C" void decode_load_float(const struct decode_device *d);
extern "C" void decode_load_bf16(const struct decode_device *d);

#endif
