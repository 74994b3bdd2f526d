/* test_run.c - harness/run.h on a fake workload: what is chosen, checked, refused, torn down. */
#include "common/interrupt.h"
#include "harness/command.h"
#include "harness/json.h"
#include "harness/run.h"
#include "tests/divert.h"
#include "tests/fake_workload.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

TestSuite(small_run, .timeout = 60);

static struct fake_opts opts;
static struct run_options values;
static struct params params, options;
static struct run run;
static char said[8192]; /* what it wrote to stderr */

/* Runs with words like the command line's, ending with NULL: "cells=3" and "--depth=7". */
static int run_fake(const char *word, ...)
{
	va_list args;
	int count, err;

	if (cudaGetDeviceCount(&count) || !count)
		cr_skip("no CUDA device");
	memset(&opts, 0, sizeof(opts));
	memset(&values, 0, sizeof(values));
	memset(&fake_log, 0, sizeof(fake_log));
	params_init(&params, workload_fake.params, "fake", &opts);
	params_init(&options, run_option_rows, "rift run", &values);
	va_start(args, word);
	for (; word; word = va_arg(args, const char *))
		if (strncmp(word, "--", 2))
			cr_assert(zero(int, params_assign(&params, word)), "%s", word);
		else
			cr_assert(zero(int, params_assign(&options, word + 2)), "%s", word);
	va_end(args);
	run = (struct run){ .workload = &workload_fake, .params = &params, .options = &options };
	divert_stderr();
	err = run_execute(&run);
	snprintf(said, sizeof(said), "%s", diverted_stderr());
	return err;
}

static void must_pass(int err)
{
	cr_assert(zero(int, err), "%s", said);
	cr_assert(eq(str, said, ""), "stderr");
	cr_assert(run.passed, "passed");
}

Test(small_run, defaults)
{
	must_pass(run_fake("cells=3", NULL));
	cr_assert(eq(int, run.mode, MODE_STREAM), "mode");
	cr_assert(eq(i64, run.depth, 64), "depth");
	cr_assert(le(i64, 5, run.blocks.n), "blocks");
	cr_assert(le(i64, run.blocks.n, 100), "blocks");
	cr_assert(eq(i64, fake_log.checked_steps, 1024), "deeper than the last block");
	cr_assert(eq(int, fake_log.checks, 1), "once");
	cr_assert(eq(int, fake_log.reports, 1), "report");
	cr_assert(eq(int, fake_log.teardowns, 0), "not before the results are printed");
	run_release(&run);
	cr_assert(eq(int, fake_log.teardowns, 1), "teardown");
}

Test(small_run, what_was_asked_for)
{
	must_pass(run_fake("--mode=graph", "--depth=100", "--blocks=6", "--check=full", NULL));
	cr_assert(eq(int, run.mode, MODE_GRAPH), "mode");
	cr_assert(eq(i64, run.depth, 100), "depth");
	cr_assert(eq(i64, run.graph_steps, 64), "graph_steps");
	cr_assert(eq(i64, run.rest_steps, 36), "rest_steps");
	cr_assert(eq(i64, run.blocks.n, 6), "blocks");
	cr_assert(fake_log.checked_full, "full");
	run_release(&run);
}

Test(small_run, long_batches_are_checked_at_check_steps_in_every_mode)
{
	static const char *const mode[] = { "--mode=stream", "--mode=graph", "--mode=fused" };

	for (int i = 0; i < MODE_COUNT; i++) {
		must_pass(run_fake(mode[i], "--depth=100", "--check-steps=7", "--blocks=2", NULL));
		cr_assert(eq(i64, fake_log.checked_steps, 7), "%s", mode[i]);
		run_release(&run);
	}
}

Test(small_run, a_batch_of_check_steps_is_checked_as_it_is)
{
	must_pass(run_fake("--depth=100", "--check-steps=100", "--blocks=2", NULL));
	cr_assert(eq(i64, fake_log.checked_steps, 100), "steps");
	run_release(&run);
	must_pass(run_fake("--depth=2000", "--mode=fused", "--blocks=2", NULL));
	cr_assert(eq(i64, fake_log.checked_steps, 2000), "steps");
	run_release(&run);
}

