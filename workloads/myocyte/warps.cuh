/*
 * warps.cuh - spread=warps: a block for 32 cells, for the least time of many cells. Part of
 * kernels.cuh.
 *
 * In pseudo-code, for each block of 8 warps, lane = cell, warp = part of the equations with 11
 * states, and each attempt:
 *
 *   for each of 13 stages:
 *     phase 1: rates and currents that follow from the states; most derivatives; barrier
 *     phase 2: derivatives to which other warps contribute
 *     add the derivatives to the sums kept in registers; publish the next stage's states; barrier
 *   store the part's largest error; barrier
 *   one warp decides for each cell: accept or reject, the next h; barrier
 *   apply the decision: go on from the new state or the old one
 *
 * The naive version that it is tested against is myocyte_ref_adaptive() and myocyte_ref_fixed() of
 * reference_rkf.c, in double on the host. Nothing leaves the SM between the first attempt of a
 * launch and its last.
 */
#include "workloads/myocyte/warps_smem.cuh"
#include "workloads/myocyte/warps_math.cuh"
#include "workloads/myocyte/warps_gates.cuh"
#include "workloads/myocyte/warps_currents.cuh"
#include "workloads/myocyte/warps_modules.cuh"
#include "workloads/myocyte/warps_stages.cuh"
#include "workloads/myocyte/warps_course.cuh"

namespace myocyte
{
namespace
{
namespace in_warps
{
/* ---- a right-hand side -------------------------------------------------------------------- */

static __device__ inline void phase_1(struct thread_state *c)
{
	if (c->part <= CYTOSOL)
		module_rates(c);
	switch (c->part) {
	case DYAD:
		return slow_rectifier(c);
	case SHELL:
	case CYTOSOL:
		return side(c, c->part == SHELL);
	case KINASES:
		rapid_rectifier(c);
		kinase(c, 0, 1);
		return kinase(c, 1, 6);
	case RETICULUM:
		reticulum(c);
		return kinase(c, 2, 6);
	case GATES:
		return gates(c);
	case OUTWARD:
		return outward(c);
	default:
		return carriers(c);
	}
}

static __device__ inline void phase_2(struct thread_state *c)
{
	const struct column &t = c->term;

	if (c->part <= CYTOSOL)
		module_sums(c);
	if (c->part == SHELL)
		c->f[3] = -uM_per_A_F * (t[I_PCA] + t[I_PCA + 1]);
	if (c->part == CYTOSOL)
		c->f[3] = -uM_per_A_F * (t[I_CAB] + t[I_CAB + 1]);
	if (c->part == INTO_SUMS)
		sums(c);
}

/* V, or NaN beyond 500 mV: no cell is there, e_to() would be wrong, and the attempt must fail. */
static __device__ inline real usable(real V)
{
	return fabs(V) < real(500) ? V : real(NAN);
}

/* Publishes the states in c->x for a right-hand side behind the next barrier. */
static __device__ inline void publish(const struct thread_state &c)
{
	const real *x = c.x;
	int first = first_shown[c.part], n = n_shown[c.part];

	for (int i = 0; i < SHOWN_MOST; i++)
		if (i < n)
			c.v[first + i] = x[i];
	if (c.part == INTO_SUMS)
		c.v[on::V] = usable(x[0]);
	if (c.part == DYAD)
		c.v[on::CaM_sum] = (x[0] + x[1] + x[2]) + (x[CaMB] + x[Ca2CaMB] + x[Ca4CaMB]) +
				   (x[CaMCa4CaN] + x[Ca2CaMCa4CaN] + x[Ca4CaMCa4CaN]);
	if (c.part == KINASES)
		c.v[on::CaMKII_sum] = c.p[par::CaMKIItot_dy] * (x[1] + x[2] + x[3] + x[4]);
}

/* ---- attempts ----------------------------------------------------------------------------- */

/* All stages from the states that are published, up to the sums that store_error() reads. */
static __device__ inline void run_stages(int n, real h, struct kept *q, struct thread_state *c)
{
	ROLLED for (int s = 0; s < n; s++)
	{
		phase_1(c);
		__syncthreads();
		phase_2(c);
		advance(s, q, h, c);
		publish(*c);
		__syncthreads();
	}
}

/* Applies the decision: c->x has the attempt's new states, then those that the next begins with. */
static __device__ inline void apply_decision(const struct myocyte_cells &a, int64_t id,
					     const struct course &course, struct kept *q,
					     struct thread_state *c)
{
	uint32_t what = course.what[c->lane];
	struct myocyte_row *row = course.row[c->lane];

	for (int i = 0; i < OWN; i++) {
		int state = owned[c->part][i];

		if (what & ACCEPTED)
			q->y[i] = c->x[i];
		if (what & COMPLETED && state != NO_STATE)
			((real *)a.end)[state * a.stride + id] = c->x[i];
		if (what & ROW && state != NO_STATE)
			row->y[state] = double(c->x[i]);
		if (what & BACK && state != NO_STATE)
			q->y[i] = a.start[state];
		c->x[i] = q->y[i];
	}
}

/* One attempt, which has been planned. Plans one more. */
static __device__ inline void run_attempt(const struct myocyte_cells &a,
					  const struct myocyte_cells &cells, int64_t id, bool more,
					  struct kept *q, struct thread_state *c,
					  struct warps_smem *b)
{
	real h = b->step[c->lane];

