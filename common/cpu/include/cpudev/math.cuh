/*
 * math.cuh - device intrinsics that C++ does not have: bits, fast math, vectors, min and max.
 * The fast forms are the accurate functions here; compare results with tolerances.
 */
#ifndef RIFT_CPU_MATH_CUH
#define RIFT_CPU_MATH_CUH

#include "../vector_types.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Macros, as glibc's math.h declares functions of some of these names. */
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, s, c) sincosf(x, s, c)
#define __fdividef(x, y) ((float)(x) / (float)(y))
#define __saturatef(x) fminf(fmaxf(x, 0.0f), 1.0f)
#define __fmaf_rn(x, y, z) fmaf(x, y, z)
#define __fsqrt_rn(x) sqrtf(x)
#define __frcp_rn(x) (1.0f / (float)(x))

static inline float rsqrtf(float x)
{
	return 1 / sqrtf(x);
}

static inline double rsqrt(double x)
{
	return 1 / sqrt(x);
}

static inline float normcdff(float x)
{
	return 0.5f * erfcf(-x * 0.70710678118654752f);
}

static inline double normcdf(double x)
{
	return 0.5 * erfc(-x * 0.70710678118654752);
}

/* ---- bits ------------------------------------------------------------------------------ */

static inline int __popc(unsigned x)
{
	return __builtin_popcount(x);
}

static inline int __popcll(unsigned long long x)
{
	return __builtin_popcountll(x);
}

/* Position of the lowest set bit, counted from 1; 0 for none. */
static inline int __ffs(int x)
{
	return __builtin_ffs(x);
}

static inline int __ffsll(long long x)
{
	return __builtin_ffsll(x);
}

static inline int __clz(int x)
{
	return x ? __builtin_clz((unsigned)x) : 32;
}

static inline int __clzll(long long x)
{
	return x ? __builtin_clzll((unsigned long long)x) : 64;
}

static inline unsigned __brev(unsigned x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(x);
}

static inline unsigned long long __brevll(unsigned long long x)
{
	return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

/* The upper or lower half of hi:lo shifted by the low five bits of shift. */
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift)
{
	return (unsigned)(((uint64_t)hi << 32 | lo) << (shift & 31) >> 32);
}

static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift)
{
	return (unsigned)(((uint64_t)hi << 32 | lo) >> (shift & 31));
}

static inline int __mulhi(int a, int b)
{
	return (int)((int64_t)a * b >> 32);
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
	return (unsigned)((uint64_t)a * b >> 32);
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
	return (unsigned long long)((unsigned __int128)a * b >> 64);
}

namespace cpudev
{
template <class To, class From> static inline To bits_as(From from)
{
	static_assert(sizeof(To) == sizeof(From), "same size");
	To to;

	memcpy(&to, &from, sizeof(to));
	return to;
}
} // namespace cpudev

static inline int __float_as_int(float x)
{
	return cpudev::bits_as<int>(x);
}

static inline unsigned __float_as_uint(float x)
{
	return cpudev::bits_as<unsigned>(x);
}

static inline float __int_as_float(int x)
{
	return cpudev::bits_as<float>(x);
}

static inline float __uint_as_float(unsigned x)
{
	return cpudev::bits_as<float>(x);
}

static inline long long __double_as_longlong(double x)
{
	return cpudev::bits_as<long long>(x);
}

static inline double __longlong_as_double(long long x)
{
	return cpudev::bits_as<double>(x);
}

/* ---- loads, vectors, min and max ------------------------------------------------------- */

template <class T> static inline T __ldg(const T *p)
{
	return *p;
}

#define CPUDEV_VECTOR(T, n, list, ...)                                                             \
	static inline T##n make_##T##n list                                                        \
	{                                                                                          \
		return T##n{ __VA_ARGS__ };                                                        \
	}
CPUDEV_VECTOR(int, 2, (int x, int y), x, y)
CPUDEV_VECTOR(int, 3, (int x, int y, int z), x, y, z)
CPUDEV_VECTOR(int, 4, (int x, int y, int z, int w), x, y, z, w)
CPUDEV_VECTOR(uint, 2, (unsigned x, unsigned y), x, y)
CPUDEV_VECTOR(uint, 3, (unsigned x, unsigned y, unsigned z), x, y, z)
CPUDEV_VECTOR(uint, 4, (unsigned x, unsigned y, unsigned z, unsigned w), x, y, z, w)
CPUDEV_VECTOR(float, 2, (float x, float y), x, y)
CPUDEV_VECTOR(float, 3, (float x, float y, float z), x, y, z)
CPUDEV_VECTOR(float, 4, (float x, float y, float z, float w), x, y, z, w)
CPUDEV_VECTOR(double, 2, (double x, double y), x, y)
CPUDEV_VECTOR(double, 3, (double x, double y, double z), x, y, z)
#undef CPUDEV_VECTOR

/* As in CUDA: equal types, signed with unsigned compares unsigned; fmin and fmax see to NaN. */
#define CPUDEV_MIN_MAX(R, A, B)                                                                    \
	static inline R min(A a, B b)                                                              \
	{                                                                                          \
		return (R)a < (R)b ? (R)a : (R)b;                                                  \
	}                                                                                          \
	static inline R max(A a, B b)                                                              \
	{                                                                                          \
		return (R)a > (R)b ? (R)a : (R)b;                                                  \
	}
CPUDEV_MIN_MAX(int, int, int)
CPUDEV_MIN_MAX(unsigned, unsigned, unsigned)
CPUDEV_MIN_MAX(unsigned, int, unsigned)
CPUDEV_MIN_MAX(unsigned, unsigned, int)
CPUDEV_MIN_MAX(long, long, long)
CPUDEV_MIN_MAX(unsigned long, unsigned long, unsigned long)
CPUDEV_MIN_MAX(long long, long long, long long)
CPUDEV_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef CPUDEV_MIN_MAX

static inline float min(float a, float b)
{
	return fminf(a, b);
}

static inline float max(float a, float b)
{
	return fmaxf(a, b);
}

static inline double min(double a, double b)
{
	return fmin(a, b);
}

static inline double max(double a, double b)
{
	return fmax(a, b);
}

#endif
