/* part_history.c - sessions of one plan over time: from which date on is it slower? */
#include <stdlib.h>

#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/chart/history_chart.h"
#include "harness/compare/environment_diff.h"
#include "harness/compare/format.h"
#include "harness/compare/history.h"
#include "harness/record/recorded.h"
#include "harness/report/part.h"

static void print_finding(const void *found, FILE *out)
{
	history_finding(found, out);
}

static void finding(const void *found, struct page *p)
{
	const struct history *h = found;
	char *text = part_printed(print_finding, h);

	part_findings(p,
		      h->distrusted.n ? TONE_OPEN
		      : h->since      ? part_tone(h->judged.verdict)
				      : TONE_PLAIN,
		      text);
	free(text);
	page_small(p, "%s, %s from %s to %s", part_device(side_header(&h->of[0].side)).s,
		   counted(h->n, "session").s, h->of[0].date, h->of[h->n - 1].date);
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "date", "a step", "over the first session",
					     "processes", "file" };
	const struct history *h = found;
	char caption[320];

	snprintf(caption, sizeof(caption),
		 "each session by itself; in parentheses the interval over its processes, %s of a "
		 "step, %s of the ratio",
		 levels_text(&h->of_step).s, levels_text(&h->of_ratio).s);
	page_table(p, caption, heads, 5);
	for (int i = 0; i < h->n; i++) {
		const struct history_session *s = &h->of[i];
		bool late = h->since && i >= h->since;

		page_cell(p, "%s", s->date);
		page_cell(p, "%s", figure_own(&s->step, true).s);
		page_cell_of(p, late ? part_tone(h->judged.verdict) : TONE_PLAIN, "%s",
			     i ? figure_ratio(&s->ratio).s : "1");
		page_cell(p, "%d", s->side.n);
		page_cell(p, "%s", s->side.path);
	}
}

static int charts(const void *found, struct page *p, const char *folder)
{
	struct picture picture = { .asked = false };

	return part_lone_picture(p, &picture, history_chart_write(&picture, found, folder));
}

/* The last session before the date that was found and the first from there on; else first and last.
 */
static void differs(const void *found, struct page *p)
{
	const struct history *h = found;
	int a = h->since ? h->since - 1 : 0, b = h->since ? h->since : h->n - 1;
	json_t *rows = environment_diff_any(&h->of[a].side, &h->of[b].side);

	part_differences(p, rows, h->of[a].date, h->of[b].date);
	json_decref(rows);
}

static void how(const void *found, struct page *p)
{
	const struct history *h = found;

	page_item(p,
		  "A session's time is the geometric mean over %s, each the mean over those of its "
		  "points that all sessions have (%d in all), and the median over processes.",
		  counted(h->workloads, "workload").s, h->points);
	page_item(p,
		  "At each of %s the sessions from there on are compared with those before by an "
		  "exact test, corrected for the number of dates (Holm). Differences up to %.3g %% "
		  "count as none.",
		  counted(h->dates, "date").s, 100 * h->options.margin);
	page_item(p,
		  "Half of the %d sessions lie within %.2g %% of their group's median: by so much "
		  "they differ though nothing is known to have changed.",
		  h->n, 100 * h->scatter);
}

static void lacks(const void *found, struct page *p)
{
	const struct history *h = found;

	page_item(p, "What changed on that date: the fields above are what was recorded.");
	page_item(
		p,
		"A second date, and a slow drift: one step is looked for, %d sessions or more from "
		"either end.",
		HISTORY_LEAST);
	part_say_cpu(p, session_is_cpu(&h->of[0].side.view, 0));
}

static void repeat(const void *found, struct page *p)
{
	const struct history *h = found;
	const char **words = calloc((size_t)h->n + 1, sizeof(*words));

	for (int i = 0; i < h->n && words; i++)
		words[i] = h->of[i].side.path;
	part_recorded_command(p, h->of[0].session.argv);
	if (words)
		part_command(p, "rift compare --each date", words);
	free(words);
}

static void print(const void *found, FILE *out)
{
	history_print(found, out);
}

const struct part_kind part_history = {
	.what = "Every session",
	.finding = finding,
	.table = table,
	.charts = charts,
	.differs = differs,
	.how = how,
	.lacks = lacks,
	.repeat = repeat,
	.print = print,
	.print_by = "rift compare --each date",
};