	run_stages(stage_count(a), h, q, c);
	store_error(a, q, h, c, b);
	__syncthreads();
	if (c->part == DECIDES) {
		struct myocyte_outcome o = attempt_outcome(a, c->lane, b);

		settle_attempt(a, cells, id, c->lane, &b->course, o);
		if (more)
			plan_attempt(cells, c->lane, false, b);
	}
	__syncthreads();
	apply_decision(a, id, b->course, q, c);
	publish(*c);
	__syncthreads();
}

/* Loads the states and plans the first attempt. */
static __device__ inline void begin_attempts(const struct myocyte_cells &a,
					     const struct myocyte_cells &cells, int64_t id,
					     struct kept *q, struct thread_state *c,
					     struct warps_smem *b)
{
	init_smem(a, id, *c, b);
	if (c->part == DECIDES)
		load_course(a, id, c->lane, &b->course);
	for (int i = 0; i < OWN; i++) {
		int state = owned[c->part][i];

		q->y[i] = 0;
		if (state != NO_STATE)
			q->y[i] = ((const real *)a.y)[state * a.stride + id];
	}
	__syncthreads();
	if (c->part == DECIDES)
		plan_attempt(cells, c->lane, true, b);
	__syncthreads();
	apply_decision(a, id, b->course, q, c);
	publish(*c);
	__syncthreads();
}

/* Lanes of the last block that have no cell compute the last cell once more. */
static __device__ inline int64_t clamp_to_last(int64_t i, int64_t n)
{
	return i < n ? i : n - 1;
}
} // namespace in_warps
} // namespace
} // namespace myocyte

extern "C" __global__ void __launch_bounds__(in_warps::THREADS, in_warps::BLOCKS)
	MYOCYTE_IN(myocyte_attempts_in_warps)(struct myocyte_cells a, int64_t n)
{
	DYN_SHARED(struct in_warps::warps_smem, b);
	struct in_warps::thread_state c = in_warps::make_thread_state(a, b);
	struct in_warps::kept q = in_warps::make_kept(b, c);
	int64_t i = (int64_t)blockIdx.x * in_warps::CELLS + c.lane;
	int64_t id = a.first + in_warps::clamp_to_last(i, a.running), own = i < a.running ? id : -1;
	struct myocyte_cells cells = in_warps::shared_view(a, b);

	in_warps::begin_attempts(a, cells, id, &q, &c, b);
	ROLLED for (int64_t i = 1; i <= n; i++)
		in_warps::run_attempt(a, cells, own, i < n, &q, &c, b);
	if (own < 0)
		return;
	for (int i = 0; i < in_warps::OWN; i++) {
		int state = in_warps::owned[c.part][i];

		if (state != in_warps::NO_STATE)
			((real *)a.y)[state * a.stride + id] = q.y[i];
	}
	if (c.part == in_warps::DECIDES)
		in_warps::store_course(a, id, c.lane, &b->course);
}
KERNEL(MYOCYTE_IN(myocyte_attempts_in_warps));

/* The right-hand side alone, for derivatives=. */
extern "C" __global__ void __launch_bounds__(in_warps::THREADS, in_warps::BLOCKS)
	MYOCYTE_IN(myocyte_evaluate_in_warps)(struct myocyte_cells a)
{
	DYN_SHARED(struct in_warps::warps_smem, b);
	struct in_warps::thread_state c = in_warps::make_thread_state(a, b);
	int64_t i = (int64_t)blockIdx.x * in_warps::CELLS + c.lane;
	int64_t id = in_warps::clamp_to_last(i, a.running);
	const real *y = (const real *)a.y + id;

	in_warps::init_smem(a, id, c, b);
	for (int i = 0; i < in_warps::OWN; i++) {
		int state = in_warps::owned[c.part][i];

		c.x[i] = state == in_warps::NO_STATE ? real(0) : y[state * a.stride];
	}
	if (!c.part)
		b->stimulus[c.lane] = stimulus_at(
			a.t[id], double(((const real *)a.p)[par::T_cycle * a.stride + id]));
	__syncthreads();
	in_warps::publish(c);
	__syncthreads();
	in_warps::phase_1(&c);
	__syncthreads();
	in_warps::phase_2(&c);
	if (i >= a.running)
		return;
	for (int i = 0; i < in_warps::OWN; i++) {
		int state = in_warps::owned[c.part][i];

		if (state != in_warps::NO_STATE)
			((real *)a.k)[state * a.stride + id] = a.guarded ? guarded(c.f[i]) : c.f[i];
	}
	if (!c.part)
		for (int state : in_warps::constant)
			((real *)a.k)[state * a.stride + id] = 0;
}
KERNEL(MYOCYTE_IN(myocyte_evaluate_in_warps));

static dim3 blocks_of_warps(const struct myocyte_cells *cells)
{
	return dim3((unsigned)((cells->running + in_warps::CELLS - 1) / in_warps::CELLS));
}

/* Shared memory beyond 48 KiB has to be asked for. */
static void load_warps(void)
{
	const void *const kernels[] = { (const void *)MYOCYTE_IN(myocyte_attempts_in_warps),
					(const void *)MYOCYTE_IN(myocyte_evaluate_in_warps) };

	for (const void *kernel : kernels)
		CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
					  (int)sizeof(struct in_warps::warps_smem)));
}

static void attempt_in_warps(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_attempts_in_warps), blocks_of_warps(cells),
		    in_warps::THREADS, sizeof(struct in_warps::warps_smem), stream, *cells, n));
}

static void derivatives_in_warps(const struct myocyte_cells *cells, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_evaluate_in_warps), blocks_of_warps(cells),
		    in_warps::THREADS, sizeof(struct in_warps::warps_smem), stream, *cells));
}
