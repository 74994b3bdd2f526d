/* sensitivity_chart.c - a sensitivity drawn: a line a cost, a panel a unit. */
#include "harness/chart/sensitivity_chart.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/chart/words.h"
#include "harness/base/text.h"
#include "harness/measure/wait.h"
#include "harness/probe/sensitivity_costs.h"
#include "workloads/workload.h"

enum { PANELS_MAX = 4, MODEL_POINTS = 60 };

/* ---- panels ------------------------------------------------------------------------------- */

/* Costs of one unit share an axis: a logarithm, so 0 is not on it. */
struct panel {
	const char *unit;
	bool falls; /* a rate: less is worse */
	double least, most;
};

struct drawn {
	const struct sensitivity *s;
	struct panel panel[PANELS_MAX];
	int panels;
	double least_ratio, most_ratio;
};

static bool is_drawn(const struct sensitivity_cost *c, int i)
{
	return c->in_step && c->value[i] > 0 && isfinite(c->ratio[i]);
}

static int panel_of(struct drawn *d, const struct param *row)
{
	const char *unit = row->unit;
	bool falls = sensitivity_is_rate(row);
	int i = 0;

	while (i < d->panels && strcmp(d->panel[i].unit, unit) != 0)
		i++;
	if (i == d->panels) {
		CHECK(i < PANELS_MAX, "more than %d units of costs", PANELS_MAX);
		d->panel[d->panels++] = (struct panel){ unit, falls, INFINITY, 0 };
	}
	return i;
}

static void widen(struct drawn *d, double ratio)
{
	if (!isfinite(ratio))
		return;
	d->least_ratio = fmin(d->least_ratio, ratio);
	d->most_ratio = fmax(d->most_ratio, ratio);
}

static void add_point(struct drawn *d, const struct sensitivity_cost *c, int i)
{
	const struct sensitivity_cell *cell = &d->s->cell[c->cell[i]];
	struct panel *p = &d->panel[panel_of(d, c->row)];

	p->least = fmin(p->least, c->value[i]);
	p->most = fmax(p->most, c->value[i]);
	widen(d, c->predicted[i]);
	widen(d, cell->lo_ns / d->s->cell[0].step_ns);
	widen(d, cell->hi_ns / d->s->cell[0].step_ns);
}

static void drawn_init(struct drawn *d, const struct sensitivity *s)
{
	*d = (struct drawn){ .s = s, .least_ratio = 0.95, .most_ratio = 1.4 };
	for (int i = 0; i < s->n; i++)
		for (int k = 0; k < s->cost[i].n; k++)
			if (is_drawn(&s->cost[i], k))
				add_point(d, &s->cost[i], k);
}

/* ---- data --------------------------------------------------------------------------------- */

/* Series are counted by what is drawn: a cost without a point has none. */
static int series_of(const struct sensitivity *s, int cost)
{
	int series = 0;

	for (int i = 0; i <= cost; i++)
		for (int k = 0; k < s->cost[i].n; k++)
			if (is_drawn(&s->cost[i], k)) {
				series++;
				break;
			}
	return series;
}

static void put_points(const struct sensitivity *s, int cost, FILE *out)
{
	const struct sensitivity_cost *c = &s->cost[cost];

	for (int k = 0; k < c->n; k++) {
		const struct sensitivity_cell *cell = &s->cell[c->cell[k]];

		if (is_drawn(c, k))
			fprintf(out, "%d,%.6g,%.6g,%.6g,%.6g,%s,%s\n", series_of(s, cost),
				c->value[k], c->ratio[k], cell->lo_ns / s->cell[0].step_ns,
				cell->hi_ns / s->cell[0].step_ns, c->row->name, c->row->unit);
	}
}

/* Between the ends of the panel, which has a point of this cost. */
static void put_model(const struct drawn *d, int cost, FILE *out)
{
	const struct sensitivity_cost *c = &d->s->cost[cost];

	for (int k = 0; k < d->panels; k++) {
		const struct panel *p = &d->panel[k];

		for (int i = 0; i <= MODEL_POINTS && !strcmp(p->unit, c->row->unit); i++) {
			double value = p->least * pow(p->most / p->least, (double)i / MODEL_POINTS);
			double ratio = step_predict(&d->s->native, c->row->name, value);

			if (isfinite(ratio))
				fprintf(out, "%d,%.6g,%.6g\n", series_of(d->s, cost), value, ratio);
		}
	}
}

static int write_data(const struct drawn *d, struct plot *p)
{
	struct output points, model;
	int err = plot_open(p, "points", "-points.csv", &points);

	if (err)
		return err;
	fprintf(points.file, "series,value,ratio,least,most,cost,unit\n");
	for (int i = 0; i < d->s->n; i++)
		put_points(d->s, i, points.file);
	err = output_commit(&points);
	if (!err)
		err = plot_open(p, "model", "-model.csv", &model);
	if (err)
		return err;
	fprintf(model.file, "series,value,ratio\n");
	for (int i = 0; i < d->s->n; i++)
		if (series_of(d->s, i) > (i ? series_of(d->s, i - 1) : 0))
			put_model(d, i, model.file);
	return output_commit(&model);
}

