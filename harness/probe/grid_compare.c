/*
 * grid_compare.c - two grids of probes: quantities over all configurations that both have, in each
 * of them, and their lines over the size.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/format.h"
#include "harness/probe/costs_compare_impl.h"
#include "harness/probe/grid.h"

/* ---- pairs --------------------------------------------------------------------------------- */

static bool is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

static bool is_waited_for(const char *workload, const char *name)
{
	bool decides = is_in(grid_over_size, name) || is_in(grid_by_config, name);

	for (const struct costs_line *l = costs_lines; l->workload; l++)
		decides |= l->decides && !strcmp(l->workload, workload) && !strcmp(l->name, name);
	return decides;
}

/* One quantity of both grids. */
struct quantity {
	struct costs_comparison *c;
	const struct contrast *by;
	const char *name, *unit;
	bool decides;
};

/* With a row of the configuration, which says what unit there is and why there is no value. */
static struct costs_pair *add_pair(const struct quantity *q, enum costs_pair_kind kind)
{
	struct costs_pair *p = &q->c->pair[q->c->n++];

	*p = (struct costs_pair){
		.kind = kind,
		.workload = json_get_text(q->c->costs[PAIR_A], "workload"),
		.name = q->name,
		.label = q->name,
		.unit = q->unit,
		.decides = kind == GRID_MEAN && q->decides,
	};
	p->section = p->where;
	costs_pair_init(p);
	return p;
}

/* False: some process of one of them has no value. */
static bool add_config(const struct quantity *q, int a, int b, struct process_times *t)
{
	struct costs_pair *p = add_pair(q, GRID_CONFIG);

	p->row[PAIR_A] = grid_row(q->c->costs[PAIR_A], a, q->name);
	p->row[PAIR_B] = grid_row(q->c->costs[PAIR_B], b, q->name);
	grid_label(q->c->costs[PAIR_A], a, "", p->where, sizeof(p->where));
	p->known = costs_pair_times(q->c, p, t);
	if (p->known)
		costs_pair_judge(q->c, q->by, p, t);
	return p->known;
}

/* Of each process the geometric mean over the configurations that all processes have measured. */
static void judge_mean(const struct quantity *q, struct costs_pair *mean,
		       const struct process_times *t, int points)
{
	struct point_pair *point = calloc((size_t)points + 1, sizeof(*point));
	struct process_times means = { .of = { { 0 } } };

	CHECK(point, "memory of %d configurations", points);
	for (int i = 0; i < points; i++)
		point[i] = (struct point_pair){ .b = t[i].of[PAIR_B], .a = t[i].of[PAIR_A] };
	contrast_means(q->by, point, points, means.of[PAIR_B], means.of[PAIR_A]);
	costs_pair_judge(q->c, q->by, mean, &means);
	free(point);
}

static void add_configs(const struct quantity *q)
{
	const json_t *a = q->c->costs[PAIR_A], *b = q->c->costs[PAIR_B];
	struct process_times *t = calloc((size_t)grid_configs(a), sizeof(*t));
	struct costs_pair *mean = add_pair(q, GRID_MEAN);
	int points = 0;

	CHECK(t, "memory of %d configurations", grid_configs(a));
	for (int i = 0; i < grid_configs(a); i++) {
		int other = grid_config_like(a, b, i);

		if (other >= 0)
			points += add_config(q, i, other, &t[points]);
	}
	mean->known = points > 0;
	snprintf(mean->where, sizeof(mean->where), "%s", counted(points, "configuration").s);
	if (points)
		judge_mean(q, mean, t, points);
	if (q->c->configs == 1) { /* the mean is the configuration itself */
		memcpy(mean->value, mean[1].value, sizeof(mean->value));
		memcpy(mean->row, mean[1].row, sizeof(mean->row));
		q->c->n--;
	}
	free(t);
}

/* ---- lines --------------------------------------------------------------------------------- */

static void add_part(const struct quantity *q, enum costs_pair_kind kind, const char *label,
		     const struct process_times *t)
{
	struct costs_pair *p = add_pair(q, kind);
	const char *part = kind == GRID_FIXED ? "fixed" : "a part";

	if (kind == GRID_SLOPE && grid_row(q->c->costs[PAIR_A], 0, "nodes"))
		part = "a node";
	snprintf(p->where, sizeof(p->where), "line%s%s: %s", *label ? ", " : "", label, part);
	p->known = true;
	for (int k = 0; k < 2; k++) {
		int n = costs_processes(q->c->costs[k]);
		double copy[COSTS_PROCESSES_MAX];

		memcpy(copy, t->of[k], (size_t)n * sizeof(*copy));
		p->value[k] = median_of(copy, n);
	}
	costs_pair_judge(q->c, q->by, p, t);
}

/* The groups of both grids, by their labels. */
struct groups {
	struct grid_group *of[2];
	int n[2];
};

static const struct grid_group *group_like(const struct groups *g, const char *label)
{
	for (int i = 0; i < g->n[PAIR_B]; i++)
		if (!strcmp(g->of[PAIR_B][i].label, label))
			return &g->of[PAIR_B][i];
	return NULL;
}

