/* kernels.cu - attention, the choice of a token, resets and generated inputs. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/decode/attention.cuh"
#include "workloads/decode/product.cuh"

enum {
	SHARED_WANTED = 100 << 10,
	FILL_BLOCKS = 4096,
	WARPS_EACH = 8, /* queries of a multiprocessor from which on a warp has one to itself */
};

/* ---- the choice ---------------------------------------------------------------------------- */

/* The best of all threads' candidates, in the first thread. */
static __device__ inline candidate best_of_block(candidate mine, candidate *shared)
{
	shared[threadIdx.x] = mine;
	for (uint32_t n = DECODE_THREADS / 2; n; n /= 2) {
		__syncthreads();
		if (threadIdx.x < n)
			take_better(&shared[threadIdx.x], shared[threadIdx.x + n].logit,
				    shared[threadIdx.x + n].token);
	}
	__syncthreads();
	return shared[0];
}

template <class T>
static __device__ inline void embed(const decode_device &d, uint32_t b, uint32_t token)
{
	const T *row = (const T *)d.embedding + (size_t)token * d.dim_stride;

	UNROLLED(8)
	for (uint32_t i = threadIdx.x; i < d.dim; i += DECODE_THREADS)
		d.x[(size_t)b * d.dim_stride + i] = widen(row[i]);
}

/* Tensor cores read x times the first norm's weights. Its squares are in one part. */
static __device__ inline void embed_normed(const decode_device &d, uint32_t b, uint32_t token,
					   float *shared)
{
	const decode_bf16 *row = (const decode_bf16 *)d.embedding + (size_t)token * d.dim_stride;
	const decode_bf16 *weight = (const decode_bf16 *)d.norm_first;
	const uint32_t warp = threadIdx.x / 32;
	float squares = 0;

	UNROLLED(8)
	for (uint32_t i = threadIdx.x; i < d.dim; i += DECODE_THREADS) {
		float v = widen(row[i]);

		store((decode_bf16 *)d.norm_x + decode_tile_place(&d, b, i), v * widen(weight[i]));
		squares += v * v;
	}
	squares = sum_lanes(squares, 32);
	if (threadIdx.x % 32 == 0)
		shared[warp] = squares;
	__syncthreads();
	for (uint32_t p = threadIdx.x; p < d.square_parts; p += DECODE_THREADS) {
		float all = 0;

		for (int w = 0; !p && w < DECODE_WARPS; w++)
			all += shared[w];
		d.squares[(size_t)p * d.tiles * DECODE_TILE + b] = all;
	}
}

/* The last sequence that has chosen moves all of them on; at the end of the cache behind their
 * prompt. */
static __device__ inline void move_on(const decode_device &d, uint32_t step)
{
	uint32_t next = d.progress->position + 1;

	if (atomic_add_acq_rel(&d.progress->tickets, 1) + 1 < d.batch)
		return;
	d.progress->position = next < d.positions ? next : d.lap;
	d.progress->step = step + 1;
	d.progress->tickets = 0;
}

/* A block a sequence. */
template <class T> __global__ void __launch_bounds__(DECODE_THREADS) decode_choice(decode_device d)
{
	SHARED_ARRAY(candidate, shared, [DECODE_THREADS]);
	SHARED_ARRAY(float, sums, [DECODE_WARPS]);
	const uint32_t b = blockIdx.x;
	candidate best = { -INFINITY, 0 };
	uint32_t step;

	programmatic_go();
	programmatic_wait();
	step = d.progress->step;
	for (uint32_t i = threadIdx.x; i < d.blocks; i += DECODE_THREADS)
		take_better(&best, d.best_logit[(size_t)b * d.blocks + i],
			    d.best_token[(size_t)b * d.blocks + i]);
	best = best_of_block(best, shared);
	embed<T>(d, b, best.token);
	if (d.tensor)
		embed_normed(d, b, best.token, sums);
	if (threadIdx.x)
		return;
	d.token[b] = best.token;
	d.history_token[(size_t)(step % d.history) * d.batch + b] = best.token;
	d.history_logit[(size_t)(step % d.history) * d.batch + b] = best.logit;
	move_on(d, step);
}
KERNEL(decode_choice<float>);
KERNEL(decode_choice<decode_bf16>);

