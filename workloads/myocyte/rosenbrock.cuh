/*
 * rosenbrock.cuh - solver=rosenbrock: a stiff solver, with a block for each cell. Part of
 * kernels.cuh.
 *
 * In pseudo-code, for each block = cell and each attempt:
 *
 *   J = Jacobian at y, unless a shorter step is tried from the same y (rosenbrock_jacobian.cuh)
 *   inverse of 1/(gamma h) - J, as thread tiles in registers (rosenbrock_matrix.cuh)
 *   for each of eight stages:
 *     f = right-hand side at y + sum a[i][j] u[j]     the phases of block.cuh
 *     u[i] = inverse x (f + sum c[i][j] u[j] / h)
 *   new state = the last stage's y + u[7]; error = u[7]
 *   warp 0 decides: accept or reject, the next h
 *
 * The naive version that it is tested against is myocyte_ref_adaptive() of reference_rkf.c, another
 * solver, with short steps. The stimulus is constant within a step: nothing depends on time.
 */
#include "workloads/myocyte/rosenbrock_smem.cuh"
#include "workloads/myocyte/rosenbrock_matrix.cuh"
#include "workloads/myocyte/rosenbrock_jacobian.cuh"

namespace myocyte
{
namespace
{
/* ---- a step ----------------------------------------------------------------------------- */

struct coefficients {
	double a[rodas5p::STAGES][rodas5p::STAGES], c[rodas5p::STAGES][rodas5p::STAGES];
};

static constexpr struct coefficients stage_coefficients()
{
	struct coefficients t = {};

	for (int s = 0; s < rodas5p::STAGES; s++)
		for (int r = 0; r < s; r++) {
			t.a[s][r] = rodas5p::a[s][r];
			t.c[s][r] = rodas5p::c[s][r];
		}
	return t;
}

static __constant__ const struct coefficients coefficients = stage_coefficients();

/* The state that a step from y, where the derivative is f, leads to; its error in u[7]. */
static __device__ inline real step_from(struct part *c, real y, real f, real h,
					const struct tile_position &tile_position,
					const struct tile &inverse, struct stiff_smem *s)
{
	int own = c->state >= 0 ? c->state : 0;
	real at_stage = y, per_h = 1 / h;

	ROLLED for (int i = 0; i < rodas5p::STAGES; i++)
	{
		real past = 0;

		at_stage = y;
		for (int j = 0; j < i; j++) {
			at_stage = at_stage + coefficients.a[i][j] * s->u[j][own];
			past = past + coefficients.c[i][j] * s->u[j][own];
		}
		if (i) {
			publish(*c, &s->block_smem, at_stage);
			__syncthreads();
			f = derivative(c->warp, c, &s->block_smem);
		}
		if (c->state >= 0)
			s->right[own] = f + past * per_h;
		__syncthreads();
		if (!tile_position.idle)
			multiply_inverse(tile_position, inverse, s, s->u[i]);
		__syncthreads();
	}
	return at_stage + s->u[rodas5p::STAGES - 1][own];
}

/* ---- the course of a cell --------------------------------------------------------------- */

/* The thread's state and its derivative there; known says that f and J are of this state. */
struct stiff_state {
	real y, f;
	bool known;
};

/* As decide_attempt(), for an error of order 5; the first warp calls it. */
static __device__ inline void decide_on_step(const struct myocyte_cells &cell, bool more, int lane,
					     struct block_smem *b)
{
	float worst = largest_of_warp(lane < WARPS ? b->worst[lane] : 0);

	if (lane)
		return;
	settle_attempt(cell, &b->course,
		       outcome_from_error(worst, exp2f(-log2f(worst) / 5), worst < INFINITY));
	if (more)
		plan_attempt(cell, b, false);
}

/* One attempt, which has been planned. Plans one more. */
static __device__ inline void stiff_attempt(const struct myocyte_cells &a,
					    const struct myocyte_cells &cell, struct part *c,
					    int64_t id, bool more, struct stiff_smem *s,
					    struct stiff_state *now)
{
	struct block_smem *b = &s->block_smem;
	struct course *course = &b->course;
	struct tile_position tile_position = thread_tile_position();
	real start = a.start[c->state >= 0 ? c->state : 0], h = course->plan.step.h;
	struct tile matrix;

	if (course->back)
		now->y = start;
	publish(*c, b, now->y);
	__syncthreads();
	if (!now->known)
		now->f = linearize(c, now->y, start, s);
	load_shifted(tile_position, s, h, &matrix);
	invert(tile_position, &matrix, s);

	real then = step_from(c, now->y, now->f, h, tile_position, matrix, s);

	store_error(a, *c, now->y, then, s->u[rodas5p::STAGES - 1][c->state >= 0 ? c->state : 0],
		    b);
	__syncthreads();
	if (c->warp == 0)
		decide_on_step(cell, more, c->lane, b);
	__syncthreads();
	now->known = !course->settled.accepted;
	if (now->known)
		return;
	now->y = then;
	if (c->state >= 0 && course->settled.completed)
		((real *)a.end)[c->state * a.stride + id] = then;
	if (c->state >= 0 && course->settled.row)
		course->row->y[c->state] = double(then);
}

/* Entries of J that no one writes are 0. */
static __device__ inline void lay_out_matrices(const struct part &c, struct stiff_smem *s)
{
	for (int i = (int)threadIdx.x; i < STATES * STATES; i += BLOCK_THREADS)
		s->J[i / STATES][i % STATES] = 0;
	if (threadIdx.x < ORDER)
		s->right[threadIdx.x] = 0;
	if (is_of_module(c))
		lay_out_factors(c.module, s);
	__syncthreads();
}
} // namespace
} // namespace myocyte

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
	MYOCYTE_IN(myocyte_stiff_attempts)(struct myocyte_cells a, int64_t n)
{
	DYN_SHARED(struct stiff_smem, shared);
	struct stiff_smem *s = stiff_smem_at(at_one_address(&shared->block_smem));
	struct block_smem *b = &s->block_smem;
	int64_t id = a.first + blockIdx.x;
	struct myocyte_cells cell = shared_view(a, b);

	init_smem(a, id, b);
	if (threadIdx.x < LANES)
		load_course(a, id, b);
	if (!threadIdx.x)
		plan_attempt(cell, b, true);
	__syncthreads();
	struct part c = make_part(a, b->p, a.start[at::K_i]);
	real *y = (real *)a.y + (c.state >= 0 ? c.state : 0) * a.stride + id;
	struct stiff_state now = { *y, 0, false };

	lay_out_matrices(c, s);
	ROLLED for (int64_t i = 1; i <= n; i++) stiff_attempt(a, cell, &c, id, i < n, s, &now);
	if (c.state >= 0)
		*y = now.y;
	store_course(a, id, b);
}
KERNEL(MYOCYTE_IN(myocyte_stiff_attempts));

/* More than a kernel has unasked. */
static const size_t stiff_shared_bytes = sizeof(struct stiff_smem);

static void load_stiff_kernel(void)
{
	CUDA(cudaFuncSetAttribute((const void *)MYOCYTE_IN(myocyte_stiff_attempts),
				  cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)stiff_shared_bytes));
}

static void attempt_stiff(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_stiff_attempts), dim3((unsigned)cells->running),
		    BLOCK_THREADS, stiff_shared_bytes, stream, *cells, n));
}
