/*
 * rosenbrock_jacobian.cuh - solver=rosenbrock: the Jacobian of the model. Part of kernels.cuh.
 *
 * Columns of the calmodulin modules are written down, as their rates are polynomials (but for one
 * quotient). All others are differences, by the right-hand side that the block has; states that
 * have no row in common are disturbed together, so that 21 evaluations do instead of 92.
 */
namespace myocyte
{
namespace
{
/* ---- by differences --------------------------------------------------------------------- */

/* What each evaluation disturbs alone. */
static constexpr uint8_t hosts[] = {
	at::V,	   at::Na_i,  at::Na_j,	 at::Na_sl, at::Ca_j,	at::Ca_sl,   at::m,
	at::h,	   at::j,     at::d,	 at::f,	    at::fCaB_j, at::fCaB_sl, at::x_tos,
	at::y_tos, at::x_tof, at::y_tof, at::x_Kr,  at::x_Ks,	at::r_tos,
};

enum { EVALUATIONS = sizeof(hosts), GUEST_ROWS = 6 };

/*
 * And along with it: gates of K channels are in two rows only, their own and that of V. Rows that
 * a guest is in, beside its own; padded by its own.
 */
struct guest {
	uint8_t column, host, row[GUEST_ROWS];
};

#define ALONE(s) s, s, s, s, s
#define PAIR_AND_CA_I(s, other) other, at::Ca_i, s, s, s, s
static constexpr struct guest guests[] = {
	{ at::Ca_i, at::x_tos, { at::TnCL, at::TnCHc, at::Myoc, at::SRB, at::Ca_SR, at::Ca_sl } },
	{ at::Ca_SR,
	  at::y_tos,
	  { at::Csqnb, at::RyR_R, at::RyR_O, at::RyR_I, at::Ca_i, at::Ca_j } },
	{ at::NaB_j, at::y_tos, { at::Na_j, ALONE(at::NaB_j) } },
	{ at::NaB_sl, at::y_tos, { at::Na_sl, ALONE(at::NaB_sl) } },
	{ at::RyR_O,
	  at::x_tof,
	  { at::RyR_R, at::RyR_I, at::Ca_SR, at::Ca_j, at::RyR_O, at::RyR_O } },
	{ at::TnCL, at::x_tof, { at::Ca_i, ALONE(at::TnCL) } },
	{ at::SLLsl, at::x_tof, { at::Ca_sl, ALONE(at::SLLsl) } },
	{ at::RyR_R,
	  at::y_tof,
	  { at::RyR_O, at::RyR_I, at::RyR_R, at::RyR_R, at::RyR_R, at::RyR_R } },
	{ at::SLLj, at::y_tof, { at::Ca_j, ALONE(at::SLLj) } },
	{ at::SLHsl, at::y_tof, { at::Ca_sl, ALONE(at::SLHsl) } },
	{ at::TnCHc, at::y_tof, { PAIR_AND_CA_I(at::TnCHc, at::TnCHm) } },
	{ at::Csqnb, at::y_tof, { at::Ca_SR, ALONE(at::Csqnb) } },
	{ at::RyR_I,
	  at::x_Kr,
	  { at::RyR_R, at::RyR_O, at::RyR_I, at::RyR_I, at::RyR_I, at::RyR_I } },
	{ at::SLHj, at::x_Kr, { at::Ca_j, ALONE(at::SLHj) } },
	{ at::TnCHm, at::x_Kr, { PAIR_AND_CA_I(at::TnCHm, at::TnCHc) } },
	{ at::Myoc, at::x_Ks, { PAIR_AND_CA_I(at::Myoc, at::Myom) } },
	{ at::Myom, at::r_tos, { PAIR_AND_CA_I(at::Myom, at::Myoc) } },
	{ at::SRB, at::m, { at::Ca_i, ALONE(at::SRB) } },
};
#undef ALONE
#undef PAIR_AND_CA_I

/* Whose column an evaluation tells of a row. A state is disturbed where it is its own. */
struct columns {
	uint8_t of[EVALUATIONS][STATES];
};

/* The first derivative serves the first stage too. */
static_assert(int(EVALUATIONS) + int(rodas5p::STAGES) == int(MYOCYTE_STIFF), "device.h");

static constexpr struct columns columns_of_evaluations()
{
	struct columns columns = {};

	for (int e = 0; e < EVALUATIONS; e++) {
		for (int i = 0; i < STATES; i++)
			columns.of[e][i] = hosts[e];
		for (const struct guest &g : guests) {
			if (g.host != hosts[e])
				continue;
			columns.of[e][g.column] = g.column;
			for (int row : g.row)
				columns.of[e][row] = g.column;
			for (int i = at::CaM_cy; g.column == at::Ca_i && i < at::END; i++)
				columns.of[e][i] = g.column;
		}
	}
	return columns;
}

static __constant__ const struct columns columns = columns_of_evaluations();

/* So small that f bends little, so large that rounding of f does not show. */
static __device__ inline real disturbance_of(real y, real start)
{
	const double share = 1e-7, of_start = 1e-3, least = 1e-9;

	return share * fmax(fabs(y), of_start * fmax(fabs(start), real(least)));
}

static __device__ inline void differences(struct part *c, real y, real f, real start,
					  struct stiff_board *s)
{
	struct board *b = &s->board;
	int row = c->state >= 0 ? c->state : 0;
	real disturbed = y + disturbance_of(y, start);

