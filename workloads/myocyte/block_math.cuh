/*
 * block_math.cuh - spread=block: division and exponential without branches, so that several are
 * under way at once, and with short chains. Part of kernels.cuh.
 */
namespace myocyte
{
namespace
{
/* a/b to 2 units in the last place; b is neither tiny nor infinite. */
static __device__ inline double quotient(double a, double b)
{
#ifdef __CUDA_ARCH__
	double r, e;

	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b)); /* 20 bits or more */
	e = fma(-b, r, 1.);
	return a * fma(r, fma(e, e, e), r); /* its error to the third power */
#else
	return a / b;
#endif
}

static __device__ inline single quotient(single a, single b)
{
#ifdef __CUDA_ARCH__
	float r;

	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b.v));
	a.v *= r;
	return a;
#else
	return a / b;
#endif
}

/* 2^n x, for normal numbers on both sides. */
static __device__ inline double scaled(double x, int n)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	bits += (uint64_t)(int64_t)n << 52;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * e^z to 2 units in the last place; beyond +-700, where no cell ever is, NaN, so that the attempt
 * is rejected. z = n ln 2 + r, |r| <= 0.347; the Taylor series in r to r^13 (rest: 4e-18), summed
 * by pairs, fours and eights.
 */
static __device__ inline double fast_exp(double z)
{
	const double shift = 6755399441055744.; /* 1.5 2^52: the sum's last bits are the integer */
	const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
	double t, n, r, r2, r4, low, high;

	t = z * 1.4426950408889634 + shift;
	n = t - shift;
	r = z - n * ln2_high - n * ln2_low;
	r2 = r * r;
	r4 = r2 * r2;
	low = (1 + r) + (1. / 2 + 1. / 6 * r) * r2 +
	      ((1. / 24 + 1. / 120 * r) + (1. / 720 + 1. / 5040 * r) * r2) * r4;
	high = (1. / 40320 + 1. / 362880 * r) + (1. / 3628800 + 1. / 39916800 * r) * r2 +
	       (1. / 479001600 + 1. / 6227020800 * r) * r4;
	r = scaled(low + high * (r4 * r4), (int)n);
	return fabs(z) < 700 ? r : NAN;
}

/*
 * ln x to 2 units in the last place of a result that is not near 0; NaN where x is not positive.
 * x = 2^e m, s = (m - 1)/(m + 1), |s| <= 0.172: 2 artanh s to s^21 (rest: 2e-18).
 */
static __device__ inline double fast_log(double x)
{
	const uint64_t half = 0x3fe6a09e00000000, one = 0x3ff0000000000000; /* 1/sqrt 2; 1 */
	const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
	uint64_t bits;
	double m, s, w, w2, w4, low, high, e;

	memcpy(&bits, &x, sizeof(bits));
	bits += one - half;
	e = (double)((int)(bits >> 52) - 1023);
	bits = (bits & ((1ull << 52) - 1)) + half;
	memcpy(&m, &bits, sizeof(m));
	s = quotient(m - 1, m + 1);
	w = s * s;
	w2 = w * w;
	w4 = w2 * w2;
	low = (2. / 3 + 2. / 5 * w) + (2. / 7 + 2. / 9 * w) * w2;
	high = (2. / 11 + 2. / 13 * w) + (2. / 15 + 2. / 17 * w) * w2 +
	       (2. / 19 + 2. / 21 * w) * w4;
	low = e * ln2_low + s * w * (low + high * w4);
	return x > 1e-300 && x < 1e300 ? e * ln2_high + (2 * s + low) : NAN;
}

static __device__ inline single fast_log(single x)
{
	return log(x);
}

static __device__ inline single fast_exp(single z)
{
	return exp(z);
}
} // namespace
} // namespace myocyte
