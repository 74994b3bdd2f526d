/* part_atlas.c - many layers or platforms against one base: which costs what, and how sure. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/chart/atlas_chart.h"
#include "harness/compare/atlas.h"
#include "harness/compare/format.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"
#include "harness/report/part.h"
#include "workloads/workload.h"

/* ---- the entries, the dearest first ----------------------------------------------------- */

/* The mean over all workloads; of one workload, its own. */
static const struct compared_workload *mean_of(const struct comparison *c)
{
	return c->pairs.n_workloads > 1 && c->whole.points ? &c->whole : &c->workload[0];
}

static double cost_of(const struct atlas_entry *e)
{
	double r = mean_of(&e->c)->ratio.value;

	return isfinite(r) ? r : -1;
}

static int dearest_first(const void *x, const void *y)
{
	double a = cost_of(*(const struct atlas_entry *const *)x);
	double b = cost_of(*(const struct atlas_entry *const *)y);

	return (a < b) - (a > b);
}

/* To be freed. */
static const struct atlas_entry **sorted(const struct atlas *a)
{
	const struct atlas_entry **e = calloc((size_t)a->n + 1, sizeof(*e));

	CHECK(e, "memory of %d rows", a->n);
	for (int i = 0; i < a->n; i++)
		e[i] = &a->entry[i];
	qsort(e, (size_t)a->n, sizeof(*e), dearest_first);
	return e;
}

/* ---- the finding ------------------------------------------------------------------------ */

enum group { GROUP_SLOWER, GROUP_LIKELY, GROUP_SAME, GROUP_NOT_SLOWER, GROUP_FASTER, GROUP_OPEN };

/* By the mean over workloads. Likely: beyond the margin, by too few processes for a verdict. */
static enum group group_of(const struct atlas_entry *e)
{
	const struct judged *j = &mean_of(&e->c)->judged;

	switch (j->verdict) {
	case VERDICT_SLOWER:
		return GROUP_SLOWER;
	case VERDICT_SAME:
		return GROUP_SAME;
	case VERDICT_FASTER:
		return GROUP_FASTER;
	default:
		return j->alone == VERDICT_SLOWER ? GROUP_LIKELY
		       : j->not_slower		  ? GROUP_NOT_SLOWER
						  : GROUP_OPEN;
	}
}

static int count_group(const struct atlas_entry *const *e, int n, enum group group)
{
	int in = 0;

	for (int i = 0; i < n; i++)
		in += group_of(e[i]) == group;
	return in;
}

/* "neighbour-spin most: a step takes 20.2 times as long (90.7 % interval 19.9 to 20.5, n = 6)" */
static void say_dearest(const struct atlas_entry *e, FILE *out)
{
	const struct interval *r = &mean_of(&e->c)->ratio;

	fprintf(out, "%s most: a step takes %s times as long (", e->name, figure_times(r->value).s);
	if (r->known)
		fprintf(out, "%.3g %% interval %s to %s, ", 100 * e->c.contrast.level,
			figure_times(r->lo).s, figure_times(r->hi).s);
	fprintf(out, "n = %d)", r->n);
}

/* The first of the sorted ones that is proven slower; NULL: none is. */
static const struct atlas_entry *dearest(const struct atlas_entry *const *e, int n)
{
	for (int i = 0; i < n; i++)
		if (group_of(e[i]) == GROUP_SLOWER)
			return e[i];
	return NULL;
}

/* "; 2 are slower by their intervals, ..." of a group; nothing of an empty one. */
static void say_group(const struct atlas_entry *const *e, int n, enum group group,
		      const char *words, FILE *out)
{
	int in = count_group(e, n, group);

	if (in)
		fprintf(out, "; %d %s", in, words);
}

static void say_wrong(const struct atlas_entry *const *e, int n, FILE *out)
{
	for (int i = 0; i < n; i++)
		if (e[i]->c.faults[PAIR_B].wrong)
			fprintf(out, ". Under %s, programs compute wrong results", e[i]->name);
}