	if (c->state >= 0)
		s->disturbance[row] = disturbed - y;
	ROLLED for (int e = 0; e < EVALUATIONS; e++)
	{
		int column = columns.of[e][row];

		if (column == row)
			show(*c, b, disturbed);
		__syncthreads();
		real g = derivative(c, true, b, [](int) {});

		show(*c, b, y);
		if (c->state >= 0)
			s->J[row][column] = quotient(g - f, s->disturbance[column]);
	}
}

/* ---- calmodulin modules ----------------------------------------------------------------- */

static __device__ inline uint8_t state_of_module(int place)
{
	return place >= at::CaM_dy && place < at::END ? (uint8_t)place : (uint8_t)NO_STATE;
}

/* By what the lane's rate has a derivative: see struct reaction. Ca is among the differences. */
static __device__ inline void lay_out_factors(const struct my_module &c, struct stiff_board *s)
{
	if (c.lane >= RATES)
		return;
	uint8_t *factor = s->factor[c.m][c.lane];

	factor[0] = state_of_module(c.a);
	for (int i = 0; i < 5; i++)
		factor[1 + i] = state_of_module(c.b[i]);
	factor[6] = state_of_module(c.c);
	factor[7] = state_of_module(c.d);
}

/* The derivatives of module_rates(). */
static __device__ inline void differentiate_rate(const struct my_module &c, struct stiff_board *s)
{
	const real *v = s->board.v;
	real x = c.total, y = v[c.c];

	if (c.lane >= RATES)
		return;
	for (int i = 0; i < 5; i++)
		x = x + c.sign * v[c.b[i]];
	real B = x * (c.c1 + x * (c.c2 + x * c.c3));
	real B_by_x = c.c1 + x * (2 * c.c2 + 3 * c.c3 * x);
	real saturation = Kmpp1 + c.K * y;
	real *by = s->by_factor[c.m][c.lane];

	by[0] = c.forward * v[c.a2] * B;
	for (int i = 0; i < 5; i++)
		by[1 + i] = c.forward * (v[c.a] * v[c.a2]) * B_by_x * c.sign;
	by[6] = quotient(c.removed * Kmpp1, saturation * saturation) - c.back * (v[c.d] * v[c.d2]);
	by[7] = -c.back * y * v[c.d2];
}

/* The lane's row, by the derivatives of the rates in its sum; lane 15 has the row of Ca. */
static __device__ inline void add_up_row(const struct my_module &c, struct stiff_board *s)
{
	const int Ca[MODULES] = { at::Ca_j, at::Ca_sl, at::Ca_i };
	bool of_Ca = c.lane == SUMS - 1;
	real *row = s->J[of_Ca ? Ca[c.m] : at::CaM_dy + 15 * c.m + c.lane];
	real unit = of_Ca ? -2e-6 : 1e-3; /* per ms; of Ca in mM, two of it a reaction */

	for (int j = at::CaM_dy; j < at::END; j++)
		row[j] = 0;
	for (int i = 0; i < SUM_TERMS && c.term[i] != NO_RATE; i++) {
		int kind = c.term[i] / RATES, rate = c.term[i] % RATES;
		real weight = (kind % 2 ? -unit : unit) * (kind < 2 ? real(1) : c.K);

		for (int k = 0; k < FACTORS; k++) {
			int j = s->factor[c.m][rate][k];

			if (j != NO_STATE)
				row[j] = row[j] + weight * s->by_factor[c.m][rate][k];
		}
	}
}

/* What a state of the dyad's module counts in CaM_of_dyad(). */
static __device__ inline real calmodulin_in(int state, real K)
{
	if (state == Ca4CaN || state == Pa)
		return 0;
	return state >= Pb2 && state <= Pt2 ? K : real(1);
}

/* The derivatives of module_exchange(), by the lanes of the three that move. */
static __device__ inline void add_exchange(const struct my_module &c, struct stiff_board *s)
{
	const real *v = s->board.v, K = s->board.p[par::CaMKIItot_dy];
	int dy = at::CaM_dy + c.lane, sl = at::CaM_sl + c.lane, cy = at::CaM_cy + c.lane;
	real *row = s->J[dy + 15 * c.m];
	real B_dy = c.B_x - CaM_of_dyad(K, v + at::CaM_dy);

	for (int i = 0; i < 15; i++)
		row[at::CaM_dy + i] = row[at::CaM_dy + i] +
				      c.of_cleft * 1e-3 * c.on * v[sl] * calmodulin_in(i, K);
	row[dy] = row[dy] + c.of_cleft * 1e-3 * c.off;
	row[sl] = row[sl] - c.of_cleft * 1e-3 * c.on * B_dy + c.of_shell;
	row[cy] = row[cy] - c.of_shell;
}

/* By a module's warp. */
static __device__ inline void differentiate_module(const struct my_module &c, struct stiff_board *s)
{
	differentiate_rate(c, s);
	__syncwarp();
	if (c.lane < SUMS)
		add_up_row(c, s);
	if (c.lane < 3)
		add_exchange(c, s);
}

/* ---- all of it -------------------------------------------------------------------------- */

static __device__ inline bool is_of_module(const struct part &c)
{
	return c.warp >= WARP_MODULE && c.warp < WARP_MODULE + MODULES;
}

/* J at the state y, which is shown, where the derivative is f. */
static __device__ inline void linearize(struct part *c, real y, real f, real start,
					struct stiff_board *s)
{
	if (is_of_module(*c))
		differentiate_module(c->module, s);
	differences(c, y, f, start, s);
	__syncthreads();
}
} // namespace
} // namespace myocyte
