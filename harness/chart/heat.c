/* heat.c - kernel size x depth, a panel a mode: overhead over ideal, or B over A. */
#include "harness/chart/heat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/param.h"
#include "common/plural.h"
#include "harness/chart/words.h"
#include "harness/fit/derive.h"
#include "harness/stats/decide.h"

/* ---- kernel size x depth, a panel a mode: overhead over ideal, or B over A -------------- */

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

static int count_cells(const struct heat *h)
{
	return h->panels * h->rows * h->columns;
}

static struct judged *new_judged(const struct heat *h)
{
	struct judged *all = calloc((size_t)count_cells(h) + 1, sizeof(*all));

	CHECK(all, "memory of %d verdicts", count_cells(h));
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
	h->cell = calloc((size_t)count_cells(h) + 1, sizeof(*h->cell));
	CHECK(h->cell, "memory of %d cells", count_cells(h));
	h->judged = ratio ? new_judged(h) : NULL;
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

/* Over ideal by more than 5 %; of B over A: shown to differ. */
static bool is_inside(const struct heat *h, const struct interval *cell)
{
	return h->ratio ? heat_differs(h, cell) : cell->value - 1 > CHART_SHARE;
}

/* Were both measured, and is one inside? */
static bool is_border(const struct heat *h, const struct interval *cell,
		      const struct interval *other)
{
	return cell->n && other->n && is_inside(h, cell) != is_inside(h, other);
}

/* gnuplot begins a new line after an empty one. */
static void put_border(int panel, double column, double row, double to_column, double to_row,
		       FILE *out)
{
	fprintf(out, "%d,%g,%g\n%d,%g,%g\n\n", panel, column, row, panel, to_column, to_row);
}

/* The borders of a cell with the one above and the one to the right. Returns how many. */
static int put_borders(const struct heat *h, int panel, int row, int column, FILE *out)
{
	const struct interval *cell = heat_cell(h, panel, row, column);
	int n = 0;

	if (row + 1 < h->rows && is_border(h, cell, heat_cell(h, panel, row + 1, column))) {
		put_border(panel, column - 0.5, row + 0.5, column + 0.5, row + 0.5, out);
		n++;
	}
	if (column + 1 < h->columns && is_border(h, cell, heat_cell(h, panel, row, column + 1))) {
		put_border(panel, column + 0.5, row - 0.5, column + 0.5, row + 0.5, out);
		n++;
	}
	return n;
}

static int write_borders(const struct heat *h, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "borders", "-borders.csv", &out), n = 0;

	if (err)
		return err;
	fprintf(out.file, "panel,column,row\n");
	for (int panel = 0; panel < h->panels; panel++)
		for (int row = 0; row < h->rows; row++)
			for (int column = 0; column < h->columns; column++)
				n += put_borders(h, panel, row, column, out.file);
	plot_count(p, "bordered", n);
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
	plot_text(p, "border", "%s", h->ratio ? "inside: shown to differ" : "border: 5 %");
}

static int heat_write(struct heat *h, struct plot *p)
{
	int err;

	p->script = "plots/heat.gp";
	name_axes(h, p);
	name_makers(h, p);
	if (h->ratio)
		heat_label_ratio(h, p);
	else
		heat_label_overhead(h, p);
	err = write_cells(h, p);
	return err ? err : write_borders(h, p);
}

static int draw_heat(const struct chart_set *s, int side, bool ratio, struct plot *p)
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
	return draw_heat(s, side, false, p);
}

int chart_ratios(const struct chart_set *s, struct plot *p)
{
	return s->sides > 1 ? draw_heat(s, 0, true, p) : 1;
}

/* ---- the worst and the best cell -------------------------------------------------------- */

struct place {
	int panel, row, column;
	const struct interval *cell; /* NULL: nothing was measured */
};

/* The cell with the largest (direction 1) or smallest (-1) ratio; `apart`: of those that differ. */
static struct place furthest(const struct heat *h, int direction, bool apart)
{
	struct place best = { 0 };

