/* fake_workload.c - a workload whose steps only count, and that fails where it is told to. */
#include "tests/fake_workload.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"

struct fake_log fake_log;

struct fake_state {
	int64_t ran;   /* steps since the reset; changed in stream order */
	void *to_free; /* by the sanitizers' judgement of teardown */
};

static const char *const solvers[] = { "rk4", "rkf78", "euler", NULL };
static const char *const hooks[] = { "none",  "limits", "setup",  "cost", "reset", "step",
				     "fused", "check",	"report", "plot", NULL };
static const char *const verdicts[] = { "honest", "wrong", "nan", "nothing", NULL };
static const char *const modes[] = { "all", "nofused", "stream", "none", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const devices[] = { "any", "none", NULL };
static const char *const scripts[] = { "good", "bad", "warns", "missing", "interrupts", NULL };

static const struct param params[] = {
	PARAM_AXIS(fake_opts, cells, "cells", "1", 1, 65536, "1,32,1k", "number of cells"),
	PARAM_INT_ASIDE(fake_opts, launches, "launches", "1", 1, 2048, "1,4",
			"launches it says a step has"),
	PARAM_INT(fake_opts, depth_max, "steps", "0", 0, 1000, "largest depth, 0 for any"),
	PARAM_INT(fake_opts, asked, "steps", "0", 0, 1000, "depth it asks for, 0 for none"),
	PARAM_INT(fake_opts, fail_errno, "1", "22", 1, 133, "what a failing hook returns"),
	PARAM_REAL(fake_opts, rate, "Hz", "0.5", 0.1, 1e6, "beats a second"),
	PARAM_CHOICE_ASIDE(fake_opts, solver, "rkf78", solvers, "euler,rkf78", "the solver"),
	PARAM_CHOICE(fake_opts, fail, "none", hooks, "which hook fails"),
	PARAM_CHOICE(fake_opts, interrupt, "none", hooks, "in which hook Ctrl-C comes"),
	PARAM_INT(fake_opts, interrupt_at, "1", "1", 1, 1 << 30, "in which call of it"),
	PARAM_CHOICE(fake_opts, verdict, "honest", verdicts, "what the check says"),
	PARAM_CHOICE(fake_opts, modes, "all", modes, "modes it allows"),
	PARAM_CHOICE(fake_opts, action, "no", no_yes, "report only, time nothing"),
	PARAM_CHOICE(fake_opts, device, "any", devices, "devices it allows"),
	PARAM_CHOICE(fake_opts, script, "good", scripts, "what the plot hook asks for"),
	PARAM_PATH(fake_opts, file, "a file"),
	PARAM_LIST(fake_opts, layers, "neurons", "784,512,10", 1, 1 << 20, "layer widths"),
	PARAM_END,
};

static const struct param_need needs[] = {
	{ "rate", "solver=rk4|euler" },
	{ "layers", "!file" },
	{ "layers", "solver=rkf78" },
	{ NULL, NULL },
};

static const struct preset presets[] = {
	{ "slow", "cells=32 solver=rk4 rate=2", "takes long" },
	{ "asks", "asked=25", "asks for steps" },
	{ NULL, NULL, NULL },
};

void fake_note(char event)
{
	size_t n = strlen(fake_log.order);

	if (n + 1 < sizeof(fake_log.order))
		fake_log.order[n] = event;
}

static int fails(const struct fake_opts *o, enum fake_hook hook)
{
	if (o->interrupt == (int)hook && ++fake_log.interruptible == o->interrupt_at)
		raise(SIGINT);
	if (o->fail != (int)hook)
		return 0;
	if (o->fail_errno == EINTR) /* without a line */
		return -EINTR;
	return complain((int)o->fail_errno, "fake: %s fails as asked", hooks[hook]);
}

static int fake_limits(const void *opts, struct limits *out)
{
	const struct fake_opts *o = opts;

	if (o->modes >= FAKE_NO_FUSED)
		out->mode_refused[MODE_FUSED] = "steps cannot be fused";
	if (o->modes >= FAKE_STREAM_ONLY)
		out->mode_refused[MODE_GRAPH] = "steps cannot be captured";
	if (o->modes == FAKE_NO_MODE)
		out->mode_refused[MODE_STREAM] = "nothing is allowed";
	out->depth_max = o->depth_max;
	out->depth_why = "the host looks at every result";
	out->depth_asked = o->asked;
	out->action = o->action != 0;
	if (o->device)
		out->device_refused = "it likes none";
	return fails(o, FAKE_LIMITS);
}

static int fake_setup(const void *opts, void *state)
{
	struct fake_state *s = state;

	fake_log.setups++;
	s->to_free = malloc(16);
	return fails(opts, FAKE_SETUP);
}

static void set_zero(void *ran)
{
	*(int64_t *)ran = 0;
}

static void add_one(void *ran)
{
	++*(int64_t *)ran;
}

/* A step count and where to add it; freed by the host function that has used it. */
struct many {
	int64_t *ran, n;
};

static void add_many(void *arg)
{
	struct many *m = arg;

	*m->ran += m->n;
	free(m);
}

static int fake_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct fake_state *s = state;

	fake_log.resets++;
	fake_note('R');
	CUDA(cudaLaunchHostFunc(stream, set_zero, &s->ran));
	return fails(opts, FAKE_RESET);
}

