/*
 * atlas_chart.c - an atlas drawn: a row for each layer; of each workload a panel for each parameter
 * and depth, one chart of all other costs, and one of the time of a step with a column for each
 * workload.
 */
#include "harness/chart/atlas_chart.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/compare/atlas_impl.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/chart/words.h"
#include "harness/measure/plan_record.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

enum { PANELS = ATLAS_PARAMETERS + ATLAS_DEPTHS, NAME_CHARACTERS = 27 };
_Static_assert((int)ATLAS_COSTS <= (int)PANELS, "a panel for each cost");

/* ---- panels ----------------------------------------------------------------------------- */

enum shown { OF_PARAMETER, OF_STEPS, OF_COST };

struct panel {
	enum shown shown;
	int which;	    /* of the parameters, depths or costs */
	double nothing;	    /* where there is no difference */
	double least, most; /* what is shown, in units */
	double far;	    /* what is further from nothing, in ns or times, is beyond the axis */
	double step;	    /* between two marks of the axis */
	double unit;	    /* in ns; 1 of ratios */
	const char *unit_name;
};

/* What is drawn of a workload. */
struct drawn {
	const struct atlas *a;
	const struct workload *w;	  /* NULL: costs, which are of no workload */
	const struct atlas_entry **entry; /* a row each, from the top */
	int rows;
	struct panel panel[PANELS];
	int panels;
};

static struct atlas_cell cell_of(const struct drawn *d, const struct panel *p,
				 const struct atlas_entry *e)
{
	if (p->shown == OF_COST)
		return (struct atlas_cell){ .state = e->cost[p->which].state,
					    .of = e->cost[p->which].of };
	return p->shown == OF_STEPS ? atlas_step(d->a, e, d->w, p->which)
				    : atlas_parameter(e, d->w, p->which);
}

/* How far from nothing a value is; 0: there is none. */
static double distance(const struct panel *p, const struct atlas_cell *cell, double value)
{
	return cell->state >= ATLAS_NOT_RESOLVED && isfinite(value) ? fabs(value - p->nothing) : 0;
}

/* The furthest of its value and the ends of its interval. */
static double reach_of(const struct panel *p, const struct atlas_cell *cell)
{
	return fmax(distance(p, cell, cell->of.value),
		    fmax(distance(p, cell, cell->of.lo), distance(p, cell, cell->of.hi)));
}

/* Beyond the axis: a number stands for it. */
static bool is_far(const struct panel *p, const struct atlas_cell *cell)
{
	return distance(p, cell, cell->of.value) > p->far;
}

/*
 * Some rows may be so much further out than the others that on one axis these would be at nothing:
 * those, fewer than half, from the first on that reaches four times as far as the one before.
 */
static double far_of(const struct panel *p, const struct drawn *d)
{
	const double apart = 4;
	double *reach = calloc((size_t)d->rows + 1, sizeof(*reach)), far = INFINITY;

	CHECK(reach, "memory of %d rows", d->rows);
	for (int i = 0; i < d->rows; i++) {
		const struct atlas_cell cell = cell_of(d, p, d->entry[i]);

		reach[i] = reach_of(p, &cell);
	}
	sort_doubles(reach, d->rows);
	for (int i = d->rows / 2 + 1; i < d->rows && !isfinite(far); i++)
		if (reach[i - 1] > 0 && reach[i] > apart * reach[i - 1])
			far = reach[i - 1];
	free(reach);
	return far;
}

/* An interval that ends beyond the axis runs out of the picture. */
static void widen(struct panel *p, double value)
{
	if (!isfinite(value))
		return;
	p->least = fmin(p->least, fmax(value, p->nothing - p->far));
	p->most = fmax(p->most, fmin(value, p->nothing + p->far));
}

/* 1, 2 or 5 times a power of ten, some three in the width. */
static double mark_step(double width)
{
	double power = pow(10, floor(log10(width / 3)));
	double many = width / 3 / power;

	return power * (many < 1.5 ? 1 : many < 3.5 ? 2 : many < 7.5 ? 5 : 10);
}

