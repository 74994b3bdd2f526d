/* grid_chart.c - grids of probes drawn: times over the size axis, or of each configuration. */
#include "harness/chart/grid_chart.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "harness/record/environment.h"

enum { PANELS_MAX = 4, BY_CONFIG_MAX = 2, ROWS_MAX = 40, SERIES_MAX = 2 * GRID_GROUPS_MAX };

/* A group of one side. */
struct series {
	int side;
	const struct grid_group *group;
};

struct drawn {
	json_t *const *grid; /* A and B, or one */
	int sides;
	const char *name[PANELS_MAX]; /* of rows */
	int names;
	struct grid_group *group[GRID_CHART_SIDES];
	int groups[GRID_CHART_SIDES];
	struct series series[SERIES_MAX];
	int n; /* series */
};

/* "A", "B"; "" where there is one. */
static const char *letter_of(const struct drawn *d, int side)
{
	return d->sides < 2 ? "" : side ? "B" : "A";
}

static bool is_time(const json_t *row)
{
	return isfinite(json_get_number(row, "median")) &&
	       !strcmp(json_get_text(row, "unit"), "us");
}

static bool has_time(const json_t *grid, const char *name)
{
	for (int i = 0; i < grid_configs(grid); i++)
		if (is_time(grid_row(grid, i, name)))
			return true;
	return false;
}

static void add_name(struct drawn *d, const char *name, int most)
{
	for (int k = 0; k < d->names; k++)
		if (!strcmp(d->name[k], name))
			return;
	for (int side = 0; side < d->sides; side++)
		if (!has_time(d->grid[side], name))
			return;
	if (d->names < most)
		d->name[d->names++] = name;
}

/* Those of the list that all grids have; where there is none, the first ones. */
static void choose_names(struct drawn *d, const char *const *list, int most)
{
	const json_t *row;
	size_t i;

	for (; *list; list++)
		add_name(d, *list, most);
	if (d->names)
		return;
	json_array_foreach(json_object_get(d->grid[0], "rows"), i, row)
	{
		if (json_object_get(row, "config"))
			add_name(d, json_get_text(row, "name"), most);
	}
}

/* A number of the row, or its median where the interval is not known. */
static double bound(const json_t *row, const char *key)
{
	double v = json_get_number(row, key);

	return isfinite(v) ? v : json_get_number(row, "median");
}

/* ---- over the size ------------------------------------------------------------------------ */

static void add_series(struct drawn *d, int side, const struct grid_group *group)
{
	d->series[d->n++] = (struct series){ side, group };
}

static const struct grid_group *find_group(const struct drawn *d, int side, const char *label)
{
	for (int i = 0; i < d->groups[side]; i++)
		if (!strcmp(d->group[side][i].label, label))
			return &d->group[side][i];
	return NULL;
}

/* A's and B's of one label stand beside each other. */
static void list_series(struct drawn *d)
{
	for (int i = 0; i < d->groups[0]; i++) {
		const char *label = d->group[0][i].label;
		const struct grid_group *other = d->sides > 1 ? find_group(d, 1, label) : NULL;

		add_series(d, 0, &d->group[0][i]);
		if (other)
			add_series(d, 1, other);
	}
	for (int i = 0; d->sides > 1 && i < d->groups[1]; i++)
		if (!find_group(d, 0, d->group[1][i].label))
			add_series(d, 1, &d->group[1][i]);
}

static bool fit_series(struct grid_line *line, const struct drawn *d, int panel, int number)
{
	const struct series *s = &d->series[number];

	return grid_fit(line, d->grid[s->side], s->group, d->name[panel]);
}

static void write_series(struct output *out, const struct drawn *d, int panel, int number)
{
	const json_t *grid = d->grid[d->series[number].side];
	const struct grid_group *g = d->series[number].group;
	struct grid_line line;
	bool fitted = fit_series(&line, d, panel, number);

	for (int k = 0; k < g->n; k++) {
		const json_t *row = grid_row(grid, g->config[k], d->name[panel]);
		double size = grid_size(grid, g->config[k]);
		double v[] = { panel + 1,
			       number + 1,
			       size,
			       json_get_number(row, "median"),
			       bound(row, "lo"),
			       bound(row, "hi"),
			       fitted ? line.fixed.value + line.slope.value * size : NAN };

		if (is_time(row))
			output_numbers(out, v, sizeof(v) / sizeof(*v));
	}
}