static void print_finding(const void *found, FILE *out)
{
	const struct atlas *a = found;
	const struct atlas_entry **e = sorted(a);
	const struct atlas_entry *most = dearest(e, a->n);
	int slower = count_group(e, a->n, GROUP_SLOWER);

	fprintf(out, "%d of %d layers %s programs slower by more than %.3g %% on average", slower,
		a->n, slower == 1 ? "makes" : "make",
		a->n ? 100 * a->entry[0].c.options.margin : 0);
	if (most) {
		fputs(", ", out);
		say_dearest(most, out);
	}
	say_group(e, a->n, GROUP_LIKELY, "slower too, but not proven by so few processes", out);
	say_group(e, a->n, GROUP_SAME, "without a difference of that size", out);
	say_group(e, a->n, GROUP_NOT_SLOWER, "not slower by that much", out);
	say_group(e, a->n, GROUP_FASTER, "faster on average", out);
	say_group(e, a->n, GROUP_OPEN, "not decided", out);
	say_wrong(e, a->n, out);
	free(e);
}

static void finding(const void *found, struct page *p)
{
	const struct atlas *a = found;
	const struct compared_side *base = &a->base.side[PAIR_B];
	char *text = part_printed(print_finding, a);

	page_finding(p, TONE_PLAIN, "%s.", text);
	free(text);
	page_small(p,
		   "The base is %s, %s, begun %s (%s%s%s). Each layer is compared with the same "
		   "machine without it where its session holds both.",
		   part_device(side_header(base)).s, counted(base->n, "process").s,
		   json_get_text(side_header(base), "start_utc"), base->path,
		   base->alone ? "" : ", side ", base->alone ? "" : journal_side_name(base->side));
}

/* ---- the table: a row a layer ----------------------------------------------------------- */

/* Programs whose interval is beyond the margin on that side. */
static int count_alone(const struct comparison *c, enum ratio_verdict alone)
{
	int n = 0;

	for (int i = 0; i < c->pairs.n_workloads; i++)
		n += c->workload[i].judged.alone == alone;
	return n;
}

static void put_programs(struct page *p, const struct comparison *c)
{
	const struct compared_workload **worst = compare_worst_first(c);

	page_cell(p, "%d slower, %d faster, of %d", count_alone(c, VERDICT_SLOWER),
		  count_alone(c, VERDICT_FASTER), c->pairs.n_workloads);
	page_cell(p, "%s %s", worst[0]->workload->name, figure_ratio(&worst[0]->ratio).s);
	free(worst);
}

static void put_faults(struct page *p, const struct faults *f)
{
	if (f->wrong)
		page_cell_of(p, TONE_WRONG, "wrong in %d of %d: %s", f->wrong, f->results,
			     f->wrong_of);
	else if (f->lacking)
		page_cell_of(p, TONE_OPEN, "the rest correct; %d of %d could not run: no %s",
			     f->lacking, f->results, f->lacks);
	else if (f->missing)
		page_cell_of(p, TONE_OPEN, "the rest correct; %d of %d missing: %s", f->missing,
			     f->results, f->missing_of);
	else
		page_cell(p, "all correct");
}

static const char *sure_text(enum group group)
{
	static const char *const texts[] = {
		[GROUP_SLOWER] = "slower: proven",
		[GROUP_LIKELY] = "slower: not proven, too few processes",
		[GROUP_SAME] = "no difference: proven",
		[GROUP_NOT_SLOWER] = "not slower: proven; may be faster",
		[GROUP_FASTER] = "faster: proven",
		[GROUP_OPEN] = "not decided",
	};

	return texts[group];
}

static void put_entry(struct page *p, const struct atlas_entry *e)
{
	const struct compared_workload *w = mean_of(&e->c);
	enum ratio_verdict v = w->judged.verdict;

	page_cell(p, "%s%s", e->name, e->is_model ? " (imitated)" : "");
	page_cell_of(p, part_tone(v == VERDICT_INCONCLUSIVE ? w->judged.alone : v), "%s",
		     figure_ratio(&w->ratio).s);
	page_cell(p, "%s", sure_text(group_of(e)));
	put_programs(p, &e->c);
	put_faults(p, &e->c.faults[PAIR_B]);
	page_cell(p, "%d %s, %.3g %%", w->ratio.n, e->c.contrast.paired ? "pairs" : "processes",
		  100 * e->c.contrast.level);
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = {
		"layer",
		"a step takes so many times as long",
		"how sure",
		"programs",
		"costliest program",
		"results",
		"n and interval",
	};
	const struct atlas *a = found;
	const struct atlas_entry **e = sorted(a);

	page_text(
		p,
		"A step is one unit of a program's work. 1 means that it takes as long as without "
		"the layer, and 2 twice as long; the interval is in parentheses. Slower: the "
		"interval lies beyond %.3g %%, and a test of the average agrees. No difference: it "
		"lies within. Not decided: it reaches across. The average hides single programs, "
		"so a layer may slow one of them alone. \"What differs\" says what each "
		"layer is.",
		a->n ? 100 * a->entry[0].c.options.margin : 0);
	page_table(p, "time per step over that without the layer, average over the programs", heads,
		   7);
	for (int i = 0; i < a->n; i++)
		put_entry(p, e[i]);
	free(e);
}

