/* test_run.c - harness/measure/run.h on a fake workload: what is chosen, checked, refused. */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "tests/fake_run.h"
#include "tests/golden.h"

TestSuite(small_run, .timeout = 300);

Test(small_run, defaults)
{
	must_pass(run_fake("cells=3", NULL));
	cr_assert(eq(int, run.mode, MODE_STREAM), "mode");
	cr_assert(eq(i64, run.depth, 64), "depth");
	cr_assert(le(i64, 5, run.blocks.n), "blocks");
	cr_assert(le(i64, run.blocks.n, 100), "blocks");
	cr_assert(eq(i64, fake_log.checked_steps, 1024), "more than the last block");
	cr_assert(eq(int, fake_log.checks, 1), "once");
	cr_assert(eq(int, fake_log.reports, 1), "report");
	cr_assert(eq(int, fake_log.teardowns, 0), "not before the results are printed");
	run_release(&run);
	cr_assert(eq(int, fake_log.teardowns, 1), "teardown");
}

Test(small_run, what_was_asked_for)
{
	must_pass(run_fake("--mode=graph", "--depth=100", "--samples=6", "--check=full", NULL));
	cr_assert(eq(int, run.mode, MODE_GRAPH), "mode");
	cr_assert(eq(i64, run.depth, 100), "depth");
	cr_assert(eq(i64, run.graph_steps, 64), "graph_steps");
	cr_assert(eq(i64, run.rest_steps, 36), "rest_steps");
	cr_assert(eq(i64, run.blocks.n, 6), "blocks");
	cr_assert(fake_log.checked_full, "full");
	run_release(&run);
}

/* On a terminal; of many blocks about a hundred are said to begin. */
Test(small_run, blocks_are_counted)
{
	on_terminal = true;
	cr_assert(zero(int, run_fake("cells=3", "--samples=3", "--depth=1", NULL)), "%s", said);
	cr_expect(tells(said, "sample 1 of 3*sample 2 of 3*sample 3 of 3"), "%s", said);
	release_fake();
	cr_assert(zero(int, run_fake("cells=3", "--samples=100", "--depth=1", NULL)), "%s", said);
	cr_expect(tells(said, "sample 1 of 100*sample 3 of 100*sample 99 of 100"), "%s", said);
	cr_expect(not(tells(said, "sample 2 of 100")), "%s", said);
	cr_expect(not(tells(said, "sample 100 of 100")), "%s", said);
	release_fake();
}

