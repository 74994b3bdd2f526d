/* trial_text.c - what is said of a timed program: the finding, a table, what was noticed; JSON. */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/compare/format.h"
#include "harness/stats/interval_json.h"
#include "harness/trial/trial.h"

/* ---- the finding -------------------------------------------------------------------------------
 */

struct interval trial_in_ns(const struct interval *s)
{
	struct interval ns = *s;

	ns.value *= 1e9;
	ns.lo *= 1e9;
	ns.hi *= 1e9;
	return ns;
}

static struct text time_of(double s)
{
	return text_time(1e9 * s);
}

static void print_level(const struct trial_findings *f, FILE *out)
{
	fprintf(out, "%.3g %% interval ", 100 * f->contrast.level);
}

/* " (28.4 ms to 35.0 ms)"; where it may be either, " (3.10 ms less to 35.0 ms more)". */
static void print_span(const struct interval *more, FILE *out)
{
	bool less = more->value < 0;
	double lo = less ? -more->hi : more->lo, hi = less ? -more->lo : more->hi;

	if (more->known && lo < 0)
		fprintf(out, " (%s %s to %s %s)", text_time(-lo).s, less ? "more" : "less",
			text_time(hi).s, less ? "less" : "more");
	else if (more->known)
		fprintf(out, " (%s to %s)", text_time(lo).s, text_time(hi).s);
}

/* "31.2 ms more in a pair (28.4 ms to 35.0 ms), 1.076 times as long (...); medians 443 ms and 412
 * ms by itself": a difference of medians is another one. */
static void print_change(const struct trial_findings *f, int side, FILE *out)
{
	const struct trial_result *r = &f->side[side];
	struct interval more = trial_in_ns(&r->difference_s);

	fprintf(out, "%s %s in a pair", text_time(fabs(more.value)).s,
		more.value < 0 ? "less" : "more");
	print_span(&more, out);
	fprintf(out, ", %s times as long (", figure_times(r->ratio.value).s);
	if (r->ratio.known) {
		print_level(f, out);
		fprintf(out, "%s to %s", figure_times(r->ratio.lo).s, figure_times(r->ratio.hi).s);
	} else {
		fputs("no interval", out);
	}
	fprintf(out, ", n = %s); medians %s and %s by itself", counted(f->rounds, "pair").s,
		time_of(r->wall_s.value).s, time_of(f->side[0].wall_s.value).s);
}

/* How many rounds could decide, where there were fewer. */
static void print_needed(const struct trial_findings *f, FILE *out)
{
	double s = trial_round_s(f->trial);

	if (f->rounds < f->needed)
		fprintf(out, "; n = %d is too few: %d can decide (--runs %d, about %s)", f->rounds,
			f->needed, f->needed, time_of(s * f->needed).s);
	else
		fprintf(out, "; more rounds can decide (--within %.0fs), or a wider --margin",
			ceil(4 * s * f->rounds));
}

static void print_verdict(const struct trial_findings *f, int side, FILE *out)
{
	static const char *const words[] = {
		[VERDICT_SAME] = "makes no difference beyond %.3g %%: ",
		[VERDICT_SLOWER] = "is slower by more than %.3g %%: ",
		[VERDICT_FASTER] = "is faster by more than %.3g %%: ",
		[VERDICT_INCONCLUSIVE] = "may or may not be slower by more than %.3g %%: ",
	};
	const struct trial_result *r = &f->side[side];
	enum ratio_verdict v = r->judged.verdict;

	if (*r->wrong) {
		fprintf(out, "%s: the program is wrong under it in %d of %s: %s",
			trial_side_name(&f->trial->plan, side).s, r->wrong_runs,
			counted(r->runs, "run").s, r->wrong);
		return;
	}
	fprintf(out, "%s%s ",
		v == VERDICT_INCONCLUSIVE && !r->judged.not_slower ? "Inconclusive: " : "",
		trial_side_name(&f->trial->plan, side).s);
	if (!f->rounds) {
		fputs("was not timed yet", out);
		return;
	}
	if (v == VERDICT_INCONCLUSIVE && r->judged.not_slower)
		fprintf(out,
			"is not slower by more than %.3g %%, and may be faster: ", 100 * f->margin);
	else
		fprintf(out, words[v], 100 * f->margin);
	print_change(f, side, out);
	if (v == VERDICT_INCONCLUSIVE)
		print_needed(f, out);
}

