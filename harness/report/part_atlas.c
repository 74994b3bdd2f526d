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
#include "harness/compare/atlas_impl.h"
#include "harness/compare/format.h"
#include "harness/platform/enter.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"
#include "harness/report/layer_group.h"
#include "harness/report/part.h"
#include "layers/layer.h"
#include "workloads/workload.h"

/* ---- the finding ------------------------------------------------------------------------ */

static void finding(const void *found, struct page *p)
{
	const struct atlas *a = found;
	const struct compared_side *base = &a->base.side[PAIR_B];
	char *text = part_printed(layers_finding, a);

	part_findings(p, layers_distrusted(a).n ? TONE_OPEN : TONE_PLAIN, text);
	free(text);
	page_small(p,
		   "The base is %s, %s, begun %s (%s%s%s). Each layer is compared with the same "
		   "machine without it where its session holds both.",
		   part_device(side_header(base)).s, counted(base->n, "process").s,
		   json_get_text(side_header(base), "start_utc"), base->path,
		   base->alone ? "" : ", side ", base->alone ? "" : journal_side_name(base->side));
}

/* ---- the table: a row a layer ----------------------------------------------------------- */

/* "6 pairs, 96.9 %" */
static void put_n(struct page *p, const struct atlas_entry *e, int n)
{
	page_cell(p, "%d %s, %.3g %%", n, e->c.contrast.paired ? "pairs" : "processes",
		  100 * e->c.contrast.level);
}

static void put_program(struct page *p, const struct compared_workload *w)
{
	page_cell(p, "%s %s", w->workload->name, figure_ratio(&w->ratio).s);
}

static void put_programs(struct page *p, const struct comparison *c)
{
	const struct programs n = programs_of(c);
	const struct compared_workload **worst = compare_worst_first(c);
	int least = n.all - 1;

	while (least && !worst[least]->points)
		least--;
	page_cell(p, "%d slower, %d faster, %d not decided, of %d", n.slower, n.faster, n.open,
		  n.all);
	put_program(p, worst[0]);
	put_program(p, worst[least]);
	free(worst);
}

static void put_faults(struct page *p, const struct faults *f)
{
	if (f->wrong)
		page_cell_of(p, TONE_WRONG, "%d of %d results wrong: %s", f->wrong, f->results,
			     f->wrong_of);
	else if (f->lacking)
		page_cell_of(p, TONE_OPEN,
			     "the rest correct; %d of %d results could not run: no %s", f->lacking,
			     f->results, f->lacks);
	else if (f->missing)
		page_cell_of(p, TONE_OPEN, "the rest correct; %d of %d results missing: %s",
			     f->missing, f->results, f->missing_of);
	else
		page_cell(p, "all correct");
}

/* The average; where one program alone puts it beyond the margin, what it is without that. */
static void put_average(struct page *p, const struct atlas_entry *e)
{
	const struct compared_workload *by;
	struct interval rest;
	enum page_tone tone = layer_tone(layer_group(e));

	by = layer_carrier(e, &rest);
	if (by)
		page_cell_of(p, tone, "%s, by one program alone, %s: %s over the others",
			     figure_ratio(&layer_mean(&e->c)->ratio).s, by->workload->name,
			     figure_ratio(&rest).s);
	else
		page_cell_of(p, tone, "%s", figure_ratio(&layer_mean(&e->c)->ratio).s);
}

/* "remote", and below it what the layer is; of a library that was loaded first, which. */
static void put_name(struct page *p, const struct atlas_entry *e)
{
	const json_t *layers = json_object_get(side_header(&e->side[PAIR_B]), "layers"), *o;
	char what[512] = "";
	size_t i, used = 0;

	complain_silence(true); /* records may name layers that this rift has not */
	json_array_foreach(layers, i, o)
	{
		const struct layer *layer = layer_find(json_get_text(o, "name"));
		const char *library = json_get_text(json_object_get(o, "params"), "lib");
		const char *slash = strrchr(library, '/');

		if (!layer || used >= sizeof(what))
			continue;
		used += (size_t)snprintf(what + used, sizeof(what) - used, "%s%s%s",
					 used	       ? "; "
					 : e->is_model ? "imitated: "
						       : "",
					 *library ? "a library loaded first: " : layer->summary,
					 slash ? slash + 1 : library);
	}
	complain_silence(false);
	page_cell_named(p, e->name, what);
}

