/*
 * test_sweep_results.c - harness/session/results.h: what hand-made sessions say of
 * their two sides, of their processes, and how noisy they are.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/stats/decide.h"
#include "harness/cmd/sweep_text.h"
#include "harness/measure/estimate.h"
#include "harness/base/json.h"
#include "harness/record/point_record.h"
#include "harness/session/company.h"
#include "harness/session/results.h"
#include "tests/four_points.h"
#include "tests/figures.h"
#include "tests/golden.h"

TestSuite(small_sweep_results, .timeout = 300);

/* ---- two sides -------------------------------------------------------------------------- */

static char text[8192];

static const char *printed(const struct journal *j, void (*print)(const struct results *, FILE *))
{
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct results r;

	results_init(&r, j, journal_processes(j));
	print(&r, f);
	results_release(&r);
	fclose(f);
	golden_said(text);
	return text;
}

/* A point that is slower on b, one that is faster, one that is equal, one that a process lacks. */
static struct journal two_sides(void)
{
	struct journal j = session_of(2, 5, true);

	for (int i = 0; i < POINTS; i++) {
		scale_times(&j, 0, i, 1, 0.001);
		scale_times(&j, 1, i, i == 0 ? 1.1 : i == 1 ? 0.8 : 1, 0.001);
	}
	j.status[2 * POINTS + 3] = POINT_FAILED;
	return j;
}

/* The end of the line of a point. */
static const char *row(enum ratio_verdict v, int depth)
{
	static char end[80];

	snprintf(end, sizeof(end), "%s  fake cells=1 stream depth %d\n", verdict_names[v], depth);
	return end;
}

Test(small_sweep_results, the_points_that_differ_the_worst_first)
{
	struct journal j = two_sides();
	const char *said = printed(&j, sides_print), *faster, *slower;

	faster = strstr(said, row(VERDICT_FASTER, 4));
	slower = strstr(said, row(VERDICT_SLOWER, 1));
	cr_assert(ne(ptr, (void *)faster, NULL), "%s", said);
	cr_assert(ne(ptr, (void *)slower, NULL), "%s", said);
	cr_assert(lt(ptr, (void *)faster, (void *)slower), "0.8 is further off than 1.1: %s", said);
	cr_assert(ne(ptr, strstr(said, "\n  0.8000  0."), NULL), "%s", said);
	cr_assert(ne(ptr, strstr(said, "\n  1.1000  1."), NULL), "%s", said);
	cr_assert(eq(ptr, strstr(said, "cells=2"), NULL), "equal and open ones: %s", said);
	cr_assert(tells(said, "\n4 points: 1 *, 1 *, 1 *, 1 *; * 2 %\n"), "%s", said);
	journal_release(&j);
}

Test(small_sweep_results, few_processes_decide_nothing)
{
	struct journal j = session_of(2, 2, true);
	const char *said;

	scale_times(&j, 1, 0, 2, 0);
	said = printed(&j, sides_print);
	cr_assert(tells(said, " n = 2 processes each, *: too few for intervals"), "%s", said);
	cr_assert(tells(said, "\n4 points: 0 *, 0 *, 0 *, 4 *;"), "%s", said);
	journal_release(&j);
}

Test(small_sweep_results, ratios_as_csv)
{
	struct journal j = two_sides();
	const char *said = printed(&j, sides_csv);
	char open[96];

	cr_assert(
		zero(int, strncmp(said,
				  "workload,mode,depth,cells,processes,a_step_ns,b_step_ns,ratio,"
				  "ratio_lo,ratio_hi,verdict,verdict_alone,key\n"
				  "fake,stream,1,1,5,1000.0,1100.0,1.1,",
				  strlen("workload,mode,depth,cells,processes,a_step_ns,"
					 "b_step_ns,ratio,ratio_lo,ratio_hi,verdict,verdict_alone,"
					 "key\n"
					 "fake,stream,1,1,5,1000.0,1100.0,1.1,"))),
		"%s", said);
	/* what is not known is empty */
	snprintf(open, sizeof(open), "fake,stream,4,2,4,1000.0,1000.0,,,,%s,%s,",
		 verdict_names[VERDICT_INCONCLUSIVE], verdict_names[VERDICT_INCONCLUSIVE]);
	cr_assert(ne(ptr, strstr(said, open), NULL), "%s", said);
	journal_release(&j);
}

