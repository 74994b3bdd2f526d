/* depth_needed_finding.c - how deep blocks must be, in a title and a line below it. */
#include <math.h>
#include <stdio.h>

#include "harness/chart/depth_needed.h"
#include "harness/chart/words.h"

/*
 * The shortest kernels for which a mode of A has a depth that is enough, and where more than the
 * shallowest one is needed, if there are any; -1: none.
 */
static int told_size(const struct chart_set *s, enum mode mode)
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
static double about(double depth)
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
static void depths_text(const struct chart_set *s, int side, int size, char *out, size_t room)
{
	size_t used = 0;

	*out = '\0';
	for (int mode = 0; mode < MODE_COUNT && used < room; mode++) {
		struct needed n = needed_measured(s, side, (enum mode)mode, size);

		if (n.depth > 0)
			used += (size_t)snprintf(out + used, room - used, "%s%s %s%.0f",
						 used ? ", " : "", mode_name((enum mode)mode),
						 n.enough ? "" : "> ",
						 n.enough ? about(n.depth) : n.depth);
	}
}

void needed_say_title(const struct chart_set *s, struct plot *p)
{
	int size = told_size(s, needed_mode(s));
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

void needed_say_finding(const struct chart_set *s, struct plot *p,
			double floor_ns[CHART_SIDES][MODE_COUNT])
{
	int size = told_size(s, needed_mode(s));
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
