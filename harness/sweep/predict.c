/* predict.c - how long points, processes and a session will take. */
#include "harness/sweep/predict.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/run.h"
#include "harness/sweep/company.h"
#include "harness/sweep/visit.h"

/* Two canaries, waited for, and what the harness itself does around a visit. */
static const double visit_extra_ns = 0.6e6;
/* Opening a device and calibrating, where no probe has told. */
static const double start_unknown_ns = 500e6, calibrate_unknown_ns = 1000e6;
static const double unknown_block_ns = 10e6;

static double known(double ns, double otherwise)
{
	return isfinite(ns) ? ns : otherwise;
}

double predict_block_ns(const struct plan *p, const struct plan_point *at, int side)
{
	const struct side_timing *t = &p->config[at->config].timing[side];

	return t->ends_ns + (double)at->depth * t->step_ns;
}

void predict_blocks(struct plan *p)
{
	for (int i = 0; i < p->n_points; i++)
		for (int side = 0; side < 2; side++)
			p->point[i].block_ns[side] = predict_block_ns(p, &p->point[i], side);
}

/* ---- sizes that were not set up ----------------------------------------------------------- */

/* A check of more is a sample (struct workload, check); twice the budget that it has, ns. */
static const double sampled_check_ns = 0.4e9;

/* How many smaller sizes of the same parameters stand before it in the plan. */
static int smaller_sizes(const struct plan *p, int i)
{
	int n = 0;

	for (; i > 0; i--, n++)
		if (p->config[i - 1].workload != p->config[i].workload ||
		    p->config[i - 1].size_index + 1 != p->config[i].size_index)
			break;
	return n;
}

static double size_of(const struct config *c)
{
	const struct param *axis = workload_axis(c->workload);
	const char *field = axis ? (const char *)c->params.opts + axis->offset : NULL;

	return !axis			  ? 1
	       : axis->kind == PARAM_REAL ? *(const double *)(const void *)field
					  : (double)*(const int64_t *)(const void *)field;
}

/* From two sizes on in proportion, or faster where it grew faster than the size did. */
static double grown(double before, double last, double size_before, double size_last, double size)
{
	double power = log(last / before) / log(size_last / size_before);

	return last * pow(size / size_last, isfinite(power) ? fmax(power, 1) : 1);
}

bool predict_by_smaller(const struct plan *p, int side, int config, struct side_timing *out)
{
	const struct config *c = &p->config[config];
	const struct side_timing *a, *b;
	double x, y, z;

	*out = side_timing_unknown();
	if (smaller_sizes(p, config) < 2)
		return false;
	a = &c[-2].timing[side];
	b = &c[-1].timing[side];
	if (!(a->step_ns > 0) || !(b->step_ns > 0))
		return false;
	x = size_of(c - 2);
	y = size_of(c - 1);
	z = size_of(c);
	*out = (struct side_timing){ .setup_ns = grown(a->setup_ns, b->setup_ns, x, y, z),
				     .ends_ns = b->ends_ns,
				     .step_ns = grown(a->step_ns, b->step_ns, x, y, z),
				     .gap_ns = b->gap_ns,
				     .check_ends_ns = NAN,
				     .check_step_ns = NAN,
				     .launch_max_ns = b->launch_max_ns };
	return true;
}

static int first_of_workload(const struct plan *p, int config)
{
	int first = 0;

	while (p->config[first].workload != p->config[config].workload)
		first++;
	return first;
}

void predict_check_by_first(struct plan *p, int side, int config)
{
	const struct config *first = &p->config[first_of_workload(p, config)];
	struct side_timing *t = &p->config[config].timing[side];
	const struct side_timing *checked = &first->timing[side];
	double times = fmax(1, size_of(&p->config[config]) / fmax(size_of(first), 1e-9));

	t->check_ends_ns = fmin(times * checked->check_ends_ns,
				fmax(sampled_check_ns, checked->check_ends_ns));
	t->check_step_ns = fmin(
		times * checked->check_step_ns,
		fmax(sampled_check_ns / (double)p->design.check_steps, checked->check_step_ns));
}

