/* depth_needed.c - how deep blocks must be for an overhead of 5 %, by the length of kernels. */
#include "harness/chart/depth_needed.h"

#include <math.h>
#include <stdio.h>

#include "harness/chart/words.h"
#include "harness/fit/derive.h"

/* ---- how deep blocks must be for an overhead of 5 %, by the length of kernels ----------- */

/* Points of a fitted line, evenly spaced in the logarithm. */
enum { LINE_POINTS = 120 };

/* ---- measured --------------------------------------------------------------------------- */

struct needed needed_measured(const struct chart_set *s, int side, enum mode mode, int size)
{
	const struct grid *g = &s->grid[side];
	struct needed n = { 0 };
	double share = 0;

	/* from the deepest up, as long as overhead is small */
	for (int i = g->n_depths - 1; i >= 0; i--) {
		const struct grid_point *p = grid_find(g, mode, size, g->depth[i]);
		double depth = (double)g->depth[i], here;

		if (!p)
			continue;
		here = chart_over_ideal(s, side, p).value - 1;
		if (here > CHART_SHARE && !n.enough)
			return (struct needed){ depth, false };
		if (here > CHART_SHARE)
			return (struct needed){
				chart_crossing(CHART_SHARE, depth, here, n.depth, share), true
			};
		n = (struct needed){ depth, true };
		share = here;
	}
	return n;
}

static int write_points(const struct chart_set *s, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "points", "-points.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,kernel_us,depth,enough,mode,platform\n");
	for (int side = 0; side < s->sides; side++)
		for (int mode = 0; mode < MODE_COUNT; mode++)
			for (int i = 0; i < s->grid[side].n_sizes; i++) {
				const struct grid *g = &s->grid[side];
				struct needed n = { 0 };

				if (chart_has_ideal(g, i))
					n = needed_measured(s, side, (enum mode)mode, i);
				if (n.depth > 0)
					fprintf(out.file, "%d,%.6g,%.6g,%d,%s,%s\n",
						side * MODE_COUNT + mode + 1,
						g->size[i].kernel_ns / 1e3, n.depth, n.enough,
						mode_name((enum mode)mode), s->side[side].letter);
			}
	return output_commit(&out);
}

/* ---- fitted ----------------------------------------------------------------------------- */

/* The swept kernels, in ns. */
static double first_ns(const struct grid *g)
{
	int i = 0;

	while (i < g->n_sizes - 1 && !chart_has_ideal(g, i))
		i++;
	return g->size[i].kernel_ns;
}

static double last_ns(const struct grid *g)
{
	return g->size[g->n_sizes - 1].kernel_ns;
}

/* Is there a range of kernels to draw a line over? */
static bool is_wide(const struct grid *g)
{
	return first_ns(g) > 0 && last_ns(g) > first_ns(g);
}

/*
 * Does the fit agree with what was measured of that size? Both are known to a factor of two where
 * depths are powers of four.
 */
static bool agrees(const struct chart_set *s, int side, enum mode mode, int size)
{
	const struct needed n = needed_measured(s, side, mode, size);
	const struct answer a =
		depth_needed(&s->fit[side], mode, s->grid[side].size[size].kernel_ns, CHART_SHARE);
	bool has_value = a.kind == ANSWER_VALUE || a.kind == ANSWER_BELOW;

	if (!(n.depth > 0) || (!n.enough && !has_value))
		return true;
	if (!has_value)
		return a.kind != ANSWER_NEVER;
	if (!n.enough)
		return a.interval.value > n.depth / 2;
	return a.interval.value <= 2 * n.depth && 2 * a.interval.value >= n.depth;
}

/* A line that most of the points contradict is none. */
static bool line_holds(const struct chart_set *s, int side, enum mode mode)
{
	const struct grid *g = &s->grid[side];
	int right = 0, wrong = 0;

	for (int i = 0; i < g->n_sizes; i++)
		if (chart_has_ideal(g, i))
			*(agrees(s, side, mode, i) ? &right : &wrong) += 1;
	return wrong < right;
}

/*
 * The line of a mode on a side; *floor_ns: the longest kernels for which no depth was enough.
 * Returns how many points were written.
 */
