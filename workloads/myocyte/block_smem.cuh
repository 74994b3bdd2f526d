/*
 * block_smem.cuh - spread=block: what the threads of a cell's block share. Part of kernels.cuh.
 *
 * Twelve warps, each with a subject; a thread that computes a derivative also owns that state.
 * A right-hand side is three phases with a barrier before each:
 *
 *   1  what needs states only: exponentials of V and logarithms of concentrations, a lane each;
 *      reactions; buffers
 *   2  gates, currents
 *   3  sums of currents; threads whose derivatives are known add them up meanwhile
 *
 * Nothing reads a state in phase 3, so that threads that are done may write the next stage's.
 */
namespace myocyte
{
namespace
{
enum warp_role {
	WARP_NA_GATES,			/* half the exponentials; m, h, j */
	WARP_TO_GATES,			/* the other half; gates of I_to */
	WARP_POWERS,			/* logarithms and powers of both sides; I_pCa, I_Ks */
	WARP_MODULE,			/* three: calmodulin of cleft, shell and cytosol */
	WARP_BUFFERS = WARP_MODULE + 3, /* and then L-type channels */
	WARP_EXCHANGER,			/* saturations; Na/Ca exchanger */
	WARP_PUMP,			/* flows; Na/K pump, I_K1 */
	WARP_SLOW_GATES,		/* d, f, x_Kr, x_Ks */
	WARP_RETICULUM,			/* powers; its pump and its receptor */
	WARP_SUMS,			/* currents of V and of Na; V and concentrations from all */
	WARPS,
};

enum { LANES = 32, BLOCK_THREADS = WARPS * LANES };
enum { CLEFT, SHELL, SIDES };
enum { MODULES = 3, RATES = 22, BUFFERS = 15 };
enum { WEIGHTS = 16 }; /* of a derivative in what is to come: block_stages.cuh */

/* Exponentials of V: see block_exps.cuh. */
enum exponential_index {
	EXP_U,
	EXP_2U,
	EXP_MINUS_U,
	EXP_NU,
	EXP_NU1,
	EXP_NAK,
	EXP_M_OPEN,
	EXP_M_CLOSE,
	EXP_H_HIGH,
	EXP_J_HIGH,
	EXP_J_HIGH_2,
	EXP_H_OPEN,
	EXP_H_CLOSE,
	EXP_H_CLOSE_2,
	EXP_J_OPEN,
	EXP_J_OPEN_2,
	EXP_J_OPEN_3,
	EXP_J_CLOSE,
	EXP_J_CLOSE_2,
	EXP_KR,
	EXP_KS,
	EXP_KR_1,
	EXP_KR_2,
	EXP_KS_1,
	EXP_KS_2,
	EXP_KR_RECTIFIER,
	EXP_KP,
	EXP_TO_OPEN,
	EXP_TO_SLOW,
	EXP_TO_60,
	EXP_TO_33,
	EXP_TO_FAST,
	EXP_K1_OPEN,
	EXP_K1_CLOSE,
	EXP_K1_CLOSE_2,
	EXP_K1_CLOSE_3,
	EXP_D,
	EXP_D_RATE,
	EXP_F,
	EXP_F_2,
	EXP_F_RATE,
	EXPS,
};

/* The quotient that is made of an exponential. */
#define Q_OF(exponential) (EXPS + (exponential))

/* Logarithms and powers of concentrations; two warps share them. */
enum power_index {
	LOG_NA,
	LOG_CA = LOG_NA + SIDES,
	LOG_K = LOG_CA + SIDES,
	POW_PUMP,
	POW_KS = POW_PUMP + SIDES, /* of both sides */
	POWERS_OF_SIDES = POW_KS + SIDES,
	POW_UP = POWERS_OF_SIDES, /* of the reticulum's pump */
	POW_DOWN,
	POW_SR, /* of what opens its receptor */
	POWERS,
};

/* What saturates with Na^4, Ca^3 and Ca of a side. */
enum saturation_by {
	BY_NA4,
	BY_CA3 = BY_NA4 + SIDES,
	BY_CA = BY_CA3 + SIDES,
	SATURATIONS = BY_CA + SIDES
};

/* Terms of the derivatives that are known last: currents of both sides, .. */
enum term {
	I_NA, /* fast channels and background */
	I_CA_L = I_NA + SIDES,
	I_CA_NA = I_CA_L + SIDES,    /* of L-type channels, carried by Na */
	I_CHANNEL = I_CA_NA + SIDES, /* of L-type channels, by all */
	I_CA_B = I_CHANNEL + SIDES,  /* background */
	I_CA_PUMP = I_CA_B + SIDES,
	I_SLOW = I_CA_PUMP + SIDES, /* I_Ks */
	I_CL = I_SLOW + SIDES,
	I_EXCHANGER = I_CL + SIDES,
	I_NA_PUMP = I_EXCHANGER + SIDES,
	I_RECTIFIER = I_NA_PUMP + SIDES, /* .. those without sides, .. */
	I_OF_V,				 /* less the stimulus */
	J_UP,				 /* .. fluxes of Ca into the reticulum and out of it, */
	J_OUT,
	J_MODULE,		   /* and what modules give back; */
	D_CA = J_MODULE + MODULES, /* shell less cleft, cytosol less shell; */
	D_NA = D_CA + 2,
	UPTAKE = D_NA + 2, /* of buffers, in the order of their table */
	NOTHING = UPTAKE + BUFFERS,
	TERMS,
};

/* Behind the states in `v`: what reactions take as a factor. */
namespace in
{
enum { ONE = at::END, ZERO, END };
} // namespace in

/* The course of a cell: an attempt and its decision, by the thread that decides. */
struct course {
	double t, h, taken;
	int64_t count[MYOCYTE_COUNTS];
	struct plan plan;
	struct settled settled; /* of the attempt before */
	struct myocyte_row *row;
	bool back;  /* to the start */
	bool again; /* the next attempt begins elsewhere than where this one arrived */
};

struct block_smem {
	alignas(16) real weight[STAGES][WEIGHTS];
	real v[in::END];
	real e[2 * EXPS]; /* e^z; behind all of these the quotients that are made of them */
	real log[POWERS_OF_SIDES];
	real saturation[SATURATIONS];
	real term[TERMS];
	real rate[MODULES][4 * RATES + 1]; /* r, -r, K r, -K r; 0 */
	real p[MYOCYTE_PARAMS];
	real stimulus;
	float worst[WARPS];
	struct course course;
	double two_to[EXP_PARTS]; /* 2^(i/256); this and the next in double only */
	struct part_of_log logs[LOG_PARTS];
};

/*
 * The shared memory at an address that neither compiler nor assembler can derive anew. On Hopper
 * they do so at nearly every access, which takes longer than the access. All of a warp call it.
 */
static __device__ inline struct block_smem *at_one_address(struct block_smem *b)
{
#ifdef __CUDA_ARCH__
	uint32_t at = (uint32_t)__cvta_generic_to_shared(b);

	return (struct block_smem *)__cvta_shared_to_generic(__shfl_sync(~0u, at, 0));
#else
	return b;
#endif
}
} // namespace
} // namespace myocyte
