/*
 * kernels.cuh - the kernels of the myocyte workload and their launches: a thread for each cell.
 *
 * An attempt in pseudo-code; block.cuh, warps.cuh and rosenbrock.cuh share it among more threads:
 *
 *   plan the step: h, cut at the next stop (edge of the stimulus, output, end of the span)
 *   for each stage: k[s] = right-hand side at y + h sum a[s][r] k[r]
 *   new state and error = y + h sum b[s] k[s], of two orders
 *   error allowed: accept the state and advance t; else try again with a shorter h
 *
 * The naive version that they are tested against is myocyte_ref_rhs() of reference.c with
 * myocyte_ref_adaptive() and myocyte_ref_fixed() of reference_rkf.c, in double on the host.
 *
 * Compiled once a precision, by kernels_double.cu and kernels_float.cu, which define
 * MYOCYTE_REAL and MYOCYTE_IN(name), the name of a kernel in that precision, and in double
 * MYOCYTE_STIFF_TOO.
 */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "common/philox.h"
#include "workloads/myocyte/control.cuh"
#include "workloads/myocyte/outcome.cuh"

using namespace myocyte;

/* Number of this thread, -1 beyond n. */
static __device__ inline int64_t thread_below(int64_t n)
{
	int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	return i < n ? i : -1;
}

static __host__ __device__ inline int stage_count(const struct myocyte_cells &a)
{
	return a.solver == MYOCYTE_FIXED ? MYOCYTE_STAGES_FIXED : MYOCYTE_STAGES;
}

static dim3 blocks_for(int64_t threads)
{
	return dim3((unsigned)((threads + MYOCYTE_BLOCK - 1) / MYOCYTE_BLOCK));
}

struct nominal {
	double p[MYOCYTE_PARAMS];
};

/* The cycle length, parameter 0, is the same for all. */
extern "C" __global__ void MYOCYTE_IN(myocyte_vary_cells)(struct myocyte_cells a,
							  struct nominal nominal, double jitter,
							  uint64_t seed)
{
	int64_t id = thread_below(a.cells);

	if (id < 0)
		return;
	for (int i = 0; i < MYOCYTE_PARAMS; i++) {
		struct philox r = philox4x32((uint32_t)id, (uint32_t)(id >> 32), (uint32_t)i,
					     MYOCYTE_JITTER_STREAM, seed);
		double u = id && i ? philox_uniform(r.word[0]) : 0;

		((real *)a.p)[i * a.stride + id] = nominal.p[i] * (1 + jitter * u);
	}
}
KERNEL(MYOCYTE_IN(myocyte_vary_cells));

extern "C" __global__ void MYOCYTE_IN(myocyte_start_cells)(struct myocyte_cells a)
{
	int64_t id = thread_below(a.running);

	if (id < 0)
		return;
	reset_cell(a, a.first + id);
}
KERNEL(MYOCYTE_IN(myocyte_start_cells));

/*
 * One kernel for all modes: stream and graph launch it with n = 1, fused with more. With
 * control=host it tries the step that the host has put into t and h, and decides nothing.
 */
extern "C" __global__ void __launch_bounds__(MYOCYTE_BLOCK)
	MYOCYTE_IN(myocyte_attempts)(struct myocyte_cells a, int64_t n)
{
	int64_t id = thread_below(a.running);

	if (id < 0)
		return;
	id += a.first;
	struct cell c = cell_at(a, id);
	bool decide_step = !a.outcome;

	ROLLED for (int64_t i = 0; i < n; i++)
	{
		struct plan plan = decide_step ? next_plan(a, id) : plan_given(a, id);

		evaluate_stages(c, plan.step, stage_count(a));
		struct myocyte_outcome o = combine_stages(a, c, plan.step);

		if (decide_step)
			settle_step(a, c, id, plan, o);
		else
			a.outcome[id] = o;
	}
}
KERNEL(MYOCYTE_IN(myocyte_attempts));

/* Stage s of an attempt; the last one decides. The plan comes out the same in each. */
extern "C" __global__ void __launch_bounds__(MYOCYTE_BLOCK)
	MYOCYTE_IN(myocyte_stage)(struct myocyte_cells a, int s)
{
	int64_t id = thread_below(a.running);

	if (id < 0)
		return;
	id += a.first;
	struct cell c = cell_at(a, id);
	struct plan plan = s ? plan_step(a, id) : next_plan(a, id);

	evaluate_stage(c, plan.step, s, stage_stimulus(plan.step, s));
	if (s == stage_count(a) - 1)
		settle_step(a, c, id, plan, combine_stages(a, c, plan.step));
}
KERNEL(MYOCYTE_IN(myocyte_stage));

static __device__ inline void gather_column(double *to, const void *column, int n, int64_t stride,
					    int64_t id)
{
	for (int i = 0; i < n; i++)
		to[i] = double(((const real *)column)[i * stride + id]);
}

extern "C" __global__ void MYOCYTE_IN(myocyte_gather_cells)(struct myocyte_cells a,
							    const int64_t *which, int64_t n,
							    struct myocyte_cell *out)
{
	int64_t i = thread_below(n);

	if (i < 0)
		return;
	struct myocyte_cell *cell = out + i;
	int64_t id = which[i];

	gather_column(cell->y, a.y, STATES, a.stride, id);
	gather_column(cell->end, a.end, STATES, a.stride, id);
	gather_column(cell->p, a.p, MYOCYTE_PARAMS, a.stride, id);
	gather_column(cell->before, a.before ? a.before : a.end, STATES, a.stride, id);
	for (int i = 0; i < MYOCYTE_COUNTS; i++)
		cell->count[i] = a.count[i * a.stride + id];
	cell->t = a.t[id];
	cell->h = a.h[id];
	cell->taken = a.taken[id];
}
KERNEL(MYOCYTE_IN(myocyte_gather_cells));