void predict_side_b(struct plan *p)
{
	for (int i = 0; i < p->n_configs; i++) {
		int first = first_of_workload(p, i);
		const struct side_timing *a = &p->config[first].timing[0], *own;
		const struct side_timing *b = &p->config[first].timing[1];
		struct side_timing *t = &p->config[i].timing[1];

		if (i == first || !isfinite(b->step_ns) || isfinite(t->step_ns))
			continue;
		own = &p->config[i].timing[0];
		*t = *own;
		t->setup_ns *= known(b->setup_ns / a->setup_ns, 1);
		t->ends_ns = fmax(own->ends_ns + b->ends_ns - a->ends_ns, 0);
		t->step_ns = fmax(own->step_ns + b->step_ns - a->step_ns, 0.5 * own->step_ns);
		t->gap_ns = fmax(own->gap_ns + b->gap_ns - a->gap_ns, 0);
		t->check_ends_ns *= known(b->check_ends_ns / a->check_ends_ns, 1);
		t->check_step_ns *= known(b->check_step_ns / a->check_step_ns, 1);
	}
}

/* ---- points, processes, sessions ------------------------------------------------------------ */

static double block_or_guess_ns(const struct plan *p, int side, int point)
{
	const struct plan_point *at = &p->point[point];

	return known(at->block_ns[side], known(at->block_ns[0], unknown_block_ns));
}

/* Of the side, and where its probe found no block to time, of side a. */
static const struct side_timing *timing_of(const struct plan *p, int side, int config)
{
	const struct side_timing *t = p->config[config].timing;

	return isfinite(t[side].step_ns) ? &t[side] : &t[0];
}

double predict_visit_ns(const struct plan *p, int side, int point)
{
	const struct plan_point *at = &p->point[point];
	double block_ns = block_or_guess_ns(p, side, point);
	double gap_ns = known(timing_of(p, side, at->config)->gap_ns, 0);
	double blocks = visit_blocks(&p->design, block_ns) + (block_ns < 1e6);

	return blocks * (block_ns + gap_ns) + visit_extra_ns;
}

int64_t predict_check_steps(const struct plan *p, int point)
{
	int64_t depth = p->point[point].depth;

	return depth < p->design.check_steps ? depth : p->design.check_steps;
}

double predict_check_ns(const struct plan *p, int side, int point)
{
	const struct plan_point *at = &p->point[point];
	const struct side_timing *c = timing_of(p, side, at->config);
	double steps = (double)predict_check_steps(p, point);
	double ns = known(fmax(c->check_ends_ns, steps * c->check_step_ns), 0);

	if ((double)at->depth > steps)
		ns += known(c->ends_ns + steps * c->step_ns + c->gap_ns, 0);
	return ns;
}

static double setup_or_guess_ns(const struct plan *p, int side, int config)
{
	const struct side_timing *t = p->config[config].timing;

	return known(t[side].setup_ns, known(t[0].setup_ns, 0));
}

double predict_start_ns(const struct plan *p, int side)
{
	const struct design *d = &p->design;
	double ns = known(p->start_ns[side], known(p->start_ns[0], start_unknown_ns));

	ns += known(p->calibrate_ns[side], known(p->calibrate_ns[0], calibrate_unknown_ns));
	/* clocks are met steady at once or, where they are shared or rise and fall, never: a quick
	 * sweep, which is not to take longer than predicted, reckons with the latter */
	ns += (double)d->warmup_max_ns / (d->quick ? 1 : 2);
	for (int i = 0; i < p->n_configs; i++)
		ns += setup_or_guess_ns(p, side, i);
	ns *= plan_kinds(p);
	for (int i = 0; i < p->n_points; i++)
		ns += block_or_guess_ns(p, side, i);
	return ns;
}

/* All visits of a point in a process, with what may come on top. */
static double rounds_ns(const struct plan *p, int side, int point)
{
	return p->design.rounds * predict_visit_ns(p, side, point) *
	       (1 + check_share + again_share);
}

/* Of every other process of a side: the points of one configuration, of a usual one. */
static double alone_ns(const struct plan *p, int side)
{
	double visits_ns = 0;

	if (!p->design.pairs || !p->n_configs)
		return 0;
	for (int i = 0; i < p->n_points; i++)
		visits_ns += predict_visit_ns(p, side, i);
	return ALONE_ROUNDS * visits_ns / p->n_configs / 2;
}

double predict_process_ns(const struct plan *p, int side)
{
	double ns = 0;

	for (int i = 0; i < p->n_points; i++)
		ns += rounds_ns(p, side, i);
	return predict_start_ns(p, side) + alone_ns(p, side) + ns;
}

void predict_fill_rounds(struct plan *p)
{
	double visits_ns = 0;

	for (int i = 0; i < p->n_points; i++)
		visits_ns += predict_visit_ns(p, 0, i);
	p->design.rounds =
		(int)fmin(fmax(predict_start_ns(p, 0) / visits_ns, TURNS_LEAST), ROUNDS_MAX);
}

