/* trial_chart.c - a dot a run, a row a side (plots/trial.gp). */
#include <math.h>
#include <string.h>

#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/chart/words.h"
#include "harness/compare/format.h"
#include "harness/trial/trial.h"

/* ---- data ------------------------------------------------------------------------------------ */

/* All are drawn in one unit. */
static double unit_of(const struct trial_findings *f, const char **name)
{
	double s = f->side[0].wall_s.value;

	*name = s < 1 ? "ms" : "s";
	return s < 1 ? 1e3 : 1;
}

static int write_runs(const struct trial_findings *f, struct plot *p, double unit)
{
	const struct trial *t = f->trial;
	struct output out;
	int err = plot_open(p, "runs", "-runs.csv", &out);

	if (err)
		return err;
	fputs("row,time,round\n", out.file);
	for (int i = 0; i < t->plan.sides; i++)
		for (int k = 0; k < TRIAL_ROUNDS_MAX; k++)
			if (t->side[i].run[k].there && !*f->side[i].wrong)
				fprintf(out.file, "%d,%.6g,%d\n", i,
					unit * t->side[i].run[k].wall_s, k);
	return output_commit(&out);
}

static int write_medians(const struct trial_findings *f, struct plot *p, double unit)
{
	struct output out;
	int err = plot_open(p, "medians", "-medians.csv", &out);

	if (err)
		return err;
	fputs("row,time,time_lo,time_hi\n", out.file);
	for (int i = 0; i < f->trial->plan.sides; i++) {
		const struct interval *w = &f->side[i].wall_s;

		if (*f->side[i].wrong || !isfinite(w->value))
			continue;
		fprintf(out.file, "%d,%.6g,", i, unit * w->value);
		if (w->known)
			fprintf(out.file, "%.6g,%.6g\n", unit * w->lo, unit * w->hi);
		else
			fputs(",\n", out.file);
	}
	return output_commit(&out);
}

/* ---- texts ------------------------------------------------------------------------------------
 */

/* What a row says of its side: "412 ms", "1.040 times, slower", "wrong"; "": it was not timed. */
static void say_row(const struct trial_findings *f, int side, struct plot *p)
{
	const struct trial_result *r = &f->side[side];
	struct text variable = words_name("said", side + 1);

	if (*r->wrong)
		plot_text(p, variable.s, "wrong");
	else if (!isfinite(r->wall_s.value))
		plot_text(p, variable.s, "%s", "");
	else if (side)
		plot_text(p, variable.s, "%s times, %s", figure_times(r->ratio.value).s,
			  verdict_names[r->judged.verdict]);
	else
		plot_text(p, variable.s, "%s", text_time(1e9 * r->wall_s.value).s);
}

static void name_rows(const struct trial_findings *f, struct plot *p)
{
	plot_count(p, "rows", f->trial->plan.sides);
	for (int i = 0; i < f->trial->plan.sides; i++) {
		plot_text(p, words_name("row", i + 1).s, "%s",
			  trial_side_name(&f->trial->plan, i).s);
		say_row(f, i, p);
	}
}

/* The side that takes longest, of those that are not wrong; 0: none. */
static int worst_of(const struct trial_findings *f)
{
	int worst = 0;

	for (int i = 1; i < f->trial->plan.sides; i++)
		if (!*f->side[i].wrong && isfinite(f->side[i].ratio.value) &&
		    (!worst || f->side[i].ratio.value > f->side[worst].ratio.value))
			worst = i;
	return worst;
}

static void set_texts(const struct trial_findings *f, struct plot *p)
{
	const struct trial *t = f->trial;
	int worst = worst_of(f);
	char title[1200], intervals[40] = "";

	if (worst)
		snprintf(title, sizeof(title), "%s times as long under %s: %s",
			 figure_ratio(&f->side[worst].ratio).s, trial_side_name(&t->plan, worst).s,
			 trial_program_name(&t->plan).s);
	else if (isfinite(f->side[0].wall_s.value))
		snprintf(title, sizeof(title), "%s: %s", text_time(1e9 * f->side[0].wall_s.value).s,
			 trial_program_name(&t->plan).s);
	else
		snprintf(title, sizeof(title), "%s", trial_program_name(&t->plan).s);
	words_cut(title, sizeof(title), TITLE_CHARACTERS);
	plot_text(p, "title", "%s", title);
	if (isfinite(f->contrast.level))
		snprintf(intervals, sizeof(intervals), ", %.3g %% intervals",
			 100 * f->contrast.level);
	words_finding(p, "small dots: %s a side, in turns; large: medians%s",
		      counted(f->rounds, "run").s, intervals);
	plot_text(p, "made1", "%s", json_get_text(t->platform, "device"));
	plot_text(p, "made2", "%s", t->file.created);
}

int trial_chart_write(struct picture *picture, const struct trial_findings *f, const char *folder)
{
	struct plot *p = &picture->plot;
	const char *name;
	double unit = unit_of(f, &name);
	int err;

	*picture = (struct picture){ .asked = true };
	plot_begin(p, folder, "time", json_get_text(f->trial->platform, "device"));
	p->script = "plots/trial.gp";
	plot_text(p, "unit", "%s", name);
	set_texts(f, p);
	name_rows(f, p);
	err = write_runs(f, p, unit);
	return err ? err : write_medians(f, p, unit);
}
