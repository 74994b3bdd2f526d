/*
 * reference_cam.c - calmodulin, its buffer, CaMKII and calcineurin in one compartment, and
 * what the three compartments exchange. Saucerman and Bers, Biophys. J. 95 (2008) 4597.
 *
 * Concentrations in uM; rate constants per second, turned into per ms where they are used.
 */
#include "workloads/myocyte/reference_model.h"

/* clang-format off */
#define K_mod		135.0			/* mM; K and Mg as these modules see them */
#define Mg_mod		1.0

#define k20		10.0			/* 1/s, Ca2CaM to CaM */
#define k42		500.0			/* 1/s, Ca4CaM to Ca2CaM */
#define k0Boff		0.0014			/* 1/s, off and onto the buffer */
#define k0Bon		(k0Boff / 0.2)		/* 1/(uM s) */
#define k2Boff		(k0Boff / 100)
#define k2Bon		k0Bon
#define k4Boff		k2Boff
#define k4Bon		k0Bon
#define k20B		(k20 / 100)
#define k42B		k42

#define kbi		2.2			/* CaMKII: 1/s and 1/(uM s) */
#define kib		(kbi / 33.5e-3)
#define kib2		kib
#define kb2i		(kib2 * 5)
#define kb42		(k42 * 33.5e-3 / 5)
#define kta		(kbi / 1000)
#define kat		kib
#define kt42		(k42 * 33.5e-6 / 5)
#define kat2		kib
#define kt2a		(kib * 5)
#define kpp1		1.72
#define Kmpp1		11.5			/* uM */

#define kcanCaoff	1.0			/* calcineurin */
#define kcanCaon	(kcanCaoff / 0.5)	/* 1/(uM^2 s) */
#define kcanCaM4on	46.0
#define kcanCaM4off	0.0013
#define kcanCaM2on	kcanCaM4on
#define kcanCaM2off	(2508 * kcanCaM4off)
#define kcanCaM0on	kcanCaM4on
#define kcanCaM0off	(165 * kcanCaM2off)
#define k20can		(k20 / 165)
#define k42can		(k20 / 2508)		/* k42/2508 would close the loop; kept */

/* Ca binding, uM^2 and 1/(uM^2 s): the branch for Mg up to 1 mM is the only one in use. */
#define Kd02	(0.0025 * (1 + K_mod / 0.94 - Mg_mod / 0.012) * (1 + K_mod / 8.1 + Mg_mod / 0.022))
#define Kd24	(0.128 * (1 + K_mod / 0.64 + Mg_mod / 0.0014) * (1 + K_mod / 13.0 - Mg_mod / 0.153))
#define k02	(k20 / Kd02)
#define k24	(k42 / Kd24)

/* Volumes rounded as the coupling rounds them, up to 3e-5 off those of the cell. */
#define VolC_myo	2.1454e-11		/* L */
#define VolC_dy		1.7790e-14
#define VolC_sl		6.6013e-13
#define k_slmyo		8.587e-15		/* L/ms */
/* clang-format on */

enum { CAMTOT, BTOT, CAMKIITOT, CANTOT, PP1TOT }; /* a module's five parameters */

/* Reactions; uM/s, or 1/s for the fractions of CaMKII. Digits: Ca bound before and after. */
struct rates {
	double r_02, r_24;		  /* free CaM takes up Ca */
	double r_02B, r_24B;		  /* so does CaM on buffer sites */
	double r_0B, r_2B, r_4B;	  /* CaM goes onto buffer sites */
	double r_CaCaN, r_02CaN, r_24CaN; /* calcineurin, and CaM on it, take up Ca */
	double r_0CaN, r_2CaN, r_4CaN;	  /* CaM goes onto calcineurin */
	double r_ib2, r_b2b, r_ib;	  /* CaMKII: i inactive, b bound, */
	double r_bt, r_tt2, r_ta, r_t2a;  /* t trapped, a autonomous; */
	double r_t2b2, r_ai;		  /* a 2 for two Ca instead of four */
};

