/* choose.c - which points of a plan there is time for, and how often. */
#include "harness/measure/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/measure/estimate.h"

/* ---- as many as fit in ------------------------------------------------------------------ */

static double known_bytes(const struct side_timing *t)
{
	return isfinite(t->device_bytes) ? t->device_bytes : 0;
}

/* A share of the free memory: contexts take some, and two processes have two. */
static const double room_share = 0.9;

int predict_apart(struct plan *p)
{
	double free_bytes = fmin(p->free_bytes[0], p->free_bytes[1]); /* or that of either */
	int n = 0;

	for (int i = 0; i < p->n_configs && p->design.pairs; i++) {
		const struct side_timing *t = p->config[i].timing;
		double a = known_bytes(&t[0]), b = known_bytes(&t[1]);

		p->config[i].apart = a + b > room_share * free_bytes;
		n += p->config[i].apart;
	}
	return n;
}

void predict_fill_rounds(struct plan *p)
{
	double start_ns = 0, visits_ns = 0;

	for (int side = 0; side < 2; side++) {
		start_ns += predict_start_ns(p, side);
		for (int i = 0; i < p->n_points; i++)
			visits_ns += predict_visit_ns(p, side, i);
	}
	p->design.rounds = (int)fmin(fmax(start_ns / visits_ns, TURNS_LEAST), ROUNDS_MAX);
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

double design_limit_ns(const struct design *d)
{
	return d->express ? express_limit_ns : quick_limit_ns;
}

/* ---- the quick design ------------------------------------------------------------------- */

/* What choosing works on: points by how much they say, and what the session costs so far. */
struct choice {
	const struct plan *p;
	int sides, policies;
	bool thrifty;	     /* those that a workload must have are its cheapest */
	int *order;	     /* points, those of small sizes and depths first */
	bool *taken;	     /* [point] */
	bool *used;	     /* [config]: some point of it is taken */
	double ns, limit_ns; /* of the session with what is taken */
};

static double point_cost_ns(const struct choice *c, int point)
{
	int config = c->p->point[point].config;

	return c->policies * (predict_point_ns(c->p, c->sides, point) +
			      (c->used[config] ? 0 : predict_setups_ns(c->p, c->sides, config)));
}

static bool has_size(const struct plan *p, const struct workload *w, int size_index)
{
	for (int i = 0; i < p->n_configs; i++)
		if (p->config[i].workload == w && p->config[i].size_index == size_index)
			return true;
	return false;
}

/* How many sizes of the workload are smaller than the configuration's. */
static int smaller_sizes(const struct plan *p, const struct config *c)
{
	int n = 0;

	for (int i = 0; i < c->size_index; i++)
		n += has_size(p, c->workload, i);
	return n;
}

/* How many depths of the configuration, in this mode, are smaller. */
static int smaller_depths(const struct plan *p, const struct plan_point *at)
{
	int n = 0;

	for (int i = 0; i < p->n_points; i++)
		n += p->point[i].config == at->config && p->point[i].mode == at->mode &&
		     p->point[i].depth < at->depth;
	return n;
}

/*
 * In an express design, which may have time for little beyond the edges (the smallest size, the
 * smallest depth): 0 for the smallest size and the next one's edge, then 1 for what tells a gap
 * between kernels (g), then 2. A gap takes two blocks of kernels in a row that outlast a launch
 * (harness/fit/fit_parts.c, PACE_POINTS): the next two sizes, a few in a stream.
 */
static int express_rank(const struct plan *p, const struct plan_point *at)
{
	int size = smaller_sizes(p, &p->config[at->config]);

	if (at->corner == 0 && size <= 1)
		return 0;
	return at->mode == MODE_STREAM && size <= 2 && smaller_depths(p, at) == 1 ? 1 : 2;
}

/* For qsort_r(), which has no other way to the plan. */
static int by_corner(const void *a, const void *b, void *plan)
{
	const struct plan *p = plan;
	int i = *(const int *)a, k = *(const int *)b;
	double x = p->point[i].corner, y = p->point[k].corner;

	if (p->design.express) {
		int rank = express_rank(p, &p->point[i]) - express_rank(p, &p->point[k]);

		if (rank)
			return rank;
	}
	return x != y ? (x > y) - (x < y) : i - k;
}

static void take_point(struct choice *c, int point)
{
	c->ns += point_cost_ns(c, point);
	c->taken[point] = true;
	c->used[c->p->point[point].config] = true;
}

/* The next point of this workload that there is time for; else, where one must be, the cheapest,
 * with the set-up that it needs: of sizes that are taken already, where there are such. */
static bool take_next(struct choice *c, const struct workload *w, bool must)
{
	int cheapest = -1;

	for (int i = 0; i < c->p->n_points; i++) {
		int point = c->order[i];

		if (c->taken[point] || c->p->config[c->p->point[point].config].workload != w)
			continue;
		if (!(c->thrifty && must) && c->ns + point_cost_ns(c, point) <= c->limit_ns) {
			take_point(c, point);
			return true;
		}
		if (cheapest < 0 || point_cost_ns(c, point) < point_cost_ns(c, cheapest))
			cheapest = point;
	}
	if (must && cheapest >= 0)
		take_point(c, cheapest);
	return must && cheapest >= 0;
}

/* The workloads of the plan, each once; a buffer for as many as configurations. */
static int list_workloads(const struct plan *p, const struct workload **w)
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
	n = list_workloads(c->p, w);
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
static double bare_session_ns(const struct plan *p, int sides, int policies)
{
	struct plan bare = *p;

	bare.n_points = bare.n_configs = 0;
	return policies * predict_session_ns(&bare, sides);
}

static double choose_points(const struct plan *p, int sides, int policies, double limit_ns,
			    bool thrifty, bool *taken)
{
	size_t n = (size_t)p->n_points;
	struct choice c = { .p = p,
			    .sides = sides,
			    .policies = policies,
			    .thrifty = thrifty,
			    .order = calloc(n + 1, sizeof(*c.order)),
			    .taken = taken,
			    .used = calloc((size_t)p->n_configs + 1, sizeof(*c.used)),
			    .ns = bare_session_ns(p, sides, policies),
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

/*
 * Sets taken[point]; returns how long the session then takes, ns. Where each workload's first
 * points leave no time, fewer of its sizes do.
 */
static double choose_in_time(const struct plan *p, int sides, int policies, double limit_ns,
			     bool *taken)
{
	double ns = choose_points(p, sides, policies, limit_ns, false, taken);

	if (ns <= limit_ns)
		return ns;
	memset(taken, 0, (size_t)p->n_points * sizeof(*taken));
	return choose_points(p, sides, policies, limit_ns, true, taken);
}

static bool *no_points(const struct plan *p)
{
	bool *taken = calloc((size_t)p->n_points + 1, sizeof(*taken));

	CHECK(taken, "memory of %d points", p->n_points);
	return taken;
}

int predict_choose(struct plan *p, int sides, int policies, double limit_ns, double *least_ns)
{
	bool *taken = no_points(p);
	int dropped = -1;

	*least_ns = choose_in_time(p, sides, policies, limit_ns, taken);
	if (*least_ns <= limit_ns)
		dropped = plan_drop(p, is_not_taken, taken);
	free(taken);
	return dropped;
}

int predict_choose_at_all(struct plan *p, int sides, int policies, bool own_processes,
			  double limit_ns, double most_ns, double *least_ns)
{
	int dropped = predict_choose(p, sides, policies, limit_ns, least_ns);

	while (dropped < 0 && own_processes && p->design.processes > QUICK_PROCESSES_LEAST) {
		p->design.processes--;
		dropped = predict_choose(p, sides, policies, limit_ns, least_ns);
	}
	if (dropped < 0 && *least_ns <= most_ns)
		dropped = predict_choose(p, sides, policies, *least_ns, least_ns);
	return dropped;
}

int predict_choose_again(const struct plan *p, int sides, double took_ns, double left_ns,
			 bool *stays, double *times)
{
	double first_ns = predict_processes_ns(p, sides, 1);
	struct plan rest = *p;
	int dropped = 0;

	rest.design.processes--;
	*times = took_ns / first_ns;
	for (int i = 0; i < p->n_points; i++)
		stays[i] = true;
	if (*times * (predict_session_ns(p, sides) - first_ns) <= left_ns)
		return 0;
	for (int i = 0; i < p->n_points; i++)
		stays[i] = false;
	choose_in_time(&rest, sides, 1, left_ns / *times, stays);
	for (int i = 0; i < p->n_points; i++)
		dropped += !stays[i];
	return dropped;
}