static void print_alone(const struct trial_findings *f, FILE *out)
{
	const struct interval *w = &f->side[0].wall_s;

	fprintf(out, "The program takes %s (", time_of(w->value).s);
	if (w->known) {
		print_level(f, out);
		fprintf(out, "%s to %s, ", time_of(w->lo).s, time_of(w->hi).s);
	}
	fprintf(out, "n = %s)\n", counted(f->rounds, "run").s);
}

void trial_finding_print(const struct trial_findings *f, FILE *out)
{
	const struct trial_result *own = &f->side[0];

	if (*own->wrong)
		fprintf(out,
			"Nothing is decided: by itself the program does not always do the same: in "
			"%d of %s %s\n",
			own->wrong_runs, counted(own->runs, "run").s, own->wrong);
	else if (f->trial->plan.sides == 1)
		print_alone(f, out);
	for (int i = 1; i < f->trial->plan.sides && !*own->wrong; i++) {
		print_verdict(f, i, out);
		fputc('\n', out);
	}
}

/* ---- the table ---------------------------------------------------------------------------------
 */

const char *trial_verdict(const struct trial_findings *f, int side)
{
	const struct trial_result *r = &f->side[side];

	return *r->wrong ? "wrong" : !side || !f->rounds ? "" : verdict_names[r->judged.verdict];
}

static void print_side(const struct trial_findings *f, int side, FILE *out)
{
	const struct trial_result *r = &f->side[side];
	struct interval more = trial_in_ns(&r->difference_s);

	fprintf(out, "%-28.28s", trial_side_name(&f->trial->plan, side).s);
	if (*r->wrong || *f->side[0].wrong || !f->rounds)
		fprintf(out, " %9s  %-29s %-23s %s\n", "-", "", "", trial_verdict(f, side));
	else if (!side)
		fprintf(out, " %9s\n", time_of(r->wall_s.value).s);
	else
		fprintf(out, " %9s  %-29s %-23s %s\n", time_of(r->wall_s.value).s,
			figure_difference(&more, true).s, figure_ratio(&r->ratio).s,
			trial_verdict(f, side));
}

/* ---- beside the wall time ----------------------------------------------------------------------
 */

static bool is_bytes(int q)
{
	return q == TRIAL_PEAK_BYTES || q == TRIAL_DEVICE_BYTES;
}

struct text trial_quantity_text(enum trial_quantity q, double value)
{
	struct text t;

	if (is_bytes(q))
		return text_bytes(value);
	if (q != TRIAL_ENERGY_J)
		return time_of(value);
	snprintf(t.s, sizeof(t.s), "%.60s J", text_digits(value).s);
	return t;
}

static bool is_known(const struct trial_findings *f, int q)
{
	for (int i = 0; i < f->trial->plan.sides; i++)
		if (isfinite(f->side[i].beside[q].own.value))
			return true;
	return false;
}

static void print_quantity(const struct trial_findings *f, int q, FILE *out)
{
	fprintf(out, "%-28.28s", trial_beside_label(f, q).s);
	for (int i = 0; i < f->trial->plan.sides; i++) {
		double v = f->side[i].beside[q].own.value;
		const struct interval *over = &f->side[i].beside[q].over;
		char cell[160];

		snprintf(cell, sizeof(cell), "%s", isfinite(v) ? trial_quantity_text(q, v).s : "-");
		if (isfinite(over->value))
			snprintf(cell + strlen(cell), sizeof(cell) - strlen(cell), " (%s)",
				 figure_times(over->value).s);
		fprintf(out, i ? "  %-20s" : " %9s", cell);
	}
	fputc('\n', out);
}

static void print_quantities(const struct trial_findings *f, FILE *out)
{
	bool any = false;

	for (int q = 0; q < f->beside; q++)
		any |= is_known(f, q);
	if (!any)
		return;
	fprintf(out, "\n%-28s %9s", "medians, and times as much", "by itself");
	for (int i = 1; i < f->trial->plan.sides; i++)
		fprintf(out, "  %-20.20s", trial_side_name(&f->trial->plan, i).s);
	fputc('\n', out);
	for (int q = 0; q < f->beside; q++)
		if (is_known(f, q))
			print_quantity(f, q, out);
}

