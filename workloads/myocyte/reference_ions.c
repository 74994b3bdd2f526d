/*
 * reference_ions.c - the sarcoplasmic reticulum, the buffers, and the balances of Na, Ca and
 * V that the currents feed. Shannon et al., Biophys. J. 87 (2004) 3351.
 */
#include <math.h>

#include "workloads/myocyte/reference_model.h"

/* clang-format off */
#define D_Ca_jsl	(1 / 1.2134e12)		/* exchange between compartments, L/ms */
#define D_Ca_slmyo	(1 / 2.68510e11)
#define D_Na_jsl	(1 / (1.6382e12 / 3 * 100))
#define D_Na_slmyo	(1 / (1.8308e10 / 3 * 100))
#define Mg_i		1.0			/* mM */

#define Q10_serca	2.6
#define Vmax_serca	2.86e-4			/* mM/ms, per litre of cytosol */
#define Km_f		0.246e-3		/* mM */
#define Km_r		1.7
#define H_serca		1.787
#define k_s		25.0			/* 1/ms */
#define ko_Ca		10.0			/* 1/(mM^2 ms) */
#define k_om		0.06			/* 1/ms */
#define ki_Ca		0.5			/* 1/(mM ms) */
#define k_im		0.005			/* 1/ms */
#define EC50_SR		0.45			/* mM */
#define Max_SR		15.0
#define Min_SR		1.0
#define k_leak		5.348e-6		/* 1/ms, per litre of cytosol */

/* Buffers: capacity in mM, on in 1/(mM ms), off in 1/ms. */
#define B_Na_j		7.561
#define B_Na_sl		1.65
#define kon_Na		0.1e-3
#define koff_Na		1e-3
#define B_TnCL		70e-3			/* troponin C, low affinity */
#define kon_TnCL	32.7
#define koff_TnCL	19.6e-3
#define B_TnCH		140e-3			/* troponin C, high affinity: Ca or Mg */
#define kon_TnCHc	2.37
#define koff_TnCHc	0.032e-3
#define kon_TnCHm	3e-3
#define koff_TnCHm	3.33e-3
#define B_Myo		140e-3			/* myosin: Ca or Mg */
#define kon_Myoc	13.8
#define koff_Myoc	0.46e-3
#define kon_Myom	0.0157
#define koff_Myom	0.057e-3
#define B_SR		(19 * 0.9e-3)		/* SR membrane */
#define kon_SR		100.0
#define koff_SR		60e-3
#define B_SLLsl		(37.38e-3 * Vol_myo / Vol_sl)	/* sarcolemma, low affinity */
#define B_SLLj		(4.62e-3 * Vol_myo / Vol_j * 0.1)
#define kon_SLL		100.0
#define koff_SLL	1300e-3
#define B_SLHsl		(13.35e-3 * Vol_myo / Vol_sl)	/* sarcolemma, high affinity */
#define B_SLHj		(1.65e-3 * Vol_myo / Vol_j * 0.1)
#define kon_SLH		100.0
#define koff_SLH	30e-3
#define B_Csqn		2.7			/* calsequestrin */
#define kon_Csqn	100.0
#define koff_Csqn	65.0
/* clang-format on */

struct sr_fluxes {
	double J_rel;		/* mM/ms, per litre of SR */
	double J_serca, J_leak; /* mM/ms, per litre of cytosol */
};

struct buffer_fluxes {
	double j, sl, i; /* Ca taken up, mM/ms */
};

/* Ryanodine receptor: resting, open, inactivated and both of the latter (RI). */
static void ryanodine_receptor(const struct ref_cell *s, struct ref_cell *d)
{
	double kCaSR = Max_SR - (Max_SR - Min_SR) / (1 + pow(EC50_SR / s->Ca_SR, 2.5));
	double ko_SRCa = ko_Ca / kCaSR, ki_SRCa = ki_Ca * kCaSR;
	double Ca_j2 = ref_square(s->Ca_j);
	double RyR_RI = 1 - s->RyR_R - s->RyR_O - s->RyR_I;
	double flux_RI_R = k_im * RyR_RI - ki_SRCa * s->Ca_j * s->RyR_R;
	double flux_R_O = ko_SRCa * Ca_j2 * s->RyR_R - k_om * s->RyR_O;
	double flux_O_I = ki_SRCa * s->Ca_j * s->RyR_O - k_im * s->RyR_I;
	double flux_I_RI = k_om * s->RyR_I - ko_SRCa * Ca_j2 * RyR_RI;

	d->RyR_R = flux_RI_R - flux_R_O;
	d->RyR_O = flux_R_O - flux_O_I;
	d->RyR_I = flux_O_I - flux_I_RI;
}