static void scale_panel(struct panel *p)
{
	static const char *const times[] = { "ns", "µs", "ms", "s" };
	static const char *const rates[] = { "B/s", "kB/s", "MB/s", "GB/s" };
	bool of_steps = p->shown == OF_STEPS;
	bool is_rate = p->shown == OF_COST && atlas_is_rate(p->which);
	double most = fmax(fabs(p->least), fabs(p->most)), room;
	int i = 0;

	p->unit = 1;
	for (; !of_steps && i < 3 && most >= 1e3 * p->unit; i++)
		p->unit *= 1e3;
	p->unit_name = of_steps ? "" : is_rate ? rates[i] : times[i];
	p->least /= p->unit;
	p->most /= p->unit;
	room = p->most > p->least ? 0.08 * (p->most - p->least) : of_steps ? 0.01 : 1;
	p->least -= room;
	p->most += room;
	p->step = mark_step(p->most - p->least);
}

/* false: no row has a value or a wrong result to show. */
static bool panel_init(struct panel *p, const struct drawn *d, int number)
{
	bool any = false;

	*p = (struct panel){ .shown = d->w ? OF_PARAMETER : OF_COST, .which = number };
	if (d->w && number >= ATLAS_PARAMETERS) {
		p->shown = OF_STEPS;
		p->which -= ATLAS_PARAMETERS;
	}
	p->nothing = p->least = p->most = p->shown == OF_STEPS ? 1 : 0;
	p->far = far_of(p, d);
	for (int i = 0; i < d->rows; i++) {
		const struct atlas_cell cell = cell_of(d, p, d->entry[i]);

		any |= cell.state > ATLAS_NOT_SUPPORTED;
		if (cell.state < ATLAS_NOT_RESOLVED || is_far(p, &cell))
			continue;
		widen(p, cell.of.value);
		widen(p, cell.of.lo);
		widen(p, cell.of.hi);
	}
	scale_panel(p);
	return any;
}

static void drawn_init(struct drawn *d, const struct atlas *a, const struct workload *w)
{
	*d = (struct drawn){ .a = a, .w = w };
	d->entry = calloc((size_t)a->n + 1, sizeof(*d->entry));
	CHECK(d->entry, "memory of %d rows", a->n);
	for (int i = 0; i < a->n; i++)
		if (!w || atlas_has(&a->entry[i], w))
			d->entry[d->rows++] = &a->entry[i];
	for (int i = 0; i < (w ? (int)PANELS : (int)ATLAS_COSTS); i++)
		d->panels += panel_init(&d->panel[d->panels], d, i);
}

/* ---- data ------------------------------------------------------------------------------- */

static void write_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.6g", value);
	fputc(',', out);
}

/* A name may hold commas. */
static void write_cell(const struct drawn *d, int panel, int row, FILE *out)
{
	const struct panel *p = &d->panel[panel];
	const struct atlas_cell cell = cell_of(d, p, d->entry[row]);
	bool has = cell.state >= ATLAS_NOT_RESOLVED;

	fprintf(out, "%d,%d,", panel + 1, row);
	write_number(out, has ? cell.of.value / p->unit : NAN);
	write_number(out, has ? cell.of.lo / p->unit : NAN);
	write_number(out, has ? cell.of.hi / p->unit : NAN);
	fprintf(out, "%d,%d,%s,", cell.state == ATLAS_KNOWN, cell.of.n, p->unit_name);
	if (p->shown == OF_COST)
		fprintf(out, "%s,", atlas_cost_names[p->which]);
	else if (p->shown == OF_STEPS)
		fprintf(out, "depth %d,", atlas_depths[p->which]);
	else
		fprintf(out, "%s,", model_param_rows[atlas_parameters[p->which]].name);
	fprintf(out, "%s,\"", atlas_state_names[cell.state]);
	for (const char *c = d->entry[row]->name; *c; c++)
		fprintf(out, *c == '"' ? "\"\"" : "%c", (unsigned char)*c < ' ' ? '?' : *c);
	fprintf(out, "\"\n");
}

static int write_cells(const struct drawn *d, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "cells", "-cells.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "panel,row,value,lo,hi,resolved,processes,unit,what,state,name\n");
	for (int i = 0; i < d->panels; i++)
		for (int k = 0; k < d->rows; k++)
			write_cell(d, i, k, out.file);
	return output_commit(&out);
}