	for (int panel = 0; panel < h->panels; panel++)
		for (int row = 0; row < h->rows; row++)
			for (int column = 0; column < h->columns; column++) {
				const struct interval *c = heat_cell(h, panel, row, column);

				if (!c->n || (apart && !heat_differs(h, c)))
					continue;
				if (!best.cell || direction * (c->value - best.cell->value) > 0)
					best = (struct place){ panel, row, column, c };
			}
	return best;
}

static struct text place_text(const struct heat *h, const struct place *at)
{
	const struct grid *g = &h->set->grid[h->side];
	struct text t;

	snprintf(t.s, sizeof(t.s), "%s, %.40s, depth %ld", mode_name(h->mode[at->panel]),
		 words_of_size(g, h->first + at->row).s, (long)g->depth[at->column]);
	return t;
}

/* ---- the size from which on overhead is small ------------------------------------------- */

/* Which measured cells of a column are at most the share: all, none, or those from some size on. */
enum column_kind { NOTHING, ALL_SMALL, NONE_SMALL, SMALL_FROM };

struct column {
	enum column_kind kind;
	double ns, value; /* SMALL_FROM: the kernel and the size at which it crosses the share */
};

/*
 * How long kernels must be, ns, by the model, as rift fit says it; where the model has no answer,
 * what was measured.
 */
static double by_model(const struct heat *h, int panel, int column, double share,
		       double measured_ns)
{
	const struct chart_set *s = h->set;
	const struct grid *g = &s->grid[h->side];
	struct answer a = { .kind = ANSWER_UNKNOWN };

	if (g->nominal && s->fitted[h->side])
		a = smallest_kernel_over_ideal(&s->fit[h->side], h->mode[panel],
					       (double)g->depth[column], share);
	return a.kind == ANSWER_VALUE ? a.interval.value : measured_ns;
}

/* Measured on a straight line between logarithms, from the row above to this one. */
static struct column crossing(const struct heat *h, int panel, int row, int column, double share)
{
	const struct grid_size *size = &h->set->grid[h->side].size[h->first + row];
	double above = heat_cell(h, panel, row - 1, column)->value - 1;
	double below = heat_cell(h, panel, row, column)->value - 1;

	return (struct column){
		.kind = SMALL_FROM,
		.ns = by_model(
			h, panel, column, share,
			chart_crossing(share, size[-1].kernel_ns, above, size->kernel_ns, below)),
		.value = chart_crossing(share, size[-1].value, above, size->value, below),
	};
}

static struct column judge_column(const struct heat *h, int panel, int column, double share)
{
	int seen = 0, small = 0, last = -1;

	/* from the largest size down, as long as they are small */
	for (int row = h->rows - 1; row >= 0; row--) {
		const struct interval *c = heat_cell(h, panel, row, column);

		if (!c->n)
			continue;
		if (c->value - 1 <= share && small == seen) {
			small++;
			last = row;
		}
		seen++;
	}
	if (!seen || small == seen || !small)
		return (struct column){ .kind = !seen ? NOTHING : small ? ALL_SMALL : NONE_SMALL };
	if (!heat_cell(h, panel, last - 1, column)->n)
		return (struct column){ .kind = NOTHING };
	return crossing(h, panel, last, column, share);
}

/* "kernels from 181 µs at depth 1"; "": not known. `noun` and `from` may be "". */
static struct text column_text(const struct heat *h, int panel, int column, const char *noun,
			       const char *from)
{
	struct column c = judge_column(h, panel, column, CHART_SHARE);
	long depth = (long)h->set->grid[h->side].depth[column];
	const char *gap = *noun ? " " : "";
	struct text t = { "" };

	if (c.kind == SMALL_FROM)
		snprintf(t.s, sizeof(t.s), "%s%s%s%.20s at depth %ld", noun, gap, from,
			 words_time(c.ns).s, depth);
	else if (c.kind == ALL_SMALL)
		snprintf(t.s, sizeof(t.s), "all%s%s at depth %ld", gap, noun, depth);
	else if (c.kind == NONE_SMALL)
		snprintf(t.s, sizeof(t.s), "%s%s%s at depth %ld", *noun ? "no" : "none", gap, noun,
			 depth);
	return t;
}

