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
#include "harness/model/fit.h"
#include "harness/session/results.h"
#include "harness/session/watch.h"

const double goals_interim_factor = 1.3727; /* 2.6901 / 1.9600 */

/* ---- what is asked for ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	double ns;
} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 } };

enum { UNITS = sizeof(units) / sizeof(*units) };

/* "0.1us" in ns; NAN: none. */
static double duration_ns(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	for (int i = 0; i < UNITS; i++)
		if (!strcmp(end, units[i].name) && value > 0 && isfinite(value))
			return value * units[i].ns;
	return NAN;
}

static bool can_be_asked_for(enum model_param which)
{
	return !strcmp(model_param_rows[which].unit, "ns");
}

static int refuse_name(const char *name)
{
	char all[160] = "";

	for (int i = 0; i < MODEL_PARAMS; i++)
		if (can_be_asked_for((enum model_param)i))
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
				 *all ? ", " : "", model_param_rows[i].name);
	return complain(EINVAL, "--resolve: '%s' is no parameter; there are %s", text_shown(name).s,
			all);
}

static int find_parameter(const char *name)
{
	for (int i = 0; i < MODEL_PARAMS; i++)
		if (can_be_asked_for((enum model_param)i) &&
		    !strcmp(model_param_rows[i].name, name))
			return i;
	return -1;
}

static int take_one(struct goals *g, char *text)
{
	char *value = strchr(text, '=');
	int which;

	if (value)
		*value++ = '\0';
	which = find_parameter(text);
	if (which < 0)
		return refuse_name(text);
	if (!value || isnan(duration_ns(value)))
		return complain(EINVAL,
				"--resolve: %s takes a time above 0 with its unit, as %s=100ns or "
				"%s=0.5us",
				text, text, text);
	if (g->parameter_ns[which] > 0)
		return complain(EINVAL, "--resolve: %s is given twice", text);
	/* as records keep it */
	g->parameter_ns[which] = round(1000 * duration_ns(value)) / 1000;
	return 0;
}

int goals_take_resolve(struct goals *g, const char *text)
{
	char *all = strdup(text), *rest = all, *one;
	int err = 0;

	CHECK(all, "memory of --resolve");
	while (!err && (one = strsep(&rest, ",")))
		err = take_one(g, one);
	free(all);
	return err;
}

int goals_take_margin(struct goals *g, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(percent > 0 && percent <= 100))
		return complain(EINVAL,
				"--margin=%s: must be a share above 0 and at most 100, in percent, "
				"as 2%%",
				text_shown(text).s);
	if (g->margin > 0)
		return complain(EINVAL, "--margin is given twice");
	g->margin = round(percent * 1e6) / 1e8;
	return 0;
}

bool goals_any(const struct goals *g)
{
	bool any = g->margin > 0;

	for (int i = 0; i < MODEL_PARAMS; i++)
		any |= g->parameter_ns[i] > 0;
	return any;
}

json_t *goals_json(const struct goals *g)
{
	json_t *o = json_object();

	for (int i = 0; i < MODEL_PARAMS; i++)
		if (g->parameter_ns[i] > 0)
			json_object_set_new(o, model_param_rows[i].name,
					    json_real(g->parameter_ns[i]));
	return o;
}

void goals_parse(struct goals *g, const json_t *resolve)
{
	for (int i = 0; i < MODEL_PARAMS; i++) {
		const json_t *v = json_object_get(resolve, model_param_rows[i].name);

		g->parameter_ns[i] = json_is_number(v) ? json_number_value(v) : 0;
	}
}

/* ---- what cannot be told -------------------------------------------------------------------- */

/* Of a configuration's workload: points of the mode, and whether they are of two depths. */
static bool has_enough(const struct plan *p, const struct workload *w, enum mode mode)
{
	int64_t first = 0;
	bool deep = false;
	int n = 0;

	for (int i = 0; i < p->n_points; i++) {
		const struct plan_point *at = &p->point[i];

		if (at->mode != mode || p->config[at->config].workload != w)
			continue;
		first = n++ ? first : at->depth;
		deep |= at->depth != first;
	}
	return n >= 3 && deep;
}

