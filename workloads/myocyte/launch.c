/* launch.c - which precision a call goes to. */
#include "workloads/myocyte/device.h"

#include "common/cuda_check.h"

static const struct myocyte_code *find_code(const struct myocyte_cells *cells)
{
	return cells->single ? &myocyte_code_float : &myocyte_code_double;
}

void myocyte_load_kernels(const struct myocyte_cells *cells)
{
	find_code(cells)->load_kernels(cells);
}

size_t myocyte_shared_bytes(const struct myocyte_cells *cells)
{
	return find_code(cells)->shared_bytes(cells);
}

void myocyte_vary(const struct myocyte_cells *cells, const double p[MYOCYTE_PARAMS], double jitter,
		  uint64_t seed, cudaStream_t stream)
{
	find_code(cells)->vary(cells, p, jitter, seed, stream);
}

void myocyte_start(const struct myocyte_cells *cells, cudaStream_t stream)
{
	find_code(cells)->start(cells, stream);
}

void myocyte_attempt(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream)
{
	find_code(cells)->attempt(cells, n, stream);
}

void myocyte_attempt_by_stages(const struct myocyte_cells *cells, cudaStream_t stream)
{
	find_code(cells)->attempt_by_stages(cells, stream);
}

void myocyte_gather(const struct myocyte_cells *cells, const int64_t *which, int64_t n,
		    struct myocyte_cell *out, cudaStream_t stream)
{
	find_code(cells)->gather(cells, which, n, out, stream);
}

void myocyte_derivatives(const struct myocyte_cells *cells, cudaStream_t stream)
{
	find_code(cells)->derivatives(cells, stream);
}

void myocyte_host_reset(const struct myocyte_cells *host)
{
	find_code(host)->host_reset(host);
}

void myocyte_host_attempt(const struct myocyte_cells *host, const struct myocyte_cells *device)
{
	find_code(host)->host_attempt(host, device);
}

void myocyte_host_stages(const struct myocyte_cells *host, const struct myocyte_cells *device)
{
	find_code(host)->host_stages(host, device);
}

void myocyte_host_publish(const struct myocyte_cells *host, const struct myocyte_cells *device)
{
	size_t n = (size_t)host->stride, vector = MYOCYTE_STATES * n * myocyte_real_bytes(host);

	CUDA(cudaMemcpy(device->y, host->y, vector, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(device->end, host->end, vector, cudaMemcpyHostToDevice));
	if (host->before)
		CUDA(cudaMemcpy(device->before, host->before, vector, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(device->t, host->t, 2 * n * sizeof(double), cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(device->taken, host->taken, n * sizeof(double), cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(device->count, host->count, MYOCYTE_COUNTS * n * sizeof(*host->count),
			cudaMemcpyHostToDevice));
}