static void free_and_buffered(double Btot, double Ca2, const struct ref_cam *s, struct rates *r)
{
	double B_free = Btot - s->CaMB - s->Ca2CaMB - s->Ca4CaMB;

	r->r_02 = k02 * Ca2 * s->CaM - k20 * s->Ca2CaM;
	r->r_24 = k24 * Ca2 * s->Ca2CaM - k42 * s->Ca4CaM;
	r->r_02B = k02 * Ca2 * s->CaMB - k20B * s->Ca2CaMB;
	r->r_24B = k24 * Ca2 * s->Ca2CaMB - k42B * s->Ca4CaMB;
	r->r_0B = k0Bon * s->CaM * B_free - k0Boff * s->CaMB;
	r->r_2B = k2Bon * s->Ca2CaM * B_free - k2Boff * s->Ca2CaMB;
	r->r_4B = k4Bon * s->Ca4CaM * B_free - k4Boff * s->Ca4CaMB;
}

static void calcineurin(double CaNtot, double Ca2, const struct ref_cam *s, struct rates *r)
{
	double Ca2CaN = CaNtot - s->Ca4CaN - s->CaMCa4CaN - s->Ca2CaMCa4CaN - s->Ca4CaMCa4CaN;

	r->r_CaCaN = kcanCaon * Ca2 * Ca2CaN - kcanCaoff * s->Ca4CaN;
	r->r_02CaN = k02 * Ca2 * s->CaMCa4CaN - k20can * s->Ca2CaMCa4CaN;
	r->r_24CaN = k24 * Ca2 * s->Ca2CaMCa4CaN - k42can * s->Ca4CaMCa4CaN;
	r->r_0CaN = kcanCaM0on * s->CaM * s->Ca4CaN - kcanCaM0off * s->CaMCa4CaN;
	r->r_2CaN = kcanCaM2on * s->Ca2CaM * s->Ca4CaN - kcanCaM2off * s->Ca2CaMCa4CaN;
	r->r_4CaN = kcanCaM4on * s->Ca4CaM * s->Ca4CaN - kcanCaM4off * s->Ca4CaMCa4CaN;
}

static double dephosphorylation(const double *totals, double P)
{
	return kpp1 * totals[PP1TOT] * P / (Kmpp1 + totals[CAMKIITOT] * P);
}

static void camkii(const double *totals, double Ca2, const struct ref_cam *s, struct rates *r)
{
	double Pin = 1 - s->Pb2 - s->Pb - s->Pt - s->Pt2 - s->Pa;
	double P_act = s->Pb + s->Pt + s->Pt2 + s->Pa;
	double kbt = 0.055 * P_act + 0.0074 * ref_square(P_act) + 0.015 * ref_cube(P_act);

	r->r_ib2 = kib2 * s->Ca2CaM * Pin - kb2i * s->Pb2;
	r->r_b2b = k24 * Ca2 * s->Pb2 - kb42 * s->Pb;
	r->r_ib = kib * s->Ca4CaM * Pin - kbi * s->Pb;
	r->r_bt = kbt * s->Pb - dephosphorylation(totals, s->Pt);
	r->r_tt2 = kt42 * s->Pt - k24 * Ca2 * s->Pt2;
	r->r_ta = kta * s->Pt - kat * s->Ca4CaM * s->Pa;
	r->r_t2a = kt2a * s->Pt2 - kat2 * s->Ca2CaM * s->Pa;
	r->r_t2b2 = dephosphorylation(totals, s->Pt2);
	r->r_ai = dephosphorylation(totals, s->Pa);
}

