/*
 * reference_currents.c - gates and currents of the sarcolemma, all but those that carry Ca:
 * the Na currents, the Na/K pump, the K and the Cl currents. Shannon et al., Biophys. J. 87
 * (2004) 3351.
 *
 * Formulas are evaluated in the benchmark's order: other roundings move the derivatives that
 * nearly cancel, by up to 2e-8 relative with contraction, and golden ones are compared to 1e-12.
 */
#include <math.h>

#include "workloads/myocyte/reference_model.h"

/* clang-format off */
#define F_j		0.11		/* share of the sarcolemmal currents in the cleft */
#define FCaL_j		0.9		/* share of the L-type channels there */
#define Cl_i		15.0		/* mM */
#define Cl_o		150.0

#define G_Na		16.0		/* mS/uF */
#define G_Nab		0.297e-3
#define I_NaK_max	1.90719		/* A/F */
#define Km_Nai		11.0		/* mM */
#define Km_Ko		1.5
#define p_NaK		0.01833		/* 1 */
#define G_tos		0.06		/* mS/uF */
#define G_tof		0.02
#define G_Kp		0.001
#define G_ClCa		0.109625
#define G_Clb		9e-3
#define Kd_ClCa		100e-3		/* mM */
/* clang-format on */

/*
 * a x/(exp(k x) - 1), with the limit a/k at x = 0 unless raw. The form a x/(1 - exp(-k x)) is
 * this with both signs turned, to the bit.
 */
static double ramp(bool raw, double a, double x, double k)
{
	return raw ? a * x / (exp(k * x) - 1) : a / k * ref_over_expm1(k * x);
}

/* A rising step: 0 far below its middle, 1 far above it. */
static double sigmoid(double minus_x)
{
	return 1 / (1 + exp(minus_x));
}

static void reversal_potentials(const struct ref_cell *s, struct ref_membrane *x)
{
	x->j.E_Na = log(Na_o / x->j.Na) / FRT;
	x->sl.E_Na = log(Na_o / x->sl.Na) / FRT;
	x->E_K = log(K_o / s->K_i) / FRT;
	x->j.E_Ca = log(Ca_o / x->j.Ca) / (2 * FRT);
	x->sl.E_Ca = log(Ca_o / x->sl.Ca) / (2 * FRT);
	x->E_Cl = log(Cl_i / Cl_o) / FRT;
}

/* Rates of h and j jump at V = -40 mV; the point itself belongs to the upper branch. */
static void na_gates(const struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d)
{
	double V = x->V, alpha_h = 0, beta_h, alpha_j = 0, beta_j;
	double alpha_m = ramp(x->benchmark, -0.32, V + 47.13, -0.1);
	double beta_m = 0.08 * exp(-V / 11);

	if (V >= -40) {
		beta_h = 1 / (0.13 * (1 + exp(-(V + 10.66) / 11.1)));
		beta_j = 0.3 * exp(-2.535e-7 * V) / (1 + exp(-0.1 * (V + 32)));
	} else {
		alpha_h = 0.135 * exp(-(V + 80) / 6.8);
		beta_h = 3.56 * exp(0.079 * V) + 3.1e5 * exp(0.35 * V);
		alpha_j = (-127140 * exp(0.2444 * V) - 3.474e-5 * exp(-0.04391 * V)) * (V + 37.78) /
			  (1 + exp(0.311 * (V + 79.23)));
		beta_j = 0.1212 * exp(-0.01052 * V) / (1 + exp(-0.1378 * (V + 40.14)));
	}
	d->m = alpha_m * (1 - s->m) - beta_m * s->m;
	d->h = alpha_h * (1 - s->h) - beta_h * s->h;
	d->j = alpha_j * (1 - s->j) - beta_j * s->j;
}

static void na_currents(const struct ref_membrane *x, const struct ref_cell *s, double f_NaK,
			struct ref_side *c)
{
	double driving = x->V - c->E_Na;

	c->I_Na = c->share * G_Na * ref_cube(s->m) * s->h * s->j * driving;
	c->I_Nab = c->share * G_Nab * driving;
	c->I_NaK = c->share * I_NaK_max * f_NaK * K_o /
		   (1 + ref_square(ref_square(Km_Nai / c->Na))) / (K_o + Km_Ko);
}

static void sodium(struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d)
{
	double sigma_NaK = (exp(Na_o / 67.3) - 1) / 7;
	double f_NaK = 1 / (1 + 0.1245 * exp(-0.1 * x->u) + 0.0365 * sigma_NaK * exp(-x->u));

	na_gates(x, s, d);
	na_currents(x, s, f_NaK, &x->j);
	na_currents(x, s, f_NaK, &x->sl);
}

/* Rapid delayed rectifier. */
static void rectifier_Kr(struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d)
{
	double V = x->V;
	double g_Kr = 0.03 * sqrt(K_o / 5.4);
	double xKr_inf = sigmoid(-(V + 50) / 7.5);
	double tau_xKr = 1 / (ramp(x->benchmark, -0.00138, V + 7, -0.123) +
			      ramp(x->benchmark, 6.1e-4, V + 10, 0.145));
	double rect_Kr = sigmoid((V + 33) / 22.4);

	d->x_Kr = (xKr_inf - s->x_Kr) / tau_xKr;
	x->I_Kr = g_Kr * s->x_Kr * rect_Kr * (V - x->E_K);
}

