/*
 * real.cuh - the number type of the myocyte's kernels: double, or `single`.
 *
 * A float multiplied with a constant such as 0.0337 is promoted to double, silently and at a
 * high price on many GPUs. `single` is a float that stays one: constants are rounded to it when
 * compiled, so the same text serves both precisions. Back to double only when asked.
 *
 * Whoever includes this defines MYOCYTE_REAL as double or single before.
 */
#ifndef RIFT_MYOCYTE_REAL_CUH
#define RIFT_MYOCYTE_REAL_CUH

#include <cuda_runtime.h>
#include <math.h>

#define EITHER static __host__ __device__ inline

namespace myocyte
{
/* Friends are found by their arguments only: exp() of a double stays the library's. */
struct single {
	float v;

	single() = default;
	__host__ __device__ constexpr single(double x) : v((float)x)
	{
	}
	__host__ __device__ constexpr explicit operator double() const
	{
		return v;
	}

	/* clang-format off */
#define FRIEND friend __host__ __device__ inline
	FRIEND single operator-(single a) { a.v = -a.v; return a; }
	FRIEND single operator+(single a, single b) { a.v += b.v; return a; }
	FRIEND single operator-(single a, single b) { a.v -= b.v; return a; }
	FRIEND single operator*(single a, single b) { a.v *= b.v; return a; }
	FRIEND single operator/(single a, single b) { a.v /= b.v; return a; }

	FRIEND bool operator<(single a, single b) { return a.v < b.v; }
	FRIEND bool operator>(single a, single b) { return a.v > b.v; }
	FRIEND bool operator<=(single a, single b) { return a.v <= b.v; }
	FRIEND bool operator>=(single a, single b) { return a.v >= b.v; }
	FRIEND bool operator==(single a, single b) { return a.v == b.v; }

	FRIEND single exp(single a) { a.v = expf(a.v); return a; }
	FRIEND single log(single a) { a.v = logf(a.v); return a; }
	FRIEND single log10(single a) { a.v = log10f(a.v); return a; }
	FRIEND single sqrt(single a) { a.v = sqrtf(a.v); return a; }
	FRIEND single fabs(single a) { a.v = fabsf(a.v); return a; }
	FRIEND single pow(single a, single b) { a.v = powf(a.v, b.v); return a; }
	FRIEND single fmax(single a, single b) { a.v = fmaxf(a.v, b.v); return a; }
	FRIEND single fmin(single a, single b) { a.v = fminf(a.v, b.v); return a; }
#undef FRIEND
	/* clang-format on */
};

/* Tests for both types: isnan() and its kin are macros on some hosts, functions on others. */
EITHER bool is_finite(double a)
{
	return isfinite(a);
}

EITHER bool is_finite(single a)
{
	return isfinite(a.v);
}

EITHER bool is_nan(double a)
{
	return a != a;
}

EITHER bool is_nan(single a)
{
	return a.v != a.v;
}

/*
 * a b, rounded before anything is added to it. Where fluxes nearly cancel, a multiplication
 * fused with the subtraction leaves the rounding of the other one standing.
 */
EITHER double product(double a, double b)
{
#ifdef __CUDA_ARCH__
	return __dmul_rn(a, b);
#else
	return a * b;
#endif
}

EITHER single product(single a, single b)
{
#ifdef __CUDA_ARCH__
	a.v = __fmul_rn(a.v, b.v);
	return a;
#else
	return a * b;
#endif
}

/* What differs by precision has internal linkage: two files define it. */
namespace
{
using real = MYOCYTE_REAL;
}
} // namespace myocyte

#endif
