/*
 * test_myocyte_options.c - what the myocyte workload refuses: options that contradict each other,
 * files that cannot be written. One line each, nothing left behind.
 */
#include "tests/plain.h"

#include <criterion/redirect.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "workloads/myocyte/test_cells.h"

TestSuite(small_myocyte_options, .timeout = 300);

static int find_limits(const struct myocyte_opts *o)
{
	struct limits limits = { 0 };

	return workload_myocyte.limits(o, &limits);
}

Test(small_myocyte_options, defaults_are_allowed_in_every_mode)
{
	struct myocyte_opts o = default_opts();
	struct limits limits = { 0 };

	cr_assert(!workload_myocyte.limits(&o, &limits), "defaults");
	cr_assert(!limits.action && !limits.device_refused && !limits.depth_max, "all allowed");
	for (int m = 0; m < MODE_COUNT; m++)
		cr_assert(!limits.mode_refused[m], "mode %d: %s", m, limits.mode_refused[m]);
	cr_assert(limits.depth_run == 1024, "depth of rift run: %ld", (long)limits.depth_run);
	cr_assert(o.cells == 1 && o.span == 1000 && myocyte_tolerance(&o) == 1e-6 &&
			  o.step == 0.015625 && o.jitter == 0.01 && o.every == 1,
		  "defaults");
}

/* Options that contradict each other, one set a call, and what the line must name. */
static const char *contradict(int i, struct myocyte_opts *o)
{
	switch (i) {
	case 0:
		o->states = "a.csv";
		return "derivatives=";
	case 1:
		o->derivatives = "a.csv";
		return "states=";
	case 2:
		o->states = "a.csv", o->derivatives = "b.csv", o->trajectory = "c.csv";
		return "trajectory=";
	case 3:
		o->states = o->derivatives = "a.csv";
		return "derivatives=a.csv";
	case 4:
		o->parameters = o->trajectory = "a.csv";
		return "trajectory=a.csv";
	case 5:
		o->states = "a.csv", o->derivatives = "b.csv", o->initial = "c.csv";
		return "initial=c.csv";
	case 6:
		o->cells = 4, o->trace = 4;
		return "0 to 3";
	case 7:
		o->trajectory = "a.csv", o->every = 1e-6;
		return "1000000001 rows";
	case 8:
		o->solver = MYOCYTE_FIXED, o->step = 0.5, o->span = 0.1;
		return "step=0.5 ms";
	case 9:
		o->launch = PROGRAMMATIC_YES, o->spread = MYOCYTE_THREAD;
		return "spread=block";
	case 10:
		o->launch = PROGRAMMATIC_YES, o->solver = MYOCYTE_ROSENBROCK;
		return "solver=rosenbrock";
	default:
		return NULL;
	}
}

Test(small_myocyte_options, contradictions_are_refused)
{
	const char *names, *text;
	struct myocyte_opts o;
	int n = 0;

	cr_redirect_stderr();
	for (o = default_opts(); contradict(n, &o); o = default_opts(), n++)
		cr_assert(find_limits(&o) == -EINVAL, "contradiction %d is accepted", n);
	text = captured_stderr();
	for (int i = 0; i < n; i++) {
		names = contradict(i, &o);
		cr_assert(strstr(first_line(text, i), names), "%s: %s", names, first_line(text, i));
	}
	cr_assert(n == 11 && !*first_line(text, n), "one line each: %s", first_line(text, n));
}