/* ---- texts ------------------------------------------------------------------------------ */

/* A quarter of the width takes no more. In the order of atlas_parameters. */
static const char *const parameter_heads[ATLAS_PARAMETERS] = {
	"launch call c",  "launches follow p", "gap of kernels g",
	"launch, wait Z", "graph launch a",    "graph node gn",
};
static const char *const cost_heads[ATLAS_COSTS] = {
	[ATLAS_COPY_TO_DEVICE] = "copy to device", [ATLAS_RATE_TO_DEVICE] = "rate to device",
	[ATLAS_COPY_TO_HOST] = "copy to host",	   [ATLAS_RATE_TO_HOST] = "rate to host",
	[ATLAS_ALLOCATION] = "allocation",	   [ATLAS_START] = "cold start",
};

/* "0.28 µs, 4 B" */
static struct text cost_text(const struct atlas_entry *base, int which)
{
	const struct atlas_cost *cost = &base->cost[which];
	struct text t = { "" };

	if (!isfinite(cost->own[PAIR_A].value))
		return t;
	if (atlas_is_rate(which))
		snprintf(t.s, sizeof(t.s), "%.20sB/s", text_count(cost->own[PAIR_A].value).s);
	else
		t = words_time(cost->own[PAIR_A].value);
	if (cost->pair && !atlas_is_rate(which))
		snprintf(t.s + strlen(t.s), sizeof(t.s) - strlen(t.s), ", %.20s",
			 text_bytes(cost->bytes).s);
	return t;
}

static void label_panel(const struct drawn *d, int i, struct plot *out)
{
	const struct panel *p = &d->panel[i];
	const struct atlas_cell base = cell_of(d, p, &d->a->base);
	struct text own = { "" };

	if (p->shown == OF_COST) {
		plot_text(out, words_name("head", i + 1).s, "%s (%s)", cost_heads[p->which],
			  p->unit_name);
		own = cost_text(&d->a->base, p->which);
	} else if (p->shown == OF_STEPS) {
		plot_text(out, words_name("head", i + 1).s, "step, depth %d",
			  base.point
				  ? (int)d->a->base.session.plan.point[base.point->pair->at[PAIR_A]]
					    .depth
				  : atlas_depths[p->which]);
		if (base.point)
			own = words_time(base.point->step_ns[PAIR_A].value);
	} else {
		plot_text(out, words_name("head", i + 1).s, "%s (%s)", parameter_heads[p->which],
			  p->unit_name);
		if (base.parameter && isfinite(base.parameter->of[PAIR_A].value))
			own = words_time(base.parameter->of[PAIR_A].value);
	}
	plot_text(out, words_name("own", i + 1).s, "%s%s", *own.s ? "base: " : "", own.s);
	plot_number(out, words_name("nothing", i + 1).s, p->nothing);
	plot_number(out, words_name("least", i + 1).s, p->least);
	plot_number(out, words_name("most", i + 1).s, p->most);
	plot_number(out, words_name("step", i + 1).s, p->step);
}

static void label_row(const struct atlas_entry *e, int i, struct plot *p)
{
	char name[ATLAS_NAME];

	snprintf(name, sizeof(name), "%s", e->name);
	words_cut(name, sizeof(name), NAME_CHARACTERS);
	plot_text(p, words_name("row", i + 1).s, "%s", name);
}

/* "+2.43 ms", "265 times": what is beyond the axis. */
static struct text far_text(const struct panel *p, const struct atlas_cell *cell)
{
	double value = cell->of.value;
	struct text t, size = p->shown == OF_COST && atlas_is_rate(p->which)
				      ? text_count(fabs(value))
				      : words_time(fabs(value));

	if (p->shown == OF_STEPS)
		snprintf(t.s, sizeof(t.s), "%.3g times", value);
	else
		snprintf(t.s, sizeof(t.s), "%s%.40s%s", value < 0 ? "−" : "+", size.s,
			 p->shown == OF_COST && atlas_is_rate(p->which) ? "B/s" : "");
	return t;
}

