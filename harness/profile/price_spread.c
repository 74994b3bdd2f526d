/* price_spread.c - see price_spread.h. */
#include "harness/profile/price_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/profile/program_costs.h"
#include "harness/stats/stats.h"

/* Resamples of the runs without the recorder are those of `rift profile`; normal numbers for B. */
enum { SEED = 1, GROUP_RUNS = 2, GROUP_START, GROUP_CALLS, GROUP_SESSION };

/* From half of a normal 95 % interval to its standard deviation. */
#define HALF_IN_SD 1.959964

const char *const price_spread_texts[PRICE_SPREADS] = {
	[SPREAD_RUNS] = "how the program's runs on A differ",
	[SPREAD_STARTS] = "how unevenly processes start",
	[SPREAD_LAUNCHES_A] = "the launch costs of A",
	[SPREAD_LAUNCHES_B] = "the launch costs of B",
	[SPREAD_CALLS] = "the costs of copies and other calls",
	[SPREAD_SESSION] = "what sessions of launches differ by",
};

const char *const price_spread_remedies[PRICE_SPREADS] = {
	[SPREAD_RUNS] = "record it with more --runs",
	[SPREAD_STARTS] = "use a quieter machine",
	[SPREAD_LAUNCHES_A] = "sweep launches on A with more --processes",
	[SPREAD_LAUNCHES_B] = "sweep launches on B with more --processes",
	[SPREAD_CALLS] = "probe both platforms with more --processes",
	[SPREAD_SESSION] = "measure launches when the program runs",
};

/* ---- the parts ------------------------------------------------------------------------------ */

/* Deviations of each draw from the price; all of them, and of the part at hand. */
struct spread {
	struct program_price *price;
	double all[BOOTSTRAP_DRAWS], part[BOOTSTRAP_DRAWS];
};

static void add_part(struct spread *s, enum price_spread which, double weight)
{
	struct interval half;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		s->part[d] *= weight;
		s->all[d] += s->part[d];
	}
	CHECK(!interval_of_draws(&half, 0, BOOTSTRAP_N_MIN, s->part), "a part of an interval");
	s->price->spread_ns[which] = (half.hi - half.lo) / 2;
	memset(s->part, 0, sizeof(s->part));
}

/* Medians of the runs without the recorder; without them what was simulated. */
static void add_runs(struct spread *s)
{
	struct program_price *p = s->price;
	const struct trace *t = &p->profile->trace;
	struct resamples r = { 0 };
	int err;

	p->a_ns = p->profile->measured;
	if (!p->profile->measured.n || t->partial || t->processes > 1) {
		p->a_ns = p->profile->predicted;
		return;
	}
	err = resamples_init(&r, t->unprofiled, SEED, GROUP_RUNS);
	if (!err)
		err = bootstrap_median(&p->a_ns, &r, t->unprofiled_wall_ns, s->part);
	CHECK(!err, "times of %d runs", t->unprofiled);
	resamples_release(&r);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		s->part[d] -= p->a_ns.value;
	add_part(s, SPREAD_RUNS, sqrt(2));
}

static double normal_of(int draw, int group)
{
	return standard_normal(philox4x32((uint32_t)draw, (uint32_t)group, 0, 0, SEED));
}

static void add_normal(struct spread *s, enum price_spread which, int group, double sd)
{
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		s->part[d] += sd * normal_of(d, group);
	add_part(s, which, 1);
}

static void add_starts(struct spread *s)
{
	const struct program_price *p = s->price;
	double reach_ns = p->start_ns ? process_start_beyond(p->sources).reach_ns : 0;

	profile_add_starts(&p->profile->trace, s->part);
	add_normal(s, SPREAD_STARTS, GROUP_START, sqrt(2) * reach_ns / HALF_IN_SD);
}

/* ---- launches: by slopes over parameters ---------------------------------------------------- */

static const struct model *model_a(const struct program_price *p)
{
	return p->sources->a ? &p->sources->a->model : NULL;
}

/* By half of a parameter's interval, where it has one. */
static double step_of(const struct fit *f, int param)
{
	const struct interval *i = &f->param[param].interval;
	bool is_moved = f->param[param].identified && i->known && param != MODEL_Q;

	return is_moved ? (i->hi - i->lo) / 2 : 0;
}

/* Time on B over a parameter: what A's is worth has the other sign. */
static double slope(const struct program_price *p, const struct fit *f, int param, bool on_b)
{
	struct model moved = f->model;
	double step = step_of(f, param), time;

	if (!(step > 0))
		return 0;
	moved.v[param] += step;
	time = on_b ? price_simulated(p, model_a(p), &moved)
		    : price_simulated(p, &moved, &p->sources->b->model);
	return (time - p->simulated_b_ns) / step;
}

static void add_launches(struct spread *s, const struct fit *f, bool on_b)
{
	for (int i = 0; f && i < MODEL_PARAMS; i++) {
		double by = slope(s->price, f, i, on_b);

		for (int d = 0; by != 0 && d < BOOTSTRAP_DRAWS; d++)
			s->part[d] += by * (f->draw[d].v[i] - f->model.v[i]);
	}
	add_part(s, on_b ? SPREAD_LAUNCHES_B : SPREAD_LAUNCHES_A, sqrt(2));
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* The simulated time with call costs at the ends of their intervals. */
static double simulated_at(const struct program_price *p, int costs_at)
{
	struct price_sources sources = *p->sources;
	struct program_price moved = *p;
	double ns;

	sources.costs_at = costs_at;
	moved.sources = &sources;
	moved.extra = NULL;
	program_costs_find(&moved);
	moved.on_b.extra = moved.extra;
	ns = retimed_ns(&p->profile->steps, &moved.on_b);
	free(moved.extra);
	return ns;
}

static void add_calls(struct spread *s)
{
	const struct program_price *p = s->price;
	double half_ns = 0;

	if (p->sources->costs_b)
		half_ns = fabs(simulated_at(p, 1) - simulated_at(p, -1)) / 2;
	add_normal(s, SPREAD_CALLS, GROUP_CALLS, sqrt(2) * half_ns / HALF_IN_SD);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int least_processes(const struct program_price *p)
{
	const struct price_sources *s = p->sources;
	int n = s->a && s->a->n < s->b->n ? s->a->n : s->b->n;

	return p->a_ns.n < n ? p->a_ns.n : n;
}

void price_spread_find(struct program_price *p)
{
	struct spread *s = calloc(1, sizeof(*s));
	double beyond = p->simulated_b_ns - p->simulated_a_ns + p->start_ns;
	int n;

	CHECK(s, "memory of draws");
	s->price = p;
	add_runs(s);
	add_starts(s);
	add_launches(s, p->sources->a, false);
	add_launches(s, p->sources->b, true);
	add_calls(s);
	add_normal(s, SPREAD_SESSION, GROUP_SESSION,
		   PRICE_SESSION_SD * sqrt(2) * fabs(p->simulated_b_ns - p->simulated_a_ns));
	n = least_processes(p);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		s->all[d] += p->a_ns.value + beyond;
	if (interval_of_draws(&p->b_ns, p->a_ns.value + beyond, n, s->all))
		p->b_ns = interval_unknown(n);
	p->b_ns.value = p->a_ns.value + beyond;
	free(s);
}

enum price_spread price_spread_widest(const struct program_price *p)
{
	enum price_spread widest = SPREAD_RUNS;

	for (int i = 0; i < PRICE_SPREADS; i++)
		if (p->spread_ns[i] > p->spread_ns[widest])
			widest = (enum price_spread)i;
	return widest;
}
