/*
 * test_sweep_rounds.c - harness/session/rounds.c: a worker made by hand sets the fake up, visits
 * its points in rounds and gives everything back. What it says is read back line by line.
 */
#include "tests/test.h"
#include "harness/measure/estimate.h"
#include "harness/session/rounds.h"
#include "harness/session/worker.h"
#include "tests/cli.h"
#include "tests/fake_workload.h"

static void release(void);

TestSuite(small_sweep_rounds, .fini = release, .timeout = 300);

static struct worker w;
static char *text;
static size_t size;

static void release(void)
{
	if (!w.out)
		return;
	fclose(w.out);
	free(text);
	canary_release(&w.canary);
	cudaStreamDestroy(w.stream);
	plan_release(&w.plan);
	free(w.skip);
	free(w.instance);
	free(w.done);
	free(w.prepared);
	w = (struct worker){ 0 };
}

static void *zeroed(int n, size_t bytes)
{
	void *p = calloc((size_t)n, bytes);

	cr_assert(ne(ptr, p, NULL), "memory");
	return p;
}

/* Two sizes; two depths of each in a mode. Canaries are never off, and no check is due. */
static void make(const char *mode, char **args, int n)
{
	struct plan_request r = { .workload = fakes,
				  .size = "1,2",
				  .depth = "1,3",
				  .mode = mode,
				  .assignment = args,
				  .n_assignments = n,
				  .design = design_of(true) };

	need_device();
	release();
	r.design.rounds = 3;
	r.design.visit_ns = 1;
	w = (struct worker){ .canary_ref_ns = 1,
			     .warm.spread = 1e18,
			     .calibration.queue_depth = NAN };
	cr_assert(zero(int, plan_make(&w.plan, &r)), "plan");
	for (int i = 0; i < w.plan.n_configs; i++)
		w.plan.config[i].timing[0] =
			(struct side_timing){ .ends_ns = 1000, .step_ns = 10, .check_ends_ns = 0 };
	predict_blocks(&w.plan);
	w.visited_ns = -1e18; /* no time is left for checks that are not due */
	w.skip = zeroed(w.plan.n_points, sizeof(*w.skip));
	w.done = zeroed(w.plan.n_points * 3, sizeof(*w.done));
	w.instance = zeroed(w.plan.n_configs, sizeof(*w.instance));
	w.prepared = zeroed(w.plan.n_points, sizeof(*w.prepared));
	w.out = open_memstream(&text, &size);
	cr_assert(zero(int, cudaStreamCreateWithFlags(&w.stream, cudaStreamNonBlocking)), "stream");
	canary_init(&w.canary, w.stream, false);
}

/* Lines that hold both texts. */
static int lines_with(const char *a, const char *b)
{
	char *copy = strdup(text), *rest = copy, *line;
	int n = 0;

	while ((line = strsep(&rest, "\n")))
		n += *line && strstr(line, a) && strstr(line, b);
	free(copy);
	return n;
}

static int said(const char *record, const char *what)
{
	char a[64];

	snprintf(a, sizeof(a), "\"record\":\"%s\"", record);
	return lines_with(a, what);
}

static void measure_all(void)
{
	for (int i = 0; i < w.plan.n_configs; i++) {
		cr_assert(zero(int, worker_prepare(&w, i)), "prepare");
		cr_assert(zero(int, worker_rounds(&w, i)), "rounds");
		worker_put_away(&w, i);
		for (int k = 0; k < w.plan.n_points; k++)
			cr_assert(w.plan.point[k].config != i ||
					  !memcmp(&w.prepared[k], &(struct prepared){ 0 },
						  sizeof(w.prepared[k])),
				  "point %d is as before it was prepared", k);
	}
}

Test(small_sweep_rounds, each_point_once_a_round)
{
	char what[64];

	make("stream", NULL, 0);
	measure_all();
	cr_assert(eq(int, said("setup", ""), 2), "%s", text);
	cr_assert(eq(int, said("begin", "\"round\":-1"), 4), "each once before");
	for (int i = 0; i < 4; i++)
		for (int r = 0; r < 3; r++) {
			snprintf(what, sizeof(what), "\"point\":%d,\"round\":%d,", i, r);
			cr_assert(eq(int, said("visit", what), 1), "%s in %s", what, text);
		}
	cr_assert(eq(int, said("visit", ""), 12), "no more");
	cr_assert(zero(int, said("visit", "\"check\"")), "none was due");
	cr_assert(zero(int, said("visit", "\"graph_steps\"")), "no graphs");
	cr_assert(eq(int, said("visit", "\"launches_per_step\":1"), 12), "launches");
	cr_assert(lt(i64, 0, w.blocks_ns), "time in blocks");
	cr_assert(eq(int, fake_log.setups, 2), "set up");
	cr_assert(eq(int, fake_log.teardowns, 2), "given back");
}

