/*
 * test_myocyte_patterns.c - granularity, control and precision: other patterns of launches with
 * the same results, float as good as float can be.
 */
#include "tests/plain.h"
#include "workloads/myocyte/test_cells.h"
#include "workloads/myocyte/test_golden.h"

enum { CELLS = 5, STEPS = 150 };

TestSuite(small_myocyte_patterns, .timeout = 300);

static const enum myocyte_solver solvers[] = { MYOCYTE_ADAPTIVE, MYOCYTE_FIXED,
					       MYOCYTE_AS_RODINIA };

static void read_pattern(enum myocyte_solver solver, enum myocyte_precision precision,
			 enum myocyte_granularity granularity, enum myocyte_control control,
			 struct myocyte_cell cells[CELLS])
{
	struct myocyte_opts o = default_opts();
	struct run *r;

	o.cells = CELLS;
	o.span = 2;
	o.solver = solver;
	o.precision = precision;
	o.granularity = granularity;
	o.control = control;
	o.spread = MYOCYTE_THREAD;
	r = run_begin(o);
	run_steps(r, STEPS);
	run_read(r, CELLS, cells);
	cr_assert(run_check(r, STEPS, true).passed, "solver %d: the check fails", solver);
	run_end(r);
}

static bool same(const struct myocyte_cell a[CELLS], const struct myocyte_cell b[CELLS])
{
	return !memcmp(a, b, CELLS * sizeof(*a));
}

/* Largest difference of a state in units of its size, at equal times. */
static double apart(const struct myocyte_cell a[CELLS], const struct myocyte_cell b[CELLS])
{
	double worst = 0;

	for (int c = 0; c < CELLS; c++) {
		cr_assert(relative(a[c].t, b[c].t) <= 1e-9, "times %.17g and %.17g", a[c].t,
			  b[c].t);
		for (int i = 0; i < MYOCYTE_STATES; i++)
			if (!(relative(a[c].y[i], b[c].y[i]) <= worst))
				worst = relative(a[c].y[i], b[c].y[i]);
	}
	return worst;
}

/* One kernel in both: only who decides differs, and decisions round alike. */
Test(small_myocyte_patterns, host_and_device_decide_alike_to_the_last_bit)
{
	struct myocyte_cell device[CELLS], host[CELLS];

	need_device();
	for (int i = 0; i < 6; i++) {
		enum myocyte_precision precision = i < 3 ? MYOCYTE_DOUBLE : MYOCYTE_FLOAT;

		read_pattern(solvers[i % 3], precision, MYOCYTE_BY_ATTEMPT, MYOCYTE_BY_DEVICE,
			     device);
		read_pattern(solvers[i % 3], precision, MYOCYTE_BY_ATTEMPT, MYOCYTE_BY_HOST, host);
		cr_assert(same(device, host), "solver %d, precision %d: bits differ",
			  solvers[i % 3], precision);
	}
}

/*
 * Fixed steps: another kernel of one source. Where a compiler may contract, kernels may differ in
 * the last bit; adaptive steps would amplify that by choosing other times.
 */
Test(small_myocyte_patterns, attempts_and_stages_agree)
{
	struct myocyte_cell whole[CELLS], stages[CELLS], classic[CELLS];

	need_device();
	read_pattern(MYOCYTE_FIXED, MYOCYTE_DOUBLE, MYOCYTE_BY_ATTEMPT, MYOCYTE_BY_DEVICE, whole);
	read_pattern(MYOCYTE_FIXED, MYOCYTE_DOUBLE, MYOCYTE_BY_STAGE, MYOCYTE_BY_DEVICE, stages);
	read_pattern(MYOCYTE_FIXED, MYOCYTE_DOUBLE, MYOCYTE_BY_STAGE, MYOCYTE_BY_HOST, classic);
	printf("stages %.2g apart, with the host's sums %.2g\n", apart(stages, whole),
	       apart(classic, whole));
	cr_assert(apart(stages, whole) <= 1e-13, "stages: %g", apart(stages, whole));
	cr_assert(apart(classic, whole) <= 1e-12, "classic: %g", apart(classic, whole));
}