/* ---- two kinds of processes ------------------------------------------------------------- */

Test(small_sweep_results, points_of_two_kinds_of_processes_are_said)
{
	struct journal j = session_of(1, 5, true);
	const char *said;

	for (int i = 0; i < POINTS; i++)
		scale_times(&j, 0, i, 1, 0.001);
	said = printed(&j, bimodal_print);
	cr_assert(eq(str, (char *)said, ""), "evenly spread: %s", said);
	/* of five 998 to 1002 ns, two take 1.3 times that */
	j.total_ns[3 * POINTS + 2] *= 1.3;
	j.total_ns[4 * POINTS + 2] *= 1.3;
	said = printed(&j, bimodal_print);
	cr_assert(tells(said, " 1 of 4 points; *:\n"
			      "  fake cells=2 stream depth 1: 3 * 999 ns, 2 * 1.30 us\n"),
		  "%s", said);
	journal_release(&j);
}

static int count_of(const char *what)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* Two of five processes take `factor` times as long at a point. */
static void split(struct journal *j, int side, int point, double factor)
{
	for (int i = 3; i < 5; i++)
		j->total_ns[(side * 5 + i) * POINTS + point] *= factor;
}

static void print_all(const struct results *r, FILE *out)
{
	results_print(r->j, out);
}

/* Only the first three, among all that a session says. */
Test(small_sweep_results, points_of_two_kinds_the_furthest_apart_first)
{
	static const char want[] =
		" 4 of 8 points; *:\n"
		"  fake cells=1 stream depth 1, side b: 3 * 999 ns, 2 * 1.40 us\n"
		"  fake cells=2 stream depth 4, side b: 3 * 999 ns, 2 * 1.30 us\n"
		"  fake cells=1 stream depth 4, side a: 3 * 999 ns, 2 * 1.20 us\n\n";
	struct journal j = session_of(2, 5, true);
	const char *said;

	for (int i = 0; i < 2 * POINTS; i++)
		scale_times(&j, i / POINTS, i % POINTS, 1, 0.001);
	split(&j, 0, 0, 1.1);
	split(&j, 1, 0, 1.4);
	split(&j, 0, 1, 1.2);
	split(&j, 1, 3, 1.3);
	said = printed(&j, print_all);
	cr_assert(tells(said, want), "%s", said);
	cr_assert(eq(int, count_of(" processes at "), 3), "%s", said);
	journal_release(&j);
}

/* ---- how good they are ------------------------------------------------------------------ */

static const char *quality(const struct journal *j)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	quality_print(j, f);
	fclose(f);
	golden_said(text);
	return text;
}

/* Of each side: what is set up makes a launch and a wait longer. */
Test(small_sweep_results, what_is_held_is_said)
{
	static const char *const sides[] = { "side a: ", "side b: " };
	struct journal j = session_of(2, 5, true);

	for (int side = 0; side < 2; side++) {
		j.held[side] = (struct held){ .before_ns = 10e3, .set_up_ns = 200e3 };
		snprintf(j.held[side].key, sizeof(j.held[side].key), "%s",
			 j.plan.point[3 * side].key);
		cr_expect(tells(quality(&j), sides[side]), "%s", text);
		cr_expect(tells(text, "a launch and a synchronize take 200 us"), "%s", text);
		j.held[side].set_up_ns = 60e3;
		cr_expect(not(tells(quality(&j), "a launch and a synchronize take")), "%s", text);
	}
	journal_release(&j);
}

