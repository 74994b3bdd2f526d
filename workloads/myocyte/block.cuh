/*
 * block.cuh - spread=block: a block for each cell, so that a few cells take as little time as
 * they can. Part of kernels.cuh.
 *
 * States stay in registers from the first attempt of a launch to its last. So do the sums of
 * the stages to come: each derivative is added to all of them as soon as it is there.
 */
#include "workloads/myocyte/block_board.cuh"
#include "workloads/myocyte/block_exps.cuh"
#include "workloads/myocyte/block_modules.cuh"
#include "workloads/myocyte/block_currents.cuh"

namespace myocyte
{
namespace
{
enum { AHEAD = MYOCYTE_STAGES - 1 };

/* of[s][j]: what derivative s weighs in stage s + 1 + j; in the new state; in its error. */
struct weights {
	real of[MYOCYTE_STAGES][AHEAD], order_7[MYOCYTE_STAGES], error[MYOCYTE_STAGES];
};

static constexpr struct weights weights_of_tableau()
{
	struct weights w = {};

	for (int s = 0; s < STAGES; s++)
		for (int j = 0; j < AHEAD; j++)
			w.of[s][j] = s + 1 + j < STAGES ? tableau[s + 1 + j][s] : 0;
	const double b[STAGES] = { 41. / 840, 0,	0,	  0,	     0, 34. / 105, 9. / 35,
				   9. / 35,   9. / 280, 9. / 280, 41. / 840, 0, 0 };
	for (int s = 0; s < STAGES; s++)
		w.order_7[s] = b[s];
	w.error[0] = w.error[10] = 41. / 840;
	w.error[11] = w.error[12] = -41. / 840;
	return w;
}

static __constant__ const struct weights weights = weights_of_tableau();

/* ---- a thread's part --------------------------------------------------------------------- */

struct part {
	int warp, lane;
	int state; /* that this thread owns, or -1 */
	bool benchmark;
	real E_K; /* K_i is clamped */
	struct my_exponential exponential;
	struct my_power power;
	struct my_module module;
	struct my_buffer buffer;
};

static __device__ inline int state_of(int warp, int lane)
{
	const int8_t V[] = { at::m, at::h, at::j, at::d, at::f, at::x_Kr, at::x_Ks, at::V };
	const int8_t V_more[] = { at::x_tos, at::y_tos,	  at::x_tof,  at::y_tof, at::r_tos,
				  at::Q_CaL, at::Q_pCa,	  at::Q_NCX,  at::Q_Cab, at::CaM_ecc,
				  at::K_i,   at::spare40, at::spare41 };
	const int8_t logs[] = { at::RyR_R, at::RyR_O, at::RyR_I, at::Ca_SR, at::Ca_i };
	const int8_t buffer[] = { at::Ca_j, at::Ca_sl };
	const int8_t exchange[] = { at::Na_j, at::Na_sl, at::Na_i };

	switch (warp) {
	case WARP_V:
		return lane < 8 ? V[lane] : -1;
	case WARP_V_MORE:
		return lane < 13 ? V_more[lane] : -1;
	case WARP_LOGS:
		return lane < 5 ? logs[lane] : -1;
	case WARP_BUFFERS:
		return lane < BUFFERS	    ? buffers[lane].state
		       : lane < BUFFERS + 2 ? buffer[lane - BUFFERS]
					    : -1;
	case WARP_EXCHANGE:
		return lane < 3 ? exchange[lane] : -1;
	default:
		return lane < 15 ? at::CaM_dy + 15 * (warp - WARP_MODULE) + lane : -1;
	}
}

static __device__ inline struct part part_of(const struct myocyte_cells &a, const real *p, real K_i)
{
	struct part c;
	int lane = (int)threadIdx.x % LANES, warp = (int)threadIdx.x / LANES,
	    m = warp - WARP_MODULE;

	c.warp = warp;
	c.lane = lane;
	c.state = state_of(warp, lane);
	c.benchmark = a.benchmark;
	c.E_K = log(K_o / K_i) / FRT;
	c.exponential = my_exponential(warp == WARP_V ? lane : (EXPS + 1) / 2 + lane, c.E_K);
	c.power = my_power(lane);
	c.module = my_module(m < 0 || m >= MODULES ? 0 : m, lane, a.benchmark, p);
	c.buffer = my_buffer(lane);
	return c;
}

/* ---- a right-hand side ------------------------------------------------------------------- */

static __device__ inline real phase_1(const struct part &c, struct board *b)
{
	switch (c.warp) {
	case WARP_V:
	case WARP_V_MORE:
		exponential(c.exponential, !c.benchmark, b);
		return 0;
	case WARP_LOGS:
		power(c.power, b);
		return 0;
	case WARP_BUFFERS:
		return buffer_uptake(c.buffer, b);
	case WARP_EXCHANGE:
		saturations(c.lane % SIDES, b);
		return 0;
	default:
		module_rates(c.module, b);
		return 0;
	}
}

static __device__ inline real phase_2(const struct part &c, struct board *b, real f)
{
	switch (c.warp) {
	case WARP_V:
		b->K = currents_of_V(c.E_K, b);
		return gate(c.lane, b);
	case WARP_V_MORE:
		return gate_of_I_to(c.lane, b);
	case WARP_LOGS:
		return reticulum(c.lane, b);
	case WARP_BUFFERS:
		currents_of_side(c.lane % SIDES, c.benchmark, b);
		return f;
	case WARP_EXCHANGE:
		b->NCX[c.lane % SIDES] = exchanger(c.lane % SIDES, b);
		return 0;
	case WARP_MODULE:
		b->K1 = inward_rectifier(c.E_K, b);
		return module_sums(c.module, b);
	case WARP_MODULE + 1:
		b->NaK[c.lane % SIDES] = pump_of_Na(c.lane % SIDES, b);
		return module_sums(c.module, b);
	default:
		return module_sums(c.module, b);
	}
}

static __device__ inline real phase_3(const struct part &c, real stimulus, const struct board *b,
				      real f)
{
	switch (c.warp) {
	case WARP_V:
		return choose(c.state == at::V, sum_of_V(stimulus, b), f);
	case WARP_V_MORE:
		return c.lane < 5 ? f : c.lane < 9 ? integral(c.lane - 5, b) : real(0);
	case WARP_LOGS:
		return c.lane < 3 ? f : sum_of_store(c.state == at::Ca_SR, b);
	case WARP_BUFFERS:
		return c.lane < BUFFERS ? f : sum_of_Ca((c.lane - BUFFERS) % SIDES, b);
	case WARP_EXCHANGE:
		return sum_of_Na(c.lane, b);
	default:
		return f;
	}
}

/* The derivative of the thread's state, once all threads have put theirs into b->v. */
static __device__ inline real derivative(const struct part &c, real stimulus, struct board *b)
{
	real f;

	__syncthreads();
	f = phase_1(c, b);
	__syncthreads();
	f = phase_2(c, b, f);
	__syncthreads();
	return phase_3(c, stimulus, b, f);
}

/* ---- an attempt -------------------------------------------------------------------------- */

struct sums {
	real ahead[AHEAD], order_7, error;
};

static __device__ inline void show(const struct part &c, struct board *b, real y)
{
	if (c.state >= 0)
		b->v[c.state] = y;
}

/* All stages from y, in steps of h: the sums that are left. */
static __device__ inline struct sums stages(const struct part &c, int n, real stimulus, real h,
					    real y, struct board *b)
{
	struct sums sum = {};

	show(c, b, y);
	ROLLED for (int s = 0; s < n; s++)
	{
		real k = derivative(c, stimulus, b);

		show(c, b, y + h * (sum.ahead[0] + weights.of[s][0] * k));
		for (int j = 1; j < AHEAD; j++)
			sum.ahead[j - 1] = sum.ahead[j] + weights.of[s][j] * k;
		sum.ahead[AHEAD - 1] = 0;
		sum.order_7 = sum.order_7 + weights.order_7[s] * k;
		sum.error = sum.error + weights.error[s] * k;
	}
	return sum;
}

/* How far the thread's state is off, in units of what a step allows: see combine_adaptive(). */
static __device__ inline void judge(const struct myocyte_cells &a, const struct part &c, real now,
				    real then, real e, struct board *b)
{
	real R = a.tolerance, size = fmax(fabs(now), fabs(then));
	bool finite = c.state < 0 || (is_finite(then) && is_finite(e));

	if (c.state >= 0) {
		real least = R * 1e-3 * fmax(fabs(real(a.start[c.state])), real(1e-9));

		b->worst[c.state] = fabs(e) / (least + R * size);
	}
	finite = __all_sync(~0u, finite);
	if (!c.lane)
		b->finite[c.warp] = finite;
}

/* By the first warp: what came of the attempt. */
static __device__ inline struct myocyte_outcome outcome_of(const struct myocyte_cells &a,
							   const struct board *b)
{
	int lane = (int)threadIdx.x;
	double worst = 0;
	bool finite = true;

	for (int i = lane; i < STATES; i += LANES)
		worst = fmax(worst, double(b->worst[i]));
	for (int other = LANES / 2; other; other /= 2)
		worst = fmax(worst, __shfl_xor_sync(~0u, worst, other));
	for (int w = 0; w < WARPS; w++)
		finite = finite && b->finite[w];
	if (a.solver == MYOCYTE_FIXED)
		return { 1, true, finite };
	return outcome_of_error(worst, finite);
}

/* ---- the course of a cell ---------------------------------------------------------------- */

/* The cell's numbers as control.cuh wants them, in shared memory. */
static __device__ inline struct myocyte_cells alone(const struct myocyte_cells &a, struct board *b)
{
	struct myocyte_cells cell = a;

	cell.stride = 1;
	cell.t = &b->course.t;
	cell.h = &b->course.h;
	cell.taken = &b->course.taken;
	cell.count = b->course.count;
	cell.p = b->p;
	return cell;
}

static __device__ inline void plan_attempt(const struct myocyte_cells &cell, struct course *c)
{
	c->back = c->t >= cell.span;
	if (c->back)
		set_back(cell, 0);
	c->plan = plan_step(cell, 0);
	c->stimulus = stage_stimulus(c->plan.step, 0);
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

/* One attempt: the state of the thread after it. */
static __device__ inline real attempt_of(const struct myocyte_cells &a,
					 const struct myocyte_cells &cell, const struct part &c,
					 int64_t id, real y, struct board *b)
{
	struct course *course = &b->course;

	if (!threadIdx.x)
		plan_attempt(cell, course);
	__syncthreads();
	if (course->back && c.state >= 0)
		y = a.start[c.state];

	real h = course->plan.step.h;
	struct sums sum = stages(c, stages_of(a), course->stimulus, h, y, b);
	real then = y + h * sum.order_7;

	judge(a, c, y, then, h * sum.error, b);
	__syncthreads();
	if (c.warp == 0) {
		struct myocyte_outcome o = outcome_of(a, b);

		if (!c.lane)
			settle_attempt(cell, course, o);
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

static __device__ inline void load_course(const struct myocyte_cells &a, int64_t id,
					  struct board *b)
{
	int i = (int)threadIdx.x;

	if (i < MYOCYTE_PARAMS)
		b->p[i] = ((const real *)a.p)[i * a.stride + id];
	if (i < MYOCYTE_COUNTS)
		b->course.count[i] = a.count[i * a.stride + id];
	if (i == 0) {
		b->course.t = a.t[id];
		b->course.h = a.h[id];
		b->course.taken = a.taken[id];
		b->v[in::ONE] = 1;
		b->v[in::ZERO] = 0;
		for (int m = 0; m < MODULES; m++)
			b->rate[m][NO_RATE] = 0;
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
	struct part c = part_of(a, b->p, a.start[at::K_i]);
	real *mine = (real *)a.y + (c.state >= 0 ? c.state : 0) * a.stride + id, y = *mine;

	ROLLED for (int64_t i = 0; i < n; i++) y = attempt_of(a, cell, c, id, y, b);
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

	if (threadIdx.x < MYOCYTE_PARAMS)
		b->p[threadIdx.x] = ((const real *)a.p)[threadIdx.x * a.stride + id];
	if (threadIdx.x < STATES)
		b->v[threadIdx.x] = y[threadIdx.x * a.stride];
	if (threadIdx.x == 0) {
		b->v[in::ONE] = 1;
		b->v[in::ZERO] = 0;
		for (int m = 0; m < MODULES; m++)
			b->rate[m][NO_RATE] = 0;
	}
	__syncthreads();
	struct part c = part_of(a, b->p, y[at::K_i * a.stride]);
	real f = derivative(c, stimulus_at(a.t[id], double(b->p[par::T_cycle])), b);

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