/* Where code rounds as written, every pattern gives the same bits. */
Test(small_myocyte_patterns, on_the_cpu_device_all_patterns_give_the_same_bits)
{
	struct myocyte_cell whole[CELLS], other[CELLS];

	need_device();
	if (!rounds_as_written)
		cr_skip("this device contracts: other kernels may differ in the last bit");
	for (int i = 0; i < 6; i++) {
		enum myocyte_precision precision = i < 3 ? MYOCYTE_DOUBLE : MYOCYTE_FLOAT;

		read_pattern(solvers[i % 3], precision, MYOCYTE_BY_ATTEMPT, MYOCYTE_BY_DEVICE,
			     whole);
		read_pattern(solvers[i % 3], precision, MYOCYTE_BY_STAGE, MYOCYTE_BY_DEVICE, other);
		cr_assert(same(whole, other), "solver %d: stages", solvers[i % 3]);
		read_pattern(solvers[i % 3], precision, MYOCYTE_BY_STAGE, MYOCYTE_BY_HOST, other);
		cr_assert(same(whole, other), "solver %d: stages by the host", solvers[i % 3]);
	}
}

/* ---- which modes ----------------------------------------------------------------------- */

static struct limits limits_for(enum myocyte_granularity granularity, enum myocyte_control control)
{
	struct myocyte_opts o = default_opts();
	struct limits l = { 0 };

	o.granularity = granularity;
	o.control = control;
	cr_assert(!workload_myocyte.limits(&o, &l), "limits");
	return l;
}

Test(small_myocyte_patterns, limits_say_which_modes_a_pattern_has)
{
	struct limits stage = limits_for(MYOCYTE_BY_STAGE, MYOCYTE_BY_DEVICE);
	struct limits host = limits_for(MYOCYTE_BY_ATTEMPT, MYOCYTE_BY_HOST);

	cr_assert(!stage.mode_refused[MODE_STREAM] && !stage.mode_refused[MODE_GRAPH] &&
			  stage.mode_refused[MODE_FUSED] && !stage.depth_max,
		  "by stage: stream and graph, any depth");
	cr_assert(!host.mode_refused[MODE_STREAM] && host.mode_refused[MODE_GRAPH] &&
			  host.mode_refused[MODE_FUSED] && host.depth_max == 1 && host.depth_why,
		  "by the host: stream, depth 1");
}

static struct cost cost_for(enum myocyte_granularity granularity, enum myocyte_control control,
			    enum myocyte_precision precision)
{
	struct myocyte_opts o = default_opts();
	struct cost cost = { 0 };
	struct run *r;

	o.granularity = granularity;
	o.control = control;
	o.precision = precision;
	r = run_begin(o);
	cr_assert(!workload_myocyte.cost(&r->o, &r->s, &cost), "cost");
	run_end(r);
	return cost;
}

/* 91 states each way for every launch, a time and an outcome of 16 bytes. */
Test(small_myocyte_patterns, launches_and_copies_are_counted)
{
	struct cost stage, host, attempt;

	need_device();
	stage = cost_for(MYOCYTE_BY_STAGE, MYOCYTE_BY_DEVICE, MYOCYTE_DOUBLE);
	host = cost_for(MYOCYTE_BY_STAGE, MYOCYTE_BY_HOST, MYOCYTE_DOUBLE);
	attempt = cost_for(MYOCYTE_BY_ATTEMPT, MYOCYTE_BY_HOST, MYOCYTE_FLOAT);
	cr_assert(stage.launches == 13 && stage.bytes_transferred == 0, "by stage");
	cr_assert(host.launches == 13 && host.bytes_transferred == 13 * (2 * 728 + 8 + 16),
		  "%g bytes", host.bytes_transferred);
	cr_assert(attempt.launches == 1 && attempt.bytes_transferred == 2 * 364 + 16 + 16,
		  "%g bytes", attempt.bytes_transferred);
}

/* ---- float ----------------------------------------------------------------------------- */

