/* part_comparison.c - two sides: which is slower, in which program, and how sure that is. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/chart/charts.h"
#include "harness/compare/compare.h"
#include "harness/compare/format.h"
#include "harness/measure/plan_record.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"
#include "harness/report/part.h"
#include "workloads/workload.h"

static const struct comparison *of(const void *found)
{
	return ((const struct comparison_found *)found)->comparison;
}

/* ---- the finding ------------------------------------------------------------------------ */

/* "B: NVIDIA H200, driver 580, under profiler (real), 6 processes, 2026-11-27; FILE, side b" */
static void say_side(struct page *p, const struct comparison *c, int k)
{
	const struct compared_side *s = c->side[k];
	const json_t *header = side_header(s);
	const char *declared = json_get_text(json_object_get(header, "virt"), "declared_platform");
	char layers[LAYERS_TEXT];

	environment_layers(header, layers);
	page_small(p, "%c is %s%s%s%s%s, %s, begun %s (%s%s%s)", 'A' + k, part_device(header).s,
		   *declared ? ", " : "", declared, *layers ? ", " : "", layers,
		   counted(s->n, "process").s, json_get_text(header, "start_utc"), s->path,
		   s->alone ? "" : ", side ", s->alone ? "" : journal_side_name(s->side));
}

static void finding(const void *found, struct page *p)
{
	const struct comparison *c = of(found);
	char text[1024];

	compare_finding(c, text, sizeof(text));
	page_finding(p, part_outcome_tone(c->outcome), "%s", text);
	say_side(p, c, PAIR_A);
	say_side(p, c, PAIR_B);
}

/* ---- tables ----------------------------------------------------------------------------- */

static void put_workload(struct page *p, const struct compared_workload *w)
{
	page_cell(p, "%s", w->workload ? w->workload->name : "mean over all workloads");
	page_cell(p, "%s", figure_ratio(&w->ratio).s);
	page_cell_of(p, part_tone(w->judged.verdict), "%s", part_verdict_text(&w->judged));
	page_cell(p, "%d", w->ratio.n);
	page_cell(p, "%d%s", w->points, w->left_out ? ", some left out" : "");
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "workload", "B takes so many times as long", "verdict",
					     "n", "points" };
	const struct comparison *c = of(found);
	const struct compared_workload **sorted = compare_worst_first(c);
	char caption[160];

	snprintf(caption, sizeof(caption),
		 "time per step, B over A, geometric mean over a workload's points; in parentheses "
		 "the %.3g %% interval",
		 100 * c->contrast.level);
	page_table(p, caption, heads, 5);
	if (c->pairs.n_workloads > 1)
		put_workload(p, &c->whole);
	for (int i = 0; i < c->pairs.n_workloads; i++)
		put_workload(p, sorted[i]);
	free(sorted);
}

static void put_parameter(struct page *p, const struct compared_parameter *r)
{
	page_cell(p, "%s", r->workload->name);
	page_cell(p, "%s: %s", r->row->name, r->row->what);
	page_cell(p, "%s", figure_own(&r->of[PAIR_A], r->is_ns).s);
	page_cell(p, "%s", figure_own(&r->of[PAIR_B], r->is_ns).s);
	page_cell(p, "%s", figure_difference(&r->difference, r->is_ns).s);
	page_cell(p, "%d", r->difference.n);
}

/* A count that both have, such as how many launches a queue takes, differs by nothing. */
static bool is_equal_count(const struct compared_parameter *r)
{
	return !isfinite(r->difference.value) && r->of[PAIR_A].value == r->of[PAIR_B].value;
}

static void parameters_table(const struct comparison *c, struct page *p)
{
	static const char *const heads[] = { "workload", "parameter", "A", "B", "B - A", "n" };
	bool begun = false;

	for (int i = 0; i < c->parameters.n; i++) {
		if (!c->parameters.row[i].identified || is_equal_count(&c->parameters.row[i]))
			continue;
		if (!begun)
			page_table(p,
				   "what calls cost, by the model; informational; in parentheses "
				   "95 % intervals",
				   heads, 6);
		begun = true;
		put_parameter(p, &c->parameters.row[i]);
	}
}

static void points_table(const struct comparison *c, struct page *p)
{
	static const char *const heads[] = { "point", "A", "B", "B / A", "verdict", "n" };
	char text[240];

	snprintf(text, sizeof(text),
		 "every point, time per step; informational, corrected for their number; in "
		 "parentheses 95 %% intervals of A and B, %.3g %% of B / A",
		 100 * c->contrast.level);
	page_table(p, text, heads, 6);
	for (int i = 0; i < c->pairs.n; i++) {
		const struct compared_point *at = &c->point[i];

		plan_point_text(&c->side[PAIR_A]->view.plan, at->pair->at[PAIR_A], text,
				sizeof(text));
		page_cell(p, "%s", text);
		page_cell(p, "%s", figure_own(&at->step_ns[PAIR_A], true).s);
		page_cell(p, "%s", figure_own(&at->step_ns[PAIR_B], true).s);
		page_cell(p, "%s", figure_ratio(&at->ratio).s);
		page_cell_of(p, part_tone(at->judged.verdict), "%s",
			     verdict_names[at->judged.verdict]);
		page_cell(p, "%d", at->ratio.n);
	}
}

