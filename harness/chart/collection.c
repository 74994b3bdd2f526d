/* collection.c - all workloads of a session on one page: overhead at depth 1 and in large batches.
 */
#include "harness/chart/collection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/chart/words.h"
#include "workloads/workload.h"

/* ---- rows ------------------------------------------------------------------------------- */

static const char *why_no_ideal(const struct grid *g, int size)
{
	if (size < 0)
		return "no good result of every process";
	if (chart_has_ideal(g, size))
		return NULL;
	return g->nominal ? "no ideal: empty kernels take no time"
			  : "no ideal: one depth alone, or no slope between two";
}

static struct dot make_dot(const struct chart_set *s, int size, enum mode mode, int64_t depth)
{
	const struct grid_point *p = grid_find(&s->grid[0], mode, size, depth);

	return p ? (struct dot){ depth, chart_over_ideal(s, 0, p) }
		 : (struct dot){ depth, interval_unknown(0) };
}

/* At the depth that is asked for, else at the deepest there is. */
static struct dot deep_dot(const struct collection *c, const struct row *r, enum mode mode)
{
	const struct grid *g = &r->set->grid[0];
	struct dot d = make_dot(r->set, r->size, mode, c->large_depth);

	for (int i = g->n_depths - 1; i >= 0 && !d.over.n && g->depth[i] > c->small_depth; i--)
		d = make_dot(r->set, r->size, mode, g->depth[i]);
	return d;
}

static void fill_row(const struct collection *c, struct row *r)
{
	r->why = why_no_ideal(&r->set->grid[0], r->size);
	for (int mode = 0; mode < COLLECTION_MODES && !r->why; mode++) {
		r->dot[mode][SMALL_BATCH] =
			make_dot(r->set, r->size, (enum mode)mode, c->small_depth);
		r->dot[mode][LARGE_BATCH] = deep_dot(c, r, (enum mode)mode);
	}
}

/* The least depth of the session; COLLECTION_DEEP where some workload has it, else the largest. */
static void choose_depths(struct collection *c)
{
	bool has = false;

	for (int i = 0; i < c->variants.sets; i++) {
		const struct grid *g = &c->variants.set[i]->grid[0];

		for (int k = 0; k < g->n_depths; k++) {
			has |= g->depth[k] == COLLECTION_DEEP;
			if (!c->small_depth || g->depth[k] < c->small_depth)
				c->small_depth = g->depth[k];
			if (g->depth[k] > c->large_depth)
				c->large_depth = g->depth[k];
		}
	}
	c->large_depth = has ? COLLECTION_DEEP : c->large_depth;
}

/* What rows are sorted by: streams, else graphs, at the small depth; without an ideal, least. */
static double weight(const struct row *r)
{
	for (int mode = 0; mode < COLLECTION_MODES; mode++)
		if (!r->why && r->dot[mode][SMALL_BATCH].over.n)
			return r->dot[mode][SMALL_BATCH].over.value;
	return r->why ? -1 : 0;
}

static int by_weight(const void *a, const void *b)
{
	double x = weight(a), y = weight(b);

	return (x > y) - (x < y);
}

static int count_rows(const struct variants *v)
{
	int n = 0;

	for (int i = 0; i < v->sets; i++)
		n += v->set[i]->grid[0].n_sizes ? v->set[i]->grid[0].n_sizes : 1;
	return n;
}

static void make_rows(struct collection *c)
{
	int capacity = count_rows(&c->variants);

	c->row = calloc((size_t)capacity + 1, sizeof(*c->row));
	CHECK(c->row, "memory of %d rows", capacity);
	choose_depths(c);
	for (int i = 0; i < c->variants.sets; i++) {
		const struct chart_set *s = c->variants.set[i];
		int sizes = s->grid[0].n_sizes;

		for (int size = sizes ? 0 : -1; size < sizes; size++) {
			c->row[c->rows] = (struct row){ .set = s, .size = size };
			fill_row(c, &c->row[c->rows++]);
		}
	}
	qsort(c->row, (size_t)c->rows, sizeof(*c->row), by_weight);
}

/* ---- data ------------------------------------------------------------------------------- */

