/*
 * model_membrane.cuh - Na, K and Cl currents of the membrane and the gates of the channels.
 *
 * A function for each current, in A/F; those that exist in cleft and shell take the share of
 * the membrane and the concentrations of their side.
 */
#ifndef RIFT_MYOCYTE_MODEL_MEMBRANE_CUH
#define RIFT_MYOCYTE_MODEL_MEMBRANE_CUH

#include "workloads/myocyte/model_constants.cuh"
#include "workloads/myocyte/model_state.cuh"

namespace myocyte
{
namespace
{
/*
 * a x/(e^(k x) - 1), which is 0/0 at x = 0. With `limits` a series in z = k x (Bernoulli numbers;
 * next term below 3e-18) takes over near 0, else the quotient stands.
 */
static __device__ inline real over_expm1(real a, real x, real k, real exp_kx, bool limits)
{
	real z = k * x, z2 = z * z;

	if (limits && fabs(z) < 0.1)
		return a / k *
		       (1 - z / 2 +
			z2 * (1. / 12 - z2 * (1. / 720 - z2 * (1. / 30240 - z2 * (1. / 1209600)))));
	return a * x / (exp_kx - 1);
}

static __device__ inline real over_expm1(real a, real x, real k, bool limits)
{
	return over_expm1(a, x, k, exp(k * x), limits);
}

/* 1/(1 + e^x): a gate's steady state. */
static __device__ inline real sigmoid(real x)
{
	return 1 / (1 + exp(x));
}

static __device__ inline real cube(real x)
{
	return x * x * x;
}

/* ---- fast Na current ------------------------------------------------------------------- */

/* Rates of h and j jump at V = -40 mV. */
static __device__ inline void inactivation_of_I_Na(real V, const input &y, const output &f)
{
	real alpha_h, beta_h, alpha_j, beta_j;

	if (V >= -40) {
		alpha_h = 0;
		beta_h = 1 / (0.13 * (1 + exp(-(V + 10.66) / 11.1)));
		alpha_j = 0;
		beta_j = 0.3 * exp(-2.535e-7 * V) * sigmoid(-0.1 * (V + 32));
	} else {
		alpha_h = 0.135 * exp(-(V + 80) / 6.8);
		beta_h = 3.56 * exp(0.079 * V) + 3.1e5 * exp(0.35 * V);
		alpha_j = (-127140 * exp(0.2444 * V) - 3.474e-5 * exp(-0.04391 * V)) * (V + 37.78) /
			  (1 + exp(0.311 * (V + 79.23)));
		beta_j = 0.1212 * exp(-0.01052 * V) / (1 + exp(-0.1378 * (V + 40.14)));
	}
	f[at::h] = alpha_h * (1 - y[at::h]) - beta_h * y[at::h];
	f[at::j] = alpha_j * (1 - y[at::j]) - beta_j * y[at::j];
}

static __device__ inline void gates_of_I_Na(real V, bool limits, const input &y, const output &f)
{
	real alpha_m = over_expm1(-0.32, V + 47.13, -0.1, limits);
	real beta_m = 0.08 * exp(-V / 11);

	f[at::m] = alpha_m * (1 - y[at::m]) - beta_m * y[at::m];
	inactivation_of_I_Na(V, y, f);
}

static __device__ inline real I_Na(real F_c, real E_Na, real V, const input &y)
{
	return F_c * G_Na * cube(y[at::m]) * y[at::h] * y[at::j] * (V - E_Na);
}

/* ---- background Na current, Na/K pump -------------------------------------------------- */

static __device__ inline real I_Nab(real F_c, real E_Na, real V)
{
	return F_c * G_Nab * (V - E_Na);
}

static __device__ inline real f_NaK(real u, real exp_u)
{
	return 1 / (1 + 0.1245 * exp(-0.1 * u) + 0.0365 * sigma_NaK / exp_u);
}

static __device__ inline real I_NaK(real F_c, real f, real Na)
{
	real q = Km_Nai / Na, q2 = q * q;

	return F_c * I_NaK_max * f * K_o / (1 + q2 * q2) / (K_o + Km_Ko);
}

/* ---- delayed rectifiers ---------------------------------------------------------------- */

static __device__ inline void gates_of_I_K(real V, bool limits, const input &y, const output &f)
{
	real xKr_inf = sigmoid(-(V + 50) / 7.5);
	real xKs_inf = sigmoid(-(V - 1.5) / 16.7);
	real rate_Kr = over_expm1(-0.00138, V + 7, -0.123, limits) +
		       over_expm1(6.1e-4, V + 10, 0.145, limits);
	real rate_Ks = over_expm1(-7.19e-5, V + 30, -0.148, limits) +
		       over_expm1(1.31e-4, V + 30, 0.0687, limits);

	f[at::x_Kr] = (xKr_inf - y[at::x_Kr]) * rate_Kr;
	f[at::x_Ks] = (xKs_inf - y[at::x_Ks]) * rate_Ks;
}

static __device__ inline real I_Kr(real V, real E_K, const input &y)
{
	return g_Kr * y[at::x_Kr] * sigmoid((V + 33) / 22.4) * (V - E_K);
}

/* x is the gate: x_Ks, or x_Kr in the benchmark's cleft. */
static __device__ inline real I_Ks(real F_c, real Ca, real x, real V, real E_Ks)
{
	real pCa = 3 - log10(Ca);
	real g_Ks = 0.07 * (0.057 + 0.19 * sigmoid((pCa - 7.2) / 0.6));

	return F_c * g_Ks * x * x * (V - E_Ks);
}

static __device__ inline real E_Ks(const input &y)
{
	return log((K_o + p_NaK * Na_o) / (y[at::K_i] + p_NaK * y[at::Na_i])) / FRT;
}

/* ---- other K currents ------------------------------------------------------------------ */

static __device__ inline real I_Kp(real V, real E_K)
{
	real kp = sigmoid(7.488 - V / 5.98);

	return F_j * G_Kp * kp * (V - E_K) + F_sl * G_Kp * kp * (V - E_K);
}

static __device__ inline void gates_of_I_to(real V, const input &y, const output &f)
{
	real exp_3 = exp((V + 3.0) / 15), low_60 = sigmoid((V + 60.0) / 10);
	real x_inf = 1 / (1 + 1 / exp_3);
	real y_inf = sigmoid((V + 33.5) / 10); /* of y_tos, r_tos and y_tof */
	real tau_xtos = 9 / (1 + exp_3) + 0.5;
	real tau_ytos = 3000 * low_60 + 30;
	real tau_rtos = 2800 * low_60 + 220;
	real tau_xtof = 3.5 * exp(-V * V / 30 / 30) + 1.5;
	real tau_ytof = 20.0 * y_inf + 20.0;

	f[at::x_tos] = (x_inf - y[at::x_tos]) / tau_xtos;
	f[at::y_tos] = (y_inf - y[at::y_tos]) / tau_ytos;
	f[at::r_tos] = (y_inf - y[at::r_tos]) / tau_rtos;
	f[at::x_tof] = (x_inf - y[at::x_tof]) / tau_xtof;
	f[at::y_tof] = (y_inf - y[at::y_tof]) / tau_ytof;
}

static __device__ inline real I_to(real V, real E_K, const input &y)
{
	real slow = G_tos * y[at::x_tos] * (y[at::y_tos] + 0.5 * y[at::r_tos]);
	real fast = G_tof * y[at::x_tof] * y[at::y_tof];

	return slow * (V - E_K) + fast * (V - E_K);
}

/* Inward rectifier. */
static __device__ inline real I_K1(real V, real E_K)
{
	real v = V - E_K;
	real alpha = 1.02 * sigmoid(0.2385 * (v - 59.215));
	real beta = (0.49124 * exp(0.08032 * (v + 5.476)) + exp(0.06175 * (v - 594.31))) /
		    (1 + exp(-0.5143 * (v + 4.753)));

	return 0.9 * alpha / (alpha + beta) * v;
}

/* ---- Cl currents ----------------------------------------------------------------------- */

static __device__ inline real I_ClCa(real F_c, real Ca, real V)
{
	return F_c * G_ClCa / (1 + Kd_ClCa / Ca) * (V - E_Cl);
}

static __device__ inline real I_Clb(real V)
{
	return G_Clb * (V - E_Cl);
}
} // namespace
} // namespace myocyte

#endif