/* ---- texts -------------------------------------------------------------------------------- */

static void label_series(struct drawn *d, struct plot *p)
{
	const struct sensitivity *s = d->s;
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		int series = series_of(s, i);

		if (series == n)
			continue;
		n = series;
		plot_text(p, words_name("name", n).s, "%s", s->cost[i].row->name);
		plot_count(p, words_name("panel", n).s, panel_of(d, s->cost[i].row) + 1);
	}
	plot_count(p, "series", n);
}

static struct text reached_text(const struct param *row, const struct frontier *f)
{
	struct text beyond = { "not reached" };

	return f->state == FRONTIER_BEYOND ? beyond : frontier_text(row, f);
}

/* A network has one line a panel, so that there is room to say where it crosses 5 %. */
static void label_frontier(const struct sensitivity *s, struct plot *p)
{
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		const struct frontier *f = &s->cost[i].measured[0];
		int series = series_of(s, i);

		if (series == n || !s->source->rows)
			continue;
		n = series;
		plot_number(p, words_name("frontier", n).s,
			    f->state == FRONTIER_AT ? f->value : NAN);
		plot_number(p, words_name("zero", n).s,
			    s->cost[i].value[0] == 0 ? s->cost[i].ratio[0] : NAN);
		plot_text(p, words_name("says", n).s, "5 %% longer: %s",
			  reached_text(s->cost[i].row, f).s);
		plot_text(p, words_name("alone", n).s, "over the layer alone: %s",
			  reached_text(s->cost[i].row, &s->cost[i].alone[0]).s);
	}
	plot_count(p, "frontiers", n);
}

static const char *unit_text(const char *unit)
{
	return strcmp(unit, "us") ? unit : "µs";
}

static void label_panels(const struct drawn *d, struct plot *p)
{
	for (int i = 0; i < d->panels; i++) {
		plot_text(p, words_name("unit", i + 1).s, "%s", unit_text(d->panel[i].unit));
		plot_count(p, words_name("falls", i + 1).s, d->panel[i].falls);
		plot_number(p, words_name("least", i + 1).s, d->panel[i].least);
		plot_number(p, words_name("most", i + 1).s, d->panel[i].most);
	}
	plot_count(p, "panels", d->panels);
	plot_number(p, "least_ratio", d->least_ratio);
	plot_number(p, "most_ratio", d->most_ratio);
}

/* "mlp takes up to 1.36 times as long (rtt 20 us)", of the medians. */
static void label_title(const struct sensitivity *s, const char *words, struct plot *p)
{
	const struct sensitivity_cost *worst = NULL;
	int at = 0;

	for (int i = 0; i < s->n; i++)
		for (int k = 0; k < s->cost[i].n; k++)
			if (isfinite(s->cost[i].ratio[k]) &&
			    (!worst || s->cost[i].ratio[k] > worst->ratio[at])) {
				worst = &s->cost[i];
				at = k;
			}
	if (worst && worst->ratio[at] > frontier_ratios[0])
		plot_text(p, "title", "%s%s takes up to %s (%s: %g %s)", s->workload->name, words,
			  words_ratio(worst->ratio[at]).s, worst->row->name, worst->value[at],
			  unit_text(worst->row->unit));
	else
		plot_text(p, "title", "%s%s: no cost that was tried makes it over 5 %% longer",
			  s->workload->name, words);
}

static void label_plot(struct drawn *d, struct plot *p)
{
	const struct sensitivity *s = d->s;
	char words[512] = "";

	for (const char *const *word = s->request->words + 1; *word; word++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), " %s", *word);
	words_cut(words, sizeof(words), 40);
	label_title(s, words, p);
	words_finding(p,
		      "points: time of a step over native, a cost at a time, with least and most "
		      "of %d processes",
		      s->turns);
	plot_text(p, "made1",
		  "dashed: predicted from the native run alone; horizontal: 5 %% and 25 "
		  "%% longer");
	plot_text(p, "made2", "%s, layer %s (%s), %s mode, depth %.0f; native: %s a step",
		  s->first.device, s->layer, s->source->imitates, mode_name(s->native.mode),
		  s->native.depth, words_time(s->native.step_ns).s);
	label_series(d, p);
	label_frontier(s, p);
	label_panels(d, p);
}

/* ---- files -------------------------------------------------------------------------------- */

int sensitivity_chart_write(struct picture *p, const struct sensitivity *s, const char *folder)
{
	struct drawn d;
	char *name;
	int err;

	*p = (struct picture){ .asked = true };
	drawn_init(&d, s);
	if (!d.panels)
		return complain(EINVAL, "there is nothing to draw: no value above 0 has a figure");
	CHECK(asprintf(&name, "%s-sensitivity", s->workload->name) > 0, "memory of a name");
	plot_begin(&p->plot, folder, name, s->first.device);
	p->plot.script = "plots/sensitivity.gp";
	label_plot(&d, &p->plot);
	err = write_data(&d, &p->plot);
	return err ? err : picture_write(p);
}

void sensitivity_chart_release(struct picture *p)
{
	free((char *)(uintptr_t)p->plot.name);
	picture_release(p);
}
