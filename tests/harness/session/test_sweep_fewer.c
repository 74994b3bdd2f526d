/*
 * test_sweep_fewer.c - a quick sweep whose first processes were slower than predicted: which points
 * the others do without, what the file says of it, and that it is gone on with and checked so.
 */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/measure/choose.h"
#include "harness/measure/estimate.h"
#include "harness/record/journal.h"
#include "harness/record/validate_record.h"
#include "tests/cli.h"
#include "tests/folder.h"

TEST_FOLDER(folder);
static char path[64], part[80];

static void prepare(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/s.jsonl", folder);
	snprintf(part, sizeof(part), "%s.part", path);
}

TestSuite(small_sweep_fewer, .init = prepare, .fini = remove_folder, .timeout = 300);

enum { POINTS = 4, MANY = 36, PROCESSES = 2, ROUNDS = 1 };

/* launch us=0 and us=50 at depths 1 and 4; a step takes a millisecond. */
static struct plan four_points(int processes)
{
	const struct workload *const launch[] = { workload_find("launch"), NULL };
	char us[] = "us=0,50", *args[] = { us };
	struct plan_request r = { .workload = launch,
				  .assignment = args,
				  .n_assignments = 1,
				  .depth = "1,4",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	r.design.rounds = ROUNDS;
	r.design.processes = processes;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, POINTS), "points");
	for (int i = 0; i < p.n_configs; i++)
		p.config[i].timing[0] = (struct side_timing){ .step_ns = 1e6 };
	p.start_ns[0] = p.calibrate_ns[0] = 0;
	p.design.warmup_max_ns = p.design.pause_min_ns = p.design.pause_max_ns = 0;
	predict_blocks(&p);
	return p;
}

/* ---- the choice ----------------------------------------------------------------------------- */

Test(small_sweep_fewer, all_stay_where_there_is_time)
{
	struct plan p = four_points(3);
	double predicted_ns = predict_turn_ns(&p, 0, 0), rest_ns = 2 * predict_turn_ns(&p, 0, 1);
	bool stays[POINTS];
	double times;

	cr_assert(zero(int, predict_choose_again(&p, 1, 2 * predicted_ns, 2.001 * rest_ns, stays,
						 &times)),
		  "all");
	cr_assert(epsilon_eq(dbl, times, 2, 1e-9), "%g", times);
	for (int i = 0; i < POINTS; i++)
		cr_assert(stays[i], "%d", i);
	plan_release(&p);
}

/* launch us=0,2,10 at depths 1 to 2048; steps of ns. */
static struct plan many_points(double ns)
{
	const struct workload *const launch[] = { workload_find("launch"), NULL };
	struct plan_request r = { .workload = launch,
				  .depth = "1:2048:x2",
				  .size = "0,2,10",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, MANY), "%d points", p.n_points);
	for (int i = 0; i < p.n_configs; i++)
		p.config[i].timing[0] = (struct side_timing){ .step_ns = ns };
	p.start_ns[0] = p.calibrate_ns[0] = 0;
	p.design.warmup_max_ns = p.design.pause_min_ns = p.design.pause_max_ns = 0;
	predict_blocks(&p);
	return p;
}

static int count_kept(const bool *stays, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		kept += stays[i];
	return kept;
}

Test(small_sweep_fewer, no_workload_is_left_with_less_than_the_least)
{
	struct plan p = many_points(1e5);
	bool stays[MANY];
	double times;
	int dropped =
		predict_choose_again(&p, 1, 100 * predict_turn_ns(&p, 0, 0), 1e9, stays, &times);

	cr_assert(eq(int, count_kept(stays, MANY), QUICK_POINTS_LEAST), "%d stay",
		  count_kept(stays, MANY));
	cr_assert(eq(int, dropped, MANY - QUICK_POINTS_LEAST), "%d go", dropped);
	cr_assert(stays[0], "the smallest size and depth");
	plan_release(&p);
}

/* Where all points cost about the same, those of small sizes and depths stay. */
Test(small_sweep_fewer, the_corner_goes_first)
{
	struct plan p = many_points(1);
	double took_ns = predict_turn_ns(&p, 0, 0), rest_ns = 4 * predict_turn_ns(&p, 0, 1);
	double times, most_kept = 0, least_gone = 1;
	bool stays[MANY];
	int dropped = predict_choose_again(&p, 1, took_ns, 0.6 * rest_ns, stays, &times);

	cr_assert(lt(int, 0, dropped), "none goes");
	cr_assert(lt(int, QUICK_POINTS_LEAST, count_kept(stays, MANY)), "%d stay",
		  count_kept(stays, MANY));
	for (int i = 0; i < MANY; i++) {
		if (stays[i])
			most_kept = fmax(most_kept, p.point[i].corner);
		else
			least_gone = fmin(least_gone, p.point[i].corner);
	}
	cr_assert(le(dbl, most_kept, least_gone), "%g stays, %g goes", most_kept, least_gone);
	plan_release(&p);
}

/* ---- the file ------------------------------------------------------------------------------- */

static void add_header(struct journal *j, int replicate)
{
	json_t *header = json_pack("{s:{}, s:{}, s:{}, s:{}, s:{}, s:{}}", "calib", "host", "gpu",
				   "env", "cuda_flags", "warmup");

	cr_assert(zero(int, journal_begin(j, replicate)), "begin");
	cr_assert(zero(int, journal_header(j, replicate, header)), "header");
}

static void add_point(struct journal *j, int replicate, int point, int total_ns)
{
	json_t *o = json_pack("{s:i, s:i, s:[i], s:[i], s:[], s:[i], s:[i, i], s:n}", "point",
			      point, "round", 0, "t_enq_ns", total_ns / 2, "t_total_ns", total_ns,
			      "t_dev_ns", "marks", 0, "canary_ns", 200000, 200000, "steal_ticks");

	cr_assert(zero(int, journal_visit(j, replicate, point, 0, o)), "visit");
}