/* The least `every` that the refusal of too many rows asks for is enough, and not much more. */
Test(small_myocyte_options, the_advised_time_between_rows_is_accepted)
{
	static const double spans[] = { 1, 1000, 0.99, 1e6, 123.456, 999999, 1e-6 * 1000001 };
	enum { SPANS = sizeof(spans) / sizeof(*spans) };
	struct myocyte_opts o = default_opts();
	const char *text, *advice;

	cr_redirect_stderr();
	o.trajectory = "a.csv";
	for (int i = 0; i < SPANS; i++) {
		o.span = spans[i];
		o.every = spans[i] / 1000001;
		cr_assert(find_limits(&o) == -EINVAL, "span=%g", o.span);
	}
	text = captured_stderr();
	for (int i = 0; i < SPANS; i++) {
		advice = strstr(first_line(text, i), "fit; use every=");
		cr_assert(advice, "%s", first_line(text, i));
		o.span = spans[i];
		o.every = strtod(advice + strlen("fit; use every="), NULL);
		cr_assert(!find_limits(&o), "span=%.17g: every=%g is refused", o.span, o.every);
		cr_assert(o.every < 1.2e-6 * o.span, "span=%.17g: every=%g", o.span, o.every);
	}
}

/* A link is the file it points to. */
Test(small_myocyte_options, output_over_input_is_seen_through_links)
{
	struct myocyte_opts o = default_opts();
	const char *file = write_file("a.csv", "t\n"), *link = file_here("b.csv");

	cr_redirect_stderr();
	cr_assert(!symlink(file, link), "%s", link);
	o.states = file;
	o.derivatives = link;
	cr_assert(find_limits(&o) == -EINVAL, "accepted");
	remove_files();
}

/* ---- files ----------------------------------------------------------------------------- */

static int try_setup(const struct myocyte_opts *o)
{
	struct myocyte_state s = { 0 };
	int err = workload_myocyte.setup(o, &s);

	workload_myocyte.teardown(&s);
	return err;
}

Test(small_myocyte_options, unwritable_outputs_are_refused_before_anything_runs)
{
	const struct {
		const char *path;
		int err;
	} bad[] = {
		{ file_here("no/such/folder.csv"), -ENOENT },
		{ test_folder, -EISDIR },
		{ "/dev/null", -EINVAL },
	};
	enum { BAD = sizeof(bad) / sizeof(*bad) };
	struct myocyte_opts o = default_opts();
	const char *text;

	need_device();
	cr_redirect_stderr();
	for (int i = 0; i < BAD; i++) {
		o.trajectory = bad[i].path;
		cr_assert(try_setup(&o) == bad[i].err, "%s", bad[i].path);
	}
	text = captured_stderr();
	for (int i = 0; i < BAD; i++)
		cr_assert(strstr(first_line(text, i), bad[i].path), "%s: %s", bad[i].path,
			  first_line(text, i));
	cr_assert(!*first_line(text, BAD), "one line each");
	remove_files();
}

/* What is there stays, byte for byte, and is refused; a run that fails leaves nothing. */
Test(small_myocyte_options, no_file_is_replaced_and_none_is_left)
{
	struct myocyte_opts o = default_opts();
	const char *out = write_file("out.csv", "precious\n");

	need_device();
	cr_redirect_stderr();
	o.trajectory = out;
	o.span = 1;
	cr_assert(try_setup(&o) == -EEXIST, "a file would be replaced");
	cr_assert(!shell(NULL, "echo precious | cmp - %s", out), "out.csv has changed");
	cr_assert(!shell(NULL, "rm %s", out), "%s", out);
	run_end(run_begin(o)); /* without report: as if it had failed */
	o.initial = file_here("missing.csv");
	cr_assert(try_setup(&o) < 0, "a missing file is accepted");
	cr_assert(!shell(NULL, "test $(ls %s | wc -l) = 0", test_folder), ".part is left");
	remove_files();
}

