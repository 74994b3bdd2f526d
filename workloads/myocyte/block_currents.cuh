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

/* Another lane's, by all of a warp. */
static __device__ inline double of_lane(double x, int lane)
{
	return __shfl_sync(~0u, x, lane);
}

static __device__ inline single of_lane(single x, int lane)
{
	x.v = __shfl_sync(~0u, x.v, lane);
	return x;
}

static __device__ inline real membrane_share(int side)
{
	return choose(side, F_sl, F_j);
}

/* ---- phase 1: what saturates with Na or Ca of a side ------------------------------------- */

/* x^n/(x^n + half), n = 4, 3 or 1. */
struct thread_saturation {
	int i, x;
	bool fourth, third, counts; /* counts: lanes without one compute the first, for nobody */
	real half;
};

static __device__ inline struct thread_saturation thread_saturation(int lane)
{
	const double Km4 = Km_Nai * Km_Nai * Km_Nai * Km_Nai, Kd3 = Kd_act * Kd_act * Kd_act;
	int i = lane < SATURATIONS ? lane : 0, side = i % SIDES, by = i - side;

	return { i,
		 (by == BY_NA4 ? at::Na_j : at::Ca_j) + side,
		 by == BY_NA4,
		 by == BY_CA3,
		 lane < SATURATIONS,
		 by == BY_NA4	? Km4
		 : by == BY_CA3 ? Kd3
				: Kd_ClCa };
}

static __device__ inline void saturation(const struct thread_saturation &c, struct block_smem *b)
{
	real x = b->v[c.x], x2 = x * x;
	real power = choose(c.fourth, x2 * x2, choose(c.third, x2 * x, x));

	power = quotient(power, power + c.half);
	if (c.counts)
		b->saturation[c.i] = power;
}

/* ---- phase 2: gates ---------------------------------------------------------------------- */

/* m, h, j by lane: opened by `open`, closed by `close`. */
static __device__ inline real gate_of_I_Na(int lane, const struct block_smem *b)
{
	const real *e = b->e, *q = b->e + EXPS;
	real V = b->v[at::V], y = b->v[at::m + (lane < 3 ? lane : 0)];
	bool high = V >= real(-40);
	real j_open = (-127140 * e[EXP_J_OPEN] - 3.474e-5 * e[EXP_J_OPEN_2]) * (V + 37.78) *
		      q[EXP_J_OPEN_3];
	real h_close = 3.56 * e[EXP_H_CLOSE] + 3.1e5 * e[EXP_H_CLOSE_2];
	real h_high = q[EXP_H_HIGH], j_high = e[EXP_J_HIGH] * q[EXP_J_HIGH_2];
	real j_close = e[EXP_J_CLOSE] * q[EXP_J_CLOSE_2];
	real open = choose(lane == 0, q[EXP_M_OPEN],
			   choose(high, 0, choose(lane == 1, 0.135 * e[EXP_H_OPEN], j_open)));
	real close = choose(
		lane == 0, 0.08 * e[EXP_M_CLOSE],
		choose(lane == 1, choose(high, h_high, h_close), choose(high, j_high, j_close)));

	return open * (1 - y) - close * y;
}

/* A gate that goes to e[to] + more e[to_2] at a rate of a e[i] + a_2 e[i_2] + c + x (V + 14.5).
 */
struct slow_gate {
	int state, to, to_2, i, i_2;
	double more, a, a_2, c, x;
};

/* d: x (1 + e^z)/(1 - e^z) = -x - 2 x/(e^z - 1) */
static __device__ const struct slow_gate slow_gates[4] = {
	{ at::d, Q_OF(EXP_D), 0, Q_OF(EXP_D_RATE), 0, 0, 1, 0, 0, -0.035 },
	{ at::f, Q_OF(EXP_F), Q_OF(EXP_F_2), EXP_F_RATE, 0, 1, 0.0197, 0, 0.02, 0 },
	{ at::x_Kr, Q_OF(EXP_KR), 0, Q_OF(EXP_KR_1), Q_OF(EXP_KR_2), 0, 1, 1, 0, 0 },
	{ at::x_Ks, Q_OF(EXP_KS), 0, Q_OF(EXP_KS_1), Q_OF(EXP_KS_2), 0, 1, 1, 0, 0 },
};

struct thread_slow_gate {
	int state, to, to_2, i, i_2;
	real more, a, a_2, c, x;
};

static __device__ inline struct thread_slow_gate thread_slow_gate(int lane)
{
	const struct slow_gate &g = slow_gates[lane % 4];

	return { g.state, g.to, g.to_2, g.i, g.i_2, g.more, g.a, g.a_2, g.c, g.x };
}