static void add_lines(const struct quantity *q, const struct groups *g)
{
	for (int i = 0; i < g->n[PAIR_A] && !strcmp(q->unit, "us"); i++) {
		const struct grid_group *a = &g->of[PAIR_A][i], *b = group_like(g, a->label);
		struct process_times fixed = { { { 0 } } }, slope = { { { 0 } } };

		if (!b ||
		    !grid_fit_each(fixed.of[PAIR_A], slope.of[PAIR_A], q->c->costs[PAIR_A], a,
				   q->name) ||
		    !grid_fit_each(fixed.of[PAIR_B], slope.of[PAIR_B], q->c->costs[PAIR_B], b,
				   q->name))
			continue;
		add_part(q, GRID_FIXED, a->label, &fixed);
		add_part(q, GRID_SLOPE, a->label, &slope);
	}
}

/* ---- all pairs ----------------------------------------------------------------------------- */

static const char *unit_of(const json_t *grid, const char *name)
{
	const char *unit = "";

	for (int i = 0; i < grid_configs(grid) && !*unit; i++)
		unit = json_get_text(grid_row(grid, i, name), "unit");
	return unit;
}

static bool is_time_or_rate(const char *unit)
{
	return !strcmp(unit, "us") || !strcmp(unit, "GB/s");
}

/* Where programs wait for none of what the grid has, all of it decides. */
static bool none_decides(const struct costs_comparison *c, const char *const *name, int n)
{
	const json_t *a = c->costs[PAIR_A];

	for (int i = 0; i < n; i++)
		if (is_time_or_rate(unit_of(a, name[i])) &&
		    is_waited_for(json_get_text(a, "workload"), name[i]))
			return false;
	return true;
}

static void groups_init(struct groups *g, const struct costs_comparison *c)
{
	for (int k = 0; k < 2; k++) {
		g->of[k] = calloc(GRID_GROUPS_MAX, sizeof(*g->of[k]));
		CHECK(g->of[k], "memory of groups");
		g->n[k] = grid_groups(c->costs[k], g->of[k]);
	}
}

static void groups_release(struct groups *g)
{
	free(g->of[0]);
	free(g->of[1]);
}

void grid_compare_pairs(struct costs_comparison *c, const struct contrast *by)
{
	const json_t *a = c->costs[PAIR_A], *b = c->costs[PAIR_B];
	const char *name[GRID_NAMES_MAX];
	int n = grid_names(a, name);
	bool all = none_decides(c, name, n);
	struct groups g;

	groups_init(&g, c);
	c->configs = grid_common_configs(a, b);
	c->left_out[PAIR_A] = grid_configs(a) - c->configs;
	c->left_out[PAIR_B] = grid_configs(b) - c->configs;
	c->pair =
		calloc((size_t)(n * (1 + grid_configs(a) + 2 * g.n[PAIR_A]) + 1), sizeof(*c->pair));
	CHECK(c->pair, "memory of %d quantities", n);
	for (int i = 0; i < n; i++) {
		struct quantity q = { c, by, name[i], unit_of(a, name[i]), false };

		if (!is_time_or_rate(q.unit))
			continue;
		q.decides = all || is_waited_for(json_get_text(a, "workload"), name[i]);
		add_configs(&q);
		add_lines(&q, &g);
	}
	groups_release(&g);
}

/* ---- for people ---------------------------------------------------------------------------- */

static int where_width(const struct costs_comparison *c)
{
	size_t most = 20;

	for (int i = 0; i < c->n; i++) {
		size_t length = strlen(c->pair[i].where);

		most = length > most ? length : most;
	}
	return (int)most;
}

static void print_pair(const struct costs_comparison *c, const struct costs_pair *p, int width,
		       FILE *out)
{
	bool counts = p->decides || c->options.strict;
	const char *why = json_get_text(p->row[PAIR_B], "text");

	fprintf(out, "  %-*s ", width, text_escaped(p->where).s);
	if (!p->known) {
		fprintf(out, "%s\n",
			*why ? text_escaped(why).s : "not measured by every process of both");
		return;
	}
	for (int k = 0; k < 2; k++)
		fprintf(out, "%13s ",
			isfinite(p->value[k]) ? costs_number(p->value[k], p->unit) : "");
	if (!isfinite(p->ratio.value))
		fprintf(out, " -\n");
	else
		fprintf(out, " %-30s %s%s%s\n", figure_percent(&p->ratio).s, counts ? "" : "(",
			verdict_names[p->judged.verdict], counts ? "" : ")");
}

static bool is_shown(const struct costs_pair *mean)
{
	return mean->decides || mean->judged.verdict == VERDICT_SLOWER ||
	       mean->judged.verdict == VERDICT_FASTER;
}

void grid_compare_print(const struct costs_comparison *c, bool all, FILE *out)
{
	int width = where_width(c);
	bool shown = false;

	fprintf(out, "\n  %-*s %13s %13s  %s\n", width, grid_given(c->costs[PAIR_A]), "A", "B",
		"time, B over A");
	for (int i = 0; i < c->n; i++) {
		const struct costs_pair *p = &c->pair[i];

		if (p->kind == GRID_MEAN) {
			shown = all || is_shown(p);
			if (shown)
				fprintf(out, "%s\n", text_shown(p->name).s);
		}
		if (shown)
			print_pair(c, p, width, out);
	}
}