/*
 * The smallest depth, and the first from which on all is small, else the largest that brackets
 * the share. The first text of a chart has a noun, "kernels".
 */
static void mode_text(const struct heat *h, int panel, const char *noun, char *out, size_t size)
{
	int first = -1, last = -1, all = -1;
	struct text a = { "" }, b = { "" };
	bool settled = false;  /* all is small at the least depth: what noise shows later is none */
	bool some = false;     /* at some depth something is small */
	const char *from = ""; /* of the second text: the first has it where it has a length */

	for (int column = 0; column < h->columns; column++) {
		enum column_kind kind = judge_column(h, panel, column, CHART_SHARE).kind;

		if (kind == NOTHING)
			continue;
		if (first < 0)
			from = kind == SMALL_FROM ? "" : "from ";
		settled |= first < 0 && kind == ALL_SMALL;
		some |= kind != NONE_SMALL;
		first = first < 0 ? column : first;
		last = kind == SMALL_FROM ? column : last;
		all = kind != ALL_SMALL ? -1 : all < 0 ? column : all;
	}
	last = all >= 0 ? all : last;
	if (first >= 0 && some)
		a = column_text(h, panel, first, noun, "from ");
	else if (first >= 0)
		snprintf(a.s, sizeof(a.s), "none at any depth");
	if (last > first && !settled)
		b = column_text(h, panel, last, "", from);
	snprintf(out, size, "%s: %s%s%s", mode_name(h->mode[panel]), a.s, *b.s ? ", " : "", b.s);
}

/* "launch: under 5 % overhead, stream: kernels from 160 µs at depth 1, ..." */
static void label_overhead(const struct heat *h, struct plot *p)
{
	char finding[512] = "", text[192];
	size_t used = 0;

	for (int i = 0; i < h->panels && used < sizeof(finding); i++) {
		mode_text(h, i, i ? "" : words_work(&h->set->grid[h->side]), text, sizeof(text));
		if (!i)
			words_title(p, h->set, h->side, "under 5 %% overhead, %s", text);
		else
			used += (size_t)snprintf(finding + used, sizeof(finding) - used, "%s%s",
						 used ? "; " : "", text);
	}
	words_finding(p, "%s", used ? finding : "");
}

void heat_label_overhead(const struct heat *h, struct plot *p)
{
	const struct place worst = furthest(h, 1, false), best = furthest(h, -1, false);

	if (worst.cell->value - 1 <= CHART_SHARE)
		words_title(p, h->set, h->side, "at most %s %% over ideal everywhere",
			    words_percent(worst.cell->value - 1).s);
	else if (best.cell->value - 1 > CHART_SHARE)
		words_title(p, h->set, h->side, "at least %s %% over ideal everywhere",
			    words_percent(best.cell->value - 1).s);
	else {
		label_overhead(h, p);
		return;
	}
	words_finding(p, "most: %s %% (%s); least: %s %% (%s)",
		      words_percent(worst.cell->value - 1).s, place_text(h, &worst).s,
		      words_percent(best.cell->value - 1).s, place_text(h, &best).s);
}

/* ---- the size from which on it is hardly to be seen -------------------------------------- */

static const double share_unseen = 0.01;

/* A size that lies between two that were swept: three digits. */
static struct text size_text(double value)
{
	double unit = pow(10, fmax(floor(log10(value)) - 2, 0));
	struct text t;

	snprintf(t.s, sizeof(t.s), value < 100 ? "%.3g" : "%.0f",
		 value < 100 ? value : round(value / unit) * unit);
	return t;
}

