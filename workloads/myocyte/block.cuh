/*
 * block.cuh - spread=block: a block for each cell, so that a few cells take as little time as
 * they can. Part of kernels.cuh.
 *
 * States stay in registers from the first attempt of a launch to its last. So do the sums of
 * the stages to come: each derivative is added to all of them as soon as it is there.
 */
#include "workloads/myocyte/block_board.cuh"
#include "workloads/myocyte/block_math.cuh"
#include "workloads/myocyte/block_exps.cuh"
#include "workloads/myocyte/block_modules.cuh"
#include "workloads/myocyte/block_currents.cuh"
#include "workloads/myocyte/block_sums.cuh"

namespace myocyte
{
namespace
{
/* ---- a thread's part --------------------------------------------------------------------- */

struct part {
	int warp, lane;
	int state;  /* that this thread owns, or -1 */
	real least; /* error that any step may make in it */
	bool benchmark;
	real E_K; /* K_i is clamped */
	struct my_exponential exponential;
	struct my_power power;
	struct my_module module;
	struct my_buffer buffer;
	struct my_balance balance;
};

static __device__ inline int state_of(int warp, int lane)
{
	switch (warp) {
	case WARP_NA_GATES:
		return lane < 3 ? at::m + lane : -1;
	case WARP_TO_GATES:
		return lane < 4 ? at::x_tos + lane : lane == 4 ? int(at::r_tos) : -1;
	case WARP_RETICULUM:
		return lane < 3 ? at::RyR_R + lane : -1;
	case WARP_BUFFERS:
		return lane < BUFFERS ? buffers[lane].state : -1;
	case WARP_SLOW_GATES:
		return lane < 2 ? at::d + lane : lane < 4 ? at::x_Kr + lane - 2 : -1;
	case WARP_SUMS:
		return lane < BALANCES ? balances[lane].state : -1;
	case WARP_MODULE:
	case WARP_MODULE + 1:
	case WARP_MODULE + 2:
		return lane < 15 ? at::CaM_dy + 15 * (warp - WARP_MODULE) + lane : -1;
	default:
		return -1;
	}
}

static __device__ inline struct part part_of(const struct myocyte_cells &a, const real *p, real K_i)
{
	struct part c;
	int lane = (int)threadIdx.x % LANES;
	/* known to be one for all lanes, which makes branches on it cheaper */
	int warp = __shfl_sync(~0u, (int)threadIdx.x / LANES, 0), m = warp - WARP_MODULE;

	c.warp = warp;
	c.lane = lane;
	c.state = state_of(warp, lane);
	c.least = 0;
	if (c.state >= 0)
		c.least = real(a.tolerance) * 1e-3 * fmax(fabs(real(a.start[c.state])), real(1e-9));
	c.benchmark = a.benchmark;
	c.E_K = log(K_o / K_i) / FRT;
	c.exponential = my_exponential(lane, warp == WARP_TO_GATES, c.E_K);
	c.power = my_power(lane, warp == WARP_RETICULUM);
	c.module = my_module(m < 0 || m >= MODULES ? 0 : m, lane, a.benchmark, p);
	c.buffer = my_buffer(lane);
	c.balance = my_balance(lane);
	return c;
}

/* ---- a right-hand side ------------------------------------------------------------------- */

static __device__ inline real phase_1(struct part *c, struct board *b)
{
	switch (c->warp) {
	case WARP_NA_GATES:
	case WARP_TO_GATES:
		exponential(c->exponential, !c->benchmark, b);
		return 0;
	case WARP_POWERS:
	case WARP_RETICULUM:
		power(&c->power, c->warp == WARP_RETICULUM, b);
		return 0;
	case WARP_BUFFERS:
		return buffer_uptake(c->buffer, c->lane, b);
	case WARP_EXCHANGER:
		saturations(c->lane, b);
		return 0;
	case WARP_MODULE:
	case WARP_MODULE + 1:
	case WARP_MODULE + 2:
		module_rates(c->module, b);
		return 0;
	case WARP_PUMP:
		if (!c->lane)
			flows(b);
		return 0;
	default:
		return 0;
	}
}

/* The lane's derivative where that is known by now; f: what phase 1 gave. */
static __device__ inline real phase_2(const struct part &c, struct board *b, real f)
{
	switch (c.warp) {
	case WARP_NA_GATES:
		return gate_of_I_Na(c.lane, b);
	case WARP_TO_GATES:
		f = currents_of_V(c.E_K, b);
		if (!c.lane)
			b->term[I_OF_V] = f;
		return gate_of_I_to(c.lane, b);
	case WARP_SLOW_GATES:
		return slow_gate(c.lane, b);
	case WARP_POWERS:
		currents_of_powers(c.power, c.benchmark, b);
		return 0;
	case WARP_RETICULUM:
		return reticulum(c.power, c.lane, b);
	case WARP_MODULE:
	case WARP_MODULE + 1:
	case WARP_MODULE + 2:
		return module_sums(c.module, b) + module_exchange(c.module, b);
	case WARP_BUFFERS:
		channels(c.lane, b);
		return f;
	case WARP_EXCHANGER:
		if (c.lane < SIDES)
			b->term[I_EXCHANGER + c.lane] = exchanger(c.lane, b);
		return 0;
	case WARP_PUMP:
		pump_and_rectifier(c.lane, c.E_K, b);
		return 0;
	default:
		currents_of_side(c.lane, b);
		return 0;
	}
}

/* The derivative of the thread's state, once all states are in b->v. */
static __device__ inline real derivative(struct part *c, struct board *b)
{
	real f = phase_1(c, b);

	__syncthreads();
	f = phase_2(*c, b, f);
	__syncthreads();
	return c->warp == WARP_SUMS ? balance_of(c->balance, c->lane, b) : f;
}

/* ---- an attempt -------------------------------------------------------------------------- */

/* What derivatives so far make of the stages to come, of the new state and of its error. */
struct sums {
	real stage[STAGES], order_7, error;
};

template <int S, int R> static __device__ inline void add_to_stages(struct sums *sum, real k)
{
	if constexpr (R < STAGES) {
		[[maybe_unused]] constexpr double a = tableau[R][S];

		if constexpr (a != 0)
			sum->stage[R] = sum->stage[R] + a * k;
		add_to_stages<S, R + 1>(sum, k);
	}
}

/* Adds derivative S; returns what there is of the sum of stage S + 2. */
template <int S> static __device__ inline real add_to_all(struct sums *sum, real k)
{
	constexpr double b[STAGES] = { 41. / 840, 0,	   0,	    0,	      0,
				       34. / 105, 9. / 35, 9. / 35, 9. / 280, 9. / 280,
				       41. / 840, 0,	   0 };
	constexpr double error = S == 0 || S == 10 ? 41. / 840 : S > 10 ? -41. / 840 : 0;

	add_to_stages<S, S + 2>(sum, k);
	if constexpr (b[S] != 0)
		sum->order_7 = sum->order_7 + b[S] * k;
	if constexpr (error != 0)
		sum->error = sum->error + error * k;
	return sum->stage[S + 2 < STAGES ? S + 2 : STAGES - 1];
}

/* A case each: their constants are operands then, and none is 0. */
static __device__ inline real add(int s, struct sums *sum, real k)
{
	switch (s) {
	case 0:
		return add_to_all<0>(sum, k);
	case 1:
		return add_to_all<1>(sum, k);
	case 2:
		return add_to_all<2>(sum, k);
	case 3:
		return add_to_all<3>(sum, k);
	case 4:
		return add_to_all<4>(sum, k);
	case 5:
		return add_to_all<5>(sum, k);
	case 6:
		return add_to_all<6>(sum, k);
	case 7:
		return add_to_all<7>(sum, k);
	case 8:
		return add_to_all<8>(sum, k);
	case 9:
		return add_to_all<9>(sum, k);
	case 10:
		return add_to_all<10>(sum, k);
	case 11:
		return add_to_all<11>(sum, k);
	default:
		return add_to_all<12>(sum, k);
	}
}

static __device__ inline void show(const struct part &c, struct board *b, real y)
{
	if (c.state >= 0)
		b->v[c.state] = y;
}

/* What derivative s weighs in stage s + 1. */
static __constant__ const double next_weight[STAGES] = {
	tableau[1][0],
	tableau[2][1],
	tableau[3][2],
	tableau[4][3],
	tableau[5][4],
	tableau[6][5],
	tableau[7][6],
	tableau[8][7],
	tableau[9][8],
	tableau[10][9],
	tableau[11][10],
	tableau[12][11],
	0,
};

/*
 * All stages from y, in steps of h: the sums that are left. The warp that knows its derivatives
 * last shows the next state first and adds behind the barrier, where it has nothing else to do.
 */
static __device__ inline struct sums stages(struct part *c, int n, real h, real y, struct board *b)
{
	bool last = c->warp == WARP_SUMS;
	struct sums sum = {};
	real ahead = 0;

	show(*c, b, y);
	__syncthreads();
	ROLLED for (int s = 0; s < n; s++)
	{
		real a = next_weight[s], k = derivative(c, b);

		show(*c, b, y + h * (ahead + a * k));
		if (!last)
			ahead = add(s, &sum, k);
		__syncthreads();
		if (last)
			ahead = add(s, &sum, k);
	}
	return sum;
}

/*
 * How far the thread's state is off, in units of what a step allows: see combine_adaptive(). As
 * float, whose bits order like integers; infinite where a number is not finite.
 */
static __device__ inline void judge(const struct myocyte_cells &a, const struct part &c, real now,
				    real then, real e, struct board *b)
{
	real allowed = c.least + real(a.tolerance) * fmax(fabs(now), fabs(then));
	if (c.state >= 0)
		b->worst[c.state] = is_finite(then) && is_finite(e)
					    ? (float)double(quotient(fabs(e), allowed))
					    : INFINITY;
}

/* By the first warp: what came of the attempt. */
static __device__ inline struct myocyte_outcome outcome_of(const struct myocyte_cells &a,
							   const struct board *b)
{
	int lane = (int)threadIdx.x;
	float worst = 0;

	for (int i = lane; i < STATES; i += LANES)
		worst = fmaxf(worst, b->worst[i]);
	for (int other = LANES / 2; other; other /= 2)
		worst = fmaxf(worst, __shfl_xor_sync(~0u, worst, other));
	bool finite = worst < INFINITY;

	if (a.solver == MYOCYTE_FIXED)
		return { 1, true, finite };
	return outcome_of_error(worst, exp2f(-log2f(worst) / 8), finite);
}

/* ---- the course of a cell ---------------------------------------------------------------- */

/* The cell's numbers as control.cuh wants them, in shared memory. */
static __device__ inline struct myocyte_cells alone(const struct myocyte_cells &a, struct board *b)
{
	struct myocyte_cells cell = a;

	cell.stride = 1;
	cell.solver = a.solver == MYOCYTE_FIXED ? MYOCYTE_FIXED : MYOCYTE_ADAPTIVE;
	cell.t = &b->course.t;
	cell.h = &b->course.h;
	cell.taken = &b->course.taken;
	cell.count = b->course.count;
	cell.p = b->p;
	return cell;
}

/* The stop, and the stimulus up to there, are the last attempt's while they lie ahead. */
static __device__ inline void plan_attempt(const struct myocyte_cells &cell, struct board *b,
					   bool first)
{
	struct course *c = &b->course;

	c->back = c->t >= cell.span;
	if (c->back)
		set_back(cell, 0);
	if (!first && !c->back && c->t < c->plan.stop.t) {
		c->plan = plan_to(step_at(cell, 0, c->h), c->plan.stop);
		return;
	}
	c->plan = plan_step(cell, 0);
	b->stimulus = stage_stimulus(c->plan.step, 0);
}

static __device__ inline void settle_attempt(const struct myocyte_cells &cell, struct course *c,
					     const struct myocyte_outcome &o)
{
	c->settled = decide(cell, 0, c->plan, o);
	if (!c->settled.row)
		return;
	c->row = cell.rows + (*cell.n_rows)++;
	c->row->t = c->t;
	c->row->h = c->settled.h;
	c->row->attempts = c->settled.tries;
}

/* One attempt, which has been planned: the state of the thread after it. Plans one more. */
static __device__ inline real attempt_of(const struct myocyte_cells &a,
					 const struct myocyte_cells &cell, struct part *part,
					 int64_t id, bool more, real y, struct board *b)
{
	const struct part &c = *part;
	struct course *course = &b->course;

	if (course->back && c.state >= 0)
		y = a.start[c.state];

	real h = course->plan.step.h;
	struct sums sum = stages(part, stages_of(a), h, y, b);
	real then = y + h * sum.order_7;

	judge(a, c, y, then, h * sum.error, b);
	__syncthreads();
	if (c.warp == 0) {
		struct myocyte_outcome o = outcome_of(a, b);

		if (!c.lane) {
			settle_attempt(cell, course, o);
			if (more)
				plan_attempt(cell, b, false);
		}
	}
	__syncthreads();
	if (!course->settled.accepted)
		return y;
	if (c.state >= 0 && course->settled.completed)
		((real *)a.end)[c.state * a.stride + id] = then;
	if (c.state >= 0 && course->settled.row)
		course->row->y[c.state] = double(then);
	return then;
}

/* The parameters, and what never changes. */
static __device__ inline void lay_out(const struct myocyte_cells &a, int64_t id, struct board *b)
{
	int i = (int)threadIdx.x;

	if (i < MYOCYTE_PARAMS)
		b->p[i] = ((const real *)a.p)[i * a.stride + id];
	if (i < MODULES)
		b->rate[i][NO_RATE] = 0;
	if (i)
		return;
	b->v[in::ONE] = 1;
	b->v[in::ZERO] = 0;
	b->term[NOTHING] = 0;
}

static __device__ inline void load_course(const struct myocyte_cells &a, int64_t id,
					  struct board *b)
{
	int i = (int)threadIdx.x;

	lay_out(a, id, b);
	if (i < MYOCYTE_COUNTS)
		b->course.count[i] = a.count[i * a.stride + id];
	if (i == 0) {
		b->course.t = a.t[id];
		b->course.h = a.h[id];
		b->course.taken = a.taken[id];
	}
	__syncthreads();
}

static __device__ inline void store_course(const struct myocyte_cells &a, int64_t id,
					   const struct board *b)
{
	int i = (int)threadIdx.x;

	if (i < MYOCYTE_COUNTS)
		a.count[i * a.stride + id] = b->course.count[i];
	if (i == 0) {
		a.t[id] = b->course.t;
		a.h[id] = b->course.h;
		a.taken[id] = b->course.taken;
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
		plan_attempt(cell, b, true);
	__syncthreads();
	struct part c = part_of(a, b->p, a.start[at::K_i]);
	real *mine = (real *)a.y + (c.state >= 0 ? c.state : 0) * a.stride + id, y = *mine;

	ROLLED for (int64_t i = 1; i <= n; i++) y = attempt_of(a, cell, &c, id, i < n, y, b);
	if (c.state >= 0)
		*mine = y;
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
	real f = derivative(&c, b);

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
