/*
 * kernels_many.cu - launches=many: one elementary operation each, as a framework that fuses nothing
 * launches them beside the library's products.
 */
#include "common/cuda_check.h"
#include "workloads/decode/product.cuh"

enum { ELEMENT_BLOCKS = 1024 };

/* A block a sequence. */
template <class T>
__global__ void __launch_bounds__(DECODE_THREADS)
	decode_many_norms(decode_device d, const T *weight, T *out)
{
	SHARED_ARRAY(float, shared, [DECODE_WARPS]);
	SHARED_ARRAY(float, factor, [1]);
	const float *x = d.x + (size_t)blockIdx.x * d.dim_stride;
	float squares[1] = {};

	for (uint32_t i = threadIdx.x; i < d.dim; i += DECODE_THREADS)
		squares[0] += x[i] * x[i];
	norm_factors<1>(d, squares, shared, factor);
	for (uint32_t i = threadIdx.x; i < d.dim; i += DECODE_THREADS)
		store(out + (size_t)blockIdx.x * d.dim_stride + i,
		      x[i] * factor[0] * widen(weight[i]));
}
KERNEL(decode_many_norms<float>);
KERNEL(decode_many_norms<decode_bf16>);

/* x heads of q, then of k; y sequences; a thread a pair. */
extern "C" __global__ void decode_many_turn(decode_device d, const float *q, float *k)
{
	const uint32_t head = blockIdx.x, b = blockIdx.y, half = d.head_dim / 2, i = threadIdx.x;
	const bool is_q = head < d.heads;
	const float *in = is_q ? q + ((size_t)b * d.heads + head) * d.head_dim
			       : k + ((size_t)b * d.kv_heads + head - d.heads) * d.head_dim;
	float *out = is_q ? d.q + ((size_t)b * d.heads + head) * d.head_stride : (float *)in;
	const float *turn = d.rotation + ((size_t)d.progress->position * half + i) * 2;
	float low = in[i], high = in[i + half];

	out[i] = low * turn[0] - high * turn[1];
	out[i + half] = high * turn[0] + low * turn[1];
}
KERNEL(decode_many_turn);

/* x heads of k and v, y sequences; a thread an element. */
template <class T>
__global__ void decode_many_keep(decode_device d, decode_layer l, const float *k, const float *v)
{
	const uint32_t head = blockIdx.x, b = blockIdx.y, i = threadIdx.x;
	size_t of = (size_t)b * d.kv_heads + head;
	size_t row = (of * d.positions + d.progress->position) * d.head_stride;

	store((T *)l.key + row + i, k[of * d.head_dim + i]);
	store((T *)l.value + row + i, v[of * d.head_dim + i]);
}
KERNEL(decode_many_keep<float>);
KERNEL(decode_many_keep<decode_bf16>);

/* y: [batch][dim]. */
extern "C" __global__ void decode_many_sum(decode_device d, const float *y)
{
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < d.batch * d.dim;
	     i += gridDim.x * blockDim.x)
		d.x[(size_t)(i / d.dim) * d.dim_stride + i % d.dim] += y[i];
}
KERNEL(decode_many_sum);

/* gate, up: [batch][hidden]. */
template <class T>
__global__ void decode_many_gate(decode_device d, const float *gate, const float *up)
{
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < d.batch * d.hidden;
	     i += gridDim.x * blockDim.x)
		store((T *)d.act + (size_t)(i / d.hidden) * d.hidden_stride + i % d.hidden,
		      silu(gate[i]) * up[i]);
}
KERNEL(decode_many_gate<float>);
KERNEL(decode_many_gate<decode_bf16>);

/* x blocks of logits, y sequences: the best of a block's. */
extern "C" __global__ void __launch_bounds__(DECODE_THREADS) decode_many_pick(decode_device d)
{
	SHARED_ARRAY(candidate, shared, [DECODE_WARPS]);
	const float *logits = d.logits + (size_t)blockIdx.y * d.vocab;
	candidate best = { -INFINITY, 0 };

	for (uint32_t i = blockIdx.x * DECODE_THREADS + threadIdx.x; i < d.vocab;
	     i += gridDim.x * DECODE_THREADS)
		take_better(&best, logits[i], i);
	best = best_of_warp(best);
	if (threadIdx.x % 32 == 0)
		shared[threadIdx.x / 32] = best;
	store_best<1>(d, blockIdx.y, 1, shared);
}
KERNEL(decode_many_pick);

/* ---- for the host -------------------------------------------------------------------------- */

static uint32_t element_blocks(uint32_t elements)
{
	uint32_t blocks = (elements + DECODE_THREADS - 1) / DECODE_THREADS, most = ELEMENT_BLOCKS;

	return blocks < most ? blocks : most;
}

void decode_many_norm(const struct decode_device *d, const void *weight, void *out, bool half,
		      cudaStream_t stream)
{
	if (half)
		CUDA(LAUNCH(decode_many_norms<decode_bf16>, d->batch, DECODE_THREADS, 0, stream, *d,
			    (const decode_bf16 *)weight, (decode_bf16 *)out));
	else
		CUDA(LAUNCH(decode_many_norms<float>, d->batch, DECODE_THREADS, 0, stream, *d,
			    (const float *)weight, (float *)out));
}

void decode_many_rotate(const struct decode_device *d, const float *q, float *k,
			cudaStream_t stream)
{
	CUDA(LAUNCH(decode_many_turn, dim3(d->heads + d->kv_heads, d->batch), d->head_dim / 2, 0,
		    stream, *d, q, k));
}

void decode_many_append(const struct decode_device *d, const struct decode_layer *l, const float *k,
			const float *v, bool half, cudaStream_t stream)
{
	CUDA(LAUNCH(half ? decode_many_keep<decode_bf16> : decode_many_keep<float>,
		    dim3(d->kv_heads, d->batch), d->head_dim, 0, stream, *d, *l, k, v));
}

void decode_many_add(const struct decode_device *d, const float *y, cudaStream_t stream)
{
	CUDA(LAUNCH(decode_many_sum, element_blocks(d->batch * d->dim), DECODE_THREADS, 0, stream,
		    *d, y));
}

void decode_many_silu(const struct decode_device *d, const float *gate, const float *up, bool half,
		      cudaStream_t stream)
{
	CUDA(LAUNCH(half ? decode_many_gate<decode_bf16> : decode_many_gate<float>,
		    element_blocks(d->batch * d->hidden), DECODE_THREADS, 0, stream, *d, gate, up));
}

void decode_many_best(const struct decode_device *d, cudaStream_t stream)
{
	CUDA(LAUNCH(decode_many_pick, dim3(d->blocks, d->batch), DECODE_THREADS, 0, stream, *d));
}

void decode_load_many(bool half)
{
	static const void *const kernels[][2] = {
		{ (const void *)decode_many_norms<float>,
		  (const void *)decode_many_norms<decode_bf16> },
		{ (const void *)decode_many_keep<float>,
		  (const void *)decode_many_keep<decode_bf16> },
		{ (const void *)decode_many_gate<float>,
		  (const void *)decode_many_gate<decode_bf16> },
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		device_load_kernel(kernels[i][half]);
	device_load_kernel((const void *)decode_many_turn);
	device_load_kernel((const void *)decode_many_sum);
	device_load_kernel((const void *)decode_many_pick);
}