/* "stream from 720 µs (samples=12)", "graph nowhere"; "" where it was not measured. */
static struct text unseen_text(const struct heat *h, int panel)
{
	const struct grid *g = &h->set->grid[h->side];
	struct column c = judge_column(h, panel, 0, share_unseen);
	const char *mode = mode_name(h->mode[panel]);
	struct text t = { "" };

	if (c.kind == SMALL_FROM && g->nominal)
		snprintf(t.s, sizeof(t.s), "%s from %.20s", mode, words_time(c.ns).s);
	else if (c.kind == SMALL_FROM)
		snprintf(t.s, sizeof(t.s), "%s from %.20s (%.24s=%.8s)", mode, words_time(c.ns).s,
			 g->axis->name, size_text(c.value).s);
	else if (c.kind != NOTHING)
		snprintf(t.s, sizeof(t.s), "%s %s", mode,
			 c.kind == ALL_SMALL ? "everywhere" : "nowhere");
	return t;
}

void heat_unseen(const struct heat *h, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < h->panels && used < size; i++) {
		const struct text t = unseen_text(h, i);

		if (*t.s && !used)
			used = (size_t)snprintf(out, size, "under 1 %% at depth %ld: %s",
						(long)h->set->grid[h->side].depth[0], t.s);
		else if (*t.s)
			used += (size_t)snprintf(out + used, size - used, ", %s", t.s);
	}
}

/* ---- B over A --------------------------------------------------------------------------- */

static void count_verdicts(const struct heat *h, int of[VERDICT_INCONCLUSIVE + 1])
{
	for (int i = 0; i < h->panels * h->rows * h->columns; i++)
		if (h->cell[i].n)
			of[h->judged[i].verdict]++;
}

/* The slowest of the cells that differ, or the fastest where none is slower; cell NULL: none. */
static struct place most_different(const struct heat *h)
{
	struct place slowest = furthest(h, 1, true);

	return slowest.cell && slowest.cell->value > 1 ? slowest : furthest(h, -1, true);
}

/* "; 3 failed": points that are left out, as some process has no good result of them. */
static struct text failed_text(const struct heat *h)
{
	int failed = h->set->grid[0].failed + h->set->grid[1].failed;
	struct text t = { "" };

	if (failed)
		snprintf(t.s, sizeof(t.s), "; %d failed", failed);
	return t;
}

static void label_verdicts(const struct heat *h, const int of[VERDICT_INCONCLUSIVE + 1],
			   struct plot *p)
{
	int points = of[VERDICT_SLOWER] + of[VERDICT_FASTER] + of[VERDICT_SAME] +
		     of[VERDICT_INCONCLUSIVE];

	if (furthest(h, 1, false).cell->known)
		words_finding(p,
			      "B is slower by more than %.0f %% at %d of %d points, faster at %d; "
			      "same at %d, inconclusive at %d%s%s",
			      100 * h->margin, of[VERDICT_SLOWER], points, of[VERDICT_FASTER],
			      of[VERDICT_SAME], of[VERDICT_INCONCLUSIVE], failed_text(h).s,
			      h->set->two_sessions ? "; two sessions" : "");
	else
		words_finding(p, "%s; intervals take 5 processes: none is shown to differ",
			      counted(points, "point").s);
}

void heat_label_ratio(const struct heat *h, struct plot *p)
{
	int of[VERDICT_INCONCLUSIVE + 1] = { 0 };
	struct place at;

	count_verdicts(h, of);
	at = most_different(h);
	if (at.cell)
		words_title(p, h->set, -1, "B takes up to %s (%s)", words_ratio(at.cell->value).s,
			    place_text(h, &at).s);
	else
		words_title(p, h->set, -1, "B is not shown to differ from A at any of %d points",
			    of[VERDICT_SAME] + of[VERDICT_INCONCLUSIVE]);
	label_verdicts(h, of, p);
}