static void put_entry(struct page *p, const struct atlas_entry *e)
{
	put_name(p, e);
	put_average(p, e);
	page_cell(p, "%s", layer_sure(e).s);
	put_programs(p, &e->c);
	put_faults(p, &e->c.faults[PAIR_B]);
	put_n(p, e, layer_mean(&e->c)->ratio.n);
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
		page_item(
			p,
			"One build and machine for all. Measured with another build or on another "
			"machine than the base, and so compared with themselves without the "
			"layer: %s%s.",
			names, used >= sizeof(names) ? "..." : "");
}

/* Markdown has no section on how it was measured, nor on what was not. */
static void say_in_brief(struct page *p, const struct atlas *a)
{
	if (p->format != PAGE_MARKDOWN)
		return;
	page_item(p, "n: pairs of a process on each side, which took turns; or processes of each "
		     "side, which ran one after the other.");
	say_others(p, a);
	part_say_cpu(p, session_is_cpu(&a->base.side[PAIR_B].view, 0));
}

/* A depth of a program under a layer. */
struct farthest {
	const struct atlas_entry *under;
	const struct workload *of;
	int depth;
	struct interval ratio;
};

static void take_farther(struct farthest *far, const struct atlas *a, const struct atlas_entry *e,
			 const struct workload *w)
{
	for (int k = 0; k < ATLAS_DEPTHS; k++) {
		const struct atlas_cell c = atlas_step(a, e, w, k);

		if (c.state == ATLAS_KNOWN && c.of.value > far->ratio.value)
			*far = (struct farthest){ e, w, k, c.of };
	}
}

/* A program's ratio is an average over its depths: in the charts one depth may stand far out. */
static void say_farthest(struct page *p, const struct atlas *a)
{
	struct farthest far = { .ratio = { .value = 1 } };
	const struct workload *w;

	for (int j = 0; (w = atlas_workload(a, j)); j++)
		for (int i = 0; i < a->n; i++)
			if (atlas_has(&a->entry[i], w))
				take_farther(&far, a, &a->entry[i], w);
	if (far.under)
		page_text(p,
			  "A program's ratio is its average over all that was swept of it: "
			  "sizes, modes, and depths, that is, after how many steps it waits. The "
			  "chart of all programs shows the smallest size at two depths, of which "
			  "one may differ more: %s under %s, waiting after %s, takes %s times as "
			  "long.",
			  far.of->name, far.under->name,
			  far.depth ? "64 steps or so" : "every step", figure_ratio(&far.ratio).s);
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = {
		"layer",
		"a step takes so many times as long",
		"how sure",
		"programs beyond the margin, each by itself",
		"largest ratio of a program",
		"smallest",
		"results",
		"n and interval",
	};
	const struct atlas *a = found;
	const struct atlas_entry **e = layers_sorted(a);

	page_text(p,
		  "A step is one unit of a program's work. 1 means that it takes as long as "
		  "without the layer, and 2 twice as long; the interval is in parentheses. "
		  "A layer is slower if the average, or one program, is proven to be slower by "
		  "more than %.3g %%. It makes no difference if the average and every program "
		  "lie within %.3g %%, and is not decided while single programs may be slower: the "
		  "average hides single programs. It is mixed where some programs are slower and "
		  "others faster. Programs are counted by their intervals alone, "
		  "without a correction for their number.",
		  layers_margin(a), layers_margin(a));
	page_table(p, "time per step over that without the layer, average over programs and depths",
		   heads, 8);
	for (int i = 0; i < a->n; i++)
		put_entry(p, e[i]);
	free(e);
	if (p->format == PAGE_HTML)
		say_farthest(p, a);
	say_in_brief(p, a);
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
	};

	if (c->state >= ATLAS_NOT_RESOLVED)
		page_cell_of(p, cell_tone(c), "%s", figure_ratio(&c->of).s);
	else if (c->state == ATLAS_WRONG)
		page_cell_of(p, cell_tone(c), "wrong in %d of %d processes", c->wrong,
			     c->processes);
	else
		page_cell_of(p, cell_tone(c), "%s", words[c->state]);
}

