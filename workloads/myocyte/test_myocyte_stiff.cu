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

/* Of a cell's states: J and the inverse of 1/(gamma h) - J, 91 x 91 each. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
	stiff_matrices(struct myocyte_cells a, double h, double *J, double *inverse)
{
	DYN_SHARED(struct stiff_board, s);
	struct place place = my_place();
	struct tile t;

	load_course(a, 0, &s->board);
	struct part c = part_of(a, s->board.p, a.start[at::K_i]);
	int mine = c.state >= 0 ? c.state : 0;
	double y = ((double *)a.y)[mine];

	lay_out_matrices(c, s);
	s->board.stimulus = 0;
	show(c, &s->board, y);
	__syncthreads();
	linearize(&c, y, a.start[mine], s);
	shifted(place, s, h, &t);
	invert(place, &t, s);
	for (int i = (int)threadIdx.x; i < STATES * STATES; i += BLOCK_THREADS)
		J[i] = s->J[i / STATES][i % STATES];
	for (int r = 0; r < TILE_ROWS; r++)
		for (int k = 0; k < TILE_COLUMNS; k++) {
			int i = place.down + DOWN * r, j = place.across + ACROSS * k;

			if (!place.idle && i < STATES && j < STATES)
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
				  (int)sizeof(struct stiff_board)));
	CUDA(cudaMalloc((void **)&out, 2 * bytes));
	CUDA(LAUNCH(stiff_matrices, dim3(1), BLOCK_THREADS, sizeof(struct stiff_board), nullptr,
		    *cells, h, out, out + STATES * STATES));
	CUDA(cudaMemcpy(J, out, bytes, cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(inverse, out + STATES * STATES, bytes, cudaMemcpyDeviceToHost));
	CUDA(cudaFree(out));
}
