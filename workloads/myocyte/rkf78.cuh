/*
 * rkf78.cuh - one step of the Runge-Kutta-Fehlberg 7(8) pair for one cell.
 *
 * The stage sums also run on the host, for control=host. Source: Fehlberg, NASA TR R-287 (1968).
 */
#ifndef RIFT_MYOCYTE_RKF78_CUH
#define RIFT_MYOCYTE_RKF78_CUH

#include "workloads/myocyte/device.h"
#include "workloads/myocyte/model.cuh"

/* Keeps a loop whose body is large from being copied. */
#ifdef __CUDACC__
#define ROLLED _Pragma("unroll 1")
#else
#define ROLLED
#endif

namespace myocyte
{
namespace
{
enum { STATES = MYOCYTE_STATES, STAGES = MYOCYTE_STAGES };

/* Row s: what stage s + 1 of the papers takes of the stages before it. */
// clang-format off
constexpr double tableau[STAGES][STAGES - 1] = {
	{},
	{ 2. / 27 },
	{ 1. / 36, 1. / 12 },
	{ 1. / 24, 0, 1. / 8 },
	{ 5. / 12, 0, -25. / 16, 25. / 16 },
	{ 1. / 20, 0, 0, 1. / 4, 1. / 5 },
	{ -25. / 108, 0, 0, 125. / 108, -65. / 27, 125. / 54 },
	{ 31. / 300, 0, 0, 0, 61. / 225, -2. / 9, 13. / 900 },
	{ 2, 0, 0, -53. / 6, 704. / 45, -107. / 9, 67. / 90, 3 },
	{ -91. / 108, 0, 0, 23. / 108, -976. / 135, 311. / 54, -19. / 60, 17. / 6, -1. / 12 },
	{ 2383. / 4100, 0, 0, -341. / 164, 4496. / 1025, -301. / 82, 2133. / 4100, 45. / 82,
	  45. / 164, 18. / 41 },
	{ 3. / 205, 0, 0, 0, 0, -6. / 41, -3. / 205, -3. / 41, 3. / 41, 6. / 41 },
	{ -1777. / 4100, 0, 0, -341. / 164, 4496. / 1025, -289. / 82, 2193. / 4100, 51. / 82,
	  33. / 164, 12. / 41, 0, 1 },
};
// clang-format on

/* Times of the stages, in steps from the start of the step. */
EITHER double node(int s)
{
	constexpr double nodes[STAGES] = { 0,	   2. / 27, 1. / 9, 1. / 6, 5. / 12, 1. / 2, 5. / 6,
					   1. / 6, 2. / 3,  1. / 3, 1,	    0,	     1 };

	return nodes[s];
}

/* sum over r <= R of tableau[S][r] k_r, for one state; next is the distance of k_r to k_r+1. */
template <int S, int R> EITHER real weighted(const real *__restrict__ k, int64_t next)
{
	[[maybe_unused]] constexpr double a = tableau[S][R];

	if constexpr (R == 0)
		return a * k[0];
	else if constexpr (a == 0)
		return weighted<S, R - 1>(k, next);
	else
		return weighted<S, R - 1>(k, next) + a * k[R * next];
}

/* One cell's columns. n: distance between states, in words; stage s of k is 91 n further. */
struct cell {
	real *y, *trial, *k;
	const real *p;
	int n;

	__host__ __device__ int64_t stage() const
	{
		return (int64_t)STATES * n;
	}
};

EITHER struct cell cell_at(const struct myocyte_cells &a, int64_t id)
{
	return { (real *)a.y + id, (real *)a.trial + id, (real *)a.k + id, (const real *)a.p + id,
		 (int)a.stride };
}

template <int S>
EITHER void add_stages(real *__restrict__ trial, const real *__restrict__ y,
		       const real *__restrict__ k, int n, real h)
{
	for (int i = 0; i < STATES; i++)
		trial[i * n] = y[i * n] + h * weighted<S, S - 1>(k + i * n, (int64_t)STATES * n);
}

template <int S> EITHER void stage_state(const struct cell &c, real h)
{
	add_stages<S>(c.trial, c.y, c.k, c.n, h);
}

/* trial = the state at which stage s (0 based, not the first) is evaluated. */
EITHER void prepare_stage(const struct cell &c, int s, real h)
{
	switch (s) {
	case 1:
		return stage_state<1>(c, h);
	case 2:
		return stage_state<2>(c, h);
	case 3:
		return stage_state<3>(c, h);
	case 4:
		return stage_state<4>(c, h);
	case 5:
		return stage_state<5>(c, h);
	case 6:
		return stage_state<6>(c, h);
	case 7:
		return stage_state<7>(c, h);
	case 8:
		return stage_state<8>(c, h);
	case 9:
		return stage_state<9>(c, h);
	case 10:
		return stage_state<10>(c, h);
	case 11:
		return stage_state<11>(c, h);
	default:
		return stage_state<12>(c, h);
	}
}

/* A step to be tried. */
struct step {
	double t, h;	 /* ms */
	double T;	 /* cycle length, ms */
	bool benchmark;	 /* equations */
	bool as_rodinia; /* stimulus of each stage's own time, derivatives guarded */
};

/* Steps that end on the edges of the stimulus see their own side of it: that of the midpoint. */
EITHER double stage_time(const struct step &step, int s)
{
	return step.t + step.h * (step.as_rodinia ? node(s) : 0.5);
}

EITHER double stage_stimulus(const struct step &step, int s)
{
	return stimulus_at(stage_time(step, s), step.T);
}

static __device__ inline void guard(real *f, int n)
{
	for (int i = 0; i < STATES; i++)
		f[i * n] = guarded(f[i * n]);
}

/* k_s, once k_0 .. k_(s-1) are there. */
static __device__ inline void evaluate_stage(const struct cell &c, const struct step &step, int s,
					     double stimulus)
{
	real *f = c.k + s * c.stage();

	if (s)
		prepare_stage(c, s, step.h);
	right_hand_side(step.benchmark, stimulus, c.p, s ? c.trial : c.y, f, c.n);
	if (step.as_rodinia)
		guard(f, c.n);
}

/* All stages. The stimulus is a division with remainder: once a step, where it is one for all. */
static __device__ inline void evaluate_stages(const struct cell &c, const struct step &step,
					      int stages)
{
	double stimulus = stage_stimulus(step, 0);

	ROLLED for (int s = 0; s < stages; s++)
	{
		if (step.as_rodinia)
			stimulus = stage_stimulus(step, s);
		evaluate_stage(c, step, s, stimulus);
	}
}

/* State i after a step of length h. */
EITHER real order_7(const struct cell &c, int i, real h)
{
	const real *k = c.k + i * c.n;
	int64_t next = c.stage();

	return c.y[i * c.n] +
	       h * (41. / 840 * (k[0] + k[10 * next]) + 34. / 105 * k[5 * next] +
		    9. / 35 * (k[6 * next] + k[7 * next]) + 9. / 280 * (k[8 * next] + k[9 * next]));
}

/* |order 8 - order 7|/h of state i. */
EITHER real error_rate(const struct cell &c, int i)
{
	const real *k = c.k + i * c.n;
	int64_t next = c.stage();

	return fabs(41. / 840 * (k[0] + k[10 * next] - k[11 * next] - k[12 * next]));
}
} // namespace
} // namespace myocyte

#endif
