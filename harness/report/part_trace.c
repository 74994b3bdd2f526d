/* part_trace.c - a program's trace: where its time goes, and what that says of layers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/format.h"
#include "harness/profile/profile_chart.h"
#include "harness/report/part.h"

static const struct profile *of(const void *found)
{
	return found;
}

static int read_trace(void **found, const char *path)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	struct profile *t = calloc(1, sizeof(*t));

	CHECK(t, "memory of a trace");
	*found = t;
	return profile_make(t, path, &rules, true);
}

static void release(void *found)
{
	if (found)
		profile_release(found);
	free(found);
}

/* ---- the finding ------------------------------------------------------------------------ */

/* "54.9 %"; of less than half of the last digit "under 0.1 %". */
static struct text percent_text(double share, int digits)
{
	double least = pow(10, -digits);
	struct text t;

	if (share > 0 && 100 * share < least / 2)
		snprintf(t.s, sizeof(t.s), "under %.*f %%", digits, least);
	else
		snprintf(t.s, sizeof(t.s), "%.*f %%", digits, 100 * share);
	return t;
}

/* Of the time: before the first call and after the last. */
static const double outside_said = 0.01;

/* "54.9 % of its time is host (device idle), 0.8 % kernels (a kernel runs), and 42.6 % ..." */
static void say_shares(const struct profile *t, FILE *out)
{
	double outside = share_of(&t->shares, SHARE_OUTSIDE);
	enum share largest[2];

	shares_largest(&t->shares, largest);
	for (int i = 0; i < 2; i++)
		fprintf(out, "%s%s %s%s (%s)", i ? ", " : "",
			percent_text(share_of(&t->shares, largest[i]), 1).s,
			i ? "" : "of its time is ", share_names[largest[i]],
			share_text(&t->shares, largest[i]));
	if (outside > outside_said)
		fprintf(out, ", %s lies before its first call and after its last",
			percent_text(outside, 1).s);
}

/* A kind may be that of a share which is not the largest. */
static void say_reason(const struct profile *t, FILE *out)
{
	if (t->kind < KIND_MIXED)
		fprintf(out,
			" (%s of the time from its first call to its last, and %.0f %% are "
			"enough)",
			percent_text(program_kind_share(&t->shares, t->kind), 1).s,
			100 * t->rules.least[t->kind]);
}

static void print_finding(const void *found, FILE *out)
{
	const struct profile *t = of(found);

	if (!t->has_kind) {
		fprintf(out, "What bounds %s is not known: %s", profile_program(&t->trace),
			t->trust == TRUST_REFUSED ? "the self-check refused the re-timed trace"
						  : "what the device did is not in the trace");
		return;
	}
	fprintf(out, "In one recorded run%s, ",
		t->trust == TRUST_LOW ? ", with low confidence" : "");
	if (!program_kind_is_worth(&t->shares, t->kind)) {
		fprintf(out, "%s spends hardly any time with CUDA: ", profile_program(&t->trace));
		say_shares(t, out);
		return;
	}
	fprintf(out, "%s is %s", profile_program(&t->trace), program_kind_names[t->kind]);
	say_reason(t, out);
	fputs(": ", out);
	say_shares(t, out);
	fprintf(out, ". What a layer touches: %s", program_kind_touched[t->kind]);
}

static void finding(const void *found, struct page *p)
{
	const struct profile *t = of(found);
	char *text = part_printed(print_finding, found);

	page_finding(p, t->has_kind ? TONE_PLAIN : TONE_OPEN, "%s.", text);
	free(text);
	page_small(p, "%s; recorded by %s%s%s; %s; self-check: %s; %s", profile_program(&t->trace),
		   json_get_text(t->trace.header, "recorder"), *t->trace.under ? " under " : "",
		   t->trace.under, counted(t->shares.kernels, "kernel").s, trust_names[t->trust],
		   t->trace.path ? t->trace.path : "");
}

/* ---- tables ----------------------------------------------------------------------------- */

/* Re-timed it has an interval. */
static struct interval total_of(const struct profile *t)
{
	struct interval total = t->retimed ? t->predicted : interval_unknown(1);