Test(small_sweep_results, noisy_results_and_drift_are_said)
{
	struct journal j = session_of(1, 5, true);
	json_t *noisy = json_loads("{\"status\":\"ok\",\"summary\":{\"noisy\":true,"
				   "\"t_total_ns\":{\"median\":1000}}}",
				   0, NULL);
	static const struct {
		double drift;
		const char *says;
	} rows[] = { { 0.004, "1 4" }, { -0.034, "1 4 -3.4 %" }, { 0.012, "1 4 -3.4 %" } };

	scale_times(&j, 0, 2, 1, 0.05);
	journal_apply_point(&j, 0, 1, noisy); /* one of five */
	for (int i = 0; i < 4; i++)
		journal_apply_point(&j, i, 2, noisy);
	j.total_ns[0 * POINTS + 2] = 1100;
	j.total_ns[1 * POINTS + 2] = 1200;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *trailer = json_pack("{s:f}", "canary_drift", rows[i].drift);

		journal_apply_trailer(&j, (int)i, trailer);
		cr_assert(eq(str, (char *)figures_of(quality(&j)), (char *)rows[i].says), "%zu: %s",
			  i, text);
		json_decref(trailer);
	}
	json_decref(noisy);
	journal_release(&j);
}

/* ---- tables ----------------------------------------------------------------------------- */

static struct journal session_with(const char *size, const char *depth, char **args, int n)
{
	struct plan_request r = { .workload = fakes,
				  .size = size,
				  .depth = depth,
				  .mode = "stream",
				  .assignment = args,
				  .n_assignments = n,
				  .design = design_of(true) };
	struct journal j = { .sides = 1 };

	cr_assert(zero(int, plan_make(&j.plan, &r)), "plan");
	j.part.fd = j.visits.fd = -1;
	journal_allocate(&j);
	for (int i = 0; i < j.replicates; i++)
		j.complete[i] = true;
	for (int i = 0; i < j.replicates * j.plan.n_points; i++) {
		j.status[i] = POINT_OK;
		j.total_ns[i] = 1000.0 * (double)j.plan.point[i % j.plan.n_points].depth;
	}
	return j;
}

/* One for each set of the other parameters, which its title names where they are not as usual. */
Test(small_sweep_results, a_table_for_each_set_of_parameters)
{
	char *args[] = { "solver=rkf78,rk4", "launches=3" };
	struct journal j = session_with("1,2,4", "1,4,16,64", args, 2);

	printed(&j, print_all);
	cr_assert(eq(int, count_of(" cells (down)"), 2), "%s", text);
	cr_assert(eq(int, count_of("\nfake launches=3, stream mode"), 1), "%s", text);
	cr_assert(eq(int,
		     count_of("\nfake solver=rk4 launches=3, stream mode") +
			     count_of("\nfake launches=3 solver=rk4, stream mode"),
		     1),
		  "%s", text);
	/* depths across, sizes down: each cell of each table */
	cr_assert(eq(int, count_of("1.00 us ±"), 2 * 3 * 4), "%s", text);
	cr_assert(
		ne(ptr,
		   strstr(text,
			  "                1                4               16               64\n"),
		   NULL),
		"%s", text);
	cr_assert(eq(int,
		     count_of("\n       1 ") + count_of("\n       2 ") + count_of("\n       4 "),
		     6),
		  "%s", text);
	cr_assert(zero(int, count_of("single points")), "%s", text);
	journal_release(&j);
}

/* A table of one cell is a line of a list. */
Test(small_sweep_results, points_alone_are_listed)
{
	char *args[] = { "solver=rkf78,rk4,euler" };
	struct journal j = session_with("1", "4", args, 1);

	printed(&j, print_all);
	cr_assert(zero(int, count_of(" (down)")), "%s", text);
	cr_assert(eq(int, count_of("single points\n"), 1), "%s", text);
	cr_assert(eq(int, count_of("  fake cells=1 stream depth 4\n"), 1), "%s", text);
	cr_assert(eq(int, count_of("  fake cells=1 solver=rk4 stream depth 4\n"), 1), "%s", text);
	journal_release(&j);
}