void predict_fill_time(struct plan *p, int sides, double limit_ns)
{
	int *rounds = &p->design.rounds;

	while (*rounds < ROUNDS_MAX) {
		++*rounds;
		if (predict_session_ns(p, sides) <= limit_ns)
			continue;
		--*rounds;
		return;
	}
}

void predict_fill_processes(struct plan *p, int sides, double limit_ns)
{
	int n = p->design.processes;

	while (n < PROCESSES_ASKED_MAX && predict_processes_ns(p, sides, n + 1) <= limit_ns)
		n++;
	p->design.processes = n;
}

double predict_turn_ns(const struct plan *p, int side, int process)
{
	const struct design *d = &p->design;
	double pause_ns = (double)(d->pause_min_ns + d->pause_max_ns) / 2;
	double ns = predict_process_ns(p, side) + plan_kinds(p) * pause_ns;

	for (int i = 0; i < p->n_points && !process; i++)
		ns += predict_check_ns(p, side, i);
	return ns;
}

double predict_processes_ns(const struct plan *p, int sides, int processes)
{
	double ns = 0;

	for (int side = 0; side < sides; side++)
		ns += predict_turn_ns(p, side, 0) + (processes - 1) * predict_turn_ns(p, side, 1);
	return ns;
}

double predict_session_ns(const struct plan *p, int sides)
{
	return predict_processes_ns(p, sides, p->design.processes);
}

/* ---- points that are left out ----------------------------------------------------------- */

struct limit {
	int sides;
	double launch_max_ns; /* that was met last */
};

/* A block of steps that are fused is one launch. */
static bool is_long_launch(const struct plan *p, int i, void *arg)
{
	const struct plan_point *at = &p->point[i];
	double steps = at->mode == MODE_FUSED ? (double)at->depth : 1;
	struct limit *limit = arg;

	for (int side = 0; side < limit->sides; side++) {
		const struct side_timing *t = &p->config[at->config].timing[side];

		if (!(t->launch_max_ns > 0 && t->ends_ns + steps * t->step_ns > t->launch_max_ns))
			continue;
		limit->launch_max_ns = t->launch_max_ns;
		return true;
	}
	return false;
}

int predict_drop_launches(struct plan *p, int sides, double *max_ns)
{
	struct limit limit = { .sides = sides };
	int n = plan_drop(p, is_long_launch, &limit);

	if (n)
		*max_ns = limit.launch_max_ns;
	return n;
}

/* The longer of the two; side b counts where it was probed. */
static double longest_block_ns(const struct plan_point *at, int sides)
{
	return sides == 2 && at->block_ns[1] > at->block_ns[0] ? at->block_ns[1] : at->block_ns[0];
}

static bool is_too_long(const struct plan *p, int i, void *arg)
{
	const struct plan_point *at = &p->point[i];
	const struct config *c = &p->config[at->config];
	const struct limit *limit = arg;
	double block_ns = longest_block_ns(at, limit->sides);
	bool limited = c->timing[0].launch_max_ns > 0 && isfinite(block_ns);

	if ((c->size_given && p->depth_given) || block_ns <= BLOCK_LONGEST_NS)
		return false;
	return !((c->size_given || limited) && at->depth == 1);
}

int predict_drop_long(struct plan *p, int sides)
{
	return plan_drop(p, is_too_long, &(struct limit){ .sides = sides });
}

/* ---- the quick design ------------------------------------------------------------------- */

/* What choosing works on: points by how much they say, and what the session costs so far. */
struct choice {
	const struct plan *p;
	int sides, kinds;
	int *order;	     /* points, those of small sizes and depths first */
	bool *taken;	     /* [point] */
	bool *used;	     /* [config]: some point of it is taken */
	double ns, limit_ns; /* of the session with what is taken */
};

/* What the sides spend on this point, without its set-up. */
static double point_ns(const struct plan *p, int sides, int point)
{
	double ns = 0;

	for (int side = 0; side < sides; side++)
		ns += p->design.processes *
			      (rounds_ns(p, side, point) + block_or_guess_ns(p, side, point)) +
		      predict_check_ns(p, side, point);
	return ns;
}

/* And for its configuration, once a process. */
static double setups_ns(const struct plan *p, int sides, int config)
{
	double ns = 0;

	for (int side = 0; side < sides; side++)
		ns += p->design.processes * setup_or_guess_ns(p, side, config);
	return ns;
}

static double cost_of(const struct choice *c, int point)
{
	int config = c->p->point[point].config;

	return c->kinds * (point_ns(c->p, c->sides, point) +
			   (c->used[config] ? 0 : setups_ns(c->p, c->sides, config)));
}