	total.value = t->shares.total_ns;
	return total;
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "share", "of the time", "time", "what it is" };
	const struct profile *t = of(found);
	const struct interval total = total_of(t);
	char caption[360];

	snprintf(caption, sizeof(caption), "shares of %s, %s; n = 1 recorded run",
		 figure_own(&total, true).s, profile_retimed(t));
	page_table(p, caption, heads, 4);
	for (int i = 0; i < SHARES; i++) {
		bool known = share_is_known(&t->shares, (enum share)i);

		page_cell(p, "%s", share_names[i]);
		if (known)
			page_cell(p, "%s", percent_text(share_of(&t->shares, (enum share)i), 1).s);
		else
			page_cell(p, "not known");
		page_cell(p, "%s", known ? text_time(t->shares.ns[i]).s : "-");
		page_cell(p, "%s", share_text(&t->shares, (enum share)i));
	}
}

static void put_time(struct page *p, const char *label, const struct interval *i)
{
	page_cell(p, "%s", label);
	page_cell(p, "%s", figure_own(i, true).s);
}

static void put_n(struct page *p, const struct profile *t, int n)
{
	if (n > 1)
		page_cell(p, "1 recording; prices of %d processes", n);
	else
		page_cell(p, "1 recording; prices of its %s", counted(t->trace.calls, "call").s);
}

static void costs_table(const struct profile *t, struct page *p)
{
	static const char *const heads[] = { "1 us more for", "makes the program longer by" };

	page_table(p, "what a layer's costs would do, by re-timing the one recorded run", heads, 2);
	for (int i = 0; i < PROFILE_COSTS; i++) {
		page_cell(p, "%s", profile_cost_texts[i]);
		page_cell(p, "%s", percent_text(t->cost_ns[i] / t->shares.total_ns, 2).s);
	}
}

static void tables(const void *found, struct page *p)
{
	static const char *const heads[] = { "run", "wall time (95 % interval)", "n" };
	const struct profile *t = of(found);
	struct interval recorded = interval_unknown(1);

	if (t->retimed)
		costs_table(t, p);
	recorded.value = t->recorded_ns;
	page_table(p, "the self-check: the re-timed trace and runs without the recorder", heads, 3);
	put_time(p, "with the recorder", &recorded);
	page_cell(p, "%d", recorded.n);
	if (t->retimed) {
		put_time(p, "re-timed", &t->predicted);
		put_n(p, t, t->predicted.n);
	}
	if (t->measured.n) {
		put_time(p, "without the recorder", &t->measured);
		page_cell(p, "%d", t->measured.n);
	}
}

/* ---- the others ------------------------------------------------------------------------- */

static int charts(const void *found, struct page *p, const char *folder)
{
	int err = 0;

	for (int i = 0; i < PROFILE_CHARTS && !err; i++) {
		struct picture picture = { .asked = false };

		err = profile_chart_write(&picture, of(found), (enum profile_chart)i, folder);
		err = part_picture(p, &picture, err);
		profile_chart_release(&picture);
	}
	return err;
}

static void how(const void *found, struct page *p)
{
	const struct profile *t = of(found);

	page_item(p,
		  "Every call of CUDA and every operation of the device was recorded once; "
		  "shares are %s.",
		  profile_retimed(t));
	page_item(p,
		  "The recorder slows a program. The self-check compares the re-timed trace with "
		  "runs without it: %s.",
		  trust_names[t->trust]);
	for (int i = 0; i < DOUBTS; i++)
		if (t->doubts & 1u << i)
			page_item(p, "%s", doubt_texts[i]);
}

static void lacks(const void *found, struct page *p)
{
	const struct profile *t = of(found);

	page_item(p, "The program on another platform: rift predict estimates that.");
	if (!t->trace.finished)
		page_item(p, "The end of the program: the trace has none.");
	if (t->trace.dropped)
		page_item(p, "%s that the recorder dropped.",
			  counted((int64_t)t->trace.dropped, "row").s);
	part_say_cpu(p, t->trace.is_cpu);
}

static void repeat(const void *found, struct page *p)
{
	const struct profile *t = of(found);

	char command[1024];

	snprintf(command, sizeof(command), "rift profile -- %s", t->trace.program);
	if (*t->trace.program)
		part_recorded_command(p, command);
	part_command(p, "rift profile", (const char *const[]){ t->trace.path, NULL });
}

static void print(const void *found, FILE *out)
{
	profile_print(of(found), out);
}

const struct part_kind part_trace = {
	.what = "Where the time goes",
	.finding = finding,
	.table = table,
	.charts = charts,
	.tables = tables,
	.how = how,
	.lacks = lacks,
	.repeat = repeat,
	.print = print,
	.print_by = "rift profile",
	.is = trace_is,
	.read = read_trace,
	.release = release,
};
