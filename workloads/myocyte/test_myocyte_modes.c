/*
 * test_myocyte_modes.c - steps of the myocyte workload: the same bits in every mode and at every
 * depth, cells that differ as they should, edges, starting over.
 */
#include "tests/plain.h"
#include "workloads/myocyte/test_cells.h"

enum { CELLS = 5, DEPTHS = 4 };

static const int64_t depths[DEPTHS] = { 1, 7, 64, 100 };

TestSuite(small_myocyte_modes, .timeout = 300);

static bool same(const struct myocyte_cell *a, const struct myocyte_cell *b, int n)
{
	return !memcmp(a, b, (size_t)n * sizeof(*a));
}

/* n steps from the start in each mode: state, t, h, counts, all of it. */
static void modes_agree(struct run *r, int64_t n)
{
	struct myocyte_cell stream[CELLS], graph[CELLS], fused[CELLS];

	run_reset(r);
	run_steps(r, n);
	run_read(r, CELLS, stream);
	run_reset(r);
	run_graph(r, n);
	run_read(r, CELLS, graph);
	run_reset(r);
	run_fused(r, n);
	run_read(r, CELLS, fused);
	cr_assert(same(stream, graph, CELLS), "depth=%ld: graph differs from stream", (long)n);
	cr_assert(same(stream, fused, CELLS), "depth=%ld: fused differs from stream", (long)n);
	cr_assert(stream[0].count[MYOCYTE_ACCEPTED] + stream[0].count[MYOCYTE_REJECTED] == n,
		  "depth=%ld: attempts", (long)n);
}

/* A span of 1 ms, so that the deeper ones start over on the way. */
static void modes_agree_for(enum myocyte_solver solver, enum myocyte_equations equations)
{
	struct myocyte_opts o = default_opts();
	struct run *r;

	o.cells = CELLS;
	o.solver = solver;
	o.equations = equations;
	o.span = 1;
	r = run_begin(o);
	for (int i = 0; i < DEPTHS; i++)
		modes_agree(r, depths[i]);
	run_end(r);
}

Test(small_myocyte_modes, stream_graph_and_fused_give_the_same_bits)
{
	need_device();
	modes_agree_for(MYOCYTE_ADAPTIVE, MYOCYTE_PUBLISHED);
	modes_agree_for(MYOCYTE_ADAPTIVE, MYOCYTE_RODINIA);
	modes_agree_for(MYOCYTE_FIXED, MYOCYTE_PUBLISHED);
}

/* A span of 1 ms, so that cells start over on the way. */
Test(small_myocyte_modes, launches_that_overlap_give_the_same_bits)
{
	const int64_t attempts = 100;
	struct myocyte_opts o = default_opts();
	struct myocyte_cell cells[3][CELLS];

	need_device();
	if (programmatic_check(PROGRAMMATIC_YES))
		cr_skip("launches overlap from compute capability 9.0 on");
	o.cells = CELLS;
	o.spread = MYOCYTE_CELL_A_BLOCK;
	o.span = 1;
	for (int i = 0; i < 3; i++) {
		o.launch = i ? PROGRAMMATIC_YES : PROGRAMMATIC_NO;
		struct run *r = run_begin(o);

		run_reset(r);
		(i == 2 ? run_graph : run_steps)(r, attempts);
		run_read(r, CELLS, cells[i]);
		run_end(r);
		cr_assert(same(cells[0], cells[i], CELLS), "case %d", i);
	}
	cr_assert(cells[0][0].count[MYOCYTE_SPANS] >= 1, "no cell started over");
}

Test(small_myocyte_modes, two_runs_give_the_same_bits)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_cell first[CELLS], second[CELLS];
	struct run *r;

	need_device();
	o.cells = CELLS;
	for (int i = 0; i < 2; i++) {
		r = run_begin(o);
		run_fused(r, 300);
		run_read(r, CELLS, i ? second : first);
		run_end(r);
	}
	cr_assert(same(first, second, CELLS), "two runs of 300 steps differ");
}

/* ---- jitter ---------------------------------------------------------------------------- */

static void read_after(struct myocyte_opts o, int64_t n, struct myocyte_cell cells[CELLS])
{
	struct run *r;

	o.cells = CELLS;
	r = run_begin(o);
	run_fused(r, n);
	run_read(r, CELLS, cells);
	run_end(r);
}

Test(small_myocyte_modes, without_jitter_cells_are_alike)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_cell cells[CELLS];

	need_device();
	o.jitter = 0;
	read_after(o, 200, cells);
	for (int i = 1; i < CELLS; i++)
		cr_assert(same(&cells[0], &cells[i], 1), "cell %d differs from cell 0", i);
}

Test(small_myocyte_modes, jitter_raises_every_parameter_of_every_cell_but_the_first)
{
	struct myocyte_model m = golden_model(MYOCYTE_PUBLISHED);
	struct myocyte_opts o = default_opts();
	struct myocyte_cell cells[CELLS];

	need_device();
	o.jitter = 0.5;
	read_after(o, 200, cells);
	cr_assert(!memcmp(cells[0].p, m.p, sizeof(m.p)), "cell 0 has the nominal parameters");
	for (int c = 1; c < CELLS; c++) {
		cr_assert(cells[c].p[0] == m.p[0], "cell %d: the cycle length is for all", c);
		for (int i = 1; i < MYOCYTE_PARAMS; i++) {
			double low = m.p[i], high = 1.5 * m.p[i], p = cells[c].p[i];

			cr_assert(low ? p > low && p < high : !p, "cell %d: p%d=%g, %g nominal", c,
				  i, p, low);
		}
		cr_assert(cells[c].y[MYOCYTE_V] != cells[c - 1].y[MYOCYTE_V],
			  "cells %d and %d have the same V", c - 1, c);
	}
}

