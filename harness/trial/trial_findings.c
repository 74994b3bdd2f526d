/* trial_findings.c - what runs say: differences, verdicts, programs that are wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/trial/trial.h"

/* ---- programs that are wrong -------------------------------------------------------------------
 */

struct text trial_ended(const struct trial_run *r)
{
	struct text t;

	if (r->late)
		snprintf(t.s, sizeof(t.s), "did not end in time");
	else if (WIFSIGNALED(r->status))
		snprintf(t.s, sizeof(t.s), "ended by signal %d (%.30s)", WTERMSIG(r->status),
			 strsignal(WTERMSIG(r->status)));
	else
		snprintf(t.s, sizeof(t.s), "ended with status %d", WEXITSTATUS(r->status));
	return t;
}

static bool ends_alike(const struct trial_run *a, const struct trial_run *b)
{
	return a->status == b->status && a->late == b->late;
}

/* Of two that ended alike. */
static bool prints_alike(const struct trial *t, const struct trial_run *a,
			 const struct trial_run *b)
{
	return t->outputs_differ || !strcmp(a->output, b->output);
}

static void note_wrong(struct trial_result *r, const struct trial *t, const struct trial_run *run)
{
	const struct trial_run *right = &t->side[0].untimed;

	if (!run->there)
		return;
	r->runs++;
	if (ends_alike(run, right) && prints_alike(t, run, right))
		return;
	if (!r->wrong_runs++ && ends_alike(run, right))
		snprintf(r->wrong, sizeof(r->wrong), "its output is another");
	else if (r->wrong_runs == 1)
		snprintf(r->wrong, sizeof(r->wrong), "it %s, and by itself %s%s%s",
			 trial_ended(run).s, trial_ended(right).s, *run->said ? ": " : "",
			 run->said);
}

static void find_wrong(struct trial_result *r, const struct trial *t, int side)
{
	note_wrong(r, t, &t->side[side].untimed);
	for (int i = 0; i < TRIAL_ROUNDS_MAX; i++)
		note_wrong(r, t, &t->side[side].run[i]);
}

/* ---- rounds ------------------------------------------------------------------------------------
 */

/* Of a side that is wrong there may be a run, and there need not be one. */
static bool is_whole(const struct trial_findings *f, int round)
{
	bool any = false;

	for (int i = 0; i < f->trial->plan.sides; i++) {
		bool there = f->trial->side[i].run[round].there;

		if (!*f->side[i].wrong && !there)
			return false;
		any |= there;
	}
	return any;
}

/* The name that a range has in the first run by itself. */
static const char *range_name(const struct trial *t, int range)
{
	return t->side[0].untimed.range[range].name;
}

static double range_s(const struct trial_run *r, const char *name)
{
	for (int i = 0; i < r->ranges; i++)
		if (!strcmp(r->range[i].name, name))
			return r->range[i].s;
	return NAN;
}

/* which: as in trial_result.beside; -1: the wall time. */
static double value_of(const struct trial *t, const struct trial_run *r, int which)
{
	if (which < 0)
		return r->wall_s;
	return which < TRIAL_QUANTITIES ? r->value[which]
					: range_s(r, range_name(t, which - TRIAL_QUANTITIES));
}

struct text trial_beside_label(const struct trial_findings *f, int which)
{
	struct text label;

	if (which < TRIAL_QUANTITIES)
		snprintf(label.s, sizeof(label.s), "%s", trial_quantities[which].label);
	else
		snprintf(label.s, sizeof(label.s), "range %.60s",
			 text_shown(range_name(f->trial, which - TRIAL_QUANTITIES)).s);
	return label;
}

/* The side's values of all whole rounds; false: one is not known. */
static bool values_of(const struct trial_findings *f, int side, int which, double *out)
{
	bool known = true;
	int n = 0;

	for (int i = 0; i < TRIAL_ROUNDS_MAX; i++) {
		const struct trial_run *r = &f->trial->side[side].run[i];

		if (!is_whole(f, i))
			continue;
		out[n] = value_of(f->trial, r, which);
		known &= isfinite(out[n]);
		n++;
	}
	return known;
}

static void find_beside(struct trial_findings *f, int side, int which)
{
	double b[TRIAL_ROUNDS_MAX], a[TRIAL_ROUNDS_MAX];
	struct trial_beside *found = &f->side[side].beside[which];

	if (!values_of(f, side, which, b) || contrast_median(&found->own, &f->contrast, b))
		return;
	if (side && values_of(f, 0, which, a) &&
	    contrast_ratio(&found->over, &f->contrast, &(struct point_pair){ b, a }))
		found->over = interval_unknown(f->rounds);
}

