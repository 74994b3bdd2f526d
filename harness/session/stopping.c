/* stopping.c - when a session has enough processes, and what it is to tell. */
#include "harness/session/stopping.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/compare.h"
#include "harness/fit/fit.h"
#include "harness/session/results.h"
#include "harness/session/watch.h"
#include "workloads/workload.h"

const double goals_interim_factor = 1.3727; /* 2.6901 / 1.9600 */

/* ---- what cannot be told -------------------------------------------------------------------- */

/* Has the workload enough points in this mode, at two depths or more, for a fit? */
static bool has_enough(const struct plan *p, const struct workload *w, enum mode mode)
{
	int64_t first = 0;
	bool two_depths = false;
	int n = 0;

	for (int i = 0; i < p->n_points; i++) {
		const struct plan_point *at = &p->point[i];

		if (at->mode != mode || p->config[at->config].workload != w)
			continue;
		first = n++ ? first : at->depth;
		two_depths |= at->depth != first;
	}
	return n >= 3 && two_depths;
}

int goals_refuse(const struct plan *p, int sides)
{
	const struct goals *g = &p->design.goals;

	if (g->margin > 0 && sides < 2)
		return complain(EINVAL,
				"--margin: needs two sides; give the other one with --against");
	for (int i = 0; i < MODEL_PARAMS; i++) {
		enum mode mode = model_param_rows[i].mode;

		for (int c = 0; g->parameter_ns[i] > 0 && c < p->n_configs; c++)
			if (!has_enough(p, p->config[c].workload, mode))
				return complain(EINVAL,
						"--resolve: %s needs 3 or more points of %s in %s "
						"mode, at two depths; see --depth, --size, --mode",
						model_param_rows[i].name,
						p->config[c].workload->name, mode_name(mode));
	}
	return 0;
}

/* ---- what is told --------------------------------------------------------------------------- */

/* One goal of one workload. A margin has shares and names no parameter. */
struct goal {
	const struct workload *workload;
	const char *name; /* of the parameter; "b / a" */
	bool is_ns;
	double asked;		  /* half-width */
	double factor;		  /* that its own counts as so many times as wide */
	double value, half_width; /* NAN: not known */
	char why[120];		  /* it is not known */
};

struct goal_list {
	struct goal *goal;
	int n, capacity;
	int processes;
};

static struct goal *add_goal(struct goal_list *t, const struct workload *w, const char *name,
			     double asked)
{
	if (t->n == t->capacity) {
		t->capacity = 2 * t->capacity + 8;
		t->goal = realloc(t->goal, (size_t)t->capacity * sizeof(*t->goal));
		CHECK(t->goal, "memory of %d goals", t->capacity);
	}
	t->goal[t->n] = (struct goal){ w, name, true, asked, goals_interim_factor, NAN, NAN, "" };
	return &t->goal[t->n++];
}

static void take_interval(struct goal *t, const struct interval *i)
{
	t->value = i->value;
	t->half_width = i->known ? (i->hi - i->lo) / 2 : NAN;
}

static void take_difference(struct goal *t, const struct comparison *c, enum model_param which)
{
	snprintf(t->why, sizeof(t->why), "no model fits the points");
	for (int i = 0; i < c->parameters.n; i++) {
		const struct compared_parameter *p = &c->parameters.row[i];

		if (p->workload != t->workload || p->row != &model_param_rows[which])
			continue;
		take_interval(t, &p->difference);
		snprintf(t->why, sizeof(t->why), "%s", *p->why[0] ? p->why[0] : p->why[1]);
	}
}

static void report_two_sides(struct goal_list *t, const struct journal *j, const struct goals *g)
{
	struct compare_options o = { .margin = g->margin > 0 ? g->margin : MARGIN_DEFAULT,
				     .force = true };
	struct comparison *c = calloc(1, sizeof(*c));
	struct compared_side a, b;

	CHECK(c, "memory of a comparison");
	side_init(&a, j, j->path, 0, HALF_BOTH);
	side_init(&b, j, j->path, 1, HALF_BOTH);
	if (!compare(c, &a, &b, &o))
		for (int w = 0; w < c->pairs.n_workloads; w++) {
			const struct workload *of = c->pairs.workload[w];

			for (int i = 0; i < MODEL_PARAMS; i++)
				if (g->parameter_ns[i] > 0)
					take_difference(add_goal(t, of, model_param_rows[i].name,
								 g->parameter_ns[i]),
							c, (enum model_param)i);
			if (g->margin > 0) {
				struct goal *r = add_goal(t, of, "b / a", g->margin / 2);

				r->is_ns = false;
				r->factor = 1;
				take_interval(r, &c->workload[w].ratio);
			}
		}
	compare_release(c);
	side_release(&a);
	side_release(&b);
	free(c);
}

