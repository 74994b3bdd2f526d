/* part_session.c - one platform: what launches cost there, and every point that was measured. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/chart/charts.h"
#include "harness/compare/format.h"
#include "harness/fit/report.h"
#include "harness/fit/source.h"
#include "harness/measure/plan_record.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"
#include "harness/record/trust.h"
#include "harness/report/part.h"
#include "harness/session/results.h"
#include "workloads/workload.h"

static const struct session_found *of(const void *found)
{
	return found;
}

static const json_t *header_of(const struct session_found *s)
{
	return s->journal->header[s->side];
}

/* ---- the finding ------------------------------------------------------------------------ */

/* How long kernels must be, where the session says it; else what there is. */
static void say_finding(const struct session_found *s, FILE *out)
{
	const struct journal *j = s->journal;
	const char *workload = source_has_launch(j) ? "launch" : NULL;
	char why[TRUST_TEXT];
	struct grid g = { 0 };
	struct fit f = { 0 };
	bool alone = workload || j->plan.n_configs == 1;

	if (*session_distrust(j, why))
		fprintf(out, "These figures cannot be trusted: %s. ", why);
	complain_silence(true);
	if (alone && !grid_make(&g, j, s->side, workload) && !fit_make(&f, &g, 0))
		answer_line_print(&f, out);
	else
		fprintf(out,
			"%s of %s took the times below per step; nothing was compared with "
			"them",
			counted(j->plan.n_points, "point").s, part_device(header_of(s)).s);
	complain_silence(false);
	fit_release(&f);
	grid_release(&g);
}

static void print_finding(const void *found, FILE *out)
{
	say_finding(of(found), out);
}

static void finding(const void *found, struct page *p)
{
	const struct session_found *s = of(found);
	char *text = part_printed(print_finding, s), layers[LAYERS_TEXT];

	page_finding(p, TONE_PLAIN, "%s", text);
	free(text);
	environment_layers(header_of(s), layers);
	page_small(p, "%s%s%s, %s, begun %s (%s%s%s)", part_device(header_of(s)).s,
		   *layers ? ", " : "", layers, counted(journal_processes(s->journal), "process").s,
		   json_get_text(header_of(s), "start_utc"), s->journal->path,
		   s->journal->sides > 1 ? ", side " : "",
		   s->journal->sides > 1 ? journal_side_name(s->side) : "");
}

/* ---- every point ------------------------------------------------------------------------ */

/* The fastest and the slowest would say nothing: a table of Markdown has the first ones. */
static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "point", "time per step", "95 % interval", "n" };
	const struct session_found *s = of(found);
	const struct plan *plan = &s->journal->plan;
	struct results r;
	char text[160];

	results_init(&r, s->journal, journal_processes(s->journal));
	page_table(p, "median over processes", heads, 4);
	for (int i = 0; i < plan->n_points; i++) {
		const struct interval t = results_interval(&r, s->side, i);

		plan_point_text(plan, i, text, sizeof(text));
		page_cell(p, "%s", text);
		page_cell(p, "%s", figure_value(t.value, true).s);
		if (t.known)
			page_cell(p, "%s to %s", text_time(t.lo).s, text_time(t.hi).s);
		else
			page_cell(p, "too few processes");
		page_cell(p, "%d", t.n);
	}
	results_release(&r);
}

/* ---- charts ----------------------------------------------------------------------------- */

static bool is_shown(const char *name, int sets)
{
	return sets < 2 || !strcmp(name, "collection");
}

static int charts(const void *found, struct page *p, const char *folder)
{
	const struct session_found *s = of(found);
	struct chart_side side;
	struct charts c = { 0 };
	int err;

	chart_side_init(&side, s->journal, s->side, "");
	err = charts_init(&c, &side, 1);
	if (!err)
		err = charts_write(&c, folder);
	for (int i = 0; i < c.pictures && !err; i++)
		if (is_shown(c.picture[i].plot.name, c.sets))
			err = interrupted() ? -EINTR : part_picture(p, &c.picture[i], 0);
	charts_release(&c);
	return err;
}

/* ---- around it -------------------------------------------------------------------------- */

static void how(const void *found, struct page *p)
{
	const struct session_found *s = of(found);
	const struct design *d = &s->journal->plan.design;

	page_item(p, "A step is one unit of a workload, such as a video frame or a launch; depth "
		     "is how many steps are submitted before the program waits.");
	page_item(p,
		  "%s, each a fresh process, in up to %s; a time is the median over processes, "
		  "and its range the 95 %% interval over them.",
		  counted(journal_processes(s->journal), "process").s,
		  counted(d->rounds, "round").s);
	page_item(p, "Every timed run was checked against an independent reference.");
}

static void lacks(const void *found, struct page *p)
{
	const struct session_found *s = of(found);
	int unchecked = journal_count(s->journal, POINT_CHECK_FAILED);
	int failed = journal_count_failed(s->journal);

	page_item(p, "Another platform: a report of two sessions compares them.");
	if (unchecked)
		page_item(p, "%s whose results are wrong: no time of them is used.",
			  counted(unchecked, "point").s);
	if (failed)
		page_item(p, "%s without a result.", counted(failed, "point").s);
	if (session_is_cpu(s->journal, s->side))
		page_item(p, "A GPU: this is the CPU device, and these are not GPU figures.");
}

static void repeat(const void *found, struct page *p)
{
	const struct session_found *s = of(found);

	part_repeat_sweep(p, s->journal);
	page_command(p, "rift show %s", s->journal->path);
}

/* What the fit says, where there is one; the tables above have the rest. */
static void print(const void *found, FILE *out)
{
	const struct session_found *s = of(found);
	const struct report_options o = { .over = NULL };
	struct fit_report r;
	struct grid g = { 0 };
	struct fit f = { 0 };

	complain_silence(true);
	if (!grid_make(&g, s->journal, s->side, source_has_launch(s->journal) ? "launch" : NULL) &&
	    !fit_make(&f, &g, 0)) {
		report_make(&r, &f, &o);
		report_print(&r, out);
		report_release(&r);
	} else {
		fprintf(out, "no model was fitted: the points are too few, or of several "
			     "workloads\n");
	}
	complain_silence(false);
	fit_release(&f);
	grid_release(&g);
}

const struct part_kind part_session = {
	.what = "What was measured",
	.finding = finding,
	.table = table,
	.charts = charts,
	.how = how,
	.lacks = lacks,
	.repeat = repeat,
	.print = print,
	.print_by = "rift fit",
};