/* The fake's check compares with the steps that ran since the last reset. */
Test(small_run, short_batches_are_checked_at_more_steps_in_every_mode)
{
	static const char *const mode[] = { "--mode=stream", "--mode=graph", "--mode=fused" };

	for (int i = 0; i < MODE_COUNT; i++) {
		must_pass(run_fake(mode[i], "--depth=3", "--blocks=2", NULL));
		cr_assert(eq(i64, fake_log.checked_steps, 1024), "%s: 341 batches and 1", mode[i]);
		run_release(&run);
		must_pass(run_fake(mode[i], "--depth=100", "--check-steps=250", NULL));
		cr_assert(eq(i64, fake_log.checked_steps, 250), "%s: 2 batches and 50", mode[i]);
		run_release(&run);
	}
}

/* No block of the check is deeper than the workload allows either. */
Test(small_run, steps_to_check_keep_to_depth_max)
{
	int fuseds;

	must_pass(run_fake("depth_max=4", "--mode=fused", "--depth=4", "--blocks=2",
			   "--check-steps=4", NULL));
	fuseds = fake_log.fuseds;
	run_release(&run);
	must_pass(run_fake("depth_max=4", "--mode=fused", "--depth=4", "--blocks=2",
			   "--check-steps=1024", NULL));
	cr_assert(le(int, 256, fake_log.fuseds), "%d launches, %d without them", fake_log.fuseds,
		  fuseds);
	cr_assert(le(i64, fake_log.fused_steps, 4 * (int64_t)fake_log.fuseds), "too deep");
	run_release(&run);
}