/* ---- a table for each program ----------------------------------------------------------- */

static enum page_tone cell_tone(const struct atlas_cell *c)
{
	if (c->state == ATLAS_WRONG)
		return TONE_WRONG;
	if (c->state != ATLAS_KNOWN)
		return TONE_PLAIN;
	return c->of.value > 1 ? TONE_SLOWER : TONE_FASTER;
}

static void put_step(struct page *p, const struct atlas_cell *c)
{
	static const char *const words[] = {
		[ATLAS_NOTHING] = "not measured",
		[ATLAS_NOT_SUPPORTED] = "not supported",
		[ATLAS_WRONG] = "wrong results",
	};

	if (c->state >= ATLAS_NOT_RESOLVED)
		page_cell_of(p, cell_tone(c), "%s", figure_ratio(&c->of).s);
	else
		page_cell_of(p, cell_tone(c), "%s", words[c->state]);
}

static void put_base(struct page *p, const struct atlas *a, const struct workload *w)
{
	page_cell(p, "the base's own time");
	for (int i = 0; i < ATLAS_DEPTHS; i++) {
		const struct atlas_cell c = atlas_step(a, &a->base, w, i);

		page_cell(p, "%s", c.point ? text_time(c.point->step_ns[PAIR_A].value).s : "-");
	}
	page_cell(p, "%d", a->base.side[PAIR_B].n);
}

static void program_table(struct page *p, const struct atlas *a, const struct atlas_entry *const *e,
			  const struct workload *w)
{
	static const char *const heads[] = { "layer", "waits after every step",
					     "waits after 64 steps, or the nearest", "n" };
	char caption[160];

	snprintf(caption, sizeof(caption),
		 "%s: times as long as without the layer (95 %% interval of each by itself)",
		 w->name);
	page_table(p, caption, heads, 2 + ATLAS_DEPTHS);
	put_base(p, a, w);
	for (int i = 0; i < a->n; i++) {
		int n = 0;

		if (!atlas_has(e[i], w))
			continue;
		page_cell(p, "%s", e[i]->name);
		for (int k = 0; k < ATLAS_DEPTHS; k++) {
			const struct atlas_cell c = atlas_step(a, e[i], w, k);

			put_step(p, &c);
			n = c.of.n > n ? c.of.n : n;
		}
		page_cell(p, "%d", n);
	}
}

static void tables(const void *found, struct page *p)
{
	const struct atlas *a = found;
	const struct atlas_entry **e = sorted(a);
	const struct workload *w;

	page_text(p,
		  "A colour marks a difference whose interval leaves out 1. Each cell is judged by "
		  "itself, so one in twenty that has no difference is coloured by chance.");
	for (int i = 0; (w = atlas_workload(a, i)); i++)
		program_table(p, a, e, w);
	free(e);
}

/* ---- charts ----------------------------------------------------------------------------- */

/* Of many workloads one chart has all; copies, memory and cold starts have one of their own. */
static bool is_shown(const char *name, bool many)
{
	return !many || !strcmp(name, "programs-atlas") || !strcmp(name, "costs-atlas");
}

static int charts(const void *found, struct page *p, const char *folder)
{
	const struct atlas *a = found;
	bool many = atlas_workload(a, 0) && atlas_workload(a, 1);
	struct atlas_charts c;
	int err = atlas_charts_write(&c, a, folder);

	for (int i = 0; i < c.n && !err; i++)
		if (is_shown(c.picture[i].plot.name, many))
			err = interrupted() ? -EINTR : part_picture(p, &c.picture[i], 0);
	atlas_charts_release(&c);
	return err;
}

/* ---- around it -------------------------------------------------------------------------- */

/* The names of the fields; the values of so many sessions would hide them. */
static void put_fields(struct page *p, const json_t *rows)
{
	char text[512] = "";
	size_t i, used = 0;
	const json_t *o;

	json_array_foreach(rows, i, o)
	{
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 i ? ", " : "", json_get_text(o, "field"));
	}
	page_cell(p, "%s%s", *text ? text : "nothing that is recorded",
		  used >= sizeof(text) ? " ..." : "");
}