static __device__ inline bool all_finite(const real *f, int n)
{
	bool finite = true;

	for (int i = 0; i < STATES; i++)
		finite = finite && is_finite(f[i * n]);
	return finite;
}

extern "C" __global__ void __launch_bounds__(MYOCYTE_BLOCK)
	MYOCYTE_IN(myocyte_evaluate)(struct myocyte_cells a)
{
	int64_t id = thread_below(a.running);
	int n = (int)a.stride;

	if (id < 0)
		return;
	struct cell c = cell_at(a, id);
	double stimulus = stimulus_at(a.t[id], double(c.p[par::T_cycle * n]));

	right_hand_side(a.benchmark, stimulus, c.p, c.y, c.k, n);
	if (a.guarded)
		guard(c.k, n);
	if (a.outcome)
		a.outcome[id].finite = all_finite(c.k, n);
}
KERNEL(MYOCYTE_IN(myocyte_evaluate));

#include "workloads/myocyte/block.cuh"
#include "workloads/myocyte/warps.cuh"
#ifdef MYOCYTE_STIFF_TOO
#include "workloads/myocyte/rosenbrock.cuh"
#else
static const size_t stiff_shared_bytes = 0;

static void load_stiff_kernel(void)
{
}

static void attempt_stiff(const struct myocyte_cells *, int64_t, cudaStream_t)
{
	CHECK(false, "solver=rosenbrock in float");
}
#endif

/* ---- launches -------------------------------------------------------------------------- */

static void load_kernels(const struct myocyte_cells *cells)
{
	const void *const kernels[] = {
		(const void *)MYOCYTE_IN(myocyte_vary_cells),
		(const void *)MYOCYTE_IN(myocyte_start_cells),
		(const void *)MYOCYTE_IN(myocyte_attempts),
		(const void *)MYOCYTE_IN(myocyte_stage),
		(const void *)MYOCYTE_IN(myocyte_gather_cells),
		(const void *)MYOCYTE_IN(myocyte_evaluate),
		(const void *)MYOCYTE_IN(myocyte_attempts_in_block),
		(const void *)MYOCYTE_IN(myocyte_evaluate_in_block),
	};

	for (const void *kernel : kernels)
		device_load_kernel(kernel);
	if (cells->spread == MYOCYTE_CELLS_A_BLOCK)
		load_warps();
	if (cells->solver == MYOCYTE_ROSENBROCK)
		load_stiff_kernel();
}

/* Dynamic shared memory. Beyond 48 KiB it has to be asked for, and not every GPU has it. */
static size_t shared_bytes(const struct myocyte_cells *cells)
{
	if (cells->solver == MYOCYTE_ROSENBROCK)
		return stiff_shared_bytes;
	return cells->spread == MYOCYTE_CELLS_A_BLOCK ? sizeof(struct in_warps::warps_smem) : 0;
}

static void launch_vary(const struct myocyte_cells *cells, const double *p, double jitter,
			uint64_t seed, cudaStream_t stream)
{
	struct nominal nominal;

	for (int i = 0; i < MYOCYTE_PARAMS; i++)
		nominal.p[i] = p[i];
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_vary_cells), blocks_for(cells->cells), MYOCYTE_BLOCK, 0,
		    stream, *cells, nominal, jitter, seed));
}

static void launch_start(const struct myocyte_cells *cells, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_start_cells), blocks_for(cells->running), MYOCYTE_BLOCK, 0,
		    stream, *cells));
}

static void launch_attempt(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream)
{
	if (cells->solver == MYOCYTE_ROSENBROCK)
		return attempt_stiff(cells, n, stream);
	if (cells->spread == MYOCYTE_CELL_A_BLOCK)
		return attempt_in_blocks(cells, n, stream);
	if (cells->spread == MYOCYTE_CELLS_A_BLOCK)
		return attempt_in_warps(cells, n, stream);
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_attempts), blocks_for(cells->running), MYOCYTE_BLOCK, 0,
		    stream, *cells, n));
}

static void launch_stages(const struct myocyte_cells *cells, cudaStream_t stream)
{
	for (int s = 0; s < stage_count(*cells); s++)
		CUDA(LAUNCH(MYOCYTE_IN(myocyte_stage), blocks_for(cells->running), MYOCYTE_BLOCK, 0,
			    stream, *cells, s));
}

static void launch_gather(const struct myocyte_cells *cells, const int64_t *which, int64_t n,
			  struct myocyte_cell *out, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_gather_cells), blocks_for(n), MYOCYTE_BLOCK, 0, stream,
		    *cells, which, n, out));
}

static void launch_derivatives(const struct myocyte_cells *cells, cudaStream_t stream)
{
	if (cells->spread == MYOCYTE_CELL_A_BLOCK)
		return derivatives_in_blocks(cells, stream);
	if (cells->spread == MYOCYTE_CELLS_A_BLOCK)
		return derivatives_in_warps(cells, stream);
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_evaluate), blocks_for(cells->running), MYOCYTE_BLOCK, 0,
		    stream, *cells));
}

#include "workloads/myocyte/classic.cuh"

extern "C" const struct myocyte_code MYOCYTE_IN(myocyte_code) = {
	load_kernels,	shared_bytes,	 launch_vary,	 launch_start,
	launch_attempt, launch_stages,	 launch_gather,	 launch_derivatives,
	classic_reset,	classic_attempt, classic_stages,
};