/* Beyond 100 % no figure says how little is known. */
Test(small_sweep_results, a_cell_that_is_not_known)
{
	char *args[] = { "solver=rkf78,rk4" };
	struct journal j = session_with("1", "4", args, 1);

	j.total_ns[4 * j.plan.n_points] *= 1170;
	printed(&j, print_all);
	cr_assert(eq(int, count_of("1.00 us ±>100%*  fake cells=1 stream depth 4\n"), 1), "%s",
		  text);
	cr_assert(eq(int, count_of("1.00 us ±0.0%  fake cells=1 solver=rk4 stream depth 4\n"), 1),
		  "%s", text);
	journal_release(&j);
}

/* ---- some of its processes -------------------------------------------------------------- */

/* Every row of those that are taken, in the order that is asked for, and of no other. */
Test(small_sweep_results, a_view_has_the_rows_of_its_processes)
{
	static const int process[] = { 4, 0, 2 };
	struct journal j = session_of(2, 5, false), view;
	int n = j.plan.design.processes;

	j.plan.design.sequential = true;
	j.header[1] = json_object();
	strcpy(j.session_id, "a session");
	for (int i = 0; i < j.replicates; i++) {
		j.complete[i] = i % 3 == 0;
		j.attempts[i] = 100 + i;
		j.canary_ns[i] = 200 + i;
		for (int k = 0; k < POINTS; k++) {
			int at = i * POINTS + k;

			j.status[at] = at % 2 ? POINT_OK : POINT_FAILED;
			j.total_ns[at] = 1000 + at;
			j.enq_ns[at] = 3000 + at;
			j.noisy[at] = at % 3 == 0;
			j.failures[at] = at % 5;
		}
	}
	for (int side = 0; side < 2; side++) {
		journal_view(&view, &j, side, process, 3);
		cr_assert(view.sides == 1 && view.replicates == 3, "%d", view.replicates);
		cr_assert(eq(int, view.plan.design.processes, 3), "processes");
		cr_assert(not(view.plan.design.sequential), "that many are all");
		cr_assert(eq(ptr, view.header[0], j.header[side]), "header");
		cr_assert(eq(str, view.session_id, "a session"), "%s", view.session_id);
		cr_assert(view.part.fd == -1 && view.visits.fd == -1, "no files");
		for (int i = 0; i < 3; i++) {
			int of = side * n + process[i];

			cr_assert(eq(int, view.complete[i], j.complete[of]), "%d", i);
			cr_assert(eq(int, (int)view.attempts[i], 100 + of), "%d", i);
			cr_assert(eq(dbl, (double)view.canary_ns[i], 200 + of), "%d", i);
			for (int k = 0; k < POINTS; k++) {
				int at = i * POINTS + k, from = of * POINTS + k;

				cr_assert(eq(int, view.status[at], j.status[from]), "%d", at);
				cr_assert(eq(dbl, view.total_ns[at], 1000 + from), "%d", at);
				cr_assert(eq(dbl, view.enq_ns[at], 3000 + from), "%d", at);
				cr_assert(eq(int, view.noisy[at], j.noisy[from]), "%d", at);
				cr_assert(eq(int, view.failures[at], from % 5), "%d", at);
			}
		}
		journal_view_release(&view);
	}
	journal_release(&j);
}

/* ---- what else is printed ------------------------------------------------------------------ */

static FILE *begin_text(void)
{
	*text = '\0';
	return fmemopen(text, sizeof(text), "w");
}

static void end_text(FILE *f)
{
	fclose(f);
	golden_said(text);
}

/* Each line by itself, then all of them. */
Test(small_sweep_results, what_is_left_out_is_said)
{
	static const struct omitted rows[] = {
		{ 0 },
		{ .launches = 3, .launch_max_ns = 250e6 },
		{ .too_long = 1 },
		{ .apart = 2 },
		{ .corners = 7 },
		{ .processes = 4 },
		{ .takes_ns = 75e9 },
		{ .load = 3.25 }, /* no time is short */
		{ 3, 1, 7, 2, 250e6, 0, 4, 75e9 },
	};
	struct plan p = four_points(fakes, true);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		FILE *f = begin_text();

		p.design.express = i % 2;
		p.refused = i == 1 ? 2 : 0;
		snprintf(p.refused_why, sizeof(p.refused_why), "too large");
		omitted_print(&p, &rows[i], f);
		end_text(f);
		cr_expect(eq(int, *text != '\0', i != 0 && i != 7), "row %zu: %s", i, text);
	}
	plan_release(&p);
}

