/* grid_text.c - a grid of probes as text: tables of the configurations, and lines over the size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"

enum { COLUMNS = 4, CELL = 21 };

static bool is_listed(const char *const *list, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

/* "9.31 us ±1.2 %": half the interval's width; without one the value alone. */
static void cell_text(const json_t *row, char *out, size_t size)
{
	double value = json_get_number(row, "median"), lo = json_get_number(row, "lo");
	double half = (json_get_number(row, "hi") - lo) / 2 / fabs(value);

	if (!isfinite(value))
		snprintf(out, size, "-");
	else if (isfinite(half) && half > 0)
		snprintf(out, size, "%s ±%s %%", costs_number(value, json_get_text(row, "unit")),
			 text_half_width(half, 1).s);
	else
		snprintf(out, size, "%s", costs_number(value, json_get_text(row, "unit")));
}

/* printf() pads by bytes, and ± has two. */
static void print_cell(const char *text, FILE *out)
{
	int wide = strstr(text, "±") ? 1 : 0;

	fprintf(out, "  %*s", CELL + wide, text);
}

static int label_width(const json_t *grid)
{
	size_t most = 13;

	for (int i = 0; i < grid_configs(grid); i++) {
		char text[64];

		grid_label(grid, i, "", text, sizeof(text));
		most = strlen(text) > most ? strlen(text) : most;
	}
	return (int)most;
}

static void print_table(const json_t *grid, const char *const *name, int n, int width, FILE *out)
{
	char text[96];

	fprintf(out, "\n%-*s", width, "configuration");
	for (int k = 0; k < n; k++)
		fprintf(out, "  %*s", CELL, text_shown(name[k]).s);
	fputc('\n', out);
	for (int i = 0; i < grid_configs(grid); i++) {
		grid_label(grid, i, "", text, sizeof(text));
		fprintf(out, "%-*s", width, text);
		for (int k = 0; k < n; k++) {
			cell_text(grid_row(grid, i, name[k]), text, sizeof(text));
			print_cell(text, out);
		}
		fputc('\n', out);
	}
}

static void print_interval(const struct interval *i, double scale, const char *unit, FILE *out)
{
	fprintf(out, "%s %s", text_digits(scale * i->value).s, unit);
	if (i->known)
		fprintf(out, " (%s to %s)", text_digits(scale * i->lo).s,
			text_digits(scale * i->hi).s);
}

/* False: there is none. */
static bool print_line(const json_t *grid, const struct grid_group *g, const char *name, int width,
		       FILE *out)
{
	const char *unit = json_get_text(grid_row(grid, g->config[0], name), "unit");
	struct grid_line line;

	if (strcmp(unit, "us") || !grid_fit(&line, grid, g, name))
		return false;
	fprintf(out, "%-24s %-*s ", text_shown(name).s, width, g->label);
	print_interval(&line.fixed, 1, "us", out);
	fprintf(out, " + ");
	print_interval(&line.slope, 1e3, "ns", out);
	fputc('\n', out);
	return true;
}

static void print_lines(const json_t *grid, const char *const *name, int n, FILE *out)
{
	struct grid_group *group = calloc(GRID_GROUPS_MAX, sizeof(*group));
	int groups, width = 0, lines = 0;

	CHECK(group, "memory of groups");
	groups = grid_groups(grid, group);
	for (int g = 0; g < groups; g++)
		width = (int)fmax(width, (double)strlen(group[g].label));
	if (groups)
		fprintf(out,
			"\nlines: fixed + a part for each %s; medians of the processes' lines, "
			"95 %% intervals\n",
			grid_row(grid, 0, "nodes") ? "node" : "unit of the size");
	for (int k = 0; k < n; k++)
		for (int g = 0; g < groups; g++)
			lines += print_line(grid, &group[g], name[k], width, out);
	if (groups && !lines)
		fprintf(out, "none: no time was measured at every size\n");
	free(group);
}

/* Each row without a value once: of the first configuration that has it. */
static void print_reasons(const json_t *grid, FILE *out)
{
	const char *said[GRID_NAMES_MAX] = { NULL };
	const json_t *row;
	size_t i;
	int n = 0;

	json_array_foreach(json_object_get(grid, "rows"), i, row)
	{
		const char *name = json_get_text(row, "name"), *why = json_get_text(row, "text");

		if (n == GRID_NAMES_MAX || !*why || !json_object_get(row, "config") ||
		    isfinite(json_get_number(row, "median")) || is_listed(said, n, name))
			continue;
		fprintf(out, "%s%-24s %s\n", n ? "" : "\n", text_shown(name).s,
			text_escaped(why).s);
		said[n++] = name;
	}
}

void grid_print(const json_t *grid, FILE *out)
{
	const char *name[GRID_NAMES_MAX] = { NULL };
	int n = grid_names(grid, name), width = label_width(grid);

	costs_print_head(grid, out);
	fprintf(out, "workload         %s\n", grid_given(grid));
	for (int k = 0; k < n; k += COLUMNS)
		print_table(grid, name + k, n - k < COLUMNS ? n - k : COLUMNS, width, out);
	print_lines(grid, name, n, out);
	print_reasons(grid, out);
	costs_print_failed(grid, out);
}
