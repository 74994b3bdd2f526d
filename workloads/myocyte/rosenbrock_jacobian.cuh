/*
 * rosenbrock_jacobian.cuh - solver=rosenbrock: the Jacobian of the model. Part of kernels.cuh.
 *
 * Columns of the calmodulin modules are written down, as their rates are polynomials (but for one
 * quotient). The others are differences, by the right-hand side that the block has.
 */
#include "workloads/myocyte/rosenbrock_columns.cuh"

namespace myocyte
{
namespace
{
/* ---- by differences --------------------------------------------------------------------- */

/* So small that f bends little, so large that rounding of f does not show. */
static __device__ inline real choose_disturbance(real y, real start)
{
	const double share = 1e-7, of_start = 1e-3, least = 1e-9;

	return share * fmax(fabs(y), of_start * fmax(fabs(start), real(least)));
}

/* The derivative at what is shown; terms are kept, for who needs them later. */
static __device__ inline real derivative_keeping(struct part *c, int e, struct stiff_smem *s)
{
	real f = derivative(c->warp, c, &s->block_smem);

	if (threadIdx.x < TERMS)
		s->term[e][threadIdx.x] = s->block_smem.term[threadIdx.x];
	return f;
}

/* Each state's derivative but those of block_sums.cuh. Returns the undisturbed one. */
static __device__ inline real differences(struct part *c, real y, real start, struct stiff_smem *s)
{
	bool late = c->state < 0 || c->warp == WARP_SUMS;
	int row = c->state >= 0 ? c->state : 0;
	real disturbed = y + choose_disturbance(y, start), f = 0;

	if (c->state >= 0)
		s->disturbance[row] = disturbed - y;
	ROLLED for (int e = BASE; e < EVALUATIONS; e++)
	{
		int column = attribution.of_row[e][row];

		if (e && attribution.evaluation[row] == e)
			publish(*c, &s->block_smem, disturbed);
		__syncthreads();
		real g = derivative_keeping(c, e, s);

		if (e == BASE)
			f = g;
		publish(*c, &s->block_smem, y);
		if (!late && column != NO_STATE)
			s->J[row][column] = quotient(g - f, s->disturbance[column]);
	}
	__syncthreads();
	return f;
}

/* d term/dy of what flows from shell to cleft or from cytosol to shell, as y in both shows there.
 */
static __device__ inline real flow_by(int term, int column)
{
	int of_Ca = term - D_CA, of_Na = term - D_NA;
	bool Ca = of_Ca == 0 || of_Ca == 1, Na = of_Na == 0 || of_Na == 1;
	int inner = Ca ? at::Ca_j + of_Ca : at::Na_j + of_Na;

	if (!Ca && !Na)
		return 0;
	return column == inner ? -1 : column == inner + 1 ? 1 : 0;
}

/* d/dy of a balance: of the terms in it. */
static __device__ inline real balance_by(const struct balance &of, int column,
					 const struct stiff_smem *s)
{
	int e = attribution.evaluation[column];
	real moved = 0, flown = 0;

	for (int i = 0; i < ADDENDS; i++) {
		int t = of.addend[i].term;
		real weight = of.addend[i].weight;

		if (attribution.of_term[e][t] == column)
			moved = moved + weight * (s->term[e][t] - s->term[BASE][t]);
		flown = flown + weight * flow_by(t, column);
	}
	return quotient(moved, s->disturbance[column]) + flown;
}

/*
 * Rows of block_sums.cuh, an entry a thread, by all warps but the modules'. V has two balances
 * there, the others one each.
 */
static __device__ inline void balance_rows(int warp, struct stiff_smem *s)
{
	const int others = MODULES * LANES, threads = BLOCK_THREADS - others;
	int first = (int)threadIdx.x - (warp > WARP_MODULE ? others : 0);

	for (int i = first; i < BALANCES * at::CaM_dy; i += threads) {
		const struct balance &of = balances[i / at::CaM_dy];
		int column = i % at::CaM_dy;

		if (of.state < 0 || attribution.evaluation[column] == BASE)
			continue;
		real entry = balance_by(of, column, s);

		if (of.state == at::V)
			entry = entry + balance_by(balances[1], column, s);
		s->J[of.state][column] = entry;
	}
}

/* ---- calmodulin modules ----------------------------------------------------------------- */

static __device__ inline uint8_t module_state(int tile_position)
{
	return tile_position >= at::CaM_dy && tile_position < at::END ? (uint8_t)tile_position
								      : (uint8_t)NO_STATE;
}

/* By what the lane's rate has a derivative: see struct reaction. Ca is among the differences. */
static __device__ inline void lay_out_factors(const struct thread_module &c, struct stiff_smem *s)
{
	if (c.lane >= RATES)
		return;
	uint8_t *factor = s->factor[c.m][c.lane];

	factor[0] = module_state(c.a);
	for (int i = 0; i < 5; i++)
		factor[1 + i] = module_state(c.b[i]);
	factor[6] = module_state(c.c);
	factor[7] = module_state(c.d);
}

/* The derivatives of module_rates(). */
static __device__ inline void differentiate_rate(const struct thread_module &c,
						 struct stiff_smem *s)
{
	const real *v = s->block_smem.v;
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
static __device__ inline void add_up_row(const struct thread_module &c, struct stiff_smem *s)
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
static __device__ inline void add_exchange(const struct thread_module &c, struct stiff_smem *s)
{
	const real *v = s->block_smem.v, K = s->block_smem.p[par::CaMKIItot_dy];
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
static __device__ inline void differentiate_module(const struct thread_module &c,
						   struct stiff_smem *s)
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

/* J at the state y, which is shown. Returns the derivative of the thread's state. */
static __device__ inline real linearize(struct part *c, real y, real start, struct stiff_smem *s)
{
	real f = differences(c, y, start, s);

	if (is_of_module(*c))
		differentiate_module(c->module, s);
	else
		balance_rows(c->warp, s);
	__syncthreads();
	return f;
}
} // namespace
} // namespace myocyte
