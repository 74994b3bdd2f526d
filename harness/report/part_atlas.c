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

enum group { GROUP_SLOWER, GROUP_LIKELY, GROUP_SAME, GROUP_FASTER, GROUP_OPEN, GROUPS };

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
		return j->alone == VERDICT_SLOWER ? GROUP_LIKELY : GROUP_OPEN;
	}
}

/* "Lupine 4.06 (3.63 to 4.23) times" */
static void say_cost(const struct atlas_entry *e, FILE *out)
{
	fprintf(out, "%s %s", e->name, figure_ratio(&mean_of(&e->c)->ratio).s);
}

/* The entries of a group after its words; nothing where there are none. */
static void say_group(const struct atlas_entry *const *e, int n, enum group group,
		      const char *words, const char *end, FILE *out)
{
	bool said = false;

	for (int i = 0; i < n; i++) {
		if (group_of(e[i]) != group)
			continue;
		fputs(said ? ", " : words, out);
		if (group == GROUP_SAME || group == GROUP_OPEN)
			fputs(e[i]->name, out);
		else
			say_cost(e[i], out);
		said = true;
	}
	fputs(said ? end : "", out);
}

static void say_wrong(const struct atlas_entry *const *e, int n, FILE *out)
{
	for (int i = 0; i < n; i++)
		if (e[i]->c.faults[PAIR_B].wrong)
			fprintf(out, " Under %s, programs compute wrong results: %s.", e[i]->name,
				e[i]->c.faults[PAIR_B].wrong_of);
}

static void print_finding(const void *found, FILE *out)
{
	const struct atlas *a = found;
	const struct atlas_entry **e = sorted(a);
	double margin = a->n ? 100 * a->entry[0].c.options.margin : 0;

	fprintf(out, "Times as long as without the layer, on average over %d workloads: ",
		a->n && a->entry[0].c.whole.points ? a->entry[0].c.whole.points : 1);
	say_group(e, a->n, GROUP_SLOWER, "proven slower are ", "; ", out);
	say_group(e, a->n, GROUP_LIKELY,
		  "slower by their ranges, with too few processes to prove it, are ", "; ", out);
	say_group(e, a->n, GROUP_FASTER, "faster are ", "; ", out);
	fprintf(out, "within %.3g %% of no difference are ", margin);
	say_group(e, a->n, GROUP_SAME, "", "; ", out);
	say_group(e, a->n, GROUP_OPEN, "not decided are ", ".", out);
	say_wrong(e, a->n, out);
	free(e);
}

static void finding(const void *found, struct page *p)
{
	const struct atlas *a = found;
	const struct compared_side *base = &a->base.side[PAIR_B];
	char *text = part_printed(print_finding, a);

	page_finding(p, TONE_PLAIN, "%s", text);
	free(text);
	page_small(p,
		   "The base is %s, %s, begun %s (%s%s%s). Each layer is compared with the same "
		   "machine without it where its session holds both.",
		   part_device(side_header(base)).s, counted(base->n, "process").s,
		   json_get_text(side_header(base), "start_utc"), base->path,
		   base->alone ? "" : ", side ", base->alone ? "" : journal_side_name(base->side));
}

/* ---- the table: a row a layer ----------------------------------------------------------- */

static const struct compared_workload *extreme(const struct comparison *c, bool worst)
{
	const struct compared_workload *found = NULL;

	for (int i = 0; i < c->pairs.n_workloads; i++) {
		const struct compared_workload *w = &c->workload[i];

		if (isfinite(w->ratio.value) &&
		    (!found || (worst ? w->ratio.value > found->ratio.value
				      : w->ratio.value < found->ratio.value)))
			found = w;
	}
	return found;
}

static void put_extreme(struct page *p, const struct compared_workload *w)
{
	if (w)
		page_cell(p, "%s %s", w->workload->name, figure_ratio(&w->ratio).s);
	else
		page_cell(p, "-");
}

