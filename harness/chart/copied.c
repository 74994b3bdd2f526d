/* copied.c - the time of a step over the bytes that it copies, and how straight a line it is. */
#include "harness/chart/copied.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/chart/words.h"
#include "workloads/workload.h"

/* ---- the time of a step over the bytes that it copies, and how straight a line it is ---- */

/* A line through two points is straight by itself. */
enum { POINTS_LEAST = 3 };

double copied_bytes(const struct journal *j, int point)
{
	const struct cost *c = &j->step[point];

	/* older records have no copies: NaN launches */
	return c->to_device.calls + c->to_host.calls > 0 ? c->to_device.bytes + c->to_host.bytes
							 : 0;
}

double copied_line_ns(const struct copied_line *l, double bytes)
{
	return l->fixed_ns + bytes * l->byte_ns;
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Weighted normal equations: each residual is a share of what was measured. */
void copied_fit(struct copied_line *l)
{
	double w = 0, x = 0, xx = 0, y = 0, xy = 0;

	for (int i = 0; i < l->points; i++) {
		double t = l->point[i].step.value, bytes = l->point[i].bytes;

		w += 1 / (t * t);
		x += bytes / (t * t);
		xx += bytes * bytes / (t * t);
		y += 1 / t;
		xy += bytes / t;
	}
	l->byte_ns = (w * xy - x * y) / (w * xx - x * x);
	l->fixed_ns = (y - l->byte_ns * x) / w;
	l->off = 0;
	for (int i = 0; i < l->points; i++)
		l->off = fmax(
			l->off,
			fabs(l->point[i].step.value / copied_line_ns(l, l->point[i].bytes) - 1));
}

static int sizes_at(const struct grid *g, enum mode mode, int64_t depth)
{
	int n = 0;

	for (int i = 0; i < g->n_sizes; i++)
		n += grid_find(g, mode, i, depth) != NULL;
	return n;
}

/* The first mode and of it the depth at which most sizes were measured; the deepest of these. */
static void choose_blocks(struct copied_line *l)
{
	const struct grid *g = &l->set->grid[0];
	int most = 0;

	for (int mode = 0; mode < MODE_COUNT && !most; mode++)
		for (int i = 0; i < g->n_depths; i++) {
			int n = sizes_at(g, (enum mode)mode, g->depth[i]);

			if (!n || n < most)
				continue;
			most = n;
			l->mode = (enum mode)mode;
			l->depth = g->depth[i];
		}
}

static void take_points(struct copied_line *l)
{
	const struct grid *g = &l->set->grid[0];

	l->point = calloc((size_t)g->n_sizes + 1, sizeof(*l->point));
	CHECK(l->point, "memory of %d points", g->n_sizes);
	for (int i = 0; i < g->n_sizes; i++) {
		const struct grid_point *p = grid_find(g, l->mode, i, l->depth);
		double bytes = p ? copied_bytes(g->j, p->point) : 0, calls;
		const struct cost *step;

		if (!(bytes > 0))
			continue;
		step = &g->j->step[p->point];
		calls = step->to_device.calls + step->to_host.calls;
		l->pageable = step->pageable;
		l->calls = !l->points || calls == l->calls ? calls : 0;
		l->point[l->points++] =
			(struct copied_point){ bytes, calls, chart_step(l->set, 0, p) };
	}
}

/* False: it has too few sizes that copy different numbers of bytes. */
static bool make_line(struct copied_line *l, const struct chart_set *s)
{
	double least = INFINITY, most = 0;

	*l = (struct copied_line){ .set = s };
	choose_blocks(l);
	take_points(l);
	for (int i = 0; i < l->points; i++) {
		least = fmin(least, l->point[i].bytes);
		most = fmax(most, l->point[i].bytes);
	}
	if (l->points >= POINTS_LEAST && most > least) {
		copied_fit(l);
		return true;
	}
	free(l->point);
	return false;
}

static void make_lines(struct copied *c)
{
	for (int i = 0; i < c->variants.sets; i++)
		if (c->lines < COPIED_LINES && make_line(&c->line[c->lines], c->variants.set[i]))
			c->lines++;
		else
			c->left_out++;
}

/* ---- data ------------------------------------------------------------------------------- */

static void put_point(const struct copied *c, int line, int i, FILE *out)
{
	const struct copied_line *l = &c->line[line];
	const struct copied_point *p = &l->point[i];
	double want = copied_line_ns(l, p->bytes);

	fprintf(out, "%d,%.0f,%.6g,", line + 1, p->bytes, p->step.value / 1e3);
	if (p->step.known)
		fprintf(out, "%.6g,%.6g", p->step.lo / 1e3, p->step.hi / 1e3);
	else
		fputc(',', out);
	fprintf(out, ",%.6g,%.4g,%.0f,%d,%s,%ld,%s\n", want / 1e3, 100 * (p->step.value / want - 1),
		p->calls, p->step.n, mode_name(l->mode), (long)l->depth,
		l->pageable ? "pageable" : "pinned");
}

static int write_points(const struct copied *c, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "points", "-points.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "line,bytes,step_us,step_us_lo,step_us_hi,line_us,off_percent,calls,"
			  "processes,mode,depth,memory\n");
	for (int i = 0; i < c->lines; i++)
		for (int k = 0; k < c->line[i].points; k++)
			put_point(c, i, k, out.file);
	return output_commit(&out);
}

/* ---- the chart -------------------------------------------------------------------------- */

static void set_lines(const struct copied *c, struct plot *p)
{
	char name[160];

	plot_count(p, "lines", c->lines);
	for (int i = 0; i < c->lines; i++) {
		copied_name(c, i, name, sizeof(name));
		plot_text(p, words_name("name", i + 1).s, "%s", name);
		plot_number(p, words_name("fixed", i + 1).s, c->line[i].fixed_ns / 1e3);
		plot_number(p, words_name("slope", i + 1).s, c->line[i].byte_ns / 1e3);
	}
}

int chart_copied(const struct chart_set *s, struct plot *p)
{
	struct copied c = { 0 };
	int err = variants_init(&c.variants, s, 1);

	if (!err) {
		make_lines(&c);
		err = !c.lines;
	}
	if (!err) {
		p->script = "plots/copied.gp";
		set_lines(&c, p);
		copied_label(&c, p);
		err = write_points(&c, p);
	}
	for (int i = 0; i < c.lines; i++)
		free(c.line[i].point);
	variants_release(&c.variants);
	return err;
}

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

static void label_finding(const struct copied *c, struct plot *p)
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

void copied_label(const struct copied *c, struct plot *p)
{
	const struct copied_line *l = &c->line[0];
	const struct grid *g = &l->set->grid[0];
	char text[256], name[160], made[480];

	line_text(l, text, sizeof(text));
	copied_name(c, 0, name, sizeof(name));
	plot_text(p, "title", "%s, %s: %s", g->workload->name, name, text);
	label_finding(c, p);
	plot_text(p, "made1", "%s", l->set->side->made);
	snprintf(made, sizeof(made), "%s%s%s mode, depth %ld; %s=%s to %s%s", g->others,
		 *g->others ? "; " : "", mode_name(l->mode), (long)l->depth, g->axis->name,
		 words_size(g, 0).s, words_size(g, g->n_sizes - 1).s,
		 c->left_out ? "; other parameters are left out: see the session" : "");
	words_cut(made, sizeof(made), NOTE_CHARACTERS);
	plot_text(p, "made2", "%s", made);
}