Test(small_myocyte_options, full_disks_are_noticed)
{
	const struct rlimit small = { 4096, 4096 };
	struct myocyte_opts o = default_opts();
	struct report report = { 0 };
	const char *text;
	struct run *r;

	need_device();
	o.trajectory = file_here("out.csv");
	o.span = 30;
	cr_redirect_stderr();
	r = run_begin(o);
	signal(SIGXFSZ, SIG_IGN); /* writes beyond the limit then fail with EFBIG */
	cr_assert(!setrlimit(RLIMIT_FSIZE, &small), "setrlimit");
	cr_assert(workload_myocyte.report(&r->o, &r->s, &report) == -EFBIG, "not noticed");
	run_end(r);
	text = captured_stderr();
	cr_assert(strstr(text, o.trajectory) && strstr(text, "too large"), "%s", text);
	cr_assert(!exists(o.trajectory), "half a file appeared");
	cr_assert(!shell(NULL, "test -z \"$(ls %s)\"", test_folder), ".part is left");
	remove_files();
}

Test(small_myocyte_options, inputs_that_make_no_sense_are_refused)
{
	struct myocyte_opts o = default_opts();
	const char *text;

	need_device();
	cr_redirect_stderr();
	cr_assert(!shell(NULL, "sed 's/T_cycle,ms,.*/T_cycle,ms,0/' %s >%s",
			 data_file("parameters.csv"), file_here("p.csv")),
		  "sed");
	o.parameters = file_here("p.csv");
	cr_assert(try_setup(&o) == -EINVAL, "a cycle length of 0 is accepted");
	text = captured_stderr();
	cr_assert(strstr(text, "p.csv") && strstr(text, "cycle"), "%s", text);
	remove_files();
}

/* ---- spread ------------------------------------------------------------------------------ */

Test(small_myocyte_options, blocks_are_for_the_plain_pattern)
{
	const char *text;

	cr_redirect_stderr();
	for (int i = 0; i < 6; i++) {
		struct myocyte_opts o = default_opts();

		o.spread = i % 2 ? MYOCYTE_CELLS_A_BLOCK : MYOCYTE_CELL_A_BLOCK;
		o.solver = i / 2 == 0 ? MYOCYTE_AS_RODINIA : MYOCYTE_ADAPTIVE;
		o.granularity = i / 2 == 1 ? MYOCYTE_BY_STAGE : MYOCYTE_BY_ATTEMPT;
		o.control = i / 2 == 2 ? MYOCYTE_BY_HOST : MYOCYTE_BY_DEVICE;
		cr_assert(find_limits(&o) == -EINVAL, "case %d", i);
		o.spread = MYOCYTE_AUTO;
		cr_assert(!find_limits(&o), "case %d with spread=auto", i);
		cr_assert(myocyte_spread(&o) == MYOCYTE_THREAD, "case %d with spread=auto", i);
	}
	text = captured_stderr();
	for (int i = 0; i < 6; i++)
		cr_assert(strstr(first_line(text, i), i % 2 ? "spread=warps" : "spread=block") &&
				  strstr(first_line(text, i), "spread=thread"),
			  "%s", first_line(text, i));
	cr_assert(!*first_line(text, 6), "one line each: %s", first_line(text, 6));
}

Test(small_myocyte_options, auto_spread_suits_the_device_and_the_number_of_cells)
{
	const int64_t few[] = { 264, 132 };
	struct myocyte_opts o = default_opts();
#ifdef RIFT_CPU_DEVICE
	const enum myocyte_spread for_few = MYOCYTE_THREAD, for_many = MYOCYTE_THREAD;
#else
	const enum myocyte_spread for_few = MYOCYTE_CELL_A_BLOCK;
	const enum myocyte_spread for_many = MYOCYTE_CELLS_A_BLOCK;
#endif

	for (int i = 0; i < 2; i++) {
		o.precision = i ? MYOCYTE_FLOAT : MYOCYTE_DOUBLE;
		o.cells = few[i];
		cr_assert(myocyte_spread(&o) == for_few, "%ld cells", (long)o.cells);
		o.cells = few[i] + 1;
		cr_assert(myocyte_spread(&o) == for_many, "%ld cells", (long)o.cells);
	}
	o.states = "rows.csv";
	cr_assert(myocyte_spread(&o) == MYOCYTE_THREAD, "rows of states");
}
