/*
 * block_board.cuh - spread=block: what the threads of a cell's block share. Part of kernels.cuh.
 *
 * Eight warps, each with a subject; a thread that computes a derivative also owns that state.
 * A right-hand side is three phases with a barrier before each:
 *   1  whatever needs states only: exponentials of V (a lane each), logarithms and powers of
 *      concentrations, reactions, buffers
 *   2  gates, currents
 *   3  sums of currents
 * Nothing reads a state in phase 3, so that who is done may write the next stage's.
 */
namespace myocyte
{
namespace
{
enum warp_role {
	WARP_V,				/* exponentials, gates, at last V itself */
	WARP_V_MORE,			/* exponentials, gates of I_to, integrals, slots */
	WARP_LOGS,			/* logarithms and powers, reticulum */
	WARP_MODULE,			/* three: calmodulin of cleft, shell and cytosol */
	WARP_BUFFERS = WARP_MODULE + 3, /* buffers, currents of both sides, Ca */
	WARP_EXCHANGE,			/* Na/Ca exchanger, Na */
	WARPS,
};

enum { LANES = 32, BLOCK_THREADS = WARPS * LANES };
enum { CLEFT, SHELL, SIDES };
enum { MODULES = 3, RATES = 22 };

/* Exponentials of V: see block_exps.cuh. */
enum exponential_of {
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

/* Logarithms and powers of concentrations. */
enum power_of {
	LOG_NA,
	LOG_CA = LOG_NA + SIDES,
	LOG_K = LOG_CA + SIDES,
	POW_PUMP,
	POW_KS = POW_PUMP + SIDES, /* of both sides */
	POW_UP = POW_KS + SIDES,
	POW_DOWN, /* of the reticulum's pump */
	POW_SLOW,
	POW_FAST, /* 1/kCaSR, kCaSR */
	POWERS,
};

/* Behind the states in `v`: what reactions take as a factor. */
namespace in
{
enum {
	ONE = at::END,
	ZERO,
	MODULE, /* of each module: */
};
enum { Ca2, B_free, Ca2CaN, Pin, kbt, EACH };
} // namespace in

enum { BUFFERS = 15 };

/* Of an attempt, by the thread that decides. */
struct course {
	double t, h, taken;
	int64_t count[MYOCYTE_COUNTS];
	struct plan plan;
	struct settled settled;
	double stimulus;
	struct myocyte_row *row;
	bool back; /* to the start */
};

struct board {
	real v[in::MODULE + MODULES * in::EACH];
	real e[EXPS], q[EXPS]; /* e^z; the quotient that is made of it */
	real log[POWERS], power[POWERS], part[POWERS];
	real Na4[SIDES], allo[SIDES], Cl[SIDES]; /* saturation by Na^4, Ca^3, Ca */
	real uptake[BUFFERS];
	real rate[MODULES][4 * RATES + 1]; /* r, -r, K r, -K r; 0 */
	real J[MODULES];		   /* Ca that modules give back */
	/* currents of a side; `other`: those that carry neither Na nor Ca */
	real Na[SIDES], NCX[SIDES], NaK[SIDES], Ca[SIDES], other[SIDES];
	real I_Ca[SIDES], I_pCa[SIDES], I_Cab[SIDES];
	real K1, K; /* inward rectifier; other currents without sides */
	real serca, rel, leak;
	real d_Ca[2], d_Na[2]; /* shell less cleft, cytosol less shell */
	real p[MYOCYTE_PARAMS];
	real worst[STATES];
	bool finite[WARPS];
	struct course course;
};
} // namespace
} // namespace myocyte
