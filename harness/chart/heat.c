/* heat.c - kernel size x depth, a panel a mode: overhead over ideal, or B over A. */
#include "harness/chart/heat.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/chart/contour.h"
#include "harness/chart/words.h"
#include "harness/stats/decide.h"

/* Iso-lines, in shares. */
static const double levels[] = { 0.05, 0.25, 1 };
enum { LEVELS = sizeof(levels) / sizeof(*levels) };

/* Lines are sought between logarithms: as far down as differences are ever seen. */
static const double share_least = 1e-3;

/* ---- cells ------------------------------------------------------------------------------ */

static const struct grid_point *point_of(const struct heat *h, int panel, int row, int column)
{
	const struct grid *g = &h->set->grid[h->side];

	return grid_find(g, h->mode[panel], h->first + row, g->depth[column]);
}

static struct interval cell_of(const struct heat *h, int panel, int row, int column)
{
	const struct grid *g = &h->set->grid[h->side];
	const struct grid_point *p = point_of(h, panel, row, column);

	if (!p || (!h->ratio && !chart_has_ideal(g, h->first + row)))
		return interval_unknown(0);
	return h->ratio ? chart_ratio(h->set, p) : chart_over_ideal(h->set, h->side, p);
}

/* ---- verdicts, B over A ------------------------------------------------------------------- */

static int cells_of(const struct heat *h)
{
	return h->panels * h->rows * h->columns;
}

static struct judged *judged_of(const struct heat *h)
{
	struct judged *all = calloc((size_t)cells_of(h) + 1, sizeof(*all));

	CHECK(all, "memory of %d verdicts", cells_of(h));
	return all;
}

bool heat_differs(const struct heat *h, const struct interval *cell)
{
	enum ratio_verdict v = h->judged[cell - h->cell].verdict;

	return v == VERDICT_SLOWER || v == VERDICT_FASTER;
}

bool heat_is_even(const struct heat *h, const struct interval *cell)
{
	return h->judged ? cell->known && !heat_differs(h, cell) : chart_is_even(cell, h->margin);
}

/* As rift compare does it. */
static struct judged judged_at(const struct heat *h, int panel, int row, int column)
{
	const struct grid_point *p = point_of(h, panel, row, column);
	const struct judged *j = p ? chart_judged(h->set, p) : NULL;

	return j ? *j : judged_unknown();
}

/* Returns how many cells were measured. */
static int heat_init(struct heat *h, const struct chart_set *s, int side, bool ratio)
{
	const struct grid *g = &s->grid[side];
	int n = 0, i = 0;

	*h = (struct heat){ .set = s, .side = side, .ratio = ratio, .columns = g->n_depths };
	h->margin = ratio ? s->margin : MARGIN_DEFAULT;
	for (int mode = 0; mode < MODE_COUNT; mode++)
		if (chart_has_mode(s, side, (enum mode)mode))
			h->mode[h->panels++] = (enum mode)mode;
	while (!ratio && h->first < g->n_sizes && !chart_has_ideal(g, h->first))
		h->first++;
	h->rows = g->n_sizes - h->first;
	h->cell = calloc((size_t)cells_of(h) + 1, sizeof(*h->cell));
	CHECK(h->cell, "memory of %d cells", cells_of(h));
	h->judged = ratio ? judged_of(h) : NULL;
	for (int panel = 0; panel < h->panels; panel++)
		for (int row = 0; row < h->rows; row++)
			for (int column = 0; column < h->columns; column++, i++) {
				h->cell[i] = cell_of(h, panel, row, column);
				if (ratio)
					h->judged[i] = judged_at(h, panel, row, column);
				n += h->cell[i].n > 0;
			}
	return n;
}

/* ---- data files ------------------------------------------------------------------------- */

static void put_interval(FILE *out, const struct interval *ratio)
{
	fprintf(out, "%.6g,", 100 * (ratio->value - 1));
	if (ratio->known)
		fprintf(out, "%.6g,%.6g", 100 * (ratio->lo - 1), 100 * (ratio->hi - 1));
	else
		fputc(',', out);
}

static int write_cells(const struct heat *h, struct plot *p)
{
	const struct grid *g = &h->set->grid[h->side];
	struct output out;
	int err = plot_open(p, "cells", "-cells.csv", &out);

	if (err)
		return err;
	fprintf(out.file,
		"panel,column,row,percent,percent_lo,percent_hi,even,label,mode,%s,depth,"
		"processes\n",
		g->axis->name);
	for (int panel = 0; panel < h->panels; panel++)
		for (int row = 0; row < h->rows; row++)
			for (int column = 0; column < h->columns; column++) {
				const struct interval *c = heat_cell(h, panel, row, column);

				if (!c->n)
					continue;
				fprintf(out.file, "%d,%d,%d,", panel, column, row);
				put_interval(out.file, c);
				fprintf(out.file, ",%d,%s,%s,%s,%ld,%d\n", heat_is_even(h, c),
					words_percent(c->value - 1).s, mode_name(h->mode[panel]),
					text_real(g->size[h->first + row].value).s,
					(long)g->depth[column], c->n);
			}
	return output_commit(&out);
}

