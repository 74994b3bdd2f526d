/*
 * rosenbrock_columns.cuh - solver=rosenbrock: which states are disturbed together for the columns
 * of the Jacobian. Part of kernels.cuh.
 *
 * States share an evaluation where no term of the late derivatives (block_sums.cuh) and no other
 * derivative tells of both. So 9 evaluations do for the 38 columns that need any: the states of
 * calmodulin's modules are differentiated by hand, and nothing depends on the rest.
 */
namespace myocyte
{
namespace
{
enum {
	BASE, /* nothing is disturbed */
	FOR_V,
	FOR_NA,
	FOR_CA,
	FOR_GATES, /* and what goes along with them; gates of I_OF_V are six */
	EVALUATIONS = FOR_GATES + 6,
};

/* The first derivative is the first stage's too. */
static_assert(int(EVALUATIONS) - 1 + int(rodas5p::STAGES) == int(MYOCYTE_STIFF), "device.h");

/* For each evaluation, the state whose disturbance a term and a derivative show, or NO_STATE. */
struct attribution {
	uint8_t of_term[EVALUATIONS][TERMS], of_row[EVALUATIONS][STATES];
	uint8_t evaluation[STATES]; /* that disturbs the state; BASE: none does */
	int last;		    /* state that was named */

	/* s is disturbed in evaluation e, and shows in its own derivative. */
	constexpr struct attribution &disturb(int e, int s)
	{
		last = s;
		evaluation[s] = (uint8_t)e;
		return row(s);
	}

	constexpr struct attribution &row(int r)
	{
		of_row[evaluation[last]][r] = (uint8_t)last;
		return *this;
	}

	constexpr struct attribution &rows(int first, int n)
	{
		for (int i = 0; i < n; i++)
			row(first + i);
		return *this;
	}

	constexpr struct attribution &term(int t)
	{
		of_term[evaluation[last]][t] = (uint8_t)last;
		return *this;
	}

	constexpr struct attribution &of_both_sides(int t)
	{
		return term(t).term(t + 1);
	}

	constexpr struct attribution &channel(int side)
	{
		return term(I_CA_L + side).term(I_CA_NA + side).term(I_CHANNEL + side);
	}

	/* Buffer i of the table, of Ca or Na. */
	constexpr struct attribution &buffer(int e, int s, int i)
	{
		return disturb(e, s).term(UPTAKE + i);
	}
};

static constexpr void attribute_V(struct attribution *a)
{
	a->disturb(FOR_V, at::V).rows(0, STATES);
	for (int t = 0; t < TERMS; t++)
		a->term(t);
}

static constexpr void attribute_ions(struct attribution *a)
{
	for (int s = 0; s < SIDES; s++) {
		a->disturb(FOR_NA, at::Na_j + s).channel(s).term(I_NA + s).term(I_EXCHANGER + s);
		a->term(I_NA_PUMP + s).term(UPTAKE + s).row(at::NaB_j + s);
		a->disturb(FOR_CA, at::Ca_j + s).channel(s).term(I_CA_B + s).term(I_CA_PUMP + s);
		a->term(I_SLOW + s).term(I_CL + s).term(I_EXCHANGER + s).term(J_MODULE + s);
		a->term(UPTAKE + 2 + 2 * s).term(UPTAKE + 3 + 2 * s).row(at::fCaB_j + s);
		a->row(at::SLLj + s).row(at::SLHj + s).rows(at::CaM_dy + 15 * s, 15);
	}
	a->disturb(FOR_CA, at::Ca_j).term(J_OUT).rows(at::RyR_R, 3);
	a->disturb(FOR_CA, at::Ca_i).term(J_UP).term(J_MODULE + 2).rows(at::CaM_cy, 15);
	a->term(UPTAKE + 6).term(UPTAKE + 7).term(UPTAKE + 9).term(UPTAKE + 11);
	a->row(at::TnCL).row(at::TnCHc).row(at::Myoc).row(at::SRB);
	a->disturb(FOR_NA, at::Na_i).of_both_sides(I_SLOW);
}

/* x_Ks and x_Kr: the benchmark's I_Ks of the cleft is gated by x_Kr. */
static constexpr void attribute_gates(struct attribution *a)
{
	const int of_V[] = { at::x_tos, at::y_tos, at::x_tof, at::y_tof, at::x_Kr, at::r_tos };

	for (int i = 0; i < 6; i++)
		a->disturb(FOR_GATES + i, of_V[i]).term(I_OF_V);
	for (int i = 0; i < 3; i++)
		a->disturb(FOR_GATES + i, at::m + i).of_both_sides(I_NA);
	a->disturb(FOR_GATES, at::d).channel(CLEFT).channel(SHELL);
	a->disturb(FOR_GATES + 1, at::f).channel(CLEFT).channel(SHELL);
	a->disturb(FOR_GATES + 2, at::fCaB_j).channel(CLEFT);
	a->disturb(FOR_GATES + 2, at::fCaB_sl).channel(SHELL);
	a->disturb(FOR_GATES, at::x_Ks).of_both_sides(I_SLOW);
	a->disturb(FOR_GATES + 4, at::x_Kr).of_both_sides(I_SLOW);
}

/* Beside the gates. Two pairs of buffers share sites. */
static constexpr void attribute_stores(struct attribution *a)
{
	const int single[] = { at::NaB_j, at::NaB_sl, at::SLLj, at::SLHj,
			       at::SLLsl, at::SLHsl,  at::TnCL };

	for (int i = 0; i < 7; i++)
		a->buffer(FOR_GATES, single[i], i);
	a->buffer(FOR_GATES, at::TnCHc, 7).term(UPTAKE + 8).row(at::TnCHm);
	a->buffer(FOR_GATES, at::Myoc, 9).term(UPTAKE + 10).row(at::Myom);
	a->buffer(FOR_GATES, at::SRB, 11);
	a->disturb(FOR_GATES, at::Ca_SR).term(J_UP).term(J_OUT).term(UPTAKE + 12);
	a->row(at::Csqnb).rows(at::RyR_R, 3);
	a->buffer(FOR_GATES + 1, at::TnCHm, 8).term(UPTAKE + 7).row(at::TnCHc);
	a->buffer(FOR_GATES + 1, at::Myom, 10).term(UPTAKE + 9).row(at::Myoc);
	a->buffer(FOR_GATES + 1, at::Csqnb, 12);
	a->disturb(FOR_GATES + 1, at::RyR_R).rows(at::RyR_R, 3);
	a->disturb(FOR_GATES + 2, at::RyR_O).rows(at::RyR_R, 3).term(J_OUT);
	a->disturb(FOR_GATES + 3, at::RyR_I).rows(at::RyR_R, 3);
}

static constexpr struct attribution term_attribution()
{
	struct attribution a = {};

	for (int e = 0; e < EVALUATIONS; e++) {
		for (uint8_t &of : a.of_term[e])
			of = NO_STATE;
		for (uint8_t &of : a.of_row[e])
			of = NO_STATE;
	}
	attribute_V(&a);
	attribute_ions(&a);
	attribute_gates(&a);
	attribute_stores(&a);
	return a;
}

/* Not in constant memory, which serves one address at a time: lanes read many. */
static __device__ const struct attribution attribution = term_attribution();
} // namespace
} // namespace myocyte
