/*
 * rosenbrock.cuh - solver=rosenbrock: a stiff solver, with a block for each cell. Part of
 * kernels.cuh.
 *
 * An attempt: the Jacobian (kept when a shorter step is tried from the same state), the inverse
 * of 1/(gamma h) - J, eight stages. Right-hand sides and decisions are those of spread=block. The
 * stimulus is constant within a step, so that nothing depends on time.
 */
#include "workloads/myocyte/rosenbrock_board.cuh"
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

static constexpr struct coefficients coefficients_of_stages()
{
	struct coefficients t = {};

	for (int s = 0; s < rodas5p::STAGES; s++)
		for (int r = 0; r < s; r++) {
			t.a[s][r] = rodas5p::a[s][r];
			t.c[s][r] = rodas5p::c[s][r];
		}
	return t;
}

static __constant__ const struct coefficients coefficients = coefficients_of_stages();

/* The state that a step from y, where the derivative is f, leads to; its error in u[7]. */
static __device__ inline real step_from(struct part *c, real y, real f, real h,
					const struct place &place, const struct tile &inverse,
					struct stiff_board *s)
{
	int mine = c->state >= 0 ? c->state : 0;
	real at_stage = y, per_h = 1 / h;

	ROLLED for (int i = 0; i < rodas5p::STAGES; i++)
	{
		real past = 0;

		at_stage = y;
		for (int j = 0; j < i; j++) {
			at_stage = at_stage + coefficients.a[i][j] * s->u[j][mine];
			past = past + coefficients.c[i][j] * s->u[j][mine];
		}
		if (i) {
			show(*c, &s->board, at_stage);
			__syncthreads();
			f = derivative(c, &s->board);
		}
		if (c->state >= 0)
			s->right[mine] = f + past * per_h;
		__syncthreads();
		if (!place.idle)
			product(place, inverse, s, s->u[i]);
		__syncthreads();
	}
	return at_stage + s->u[rodas5p::STAGES - 1][mine];
}

/* ---- the course of a cell --------------------------------------------------------------- */

/* The thread's state and its derivative there; known says that f and J are of this state. */
struct stiff_state {
	real y, f;
	bool known;
};

/* By the first warp: as decide_attempt(), for an error of order 5. */
static __device__ inline void decide_on_step(const struct myocyte_cells &cell, bool more, int lane,
					     struct board *b)
{
	float worst = largest_of_warp(lane < WARPS ? b->worst[lane] : 0);

	if (lane)
		return;
	settle_attempt(cell, &b->course,
		       outcome_of_error(worst, exp2f(-log2f(worst) / 5), worst < INFINITY));
	if (more)
		plan_attempt(cell, b, false);
}

/* One attempt, which has been planned. Plans one more. */
static __device__ inline void stiff_attempt(const struct myocyte_cells &a,
					    const struct myocyte_cells &cell, struct part *c,
					    int64_t id, bool more, struct stiff_board *s,
					    struct stiff_state *now)
{
	struct board *b = &s->board;
	struct course *course = &b->course;
	struct place place = my_place();
	real start = a.start[c->state >= 0 ? c->state : 0], h = course->plan.step.h;
	struct tile matrix;

	if (course->back)
		now->y = start;
	show(*c, b, now->y);
	__syncthreads();
	if (!now->known)
		now->f = linearize(c, now->y, start, s);
	shifted(place, s, h, &matrix);
	invert(place, &matrix, s);

	real then = step_from(c, now->y, now->f, h, place, matrix, s);

	judge(a, *c, now->y, then, s->u[rodas5p::STAGES - 1][c->state >= 0 ? c->state : 0], b);
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
static __device__ inline void lay_out_matrices(const struct part &c, struct stiff_board *s)
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
	DYN_SHARED(struct stiff_board, shared);
	struct stiff_board *s = stiff_board_of(at_one_address(&shared->board));
	struct board *b = &s->board;
	int64_t id = a.first + blockIdx.x;
	struct myocyte_cells cell = alone(a, b);

	load_course(a, id, b);
	if (!threadIdx.x)
		plan_attempt(cell, b, true);
	__syncthreads();
	struct part c = part_of(a, b->p, a.start[at::K_i]);
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
static const size_t stiff_shared_bytes = sizeof(struct stiff_board);

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
