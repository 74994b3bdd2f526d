/*
 * functions.cuh - logarithm, root, cosine and exponential of arguments in known ranges. With them
 * two of Philox's words become a normally distributed number (Box and Muller).
 *
 * No special cases and no tables: 70 instructions a number where the library's take 140. Errors
 * are a few ulp of the largest term, far below what positions and weights are compared to.
 */
#ifndef RIFT_PARTICLEFILTER_FUNCTIONS_CUH
#define RIFT_PARTICLEFILTER_FUNCTIONS_CUH

#include <math.h>
#include <string.h>

#include "common/gpu.h"
#include "common/philox.h"

namespace pf
{
static __device__ inline double as_double(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static __device__ inline uint64_t as_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* 1/x of a normal number; the approximation is good to 2^-20, one cubic step makes that 2^-60. */
static __device__ inline double reciprocal(double x)
{
#ifdef __CUDACC__
	double y;

	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
	double e = fma(-x, y, 1.0);

	return fma(y, fma(e, e, e), y);
#else
	return 1 / x;
#endif
}

/* The root of a positive normal number, likewise: (1 - e)^(-1/2) = 1 + e/2 + 3 e^2/8. */
static __device__ inline double root(double x)
{
#ifdef __CUDACC__
	double y;

	asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
	double t = x * y, e = fma(-t, y, 1.0);

	return fma(t, e * fma(e, 0.375, 0.5), t);
#else
	return sqrt(x);
#endif
}

/* By Horner's scheme, a multiply-add a coefficient. */
template <int N> static __device__ inline double polynomial(const double (&c)[N], double x)
{
	double sum = c[N - 1];

	for (int i = N - 2; i >= 0; i--)
		sum = fma(sum, x, c[i]);
	return sum;
}

/*
 * In constant memory, where multiply-adds take them from; as literals each would cost two moves.
 * Chebyshev fits: artanh(s)/s in s^2 up to 0.02945, to 1.2e-18; sin(pi t)/t in t^2 up to 1/4, to
 * 6.5e-19; e^r up to ln(2)/2, to 3.2e-18.
 */
static __constant__ double log_terms[] = { 0.999999999999999999,  0.333333333333338243,
					   0.199999999996502455,  0.142857143805301593,
					   0.1111109850600098,	  0.0909181705615437555,
					   0.0765623151478707426, 0.0740519560815730009 };
static __constant__ double sine_terms[] = { 3.14159265358979324,    -5.16771278004996961,
					    2.55016403987730047,    -0.599264529318944681,
					    0.082145886573102895,   -0.0073704305059169434,
					    0.00046629981618983938, -0.0000219034970746260172,
					    7.69782676822419065e-7 };
static __constant__ double exp_terms[] = { 0.999999999999999997,     1.0,
					   0.500000000000001839,     0.166666666666666808,
					   0.0416666666664880955,    0.00833333333331960061,
					   0.00138888889523147747,   0.000198412698900471137,
					   0.0000248014854823284924, 2.75572409185789698e-6,
					   2.76326396390410297e-7,   2.51100376059637777e-8 };

/*
 * -2 ln u, u = (word + 1/2) / 2^32 = 2^e m with m from sqrt(1/2) to sqrt(2), and ln m =
 * 2 artanh(s), s = (m - 1)/(m + 1), |s| < 0.1716.
 */
static __device__ inline double minus_two_log(uint32_t word)
{
	const uint64_t root_of_half = 0x3fe6a09e00000000u, one = 0x3ff0000000000000u;
	uint64_t x = as_bits((double)word + 0.5) + (one - root_of_half);
	int e = (int)(x >> 52) - 1023 - 32;
	double m = as_double((x & 0xfffffffffffffu) + root_of_half);
	double s = (m - 1) * reciprocal(m + 1);

	return fma((double)e, -2 * 0.693147180559945309417, -4 * s * polynomial(log_terms, s * s));
}

/*
 * cos(2 pi v), v = (word + 1/2) / 2^32 = t + 1/2: as 2 sin^2(pi t) - 1 it needs no
 * quadrants.
 */
static __device__ inline double cos_turn(uint32_t word)
{
	double t = fma((double)word + 0.5, 1 / 4294967296.0, -0.5);
	double s = t * polynomial(sine_terms, t * t);

	return fma(2 * s, s, -1.0);
}

/*
 * e^x = 2^n e^r for x up to 700, |r| <= ln(2)/2. What is below 2^-1021 becomes 0. Adding 1.5 x 2^52
 * rounds: n is in the low bits of the sum.
 */
static __device__ inline double exponential(double x)
{
	const double shifter = 6755399441055744, least = -707;
	double sum = fma(x, 1.44269504088896340736, shifter), n = sum - shifter;
	double r = fma(n, -0.693147180369123816490, x); /* the high part has 33 bits */
	uint64_t power = as_bits(sum) << 52;

	r = fma(n, -1.90821492927058770002e-10, r);
	return x < least ? 0 : as_double(as_bits(polynomial(exp_terms, r)) + power);
}

static __device__ inline float exponential(float x)
{
	return expf(x);
}

static __device__ inline void make_normal(uint32_t u, uint32_t v, double *z)
{
	*z = root(minus_two_log(u)) * cos_turn(v);
}

/* In float u may come out as 1, which is harmless, but never as 0. */
static __device__ inline void make_normal(uint32_t u, uint32_t v, float *z)
{
	const float unit = 1 / 4294967296.0f;
	float a = fmaf((float)u, unit, unit / 2), b = fmaf((float)v, unit, unit / 2);

#ifdef __CUDACC__
	*z = sqrtf(-2 * logf(a)) * cospif(2 * b);
#else
	*z = sqrtf(-2 * logf(a)) * cosf(6.2831853f * b);
#endif
}
} // namespace pf

#endif
