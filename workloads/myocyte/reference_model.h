/*
 * reference_model.h - what the files of the CPU reference share: the state by name, the
 * constants that more than one of them needs, and the stages of the right-hand side. Only
 * reference*.c and their tests include it.
 *
 * Symbols follow the literature: _j is the junctional cleft (dyad), _sl the shell under the
 * sarcolemma, _i the cytosol, _o the bath, _SR the sarcoplasmic reticulum; in the calmodulin
 * modules the compartments are called dy, sl and cy. Time in ms, V in mV, currents in A/F,
 * concentrations of the cell in mM and of the modules in uM, volumes in L.
 */
#ifndef RIFT_MYOCYTE_REFERENCE_MODEL_H
#define RIFT_MYOCYTE_REFERENCE_MODEL_H

#include <math.h>
#include <stdbool.h>

#include "workloads/myocyte/inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- state: the 91 numbers in order ---------------------------------------------------- */

struct ref_cell {			   /* y[0..45] */
	double m, h, j;			   /* gates of I_Na */
	double d, f, fCaB_j, fCaB_sl;	   /* L-type channel */
	double x_tos, y_tos, x_tof, y_tof; /* I_to; r_tos comes later */
	double x_Kr, x_Ks;
	double RyR_R, RyR_O, RyR_I;	    /* fractions; RI is the rest */
	double NaB_j, NaB_sl;		    /* Na on buffers, mM */
	double TnCL, TnCHc, TnCHm, CaM_ecc; /* CaM_ecc: a slot, never changes */
	double Myoc, Myom, SRB;
	double SLLj, SLLsl, SLHj, SLHsl, Csqnb;
	double Ca_SR, Na_j, Na_sl, Na_i, K_i; /* free, mM; K_i never changes */
	double Ca_j, Ca_sl, Ca_i;
	double V;			   /* mV */
	double r_tos, spare40, spare41;	   /* the spares never change */
	double Q_CaL, Q_pCa, Q_NCX, Q_Cab; /* diagnostics, nothing reads them */
};

struct ref_cam {		       /* 15 states: y[46..], y[61..], y[76..] */
	double CaM, Ca2CaM, Ca4CaM;    /* free, uM */
	double CaMB, Ca2CaMB, Ca4CaMB; /* on buffer sites, uM */
	double Pb2, Pb, Pt, Pt2, Pa;   /* fractions of CaMKII */
	double Ca4CaN, CaMCa4CaN, Ca2CaMCa4CaN, Ca4CaMCa4CaN; /* calcineurin, uM */
};

struct ref_state {
	struct ref_cell cell;
	struct ref_cam dy, sl, cy;
};

/* ---- constants ------------------------------------------------------------------------- */

/* clang-format off */
#define FARADAY	96485.0				/* C/mol */
#define R_gas	8314.0				/* J/(kmol K) */
#define Temp	310.0				/* K */
#define FRT	(FARADAY / R_gas / Temp)	/* 1/mV */
#define Qpow	((Temp - 310) / 10)		/* exponent of every Q10 factor: zero */
#define C_m	1.3810e-10			/* F */

#define pi_m	3.1416				/* the benchmark's; 2e-6 off, kept */
#define Vol_cell (pi_m * (10.25 * 10.25) * 100 * 1e-15)	/* radius and length in um, volume in L */
#define Vol_myo	(0.65 * Vol_cell)
#define Vol_SR	(0.035 * Vol_cell)
#define Vol_sl	(0.02 * Vol_cell)
#define Vol_j	(0.0539 * 0.01 * Vol_cell)

#define K_o	5.4				/* bath, mM */
#define Na_o	140.0
#define Ca_o	1.8
/* clang-format on */

static inline double ref_square(double x)
{
	return x * x;
}

static inline double ref_cube(double x)
{
	return x * x * x;
}

/* z/(exp(z) - 1), which is 1 at z = 0. */
static inline double ref_over_expm1(double z)
{
	return z == 0 ? 1 : z / expm1(z);
}

/* ---- stages of the right-hand side ----------------------------------------------------- */

/* The membrane over one compartment; currents in A/F of the whole cell. */
struct ref_side {
	double share, share_CaL; /* of the currents and of the L-type channels, 1 */
	double Na, Ca, fCaB;
	double E_Na, E_Ca; /* reversal potentials, mV */
	double I_Na, I_Nab, I_NaK, I_Ks, I_ClCa, I_Ca, I_CaNa, I_NCX, I_pCa, I_Cab;
};

struct ref_membrane {
	bool benchmark; /* singular formulas as they stand, x_Kr in the cleft's I_Ks */
	double V, u;	/* u = V F/RT */
	double E_K, E_Cl;
	struct ref_side j, sl;
	double I_Kr, I_Kp, I_tos, I_tof, I_K1, I_Clb, I_CaK;
};

/* Currents at state s, and derivatives of V's gates and of fCaB into d. */
void myocyte_ref_membrane(enum myocyte_equations equations, const struct ref_cell *s,
			  struct ref_membrane *x, struct ref_cell *d);

/* Part of it: the currents that carry Ca. */
void myocyte_ref_ca_currents(const struct ref_cell *s, struct ref_membrane *x, struct ref_cell *d);

/* All other derivatives of the cell into d; V without the stimulus, Ca without the modules. */
void myocyte_ref_ions(const struct ref_membrane *x, const struct ref_cell *s, struct ref_cell *d);

/*
 * One calmodulin module: derivatives into d. Ca in uM; totals is its group of five in
 * parameters.csv (CaM, buffer sites, CaMKII, calcineurin, PP1; the first is not used).
 * Returns what the module gives to the free Ca, uM/ms.
 */
double myocyte_ref_cam(const double totals[5], double Ca, const struct ref_cam *s,
		       struct ref_cam *d);

/* Adds to d the modules' Ca, uM/ms, and the CaM that moves between them. Btot_x in uM. */
void myocyte_ref_couple(double Btot_x, double CaMKIItot_dy, const double J_Ca[3],
			const struct ref_state *s, struct ref_state *d);

/* ---- the Runge-Kutta pair -------------------------------------------------------------- */

enum { RKF_STAGES = 13, RKF_STAGES_ORDER7 = 11 };

/* Fehlberg's 7(8): stage times, stage sums, weights of order 7, and of (order 8 - order 7). */
struct ref_tableau {
	double c[RKF_STAGES];
	double a[RKF_STAGES][RKF_STAGES - 1];
	double b7[RKF_STAGES], error[RKF_STAGES];
};
extern const struct ref_tableau myocyte_ref_tableau;

/*
 * y_new = y + h (weights[0] k[0] + ... + weights[n - 1] k[n - 1]). Weights of zero are left out,
 * so their k may be NaN.
 */
void myocyte_ref_advance(const double y[MYOCYTE_STATES], double h, const double *weights, int n,
			 double k[][MYOCYTE_STATES], double y_new[MYOCYTE_STATES]);

#ifdef __cplusplus
}
#endif
#endif
