/*
 * model.cuh - the right-hand side of the myocyte model: 91 derivatives of one cell, per ms.
 *
 * Portable device code: a GPU by nvcc, the CPU device by g++. Written apart from reference.c,
 * which it is checked against.
 *
 * Sources: Shannon et al., Biophys. J. 87 (2004) 3351; Saucerman and Bers, Biophys. J. 95
 * (2008) 4597.
 */
#ifndef RIFT_MYOCYTE_MODEL_CUH
#define RIFT_MYOCYTE_MODEL_CUH

#include "workloads/myocyte/model_calcium.cuh"
#include "workloads/myocyte/model_cam.cuh"
#include "workloads/myocyte/model_membrane.cuh"

namespace myocyte
{
namespace
{
/* p[par::Btot_dy]: order of parameters.csv. The totals of calmodulin feed nothing. */
namespace par
{
/* clang-format off */
enum parameter {
	T_cycle,
	CaMtot_dy, Btot_dy, CaMKIItot_dy, CaNtot_dy, PP1tot_dy,
	CaMtot_sl, Btot_sl, CaMKIItot_sl, CaNtot_sl, PP1tot_sl,
	CaMtot_cy, Btot_cy, CaMKIItot_cy, CaNtot_cy, PP1tot_cy,
	END,
};
/* clang-format on */

static_assert(int(END) == MYOCYTE_PARAMS, "order of parameters.csv");
} // namespace par

/* Stimulus current at time t, A/F; both edges belong to it. T is the cycle length, ms. */
static __host__ __device__ inline double stimulus_at(double t, double T)
{
	return fmod(t, T) <= t_stim ? A_stim : 0;
}

/* What all currents of one evaluation share. */
struct membrane {
	real V, E_K, E_Ks;
	real f_NaK, exp_nu, exp_nu1; /* of the Na/K pump and the Na/Ca exchanger */
	real open_CaL;		     /* d f, times the 0.45 of all L-type currents */
	struct field field;
};

static __device__ inline struct membrane membrane_potentials(const input &y, bool limits)
{
	real V = y[at::V], u = V * FRT, exp_u = exp(u);

	return { V,
		 log(K_o / y[at::K_i]) / FRT,
		 E_Ks(y),
		 f_NaK(u, exp_u),
		 exp(nu * u),
		 exp((nu - 1) * u),
		 0.45 * y[at::d] * y[at::f],
		 constant_field(u, exp_u, limits) };
}

/* Cleft or shell: its shares of the membrane and what it holds. */
struct side {
	real F_c, FCaL_c; /* of all currents, of the L-type channels */
	real Na, Ca, fCaB;
	real x_Ks; /* what gates I_Ks here */
};

/* Currents of one side, A/F; those of Ca also apart, for the diagnostic integrals. */
struct side_currents {
	real Na, Ca, Ks, NaK, ClCa; /* Na and Ca: totals that change the side's ions */
	real I_Ca, I_NCX, I_pCa, I_Cab;
	real K_factor; /* of I_CaK: open L-type channels of this side */
};

static __device__ inline struct side_currents
side_currents_at(const struct side &s, const struct membrane &m, const input &y)
{
	real E_Na = log(Na_o / s.Na) / FRT;
	real open = s.FCaL_c * m.open_CaL * (1 - s.fCaB);
	real CaNa = open * ghk_monovalent(m.field, P_Na, s.Na, Na_o);
	struct side_currents i;

	i.I_Ca = open * ghk_Ca(m.field, s.Ca);
	i.I_NCX = I_NCX(s.F_c, s.Na, s.Ca, m.exp_nu, m.exp_nu1);
	i.I_pCa = I_pCa(s.F_c, s.Ca);
	i.I_Cab = I_Cab(s.F_c, s.Ca, m.V);
	i.NaK = I_NaK(s.F_c, m.f_NaK, s.Na);
	i.Ks = I_Ks(s.F_c, s.Ca, s.x_Ks, m.V, m.E_Ks);
	i.ClCa = I_ClCa(s.F_c, s.Ca, m.V);
	i.K_factor = open;
	i.Na = I_Na(s.F_c, E_Na, m.V, y) + I_Nab(s.F_c, E_Na, m.V) + 3 * i.I_NCX + 3 * i.NaK + CaNa;
	i.Ca = i.I_Ca + i.I_Cab + i.I_pCa - 2 * i.I_NCX;
	return i;
}

static __device__ inline void gates(real V, bool limits, const input &y, const output &f)
{
	gates_of_I_Na(V, limits, y, f);
	gates_of_I_K(V, limits, y, f);
	gates_of_I_to(V, y, f);
	gates_of_I_Ca(V, limits, y, f);
	f[at::fCaB_j] = d_fCaB(y[at::Ca_j], y[at::fCaB_j]);
	f[at::fCaB_sl] = d_fCaB(y[at::Ca_sl], y[at::fCaB_sl]);
	ryanodine_receptor(y, f);
}

static __device__ inline void sodium(const struct side_currents &j, const struct side_currents &sl,
				     const input &y, const output &f)
{
	real Na_j = y[at::Na_j], Na_sl = y[at::Na_sl], Na_i = y[at::Na_i];
	real bound_j = Na_buffer(at::NaB_j, Na_j, B_Na_j, y, f);
	real bound_sl = Na_buffer(at::NaB_sl, Na_sl, B_Na_sl, y, f);

	f[at::Na_j] = -j.Na * C_m / (Vol_j * F) + D_Na_jsl / Vol_j * (Na_sl - Na_j) - bound_j;
	f[at::Na_sl] = -sl.Na * C_m / (Vol_sl * F) + D_Na_jsl / Vol_sl * (Na_j - Na_sl) +
		       D_Na_slmyo / Vol_sl * (Na_i - Na_sl) - bound_sl;
	f[at::Na_i] = D_Na_slmyo / Vol_myo * (Na_sl - Na_i);
}

/* Ca that the calmodulin modules give back, uM/ms. */
struct module_Ca {
	real dy, sl, cy;
};

static __device__ inline void calcium(const struct side_currents &j, const struct side_currents &sl,
				      const struct module_Ca &J, const input &y, const output &f)
{
	real Ca_j = y[at::Ca_j], Ca_sl = y[at::Ca_sl], Ca_i = y[at::Ca_i];
	real serca = J_serca(y), leak = J_leak(y), rel = J_rel(y);

	f[at::Ca_SR] =
		serca * Vol_myo / Vol_SR - (leak * Vol_myo / Vol_SR + rel) - calsequestrin(y, f);
	f[at::Ca_j] = -j.Ca * C_m / (Vol_j * 2 * F) + D_Ca_jsl / Vol_j * (Ca_sl - Ca_j) -
		      cleft_buffers(y, f) + rel * Vol_SR / Vol_j + leak * Vol_myo / Vol_j +
		      1e-3 * J.dy;
	f[at::Ca_sl] = -sl.Ca * C_m / (Vol_sl * 2 * F) + D_Ca_jsl / Vol_sl * (Ca_j - Ca_sl) +
		       D_Ca_slmyo / Vol_sl * (Ca_i - Ca_sl) - shell_buffers(y, f) + 1e-3 * J.sl;
	f[at::Ca_i] = -serca - cytosolic_buffers(y, f) + D_Ca_slmyo / Vol_myo * (Ca_sl - Ca_i) +
		      1e-3 * J.cy;
}

/* Time integrals of Ca entry, uM of cytosol; they feed nothing. */
static __device__ inline void integrals(const struct side_currents &j,
					const struct side_currents &sl, const output &f)
{
	const real uM_per_A_F = C_m / (Vol_myo * 2 * F) * 1e3;

	f[at::Q_CaL] = -(j.I_Ca + sl.I_Ca) * uM_per_A_F;
	f[at::Q_NCX] = 2 * (j.I_NCX + sl.I_NCX) * uM_per_A_F;
	f[at::Q_pCa] = -(j.I_pCa + sl.I_pCa) * uM_per_A_F;
	f[at::Q_Cab] = -(j.I_Cab + sl.I_Cab) * uM_per_A_F;
}

/* K currents change no concentration: K_i is clamped. */
static __device__ inline real potential(const struct side_currents &j,
					const struct side_currents &sl, const struct membrane &m,
					real stimulus, const input &y)
{
	real CaK = ghk_monovalent(m.field, P_K, y[at::K_i], K_o) * (j.K_factor + sl.K_factor);
	real K = I_to(m.V, m.E_K, y) + I_Kr(m.V, m.E_K, y) + (j.Ks + sl.Ks) + I_K1(m.V, m.E_K) -
		 2 * (j.NaK + sl.NaK) + CaK + I_Kp(m.V, m.E_K);
	real Cl = j.ClCa + sl.ClCa + I_Clb(m.V);

	return stimulus - (j.Na + sl.Na + Cl + j.Ca + sl.Ca + K);
}

static __device__ inline void slots(const output &f)
{
	f[at::CaM_ecc] = 0;
	f[at::K_i] = 0;
	f[at::spare40] = 0;
	f[at::spare41] = 0;
}

/* The three calmodulin modules and what passes between them. */
static __device__ inline struct module_Ca modules(bool benchmark, const input &p, const input &y,
						  const output &f)
{
	struct totals dy = { p[par::Btot_dy], p[par::CaMKIItot_dy], p[par::CaNtot_dy],
			     p[par::PP1tot_dy] };
	struct totals sl = { p[par::Btot_sl], p[par::CaMKIItot_sl], p[par::CaNtot_sl],
			     p[par::PP1tot_sl] };
	struct totals cy = { p[par::Btot_cy], p[par::CaMKIItot_cy], p[par::CaNtot_cy],
			     p[par::PP1tot_cy] };
	struct module_rates in_dy =
		cam_module(1e3 * y[at::Ca_j], dy, y.from(at::CaM_dy), f.from(at::CaM_dy));
	struct module_rates in_sl =
		cam_module(1e3 * y[at::Ca_sl], sl, y.from(at::CaM_sl), f.from(at::CaM_sl));
	struct module_rates in_cy =
		cam_module(1e3 * y[at::Ca_i], cy, y.from(at::CaM_cy), f.from(at::CaM_cy));

	exchange_CaM(in_dy, in_sl, in_cy, benchmark ? dy.B : Btot_x, dy.CaMKII, y, f);
	return { in_dy.J_Ca, in_sl.J_Ca, in_cy.J_Ca };
}

/*
 * f = dy/dt per ms for a stimulus current in A/F. benchmark: as Rodinia computes, that is x_Kr
 * gates I_Ks of the cleft, Btot_dy stands where 1857 uM belong, and formulas of the form 0/0
 * stay so; otherwise as published, with limits in place of 0/0. All 91 entries are written.
 * p, y and f are a cell's columns, n words from entry to entry; f overlaps neither.
 */
static __device__ inline void right_hand_side(bool benchmark, real stimulus,
					      const real *__restrict__ p_column,
					      const real *__restrict__ y_column,
					      real *__restrict__ f_column, int n)
{
	const input p = { p_column, n }, y = { y_column, n };
	const output f = { f_column, n };
	bool limits = !benchmark;
	struct membrane m = membrane_potentials(y, limits);
	struct side in_j = { F_j,	  FCaL_j,	 y[at::Na_j],
			     y[at::Ca_j], y[at::fCaB_j], y[benchmark ? at::x_Kr : at::x_Ks] };
	struct side in_sl = {
		F_sl, FCaL_sl, y[at::Na_sl], y[at::Ca_sl], y[at::fCaB_sl], y[at::x_Ks]
	};
	struct side_currents j = side_currents_at(in_j, m, y);
	struct side_currents sl = side_currents_at(in_sl, m, y);

	gates(m.V, limits, y, f);
	sodium(j, sl, y, f);
	calcium(j, sl, modules(benchmark, p, y, f), y, f);
	integrals(j, sl, f);
	f[at::V] = potential(j, sl, m, stimulus, y);
	slots(f);
}

/* The benchmark's guard. Its infinity test misses -Inf. */
static __device__ inline real guarded(real derivative)
{
	return is_nan(derivative) || derivative == real(INFINITY) ? real(1e-4) : derivative;
}
} // namespace
} // namespace myocyte

#endif