static struct sr_fluxes sr_fluxes(const struct ref_cell *s)
{
	double pump_f = pow(s->Ca_i / Km_f, H_serca);
	double pump_r = pow(s->Ca_SR / Km_r, H_serca);
	struct sr_fluxes J;

	J.J_rel = k_s * s->RyR_O * (s->Ca_SR - s->Ca_j);
	J.J_serca = pow(Q10_serca, Qpow) * Vmax_serca * (pump_f - pump_r) / (1 + pump_f + pump_r);
	J.J_leak = k_leak * (s->Ca_SR - s->Ca_j);
	return J;
}

static double binding(double kon, double free, double sites, double koff, double bound)
{
	return kon * free * sites - koff * bound;
}

/*
 * The Mg that troponin C and myosin take up is counted as Ca, as in the published code until
 * 2015: it lowers diastolic Ca_i by 1 %, and the initial state belongs to it.
 */
static double cytosol_buffers(const struct ref_cell *s, struct ref_cell *d)
{
	double TnCH_free = B_TnCH - s->TnCHc - s->TnCHm;
	double Myo_free = B_Myo - s->Myoc - s->Myom;

	d->TnCL = binding(kon_TnCL, s->Ca_i, B_TnCL - s->TnCL, koff_TnCL, s->TnCL);
	d->TnCHc = binding(kon_TnCHc, s->Ca_i, TnCH_free, koff_TnCHc, s->TnCHc);
	d->TnCHm = binding(kon_TnCHm, Mg_i, TnCH_free, koff_TnCHm, s->TnCHm);
	d->CaM_ecc = 0;
	d->Myoc = binding(kon_Myoc, s->Ca_i, Myo_free, koff_Myoc, s->Myoc);
	d->Myom = binding(kon_Myom, Mg_i, Myo_free, koff_Myom, s->Myom);
	d->SRB = binding(kon_SR, s->Ca_i, B_SR - s->SRB, koff_SR, s->SRB);
	return d->TnCL + d->TnCHc + d->Myoc + d->SRB + (d->TnCHm + d->Myom);
}

static struct buffer_fluxes buffers(const struct ref_cell *s, struct ref_cell *d)
{
	struct buffer_fluxes J;

	d->NaB_j = binding(kon_Na, s->Na_j, B_Na_j - s->NaB_j, koff_Na, s->NaB_j);
	d->NaB_sl = binding(kon_Na, s->Na_sl, B_Na_sl - s->NaB_sl, koff_Na, s->NaB_sl);
	J.i = cytosol_buffers(s, d);
	d->SLLj = binding(kon_SLL, s->Ca_j, B_SLLj - s->SLLj, koff_SLL, s->SLLj);
	d->SLLsl = binding(kon_SLL, s->Ca_sl, B_SLLsl - s->SLLsl, koff_SLL, s->SLLsl);
	d->SLHj = binding(kon_SLH, s->Ca_j, B_SLHj - s->SLHj, koff_SLH, s->SLHj);
	d->SLHsl = binding(kon_SLH, s->Ca_sl, B_SLHsl - s->SLHsl, koff_SLH, s->SLHsl);
	J.j = d->SLLj + d->SLHj;
	J.sl = d->SLLsl + d->SLHsl;
	d->Csqnb = binding(kon_Csqn, s->Ca_SR, B_Csqn - s->Csqnb, koff_Csqn, s->Csqnb);
	return J;
}

static double I_Natot(const struct ref_side *c)
{
	return c->I_Na + c->I_Nab + 3 * c->I_NCX + 3 * c->I_NaK + c->I_CaNa;
}