static void put_faults(struct page *p, const struct faults *f)
{
	if (f->wrong)
		page_cell_of(p, TONE_WRONG, "wrong in %d of %d (%s)", f->wrong, f->results,
			     f->wrong_of);
	else if (f->lacking)
		page_cell_of(p, TONE_OPEN, "right; %d of %d not run: lacks %s", f->lacking,
			     f->results, f->lacks);
	else if (f->missing)
		page_cell_of(p, TONE_OPEN, "right; %d of %d missing (%s)", f->missing, f->results,
			     f->missing_of);
	else
		page_cell(p, "all right");
}

static const char *sure_text(const struct atlas_entry *e)
{
	switch (group_of(e)) {
	case GROUP_SLOWER:
		return "slower, proven";
	case GROUP_LIKELY:
		return "slower by its range; too few processes to prove it";
	case GROUP_SAME:
		return "no difference beyond the margin";
	case GROUP_FASTER:
		return "faster, proven";
	default:
		return "not decided: the range reaches beyond the margin";
	}
}

static void put_entry(struct page *p, const struct atlas_entry *e)
{
	const struct compared_workload *w = mean_of(&e->c);
	enum ratio_verdict v = w->judged.verdict;

	page_cell(p, "%s%s", e->name, e->is_model ? " (imitated)" : "");
	page_cell_of(p, part_tone(v == VERDICT_INCONCLUSIVE ? w->judged.alone : v), "%s",
		     figure_ratio(&w->ratio).s);
	page_cell(p, "%s", sure_text(e));
	put_extreme(p, extreme(&e->c, true));
	put_extreme(p, extreme(&e->c, false));
	put_faults(p, &e->c.faults[PAIR_B]);
	page_cell(p, "%d%s", w->ratio.n, e->c.contrast.paired ? " pairs" : "");
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = {
		"layer",
		"times as long, on average",
		"how sure",
		"worst program",
		"best program",
		"results",
		"n",
	};
	const struct atlas *a = found;
	const struct atlas_entry **e = sorted(a);

	page_table(p,
		   "time per step over that without the layer: 2 is twice as long; the range in "
		   "parentheses is the interval",
		   heads, 7);
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
	static const char *const heads[] = { "layer", "compared with", "what differs beside it" };
	const struct atlas *a = found;
	const struct atlas_entry **e = sorted(a);

	page_table(p, "recorded fields that are not the same on both sides of a comparison", heads,
		   3);
	for (int i = 0; i < a->n; i++) {
		page_cell(p, "%s", e[i]->name);
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
	page_item(p, "The average is the geometric mean over workloads, each the mean over its "
		     "points. A verdict is about one layer; none is corrected for the number of "
		     "layers.");
}

static void lacks(const void *found, struct page *p)
{
	const struct atlas *a = found;

	for (int i = 0; i < a->n; i++) {
		const struct atlas_entry *e = &a->entry[i];
		int failed = atlas_failed(e);

		if (failed)
			page_item(p, "%s: %s missing or wrong, of which no time is used.", e->name,
				  counted(failed, "result").s);
		if (*e->not_comparable)
			page_item(p, "%s: another build or machine than the base's (%s).", e->name,
				  e->not_comparable);
	}
	page_item(p,
		  "Bare metal, unless the base is that: a layer is compared with the base alone.");
	page_item(p, "Other programs, sizes and depths than those in the tables.");
	if (session_is_cpu(&a->base.side[PAIR_B].view, 0))
		page_item(p, "A GPU: this is the CPU device, and these are not GPU figures.");
}

static void repeat(const void *found, struct page *p)
{
	const struct atlas *a = found;
	const struct compared_side *base = &a->base.side[PAIR_B];
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	CHECK(out, "memory of a command");
	part_repeat_sweep(p, &a->base.session);
	fprintf(out, "rift compare %s%s%s", base->path, base->alone ? "" : ":",
		base->alone ? "" : journal_side_name(base->side));
	for (int i = 0; i < a->n; i++)
		fprintf(out, " %s%s%s", a->entry[i].given_name ? a->entry[i].given_name : "",
			a->entry[i].given_name ? "=" : "", a->entry[i].side[PAIR_B].path);
	CHECK(!fclose(out), "memory of a command");
	page_command(p, "%s%s", text, a->options.force ? " --force" : "");
	free(text);
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