static void find_side(struct trial_findings *f, int side)
{
	double b[TRIAL_ROUNDS_MAX], a[TRIAL_ROUNDS_MAX];
	const struct point_pair pair = { b, a };
	struct trial_result *r = &f->side[side];

	for (int i = 0; i < f->beside; i++)
		find_beside(f, side, i);
	values_of(f, side, -1, b);
	values_of(f, 0, -1, a);
	if (contrast_median(&r->wall_s, &f->contrast, b) || !side)
		return;
	if (contrast_ratio(&r->ratio, &f->contrast, &pair) ||
	    contrast_difference(&r->difference_s, &f->contrast, &pair))
		r->ratio = r->difference_s = interval_unknown(f->rounds);
	r->judged = contrast_judge(&f->contrast, &pair, f->margin, 0);
}

/* ---- verdicts ----------------------------------------------------------------------------------
 */

/* Sides that are to be decided. */
static int collect(struct trial_findings *f, struct judged **all)
{
	int n = 0;

	for (int i = 1; i < f->trial->plan.sides; i++)
		if (!*f->side[i].wrong)
			all[n++] = &f->side[i].judged;
	return n;
}

static bool any_wrong(const struct trial_findings *f)
{
	for (int i = 1; i < f->trial->plan.sides; i++)
		if (*f->side[i].wrong)
			return true;
	return false;
}

static enum outcome outcome_with(const struct trial_findings *f, struct judged *const *all, int n)
{
	if (*f->side[0].wrong) /* what the program does by itself is not always the same */
		return OUTCOME_INCONCLUSIVE;
	if (any_wrong(f))
		return OUTCOME_WRONG;
	return n ? outcome_of(all, n, NULL) : OUTCOME_SAME;
}

static void set_unknown(struct trial_result *r)
{
	r->wall_s = r->ratio = r->difference_s = interval_unknown(0);
	for (int i = 0; i < TRIAL_BESIDE_MAX; i++)
		r->beside[i].own = r->beside[i].over = interval_unknown(0);
	r->judged = judged_unknown();
}

void trial_findings_init(struct trial_findings *f, const struct trial *t, double margin)
{
	struct judged *all[TRIAL_SIDES_MAX];
	int n, looks = t->looks ? t->looks : 1;

	*f = (struct trial_findings){ .trial = t,
				      .margin = isnan(margin) ? t->plan.margin : margin,
				      .beside = TRIAL_QUANTITIES + t->side[0].untimed.ranges };
	for (int i = 0; i < t->plan.sides; i++) {
		set_unknown(&f->side[i]);
		find_wrong(&f->side[i], t, i);
	}
	for (int i = 0; i < TRIAL_ROUNDS_MAX; i++)
		f->rounds += is_whole(f, i);
	n = collect(f, all);
	f->needed = contrast_processes_needed(JUDGE_LEVEL / looks / (n ? n : 1), true);
	contrast_init(&f->contrast, f->rounds ? f->rounds : 1, f->rounds ? f->rounds : 1, true,
		      looks);
	for (int i = 0; i < t->plan.sides && f->rounds; i++)
		if (!*f->side[i].wrong && !*f->side[0].wrong)
			find_side(f, i);
	judge(all, n, p_adjust_holm, f->contrast.tail);
	f->outcome = outcome_with(f, all, n);
}

void trial_findings_release(struct trial_findings *f)
{
	contrast_release(&f->contrast);
}

double trial_round_s(const struct trial *t)
{
	double sum = 0;

	for (int i = 0; i < t->plan.sides; i++)
		sum += t->side[i].untimed.wall_s;
	return sum;
}

bool trial_is_cpu(const struct trial *t)
{
	return t->platform && !json_is_true(json_object_get(t->platform, "is_gpu")) &&
	       strcmp(json_get_text(t->platform, "device"), TRIAL_NO_DEVICE) != 0;
}

bool trial_is_decided(const struct trial_findings *f)
{
	for (int i = 1; i < f->trial->plan.sides; i++)
		if (!*f->side[i].wrong && f->side[i].judged.verdict == VERDICT_INCONCLUSIVE)
			return false;
	return f->trial->plan.sides > 1;
}

enum exit_code trial_exit_code(const struct trial_findings *f)
{
	switch (f->outcome) {
	case OUTCOME_SLOWER:
	case OUTCOME_WRONG:
		return RIFT_CHECK_FAILED;
	case OUTCOME_INCONCLUSIVE:
		return RIFT_FAILED_POINTS;
	default:
		return RIFT_OK;
	}
}