/* Either reason to be short of time names the load. */
Test(small_sweep_results, a_busy_machine_is_said_where_time_is_short)
{
	struct plan p = four_points(fakes, true);

	for (int i = 0; i < 2; i++) {
		const struct omitted o = { .load = 3.25,
					   .processes = i ? 4 : 0,
					   .takes_ns = i ? 0 : 75e9 };
		FILE *f = begin_text();

		omitted_print(&p, &o, f);
		fclose(f);
		cr_expect(tells(text, "this machine is busy: load 3.2 on "), "%s", text);
	}
	plan_release(&p);
}

static void time_side(struct plan *p, int side, double step_ns)
{
	for (int i = 0; i < p->n_configs; i++) {
		p->config[i].timing[side].setup_ns = 1e6;
		p->config[i].timing[side].gap_ns = 0;
		p->config[i].timing[side].ends_ns = 5000;
		p->config[i].timing[side].step_ns = step_ns;
	}
	p->start_ns[side] = 2e9;
}

/* One side and two of which b takes as long or longer, one wait policy and two, all processes or as
 * few as tell. */
Test(small_sweep_results, plans_are_printed)
{
	static const struct {
		int sides, policies;
		bool sequential;
		double b_ns, planning_ns;
	} rows[] = { { 1, 0, false, 1e6, 3e9 },
		     { 2, 0, true, 1e6, 0 },
		     { 2, 2, false, 2e9, 90e9 },
		     { 1, 2, true, 2e9, 1e9 } };
	const struct omitted none = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan p = four_points(fakes, true);
		FILE *f = begin_text();

		p.design.sequential = rows[i].sequential;
		p.design.processes = rows[i].sequential ? 20 : 5;
		p.design.seed = 42;
		p.design.policies = rows[i].policies;
		p.design.policy[1] = SYNC_YIELD;
		time_side(&p, 0, 1e6);
		time_side(&p, 1, rows[i].b_ns);
		predict_blocks(&p);
		p.point[3].block_ns[0] = NAN;
		plan_print(&p, rows[i].sides, &none, rows[i].planning_ns, f);
		end_text(f);
		plan_release(&p);
	}
}

/* The host was 75 % slower, 6 %, and 4 %, which is not worth a word. */
Test(small_sweep_results, a_host_that_was_slower)
{
	static const double slower[] = { 1.75, 1.06, 1.04 };
	struct journal j = session_of(1, 5, true);

	for (int i = 0; i < 3; i++) {
		j.host_ns[0] = 200;
		j.host_ns[1] = 200 * slower[i];
		quality(&j);
		cr_expect(eq(int, count_of("slower at times"), i < 2), "%s", text);
	}
	j.host_ns[0] = 0; /* not known */
	quality(&j);
	cr_expect(zero(int, count_of("slower at times")), "%s", text);
	journal_release(&j);
}

/* Drift of just 1 % is not said; of two that are, the larger. */
Test(small_sweep_results, what_is_worth_a_word_is_more_than_its_limit)
{
	struct journal j = session_of(1, 5, true);

	j.drift_most[0] = -0.01;
	quality(&j);
	cr_expect(zero(int, count_of("drifted")), "%s", text);
	j.drift_most[0] = -0.0625;
	j.drift_most[1] = 0.03;
	quality(&j);
	cr_expect(eq(int, count_of("drifted by -6.2 %"), 1), "%s", text);
	j.drift_most[1] = 0.5;
	quality(&j);
	cr_expect(eq(int, count_of("drifted by +50.0 %"), 1), "%s", text);
	j.drift_most[0] = 0.25;
	j.drift_most[1] = -0.75;
	quality(&j);
	cr_expect(eq(int, count_of("drifted by -75.0 %"), 1), "%s", text);
	journal_release(&j);
}

