/* latency.c - a block against its depth, and a step against the length of its kernels. */
#include "common/param.h"
#include "harness/chart/latency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/chart/words.h"

/* ---- the data files of a latency chart -------------------------------------------------- */

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

/* ---- which fitted lines are drawn ------------------------------------------------------- */

static bool is_drawn(double off)
{
	return off <= FIT_ERROR_MAX;
}

/* For the sizes that the panel of lengths has. */
static double lengths_off(const struct latency *l, int k)
{
	const struct series *s = &l->series[k];
	const struct grid *g = latency_grid(l, k);
	double off = NAN;

	for (int i = 0; i < g->n_sizes; i++)
		if (latency_place(g, i) > 0)
			off = fmax(off, fit_error(&l->set->fit[s->side], s->mode,
						  g->size[i].kernel_ns, (double)l->depth));
	return off;
}

static void hold_lines(struct latency *l)
{
	for (int k = 0; k < l->n; k++) {
		struct series *s = &l->series[k];
		const struct fit *f = &l->set->fit[s->side];
		int smallest = l->smallest[s->side];

		s->depths_off = s->lengths_off = NAN;
		if (!l->set->fitted[s->side] || !f->has[s->mode])
			continue;
		if (l->depths && smallest >= 0)
			s->depths_off = fit_error(
				f, s->mode, latency_grid(l, k)->size[smallest].kernel_ns, NAN);
		if (l->lengths)
			s->lengths_off = lengths_off(l, k);
	}
}

/* Units of a fused launch may be shorter than kernels. */
static bool ideal_holds(const struct latency *l)
{
	const struct grid *g = &l->set->grid[0];

	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];

		if (p->batch.mode != MODE_FUSED && (int64_t)p->batch.depth == l->depth &&
		    model_ideal_ns(&l->set->fit[0].model, &p->batch) >
			    (1 + FIT_ERROR_MAX) * p->total_ns)
			return false;
	}
	return true;
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
 * The whole depth next to a point between the first and last. Graphs get a power of two: other
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
	int lines = 0, err = plot_open(p, "depth_lines", "-depths-fit.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,depth,block_us\n");
	for (int k = 0; k < l->n; k++)
		if (is_drawn(l->series[k].depths_off)) {
			put_depth_line(l, k, out.file);
			lines++;
		}
	plot_count(p, "fitted_depths", lines);
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
	if (k < 0 || fit_covers(&l->set->fit[l->series[k].side], &b))
		fprintf(out, "%d,%.6g,%.6g\n", k + 1, x,
			(k < 0 ? model_ideal_ns(m, &b) : model_total_ns(m, &b)) / 1e3 / b.depth);
}

static void put_length_line(const struct latency *l, int k, FILE *out)
{
	const struct grid *g = latency_grid(l, k < 0 ? 0 : k);
	int n = g->nominal ? LINE_POINTS : g->n_sizes - 1;

	for (int i = 0; i <= n; i++)
		put_length(l, k, n > 0 ? (double)i / n : 0, out); /* of one size: a point */
	fputc('\n', out);
}

