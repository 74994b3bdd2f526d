/* kernels_relu.cu - what cuBLASLt's epilogues do, for products that no epilogue takes. */
#include "workloads/mlp/real.cuh"

template <class T>
static __global__ void mlp_bias_relu_all(T *z, const float *bias, size_t n, uint32_t width)
{
	size_t i = thread_index();

	if (i >= n)
		return;
	float v = widen(z[i]) + bias[i % width];

	narrow(&z[i], v > 0 ? v : v != v ? v : 0); /* NaN stays */
}
KERNEL(mlp_bias_relu_all<float>);

void mlp_bias_relu(void *z, const float *bias, uint32_t rows, uint32_t width, bool half,
		   cudaStream_t stream)
{
	size_t n = (size_t)rows * width;

	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_bias_relu_all<KIND(kind)>, blocks_for(n), MLP_THREADS, 0, stream,
			    (KIND(kind) *)z, bias, n, width));
	});
}

/* Up to MLP_AHEAD rows of a column; their sum. */
template <class T>
static __device__ inline float relu_gradient_rows(T *d, const T *a, uint32_t rows, uint32_t width)
{
	float side[MLP_AHEAD], flows[MLP_AHEAD], sum = 0;

	for (uint32_t r = 0; r < MLP_AHEAD; r++) {
		side[r] = r < rows ? widen(a[(size_t)r * width]) : 0;
		flows[r] = r < rows ? widen(d[(size_t)r * width]) : 0;
	}
	for (uint32_t r = 0; r < MLP_AHEAD; r++) {
		float v = side[r] > 0 ? flows[r] : 0;

		if (r < rows)
			narrow(&d[(size_t)r * width], v);
		sum += v;
	}
	return sum;
}

/* A thread for each column, a row of blocks for each part of the batch. */
template <class T>
static __global__ void mlp_relu_gradient_parts(T *d, const T *a, float *part, uint32_t rows,
					       uint32_t width)
{
	uint32_t j = blockIdx.x * MLP_THREADS + threadIdx.x, each = mlp_part_rows(rows);
	uint32_t first = blockIdx.y * each, end = least(first + each, rows);
	float sum = 0;

	if (j >= width)
		return;
	for (uint32_t r = first; r < end; r += MLP_AHEAD) {
		size_t i = (size_t)r * width + j;

		sum += relu_gradient_rows(d + i, a + i, end - r, width);
	}
	part[(size_t)blockIdx.y * width + j] = sum;
}
KERNEL(mlp_relu_gradient_parts<float>);

void mlp_relu_gradient(void *d, const void *a, float *part, uint32_t rows, uint32_t width,
		       bool half, cudaStream_t stream)
{
	dim3 grid(blocks_for(width), mlp_parts(rows));

	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_relu_gradient_parts<KIND(kind)>, grid, MLP_THREADS, 0, stream,
			    (KIND(kind) *)d, (const KIND(kind) *)a, part, rows, width));
	});
}
