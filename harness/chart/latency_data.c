/* latency_data.c - the data files of a latency chart. */
#include <math.h>
#include <stdio.h>

#include "harness/chart/latency.h"

/* Points of a fitted line, evenly spaced in the logarithm. */
enum { LINE_POINTS = 60 };

const struct grid *latency_grid(const struct latency *l, int series)
{
	return &l->set->grid[l->series[series].side];
}

const struct grid_point *latency_point(const struct latency *l, int series, int size, int64_t depth)
{
	return grid_find(latency_grid(l, series), l->series[series].mode, size, depth);
}

const struct grid_point *latency_smallest(const struct latency *l, int series, int64_t depth)
{
	int size = l->smallest[l->series[series].side];

	return size < 0 ? NULL : latency_point(l, series, size, depth);
}

double latency_place(const struct grid *g, int size)
{
	return g->nominal ? g->size[size].kernel_ns / 1e3 : g->size[size].value;
}

int latency_first(const struct grid *g)
{
	int first = 0;

	while (first < g->n_sizes - 1 && !(latency_place(g, first) > 0))
		first++;
	return first;
}

static bool has_fit(const struct latency *l, int k)
{
	const struct series *s = &l->series[k];

	return l->set->fitted[s->side] && l->set->fit[s->side].has[s->mode];
}

/* ---- data files ------------------------------------------------------------------------- */

static void put_interval(FILE *out, const struct interval *c)
{
	fprintf(out, ",%.6g", c->value / 1e3);
	if (c->known)
		fprintf(out, ",%.6g,%.6g", c->lo / 1e3, c->hi / 1e3);
	else
		fprintf(out, ",,");
}

static void put_end(FILE *out, const struct latency *l, int k, const struct interval *c)
{
	fprintf(out, ",%s,%s,%d\n", mode_name(l->series[k].mode),
		l->set->side[l->series[k].side].letter, c->n);
}

static int write_depths(const struct latency *l, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "depths", "-depths.csv", &out);

	if (err)
		return err;
	fprintf(out.file,
		"series,depth,block_us,block_us_lo,block_us_hi,mode,platform,processes\n");
	for (int k = 0; k < l->n; k++)
		for (int i = 0; i < latency_grid(l, k)->n_depths; i++) {
			int64_t depth = latency_grid(l, k)->depth[i];
			const struct grid_point *at = latency_smallest(l, k, depth);
			struct interval c;

			if (!at)
				continue;
			c = chart_total(l->set, l->series[k].side, at);
			fprintf(out.file, "%d,%ld", k + 1, (long)depth);
			put_interval(out.file, &c);
			put_end(out.file, l, k, &c);
		}
	return output_commit(&out);
}

static int write_lengths(const struct latency *l, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "lengths", "-lengths.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,%s,step_us,step_us_lo,step_us_hi,mode,platform,processes\n",
		latency_grid(l, 0)->axis->name);
	for (int k = 0; k < l->n; k++)
		for (int i = 0; i < latency_grid(l, k)->n_sizes; i++) {
			const struct grid_point *at = latency_point(l, k, i, l->depth);
			struct interval c;

			if (!at || !(latency_place(latency_grid(l, k), i) > 0))
				continue;
			c = chart_step(l->set, l->series[k].side, at);
			fprintf(out.file, "%d,%.6g", k + 1, latency_place(latency_grid(l, k), i));
			put_interval(out.file, &c);
			put_end(out.file, l, k, &c);
		}
	return output_commit(&out);
}

/* ---- fitted lines ----------------------------------------------------------------------- */

/*
 * The whole depth next to a point between the first and last. Of graphs a power of two: other
 * depths are several graphs, and the line would be jagged.
 */
static double depth_between(const struct grid *g, enum mode mode, int i)
{
	double first = (double)g->depth[0], last = (double)g->depth[g->n_depths - 1];
	double depth = first * pow(last / first, (double)i / LINE_POINTS);

	return mode == MODE_GRAPH ? exp2(round(log2(depth))) : round(depth);
}

static void put_depth_line(const struct latency *l, int k, FILE *out)
{
	const struct grid *g = latency_grid(l, k);
	const struct fit *f = &l->set->fit[l->series[k].side];
	const struct grid_size *size = &g->size[l->smallest[l->series[k].side]];
	struct batch b = { .mode = l->series[k].mode,
			   .launches = size->launches,
			   .kernel_ns = size->kernel_ns };

	for (int i = 0; i <= LINE_POINTS; i++) {
		double before = b.depth;

		b.depth = depth_between(g, b.mode, i);
		if (b.depth > before && fit_covers(f, &b))
			fprintf(out, "%d,%.0f,%.6g\n", k + 1, b.depth,
				model_total_ns(&f->model, &b) / 1e3);
	}
	fputc('\n', out);
}

static int write_depth_lines(const struct latency *l, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "depth_lines", "-depths-fit.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,depth,block_us\n");
	for (int k = 0; k < l->n; k++)
		if (has_fit(l, k) && l->smallest[l->series[k].side] >= 0)
			put_depth_line(l, k, out.file);
	return output_commit(&out);
}

/*
 * Time per step, or for k < 0 what is ideal on A, for the nominal kernel that is `place` of the way
 * from the first size to the last; where K is measured, sizes only.
 */
static void put_length(const struct latency *l, int k, double place, FILE *out)
{
	const struct grid *g = latency_grid(l, k < 0 ? 0 : k);
	const struct model *m = &l->set->fit[k < 0 ? 0 : l->series[k].side].model;
	int first = latency_first(g), last = g->n_sizes - 1, size = (int)round(place * last);
	struct batch b = { .mode = l->series[k < 0 ? 0 : k].mode, .depth = (double)l->depth };
	double x = g->size[size].value;

	b.launches = g->size[size].launches;
	b.kernel_ns = g->size[size].kernel_ns;
	if (g->nominal) {
		b.kernel_ns = g->size[first].kernel_ns *
			      pow(g->size[last].kernel_ns / g->size[first].kernel_ns, place);
		x = b.kernel_ns / 1e3;
	}
	fprintf(out, "%d,%.6g,%.6g\n", k + 1, x,
		(k < 0 ? model_ideal_ns(m, &b) : model_total_ns(m, &b)) / 1e3 / b.depth);
}

static void put_length_line(const struct latency *l, int k, FILE *out)
{
	const struct grid *g = latency_grid(l, k < 0 ? 0 : k);
	int n = g->nominal ? LINE_POINTS : g->n_sizes - 1;

	for (int i = 0; i <= n; i++)
		put_length(l, k, (double)i / n, out);
	fputc('\n', out);
}

static int write_length_lines(const struct latency *l, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "length_lines", "-lengths-fit.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,%s,step_us\n", latency_grid(l, 0)->axis->name);
	for (int k = 0; k < l->n; k++)
		if (has_fit(l, k) && l->lengths)
			put_length_line(l, k, out.file);
	if (l->set->fitted[0] && l->lengths)
		put_length_line(l, -1, out.file); /* series 0 */
	return output_commit(&out);
}

int latency_write(const struct latency *l, struct plot *p)
{
	int err = write_depths(l, p);

	if (!err)
		err = write_lengths(l, p);
	if (!err)
		err = write_depth_lines(l, p);
	return err ? err : write_length_lines(l, p);
}
