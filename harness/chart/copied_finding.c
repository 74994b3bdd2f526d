/* copied_finding.c - what a chart over bytes shows, in a title and lines below it. */
#include <stdio.h>
#include <string.h>

#include "harness/chart/copied.h"
#include "harness/chart/words.h"

/* ---- names ------------------------------------------------------------------------------ */

/* The words of a that b has not. */
static void words_only_in(const char *a, const char *b, char *out, size_t size)
{
	char copy[256], padded[260], wanted[260], *rest = copy, *word;
	size_t used = 0;

	snprintf(copy, sizeof(copy), "%s", a);
	snprintf(padded, sizeof(padded), " %s ", b);
	*out = '\0';
	while ((word = strsep(&rest, " ")) && used < size) {
		snprintf(wanted, sizeof(wanted), " %s ", word);
		if (*word && !strstr(padded, wanted))
			used += (size_t)snprintf(out + used, size - used, " %s", word);
	}
}

void copied_name(const struct copied *c, int line, char *out, size_t size)
{
	const struct copied_line *l = &c->line[line];
	char more[128] = "";

	for (int i = 0; i < line && !*more; i++)
		if (c->line[i].pageable == l->pageable)
			words_only_in(l->set->grid[0].others, c->line[i].set->grid[0].others, more,
				      sizeof(more));
	snprintf(out, size, "%s%s", l->pageable ? "pageable" : "pinned", more);
}

/* ---- texts ------------------------------------------------------------------------------ */

/* "9.8 µs a copy"; noise and what a cache makes of small copies may leave less than nothing. */
static struct text fixed_text(const struct copied_line *l)
{
	double ns = l->calls > 0 ? l->fixed_ns / l->calls : l->fixed_ns;
	struct text t = { "nothing beside" };

	if (ns > 0)
		snprintf(t.s, sizeof(t.s), "%.20s a %s", words_time(ns).s,
			 l->calls > 0 ? "copy" : "step");
	return t;
}

/* "49.3 GB/s and 9.8 µs a copy, on a line within 2.1 %" */
static void line_text(const struct copied_line *l, char *out, size_t size)
{
	snprintf(out, size, "%.3g GB/s and %s, on a line within %s %%", 1 / l->byte_ns,
		 fixed_text(l).s, words_percent(l->off).s);
}

static void say_finding(const struct copied *c, struct plot *p)
{
	char finding[480] = "", text[256], name[160];
	size_t used = 0;

	for (int i = 1; i < c->lines && used < sizeof(finding); i++) {
		line_text(&c->line[i], text, sizeof(text));
		copied_name(c, i, name, sizeof(name));
		used += (size_t)snprintf(finding + used, sizeof(finding) - used, "%s%s: %s",
					 used ? "; " : "", name, text);
	}
	words_finding(p, "%s", finding);
}

void copied_say(const struct copied *c, struct plot *p)
{
	const struct copied_line *l = &c->line[0];
	const struct grid *g = &l->set->grid[0];
	char text[256], name[160], made[480];

	line_text(l, text, sizeof(text));
	copied_name(c, 0, name, sizeof(name));
	plot_text(p, "title", "%s, %s: %s", g->workload->name, name, text);
	say_finding(c, p);
	plot_text(p, "made1", "%s", l->set->side->made);
	snprintf(made, sizeof(made), "%s%s%s mode, depth %ld; %s=%s to %s%s", g->others,
		 *g->others ? "; " : "", mode_name(l->mode), (long)l->depth, g->axis->name,
		 words_size(g, 0).s, words_size(g, g->n_sizes - 1).s,
		 c->left_out ? "; other parameters are left out: see the session" : "");
	words_cut(made, sizeof(made), NOTE_CHARACTERS);
	plot_text(p, "made2", "%s", made);
}