/* For qsort_r(), which has no other way to the plan. */
static int by_corner(const void *a, const void *b, void *plan)
{
	const struct plan *p = plan;
	int i = *(const int *)a, k = *(const int *)b;
	double x = p->point[i].corner, y = p->point[k].corner;

	return x != y ? (x > y) - (x < y) : i - k;
}

static void take_point(struct choice *c, int point)
{
	c->ns += cost_of(c, point);
	c->taken[point] = true;
	c->used[c->p->point[point].config] = true;
}

/* The next point of this workload that there is time for; else the cheapest, where one must be. */
static bool take_next(struct choice *c, const struct workload *w, bool must)
{
	int cheapest = -1;

	for (int i = 0; i < c->p->n_points; i++) {
		int point = c->order[i];

		if (c->taken[point] || c->p->config[c->p->point[point].config].workload != w)
			continue;
		if (c->ns + cost_of(c, point) <= c->limit_ns) {
			take_point(c, point);
			return true;
		}
		if (cheapest < 0 || cost_of(c, point) < cost_of(c, cheapest))
			cheapest = point;
	}
	if (must && cheapest >= 0)
		take_point(c, cheapest);
	return must && cheapest >= 0;
}

/* The workloads of the plan, each once; room for as many as configurations. */
static int workloads_of(const struct plan *p, const struct workload **w)
{
	int n = 0;

	for (int i = 0; i < p->n_configs; i++) {
		int k = 0;

		while (k < n && w[k] != p->config[i].workload)
			k++;
		if (k == n)
			w[n++] = p->config[i].workload;
	}
	return n;
}

/* In turns, so that none is left with less than it must have for the sake of another. */
static void take_in_turns(struct choice *c)
{
	const struct workload **w = calloc((size_t)c->p->n_configs + 1, sizeof(*w));
	int n;
	bool any = true;

	CHECK(w, "memory of %d workloads", c->p->n_configs);
	n = workloads_of(c->p, w);
	for (int turn = 0; any; turn++) {
		any = false;
		for (int i = 0; i < n; i++)
			any |= take_next(c, w[i], turn < QUICK_POINTS_LEAST);
	}
	free(w);
}

static bool is_not_taken(const struct plan *p, int point, void *taken)
{
	(void)p;
	return !((const bool *)taken)[point];
}

/* Everything that a session takes but for set-ups and points. */
static double bare_session_ns(const struct plan *p, int sides, int kinds)
{
	struct plan bare = *p;

	bare.n_points = bare.n_configs = 0;
	return kinds * predict_session_ns(&bare, sides);
}

/* Sets taken[point]; returns how long the session then takes, ns. */
static double choose(const struct plan *p, int sides, int kinds, double limit_ns, bool *taken)
{
	size_t n = (size_t)p->n_points;
	struct choice c = { .p = p,
			    .sides = sides,
			    .kinds = kinds,
			    .order = calloc(n + 1, sizeof(*c.order)),
			    .taken = taken,
			    .used = calloc((size_t)p->n_configs + 1, sizeof(*c.used)),
			    .ns = bare_session_ns(p, sides, kinds),
			    .limit_ns = limit_ns };

	CHECK(c.order && c.used, "memory of %zu points", n);
	for (size_t i = 0; i < n; i++)
		c.order[i] = (int)i;
	qsort_r(c.order, n, sizeof(*c.order), by_corner, (void *)(uintptr_t)p);
	take_in_turns(&c);
	free(c.order);
	free(c.used);
	return c.ns;
}

static bool *no_points(const struct plan *p)
{
	bool *taken = calloc((size_t)p->n_points + 1, sizeof(*taken));

	CHECK(taken, "memory of %d points", p->n_points);
	return taken;
}

int predict_choose(struct plan *p, int sides, int kinds, double limit_ns, double *least_ns)
{
	bool *taken = no_points(p);
	int dropped = -1;

	*least_ns = choose(p, sides, kinds, limit_ns, taken);
	if (*least_ns <= limit_ns)
		dropped = plan_drop(p, is_not_taken, taken);
	free(taken);
	return dropped;
}

int predict_choose_again(const struct plan *p, int sides, double times, double left_ns, bool *stays)
{
	struct plan rest = *p;
	int dropped = 0;

	rest.design.processes--;
	for (int i = 0; i < p->n_points; i++)
		stays[i] = false;
	choose(&rest, sides, 1, left_ns / times, stays);
	for (int i = 0; i < p->n_points; i++)
		dropped += !stays[i];
	return dropped;
}