/* States of golden/derivatives.csv from which row on are drawn at random. */
enum { FIRST_RANDOM = 20, RANDOM = 20 };

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The derivatives of the random states, as the device has them in float. */
static struct csv derivatives_in_float(void)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_state s = { 0 };
	struct report report = { 0 };
	struct csv f;

	o.precision = MYOCYTE_FLOAT;
	o.equations = MYOCYTE_RODINIA;
	o.states = data_file("golden/derivatives.csv");
	o.derivatives = file_here("f.csv");
	cr_assert(!workload_myocyte.setup(&o, &s), "setup");
	cr_assert(!workload_myocyte.report(&o, &s, &report), "report");
	workload_myocyte.teardown(&s);
	cr_assert(!csv_read(o.derivatives, &f), "%s", o.derivatives);
	return f;
}

/* Known of float arithmetic: median 6e-8, 99 % below 2e-6, worst 2e-5 where terms cancel. */
Test(small_myocyte_patterns, derivatives_in_float)
{
	enum { COUNT = RANDOM * MYOCYTE_STATES };
	static double off[COUNT];
	struct csv golden, f;
	double want[MYOCYTE_STATES], got[MYOCYTE_STATES];

	need_device();
	golden = golden_open("golden/derivatives.csv");
	f = derivatives_in_float();
	cr_assert(golden.rows == FIRST_RANDOM + RANDOM, "%ld rows", (long)golden.rows);
	for (int r = 0; r < RANDOM; r++) {
		golden_vector(&golden, FIRST_RANDOM + r, "f", want);
		golden_vector(&f, FIRST_RANDOM + r, "f", got);
		for (int i = 0; i < MYOCYTE_STATES; i++)
			off[r * MYOCYTE_STATES + i] = relative(got[i], want[i]);
	}
	qsort(off, COUNT, sizeof(*off), by_size);
	printf("float: median %.2g, 99 %% below %.2g, worst %.2g\n", off[COUNT / 2],
	       off[COUNT * 99 / 100], off[COUNT - 1]);
	cr_assert(off[COUNT / 2] <= 1e-7, "median %g", off[COUNT / 2]);
	cr_assert(off[COUNT * 99 / 100] <= 4e-6, "99 %%: %g", off[COUNT * 99 / 100]);
	cr_assert(off[COUNT - 1] <= 4e-5, "worst %g", off[COUNT - 1]);
	csv_free(&golden);
	csv_free(&f);
	remove_files();
}

static double V_after(double t)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_cell cell;
	struct run *r;

	o.precision = MYOCYTE_FLOAT;
	o.span = t;
	r = run_begin(o);
	do {
		run_fused(r, 256);
		run_read(r, 1, &cell);
	} while (!cell.count[MYOCYTE_SPANS] && !cell.count[MYOCYTE_LOST]);
	run_end(r);
	return cell.end[MYOCYTE_V];
}

/* At the tolerance that float has by default, 1e-4. */
Test(small_myocyte_patterns, a_beat_in_float)
{
	const double times[] = { 10, 100 };
	double want[MYOCYTE_STATES];

	need_device();
	for (int i = 0; i < 2; i++) {
		double V = V_after(times[i]);

		golden_state("golden/reference_published_equations.csv", times[i], want);
		printf("float, t=%g ms: V off by %.2g mV\n", times[i], fabs(V - want[MYOCYTE_V]));
		cr_assert(fabs(V - want[MYOCYTE_V]) <= 2e-3, "t=%g ms: V=%.9g, golden %.9g",
			  times[i], V, want[MYOCYTE_V]);
	}
}

/* A wrong number is seen in float, too. */
Test(small_myocyte_patterns, check_fails_in_float_on_a_wrong_state)
{
	struct myocyte_opts o = default_opts();
	struct run *r;
	float y;

	need_device();
	o.precision = MYOCYTE_FLOAT;
	r = run_begin(o);
	run_fused(r, 64);
	cr_assert(run_check(r, 64, true).passed, "as it should be");
	CUDA(cudaMemcpy(&y, (float *)r->s.cells.y + 30, sizeof(y), cudaMemcpyDeviceToHost));
	y *= 1.01f;
	CUDA(cudaMemcpy((float *)r->s.cells.y + 30, &y, sizeof(y), cudaMemcpyHostToDevice));
	cr_assert(!run_check(r, 64, true).passed, "y30 is off by a hundredth");
	run_end(r);
}