Test(small_sweep_rounds, what_is_done_or_left_out_is_not_measured)
{
	make("stream", NULL, 0);
	w.skip[0] = true;
	for (int r = 0; r < 3; r++)
		w.done[1 * 3 + r] = true;
	w.done[2 * 3 + 0] = w.done[2 * 3 + 2] = true;
	cr_assert(not(worker_leave_out(&w, 0)), "nothing is left of the first");
	cr_assert(worker_leave_out(&w, 1), "of the second");
	cr_assert(w.skip[0] && w.skip[1] && !w.skip[2] && !w.skip[3], "which");
	measure_all();
	cr_assert(eq(int, said("visit", ""), 1 + 3), "%s", text);
	cr_assert(eq(int, said("visit", "\"point\":2,\"round\":1,"), 1), "%s", text);
	cr_assert(eq(int, said("visit", "\"point\":3,"), 3), "%s", text);
}

/* All launches of its steps, its graphs (three steps are two and one), or one. */
Test(small_sweep_rounds, calls_of_a_block)
{
	static const int64_t want[] = { 2, 6, 1, 2, 1, 1 };
	char *args[] = { "launches=2" };

	make("stream,graph,fused", args, 1);
	cr_assert(zero(int, worker_prepare(&w, 0)), "prepare");
	for (int i = 0; i < 6; i++)
		cr_assert(eq(i64, w.prepared[i].calls, want[i]), "%d: %ld", i,
			  (long)w.prepared[i].calls);
	cr_assert(zero(int, worker_rounds(&w, 0)), "rounds");
	cr_assert(eq(int, said("visit", "\"graph_steps\""), 2 * 3), "of graphs: %s", text);
	cr_assert(eq(int, said("visit", "\"launches_per_step\":2"), 6 * 3), "launches");
	worker_put_away(&w, 0);
	for (int i = 0; i < 6; i++)
		cr_assert(zero(i64, w.prepared[i].calls), "%d", i);
}

/* The points and rounds of all visits, in their order. To be freed. */
static char *visits_of_side(int side, double spread)
{
	static const char begins[] = "{\"record\":\"visit\",";
	char *all = calloc(1, 4096), *rest, *line;

	make("stream", NULL, 0);
	w.side = side;
	w.warm.spread = spread;
	measure_all();
	cr_assert(eq(int, said("visit", ""), 12), "%s", text);
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (!strncmp(line, begins, strlen(begins)))
			strncat(all, line + strlen(begins), 20); /* "point":0,"round":0, */
	return all;
}

/* Side b, whose canaries are all off, loses what side a loses: nothing, and no turn. */
Test(small_sweep_rounds, a_side_whose_clock_shifts_loses_no_visit)
{
	char *a = visits_of_side(0, 1e18), *b = visits_of_side(1, 0);

	cr_assert(eq(str, a, b), "one order");
	free(a);
	free(b);
}

/* Blocks with the mark of a clock. */
static int clock_marks(double spread, double earlier_ns)
{
	int n = 0;

	make("stream", NULL, 0);
	w.warm.spread = spread;
	w.canary_ref_ns = earlier_ns;
	w.warm.canary_ns = 1;
	measure_all();
	for (int mark = 0; mark < 32; mark++) {
		char what[32];

		snprintf(what, sizeof(what), "\"marks\":[%d", mark);
		n += mark & MARK_CLOCK ? said("visit", what) : 0;
	}
	return n;
}

/* The median of earlier processes counts, where there is one, else this one's. */
Test(small_sweep_rounds, which_canary_counts)
{
	cr_assert(eq(int, clock_marks(0.3, NAN), 12), "far from its own: %s", text);
	cr_assert(eq(int, clock_marks(0.3, 1e18), 12), "far from earlier ones: %s", text);
	cr_assert(zero(int, clock_marks(1e18, NAN)), "not far for this machine: %s", text);
}

Test(small_sweep_rounds, the_first_round_is_checked_where_all_is)
{
	make("stream", NULL, 0);
	w.check_all = true;
	measure_all();
	cr_assert(eq(int, said("visit", "\"check\":{\"state\":\"passed\""), 4), "%s", text);
	for (int i = 0; i < 4; i++) {
		char what[64];

		snprintf(what, sizeof(what), "\"point\":%d,\"round\":0,", i);
		cr_assert(eq(int, said("visit", what), 1), "%s", what);
	}
	cr_assert(eq(int, lines_with("\"round\":0,", "\"check\""), 4), "round 0 alone");
	cr_assert(lt(i64, 0, w.checks_ns), "it took time");
	cr_assert(zero(i64, w.spare_ns), "they were due");
}

Test(small_sweep_rounds, others_are_checked_as_there_is_time)
{
	make("stream", NULL, 0);
	w.visited_ns = 1e18;
	measure_all();
	cr_assert(eq(int, said("visit", "\"check\":{"), 12), "%s", text);
	cr_assert(eq(i64, w.spare_ns, w.checks_ns), "none was due");
}

