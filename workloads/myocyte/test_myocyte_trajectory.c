/*
 * test_myocyte_trajectory.c - trajectory=: right against the golden beats, and a file that is
 * what was asked for.
 */
#include "tests/plain.h"
#include "workloads/myocyte/test_cells.h"

enum { N = MYOCYTE_STATES, GATE_H = 1 };

TestSuite(small_myocyte_trajectory, .timeout = 300);
TestSuite(large_myocyte_trajectory, .timeout = 400);

static const char *const read_golden[] = { "golden/reference_published_equations.csv",
					   "golden/reference_benchmark_equations.csv" };

/* Runs with trajectory= and returns the table. */
static struct csv traced(struct myocyte_opts o)
{
	struct report report = { 0 };
	struct csv csv;
	struct run *r;

	o.trajectory = file_here("trajectory.csv");
	r = run_begin(o);
	cr_assert(!exists(o.trajectory), "nothing appears before it is whole");
	cr_assert(!workload_myocyte.report(&r->o, &r->s, &report), "report");
	run_end(r);
	cr_assert(!csv_read(o.trajectory, &csv), "%s", o.trajectory);
	cr_assert(csv.columns == 1 + N, "%d columns", csv.columns);
	cr_assert(!exists(file_here("trajectory.csv.part")), ".part is left");
	remove_files();
	return csv;
}

static int64_t row_at(const struct csv *csv, double t)
{
	for (int64_t row = 0; row < csv->rows; row++)
		if (golden_number(csv, row, "t") == t)
			return row;
	cr_assert(false, "%s has no row for t=%g ms", csv->path, t);
	return -1;
}

/* The gate h decays to 1e-300 and counts absolutely; a state of 0 must be 0. */
static double worst_relative(const double *y, const double *want, bool gate)
{
	double worst = 0;

	for (int i = 0; i < N; i++) {
		double e = i == GATE_H ? fabs(y[i] - want[i]) : relative(y[i], want[i]);

		if ((i == GATE_H) == gate && !(e <= worst))
			worst = e;
	}
	return worst;
}

/* What a row must agree to: V in mV, the gate h, all others. */
struct bounds {
	double t, V, gate, others;
};

static void agrees(const struct csv *csv, enum myocyte_equations equations, const struct bounds *b)
{
	double y[N], want[N], V, gate, others;

	golden_vector(csv, row_at(csv, b->t), "y", y);
	golden_state(read_golden[equations], b->t, want);
	V = fabs(y[MYOCYTE_V] - want[MYOCYTE_V]);
	gate = worst_relative(y, want, true);
	others = worst_relative(y, want, false);
	printf("equations %d, t=%g ms: V off by %.2g mV, h by %.2g, others by %.2g relative\n",
	       equations, b->t, V, gate, others);
	cr_assert(V <= b->V, "t=%g ms: V is off by %g mV", b->t, V);
	cr_assert(gate <= b->gate, "t=%g ms: h is off by %g", b->t, gate);
	cr_assert(others <= b->others, "t=%g ms: a state is off by %g", b->t, others);
}

static void agree(struct myocyte_opts o, const struct bounds *b, int n)
{
	struct csv csv = traced(o);

	cr_assert(csv.rows == 1 + (int64_t)(o.span / o.every), "%ld rows", (long)csv.rows);
	for (int i = 0; i < n; i++)
		agrees(&csv, myocyte_equations(&o), &b[i]);
	csv_free(&csv);
}

/* What a run at 1e-6 reaches that does not locate the jump of the model at V = -40 mV. */
static const struct bounds adaptive[] = {
	{ 10, 2e-3, 4e-4, 4e-4 },
	{ 100, 2e-3, 1e-3, 3e-5 },
	{ 1000, 2e-3, 1e-5, 1e-5 },
};

Test(small_myocyte_trajectory, adaptive_is_the_golden_beat)
{
	struct myocyte_opts o = default_opts();

	need_device();
	o.span = 100;
	o.every = 10;
	agree(o, adaptive, 2);
}

Test(small_myocyte_trajectory, benchmark_equations_have_a_beat_of_their_own)
{
	struct myocyte_opts o = default_opts();

	need_device();
	o.equations = MYOCYTE_RODINIA;
	o.span = 10;
	o.every = 10;
	agree(o, adaptive, 1);
}

