/* history_chart.c - a dot for each session, by date (plots/history.gp). */
#include "harness/chart/history_chart.h"

#include <math.h>
#include <string.h>

#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/chart/words.h"
#include "harness/compare/format.h"

/* Dates that stand below the axis. */
enum { LABELS_MOST = 8 };

static int write_sessions(const struct history *h, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "sessions", "-sessions.csv", &out);

	if (err)
		return err;
	fputs("session,ratio,ratio_lo,ratio_hi,late\n", out.file);
	for (int i = 0; i < h->n; i++) {
		const struct interval *r = &h->of[i].ratio;

		fprintf(out.file, "%d,%.6g,", i + 1, r->value);
		if (r->known)
			fprintf(out.file, "%.6g,%.6g", r->lo, r->hi);
		else
			fputc(',', out.file);
		fprintf(out.file, ",%d\n", h->since && i >= h->since);
	}
	return output_commit(&out);
}

enum { DAY = 10 }; /* characters of 2026-11-27T16:51:44Z */

/* Dates; of one day times. */
static void name_dates(const struct history *h, struct plot *p)
{
	int step = (h->n + LABELS_MOST - 1) / LABELS_MOST, n = 0;
	bool one_day = !strncmp(h->of[0].date, h->of[h->n - 1].date, DAY);

	for (int i = 0; i < h->n; i += step) {
		if (one_day && strlen(h->of[i].date) > DAY)
			plot_text(p, words_name("date", ++n).s, "%.5s", h->of[i].date + DAY + 1);
		else
			plot_text(p, words_name("date", ++n).s, "%.*s", DAY, h->of[i].date);
		plot_count(p, words_name("at", n).s, i + 1);
	}
	plot_count(p, "dates", n);
}

static void set_texts(const struct history *h, struct plot *p)
{
	const json_t *header = side_header(&h->of[0].side);
	char title[400];

	if (h->since)
		snprintf(title, sizeof(title), "%s from %.10s on: %s times as long",
			 verdict_names[h->judged.verdict], h->of[h->since].date,
			 figure_ratio(&h->ratio).s);
	else
		snprintf(title, sizeof(title),
			 "no date is found from which it is slower or faster");
	plot_text(p, "title", "%s", title);
	words_finding(
		p, "a step of each session over that of the first, with intervals over processes");
	plot_text(p, "made1", "%s, %s, %s", json_get_text(json_object_get(header, "gpu"), "name"),
		  counted(h->n, "session").s, counted(h->workloads, "workload").s);
	plot_text(p, "made2", "%s to %s", h->of[0].date, h->of[h->n - 1].date);
}

int history_chart_write(struct picture *picture, const struct history *h, const char *folder)
{
	struct plot *p = &picture->plot;

	*picture = (struct picture){ .asked = true };
	plot_begin(p, folder, "history",
		   json_get_text(json_object_get(side_header(&h->of[0].side), "gpu"), "name"));
	p->script = "plots/history.gp";
	set_texts(h, p);
	name_dates(h, p);
	plot_number(p, "since", h->since ? h->since + 0.5 : 0);
	plot_count(p, "last", h->n);
	return write_sessions(h, p);
}
