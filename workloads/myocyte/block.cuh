/*
 * block.cuh - spread=block: a block for each cell, for the least time of a few cells. Part of
 * kernels.cuh.
 *
 * In pseudo-code, for each block of 12 warps and each attempt:
 *
 *   for each of 13 stages:
 *     phase 1: by warps: exponentials of V, powers of concentrations, reactions, buffers; barrier
 *     phase 2: gates and currents; barrier
 *     phase 3: sums of currents; k = the derivative of the thread's state
 *     publish y + h (weighted sum of the derivatives so far) in shared memory; barrier
 *   new state = y + h sum.order_7; error = h sum.error; largest error over the block
 *   accepted, and no stop reached: every thread computes the next h; otherwise warp 0 decides, and
 *   everybody goes on from the state it decided
 *
 * The naive version that it is tested against is myocyte_ref_adaptive() and myocyte_ref_fixed() of
 * reference_rkf.c, in double on the host. A thread owns at most one state, which stays in registers
 * from the first attempt of a launch to its last.
 */
#include "common/programmatic.cuh"
#include "workloads/myocyte/block_math.cuh"
#include "workloads/myocyte/block_smem.cuh"
#include "workloads/myocyte/block_exps.cuh"
#include "workloads/myocyte/block_modules.cuh"
#include "workloads/myocyte/block_buffers.cuh"
#include "workloads/myocyte/block_currents.cuh"
#include "workloads/myocyte/block_sums.cuh"
#include "workloads/myocyte/block_part.cuh"
#include "workloads/myocyte/block_stages.cuh"
#include "workloads/myocyte/block_course.cuh"

namespace myocyte
{
namespace
{
/*
 * All stages from y, which is published, in steps of h: returns the sums for the new state. Warps
 * that are idle in a derivative's first phase add behind the barrier what others add before it.
 */
static __device__ inline struct sums run_role(int role, struct part *c, int n, real h, real y,
					      struct block_smem *b)
{
	bool late = role == WARP_SUMS || role == WARP_SLOW_GATES;
	struct sums sum = {};

	ROLLED for (int s = 0; s < n; s++)
	{
		const real *weight = b->weight[s];
		real k = derivative(role, c, b);

		publish(*c, b, y + h * (sum.to[0] + weight[0] * k));
		if (!late)
			add_derivative(&sum, weight, k);
		__syncthreads();
		if (late)
			add_derivative(&sum, weight, k);
	}
	return sum;
}

/*
 * The same by code of the warp's own, so that a warp chooses its role once in an attempt and not in
 * each phase. Warps meet at copies of a barrier: the hardware knows it by its number.
 */
static __device__ inline struct sums run_stages(struct part *c, int n, real h, real y,
						struct block_smem *b)
{
	switch (c->warp) {
	case WARP_NA_GATES:
		return run_role(WARP_NA_GATES, c, n, h, y, b);
	case WARP_TO_GATES:
		return run_role(WARP_TO_GATES, c, n, h, y, b);
	case WARP_POWERS:
		return run_role(WARP_POWERS, c, n, h, y, b);
	case WARP_BUFFERS:
		return run_role(WARP_BUFFERS, c, n, h, y, b);
	case WARP_EXCHANGER:
		return run_role(WARP_EXCHANGER, c, n, h, y, b);
	case WARP_PUMP:
		return run_role(WARP_PUMP, c, n, h, y, b);
	case WARP_SLOW_GATES:
		return run_role(WARP_SLOW_GATES, c, n, h, y, b);
	case WARP_RETICULUM:
		return run_role(WARP_RETICULUM, c, n, h, y, b);
	case WARP_SUMS:
		return run_role(WARP_SUMS, c, n, h, y, b);
	default: /* the modules' three differ by what is in *c */
		return run_role(WARP_MODULE, c, n, h, y, b);
	}
}

/* The state at which the next attempt begins: `then`, y after a rejection, or the first state. */
static __device__ inline real next_start(const struct myocyte_cells &a, const struct part &c,
					 real y, real then, struct block_smem *b)
{
	const struct course &course = b->course;

	if (!course.again)
		return then;
	y = course.settled.accepted ? then : y;
	if (course.back && c.state >= 0)
		y = a.start[c.state];
	publish(c, b, y);
	__syncthreads();
	return y;
}

/* Settles an attempt that led to `then`, plans one more, and returns the state it begins with. */
static __device__ inline real settle(const struct myocyte_cells &a,
				     const struct myocyte_cells &cell, const struct part &c,
				     int64_t id, bool more, real y, real then, struct pace *pace,
				     struct block_smem *b)
{
	const struct course &course = b->course;

