/*
 * kernels_many.cu - launches=many: a kernel for each elementary operation, as a framework without
 * fusion launches them, in place where possible. Products are cuBLAS's.
 */
#include "workloads/mlp/head.cuh"

template <class T>
static __global__ void mlp_many_add_bias(T *z, const float *bias, size_t n, uint32_t width)
{
	size_t i = thread_index();

	if (i < n)
		narrow(&z[i], widen(z[i]) + bias[i % width]);
}
KERNEL(mlp_many_add_bias<float>);

void mlp_many_bias(void *z, const float *bias, uint32_t rows, uint32_t width, bool half,
		   cudaStream_t stream)
{
	size_t n = (size_t)rows * width;

	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_many_add_bias<KIND(kind)>, blocks_for(n), MLP_THREADS, 0, stream,
			    (KIND(kind) *)z, bias, n, width));
	});
}

template <class T> static __global__ void mlp_many_cut(T *z, size_t n)
{
	size_t i = thread_index();

	if (i < n && widen(z[i]) < 0)
		narrow(&z[i], 0);
}
KERNEL(mlp_many_cut<float>);

void mlp_many_relu(void *z, size_t n, bool half, cudaStream_t stream)
{
	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_many_cut<KIND(kind)>, blocks_for(n), MLP_THREADS, 0, stream,
			    (KIND(kind) *)z, n));
	});
}

/* ---- softmax, loss and its gradient; a thread a row, or an element --------------------- */

extern "C" __global__ void mlp_many_softmax_rows(const float *z, float *log_p, uint32_t rows)
{
	size_t r = thread_index();
	float e[MLP_CLASSES];

	if (r >= rows)
		return;
	z += r * MLP_CLASSES;
	log_p += r * MLP_CLASSES;
	int top = largest_class(z);

	for (int c = 0; c < MLP_CLASSES; c++)
		e[c] = expf(z[c] - z[top]);
	for (int c = 0; c < MLP_CLASSES; c++)
		log_p[c] = log_share(z, e, top, c);
}
KERNEL(mlp_many_softmax_rows);

void mlp_many_softmax(const float *z, float *log_p, uint32_t rows, cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_many_softmax_rows, blocks_for(rows), MLP_THREADS, 0, stream, z, log_p,
		    rows));
}

/* One block: the order of the sum is always the same. */
extern "C" __global__ void mlp_many_mean_loss(const float *log_p, const uint8_t *y, uint32_t rows,
					      struct mlp_progress *progress)
{
	SHARED_ARRAY(float, shared, [MLP_THREADS]);
	float sum = 0;

	for (uint32_t r = threadIdx.x; r < rows; r += MLP_THREADS)
		sum -= log_p[(size_t)r * MLP_CLASSES + y[r]];
	sum = block_sum(sum, shared);
	if (!threadIdx.x)
		progress->loss[progress->step % MLP_LOSSES] = sum / (float)rows;
}
KERNEL(mlp_many_mean_loss);

void mlp_many_loss(const float *log_p, const uint8_t *y, uint32_t rows,
		   struct mlp_progress *progress, cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_many_mean_loss, 1, MLP_THREADS, 0, stream, log_p, y, rows, progress));
}

template <class T>
static __global__ void mlp_many_deltas(const float *log_p, const uint8_t *y, uint32_t rows,
				       T *delta)
{
	size_t i = thread_index(), r = i / MLP_CLASSES;

	if (r < rows)
		narrow(&delta[i], loss_delta(log_p[i], y[r] == i % MLP_CLASSES) / (float)rows);
}
KERNEL(mlp_many_deltas<float>);

void mlp_many_delta(const float *log_p, const uint8_t *y, uint32_t rows, void *delta, bool half,
		    cudaStream_t stream)
{
	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_many_deltas<KIND(kind)>, blocks_for((size_t)rows * MLP_CLASSES),
			    MLP_THREADS, 0, stream, log_p, y, rows, (KIND(kind) *)delta));
	});
}

/* ---- backward -------------------------------------------------------------------------- */

/* Sums of 32 columns by a block: a warp takes every eighth row. */
template <class T>
static __global__ void mlp_many_column_sums(const T *d, float *g, uint32_t rows, uint32_t width)
{
	SHARED_ARRAY(float, shared, [MLP_THREADS]);
	uint32_t lane = threadIdx.x % MLP_LANES, j = blockIdx.x * MLP_LANES + lane;
	float sum = 0;

	for (uint32_t r = threadIdx.x / MLP_LANES; j < width && r < rows; r += MLP_WARPS)
		sum += widen(d[(size_t)r * width + j]);
	shared[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x >= MLP_LANES || j >= width)
		return;
	for (uint32_t w = 1; w < MLP_WARPS; w++)
		sum += shared[w * MLP_LANES + lane];
	g[j] = sum;
}
KERNEL(mlp_many_column_sums<float>);

void mlp_many_bias_gradient(const void *d, float *g, uint32_t rows, uint32_t width, bool half,
			    cudaStream_t stream)
{
	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_many_column_sums<KIND(kind)>, (width + MLP_LANES - 1) / MLP_LANES,
			    MLP_THREADS, 0, stream, (const KIND(kind) *)d, g, rows, width));
	});
}

template <class T> static __global__ void mlp_many_mask(T *d, const T *a, size_t n)
{
	size_t i = thread_index();

	if (i < n && !(widen(a[i]) > 0))
		narrow(&d[i], 0);
}
KERNEL(mlp_many_mask<float>);

void mlp_many_relu_gradient(void *d, const void *a, size_t n, bool half, cudaStream_t stream)
{
	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_many_mask<KIND(kind)>, blocks_for(n), MLP_THREADS, 0, stream,
			    (KIND(kind) *)d, (const KIND(kind) *)a, n));
	});
}

/* ---- update ---------------------------------------------------------------------------- */

extern "C" __global__ void mlp_many_velocity(float *v, const float *g, size_t n, float momentum)
{
	size_t i = thread_index();

	if (i < n)
		v[i] = momentum * v[i] + g[i];
}
KERNEL(mlp_many_velocity);

void mlp_many_momentum(float *v, const float *g, size_t n, float momentum, cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_many_velocity, blocks_for(n), MLP_THREADS, 0, stream, v, g, n, momentum));
}

extern "C" __global__ void mlp_many_weight(float *w, const float *v, size_t n, float rate)
{
	size_t i = thread_index();

	if (i < n)
		w[i] -= rate * v[i];
}
KERNEL(mlp_many_weight);

void mlp_many_descend(float *w, const float *v, size_t n, float rate, cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_many_weight, blocks_for(n), MLP_THREADS, 0, stream, w, v, n, rate));
}

extern "C" __global__ void mlp_many_next(struct mlp_progress *progress)
{
	progress->step++;
}
KERNEL(mlp_many_next);

void mlp_many_count(struct mlp_progress *progress, cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_many_next, 1, 1, 0, stream, progress));
}
