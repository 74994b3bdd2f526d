/* fetch.c - what is on the device, on the host in double; and sums of it. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "workloads/mlp/check.h"

double *mlp_array(int64_t n)
{
	double *a = malloc((size_t)n * sizeof(*a));

	CHECK(a, "%ld numbers", (long)n);
	return a;
}

static double number_at(const void *from, bool half, int64_t i)
{
	uint32_t bits;
	float v;

	if (!half)
		return (double)((const float *)from)[i];
	bits = (uint32_t)((const uint16_t *)from)[i] << 16;
	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

void mlp_fetch(const struct mlp_matrix *m, int64_t row, int64_t col, int64_t rows, int64_t cols,
	       double *out)
{
	size_t each = m->half ? sizeof(uint16_t) : sizeof(float);
	void *host = malloc((size_t)(rows * cols) * each + 1);

	CHECK(host, "%ld x %ld numbers", (long)rows, (long)cols);
	CUDA(cudaMemcpy2D(host, (size_t)cols * each,
			  (const char *)m->at + (size_t)(row * m->cols + col) * each,
			  (size_t)m->cols * each, (size_t)cols * each, (size_t)rows,
			  cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < rows * cols; i++)
		out[i] = number_at(host, m->half, i);
	free(host);
}

double *mlp_fetch_strip(const struct mlp_matrix *m, bool columns, int64_t first, int64_t n)
{
	int64_t inner = columns ? m->rows : m->cols;
	double *out = mlp_array(n * inner), *as_it_lies;

	if (!columns) {
		mlp_fetch(m, first, 0, n, inner, out);
		return out;
	}
	as_it_lies = mlp_array(n * inner);
	mlp_fetch(m, 0, first, inner, n, as_it_lies);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < inner; j++)
			out[i * inner + j] = as_it_lies[j * n + i];
	free(as_it_lies);
	return out;
}

void mlp_fetch_gradient(const struct mlp_tensor *t, int64_t first, int64_t n, double *out)
{
	const struct mlp_matrix m = { t->gradient, t->half, t->parts,
				      t->parts > 1 ? (int64_t)t->stride : (int64_t)t->n };
	double *part = mlp_array(n * t->parts);

	mlp_fetch(&m, 0, first, t->parts, n, part);
	for (int64_t i = 0; i < n; i++) {
		out[i] = 0;
		for (uint32_t p = 0; p < t->parts; p++)
			out[i] += part[p * n + i];
	}
	free(part);
}

struct mlp_sum mlp_fingerprint_weights(struct mlp_state *s)
{
	unsigned long long sum[2], *device;

	CUDA(cudaMalloc((void **)&device, sizeof(sum)));
	CUDA(cudaMemsetAsync(device, 0, sizeof(sum), s->own));
	mlp_fingerprint(s->weight, s->net.numbers, device, s->own);
	mlp_fingerprint(s->velocity, s->net.numbers, device, s->own);
	CUDA(cudaStreamSynchronize(s->own));
	CUDA(cudaMemcpy(sum, device, sizeof(sum), cudaMemcpyDeviceToHost));
	CUDA(cudaFree(device));
	return (struct mlp_sum){ sum[0], sum[1] };
}

uint64_t mlp_steps_done(const struct mlp_state *s)
{
	uint64_t step;

	CUDA(cudaMemcpy(&step, &s->progress->step, sizeof(step), cudaMemcpyDeviceToHost));
	return step;
}

float mlp_step_loss(const struct mlp_state *s, uint64_t step)
{
	float loss;

	CUDA(cudaMemcpy(&loss, &s->progress->loss[step % MLP_LOSSES], sizeof(loss),
			cudaMemcpyDeviceToHost));
	return loss;
}

const struct mlp_tensor *mlp_find_tensor(const struct mlp_state *s, int layer, bool bias)
{
	return &s->update.tensor[2 * (layer - 1) + bias];
}