static void report_workload(struct goal_list *t, const struct journal *view,
			    const struct workload *w, const struct goals *g)
{
	struct grid grid;
	struct fit fit = { 0 };
	bool fits = !grid_make(&grid, view, 0, w->name) && !fit_make(&fit, &grid, 0);

	for (int i = 0; i < MODEL_PARAMS; i++) {
		struct goal *goal;

		if (!(g->parameter_ns[i] > 0))
			continue;
		goal = add_goal(t, w, model_param_rows[i].name, g->parameter_ns[i]);
		if (fits)
			take_interval(goal, &fit.param[i].interval);
		snprintf(goal->why, sizeof(goal->why), "%s",
			 fits ? fit.param[i].why : "no model fits the points");
	}
	fit_release(&fit);
	grid_release(&grid);
}

static void report_one_side(struct goal_list *t, const struct journal *j, const struct goals *g)
{
	const struct plan *p = &j->plan;
	int *process = calloc((size_t)t->processes + 1, sizeof(*process));
	struct journal view;

	CHECK(process, "memory of %d processes", t->processes);
	for (int i = 0; i < t->processes; i++)
		process[i] = i;
	journal_view(&view, j, 0, process, t->processes);
	for (int i = 0; i < p->n_configs; i++)
		if (!i || p->config[i].workload != p->config[i - 1].workload)
			report_workload(t, &view, p->config[i].workload, g);
	journal_view_release(&view);
	free(process);
}

static struct goal_list report_goals(const struct journal *j)
{
	const struct goals *g = &j->plan.design.goals;
	struct goal_list t = { .processes = journal_processes(j) };

	if (j->sides == 2)
		report_two_sides(&t, j, g);
	else
		report_one_side(&t, j, g);
	return t;
}

static bool is_reached(const struct goal *t)
{
	return t->factor * t->half_width <= t->asked; /* not known: no */
}

/* ---- interims ---------------------------------------------------------------------------- */

struct interim goals_take_interim(const struct journal *j, int processes, json_t **json)
{
	struct goal_list t = report_goals(j);
	struct interim l = { .points = t.n,
			     .next = design_next_interim(&j->plan.design, processes) };
	json_t *unreached = json_array();

	for (int i = 0; i < t.n; i++)
		if (!is_reached(&t.goal[i])) {
			l.wide++;
			json_array_append_new(unreached, json_string(t.goal[i].name));
		}
	l.next = l.wide ? l.next : 0;
	l.stop = !l.next;
	if (json)
		*json = json_pack("{s:i, s:i, s:i, s:b, s:i, s:i, s:O}", "processes", processes,
				  "points", l.points, "wide", l.wide, "stop", l.stop, "next",
				  l.next, "looks", design_looks(&j->plan.design), "wide_keys",
				  unreached);
	json_decref(unreached);
	free(t.goal);
	return l;
}

/* ---- words ---------------------------------------------------------------------------------- */

static struct text amount_text(const struct goal *t, double x)
{
	struct text s;

	if (t->is_ns)
		return text_time(x);
	snprintf(s.s, sizeof(s.s), "%.3g %%", 100 * x);
	return s;
}

/* Behind "±": "140 ns", "1.2 %", ">100 %". */
static struct text half_width_text(const struct goal *t)
{
	struct text over = { ">100 %" };

	return t->is_ns || t->half_width <= 1 ? amount_text(t, t->half_width) : over;
}

/* "launch c", where there are several workloads. */
static struct text goal_name(const struct goal_list *t, const struct goal *goal)
{
	struct text s;
	bool several = false;

	for (int i = 1; i < t->n; i++)
		several |= t->goal[i].workload != t->goal[0].workload;
	snprintf(s.s, sizeof(s.s), "%.40s%s%s", several ? goal->workload->name : "",
		 several ? " " : "", goal->name);
	return s;
}

void goals_text(const struct journal *j, char *out, size_t size)
{
	struct goal_list t = report_goals(j);
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < t.n && used < size; i++)
		used += (size_t)snprintf(
			out + used, size - used, "%s%s ±%s of %s", used ? ", " : "",
			goal_name(&t, &t.goal[i]).s,
			isnan(t.goal[i].half_width) ? "?" : half_width_text(&t.goal[i]).s,
			amount_text(&t.goal[i], t.goal[i].asked).s);
	free(t.goal);
}

