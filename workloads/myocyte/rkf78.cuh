/*
 * rkf78.cuh - one step of the Runge-Kutta-Fehlberg 7(8) pair for one cell.
 *
 * Source: Fehlberg, NASA TR R-287 (1968).
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

/* sum over r <= R of tableau[S][r] k_r, for one state; next is the distance of k_r to k_r+1. */
template <int S, int R>
static __device__ inline double weighted(const double *__restrict__ k, int64_t next)
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
	double *y, *trial, *k;
	const double *p;
	int n;

	__device__ int64_t stage() const
	{
		return (int64_t)STATES * n;
	}
};

template <int S>
static __device__ inline void add_stages(double *__restrict__ trial, const double *__restrict__ y,
					 const double *__restrict__ k, int n, double h)
{
	for (int i = 0; i < STATES; i++)
		trial[i * n] = y[i * n] + h * weighted<S, S - 1>(k + i * n, (int64_t)STATES * n);
}

template <int S> static __device__ inline void stage_state(const struct cell &c, double h)
{
	add_stages<S>(c.trial, c.y, c.k, c.n, h);
}

/* trial = the state at which stage s (0 based, not the first) is evaluated. */
static __device__ inline void prepare_stage(const struct cell &c, int s, double h)
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

/* k_0 .. k_(stages - 1) of a step of length h. One call of the model keeps the code small. */
static __device__ inline void evaluate_stages(const struct cell &c, bool benchmark, int stages,
					      double h, double stimulus)
{
	ROLLED for (int s = 0; s < stages; s++)
	{
		if (s)
			prepare_stage(c, s, h);
		right_hand_side(benchmark, stimulus, c.p, s ? c.trial : c.y, c.k + s * c.stage(),
				c.n);
	}
}

/* State i after a step of length h. */
static __device__ inline double order_7(const struct cell &c, int i, double h)
{
	const double *k = c.k + i * c.n;
	int64_t next = c.stage();

	return c.y[i * c.n] +
	       h * (41. / 840 * (k[0] + k[10 * next]) + 34. / 105 * k[5 * next] +
		    9. / 35 * (k[6 * next] + k[7 * next]) + 9. / 280 * (k[8 * next] + k[9 * next]));
}

/* |order 8 - order 7|/h of state i. */
static __device__ inline double error_rate(const struct cell &c, int i)
{
	const double *k = c.k + i * c.n;
	int64_t next = c.stage();

	return fabs(41. / 840 * (k[0] + k[10 * next] - k[11 * next] - k[12 * next]));
}

/* What came of a step: it is in trial. */
struct outcome {
	double error; /* largest in units of the tolerance; 0 for a fixed step */
	bool finite;
};

static __device__ inline struct outcome combine_adaptive(const struct cell &c, double h, double R,
							 const double *start)
{
	struct outcome o = { 0, true };

	for (int i = 0; i < STATES; i++) {
		double now = c.y[i * c.n], then = order_7(c, i, h), e = h * error_rate(c, i);
		double least = R * 1e-3 * fmax(fabs(start[i]), 1e-9);
		double r = e / (least + R * fmax(fabs(now), fabs(then)));

		o.error = fmax(o.error, r); /* drops NaN: that is what finite is for */
		o.finite = o.finite && isfinite(then) && isfinite(e);
		c.trial[i * c.n] = then;
	}
	return o;
}

static __device__ inline struct outcome combine_fixed(const struct cell &c, double h)
{
	struct outcome o = { 0, true };

	for (int i = 0; i < STATES; i++) {
		double then = order_7(c, i, h);

		o.finite = o.finite && isfinite(then);
		c.trial[i * c.n] = then;
	}
	return o;
}
} // namespace myocyte

#endif