static double I_Catot(const struct ref_side *c)
{
	return c->I_Ca + c->I_Cab + c->I_pCa - 2 * c->I_NCX;
}

/* I C_m/(Vol F) is mol/(L s), which is mM/ms; Ca carries two charges. */
static void sodium_balance(const struct ref_membrane *x, const struct ref_cell *s,
			   struct ref_cell *d)
{
	d->Na_j = -I_Natot(&x->j) * C_m / (Vol_j * FARADAY) +
		  D_Na_jsl / Vol_j * (s->Na_sl - s->Na_j) - d->NaB_j;
	d->Na_sl = -I_Natot(&x->sl) * C_m / (Vol_sl * FARADAY) +
		   D_Na_jsl / Vol_sl * (s->Na_j - s->Na_sl) +
		   D_Na_slmyo / Vol_sl * (s->Na_i - s->Na_sl) - d->NaB_sl;
	d->Na_i = D_Na_slmyo / Vol_myo * (s->Na_sl - s->Na_i);
}

static void calcium_balance(const struct ref_membrane *x, const struct ref_cell *s,
			    struct ref_cell *d)
{
	struct sr_fluxes sr = sr_fluxes(s);
	struct buffer_fluxes bound = buffers(s, d);

	d->Ca_SR = sr.J_serca * Vol_myo / Vol_SR - (sr.J_leak * Vol_myo / Vol_SR + sr.J_rel) -
		   d->Csqnb;
	d->Ca_j = -I_Catot(&x->j) * C_m / (Vol_j * 2 * FARADAY) +
		  D_Ca_jsl / Vol_j * (s->Ca_sl - s->Ca_j) - bound.j + sr.J_rel * Vol_SR / Vol_j +
		  sr.J_leak * Vol_myo / Vol_j;
	d->Ca_sl = -I_Catot(&x->sl) * C_m / (Vol_sl * 2 * FARADAY) +
		   D_Ca_jsl / Vol_sl * (s->Ca_j - s->Ca_sl) +
		   D_Ca_slmyo / Vol_sl * (s->Ca_i - s->Ca_sl) - bound.sl;
	d->Ca_i = -sr.J_serca - bound.i + D_Ca_slmyo / Vol_myo * (s->Ca_sl - s->Ca_i);
}

/* Time integrals of Ca entry by way, in uM of cytosol: nothing depends on them. */
static void diagnostics(const struct ref_membrane *x, struct ref_cell *d)
{
	const struct ref_side *j = &x->j, *sl = &x->sl;

	d->Q_CaL = -(j->I_Ca + sl->I_Ca) * C_m / (Vol_myo * 2 * FARADAY) * 1e3;
	d->Q_NCX = 2 * (j->I_NCX + sl->I_NCX) * C_m / (Vol_myo * 2 * FARADAY) * 1e3;
	d->Q_pCa = -(j->I_pCa + sl->I_pCa) * C_m / (Vol_myo * 2 * FARADAY) * 1e3;
	d->Q_Cab = -(j->I_Cab + sl->I_Cab) * C_m / (Vol_myo * 2 * FARADAY) * 1e3;
}

static double total_current(const struct ref_membrane *x)
{
	const struct ref_side *j = &x->j, *sl = &x->sl;
	double I_Ktot = (x->I_tos + x->I_tof) + x->I_Kr + (j->I_Ks + sl->I_Ks) + x->I_K1 -
			2 * (j->I_NaK + sl->I_NaK) + x->I_CaK + x->I_Kp;
	double I_Cltot = j->I_ClCa + sl->I_ClCa + x->I_Clb;

	return I_Natot(j) + I_Natot(sl) + I_Cltot + I_Catot(j) + I_Catot(sl) + I_Ktot;
}

void myocyte_ref_ions(const struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d)
{
	ryanodine_receptor(s, d);
	calcium_balance(x, s, d); /* with the buffers, whose rates the Na balance needs */
	sodium_balance(x, s, d);
	diagnostics(x, d);
	d->V = -total_current(x);
	d->K_i = 0;
	d->spare40 = 0;
	d->spare41 = 0;
}
