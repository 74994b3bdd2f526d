/*
 * test_myocyte_spread.c - spread=block and spread=warps, whose right-hand sides are written apart
 * from that of spread=thread: derivatives, the same bits in every mode, the same course of cells.
 */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/myocyte/test_cells.h"

enum { N = MYOCYTE_STATES, CELLS_MAX = 33 };

TestSuite(small_myocyte_spread, .timeout = 300);

static const enum myocyte_spread spreads[] = { MYOCYTE_CELL_A_BLOCK, MYOCYTE_CELLS_A_BLOCK };

/* Two blocks, the second one with a single cell. */
static int64_t cells_for(enum myocyte_spread spread)
{
	return spread == MYOCYTE_CELLS_A_BLOCK ? 33 : 2;
}

static struct myocyte_opts make_opts(enum myocyte_spread spread)
{
	struct myocyte_opts o = default_opts();

	o.spread = spread;
	o.cells = cells_for(spread);
	return o;
}

/* ---- derivatives ------------------------------------------------------------------------- */

/* Writes o->derivatives, as the harness does. */
static void evaluate(const struct myocyte_opts *o)
{
	struct myocyte_state *s = calloc(1, sizeof(*s));
	struct report report = { 0 };

	CHECK(s, "memory");
	cr_assert(!workload_myocyte.setup(o, s), "setup");
	cr_assert(!workload_myocyte.report(o, s, &report), "report");
	workload_myocyte.teardown(s);
	free(s);
}

/* Their exponentials are others: derivatives that nearly cancel are measured by the state. */
static void agree_with_golden(struct myocyte_opts o)
{
	struct csv golden = golden_open("golden/derivatives.csv"), got;
	double y[N], want[N], f[N];

	o.states = golden.path;
	o.derivatives = file_here("f.csv");
	o.equations = MYOCYTE_RODINIA;
	evaluate(&o);
	cr_assert(!csv_read(o.derivatives, &got), "%s", o.derivatives);
	cr_assert(got.rows == golden.rows && got.columns == N, "%ld rows", (long)got.rows);
	for (int64_t row = 0; row < golden.rows; row++) {
		golden_vector(&golden, row, "y", y);
		golden_vector(&golden, row, "f", want);
		golden_vector(&got, row, "f", f);
		for (int i = 0; i < N; i++)
			cr_assert(fabs(f[i] - want[i]) <= 1e-12 * (fabs(want[i]) + fabs(y[i])),
				  "spread %d, row %ld: f%d=%.17g, golden %.17g", o.spread,
				  (long)row, i, f[i], want[i]);
	}
	csv_free(&golden);
	csv_free(&got);
	remove_files();
}

Test(small_myocyte_spread, derivatives_are_the_benchmarks)
{
	need_device();
	if (RACES)
		cr_skip("the threads do the same as in the test of modes");
	for (int i = 0; i < 2; i++)
		agree_with_golden(make_opts(spreads[i]));
}

enum { POTENTIALS = 9 };

/* A state of the golden ones at -200, -150, .. 200 mV. */
static const char *write_potentials(const double y[N])
{
	const char *path = file_here("s.csv");
	FILE *out = fopen(path, "w");

	cr_assert(out, "%s", path);
	fprintf(out, "t");
	for (int i = 0; i < N; i++)
		fprintf(out, ",y%d", i);
	for (int row = 0; row < POTENTIALS; row++) {
		fprintf(out, "\n0");
		for (int i = 0; i < N; i++)
			fprintf(out, ",%.17g", i == 38 ? 50. * row - 200 : y[i]);
	}
	fprintf(out, "\n");
	fclose(out);
	return path;
}

static struct csv derivatives_by(enum myocyte_spread spread, const char *states, const char *name)
{
	struct myocyte_opts o = default_opts();
	struct csv got;

	o.precision = MYOCYTE_FLOAT;
	o.spread = spread;
	o.states = states;
	o.derivatives = file_here(name);
	evaluate(&o);
	cr_assert(!csv_read(o.derivatives, &got), "%s", name);
	return got;
}