static int write_length_lines(const struct latency *l, struct plot *p)
{
	struct output out;
	int lines = 0, err = plot_open(p, "length_lines", "-lengths-fit.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,%s,step_us\n", latency_grid(l, 0)->axis->name);
	for (int k = 0; k < l->n; k++)
		if (is_drawn(l->series[k].lengths_off)) {
			put_length_line(l, k, out.file);
			lines++;
		}
	if (l->ideal)
		put_length_line(l, -1, out.file); /* series 0 */
	plot_count(p, "fitted_lengths", lines + l->ideal);
	plot_count(p, "ideal", l->ideal);
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

/* ---- what is shown ---------------------------------------------------------------------- */

static int lengths_at(const struct latency *l, int64_t depth)
{
	int n = 0;

	for (int k = 0; k < l->n; k++)
		for (int i = 0; i < latency_grid(l, k)->n_sizes; i++)
			n += latency_place(latency_grid(l, k), i) > 0 &&
			     latency_point(l, k, i, depth);
	return n;
}

/* The depth at which most sizes were measured; the deepest of these. */
static int64_t best_depth(const struct latency *l)
{
	const struct grid *g = &l->set->grid[0];
	int64_t best = 0;
	int most = 0;

	for (int i = 0; i < g->n_depths; i++) {
		int n = lengths_at(l, g->depth[i]);

		if (n >= most) {
			most = n;
			best = g->depth[i];
		}
	}
	return best;
}

static void find_series(struct latency *l)
{
	for (int side = 0; side < l->set->sides; side++) {
		l->smallest[side] = chart_size_on(l->set, side, 0);
		for (int mode = 0; mode < MODE_COUNT; mode++)
			if (chart_has_mode(l->set, side, (enum mode)mode))
				l->series[l->n++] =
					(struct series){ .side = side, .mode = (enum mode)mode };
	}
	l->depth = best_depth(l);
}

/* ---- texts ------------------------------------------------------------------------------ */

static int64_t largest_depth(const struct latency *l, int k)
{
	const struct grid *g = latency_grid(l, k);
	int64_t depth = 0;

	for (int i = 0; i < g->n_depths; i++)
		if (latency_smallest(l, k, g->depth[i]))
			depth = g->depth[i];
	return depth;
}

/* The series of a side that comes first; -1: it has none. */
static int first_series(const struct latency *l, int side)
{
	for (int k = 0; k < l->n; k++)
		if (l->series[k].side == side)
			return k;
	return -1;
}

static struct text block_text(int64_t depth)
{
	struct text t = { "one" };

	if (depth > 1)
		snprintf(t.s, sizeof(t.s), "a sample of %ld:", (long)depth);
	return t;
}

/* "empty kernels: one 9.1 µs; each of 4096: stream 3.6 µs, graph 1.1 µs"; "" without points. */
static void side_text(const struct latency *l, int side, char *out, size_t size)
{
	int first = first_series(l, side);
	int64_t small_depth = latency_grid(l, first)->depth[0], depth = largest_depth(l, first);
	const struct grid_point *one = latency_smallest(l, first, small_depth);
	size_t used;

	*out = '\0';
	if (!depth)
		return;
	used = (size_t)snprintf(out, size, "%s: ", words_of_size(&l->set->grid[0], 0).s);
	if (one && small_depth < depth)
		used += (size_t)snprintf(out + used, size - used, "%s %s; ",
					 block_text(small_depth).s, words_time(one->total_ns).s);
	used += (size_t)snprintf(out + used, size - used, "each of %ld:", (long)depth);
	for (int k = first; k < l->n && used < size; k++) {
		const struct grid_point *at = latency_smallest(l, k, depth);

		if (l->series[k].side == side && at)
			used += (size_t)snprintf(out + used, size - used, "%s %s %s",
						 k > first ? "," : "", mode_name(l->series[k].mode),
						 words_time(at->total_ns / (double)depth).s);
	}
}

/* The depth from which on graph is faster than stream, smallest kernels on A; 0: none. */
static int64_t graph_wins_from(const struct latency *l)
{
	const struct grid *g = latency_grid(l, 0);
	int64_t from = 0;

	for (int i = g->n_depths - 1; i >= 0; i--) {
		const struct grid_point *graph = grid_find(g, MODE_GRAPH, 0, g->depth[i]);
		const struct grid_point *stream = grid_find(g, MODE_STREAM, 0, g->depth[i]);
		struct interval a, b;

		if (!graph && !stream)
			continue;
		if (!graph || !stream)
			break;
		a = chart_total(l->set, 0, graph);
		b = chart_total(l->set, 0, stream);
		if (!(a.hi < b.lo)) /* not known: NaN */
			break;
		from = g->depth[i];
	}
	return from;
}

/* What is said of fitted lines: the most that those that are drawn are off, and which are not. */
struct lines {
	int drawn;
	double off, refused_off; /* shares */
	char refused[64];	 /* "graph, fused" */
};

static void add_line(struct lines *s, const char *mode, double off)
{
	size_t used = strlen(s->refused);

	if (is_drawn(off)) {
		s->drawn++;
		s->off = fmax(s->off, off);
	} else if (!isnan(off)) {
		s->refused_off = fmax(s->refused_off, off);
		if (!strstr(s->refused, mode))
			snprintf(s->refused + used, sizeof(s->refused) - used, "%s%s",
				 used ? ", " : "", mode);
	}
}

/* As short as the room beside the key. */
static void label_fit(const struct latency *l, char *out, size_t size)
{
	struct lines s = { 0 };

	for (int k = 0; k < l->n; k++) {
		add_line(&s, mode_name(l->series[k].mode), l->series[k].depths_off);
		add_line(&s, mode_name(l->series[k].mode), l->series[k].lengths_off);
	}
	if (s.drawn && *s.refused)
		snprintf(out, size, "lines: fitted, within %.1f %%; left out: %s", 100 * s.off,
			 s.refused);
	else if (s.drawn)
		snprintf(out, size, "lines: fitted, within %.1f %% of the points", 100 * s.off);
	else if (*s.refused)
		snprintf(out, size, "no fitted lines: up to %.0f %% off the points",
			 100 * s.refused_off);
	else
		snprintf(out, size, "no fitted lines");
}

static void label_plot(const struct latency *l, struct plot *p)
{
	const struct chart_side *side = l->set->side;
	int64_t wins = graph_wins_from(l);
	char text[256], fit[128];

	side_text(l, 0, text, sizeof(text));
	words_title(p, l->set, 0, "%s", text);
	label_fit(l, fit, sizeof(fit));
	*text = '\0';
	if (l->set->sides > 1)
		side_text(l, 1, text, sizeof(text));
	else if (wins)
		snprintf(text, sizeof(text), "a graph is faster than a stream from depth %ld on",
			 (long)wins);
	words_finding(p, "%s%s", l->set->sides > 1 && *text ? "B: " : "", text);
	plot_text(p, "fit", "%s", fit);
	plot_count(p, "with_depths", l->depths);
	plot_count(p, "with_lengths", l->lengths);
	plot_text(p, "made1", "%s", side[0].made);
	plot_text(p, "made2", "%s", l->set->sides > 1 ? side[1].made : "");
	plot_count(p, "crossing", (long)wins);
}

/* ---- the chart -------------------------------------------------------------------------- */

static void name_series(const struct latency *l, struct plot *p)
{
	plot_count(p, "series", l->n);
	plot_count(p, "sides", l->set->sides);
	for (int k = 0; k < l->n; k++) {
		const struct series *s = &l->series[k];
		const char *letter = l->set->side[s->side].letter;

		plot_text(p, words_name("title", k + 1).s, "%s%s%s", letter, *letter ? ": " : "",
			  mode_name(s->mode));
		plot_count(p, words_name("look", k + 1).s, (long)s->mode + 1);
		plot_count(p, words_name("side", k + 1).s, s->side);
	}
}

int chart_latency(const struct chart_set *s, struct plot *p)
{
	struct latency l = { .set = s };
	const struct grid *g = &s->grid[0];

	find_series(&l);
	l.depths = g->n_depths > 1;
	l.lengths = latency_first(g) < g->n_sizes - 1;
	if (!l.n || (!l.depths && !l.lengths))
		return 1;
	hold_lines(&l);
	l.ideal = s->fitted[0] && l.lengths && ideal_holds(&l);
	p->script = "plots/latency.gp";
	name_series(&l, p);
	label_plot(&l, p);
	plot_text(p, "smallest", "%s", words_of_size(g, 0).s);
	plot_text(p, "size", "%s", words_axis(g).s);
	plot_count(p, "nominal", g->nominal);
	plot_count(p, "depth", (long)l.depth);
	plot_count(p, "shallowest", (long)g->depth[0]);
	plot_count(p, "deepest", (long)g->depth[g->n_depths - 1]);
	plot_number(p, "shortest", latency_place(g, latency_first(g)));
	plot_number(p, "longest", latency_place(g, g->n_sizes - 1));
	return latency_write(&l, p);
}
