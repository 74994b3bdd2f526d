/* part_trial.c - a program by itself and under layers: what each costs it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/format.h"
#include "harness/report/part.h"
#include "harness/trial/trial.h"

struct found {
	struct trial trial;
	struct trial_findings findings;
};

static const struct trial_findings *of(const void *found)
{
	return &((const struct found *)found)->findings;
}

static int read_trial(void **found, const char *path)
{
	struct found *f = calloc(1, sizeof(*f));
	int err;

	CHECK(f, "memory of a record");
	*found = f;
	err = trial_read(&f->trial, path);
	if (!err)
		trial_findings_init(&f->findings, &f->trial, NAN);
	return err;
}

static void release(void *found)
{
	struct found *f = found;

	if (!f)
		return;
	if (f->findings.trial)
		trial_findings_release(&f->findings);
	trial_release(&f->trial);
	free(f);
}

static void print_finding(const void *found, FILE *out)
{
	trial_finding_print(of(found), out);
}

static enum page_tone side_tone(const struct trial_findings *f, int side)
{
	return *f->side[side].wrong ? TONE_WRONG
	       : side		    ? part_tone(f->side[side].judged.verdict)
				    : TONE_PLAIN;
}

/* A line a side, in the colour of its verdict; or one line, where nothing can be said of them. */
static void finding(const void *found, struct page *p)
{
	const struct trial_findings *f = of(found);
	char *text = part_printed(print_finding, found), *rest = text, *line;
	bool by_side = f->trial->plan.sides > 1 && !*f->side[0].wrong;

	for (int i = 0; (line = strsep(&rest, "\n")); i++)
		page_finding(p, side_tone(f, by_side ? i + 1 : 0), "%s", line);
	free(text);
	page_small(p, "Program: %s; device: %s; %s; %s", trial_program_name(&f->trial->plan).s,
		   json_get_text(f->trial->platform, "device"), counted(f->rounds, "round").s,
		   f->trial->file.path ? f->trial->file.path : "");
}

/* ---- tables ----------------------------------------------------------------------------- */

static void put_side(struct page *p, const struct trial_findings *f, int side)
{
	const struct trial_result *r = &f->side[side];
	const struct interval wall = trial_in_ns(&r->wall_s), more = trial_in_ns(&r->difference_s);
	bool timed = !*r->wrong && f->rounds;

	page_cell(p, "%s", trial_side_name(&f->trial->plan, side).s);
	page_cell(p, "%s", timed ? figure_own(&wall, true).s : "-");
	page_cell(p, "%s", timed && side ? figure_difference(&more, true).s : "-");
	page_cell(p, "%s", timed && side ? figure_ratio(&r->ratio).s : "-");
	page_cell_of(p, side_tone(f, side), "%s%s%s", trial_verdict(f, side), *r->wrong ? ": " : "",
		     r->wrong);
	page_cell(p, "%d", f->rounds);
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "side",	      "time, median", "longer by",
					     "times as long", "verdict",      "n" };
	const struct trial_findings *f = of(found);
	char caption[120];

	snprintf(caption, sizeof(caption),
		 "wall time of the whole program; in parentheses the %.3g %% interval",
		 100 * f->contrast.level);
	page_table(p, caption, heads, 6);
	for (int i = 0; i < f->trial->plan.sides; i++)
		put_side(p, f, i);
}

static void put_quantity(struct page *p, const struct trial_findings *f, int side, int q)
{
	const struct trial_result *r = &f->side[side];
	const struct interval *own = &r->beside[q].own;
	enum trial_quantity of = (enum trial_quantity)q;

	page_cell(p, "%s", trial_beside_label(f, q).s);
	page_cell(p, "%s", trial_side_name(&f->trial->plan, side).s);
	if (own->known)
		page_cell(p, "%s (%s to %s)", trial_quantity_text(of, own->value).s,
			  trial_quantity_text(of, own->lo).s, trial_quantity_text(of, own->hi).s);
	else
		page_cell(p, "%s", trial_quantity_text(of, own->value).s);
	page_cell(p, "%s", side ? figure_ratio(&r->beside[q].over).s : "-");
	page_cell(p, "%d", own->n);
}

