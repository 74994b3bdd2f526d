/* price_spread.c - see price_spread.h. */
#include "harness/profile/price_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/profile/program_costs.h"
#include "harness/stats/stats.h"

/* Normal numbers of each part that has no draws of its own. */
enum { SEED = 1, GROUP_START = 3, GROUP_CALLS, GROUP_SESSION };

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

	p->a_ns = p->profile->measured;
	if (!p->profile->measured.n || t->partial || t->processes > 1) {
		p->a_ns = p->profile->predicted;
		return;
	}
	profile_draw_runs(t, s->part);
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

/* ---- calls, and the start of a process ------------------------------------------------------ */

/* The price with all costs of calls at the same end of their intervals. */
struct at_end {
	double simulated_ns, start_ns;
};

static struct at_end at_end(const struct program_price *p, int costs_at)
{
	struct price_sources sources = *p->sources;
	struct program_price moved = *p;
	struct at_end end;

	sources.costs_at = costs_at;
	moved.sources = &sources;
	program_costs_find(&moved);
	moved.on_b.extra = moved.extra;
	end.simulated_ns = retimed_ns(&p->profile->steps, &moved.on_b);
	end.start_ns = moved.start_ns;
	free(moved.extra);
	return end;
}

/* Half of the interval is 1.96 standard deviations. */
static double sd_between(double low_ns, double high_ns)
{
	return sqrt(2) * fabs(high_ns - low_ns) / 2 / 1.959964;
}

static void add_calls_and_starts(struct spread *s)
{
	const struct program_price *p = s->price;
	struct at_end low = { 0 }, high = { 0 };

	if (p->sources->costs_b) {
		low = at_end(p, -1);
		high = at_end(p, 1);
	}
	add_normal(s, SPREAD_CALLS, GROUP_CALLS, sd_between(low.simulated_ns, high.simulated_ns));
	profile_add_starts(&p->profile->trace, s->part);
	add_normal(s, SPREAD_STARTS, GROUP_START, sd_between(low.start_ns, high.start_ns));
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
	add_launches(s, p->sources->a, false);
	add_launches(s, p->sources->b, true);
	add_calls_and_starts(s);
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