Test(small_run, failed_checks_are_results_that_did_not_pass)
{
	static const char *const verdict[] = { "verdict=wrong", "verdict=nan", "verdict=nothing" };

	for (int i = 0; i < 3; i++) {
		cr_assert(zero(int, run_fake(verdict[i], "--samples=2", NULL)), "%s", verdict[i]);
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
		cr_assert(eq(int, run_fake(fail[i], "fail_errno=12", "--samples=2", NULL), -ENOMEM),
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

Test(small_run, refusals_come_before_setup)
{
	static const struct {
		const char *param, *option, *line;
		int err;
	} refused[] = {
		{ "fail=limits", "--depth=1", "limits fails as asked", -EINVAL },
		{ "modes=stream", "--mode=graph", "--mode=graph: ", -EINVAL },
		{ "modes=nofused", "--mode=fused", "--mode=fused: ", -EINVAL },
		{ "modes=none", "--depth=1", "fake ", -EINVAL },
		{ "depth_max=3", "--depth=4", " 3: the host looks at every result", -EINVAL },
		{ "device=none", "--depth=1", "it likes none", -ENODEV },
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
		{ "rate=1", "cells=1", "solver=rk4|euler" },
		{ "rate=1", "solver=rk4", NULL },
		{ "rate=1", "solver=euler", NULL },
		{ "solver=euler", "cells=1", NULL },
		{ "layers=4", "cells=1", NULL },
		{ "layers=4", "file=a", "file=" },
		{ "layers=4", "solver=rk4", "solver=rkf78" },
		{ "--depth=3", "action=yes", "--depth " },
		{ "--check=full", "action=yes", "--check " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int err = run_fake(cases[i].given, cases[i].with, NULL);

		release_fake();
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

Test(small_run, a_depth_that_options_ask_for_is_the_default)
{
	must_pass(run_fake("asked=25", "--samples=2", NULL));
	cr_assert(eq(i64, run.depth, 25), "depth");
	release_fake();
	must_pass(run_fake("asked=25", "--depth=3", "--samples=2", NULL));
	cr_assert(eq(i64, run.depth, 3), "the user's");
	release_fake();
}

Test(small_run, depth_max_caps_the_default_depth)
{
	must_pass(run_fake("depth_max=1", "modes=stream", "--samples=2", NULL));
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
static const char *printed_with(bool verbose)
{
	static char text[16384];
	FILE *f = fmemopen(text, sizeof(text), "w");

	run_print(&run, verbose, f);
	fclose(f);
	return text;
}

static const char *printed(void)
{
	return printed_with(true);
}

Test(small_run, table_has_the_rows_that_matter)
{
	static const char *const want[] = {
		"fake              counts its steps\n",
		"cells=3 (*)",
		"; (*) not", /* the rest may be on the next line */
		"mode              graph of 4 steps and one of 3, depth 7, 2 samples, sync poll\n",
		"check             passed: error 0, tolerance 0.5 (steps too many or too few)",
		"worst: ran 21, expected 21\n",
		"time per step     median ",
		"submit per step   median ",
		"per right-hand side",
		"non-kernel share  ",
		"ran               21 steps\n",
		"nothing           nan\n",
		"wrote             no file\n",
		"sampled           2.5 us, median of 11\n",
	};

	must_pass(run_fake("cells=3", "--mode=graph", "--depth=7", "--samples=2", "--sync=poll",
			   "--check-steps=21", NULL));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_assert(ne(ptr, strstr(printed(), want[i]), NULL), "'%s' in\n%s", want[i],
			  printed());
	for (const char *line = printed(); *line; line = strchr(line, '\n') + 1)
		cr_assert(le(sz, strcspn(line, "\n"), 100), "width: %.100s", line);
	run_release(&run);
}

/* Ten lines, but for a meaning that takes several. */
Test(small_run, the_short_table_has_what_is_needed_first)
{
	static const char *const want[] = {
		"\nparameters        cells=3\n",
		"\ncheck             passed: error 0, tolerance 0.5\n",
		"\ntime per step     median ",
		"\nsubmit per step   median ",
		"\nnon-kernel share  ",
		"\nmore              --verbose",
	};
	static const char *const left_out[] = { "\nhost", "\nran ", "worst:", "\nlaunches",
						"\nstartup" };
	int lines = 0;

	must_pass(run_fake("cells=3", "--depth=7", "--samples=2", "--check-steps=21", NULL));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_assert(ne(ptr, strstr(printed_with(false), want[i]), NULL), "'%s' in\n%s",
			  want[i], printed_with(false));
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		cr_assert(eq(ptr, strstr(printed_with(false), left_out[i]), NULL), "'%s' in\n%s",
			  left_out[i], printed_with(false));
	for (const char *line = printed_with(false); *line; line = strchr(line, '\n') + 1)
		lines += *line != ' ';
	cr_assert(le(int, lines, 12), "%d lines", lines);
	run_release(&run);
}

Test(small_run, table_shows_a_failed_check)
{
	run_fake("verdict=nan", "--samples=2", NULL);
	cr_assert(ne(ptr, strstr(printed_with(false), "check             FAILED: error nan"), NULL),
		  "%s", printed_with(false));
	cr_assert(ne(ptr, strstr(printed(), "check             FAILED: error nan"), NULL), "%s",
		  printed());
	run_release(&run);
}

Test(small_run, json_has_null_and_a_reason_where_there_is_no_number)
{
	const json_t *check, *row;
	json_t *o;

	run_fake("verdict=nan", "--samples=3", NULL);
	o = run_json(&run);
	check = json_object_get(o, "check");
	cr_assert(eq(int, json_is_false(json_object_get(check, "passed")), 1), "passed");
	cr_assert(eq(int, json_is_null(json_object_get(check, "error")), 1), "error");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(check, "error_text")), "nan"),
		  "reason");
	row = json_array_get(json_object_get(o, "report"), 1);
	cr_assert(eq(int, json_is_null(json_object_get(row, "value")), 1), "report");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(row, "text")), "nan"), "row");
	cr_assert(eq(int, json_is_null(json_object_get(row, "n")), 1), "no samples");
	row = json_array_get(json_object_get(o, "report"), 3);
	cr_assert(eq(i64, json_integer_value(json_object_get(row, "n")), 11), "samples");
	cr_assert(eq(i64, json_integer_value(json_object_get(o, "steps")), 3 * 64), "steps");
	json_decref(o);
	run_release(&run);
}

/* A run with times as if a step took 1 us and then 2 us, of which half was submitting. */
static void run_made_up(void)
{
	run_fake("cells=3", "--mode=graph", "--depth=7", "--samples=2", "--check-steps=21", NULL);
	for (int i = 0; i < 2; i++) {
		run.blocks.total_ns[i] = 7000 * (i + 1);
		run.blocks.enq_ns[i] = 3500 * (i + 1);
	}
	run.kernel =
		(struct kernel_time){ .ns = 900, .ends_ns = 250, .steps = 3, .source = "made" };
	run.overhead = (struct overhead){ 0.25, "as it is" };
	run.startup = (struct startup){ 3e6, 2e6, 1e6 };
	run.warmup.blocks = 4;
	run.warmup.elapsed_ns = 12345;
	run.depth_cut_from = 64;
	run.cost = (struct cost){ .launches = 2,
				  .flops = 11,
				  .bytes_moved = 12,
				  .bytes_transferred = 13,
				  .to_device = { 1, 5 },
				  .to_host = { 2, 8 },
				  .within = { 4, 9 },
				  .allocations = 14,
				  .evaluations = 3,
				  .evaluation = "right-hand side",
				  .formula = "made up" };
	run.verdict.compared = 3;
	run.verdict.total = 4;
}

Test(small_run, figures_in_json)
{
	static const struct {
		const char *in, *name;
		double want;
	} rows[] = {
		{ NULL, "depth", 7 },
		{ NULL, "depth_cut_from", 64 },
		{ NULL, "graph_steps", 4 },
		{ NULL, "graph_rest_steps", 3 },
		{ NULL, "steps", 14 },
		{ NULL, "evaluation_ns", 500 },
		{ NULL, "launches_per_step", 2 },
		{ NULL, "kernel_ns", 900 },
		{ NULL, "kernel_steps", 3 },
		{ NULL, "block_ends_ns", 250 },
		{ NULL, "non_kernel_share", 0.25 },
		{ "step_ns", "median", 1500 },
		{ "step_ns", "min", 1000 },
		{ "step_ns", "n", 2 },
		{ "submit_ns", "median", 750 },
		{ "submit_ns", "min", 500 },
		{ "startup", "start_ns", 3e6 },
		{ "startup", "setup_ns", 2e6 },
		{ "startup", "block_ns", 1e6 },
		{ "warmup", "blocks", 4 },
		{ "warmup", "elapsed_ns", 12345 },
		{ "blocks", "n", 2 },
		{ "check", "compared", 3 },
		{ "check", "total", 4 },
		{ "check", "share", 0.75 },
		{ "check", "tolerance", 0.5 },
		{ "check", "steps", 21 },
		{ "cost", "launches", 2 },
		{ "cost", "flops", 11 },
		{ "cost", "bytes_moved", 12 },
		{ "cost", "bytes_transferred", 13 },
		{ "cost", "copies", 7 },
		{ "cost", "allocations", 14 },
		{ "cost", "evaluations", 3 },
	};
	const json_t *raw;
	json_t *o;

	run_made_up();
	o = run_json(&run);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const json_t *in = rows[i].in ? json_object_get(o, rows[i].in) : o;
		double value = json_get_number(in, rows[i].name);

		cr_expect(epsilon_eq(dbl, value, rows[i].want, 1e-9), "%s: %g", rows[i].name,
			  value);
	}
	cr_expect(eq(sz, json_array_size(json_object_get(o, "report")), 4), "rows");
	raw = json_object_get(json_object_get(o, "blocks"), "t_enq_ns");
	cr_assert(eq(sz, json_array_size(raw), 2), "samples");
	cr_expect(eq(i64, json_integer_value(json_array_get(raw, 1)), 7000), "the second");
	cr_expect(eq(str, (char *)json_get_text(o, "kernel_ns_source"), "made"), "source");
	cr_expect(eq(int, json_is_null(json_object_get(json_object_get(o, "check"), "error_text")),
		     1),
		  "none");
	run.kernel.unknown = "no slope";
	run.mode = MODE_STREAM;
	run.depth_cut_from = 0;
	json_decref(o);
	o = run_json(&run);
	cr_expect(eq(str, (char *)json_get_text(o, "kernel_ns_source"), "no slope"), "why");
	cr_expect(eq(int, json_is_null(json_object_get(o, "graph_steps")), 1), "no graph");
	cr_expect(eq(int, json_is_null(json_object_get(o, "graph_rest_steps")), 1), "no graph");
	cr_expect(eq(int, json_is_null(json_object_get(o, "depth_cut_from")), 1), "not cut");
	json_decref(o);
	run_release(&run);
}