/* The first process is complete, and the second and the last point are then left out. */
static void begin_session(struct journal *j)
{
	static const bool stays[POINTS] = { true, false, true, false };
	struct plan p = four_points(PROCESSES);

	cr_assert(zero(int, journal_create(j, &p, path, NULL, "rift sweep")), "create");
	add_header(j, 0);
	for (int i = 0; i < POINTS; i++)
		add_point(j, 0, i, 1000 * (i + 1));
	cr_assert(zero(int, journal_trailer(j, 0, json_object())), "trailer");
	cr_assert(zero(int, journal_drop(j, stays,
					 json_pack("{s:i, s:f}", "left_ns", 1000, "times_as_long",
						   2.5))),
		  "drop");
}

static void assert_two_points(const struct journal *j)
{
	cr_assert(eq(int, j->plan.n_points, 2), "%d points", j->plan.n_points);
	cr_assert(eq(i64, j->plan.point[0].depth, 1), "depth");
	cr_assert(eq(i64, j->plan.point[1].depth, 1), "depth");
	cr_assert(ne(int, j->plan.point[0].config, j->plan.point[1].config), "of both sizes");
	cr_assert(eq(dbl, j->total_ns[0], 1000), "%g", j->total_ns[0]);
	cr_assert(eq(dbl, j->total_ns[1], 3000), "%g", j->total_ns[1]);
	cr_assert(j->complete[0] && !j->complete[1], "one process is complete");
}

static void finish(struct journal *j)
{
	add_header(j, 1);
	add_point(j, 1, 0, 1100);
	add_point(j, 1, 1, 3300);
	cr_assert(zero(int, journal_trailer(j, 1, json_object())), "trailer");
}

Test(small_sweep_fewer, the_session_goes_on_without_them)
{
	struct record_facts facts;
	struct journal j;

	begin_session(&j);
	assert_two_points(&j);
	finish(&j);
	cr_assert(zero(int, journal_finish(&j)), "finish");
	journal_release(&j);
	cr_assert(zero(int, record_check(&facts, path, NULL)), "check");
	cr_assert(eq(int, facts.points, POINTS + 2), "%d", (int)facts.points);
	cr_assert(not(facts.incomplete), "complete");
	cr_assert(zero(int, journal_read(&j, path)), "read");
	cr_assert(eq(int, j.plan.n_points, 2), "%d points", j.plan.n_points);
	cr_assert(eq(dbl, j.total_ns[2], 1100), "%g", j.total_ns[2]);
	cr_assert(eq(dbl, j.total_ns[3], 3300), "%g", j.total_ns[3]);
	journal_release(&j);
}

Test(small_sweep_fewer, it_is_gone_on_with_after_a_kill)
{
	struct journal j;

	begin_session(&j);
	add_header(&j, 1);
	add_point(&j, 1, 1, 3300);
	journal_release(&j);
	cr_assert(zero(int, journal_open(&j, path)), "open");
	assert_two_points(&j);
	cr_assert(eq(int, j.status[3], POINT_OK), "the point of the second process");
	cr_assert(eq(dbl, j.total_ns[3], 3300), "%g", j.total_ns[3]);
	add_point(&j, 1, 0, 1100);
	cr_assert(zero(int, journal_trailer(&j, 1, json_object())), "trailer");
	cr_assert(zero(int, journal_finish(&j)), "finish");
	journal_release(&j);
}

/* ---- what is no such record ----------------------------------------------------------------- */

/* The file of a complete session after this sed command. */
static void expect_refusal(const char *change)
{
	struct record_facts facts;
	const char *said;
	struct journal j;
	int err;

	begin_session(&j);
	finish(&j);
	cr_assert(zero(int, journal_finish(&j)), "finish");
	journal_release(&j);
	shell(NULL, "sed -i '%s' %s", change, path);
	divert_stderr();
	err = record_check(&facts, path, NULL);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EINVAL), "%s", change);
	cr_assert(is_one_complaint(said), "%s: %s", change, said);
	shell(NULL, "rm -f %s*", path);
}

Test(small_sweep_fewer, a_record_that_makes_no_sense_is_refused)
{
	expect_refusal("/\"fewer\"/s/\"left_ns\":1000,//");
	expect_refusal("/\"fewer\"/s/\"keys\":\\[\"./\"keys\":[\"x/");
	expect_refusal("/\"fewer\"/s/\"keys\":\\[[^]]*\\]/\"keys\":[]/");
	expect_refusal("/\"fewer\"/{p}");
	expect_refusal("/\"fewer\"/d");
}

Test(small_sweep_fewer, a_session_without_points_is_none)
{
	static const bool none[POINTS];
	struct plan p = four_points(PROCESSES);
	struct record_facts facts;
	struct journal j;

	cr_assert(zero(int, journal_create(&j, &p, path, NULL, "rift sweep")), "create");
	add_header(&j, 0);
	for (int i = 0; i < POINTS; i++)
		add_point(&j, 0, i, 1000);
	cr_assert(zero(int, journal_trailer(&j, 0, json_object())), "trailer");
	cr_assert(zero(int, journal_drop(&j, none,
					 json_pack("{s:i, s:f}", "left_ns", 1000, "times_as_long",
						   2.5))),
		  "drop");
	journal_release(&j);
	divert_stderr();
	cr_assert(eq(int, record_check(&facts, part, NULL), -EINVAL), "check");
	cr_assert(is_one_complaint(diverted_stderr()), "one line");
}