/* Pairs that were given up say why, of each side that is known. */
Test(small_sweep_results, company_that_was_left)
{
	struct journal j = session_of(2, 5, true);

	j.plan.design.company[0] = NAN;
	j.plan.design.company[1] = 2.25;
	quality(&j);
	cr_expect(eq(int, count_of("ran one at a time"), 1), "%s", text);
	cr_expect(eq(int, count_of("side b took 2.25 times as long"), 1), "%s", text);
	journal_release(&j);
}

static void refuse(struct journal *j, int side, int point, const char *call)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", point);
	if (!j->refused[side])
		j->refused[side] = json_object();
	json_object_set_new(j->refused[side], number,
			    call ? json_pack("{s:s, s:s}", "call", call, "name", "cudaErrorX")
				 : json_object());
}

/* A line for each call of each side, at its first point. */
Test(small_sweep_results, calls_that_are_not_supported)
{
	for (int sides = 1; sides <= 2; sides++) {
		struct journal j = session_of(sides, 5, true);
		FILE *f = begin_text();

		refuse(&j, 0, 0, "cudaA()");
		refuse(&j, 0, 1, "cudaB()");
		refuse(&j, 0, 3, "cudaA()");
		refuse(&j, 0, 2, NULL);
		if (sides == 2) {
			refuse(&j, 1, 1, NULL);
			refuse(&j, 1, 2, "cudaA()");
			refuse(&j, 1, 0, "cudaA()");
			refuse(&j, 1, 3, "cudaA()");
		}
		refusals_print(&j, f);
		end_text(f);
		cr_expect(eq(int, count_of("not supported here: "), sides == 2 ? 5 : 3), "%s",
			  text);
		journal_release(&j);
	}
}

/* ---- what processes say of the other side's company -------------------------------------------
 */

TestSuite(small_sweep_company, .timeout = 300);

/*
 * Side b, of one point: alone[i] and beside[i] of process 2 i, in ns; process 1 was not alone, and
 * is like process 0 in company.
 */
static struct company company(int n, const double *alone, const double *beside)
{
	bool complete[16] = { false };
	double of[16], total_ns[16], alone_ns[16];
	struct journal j = { .plan = { .design = { .pairs = true, .processes = 8 }, .n_points = 1 },
			     .sides = 2,
			     .replicates = 16,
			     .complete = complete,
			     .total_ns = total_ns,
			     .alone_ns = alone_ns,
			     .company = of };

	for (int i = 0; i < 16; i++)
		of[i] = total_ns[i] = alone_ns[i] = NAN;
	for (int i = 0; i < n; i++) {
		of[8 + 2 * i] = beside[i] / alone[i];
		alone_ns[8 + 2 * i] = alone[i];
		total_ns[8 + 2 * i] = beside[i];
		complete[8 + 2 * i] = true;
	}
	complete[9] = true;
	total_ns[9] = beside[0];
	return company_of(&j, 1);
}

#define LIST(...)                                                                                  \
	(double[])                                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

Test(small_sweep_company, what_two_processes_say_is_not_enough)
{
	struct company c = company(2, LIST(1, 1), LIST(40, 44));

	cr_assert(eq(int, c.n, 2), "two");
	cr_assert(not(c.matters), "two");
	cr_assert(epsilon_eq(dbl, c.ratio, sqrt(40.0 * 44), 1e-9), "%g", c.ratio);
	cr_assert(company(3, LIST(1, 1, 1), LIST(40, 44, 1.3)).matters, "three");
	cr_assert(company(3, LIST(1, 1, 1), LIST(0.7, 0.6, 0.5)).matters, "faster");
}

Test(small_sweep_company, all_must_be_off_by_a_quarter_and_in_one_direction)
{
	cr_assert(not(company(3, LIST(1, 1, 1), LIST(1.5, 1.24, 1.5)).matters), "one is near");
	cr_assert(company(3, LIST(1, 1, 1), LIST(1.5, 1.26, 1.5)).matters, "none is");
	cr_assert(not(company(3, LIST(1, 1, 1), LIST(1.5, 0.6, 1.5)).matters), "both directions");
	cr_assert(not(company(3, LIST(1, 1, 1), LIST(0.81, 0.7, 0.7)).matters), "one is near");
	cr_assert(not(company(3, LIST(1, 4, 1), LIST(2, 2, 2)).matters), "one was slower alone");
}