	if (!threadIdx.x)
		write_pace(*pace, &b->course);
	if (c.warp == 0)
		decide_attempt(a, cell, c.lane, more, b);
	__syncthreads();
	*pace = read_pace(course);
	if (c.state >= 0 && course.settled.completed)
		((real *)a.end)[c.state * a.stride + id] = then;
	if (c.state >= 0 && course.settled.row)
		course.row->y[c.state] = double(then);
	return next_start(a, c, y, then, b);
}

/* One attempt from y, which is published. Plans one more, and returns the state it begins with. */
static __device__ inline real run_attempt(const struct myocyte_cells &a,
					  const struct myocyte_cells &cell, struct part *part,
					  int64_t id, bool more, real y, struct pace *pace,
					  struct block_smem *b)
{
	const struct part &c = *part;
	real h = pace->planned;
	struct sums sum = run_stages(part, stage_count(a), h, y, b);
	real then = y + h * sum.order_7;

	publish(c, b, then);
	store_error(a, c, y, then, h * sum.error, b);
	__syncthreads();
	if (a.solver == MYOCYTE_ADAPTIVE && !pace->landing) {
		struct myocyte_outcome o = attempt_outcome(a, c.lane, b);

		if (o.within) {
			move_on(pace, o.factor);
			return then;
		}
	}
	return settle(a, cell, c, id, more, y, then, pace, b);
}
} // namespace
} // namespace myocyte

/*
 * What a thread needs is laid out first: where launches overlap, the one before may still run.
 */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
	MYOCYTE_IN(myocyte_attempts_in_block)(struct myocyte_cells a, int64_t n)
{
	SHARED_ARRAY(struct block_smem, block_smem, [1]);
	struct block_smem *b = at_one_address(block_smem);
	int64_t id = a.first + blockIdx.x;
	struct myocyte_cells cell = shared_view(a, b);

	init_smem(a, id, b);
	__syncthreads();
	struct part c = make_part(a, b->p, a.start[at::K_i]);
	real *own = (real *)a.y + (c.state >= 0 ? c.state : 0) * a.stride + id;

	programmatic_wait();
	programmatic_go();
	real y = *own;

	if (c.warp == WARP_PUMP)
		load_course(a, id, b);
	if (threadIdx.x == WARP_PUMP * LANES)
		plan_attempt(cell, b, true);
	__syncthreads();
	if (b->course.back && c.state >= 0)
		y = a.start[c.state];
	publish(c, b, y);
	__syncthreads();
	struct pace pace = read_pace(b->course);

	ROLLED for (int64_t i = 1; i <= n; i++) y =
		run_attempt(a, cell, &c, id, i < n, y, &pace, b);
	if (c.state >= 0)
		*own = y;
	if (!threadIdx.x)
		write_pace(pace, &b->course);
	__syncwarp();
	store_course(a, id, b);
}
KERNEL(MYOCYTE_IN(myocyte_attempts_in_block));

/* The right-hand side alone, for derivatives=. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
	MYOCYTE_IN(myocyte_evaluate_in_block)(struct myocyte_cells a)
{
	SHARED_ARRAY(struct block_smem, block_smem, [1]);
	struct block_smem *b = at_one_address(block_smem);
	int64_t id = blockIdx.x;
	const real *y = (const real *)a.y + id;

	init_smem(a, id, b);
	if (threadIdx.x < STATES)
		b->v[threadIdx.x] = y[threadIdx.x * a.stride];
	if (threadIdx.x == 0)
		b->stimulus = stimulus_at(
			a.t[id], double(((const real *)a.p)[par::T_cycle * a.stride + id]));
	__syncthreads();
	struct part c = make_part(a, b->p, y[at::K_i * a.stride]);
	real f = derivative(c.warp, &c, b);

	if (c.state >= 0)
		((real *)a.k)[c.state * a.stride + id] = a.guarded ? guarded(f) : f;
}
KERNEL(MYOCYTE_IN(myocyte_evaluate_in_block));

static void attempt_in_blocks(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream)
{
	CUDA(LAUNCH_PROGRAMMATIC(cells->overlaps, MYOCYTE_IN(myocyte_attempts_in_block),
				 dim3((unsigned)cells->running), BLOCK_THREADS, 0, stream, *cells,
				 n));
}

static void derivatives_in_blocks(const struct myocyte_cells *cells, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_evaluate_in_block), dim3((unsigned)cells->running),
		    BLOCK_THREADS, 0, stream, *cells));
}
