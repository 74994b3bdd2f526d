/*
 * warps.cuh - spread=warps: a block for 32 cells, a warp for a part of the equations, so that
 * many cells take as little time as they can. Part of kernels.cuh.
 *
 * Nothing leaves the multiprocessor between the first attempt of a launch and its last.
 */
#include "workloads/myocyte/warps_board.cuh"
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

static __device__ inline void phase_1(struct mine *c)
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

static __device__ inline void phase_2(struct mine *c)
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

/* Beyond 500 mV, where no cell ever is, e_to() would be wrong: the attempt is to fail. */
static __device__ inline real usable(real V)
{
	return fabs(V) < real(500) ? V : real(NAN);
}

/* The states in c->x, for a right-hand side behind the next barrier. */
static __device__ inline void show(const struct mine &c)
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

/* All stages from the states that are shown, up to what judge() takes. */
static __device__ inline void stages(int n, real h, struct kept *q, struct mine *c)
{
	ROLLED for (int s = 0; s < n; s++)
	{
		phase_1(c);
		__syncthreads();
		phase_2(c);
		advance(s, q, h, c);
		show(*c);
		__syncthreads();
	}
}

/* What has been decided: c->x has the states that the attempt came to, then those to go on from. */
static __device__ inline void take(const struct myocyte_cells &a, int64_t id,
				   const struct course &course, struct kept *q, struct mine *c)
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
static __device__ inline void attempt_of(const struct myocyte_cells &a,
					 const struct myocyte_cells &cells, int64_t id, bool more,
					 struct kept *q, struct mine *c, struct board *b)
{
	real h = b->step[c->lane];

	stages(stages_of(a), h, q, c);
	judge(a, q, h, c, b);
	__syncthreads();
	if (c->part == DECIDES) {
		struct myocyte_outcome o = outcome_of(a, c->lane, b);

		settle_attempt(a, cells, id, c->lane, &b->course, o);
		if (more)
			plan_attempt(cells, c->lane, false, b);
	}
	__syncthreads();
	take(a, id, b->course, q, c);
	show(*c);
	__syncthreads();
}

/* Where the first attempt begins. */
static __device__ inline void begin(const struct myocyte_cells &a,
				    const struct myocyte_cells &cells, int64_t id, struct kept *q,
				    struct mine *c, struct board *b)
{
	lay_out(a, id, *c, b);
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
	take(a, id, b->course, q, c);
	show(*c);
	__syncthreads();
}

/* The last cell stands in where the last block has lanes to spare. */
static __device__ inline int64_t last_or(int64_t i, int64_t n)
{
	return i < n ? i : n - 1;
}
} // namespace in_warps
} // namespace
} // namespace myocyte

extern "C" __global__ void __launch_bounds__(in_warps::THREADS, in_warps::BLOCKS)
	MYOCYTE_IN(myocyte_attempts_in_warps)(struct myocyte_cells a, int64_t n)
{
	DYN_SHARED(struct in_warps::board, b);
	struct in_warps::mine c = in_warps::mine_of(a, b);
	struct in_warps::kept q = in_warps::kept_of(b, c);
	int64_t i = (int64_t)blockIdx.x * in_warps::CELLS + c.lane;
	int64_t id = a.first + in_warps::last_or(i, a.running), own = i < a.running ? id : -1;
	struct myocyte_cells cells = in_warps::here(a, b);

	in_warps::begin(a, cells, id, &q, &c, b);
	ROLLED for (int64_t i = 1; i <= n; i++)
		in_warps::attempt_of(a, cells, own, i < n, &q, &c, b);
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
	DYN_SHARED(struct in_warps::board, b);
	struct in_warps::mine c = in_warps::mine_of(a, b);
	int64_t i = (int64_t)blockIdx.x * in_warps::CELLS + c.lane;
	int64_t id = in_warps::last_or(i, a.running);
	const real *y = (const real *)a.y + id;

	in_warps::lay_out(a, id, c, b);
	for (int i = 0; i < in_warps::OWN; i++) {
		int state = in_warps::owned[c.part][i];

		c.x[i] = state == in_warps::NO_STATE ? real(0) : y[state * a.stride];
	}
	if (!c.part)
		b->stimulus[c.lane] = stimulus_at(
			a.t[id], double(((const real *)a.p)[par::T_cycle * a.stride + id]));
	__syncthreads();
	in_warps::show(c);
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
					  (int)sizeof(struct in_warps::board)));
}

static void attempt_in_warps(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_attempts_in_warps), blocks_of_warps(cells),
		    in_warps::THREADS, sizeof(struct in_warps::board), stream, *cells, n));
}

static void derivatives_in_warps(const struct myocyte_cells *cells, cudaStream_t stream)
{
	CUDA(LAUNCH(MYOCYTE_IN(myocyte_evaluate_in_warps), blocks_of_warps(cells),
		    in_warps::THREADS, sizeof(struct in_warps::board), stream, *cells));
}
