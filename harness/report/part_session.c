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

/* The model of what launches cost, where the session says it. */
struct cost_model {
	struct grid grid;
	struct fit fit;
	bool is;
};

static void cost_model_init(struct cost_model *m, const struct session_found *s)
{
	const struct journal *j = s->journal;
	const char *workload = source_has_launch(j) ? "launch" : NULL;

	*m = (struct cost_model){ .is = false };
	complain_silence(true);
	m->is = (workload || j->plan.n_configs == 1) &&
		!grid_make(&m->grid, j, s->side, workload) && !fit_make(&m->fit, &m->grid, 0);
	complain_silence(false);
}

static void cost_model_release(struct cost_model *m)
{
	fit_release(&m->fit);
	grid_release(&m->grid);
}

static void say_finding(const struct session_found *s, FILE *out)
{
	char why[TRUST_TEXT];
	struct cost_model m;

	cost_model_init(&m, s);
	if (*session_distrust(s->journal, why))
		fprintf(out, "These figures cannot be trusted: %s. ", why);
	if (m.is)
		answer_line_print(&m.fit, out);
	else
		fprintf(out, "%s were measured on %s, and compared with nothing",
			counted(s->journal->plan.n_points, "point").s, part_device(header_of(s)).s);
	cost_model_release(&m);
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

/* ---- tables ----------------------------------------------------------------------------- */

static void put_parameter(struct page *p, const struct fit *f, int which)
{
	const struct model_param_row *row = &model_param_rows[which];
	const struct interval *i = &f->param[which].interval;
	bool is_ns = !strcmp(row->unit, "ns");

	page_cell(p, "%s: %s", row->name, row->what);
	page_cell(p, "%s", figure_value(i->value, is_ns).s);
	if (i->known)
		page_cell(p, "%s to %s", figure_value(i->lo, is_ns).s,
			  figure_value(i->hi, is_ns).s);
	else
		page_cell(p, "%s", which == MODEL_Q ? "a count" : "-");
	page_cell(p, "%d", f->n);
}

static void put_point(struct page *p, const struct results *r, int side, int point)
{
	const struct interval t = results_interval(r, side, point);
	char text[160];

	plan_point_text(&r->j->plan, point, text, sizeof(text));
	page_cell(p, "%s", text);
	page_cell(p, "%s", figure_value(t.value, true).s);
	if (t.known)
		page_cell(p, "%s to %s", text_time(t.lo).s, text_time(t.hi).s);
	else
		page_cell(p, "-");
	page_cell(p, "%d", t.n);
}

static void points_table(const struct session_found *s, struct page *p)
{
	static const char *const heads[] = { "point", "time per step", "95 % interval", "n" };
	struct results r;

	results_init(&r, s->journal, journal_processes(s->journal));
	page_table(p, "every point: the median over processes", heads, 4);
	for (int i = 0; i < s->journal->plan.n_points; i++)
		put_point(p, &r, s->side, i);
	results_release(&r);
}

/* What a launch costs, and where there is no model of that the points. */
static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "cost", "value", "95 % interval", "n" };
	struct cost_model m;

	cost_model_init(&m, of(found));
	if (m.is)
		page_table(p, "the model's costs, of those that the points tell", heads, 4);
	for (int i = 0; i < MODEL_PARAMS && m.is; i++)
		if (m.fit.param[i].identified)
			put_parameter(p, &m.fit, i);
	if (!m.is)
		points_table(of(found), p);
	cost_model_release(&m);
}

static void tables(const void *found, struct page *p)
{
	points_table(of(found), p);
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
		  "and its interval the 95 %% one over them.",
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
	part_say_cpu(p, session_is_cpu(s->journal, s->side));
}

static void repeat(const void *found, struct page *p)
{
	const struct session_found *s = of(found);

	part_recorded_command(p, s->journal->argv);
	part_command(p, "rift show", (const char *const[]){ s->journal->path, NULL });
}

/* What the fit says, where there is one. */
static void print(const void *found, FILE *out)
{
	const struct report_options o = { .over = NULL };
	struct fit_report r;
	struct cost_model m;

	cost_model_init(&m, of(found));
	if (m.is) {
		report_make(&r, &m.fit, &o);
		report_print(&r, out);
		report_release(&r);
	} else {
		fputs("no model: the points are too few, or of several workloads\n", out);
	}
	cost_model_release(&m);
}

const struct part_kind part_session = {
	.what = "What was measured",
	.finding = finding,
	.table = table,
	.charts = charts,
	.tables = tables,
	.how = how,
	.lacks = lacks,
	.repeat = repeat,
	.print = print,
	.print_by = "rift fit",
};