/* Where a trial step may overshoot to. */
Test(small_myocyte_spread, float_block_takes_large_potentials)
{
	struct csv golden = golden_open("golden/derivatives.csv"), thread, block;
	double y[N], want[N], f[N];
	const char *states;

	need_device();
	if (RACES)
		cr_skip("the threads do the same as in the test of modes");
	golden_vector(&golden, 0, "y", y);
	states = write_potentials(y);
	thread = derivatives_by(MYOCYTE_THREAD, states, "thread.csv");
	block = derivatives_by(MYOCYTE_CELL_A_BLOCK, states, "block.csv");
	for (int row = 0; row < POTENTIALS; row++) {
		golden_vector(&thread, row, "f", want);
		golden_vector(&block, row, "f", f);
		for (int i = 0; i < N; i++)
			cr_assert(fabs(f[i] - want[i]) <=
					  1e-4 * (fabs(want[i]) + fabs(y[i]) + 1e-6),
				  "row %d: f%d=%g, %g by a thread", row, i, f[i], want[i]);
	}
	csv_free(&golden);
	csv_free(&thread);
	csv_free(&block);
	remove_files();
}

/* ---- modes ------------------------------------------------------------------------------- */

static bool same(const struct myocyte_cell *a, const struct myocyte_cell *b, int64_t n)
{
	return !memcmp(a, b, (size_t)n * sizeof(*a));
}

/* So many attempts that the cells start over on the way. */
static void modes_agree(struct myocyte_opts o, int64_t n)
{
	static struct myocyte_cell stream[CELLS_MAX], other[CELLS_MAX];
	struct run *r = run_begin(o);

	run_steps(r, n);
	run_read(r, o.cells, stream);
	run_reset(r);
	run_graph(r, n);
	run_read(r, o.cells, other);
	cr_assert(same(stream, other, o.cells), "spread %d: graph", o.spread);
	run_reset(r);
	run_fused(r, n);
	run_read(r, o.cells, other);
	cr_assert(same(stream, other, o.cells), "spread %d: fused", o.spread);
	for (int64_t i = 0; i < o.cells; i++)
		cr_assert(stream[i].count[MYOCYTE_ACCEPTED] + stream[i].count[MYOCYTE_REJECTED] ==
					  n &&
				  stream[i].count[MYOCYTE_SPANS] && !stream[i].count[MYOCYTE_LOST],
			  "spread %d: cell %ld", o.spread, (long)i);
	run_end(r);
}

Test(small_myocyte_spread, stream_graph_and_fused_give_the_same_bits)
{
	need_device();
	for (int i = 0; i < 2; i++) {
		struct myocyte_opts o = make_opts(spreads[i]);

		o.span = 0.01;
		if (!RACES)
			modes_agree(o, 12);
		o.solver = MYOCYTE_FIXED;
		o.step = 0.006;
		o.precision = MYOCYTE_FLOAT;
		modes_agree(o, 3);
	}
}

/* ---- the course of the cells -------------------------------------------------------------- */

static void read_after(struct myocyte_opts o, int64_t n, struct myocyte_cell *cells)
{
	struct run *r = run_begin(o);

	run_fused(r, n);
	run_read(r, o.cells, cells);
	run_end(r);
}

static void states_agree(const double *a, const double *b, const char *what, int64_t cell)
{
	for (int i = 0; i < N; i++)
		cr_assert(fabs(a[i] - b[i]) <= 1e-9 * fabs(b[i]) + 1e-15,
			  "%s of cell %ld: y%d=%.17g, %.17g", what, (long)cell, i, a[i], b[i]);
}

