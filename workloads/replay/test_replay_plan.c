/*
 * test_replay_plan.c - what a step is, of traces that are written row by row: which calls, how
 * long, who waits for whom, and what is refused.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/replay/replay.h"

#include "tests/made_trace.h"

TestSuite(small_replay_plan, .timeout = 60);

static struct made trace;

static void begin(void)
{
	made_begin(&trace, "", MADE_CALIBRATION);
}

/* Ends the trace and makes its plan. */
static struct replay_plan plan_with(struct replay_opts o)
{
	struct replay_plan p;

	made_end(&trace, 100000000, 0, 0);
	o.trace = trace.path;
	o.kernels = 100;
	cr_assert(!replay_plan_make(&p, &o), "plan");
	made_remove(&trace);
	return p;
}

static struct replay_plan plan(void)
{
	return plan_with((struct replay_opts){ 0 });
}

static void kinds_are(const struct replay_plan *p, int64_t n, const enum replay_kind *kind)
{
	cr_assert(p->acts == n, "%ld acts, not %ld", (long)p->acts, (long)n);
	for (int64_t i = 0; i < n; i++)
		cr_assert(p->act[i].kind == kind[i], "act %ld: %d", (long)i, (int)p->act[i].kind);
}

static void is_near(double found, double right, const char *what)
{
	cr_assert(fabs(found - right) <= 1e-6 * right, "%s: %g, not %g", what, found, right);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* What comes before the first work of the device and behind the last is no part of a step. */
Test(small_replay_plan, the_whole_is_from_the_first_work_to_the_last_wait)
{
	static const enum replay_kind kinds[] = { ACT_COPY, ACT_KERNEL, ACT_HOST };
	struct replay_plan p;

	begin();
	made_call(&trace, "alloc", 1000, 2000, ",\"bytes\":4096,\"memory\":\"device\"");
	made_call(&trace, "copy", 5000, 7000, ",\"stream\":2,\"async\":true");
	made_op(&trace, "copy", 2, 8000, 9000,
		",\"direction\":\"to_device\",\"bytes\":4096,\"memory\":\"pinned\"");
	made_kernel(&trace, 2, 10000, 13000, 33000);
	made_call(&trace, "sync_stream", 15000, 40000, ",\"stream\":2");
	made_call(&trace, "free", 50000, 51000, "");
	p = plan();
	kinds_are(&p, 3, kinds);
	cr_assert(p.whole && p.repeats == 1 && p.threads == 1, "whole");
	is_near(p.act[0].gap_ns, 0, "the first gap");
	is_near(p.act[1].gap_ns, 3000, "gap");
	is_near(p.act[1].ns, 20000, "kernel");
	is_near(p.act[2].gap_ns, 3000, "gap before the wait");
	is_near(p.recorded_ns, 35000, "recorded");
	is_near(p.kernel_floor_ns, 1000, "an empty kernel");
	cr_assert(p.act[0].bytes == 4096 && p.act[0].direction == REPLAY_TO_DEVICE &&
			  p.act[0].memory == REPLAY_PINNED && !p.act[0].blocks_host,
		  "copy");
	cr_assert(p.streams == 1 && p.main == 0 && p.counters == 1 && p.areas == 1, "tables");
	replay_plan_release(&p);
}

/* Calls that leave nothing on the device take their time: the host's before the next act. */
Test(small_replay_plan, other_calls_are_time_of_the_host)
{
	static const enum replay_kind kinds[] = { ACT_KERNEL, ACT_KERNEL };
	struct replay_plan p;

	begin();
	made_kernel(&trace, 2, 1000, 4000, 5000);
	made_call(&trace, "other", 4000, 9000, "");
	made_kernel(&trace, 2, 10000, 13000, 14000);
	p = plan();
	kinds_are(&p, 2, kinds);
	is_near(p.act[1].gap_ns, 1000 + 5000 + 1000, "gap");
	replay_plan_release(&p);
}

/* The thread computed for 90 of 100 us, or for 10. */
Test(small_replay_plan, a_thread_that_computed_little_slept)
{
	struct replay_plan p;

	begin();
	made_kernel(&trace, 2, 1000, 4000, 5000);
	made_call(&trace, "launch", 103000, 105000, ",\"cpu_ns\":90000");
	made_op(&trace, "kernel", 2, 108000, 109000, "");
	made_call(&trace, "launch", 205000, 207000, ",\"cpu_ns\":10000");
	made_op(&trace, "kernel", 2, 210000, 211000, "");
	p = plan();
	cr_assert(!p.act[1].sleeps && p.act[2].sleeps, "%d %d", p.act[1].sleeps, p.act[2].sleeps);
	is_near(p.slept_ns, 100000, "slept");
	replay_plan_release(&p);
}

/* ---- a period ----------------------------------------------------------------------------- */

/* Three repeats of launch, synchronize; then two that begin with the synchronize. */
static void add_folds(void)
{
	made_kernel(&trace, 2, 1000, 4000, 5000);
	made_row(&trace,
		 "{\"record\":\"fold\",\"times\":3,\"t0\":10000,\"t1\":70000,\"body\":["
		 "{\"class\":\"launch\",\"thread\":0,\"stream\":2,\"gap_ns\":[[1000,2],[4000,1]],"
		 "\"took_ns\":[[2000,3]],\"op\":{\"kind\":\"kernel\",\"stream\":2,"
		 "\"took_ns\":[[9000,2],[12000,1]]}},"
		 "{\"class\":\"sync_stream\",\"thread\":0,\"stream\":2,\"gap_ns\":[[1000,3]],"
		 "\"took_ns\":[[15000,3]]}]}");
	made_row(&trace,
		 "{\"record\":\"fold\",\"times\":2,\"t0\":70000,\"t1\":110000,\"body\":["
		 "{\"class\":\"sync_stream\",\"thread\":0,\"stream\":2,\"gap_ns\":[[1000,2]],"
		 "\"took_ns\":[[15000,2]]},"
		 "{\"class\":\"launch\",\"thread\":0,\"stream\":2,\"gap_ns\":[[2000,2]],"
		 "\"took_ns\":[[2000,2]],\"op\":{\"kind\":\"kernel\",\"stream\":2,"
		 "\"took_ns\":[[10000,2]]}}]}");
	trace.calls += 10;
	trace.ops += 5;
}

/* 30 times a launch and a wait; how long the host takes between them. */
static struct replay_plan plan_of_waits(const char *runs)
{
	struct replay_plan p;
	struct replay_opts o = { .kernels = 100 };
	long t = 0;

	begin();
	made_row(&trace, "{\"record\":\"string\",\"id\":2,\"text\":\"cudaLaunchKernel\"}");
	made_row(&trace, "{\"record\":\"string\",\"id\":3,\"text\":\"cudaDeviceSynchronize\"}");
	for (int i = 0; i < 30; i++, t += 50000) {
		made_call(&trace, "launch", t, t + MADE_C, ",\"name\":2");
		made_op(&trace, "kernel", 2, t + 6000, t + 20000,
			",\"grid\":[2,1,1],\"block\":[32,1,1]");
		made_call(&trace, "sync_device", t + MADE_C, t + 24000, ",\"name\":3");
	}
	trace.runs = runs;
	made_end(&trace, t, 1, t);
	o.trace = trace.path;
	cr_assert(!replay_plan_make(&p, &o), "plan");
	made_remove(&trace);
	return p;
}

/* 26 us from a wait to the next launch, as recorded; 5 by runs that CUPTI did not slow. */
Test(small_replay_plan, gaps_are_those_of_runs_with_calls_alone)
{
	struct replay_plan recorded = plan_of_waits(""),
			   known = plan_of_waits(
				   ",\"host_gaps\":{\"runs\":1,\"functions\":[\"cudaLaunchKernel\","
				   "\"cudaDeviceSynchronize\"],\"pairs\":[{\"from\":1,\"to\":0,"
				   "\"after\":false,\"n\":29,\"ns\":5000,\"median_"
				   "ns\":5000}]}");

	cr_assert(recorded.acts == known.acts && recorded.acts > 4, "%ld acts", (long)known.acts);
	cr_assert(recorded.act[2].kind == ACT_KERNEL, "a launch");
	is_near(recorded.act[2].gap_ns, 26000, "as recorded");
	is_near(known.act[2].gap_ns, 5000, "as known");
	replay_plan_release(&recorded);
	replay_plan_release(&known);
}

/* Waits of 1 ms for a graph, and of 0.8 ms in runs that CUPTI did not slow. */
Test(small_replay_plan, graphs_are_those_of_runs_with_calls_alone)
{
	enum { WAITS = 4, LONG = 1000000 };
	struct replay_plan p;
	struct replay_opts o = { .kernels = 100 };
	long t = 1000;

	begin();
	made_row(&trace, "{\"record\":\"string\",\"id\":3,\"text\":\"cudaDeviceSynchronize\"}");
	for (int i = 0; i < WAITS; i++, t += LONG) {
		made_call(&trace, "graph_launch", t, t + 1000, ",\"stream\":2,\"graph\":1");
		made_op(&trace, "graph", 2, t + 1000 + MADE_L, t + LONG - 2000 - MADE_WAKE,
			",\"graph\":1");
		made_call(&trace, "sync_device", t + 1000, t + LONG - 2000, ",\"name\":3");
	}
	trace.runs = ",\"host_gaps\":{\"runs\":1,\"functions\":[\"cudaDeviceSynchronize\"],"
		     "\"pairs\":[],\"graph_waits\":{\"n\":3,\"ns\":2400000}}";
	made_end(&trace, t, 1, t);
	o.trace = trace.path;
	cr_assert(!replay_plan_make(&p, &o), "plan");
	made_remove(&trace);
	cr_assert(p.act[0].kind == ACT_GRAPH, "a graph");
	cr_expect(p.act[0].ns > 780000 && p.act[0].ns < 800000, "%g of 990 us", p.act[0].ns);
	replay_plan_release(&p);
}

/* Host times of a fold are stretched so that they end where it does: 66 to 60 us, 40 to 40. */
Test(small_replay_plan, folds_that_begin_elsewhere_are_the_same_period)
{
	static const enum replay_kind kinds[] = { ACT_KERNEL, ACT_HOST };
	struct replay_plan p;

	begin();
	add_folds();
	p = plan();
	kinds_are(&p, 2, kinds);
	cr_assert(!p.whole && p.repeats == 5, "%ld repeats", (long)p.repeats);
	is_near(p.act[0].ns, (9000 * 2 + 12000 + 10000 * 2) / 5.0, "kernel");
	is_near(p.recorded_ns, 100000 / 5.0, "recorded");
	cr_assert(p.only_one && p.only_stream && p.ends_waiting && p.depth == 1, "waits");
	replay_plan_release(&p);
	begin();
	add_folds();
	p = plan_with((struct replay_opts){ .waits = REPLAY_LEFT });
	cr_assert(!p.only_one && !p.only_stream && p.depth == 5, "waits=left");
	replay_plan_release(&p);
}

Test(small_replay_plan, the_whole_can_be_asked_for)
{
	struct replay_plan p;

	begin();
	add_folds();
	p = plan_with((struct replay_opts){ .part = REPLAY_WHOLE });
	cr_assert(p.whole && p.counters == 6, "%ld kernels", (long)p.counters);
	replay_plan_release(&p);
}

/* ---- who waits for whom ------------------------------------------------------------------- */

static void launch_on(int stream, long t0, long op_t0, long op_t1)
{
	made_kernel(&trace, stream, t0, op_t0, op_t1);
}

static void event_call(const char *class, int stream, int event, long t0)
{
	char more[64];

	snprintf(more, sizeof(more), ",\"stream\":%d,\"event\":%d", stream, event);
	made_call(&trace, class, t0, t0 + 500, more);
}

/* The stream with more work is the harness'; the other is open unless it was waited for. */
Test(small_replay_plan, streams_that_nobody_waits_for_are_open)
{
	for (int waits = 0; waits < 2; waits++) {
		struct replay_plan p;

		begin();
		launch_on(2, 1000, 4000, 9000);
		launch_on(4, 4000, 10000, 15000);
		event_call("record", 4, 7, 7000);
		if (waits)
			event_call("wait_event", 2, 7, 8000);
		launch_on(2, 9000, 16000, 20000);
		p = plan();
		cr_assert(p.streams == 2 && p.main == 0 && p.events == 1, "main %d", p.main);
		cr_assert(p.stream[1].open == !waits && !p.stream[0].open, "waits %d", waits);
		cr_assert(!p.only_stream, "%s", p.only_stream);
		replay_plan_release(&p);
	}
}

/* A stream without work is no part of a capture, so what was recorded there cannot be waited for.
 */
Test(small_replay_plan, an_event_of_an_idle_stream_is_not_captured)
{
	struct replay_plan p;

	begin();
	launch_on(2, 1000, 4000, 9000);
	event_call("record", 4, 7, 7000);
	event_call("wait_event", 2, 7, 8000);
	launch_on(2, 9000, 16000, 20000);
	p = plan();
	cr_assert(p.only_stream && !p.only_one, "%s", p.only_one ? p.only_one : "captured");
	replay_plan_release(&p);
}

/* A wait for what a step before has recorded cannot be captured. */
Test(small_replay_plan, a_wait_for_the_step_before_is_not_captured)
{
	struct replay_plan p;

	begin();
	launch_on(2, 1000, 4000, 5000);
	event_call("wait_event", 2, 7, 4000);
	event_call("record", 2, 7, 5000);
	launch_on(2, 6000, 9000, 10000);
	p = plan();
	cr_assert(p.only_stream && !p.only_one, "a wait before its record");
	replay_plan_release(&p);
}

/* A synchronize of one stream leaves the other one's work: the harness' wait is no substitute. */
Test(small_replay_plan, a_wait_for_a_part_is_played)
{
	static const enum replay_kind kinds[] = { ACT_KERNEL, ACT_KERNEL, ACT_SYNC_STREAM };
	struct replay_plan p;

	begin();
	launch_on(2, 1000, 4000, 5000);
	launch_on(4, 4000, 7000, 90000);
	made_call(&trace, "sync_stream", 7000, 8000, ",\"stream\":2");
	p = plan();
	kinds_are(&p, 3, kinds);
	cr_assert(p.only_one && !p.ends_waiting && p.stream[1].open, "waits");
	replay_plan_release(&p);
}

/* The legacy stream waits for others: none of them can be the harness'. */
Test(small_replay_plan, the_legacy_stream_stays_what_it_is)
{
	struct replay_plan p;

	begin();
	launch_on(1, 1000, 4000, 5000);
	p = plan();
	cr_assert(p.main == 0, "alone");
	replay_plan_release(&p);
	begin();
	launch_on(1, 1000, 4000, 5000);
	launch_on(2, 4000, 7000, 8000);
	p = plan();
	cr_assert(p.main == -1 && p.only_stream && p.stream[0].open, "with another");
	replay_plan_release(&p);
}

/* One block where nothing runs beside it, else the grid. */
Test(small_replay_plan, kernels_beside_others_keep_their_grid)
{
	struct replay_plan p;

	begin();
	launch_on(2, 1000, 4000, 9000);
	launch_on(4, 4000, 8000, 15000);
	launch_on(4, 7000, 15000, 16000);
	p = plan();
	cr_assert(p.act[0].blocks == 2 && p.act[0].threads == 32, "%d", p.act[0].blocks);
	cr_assert(p.act[1].blocks == 2 && p.act[2].blocks == 1, "%d", p.act[2].blocks);
	replay_plan_release(&p);
}

/* ---- graphs, polling, memory -------------------------------------------------------------- */

Test(small_replay_plan, graphs_have_their_nodes_and_the_time_of_kernels)
{
	struct replay_plan p;

	begin();
	for (int i = 0; i < 2; i++) {
		made_call(&trace, "graph_launch", 1000 + i * 50000, 3000 + i * 50000,
			  ",\"stream\":2,\"graph\":1");
		made_op(&trace, "graph", 2, 5000 + i * 50000, 35000 + i * 50000,
			i ? ",\"graph\":1,\"busy_ns\":20000" : ",\"graph\":1,\"busy_ns\":10000");
	}
	p = plan();
	cr_assert(p.graphs == 1 && p.graph[0].nodes == 10 && p.graph[0].kernels == 10, "nodes");
	cr_assert(p.graph[0].number == 2 && p.counters == 10 && p.only_stream, "launches");
	is_near(p.graph[0].ns, 15000, "kernels");
	replay_plan_release(&p);
}

Test(small_replay_plan, queries_in_a_row_are_one_wait)
{
	static const enum replay_kind kinds[] = { ACT_KERNEL, ACT_POLL, ACT_KERNEL };
	struct replay_plan p;

	begin();
	made_kernel(&trace, 2, 1000, 4000, 50000);
	for (int i = 0; i < 10; i++)
		made_call(&trace, "query", 4000 + i * 5000, 8000 + i * 5000, ",\"stream\":2");
	made_kernel(&trace, 2, 60000, 64000, 65000);
	p = plan();
	kinds_are(&p, 3, kinds);
	cr_assert(p.only_one, "a wait");
	replay_plan_release(&p);
}

static void add_memory(void)
{
	made_kernel(&trace, 2, 1000, 4000, 5000);
	made_call(&trace, "alloc", 10000, 13000, ",\"bytes\":4096,\"memory\":\"device\"");
	made_kernel(&trace, 2, 14000, 20000, 50000);
	made_call(&trace, "free", 17000, 52000, "");
	made_call(&trace, "alloc", 53000, 54000, ",\"bytes\":64,\"memory\":\"device\"");
	made_kernel(&trace, 2, 55000, 60000, 61000);
}

/* Memory is held: its calls take their time, and a free that waited for the device waits. */
Test(small_replay_plan, calls_of_memory_take_their_time_or_are_made)
{
	static const enum replay_kind held[] = { ACT_KERNEL, ACT_KERNEL, ACT_SYNC_DEVICE,
						 ACT_KERNEL };
	static const enum replay_kind made[] = { ACT_KERNEL, ACT_ALLOC, ACT_KERNEL,
						 ACT_FREE,   ACT_HOST,	ACT_KERNEL };
	struct replay_plan p;

	begin();
	add_memory();
	p = plan();
	kinds_are(&p, 4, held);
	is_near(p.act[1].gap_ns, 7000 + 3000 + 1000, "with the allocation");
	is_near(p.act[3].gap_ns, 2000 + 1000 + 1000 + 1000, "with the free, behind its wait");
	replay_plan_release(&p);
	begin();
	add_memory();
	p = plan_with((struct replay_opts){ .allocations = REPLAY_MADE });
	kinds_are(&p, 6, made);
	cr_assert(p.blocks == 1 && p.act[1].place == 0 && p.act[3].place == 0, "a pair");
	cr_assert(p.act[3].bytes == 4096, "bytes");
	replay_plan_release(&p);
}

/* Calls of memory: of two ways and three sizes; of a free the size may not be known. */
enum { CALLS = 600 };

struct memory_call {
	bool frees, async;
	long bytes; /* 0: not known */
	int64_t block;
};

static void make_calls(struct memory_call *call)
{
	static const long sizes[] = { 64, 4096, 100000 };
	uint32_t r = 12345;

	for (int i = 0; i < CALLS; i++) {
		r = r * 1664525u + 1013904223u;
		call[i] = (struct memory_call){ r >> 31, r >> 28 & 1, sizes[(r >> 20) % 3], -1 };
		if (call[i].frees && r >> 29 & 1)
			call[i].bytes = 0;
	}
}

/* A kernel before and behind them. */
static void add_calls(const struct memory_call *call)
{
	made_kernel(&trace, 2, 1000, 4000, 5000);
	for (long i = 0, t = 10000; i < CALLS; i++, t += 1000) {
		char more[100];

		snprintf(more, sizeof(more), ",\"bytes\":%ld,\"memory\":\"device\"%s",
			 call[i].bytes, call[i].async ? ",\"async\":true" : "");
		made_call(&trace, call[i].frees ? "free" : "alloc", t, t + 500, more);
	}
	made_kernel(&trace, 2, 20000 + 1000 * CALLS, 24000 + 1000 * CALLS, 25000 + 1000 * CALLS);
}

/* The last allocation that the free may be for, looked for one after the other; -1: none. */
static int last_for(const struct memory_call *call, int i, int from, int to)
{
	for (int k = from - 1; k >= to; k--)
		if (!call[k].frees && call[k].block < 0 && call[k].async == call[i].async &&
		    (!call[i].bytes || call[i].bytes == call[k].bytes))
			return k;
	return -1;
}

/* In the same step, or in the one before. Returns the blocks, and how many of them were kept. */
static int64_t pair_calls(struct memory_call *call, int64_t *kept)
{
	int64_t blocks = 0;

	*kept = 0;
	for (int before = 0; before < 2; before++)
		for (int i = 0; i < CALLS; i++) {
			int k = !call[i].frees || call[i].block >= 0 ? -1
				: before			     ? last_for(call, i, CALLS, i)
								     : last_for(call, i, i, 0);

			if (k < 0)
				continue;
			call[i].block = call[k].block = blocks++;
			*kept += before;
		}
	return blocks;
}

Test(small_replay_plan, a_free_is_for_the_last_allocation_that_it_fits)
{
	static struct memory_call call[CALLS];
	int64_t kept, blocks, left = 0;
	struct replay_plan p;

	make_calls(call);
	begin();
	add_calls(call);
	p = plan_with((struct replay_opts){ .allocations = REPLAY_MADE });
	blocks = pair_calls(call, &kept);
	cr_assert(p.acts == CALLS + 2 && p.blocks == blocks, "%ld of %ld", (long)p.blocks,
		  (long)blocks);
	cr_assert(kept > 0 && kept < blocks && 2 * blocks < CALLS, "each kind is there");
	for (int i = 0; i < CALLS; i++)
		cr_assert(p.act[i + 1].place == call[i].block, "call %d: %ld, not %ld", i,
			  (long)p.act[i + 1].place, (long)call[i].block);
	for (int64_t i = 0; i < blocks; i++)
		left += p.kept[i];
	cr_assert(left == kept, "%ld kept", (long)left);
	replay_plan_release(&p);
}

/* ---- threads ------------------------------------------------------------------------------ */

/* Calls of two threads are made by one: a gap is from the end of whatever came before. */
Test(small_replay_plan, threads_are_one)
{
	struct replay_plan p;

	begin();
	made_kernel(&trace, 2, 1000, 4000, 5000);
	made_call(&trace, "launch", 6000, 8000, ",\"thread\":1");
	made_op(&trace, "kernel", 2, 9000, 10000, "");
	made_kernel(&trace, 2, 12000, 15000, 16000);
	p = plan();
	cr_assert(p.threads == 2, "%d threads", p.threads);
	is_near(p.act[1].gap_ns, 3000, "of the second");
	is_near(p.act[2].gap_ns, 4000, "of the first again");
	replay_plan_release(&p);
}

/* What the recorder adds to it and to calls without rows is no part of it. */
Test(small_replay_plan, gaps_of_several_threads_are_without_the_recorder)
{
	struct replay_plan p;

	made_begin(
		&trace, "",
		"{\"launch_call_ns\":[2000,2000,2000],\"launch_and_wait_ns\":[10000,10000,10000],"
		"\"gap_ns\":[1000,1000,1000],\"recorder\":{\"call_ns\":100,\"kernel_ns\":1000,"
		"\"not_recorded_ns\":150}}");
	made_kernel(&trace, 2, 1000, 4000, 5000);
	made_call(&trace, "launch", 6000, 8000, ",\"thread\":1,\"not_recorded\":6");
	made_op(&trace, "kernel", 2, 9000, 10000, "");
	p = plan();
	is_near(p.act[1].gap_ns, 3000 - 100 - 6 * 150, "of the second");
	replay_plan_release(&p);
}

/* ---- the program's own time --------------------------------------------------------------- */

/* Two calls of 4 make a step, of 292 us. */
static struct replay_plan two_of_four(const char *calibration)
{
	struct replay_opts o = { 0 };
	struct replay_plan p;

	made_begin(&trace, "", calibration);
	made_call(&trace, "other", 1000, 2000, "");
	made_kernel(&trace, 2, 100000, 104000, 105000);
	made_kernel(&trace, 2, 390000, 394000, 395000);
	made_call(&trace, "other", 500000, 501000, "");
	made_end(&trace, 1000000, 3, 900000);
	o.trace = trace.path;
	cr_assert(!replay_plan_make(&p, &o), "plan");
	made_remove(&trace);
	return p;
}

/* The recorder added 100 us to all of it; the step's 2 of 4 calls have half of them. */
Test(small_replay_plan, time_without_the_recorder_is_by_the_runs_without_it)
{
	struct replay_plan p = two_of_four(NULL);

	is_near(p.recorded_ns, 292000, "recorded");
	is_near(p.program_ns, 242000, "without the recorder");
	replay_plan_release(&p);
}

/* It added 40 us before each call of the program, which the trace's calibration says. */
Test(small_replay_plan, time_without_the_recorder_is_re_timed)
{
	static const char calibration[] = "{\"launch_call_ns\":[2000,2000,2000],"
					  "\"launch_and_wait_ns\":[10000,10000,10000],"
					  "\"gap_ns\":[1000,1000,1000],\"window\":null,"
					  "\"recorder\":{\"call_ns\":40000,\"pace_ns\":0,"
					  "\"kernel_ns\":1000}}";
	struct replay_plan p = two_of_four(calibration);

	is_near(p.recorded_ns, 292000, "recorded");
	is_near(p.program_ns, 252000, "without the recorder");
	replay_plan_release(&p);
}

/* Three times a call, a launch and a call, 20 us. */
Test(small_replay_plan, a_period_is_re_timed_as_the_whole_is)
{
	struct replay_opts o = { .part = REPLAY_PERIOD };
	struct replay_plan p;

	begin();
	made_call(&trace, "other", 1000, 2000, "");
	made_row(&trace,
		 "{\"record\":\"fold\",\"times\":3,\"t0\":2000,\"t1\":62000,\"body\":["
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"other\","
		 "\"gap_ns\":[[9000,3]],\"took_ns\":[[1000,3]]},"
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"launch\",\"stream\":2,"
		 "\"gap_ns\":[[3000,3]],\"took_ns\":[[2000,3]],\"op\":{\"record\":\"op\","
		 "\"kind\":\"kernel\",\"stream\":2,\"took_ns\":[[1000,3]],\"lag_ns\":[[5500,3]]}},"
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"other\","
		 "\"gap_ns\":[[4000,3]],\"took_ns\":[[1000,3]]}]}");
	trace.calls += 9; /* the fold's */
	trace.ops += 3;
	made_end(&trace, 100000, 0, 0);
	o.trace = trace.path;
	o.kernels = 100;
	cr_assert(!replay_plan_make(&p, &o), "plan");
	made_remove(&trace);
	cr_assert(p.repeats == 3, "%ld", (long)p.repeats);
	/* the first turn's gap is before its first call */
	is_near(p.program_ns, (60000 - 9000) / 3.0, "without the recorder");
	replay_plan_release(&p);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void is_refused(struct replay_opts o, int err, const char *what)
{
	struct replay_plan p;
	const char *text;
	int found;

	divert_stderr();
	found = replay_plan_make(&p, &o);
	text = diverted_stderr();
	cr_assert(found == err, "%s: %d", what, found);
	cr_assert(is_one_complaint(text) && tells(text, what), "%s: %s", what, text);
	replay_plan_release(&p);
}

Test(small_replay_plan, bad_files_get_one_line)
{
	is_refused((struct replay_opts){ .trace = "/tmp/rift-no-such.trace" }, -ENOENT,
		   "/tmp/rift-no-such.trace");
	begin();
	made_call(&trace, "other", 1000, 2000, "");
	made_end(&trace, 100000, 0, 0);
	is_refused((struct replay_opts){ .trace = trace.path }, -EINVAL, "the device no work");
	made_remove(&trace);
	begin();
	made_kernel(&trace, 2, 1000, 4000, 5000);
	made_end(&trace, 100000, 0, 0);
	is_refused((struct replay_opts){ .trace = trace.path, .part = REPLAY_PERIOD }, -EINVAL,
		   "part=whole");
	made_remove(&trace);
	begin();
	made_row(&trace, "{\"record\":\"call\",\"id\":1}");
	fclose(trace.out);
	is_refused((struct replay_opts){ .trace = trace.path }, -EINVAL, ":10: *t0");
	made_remove(&trace);
}

/* Without times of the device nothing says how long kernels are. */
Test(small_replay_plan, a_graph_of_too_many_nodes_is_refused)
{
	begin();
	made_row(&trace, "{\"record\":\"graph\",\"id\":2,\"nodes\":4000000000,\"kernels\":0}");
	launch_on(2, 1000, 4000, 9000);
	made_end(&trace, 20000, 0, 0);
	is_refused((struct replay_opts){ .trace = trace.path }, -EFBIG, "a graph of 4000000000");
	made_remove(&trace);
}

Test(small_replay_plan, a_trace_that_is_not_whole_is_refused)
{
	begin();
	launch_on(2, 1000, 4000, 9000);
	made_row(&trace, "{\"record\":\"failed\",\"why\":\"No space left on device\"}");
	fclose(trace.out);
	trace.out = NULL;
	is_refused((struct replay_opts){ .trace = trace.path }, -EIO, "No space left on device");
	made_remove(&trace);
}

/* Its program was killed: what is there can be played, and the plan says so. */
Test(small_replay_plan, a_trace_without_end_is_told)
{
	struct replay_plan p;

	begin();
	launch_on(2, 1000, 4000, 9000);
	fclose(trace.out);
	trace.out = NULL;
	cr_assert(
		!replay_plan_make(&p, &(struct replay_opts){ .trace = trace.path, .kernels = 100 }),
		"plan");
	cr_assert(p.has_no_end, "no end");
	replay_plan_release(&p);
	made_remove(&trace);
	begin();
	launch_on(2, 1000, 4000, 9000);
	p = plan();
	cr_assert(!p.has_no_end, "an end");
	replay_plan_release(&p);
}

Test(small_replay_plan, a_trace_of_calls_alone_is_refused)
{
	char path[] = "/tmp/rift-replay-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");

	fputs("{\"record\":\"trace\",\"trace\":\"1.0\",\"device_times\":\"none\"}\n"
	      "{\"record\":\"end\",\"t\":1,\"calls\":0,\"ops\":0,\"dropped\":0}\n",
	      f);
	fclose(f);
	is_refused((struct replay_opts){ .trace = path }, -EINVAL, "no times of the device");
	remove(path);
}
