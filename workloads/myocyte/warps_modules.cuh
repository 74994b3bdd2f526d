/*
 * warps_modules.cuh - spread=warps: calmodulin, calcineurin and CaMKII of the three compartments.
 * Part of kernels.cuh. Formulas: model_cam.cuh; rates per ms here.
 */
namespace myocyte
{
namespace
{
namespace in_warps
{
static constexpr double ms = 1e-3; /* rate constants are per s */

/* Slots of a module's part; 0 to 2 are its free calmodulin, 3 is no state of the module. */
enum { CaMB = 4, Ca2CaMB, Ca4CaMB, Ca4CaN, CaMCa4CaN, Ca2CaMCa4CaN, Ca4CaMCa4CaN };

/* Parameter i of module m, i as of the dyad's. */
static __device__ inline real total(const struct thread_state &c, int i, int m)
{
	return c.p[i + (par::Btot_sl - par::Btot_dy) * m];
}

/* uM^2. */
static __device__ inline real Ca_squared(const struct thread_state &c, int m)
{
	real Ca = c.v[on::Ca_j + m];

	return 1e6 * (Ca * Ca);
}

/* Each of the following adds to f of free calmodulin, and returns what it takes up of pairs of Ca.
 */
static __device__ inline real free_calmodulin(struct thread_state *c, real on2, real on4)
{
	const real *x = c->x;
	real r_02 = on2 * x[0] - ms * k20 * x[1], r_24 = on4 * x[1] - ms * k42 * x[2];

	c->f[0] = -r_02;
	c->f[1] = r_02 - r_24;
	c->f[2] = r_24;
	return r_02 + r_24;
}

/* Buffers bind all forms of calmodulin alike. */
static __device__ inline real bound_calmodulin(struct thread_state *c, int m, real on2, real on4)
{
	const real *x = c->x;
	real *f = c->f;
	real free = total(*c, par::Btot_dy, m) - x[CaMB] - x[Ca2CaMB] - x[Ca4CaMB];
	real r_02 = on2 * x[CaMB] - ms * k20B * x[Ca2CaMB];
	real r_24 = on4 * x[Ca2CaMB] - ms * k42B * x[Ca4CaMB];
	real on = ms * k0Bon * free, r_0 = on * x[0] - ms * k0Boff * x[CaMB];
	real r_2 = on * x[1] - ms * k2Boff * x[Ca2CaMB], r_4 = on * x[2] - ms * k4Boff * x[Ca4CaMB];

	f[CaMB] = r_0 - r_02;
	f[Ca2CaMB] = r_02 + r_2 - r_24;
	f[Ca4CaMB] = r_24 + r_4;
	f[0] = f[0] - r_0;
	f[1] = f[1] - r_2;
	f[2] = f[2] - r_4;
	return r_02 + r_24;
}

/* So does calcineurin. */
static __device__ inline real bound_calcineurin(struct thread_state *c, int m, real Ca2, real on2,
						real on4)
{
	const real *x = c->x;
	real *f = c->f;
	real Ca2CaN = total(*c, par::CaNtot_dy, m) - x[Ca4CaN] - x[CaMCa4CaN] - x[Ca2CaMCa4CaN] -
		      x[Ca4CaMCa4CaN];
	real r_Ca = ms * kcanCaon * Ca2 * Ca2CaN - ms * kcanCaoff * x[Ca4CaN];
	real r_02 = on2 * x[CaMCa4CaN] - ms * k20can * x[Ca2CaMCa4CaN];
	real r_24 = on4 * x[Ca2CaMCa4CaN] - ms * k42can * x[Ca4CaMCa4CaN];
	real on = ms * kcanCaM0on * x[Ca4CaN], r_0 = on * x[0] - ms * kcanCaM0off * x[CaMCa4CaN];
	real r_2 = on * x[1] - ms * kcanCaM2off * x[Ca2CaMCa4CaN];
	real r_4 = on * x[2] - ms * kcanCaM4off * x[Ca4CaMCa4CaN];

	f[Ca4CaN] = r_Ca - r_0 - r_2 - r_4;
	f[CaMCa4CaN] = r_0 - r_02;
	f[Ca2CaMCa4CaN] = r_2 + r_02 - r_24;
	f[Ca4CaMCa4CaN] = r_4 + r_24;
	f[0] = f[0] - r_0;
	f[1] = f[1] - r_2;
	f[2] = f[2] - r_4;
	return r_Ca + r_02 + r_24;
}

/* Free calmodulin moves between dyad and shell by sites in the dyad, and on by diffusion. */
static __device__ inline void exchange(struct thread_state *c, int m)
{
	const double off[] = { k0Boff, k2Boff, k4Boff };
	struct column v = c->v;
	real B_x = c->benchmark ? c->p[par::Btot_dy] : real(Btot_x);
	real on = ms * k0Bon * (B_x - v[on::CaM_sum] - v[on::CaMKII_sum]);
	real of_dyad = m ? -VolC_dy / VolC_sl : 1, of_shell = m == 1 ? 1 / VolC_sl : -1 / VolC_myo;

	for (int i = 0; i < 3; i++) {
		real sl = v[on::CaM_sl + i];

		if (m != CYTOSOL)
			c->f[i] = c->f[i] - of_dyad * (ms * off[i] * v[on::CaM_dy + i] - on * sl);
		if (m != DYAD)
			c->f[i] = c->f[i] - k_slmyo * of_shell * (sl - v[on::CaM_cy + i]);
	}
}

/* By DYAD, SHELL and CYTOSOL. */
static __device__ inline void module_rates(struct thread_state *c)
{
	int m = c->part;
	real Ca2 = Ca_squared(*c, m), on2 = ms * k02 * Ca2, on4 = ms * k24 * Ca2;
	real pairs = free_calmodulin(c, on2, on4);

	pairs = pairs + bound_calmodulin(c, m, on2, on4);
	pairs = pairs + bound_calcineurin(c, m, Ca2, on2, on4);
	c->term[CA_OF_MODULE + m] = -2 * pairs;
	exchange(c, m);
}

/* Phase 2: CaMKII takes and gives calmodulin. */
static __device__ inline void module_sums(struct thread_state *c)
{
	c->f[1] = c->f[1] + c->term[TO_Ca2CaM + c->part];
	c->f[2] = c->f[2] + c->term[TO_Ca4CaM + c->part];
}

/* ---- CaMKII ------------------------------------------------------------------------------- */

/* Michaelis and Menten, by phosphatase 1. most: 1/ms times uM. */
static __device__ inline real dephosphorylated(real most, real K, real x)
{
	return quotient(most * x, Kmpp1 + K * x);
}

/* CaMKII of module m; its five states are in slots first and on: Pb2, Pb, Pt, Pt2, Pa. */
static __device__ inline void kinase(struct thread_state *c, int m, int first)
{
	const real *x = c->x + first;
	real *f = c->f + first;
	/* the modules' calmodulin is published at three indices */
	int CaM = m == 0 ? on::CaM_dy : m == 1 ? on::CaM_sl : on::CaM_cy;
	real Ca2CaM = c->v[CaM + 1], Ca4CaM = c->v[CaM + 2], on4 = ms * k24 * Ca_squared(*c, m);
	real K = total(*c, par::CaMKIItot_dy, m);
	real most = ms * kpp1 * total(*c, par::PP1tot_dy, m);
	real active = x[1] + x[2] + x[3] + x[4];
	real kbt = active * (ms * 0.055 + active * (ms * 0.0074 + ms * 0.015 * active));
	real to_free = ms * kib * (1 - x[0] - x[1] - x[2] - x[3] - x[4]), to_Pa = ms * kat * x[4];
	real r_ib2 = to_free * Ca2CaM - ms * kb2i * x[0], r_ib = to_free * Ca4CaM - ms * kbi * x[1];
	real r_b2b = on4 * x[0] - ms * kb42 * x[1], r_tt2 = ms * kt42 * x[2] - on4 * x[3];
	real r_ta = ms * kta * x[2] - to_Pa * Ca4CaM, r_t2a = ms * kt2a * x[3] - to_Pa * Ca2CaM;
	real r_bt = kbt * x[1] - dephosphorylated(most, K, x[2]);
	real r_t2b2 = dephosphorylated(most, K, x[3]);

	f[0] = r_ib2 - r_b2b + r_t2b2;
	f[1] = r_ib + r_b2b - r_bt;
	f[2] = r_bt - r_ta - r_tt2;
	f[3] = r_tt2 - r_t2a - r_t2b2;
	f[4] = r_ta + r_t2a - dephosphorylated(most, K, x[4]);
	c->term[TO_Ca2CaM + m] = K * (r_t2a - r_ib2);
	c->term[TO_Ca4CaM + m] = K * (r_ta - r_ib);
	c->term[TO_CA + m] = 2 * K * (r_tt2 - r_b2b);
}
} // namespace in_warps
} // namespace
} // namespace myocyte
