/*
 * warps_gates.cuh - spread=warps: gates of the channels, and currents that need nothing else.
 * Part of kernels.cuh. Formulas: model_membrane.cuh, model_calcium.cuh.
 */
namespace myocyte
{
namespace
{
namespace in_warps
{
/* ---- I_Na and I_Ca ----------------------------------------------------------------------- */

/* What opens and what closes h and j. Their rates jump at V = -40 mV. */
struct inactivation {
	real open_h, close_h, open_j, close_j;
};

static __device__ inline struct inactivation above_jump(const struct thread_state &c, real V,
							real e_10)
{
	constexpr struct shape of_h = make_shape(-10.66, -1 / 11.1), of_j = make_shape(-32, -0.1);
	real z = -2.535e-7 * V, slow = 1 + z * (1 + z * (1. / 2 + 1. / 6 * z)); /* e^z */

	return { 0, 1 / 0.13 * steady(c, of_h, V), 0,
		 quotient(0.3 * slow, 1 + of_j.factor * e_10) };
}

static __device__ inline struct inactivation below_jump(const struct thread_state &c, real V)
{
	constexpr struct shape of_h = make_shape(-80, -1 / 6.8);
	constexpr struct shape opens_j = make_shape(-79.23, 0.311);
	constexpr struct shape closes_j = make_shape(-40.14, -0.1378);
	real opening = -127140 * e_to(c, 0.2444, V) - 3.474e-5 * e_to(c, -0.04391, V);

	return { 0.135 * e_to(c, of_h, V), 3.56 * e_to(c, 0.079, V) + 3.1e5 * e_to(c, 0.35, V),
		 opening * (V + 37.78) * steady(c, opens_j, V),
		 0.1212 * e_to(c, -0.01052, V) * steady(c, closes_j, V) };
}

static __device__ inline void gates_of_Na(struct thread_state *c, real V, real e_10)
{
	constexpr struct shape of_m = make_shape(-47.13, -0.1);
	const real *x = c->x;
	real m_open = over(*c, -0.32, of_m, V, of_m.factor * e_10);
	real m_close = 0.08 * e_to(*c, -1 / 11., V);
	struct inactivation i = V >= real(-40) ? above_jump(*c, V, e_10) : below_jump(*c, V);

	c->f[0] = m_open * (1 - x[0]) - m_close * x[0];
	c->f[1] = i.open_h * (1 - x[1]) - i.close_h * x[1];
	c->f[2] = i.open_j * (1 - x[2]) - i.close_j * x[2];
}

/* (d_inf - d)/tau_d is (1 - d (1 + e)) 0.035 x/(1 - e). */
static __device__ inline void gates_of_Ca(struct thread_state *c, real V, real e_20)
{
	constexpr struct shape of_d = make_shape(-14.5, -1 / 6.),
			       of_f = make_shape(-35.06, 1 / 3.6);
	constexpr struct shape of_f_2 = make_shape(50, -1 / 20.);
	real e = e_to(*c, of_d, V), rate = over(*c, -0.035, of_d, V, e);
	real f_inf = steady(*c, of_f, V) + quotient(0.6, 1 + of_f_2.factor * e_20);
	real g = 0.0337 * (V + 14.5);

	c->f[3] = (1 - c->x[3] * (1 + e)) * rate;
	c->f[4] = (f_inf - c->x[4]) * (0.0197 * e_to(*c, -1, g * g) + 0.02);
}

/* Computed by GATES, for cleft and shell. */
static __device__ inline void buffers_at_membrane(struct thread_state *c)
{
	const real *x = c->x;
	real *f = c->f;
	real Ca_j = c->v[on::Ca_j], Ca_sl = c->v[on::Ca_sl];

	f[5] = binding(kon_SLL, Ca_j, B_SLLj, koff_SLL, x[5]);
	f[6] = binding(kon_SLH, Ca_j, B_SLHj, koff_SLH, x[6]);
	f[7] = binding(kon_SLL, Ca_sl, B_SLLsl, koff_SLL, x[7]);
	f[8] = binding(kon_SLH, Ca_sl, B_SLHsl, koff_SLH, x[8]);
	f[9] = binding(kon_Na, c->v[on::Na_j], B_Na_j, koff_Na, x[9]);
	f[10] = binding(kon_Na, c->v[on::Na_sl], B_Na_sl, koff_Na, x[10]);
	c->term[UPTAKE_CA] = f[5] + f[6];
	c->term[UPTAKE_CA + 1] = f[7] + f[8];
	c->term[UPTAKE_NA] = f[9];
	c->term[UPTAKE_NA + 1] = f[10];
}

static __device__ inline void gates(struct thread_state *c)
{
	real V = c->v[on::V], e_20 = e_to(*c, -1 / 20., V);

	gates_of_Na(c, V, e_20 * e_20);
	gates_of_Ca(c, V, e_20);
	buffers_at_membrane(c);
}

/* ---- I_Kr and I_Ks ----------------------------------------------------------------------- */

/* Computed by KINASES. */
static __device__ inline void rapid_rectifier(struct thread_state *c)
{
	constexpr struct shape inf = make_shape(-50, -1 / 7.5),
			       rectifies = make_shape(-33, 1 / 22.4);
	constexpr struct shape rate_1 = make_shape(-7, -0.123), rate_2 = make_shape(-10, 0.145);
	real V = c->v[on::V];
	real rate = over(*c, -0.00138, rate_1, V) + over(*c, 6.1e-4, rate_2, V);

	c->f[0] = (steady(*c, inf, V) - c->x[0]) * rate;
	c->term[I_KR] = g_Kr * c->x[0] * steady(*c, rectifies, V) * (V - c->v[on::E_K]);
}

/* Computed by DYAD. */
static __device__ inline void slow_rectifier(struct thread_state *c)
{
	constexpr struct shape inf = make_shape(1.5, -1 / 16.7);
	constexpr struct shape rate_1 = make_shape(-30, -0.148), rate_2 = make_shape(-30, 0.0687);
	real V = c->v[on::V];
	real rate = over(*c, -7.19e-5, rate_1, V) + over(*c, 1.31e-4, rate_2, V);
	real K = c->v[on::K_i] + p_NaK * c->v[on::Na_i];

	c->f[3] = (steady(*c, inf, V) - c->x[3]) * rate;
	c->term[FROM_E_KS] = V + 1 / FRT * fast_log(1 / (K_o + p_NaK * Na_o) * K);
}

/* ---- I_to, I_K1, I_Kp, I_Clb -------------------------------------------------------------- */

/* inf = e/(1 + e) or 1/(1 + e), and tau has 1 + e below as well: one division for each gate. */
static __device__ inline void gates_of_to(struct thread_state *c, real V)
{
	constexpr struct shape of_x = make_shape(-3, 1 / 15.), of_y = make_shape(-33.5, 1 / 10.);
	constexpr struct shape of_tau = make_shape(-60, 1 / 10.);
	const real *x = c->x;
	real *f = c->f;
	real e_30 = e_to(*c, 1 / 30., V), e_15 = e_30 * e_30, e_10 = e_15 * e_30;
	real a = of_x.factor * e_15, x_1 = 1 + a;
	real y_1 = 1 + of_y.factor * e_10, z_1 = 1 + of_tau.factor * e_10;
	real bell = e_to(*c, -1 / 900., V * V);

	f[0] = quotient(a - x[0] * x_1, 9 + 0.5 * x_1);
	f[1] = quotient((1 - x[1] * y_1) * z_1, y_1 * (3000 + 30 * z_1));
	f[2] = quotient((1 - x[2] * y_1) * z_1, y_1 * (2800 + 220 * z_1));
	f[3] = quotient(a - x[3] * x_1, x_1 * (3.5 * bell + 1.5));
	f[4] = quotient(1 - x[4] * y_1, 20 + 20 * y_1);
}

/* I_K1 at x = V - E_K. */
static __device__ inline real inward_rectifier(const struct thread_state &c, real x)
{
	constexpr struct shape a = make_shape(59.215, 0.2385), b = make_shape(-4.753, -0.5143);
	constexpr struct shape b1 = make_shape(-5.476, 0.08032), b2 = make_shape(594.31, 0.06175);
	real a_1 = 1 + e_to(c, a, x), b_1 = 1 + e_to(c, b, x);
	real beta = 0.49124 * b1.factor * e_to(c, b1.k, x) + e_to(c, b2, x);

	/* alpha/(alpha + beta), alpha = 1.02/a_1, beta over b_1 */
	return quotient(0.9 * 1.02 * b_1, 1.02 * b_1 + a_1 * beta) * x;
}

/* Mg taken up counts as Ca: so it does in the published equations. */
static __device__ inline void buffers_of_cytosol(struct thread_state *c)
{
	const real *x = c->x;
	real *f = c->f;
	real Ca = c->v[on::Ca_i];
	real free_TnCH = B_TnCH - x[6] - x[7], free_Myo = B_Myo - x[8] - x[9];

	f[5] = binding(kon_TnCL, Ca, B_TnCL, koff_TnCL, x[5]);
	f[6] = uptake(kon_TnCHc * Ca, free_TnCH, koff_TnCHc, x[6]);
	f[7] = uptake(kon_TnCHm * Mg_i, free_TnCH, koff_TnCHm, x[7]);
	f[8] = uptake(kon_Myoc * Ca, free_Myo, koff_Myoc, x[8]);
	f[9] = uptake(kon_Myom * Mg_i, free_Myo, koff_Myom, x[9]);
	f[10] = binding(kon_SR, Ca, B_SR, koff_SR, x[10]);
	c->term[UPTAKE_CA + 2] = f[5] + f[6] + f[8] + f[10] + (f[7] + f[9]);
}

static __device__ inline void outward(struct thread_state *c)
{
	constexpr struct shape opens = make_shape(7.488 * 5.98, -1 / 5.98);
	const real *x = c->x;
	real V = c->v[on::V], from_E_K = V - c->v[on::E_K];
	real slow = G_tos * x[0] * (x[1] + 0.5 * x[2]), fast = G_tof * x[3] * x[4];
	real plateau = G_Kp * (F_j + F_sl) * steady(*c, opens, V);

	c->term[I_OUTWARD] = (slow + fast + plateau) * from_E_K + inward_rectifier(*c, from_E_K) +
			     G_Clb * (V - E_Cl);
	gates_of_to(c, V);
	buffers_of_cytosol(c);
}
} // namespace in_warps
} // namespace
} // namespace myocyte