/* Some processes take 1, some 10, whether alone or not, and change while they run. */
Test(small_sweep_company, processes_of_two_kinds_are_not_in_each_others_way)
{
	cr_assert(not(company(3, LIST(1, 1, 10), LIST(10, 10, 100)).matters), "10 alone");
	cr_assert(not(company(4, LIST(1, 1, 1, 1), LIST(10, 10, 10, 1)).matters), "1 in company");
}

Test(small_sweep_company, small_differences_are_told_from_noise)
{
	const double *one = LIST(1, 1, 1, 1);

	cr_assert(company(4, one, LIST(1.05, 1.051, 1.049, 1.05)).differs, "steady");
	cr_assert(not(company(4, one, LIST(1.05, 1.051, 1.049, 1.05)).matters), "and small");
	cr_assert(not(company(2, one, LIST(1.05, 1.05)).differs), "two may agree by chance");
	cr_assert(not(company(4, one, LIST(1.01, 1.1, 1.02, 1.2)).differs), "noise");
	cr_assert(not(company(4, one, LIST(1.05, 1.05, 0.99999, 1.05)).differs),
		  "one is on the other side");
	cr_assert(company(3, one, LIST(0.97, 0.971, 0.969)).differs, "faster");
	/* the mean is off by more than 4 of its standard errors, of sd / sqrt(4) each */
	cr_assert(company(4, one, LIST(1.04, 1.06, 1.04, 1.06)).differs, "8.5 of them");
	cr_assert(not(company(4, one, LIST(1.02, 1.08, 1.02, 1.08)).differs), "2.9 of them");
}

Test(small_sweep_company, nobody_knows_of_sides_apart)
{
	struct journal j = { .plan.design = { .processes = 4 }, .sides = 2 };

	cr_assert(zero(int, company_of(&j, 0).n), "none");
	cr_assert(isnan(company_of(&j, 0).ratio), "not known");
}

/* Rounds alone: 4, 6, one that is not known, 4, 6; in company 15. Of the other points nothing is
 * known. */
Test(small_sweep_company, what_a_process_says)
{
	struct journal j = session_of(2, 5, true);
	double alone_ns[POINTS * ALONE_ROUNDS], turns[POINTS * ROUNDS_MAX * TURN_SERIES];
	double *of[10] = { [7] = turns };
	json_t *o, *alone;

	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++)
		turns[i] = 15;
	for (int i = 0; i < POINTS * ALONE_ROUNDS; i++)
		alone_ns[i] = i >= ALONE_ROUNDS ? NAN : i % 3 == 2 ? 0 : 4 + 2 * (i % 3);
	j.turns = of;
	o = company_json(&j, 7, alone_ns);
	alone = json_object_get(o, "t_total_ns");
	cr_expect(eq(int, (int)json_integer_value(json_object_get(o, "rounds")), ALONE_ROUNDS));
	cr_expect(eq(sz, json_object_size(alone), 1));
	cr_expect(eq(dbl, json_get_number(alone, j.plan.point[0].key), 5));
	cr_expect(eq(dbl, json_get_number(o, "company_over_alone"), 3));
	json_decref(o);
	j.turns = NULL;
	journal_release(&j);
}

/* Of a session: differences that are no noise are said of each side. */
Test(small_sweep_company, a_difference_is_said)
{
	struct journal j = session_of(2, 5, true);

	j.plan.design.pairs = true;
	for (int i = 0; i < 5; i++)
		j.company[i] = 1.05 + 0.001 * i;
	quality(&j);
	cr_expect(eq(int, count_of("side a takes 1.05 times as long as alone (n = 5)"), 1), "%s",
		  text);
	cr_expect(zero(int, count_of("side b takes")), "%s", text);
	journal_release(&j);
}