static int write_sizes(struct plot *plot, const struct drawn *d)
{
	struct output out;
	int err = plot_open(plot, "points", "-points.csv", &out);

	if (err)
		return err;
	fputs("panel,group,size,us,lo_us,hi_us,fitted_us\n", out.file);
	for (int panel = 0; panel < d->names; panel++)
		for (int number = 0; number < d->n; number++)
			write_series(&out, d, panel, number);
	return output_commit(&out);
}

static void set_fit(struct plot *plot, const struct drawn *d, int panel, int number)
{
	struct grid_line l;
	char variable[24];

	snprintf(variable, sizeof(variable), "fit%d_%d", panel + 1, number + 1);
	if (fit_series(&l, d, panel, number))
		plot_text(plot, variable, "%s µs + %s ns", text_digits(l.fixed.value).s,
			  text_digits(1e3 * l.slope.value).s);
	else
		plot_text(plot, variable, "no line");
}

static void set_labels(struct plot *plot, const struct drawn *d)
{
	char variable[16];

	for (int k = 0; k < d->names; k++) {
		snprintf(variable, sizeof(variable), "panel%d", k + 1);
		plot_text(plot, variable, "%s", d->name[k]);
		for (int i = 0; i < d->n; i++)
			set_fit(plot, d, k, i);
	}
	for (int i = 0; i < d->n; i++) {
		const char *letter = letter_of(d, d->series[i].side);
		const char *label = d->series[i].group->label;

		snprintf(variable, sizeof(variable), "group%d", i + 1);
		plot_text(plot, variable, "%s%s%s", letter, *letter && *label ? ", " : "", label);
	}
}

/* The first panel's first line, and B's beside it. */
static void set_size_title(struct plot *plot, const struct drawn *d)
{
	const char *workload = json_get_text(d->grid[0], "workload");
	const char *per = grid_row(d->grid[0], 0, "nodes") ? "node" : "unit of the size";
	struct grid_line a, b;

	if (!fit_series(&a, d, 0, 0))
		plot_text(plot, "title", "%s: its calls over their size", workload);
	else if (d->n < 2 || !d->series[1].side || !fit_series(&b, d, 0, 1))
		plot_text(plot, "title", "%s: %s takes %s µs plus %s ns per %s", workload,
			  d->name[0], text_digits(a.fixed.value).s,
			  text_digits(1e3 * a.slope.value).s, per);
	else
		plot_text(plot, "title",
			  "%s: %s takes %s µs + %s ns per %s on A, %s µs + %s ns "
			  "on B",
			  workload, d->name[0], text_digits(a.fixed.value).s,
			  text_digits(1e3 * a.slope.value).s, per, text_digits(b.fixed.value).s,
			  text_digits(1e3 * b.slope.value).s);
}

static void set_lines(struct plot *plot, const struct drawn *d)
{
	const char *label = d->series[0].group->label;

	plot_count(plot, "panels", d->names);
	plot_count(plot, "groups", d->n);
	set_labels(plot, d);
	plot_text(plot, "axis", "%s", grid_row(d->grid[0], 0, "nodes") ? "nodes" : "size");
	set_size_title(plot, d);
	plot_text(plot, "finding", "Lines are fitted in each process, by relative residuals%s%s",
		  *label ? "; the title is of " : "", label);
}

/* ---- by configuration --------------------------------------------------------------------- */

/* The configuration of a side that is number i of the first one; -1: it has none. */
static int config_on(const struct drawn *d, int side, int i)
{
	return side ? grid_config_like(d->grid[0], d->grid[side], i) : i;
}

static void write_quantity(struct output *out, const struct drawn *d, int number, int i)
{
	int side = number % d->sides, config = config_on(d, side, i);
	const json_t *row =
		config < 0 ? NULL : grid_row(d->grid[side], config, d->name[number / d->sides]);
	double v[] = { number + 1, i + 1, json_get_number(row, "median"), bound(row, "lo"),
		       bound(row, "hi") };

	if (is_time(row))
		output_numbers(out, v, sizeof(v) / sizeof(*v));
}

static int rows_drawn(const struct drawn *d)
{
	int rows = grid_configs(d->grid[0]);

	return rows < ROWS_MAX ? rows : ROWS_MAX;
}

static int write_configs(struct plot *plot, const struct drawn *d)
{
	struct output out;
	int err = plot_open(plot, "points", "-points.csv", &out);

	if (err)
		return err;
	fputs("quantity,row,us,lo_us,hi_us\n", out.file);
	for (int number = 0; number < d->names * d->sides; number++)
		for (int i = 0; i < rows_drawn(d); i++)
			write_quantity(&out, d, number, i);
	return output_commit(&out);
}

