/* grid_chart.c - a grid of probes drawn: times over the size axis, or of each configuration. */
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

enum { PANELS_MAX = 4, ROWS_MAX = 40 };

/* What is drawn where there is a choice: of graphs the calls that programs wait for. */
static const char *const over_size[] = { "launch call, idle", "first launch call, idle",
					 "instantiate", "launch end to end", NULL };
static const char *const by_config[] = { "first chain's end", "last chain's end",
					 "launch end to end", NULL };

struct drawn {
	const json_t *grid;
	const char *name[PANELS_MAX]; /* of rows */
	int names;
	struct grid_group *group;
	int groups;
	char head[64]; /* the first configuration's parameters that do not vary are in made1 */
};

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

static void add_name(struct drawn *d, const char *name)
{
	for (int k = 0; k < d->names; k++)
		if (!strcmp(d->name[k], name))
			return;
	if (d->names < PANELS_MAX && has_time(d->grid, name))
		d->name[d->names++] = name;
}

/* Those of the list that the grid has; where it has none, its first ones. */
static void choose_names(struct drawn *d, const char *const *list)
{
	const json_t *row;
	size_t i;

	for (; *list; list++)
		add_name(d, *list);
	if (d->names)
		return;
	json_array_foreach(json_object_get(d->grid, "rows"), i, row)
	{
		if (json_object_get(row, "config"))
			add_name(d, json_get_text(row, "name"));
	}
}

/* A number of the row, or its median where the interval is not known. */
static double bound(const json_t *row, const char *key)
{
	double v = json_get_number(row, key);

	return isfinite(v) ? v : json_get_number(row, "median");
}

/* ---- over the size ------------------------------------------------------------------------ */

static void write_group(struct output *out, const struct drawn *d, int panel, int group)
{
	const struct grid_group *g = &d->group[group];
	struct grid_line line;
	bool fitted = grid_fit(&line, d->grid, g, d->name[panel]);

	for (int k = 0; k < g->n; k++) {
		const json_t *row = grid_row(d->grid, g->config[k], d->name[panel]);
		double size = grid_size(d->grid, g->config[k]);
		double v[] = { panel + 1,
			       group + 1,
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
		for (int group = 0; group < d->groups; group++)
			write_group(&out, d, panel, group);
	return output_commit(&out);
}

static void set_fit(struct plot *plot, const struct drawn *d, int panel, int group)
{
	struct grid_line l;
	char variable[24];

	snprintf(variable, sizeof(variable), "fit%d_%d", panel + 1, group + 1);
	if (grid_fit(&l, d->grid, &d->group[group], d->name[panel]))
		plot_text(plot, variable, "%s µs + %s ns", text_digits(l.fixed.value).s,
			  text_digits(1e3 * l.slope.value).s);
	else
		plot_text(plot, variable, "no line");
}

static void set_lines(struct plot *plot, const struct drawn *d)
{
	char variable[16];
	struct grid_line l;

	plot_count(plot, "panels", d->names);
	plot_count(plot, "groups", d->groups);
	for (int k = 0; k < d->names; k++) {
		snprintf(variable, sizeof(variable), "panel%d", k + 1);
		plot_text(plot, variable, "%s", d->name[k]);
		for (int g = 0; g < d->groups; g++)
			set_fit(plot, d, k, g);
	}
	for (int g = 0; g < d->groups; g++) {
		snprintf(variable, sizeof(variable), "group%d", g + 1);
		plot_text(plot, variable, "%s", d->group[g].label);
	}
	plot_text(plot, "axis", "%s", grid_row(d->grid, 0, "nodes") ? "nodes" : "size");
	if (grid_fit(&l, d->grid, &d->group[0], d->name[0]))
		plot_text(plot, "title", "%s: %s takes %s µs plus %s ns per node",
			  json_get_text(d->grid, "workload"), d->name[0],
			  text_digits(l.fixed.value).s, text_digits(1e3 * l.slope.value).s);
	else
		plot_text(plot, "title", "%s: its calls over their size",
			  json_get_text(d->grid, "workload"));
	plot_text(plot, "finding", "Lines are fitted in each process, by relative residuals%s%s",
		  *d->group[0].label ? "; the title is of " : "", d->group[0].label);
}

/* ---- by configuration --------------------------------------------------------------------- */

static int write_configs(struct plot *plot, const struct drawn *d)
{
	struct output out;
	int err = plot_open(plot, "points", "-points.csv", &out);

	if (err)
		return err;
	fputs("quantity,row,us,lo_us,hi_us\n", out.file);
	for (int k = 0; k < d->names; k++)
		for (int i = 0; i < grid_configs(d->grid) && i < ROWS_MAX; i++) {
			const json_t *row = grid_row(d->grid, i, d->name[k]);
			double v[] = { k + 1, i + 1, json_get_number(row, "median"),
				       bound(row, "lo"), bound(row, "hi") };

			if (is_time(row))
				output_numbers(&out, v, sizeof(v) / sizeof(*v));
		}
	return output_commit(&out);
}

static void set_configs(struct plot *plot, const struct drawn *d)
{
	int rows = grid_configs(d->grid);
	char variable[16], text[64];

	rows = rows < ROWS_MAX ? rows : ROWS_MAX;
	plot_count(plot, "rows", rows);
	plot_count(plot, "quantities", d->names);
	for (int k = 0; k < d->names; k++) {
		snprintf(variable, sizeof(variable), "name%d", k + 1);
		plot_text(plot, variable, "%s", d->name[k]);
	}
	for (int i = 0; i < rows; i++) {
		snprintf(variable, sizeof(variable), "row%d", i + 1);
		grid_label(d->grid, i, "", text, sizeof(text));
		plot_text(plot, variable, "%s", text);
	}
	plot_text(plot, "title", "%s: what its configurations take",
		  json_get_text(d->grid, "workload"));
	plot_text(plot, "finding", "%d of %d configurations are drawn", rows,
		  grid_configs(d->grid));
}

/* ---- all of it ---------------------------------------------------------------------------- */

static int write_data(struct plot *plot, struct drawn *d)
{
	const char *given = grid_given(d->grid);

	d->groups = grid_groups(d->grid, d->group);
	choose_names(d, d->groups ? over_size : by_config);
	if (!d->names)
		return complain(EINVAL, "there is nothing to draw: no row of the grid has a time");
	plot_text(plot, "made1", "%s", given);
	plot_text(plot, "made2", "Medians of %s with 95 %% intervals, %.10s; computed on: %.60s",
		  counted(costs_processes(d->grid), "process").s,
		  json_get_text(d->grid, "start_utc"), plot->device);
	plot->script = d->groups ? "plots/grid.gp" : "plots/grid_rows.gp";
	if (d->groups)
		set_lines(plot, d);
	else
		set_configs(plot, d);
	return d->groups ? write_sizes(plot, d) : write_configs(plot, d);
}

int grid_chart(struct picture *p, const json_t *grid, const char *folder)
{
	struct drawn d = { .grid = grid, .group = calloc(GRID_GROUPS_MAX, sizeof(*d.group)) };
	int err;

	CHECK(d.group, "memory of groups");
	*p = (struct picture){ .asked = true };
	/* not the workload's name: a file may call it anything, a path too */
	plot_begin(&p->plot, folder, "grid",
		   json_get_text(json_object_get(grid, "device"), "name"));
	p->plot.option = "--output";
	err = write_data(&p->plot, &d);
	if (err)
		p->plot.files = 0;
	else
		err = picture_write(p);
	if (!err)
		err = picture_draw(p);
	free(d.group);
	return err;
}
