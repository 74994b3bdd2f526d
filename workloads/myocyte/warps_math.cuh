/*
 * warps_math.cuh - spread=warps: exponentials in few instructions, as those in double precision
 * are what a right-hand side is made of. Part of kernels.cuh.
 */
namespace myocyte
{
namespace
{
namespace in_warps
{
/* e^z where it is compiled, by a sum of positive terms: |z| <= 50. */
static __host__ __device__ constexpr double e_constant(double z)
{
	double x = z < 0 ? -z : z, term = 1, sum = 1;

	for (int n = 1; term > 1e-20 * sum; n++) {
		term *= x / n;
		sum += term;
	}
	return z < 0 ? 1 / sum : sum;
}

/*
 * e^(k x) to 2 units in the last place; |k x| < 700 is for the caller to see to. k x is
 * n ln2/256 + r, |r| <= 0.00136: a table for n, the series in r to r^4 (rest: 4e-17).
 */
static __device__ inline double e_to(double k, double x, const double *two_to)
{
	const double ln2 = 0.69314718055994531, unit = ln2 / POWERS_OF_2, per_unit = k / unit;
	const double shift = 6755399441055744.; /* 1.5 2^52: the sum's last bits are n */
	const double c2 = unit / 2, c3 = unit * unit / 6, c4 = unit * unit * unit / 24;
	double n = x * per_unit + shift, r, table;
	uint64_t bits;
	int i;

	memcpy(&bits, &n, sizeof(bits));
	i = (int)(uint32_t)bits;
	r = x * per_unit - (n - shift);
	table = scaled(two_to[i & (POWERS_OF_2 - 1)], i >> 8);
	return table + table * (unit * r * (1 + r * (c2 + r * (c3 + r * c4))));
}

static __device__ inline single e_to(double k, single x, const double *)
{
	const double log2_e = 1.4426950408889634;
	single z = single(k * log2_e) * x;

#ifdef __CUDA_ARCH__
	asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(z.v));
#else
	z.v = exp2f(z.v);
#endif
	return z;
}

static __device__ inline real e_to(const struct thread_state &c, double k, real x)
{
	return e_to(k, x, c.two_to);
}

/*
 * e^(k (V - V0)) as factor e^(k V). To be constexpr where it is used, or the factor is computed
 * again and again.
 */
struct shape {
	double V0, k, factor;
};

static __host__ __device__ constexpr struct shape make_shape(double V0, double k)
{
	return { V0, k, e_constant(-k * V0) };
}

static __device__ inline real e_to(const struct thread_state &c, const struct shape &s, real V)
{
	return s.factor * e_to(c, s.k, V);
}

/* A gate's steady state, 1/(1 + e^(k (V - V0))). */
static __device__ inline real steady(const struct thread_state &c, const struct shape &s, real V)
{
	return quotient(1, 1 + e_to(c, s, V));
}

/* n x/(e - 1), x = V - V0, e being e^(k x). As published: with its limit at x = 0. */
static __device__ inline real over(const struct thread_state &c, double n, const struct shape &s,
				   real V, real e)
{
	real x = V - s.V0, q = quotient(n * x, e - 1);

	if (!c.benchmark && fabs(s.k * x) < 0.1)
		q = over_expm1(n, x, s.k, e, true);
	return q;
}

static __device__ inline real over(const struct thread_state &c, double n, const struct shape &s,
				   real V)
{
	return over(c, n, s, V, e_to(c, s, V));
}

/* a/b to 6 digits, for what is no part of a state. */
static __device__ inline double nearly(double a, double b)
{
#ifdef __CUDA_ARCH__
	double r;

	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
	return a * r;
#else
	return a / b;
#endif
}

static __device__ inline single nearly(single a, single b)
{
	return quotient(a, b);
}
} // namespace in_warps
} // namespace
} // namespace myocyte
