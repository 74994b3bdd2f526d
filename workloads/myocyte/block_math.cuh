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
	a.v = __fdividef(a.v, b.v);
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
static __device__ inline double exponential_of(double z)
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

static __device__ inline single exponential_of(single z)
{
	single e = exp(z);

	return fabs(z) < 80 ? e : single(NAN);
}
} // namespace
} // namespace myocyte