/* Steps of one length differ by rounding only: past the end of a span, with other parameters. */
static void agrees_with_thread(struct myocyte_opts o, int64_t n)
{
	static struct myocyte_cell cells[CELLS_MAX], want[CELLS_MAX];

	read_after(o, n, cells);
	o.spread = MYOCYTE_THREAD;
	read_after(o, n, want);
	for (int64_t i = 0; i < o.cells; i++) {
		cr_assert(cells[i].t == want[i].t && cells[i].taken == want[i].taken &&
				  !memcmp(cells[i].count, want[i].count, sizeof(want[i].count)),
			  "cell %ld at t=%.17g ms, %.17g", (long)i, cells[i].t, want[i].t);
		states_agree(cells[i].y, want[i].y, "state", i);
		states_agree(cells[i].end, want[i].end, "end", i);
	}
}

/* Another K_i than in initial_state.csv: it is a state that never changes. */
static const char *start_with_other_K(void)
{
	const char *out = file_here("initial.csv");

	cr_assert(!shell(NULL, "sed 's/\\(K_i,[^0-9]*\\)1.35[0-9e+]*/\\11.2e2/' %s >%s",
			 data_file("initial_state.csv"), out),
		  "%s", out);
	cr_assert(shell(NULL, "cmp -s %s %s", data_file("initial_state.csv"), out), "K_i changed");
	return out;
}

Test(small_myocyte_spread, fixed_steps_are_those_of_a_thread)
{
	need_device();
	if (RACES)
		cr_skip("the threads do the same as in the test of modes");
	for (int i = 0; i < 2; i++) {
		struct myocyte_opts o = make_opts(spreads[i]);

		o.solver = MYOCYTE_FIXED;
		o.span = 0.3;
		o.jitter = 0.3;
		agrees_with_thread(o, 24);
		o.cells = 2;
		o.equations = MYOCYTE_RODINIA;
		o.initial = start_with_other_K();
		agrees_with_thread(o, 24);
		remove_files();
	}
}

Test(small_myocyte_spread, adaptive_steps_pass_the_check)
{
	need_device();
	if (RACES)
		cr_skip("the threads do the same as in the test of modes");
	for (int i = 0; i < 4; i++) {
		struct myocyte_opts o = make_opts(spreads[i % 2]);
		struct run *r;

		o.cells = 1;
		o.precision = i < 2 ? MYOCYTE_DOUBLE : MYOCYTE_FLOAT;
		r = run_begin(o);
		run_fused(r, 30);
		cr_assert(run_check(r, 30, true).passed, "spread %d, precision %d", o.spread,
			  o.precision);
		run_end(r);
	}
}

/* ---- trajectories ------------------------------------------------------------------------- */

static struct csv trajectory(struct myocyte_opts o, const char *name)
{
	struct csv csv;

	o.cells = 2;
	o.trace = 1;
	o.solver = MYOCYTE_FIXED;
	o.span = 0.1;
	o.every = 0.03;
	o.trajectory = file_here(name);
	evaluate(&o);
	cr_assert(!csv_read(o.trajectory, &csv), "%s", name);
	return csv;
}

Test(small_myocyte_spread, trajectories_are_those_of_a_thread)
{
	struct csv want, got;
	double a[N], b[N];

	need_device();
	if (RACES)
		cr_skip("the threads do the same as in the test of modes");
	want = trajectory(make_opts(MYOCYTE_THREAD), "thread.csv");
	cr_assert(want.rows == 5, "%ld rows", (long)want.rows);
	for (int i = 0; i < 2; i++) {
		got = trajectory(make_opts(spreads[i]), i ? "got-1.csv" : "got-0.csv");
		cr_assert(got.rows == want.rows, "%ld rows", (long)got.rows);
		for (int64_t row = 0; row < want.rows; row++) {
			cr_assert(golden_number(&got, row, "t") == golden_number(&want, row, "t"),
				  "time of row %ld", (long)row);
			golden_vector(&got, row, "y", a);
			golden_vector(&want, row, "y", b);
			states_agree(a, b, "row", row);
		}
		csv_free(&got);
	}
	csv_free(&want);
	remove_files();
}
