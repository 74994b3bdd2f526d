/*
 * test_myocyte_check.c - the workload's check passes on what is right, and on nothing else; what
 * it reports and counts.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/myocyte/test_cells.h"

enum { CA_SR = 30 };

TestSuite(small_myocyte_check, .timeout = 300);
TestSuite(large_myocyte_check, .timeout = 300);

static struct myocyte_opts opts_for(int64_t cells, enum myocyte_solver solver,
				    enum myocyte_equations equations)
{
	struct myocyte_opts o = default_opts();

	o.cells = cells;
	o.solver = solver;
	o.equations = equations;
	return o;
}

static void passes(struct myocyte_opts o, int64_t steps, bool full, int64_t compared)
{
	struct run *r = run_begin(o);
	struct verdict v;

	run_fused(r, steps);
	v = run_check(r, steps, full);
	printf("%s, tolerance=%g, %ld steps: error %.3g of 1, %s\n",
	       o.solver ? "fixed" : "adaptive", o.tolerance, (long)steps, v.error, v.worst);
	cr_assert(v.passed && v.error <= v.tolerance, "%ld steps: error %g, %s", (long)steps,
		  v.error, v.worst);
	cr_assert(v.compared == compared && v.total == o.cells, "%ld of %ld compared",
		  (long)v.compared, (long)v.total);
	run_end(r);
}

Test(small_myocyte_check, passes_at_any_number_of_steps)
{
	const int64_t steps[] = { 0, 1, 2, 64, 290, 310, 330, 600, 1024 };

	need_device();
	for (size_t i = 0; i < (RACES ? 4 : sizeof(steps) / sizeof(*steps)); i++) {
		passes(opts_for(7, MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED), steps[i], true, 7);
		passes(opts_for(3, MYOCYTE_FIXED, MYOCYTE_PUBLISHED), steps[i], true, 3);
	}
	passes(opts_for(3, MYOCYTE_ADAPTIVE, MYOCYTE_RODINIA), RACES ? 64 : 1024, true, 3);
	passes(opts_for(3, MYOCYTE_FIXED, MYOCYTE_RODINIA), RACES ? 64 : 1024, true, 3);
}

Test(small_myocyte_check, passes_at_other_tolerances_and_after_the_span)
{
	const double tolerances[] = { 1e-2, 1e-4, 1e-8, 1e-12 };
	struct myocyte_opts o = opts_for(2, MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED);

	need_device();
	for (size_t i = 0; i < sizeof(tolerances) / sizeof(*tolerances); i++) {
		o.tolerance = tolerances[i];
		passes(o, RACES ? 50 : 500, true, 2);
	}
	o.tolerance = 1e-6;
	o.span = 6;
	passes(o, 500, true, 2);
	o.solver = MYOCYTE_FIXED;
	passes(o, 500, true, 2);
}

Test(small_myocyte_check, samples_where_all_would_take_too_long)
{
	need_device();
	if (!RACES)
		passes(opts_for(40, MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED), 1024, false, 18);
	passes(opts_for(40, MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED), 40, true, 40);
	passes(opts_for(256, MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED), 20, true, 256); /* padded */
}

Test(large_myocyte_check, samples_are_no_more_than_all)
{
	need_device();
	passes(opts_for(1000, MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED), 10, false, 1000);
	passes(opts_for(18, MYOCYTE_FIXED, MYOCYTE_PUBLISHED), 2000, false, 18);
}

/* ---- and fails ------------------------------------------------------------------------- */

/* One number of a cell in device memory, multiplied. */
static void spoil(double *at, double factor)
{
	double v;

	CUDA(cudaMemcpy(&v, at, sizeof(v), cudaMemcpyDeviceToHost));
	v *= factor;
	CUDA(cudaMemcpy(at, &v, sizeof(v), cudaMemcpyHostToDevice));
}

/* State s of the last of 3 cells, off by a factor after so many steps; names says which. */
static void fails(enum myocyte_solver solver, int64_t steps, int s, double factor,
		  const char *names)
{
	struct run *r = run_begin(opts_for(3, solver, MYOCYTE_PUBLISHED));
	struct verdict v;

	run_fused(r, steps);
	spoil((double *)r->s.cells.y + s * 3 + 2, factor);
	v = run_check(r, steps, false);
	cr_assert(!v.passed, "y%d times %.17g passes after %ld steps: error %g", s, factor,
		  (long)steps, v.error);
	cr_assert(strstr(v.worst, names) && strstr(v.worst, "cell 2"), "worst: %s", v.worst);
	run_end(r);
}

Test(small_myocyte_check, fails_on_one_wrong_number)
{
	need_device();
	fails(MYOCYTE_ADAPTIVE, 64, MYOCYTE_V, NAN, "V");
	fails(MYOCYTE_ADAPTIVE, 64, 90, INFINITY, "y90");
	fails(MYOCYTE_ADAPTIVE, 1, MYOCYTE_V, 1 + 1e-7, "V");
	fails(MYOCYTE_ADAPTIVE, 64, CA_SR, 1 + 1e-5, "y30");
	fails(MYOCYTE_ADAPTIVE, 1024, CA_SR, 1 + 4e-3, "y30");
	fails(MYOCYTE_ADAPTIVE, 1024, MYOCYTE_V, 1 + 2e-3, "V");
	fails(MYOCYTE_FIXED, 1024, CA_SR, 1 + 1e-8, "y30");
	fails(MYOCYTE_FIXED, 64, 57, NAN, "y57");
}