int goals_refuse(const struct plan *p, int sides)
{
	const struct goals *g = &p->design.goals;

	if (g->margin > 0 && sides < 2)
		return complain(EINVAL, "--margin: of two sides; give the other one with "
					"--against");
	for (int i = 0; i < MODEL_PARAMS; i++) {
		enum mode mode = model_param_rows[i].mode;

		for (int c = 0; g->parameter_ns[i] > 0 && c < p->n_configs; c++)
			if (!has_enough(p, p->config[c].workload, mode))
				return complain(EINVAL,
						"--resolve: %s takes 3 points of %s in %s mode or "
						"more, of two depths: see --depth, --size, --mode",
						model_param_rows[i].name,
						p->config[c].workload->name, mode_name(mode));
	}
	return 0;
}

/* ---- what is told --------------------------------------------------------------------------- */

/* One goal of one workload. Of a margin: shares, and names no parameter. */
struct told {
	const struct workload *workload;
	const char *name; /* of the parameter; "b / a" */
	bool is_ns;
	double asked;		  /* half-width */
	double value, half_width; /* NAN: not known */
	char why[120];		  /* it is not known */
};

struct tale {
	struct told *told;
	int n, room;
	int processes;
};

static struct told *add(struct tale *t, const struct workload *w, const char *name, double asked)
{
	if (t->n == t->room) {
		t->room = 2 * t->room + 8;
		t->told = realloc(t->told, (size_t)t->room * sizeof(*t->told));
		CHECK(t->told, "memory of %d goals", t->room);
	}
	t->told[t->n] = (struct told){ w, name, true, asked, NAN, NAN, "" };
	return &t->told[t->n++];
}

static void take_interval(struct told *t, const struct interval *i)
{
	t->value = i->value;
	t->half_width = i->known ? (i->hi - i->lo) / 2 : NAN;
}

static void take_difference(struct told *t, const struct comparison *c, enum model_param which)
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

static void tell_of_two(struct tale *t, const struct journal *j, const struct goals *g)
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
					take_difference(add(t, of, model_param_rows[i].name,
							    g->parameter_ns[i]),
							c, (enum model_param)i);
			if (g->margin > 0) {
				struct told *r = add(t, of, "b / a", g->margin / 2);

				r->is_ns = false;
				take_interval(r, &c->workload[w].ratio);
			}
		}
	compare_release(c);
	side_release(&a);
	side_release(&b);
	free(c);
}

static void tell_of_workload(struct tale *t, const struct journal *view, const struct workload *w,
			     const struct goals *g)
{
	struct grid grid;
	struct fit fit = { 0 };
	bool fits = !grid_make(&grid, view, 0, w->name) && !fit_make(&fit, &grid, 0);

	for (int i = 0; i < MODEL_PARAMS; i++) {
		struct told *told;

		if (!(g->parameter_ns[i] > 0))
			continue;
		told = add(t, w, model_param_rows[i].name, g->parameter_ns[i]);
		if (fits)
			take_interval(told, &fit.param[i].interval);
		snprintf(told->why, sizeof(told->why), "%s",
			 fits ? fit.param[i].why : "no model fits the points");
	}
	fit_release(&fit);
	grid_release(&grid);
}

static void tell_of_one(struct tale *t, const struct journal *j, const struct goals *g)
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
			tell_of_workload(t, &view, p->config[i].workload, g);
	journal_view_release(&view);
	free(process);
}

static struct tale tell(const struct journal *j)
{
	const struct goals *g = &j->plan.design.goals;
	struct tale t = { .processes = journal_processes(j) };

	if (j->sides == 2)
		tell_of_two(&t, j, g);
	else
		tell_of_one(&t, j, g);
	return t;
}

static bool is_reached(const struct told *t)
{
	return goals_interim_factor * t->half_width <= t->asked; /* not known: no */
}

/* ---- interims ----------------------------------------------------------------------------------
 */

int goals_next_interim(int processes, int most)
{
	static const int interims[] = { 8, 12, 18, 28, 42, 64, 100 };

	for (size_t i = 0; i < sizeof(interims) / sizeof(*interims); i++)
		if (interims[i] > processes)
			return interims[i] < most ? interims[i] : processes < most ? most : 0;
	return 0;
}

struct interim goals_take_interim(const struct journal *j, int processes, json_t **json)
{
	struct tale t = tell(j);
	struct interim l = { .points = t.n,
			     .next = goals_next_interim(processes, j->plan.design.processes) };
	json_t *open = json_array();

