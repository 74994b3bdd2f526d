/*
 * test_myocyte_rosenbrock.c - solver=rosenbrock as a user has it: the golden beat, the same bits in
 * every mode, an error that follows the tolerance, the check, what is refused.
 */
#include "tests/plain.h"

#include <criterion/redirect.h>

#include "tests/races.h"
#include "workloads/myocyte/test_cells.h"

enum { N = MYOCYTE_STATES, CELLS = 2 };

TestSuite(small_myocyte_rosenbrock, .timeout = 300);
TestSuite(large_myocyte_rosenbrock, .timeout = 400);

static struct myocyte_opts stiff_opts(double tolerance)
{
	struct myocyte_opts o = default_opts();

	o.solver = MYOCYTE_ROSENBROCK;
	o.tolerance = tolerance;
	return o;
}

/* ---- accuracy -------------------------------------------------------------------------- */

/* In mV at t, a row of trajectory=. */
static double V_off(const struct csv *csv, double t)
{
	double want[N];
	int64_t row = 0;

	golden_state("golden/reference_published_equations.csv", t, want);
	while (golden_number(csv, row, "t") != t)
		cr_assert(++row < csv->rows, "no row for t=%g ms", t);
	return fabs(golden_number(csv, row, "y38") - want[MYOCYTE_V]);
}

static void is_the_golden_beat(struct myocyte_opts o, const double *t_ms, int n, double mV)
{
	struct report report = { 0 };
	struct csv csv;
	struct run *r;

	o.trajectory = file_here("trajectory.csv");
	o.every = 10;
	r = run_begin(o);
	cr_assert(!workload_myocyte.report(&r->o, &r->s, &report), "report");
	run_end(r);
	cr_assert(!csv_read(o.trajectory, &csv), "%s", o.trajectory);
	for (int i = 0; i < n; i++) {
		double off = V_off(&csv, t_ms[i]);

		printf("tolerance %g, t=%g ms: V off by %.2g mV\n", o.tolerance, t_ms[i], off);
		cr_assert(off <= mV, "t=%g ms: V is off by %g mV", t_ms[i], off);
	}
	csv_free(&csv);
	remove_files();
}

Test(small_myocyte_rosenbrock, is_the_golden_beat)
{
	const double t_ms = 10;
	struct myocyte_opts o = stiff_opts(1e-4);

	need_device();
	o.span = t_ms;
	if (RACES)
		cr_skip("the threads do the same as in the test of modes");
	is_the_golden_beat(o, &t_ms, 1, 2e-3);
}

Test(large_myocyte_rosenbrock, is_the_golden_beat_to_its_end)
{
	const double t_ms[] = { 10, 100, 200, 1000 };

	need_device();
	is_the_golden_beat(stiff_opts(1e-4), t_ms, 4, 2e-3);
	is_the_golden_beat(stiff_opts(1e-6), t_ms, 4, 1e-4);
}

/* Before the jump of the model, where the tolerance is all there is: relative to a state's first
 * value. */
static double off_at_3_ms(double tolerance)
{
	struct myocyte_model m = golden_model(MYOCYTE_PUBLISHED);
	struct myocyte_opts o = stiff_opts(tolerance);
	double want[N], start[N], h = 1e-4, worst = 0;
	struct myocyte_cell cell = { .t = 0 };
	struct run *r;

	golden_start(want);
	golden_start(start);
	cr_assert(myocyte_ref_adaptive(&m, 1e-11, 0, 3, &h, want) > 0, "reference");
	o.span = 3;
	for (r = run_begin(o); !cell.count[MYOCYTE_SPANS]; run_read(r, 1, &cell))
		run_fused(r, 10);
	run_end(r);
	for (int i = 0; i < N; i++)
		if (start[i])
			worst = fmax(worst, fabs(cell.end[i] - want[i]) / fabs(start[i]));
	return worst;
}

Test(small_myocyte_rosenbrock, error_follows_the_tolerance)
{
	double loose, tight;

	need_device();
	if (RACES)
		cr_skip("the threads do the same as in the test of modes");
	loose = off_at_3_ms(1e-3);
	tight = off_at_3_ms(1e-5);
	printf("error %g at a tolerance of 1e-3, %g at 1e-5\n", loose, tight);
	cr_assert(tight < loose / 10, "error %g at 1e-3, %g at 1e-5", loose, tight);
}

/* ---- steps ----------------------------------------------------------------------------- */

static bool same(const struct myocyte_cell *a, const struct myocyte_cell *b)
{
	return !memcmp(a, b, CELLS * sizeof(*a));
}