Test(small_run, steps_to_check)
{
	static const struct {
		int64_t asked, depth;
		double step_ns;
		int64_t want;
	} cases[] = {
		{ 7, 100, 1e3, 7 },	{ 1 << 20, 1, 1e9, 1 << 20 },
		{ 0, 1, 1e3, 1024 },	{ 0, 1023, 1e3, 1024 },
		{ 0, 1025, 1e3, 1025 }, { 0, 4096, 1e9, 4096 },
		{ 0, 4097, 1, 4096 },	{ 0, 1, 0, 1024 },
		{ 0, 1, 1e7, 64 },	{ 0, 10, 1e7, 64 },
		{ 0, 70, 1e7, 70 },	{ 0, 1, 5e9, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_assert(eq(i64, check_steps_for(cases[i].asked, cases[i].depth, cases[i].step_ns),
			     cases[i].want),
			  "case %zu", i);
}

Test(small_run, failed_checks_are_results_that_did_not_pass)
{
	static const char *const verdict[] = { "verdict=wrong", "verdict=nan", "verdict=nothing" };

	for (int i = 0; i < 3; i++) {
		cr_assert(zero(int, run_fake(verdict[i], "--blocks=2", NULL)), "%s", verdict[i]);
		cr_assert(eq(int, run.passed, false), "%s", verdict[i]);
		cr_assert(eq(int, fake_log.reports, 1), "%s is reported", verdict[i]);
		run_release(&run);
	}
}

Test(small_run, a_report_that_fails_after_a_failed_check_leaves_the_check_failed)
{
	cr_assert(zero(int, run_fake("verdict=wrong", "fail=report", NULL)), "shown as a result");
	cr_assert(eq(int, run.passed, false), "the check failed");
	run_release(&run);
}

Test(small_run, exit_codes)
{
	cr_assert(eq(int, exit_code_of_run(0, true), 0), "passed");
	cr_assert(eq(int, exit_code_of_run(0, false), 1), "failed");
	cr_assert(eq(int, exit_code_of_run(-EINVAL, false), 3), "bad input");
	cr_assert(eq(int, exit_code_of_run(-ENOMEM, true), 3), "anything else");
	cr_assert(eq(int, exit_code_of_run(-ENODEV, false), 4), "no device");
	cr_assert(eq(int, exit_code_of_run(-EINTR, false), 75), "interrupted");
}

Test(small_run, a_failing_hook_stops_the_run_and_is_torn_down)
{
	static const char *const fail[] = { "fail=setup", "fail=cost",	"fail=reset",
					    "fail=step",  "fail=check", "fail=report" };

	for (size_t i = 0; i < sizeof(fail) / sizeof(*fail); i++) {
		cr_assert(eq(int, run_fake(fail[i], "fail_errno=12", "--blocks=2", NULL), -ENOMEM),
			  "%s", fail[i]);
		cr_assert(is_one_complaint(said), "%s: %s", fail[i], said);
		run_release(&run);
		cr_assert(eq(int, fake_log.setups, 1), "%s", fail[i]);
		cr_assert(eq(int, fake_log.teardowns, 1), "%s", fail[i]);
	}
	cr_assert(eq(int, run_fake("fail=fused", "--mode=fused", NULL), -EINVAL), "fused");
	run_release(&run);
	cr_assert(eq(int, fake_log.teardowns, 1), "fused");
	cr_assert(eq(int, run_fake("fail=step", "--mode=graph", NULL), -EINVAL), "capture");
	run_release(&run);
	cr_assert(eq(int, fake_log.teardowns, 1), "capture");
}

/* Arrays, not pointers: each case is a process of its own, as a signal is remembered for ever. */
struct interruption {
	char hook[24], fail[16];
};

ParameterizedTestParameters(small_run, control_c_ends_it)
{
	static struct interruption in[] = {
		{ "interrupt=setup", "fail=none" },    { "interrupt=step", "fail=none" },
		{ "interrupt=check", "fail=none" },    { "interrupt=check", "fail=check" },
		{ "interrupt=report", "fail=report" },
	};

	return cr_make_param_array(struct interruption, in, sizeof(in) / sizeof(*in));
}

/* Whether the hook looks itself and returns -EINTR, or ends as if nothing had come. */
ParameterizedTest(struct interruption *in, small_run, control_c_ends_it)
{
	int err;

	signal(SIGINT, SIG_DFL);
	interrupt_install();
	/* nor does a failed check count before it */
	err = run_fake(in->hook, in->fail, "fail_errno=4", "verdict=wrong", "--blocks=2", NULL);
	cr_assert(eq(int, err, -EINTR), "%s %s: %s", in->hook, in->fail, said);
	cr_assert(is_one_complaint(said), "%s %s: %s", in->hook, in->fail, said);
	cr_assert(ne(ptr, strstr(said, "interrupted after "), NULL), "%s: %s", in->hook, said);
	run_release(&run);
	cr_assert(eq(int, fake_log.teardowns, 1), "%s %s", in->hook, in->fail);
}

Test(small_run, refusals_come_before_setup)
{
	static const struct {
		const char *param, *option, *line;
		int err;
	} refused[] = {
		{ "fail=limits", "--depth=1", "limits fails as asked", -EINVAL },
		{ "modes=stream", "--mode=graph",
		  "--mode=graph: fake refuses it: steps cannot be captured", -EINVAL },
		{ "modes=nofused", "--mode=fused", "steps cannot be fused", -EINVAL },
		{ "modes=none", "--depth=1", "fake allows no mode", -EINVAL },
		{ "depth_max=3", "--depth=4",
		  "--depth=4: fake allows at most 3: the host looks at every result", -EINVAL },
		{ "device=none", "--depth=1", "fake does not run on this device: it likes none",
		  -ENODEV },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		int err = run_fake(refused[i].param, refused[i].option, NULL);

		cr_assert(eq(int, err, refused[i].err), "%s", refused[i].param);
		cr_assert(is_one_complaint(said), "%s", said);
		cr_assert(ne(ptr, strstr(said, refused[i].line), NULL), "%s", said);
		run_release(&run);
		cr_assert(eq(int, fake_log.setups + fake_log.teardowns, 0), "%s", refused[i].param);
	}
}

Test(small_run, parameters_without_effect_are_refused)
{
	static const struct {
		const char *given, *with, *says;
	} cases[] = {
		{ "rate=1", "cells=1",
		  "rate=1 has no effect: it counts only with solver=rk4|euler" },
		{ "rate=1", "solver=rk4", NULL },
		{ "rate=1", "solver=euler", NULL },
		{ "solver=euler", "cells=1", NULL },
		{ "layers=4", "cells=1", NULL },
		{ "layers=4", "file=a", "layers=4 has no effect: it counts only without file=" },
		{ "layers=4", "solver=rk4", "counts only with solver=rkf78" },
		{ "--depth=3", "action=yes", "--depth has no effect" },
		{ "--check=full", "action=yes", "--check has no effect" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int err = run_fake(cases[i].given, cases[i].with, NULL);

		run_release(&run);
		params_release(&params);
		if (!cases[i].says) {
			must_pass(err);
			continue;
		}
		cr_assert(eq(int, err, -EINVAL), "%s %s", cases[i].given, cases[i].with);
		cr_assert(is_one_complaint(said), "%s", said);
		cr_assert(ne(ptr, strstr(said, cases[i].says), NULL), "%s", said);
		cr_assert(zero(int, fake_log.setups), "%s", cases[i].given);
	}
}

Test(small_run, depth_max_caps_the_default_depth)
{
	must_pass(run_fake("depth_max=1", "modes=stream", "--blocks=2", NULL));
	cr_assert(eq(i64, run.depth, 1), "depth");
	cr_assert(ne(ptr, (void *)run.kernel.unknown, NULL), "no slope");
	run_release(&run);
}

Test(small_run, an_action_is_reported_and_not_timed)
{
	must_pass(run_fake("action=yes", NULL));
	cr_assert(eq(int, fake_log.steps + fake_log.fuseds + fake_log.checks, 0), "nothing ran");
	cr_assert(eq(int, fake_log.reports, 1), "report");
	run_release(&run);
	cr_assert(eq(int, fake_log.teardowns, 1), "teardown");
}

/* What run_print() prints; static memory. */
static const char *printed(void)
{
	static char text[16384];
	FILE *f = fmemopen(text, sizeof(text), "w");

	run_print(&run, f);
	fclose(f);
	return text;
}

Test(small_run, table_has_the_rows_that_matter)
{
	static const char *const want[] = {
		"fake              counts its steps\n",
		"cells=3 (*)",
		"; (*) not the default",
		"mode              graph of 4 steps and one of 3, depth 7, 2 blocks\n",
		"check             passed: error 0, tolerance 0.5 (steps too many or too few)",
		"worst: ran 1024, expected 1024\n",
		"time per step     median ",
		"submit per step   median ",
		"per right-hand side",
		"overhead          ",
		"ran               1024 steps\n",
		"nothing           nan\n",
		"wrote             no file\n",
	};

	must_pass(run_fake("cells=3", "--mode=graph", "--depth=7", "--blocks=2", NULL));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_assert(ne(ptr, strstr(printed(), want[i]), NULL), "'%s' in\n%s", want[i],
			  printed());
	for (const char *line = printed(); *line; line = strchr(line, '\n') + 1)
		cr_assert(le(sz, strcspn(line, "\n"), 100), "width: %.100s", line);
	run_release(&run);
}

Test(small_run, table_shows_a_failed_check)
{
	run_fake("verdict=nan", "--blocks=2", NULL);
	cr_assert(ne(ptr, strstr(printed(), "check             FAILED: error nan"), NULL), "%s",
		  printed());
	run_release(&run);
}

Test(small_run, json_has_null_and_a_reason_where_there_is_no_number)
{
	const json_t *check, *row;
	json_t *o;

	run_fake("verdict=nan", "--blocks=3", NULL);
	o = run_json(&run);
	check = json_object_get(o, "check");
	cr_assert(eq(int, json_is_false(json_object_get(check, "passed")), 1), "passed");
	cr_assert(eq(int, json_is_null(json_object_get(check, "error")), 1), "error");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(check, "error_text")), "nan"),
		  "reason");
	row = json_array_get(json_object_get(o, "report"), 1);
	cr_assert(eq(int, json_is_null(json_object_get(row, "value")), 1), "report");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(row, "text")), "nan"), "row");
	cr_assert(eq(i64, json_integer_value(json_object_get(o, "steps")), 3 * 64), "steps");
	json_decref(o);
	run_release(&run);
}