	for (int i = 0; i < t.n; i++)
		if (!is_reached(&t.told[i])) {
			l.wide++;
			json_array_append_new(open, json_string(t.told[i].name));
		}
	l.next = l.wide ? l.next : 0;
	l.stop = !l.next;
	if (json)
		*json = json_pack("{s:i, s:i, s:i, s:b, s:i, s:O}", "processes", processes,
				  "points", l.points, "wide", l.wide, "stop", l.stop, "next",
				  l.next, "wide_keys", open);
	json_decref(open);
	free(t.told);
	return l;
}

/* ---- words ---------------------------------------------------------------------------------- */

static struct text amount(const struct told *t, double x)
{
	struct text s;

	if (t->is_ns)
		return text_time(x);
	snprintf(s.s, sizeof(s.s), "%.3g %%", 100 * x);
	return s;
}

/* "launch c", where there are several workloads. */
static struct text name_of(const struct tale *t, const struct told *told)
{
	struct text s;
	bool several = false;

	for (int i = 1; i < t->n; i++)
		several |= t->told[i].workload != t->told[0].workload;
	snprintf(s.s, sizeof(s.s), "%.40s%s%s", several ? told->workload->name : "",
		 several ? " " : "", told->name);
	return s;
}

void goals_text(const struct journal *j, char *out, size_t size)
{
	struct tale t = tell(j);
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < t.n && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s ±%s of %s",
					 used ? ", " : "", name_of(&t, &t.told[i]).s,
					 isnan(t.told[i].half_width)
						 ? "?"
						 : amount(&t.told[i], t.told[i].half_width).s,
					 amount(&t.told[i], t.told[i].asked).s);
	free(t.told);
}

/* Intervals narrow as the square root of the processes; each costs the same time. */
static void print_price(const struct tale *t, const struct told *told, const char *replicates,
			double took_ns, FILE *out)
{
	double times = pow(goals_interim_factor * told->half_width / told->asked, 2);
	char now[16], then[16];

	if (is_reached(told))
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
	struct tale t = tell(j);
	char took[16];

	for (int i = 0; i < t.n; i++) {
		const struct told *told = &t.told[i];
		bool difference = j->sides == 2 && told->is_ns;
		double value = told->is_ns ? told->value : told->value - 1;

		fprintf(out, "%s%s", name_of(&t, told).s, difference ? ", b - a" : "");
		if (isnan(told->half_width)) {
			fprintf(out, ": not known: %s\n",
				*told->why ? told->why : "it takes 5 processes or more");
			continue;
		}
		fprintf(out, ": %s%s ±%s (95 %%), asked for ±%s",
			j->sides == 2 && value > 0 ? "+" : "", amount(told, value).s,
			amount(told, told->half_width).s, amount(told, told->asked).s);
		if (is_reached(told))
			fprintf(out, ": reached after %d %s, %s", t.processes, replicates,
				show_duration(took_ns, took));
		print_price(&t, told, replicates, took_ns, out);
	}
	free(t.told);
}

/* ---- are there enough processes? -------------------------------------------------------- */

int interims_next(const struct design *d, int processes)
{
	return goals_any(&d->goals) ? goals_next_interim(processes, d->processes)
				    : next_interim(processes);
}

bool interims_due(const struct design *d, int processes)
{
	return d->sequential && interims_next(d, processes - 1) == processes;
}

/* NaN, not known, is wider than anything. */
static bool is_wider(const struct interval *a, const struct interval *b)
{
	double width = interval_half_width(a);

	return isnan(width) || width > interval_half_width(b);
}

/* The wider one of the sides; false: a process lacks the point. */
static bool widest(const struct results *r, int point, struct interval *out)
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
	return json_pack("{s:i, s:i, s:i, s:f, s:b, s:i, s:o}", "processes", processes, "points",
			 l->points, "wide", l->wide, "half_width_max",
			 j->plan.design.half_width_max, "stop", l->stop, "next", l->next,
			 "wide_keys", keys);
}

static struct interim look_at_points(const struct journal *j, int processes, json_t **json)
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
		if (widest(&r, i, &interval[n]))
			of[n++] = i;
	results_release(&r);
	if (look_at(&interim, processes, interval, n, j->plan.design.half_width_max, wide))
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
	return look_at_points(j, processes, json);
}
