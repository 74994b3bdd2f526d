/*
 * block_modules.cuh - spread=block: calmodulin, CaMKII and calcineurin of a compartment by the
 * lanes of a warp, a reaction each, then a state each. Part of kernels.cuh.
 *
 * Reactions and states are those of model_cam.cuh, in its order.
 */

namespace myocyte
{
namespace
{
/* ---- rates ------------------------------------------------------------------------------ */

/*
 * forward x[a] x[a] B - back x[c] D + removed V x[c]/(Km + K x[c]), V and Km of the phosphatase.
 * B is a pool's total less its states, or a state: `first` .. `first` + n - 1. Ca stands for its
 * concentration in mM, twice: forward and back are for uM^2.
 */
enum pool { NO_POOL, OF_BUFFER, OF_CAN, OF_KINASE, OF_ACTIVE };

struct reaction {
	double forward;
	int a;
	enum pool pool;
	int first, n;
	double back;
	int c, d;
	double removed;
};

/* Factors that are no states of the module. */
enum { F_CA2 = in_module::Ca4CaMCa4CaN + 1, F_ONE };

using namespace in_module;
static __device__ const struct reaction reactions[RATES] = {
	{ k02, F_CA2, NO_POOL, CaM, 1, k20, Ca2CaM, F_ONE, 0 },
	{ k24, F_CA2, NO_POOL, Ca2CaM, 1, k42, Ca4CaM, F_ONE, 0 },
	{ k02, F_CA2, NO_POOL, CaMB, 1, k20B, Ca2CaMB, F_ONE, 0 },
	{ k24, F_CA2, NO_POOL, Ca2CaMB, 1, k42B, Ca4CaMB, F_ONE, 0 },
	{ k0Bon, CaM, OF_BUFFER, CaMB, 3, k0Boff, CaMB, F_ONE, 0 },
	{ k2Bon, Ca2CaM, OF_BUFFER, CaMB, 3, k2Boff, Ca2CaMB, F_ONE, 0 },
	{ k4Bon, Ca4CaM, OF_BUFFER, CaMB, 3, k4Boff, Ca4CaMB, F_ONE, 0 },
	{ kcanCaon, F_CA2, OF_CAN, Ca4CaN, 4, kcanCaoff, Ca4CaN, F_ONE, 0 },
	{ k02, F_CA2, NO_POOL, CaMCa4CaN, 1, k20can, Ca2CaMCa4CaN, F_ONE, 0 },
	{ k24, F_CA2, NO_POOL, Ca2CaMCa4CaN, 1, k42can, Ca4CaMCa4CaN, F_ONE, 0 },
	{ kcanCaM0on, CaM, NO_POOL, Ca4CaN, 1, kcanCaM0off, CaMCa4CaN, F_ONE, 0 },
	{ kcanCaM2on, Ca2CaM, NO_POOL, Ca4CaN, 1, kcanCaM2off, Ca2CaMCa4CaN, F_ONE, 0 },
	{ kcanCaM4on, Ca4CaM, NO_POOL, Ca4CaN, 1, kcanCaM4off, Ca4CaMCa4CaN, F_ONE, 0 },
	{ kib2, Ca2CaM, OF_KINASE, Pb2, 5, kb2i, Pb2, F_ONE, 0 },
	{ k24, F_CA2, NO_POOL, Pb2, 1, kb42, Pb, F_ONE, 0 },
	{ kib, Ca4CaM, OF_KINASE, Pb2, 5, kbi, Pb, F_ONE, 0 },
	{ 1, Pb, OF_ACTIVE, Pb, 4, 0, Pt, F_ONE, -1 },
	{ kt42, F_ONE, NO_POOL, Pt, 1, k24, Pt2, F_CA2, 0 },
	{ kta, F_ONE, NO_POOL, Pt, 1, kat, Pa, Ca4CaM, 0 },
	{ kt2a, F_ONE, NO_POOL, Pt2, 1, kat2, Pa, Ca2CaM, 0 },
	{ 0, F_ONE, NO_POOL, Pt2, 1, 0, Pt2, F_ONE, 1 },
	{ 0, F_ONE, NO_POOL, Pa, 1, 0, Pa, F_ONE, 1 },
};

/* The same in order, by name. */
enum rate {
	r_02,
	r_24,
	r_02B,
	r_24B,
	r_0B,
	r_2B,
	r_4B,
	r_CaCaN,
	r_02CaN,
	r_24CaN,
	r_0CaN,
	r_2CaN,
	r_4CaN,
	r_ib2,
	r_b2b,
	r_ib,
	r_bt,
	r_tt2,
	r_ta,
	r_t2a,
	r_t2b2,
	r_ai,
};

/* ---- sums ------------------------------------------------------------------------------- */

/* minus(r), in_K(r): the rate's negative, the rate in uM instead of a fraction of CaMKII. */
#define MINUS(r) ((r) + RATES)
#define IN_uM(r) ((r) + 2 * RATES)
enum { NO_RATE = 4 * RATES, SUM_TERMS = 9, SUMS = 16 };

/* The 15 states, and what Ca is taken up by half. Padded by no rate. */
static __device__ const uint8_t sums[SUMS][SUM_TERMS] = {
#define SUM3(a, b, c)                                                                              \
	{                                                                                          \
		a, b, c, NO_RATE, NO_RATE, NO_RATE, NO_RATE, NO_RATE, NO_RATE                      \
	}
#define SUM6(a, b, c, d, e, f)                                                                     \
	{                                                                                          \
		a, b, c, d, e, f, NO_RATE, NO_RATE, NO_RATE                                        \
	}
	SUM3(MINUS(r_02), MINUS(r_0B), MINUS(r_0CaN)),
	SUM6(r_02, MINUS(r_24), MINUS(r_2B), MINUS(r_2CaN), IN_uM(MINUS(r_ib2)), IN_uM(r_t2a)),
	SUM6(r_24, MINUS(r_4B), MINUS(r_4CaN), IN_uM(MINUS(r_ib)), IN_uM(r_ta), NO_RATE),
	SUM3(r_0B, MINUS(r_02B), NO_RATE),
	SUM3(r_02B, r_2B, MINUS(r_24B)),
	SUM3(r_24B, r_4B, NO_RATE),
	SUM3(r_ib2, MINUS(r_b2b), r_t2b2),
	SUM3(r_ib, r_b2b, MINUS(r_bt)),
	SUM3(r_bt, MINUS(r_ta), MINUS(r_tt2)),
	SUM3(r_tt2, MINUS(r_t2a), MINUS(r_t2b2)),
	SUM3(r_ta, r_t2a, MINUS(r_ai)),
	SUM6(r_CaCaN, MINUS(r_0CaN), MINUS(r_2CaN), MINUS(r_4CaN), NO_RATE, NO_RATE),
	SUM3(r_0CaN, MINUS(r_02CaN), NO_RATE),
	SUM3(r_2CaN, r_02CaN, MINUS(r_24CaN)),
	SUM3(r_4CaN, r_24CaN, NO_RATE),
	{ r_02, r_24, r_02B, r_24B, r_CaCaN, r_02CaN, r_24CaN, IN_uM(r_b2b), IN_uM(MINUS(r_tt2)) },
#undef SUM3
#undef SUM6
};

/* ---- a lane of a module ----------------------------------------------------------------- */

struct thread_module {
	int m, lane;
	real K; /* CaMKII, uM */
	real forward, back, removed;
	real total, sign, c1, c2, c3; /* B = c1 x + c2 x^2 + c3 x^3, x = total + sign states */
	int a, a2, b[5], c, d, d2;    /* indices into smem->v */
	int term[SUM_TERMS];
	/* exchange: unbinding and binding in the cleft, and what that and diffusion make here */
	real off, on, B_x, of_cleft, of_shell;
};

static __device__ inline int factor_index(int factor, int m)
{
	const int Ca = m == 0 ? at::Ca_j : m == 1 ? at::Ca_sl : at::Ca_i;

	return factor == F_ONE ? int(in::ONE) : factor == F_CA2 ? Ca : at::CaM_dy + 15 * m + factor;
}

static __device__ inline void set_pool(struct thread_module *c, const struct reaction &r,
				       const real *p)
{
	const real *total = p + 5 * c->m;
	bool of_total = r.pool && r.pool != OF_ACTIVE, active = r.pool == OF_ACTIVE;

	c->total = r.pool == OF_BUFFER	 ? total[par::Btot_dy]
		   : r.pool == OF_CAN	 ? total[par::CaNtot_dy]
		   : r.pool == OF_KINASE ? real(1)
					 : real(0);
	c->sign = of_total ? -1 : 1;
	c->c1 = active ? 0.055 : 1;
	c->c2 = active ? 0.0074 : 0;
	c->c3 = active ? 0.015 : 0;
	for (int i = 0; i < 5; i++)
		c->b[i] = i < r.n ? factor_index(r.first + i, c->m) : int(in::ZERO);
}

static __device__ inline void set_exchange(struct thread_module *c, bool benchmark, const real *p)
{
	int form = c->lane, m = c->m;
	bool moves = form < 3;

	c->off = !moves ? 0 : form == 0 ? k0Boff : form == 1 ? k2Boff : k4Boff;
	c->on = !moves ? 0 : form == 0 ? k0Bon : form == 1 ? k2Bon : k4Bon;
	c->of_cleft = m == 0 ? -1 : m == 1 ? VolC_dy / VolC_sl : 0;
	c->of_shell = !moves || m == 0 ? 0 : m == 1 ? -k_slmyo / VolC_sl : k_slmyo / VolC_myo;
	c->B_x = benchmark ? p[par::Btot_dy] : real(Btot_x);
}

static __device__ inline struct thread_module thread_module(int m, int lane, bool benchmark,
							    const real *p)
{
	const struct reaction &r = reactions[lane < RATES ? lane : RATES - 1];
	const double uM2 = 1e6;
	struct thread_module c;

	c.m = m;
	c.lane = lane;
	c.K = p[5 * m + par::CaMKIItot_dy];
	c.forward = r.forward * (r.a == F_CA2 ? uM2 : 1);
	c.back = r.back * (r.d == F_CA2 ? uM2 : 1);
	c.removed = r.removed * kpp1 * p[5 * m + par::PP1tot_dy];
	c.a = factor_index(r.a, m);
	c.a2 = r.a == F_CA2 ? c.a : int(in::ONE);
	c.c = factor_index(r.c, m);
	c.d = factor_index(r.d, m);
	c.d2 = r.d == F_CA2 ? c.d : int(in::ONE);
	for (int i = 0; i < SUM_TERMS; i++)
		c.term[i] = sums[lane < SUMS ? lane : SUMS - 1][i];
	set_pool(&c, r, p);
	set_exchange(&c, benchmark, p);
	return c;
}

static __device__ inline void module_rates(const struct thread_module &c, struct block_smem *b)
{
	const real *v = b->v;
	real *rate = b->rate[c.m];
	real x = c.total, y = v[c.c];

	/* one by one: what is free may be a small rest of the total */
	for (int i = 0; i < 5; i++)
		x = x + c.sign * v[c.b[i]];
	real B = x * (c.c1 + x * (c.c2 + x * c.c3));
	real r = c.forward * (v[c.a] * v[c.a2]) * B - c.back * y * (v[c.d] * v[c.d2]) +
		 quotient(c.removed * y, Kmpp1 + c.K * y);

	if (c.lane >= RATES)
		return;
	rate[c.lane] = r;
	rate[MINUS(c.lane)] = -r;
	rate[IN_uM(c.lane)] = c.K * r;
	rate[IN_uM(MINUS(c.lane))] = -(c.K * r);
}

/* CaM_sum() of the dyad, in short chains. */
static __device__ inline real CaM_of_dyad(real K, const real *y)
{
	real free = (y[CaM] + y[Ca2CaM]) + (y[Ca4CaM] + y[CaMB]);
	real bound = (y[Ca2CaMB] + y[Ca4CaMB]) + (y[CaMCa4CaN] + y[Ca2CaMCa4CaN]);
	real kinase = (y[Pb2] + y[Pb]) + (y[Pt] + y[Pt2]);

	return (free + bound) + (y[Ca4CaMCa4CaN] + K * kinase);
}

/* What moves of calmodulin between the compartments, by the lanes of the three that do. */
static __device__ inline real module_exchange(const struct thread_module &c,
					      const struct block_smem *b)
{
	int form = c.lane < 3 ? c.lane : 0;
	const real *dy = b->v + at::CaM_dy, *sl = b->v + at::CaM_sl, *cy = b->v + at::CaM_cy;
	real B_dy = c.B_x - CaM_of_dyad(b->p[par::CaMKIItot_dy], dy);
	real X_dysl = 1e-3 * (c.off * dy[form] - c.on * B_dy * sl[form]);

	return c.of_cleft * X_dysl + c.of_shell * (sl[form] - cy[form]);
}

/* What reactions make of the lane's state; lane 15 hands on the balance of Ca. */
static __device__ inline real module_sums(const struct thread_module &c, struct block_smem *b)
{
	const real *rate = b->rate[c.m];
	real sum[3] = { 0, 0, 0 };

	for (int i = 0; i < SUM_TERMS; i++)
		sum[i % 3] = sum[i % 3] + rate[c.term[i]];
	real f = 1e-3 * (sum[0] + sum[1] + sum[2]);

	if (c.lane == SUMS - 1)
		b->term[J_MODULE + c.m] = -2 * f;
	return f;
}
} // namespace
} // namespace myocyte
