/* history_text.c - sessions of one plan over time, for people and for machines. */
#include <math.h>

#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/compare/format.h"
#include "harness/compare/history.h"
#include "harness/stats/interval_json.h"

static void say_found(const struct history *h, FILE *out)
{
	const struct interval *r = &h->ratio;

	fprintf(out,
		"From %s on it is %s by more than %.3g %%: on average over %s a step takes %s "
		"times "
		"as long as before (",
		h->of[h->since].date, verdict_names[h->judged.verdict], 100 * h->options.margin,
		counted(h->workloads, "workload").s, figure_times(r->value).s);
	if (r->known)
		fprintf(out, "%.3g %% interval %s to %s, ", 100 * h->level, figure_times(r->lo).s,
			figure_times(r->hi).s);
	fprintf(out, "%s before, %d from then on)", counted(h->since, "session").s,
		h->n - h->since);
}

void history_finding(const struct history *h, FILE *out)
{
	distrusted_print(&h->distrusted, out);
	if (h->since)
		say_found(h, out);
	else if (h->enough)
		fprintf(out,
			"No date is found from which it is slower or faster by more than %.3g %%, "
			"in %s "
			"from %s to %s",
			100 * h->options.margin, counted(h->n, "session").s, h->of[0].date,
			h->of[h->n - 1].date);
	else
		fprintf(out, "Nothing is decided: %s are too few to find a date",
			counted(h->n, "session").s);
}

static void print_session(const struct history *h, int i, FILE *out)
{
	const struct history_session *s = &h->of[i];

	fprintf(out, "  %-21.21s %10s  %-25s %3d  %s%s\n", text_escaped(s->date).s,
		text_time(s->value).s, figure_ratio(&s->ratio).s, s->side.n,
		text_escaped(s->side.path).s, h->since && i == h->since ? "  <- from here on" : "");
}

void history_print(const struct history *h, FILE *out)
{
	history_finding(h, out);
	fprintf(out, "\n\n  %-21s %10s  %-25s %3s\n", "date", "a step", "over the first session",
		"n");
	for (int i = 0; i < h->n; i++)
		print_session(h, i, out);
	fputc('\n', out);
	row(out, "a step", "the geometric mean over %s, each the mean over its points (%d in all)",
	    counted(h->workloads, "workload").s, h->points);
	row(out, "scatter", "half of the sessions lie within %.2g %% of their group's median",
	    100 * h->scatter);
	row(out, "terms",
	    "margin %.3g %%; an exact test of the sessions at each of %s, corrected for their "
	    "number (Holm)",
	    100 * h->options.margin, counted(h->dates, "date").s);
}

static json_t *session_json(const struct history_session *s)
{
	return json_pack("{s:o, s:o, s:s, s:s, s:i, s:o, s:o}", "date", json_text(s->date), "file",
			 json_text(s->side.path), "session_id", s->session.session_id, "side",
			 journal_side_name(s->side.side), "processes", s->side.n, "step_ns",
			 json_number(s->value), "over_first", interval_json(&s->ratio));
}

json_t *history_json(const struct history *h)
{
	json_t *sessions = json_array();

	for (int i = 0; i < h->n; i++)
		json_array_append_new(sessions, session_json(&h->of[i]));
	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:f, s:i, s:i, s:i, s:o, s:i, s:o}", "version",
			 RIFT_VERSION, "command", "compare", "since",
			 h->since ? json_text(h->of[h->since].date) : json_null(), "ratio",
			 h->since ? interval_json(&h->ratio) : json_null(), "verdict",
			 h->since    ? verdict_names[h->judged.verdict]
			 : h->enough ? "no date"
				     : "inconclusive",
			 "margin", h->options.margin, "points", h->points, "workloads",
			 h->workloads, "dates", h->dates, "scatter", json_number(h->scatter),
			 "exit_code", (int)history_exit_code(h), "sessions", sessions);
}