/* From the least to the most of the sessions, which may be of other machines each. */
struct own_times {
	double least, most;
	int sessions;
};

static void add_own(struct own_times *t, const struct atlas_cell *c)
{
	double ns = c->point ? c->point->step_ns[PAIR_A].value : NAN;

	if (!isfinite(ns))
		return;
	t->least = t->sessions ? fmin(t->least, ns) : ns;
	t->most = t->sessions ? fmax(t->most, ns) : ns;
	t->sessions++;
}

static struct own_times own_times(const struct atlas *a, const struct workload *w, int depth)
{
	struct own_times t = { 0 };
	struct atlas_cell c = atlas_step(a, &a->base, w, depth);

	add_own(&t, &c);
	for (int i = 0; i < a->n; i++)
		if (a->entry[i].own_base && atlas_has(&a->entry[i], w)) {
			c = atlas_step(a, &a->entry[i], w, depth);
			add_own(&t, &c);
		}
	return t;
}

static void put_base(struct page *p, const struct atlas *a, const struct workload *w)
{
	int sessions = 0;

	page_cell(p, "the time without a layer");
	for (int i = 0; i < ATLAS_DEPTHS; i++) {
		const struct own_times t = own_times(a, w, i);

		if (t.sessions)
			page_cell(p, "%s to %s", text_time(t.least).s, text_time(t.most).s);
		else
			page_cell(p, "-");
		sessions = t.sessions > sessions ? t.sessions : sessions;
	}
	page_cell(p, "%s", counted(sessions, "session").s);
}

static void program_table(struct page *p, const struct atlas *a, const struct atlas_entry *const *e,
			  const struct workload *w)
{
	static const char *const heads[] = { "layer", "waits after every step",
					     "waits after 64 steps, or the nearest",
					     "n and interval" };
	char caption[160];

	snprintf(caption, sizeof(caption),
		 "%s: times as long as without the layer (interval of each by itself)", w->name);
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
		if (n)
			put_n(p, e[i], n);
		else
			page_cell(p, "-");
	}
}

static bool has_cost(const struct atlas *a, int which)
{
	for (int i = 0; i < a->n; i++)
		if (a->entry[i].cost[which].state != ATLAS_NOTHING)
			return true;
	return false;
}

static void put_cost(struct page *p, const struct atlas_cost *c, int which)
{
	bool resolved = c->state == ATLAS_KNOWN;

	if (c->state >= ATLAS_NOT_RESOLVED)
		page_cell(p, "%s",
			  atlas_is_rate(which) ? atlas_rate_text(&c->of, resolved, true).s
					       : atlas_time_text(&c->of, resolved, true).s);
	else
		page_cell(p, "%s", c->state == ATLAS_NOTHING ? "-" : atlas_state_names[c->state]);
}

static int most_processes(const struct atlas_entry *e)
{
	int n = 0;

	for (int k = 0; k < ATLAS_COSTS; k++)
		n = e->cost[k].of.n > n ? e->cost[k].of.n : n;
	return n;
}

/* What the chart of them has as dots, and as numbers beyond its axis. */
static void costs_table(struct page *p, const struct atlas *a, const struct atlas_entry *const *e)
{
	const char *heads[ATLAS_COSTS + 2] = { "layer" };
	int which[ATLAS_COSTS], n = 0;

	for (int k = 0; k < ATLAS_COSTS; k++)
		if (has_cost(a, k)) {
			which[n] = k;
			heads[++n] = atlas_cost_names[k];
		}
	if (!n)
		return;
	heads[n + 1] = "n and interval";
	page_table(p,
		   "copies, memory, cold starts: what each layer adds (interval of each by itself)",
		   heads, n + 2);
	for (int i = 0; i < a->n; i++) {
		page_cell(p, "%s", e[i]->name);
		for (int k = 0; k < n; k++)
			put_cost(p, &e[i]->cost[which[k]], which[k]);
		put_n(p, e[i], most_processes(e[i]));
	}
}