static __device__ inline real slow_gate(const struct thread_slow_gate &g,
					const struct block_smem *b)
{
	real rate = (g.a * b->e[g.i] + g.a_2 * b->e[g.i_2]) + (g.c + g.x * (b->v[at::V] + 14.5));

	return (b->e[g.to] + g.more * b->e[g.to_2] - b->v[g.state]) * rate;
}

/* A gate of I_to, which goes to e[to] in a e[i] + c ms. */
struct to_gate {
	int state, to, i;
	double a, c;
};

static __device__ const struct to_gate to_gates[5] = {
	{ at::x_tos, Q_OF(EXP_TO_OPEN), Q_OF(EXP_TO_SLOW), 1, 0.5 },
	{ at::y_tos, Q_OF(EXP_TO_33), Q_OF(EXP_TO_60), 3000, 30 },
	{ at::x_tof, Q_OF(EXP_TO_OPEN), EXP_TO_FAST, 3.5, 1.5 },
	{ at::y_tof, Q_OF(EXP_TO_33), Q_OF(EXP_TO_33), 20, 20 },
	{ at::r_tos, Q_OF(EXP_TO_33), Q_OF(EXP_TO_60), 2800, 220 },
};

struct thread_to_gate {
	int state, to, i;
	real a, c;
};

static __device__ inline struct thread_to_gate thread_to_gate(int lane)
{
	const struct to_gate &g = to_gates[lane % 5];

	return { g.state, g.to, g.i, g.a, g.c };
}

static __device__ inline real gate_of_I_to(const struct thread_to_gate &g,
					   const struct block_smem *b)
{
	return quotient(b->e[g.to] - b->v[g.state], g.a * b->e[g.i] + g.c);
}

/* ---- phase 2: currents ------------------------------------------------------------------- */

/* Without I_K1: I_to, I_Kr, I_Kp and the background of Cl. */
static __device__ inline real currents_of_V(real E_K, const struct block_smem *b)
{
	const real *v = b->v;
	real V = v[at::V];
	real slow = G_tos * v[at::x_tos] * (v[at::y_tos] + 0.5 * v[at::r_tos]);
	real fast = G_tof * v[at::x_tof] * v[at::y_tof];
	real Kr = v[at::x_Kr] * b->e[Q_OF(EXP_KR_RECTIFIER)] + b->e[Q_OF(EXP_KP)];

	return ((slow + fast) + Kr) * (V - E_K) + (G_Clb * (V - E_Cl) - b->stimulus);
}

/* I_NaK of cleft and shell and I_K1 by lane: a division each. */
static __device__ inline void pump_and_rectifier(int lane, real E_K, struct block_smem *b)
{
	const double each = I_NaK_max * K_o / (K_o + Km_Ko);
	const real *e = b->e;
	real alpha = b->e[Q_OF(EXP_K1_OPEN)];
	real beta = (0.49124 * e[EXP_K1_CLOSE] + e[EXP_K1_CLOSE_2]) * b->e[Q_OF(EXP_K1_CLOSE_3)];
	real blocked = 1 + 0.1245 * e[EXP_NAK] + 0.0365 * sigma_NaK * e[EXP_MINUS_U];
	real pump = membrane_share(lane % SIDES) * each * b->saturation[BY_NA4 + lane % SIDES];
	bool pumps = lane < SIDES;
	real I = quotient(choose(pumps, pump, 0.9 * alpha * (b->v[at::V] - E_K)),
			  choose(pumps, blocked, alpha + beta));

	if (lane <= SIDES)
		b->term[pumps ? I_NA_PUMP + lane : int(I_RECTIFIER)] = I;
}

static __device__ inline real exchanger(int side, const struct block_smem *b)
{
	const double Nao3 = Na_o * Na_o * Na_o, KmNao3 = KmN_Nao * KmN_Nao * KmN_Nao;
	const double KmNai3 = KmN_Nai * KmN_Nai * KmN_Nai;
	const double per_Na3 = KmN_Cai * Nao3 / KmNai3 + KmN_Cao + Ca_o;
	const double per_Ca = KmNao3 + KmNai3 * Ca_o / KmN_Cai + Nao3;
	real Na3 = cube(b->v[at::Na_j + side]), Ca = b->v[at::Ca_j + side];
	real net = b->e[EXP_NU] * Ca_o * Na3 - b->e[EXP_NU1] * Nao3 * Ca;
	real s3 = (KmN_Cai * Nao3 + KmNai3 * Ca_o) + per_Na3 * Na3 + per_Ca * Ca;

	return quotient(membrane_share(side) * I_NCX_max * b->saturation[BY_CA3 + side] * net,
			s3 * (1 + k_sat * b->e[EXP_NU1]));
}