static int put_line(const struct chart_set *s, int side, enum mode mode, double *floor_ns,
		    FILE *out)
{
	const struct grid *g = &s->grid[side];
	double first = first_ns(g), last = last_ns(g);
	int n = 0;

	for (int i = 0; i <= LINE_POINTS; i++) {
		double ns = first * pow(last / first, (double)i / LINE_POINTS);
		struct answer a = depth_needed(&s->fit[side], mode, ns, CHART_SHARE);

		if (a.kind == ANSWER_NEVER)
			*floor_ns = ns;
		/* a bound that is deeper than the least depth is no line */
		if (a.kind != ANSWER_VALUE &&
		    (a.kind != ANSWER_BELOW || a.interval.value > (double)g->depth[0]))
			continue;
		fprintf(out, "%d,%.6g,%.6g\n", side * MODE_COUNT + (int)mode + 1, ns / 1e3,
			a.interval.value);
		n++;
	}
	fputc('\n', out);
	return n;
}

static int write_lines(const struct chart_set *s, struct plot *p,
		       double floor_ns[CHART_SIDES][MODE_COUNT])
{
	struct output out;
	int err = plot_open(p, "lines", "-fit.csv", &out), n = 0;

	if (err)
		return err;
	fprintf(out.file, "series,kernel_us,depth\n");
	for (int side = 0; side < s->sides; side++)
		for (int mode = 0; mode < MODE_COUNT; mode++)
			if (s->fitted[side] && s->fit[side].has[mode] && is_wide(&s->grid[side]) &&
			    line_holds(s, side, (enum mode)mode))
				n += put_line(s, side, (enum mode)mode, &floor_ns[side][mode],
					      out.file);
	plot_count(p, "fitted", n);
	return output_commit(&out);
}

/* ---- the chart -------------------------------------------------------------------------- */

static void name_series(const struct chart_set *s, struct plot *p)
{
	plot_count(p, "sides", s->sides);
	for (int side = 0; side < s->sides; side++)
		for (int mode = 0; mode < MODE_COUNT; mode++) {
			const char *letter = s->side[side].letter;

			plot_text(p, words_name("title", side * MODE_COUNT + mode + 1).s, "%s%s%s",
				  chart_has_mode(s, side, (enum mode)mode) ? letter : "",
				  *letter ? ": " : "", mode_name((enum mode)mode));
			plot_count(p, words_name("has", side * MODE_COUNT + mode + 1).s,
				   chart_has_mode(s, side, (enum mode)mode));
		}
}

/* What either side has swept: a size or depth that only B has is no less a point. */
static void set_range(const struct chart_set *s, struct plot *p)
{
	const struct grid *a = &s->grid[0], *b = &s->grid[s->sides - 1];

	b = is_wide(b) ? b : a;
	plot_number(p, "first", fmin(first_ns(a), first_ns(b)) / 1e3);
	plot_number(p, "last", fmax(last_ns(a), last_ns(b)) / 1e3);
	plot_count(
		p, "deepest",
		(long)fmax((double)a->depth[a->n_depths - 1], (double)b->depth[b->n_depths - 1]));
}

/* Does any kernel need blocks of more than two steps? Else there is nothing to see. */
static bool any_is_deep(const struct chart_set *s)
{
	for (int side = 0; side < s->sides; side++)
		for (int mode = 0; mode < MODE_COUNT; mode++)
			for (int i = 0; i < s->grid[side].n_sizes; i++)
				if (chart_has_ideal(&s->grid[side], i) &&
				    needed_measured(s, side, (enum mode)mode, i).depth > 2)
					return true;
	return false;
}

int chart_depth_needed(const struct chart_set *s, struct plot *p)
{
	const struct grid *g = &s->grid[0];
	double floor_ns[CHART_SIDES][MODE_COUNT] = { { 0 } };
	int err;

	if (g->n_depths < 2 || !is_wide(g) || stack_step_of(g, 0) != STACK_LAUNCHES)
		return 1; /* it speaks of kernels */
	if (!any_is_deep(s))
		return 1;
	p->script = "plots/depth_needed.gp";
	name_series(s, p);
	needed_label_title(s, p);
	set_range(s, p);
	err = write_points(s, p);
	if (!err)
		err = write_lines(s, p, floor_ns);
	if (err)
		return err;
	needed_label_finding(s, p, floor_ns);
	plot_number(p, "floor", floor_ns[0][needed_mode(s)] / 1e3);
	plot_text(p, "floor_of", "%s%s%s", s->side[0].letter, s->sides > 1 ? ": " : "",
		  mode_name(needed_mode(s)));
	return 0;
}