static void shows(bool verbose, const char *want)
{
	cr_expect(tells(printed_with(verbose), want), "'%s' in\n%s", want, printed_with(verbose));
}

Test(small_run, figures_in_the_table)
{
	run_made_up();
	shows(true, "depth 7, 2 samples*(not the default depth of 64,");
	shows(true, "\ntime per step     median 1.50 us, min 1.00 us, n = 2\n");
	shows(true, "\nsubmit per step   median 750 ns, min 500 ns, n = 2\n");
	shows(true, "\nkernels per step  900 ns (made)\n");
	shows(true, "\nlaunches          2 per step");
	shows(true, "\nevaluation        500 ns per right-hand side, 2.00 M/s\n");
	shows(true, "\nnon-kernel share  25.0 % of a sample at depth 7; as it is");
	/* kernels: 7 * 900 ns of 6 ms */
	shows(true, "6.00 ms for one sample: 3.00 ms to start, 2.00 ms to set up, 1.00 ms for the");
	shows(true, "kernels are 0.105 % of that\n");
	shows(true, "3 of 4 compared after*21 steps");
	/* copies alone have a rate: 13 bytes in 1500 ns; noise is no share below 0 */
	cr_expect(not(tells(printed(), "\nrate ")), "%s", printed());
	run.cost.launches = 0;
	run.overhead.share = -0.1;
	shows(false, "\nrate              0.00867 GB/s\n");
	shows(false, "\nnon-kernel share  0.0 % of");
	run.cost.bytes_transferred = 0;
	run.cost.evaluations = 0;
	run.kernel.unknown = "no slope";
	run.overhead.share = NAN;
	run.startup.setup_ns = NAN;
	run.depth_cut_from = 0;
	run.rest_steps = 0;
	shows(false, "\nkernels per step  not known: no slope\n");
	shows(false, "\nnon-kernel share  as it is\n");
	shows(true, "graph of 4 steps, depth 7, ");
	cr_expect(not(tells(printed(), "\nrate ")), "%s", printed());
	cr_expect(not(tells(printed(), "\nevaluation ")), "%s", printed());
	cr_expect(not(tells(printed(), "\nstartup ")), "%s", printed());
	cr_expect(not(tells(printed(), "default depth")), "%s", printed());
	run_release(&run);
}

