/*
 * test_replay_steps.c - steps of traces that are written row by row, and of the built-in pattern,
 * played on a device: what they leave behind, and what the check has to find.
 */
#include "tests/plain.h"
#include "workloads/replay/replay.h"

#include <signal.h>

#include "common/interrupt.h"
#include "common/timing.h"
#include "tests/cli.h"
#include "tests/made_trace.h"

#define RUN replay
#include "tests/workload_run.h"

TestSuite(small_replay_steps, .timeout = 300);

enum { STEPS = 5 };

static struct made trace;

static struct run *begin_with(struct replay_opts o)
{
	need_device();
	o.kernels = 100;
	return run_begin(o);
}

static struct run *begin_pattern(void)
{
	return begin_with((struct replay_opts){ 0 });
}

/* Ends the trace, and sets up a run of it. */
static struct run *begin_trace(struct replay_opts o)
{
	struct run *r;

	made_end(&trace, 100000000, 0, 0);
	o.trace = trace.path;
	r = begin_with(o);
	made_remove(&trace);
	return r;
}

static void passes(struct run *r, int64_t steps, const char *what)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(v.passed, "%s: %s", what, v.worst);
	cr_assert(v.compared == v.total && v.total > 0, "%s: compared %ld of %ld", what,
		  (long)v.compared, (long)v.total);
}

static void fails(struct run *r, int64_t steps, const char *what)
{
	cr_assert(!run_check(r, steps, true).passed, "%s", what);
}

/* ---- the built-in pattern ----------------------------------------------------------------- */