static void differs(const void *found, struct page *p)
{
	static const char *const heads[] = { "layer", "what it is, as recorded", "compared with",
					     "fields that differ" };
	const struct atlas *a = found;
	const struct atlas_entry **e = sorted(a);

	page_table(p, "fields of the record that are not the same on both sides", heads, 4);
	for (int i = 0; i < a->n; i++) {
		char layers[LAYERS_TEXT];

		environment_layers(side_header(&e[i]->side[PAIR_B]), layers);
		page_cell(p, "%s", e[i]->name);
		page_cell(p, "%.160s%s", *layers ? layers : "no layer of rift's",
			  strlen(layers) > 160 ? " ..." : "");
		page_cell(p, e[i]->own_base ? "itself without the layer" : "the base");
		put_fields(p, e[i]->c.environment_diff);
	}
	free(e);
	page_text(p, "Fields of a layer itself, such as a preloaded library, are among them.");
}

static void how(const void *found, struct page *p)
{
	const struct atlas *a = found;

	if (a->n)
		part_say_terms(p, &a->entry[0].c);
	page_item(p, "Where the two sides disturbed each other they ran one after the other: the "
		     "last column of the first table says processes, not pairs, and which interval "
		     "each row has.");
	page_item(p, "The average is the geometric mean over workloads, each the mean over its "
		     "points. A verdict is about one layer; none is corrected for the number of "
		     "layers.");
}

/* Those whose build or machine is not the base's, which matters to the base's own times alone. */
static void say_others(struct page *p, const struct atlas *a)
{
	char names[512] = "";
	size_t used = 0;

	for (int i = 0; i < a->n; i++) {
		const struct atlas_entry *e = &a->entry[i];

		if (*e->not_comparable && !e->own_base)
			page_item(p,
				  "%s is not comparable with the base, and is compared all the "
				  "same: %s.",
				  e->name, e->not_comparable);
		else if (*e->not_comparable && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", e->name);
	}
	if (used)
		page_item(p,
			  "One build and machine for all: the base is of another one than %s%s, "
			  "which are compared with themselves without the layer.",
			  names, used >= sizeof(names) ? "..." : "");
}

static void lacks(const void *found, struct page *p)
{
	const struct atlas *a = found;

	for (int i = 0; i < a->n; i++)
		if (atlas_failed(&a->entry[i]))
			page_item(p, "%s: %s missing or wrong, of which no time is used.",
				  a->entry[i].name,
				  counted(atlas_failed(&a->entry[i]), "result").s);
	say_others(p, a);
	page_item(p,
		  "Bare metal, unless the base is that: a layer is compared with the base alone.");
	page_item(p, "Other programs, sizes and depths than those in the tables.");
	part_say_cpu(p, session_is_cpu(&a->base.side[PAIR_B].view, 0));
}

/* "NAME=FILE", "FILE:a"; to be freed. */
static char *word_of(const struct compared_side *side, const char *name, bool whole)
{
	bool named = !side->alone && !whole;
	char *word;

	CHECK(asprintf(&word, "%s%s%s%s%s", name ? name : "", name ? "=" : "", side->path,
		       named ? ":" : "", named ? journal_side_name(side->side) : "") > 0,
	      "memory of a name");
	return word;
}

static void repeat(const void *found, struct page *p)
{
	const struct atlas *a = found;
	char **words = calloc((size_t)a->n + 3, sizeof(*words));
	int n = 0;

	CHECK(words, "memory of %d names", a->n);
	words[n++] = word_of(&a->base.side[PAIR_B], NULL, false);
	for (int i = 0; i < a->n; i++)
		words[n++] = word_of(&a->entry[i].side[PAIR_B], a->entry[i].given_name,
				     a->entry[i].own_base);
	if (a->options.force)
		CHECK(words[n++] = strdup("--force"), "memory of a word");
	part_recorded_command(p, a->base.session.argv);
	part_command(p, "rift compare", (const char *const *)words);
	while (n)
		free(words[--n]);
	free(words);
}

static void print(const void *found, FILE *out)
{
	atlas_print(found, out);
}

const struct part_kind part_atlas = {
	.what = "Which layer costs what",
	.finding = finding,
	.table = table,
	.charts = charts,
	.tables = tables,
	.differs = differs,
	.how = how,
	.lacks = lacks,
	.repeat = repeat,
	.print = print,
	.print_by = "rift compare",
};
