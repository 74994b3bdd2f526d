/* test_myocyte_stiff.cu - solver=rosenbrock from within: its coefficients and its matrices. */
#define MYOCYTE_REAL double
#define MYOCYTE_IN(name) name##_of_test
#define MYOCYTE_STIFF_TOO
#include "workloads/myocyte/device.h"

extern "C" const struct myocyte_code myocyte_code_of_test; /* which no one calls */

#include "workloads/myocyte/kernels.cuh"

extern "C" void stiff_coefficients(double *gamma, double a[8][8], double c[8][8])
{
	*gamma = rodas5p::gamma;
	memcpy(a, rodas5p::a, sizeof(rodas5p::a));
	memcpy(c, rodas5p::c, sizeof(rodas5p::c));
}

/* For a cell's states: J and the inverse of 1/(gamma h) - J, 91 x 91 each. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
	stiff_matrices(struct myocyte_cells a, double h, double *J, double *inverse)
{
	DYN_SHARED(struct stiff_smem, s);
	struct tile_position tile_position = thread_tile_position();
	struct tile t;

	init_smem(a, 0, &s->block_smem);
	__syncthreads();
	struct part c = make_part(a, s->block_smem.p, a.start[at::K_i]);
	int own = c.state >= 0 ? c.state : 0;
	double y = ((double *)a.y)[own];

	lay_out_matrices(c, s);
	s->block_smem.stimulus = 0;
	publish(c, &s->block_smem, y);
	__syncthreads();
	linearize(&c, y, a.start[own], s);
	load_shifted(tile_position, s, h, &t);
	invert(tile_position, &t, s);
	for (int i = (int)threadIdx.x; i < STATES * STATES; i += BLOCK_THREADS)
		J[i] = s->J[i / STATES][i % STATES];
	for (int r = 0; r < TILE_ROWS; r++)
		for (int k = 0; k < TILE_COLUMNS; k++) {
			int i = tile_position.down + DOWN * r,
			    j = tile_position.across + ACROSS * k;

			if (!tile_position.idle && i < STATES && j < STATES)
				inverse[i * STATES + j] = t.w[r][k];
		}
}
KERNEL(stiff_matrices);

extern "C" void stiff_linearize(const struct myocyte_cells *cells, double h, double *J,
				double *inverse)
{
	size_t bytes = STATES * STATES * sizeof(double);
	double *out;

	CUDA(cudaFuncSetAttribute((const void *)stiff_matrices,
				  cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)sizeof(struct stiff_smem)));
	CUDA(cudaMalloc((void **)&out, 2 * bytes));
	CUDA(LAUNCH(stiff_matrices, dim3(1), BLOCK_THREADS, sizeof(struct stiff_smem), nullptr,
		    *cells, h, out, out + STATES * STATES));
	CUDA(cudaMemcpy(J, out, bytes, cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(inverse, out + STATES * STATES, bytes, cudaMemcpyDeviceToHost));
	CUDA(cudaFree(out));
}
