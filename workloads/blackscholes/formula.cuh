/*
 * formula.cuh - the price of an option, by the formula of Black and Scholes in float.
 *
 * With math=fast eight of its operations are special functions of a GPU: one for each quotient,
 * exponential, logarithm and root.
 */
#ifndef RIFT_BLACKSCHOLES_FORMULA_CUH
#define RIFT_BLACKSCHOLES_FORMULA_CUH

#include "common/gpu.h"
#include "workloads/blackscholes/device.h"

/* ---- functions, in two accuracies ------------------------------------------------------- */

template <int MATH> struct math;

template <> struct math<BLACKSCHOLES_FAST> {
	static __device__ float exp(float x)
	{
		return __expf(x);
	}
	static __device__ float log(float x)
	{
		return __logf(x);
	}
	static __device__ float quotient(float x, float y)
	{
		return __fdividef(x, y);
	}
	/* root, and x / (volatility root) without a division */
	static __device__ float over_spread(float x, float T, const blackscholes_market &m,
					    float *spread)
	{
		float inverse = rsqrtf(T);

		*spread = m.volatility * (T * inverse);
		return x * (inverse * m.inverse);
	}
};

template <> struct math<BLACKSCHOLES_ACCURATE> {
	static __device__ float exp(float x)
	{
		return expf(x);
	}
	static __device__ float log(float x)
	{
		return logf(x);
	}
	static __device__ float quotient(float x, float y)
	{
		return x / y;
	}
	static __device__ float over_spread(float x, float T, const blackscholes_market &m,
					    float *spread)
	{
		*spread = m.volatility * sqrtf(T);
		return x / *spread;
	}
};

/* ---- one option ------------------------------------------------------------------------- */

/* Abramowitz and Stegun 26.2.17: absolute error below 7.5e-8. */
template <int MATH> static __device__ inline float cnd_poly(float d)
{
	float q = math<MATH>::quotient(1.0f, 1.0f + 0.2316419f * fabsf(d));
	float sum =
		q *
		(0.31938153f +
		 q * (-0.356563782f + q * (1.781477937f + q * (-1.821255978f + q * 1.330274429f))));
	float w = 0.39894228040143267794f * math<MATH>::exp(-0.5f * d * d) * sum;

	return d > 0 ? 1 - w : w;
}

template <int CND, int MATH> static __device__ inline float cnd(float d)
{
	if (CND == BLACKSCHOLES_EXACT)
		return 0.5f * erfcf(-0.70710678118654752440f * d);
	return cnd_poly<MATH>(d);
}

template <int CND, int MATH>
static __device__ inline void price_option(float S, float X, float T, const blackscholes_market &m,
					   float *call, float *put)
{
	float spread, log = math<MATH>::log(math<MATH>::quotient(S, X));
	float d1 = math<MATH>::over_spread(log + m.drift * T, T, m, &spread);
	float n1 = cnd<CND, MATH>(d1), n2 = cnd<CND, MATH>(d1 - spread);
	float due = X * math<MATH>::exp(-m.rate * T);

	*call = S * n1 - due * n2;
	*put = due * (1 - n2) - S * (1 - n1);
}

#endif
