/*
 * model_cam.cuh - calmodulin, CaMKII and calcineurin of one compartment (Saucerman and Bers
 * 2008), and the calmodulin that moves between the three compartments.
 */
#ifndef RIFT_MYOCYTE_MODEL_CAM_CUH
#define RIFT_MYOCYTE_MODEL_CAM_CUH

#include "workloads/myocyte/model_constants.cuh"
#include "workloads/myocyte/model_state.cuh"

namespace myocyte
{
namespace
{
/* Totals of a compartment, uM; from the parameters. */
struct totals {
	real B, CaMKII, CaN, PP1;
};

/* What a module hands on: derivatives of the states that exchange, and its Ca balance. */
struct module_rates {
	real CaM, Ca2CaM, Ca4CaM; /* uM/ms */
	real J_Ca;		  /* uM/ms, positive adds to free Ca */
};

/* Rates by subject, uM/s or 1/s. Those of Ca binding, whose sum is the Ca taken up, first. */
struct cam_rates {
	real r_02, r_24, r_02B, r_24B, r_0B, r_2B, r_4B;
};

struct can_rates {
	real r_CaCaN, r_02CaN, r_24CaN, r_0CaN, r_2CaN, r_4CaN;
};

struct kinase_rates {
	real r_ib2, r_b2b, r_ib, r_bt, r_tt2, r_ta, r_t2a, r_t2b2, r_ai;
};

/* Calmodulin, free and on buffer sites. Ca2 is Ca squared, uM^2. */
static __device__ inline struct cam_rates calmodulin(real Ca2, real Btot, const input &y)
{
	using namespace in_module;
	real B_free = Btot - y[CaMB] - y[Ca2CaMB] - y[Ca4CaMB];
	struct cam_rates r;

	r.r_02 = k02 * Ca2 * y[CaM] - k20 * y[Ca2CaM];
	r.r_24 = k24 * Ca2 * y[Ca2CaM] - k42 * y[Ca4CaM];
	r.r_02B = k02 * Ca2 * y[CaMB] - k20B * y[Ca2CaMB];
	r.r_24B = k24 * Ca2 * y[Ca2CaMB] - k42B * y[Ca4CaMB];
	r.r_0B = k0Bon * y[CaM] * B_free - k0Boff * y[CaMB];
	r.r_2B = k2Bon * y[Ca2CaM] * B_free - k2Boff * y[Ca2CaMB];
	r.r_4B = k4Bon * y[Ca4CaM] * B_free - k4Boff * y[Ca4CaMB];
	return r;
}

static __device__ inline struct can_rates calcineurin(real Ca2, real CaNtot, const input &y)
{
	using namespace in_module;
	real Ca2CaN = CaNtot - y[Ca4CaN] - y[CaMCa4CaN] - y[Ca2CaMCa4CaN] - y[Ca4CaMCa4CaN];
	struct can_rates r;

	r.r_CaCaN = kcanCaon * Ca2 * Ca2CaN - kcanCaoff * y[Ca4CaN];
	r.r_02CaN = k02 * Ca2 * y[CaMCa4CaN] - k20can * y[Ca2CaMCa4CaN];
	r.r_24CaN = k24 * Ca2 * y[Ca2CaMCa4CaN] - k42can * y[Ca4CaMCa4CaN];
	r.r_0CaN = kcanCaM0on * y[CaM] * y[Ca4CaN] - kcanCaM0off * y[CaMCa4CaN];
	r.r_2CaN = kcanCaM2on * y[Ca2CaM] * y[Ca4CaN] - kcanCaM2off * y[Ca2CaMCa4CaN];
	r.r_4CaN = kcanCaM4on * y[Ca4CaM] * y[Ca4CaN] - kcanCaM4off * y[Ca4CaMCa4CaN];
	return r;
}

/* CaMKII: fractions of the total. Phosphorylation needs two neighbours that are active. */
static __device__ inline struct kinase_rates kinase(real Ca2, const struct totals &total,
						    const input &y)
{
	using namespace in_module;
	real Pin = 1 - y[Pb2] - y[Pb] - y[Pt] - y[Pt2] - y[Pa];
	real active = y[Pb] + y[Pt] + y[Pt2] + y[Pa];
	real kbt = 0.055 * active + 0.0074 * (active * active) + 0.015 * (active * active * active);
	real dephosphorylation = kpp1 * total.PP1;
	struct kinase_rates r;

	r.r_ib2 = kib2 * y[Ca2CaM] * Pin - kb2i * y[Pb2];
	r.r_b2b = k24 * Ca2 * y[Pb2] - kb42 * y[Pb];
	r.r_ib = kib * y[Ca4CaM] * Pin - kbi * y[Pb];
	r.r_bt = kbt * y[Pb] - dephosphorylation * y[Pt] / (Kmpp1 + total.CaMKII * y[Pt]);
	r.r_tt2 = kt42 * y[Pt] - k24 * Ca2 * y[Pt2];
	r.r_ta = kta * y[Pt] - kat * y[Ca4CaM] * y[Pa];
	r.r_t2a = kt2a * y[Pt2] - kat2 * y[Ca2CaM] * y[Pa];
	r.r_t2b2 = dephosphorylation * y[Pt2] / (Kmpp1 + total.CaMKII * y[Pt2]);
	r.r_ai = dephosphorylation * y[Pa] / (Kmpp1 + total.CaMKII * y[Pa]);
	return r;
}

static __device__ inline void write_calcineurin(const struct can_rates &n, const output &f)
{
	using namespace in_module;

	f[Ca4CaN] = 1e-3 * (n.r_CaCaN - n.r_0CaN - n.r_2CaN - n.r_4CaN);
	f[CaMCa4CaN] = 1e-3 * (n.r_0CaN - n.r_02CaN);
	f[Ca2CaMCa4CaN] = 1e-3 * (n.r_2CaN + n.r_02CaN - n.r_24CaN);
	f[Ca4CaMCa4CaN] = 1e-3 * (n.r_4CaN + n.r_24CaN);
}

static __device__ inline void write_kinase(const struct kinase_rates &k, const output &f)
{
	using namespace in_module;

	f[Pb2] = 1e-3 * (k.r_ib2 - k.r_b2b + k.r_t2b2);
	f[Pb] = 1e-3 * (k.r_ib + k.r_b2b - k.r_bt);
	f[Pt] = 1e-3 * (k.r_bt - k.r_ta - k.r_tt2);
	f[Pt2] = 1e-3 * (k.r_tt2 - k.r_t2a - k.r_t2b2);
	f[Pa] = 1e-3 * (k.r_ta + k.r_t2a - k.r_ai);
}

/*
 * One module: y and f are its own columns, Ca is the free Ca of its compartment in uM. Writes
 * the 12 states that stay in the compartment; returns the rates of the 3 that move.
 */
static __device__ inline struct module_rates cam_module(real Ca, const struct totals &total,
							const input &y, const output &f)
{
	using namespace in_module;
	real Ca2 = Ca * Ca;
	struct cam_rates c = calmodulin(Ca2, total.B, y);
	struct can_rates n = calcineurin(Ca2, total.CaN, y);
	struct kinase_rates k = kinase(Ca2, total, y);
	real uptake = c.r_02 + c.r_24 + c.r_02B + c.r_24B + n.r_CaCaN + n.r_02CaN + n.r_24CaN;

	f[CaMB] = 1e-3 * (c.r_0B - c.r_02B);
	f[Ca2CaMB] = 1e-3 * (c.r_02B + c.r_2B - c.r_24B);
	f[Ca4CaMB] = 1e-3 * (c.r_24B + c.r_4B);
	write_kinase(k, f);
	write_calcineurin(n, f);
	return { 1e-3 * (-c.r_02 - c.r_0B - n.r_0CaN),
		 1e-3 * (c.r_02 - c.r_24 - c.r_2B - n.r_2CaN + total.CaMKII * (-k.r_ib2 + k.r_t2a)),
		 1e-3 * (c.r_24 - c.r_4B - n.r_4CaN + total.CaMKII * (-k.r_ib + k.r_ta)),
		 1e-3 * (2 * total.CaMKII * (k.r_tt2 - k.r_b2b) - 2 * uptake) };
}

/* ---- exchange -------------------------------------------------------------------------- */

/* Calmodulin in the dyad, uM. Pa carries none. */
static __device__ inline real CaM_sum(real CaMKIItot, const input &y)
{
	using namespace in_module;

	return y[CaM] + y[Ca2CaM] + y[Ca4CaM] + y[CaMB] + y[Ca2CaMB] + y[Ca4CaMB] +
	       CaMKIItot * (y[Pb2] + y[Pb] + y[Pt] + y[Pt2]) + y[CaMCa4CaN] + y[Ca2CaMCa4CaN] +
	       y[Ca4CaMCa4CaN];
}

/*
 * One form of calmodulin, `form` states into each module: from dyad to shell by binding sites
 * in the dyad, B_dy of them free, from shell to cytosol by diffusion. Writes its derivatives.
 */
static __device__ inline void exchange(int form, real off, real on_B_dy, real rate_dy, real rate_sl,
				       real rate_cy, const input &y, const output &f)
{
	real dy = y[at::CaM_dy + form], sl = y[at::CaM_sl + form], cy = y[at::CaM_cy + form];
	real X_dysl = 1e-3 * (off * dy - on_B_dy * sl); /* uM of the dyad per ms */
	real X_slcy = k_slmyo * (sl - cy);		/* uM L/ms */

	f[at::CaM_dy + form] = rate_dy - X_dysl;
	f[at::CaM_sl + form] = rate_sl + (X_dysl * VolC_dy / VolC_sl - X_slcy / VolC_sl);
	f[at::CaM_cy + form] = rate_cy + X_slcy / VolC_myo;
}

/* B_x: sites of the dyad that calmodulin of the shell can bind to, uM. */
static __device__ inline void exchange_CaM(const struct module_rates &dy,
					   const struct module_rates &sl,
					   const struct module_rates &cy, real B_x,
					   real CaMKIItot_dy, const input &y, const output &f)
{
	real B_dy = B_x - CaM_sum(CaMKIItot_dy, y.from(at::CaM_dy));

	exchange(0, k0Boff, k0Bon * B_dy, dy.CaM, sl.CaM, cy.CaM, y, f);
	exchange(1, k2Boff, k2Bon * B_dy, dy.Ca2CaM, sl.Ca2CaM, cy.Ca2CaM, y, f);
	exchange(2, k4Boff, k4Bon * B_dy, dy.Ca4CaM, sl.Ca4CaM, cy.Ca4CaM, y, f);
}
} // namespace
} // namespace myocyte

#endif