static void tables(const void *found, struct page *p)
{
	static const char *const heads[] = { "quantity", "side", "median", "times as much", "n" };
	const struct trial_findings *f = of(found);
	char caption[160];

	snprintf(caption, sizeof(caption),
		 "beside the wall time; these inform and decide nothing; in parentheses the %.3g "
		 "%% interval",
		 100 * f->contrast.level);
	page_table(p, caption, heads, 5);
	for (int q = 0; q < f->beside; q++)
		for (int i = 0; i < f->trial->plan.sides; i++)
			if (isfinite(f->side[i].beside[q].own.value))
				put_quantity(p, f, i, q);
}

/* ---- the others ------------------------------------------------------------------------- */

static int charts(const void *found, struct page *p, const char *folder)
{
	struct picture picture = { .asked = false };

	return part_lone_picture(p, &picture, trial_chart_write(&picture, of(found), folder));
}

static void differs(const void *found, struct page *p)
{
	const struct trial_plan *plan = &of(found)->trial->plan;

	for (int i = 1; i < plan->sides; i++) {
		const struct trial_side *s = &plan->side[i];

		page_item(p, "%s: the same machine and program%s%s%s%s.",
			  trial_side_name(plan, i).s, s->layer ? ", under the layer " : "",
			  s->layer ? s->layer : "", s->against ? ", behind the command " : "",
			  s->against ? s->against : "");
	}
	if (plan->sides == 1)
		page_text(p, "Nothing: the program ran by itself alone.");
}

static void how(const void *found, struct page *p)
{
	const struct trial_findings *f = of(found);

	page_item(p,
		  "The whole program was timed, from its start to its end, %s. In a round each "
		  "side ran once, and the order was reversed from round to round.",
		  counted(f->rounds, "round").s);
	page_item(p,
		  "A pair is a side's run over the run by itself in the same round. A side is "
		  "slower if an exact test of the pairs says so beyond %.3g %%, corrected for "
		  "the number of sides.",
		  100 * f->margin);
	page_item(p, "A first run of each side was not timed.");
	page_item(p, f->trial->plan.same_output
			     ? "What the program printed or wrote was compared, too."
			     : "How the program ended was compared, and not what it printed.");
}

static void lacks(const void *found, struct page *p)
{
	const struct trial_findings *f = of(found);

	page_item(p, "Which calls make a side slower, and other inputs of the program.");
	if (f->trial->outputs_differ)
		page_item(p, "Outputs: two runs without a layer already differ.");
	part_say_cpu(p, trial_is_cpu(f->trial));
}

static void repeat(const void *found, struct page *p)
{
	enum { WORDS_OF_A_SIDE = 4 };
	const struct trial *t = of(found)->trial;
	const char *words[WORDS_OF_A_SIDE * TRIAL_SIDES_MAX + 2];
	const char **all;
	int n = 0, of_program = 0;

	for (int i = 1; i < t->plan.sides; i++) {
		if (t->plan.side[i].layer)
			words[n++] = "--layer", words[n++] = t->plan.side[i].layer;
		if (t->plan.side[i].against)
			words[n++] = "--against", words[n++] = t->plan.side[i].against;
	}
	words[n++] = "--";
	while (t->plan.argv[of_program])
		of_program++;
	all = calloc((size_t)(n + of_program) + 1, sizeof(*all));
	CHECK(all, "memory of a command");
	memcpy(all, words, (size_t)n * sizeof(*all));
	memcpy(all + n, t->plan.argv, (size_t)of_program * sizeof(*all));
	part_command(p, "rift time", (const char *const *)all);
	free(all);
	part_command(p, "rift show", (const char *const[]){ t->file.path, NULL });
}

static void print(const void *found, FILE *out)
{
	trial_print(of(found), out);
}

const struct part_kind part_trial = {
	.what = "What it costs the program",
	.finding = finding,
	.table = table,
	.charts = charts,
	.tables = tables,
	.differs = differs,
	.how = how,
	.lacks = lacks,
	.repeat = repeat,
	.print = print,
	.print_by = "rift show",
	.is = trial_file_is,
	.read = read_trial,
	.release = release,
};