/* Words where there is no dot. */
static void label_words(const struct drawn *d, struct plot *p)
{
	int n = 0;

	for (int i = 0; i < d->panels; i++)
		for (int k = 0; k < d->rows; k++) {
			const struct panel *panel = &d->panel[i];
			const struct atlas_cell cell = cell_of(d, panel, d->entry[k]);
			bool far = is_far(panel, &cell);

			if (cell.state >= ATLAS_NOT_RESOLVED && !far)
				continue;
			n++;
			plot_text(p, words_name("word", n).s, "%s",
				  far				? far_text(panel, &cell).s
				  : cell.state == ATLAS_NOTHING ? "–"
								: atlas_state_names[cell.state]);
			plot_count(p, words_name("word_panel", n).s, i + 1);
			plot_count(p, words_name("word_row", n).s, k);
			plot_count(p, words_name("word_far", n).s, far);
		}
	plot_count(p, "words", n);
}

/* What the base is: made1. */
static void label_base(const struct atlas *a, struct plot *p)
{
	const struct compared_side *base = &a->base.side[PAIR_B];
	const json_t *header = side_header(base);
	char text[512];

	snprintf(text, sizeof(text), "base: %s, %.200s, n = %d, %.10s",
		 json_get_text(json_object_get(header, "gpu"), "name"), base->path, base->n,
		 json_get_text(header, "start_utc"));
	words_cut(text, sizeof(text), NOTE_CHARACTERS);
	plot_text(p, "made1", "%s", text);
}

/* The row that a workload is slowed most in, of those that are shown to be; counts them, too. */
struct slowed {
	int rows; /* with a figure or wrong results */
	int by;	  /* of these, slowed by more than a share */
	const struct atlas_entry *most;
	const struct workload *in;
	double times;
};

static bool count_slowed(struct slowed *s, const struct atlas *a, const struct atlas_entry *e,
			 const struct workload *w, double share)
{
	bool is_slowed = false;

	for (int depth = 0; depth < ATLAS_DEPTHS; depth++) {
		const struct atlas_cell cell = atlas_step(a, e, w, depth);

		if (cell.state == ATLAS_WRONG)
			is_slowed = true;
		if (cell.state != ATLAS_KNOWN || cell.of.value <= 1 + share)
			continue;
		is_slowed = true;
		if (cell.of.value > s->times) {
			s->most = e;
			s->in = w;
			s->times = cell.of.value;
		}
	}
	return is_slowed;
}

/* Of one workload, or of all of them (NULL). */
static struct slowed find_slowed(const struct atlas *a, const struct workload *only, double share)
{
	struct slowed s = { 0 };

	for (int i = 0; i < a->n; i++) {
		bool is_slowed = false;

		for (int k = 0; atlas_workload(a, k); k++)
			if (!only || atlas_workload(a, k) == only)
				is_slowed |= count_slowed(&s, a, &a->entry[i], atlas_workload(a, k),
							  share);
		s.rows += !only || atlas_has(&a->entry[i], only);
		s.by += is_slowed;
	}
	return s;
}

/* "; worst: 240 times as long (neighbour-spin)" */
static struct text worst_text(const struct slowed *s, bool names_workload)
{
	struct text t = { "" };

	if (s->most)
		snprintf(t.s, sizeof(t.s), "; worst: %.30s (%.24s%s%.16s)", words_ratio(s->times).s,
			 s->most->name, names_workload ? ", " : "",
			 names_workload ? s->in->name : "");
	return t;
}

/* How many rows have some cost that is shown to differ. */
static int count_costly(const struct drawn *d)
{
	int n = 0;

	for (int row = 0; row < d->rows; row++) {
		bool any = false;

		for (int i = 0; i < d->panels; i++)
			any |= cell_of(d, &d->panel[i], d->entry[row]).state == ATLAS_KNOWN;
		n += any;
	}
	return n;
}

/* What the chart shows in a sentence. */
static void label_title(const struct drawn *d, struct plot *p)
{
	char text[256];

	if (d->w) {
		const struct slowed s = find_slowed(d->a, d->w, 0);

		snprintf(text, sizeof(text), "%s is slower in %d of %d rows%s", d->w->name, s.by,
			 s.rows, worst_text(&s, false).s);
	} else {
		snprintf(text, sizeof(text),
			 "copies, memory or cold starts differ from the base in %d of %d rows",
			 count_costly(d), d->rows);
	}
	words_cut(text, sizeof(text), TITLE_CHARACTERS);
	plot_text(p, "title", "%s", text);
}