/* ---- the whole table, of a run whose every value is set -------------------------------------- */

static void set_platform(struct platform *p)
{
	p->is_gpu = true;
	snprintf(p->device, sizeof(p->device), "NVIDIA H200");
	p->cc_major = 8;
	p->cc_minor = 6;
	p->sms = 132;
	p->memory_bytes = 150 * INT64_C(1073741824);
	p->runtime_version = 12060;
	p->driver_version = 13110;
	json_decref(p->layers);
	p->layers = json_pack("[{s:s, s:s, s:s, s:[s]}, {s:s, s:s}]", "name", "emulate", "detail",
			      "0.5 us late", "label", "a model", "set", "call=20", "name", "shim",
			      "label", "a shim");
	p->host.cpu_model = fact_text("a processor");
	p->host.cpus = fact_int(96);
	p->host.kernel = fact_text("6.1");
	for (int i = 0; i < VIRT_LAYERS; i++)
		p->virt.layer[i] = fact_text("none");
}

static void set_report(struct report *r)
{
	r->n = 0;
	r->row[r->n++] = (struct report_row){ "throughput", "GB/s", 12.5, 3, "" };
	r->row[r->n++] = (struct report_row){ "ratio", "1", 0.75, 1, "" };
	r->row[r->n++] =
		(struct report_row){ "a row whose name is longer than others", NULL, NAN, 0, "" };
	r->row[r->n++] = (struct report_row){ "most", "", INFINITY, 2, "" };
	r->row[r->n++] = (struct report_row){ "file", NULL, 0, 0, "written: a.out" };
}

static void put_table(bool verbose)
{
	golden_said(verbose ? "== verbose\n" : "== short\n");
	golden_said(printed_with(verbose));
}

Test(small_run, the_whole_table)
{
	struct picture *picture = &run.picture;
	json_t *rows;

	run_made_up();
	set_platform(&run.platform);
	set_report(&run.report);
	run.instance.sync = SYNC_SPIN;
	run.verdict.error = 0.125;
	snprintf(run.verdict.worst, sizeof(run.verdict.worst), "cell 2");
	put_table(true);
	put_table(false);
	run.passed = false;
	run.verdict.error = -NAN;
	run.verdict.measure = NULL;
	run.check_steps = 1;
	run.mode = MODE_STREAM;
	run.cost.moves_only = true;
	run.graph_steps = 1;
	snprintf(picture->plot.file[0], PLOT_NAME_BYTES, "run-cells.csv");
	snprintf(picture->plot.file[1], PLOT_NAME_BYTES, "run-rows.csv");
	picture->plot.files = 2;
	picture->plot.folder = "out";
	picture->plot.name = "run";
	picture->written = picture->asked = true;
	for (int i = 0; i < VIRT_LAYERS; i++)
		run.platform.virt.layer[i] = fact_text("%s", "word");
	run.platform.host.cpus = fact_unknown("hidden");
	put_table(true);
	picture->drawn = true;
	put_table(false);
	run.platform.is_gpu = false;
	run.limits.action = true;
	put_table(true);
	rows = run_report_json(&run.report);
	golden_said_json(rows);
	json_decref(rows);
	run.report.n = REPORT_ROWS_MAX + 1; /* more than there is room for */
	rows = run_report_json(&run.report);
	cr_expect(eq(sz, json_array_size(rows), REPORT_ROWS_MAX));
	json_decref(rows);
	picture->plot.files = 0;
	run_release(&run);
}