/* ---- resets -------------------------------------------------------------------------------- */

template <class T>
__global__ void decode_start(decode_device d, const uint32_t *token, uint32_t position)
{
	SHARED_ARRAY(float, sums, [DECODE_WARPS]);
	const uint32_t b = blockIdx.x;

	embed<T>(d, b, token[b]);
	if (d.tensor)
		embed_normed(d, b, token[b], sums);
	for (uint32_t h = threadIdx.x; h < d.heads; h += DECODE_THREADS)
		d.tickets[b * d.heads + h] = 0;
	if (threadIdx.x)
		return;
	d.token[b] = token[b];
	if (!b)
		*d.progress = { 0, position, 0 };
}
KERNEL(decode_start<float>);
KERNEL(decode_start<decode_bf16>);

/* The columns that fill a row up stay zeros. */
template <class T> __global__ void decode_poison_rows(decode_device d, T *cache, uint32_t rows)
{
	const uint32_t tail = (d.positions - d.start) * d.head_stride;
	const size_t all = (size_t)rows * tail, every = (size_t)gridDim.x * blockDim.x;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += every) {
		size_t at = (i / tail * d.positions + d.start) * d.head_stride + i % tail;

		store(cache + at, i % d.head_stride < d.head_dim ? NAN : 0);
	}
}
KERNEL(decode_poison_rows<float>);
KERNEL(decode_poison_rows<decode_bf16>);

/* ---- inputs -------------------------------------------------------------------------------- */

template <class T>
__global__ void decode_weights(decode_tensor t, T *arena, float deviation, uint64_t seed)
{
	const size_t all = (size_t)t.rows * t.stride, every = (size_t)gridDim.x * blockDim.x;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += every) {
		size_t row = i / t.stride, col = i % t.stride;
		uint64_t n = (uint64_t)row * t.cols + col;

		store(arena + t.at + i,
		      col < t.cols ? decode_weight(n, t.part, t.layer, deviation, seed) : 0);
	}
}
KERNEL(decode_weights<float>);
KERNEL(decode_weights<decode_bf16>);

/* rows: of layers, sequences and heads; those below `start` of each. */
template <class T>
__global__ void decode_cache(decode_device d, T *cache, uint32_t rows, uint32_t tag, uint64_t seed)
{
	const uint32_t begin = d.start * d.head_stride;
	const size_t all = (size_t)rows * begin, every = (size_t)gridDim.x * blockDim.x;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += every) {
		size_t row = i / begin, at = i % begin, col = at % d.head_stride;
		uint64_t n = (row * d.start + at / d.head_stride) * d.head_dim + col;

		store(cache + row * d.positions * d.head_stride + at,
		      col < d.head_dim ? decode_bell(n, tag, 0, seed) : 0);
	}
}
KERNEL(decode_cache<float>);
KERNEL(decode_cache<decode_bf16>);

/* ---- for the host -------------------------------------------------------------------------- */

uint32_t decode_chunk(const struct decode_device *d, uint32_t stride)
{
	const uint32_t wanted = SHARED_WANTED,
		       most = d->shared_most < wanted ? d->shared_most : wanted;
	uint32_t chunk = 1;

	while (chunk < d->batch && chunk < DECODE_CHUNK_MAX &&
	       2 * chunk * stride * sizeof(float) <= most)
		chunk *= 2;
	return chunk;
}

void decode_multiply(enum decode_product which, const struct decode_device *d,
		     const struct decode_layer *l, bool half, bool overlaps, cudaStream_t stream)
{
	(d->tensor ? decode_multiply_tensor
	 : half	   ? decode_multiply_bf16
		   : decode_multiply_float)(which, d, l, overlaps, stream);
}

void decode_attend(const struct decode_device *d, const struct decode_layer *l, bool half,
		   bool narrow, bool overlaps, cudaStream_t stream)
{
	if (d->tensor && d->heads * d->batch >= WARPS_EACH * d->processors) {
		CUDA(LAUNCH_PROGRAMMATIC(
			overlaps, decode_attention_warps,
			dim3((d->heads + ATTENTION_QUERIES - 1) / ATTENTION_QUERIES, d->batch),
			32 * ATTENTION_QUERIES, 0, stream, *d, *l));
		return;
	}
	dim3 grid(d->heads, d->batch, d->splits);
	void (*kernel)(decode_device, decode_layer) =
		!half	 ? decode_attention<float, float>
		: narrow ? decode_attention<decode_bf16, decode_bf16>
			 : decode_attention<decode_bf16, float>;

	CUDA(LAUNCH_PROGRAMMATIC(overlaps, kernel, grid, DECODE_ATTENTION_THREADS, 0, stream, *d,
				 *l));
}