/* ---- how deep blocks must be, in a title and a line below it ---------------------------- */

/*
 * The shortest kernels for which a mode of A has a depth that is enough, and where more than the
 * smallest one is needed, if there are any; -1: none.
 */
static int label_size(const struct chart_set *s, enum mode mode)
{
	const struct grid *g = &s->grid[0];
	int any = -1;

	for (int i = g->n_sizes - 1; i >= 0; i--) {
		struct needed n = { 0 };

		if (chart_has_ideal(g, i))
			n = needed_measured(s, 0, mode, i);
		if (n.enough && (any < 0 || n.depth > (double)g->depth[0]))
			any = i;
	}
	return any;
}

/* Has every size a depth that is enough, in every mode of A? */
static bool all_enough(const struct chart_set *s)
{
	const struct grid *g = &s->grid[0];

	for (int mode = 0; mode < MODE_COUNT; mode++)
		for (int i = 0; i < g->n_sizes; i++) {
			const struct needed n = needed_measured(s, 0, (enum mode)mode, i);

			if (chart_has_ideal(g, i) && n.depth > 0 && !n.enough)
				return false;
		}
	return true;
}

/* A depth that lies between two that were measured: two digits of it, rounded up. */
static double round_depth(double depth)
{
	double unit = depth < 100 ? 1 : pow(10, floor(log10(depth)) - 1);

	return ceil(depth / unit) * unit;
}

enum mode needed_mode(const struct chart_set *s)
{
	for (int mode = 0; mode < MODE_COUNT; mode++)
		if (chart_has_mode(s, 0, (enum mode)mode))
			return (enum mode)mode;
	return MODE_STREAM;
}

/* "stream 13, graph 9, fused > 4096" */
static void depths_text(const struct chart_set *s, int side, int size, char *out, size_t capacity)
{
	size_t used = 0;

	*out = '\0';
	for (int mode = 0; mode < MODE_COUNT && used < capacity; mode++) {
		struct needed n = needed_measured(s, side, (enum mode)mode, size);

		if (n.depth > 0)
			used += (size_t)snprintf(out + used, capacity - used, "%s%s %s%.0f",
						 used ? ", " : "", mode_name((enum mode)mode),
						 n.enough ? "" : "> ",
						 n.enough ? round_depth(n.depth) : n.depth);
	}
}

void needed_label_title(const struct chart_set *s, struct plot *p)
{
	int size = label_size(s, needed_mode(s));
	char depths[96];

	if (size < 0) {
		words_title(p, s, 0, "no swept depth brings overhead to 5 %% in %s mode",
			    mode_name(needed_mode(s)));
		return;
	}
	depths_text(s, 0, size, depths, sizeof(depths));
	words_title(p, s, 0, "depth for 5 %% overhead at %s: %s",
		    words_of_size(&s->grid[0], size).s, depths);
}

void needed_label_finding(const struct chart_set *s, struct plot *p,
			  double floor_ns[CHART_SIDES][MODE_COUNT])
{
	int size = label_size(s, needed_mode(s));
	char text[192] = "", depths[96] = "";
	size_t used = 0;

	for (int mode = 0; mode < MODE_COUNT && used < sizeof(text); mode++)
		if (floor_ns[0][mode] > 0 && (s->sides < 2 || !used))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s (%s)",
						 used ? ", " : "below ",
						 words_time(floor_ns[0][mode]).s,
						 mode_name((enum mode)mode));
	if (s->sides > 1 && size >= 0 && chart_size_on(s, 1, size) >= 0)
		depths_text(s, 1, chart_size_on(s, 1, size), depths, sizeof(depths));
	if (!used && !*depths && all_enough(s))
		snprintf(text, sizeof(text), "of all kernels that were swept some depth is enough");
	words_finding(p, "%s%s%s%s%s", *depths ? "B: " : "", depths, *depths && used ? "; A: " : "",
		      text, used ? " no depth is enough, by the fit" : "");
	plot_text(p, "made1", "%s", s->side[0].made);
	plot_text(p, "made2", "%s", s->sides > 1 ? s->side[1].made : "");
}
