/* kernels_data.cu - minibatches in, weights to start with, numbers that sum up the weights. */
#include "workloads/mlp/real.cuh"

enum {
	VEC4S = MLP_PIXELS / 4,
	VEC4S_A_LANE = (VEC4S + MLP_LANES - 1) / MLP_LANES,
};
static_assert(MLP_THREADS == 256, "a thread for each shade of a pixel");

/* The image in a row of the batch. */
static __device__ inline uint32_t batch_image(const struct mlp_source &s, uint32_t rows,
					      uint32_t row)
{
	return s.step ? mlp_sample(*s.step, rows, row, s.n, s.seed) : (s.first + row) % s.n;
}

/* A row of pixels / 255: all of a lane's loads are in flight before the first is stored. */
template <class T>
static __device__ inline void copy_row(const uchar4 *in, vec4<T> *out, const float *shade,
				       uint32_t lane)
{
	uchar4 p[VEC4S_A_LANE];

	for (uint32_t k = 0; k < VEC4S_A_LANE; k++) {
		uint32_t i = k * MLP_LANES + lane;

		p[k] = i < VEC4S ? in[i] : uchar4{};
	}
	for (uint32_t k = 0; k < VEC4S_A_LANE; k++) {
		uint32_t i = k * MLP_LANES + lane;
		vec4<T> q;

		narrow(&q.v[0], shade[p[k].x]);
		narrow(&q.v[1], shade[p[k].y]);
		narrow(&q.v[2], shade[p[k].z]);
		narrow(&q.v[3], shade[p[k].w]);
		if (i < VEC4S)
			out[i] = q;
	}
}

/* A warp for each row. The 256 shades are divided once a block, not once a pixel. */
template <class T>
static __global__ void mlp_gather_rows(struct mlp_source s, uint32_t rows, T *x, uint8_t *y)
{
	SHARED_ARRAY(float, shade, [MLP_THREADS]);
	uint32_t row = blockIdx.x * MLP_WARPS + threadIdx.x / MLP_LANES;
	uint32_t lane = threadIdx.x % MLP_LANES, image = 0;

	shade[threadIdx.x] = (float)threadIdx.x / 255;
	if (!lane && row < rows)
		image = batch_image(s, rows, row);
	image = __shfl_sync(MLP_ALL_LANES, image, 0);
	__syncthreads();
	if (row >= rows)
		return;
	copy_row((const uchar4 *)(s.pixel + (size_t)image * MLP_PIXELS),
		 (vec4<T> *)(x + (size_t)row * MLP_PIXELS), shade, lane);
	if (!lane)
		y[row] = s.label[image];
}
KERNEL(mlp_gather_rows<float>);

void mlp_gather(const struct mlp_source *s, uint32_t rows, void *x, uint8_t *y, bool half,
		cudaStream_t stream)
{
	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_gather_rows<KIND(kind)>, (rows + MLP_WARPS - 1) / MLP_WARPS,
			    MLP_THREADS, 0, stream, *s, rows, (KIND(kind) *)x, y));
	});
}

/* ---- launches=many: the same in two steps ---------------------------------------------- */

extern "C" __global__ void mlp_many_gather_rows(struct mlp_source s, uint32_t rows, uint8_t *pixel,
						uint8_t *y)
{
	uint32_t row = blockIdx.x * MLP_WARPS + threadIdx.x / MLP_LANES;
	uint32_t lane = threadIdx.x % MLP_LANES, image = 0;

	if (row >= rows)
		return;
	if (!lane)
		image = batch_image(s, rows, row);
	image = __shfl_sync(MLP_ALL_LANES, image, 0);
	const uint32_t *in = (const uint32_t *)(s.pixel + (size_t)image * MLP_PIXELS);
	uint32_t *out = (uint32_t *)(pixel + (size_t)row * MLP_PIXELS);

	for (uint32_t i = lane; i < VEC4S; i += MLP_LANES)
		out[i] = in[i];
	if (!lane)
		y[row] = s.label[image];
}
KERNEL(mlp_many_gather_rows);