static void label_plot(const struct drawn *d, struct plot *p)
{
	const struct levels levels = atlas_levels(d->a);

	label_base(d->a, p);
	label_title(d, p);
	words_finding(p,
		      "what each layer adds; intervals %s%s%s; hollow: not resolved; "
		      "number: off the axis",
		      d->w ? "95 %, of steps " : "", levels_text(&levels).s, d->w ? "" : " by row");
	if (d->w)
		plot_text(p, "made2",
			  "steps: smallest kernels, %s mode; each panel has an axis of its own",
			  mode_name(atlas_mode(d->a, d->w)));
	else
		plot_text(p, "made2",
			  "cold start: from the command of a process to a device that "
			  "answers; each panel has an axis of its own");
	plot_count(p, "rows", d->rows);
	plot_count(p, "panels", d->panels);
	for (int i = 0; i < d->rows; i++)
		label_row(d->entry[i], i, p);
	for (int i = 0; i < d->panels; i++)
		label_panel(d, i, p);
	label_words(d, p);
}

/* ---- all programs on one page ----------------------------------------------------------- */

enum { PROGRAM_CHARACTERS = 14 };

static int count_workloads(const struct atlas *a)
{
	int n = 0;

	while (atlas_workload(a, n))
		n++;
	return n;
}

static void write_program_cells(const struct atlas *a, int depth, int column, FILE *out)
{
	const struct workload *w = atlas_workload(a, column);

	for (int row = 0; row < a->n; row++) {
		const struct atlas_cell cell = atlas_step(a, &a->entry[row], w, depth);
		bool has = cell.state >= ATLAS_NOT_RESOLVED;

		fprintf(out, "%d,%d,%d,", depth, column, row);
		write_number(out, has ? cell.of.value : NAN);
		write_number(out, has ? cell.of.lo : NAN);
		write_number(out, has ? cell.of.hi : NAN);
		fprintf(out, "%s,%s,%s\n", atlas_program_text(&cell).s,
			atlas_state_names[cell.state], w->name);
	}
}

static int write_programs(const struct atlas *a, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "cells", "-cells.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "panel,column,row,ratio,lo,hi,label,state,workload\n");
	for (int depth = 0; depth < ATLAS_DEPTHS; depth++)
		for (int column = 0; atlas_workload(a, column); column++)
			write_program_cells(a, depth, column, out.file);
	return output_commit(&out);
}

/* What stands above a column, and what the base takes at each depth. */
static void label_program(const struct atlas *a, int column, struct plot *p)
{
	const struct workload *w = atlas_workload(a, column);
	char name[64];

	snprintf(name, sizeof(name), "%s", w->name);
	words_cut(name, sizeof(name), PROGRAM_CHARACTERS);
	plot_text(p, words_name("column", column + 1).s, "%s", name);
	plot_text(p, words_name("kind", column + 1).s, "%s", atlas_program_kind(a, w).s);
	for (int depth = 0; depth < ATLAS_DEPTHS; depth++) {
		const struct atlas_cell base = atlas_step(a, &a->base, w, depth);
		struct text own = { "–" };

		if (base.point)
			own = words_time(base.point->step_ns[PAIR_A].value);
		plot_text(p, words_name(depth ? "deep" : "shallow", column + 1).s, "%s", own.s);
	}
}

static void label_programs(const struct atlas *a, struct plot *p)
{
	int columns = count_workloads(a);
	const struct slowed s = find_slowed(a, NULL, 0.05);
	char title[256];

	label_base(a, p);
	snprintf(title, sizeof(title), "in %d of %d rows some cell is over 5 %%%s", s.by, s.rows,
		 worst_text(&s, true).s);
	words_cut(title, sizeof(title), TITLE_CHARACTERS);
	plot_text(p, "title", "%s", title);
	words_finding(p, "time over that without the layer; ·: not resolved; ±: too wide to tell; "
			 "bad 5/5: wrong in 5 of 5 processes");
	plot_text(p, "made2",
		  "grey: a step on the base's machine, its kernels, copies, allocations (k, c, a), "
		  "time; smallest kernels; depth: steps before a wait");
	plot_count(p, "rows", a->n);
	plot_count(p, "columns", columns);
	plot_count(p, "panels", ATLAS_DEPTHS);
	for (int i = 0; i < ATLAS_DEPTHS; i++)
		plot_count(p, words_name("depth", i + 1).s, atlas_depths[i]);
	for (int i = 0; i < a->n; i++)
		label_row(&a->entry[i], i, p);
	for (int i = 0; i < columns; i++)
		label_program(a, i, p);
}