Test(small_replay_steps, the_pattern_passes_in_each_mode)
{
	struct run *r = begin_pattern();
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	run_steps(r, STEPS);
	passes(r, STEPS, "stream");
	run_reset(r);
	graph = run_capture(r, STEPS);
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	run_reset(r);
	for (int i = 0; i < 3; i++)
		CUDA(cudaGraphLaunch(exec, r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	r->graph_steps = STEPS;
	passes(r, 3 * STEPS, "graphs");
	fails(r, 3 * STEPS - 1, "a step more in graphs");
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
	run_end(r);
}

Test(small_replay_steps, the_check_finds_what_is_wrong)
{
	struct run *r = begin_pattern();
	unsigned long long count, more;
	char *last = r->s.area[0].base + 4095;

	run_steps(r, STEPS);
	fails(r, STEPS - 1, "a step too many");
	fails(r, STEPS + 1, "a step too few");
	CUDA(cudaMemcpy(&count, r->s.count, sizeof(count), cudaMemcpyDeviceToHost));
	more = count + 1;
	CUDA(cudaMemcpy(r->s.count, &more, sizeof(more), cudaMemcpyHostToDevice));
	fails(r, STEPS, "a kernel that ran twice");
	CUDA(cudaMemcpy(r->s.count, &count, sizeof(count), cudaMemcpyHostToDevice));
	CUDA(cudaMemset(last, 0, 1));
	fails(r, STEPS, "the last byte of a copy to the device");
	run_reset(r);
	run_steps(r, STEPS);
	r->s.area[1].base[4096] ^= 1;
	fails(r, STEPS, "a byte behind a copy to the host");
	r->s.area[1].base[4096] ^= 1;
	passes(r, STEPS, "as it was");
	run_end(r);
}

/* The bytes of a step are not those of the one before: a copy that was not made is seen. */
Test(small_replay_steps, a_copy_that_is_missing_is_found)
{
	struct run *r = begin_pattern();
	char before[4096];

	run_steps(r, STEPS - 1);
	memcpy(before, r->s.area[1].base, sizeof(before));
	run_steps(r, 1);
	passes(r, STEPS, "all made");
	memcpy(r->s.area[1].base, before, sizeof(before));
	fails(r, STEPS, "the last copy to the host");
	run_end(r);
}

/* ---- traces ----------------------------------------------------------------------------- */

static void add_copy(long t0, const char *direction, const char *memory, bool async, int bytes)
{
	char more[128];

	made_call(&trace, "copy", t0, t0 + 1000, async ? ",\"async\":true" : "");
	snprintf(more, sizeof(more), ",\"direction\":\"%s\",\"memory\":\"%s\",\"bytes\":%d",
		 direction, memory, bytes);
	made_op(&trace, "copy", 2, t0 + 100, t0 + 900, more);
}

/* Each kind of memory and direction, sizes that end within a word, and two alike. */
Test(small_replay_steps, copies_of_each_kind_arrive)
{
	static const char *const memories[] = { "pinned", "pageable", "mapped", "managed" };
	struct run *r;
	long t = 1000;

	made_begin(&trace, "", MADE_CALIBRATION);
	for (int m = 0; m < 4; m++)
		for (int async = 0; async < 2; async++, t += 6000) {
			add_copy(t, "to_device", memories[m], async, 1 + 100 * m);
			add_copy(t + 2000, "to_host", memories[m], async, 1000);
			add_copy(t + 4000, "within", memories[m], async, 7);
		}
	made_call(&trace, "memset", t, t + 500, "");
	made_op(&trace, "memset", 2, t + 1000, t + 1100, ",\"bytes\":300");
	r = begin_trace((struct replay_opts){ 0 });
	cr_assert(r->s.plan.number[ACT_COPY] == 24, "copies");
	for (int i = 1; i <= STEPS; i++) {
		run_steps(r, 1);
		passes(r, i, "copies");
	}
	CUDA(cudaMemset(r->s.area[r->s.plan.areas - 1].base + 299, 0, 1));
	fails(r, STEPS, "the last byte that is set");
	run_end(r);
}

/* Kernels, events, a graph, a host function, waits of each kind, memory: all that a step has. */
static void add_everything(void)
{
	made_kernel(&trace, 2, 1000, 4000, 9000);
	made_call(&trace, "record", 4000, 4500, ",\"stream\":2,\"event\":3");
	made_call(&trace, "wait_event", 5000, 5500, ",\"stream\":4,\"event\":3");
	made_kernel(&trace, 4, 6000, 9000, 12000);
	made_call(&trace, "graph_launch", 9000, 9900, ",\"stream\":2,\"graph\":1");
	made_op(&trace, "graph", 2, 12000, 22000, ",\"graph\":1,\"busy_ns\":9000");
	made_call(&trace, "hostfunc", 10000, 10500, ",\"stream\":2");
	made_op(&trace, "hostfunc", 2, 23000, 24000, "");
	made_call(&trace, "sync_event", 11000, 11500, ",\"event\":3");
	made_call(&trace, "query", 12000, 12100, ",\"stream\":2");
	made_call(&trace, "sync_stream", 13000, 25000, ",\"stream\":2");
	made_call(&trace, "alloc", 26000, 27000, ",\"bytes\":4096,\"memory\":\"device\"");
	made_call(&trace, "alloc", 27000, 28000, ",\"bytes\":64,\"memory\":\"pinned\"");
	made_call(&trace, "alloc", 28000, 29000, ",\"bytes\":64,\"async\":true,\"stream\":2");
	made_call(&trace, "free", 29000, 30000, ",\"memory\":\"device\"");
	made_call(&trace, "free", 30000, 31000, ",\"memory\":\"pinned\"");
	made_call(&trace, "free", 31000, 32000, ",\"async\":true,\"stream\":2");
	made_kernel(&trace, 4, 33000, 36000, 37000);
	made_call(&trace, "sync_device", 36000, 38000, "");
}

Test(small_replay_steps, all_that_a_step_may_have_is_played)
{
	for (int i = 0; i < 4; i++) {
		struct run *r;

		made_begin(&trace, "", MADE_CALIBRATION);
		add_everything();
		r = begin_trace((struct replay_opts){ .waits = i % 2, .allocations = i / 2 });
		cr_assert(r->s.plan.number[ACT_ALLOC] == (i / 2 ? 3 : 0), "%ld allocations",
			  (long)r->s.plan.number[ACT_ALLOC]);
		run_steps(r, STEPS);
		passes(r, STEPS, i % 2 ? "waits=left" : "waits=kept");
		run_reset(r);
		run_steps(r, 1);
		passes(r, 1, "again");
		run_end(r);
	}
}

/* The legacy stream and one that it waits for; the harness' own waits for both. */
Test(small_replay_steps, the_legacy_stream_is_played)
{
	struct run *r;

	made_begin(&trace, "", MADE_CALIBRATION);
	made_kernel(&trace, 1, 1000, 4000, 9000);
	made_kernel(&trace, 2, 4000, 10000, 15000);
	r = begin_trace((struct replay_opts){ 0 });
	run_steps(r, STEPS);
	passes(r, STEPS, "legacy");
	run_end(r);
}

/* Streams that have nothing to do with each other are parts of a capture too. */
Test(small_replay_steps, all_streams_are_captured)
{
	cudaGraph_t graph;
	struct run *r;
	size_t nodes = 0;

	made_begin(&trace, "", MADE_CALIBRATION);
	made_kernel(&trace, 2, 1000, 4000, 9000);
	made_kernel(&trace, 4, 4000, 7000, 12000);
	made_kernel(&trace, 3, 7000, 10000, 15000);
	r = begin_trace((struct replay_opts){ 0 });
	graph = run_capture(r, STEPS);
	CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
	cr_assert(nodes == 3 * STEPS, "%zu nodes", nodes);
	CUDA(cudaGraphDestroy(graph));
	run_end(r);
}

/* Grids of kernels beside others are counted block by block, and no larger than a wave. */
Test(small_replay_steps, each_block_is_counted)
{
	struct run *r;

	made_begin(&trace, "", MADE_CALIBRATION);
	for (int i = 0; i < 2; i++) {
		made_call(&trace, "launch", 1000 + 3000 * i, 3000 + 3000 * i, "");
		made_op(&trace, "kernel", 2 + 2 * i, 8000, 9000,
			",\"grid\":[100,1000,10],\"block\":[8,1,1]");
	}
	r = begin_trace((struct replay_opts){ 0 });
	cr_assert(r->s.plan.act[0].blocks >= 1 && r->s.plan.act[0].blocks < 1000000, "%d blocks",
		  r->s.plan.act[0].blocks);
	run_steps(r, STEPS);
	passes(r, STEPS, "blocks");
	run_end(r);
}

/* However the thread waits, and whatever calls cost: never shorter. */
Test(small_replay_steps, gaps_are_waited)
{
	for (int slept = 0; slept < 2; slept++) {
		struct run *r;
		int64_t begin;

		made_begin(&trace, "", MADE_CALIBRATION);
		made_kernel(&trace, 2, 1000, 4000, 5000);
		made_call(&trace, "launch", 5003000, 5005000,
			  slept ? ",\"cpu_ns\":1000" : ",\"cpu_ns\":5000000");
		made_op(&trace, "kernel", 2, 5008000, 5009000, "");
		r = begin_trace((struct replay_opts){ 0 });
		cr_assert(r->s.plan.act[1].sleeps == slept, "slept %d", slept);
		begin = timing_now_ns();
		run_steps(r, 1);
		cr_assert(timing_now_ns() - begin >= 5000000, "slept %d", slept);
		run_end(r);
	}
}

/* ---- rows of `rift run` ------------------------------------------------------------------- */

static const char *row_text(const struct report *r, const char *name)
{
	for (int i = 0; i < r->n; i++)
		if (!strcmp(r->row[i].name, name))
			return r->row[i].text;
	return "";
}

/* Which program it is; without one, what is missing. */
Test(small_replay_steps, rows_say_what_is_played)
{
	struct report report = { 0 };
	struct run *r = begin_pattern();

	cr_assert(!workload_replay.report(&r->o, &r->s, &report), "report");
	cr_assert(strstr(row_text(&report, "program"), "trace=FILE"), "%s",
		  row_text(&report, "program"));
	run_end(r);
	for (int other = 0; other < 2; other++) { /* without a name and an end */
		made_begin(&trace, "", MADE_CALIBRATION);
		made_kernel(&trace, 2, 1000, 4000, 9000);
		r = begin_trace((struct replay_opts){ 0 });
		if (other)
			*r->s.plan.program = '\0';
		r->s.plan.has_no_end = other;
		report = (struct report){ 0 };
		cr_assert(!workload_replay.report(&r->o, &r->s, &report), "report");
		cr_assert(strstr(row_text(&report, "program"), other ? "not name" : "./app x"),
			  "%s", row_text(&report, "program"));
		cr_assert(!!strstr(row_text(&report, "trace"), "no end") == other, "row");
		run_end(r);
	}
}

/* ---- Ctrl-C ------------------------------------------------------------------------------- */

/* A gap of 1,000 s is not waited to its end, nor is what comes behind it played. */
Test(small_replay_steps, steps_end_on_control_c)
{
	struct run *r;

	made_begin(&trace, "", MADE_CALIBRATION);
	made_kernel(&trace, 2, 1000, 4000, 9000);
	made_kernel(&trace, 2, 1000000000000, 1000000004000, 1000000009000);
	r = begin_trace((struct replay_opts){ 0 });
	signal(SIGINT, SIG_DFL);
	interrupt_install();
	raise(SIGINT);
	cr_assert(workload_replay.step(&r->o, &r->s, r->stream) == -EINTR, "step");
	cr_assert(r->s.steps == 0, "%ld steps", (long)r->s.steps);
	run_end(r);
}

/* ---- cost and limits -------------------------------------------------------------------- */

Test(small_replay_steps, costs_are_counted)
{
	struct run *r;
	struct cost cost;
	struct limits limits = { 0 };

	made_begin(&trace, "", MADE_CALIBRATION);
	add_everything();
	add_copy(40000, "to_device", "pageable", true, 1000);
	add_copy(42000, "within", "device", true, 100);
	r = begin_trace((struct replay_opts){ 0 });
	cr_assert(!workload_replay.cost(&r->o, &r->s, &cost), "cost");
	cr_assert(cost.launches == 4 && cost.allocations == 0, "%g launches", cost.launches);
	cr_assert(cost.to_device.calls == 1 && cost.to_device.bytes == 1000 && cost.pageable,
		  "to the device");
	cr_assert(cost.within.bytes == 100 && cost.bytes_transferred == 1000 &&
			  cost.bytes_moved == 1200,
		  "within");
	run_end(r);
	cr_assert(!workload_replay.limits(&(struct replay_opts){ .kernels = 100 }, &limits),
		  "limits");
	cr_assert(!limits.mode_refused[MODE_GRAPH] && !limits.depth_max && limits.depth_run == 16,
		  "the pattern");
}

/* A program that waits in each step: stream mode and depth 1, but where waits are left out. */
Test(small_replay_steps, programs_that_wait_are_not_batched)
{
	struct replay_opts o = { .kernels = 100 };
	struct limits kept = { 0 }, left = { 0 };

	made_begin(&trace, "", MADE_CALIBRATION);
	for (int i = 0; i < 2; i++) {
		made_kernel(&trace, 2, 1000 + i * 20000, 4000 + i * 20000, 9000 + i * 20000);
		made_call(&trace, "sync_device", 4000 + i * 20000, 10000 + i * 20000, "");
	}
	made_end(&trace, 100000000, 0, 0);
	o.trace = trace.path;
	cr_assert(!workload_replay.limits(&o, &kept), "kept");
	o.waits = REPLAY_LEFT;
	cr_assert(!workload_replay.limits(&o, &left), "left");
	cr_assert(kept.mode_refused[MODE_GRAPH] && kept.depth_max == 1 && kept.depth_why, "kept");
	cr_assert(kept.depth_run == 1 && !kept.mode_refused[MODE_STREAM], "kept");
	cr_assert(!left.mode_refused[MODE_GRAPH] && !left.depth_max, "left");
	refused(3, "--depth=4: *1: *waits=left", "run replay trace=%s --depth 4", trace.path);
	refused(3, "--mode=graph*waits=left", "run replay trace=%s --mode graph", trace.path);
	refused(3, "part=whole*trace=", "run replay part=whole");
	made_remove(&trace);
}
