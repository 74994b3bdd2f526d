/* reference.c - the right-hand side of the myocyte model, put together; see reference.h. */
#include "workloads/myocyte/reference.h"

#include <math.h>
#include <string.h>

#include "workloads/myocyte/reference_model.h"

/* clang-format off */
#define A_stim		9.5			/* A/F, depolarising */
#define t_stim		5.0			/* ms, end point included */
#define MM_TO_UM	1e3
/* clang-format on */

enum { DYAD = 1, SHELL = 6, CYTOSOL = 11 }; /* where a module's five parameters begin */
enum { P_T_CYCLE = 0, P_BTOT_DY = DYAD + 1, P_CAMKIITOT_DY = DYAD + 2 };

_Static_assert(sizeof(struct ref_state) == MYOCYTE_STATES * sizeof(double),
	       "the named state is the 91 numbers, nothing else");

double myocyte_ref_stimulus(const struct myocyte_model *m, double t)
{
	return fmod(t, m->p[P_T_CYCLE]) <= t_stim ? A_stim : 0;
}

/*
 * Buffer sites that CaM coming back into the dyad finds, uM. The benchmark passes the 0 of
 * its dyad module, so that the return flux runs backwards; descendants of the model have this
 * number, and only with it is the initial state periodic.
 */
static double dyad_sites(const struct myocyte_model *m)
{
	return m->equations == MYOCYTE_RODINIA ? m->p[P_BTOT_DY] : 1.54 / 8.293e-4;
}

void myocyte_ref_rhs(const struct myocyte_model *m, double stimulus, const double *y, double *f)
{
	struct ref_state s, d;
	struct ref_membrane x;
	double J_Ca[3];

	memcpy(&s, y, sizeof(s));
	myocyte_ref_membrane(m->equations, &s.cell, &x, &d.cell);
	myocyte_ref_ions(&x, &s.cell, &d.cell);
	d.cell.V = stimulus + d.cell.V;
	J_Ca[0] = myocyte_ref_cam(m->p + DYAD, MM_TO_UM * s.cell.Ca_j, &s.dy, &d.dy);
	J_Ca[1] = myocyte_ref_cam(m->p + SHELL, MM_TO_UM * s.cell.Ca_sl, &s.sl, &d.sl);
	J_Ca[2] = myocyte_ref_cam(m->p + CYTOSOL, MM_TO_UM * s.cell.Ca_i, &s.cy, &d.cy);
	myocyte_ref_couple(dyad_sites(m), m->p[P_CAMKIITOT_DY], J_Ca, &s, &d);
	memcpy(f, &d, sizeof(d));
}

void myocyte_ref_guard(double f[MYOCYTE_STATES])
{
	for (int i = 0; i < MYOCYTE_STATES; i++)
		if (isnan(f[i]) || (isinf(f[i]) && f[i] > 0))
			f[i] = 0.0001;
}