static void tables(const void *found, struct page *p)
{
	parameters_table(of(found), p);
	points_table(of(found), p);
}

/* ---- charts ----------------------------------------------------------------------------- */

/* Of many workloads one chart has all; of one, where and how much. */
static bool is_shown(const char *name, int sets)
{
	const char *suffix = strrchr(name, '-');

	if (sets > 1)
		return !strcmp(name, "workloads");
	return suffix && (!strcmp(suffix, "-ratio") || !strcmp(suffix, "-latency"));
}

static int charts(const void *found, struct page *p, const char *folder)
{
	const struct comparison_found *f = found;
	struct chart_side side[CHART_SIDES];
	struct charts c = { 0 };
	int err;

	for (int k = 0; k < CHART_SIDES; k++)
		chart_side_init(&side[k], f->journal[k], f->side[k], k ? "B" : "A");
	err = charts_init(&c, side, CHART_SIDES);
	if (!err)
		err = charts_write(&c, folder);
	for (int i = 0; i < c.pictures && !err; i++)
		if (is_shown(c.picture[i].plot.name, c.sets))
			err = interrupted() ? -EINTR : part_picture(p, &c.picture[i], 0);
	charts_release(&c);
	return err;
}

/* ---- around it -------------------------------------------------------------------------- */

static void differs(const void *found, struct page *p)
{
	const struct comparison *c = of(found);
	const json_t *warning;
	size_t i;

	json_array_foreach(c->warnings, i, warning)
	{
		page_item(p, "Warning: %s", json_string_value(warning));
	}
	part_differences(p, c->environment_diff, "A", "B");
}

static void how(const void *found, struct page *p)
{
	const struct comparison *c = of(found);

	part_say_terms(p, &c, 1);
	if (c->pairs.n_workloads > 1)
		page_item(p, "The mean over the workloads decides, and each workload, corrected "
			     "for their number (Holm).");
}

static void say_faults(struct page *p, const struct comparison *c, int k)
{
	const struct faults *f = &c->faults[k];
	int name = 'A' + k;

	if (f->wrong)
		page_item(p,
			  "%c computes wrong results in %d of %d cases (%s); no time of them is "
			  "used.",
			  name, f->wrong, f->results, f->wrong_of);
	if (f->lacking)
		page_item(p, "%c lacks %s: %d of %d results.", name, f->lacks, f->lacking,
			  f->results);
	if (f->missing)
		page_item(p, "%c has no result in %d of %d cases (%s).", name, f->missing,
			  f->results, f->missing_of);
}

static void lacks(const void *found, struct page *p)
{
	const struct comparison *c = of(found);

	for (int k = 0; k < 2; k++)
		say_faults(p, c, k);
	if (c->left_out)
		page_item(p, "%s left out: some process has no good result.",
			  counted(c->left_out, "point").s);
	if (c->pairs.only[PAIR_A] + c->pairs.only[PAIR_B])
		page_item(p, "%s that only A has and %d that only B has are not compared.",
			  counted(c->pairs.only[PAIR_A], "point").s, c->pairs.only[PAIR_B]);
	page_item(p, "Other programs than these workloads, other sizes and depths than those "
		     "listed below, and other machines.");
	part_say_cpu(p, session_is_cpu(&c->side[PAIR_A]->view, 0));
}

/* A side of a session that has two is named. */
static void compare_two(struct page *p, const struct comparison *c)
{
	char *word[2];

	for (int k = 0; k < 2; k++) {
		const struct compared_side *s = c->side[k];

		CHECK(asprintf(&word[k], "%s%s%s", s->path, s->alone ? "" : ":",
			       s->alone ? "" : journal_side_name(s->side)) > 0,
		      "memory of a name");
	}
	part_command(p, "rift compare", (const char *const[]){ word[0], word[1], NULL });
	free(word[0]);
	free(word[1]);
}

static void repeat(const void *found, struct page *p)
{
	const struct comparison *c = of(found);
	bool one = session_same(&c->side[PAIR_A]->view, &c->side[PAIR_B]->view);

	part_recorded_command(p, c->side[PAIR_A]->view.argv);
	if (!one)
		part_recorded_command(p, c->side[PAIR_B]->view.argv);
	if (one)
		part_command(p, "rift compare",
			     (const char *const[]){ c->side[PAIR_A]->path, NULL });
	else
		compare_two(p, c);
}

static void print(const void *found, FILE *out)
{
	compare_print(of(found), true, out);
}

const struct part_kind part_comparison = {
	.what = "How much longer B takes",
	.finding = finding,
	.table = table,
	.charts = charts,
	.tables = tables,
	.differs = differs,
	.how = how,
	.lacks = lacks,
	.repeat = repeat,
	.print = print,
	.print_by = "rift compare --all",
};
