/*
 * test_launch_modes.c - steps of the launch workload: the same bits in every mode and at every
 * depth, whatever the kernel, and streams that start and end together.
 */
#include "tests/plain.h"
#include "workloads/launch/test_steps.h"

enum { DEPTHS = 4 };

static const int64_t depths[DEPTHS] = { 1, 7, 64, 100 };

TestSuite(small_launch_modes, .timeout = 300);

/* Traces of the run's own steps, after the reset. */
static bool same(const struct run *r, const struct launch_slot *a, const struct launch_slot *b)
{
	return !memcmp(a, b, run_slots(r) * sizeof(*a));
}

static void modes_agree(struct run *r, int64_t n)
{
	struct launch_slot *stream, *graph, *fused;

	run_reset(r);
	run_steps(r, n);
	stream = run_traces(r);
	cr_assert(stream[run_slots(r) - 1].runs == (unsigned long long)n, "depth=%ld: runs",
		  (long)n);
	run_reset(r);
	run_graphs(r, n, 1);
	graph = run_traces(r);
	cr_assert(same(r, stream, graph), "depth=%ld: graph differs from stream", (long)n);
	if (r->o.streams == 1) {
		run_reset(r);
		run_fused(r, n);
		fused = run_traces(r);
		cr_assert(same(r, stream, fused), "depth=%ld: fused differs from stream", (long)n);
		free(fused);
	}
	cr_assert(run_check_all(r, n).passed, "depth=%ld", (long)n);
	free(stream);
	free(graph);
}

static void modes_agree_for(struct launch_opts o)
{
	struct run *r = run_begin(o);

	for (int i = 0; i < DEPTHS; i++)
		modes_agree(r, depths[i]);
	run_end(r);
}

Test(small_launch_modes, stream_graph_and_fused_give_the_same_bits)
{
	need_device();
	for (int args = 0; args < LAUNCH_ARGS_COUNT; args++)
		for (int width = 0; width <= LAUNCH_WIDTH_FULL; width++) {
			struct launch_opts o = default_opts();

			o.args = args;
			o.width = width;
			modes_agree_for(o);
			o.us = 1;
			modes_agree_for(o);
			o.kernel = LAUNCH_FILL_WORK;
			modes_agree_for(o);
		}
}

/*
 * As clients of rift share in one process have it: each has its own duration, and kernels of both
 * run in turn. The check sees whose chain ran, whose cycles were spun, and where traces were left.
 */
Test(small_launch_modes, two_states_of_a_process_have_kernels_of_their_own)
{
	need_device();
	for (int fill = LAUNCH_FILL_SPIN; fill <= LAUNCH_FILL_WORK; fill++) {
		struct run *a = run_begin(opts_for((enum launch_fill)fill, 5, 1));
		struct run *b = run_begin(opts_for((enum launch_fill)fill, 200, 2));
		struct launch_slot sum;

		for (int i = 0; i < 8; i++) {
			run_steps(a, 1);
			run_steps(b, 2);
		}
		cr_expect(run_check_all(a, 8).passed, "fill %d: 5 us", fill);
		cr_expect(run_check_all(b, 16).passed, "fill %d: 200 us", fill);
		CUDA(cudaMemcpy(&sum, b->s.config.slot, sizeof(sum), cudaMemcpyDeviceToHost));
		cr_expect(sum.runs == 16, "fill %d: %llu runs of the second", fill, sum.runs);
		run_end(b);
		run_end(a);
	}
}

/* Those that have ended leave room. */
Test(small_launch_modes, a_process_has_so_many_states_at_a_time)
{
	static struct launch_state s[LAUNCH_CONFIGS + 1];
	const struct launch_opts o = default_opts();
	const char *text;

	need_device();
	for (int i = 0; i < LAUNCH_CONFIGS; i++) {
		cr_assert(!workload_launch.setup(&o, &s[i]), "state %d", i);
		cr_assert(s[i].place == i + 1, "state %d: place %d", i, s[i].place);
	}
	divert_stderr();
	cr_expect(workload_launch.setup(&o, &s[LAUNCH_CONFIGS]) == -EBUSY, "one too many");
	text = diverted_stderr();
	cr_expect(is_one_complaint(text) && strstr(text, "at most 128"), "%s", text);
	workload_launch.teardown(&s[LAUNCH_CONFIGS]);
	workload_launch.teardown(&s[70]);
	cr_expect(!workload_launch.setup(&o, &s[70]) && s[70].place == 71, "its place again");
	for (int i = 0; i < LAUNCH_CONFIGS; i++)
		workload_launch.teardown(&s[i]);
}

