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

/* A thread for each column, a row of blocks for each part of the batch. */
template <class T>
static __global__ void mlp_relu_gradient_parts(T *d, const T *a, float *part, uint32_t rows,
					       uint32_t width)
{
	uint32_t j = blockIdx.x * MLP_THREADS + threadIdx.x, each = mlp_part_rows(rows);
	uint32_t first = blockIdx.y * each, end = first + each < rows ? first + each : rows;
	float sum = 0;

	if (j >= width)
		return;
	for (uint32_t r = first; r < end; r++) {
		size_t i = (size_t)r * width + j;
		float v = widen(a[i]) > 0 ? widen(d[i]) : 0;

		narrow(&d[i], v);
		sum += v;
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
