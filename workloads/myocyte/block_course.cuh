/*
 * block_course.cuh - spread=block: how good an attempt was, what becomes of it, what is next.
 * Part of kernels.cuh.
 */
namespace myocyte
{
namespace
{
/* ---- how good an attempt was -------------------------------------------------------------- */

/* The largest x of a warp, x >= 0. Bits of such floats order like integers. */
static __device__ inline float largest_of_warp(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	return __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(x)));
#else
	for (int other = LANES / 2; other; other /= 2)
		x = fmaxf(x, __shfl_xor_sync(~0u, x, other));
	return x;
#endif
}

/*
 * How far the thread's state is off, in units of what a step allows: see combine_adaptive().
 * Infinite where a number is not finite.
 */
static __device__ inline void store_error(const struct myocyte_cells &a, const struct part &c,
					  real now, real then, real e, struct block_smem *b)
{
	real allowed = c.least + real(a.tolerance) * fmax(fabs(now), fabs(then));
	float off = (float)double(quotient(fabs(e), allowed));

	if (!is_finite(then) || !is_finite(e))
		off = INFINITY;
	off = largest_of_warp(c.state >= 0 ? off : 0);
	if (!c.lane)
		b->worst[c.warp] = off;
}

/* The outcome of the attempt; all of a warp call it. */
static __device__ inline struct myocyte_outcome
attempt_outcome(const struct myocyte_cells &a, int lane, const struct block_smem *b)
{
	float worst = largest_of_warp(lane < WARPS ? b->worst[lane] : 0);
	bool finite = worst < INFINITY;

	if (a.solver == MYOCYTE_FIXED)
		return { 1, true, finite };
	return outcome_from_error(worst, exp2f(-log2f(worst) / 8), finite);
}

/* ---- what becomes of it ------------------------------------------------------------------- */

/* The cell's numbers as control.cuh wants them, in shared memory. */
static __device__ inline struct myocyte_cells shared_view(const struct myocyte_cells &a,
							  struct block_smem *b)
{
	struct myocyte_cells cell = a;

	cell.stride = 1;
	cell.solver = a.solver == MYOCYTE_FIXED ? MYOCYTE_FIXED : MYOCYTE_ADAPTIVE;
	cell.t = &b->course.t;
	cell.h = &b->course.h;
	cell.taken = &b->course.taken;
	cell.count = b->course.count;
	cell.p = b->p;
	return cell;
}

static __device__ inline void settle_attempt(const struct myocyte_cells &cell, struct course *c,
					     const struct myocyte_outcome &o)
{
	c->settled = decide_step(cell, 0, c->plan, o);
	if (!c->settled.row)
		return;
	c->row = cell.rows + (*cell.n_rows)++;
	c->row->t = c->t;
	c->row->h = c->settled.h;
	c->row->attempts = c->settled.tries;
}

/* ---- what is next ------------------------------------------------------------------------- */

/* The stop, and the stimulus up to there, are the last attempt's while they lie ahead. */
static __device__ inline void plan_attempt(const struct myocyte_cells &cell, struct block_smem *b,
					   bool first)
{
	struct course *c = &b->course;

	c->back = c->t >= cell.span;
	if (c->back)
		set_back(cell, 0);
	if (!first && !c->back && c->t < c->plan.stop.t) {
		c->plan = plan_to(step_at(cell, 0, c->h), c->plan.stop);
		return;
	}
	c->plan = plan_step(cell, 0);
	b->stimulus = stage_stimulus(c->plan.step, 0);
}

/* Decides on an attempt whose errors are stored, and plans one more; the first warp calls it. */
static __device__ inline void decide_attempt(const struct myocyte_cells &a,
					     const struct myocyte_cells &cell, int lane, bool more,
					     struct block_smem *b)
{
	struct myocyte_outcome o = attempt_outcome(a, lane, b);
	struct course *c = &b->course;

	if (lane)
		return;
	settle_attempt(cell, c, o);
	c->back = false;
	if (more)
		plan_attempt(cell, b, false);
	c->again = !c->settled.accepted || c->back;
}

/* ---- the ordinary case -------------------------------------------------------------------- */

/*
 * What an attempt takes of the course, in each thread's registers. After an adaptive attempt that
 * is accepted and ends at no stop, every thread moves it on by itself, as settle_attempt() and
 * plan_attempt() would: nobody waits for one that decides.
 */
struct pace {
	double t, h, stop;     /* ms */
	double planned, taken; /* the attempt's step; the last accepted one */
	bool landing;	       /* at the stop */
	int accepted;	       /* since the course was read */
};

static __device__ inline struct pace read_pace(const struct course &c)
{
	return { c.t, c.h, c.plan.stop.t, c.plan.step.h, c.taken, c.plan.landing, 0 };
}

/* For one thread: makes the course what it would be by one decision for each attempt. */
static __device__ inline void write_pace(const struct pace &p, struct course *c)
{
	if (!p.accepted)
		return;
	c->t = c->plan.step.t = p.t;
	c->h = p.h;
	c->taken = p.taken;
	c->plan.step.h = p.planned;
	c->plan.landing = p.landing;
	c->count[MYOCYTE_ACCEPTED] += p.accepted;
	c->count[MYOCYTE_TRIES] = 0;
}

static __device__ inline void move_on(struct pace *p, double factor)
{
	p->taken = p->planned;
	p->t = p->t + p->planned;
	p->h = p->planned * factor;
	p->landing = fma(p->h, 1 + 1e-9, p->t) >= p->stop;
	p->planned = double(real(p->landing ? p->stop - p->t : p->h));
	p->accepted++;
}

/* ---- from the cell's arrays and back ------------------------------------------------------ */

/* Loads the parameters, and sets what never changes. */
static __device__ inline void init_smem(const struct myocyte_cells &a, int64_t id,
					struct block_smem *b)
{
	int i = (int)threadIdx.x;

	lay_out_weights(b);
	lay_out_tables(b->two_to, b->logs);
	if (i < MYOCYTE_PARAMS)
		b->p[i] = ((const real *)a.p)[i * a.stride + id];
	if (i < MODULES)
		b->rate[i][NO_RATE] = 0;
	if (i)
		return;
	b->v[in::ONE] = 1;
	b->v[in::ZERO] = 0;
	b->term[NOTHING] = 0;
}

/* By a warp. */
static __device__ inline void load_course(const struct myocyte_cells &a, int64_t id,
					  struct block_smem *b)
{
	int i = (int)threadIdx.x % LANES;

	if (i < MYOCYTE_COUNTS)
		b->course.count[i] = a.count[i * a.stride + id];
	if (i == 0) {
		b->course.t = a.t[id];
		b->course.h = a.h[id];
		b->course.taken = a.taken[id];
	}
	__syncwarp();
}

static __device__ inline void store_course(const struct myocyte_cells &a, int64_t id,
					   const struct block_smem *b)
{
	int i = (int)threadIdx.x;

	if (i < MYOCYTE_COUNTS)
		a.count[i * a.stride + id] = b->course.count[i];
	if (i == 0) {
		a.t[id] = b->course.t;
		a.h[id] = b->course.h;
		a.taken[id] = b->course.taken;
	}
}
} // namespace
} // namespace myocyte