static double conductance_Ks(double Ca)
{
	double pCa = 3.0 - log10(Ca);

	return 0.07 * (0.057 + 0.19 / (1 + exp((pCa - 7.2) / 0.6)));
}

/* Slow delayed rectifier. The benchmark gates its cleft part by x_Kr, a slip of its own. */
static void rectifier_Ks(struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d)
{
	double V = x->V;
	double E_Ks = log((K_o + p_NaK * Na_o) / (s->K_i + p_NaK * s->Na_i)) / FRT;
	double xKs_inf = sigmoid(-(V - 1.5) / 16.7);
	double tau_xKs = 1 / (ramp(x->benchmark, -7.19e-5, V + 30, -0.148) +
			      ramp(x->benchmark, 1.31e-4, V + 30, 0.0687));
	double gate_j = x->benchmark ? s->x_Kr : s->x_Ks;

	d->x_Ks = (xKs_inf - s->x_Ks) / tau_xKs;
	x->j.I_Ks = x->j.share * conductance_Ks(x->j.Ca) * ref_square(gate_j) * (V - E_Ks);
	x->sl.I_Ks = x->sl.share * conductance_Ks(x->sl.Ca) * ref_square(s->x_Ks) * (V - E_Ks);
}

/* Transient outward current, slow and fast. */
static void transient_outward(struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d)
{
	double V = x->V;
	double xto_inf = sigmoid(-(V + 3.0) / 15);
	double yto_inf = sigmoid((V + 33.5) / 10);
	double rto_inf = yto_inf;
	double slow = 1 + exp((V + 60.0) / 10);
	double tau_xtos = 9 / (1 + exp((V + 3.0) / 15)) + 0.5;
	double tau_ytos = 3000 / slow + 30;
	double tau_rtos = 2800 / slow + 220;
	double tau_xtof = 3.5 * exp(-V * V / 30 / 30) + 1.5;
	double tau_ytof = 20.0 / (1 + exp((V + 33.5) / 10)) + 20.0;

	d->x_tos = (xto_inf - s->x_tos) / tau_xtos;
	d->y_tos = (yto_inf - s->y_tos) / tau_ytos;
	d->r_tos = (rto_inf - s->r_tos) / tau_rtos;
	d->x_tof = (xto_inf - s->x_tof) / tau_xtof;
	d->y_tof = (yto_inf - s->y_tof) / tau_ytof;
	x->I_tos = G_tos * s->x_tos * (s->y_tos + 0.5 * s->r_tos) * (V - x->E_K);
	x->I_tof = G_tof * s->x_tof * s->y_tof * (V - x->E_K);
}

/* Plateau K current and inward rectifier: no states of their own. */
static void plateau_and_inward_K(struct ref_membrane *x)
{
	double V = x->V, E_K = x->E_K;
	double kp = sigmoid(7.488 - V / 5.98);
	double alpha_K1 = 1.02 / (1 + exp(0.2385 * (V - E_K - 59.215)));
	double beta_K1 =
		(0.49124 * exp(0.08032 * (V + 5.476 - E_K)) + exp(0.06175 * (V - E_K - 594.31))) /
		(1 + exp(-0.5143 * (V - E_K + 4.753)));
	double K1_inf = alpha_K1 / (alpha_K1 + beta_K1);

	x->I_Kp = x->j.share * G_Kp * kp * (V - E_K) + x->sl.share * G_Kp * kp * (V - E_K);
	x->I_K1 = 0.9 * sqrt(K_o / 5.4) * K1_inf * (V - E_K);
}

static void chloride(struct ref_membrane *x)
{
	double driving = x->V - x->E_Cl;

	x->j.I_ClCa = x->j.share * G_ClCa / (1 + Kd_ClCa / x->j.Ca) * driving;
	x->sl.I_ClCa = x->sl.share * G_ClCa / (1 + Kd_ClCa / x->sl.Ca) * driving;
	x->I_Clb = G_Clb * driving;
}

void myocyte_ref_membrane(enum myocyte_equations equations, const struct ref_cell *s,
			  struct ref_membrane *x, struct ref_cell *d)
{
	x->benchmark = equations == MYOCYTE_RODINIA;
	x->V = s->V;
	x->u = s->V * FRT;
	x->j = (struct ref_side){
		.share = F_j, .share_CaL = FCaL_j, .Na = s->Na_j, .Ca = s->Ca_j, .fCaB = s->fCaB_j
	};
	x->sl = (struct ref_side){ .share = 1 - F_j,
				   .share_CaL = 1 - FCaL_j,
				   .Na = s->Na_sl,
				   .Ca = s->Ca_sl,
				   .fCaB = s->fCaB_sl };
	reversal_potentials(s, x);
	sodium(x, s, d);
	rectifier_Kr(x, s, d);
	rectifier_Ks(x, s, d);
	transient_outward(x, s, d);
	plateau_and_inward_K(x);
	chloride(x);
	myocyte_ref_ca_currents(s, x, d);
}
