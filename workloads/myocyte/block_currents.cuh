/*
 * block_currents.cuh - spread=block: gates and currents, from exponentials and powers that other
 * lanes have computed. Part of kernels.cuh. Formulas: model_membrane.cuh, model_calcium.cuh.
 */

namespace myocyte
{
namespace
{
static __device__ inline real choose(bool first, real a, real b)
{
	return first ? a : b;
}

/* ---- phase 1: what saturates with Na or Ca of a side ------------------------------------- */

static __device__ inline void saturations(int side, struct board *b)
{
	const real Km4 = Km_Nai * Km_Nai * Km_Nai * Km_Nai, Kd3 = Kd_act * Kd_act * Kd_act;
	real Na = b->v[at::Na_j + side], Ca = b->v[at::Ca_j + side];
	real Na4 = Na * Na * (Na * Na), Ca3 = cube(Ca);

	b->Na4[side] = Na4 / (Na4 + Km4);
	b->allo[side] = Ca3 / (Ca3 + Kd3);
	b->Cl[side] = Ca / (Ca + Kd_ClCa);
}

/* ---- phase 2: gates ---------------------------------------------------------------------- */

/* The owner's: m, h, j, d, f, x_Kr, x_Ks by lane. All are opened by `open`, closed by `close`. */
static __device__ inline real gate(int lane, const struct board *b)
{
	const real *e = b->e, *q = b->q;
	real V = b->v[at::V];
	bool high = V >= real(-40);
	real Kr = q[EXP_KR_1] + q[EXP_KR_2], Ks = q[EXP_KS_1] + q[EXP_KS_2];
	real d =
		q[EXP_D_RATE] - 0.035 * (V + 14.5); /* x (1 + e^z)/(1 - e^z) = -x - 2 x/(e^z - 1) */
	real f = 0.0197 * e[EXP_F_RATE] + 0.02;
	real j_open = (-127140 * e[EXP_J_OPEN] - 3.474e-5 * e[EXP_J_OPEN_2]) * (V + 37.78) *
		      q[EXP_J_OPEN_3];
	real open[8] = { q[EXP_M_OPEN],
			 choose(high, 0, 0.135 * e[EXP_H_OPEN]),
			 choose(high, 0, j_open),
			 q[EXP_D] * d,
			 (q[EXP_F] + q[EXP_F_2]) * f,
			 q[EXP_KR] * Kr,
			 q[EXP_KS] * Ks,
			 0 };
	real h_close = 3.56 * e[EXP_H_CLOSE] + 3.1e5 * e[EXP_H_CLOSE_2];
	real sum[8] = { open[0] + 0.08 * e[EXP_M_CLOSE],
			open[1] + choose(high, q[EXP_H_HIGH], h_close),
			open[2] + choose(high, e[EXP_J_HIGH] * q[EXP_J_HIGH_2],
					 e[EXP_J_CLOSE] * q[EXP_J_CLOSE_2]),
			d,
			f,
			Kr,
			Ks,
			0 };
	const int state[8] = { at::m, at::h, at::j, at::d, at::f, at::x_Kr, at::x_Ks, at::V };
	real f_lane = 0;

	for (int i = 0; i < 7; i++)
		f_lane = choose(lane == i, open[i] - sum[i] * b->v[state[i]], f_lane);
	return f_lane;
}

/* Gates of I_to by lane: x_tos, y_tos, x_tof, y_tof, r_tos. */
static __device__ inline real gate_of_I_to(int lane, const struct board *b)
{
	const real *q = b->q;
	bool opens = lane == 0 || lane == 2;
	const int state[8] = { at::x_tos, at::y_tos, at::x_tof, at::y_tof, at::r_tos, 0, 0, 0 };
	real target = q[opens ? EXP_TO_OPEN : EXP_TO_33];
	real tau[5] = { q[EXP_TO_SLOW] + 0.5, 3000 * q[EXP_TO_60] + 30,
			3.5 * b->e[EXP_TO_FAST] + 1.5, 20 * q[EXP_TO_33] + 20,
			2800 * q[EXP_TO_60] + 220 };
	real my_tau = tau[4];

	for (int i = 0; i < 4; i++)
		my_tau = choose(lane == i, tau[i], my_tau);
	return (target - b->v[state[lane < 5 ? lane : 4]]) / my_tau;
}

/* ---- phase 2: currents ------------------------------------------------------------------- */

/* Without I_K1: I_to, I_Kr, I_Kp and the background of Cl. */
static __device__ inline real currents_of_V(real E_K, const struct board *b)
{
	const real *v = b->v;
	real V = v[at::V];
	real slow = G_tos * v[at::x_tos] * (v[at::y_tos] + 0.5 * v[at::r_tos]);
	real fast = G_tof * v[at::x_tof] * v[at::y_tof];
	real Kr = v[at::x_Kr] * b->q[EXP_KR_RECTIFIER];

	return (slow + fast + Kr + b->q[EXP_KP]) * (V - E_K) + G_Clb * (V - E_Cl);
}

static __device__ inline real inward_rectifier(real E_K, const struct board *b)
{
	real alpha = b->q[EXP_K1_OPEN];
	real beta = (0.49124 * b->e[EXP_K1_CLOSE] + b->e[EXP_K1_CLOSE_2]) * b->q[EXP_K1_CLOSE_3];

	return 0.9 * alpha / (alpha + beta) * (b->v[at::V] - E_K);
}

static __device__ inline real pump_of_Na(int side, const struct board *b)
{
	const real each = I_NaK_max * K_o / (K_o + Km_Ko);
	real blocked = 1 + 0.1245 * b->e[EXP_NAK] + 0.0365 * sigma_NaK * b->e[EXP_MINUS_U];

	return (side ? real(F_sl) : real(F_j)) * each * b->Na4[side] / blocked;
}

static __device__ inline real exchanger(int side, const struct board *b)
{
	const real Nao3 = Na_o * Na_o * Na_o, KmNao3 = KmN_Nao * KmN_Nao * KmN_Nao;
	const real KmNai3 = KmN_Nai * KmN_Nai * KmN_Nai;
	real Na3 = cube(b->v[at::Na_j + side]), Ca = b->v[at::Ca_j + side];
	real in = b->e[EXP_NU] * Ca_o * Na3 - b->e[EXP_NU1] * Nao3 * Ca;
	real s3 = KmN_Cai * Nao3 + KmNai3 * Ca_o +
		  Na3 * (KmN_Cai * Nao3 / KmNai3 + KmN_Cao + Ca_o) +
		  Ca * (KmNao3 + KmNai3 * Ca_o / KmN_Cai + Nao3);

	return (side ? real(F_sl) : real(F_j)) * I_NCX_max * b->allo[side] * in /
	       (s3 * (1 + k_sat * b->e[EXP_NU1]));
}

/* Of a side: I_Na, I_CaL, I_pCa, I_Cab, I_Ks, I_ClCa. Lanes 0 and 1 write theirs. */
static __device__ inline void currents_of_side(int side, bool benchmark, struct board *b)
{
	const real *v = b->v;
	real F_c = side ? real(F_sl) : real(F_j), V = v[at::V];
	real Na = v[at::Na_j + side], Ca = v[at::Ca_j + side];
	real from_E_Na = V + b->log[LOG_NA + side] / FRT,
	     from_E_Ca = V + b->log[LOG_CA + side] / (2 * FRT);
	real from_E_Ks = V + b->log[LOG_K] / FRT;
	struct field field = { b->e[EXP_U], b->q[EXP_U], b->q[EXP_2U] };
	real open = (side ? real(FCaL_sl) : real(FCaL_j)) * (0.45 * v[at::d] * v[at::f]) *
		    (1 - v[at::fCaB_j + side]);
	real x = v[benchmark && side == CLEFT ? at::x_Kr : at::x_Ks];
	real I_Ca = open * ghk_Ca(field, Ca);
	real I_pCa = F_c * I_pCa_max * b->part[POW_PUMP + side];
	real I_Cab = F_c * G_Cab * from_E_Ca;
	real g_Na = F_c * (G_Na * cube(v[at::m]) * v[at::h] * v[at::j] + G_Nab);
	real g_Ks = F_c * 0.07 * (0.057 + 0.19 * b->part[POW_KS + side]);

	b->I_Ca[side] = I_Ca;
	b->I_pCa[side] = I_pCa;
	b->I_Cab[side] = I_Cab;
	b->Ca[side] = I_Ca + I_Cab + I_pCa;
	b->Na[side] = g_Na * from_E_Na + open * ghk_monovalent(field, P_Na, Na, Na_o);
	b->other[side] = g_Ks * x * x * from_E_Ks + F_c * G_ClCa * b->Cl[side] * (V - E_Cl) +
			 open * ghk_monovalent(field, P_K, v[at::K_i], K_o);
}

/* ---- phase 2: reticulum ------------------------------------------------------------------ */

/* The owner's, RyR_R, RyR_O or RyR_I by lane; and fluxes of Ca for all. */
static __device__ inline real reticulum(int lane, struct board *b)
{
	const real *v = b->v;
	real Ca_j = v[at::Ca_j], R = v[at::RyR_R], O = v[at::RyR_O], I = v[at::RyR_I];
	real open = ko_Ca * b->part[POW_SLOW] * (Ca_j * Ca_j);
	real inactivate = ki_Ca * b->part[POW_FAST] * Ca_j;
	real RI = 1 - R - O - I;
	real flux_RI_R = k_im * RI - inactivate * R, flux_R_O = open * R - k_om * O;
	real flux_O_I = inactivate * O - k_im * I, flux_I_RI = k_om * I - open * RI;
	real up = b->power[POW_UP], down = b->power[POW_DOWN];

	if (lane == 0) {
		b->serca = Vmax_serca * (up - down) / (1 + up + down);
		b->rel = k_s * O * (v[at::Ca_SR] - Ca_j);
		b->leak = k_leak * (v[at::Ca_SR] - Ca_j);
		b->d_Ca[0] = v[at::Ca_sl] - Ca_j;
		b->d_Ca[1] = v[at::Ca_i] - v[at::Ca_sl];
		b->d_Na[0] = v[at::Na_sl] - v[at::Na_j];
		b->d_Na[1] = v[at::Na_i] - v[at::Na_sl];
	}
	return choose(lane == 0, flux_RI_R - flux_R_O,
		      choose(lane == 1, flux_R_O - flux_O_I, flux_O_I - flux_I_RI));
}

/* ---- phase 3: sums ----------------------------------------------------------------------- */

static __device__ inline real sum_of_V(real stimulus, const struct board *b)
{
	real side[SIDES];

	for (int s = 0; s < SIDES; s++)
		side[s] = (b->Na[s] + b->Ca[s]) + (b->other[s] + (b->NCX[s] + b->NaK[s]));
	return stimulus - (side[0] + side[1] + (b->K1 + b->K));
}

/* Na_j, Na_sl, Na_i by lane. */
static __device__ inline real sum_of_Na(int lane, const struct board *b)
{
	real f[3];

	for (int s = 0; s < SIDES; s++)
		f[s] = -(b->Na[s] + 3 * (b->NCX[s] + b->NaK[s])) *
		       (s ? real(C_m / (Vol_sl * F)) : real(C_m / (Vol_j * F)));
	f[0] = f[0] + D_Na_jsl / Vol_j * b->d_Na[0] - b->uptake[UPTAKE_NA];
	f[1] = f[1] - D_Na_jsl / Vol_sl * b->d_Na[0] + D_Na_slmyo / Vol_sl * b->d_Na[1] -
	       b->uptake[UPTAKE_NA + 1];
	f[2] = -(D_Na_slmyo / Vol_myo * b->d_Na[1]);
	return choose(lane == 0, f[0], choose(lane == 1, f[1], f[2]));
}

/* Ca_j or Ca_sl. */
static __device__ inline real sum_of_Ca(int side, const struct board *b)
{
	const real *bound = b->uptake + UPTAKE_CA_J + 2 * side;
	real j = b->rel * (Vol_SR / Vol_j) + b->leak * (Vol_myo / Vol_j) +
		 D_Ca_jsl / Vol_j * b->d_Ca[0];
	real sl = D_Ca_slmyo / Vol_sl * b->d_Ca[1] - D_Ca_jsl / Vol_sl * b->d_Ca[0];
	real currents = (b->Ca[side] - 2 * b->NCX[side]) *
			(side ? real(C_m / (Vol_sl * 2 * F)) : real(C_m / (Vol_j * 2 * F)));

	return (side ? sl : j) - currents - (bound[0] + bound[1]) + 1e-3 * b->J[side];
}

/* Ca_SR, or else Ca_i. */
static __device__ inline real sum_of_store(bool store, const struct board *b)
{
	const real *bound = b->uptake + UPTAKE_CA_I;
	real SR = (b->serca - b->leak) * (Vol_myo / Vol_SR) - b->rel - b->uptake[UPTAKE_CA_SR];
	real i = -b->serca - (bound[0] + bound[1] + bound[3] + (bound[5] + (bound[2] + bound[4]))) -
		 D_Ca_slmyo / Vol_myo * b->d_Ca[1] + 1e-3 * b->J[2];

	return choose(store, SR, i);
}

/* Q_CaL, Q_pCa, Q_NCX, Q_Cab by lane. */
static __device__ inline real integral(int lane, const struct board *b)
{
	const real uM_per_A_F = C_m / (Vol_myo * 2 * F) * 1e3;
	const real *current = lane == 0	  ? b->I_Ca
			      : lane == 1 ? b->I_pCa
			      : lane == 2 ? b->NCX
					  : b->I_Cab;

	return (current[0] + current[1]) * (lane == 2 ? 2 * uM_per_A_F : -uM_per_A_F);
}
} // namespace
} // namespace myocyte
