/*
 * rosenbrock_pivots.cuh - solver=rosenbrock: the order of the pivots. Part of kernels.cuh.
 *
 * Most entries of the matrix are 0, and stay so for long in an order that takes those first that
 * touch little else. Pivots between which there are only zeros by then need not wait for each
 * other: 43 groups instead of 91 rows.
 */
namespace myocyte
{
namespace
{
enum { GROUP = 4, GROUPS = 43 };

struct pivots {
	int n;
	uint8_t of[GROUP];
};

struct order {
	struct pivots group[GROUPS];
	int groups;

	constexpr void add(int a)
	{
		group[groups].of[group[groups].n++] = (uint8_t)a;
	}
};

/* Each of these touches V and concentrations, but none another; nor do those that none touches. */
static constexpr void add_leaves(struct order *o)
{
	const uint8_t leaves[] = {
		at::m,	   at::h,      at::j,	  at::d,     at::f,	at::fCaB_j, at::fCaB_sl,
		at::x_tos, at::y_tos,  at::x_tof, at::y_tof, at::x_Kr,	at::x_Ks,   at::r_tos,
		at::NaB_j, at::NaB_sl, at::TnCL,  at::SRB,   at::SLLj,	at::SLLsl,  at::SLHj,
		at::SLHsl, at::Csqnb,  at::TnCHm, at::Myom,  at::RyR_I,
	};
	const uint8_t alone[] = {
		at::CaM_ecc, at::K_i,	at::spare40, at::spare41,
		at::Q_CaL,   at::Q_pCa, at::Q_NCX,   at::Q_Cab,
	};

	for (int i = 0; i < (int)sizeof(leaves); i++) {
		o->groups += i && i % GROUP == 0;
		o->add(leaves[i]);
	}
	for (int i = 0; i < (int)sizeof(alone); i++) {
		o->groups += i % GROUP == 0;
		o->add(alone[i]);
	}
	o->groups++;
}

/* Cleft and cytosol meet in the shell only; the modules and what is `apart` only in Ca. */
static constexpr struct order order_of_pivots()
{
	const uint8_t apart[] = { at::RyR_R, at::RyR_O, at::TnCHc, at::Myoc,
				  at::Ca_SR, at::Na_i,	at::Na_j,  at::Na_sl };
	const uint8_t last[] = { at::V, at::Ca_j, at::Ca_sl, at::Ca_i };
	struct order o = {};

	add_leaves(&o);
	for (int i = 0; i < 15; i++, o.groups++) {
		o.add(at::CaM_dy + i);
		o.add(at::CaM_cy + i);
	}
	for (int i = 0; i < 15; i++, o.groups++) {
		o.add(at::CaM_sl + i);
		if (i < (int)sizeof(apart))
			o.add(apart[i]);
	}
	for (int i = 0; i < (int)sizeof(last); i++, o.groups++)
		o.add(last[i]);
	return o;
}

static_assert(order_of_pivots().groups == GROUPS);

static __constant__ const struct order order = order_of_pivots();
} // namespace
} // namespace myocyte