/* ---- what was noticed ---------------------------------------------------------------------------
 */

static int count_left(const struct trial *t)
{
	int n = 0;

	for (int i = 0; i < t->plan.sides; i++)
		for (int k = 0; k < TRIAL_ROUNDS_MAX; k++)
			n += t->side[i].run[k].there && t->side[i].run[k].left;
	return n;
}

static void print_remarks(const struct trial_findings *f, FILE *out)
{
	const struct trial *t = f->trial;
	const struct trial_run *first = &t->side[0].untimed;
	int left = count_left(t);

	if (first->there && first->status)
		row(out, "status",
		    "by itself the program %s, so these may be times of an error%s%s",
		    trial_ended(first).s, *first->said ? ": " : "", first->said);
	if (t->outputs_differ)
		row(out, "output",
		    "two runs without a layer already differ: outputs are not "
		    "compared");
	if (left)
		row(out, "left behind",
		    "%s left processes running, which rift ended after 2.5 s; what they do is "
		    "not timed",
		    counted(left, "run").s);
	row(out, "not timed", "a first run of each side");
}

void trial_print(const struct trial_findings *f, FILE *out)
{
	const struct trial *t = f->trial;

	trial_finding_print(f, out);
	fprintf(out, "\n");
	row(out, "program", "%s", trial_program_name(&t->plan).s);
	row(out, "device", "%s", text_escaped(json_get_text(t->platform, "device")).s);
	if (t->plan.sides > 1) {
		fprintf(out, "\n%-28s %9s  %-29s %-23s verdict\n", "side", "median", "difference",
			"times as long");
		for (int i = 0; i < t->plan.sides; i++)
			print_side(f, i, out);
	}
	print_quantities(f, out);
	fputc('\n', out);
	print_remarks(f, out);
}

/* ---- JSON ---------------------------------------------------------------------------------------
 */

static const char *beside_name(const struct trial_findings *f, int which)
{
	return which < TRIAL_QUANTITIES
		       ? trial_quantities[which].name
		       : f->trial->side[0].untimed.range[which - TRIAL_QUANTITIES].name;
}

static json_t *side_json(const struct trial_findings *f, int side)
{
	const struct trial_result *r = &f->side[side];
	const struct trial_side *s = &f->trial->plan.side[side];
	json_t *beside = json_object(), *ranges = json_object();

	for (int i = 0; i < f->beside; i++)
		json_object_set_new(i < TRIAL_QUANTITIES ? beside : ranges, beside_name(f, i),
				    json_pack("{s:o, s:o}", "value",
					      interval_json(&r->beside[i].own), "ratio",
					      interval_json(&r->beside[i].over)));
	return json_pack("{s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "layer",
			 json_text(s->layer), "against", json_text(s->against), "runs", r->runs,
			 "wrong_runs", r->wrong_runs, "wrong",
			 *r->wrong ? json_text(r->wrong) : json_null(), "wall_s",
			 interval_json(&r->wall_s), "difference_s", interval_json(&r->difference_s),
			 "ratio", interval_json(&r->ratio), "verdict",
			 json_text(side ? trial_verdict(f, side) : NULL), "beside", beside,
			 "ranges", ranges);
}

json_t *trial_json(const struct trial_findings *f)
{
	const struct trial *t = f->trial;
	json_t *sides = json_array();

	for (int i = 0; i < t->plan.sides; i++)
		json_array_append_new(sides, side_json(f, i));
	return json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:i, s:f, s:o, s:b, s:o, s:i}", "version",
			 RIFT_VERSION, "command", "time", "file",
			 json_text(t->file.path ? t->file.path : ""), "device",
			 json_get_text(t->platform, "device"), "outcome", outcome_name(f->outcome),
			 "plan", trial_plan_json(&t->plan), "rounds", f->rounds, "margin",
			 f->margin, "level", json_number(f->contrast.level), "outputs_differ",
			 t->outputs_differ, "sides", sides, "exit_code", (int)trial_exit_code(f));
}