Test(small_myocyte_check, fails_at_a_wrong_time_or_number_of_steps)
{
	struct run *r;

	need_device();
	r = run_begin(opts_for(2, MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED));
	run_fused(r, 50);
	cr_assert(run_check(r, 50, false).passed, "as it should be");
	cr_assert(!run_check(r, 51, false).passed, "a step was missed");
	spoil(r->s.cells.t + 1, 1 + 1e-3);
	cr_assert(!run_check(r, 50, false).passed, "t is off by a thousandth");
	run_end(r);
	r = run_begin(opts_for(2, MYOCYTE_FIXED, MYOCYTE_PUBLISHED));
	run_fused(r, 50);
	spoil(r->s.cells.t + 1, 1 + 1e-8);
	cr_assert(!run_check(r, 50, false).passed, "t is off by 1e-8");
	run_end(r);
}

/* The check draws the parameters itself: a cell with another one's must fail. */
Test(small_myocyte_check, fails_with_other_parameters)
{
	struct run *r;

	need_device();
	r = run_begin(opts_for(2, MYOCYTE_FIXED, MYOCYTE_PUBLISHED));
	spoil((double *)r->s.cells.p + 5 * 2 + 1, 1 + 1e-4); /* PP1tot_dy of cell 1 */
	run_fused(r, 300);
	cr_assert(!run_check(r, 300, false).passed, "PP1tot_dy is off by 1e-4");
	run_end(r);
}

/* A step above the limit of stability: the numbers blow up, and the check says so. */
Test(small_myocyte_check, fails_where_fixed_steps_are_unstable)
{
	struct myocyte_opts o = opts_for(1, MYOCYTE_FIXED, MYOCYTE_PUBLISHED);
	struct verdict v;
	struct run *r;

	need_device();
	o.step = 0.03;
	r = run_begin(o);
	run_fused(r, 500);
	v = run_check(r, 500, false);
	cr_assert(!v.passed && strstr(v.worst, "not finite"), "error %g, worst: %s", v.error,
		  v.worst);
	run_end(r);
}

/* An initial state that cannot be integrated: the adaptive solver gives up, it does not hang. */
Test(small_myocyte_check, fails_where_the_solver_cannot_go_on)
{
	const char *bad = file_here("initial.csv");
	struct myocyte_opts o = opts_for(1, MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED);
	struct verdict v;
	struct run *r;

	need_device();
	cr_assert(!shell(NULL, "sed 's/Ca_SR,mM,.*/Ca_SR,mM,-1/' %s >%s",
			 data_file("initial_state.csv"), bad),
		  "%s", bad);
	o.initial = bad;
	r = run_begin(o);
	run_fused(r, 100);
	v = run_check(r, 100, false);
	cr_assert(!v.passed && strstr(v.worst, "stuck"), "error %g, worst: %s", v.error, v.worst);
	run_end(r);
	remove_files();
}

/* ---- report and cost ------------------------------------------------------------------- */

static double read_row(const struct report *report, const char *name)
{
	for (int i = 0; i < report->n; i++)
		if (!strcmp(report->row[i].name, name))
			return report->row[i].value;
	cr_assert(false, "no row '%s'", name);
	return NAN;
}

Test(small_myocyte_check, report_tells_time_and_counts)
{
	struct myocyte_opts o = default_opts();
	struct report report = { 0 };
	struct run *r;

	need_device();
	r = run_begin(o);
	run_fused(r, 64);
	cr_assert(!workload_myocyte.report(&r->o, &r->s, &report), "report");
	cr_assert(read_row(&report, "simulated time") > 0.9 &&
			  read_row(&report, "simulated time") < 1.1,
		  "%g ms after 64 steps", read_row(&report, "simulated time"));
	cr_assert(read_row(&report, "tolerance") == 1e-6, "tolerance");
	cr_assert(read_row(&report, "steps accepted") + read_row(&report, "steps rejected") == 64,
		  "accepted and rejected");
	run_end(r);
}

Test(small_myocyte_check, cost_follows_the_counts)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_state s = { 0 };
	struct cost one, many;

	cr_assert(!workload_myocyte.cost(&o, &s, &one), "cost");
	o.cells = 1000;
	cr_assert(!workload_myocyte.cost(&o, &s, &many), "cost");
	cr_assert(one.launches == 1 && one.evaluations == 13, "a step");
	cr_assert(one.flops == 13 * 2761 + 91 * 144 && one.bytes_moved == 118 * 728, "%g %g",
		  one.flops, one.bytes_moved);
	cr_assert(many.flops == 1000 * one.flops && many.launches == 1, "per cell");
	o.solver = MYOCYTE_FIXED;
	o.cells = 1;
	cr_assert(!workload_myocyte.cost(&o, &s, &one), "cost");
	cr_assert(one.evaluations == 11 && one.flops == 11 * 2761 + 91 * 102 &&
			  one.bytes_moved == 93 * 728,
		  "%g %g", one.flops, one.bytes_moved);
}
