/* kernels.cu - the kernels of the myocyte workload and their launches: a thread for each cell. */
#include "common/cuda_check.h"
#include "common/gpu.h"
#include "common/philox.h"
#include "workloads/myocyte/solver.cuh"

using namespace myocyte;

/* Number of this thread, -1 beyond n. */
static __device__ inline int64_t thread_below(int64_t n)
{
	int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	return i < n ? i : -1;
}

static dim3 blocks_for(int64_t threads)
{
	return dim3((unsigned)((threads + MYOCYTE_BLOCK - 1) / MYOCYTE_BLOCK));
}

struct nominal {
	double p[MYOCYTE_PARAMS];
};

/* The cycle length, parameter 0, is the same for all. */
extern "C" __global__ void myocyte_vary_cells(struct myocyte_cells a, struct nominal nominal,
					      double jitter, uint64_t seed)
{
	int64_t id = thread_below(a.cells);

	if (id < 0)
		return;
	for (int i = 0; i < MYOCYTE_PARAMS; i++) {
		struct philox r = philox4x32((uint32_t)id, (uint32_t)(id >> 32), (uint32_t)i,
					     MYOCYTE_JITTER_STREAM, seed);
		double u = id && i ? philox_uniform(r.word[0]) : 0;

		a.p[i * a.stride + id] = nominal.p[i] * (1 + jitter * u);
	}
}
KERNEL(myocyte_vary_cells);

extern "C" __global__ void myocyte_start_cells(struct myocyte_cells a)
{
	int64_t id = thread_below(a.running);

	if (id < 0)
		return;
	id += a.first;
	start_over(a, id);
	for (int i = 0; i < MYOCYTE_COUNTS; i++)
		a.count[i * a.stride + id] = 0;
	for (int i = 0; i < MYOCYTE_STATES; i++)
		a.end[i * a.stride + id] = 0;
}
KERNEL(myocyte_start_cells);

/* One kernel for all modes: stream and graph launch it with n = 1, fused with more. */
extern "C" __global__ void __launch_bounds__(MYOCYTE_BLOCK)
	myocyte_attempts(struct myocyte_cells a, int64_t n)
{
	int64_t id = thread_below(a.running);

	if (id < 0)
		return;
	id += a.first;
	ROLLED for (int64_t i = 0; i < n; i++)
	{
		if (a.t[id] >= a.span)
			start_over(a, id);
		attempt(a, id);
	}
}
KERNEL(myocyte_attempts);

extern "C" __global__ void myocyte_gather_cells(struct myocyte_cells a, const int64_t *which,
						int64_t n, struct myocyte_cell *out)
{
	int64_t i = thread_below(n);

	if (i < 0)
		return;
	struct myocyte_cell *cell = out + i;
	int64_t id = which[i];

	for (int s = 0; s < MYOCYTE_STATES; s++) {
		cell->y[s] = a.y[s * a.stride + id];
		cell->end[s] = a.end[s * a.stride + id];
	}
	for (int s = 0; s < MYOCYTE_PARAMS; s++)
		cell->p[s] = a.p[s * a.stride + id];
	for (int s = 0; s < MYOCYTE_COUNTS; s++)
		cell->count[s] = a.count[s * a.stride + id];
	cell->t = a.t[id];
	cell->h = a.h[id];
}
KERNEL(myocyte_gather_cells);

extern "C" __global__ void __launch_bounds__(MYOCYTE_BLOCK) myocyte_evaluate(struct myocyte_cells a)
{
	int64_t id = thread_below(a.running);
	int n = (int)a.stride;

	if (id < 0)
		return;
	double stimulus = stimulus_at(a.t[id], a.p[par::T_cycle * a.stride + id]);
	double *f = a.k + id;

	right_hand_side(a.benchmark, stimulus, a.p + id, a.y + id, f, n);
	for (int i = 0; a.benchmark && i < MYOCYTE_STATES; i++)
		f[i * n] = guarded(f[i * n]);
}
KERNEL(myocyte_evaluate);

/* ---- launches -------------------------------------------------------------------------- */

void myocyte_load_kernels(void)
{
	const void *const kernels[] = {
		(const void *)myocyte_vary_cells, (const void *)myocyte_start_cells,
		(const void *)myocyte_attempts,	  (const void *)myocyte_gather_cells,
		(const void *)myocyte_evaluate,
	};
	struct cudaFuncAttributes ignored;

	for (const void *kernel : kernels)
		CUDA(cudaFuncGetAttributes(&ignored, kernel));
}

void myocyte_vary(const struct myocyte_cells *cells, const double p[MYOCYTE_PARAMS], double jitter,
		  uint64_t seed, cudaStream_t stream)
{
	struct nominal nominal;

	for (int i = 0; i < MYOCYTE_PARAMS; i++)
		nominal.p[i] = p[i];
	CUDA(LAUNCH(myocyte_vary_cells, blocks_for(cells->cells), MYOCYTE_BLOCK, 0, stream, *cells,
		    nominal, jitter, seed));
}

void myocyte_start(const struct myocyte_cells *cells, cudaStream_t stream)
{
	CUDA(LAUNCH(myocyte_start_cells, blocks_for(cells->running), MYOCYTE_BLOCK, 0, stream,
		    *cells));
}

void myocyte_attempt(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream)
{
	CUDA(LAUNCH(myocyte_attempts, blocks_for(cells->running), MYOCYTE_BLOCK, 0, stream, *cells,
		    n));
}

void myocyte_gather(const struct myocyte_cells *cells, const int64_t *which, int64_t n,
		    struct myocyte_cell *out, cudaStream_t stream)
{
	CUDA(LAUNCH(myocyte_gather_cells, blocks_for(n), MYOCYTE_BLOCK, 0, stream, *cells, which, n,
		    out));
}

void myocyte_derivatives(const struct myocyte_cells *cells, cudaStream_t stream)
{
	CUDA(LAUNCH(myocyte_evaluate, blocks_for(cells->running), MYOCYTE_BLOCK, 0, stream,
		    *cells));
}
