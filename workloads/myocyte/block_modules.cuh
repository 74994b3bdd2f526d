/*
 * block_modules.cuh - spread=block: calmodulin, CaMKII and calcineurin of a compartment by the
 * lanes of a warp, a reaction each, then a state each; and buffers. Part of kernels.cuh.
 *
 * Reactions and states are those of model_cam.cuh, in its order.
 */

namespace myocyte
{
namespace
{
/* ---- rates ------------------------------------------------------------------------------ */

/* Factors of a rate: states of the module by number, and these. */
namespace factor
{
using namespace in_module;
enum { Ca2 = Ca4CaMCa4CaN + 1, B_free, Ca2CaN, Pin, kbt, one };
} // namespace factor

/* forward x[a] x[b] - back x[c] x[d] + removed V x[c]/(Km + K x[c]), phosphatase's V and Km. */
struct reaction {
	double forward;
	int a, b;
	double back;
	int c, d;
	double removed;
};

static __constant__ const struct reaction reactions[RATES] = {
	{ k02, factor::Ca2, factor::CaM, k20, factor::Ca2CaM, factor::one, 0 },
	{ k24, factor::Ca2, factor::Ca2CaM, k42, factor::Ca4CaM, factor::one, 0 },
	{ k02, factor::Ca2, factor::CaMB, k20B, factor::Ca2CaMB, factor::one, 0 },
	{ k24, factor::Ca2, factor::Ca2CaMB, k42B, factor::Ca4CaMB, factor::one, 0 },
	{ k0Bon, factor::CaM, factor::B_free, k0Boff, factor::CaMB, factor::one, 0 },
	{ k2Bon, factor::Ca2CaM, factor::B_free, k2Boff, factor::Ca2CaMB, factor::one, 0 },
	{ k4Bon, factor::Ca4CaM, factor::B_free, k4Boff, factor::Ca4CaMB, factor::one, 0 },
	{ kcanCaon, factor::Ca2, factor::Ca2CaN, kcanCaoff, factor::Ca4CaN, factor::one, 0 },
	{ k02, factor::Ca2, factor::CaMCa4CaN, k20can, factor::Ca2CaMCa4CaN, factor::one, 0 },
	{ k24, factor::Ca2, factor::Ca2CaMCa4CaN, k42can, factor::Ca4CaMCa4CaN, factor::one, 0 },
	{ kcanCaM0on, factor::CaM, factor::Ca4CaN, kcanCaM0off, factor::CaMCa4CaN, factor::one, 0 },
	{ kcanCaM2on, factor::Ca2CaM, factor::Ca4CaN, kcanCaM2off, factor::Ca2CaMCa4CaN,
	  factor::one, 0 },
	{ kcanCaM4on, factor::Ca4CaM, factor::Ca4CaN, kcanCaM4off, factor::Ca4CaMCa4CaN,
	  factor::one, 0 },
	{ kib2, factor::Ca2CaM, factor::Pin, kb2i, factor::Pb2, factor::one, 0 },
	{ k24, factor::Ca2, factor::Pb2, kb42, factor::Pb, factor::one, 0 },
	{ kib, factor::Ca4CaM, factor::Pin, kbi, factor::Pb, factor::one, 0 },
	{ 1, factor::kbt, factor::Pb, 0, factor::Pt, factor::one, -1 },
	{ kt42, factor::Pt, factor::one, k24, factor::Pt2, factor::Ca2, 0 },
	{ kta, factor::Pt, factor::one, kat, factor::Pa, factor::Ca4CaM, 0 },
	{ kt2a, factor::Pt2, factor::one, kat2, factor::Pa, factor::Ca2CaM, 0 },
	{ 0, factor::one, factor::one, 0, factor::Pt2, factor::one, 1 },
	{ 0, factor::one, factor::one, 0, factor::Pa, factor::one, 1 },
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
enum { NO_RATE = 4 * RATES, TERMS = 9, SUMS = 16 };

/* The 15 states, and what Ca is taken up by half. Padded by no rate. */
static __constant__ const uint8_t sums[SUMS][TERMS] = {
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

struct my_module {
	int m, lane;
	struct totals total;
	real forward, back, removed, Km;
	int a, b, c, d; /* in the board's v */
	int term[TERMS];
	/* exchange: unbinding and binding in the cleft, and what that and diffusion make here */
	real off, on, B_x, of_cleft, of_shell;
};

static __device__ inline int place_of(int factor, int m)
{
	if (factor == factor::one)
		return in::ONE;
	if (factor >= factor::Ca2)
		return in::MODULE + m * in::EACH + factor - factor::Ca2;
	return at::CaM_dy + 15 * m + factor;
}

static __device__ inline void set_exchange(struct my_module *c, bool benchmark, const real *p)
{
	const double off[] = { k0Boff, k2Boff, k4Boff }, on[] = { k0Bon, k2Bon, k4Bon };
	const double cleft[] = { -1, VolC_dy / VolC_sl, 0 };
	const double shell[] = { 0, -k_slmyo / VolC_sl, k_slmyo / VolC_myo };
	bool moves = c->lane < 3;

	c->off = moves ? off[c->lane % 3] : 0;
	c->on = moves ? on[c->lane % 3] : 0;
	c->of_cleft = moves ? cleft[c->m] : 0;
	c->of_shell = moves ? shell[c->m] : 0;
	c->B_x = benchmark ? p[par::Btot_dy] : real(Btot_x);
}

static __device__ inline struct my_module my_module(int m, int lane, bool benchmark, const real *p)
{
	const struct reaction &r = reactions[lane < RATES ? lane : RATES - 1];
	const real *total = p + 5 * m;
	struct my_module c;

	c.m = m;
	c.lane = lane;
	c.total = { total[par::Btot_dy], total[par::CaMKIItot_dy], total[par::CaNtot_dy],
		    total[par::PP1tot_dy] };
	c.forward = r.forward;
	c.back = r.back;
	c.removed = r.removed * kpp1 * c.total.PP1;
	c.a = place_of(r.a, m);
	c.b = place_of(r.b, m);
	c.c = place_of(r.c, m);
	c.d = place_of(r.d, m);
	for (int i = 0; i < TERMS; i++)
		c.term[i] = sums[lane < SUMS ? lane : SUMS - 1][i];
	set_exchange(&c, benchmark, p);
	return c;
}

/* What reactions share. Every lane computes it and writes the same. */
static __device__ inline void module_shared(const struct my_module &c, struct board *b)
{
	using namespace in_module;
	const real *y = b->v + at::CaM_dy + 15 * c.m;
	const int Ca_of[] = { at::Ca_j, at::Ca_sl, at::Ca_i };
	real Ca = 1e3 * b->v[Ca_of[c.m]];
	real active = y[Pb] + y[Pt] + y[Pt2] + y[Pa];
	real *x = b->v + in::MODULE + c.m * in::EACH;

	if (c.lane)
		return;
	x[in::Ca2] = Ca * Ca;
	x[in::B_free] = c.total.B - y[CaMB] - y[Ca2CaMB] - y[Ca4CaMB];
	x[in::Ca2CaN] = c.total.CaN - y[Ca4CaN] - y[CaMCa4CaN] - y[Ca2CaMCa4CaN] - y[Ca4CaMCa4CaN];
	x[in::Pin] = 1 - y[Pb2] - y[Pb] - y[Pt] - y[Pt2] - y[Pa];
	x[in::kbt] = active * (0.055 + active * (0.0074 + active * 0.015));
}

static __device__ inline void module_rates(const struct my_module &c, struct board *b)
{
	const real *v = b->v;
	real r, K = c.total.CaMKII, *rate = b->rate[c.m];

	module_shared(c, b);
	__syncwarp();
	r = c.forward * v[c.a] * v[c.b] - c.back * v[c.c] * v[c.d];
	r = r + c.removed * v[c.c] / (Kmpp1 + K * v[c.c]);
	if (c.lane >= RATES)
		return;
	rate[c.lane] = r;
	rate[MINUS(c.lane)] = -r;
	rate[IN_uM(c.lane)] = K * r;
	rate[IN_uM(MINUS(c.lane))] = -(K * r);
}

/* What moves of calmodulin between the compartments, by the lanes of the three that do. */
static __device__ inline real module_exchange(const struct my_module &c, const struct board *b)
{
	int form = c.lane < 3 ? c.lane : 0;
	const real *dy = b->v + at::CaM_dy, *sl = b->v + at::CaM_sl, *cy = b->v + at::CaM_cy;
	real B_dy = c.B_x - CaM_sum(b->p[par::CaMKIItot_dy], { dy, 1 });
	real X_dysl = 1e-3 * (c.off * dy[form] - c.on * B_dy * sl[form]);

	return c.of_cleft * X_dysl + c.of_shell * (sl[form] - cy[form]);
}

/* The derivative that the lane owns; lane 15 hands on the balance of Ca. */
static __device__ inline real module_sums(const struct my_module &c, struct board *b)
{
	const real *rate = b->rate[c.m];
	real sum[3] = { 0, 0, 0 };

	for (int i = 0; i < TERMS; i++)
		sum[i % 3] = sum[i % 3] + rate[c.term[i]];
	real f = 1e-3 * (sum[0] + sum[1] + sum[2]);

	if (c.lane == SUMS - 1)
		b->J[c.m] = -2 * f;
	return f + module_exchange(c, b);
}

/* ---- buffers ---------------------------------------------------------------------------- */

/* kon x (sites - bound - bound by others) - koff bound. */
struct buffer {
	int state, x, other;
	double kon, sites, koff;
};

static __constant__ const struct buffer buffers[BUFFERS] = {
	{ at::NaB_j, at::Na_j, in::ZERO, kon_Na, B_Na_j, koff_Na },
	{ at::NaB_sl, at::Na_sl, in::ZERO, kon_Na, B_Na_sl, koff_Na },
	{ at::SLLj, at::Ca_j, in::ZERO, kon_SLL, B_SLLj, koff_SLL },
	{ at::SLHj, at::Ca_j, in::ZERO, kon_SLH, B_SLHj, koff_SLH },
	{ at::SLLsl, at::Ca_sl, in::ZERO, kon_SLL, B_SLLsl, koff_SLL },
	{ at::SLHsl, at::Ca_sl, in::ZERO, kon_SLH, B_SLHsl, koff_SLH },
	{ at::TnCL, at::Ca_i, in::ZERO, kon_TnCL, B_TnCL, koff_TnCL },
	{ at::TnCHc, at::Ca_i, at::TnCHm, kon_TnCHc, B_TnCH, koff_TnCHc },
	{ at::TnCHm, in::ONE, at::TnCHc, kon_TnCHm *Mg_i, B_TnCH, koff_TnCHm },
	{ at::Myoc, at::Ca_i, at::Myom, kon_Myoc, B_Myo, koff_Myoc },
	{ at::Myom, in::ONE, at::Myoc, kon_Myom *Mg_i, B_Myo, koff_Myom },
	{ at::SRB, at::Ca_i, in::ZERO, kon_SR, B_SR, koff_SR },
	{ at::Csqnb, at::Ca_SR, in::ZERO, kon_Csqn, B_Csqn, koff_Csqn },
	{ at::fCaB_j, at::Ca_j, in::ZERO, 1.7, 1, 11.9e-3 },
	{ at::fCaB_sl, at::Ca_sl, in::ZERO, 1.7, 1, 11.9e-3 },
};

/* Where the uptake of a pool begins in the order of the table. */
enum { UPTAKE_NA, UPTAKE_CA_J = 2, UPTAKE_CA_SL = 4, UPTAKE_CA_I = 6, UPTAKE_CA_SR = 12 };

struct my_buffer {
	int i, state, x, other;
	real kon, sites, koff;
};

static __device__ inline struct my_buffer my_buffer(int lane)
{
	int i = lane < BUFFERS ? lane : BUFFERS - 1;
	const struct buffer &t = buffers[i];

	return { i, t.state, t.x, t.other, t.kon, t.sites, t.koff };
}

static __device__ inline real buffer_uptake(const struct my_buffer &c, struct board *b)
{
	const real *v = b->v;
	real f = uptake(c.kon * v[c.x], c.sites - v[c.state] - v[c.other], c.koff, v[c.state]);

	b->uptake[c.i] = f;
	return f;
}
} // namespace
} // namespace myocyte