void decode_choose(const struct decode_device *d, bool half, bool overlaps, cudaStream_t stream)
{
	CUDA(LAUNCH_PROGRAMMATIC(overlaps, half ? decode_choice<decode_bf16> : decode_choice<float>,
				 d->batch, DECODE_THREADS, 0, stream, *d));
}

void decode_begin(const struct decode_device *d, const uint32_t *token, uint32_t position,
		  bool half, cudaStream_t stream)
{
	CUDA(LAUNCH(half ? decode_start<decode_bf16> : decode_start<float>, d->batch,
		    DECODE_THREADS, 0, stream, *d, token, position));
}

static uint32_t blocks_for(size_t elements)
{
	size_t blocks = (elements + DECODE_THREADS - 1) / DECODE_THREADS, most = FILL_BLOCKS;

	return (uint32_t)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

void decode_poison(const struct decode_device *d, void *cache, uint32_t layers, bool half,
		   cudaStream_t stream)
{
	uint32_t rows = layers * d->batch * d->kv_heads;
	uint32_t blocks = blocks_for((size_t)rows * (d->positions - d->start) * d->head_stride);

	if (half)
		CUDA(LAUNCH(decode_poison_rows<decode_bf16>, blocks, DECODE_THREADS, 0, stream, *d,
			    (decode_bf16 *)cache, rows));
	else
		CUDA(LAUNCH(decode_poison_rows<float>, blocks, DECODE_THREADS, 0, stream, *d,
			    (float *)cache, rows));
}

void decode_fill_weights(const struct decode_tensor *t, void *arena, float deviation, uint64_t seed,
			 bool half, cudaStream_t stream)
{
	uint32_t blocks = blocks_for((size_t)t->rows * t->stride);

	if (half)
		CUDA(LAUNCH(decode_weights<decode_bf16>, blocks, DECODE_THREADS, 0, stream, *t,
			    (decode_bf16 *)arena, deviation, seed));
	else
		CUDA(LAUNCH(decode_weights<float>, blocks, DECODE_THREADS, 0, stream, *t,
			    (float *)arena, deviation, seed));
}

void decode_fill_cache(const struct decode_device *d, void *cache, uint32_t layers, uint32_t tag,
		       uint64_t seed, bool half, cudaStream_t stream)
{
	uint32_t rows = layers * d->batch * d->kv_heads;
	uint32_t blocks = blocks_for((size_t)rows * d->start * d->head_stride);

	if (half)
		CUDA(LAUNCH(decode_cache<decode_bf16>, blocks, DECODE_THREADS, 0, stream, *d,
			    (decode_bf16 *)cache, rows, tag, seed));
	else
		CUDA(LAUNCH(decode_cache<float>, blocks, DECODE_THREADS, 0, stream, *d,
			    (float *)cache, rows, tag, seed));
}

void decode_load_products(const struct decode_device *d, bool half)
{
	(d->tensor ? decode_load_tensor : half ? decode_load_bf16 : decode_load_float)(d);
}

void decode_load(bool half)
{
	static const void *const kernels[][2] = {
		{ (const void *)decode_attention<float, float>,
		  (const void *)decode_attention<decode_bf16, float> },
		{ (const void *)decode_choice<float>, (const void *)decode_choice<decode_bf16> },
		{ (const void *)decode_start<float>, (const void *)decode_start<decode_bf16> },
		{ (const void *)decode_poison_rows<float>,
		  (const void *)decode_poison_rows<decode_bf16> },
		{ (const void *)decode_weights<float>, (const void *)decode_weights<decode_bf16> },
		{ (const void *)decode_cache<float>, (const void *)decode_cache<decode_bf16> },
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		device_load_kernel(kernels[i][half]);
	device_load_kernel((const void *)decode_attention<decode_bf16, decode_bf16>);
	device_load_kernel((const void *)decode_attention_warps);
}
