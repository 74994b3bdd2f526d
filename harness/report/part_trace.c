/* part_trace.c - a program's trace: where its time goes, and what that says of layers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
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

static void finding(const void *found, struct page *p)
{
	const struct profile *t = of(found);
	enum share largest[2];

	shares_largest(&t->shares, largest);
	if (t->has_kind)
		page_finding(p, TONE_PLAIN,
			     "%s is %s: %.3g %% of its time is %s (%s) and %.3g %% %s (%s). What a "
			     "layer touches: %s.",
			     profile_program(&t->trace), program_kind_names[t->kind],
			     100 * share_of(&t->shares, largest[0]), share_names[largest[0]],
			     share_text(&t->shares, largest[0]),
			     100 * share_of(&t->shares, largest[1]), share_names[largest[1]],
			     share_text(&t->shares, largest[1]), program_kind_touched[t->kind]);
	else
		page_finding(p, TONE_OPEN, "What bounds %s is not known: %s.",
			     profile_program(&t->trace),
			     t->trust == TRUST_REFUSED ? "the self-check refused the re-timed trace"
						       : "what the device did is not in the trace");
	page_small(p, "%s; recorded by %s; %s; self-check: %s; %s", profile_program(&t->trace),
		   json_get_text(t->trace.header, "recorder"),
		   counted(t->shares.kernels, "kernel").s, trust_names[t->trust],
		   t->trace.path ? t->trace.path : "");
}

/* ---- tables ----------------------------------------------------------------------------- */

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "share", "of the time", "time", "what it is" };
	const struct profile *t = of(found);
	char caption[160];

	snprintf(caption, sizeof(caption), "shares of %s, %s; one recorded run",
		 text_time(t->shares.total_ns).s, profile_retimed(t));
	page_table(p, caption, heads, 4);
	for (int i = 0; i < SHARES; i++) {
		bool known = share_is_known(&t->shares, (enum share)i);

		page_cell(p, "%s", share_names[i]);
		if (known)
			page_cell(p, "%.1f %%", 100 * share_of(&t->shares, (enum share)i));
		else
			page_cell(p, "not known");
		page_cell(p, "%s", known ? text_time(t->shares.ns[i]).s : "-");
		page_cell(p, "%s", share_text(&t->shares, (enum share)i));
	}
}

static void put_time(struct page *p, const char *label, const struct interval *i, int n)
{
	page_cell(p, "%s", label);
	if (i->known)
		page_cell(p, "%s (%s to %s)", text_time(i->value).s, text_time(i->lo).s,
			  text_time(i->hi).s);
	else
		page_cell(p, "%s", isfinite(i->value) ? text_time(i->value).s : "-");
	page_cell(p, "%d", n);
}

static void tables(const void *found, struct page *p)
{
	static const char *const costs[] = { "1 us more for", "makes the program longer by" };
	static const char *const times[] = { "wall time", "(95 %)", "n" };
	const struct profile *t = of(found);
	struct interval recorded = interval_unknown(1);

	if (t->retimed) {
		page_table(p, "what a layer's costs would do, by re-timing the trace", costs, 2);
		for (int i = 0; i < PROFILE_COSTS; i++) {
			page_cell(p, "%s", profile_cost_texts[i]);
			page_cell(p, "%.2f %%", 100 * t->cost_ns[i] / t->shares.total_ns);
		}
	}
	recorded.value = t->recorded_ns;
	page_table(p, "the self-check: the re-timed trace and runs without the recorder", times, 3);
	put_time(p, "with the recorder", &recorded, 1);
	if (t->retimed)
		put_time(p, "re-timed", &t->predicted, t->predicted.n);
	if (t->measured.n)
		put_time(p, "without the recorder", &t->measured, t->measured.n);
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
