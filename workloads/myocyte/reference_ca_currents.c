/*
 * reference_ca_currents.c - the currents of the sarcolemma that carry Ca: L-type channel, Na/Ca
 * exchanger, Ca pump, background. Shannon et al., Biophys. J. 87 (2004) 3351.
 */
#include <math.h>

#include "workloads/myocyte/reference_model.h"

/* clang-format off */
#define P_Na		1.5e-8		/* cm/s */
#define P_Ca		5.4e-4
#define P_K		2.7e-7
#define Q10_CaL		1.8

#define I_NCX_max	9.0		/* A/F */
#define KmN_Cai		3.59e-3		/* mM */
#define KmN_Cao		1.3
#define KmN_Nai		12.29
#define KmN_Nao		87.5
#define k_sat		0.27
#define nu		0.35
#define Kd_act		0.256e-3	/* mM */
#define Q10_NCX		1.57

#define I_pCa_max	0.0673		/* A/F */
#define Km_pCa		0.5e-3		/* mM */
#define Q10_pCa		2.35
#define G_Cab		2.513e-4	/* mS/uF */
/* clang-format on */

static void l_type_gates(const struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d)
{
	double V = x->V, z = (V + 14.5) / 6.0;
	double d_inf = 1 / (1 + exp(-(V + 14.5) / 6.0));
	double tau_d = x->benchmark ? d_inf * (1 - exp(-(V + 14.5) / 6.0)) / (0.035 * (V + 14.5))
				    : d_inf / (0.035 * 6.0 * ref_over_expm1(-z));
	double f_inf = 1 / (1 + exp((V + 35.06) / 3.6)) + 0.6 / (1 + exp((50 - V) / 20));
	double tau_f = 1 / (0.0197 * exp(-ref_square(0.0337 * (V + 14.5))) + 0.02);

	d->d = (d_inf - s->d) / tau_d;
	d->f = (f_inf - s->f) / tau_f;
	d->fCaB_j = 1.7 * s->Ca_j * (1 - s->fCaB_j) - 11.9e-3 * s->fCaB_j;
	d->fCaB_sl = 1.7 * s->Ca_sl * (1 - s->fCaB_sl) - 11.9e-3 * s->fCaB_sl;
}

/*
 * Goldman-Hodgkin-Katz flux of an ion of the given valence (1 or 2), activities inside and
 * outside in mM: P z^2 V F F/RT (in exp(z u) - out)/(exp(z u) - 1).
 */
static double ghk(const struct ref_membrane *x, double P, int valence, double inside,
		  double outside)
{
	double zu = valence * x->u, e = exp(zu);

	if (x->benchmark)
		return P * (valence * valence) * x->V * FARADAY * FRT * (inside * e - outside) /
		       (e - 1);
	return P * valence * FARADAY * (inside * e - outside) * ref_over_expm1(zu);
}

static void l_type_side(const struct ref_membrane *x, const struct ref_cell *s, struct ref_side *c)
{
	double ghk_Ca = ghk(x, P_Ca, 2, 0.341 * c->Ca, 0.341 * Ca_o);
	double ghk_Na = ghk(x, P_Na, 1, 0.75 * c->Na, 0.75 * Na_o);
	double q_CaL = pow(Q10_CaL, Qpow);

	c->I_Ca = 0.45 * c->share_CaL * ghk_Ca * s->d * s->f * (1 - c->fCaB) * q_CaL;
	c->I_CaNa = 0.45 * c->share_CaL * ghk_Na * s->d * s->f * (1 - c->fCaB) * q_CaL;
}

static void l_type(struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d)
{
	double ghk_K = ghk(x, P_K, 1, 0.75 * s->K_i, 0.75 * K_o);
	double available = x->j.share_CaL * (1 - s->fCaB_j) + x->sl.share_CaL * (1 - s->fCaB_sl);

	l_type_gates(x, s, d);
	l_type_side(x, s, &x->j);
	l_type_side(x, s, &x->sl);
	x->I_CaK = 0.45 * ghk_K * s->d * s->f * available * pow(Q10_CaL, Qpow);
}

/* 3 Na against 1 Ca; forward and reverse factors of V are the same for both sides. */
static void exchanger(double forward, double reverse, struct ref_side *c)
{
	double Na3 = ref_cube(c->Na), Na_o3 = ref_cube(Na_o), Ca = c->Ca;
	double allo = 1 / (1 + ref_cube(Kd_act / Ca));
	double s1 = forward * Na3 * Ca_o;
	double s2 = reverse * Na_o3 * Ca;
	double s3 = (KmN_Cai * Na_o3 * (1 + ref_cube(c->Na / KmN_Nai)) + ref_cube(KmN_Nao) * Ca +
		     ref_cube(KmN_Nai) * Ca_o * (1 + Ca / KmN_Cai) + KmN_Cao * Na3 + Na3 * Ca_o +
		     Na_o3 * Ca) *
		    (1 + k_sat * reverse);

	c->I_NCX = c->share * I_NCX_max * pow(Q10_NCX, Qpow) * allo * (s1 - s2) / s3;
}

static void ca_pump_and_background(double V, struct ref_side *c)
{
	double Ca16 = pow(c->Ca, 1.6);

	c->I_pCa = c->share * pow(Q10_pCa, Qpow) * I_pCa_max * Ca16 / (pow(Km_pCa, 1.6) + Ca16);
	c->I_Cab = c->share * G_Cab * (V - c->E_Ca);
}

void myocyte_ref_ca_currents(const struct ref_cell *s, struct ref_membrane *x, struct ref_cell *d)
{
	double forward = exp(nu * x->u), reverse = exp((nu - 1) * x->u);

	l_type(x, s, d);
	exchanger(forward, reverse, &x->j);
	exchanger(forward, reverse, &x->sl);
	ca_pump_and_background(x->V, &x->j);
	ca_pump_and_background(x->V, &x->sl);
}
