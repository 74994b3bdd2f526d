/* trial_measure.c - runs in turns, until they tell what was asked or the time is over. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/format.h"
#include "harness/measure/measure.h"
#include "harness/record/environment.h"
#include "harness/trial/trial_run.h"

/* ---- which machine this is ------------------------------------------------------------------ */

/* In a process of its own: rift holds no device while the program runs. */
static json_t *describe(void)
{
	struct platform p = { .declared = NULL };
	bool found = !platform_open(&p);
	json_t *o;

	platform_host(&p);
	platform_details(&p);
	o = json_pack("{s:s, s:s, s:b, s:o, s:o}", "record", "platform", "device",
		      found ? p.device : TRIAL_NO_DEVICE, "is_gpu", found && p.is_gpu, "pci",
		      p.gpu.pci_bus_id.kind == FACT_TEXT ? json_text(p.gpu.pci_bus_id.text)
							 : json_text(""),
		      "environment", environment_of(&p));
	platform_release(&p);
	return o;
}

static _Noreturn void tell_platform(int to)
{
	json_t *o = describe();
	FILE *out = fdopen(to, "w");

	if (out)
		json_dumpf(o, out, JSON_COMPACT);
	_exit(!out || fclose(out));
}

/* NULL: it cannot be had. New reference. */
static json_t *ask_platform(void)
{
	json_t *o = NULL;
	FILE *in;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return NULL;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		tell_platform(fds[1]);
	}
	close(fds[1]);
	in = fdopen(fds[0], "r");
	if (pid > 0 && in)
		o = json_loadf(in, 0, NULL);
	if (in)
		fclose(in);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return o;
}

static int take_platform(struct trial *t)
{
	json_t *o = ask_platform();
	char what[320];
	int err = 0;

	if (!o)
		return complain(EIO, "what machine this is cannot be found out");
	if (!t->platform)
		return trial_add(t, o);
	if (environment_differs(json_object_get(t->platform, "environment"),
				json_object_get(o, "environment"), what, sizeof(what)))
		err = complain(ESTALE, "this is not the machine that the record was begun on: %s",
			       what);
	json_decref(o);
	return err;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int run_side(struct trial *t, struct stage *s, int side, int round)
{
	struct trial_run run;
	int err = interrupted() ? -EINTR : stage_run(s, side, &run);

	return err ? err : trial_add(t, trial_run_json(side, round, &run));
}

/* What the first run says of the program decides what is compared. */
static int judge_first(const struct trial *t)
{
	const struct trial_run *r = &t->side[0].untimed;

	if (r->late)
		return complain(ETIMEDOUT,
				"%s: did not end within %g s; give it longer: --patience",
				trial_program_name(&t->plan).s, t->plan.patience_s);
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status) == LAYER_NOT_FOUND && *r->said)
		return complain(EINVAL, "the program does not start: %s", r->said);
	return 0;
}

/* Two runs whose outputs differ say that outputs tell nothing of layers. */
static int run_again(struct trial *t, struct stage *s)
{
	struct trial_run again;
	int err = stage_run(s, 0, &again);

	if (err || !strcmp(again.output, t->side[0].untimed.output))
		return err;
	return trial_add(t, json_pack("{s:s}", "record", "outputs_differ"));
}

static int run_untimed(struct trial *t, struct stage *s)
{
	int err = 0;

	for (int i = 0; i < t->plan.sides && !err; i++) {
		if (!t->side[i].untimed.there) {
			progress("a first, untimed run: %s", trial_side_name(&t->plan, i).s);
			err = run_side(t, s, i, -1);
		}
		if (!err && !i)
			err = judge_first(t);
		/* also of a record that ended before it was known */
		if (!err && !i && t->plan.same_output && !t->looks)
			err = run_again(t, s);
	}
	return err;
}

/* ---- how many rounds ---------------------------------------------------------------------------
 */

/* Those that fit into the time; where none was given, as many as can decide at least. */
static int rounds_that_fit(const struct trial *t)
{
	const struct trial_plan *p = &t->plan;
	int needed =
		contrast_processes_needed(JUDGE_LEVEL / (p->sides > 1 ? p->sides - 1 : 1), true);
	double fit = (p->within_s > 0 ? p->within_s : TRIAL_WITHIN_S) / trial_round_s(t);
	int rounds = fit < TRIAL_ROUNDS_MAX ? (int)fit : TRIAL_ROUNDS_MAX;

	if (p->within_s > 0 || rounds > needed)
		return rounds > 0 ? rounds : 1;
	return needed;
}