static void set_configs(struct plot *plot, const struct drawn *d)
{
	char variable[16], text[64];

	plot_count(plot, "rows", rows_drawn(d));
	plot_count(plot, "quantities", d->names * d->sides);
	for (int k = 0; k < d->names * d->sides; k++) {
		const char *letter = letter_of(d, k % d->sides);

		snprintf(variable, sizeof(variable), "name%d", k + 1);
		plot_text(plot, variable, "%s%s%s", d->name[k / d->sides], *letter ? ", " : "",
			  letter);
	}
	for (int i = 0; i < rows_drawn(d); i++) {
		snprintf(variable, sizeof(variable), "row%d", i + 1);
		grid_label(d->grid[0], i, "", text, sizeof(text));
		plot_text(plot, variable, "%s", text);
	}
	plot_text(plot, "title", "%s: what its configurations take",
		  json_get_text(d->grid[0], "workload"));
	plot_text(plot, "finding", "%d of %s are drawn", rows_drawn(d),
		  counted(grid_configs(d->grid[0]), "configuration").s);
}

/* ---- all of it ---------------------------------------------------------------------------- */

static const char *device_of(const json_t *grid)
{
	return json_get_text(json_object_get(grid, "device"), "name");
}

/* The platform's declared name, or the layers that it is under. */
static void made_on_side(struct plot *plot, const struct drawn *d, int side)
{
	const json_t *grid = d->grid[side];
	const char *where = json_get_text(json_object_get(grid, "virt"), "declared_platform");
	char layers[LAYERS_TEXT];

	environment_layers(grid, layers);
	where = *where ? where : layers;
	plot_text(plot, side ? "made2" : "made1",
		  "%s: %s%s%.48s, medians of %s with 95 %% intervals, %.10s; computed on: %.60s",
		  letter_of(d, side), grid_given(grid), *where ? ", " : "", where,
		  counted(costs_processes(grid), "process").s, json_get_text(grid, "start_utc"),
		  device_of(grid));
}

static void set_made(struct plot *plot, const struct drawn *d)
{
	for (int side = 0; side < d->sides && d->sides > 1; side++)
		made_on_side(plot, d, side);
	if (d->sides > 1)
		return;
	plot_text(plot, "made1", "%s", grid_given(d->grid[0]));
	plot_text(plot, "made2", "Medians of %s with 95 %% intervals, %.10s; computed on: %.60s",
		  counted(costs_processes(d->grid[0]), "process").s,
		  json_get_text(d->grid[0], "start_utc"), plot->device);
}

static int write_data(struct plot *plot, struct drawn *d)
{
	bool sizes = true;

	for (int side = 0; side < d->sides; side++) {
		d->groups[side] = grid_groups(d->grid[side], d->group[side]);
		sizes = sizes && d->groups[side];
	}
	choose_names(d, sizes ? grid_over_size : grid_by_config,
		     sizes || d->sides < 2 ? PANELS_MAX : BY_CONFIG_MAX);
	if (!d->names)
		return complain(EINVAL, "there is nothing to draw: no row of the grid has a time");
	set_made(plot, d);
	plot->script = sizes ? "plots/grid.gp" : "plots/grid_rows.gp";
	if (!sizes) {
		set_configs(plot, d);
		return write_configs(plot, d);
	}
	list_series(d);
	set_lines(plot, d);
	return write_sizes(plot, d);
}

int grid_chart(struct picture *p, json_t *const grid[GRID_CHART_SIDES], int sides,
	       const char *folder)
{
	struct drawn *d = calloc(1, sizeof(*d));
	int err;

	CHECK(d, "memory of a chart");
	d->grid = grid;
	d->sides = sides;
	for (int side = 0; side < sides; side++) {
		d->group[side] = calloc(GRID_GROUPS_MAX, sizeof(*d->group[side]));
		CHECK(d->group[side], "memory of groups");
	}
	*p = (struct picture){ .asked = true };
	/* not the workload's name: a file may call it anything, a path too */
	plot_begin(&p->plot, folder, "grid", device_of(grid[0]));
	p->plot.option = "--output";
	err = write_data(&p->plot, d);
	if (err)
		p->plot.files = 0;
	else
		err = picture_write(p);
	if (!err)
		err = picture_draw(p);
	free(d->group[0]);
	free(d->group[1]);
	free(d);
	return err;
}
