/*
 * block_sums.cuh - spread=block: the derivatives that are known last, V and concentrations, each
 * a weighted sum of what the other warps have found; a lane each. Part of kernels.cuh.
 */
namespace myocyte
{
namespace
{
enum { ADDENDS = 9, BALANCES = 18 };

struct addend {
	uint8_t term;
	double weight;
};

struct balance {
	int state; /* -1: the other side's share of V, which is the lane's before */
	struct addend addend[ADDENDS];
};

/* A/F to mM/ms, of Na; of Ca half. */
static constexpr double Na_into_j = C_m / (Vol_j * F), Na_into_sl = C_m / (Vol_sl * F);
static constexpr double uM_per_A_F = C_m / (Vol_myo * 2 * F) * 1e3;

#define NONE                                                                                       \
	{                                                                                          \
		NOTHING, 0                                                                         \
	}
#define NONE_3 NONE, NONE, NONE
#define SIDE_OF_V(s)                                                                               \
	{ I_NA + s, -1 }, { I_CHANNEL + s, -1 }, { I_CA_B + s, -1 }, { I_CA_PUMP + s, -1 },        \
		{ I_SLOW + s, -1 }, { I_CL + s, -1 }, { I_EXCHANGER + s, -1 },                     \
	{                                                                                          \
		I_NA_PUMP + s, -1                                                                  \
	}
#define SIDE_OF_NA(s, into)                                                                        \
	{ I_NA + s, -(into) }, { I_CA_NA + s, -(into) }, { I_EXCHANGER + s, -3 * (into) },         \
		{ I_NA_PUMP + s, -3 * (into) },                                                    \
	{                                                                                          \
		UPTAKE + s, -1                                                                     \
	}
#define SIDE_OF_CA(s, into)                                                                        \
	{ I_CA_L + s, -(into) / 2 }, { I_CA_B + s, -(into) / 2 }, { I_CA_PUMP + s, -(into) / 2 },  \
		{ I_EXCHANGER + s, into }, { UPTAKE + 2 + 2 * s, -1 }, { UPTAKE + 3 + 2 * s, -1 }, \
	{                                                                                          \
		J_MODULE + s, 1e-3                                                                 \
	}

static __device__ const struct balance balances[BALANCES] = {
	{ at::V, { SIDE_OF_V(CLEFT), { I_RECTIFIER, -1 } } },
	{ -1, { SIDE_OF_V(SHELL), { I_OF_V, -1 } } },
	{ at::Na_j, { SIDE_OF_NA(CLEFT, Na_into_j), { D_NA, D_Na_jsl / Vol_j }, NONE_3 } },
	{ at::Na_sl,
	  { SIDE_OF_NA(SHELL, Na_into_sl),
	    { D_NA, -D_Na_jsl / Vol_sl },
	    { D_NA + 1, D_Na_slmyo / Vol_sl },
	    NONE,
	    NONE } },
	{ at::Na_i, { { D_NA + 1, -D_Na_slmyo / Vol_myo }, NONE_3, NONE_3, NONE, NONE } },
	{ at::Ca_j,
	  { SIDE_OF_CA(CLEFT, Na_into_j), { D_CA, D_Ca_jsl / Vol_j }, { J_OUT, Vol_SR / Vol_j } } },
	{ at::Ca_sl,
	  { SIDE_OF_CA(SHELL, Na_into_sl),
	    { D_CA, -D_Ca_jsl / Vol_sl },
	    { D_CA + 1, D_Ca_slmyo / Vol_sl } } },
	{ at::Ca_i,
	  { { J_UP, -1 },
	    { UPTAKE + 6, -1 },
	    { UPTAKE + 7, -1 },
	    { UPTAKE + 8, -1 },
	    { UPTAKE + 9, -1 },
	    { UPTAKE + 10, -1 },
	    { UPTAKE + 11, -1 },
	    { D_CA + 1, -D_Ca_slmyo / Vol_myo },
	    { J_MODULE + 2, 1e-3 } } },
	{ at::Ca_SR,
	  { { J_UP, Vol_myo / Vol_SR }, { J_OUT, -1 }, { UPTAKE + 12, -1 }, NONE_3, NONE_3 } },
	{ at::Q_CaL,
	  { { I_CA_L, -uM_per_A_F }, { I_CA_L + 1, -uM_per_A_F }, NONE_3, NONE_3, NONE } },
	{ at::Q_pCa,
	  { { I_CA_PUMP, -uM_per_A_F }, { I_CA_PUMP + 1, -uM_per_A_F }, NONE_3, NONE_3, NONE } },
	{ at::Q_NCX,
	  { { I_EXCHANGER, 2 * uM_per_A_F },
	    { I_EXCHANGER + 1, 2 * uM_per_A_F },
	    NONE_3,
	    NONE_3,
	    NONE } },
	{ at::Q_Cab,
	  { { I_CA_B, -uM_per_A_F }, { I_CA_B + 1, -uM_per_A_F }, NONE_3, NONE_3, NONE } },
	{ at::CaM_ecc, { NONE_3, NONE_3, NONE_3 } },
	{ at::K_i, { NONE_3, NONE_3, NONE_3 } },
	{ at::spare40, { NONE_3, NONE_3, NONE_3 } },
	{ at::spare41, { NONE_3, NONE_3, NONE_3 } },
	{ -1, { NONE_3, NONE_3, NONE_3 } },
};

#undef NONE
#undef NONE_3
#undef SIDE_OF_V
#undef SIDE_OF_NA
#undef SIDE_OF_CA

struct thread_balance {
	int term[ADDENDS];
	real weight[ADDENDS];
};

static __device__ inline struct thread_balance thread_balance(int lane)
{
	const struct balance &of = balances[lane < BALANCES ? lane : BALANCES - 1];
	struct thread_balance c;

	for (int i = 0; i < ADDENDS; i++) {
		c.term[i] = of.addend[i].term;
		c.weight[i] = of.addend[i].weight;
	}
	return c;
}

/* By a warp: the lane's derivative. */
static __device__ inline real sum_balance(const struct thread_balance &c, int lane,
					  const struct block_smem *b)
{
	real sum[3] = { 0, 0, 0 };

	for (int i = 0; i < ADDENDS; i++)
		sum[i % 3] = sum[i % 3] + c.weight[i] * b->term[c.term[i]];
	real f = sum[0] + sum[1] + sum[2], shell = of_lane(f, 1);

	return choose(lane == 0, f + shell, f);
}
} // namespace
} // namespace myocyte
