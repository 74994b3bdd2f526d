/* collection_finding.c - what the page of all workloads shows, in a title and lines around it. */
#include <stdio.h>
#include <string.h>

#include "harness/chart/collection.h"
#include "harness/chart/words.h"

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

	return !g->nominal && r->size >= 0 && g->size[r->size].deep >= 0 &&
	       g->point[g->size[r->size].deep].batch.mode == MODE_STREAM;
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
	struct count shallow = count_dots(c, mode, SHALLOW), deep = count_dots(c, mode, DEEP);
	size_t used = 0;

	*out = '\0';
	if (shallow.all)
		used = (size_t)snprintf(out, size, "%d of %d at depth %ld", shallow.above,
					shallow.all, (long)c->shallow);
	if (deep.all)
		snprintf(out + used, size - used, "%s%d of %d at depth %ld", used ? ", " : "",
			 deep.above, deep.all, (long)c->deep);
}

/* The largest shallow dot; its ratio is put there. */
static const struct row *worst_of(const struct collection *c, double *ratio)
{
	const struct row *worst = NULL;

	for (int i = 0; i < c->rows; i++)
		for (int mode = 0; mode < COLLECTION_MODES; mode++) {
			const struct interval *over = &c->row[i].dot[mode][SHALLOW].over;

			if (!over->n || (worst && over->value <= *ratio))
				continue;
			worst = &c->row[i];
			*ratio = over->value;
		}
	return worst;
}

static void say_finding(const struct collection *c, const char *graphs, struct plot *p)
{
	double ratio = 0;
	const struct row *worst = worst_of(c, &ratio);
	char name[448] = "", most[512] = "";

	if (worst) {
		collection_name(worst, name, sizeof(name));
		snprintf(most, sizeof(most), "most at depth %ld: %s %%, %s", (long)c->shallow,
			 words_percent(ratio - 1).s, name);
	}
	words_finding(p, "%s%s%s%s", *graphs ? "graph: " : "", graphs, *graphs && worst ? "; " : "",
		      most);
}

/* Of which rows something is missing. */
static void say_missing(const struct collection *c, struct plot *p)
{
	int streams = 0, other = 0;

	for (int i = 0; i < c->rows; i++) {
		const struct row *r = &c->row[i];

		streams += !r->why && collection_is_of_streams(r);
		for (int mode = 0; mode < COLLECTION_MODES; mode++)
			other += collection_is_other(c, &r->dot[mode][DEEP], DEEP);
	}
	plot_text(p, "note1", "%s",
		  streams ? "* no graphs: by deep blocks of a stream, with what of "
			    "submission they do not hide"
			  : "");
	plot_text(p, "note2", "%s",
		  other ? "a number in brackets: the depth, where there is no other" : "");
}

void collection_say(const struct collection *c, struct plot *p)
{
	char streams[128], graphs[128];

	mode_text(c, MODE_STREAM, streams, sizeof(streams));
	mode_text(c, MODE_GRAPH, graphs, sizeof(graphs));
	plot_text(p, "title", "%s: steps that take over 5 %% more than ideal: %s",
		  *streams ? "stream" : "graph", *streams ? streams : graphs);
	say_finding(c, *streams ? graphs : "", p);
	plot_text(p, "made1", "%s", c->row->set->side->made);
	plot_text(p, "made2",
		  "ideal: kernels, copies or calls of a step, by the slope of the deepest "
		  "blocks; where sizes are durations, these");
	say_missing(c, p);
}