/* What L-type channels of a side let through. */
static __device__ inline void channels(int lane, struct block_smem *b)
{
	int side = lane % SIDES;
	const real *v = b->v;
	struct field field = { b->e[EXP_U], b->e[Q_OF(EXP_U)], b->e[Q_OF(EXP_2U)] };
	real open = choose(side, FCaL_sl, FCaL_j) * (0.45 * v[at::d] * v[at::f]) *
		    (1 - v[at::fCaB_j + side]);
	real Ca = open * ghk_Ca(field, v[at::Ca_j + side]);
	real Na = open * ghk_monovalent(field, P_Na, v[at::Na_j + side], Na_o);
	real K = open * ghk_monovalent(field, P_K, v[at::K_i], K_o);
	real *term = b->term + side;

	if (lane >= SIDES)
		return;
	term[I_CA_L] = Ca;
	term[I_CA_NA] = Na;
	term[I_CHANNEL] = Ca + (Na + K);
}

/* Fast Na channels of a side, and backgrounds. */
static __device__ inline void currents_of_side(int lane, struct block_smem *b)
{
	int side = lane % SIDES;
	const double mV = 1 / FRT;
	const real *v = b->v;
	real F_c = membrane_share(side), V = v[at::V];
	real from_E_Na = V + mV * b->log[LOG_NA + side];
	real from_E_Ca = V + mV / 2 * b->log[LOG_CA + side];
	real g_Na = G_Na * (v[at::m] * v[at::m]) * (v[at::m] * v[at::h] * v[at::j]) + G_Nab;
	real *term = b->term + side;

	if (lane >= SIDES)
		return;
	term[I_NA] = F_c * g_Na * from_E_Na;
	term[I_CA_B] = F_c * G_Cab * from_E_Ca;
	term[I_CL] = F_c * G_ClCa * b->saturation[BY_CA + side] * (V - E_Cl);
}

/* ---- phase 2: powers and the reticulum ---------------------------------------------------- */

/* I_pCa and I_Ks of a side, by their lanes. */
static __device__ inline void currents_of_powers(const struct thread_power &c, bool benchmark,
						 struct block_smem *b)
{
	real part = quotient(1, 1 + c.p);
	bool slow = c.i >= POW_KS;
	int side = slow ? c.i - POW_KS : c.i - POW_PUMP;
	real x = b->v[benchmark && c.i == POW_KS ? at::x_Kr : at::x_Ks];
	real Ks = (0.07 * 0.057 + 0.07 * 0.19 * part) * (x * x) *
		  (b->v[at::V] + 1 / FRT * b->log[LOG_K]);

	if (c.i >= POW_PUMP && c.i < POWERS_OF_SIDES)
		b->term[(slow ? I_SLOW : I_CA_PUMP) + side] =
			membrane_share(side) * choose(slow, Ks, I_pCa_max * part);
}

/* RyR_R, RyR_O or RyR_I by lane, and the pump's flux. */
static __device__ inline real reticulum(const struct thread_power &c, int lane,
					struct block_smem *b)
{
	const real *v = b->v;
	real up = of_lane(c.p, 0), down = of_lane(c.p, POW_DOWN - POW_UP);
	real p = of_lane(c.p, POW_SR - POW_UP), most = Min_SR + Max_SR * p;
	real kCaSR = quotient(most, 1 + p), per_kCaSR = quotient(1 + p, most);
	real pumped = quotient(Vmax_serca * (up - down), 1 + up + down);
	real Ca_j = v[at::Ca_j], R = v[at::RyR_R], O = v[at::RyR_O], I = v[at::RyR_I];
	real open = ko_Ca * (Ca_j * Ca_j) * per_kCaSR, inactivate = ki_Ca * Ca_j * kCaSR;
	real RI = 1 - R - O - I;
	real flux_RI_R = k_im * RI - inactivate * R, flux_R_O = open * R - k_om * O;
	real flux_O_I = inactivate * O - k_im * I, flux_I_RI = k_om * I - open * RI;

	if (!lane)
		b->term[J_UP] = pumped;
	return choose(lane == 0, flux_RI_R - flux_R_O,
		      choose(lane == 1, flux_R_O - flux_O_I, flux_O_I - flux_I_RI));
}

/* Differences of concentrations, and what the reticulum leaks and releases. By one lane. */
static __device__ inline void flows(struct block_smem *b)
{
	const real *v = b->v;

	b->term[J_OUT] =
		(k_s * v[at::RyR_O] + k_leak * (Vol_myo / Vol_SR)) * (v[at::Ca_SR] - v[at::Ca_j]);
	b->term[D_CA] = v[at::Ca_sl] - v[at::Ca_j];
	b->term[D_CA + 1] = v[at::Ca_i] - v[at::Ca_sl];
	b->term[D_NA] = v[at::Na_sl] - v[at::Na_j];
	b->term[D_NA + 1] = v[at::Na_i] - v[at::Na_sl];
}
} // namespace
} // namespace myocyte