/* At the end, at half of it, at a quarter, ..., as long as that many pairs could decide. */
static int plan_looks(struct trial *t)
{
	int at[TRIAL_LOOKS_MAX], looks = 0,
				 n = t->plan.rounds ? t->plan.rounds : rounds_that_fit(t);
	int sides = t->plan.sides > 1 ? t->plan.sides - 1 : 1;
	int least = contrast_processes_needed(JUDGE_LEVEL / TRIAL_LOOKS_MAX / sides, true);
	json_t *rounds = json_array();

	do {
		at[looks++] = n;
		n /= 2;
	} while (!t->plan.rounds && looks < TRIAL_LOOKS_MAX && n >= least);
	while (looks--)
		json_array_append_new(rounds, json_integer(at[looks]));
	return trial_add(t, json_pack("{s:s, s:o}", "record", "looks", "rounds", rounds));
}

/* ---- rounds -------------------------------------------------------------------------------------
 */

/* Sides that are wrong are not run again. */
static int run_round(struct trial *t, struct stage *s, const struct trial_findings *f, int round)
{
	int n = t->plan.sides, err = 0;

	for (int i = 0; i < n && !err; i++) {
		int side = round % 2 ? n - 1 - i : i;

		if (!t->side[side].run[round].there && !*f->side[side].wrong)
			err = run_side(t, s, side, round);
	}
	return err;
}

static void show_progress(const struct trial_findings *f, int round)
{
	const struct trial *t = f->trial;
	int worst = 0;

	for (int i = 1; i < t->plan.sides; i++)
		if (f->side[i].ratio.value > f->side[worst].ratio.value || !worst)
			worst = i;
	if (worst && f->side[worst].ratio.known)
		progress("%d of %d rounds at most; %s %s times as long", round,
			 t->look[t->looks - 1], trial_side_name(&t->plan, worst).s,
			 figure_ratio(&f->side[worst].ratio).s);
	else
		progress("%d of %d rounds at most", round, t->look[t->looks - 1]);
}

static bool is_look(const struct trial *t, int rounds)
{
	for (int i = 0; i < t->looks; i++)
		if (t->look[i] == rounds)
			return true;
	return false;
}

/* Is there nothing to go on for: no side but those that are wrong? */
static bool is_over(const struct trial_findings *f)
{
	bool left = f->trial->plan.sides == 1;

	if (*f->side[0].wrong) /* nothing is decided any more */
		return true;
	for (int i = 1; i < f->trial->plan.sides; i++)
		left |= !*f->side[i].wrong;
	return !left;
}

/* Of a record that is gone on with, some are there. */
static bool has_round(const struct trial_findings *f, int round)
{
	for (int i = 0; i < f->trial->plan.sides; i++)
		if (!f->trial->side[i].run[round].there && !*f->side[i].wrong)
			return false;
	return true;
}

static bool tells_all(const struct trial *t, int rounds)
{
	struct trial_findings f;
	bool decided;

	if (!is_look(t, rounds))
		return false;
	trial_findings_init(&f, t, NAN);
	decided = trial_is_decided(&f);
	trial_findings_release(&f);
	return decided;
}

static int run_rounds(struct trial *t, struct stage *s)
{
	int64_t begun = clock_ns();
	double within_s = t->plan.rounds ? 0 : t->plan.within_s;
	bool over = false;
	int err = 0;

	for (int round = 0; round < t->look[t->looks - 1] && !over && !err; round++) {
		struct trial_findings f;
		bool had;

		trial_findings_init(&f, t, NAN);
		show_progress(&f, round);
		had = has_round(&f, round);
		over = is_over(&f);
		if (!over && !had)
			err = run_round(t, s, &f, round);
		trial_findings_release(&f);
		if (over || err || had)
			continue;
		over = tells_all(t, round + 1) ||
		       (within_s > 0 && 1e-9 * (double)(clock_ns() - begun) > within_s);
	}
	progress_clear();
	return err;
}

int trial_measure(struct trial *t)
{
	struct stage s = { .plan = NULL };
	int err = take_platform(t);

	if (!err)
		err = stage_open(&s, &t->plan, json_get_text(t->platform, "pci"));
	if (!err)
		err = run_untimed(t, &s);
	if (!err && !t->looks)
		err = plan_looks(t);
	if (!err)
		err = run_rounds(t, &s);
	progress_clear();
	stage_close(&s);
	return err ? err : line_file_end(&t->file);
}