Test(small_launch_modes, several_streams_and_the_other_entry_point_too)
{
	need_device();
	for (int64_t streams = 1; streams <= LAUNCH_STREAMS_MAX; streams *= 2) {
		struct launch_opts o = opts_for(LAUNCH_FILL_WORK, 1, streams);

		o.entry = LAUNCH_ENTRY_LAUNCHEX;
		o.args = LAUNCH_ARGS_256;
		modes_agree_for(o);
	}
}

Test(small_launch_modes, entry_points_and_runs_give_the_same_bits)
{
	struct launch_slot *slot[3];
	struct run *r = NULL;

	need_device();
	for (int i = 0; i < 3; i++) {
		struct launch_opts o = opts_for(LAUNCH_FILL_WORK, 2, 2);

		o.entry = i % 2;
		if (r)
			run_end(r);
		r = run_begin(o);
		run_steps(r, 20);
		slot[i] = run_traces(r);
	}
	cr_assert(same(r, slot[0], slot[1]), "launch and launchex differ");
	cr_assert(same(r, slot[0], slot[2]), "two runs differ");
	run_end(r);
	for (int i = 0; i < 3; i++)
		free(slot[i]);
}

Test(small_launch_modes, graphs_that_run_again_count_again)
{
	need_device();
	for (int entry = 0; entry < 2; entry++) {
		struct launch_opts o = opts_for(LAUNCH_FILL_WORK, 1, 4);
		struct run *r;

		o.entry = entry;
		r = run_begin(o);
		run_graphs(r, 5, 3);
		cr_assert(run_check_all(r, 15).passed, "entry %d: 3 launches of 5 steps", entry);
		cr_assert(!run_check_all(r, 5).passed, "entry %d: not of 5", entry);
		run_end(r);
	}
}

/* Kernels of a step start from one point and the next step waits for all of them. */
static size_t dependency_count(cudaGraphNode_t node)
{
	size_t n = 0;

#if CUDART_VERSION >= 13000
	CUDA(cudaGraphNodeGetDependencies(node, NULL, NULL, &n));
#else
	CUDA(cudaGraphNodeGetDependencies(node, NULL, &n));
#endif
	return n;
}

Test(small_launch_modes, a_step_forks_and_joins)
{
	enum { STREAMS = 4, STEPS = 3, NODES = STREAMS * STEPS };
	cudaGraphNode_t node[NODES];
	size_t n = 0, roots = 0;
	cudaGraph_t graph;
	struct run *r;

	need_device();
	r = run_begin(opts_for(LAUNCH_FILL_SPIN, 0, STREAMS));
	graph = run_capture(r, STEPS);
	CUDA(cudaGraphGetNodes(graph, NULL, &n));
	cr_assert(n == NODES, "%zu nodes", n);
	CUDA(cudaGraphGetNodes(graph, node, &n));
	for (size_t i = 0; i < n; i++) {
		size_t needs = dependency_count(node[i]);

		cr_assert(needs == 0 || needs == STREAMS, "node %zu waits for %zu", i, needs);
		roots += needs == 0;
	}
	cr_assert(roots == STREAMS, "%zu kernels of the first step start at once", roots);
	CUDA(cudaGraphDestroy(graph));
	run_end(r);
}

/* A reset brings this state's own sizes back, whichever state was used last. */
Test(small_launch_modes, two_states_do_not_mix)
{
	struct run *a, *b;

	need_device();
	a = run_begin(opts_for(LAUNCH_FILL_WORK, 1, 2));
	b = run_begin(opts_for(LAUNCH_FILL_WORK, 3, 1));
	run_steps(b, 4);
	run_reset(a);
	run_steps(a, 5);
	cr_assert(run_check_all(a, 5).passed, "the first");
	cr_assert(run_check_all(b, 4).passed, "the second, as it was left");
	run_end(a);
	run_end(b);
}