/* ---- files ------------------------------------------------------------------------------ */

/* The next picture, without texts and data. The name is malloc()ed and taken over. */
static struct picture *next_picture(struct atlas_charts *c, const struct atlas *a, char *name,
				    const char *script)
{
	const json_t *header = side_header(&a->base.side[PAIR_B]);
	struct picture *p = &c->picture[c->n++];

	*p = (struct picture){ .asked = true };
	plot_begin(&p->plot, c->folder, name,
		   json_get_text(json_object_get(header, "gpu"), "name"));
	p->plot.script = script;
	return p;
}

static int add_programs(struct atlas_charts *c, const struct atlas *a)
{
	struct picture *p;
	char *name;
	int err;

	if (!a->n || count_workloads(a) < 2)
		return 0;
	name = strdup("programs-atlas");
	CHECK(name, "memory of a name");
	p = next_picture(c, a, name, "plots/programs.gp");
	label_programs(a, &p->plot);
	err = write_programs(a, &p->plot);
	return err ? err : picture_write(p);
}

static int add_chart(struct atlas_charts *c, const struct atlas *a, const struct workload *w)
{
	struct picture *p;
	struct drawn d;
	char *name;
	int err = 0;

	drawn_init(&d, a, w);
	if (d.panels) {
		CHECK(asprintf(&name, "%s-atlas", w ? w->name : "costs") > 0, "memory of a name");
		p = next_picture(c, a, name, "plots/atlas.gp");
		label_plot(&d, &p->plot);
		err = write_cells(&d, &p->plot);
		if (!err)
			err = picture_write(p);
	}
	free(d.entry);
	return err;
}

int atlas_charts_write(struct atlas_charts *c, const struct atlas *a, const char *folder)
{
	int workloads = count_workloads(a), err;

	/* a picture stays where it is: its texts go through a stream that knows its address */
	*c = (struct atlas_charts){ .folder = folder,
				    .picture = calloc((size_t)workloads + 2, sizeof(*c->picture)) };
	CHECK(c->picture, "memory of %d charts", workloads);
	err = add_programs(c, a);
	for (int i = 0; i < workloads && !err; i++)
		err = add_chart(c, a, atlas_workload(a, i));
	if (!err)
		err = add_chart(c, a, NULL);
	if (!err && !c->n)
		err = complain(EINVAL, "there is nothing to draw: no session has a figure");
	return err;
}

int atlas_charts_draw(struct atlas_charts *c)
{
	int err = 0;

	for (int i = 0; i < c->n && !err; i++)
		err = interrupted() ? -EINTR : picture_draw(&c->picture[i]);
	return err;
}

void atlas_charts_print(const struct atlas_charts *c, FILE *out)
{
	for (int i = 0; i < c->n; i++)
		fprintf(out, "%s/%s%s\n", c->folder, c->picture[i].plot.name,
			c->picture[i].drawn ? ".png, .svg" : ".gp");
}

void atlas_charts_remark(const struct atlas_charts *c, FILE *out)
{
	for (int i = 0; i < c->n; i++)
		if (*c->picture[i].said.s && c->picture[i].drawn)
			fprintf(out, "rift: gnuplot remarks on %s: %s\n", c->picture[i].plot.name,
				c->picture[i].said.s);
}

void atlas_charts_release(struct atlas_charts *c)
{
	for (int i = 0; i < c->n; i++) {
		free((char *)(uintptr_t)c->picture[i].plot.name);
		picture_release(&c->picture[i]);
	}
	free(c->picture);
	*c = (struct atlas_charts){ 0 };
}