static void put_dot(const struct collection *c, int row, int mode, int which, FILE *out)
{
	const struct row *r = &c->row[row];
	const struct grid *g = &r->set->grid[0];
	const struct dot *d = &r->dot[mode][which];

	fprintf(out, "%d,%d,%.6g,", row, DOTS * mode + which + 1, d->over.value);
	if (d->over.known)
		fprintf(out, "%.6g,%.6g", d->over.lo, d->over.hi);
	else
		fputc(',', out);
	fprintf(out, ",%ld,%.6g,%d,%s,%s,%s\n", (long)d->depth,
		g->size[r->size].launches * g->size[r->size].kernel_ns / 1e3, d->over.n,
		mode_name((enum mode)mode), g->workload->name, text_real(g->size[r->size].value).s);
}

static int write_dots(const struct collection *c, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "dots", "-dots.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "row,series,ratio,ratio_lo,ratio_hi,depth,ideal_step_us,processes,mode,"
			  "workload,size\n");
	for (int i = 0; i < c->rows; i++)
		for (int mode = 0; mode < COLLECTION_MODES; mode++)
			for (int which = 0; which < DOTS; which++)
				if (c->row[i].dot[mode][which].over.n)
					put_dot(c, i, mode, which, out.file);
	return output_commit(&out);
}

/* ---- names ------------------------------------------------------------------------------ */

bool collection_is_other(const struct collection *c, const struct dot *d, int which)
{
	return d->over.n && d->depth != (which == LARGE_BATCH ? c->large_depth : c->small_depth);
}

/* "12", "0.3 (16)" where the depth is another one; "" without a dot. */
static struct text overhead_text(const struct collection *c, const struct dot *d, int which)
{
	struct text t = { "" };

	if (collection_is_other(c, d, which))
		snprintf(t.s, sizeof(t.s), "%.16s (%ld)", words_percent(d->over.value - 1).s,
			 (long)d->depth);
	else if (d->over.n)
		t = words_percent(d->over.value - 1);
	return t;
}

/* The ideal of a step; a star where only streams show it. */
static struct text ideal_text(const struct row *r)
{
	const struct grid *g = &r->set->grid[0];
	const struct grid_size *s = &g->size[r->size];
	struct text t;

	snprintf(t.s, sizeof(t.s), "%.16s%s", words_time(s->launches * s->kernel_ns).s,
		 collection_is_of_streams(r) ? "*" : "");
	return t;
}

static void name_row(const struct collection *c, int i, struct plot *p)
{
	const struct row *r = &c->row[i];
	char name[448];

	collection_name(r, name, sizeof(name));
	plot_text(p, words_name("row", i + 1).s, "%s", name);
	plot_text(p, words_name("why", i + 1).s, "%s", r->why ? r->why : "");
	plot_text(p, words_name("ideal", i + 1).s, "%s", r->why ? "" : ideal_text(r).s);
	for (int mode = 0; mode < COLLECTION_MODES; mode++)
		for (int which = 0; which < DOTS; which++)
			plot_text(
				p,
				words_name("over", (i * COLLECTION_MODES + mode) * DOTS + which + 1)
					.s,
				"%s", overhead_text(c, &r->dot[mode][which], which).s);
}

/* ---- the chart -------------------------------------------------------------------------- */

static bool has_dots(const struct collection *c)
{
	for (int i = 0; i < c->rows; i++)
		if (weight(&c->row[i]) > 0)
			return true;
	return false;
}

static int write_chart(const struct collection *c, struct plot *p)
{
	p->script = "plots/collection.gp";
	plot_count(p, "rows", c->rows);
	plot_count(p, "shallow", (long)c->small_depth);
	plot_count(p, "deep", (long)c->large_depth);
	for (int i = 0; i < c->rows; i++)
		name_row(c, i, p);
	collection_label(c, p);
	return write_dots(c, p);
}

int chart_collection(const struct chart_set *set, int sets, struct plot *p)
{
	struct collection c = { 0 };
	int err;

	if (set->sides > 1 || sets < 2)
		return 1;
	err = variants_init(&c.variants, set, sets);
	if (!err) {
		make_rows(&c);
		err = has_dots(&c) ? write_chart(&c, p) : 1;
	}
	free(c.row);
	variants_release(&c.variants);
	return err;
}

/* ---- what the page of all workloads shows, in a title and lines around it --------------- */

/* Characters that fit in front of the numbers. */
enum { NAME_CHARACTERS = 37 };

