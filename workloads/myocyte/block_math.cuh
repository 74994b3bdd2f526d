/*
 * block_math.cuh - spread=block: division, exponential and logarithm without branches, so that
 * several are under way at once, and with short chains. Part of kernels.cuh.
 */
namespace myocyte
{
namespace
{
/* Tables of exponential and logarithm; the first is no larger than a block. */
enum { EXP_BITS = 8, EXP_PARTS = 1 << EXP_BITS, LOG_BITS = 7, LOG_PARTS = 1 << LOG_BITS };

struct alignas(16) part_of_log {
	double inverse, ln;
};

/* a/b to 2 units in the last place; b is neither tiny nor infinite. */
static __device__ inline double quotient(double a, double b)
{
#ifdef __CUDA_ARCH__
	double r, e;

	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b)); /* 20 bits or more */
	e = fma(-b, r, 1.);
	a *= r;				/* while e is on its way */
	return fma(a, fma(e, e, e), a); /* its error to the third power */
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
 * is rejected. z = n ln2/256 + r, |r| <= 0.00136: two_to has 2^(i/256); the series in r to r^4
 * (rest: 4e-17).
 */
static __device__ inline double exp_by_table(double z, const double *two_to)
{
	const double shift = 6755399441055744.; /* 1.5 2^52: the sum's last bits are the integer */
	const double per_unit = 1.4426950408889634 * EXP_PARTS;
	const double high = 0.69314718055994531 / EXP_PARTS;
	const double low = 2.3190468138462996e-17 / EXP_PARTS;
	double t = fma(z, per_unit, shift), n = t - shift, r = fma(-n, high, z);
	double first = fma(-n, low, r), series, table;
	uint64_t bits;
	int i;

	memcpy(&bits, &t, sizeof(bits));
	i = (int)(uint32_t)bits;
	table = scaled(two_to[i & (EXP_PARTS - 1)], i >> EXP_BITS);
	series = fma(r * r, fma(fma(r, 1. / 24, 1. / 6), r, 1. / 2), first);
	table = fabs(z) < 700 ? table : NAN;
	return fma(table, series, table);
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

/*
 * ln x to 2 units in the last place of a result that is not near 0; NaN where x is not positive.
 * x = 2^e m; table has 1/c and ln c for the middles c of LOG_PARTS parts of 1 to 2, so that m/c
 * is 1 + r, |r| <= 1/256: the series to r^6 (rest: 2e-18).
 */
static __device__ inline double log_by_table(double x, const struct part_of_log *table)
{
	const double ln2 = 0.69314718055994531;
	const uint64_t one = 0x3ff0000000000000, fraction = (1ull << 52) - 1;
	uint64_t bits;
	double m, r, r2, low, high, whole;

	memcpy(&bits, &x, sizeof(bits));
	struct part_of_log c = table[bits >> (52 - LOG_BITS) & (LOG_PARTS - 1)];
	whole = fma((double)((int)(bits >> 52) - 1023), ln2, c.ln);
	bits = (bits & fraction) | one;
	memcpy(&m, &bits, sizeof(m));
	r = fma(m, c.inverse, -1.);
	r2 = r * r;
	low = fma(r, -1. / 4, 1. / 3);
	high = fma(r, -1. / 6, 1. / 5);
	whole = x > 1e-300 && x < 1e300 ? whole : NAN;
	return fma(r2, fma(fma(high, r2, low), r, -1. / 2), r + whole);
}

static __device__ inline single fast_log(single x)
{
	return log(x);
}

static __device__ inline single exp_by_table(single z, const double *)
{
	return exp(z);
}

static __device__ inline single log_by_table(single x, const struct part_of_log *)
{
	return log(x);
}

/* For the block's threads. In float the hardware has both functions. */
static __device__ inline void lay_out_tables(double *two_to, struct part_of_log *logs)
{
	int i = (int)threadIdx.x;

	if (sizeof(real) == sizeof(float))
		return;
	if (i < EXP_PARTS)
		two_to[i] = exp2((double)i / EXP_PARTS);
	if (i < LOG_PARTS) {
		double inverse = 1 / (1 + (i + 0.5) / LOG_PARTS);

		logs[i] = { inverse, -log(inverse) };
	}
}
} // namespace
} // namespace myocyte