Test(small_myocyte_modes, seed_decides_the_jitter)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_cell one[CELLS], again[CELLS], two[CELLS];

	need_device();
	read_after(o, 1, one);
	read_after(o, 1, again);
	o.seed = 2;
	read_after(o, 1, two);
	cr_assert(same(one, again, CELLS), "one seed, two results");
	cr_assert(same(one, two, 1), "cell 0 does not depend on the seed");
	for (int c = 1; c < CELLS; c++)
		for (int i = 3; i < MYOCYTE_PARAMS; i++)
			cr_assert(one[c].p[i] != two[c].p[i], "cell %d: p%d", c, i);
}

/* ---- time ------------------------------------------------------------------------------ */

/* parameters.csv with another cycle length. */
static const char *parameters_with_cycle(const char *ms)
{
	const char *out = file_here("parameters.csv");

	cr_assert(!shell(NULL, "sed 's/T_cycle,ms,.*/T_cycle,ms,%s/' %s >%s", ms,
			 data_file("parameters.csv"), out),
		  "%s", out);
	return out;
}

/* Was t a time between two steps, in a run to `span` with cycles of 7 ms? */
static void lands_on(struct myocyte_opts o, const double *times, int n)
{
	struct myocyte_cell cell = { .t = 0 };
	bool seen[8] = { false };
	struct run *r;

	o.parameters = parameters_with_cycle("7");
	r = run_begin(o);
	while (!cell.count[MYOCYTE_SPANS]) {
		run_steps(r, 1);
		run_read(r, 1, &cell);
		for (int i = 0; i < n; i++)
			seen[i] = seen[i] || cell.t == times[i];
		cr_assert(cell.count[MYOCYTE_ACCEPTED] < 2000, "the span ends");
	}
	for (int i = 0; i < n; i++)
		cr_assert(seen[i], "no step ends at t=%g ms exactly", times[i]);
	cr_assert(cell.t == o.span, "the last step ends at %g", cell.t);
	run_end(r);
	remove_files();
}

Test(small_myocyte_modes, steps_end_on_stimulus_edges_and_at_the_span)
{
	const double times[] = { 5, 7, 12, 14, 14.3 };
	struct myocyte_opts o = default_opts();

	need_device();
	o.span = 14.3;
	lands_on(o, times, 5);
	o.solver = MYOCYTE_FIXED;
	o.step = 0.013;
	lands_on(o, times, 5);
}

/* A step that lands on an edge is short; the one behind it is not. */
Test(small_myocyte_modes, landing_does_not_shrink_the_step_that_follows)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_cell cell = { .t = 0 };
	double before = 0;
	struct run *r;

	need_device();
	r = run_begin(o);
	while (cell.t < 5) {
		before = cell.h;
		run_steps(r, 1);
		run_read(r, 1, &cell);
	}
	cr_assert(cell.t == 5, "lands on 5 ms, not %.17g", cell.t);
	cr_assert(cell.h >= before, "h %g before, %g after", before, cell.h);
	run_end(r);
}

static int64_t steps_to_end(struct run *r, struct myocyte_cell *cell)
{
	int64_t n = 0;

	do {
		run_steps(r, 1);
		run_read(r, 1, cell);
		n++;
	} while (!cell->count[MYOCYTE_SPANS] && n < 1000);
	return n;
}

static void starts_over(enum myocyte_solver solver)
{
	struct myocyte_opts o = default_opts();
	struct myocyte_cell first, end, again;
	struct run *r;

	o.solver = solver;
	o.span = 0.7;
	r = run_begin(o);
	run_steps(r, 1);
	run_read(r, 1, &first);
	steps_to_end(r, &end);
	cr_assert(end.t == o.span && end.count[MYOCYTE_SPANS] == 1, "t=%g at the end", end.t);
	cr_assert(!memcmp(end.end, end.y, sizeof(end.y)), "end-of-span record");
	run_steps(r, 1);
	run_read(r, 1, &again);
	cr_assert(again.t == first.t && again.h == first.h, "t=%g h=%g", again.t, again.h);
	cr_assert(!memcmp(again.y, first.y, sizeof(first.y)), "state after starting over");
	cr_assert(!memcmp(again.end, end.end, sizeof(end.end)), "the record stays");
	run_fused(r, 500);
	run_read(r, 1, &again);
	cr_assert(!memcmp(again.end, end.end, sizeof(end.end)), "every span ends alike");
	cr_assert(again.count[MYOCYTE_SPANS] > 5, "%ld spans", (long)again.count[MYOCYTE_SPANS]);
	run_end(r);
}

Test(small_myocyte_modes, starts_over_in_the_step_after_the_span)
{
	need_device();
	starts_over(MYOCYTE_ADAPTIVE);
	starts_over(MYOCYTE_FIXED);
}

/* ---- invariants ------------------------------------------------------------------------ */

Test(small_myocyte_modes, slots_and_empty_buffer_states_never_change)
{
	/* CaM_ecc, K_i, spare40, spare41, then CaMB, Ca2CaMB and Ca4CaMB of the dyad */
	const int constant[] = { 21, 34, 40, 41, 49, 50, 51 };
	struct myocyte_opts o = default_opts();
	struct myocyte_cell cells[CELLS];
	double start[MYOCYTE_STATES];

	need_device();
	golden_start(start);
	read_after(o, 600, cells);
	for (int c = 0; c < CELLS; c++)
		for (size_t i = 0; i < sizeof(constant) / sizeof(*constant); i++) {
			int s = constant[i];

			cr_assert(cells[c].y[s] == start[s], "cell %d: y%d=%g", c, s,
				  cells[c].y[s]);
		}
	cr_assert(cells[0].y[MYOCYTE_V] > 0, "600 steps: past the upstroke");
}