void collection_name(const struct row *r, char *out, size_t size)
{
	struct text of = { "" };
	char subject[352];

	if (r->size >= 0)
		of = words_of_size(&r->set->grid[0], r->size);
	snprintf(subject, sizeof(subject), "%s", r->set->subject);
	words_cut(subject, sizeof(subject), NAME_CHARACTERS - 1 - (int)strlen(of.s));
	snprintf(out, size, "%s%s%s", subject, *of.s ? " " : "", of.s);
}

bool collection_is_of_streams(const struct row *r)
{
	const struct grid *g = &r->set->grid[0];

	return !g->nominal && r->size >= 0 && g->size[r->size].large >= 0 &&
	       g->point[g->size[r->size].large].batch.mode == MODE_STREAM;
}

/* How many dots of a kind there are, and of these above the share that titles speak of. */
struct count {
	int all, above;
};

static struct count count_dots(const struct collection *c, enum mode mode, int which)
{
	struct count n = { 0 };

	for (int i = 0; i < c->rows; i++) {
		const struct dot *d = &c->row[i].dot[mode][which];

		n.all += d->over.n > 0;
		n.above += d->over.n > 0 && d->over.value - 1 > CHART_SHARE;
	}
	return n;
}

/* "22 of 38 at depth 1, 4 of 38 at depth 64"; "" where nothing is of the mode. */
static void mode_text(const struct collection *c, enum mode mode, char *out, size_t size)
{
	struct count small = count_dots(c, mode, SMALL_BATCH),
		     large = count_dots(c, mode, LARGE_BATCH);
	size_t used = 0;

	*out = '\0';
	if (small.all)
		used = (size_t)snprintf(out, size, "%d of %d at depth %ld", small.above, small.all,
					(long)c->small_depth);
	if (large.all)
		snprintf(out + used, size - used, "%s%d of %d at depth %ld", used ? ", " : "",
			 large.above, large.all, (long)c->large_depth);
}

/* The largest dot of a small batch; its ratio is put there. */
static const struct row *worst_row(const struct collection *c, double *ratio)
{
	const struct row *worst = NULL;

	for (int i = 0; i < c->rows; i++)
		for (int mode = 0; mode < COLLECTION_MODES; mode++) {
			const struct interval *over = &c->row[i].dot[mode][SMALL_BATCH].over;

			if (!over->n || (worst && over->value <= *ratio))
				continue;
			worst = &c->row[i];
			*ratio = over->value;
		}
	return worst;
}

static void label_finding(const struct collection *c, const char *graphs, struct plot *p)
{
	double ratio = 0;
	const struct row *worst = worst_row(c, &ratio);
	char name[448] = "", most[512] = "";

	if (worst) {
		collection_name(worst, name, sizeof(name));
		snprintf(most, sizeof(most), "most at depth %ld: %s %%, %s", (long)c->small_depth,
			 words_percent(ratio - 1).s, name);
	}
	words_finding(p, "%s%s%s%s", *graphs ? "graph: " : "", graphs, *graphs && worst ? "; " : "",
		      most);
}

/* Prints which rows lack something. */
static void label_missing(const struct collection *c, struct plot *p)
{
	int streams = 0, other = 0;

	for (int i = 0; i < c->rows; i++) {
		const struct row *r = &c->row[i];

		streams += !r->why && collection_is_of_streams(r);
		for (int mode = 0; mode < COLLECTION_MODES; mode++)
			other += collection_is_other(c, &r->dot[mode][LARGE_BATCH], LARGE_BATCH);
	}
	plot_text(p, "note1", "%s",
		  streams ? "* no graphs: by deep samples of a stream, with what of "
			    "submission they do not hide"
			  : "");
	plot_text(p, "note2", "%s",
		  other ? "a number in brackets: the depth, where there is no other" : "");
}

void collection_label(const struct collection *c, struct plot *p)
{
	char streams[128], graphs[128];

	mode_text(c, MODE_STREAM, streams, sizeof(streams));
	mode_text(c, MODE_GRAPH, graphs, sizeof(graphs));
	plot_text(p, "title", "%s: steps that take over 5 %% more than ideal: %s",
		  *streams ? "stream" : "graph", *streams ? streams : graphs);
	label_finding(c, *streams ? graphs : "", p);
	plot_text(p, "made1", "%s", c->row->set->side->made);
	plot_text(p, "made2",
		  "ideal: kernels, copies or calls of a step, by the slope of the deepest "
		  "samples; where sizes are durations, these");
	label_missing(c, p);
}
