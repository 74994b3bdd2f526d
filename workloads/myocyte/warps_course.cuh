/*
 * warps_course.cuh - spread=warps: how good an attempt was, what becomes of it, what is next; by
 * one warp, a lane a cell. Part of kernels.cuh.
 */
namespace myocyte
{
namespace
{
namespace in_warps
{
enum { DECIDES = CYTOSOL };

/* ---- how good an attempt was -------------------------------------------------------------- */

/* See combine_adaptive(). Leaves the new states in c->x; infinite where a number is not finite. */
static __device__ inline void store_error(const struct myocyte_cells &a, struct kept *q, real h,
					  struct thread_state *c, struct warps_smem *b)
{
	const real *least = b->least + c->part * OWN;
	real worst = 0, R = a.tolerance, per_step = W_0 * h;
	bool finite = true;

	for (int i = 0; i < OWN; i++) {
		real now = q->y[i], then = now + h * q->k6[i], e = fabs(per_step * q->k5[i]);

		worst = fmax(worst, nearly(e, least[i] + R * fmax(fabs(now), fabs(then))));
		finite = finite && is_finite(then) && is_finite(e);
		c->x[i] = then;
	}
	b->worst[c->part][c->lane] = finite ? (float)double(worst) : INFINITY;
}

static __device__ inline struct myocyte_outcome
attempt_outcome(const struct myocyte_cells &a, int lane, const struct warps_smem *b)
{
	float worst = 0;

	for (int i = 0; i < PARTS; i++)
		worst = fmaxf(worst, b->worst[i][lane]);
	bool finite = worst < INFINITY;

	if (a.solver == MYOCYTE_FIXED)
		return { 1, true, finite };
	return outcome_from_error(worst, exp2f(-log2f(worst) / 8), finite);
}

/* ---- what becomes of it ------------------------------------------------------------------- */

/* The cells' numbers as control.cuh wants them, in shared memory. */
static __device__ inline struct myocyte_cells shared_view(const struct myocyte_cells &a,
							  struct warps_smem *b)
{
	struct myocyte_cells cells = a;

	cells.stride = CELLS;
	cells.solver = a.solver == MYOCYTE_FIXED ? MYOCYTE_FIXED : MYOCYTE_ADAPTIVE;
	cells.t = b->course.t;
	cells.h = b->course.h;
	cells.taken = b->course.taken;
	cells.count = b->course.count[0];
	cells.p = b->p;
	return cells;
}

/* The stop, and the stimulus up to there, are the last attempt's while they lie ahead. */
static __device__ inline void plan_attempt(const struct myocyte_cells &cells, int lane, bool first,
					   struct warps_smem *b)
{
	struct course *c = &b->course;
	struct plan *plan = &c->plan[lane];
	bool back = c->t[lane] >= cells.span;

	if (back) {
		c->what[lane] |= BACK;
		set_back(cells, lane);
	}
	if (!first && !back && c->t[lane] < plan->stop.t) {
		*plan = plan_to(step_at(cells, lane, c->h[lane]), plan->stop);
	} else {
		*plan = plan_step(cells, lane);
		b->stimulus[lane] = stage_stimulus(plan->step, 0);
	}
	b->step[lane] = plan->step.h;
}

/* States that nobody owns. */
static __device__ inline void add_constants(const struct myocyte_cells &a, int64_t id,
					    const struct settled &s, struct myocyte_row *row)
{
	for (int i : constant) {
		if (s.completed)
			((real *)a.end)[i * a.stride + id] = a.start[i];
		if (s.row)
			row->y[i] = double(real(a.start[i]));
	}
}

/* id: of the lane's cell, -1 if there is none. */
static __device__ inline void settle_attempt(const struct myocyte_cells &a,
					     const struct myocyte_cells &cells, int64_t id,
					     int lane, struct course *c,
					     const struct myocyte_outcome &o)
{
	struct settled s = decide_step(cells, lane, c->plan[lane], o);

	c->what[lane] = s.accepted ? ACCEPTED : 0;
	if (id < 0)
		return;
	if (s.row) {
		struct myocyte_row *row = a.rows + (*a.n_rows)++;

		row->t = c->t[lane];
		row->h = s.h;
		row->attempts = s.tries;
		c->row[lane] = row;
	}
	c->what[lane] |= (s.completed ? COMPLETED : 0) | (s.row ? ROW : 0);
	if (s.completed || s.row)
		add_constants(a, id, s, c->row[lane]);
}

/* ---- from the cells' arrays and back ------------------------------------------------------ */

/* What is the same for all attempts. id: of the lane's cell, or another that stands in for it. */
static __device__ inline void init_smem(const struct myocyte_cells &a, int64_t id,
					const struct thread_state &c, struct warps_smem *b)
{
	for (int i = (int)threadIdx.x; i < POWERS_OF_2; i += THREADS)
		b->two_to[i] = exp2((double)i / POWERS_OF_2);
	for (int i = c.part; i < MYOCYTE_PARAMS; i += PARTS)
		c.p[i] = ((const real *)a.p)[i * a.stride + id];
	for (int i = (int)threadIdx.x; i < PARTS * OWN; i += THREADS) {
		int state = owned[i / OWN][i % OWN];
		double start = state == NO_STATE ? 1 : a.start[state];

		b->least[i] = real(a.tolerance) * 1e-3 * fmax(fabs(real(start)), real(1e-9));
	}
	if (c.part)
		return;
	real K_i = ((const real *)a.y)[at::K_i * a.stride + id];

	c.v[on::K_i] = K_i;
	c.v[on::E_K] = log(K_o / K_i) / FRT;
}

static __device__ inline void load_course(const struct myocyte_cells &a, int64_t id, int lane,
					  struct course *c)
{
	c->t[lane] = a.t[id];
	c->h[lane] = a.h[id];
	c->taken[lane] = a.taken[id];
	for (int i = 0; i < MYOCYTE_COUNTS; i++)
		c->count[i][lane] = a.count[i * a.stride + id];
	c->what[lane] = 0;
}

static __device__ inline void store_course(const struct myocyte_cells &a, int64_t id, int lane,
					   const struct course *c)
{
	a.t[id] = c->t[lane];
	a.h[id] = c->h[lane];
	a.taken[id] = c->taken[lane];
	for (int i = 0; i < MYOCYTE_COUNTS; i++)
		a.count[i * a.stride + id] = c->count[i][lane];
}
} // namespace in_warps
} // namespace
} // namespace myocyte