/* A span so short that the cells start over. */
Test(small_myocyte_rosenbrock, stream_graph_and_fused_give_the_same_bits)
{
	struct myocyte_cell stream[CELLS], graph[CELLS], fused[CELLS];
	struct myocyte_opts o = stiff_opts(1e-5);
	int64_t n = RACES ? 3 : 16;
	struct run *r;

	need_device();
	o.cells = CELLS;
	o.span = 0.02;
	r = run_begin(o);
	run_steps(r, n);
	run_read(r, CELLS, stream);
	run_reset(r);
	run_graph(r, n);
	run_read(r, CELLS, graph);
	run_reset(r);
	run_fused(r, n);
	run_read(r, CELLS, fused);
	run_end(r);
	cr_assert(same(stream, graph) && same(stream, fused), "modes differ");
	cr_assert(fused[0].y[MYOCYTE_V] != fused[1].y[MYOCYTE_V], "cells differ");
	cr_assert(RACES || fused[1].count[MYOCYTE_SPANS] > 0, "cells start over");
	cr_assert(fused[1].count[MYOCYTE_ACCEPTED] + fused[1].count[MYOCYTE_REJECTED] == n,
		  "attempts");
}

/* A rejected attempt leaves state and Jacobian: the next one from there is as good. */
Test(small_myocyte_rosenbrock, rejected_attempts_are_made_good)
{
	struct myocyte_opts o = stiff_opts(1e-4);
	struct myocyte_cell cell;
	struct verdict v;
	struct run *r;

	need_device();
	if (RACES)
		cr_skip("the threads do the same as in the test of modes");
	o.span = 8;
	r = run_begin(o);
	run_fused(r, 60);
	run_read(r, 1, &cell);
	v = run_check(r, 60, true);
	run_end(r);
	cr_assert(cell.count[MYOCYTE_REJECTED] > 0, "no attempt is rejected");
	cr_assert(v.passed && v.compared == 1, "%g: %s", v.error, v.worst);
}

/* As the check must see: a state that a wrong solver has moved. */
Test(small_myocyte_rosenbrock, check_fails_where_a_state_is_off)
{
	struct myocyte_opts o = stiff_opts(1e-4);
	struct verdict v;
	struct run *r;
	double V;

	need_device();
	o.span = 8;
	r = run_begin(o);
	run_fused(r, 3);
	cr_assert(run_check(r, 3, true).passed, "as it is");
	CUDA(cudaMemcpy(&V, (double *)r->s.cells.y + MYOCYTE_V, sizeof(V), cudaMemcpyDeviceToHost));
	V += 0.01;
	CUDA(cudaMemcpy((double *)r->s.cells.y + MYOCYTE_V, &V, sizeof(V), cudaMemcpyHostToDevice));
	v = run_check(r, 3, true);
	run_end(r);
	cr_assert(!v.passed && strstr(v.worst, "V of cell 0"), "%g: %s", v.error, v.worst);
}

/* ---- refused --------------------------------------------------------------------------- */

static const char *contradict(int i, struct myocyte_opts *o)
{
	switch (i) {
	case 0:
		o->precision = MYOCYTE_FLOAT;
		return "precision=double";
	case 1:
		o->granularity = MYOCYTE_BY_STAGE;
		return "granularity=stage: solver=rosenbrock";
	case 2:
		o->control = MYOCYTE_BY_HOST;
		return "control=host: solver=rosenbrock";
	case 3:
		o->spread = MYOCYTE_THREAD;
		return "spread=thread: solver=rosenbrock ";
	case 4:
		o->spread = MYOCYTE_CELLS_A_BLOCK;
		return "spread=warps: solver=rosenbrock ";
	default:
		return NULL;
	}
}

Test(small_myocyte_rosenbrock, other_patterns_are_refused)
{
	struct limits limits = { 0 };
	struct myocyte_opts o;
	const char *names, *text;
	int n = 0;

	cr_redirect_stderr();
	for (o = stiff_opts(0); contradict(n, &o); o = stiff_opts(0), n++)
		cr_assert(workload_myocyte.limits(&o, &limits) == -EINVAL, "%d is accepted", n);
	text = captured_stderr();
	for (int i = 0; i < n; i++) {
		names = contradict(i, &o);
		cr_assert(strstr(first_line(text, i), names), "%s: %s", names, first_line(text, i));
	}
	o = stiff_opts(0);
	o.spread = MYOCYTE_CELL_A_BLOCK;
	cr_assert(n == 5 && !*first_line(text, n) && !workload_myocyte.limits(&o, &limits),
		  "spread=block is what it has");
}