static void tables(const void *found, struct page *p)
{
	const struct atlas *a = found;
	const struct atlas_entry **e = layers_sorted(a);
	const struct workload *w;

	const struct levels levels = atlas_levels(a);

	page_text(p,
		  "A colour marks a difference whose interval leaves out 1. Each cell is judged by "
		  "itself, at %s: of 100 that have no difference, up to %.0f are coloured by "
		  "chance.",
		  levels_text(&levels).s, levels.n ? ceil(100 * (1 - levels.least)) : 100);
	for (int i = 0; (w = atlas_workload(a, i)); i++)
		program_table(p, a, e, w);
	costs_table(p, a, e);
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

static void put_layers(struct page *p, const json_t *header)
{
	char under[LAYERS_TEXT];

	environment_layers(header, under);
	page_cell(p, "%.160s%s", *under ? under : "no layer of rift's",
		  strlen(under) > 160 ? " ..." : "");
}

/* Does the layer itself, and nothing else, differ? Markdown, which is short, leaves such rows out.
 */
static bool is_plain(const struct atlas_entry *e)
{
	const json_t *rows = e->c.environment_diff;

	return json_array_size(rows) == 1 &&
	       !strcmp(json_get_text(json_array_get(rows, 0), "field"), "layers");
}

static void differs(const void *found, struct page *p)
{
	static const char *const heads[] = { "layer", "what it is, as recorded", "compared with",
					     "fields that differ" };
	const struct atlas *a = found;
	const struct atlas_entry **e = layers_sorted(a);
	bool brief = p->format == PAGE_MARKDOWN;

	page_table(p, "fields of the record that are not the same on both sides", heads, 4);
	for (int i = 0; i < a->n; i++) {
		if (brief && is_plain(e[i]))
			continue;
		page_cell(p, "%s", e[i]->name);
		put_layers(p, side_header(&e[i]->side[PAIR_B]));
		page_cell(p, e[i]->own_base ? "itself without the layer" : "the base");
		put_fields(p, e[i]->c.environment_diff);
	}
	free(e);
	page_text(p,
		  brief ? "Of layers without a row, the layer alone differs."
			: "Fields of a layer itself, such as a preloaded library, are among them.");
}

static void how(const void *found, struct page *p)
{
	const struct atlas *a = found;
	const struct comparison **c = calloc((size_t)a->n + 1, sizeof(*c));

	CHECK(c, "memory of %d rows", a->n);
	for (int i = 0; i < a->n; i++)
		c[i] = &a->entry[i].c;
	if (a->n)
		part_say_terms(p, c, a->n);
	free(c);
	page_item(p, "The last column of a table says of each row what its n counts, and which "
		     "interval it has.");
	page_item(p, "The average is the geometric mean over workloads, each the mean over its "
		     "points. A verdict is about one layer; none is corrected for the number of "
		     "layers.");
}

/* In the words of the table's column of results. */
static void say_faults(struct page *p, const struct atlas *a)
{
	for (int i = 0; i < a->n; i++) {
		const struct faults *f = &a->entry[i].c.faults[PAIR_B];

		if (f->wrong)
			page_item(p, "%s: %d of %d results are wrong; their times are not used.",
				  a->entry[i].name, f->wrong, f->results);
		if (f->missing)
			page_item(p, "%s: %d of %d results are missing.", a->entry[i].name,
				  f->missing, f->results);
		if (f->lacking)
			page_item(p,
				  "%s: %d of %d results could not run (no %s); its average is over "
				  "the rest.",
				  a->entry[i].name, f->lacking, f->results, f->lacks);
	}
}

static void lacks(const void *found, struct page *p)
{
	const struct atlas *a = found;

	say_faults(p, a);
	say_others(p, a);
	page_item(p, "Bare metal, unless the base is bare metal: a virtual machine below all of "
		     "them costs the same on both sides.");
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
