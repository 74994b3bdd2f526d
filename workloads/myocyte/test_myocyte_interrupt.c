/*
 * test_myocyte_interrupt.c - Ctrl-C ends what takes long in the hooks, soon and without a trace:
 * the reference, the files. Where it is not looked at, a test runs into its timeout.
 */
#include "tests/plain.h"

#include <signal.h>

#include "common/interrupt.h"
#include "workloads/myocyte/reference.h"
#include "workloads/myocyte/test_cells.h"

TestSuite(small_myocyte_interrupt, .timeout = 300);

static void control_c(void)
{
	signal(SIGINT, SIG_DFL);
	interrupt_install();
	raise(SIGINT);
}

Test(small_myocyte_interrupt, the_reference_ends)
{
	struct myocyte_model m = { MYOCYTE_PUBLISHED, { 0 } };
	double y[MYOCYTE_STATES], h = MYOCYTE_STEP_FIRST_MS;

	cr_assert(!myocyte_read_initial_state(data_file("initial_state.csv"), y), "states");
	cr_assert(!myocyte_read_parameters(data_file("parameters.csv"), m.p), "parameters");
	cr_assert(0 < myocyte_ref_adaptive(&m, 1e-6, 0, 0.1, &h, y), "as it should be");
	control_c();
	cr_assert(myocyte_ref_adaptive(&m, 1e-6, 0.1, 1e9, &h, y) == -EINTR, "adaptive");
}

static void check_ends(struct myocyte_opts o, int64_t steps)
{
	struct verdict v = { .full = true };
	struct run *r = run_begin(o);

	run_fused(r, 1);
	control_c();
	cr_assert(workload_myocyte.check(&r->o, &r->s, steps, &v) == -EINTR, "check");
	cr_assert(!v.passed, "an interrupted check passed");
	run_end(r);
}

/* After the first cell, whatever their number. */
Test(small_myocyte_interrupt, a_check_of_many_cells_ends)
{
	struct myocyte_opts o = default_opts();

	need_device();
	o.cells = 64;
	check_ends(o, 1);
}

/* More steps than that, of one cell. */
Test(small_myocyte_interrupt, a_check_of_many_steps_ends)
{
	struct myocyte_opts o = default_opts();

	need_device();
	o.solver = MYOCYTE_FIXED;
	check_ends(o, (int64_t)1 << 40);
}

static void report_ends(struct myocyte_opts o)
{
	struct report report = { 0 };
	struct run *r = run_begin(o);

	control_c();
	cr_assert(workload_myocyte.report(&r->o, &r->s, &report) == -EINTR, "report");
	run_end(r);
}

Test(small_myocyte_interrupt, a_trajectory_ends_and_leaves_nothing)
{
	struct myocyte_opts o = default_opts();

	need_device();
	o.span = 1e6;
	o.every = 10;
	o.trajectory = file_here("beats.csv");
	report_ends(o);
	cr_assert(!shell(NULL, "test -z \"$(ls %s)\"", test_folder), "a file is left");
	remove_files();
}

Test(small_myocyte_interrupt, derivatives_end_and_leave_nothing)
{
	struct myocyte_opts o = default_opts();

	need_device();
	o.states = data_file("golden/derivatives.csv");
	o.derivatives = file_here("f.csv");
	report_ends(o);
	cr_assert(!shell(NULL, "test -z \"$(ls %s)\"", test_folder), "a file is left");
	remove_files();
}