struct line {
	FILE *out;
	int panel, level, last;
};

/* gnuplot begins a new line behind an empty one. */
static void put_point(void *arg, int line, double column, double row)
{
	struct line *l = arg;

	if (line != l->last)
		fputc('\n', l->out);
	l->last = line;
	fprintf(l->out, "%d,%g,%.4f,%.4f\n", l->panel, 100 * levels[l->level], column, row);
}

/* Returns how many lines there are. */
static int trace_panel(const struct heat *h, int panel, struct line *l)
{
	struct contour_grid g = { .columns = h->columns, .rows = h->rows };
	double *z = calloc((size_t)(g.columns * g.rows) + 1, sizeof(*z));
	int n = 0;

	CHECK(z, "memory of %d values", g.columns * g.rows);
	for (int i = 0; i < g.columns * g.rows; i++) {
		const struct interval *c = heat_cell(h, panel, 0, i);

		z[i] = c->n ? log(fmax(c->value - 1, share_least)) : NAN;
	}
	g.z = z;
	for (l->level = 0; l->level < LEVELS; l->level++) {
		l->panel = panel;
		l->last = -1;
		n += contour_trace(&g, log(levels[l->level]), put_point, l);
	}
	free(z);
	return n;
}

static int write_lines(const struct heat *h, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "lines", "-lines.csv", &out);
	struct line l;
	int n = 0;

	if (err)
		return err;
	fprintf(out.file, "panel,level_percent,column,row\n");
	l = (struct line){ .out = out.file };
	for (int panel = 0; panel < h->panels; panel++)
		n += trace_panel(h, panel, &l);
	plot_count(p, "crossed", n);
	return output_commit(&out);
}

/* ---- the chart -------------------------------------------------------------------------- */

static void name_axes(const struct heat *h, struct plot *p)
{
	const struct grid *g = &h->set->grid[h->side];

	plot_count(p, "panels", h->panels);
	plot_count(p, "columns", h->columns);
	plot_count(p, "rows", h->rows);
	for (int i = 0; i < h->panels; i++)
		plot_text(p, words_name("mode", i + 1).s, "%s", mode_name(h->mode[i]));
	for (int i = 0; i < h->columns; i++)
		plot_text(p, words_name("depth", i + 1).s, "%ld", (long)g->depth[i]);
	for (int i = 0; i < h->rows; i++) {
		const struct grid_size *size = &g->size[h->first + i];

		plot_text(p, words_name("size", i + 1).s, "%s%s%s", words_size(g, h->first + i).s,
			  g->nominal ? "" : ": ",
			  g->nominal ? "" : words_time(size->launches * size->kernel_ns).s);
	}
	if (g->nominal)
		plot_text(p, "size", "%s", words_axis(g).s);
	else
		plot_text(p, "size", "%s: %s of a step", words_axis(g).s, words_work(g));
	plot_count(p, "nominal", g->nominal);
}

static void name_makers(const struct heat *h, struct plot *p)
{
	const struct chart_side *side = h->set->side;
	char ideal[160], unseen[160];

	plot_text(p, "made1", "%s", side[h->ratio ? 0 : h->side].made);
	words_ideal(h->set, h->side, ideal, sizeof(ideal));
	plot_text(p, "made2", "%s", h->ratio ? side[1].made : ideal);
	heat_unseen(h, unseen, sizeof(unseen));
	plot_text(p, "made3", "%s", h->ratio ? "" : unseen);
	plot_count(p, "margin", lround(100 * h->margin));
	plot_text(p, "what", "%s", h->ratio ? "longer on B (%)" : "overhead over ideal (%)");
}

static int heat_write(struct heat *h, struct plot *p)
{
	int err;

	p->script = "plots/heat.gp";
	name_axes(h, p);
	name_makers(h, p);
	if (h->ratio)
		heat_say_ratio(h, p);
	else
		heat_say_overhead(h, p);
	err = write_cells(h, p);
	return err ? err : write_lines(h, p);
}

static int draw(const struct chart_set *s, int side, bool ratio, struct plot *p)
{
	struct heat h;
	int n = heat_init(&h, s, side, ratio);
	int err = n ? heat_write(&h, p) : 1;

	free(h.cell);
	free(h.judged);
	return err;
}

int chart_overhead(const struct chart_set *s, int side, struct plot *p)
{
	return draw(s, side, false, p);
}

int chart_ratios(const struct chart_set *s, struct plot *p)
{
	return s->sides > 1 ? draw(s, 0, true, p) : 1;
}
