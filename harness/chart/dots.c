/* dots.c - workloads side by side: B over A. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/chart/chart.h"
#include "harness/chart/words.h"
#include "harness/compare/format.h"
#include "workloads/workload.h"

/* A workload in one mode. */
struct row {
	const struct chart_set *set;
	enum mode mode;
	int points;
	struct interval mean;	  /* geometric, of the points' ratios */
	double shortest, longest; /* step on A, ns */
};

struct dots {
	struct row *row; /* the largest mean last */
	int rows;
};

/* ---- rows ------------------------------------------------------------------------------- */

/* The points of a row that both sides have. Returns how many. */
static int common_points(const struct row *r, struct point_pair *pair, const struct grid_point **a)
{
	const struct grid *g = &r->set->grid[0];
	int n = 0;

	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *b = chart_partner(r->set, &g->point[i]);

		if (!b || g->point[i].batch.mode != r->mode)
			continue;
		a[n] = &g->point[i];
		pair[n++] = (struct point_pair){ .a = g->point[i].total, .b = b->total };
	}
	return n;
}

static void fill_row(struct row *r)
{
	const struct chart_set *s = r->set;
	size_t capacity = (size_t)s->grid[0].n_points;
	struct point_pair *pair = calloc(capacity + 1, sizeof(*pair));
	const struct grid_point **a = calloc(capacity + 1, sizeof(*a));

	CHECK(pair && a, "memory of %zu points", capacity);
	r->points = common_points(r, pair, a);
	if (r->points)
		r->mean = chart_mean_ratio(s, pair, r->points);
	if (!r->mean.n)
		r->points = 0;
	r->shortest = INFINITY;
	for (int i = 0; i < r->points; i++) {
		r->shortest = fmin(r->shortest, a[i]->total_ns / a[i]->batch.depth);
		r->longest = fmax(r->longest, a[i]->total_ns / a[i]->batch.depth);
	}
	free(pair);
	free(a);
}

static int by_mean(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->mean.value > y->mean.value) - (x->mean.value < y->mean.value);
}

static void dots_init(struct dots *d, const struct chart_set *set, int sets)
{
	*d = (struct dots){ .row = calloc((size_t)(sets * MODE_COUNT) + 1, sizeof(*d->row)) };
	CHECK(d->row, "memory of %d workloads", sets);
	for (int i = 0; i < sets; i++)
		for (int mode = 0; mode < MODE_COUNT; mode++) {
			struct row *r = &d->row[d->rows];

			*r = (struct row){ .set = &set[i], .mode = (enum mode)mode };
			fill_row(r);
			d->rows += r->points > 0;
		}
	qsort(d->row, (size_t)d->rows, sizeof(*d->row), by_mean);
}

/* ---- data files ------------------------------------------------------------------------- */

static int write_means(const struct dots *d, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "means", "-means.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "row,ratio,ratio_lo,ratio_hi,workload,mode,points,processes\n");
	for (int i = 0; i < d->rows; i++) {
		const struct row *r = &d->row[i];

		fprintf(out.file, "%d,%.6g,", i, r->mean.value);
		if (r->mean.known)
			fprintf(out.file, "%.6g,%.6g", r->mean.lo, r->mean.hi);
		else
			fputc(',', out.file);
		fprintf(out.file, ",%s,%s,%d,%d\n", r->set->grid[0].workload->name,
			mode_name(r->mode), r->points, r->mean.n);
	}
	return output_commit(&out);
}

static int write_points(const struct dots *d, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "points", "-points.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "row,ratio,size,depth,a_step_us\n");
	for (int i = 0; i < d->rows; i++) {
		const struct row *r = &d->row[i];
		const struct grid *g = &r->set->grid[0];

		for (int k = 0; k < g->n_points; k++) {
			const struct grid_point *a = &g->point[k];
			struct interval ratio = interval_unknown(0);

			if (a->batch.mode == r->mode)
				ratio = chart_ratio(r->set, a);
			if (ratio.n)
				fprintf(out.file, "%d,%.6g,%s,%.0f,%.6g\n", i, ratio.value,
					text_real(g->size[a->size].value).s, a->batch.depth,
					a->total_ns / a->batch.depth / 1e3);
		}
	}
	return output_commit(&out);
}

/* ---- texts ------------------------------------------------------------------------------ */

static struct levels levels_of(const struct dots *d)
{
	struct levels l = { 0 };

	for (int i = 0; i < d->rows; i++)
		levels_add(&l, d->row[i].set->pair->comparison.contrast.level);
	return l;
}

/* "1.283 to 1.317 (96.9 %)": no verdict, which is rift compare's, of a whole workload. */
static struct text interval_text(const struct row *r)
{
	struct text t = { "no interval, which takes 5 processes" };

	if (r->mean.known)
		snprintf(t.s, sizeof(t.s), "%.3f to %.3f (%.3g %%)", r->mean.lo, r->mean.hi,
			 100 * r->set->pair->comparison.contrast.level);
	return t;
}

/* The interval holds 1: it may be no longer and no shorter. */
static bool is_open(const struct interval *ratio)
{
	return ratio->known && ratio->lo <= 1 && 1 <= ratio->hi;
}

static void label_plot(const struct dots *d, struct plot *p)
{
	const struct row *worst = &d->row[d->rows - 1], *best = &d->row[0];
	const struct chart_side *side = worst->set->side;
	const struct levels levels = levels_of(d);
	char text[160];

	plot_text(p, "title", "B takes %s in %s, %s mode (mean of %s): %s",
		  words_ratio(worst->mean.value).s, worst->set->grid[0].workload->name,
		  mode_name(worst->mode), counted(worst->points, "point").s,
		  interval_text(worst).s);
	*text = '\0';
	if (d->rows > 1)
		snprintf(text, sizeof(text), "least: %s in %s, %s mode%s; ",
			 words_ratio(best->mean.value).s, best->set->grid[0].workload->name,
			 mode_name(best->mode), is_open(&best->mean) ? " (not resolved)" : "");
	words_finding(p, "%slarge dots: geometric means, with %s intervals; small: points", text,
		      levels_text(&levels).s);
	plot_text(p, "made1", "%s", side[0].made);
	plot_text(p, "made2", "%s", side[1].made);
}

static void name_rows(const struct dots *d, struct plot *p)
{
	plot_count(p, "rows", d->rows);
	for (int i = 0; i < d->rows; i++) {
		const struct row *r = &d->row[i];

		plot_text(p, words_name("row", i + 1).s, "%s, %s", r->set->subject,
			  mode_name(r->mode));
		plot_text(p, words_name("native", i + 1).s, "A: %s to %s a step",
			  words_time(r->shortest).s, words_time(r->longest).s);
	}
}

int chart_dots(const struct chart_set *set, int sets, struct plot *p)
{
	struct dots d;
	int err = 1;

	if (set->sides < 2)
		return 1;
	dots_init(&d, set, sets);
	if (d.rows) {
		p->script = "plots/dots.gp";
		label_plot(&d, p);
		name_rows(&d, p);
		err = write_means(&d, p);
		if (!err)
			err = write_points(&d, p);
	}
	free(d.row);
	return err;
}