static int fake_step(const void *opts, void *state, cudaStream_t stream)
{
	struct fake_state *s = state;

	fake_log.steps++;
	fake_note('s');
	CUDA(cudaLaunchHostFunc(stream, add_one, &s->ran));
	return fails(opts, FAKE_STEP);
}

static int fake_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	struct fake_state *s = state;
	struct many *m = malloc(sizeof(*m));

	CHECK(m, "memory");
	*m = (struct many){ &s->ran, n };
	fake_log.fuseds++;
	fake_log.fused_steps += n;
	fake_note('F');
	CUDA(cudaLaunchHostFunc(stream, add_many, m));
	return fails(opts, FAKE_FUSED);
}

static int fake_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct fake_opts *o = opts;
	const struct fake_state *s = state;

	fake_log.checks++;
	fake_log.checked_steps = steps;
	fake_log.checked_full = v->full;
	v->measure = "steps too many or too few";
	v->tolerance = 0.5;
	v->compared = o->verdict == FAKE_NOTHING_COMPARED ? 0 : 1;
	v->total = 1;
	v->error = o->verdict == FAKE_WRONG ? 7
		   : o->verdict == FAKE_NAN ? -NAN
					    : fabs((double)(s->ran - steps));
	/* the hook lies about NaN and about nothing compared: the harness must not believe it */
	v->passed = o->verdict == FAKE_WRONG ? false : !(v->error > v->tolerance);
	snprintf(v->worst, sizeof(v->worst), "ran %ld, expected %ld", (long)s->ran, (long)steps);
	return fails(o, FAKE_CHECK);
}

static int fake_report(const void *opts, void *state, struct report *out)
{
	const struct fake_state *s = state;

	fake_log.reports++;
	out->row[out->n++] = (struct report_row){ "ran", "steps", (double)s->ran, 0, "" };
	out->row[out->n++] = (struct report_row){ "nothing", "1", -NAN, 0, "" };
	out->row[out->n++] = (struct report_row){ "wrote", "", 0, 0, "no file" };
	out->row[out->n++] = (struct report_row){ "sampled", "us", 2.5, 11, "" };
	return fails(opts, FAKE_REPORT);
}

static int fake_plot(const void *opts, void *state, struct plot *p)
{
	const struct fake_opts *o = opts;
	struct output out;
	int err = plot_open(p, "file1", "-steps.csv", &out);

	(void)state;
	fake_log.plots++;
	if (err)
		return err;
	fputs("x,y\n1,1\n2,4\n3,9\n", out.file);
	err = fails(o, FAKE_PLOT);
	if (err) {
		output_discard(&out);
		return err;
	}
	if (o->script == FAKE_INTERRUPTS)
		raise(SIGINT);
	plot_text(p, "title", "it's 'quoted' on %s\n", p->device);
	plot_number(p, "half", 1);
	plot_number(p, "nothing", NAN);
	plot_count(p, "bad", o->script == FAKE_BAD);
	plot_count(p, "warns", o->script == FAKE_WARNS);
	p->script = o->script == FAKE_MISSING ? "tests/no_such.gp" : "tests/fake_plot.gp";
	return output_commit(&out);
}

static int fake_cost(const void *opts, const void *state, struct cost *out)
{
	const struct fake_opts *o = opts;

	(void)state;
	out->launches = (double)o->launches;
	out->evaluations = 13;
	out->evaluation = "right-hand side";
	out->formula = "made up";
	return fails(o, FAKE_COST);
}

static void fake_teardown(void *state)
{
	struct fake_state *s = state;

	fake_log.teardowns++;
	free(s->to_free);
	s->to_free = NULL;
}

const struct workload workload_fake = {
	.name = "fake",
	.summary = "counts its steps",
	.source = "nothing",
	.step_unit = "one more",
	.params = params,
	.needs = needs,
	.presets = presets,
	.opts_size = sizeof(struct fake_opts),
	.state_size = sizeof(struct fake_state),
	.limits = fake_limits,
	.setup = fake_setup,
	.reset = fake_reset,
	.step = fake_step,
	.fused = fake_fused,
	.check = fake_check,
	.report = fake_report,
	.plot = fake_plot,
	.cost = fake_cost,
	.teardown = fake_teardown,
};