/* Intervals narrow as the square root of the processes; each costs the same time. */
static void print_price(const struct goal_list *t, const struct goal *goal, const char *replicates,
			double took_ns, FILE *out)
{
	double times = pow(goal->factor * goal->half_width / goal->asked, 2);
	char now[16], then[16];

	if (is_reached(goal))
		fprintf(out, "; half as wide would take about %d %s, %s\n", 4 * t->processes,
			replicates, show_duration(4 * took_ns, then));
	else
		fprintf(out, ", not reached after %d %s, %s: it would take about %.0f, %s\n",
			t->processes, replicates, show_duration(took_ns, now),
			ceil(times * t->processes), show_duration(times * took_ns, then));
}

void goals_print(const struct journal *j, double took_ns, FILE *out)
{
	const char *replicates = j->sides == 1		? "processes"
				 : j->plan.design.pairs ? "pairs"
							: "processes a side";
	struct goal_list t = report_goals(j);
	char took[16];

	for (int i = 0; i < t.n; i++) {
		const struct goal *goal = &t.goal[i];
		bool difference = j->sides == 2 && goal->is_ns;
		double value = goal->is_ns ? goal->value : goal->value - 1;

		fprintf(out, "%s%s", goal_name(&t, goal).s, difference ? ", b - a" : "");
		if (isnan(goal->half_width)) {
			fprintf(out, ": not known: %s\n",
				*goal->why ? goal->why : "needs 5 processes or more");
			continue;
		}
		fprintf(out, ": %s%s ±%s (95 %%), asked for ±%s",
			j->sides == 2 && value > 0 ? "+" : "", amount_text(goal, value).s,
			half_width_text(goal).s, amount_text(goal, goal->asked).s);
		if (is_reached(goal))
			fprintf(out, ": reached after %d %s, %s", t.processes, replicates,
				show_duration(took_ns, took));
		print_price(&t, goal, replicates, took_ns, out);
	}
	free(t.goal);
}

/* ---- are there enough processes? -------------------------------------------------------- */

bool interims_due(const struct design *d, int processes)
{
	return processes > 0 && design_next_interim(d, processes - 1) == processes;
}

/* NaN, not known, is wider than anything. */
static bool is_wider(const struct interval *a, const struct interval *b)
{
	double width = interval_half_width(a);

	return isnan(width) || width > interval_half_width(b);
}

/* The wider one of the sides; false: a process lacks the point. */
static bool widest_interval(const struct results *r, int point, struct interval *out)
{
	for (int side = 0; side < r->j->sides; side++) {
		struct interval c = results_interval(r, side, point);

		if (c.n < r->processes)
			return false;
		if (!side || is_wider(&c, out))
			*out = c;
	}
	return true;
}

static json_t *interim_json(const struct interim *l, const struct journal *j, int processes,
			    const int *of, const bool *wide)
{
	json_t *keys = json_array();

	for (int i = 0; i < l->points; i++)
		if (wide[i])
			json_array_append_new(keys, json_string(j->plan.point[of[i]].key));
	return json_pack("{s:i, s:i, s:i, s:f, s:b, s:i, s:i, s:o}", "processes", processes,
			 "points", l->points, "wide", l->wide, "half_width_max",
			 j->plan.design.half_width_max, "stop", l->stop, "next", l->next, "looks",
			 design_looks(&j->plan.design), "wide_keys", keys);
}

static struct interim analyse_points(const struct journal *j, int processes, json_t **json)
{
	size_t points = (size_t)j->plan.n_points;
	struct interval *interval = calloc(points + 1, sizeof(*interval));
	bool *wide = calloc(points + 1, sizeof(*wide));
	int *of = calloc(points + 1, sizeof(*of)), n = 0;
	struct results r;
	struct interim interim;

	CHECK(interval && wide && of, "memory of %zu points", points);
	results_init(&r, j, processes);
	for (int i = 0; i < j->plan.n_points; i++)
		if (widest_interval(&r, i, &interval[n]))
			of[n++] = i;
	results_release(&r);
	if (analyse_interim(&interim, design_next_interim(&j->plan.design, processes), interval, n,
			    j->plan.design.half_width_max, wide))
		interim = (struct interim){ .stop = true };
	if (json)
		*json = interim_json(&interim, j, processes, of, wide);
	free(interval);
	free(wide);
	free(of);
	return interim;
}

struct interim interims_take(const struct journal *j, int processes, json_t **json)
{
	if (goals_any(&j->plan.design.goals))
		return goals_take_interim(j, processes, json);
	return analyse_points(j, processes, json);
}