static void verdict(const char *arg, const char *state)
{
	char *args[] = { (char *)(uintptr_t)arg }, what[64];

	make("stream", args, 1);
	w.check_all = true;
	measure_all();
	snprintf(what, sizeof(what), "\"check\":{\"state\":\"%s\"", state);
	cr_assert(eq(int, said("visit", what), 4), "%s: %s", arg, text);
}

Test(small_sweep_rounds, what_a_hook_says_of_a_check_is_not_believed)
{
	verdict("verdict=honest", "passed");
	verdict("verdict=wrong", "failed");
	verdict("verdict=nan", "failed");
	verdict("verdict=nothing", "failed");
}

/* Hooks that fail cost their points, and nothing else. */
static void loses(const char *arg, int failed, int visits)
{
	char *args[] = { (char *)(uintptr_t)arg, "fail_errno=5" };

	make("stream", args, 2);
	w.check_all = true;
	divert_stderr();
	measure_all();
	diverted_stderr();
	cr_assert(eq(int, said("failed", "\"code\":5"), failed), "%s: %s", arg, text);
	cr_assert(eq(int, said("visit", ""), visits), "%s: %s", arg, text);
	for (int i = 0; i < 4; i++)
		cr_assert(eq(int, w.skip[i], failed > 0), "%s: %d", arg, i);
}

Test(small_sweep_rounds, hooks_that_fail_cost_their_points)
{
	loses("fail=none", 0, 12);
	loses("fail=setup", 4, 0);
	loses("fail=cost", 4, 0);
	loses("fail=step", 4, 0);
	loses("fail=check", 4, 0);
}

Test(small_sweep_rounds, an_interrupt_ends_it)
{
	char *args[] = { "fail=check", "fail_errno=4" };

	make("stream", args, 2);
	w.check_all = true;
	cr_assert(zero(int, worker_prepare(&w, 0)), "prepare");
	cr_assert(eq(int, worker_rounds(&w, 0), -EINTR), "rounds");
	cr_assert(zero(int, said("visit", "")), "%s", text);
	cr_assert(zero(int, said("failed", "")), "%s", text);
	cr_assert(not(w.skip[0] || w.skip[1]), "they stay");
	worker_put_away(&w, 0);
}

/* So many rounds before the other side starts, of each point that is wanted; then none. */
Test(small_sweep_rounds, alone)
{
	make("stream", NULL, 0);
	w.skip[3] = true;
	w.alone = 2;
	cr_assert(zero(int, worker_prepare(&w, 1)), "prepare");
	cr_assert(zero(int, worker_rounds_alone(&w, 1)), "alone");
	cr_assert(eq(int, said("alone", ""), 2), "%s", text);
	cr_assert(eq(int, said("alone", "\"point\":2,\"round\":0,"), 1), "%s", text);
	cr_assert(eq(int, said("alone", "\"point\":2,\"round\":1,"), 1), "%s", text);
	cr_assert(zero(int, said("visit", "")), "%s", text);
	cr_assert(zero(int, worker_rounds_alone(&w, 1)), "again");
	cr_assert(eq(int, said("alone", ""), 2), "none is left");
	worker_put_away(&w, 1);
}

/* Each order holds every configuration once; processes have orders of their own, sides one. */
Test(small_sweep_rounds, orders)
{
	enum { N = 6 };
	char *args[] = { "solver=rk4,euler,rkf78" };
	int order[2][N], differ = 0, first[N] = { 0 };

	make("stream", args, 1);
	cr_assert(eq(int, w.plan.n_configs, N), "%d", w.plan.n_configs);
	for (w.process = 0; w.process < 20; w.process++) {
		int seen[N] = { 0 };

		for (w.side = 0; w.side < 2; w.side++)
			worker_order(&w, order[w.side]);
		cr_assert(zero(int, memcmp(order[0], order[1], sizeof(order[0]))), "sides");
		for (int i = 0; i < N; i++)
			seen[order[0][i]]++;
		for (int i = 0; i < N; i++)
			cr_assert(eq(int, seen[i], 1), "%d", i);
		first[order[0][0]]++;
		for (int i = 0; i < N; i++)
			differ += order[0][i] != i;
	}
	cr_assert(lt(int, N * 20 / 2, differ), "%d", differ);
	for (int i = 0; i < N; i++)
		cr_assert(lt(int, first[i], 12), "%d comes first %d times", i, first[i]);
}

Test(small_sweep_rounds, the_longest_block)
{
	make("stream", NULL, 0);
	cr_assert(eq(ptr, worker_longest(&w), NULL), "none yet");
	w.prepared[1].last_ns = 5;
	w.prepared[2].last_ns = 7;
	w.prepared[3].last_ns = 6;
	cr_assert(eq(ptr, worker_longest(&w), &w.prepared[2]), "the third");
}