void mlp_many_gather(const struct mlp_source *s, uint32_t rows, uint8_t *pixel, uint8_t *y,
		     cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_many_gather_rows, (rows + MLP_WARPS - 1) / MLP_WARPS, MLP_THREADS, 0,
		    stream, *s, rows, pixel, y));
}

template <class T>
static __global__ void mlp_many_scale_pixels(const uint8_t *pixel, T *x, size_t n)
{
	size_t i = thread_index();

	if (i < n)
		narrow(&x[i], (float)pixel[i] / 255);
}
KERNEL(mlp_many_scale_pixels<float>);

void mlp_many_scale(const uint8_t *pixel, void *x, size_t n, bool half, cudaStream_t stream)
{
	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_many_scale_pixels<KIND(kind)>, blocks_for(n), MLP_THREADS, 0,
			    stream, pixel, (KIND(kind) *)x, n));
	});
}

/* ---- weights --------------------------------------------------------------------------- */

/* Normal numbers by Box and Muller; in double, so that they are the same on every device. */
extern "C" __global__ void mlp_init_weights(float *weight, uint32_t n, double deviation,
					    uint32_t layer, uint64_t seed)
{
	uint32_t i = (uint32_t)thread_index();

	if (i >= n)
		return;
	struct philox r = philox4x32(i, layer, MLP_TAG_WEIGHTS, 0, seed);
	double length = sqrt(-2 * log(philox_uniform(r.word[0])));

	weight[i] =
		(float)(deviation * length * cos(6.283185307179586 * philox_uniform(r.word[1])));
}
KERNEL(mlp_init_weights);

void mlp_init(float *weight, uint32_t n, uint32_t fan_in, uint32_t layer, uint64_t seed,
	      cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_init_weights, blocks_for(n), MLP_THREADS, 0, stream, weight, n,
		    sqrt(2.0 / fan_in), layer, seed));
}

#ifdef __CUDACC__
static __global__ void mlp_convert_weights(const float *from, __nv_bfloat16 *to, size_t n)
{
	size_t i = thread_index();

	if (i < n)
		to[i] = __float2bfloat16(from[i]);
}

void mlp_convert(const float *from, uint16_t *to, size_t n, cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_convert_weights, blocks_for(n), MLP_THREADS, 0, stream, from,
		    (__nv_bfloat16 *)to, n));
}
#else
void mlp_convert(const float *, uint16_t *, size_t n, cudaStream_t)
{
	CHECK(!n, "bf16 on the CPU device");
}
#endif

/* Numbers are added in any order: the sum wraps around, and is the same. */
extern "C" __global__ void mlp_fingerprint_sum(const float *v, size_t n, unsigned long long *sum)
{
	unsigned long long partial = 0, odd = 0;

	for (size_t i = thread_index(); i < n; i += (size_t)gridDim.x * blockDim.x) {
		uint32_t bits = __float_as_uint(v[i]);
		unsigned long long x = ((unsigned long long)i << 32 | bits) + 0x9E3779B97F4A7C15ull;

		x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull; /* SplitMix64's finish */
		x = (x ^ x >> 27) * 0x94D049BB133111EBull;
		partial += x ^ x >> 31;
		odd += (bits >> 23 & 255) == 255;
	}
	atomicAdd(&sum[0], partial);
	if (odd)
		atomicAdd(&sum[1], odd);
}
KERNEL(mlp_fingerprint_sum);

void mlp_fingerprint(const float *v, size_t n, unsigned long long sum[2], cudaStream_t stream)
{
	unsigned blocks = blocks_for(n);

	CUDA(LAUNCH(mlp_fingerprint_sum, blocks < 256 ? blocks : 256, MLP_THREADS, 0, stream, v, n,
		    sum));
}
