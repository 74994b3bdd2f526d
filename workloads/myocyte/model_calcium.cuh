/*
 * model_calcium.cuh - Ca currents and exchangers of the membrane, sarcoplasmic reticulum,
 * buffers.
 */
#ifndef RIFT_MYOCYTE_MODEL_CALCIUM_CUH
#define RIFT_MYOCYTE_MODEL_CALCIUM_CUH

#include "workloads/myocyte/model_membrane.cuh"

namespace myocyte
{
namespace
{
/* ---- L-type Ca channel ----------------------------------------------------------------- */

static __device__ inline void gates_of_I_Ca(real V, bool limits, const input &y, const output &f)
{
	real x = V + 14.5, exp_x = exp(-x / 6.0);
	real d_inf = 1 / (1 + exp_x);
	/* (1 - e^(-x/6))/(0.035 x), which is 0/0 at -14.5 mV */
	real quotient = limits ? -1 / (0.035 * over_expm1(1, x, -1 / 6., exp_x, true))
			       : (1 - exp_x) / (0.035 * x);
	real f_inf = sigmoid((V + 35.06) / 3.6) + 0.6 * sigmoid((50 - V) / 20);
	real g = 0.0337 * x;

	f[at::d] = (d_inf - y[at::d]) / (d_inf * quotient);
	f[at::f] = (f_inf - y[at::f]) * (0.0197 * exp(-(g * g)) + 0.02);
}

/* Ca-dependent inactivation of one side. */
static __device__ inline real d_fCaB(real Ca, real fCaB)
{
	return 1.7 * Ca * (1 - fCaB) - 11.9e-3 * fCaB;
}

/* What the constant-field currents share: u = VF/RT and powers of e^u. */
struct field {
	real exp_u;  /* e^u */
	real over_1; /* u/(e^u - 1), 1 at u = 0 */
	real over_2; /* u/(e^2u - 1), 1/2 at u = 0 */
};

static __device__ inline struct field constant_field(real u, real exp_u, bool limits)
{
	return { exp_u, over_expm1(1, u, 1, exp_u, limits),
		 over_expm1(1, u, 2, exp_u * exp_u, limits) };
}

static __device__ inline real ghk_Ca(const struct field &e, real Ca)
{
	return P_Ca * 4 * F * e.over_2 * (0.341 * Ca * (e.exp_u * e.exp_u) - 0.341 * Ca_o);
}

static __device__ inline real ghk_monovalent(const struct field &e, real P, real in, real out)
{
	return P * F * e.over_1 * (0.75 * in * e.exp_u - 0.75 * out);
}

/* ---- Na/Ca exchanger ------------------------------------------------------------------- */

/* exp_nu = e^(nu u), exp_nu1 = e^((nu - 1) u). */
static __device__ inline real I_NCX(real F_c, real Na, real Ca, real exp_nu, real exp_nu1)
{
	const real Nao3 = Na_o * Na_o * Na_o, KmNao3 = KmN_Nao * KmN_Nao * KmN_Nao;
	const real KmNai3 = KmN_Nai * KmN_Nai * KmN_Nai;
	real Na3 = cube(Na);
	real allo = 1 / (1 + cube(Kd_act / Ca));
	real s1 = exp_nu * Na3 * Ca_o;
	real s2 = exp_nu1 * Nao3 * Ca;
	real s3 = (KmN_Cai * Nao3 * (1 + cube(Na / KmN_Nai)) + KmNao3 * Ca +
		   KmNai3 * Ca_o * (1 + Ca / KmN_Cai) + KmN_Cao * Na3 + Na3 * Ca_o + Nao3 * Ca) *
		  (1 + k_sat * exp_nu1);

	return F_c * I_NCX_max * allo * (s1 - s2) / s3;
}

/* ---- Ca pump and background current of the membrane ------------------------------------ */

static __device__ inline real I_pCa(real F_c, real Ca)
{
	real power = pow(Ca, 1.6);

	return F_c * I_pCa_max * power / (Km_pCa_1_6 + power);
}

static __device__ inline real I_Cab(real F_c, real Ca, real V)
{
	real E_Ca = log(Ca_o / Ca) / (2 * FRT);

	return F_c * G_Cab * (V - E_Ca);
}

/* ---- sarcoplasmic reticulum ------------------------------------------------------------ */

static __device__ inline void ryanodine_receptor(const input &y, const output &f)
{
	real Ca_j = y[at::Ca_j], R = y[at::RyR_R], O = y[at::RyR_O], I = y[at::RyR_I];
	real q = EC50_SR / y[at::Ca_SR];
	real kCaSR = Max_SR - (Max_SR - Min_SR) / (1 + q * q * sqrt(q));
	real open = ko_Ca / kCaSR * (Ca_j * Ca_j), inactivate = ki_Ca * kCaSR * Ca_j;
	real RI = 1 - R - O - I;
	real flux_RI_R = k_im * RI - inactivate * R;
	real flux_R_O = open * R - k_om * O;
	real flux_O_I = inactivate * O - k_im * I;
	real flux_I_RI = k_om * I - open * RI;

	f[at::RyR_R] = flux_RI_R - flux_R_O;
	f[at::RyR_O] = flux_R_O - flux_O_I;
	f[at::RyR_I] = flux_O_I - flux_I_RI;
}

/* Per litre of reticulum. */
static __device__ inline real J_rel(const input &y)
{
	return k_s * y[at::RyR_O] * (y[at::Ca_SR] - y[at::Ca_j]);
}

/* Per litre of cytosol, as is J_leak. */
static __device__ inline real J_serca(const input &y)
{
	real forward = pow(y[at::Ca_i] / Km_f, H_serca);
	real reverse = pow(y[at::Ca_SR] / Km_r, H_serca);

	return Vmax_serca * (forward - reverse) / (1 + forward + reverse);
}

static __device__ inline real J_leak(const input &y)
{
	return k_leak * (y[at::Ca_SR] - y[at::Ca_j]);
}

/* ---- buffers: each returns the uptake that it writes, mM/ms ---------------------------- */

/* on: rate of binding to a free site, 1/ms. */
static __device__ inline real uptake(real on, real free_sites, real koff, real bound)
{
	return product(on, free_sites) - product(koff, bound);
}

static __device__ inline real binding(real kon, real free, real sites, real koff, real bound)
{
	return uptake(kon * free, sites - bound, koff, bound);
}

static __device__ inline real Na_buffer(int at_NaB, real Na, real sites, const input &y,
					const output &f)
{
	return f[at_NaB] = binding(kon_Na, Na, sites, koff_Na, y[at_NaB]);
}

/* Mg taken up counts as Ca: so it does in the published equations. */
static __device__ inline real cytosolic_buffers(const input &y, const output &f)
{
	real Ca = y[at::Ca_i];
	real free_TnCH = B_TnCH - y[at::TnCHc] - y[at::TnCHm];
	real free_Myo = B_Myo - y[at::Myoc] - y[at::Myom];
	real TnCL = binding(kon_TnCL, Ca, B_TnCL, koff_TnCL, y[at::TnCL]);
	real TnCHc = uptake(kon_TnCHc * Ca, free_TnCH, koff_TnCHc, y[at::TnCHc]);
	real TnCHm = uptake(kon_TnCHm * Mg_i, free_TnCH, koff_TnCHm, y[at::TnCHm]);
	real Myoc = uptake(kon_Myoc * Ca, free_Myo, koff_Myoc, y[at::Myoc]);
	real Myom = uptake(kon_Myom * Mg_i, free_Myo, koff_Myom, y[at::Myom]);
	real SRB = binding(kon_SR, Ca, B_SR, koff_SR, y[at::SRB]);

	f[at::TnCL] = TnCL;
	f[at::TnCHc] = TnCHc;
	f[at::TnCHm] = TnCHm;
	f[at::Myoc] = Myoc;
	f[at::Myom] = Myom;
	f[at::SRB] = SRB;
	return TnCL + TnCHc + Myoc + SRB + (TnCHm + Myom);
}

static __device__ inline real cleft_buffers(const input &y, const output &f)
{
	real low = binding(kon_SLL, y[at::Ca_j], B_SLLj, koff_SLL, y[at::SLLj]);
	real high = binding(kon_SLH, y[at::Ca_j], B_SLHj, koff_SLH, y[at::SLHj]);

	f[at::SLLj] = low;
	f[at::SLHj] = high;
	return low + high;
}

static __device__ inline real shell_buffers(const input &y, const output &f)
{
	real low = binding(kon_SLL, y[at::Ca_sl], B_SLLsl, koff_SLL, y[at::SLLsl]);
	real high = binding(kon_SLH, y[at::Ca_sl], B_SLHsl, koff_SLH, y[at::SLHsl]);

	f[at::SLLsl] = low;
	f[at::SLHsl] = high;
	return low + high;
}

static __device__ inline real calsequestrin(const input &y, const output &f)
{
	return f[at::Csqnb] = binding(kon_Csqn, y[at::Ca_SR], B_Csqn, koff_Csqn, y[at::Csqnb]);
}
} // namespace
} // namespace myocyte

#endif