static void derivatives(double CaMKIItot, const struct rates *r, struct ref_cam *d)
{
	d->CaM = 1e-3 * (-r->r_02 - r->r_0B - r->r_0CaN);
	d->Ca2CaM = 1e-3 *
		    (r->r_02 - r->r_24 - r->r_2B - r->r_2CaN + CaMKIItot * (-r->r_ib2 + r->r_t2a));
	d->Ca4CaM = 1e-3 * (r->r_24 - r->r_4B - r->r_4CaN + CaMKIItot * (-r->r_ib + r->r_ta));
	d->CaMB = 1e-3 * (r->r_0B - r->r_02B);
	d->Ca2CaMB = 1e-3 * (r->r_02B + r->r_2B - r->r_24B);
	d->Ca4CaMB = 1e-3 * (r->r_24B + r->r_4B);
	d->Pb2 = 1e-3 * (r->r_ib2 - r->r_b2b + r->r_t2b2);
	d->Pb = 1e-3 * (r->r_ib + r->r_b2b - r->r_bt);
	d->Pt = 1e-3 * (r->r_bt - r->r_ta - r->r_tt2);
	d->Pt2 = 1e-3 * (r->r_tt2 - r->r_t2a - r->r_t2b2);
	d->Pa = 1e-3 * (r->r_ta + r->r_t2a - r->r_ai);
	d->Ca4CaN = 1e-3 * (r->r_CaCaN - r->r_0CaN - r->r_2CaN - r->r_4CaN);
	d->CaMCa4CaN = 1e-3 * (r->r_0CaN - r->r_02CaN);
	d->Ca2CaMCa4CaN = 1e-3 * (r->r_2CaN + r->r_02CaN - r->r_24CaN);
	d->Ca4CaMCa4CaN = 1e-3 * (r->r_4CaN + r->r_24CaN);
}

double myocyte_ref_cam(const double totals[5], double Ca, const struct ref_cam *s,
		       struct ref_cam *d)
{
	double Ca2 = ref_square(Ca);
	struct rates r;

	free_and_buffered(totals[BTOT], Ca2, s, &r);
	calcineurin(totals[CANTOT], Ca2, s, &r);
	camkii(totals, Ca2, s, &r);
	derivatives(totals[CAMKIITOT], &r, d);
	return 1e-3 *
	       (2 * totals[CAMKIITOT] * (r.r_tt2 - r.r_b2b) -
		2 * (r.r_02 + r.r_24 + r.r_02B + r.r_24B + r.r_CaCaN + r.r_02CaN + r.r_24CaN));
}

/* All CaM in the dyad; leaves out Pa and Ca4CaN, which carry none. */
static double total_cam(double CaMKIItot, const struct ref_cam *s)
{
	return s->CaM + s->Ca2CaM + s->Ca4CaM + s->CaMB + s->Ca2CaMB + s->Ca4CaMB +
	       CaMKIItot * (s->Pb2 + s->Pb + s->Pt + s->Pt2) + s->CaMCa4CaN + s->Ca2CaMCa4CaN +
	       s->Ca4CaMCa4CaN;
}

/*
 * One species of CaM; X_dysl in uM of the dyad per ms, X_slcy in umol/ms. Its Ca goes along:
 * no free Ca changes hands.
 */
static void exchange(double X_dysl, double X_slcy, double *dy, double *sl, double *cy)
{
	*dy += -X_dysl;
	*sl += X_dysl * VolC_dy / VolC_sl - X_slcy / VolC_sl;
	*cy += X_slcy / VolC_myo;
}

void myocyte_ref_couple(double Btot_x, double CaMKIItot_dy, const double J_Ca[3],
			const struct ref_state *s, struct ref_state *d)
{
	double B_dy = Btot_x - total_cam(CaMKIItot_dy, &s->dy);
	double X0 = 1e-3 * (k0Boff * s->dy.CaM - k0Bon * B_dy * s->sl.CaM);
	double X2 = 1e-3 * (k2Boff * s->dy.Ca2CaM - k2Bon * B_dy * s->sl.Ca2CaM);
	double X4 = 1e-3 * (k4Boff * s->dy.Ca4CaM - k4Bon * B_dy * s->sl.Ca4CaM);

	d->cell.Ca_j += 1e-3 * J_Ca[0];
	d->cell.Ca_sl += 1e-3 * J_Ca[1];
	d->cell.Ca_i += 1e-3 * J_Ca[2];
	exchange(X0, k_slmyo * (s->sl.CaM - s->cy.CaM), &d->dy.CaM, &d->sl.CaM, &d->cy.CaM);
	exchange(X2, k_slmyo * (s->sl.Ca2CaM - s->cy.Ca2CaM), &d->dy.Ca2CaM, &d->sl.Ca2CaM,
		 &d->cy.Ca2CaM);
	exchange(X4, k_slmyo * (s->sl.Ca4CaM - s->cy.Ca4CaM), &d->dy.Ca4CaM, &d->sl.Ca4CaM,
		 &d->cy.Ca4CaM);
}