Test(large_myocyte_trajectory, adaptive_is_the_golden_beat_to_its_end)
{
	struct myocyte_opts o = default_opts();

	need_device();
	o.every = 10;
	agree(o, adaptive, 3);
	o.equations = MYOCYTE_RODINIA;
	agree(o, adaptive, 3);
}

Test(large_myocyte_trajectory, fixed_steps_are_as_good)
{
	const struct bounds fixed[] = { { 10, 8e-4, 4e-4, 4e-4 }, { 1000, 1e-3, 5e-6, 5e-6 } };
	struct myocyte_opts o = default_opts();

	need_device();
	o.solver = MYOCYTE_FIXED;
	o.every = 10;
	o.equations = MYOCYTE_RODINIA;
	agree(o, fixed, 2);
	o.equations = MYOCYTE_PUBLISHED;
	agree(o, fixed, 2);
}

/* ---- the end-of-span record ------------------------------------------------------------ */

Test(small_myocyte_trajectory, end_of_span_record_is_the_state_then)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_cell cell;
	double want[N];
	struct run *r;

	need_device();
	o.span = 10;
	r = run_begin(o);
	run_fused(r, 800); /* 550 make 10 ms */
	run_read(r, 1, &cell);
	golden_state(read_golden[MYOCYTE_PUBLISHED], 10, want);
	cr_assert(cell.count[MYOCYTE_SPANS] == 1 && cell.t < 10, "in the second span");
	cr_assert(fabs(cell.end[MYOCYTE_V] - want[MYOCYTE_V]) <= 2e-3, "V=%g mV",
		  cell.end[MYOCYTE_V]);
	cr_assert(worst_relative(cell.end, want, false) <= 4e-4, "states");
	run_end(r);
}

/* ---- the file -------------------------------------------------------------------------- */

Test(small_myocyte_trajectory, rows_are_at_output_times_and_at_the_end)
{
	const double want[] = { 0, 0.3, 0.6, 3 * 0.3, 1 };
	struct myocyte_opts o = default_opts();
	double y[N], start[N];
	struct csv csv;

	need_device();
	o.span = 1;
	o.every = 0.3;
	csv = traced(o);
	cr_assert(csv.rows == 5, "%ld rows", (long)csv.rows);
	for (int i = 0; i < 5; i++)
		cr_assert(golden_number(&csv, i, "t") == want[i], "row %d: t=%s", i,
			  csv_text(&csv, i, 0));
	golden_start(start);
	golden_vector(&csv, 0, "y", y);
	cr_assert(!memcmp(y, start, sizeof(y)), "the first row is the initial state");
	csv_free(&csv);
}

/* 3 * 0.1 is not 0.3 to the last bit: no second row may come of it. */
Test(small_myocyte_trajectory, output_time_at_the_end_makes_one_row)
{
	struct myocyte_opts o = default_opts();
	struct csv csv;

	need_device();
	o.span = 0.3;
	o.every = 0.1;
	csv = traced(o);
	cr_assert(csv.rows == 4, "%ld rows", (long)csv.rows);
	cr_assert(golden_number(&csv, 3, "t") == 0.3, "ends at %s", csv_text(&csv, 3, 0));
	csv_free(&csv);
}

Test(small_myocyte_trajectory, is_of_the_cell_asked_for)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_cell cells[3];
	struct csv csv;
	struct run *r;
	double y[N];

	need_device();
	o.cells = 3;
	o.jitter = 0.1;
	o.span = 1;
	o.trace = 2;
	csv = traced(o);
	golden_vector(&csv, 1, "y", y);
	r = run_begin(o);
	while (run_fused(r, 1), run_read(r, 3, cells), cells[2].t < 1)
		cr_assert(cells[2].count[MYOCYTE_ACCEPTED] < 1000, "1 ms ends");
	cr_assert(!memcmp(y, cells[2].y, sizeof(y)), "cell 2, to the last bit");
	cr_assert(memcmp(y, cells[1].y, sizeof(y)), "not cell 1");
	run_end(r);
	csv_free(&csv);
}
