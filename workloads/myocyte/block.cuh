/*
 * block.cuh - spread=block: a block for each cell, so that a few cells take as little time as
 * they can. Part of kernels.cuh.
 *
 * States stay in registers from the first attempt of a launch to its last. The loop is over
 * derivatives, so that its code is there once.
 */
#include "workloads/myocyte/block_board.cuh"
#include "workloads/myocyte/block_math.cuh"
#include "workloads/myocyte/block_exps.cuh"
#include "workloads/myocyte/block_modules.cuh"
#include "workloads/myocyte/block_currents.cuh"
#include "workloads/myocyte/block_sums.cuh"
#include "workloads/myocyte/block_part.cuh"
#include "workloads/myocyte/block_stages.cuh"
#include "workloads/myocyte/block_course.cuh"

namespace myocyte
{
namespace
{
/* The thread's state now, and before the attempt that is not decided on yet. */
struct mine {
	real y, before;
};

/* What has been decided on the attempt before: the state that it leaves. */
static __device__ inline void take(const struct myocyte_cells &a, const struct part &c, int64_t id,
				   const struct course &course, struct mine *mine)
{
	if (!course.settled.accepted)
		mine->y = mine->before;
	if (c.state < 0)
		return;
	if (course.settled.completed)
		((real *)a.end)[c.state * a.stride + id] = mine->y;
	if (course.settled.row)
		course.row->y[c.state] = double(mine->y);
}

/* Where the attempt that is planned begins. */
static __device__ inline void begin(const struct myocyte_cells &a, const struct part &c,
				    struct board *b, struct mine *mine)
{
	if (b->course.back && c.state >= 0)
		mine->y = a.start[c.state];
	show(c, b, mine->y);
	if (c.warp == WARP_CONTROL)
		b->stimulus = b->course.stimulus;
	__syncthreads();
}

/* Where the attempt arrives: shown, as the next one begins there. */
static __device__ inline void arrive(const struct myocyte_cells &a, const struct part &c,
				     const struct sums &sum, real h, struct board *b,
				     struct mine *mine)
{
	mine->before = mine->y;
	mine->y = mine->y + h * sum.order_7;
	show(c, b, mine->y);
	judge(a, c, mine->before, mine->y, h * sum.error, b);
}

/*
 * n attempts, the first of which is planned and begun. Warps that have nothing to do in a
 * derivative's first phase add behind the barrier what others add before it.
 */
static __device__ inline void attempts(const struct myocyte_cells &a,
				       const struct myocyte_cells &cell, struct part *part,
				       int64_t id, int64_t n, struct board *b, struct mine *mine)
{
	const struct part &c = *part;
	bool late = c.warp == WARP_SUMS || c.warp == WARP_SLOW_GATES, undecided = false;
	struct sums sum = {};
	int s = 0, stages = stages_of(a);
	real h = 0;

	ROLLED for (;;)
	{
		const struct decider decider = { a, cell, b, c.lane, undecided, n > 0 };
		real k = derivative(part, n > 0, b, decider);

		if (s == 0) {
			__syncthreads();
			if (undecided)
				take(a, c, id, b->course, mine);
			if (!n)
				return;
			if (undecided && b->course.again) {
				undecided = false;
				begin(a, c, b, mine);
				continue;
			}
			h = b->course.plan.step.h;
		}

		const real *weight = b->weight[s];
		bool last = ++s == stages;

		undecided = last;
		if (!last)
			show(c, b, mine->y + h * (sum.to[0] + weight[0] * k));
		if (!late || last)
			add(&sum, weight, k);
		if (last)
			arrive(a, c, sum, h, b, mine);
		__syncthreads();
		if (late && !last)
			add(&sum, weight, k);
		if (last) {
			sum = {};
			s = 0;
			n--;
		}
	}
}
} // namespace
} // namespace myocyte

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
	MYOCYTE_IN(myocyte_attempts_in_block)(struct myocyte_cells a, int64_t n)
{
	SHARED_ARRAY(struct board, board, [1]);
	struct board *b = board;
	int64_t id = a.first + blockIdx.x;
	struct myocyte_cells cell = alone(a, b);

	load_course(a, id, b);
	if (!threadIdx.x)
		plan_attempt(cell, &b->course, true);
	__syncthreads();
	struct part c = part_of(a, b->p, a.start[at::K_i]);
	real *y = (real *)a.y + (c.state >= 0 ? c.state : 0) * a.stride + id;
	struct mine mine = { *y, 0 };

	begin(a, c, b, &mine);
	attempts(a, cell, &c, id, n, b, &mine);
	if (c.state >= 0)
		*y = mine.y;
	store_course(a, id, b);
}
KERNEL(MYOCYTE_IN(myocyte_attempts_in_block));

/* The right-hand side alone, for derivatives=. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
	MYOCYTE_IN(myocyte_evaluate_in_block)(struct myocyte_cells a)
{
	SHARED_ARRAY(struct board, board, [1]);
	struct board *b = board;
	int64_t id = blockIdx.x;
	const real *y = (const real *)a.y + id;

	lay_out(a, id, b);
	if (threadIdx.x < STATES)
		b->v[threadIdx.x] = y[threadIdx.x * a.stride];
	if (threadIdx.x == 0)
		b->stimulus = stimulus_at(
			a.t[id], double(((const real *)a.p)[par::T_cycle * a.stride + id]));
	__syncthreads();
	struct part c = part_of(a, b->p, y[at::K_i * a.stride]);
	real f = derivative(&c, true, b, [](int) {});

	if (c.state >= 0)
		((real *)a.k)[c.state * a.stride + id] = a.guarded ? guarded(f) : f;
}
KERNEL(MYOCYTE_IN(myocyte_evaluate_in_block));

static void attempt_in_blocks(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_attempts_in_block), dim3((unsigned)cells->running),
		    BLOCK_THREADS, 0, stream, *cells, n));
}

static void derivatives_in_blocks(const struct myocyte_cells *cells, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_evaluate_in_block), dim3((unsigned)cells->running),
		    BLOCK_THREADS, 0, stream, *cells));
}
