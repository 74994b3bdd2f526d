/*
 * warps_currents.cuh - spread=warps: currents of cleft and shell, the reticulum, and the sums
 * that V and concentrations are. Part of kernels.cuh. Formulas: model_calcium.cuh.
 */
namespace myocyte
{
namespace
{
namespace in_warps
{
/* A/F to mM/ms of Na; of Ca half. */
static constexpr double into_j = C_m / (Vol_j * F), into_sl = C_m / (Vol_sl * F);
static constexpr double uM_per_A_F = C_m / (Vol_myo * 2 * F) * 1e3;

/* ---- of one side: by SHELL for its own, by CYTOSOL for the cleft --------------------------- */

/*
 * From one logarithm of Ca, in units of the pump's half saturation: I_Cab, the pump's
 * 1/(1 + Ca^-1.6), and I_Ks, whose 1/(1 + e^((pCa - 7.2)/0.6)) is a power of Ca in 10^-4.2 mM.
 */
static __device__ inline void side(struct thread_state *c, int side)
{
	const double mV = 1 / FRT, unit = 0.5e-3, of_unit = -8.1886891244442; /* ln(unit/Ca_o) */
	constexpr double a_Ks = -1 / (0.6 * 2.302585092994045684), from_unit = 2.06995493103291;
	constexpr double b_Ks = e_constant(a_Ks * from_unit); /* (unit/10^-4.2)^a_Ks */
	struct column v = c->v, term = c->term;
	real F_c = side ? F_sl : F_j, V = v[on::V], Ca = v[on::Ca_j + side];
	real l_Na = fast_log(1 / Na_o * v[on::Na_j + side]);
	real l_Ca = fast_log(1 / unit * Ca), m = v[on::m];
	real g_Na = G_Na * (m * m) * (m * v[on::h] * v[on::j]) + G_Nab;
	real x = v[c->benchmark && !side ? on::x_Kr : on::x_Ks];
	real Na = F_c * g_Na * (V + mV * l_Na);
	real Cab = F_c * G_Cab * (V + (mV / 2 * l_Ca + mV / 2 * of_unit));
	real pCa = F_c * quotient(I_pCa_max, 1 + e_to(*c, -1.6, l_Ca));
	real Cl = quotient(F_c * G_ClCa * Ca, Ca + Kd_ClCa) * (V - E_Cl);

	term[I_NA + side] = Na;
	term[I_CAB + side] = Cab;
	term[I_PCA + side] = pCa;
	term[I_SIDE + side] = (Na + Cab) + (pCa + Cl);
	term[G_KS + side] = F_c * (x * x) *
			    (0.07 * 0.057 + quotient(0.07 * 0.19, 1 + b_Ks * e_to(*c, a_Ks, l_Ca)));
}

/* ---- the reticulum ------------------------------------------------------------------------ */

static __device__ inline void receptor(struct thread_state *c, real p)
{
	real most = Min_SR + Max_SR * p, Ca_j = c->v[on::Ca_j]; /* kCaSR = most/(1 + p) */
	real open = ko_Ca * (Ca_j * Ca_j) * quotient(1 + p, most);
	real inactivate = ki_Ca * Ca_j * quotient(most, 1 + p);
	real R = c->x[0], O = c->x[1], I = c->x[2], RI = 1 - R - O - I;
	real flux_RI_R = k_im * RI - inactivate * R, flux_R_O = open * R - k_om * O;
	real flux_O_I = inactivate * O - k_im * I, flux_I_RI = k_om * I - open * RI;

	c->f[0] = flux_RI_R - flux_R_O;
	c->f[1] = flux_R_O - flux_O_I;
	c->f[2] = flux_O_I - flux_I_RI;
}

static __device__ inline void reticulum(struct thread_state *c)
{
	constexpr double b = e_constant(-2.5 * 1.329135947279942); /* (Km_r/EC50_SR)^-2.5 */
	real Ca_SR = c->x[3], bound = c->x[4];
	real l_SR = fast_log(1 / Km_r * Ca_SR);
	real l_i = fast_log(1 / Km_f * c->v[on::Ca_i]);
	real up = e_to(*c, H_serca, l_i), down = e_to(*c, H_serca, l_SR);
	real pumped = quotient(Vmax_serca * (up - down), 1 + up + down);
	real out = (k_s * c->x[1] + k_leak * (Vol_myo / Vol_SR)) * (Ca_SR - c->v[on::Ca_j]);
	real taken = binding(kon_Csqn, Ca_SR, B_Csqn, koff_Csqn, bound);

	receptor(c, b * e_to(*c, -2.5, l_SR));
	c->f[3] = Vol_myo / Vol_SR * pumped - out - taken;
	c->f[4] = taken;
	c->f[5] = 0;
	c->term[J_UP] = pumped;
	c->term[J_OUT] = out;
}

/* ---- constant fields and carriers: by INTO_SUMS -------------------------------------------- */

/* Powers of e^u, u = VF/RT, and what the constant fields make of them. */
struct powers {
	real e_1, e_035, e_01; /* e^-u, e^(-0.35 u), e^(-0.1 u) */
	real over_1, over_2;   /* u/(1 - e^-u), u/(1 - e^-2u) */
};

/* In float exponentials are cheap, and high powers too far off. */
static __device__ inline struct powers make_powers(const struct thread_state &c, real V)
{
	if (sizeof(real) == sizeof(float))
		return { e_to(c, -FRT, V), e_to(c, -nu * FRT, V), e_to(c, -0.1 * FRT, V), 0, 0 };
	real e = e_to(c, -0.05 * FRT, V), e2 = e * e, e4 = e2 * e2, e6 = e4 * e2, e10 = e6 * e4;

	return { e10 * e10, e6 * e, e2, 0, 0 };
}

struct carried {
	real CaL, NCX, NaK, open; /* open: L-type channels of the side, for I_CaK */
	real Na, Ca;		  /* all of these that carry it */
};

static __device__ inline struct carried carried_by(struct thread_state *c, int side,
						   const struct powers &e, real df)
{
	const double Nao3 = Na_o * Na_o * Na_o, KmNao3 = KmN_Nao * KmN_Nao * KmN_Nao;
	const double KmNai3 = KmN_Nai * KmN_Nai * KmN_Nai, Kd3 = Kd_act * Kd_act * Kd_act;
	const double Km4 = Km_Nai * Km_Nai * Km_Nai * Km_Nai;
	const double per_Na3 = KmN_Cai * Nao3 / KmNai3 + KmN_Cao + Ca_o;
	const double per_Ca = KmNao3 + KmNai3 * Ca_o / KmN_Cai + Nao3;
	const double share = side ? F_sl : F_j, each = share * I_NaK_max * K_o / (K_o + Km_Ko);
	real Na = c->x[1 + side], Ca = c->x[4 + side], Na2 = Na * Na, Na3 = Na2 * Na;
	real Na4 = Na2 * Na2, Ca3 = Ca * Ca * Ca;
	real s3 = (KmN_Cai * Nao3 + KmNai3 * Ca_o) + per_Na3 * Na3 + per_Ca * Ca;
	real blocked = 1 + 0.1245 * e.e_01 + 0.0365 * sigma_NaK * e.e_1;
	struct carried i;

	i.open = (side ? FCaL_sl : FCaL_j) * df * (1 - c->x[9 + side]);
	i.CaL = i.open * (4 * 0.341 * P_Ca * F * e.over_2) * (Ca - Ca_o * (e.e_1 * e.e_1));
	/* above and below times e^(-0.35 u) */
	i.NCX = quotient(share * I_NCX_max * Ca3 * (Ca_o * Na3 - Nao3 * e.e_1 * Ca),
			 (Ca3 + Kd3) * s3 * (e.e_035 + k_sat * e.e_1));
	i.NaK = quotient(each * Na4, (Na4 + Km4) * blocked);
	i.Na = i.open * (0.75 * P_Na * F * e.over_1) * (Na - Na_o * e.e_1) + 3 * (i.NCX + i.NaK);
	i.Ca = i.CaL - 2 * i.NCX;
	return i;
}

/* What diffusion makes of concentrations that stand in slots first .. first + 2. */
static __device__ inline void diffuse(struct thread_state *c, int first, double D_jsl,
				      double D_slmyo)
{
	real to_j = c->x[first + 1] - c->x[first], to_sl = c->x[first + 2] - c->x[first + 1];

	c->f[first] = D_jsl / Vol_j * to_j;
	c->f[first + 1] = D_slmyo / Vol_sl * to_sl - D_jsl / Vol_sl * to_j;
	c->f[first + 2] = -D_slmyo / Vol_myo * to_sl;
}

static __device__ inline void carriers(struct thread_state *c)
{
	real V = c->v[on::V], u = V * FRT, df = 0.45 * c->v[on::d] * c->v[on::f];
	struct powers e = make_powers(*c, V);
	constexpr struct shape once = { 0, -1, 1 }, twice = { 0, -2, 1 };

	e.over_1 = over(*c, -1, once, u, e.e_1);
	e.over_2 = over(*c, -1, twice, u, e.e_1 * e.e_1);
	struct carried j = carried_by(c, 0, e, df), sl = carried_by(c, 1, e, df);
	real K = (j.open + sl.open) * (0.75 * P_K * F * e.over_1) * (c->v[on::K_i] - K_o * e.e_1);
	real *f = c->f;

	diffuse(c, 1, D_Na_jsl, D_Na_slmyo);
	diffuse(c, 4, D_Ca_jsl, D_Ca_slmyo);
	f[0] = *c->stimulus - ((j.Na + sl.Na) + (j.Ca + sl.Ca) + K - 2 * (j.NaK + sl.NaK));
	f[1] = f[1] - into_j * j.Na;
	f[2] = f[2] - into_sl * sl.Na;
	f[4] = f[4] - into_j / 2 * j.Ca;
	f[5] = f[5] - into_sl / 2 * sl.Ca;
	f[7] = -uM_per_A_F * (j.CaL + sl.CaL);
	f[8] = 2 * uM_per_A_F * (j.NCX + sl.NCX);
	f[9] = uptake(1.7 * c->x[4], 1 - c->x[9], 11.9e-3, c->x[9]);
	f[10] = uptake(1.7 * c->x[5], 1 - c->x[10], 11.9e-3, c->x[10]);
}

/* Phase 2. */
static __device__ inline void sums(struct thread_state *c)
{
	struct column t = c->term;
	real *f = c->f;
	real Ca[3];

	for (int i = 0; i < 3; i++)
		Ca[i] = 1e-3 * (t[CA_OF_MODULE + i] + t[TO_CA + i]) - t[UPTAKE_CA + i];
	f[0] = f[0] - ((t[I_SIDE] + t[I_SIDE + 1]) + (t[I_KR] + t[I_OUTWARD]) +
		       (t[G_KS] + t[G_KS + 1]) * t[FROM_E_KS]);
	f[1] = f[1] - into_j * t[I_NA] - t[UPTAKE_NA];
	f[2] = f[2] - into_sl * t[I_NA + 1] - t[UPTAKE_NA + 1];
	f[4] = f[4] - into_j / 2 * (t[I_CAB] + t[I_PCA]) + Vol_SR / Vol_j * t[J_OUT] + Ca[0];
	f[5] = f[5] - into_sl / 2 * (t[I_CAB + 1] + t[I_PCA + 1]) + Ca[1];
	f[6] = f[6] - t[J_UP] + Ca[2];
}
} // namespace in_warps
} // namespace
} // namespace myocyte
