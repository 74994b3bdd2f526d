/*
 * warps_smem.cuh - spread=warps: which part owns which states, and the shared memory of a block.
 * Part of kernels.cuh.
 *
 * A block is for 32 cells: a lane for each, and a warp for each of eight parts of the equations,
 * so that a warp's lanes do the same. A right-hand side is two phases, a barrier behind each:
 *   1  whatever follows from the states: rates, currents, most derivatives
 *   2  derivatives to which other warps contribute; then sums of the stages, the next states
 * Every part owns eleven states: the sums are as much work for each, and one code for all.
 */
namespace myocyte
{
namespace
{
namespace in_warps
{
enum { CELLS = 32, PARTS = 8, OWN = 11, THREADS = PARTS * CELLS };

/* The order has a purpose: parts 4 apart share a quarter of an SM. */
enum cell_part {
	DYAD,	   /* its calmodulin and calcineurin; x_Ks */
	SHELL,	   /* the same of the shell, and channels that are on its side */
	CYTOSOL,   /* the same of the cytosol; channels on the side of the cleft */
	KINASES,   /* CaMKII of dyad and shell; I_Kr */
	RETICULUM, /* and CaMKII of the cytosol */
	GATES,	   /* of I_Na and I_Ca; buffers at the membrane */
	OUTWARD,   /* I_to, I_K1, I_Kp, I_Clb; buffers in the cytosol */
	INTO_SUMS, /* what constant fields and carriers make; V and concentrations */
};

enum { NO_STATE = -1 };

#define CALMODULIN(module) module, module + 1, module + 2
#define BOUND(module)                                                                              \
	module + 3, module + 4, module + 5, module + 11, module + 12, module + 13, module + 14
#define KINASE(module) module + 6, module + 7, module + 8, module + 9, module + 10

/* Slots of a part. What others read stands first. */
static __constant__ const int8_t owned[PARTS][OWN] = {
	{ CALMODULIN(at::CaM_dy), at::x_Ks, BOUND(at::CaM_dy) },
	{ CALMODULIN(at::CaM_sl), at::Q_pCa, BOUND(at::CaM_sl) },
	{ CALMODULIN(at::CaM_cy), at::Q_Cab, BOUND(at::CaM_cy) },
	{ at::x_Kr, KINASE(at::CaM_dy), KINASE(at::CaM_sl) },
	{ at::RyR_R, at::RyR_O, at::RyR_I, at::Ca_SR, at::Csqnb, NO_STATE, KINASE(at::CaM_cy) },
	{ at::m, at::h, at::j, at::d, at::f, at::SLLj, at::SLHj, at::SLLsl, at::SLHsl, at::NaB_j,
	  at::NaB_sl },
	{ at::x_tos, at::y_tos, at::r_tos, at::x_tof, at::y_tof, at::TnCL, at::TnCHc, at::TnCHm,
	  at::Myoc, at::Myom, at::SRB },
	{ at::V, at::Na_j, at::Na_sl, at::Na_i, at::Ca_j, at::Ca_sl, at::Ca_i, at::Q_CaL, at::Q_NCX,
	  at::fCaB_j, at::fCaB_sl },
};

#undef CALMODULIN
#undef BOUND
#undef KINASE

/* These never change; nobody owns them. */
static __constant__ const int8_t constant[] = { at::CaM_ecc, at::K_i, at::spare40, at::spare41 };

/* What is published to all: states, part by part, .. */
namespace on
{
enum shown {
	CaM_dy,
	x_Ks = CaM_dy + 3,
	CaM_sl,
	CaM_cy = CaM_sl + 3,
	x_Kr = CaM_cy + 3,
	m,
	h,
	j,
	d,
	f,
	V,
	Na_j,
	Na_sl,
	Na_i,
	Ca_j,
	Ca_sl,
	Ca_i,
	CaM_sum, /* .. two sums: calmodulin of the dyad, less what its CaMKII holds, uM, .. */
	CaMKII_sum,
	K_i, /* .. and what stays */
	E_K,
	END,
};
} // namespace on

static __constant__ const int8_t first_shown[PARTS] = { on::CaM_dy, on::CaM_sl, on::CaM_cy,
							on::x_Kr,   0,		on::m,
							0,	    on::V };
static __constant__ const int8_t n_shown[PARTS] = { 4, 3, 3, 1, 0, 5, 0, 7 };
enum { SHOWN_MOST = 7 };

/* What phase 1 hands to phase 2. Cleft, then shell, then cytosol, where there are several. */
enum term {
	I_NA, /* through Na channels and the background, A/F */
	I_CAB = I_NA + 2,
	I_PCA = I_CAB + 2,
	I_SIDE = I_PCA + 2,   /* these three and that of Cl */
	G_KS = I_SIDE + 2,    /* of I_Ks, times its gate, mS/uF */
	FROM_E_KS = G_KS + 2, /* V - E_Ks, mV */
	I_KR,
	I_OUTWARD,
	J_UP, /* Ca into the reticulum, of cytosol; out of it, of reticulum; mM/ms */
	J_OUT,
	TO_Ca2CaM, /* what CaMKII gives back, uM/ms: calmodulin; Ca */
	TO_Ca4CaM = TO_Ca2CaM + 3,
	TO_CA = TO_Ca4CaM + 3,
	CA_OF_MODULE = TO_CA + 3,     /* what calmodulin and calcineurin give back of Ca */
	UPTAKE_CA = CA_OF_MODULE + 3, /* by buffers, mM/ms */
	UPTAKE_NA = UPTAKE_CA + 3,
	TERMS = UPTAKE_NA + 2,
};

/* What becomes of a cell after an attempt. */
enum { ACCEPTED = 1, COMPLETED = 2, ROW = 4, BACK = 8 };

struct course {
	double t[CELLS], h[CELLS], taken[CELLS];
	int64_t count[MYOCYTE_COUNTS][CELLS];
	struct plan plan[CELLS];
	struct myocyte_row *row[CELLS];
	uint32_t what[CELLS];
};

/*
 * Blocks on an SM, which limits registers. In double a step does not fit into those: shared memory
 * holds KEPT vectors of the owned states.
 */
enum { BLOCKS = 2, KEPT = sizeof(real) == sizeof(double) ? 3 : 1 };
enum { POWERS_OF_2 = 256 };

struct warps_smem {
	real v[on::END][CELLS], term[TERMS][CELLS], p[MYOCYTE_PARAMS][CELLS];
	real step[CELLS], stimulus[CELLS];
	real kept[KEPT][PARTS * OWN][CELLS];
	double two_to[POWERS_OF_2]; /* 2^(i/256) */
	real least[PARTS * OWN];    /* error that any step may make */
	float worst[PARTS][CELLS];
	struct course course;
};

/* A cell's column. */
struct column {
	real *at;

	__device__ real &operator[](int row) const
	{
		return at[row * CELLS];
	}
};

/* A thread has one part of one cell. x: its states at the stage; f: their derivatives. */
struct thread_state {
	int part, lane;
	bool benchmark;
	struct column v, term, p;
	const double *two_to;
	const real *stimulus;
	real x[OWN], f[OWN];
};

static __device__ inline struct thread_state make_thread_state(const struct myocyte_cells &a,
							       struct warps_smem *b)
{
	struct thread_state c;

	c.lane = (int)threadIdx.x % CELLS;
	/* known to be one for all lanes, which makes branches on it cheaper */
	c.part = __shfl_sync(~0u, (int)threadIdx.x / CELLS, 0);
	c.benchmark = a.benchmark;
	c.v = { b->v[0] + c.lane };
	c.term = { b->term[0] + c.lane };
	c.p = { b->p[0] + c.lane };
	c.two_to = b->two_to;
	c.stimulus = b->stimulus + c.lane;
	return c;
}
} // namespace in_warps
} // namespace
} // namespace myocyte
