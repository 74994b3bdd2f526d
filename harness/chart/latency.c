/* latency.c - a block against its depth, and a step against the length of its kernels. */
#include "harness/chart/latency.h"

#include <math.h>
#include <stdio.h>

#include "harness/chart/words.h"

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
				l->series[l->n++] = (struct series){ side, (enum mode)mode };
	}
	l->depth = best_depth(l);
}

/* ---- texts ------------------------------------------------------------------------------ */

static int64_t deepest(const struct latency *l, int k)
{
	const struct grid *g = latency_grid(l, k);
	int64_t depth = 0;

	for (int i = 0; i < g->n_depths; i++)
		if (latency_smallest(l, k, g->depth[i]))
			depth = g->depth[i];
	return depth;
}

/* The series of a side that comes first; -1: it has none. */
static int first_of(const struct latency *l, int side)
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
		snprintf(t.s, sizeof(t.s), "a block of %ld:", (long)depth);
	return t;
}

/* "empty kernels: one 9.1 µs; each of 4096: stream 3.6 µs, graph 1.1 µs"; "" without points. */
static void side_text(const struct latency *l, int side, char *out, size_t size)
{
	int first = first_of(l, side);
	int64_t shallow = latency_grid(l, first)->depth[0], depth = deepest(l, first);
	const struct grid_point *one = latency_smallest(l, first, shallow);
	size_t used;

	*out = '\0';
	if (!depth)
		return;
	used = (size_t)snprintf(out, size, "%s: ", words_of_size(&l->set->grid[0], 0).s);
	if (one && shallow < depth)
		used += (size_t)snprintf(out + used, size - used, "%s %s; ", block_text(shallow).s,
					 words_time(one->total_ns).s);
	used += (size_t)snprintf(out + used, size - used, "each of %ld:", (long)depth);
	for (int k = first; k < l->n && used < size; k++) {
		const struct grid_point *at = latency_smallest(l, k, depth);

		if (l->series[k].side == side && at)
			used += (size_t)snprintf(out + used, size - used, "%s %s %s",
						 k > first ? "," : "", mode_name(l->series[k].mode),
						 words_time(at->total_ns / (double)depth).s);
	}
}

/* Of the smallest kernels on A: the depth from which on graph is faster than stream; 0: none. */
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

static void say_fit(const struct latency *l, char *out, size_t size)
{
	const struct chart_set *s = l->set;

	if (!s->fitted[0])
		snprintf(out, size, "no fitted lines");
	else if (s->sides < 2 || !s->fitted[1])
		snprintf(out, size, "lines: fitted, median error %.1f %%",
			 100 * s->fit[0].residual);
	else
		snprintf(out, size, "lines: fitted, median error %.1f %% and %.1f %%",
			 100 * s->fit[0].residual, 100 * s->fit[1].residual);
}

static void say_texts(const struct latency *l, struct plot *p)
{
	const struct chart_side *side = l->set->side;
	int64_t wins = graph_wins_from(l);
	char text[256], fit[96];

	side_text(l, 0, text, sizeof(text));
	words_title(p, l->set, 0, "%s", text);
	say_fit(l, fit, sizeof(fit));
	*text = '\0';
	if (l->set->sides > 1)
		side_text(l, 1, text, sizeof(text));
	else if (wins)
		snprintf(text, sizeof(text), "a graph is faster than a stream from depth %ld on",
			 (long)wins);
	words_finding(p, "%s%s", l->set->sides > 1 && *text ? "B: " : "", text);
	plot_text(p, "fit", "%s", fit);
	plot_count(p, "fitted", l->set->fitted[0] || l->set->fitted[1]);
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
	p->script = "plots/latency.gp";
	name_series(&l, p);
	say_texts(&l, p);
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
