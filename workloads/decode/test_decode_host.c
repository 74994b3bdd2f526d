/* test_decode_host.c - output=host: tokens on the host, of steps in a stream and in graphs. */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"

#include "workloads/decode/test_decode.h"

TestSuite(small_decode_host, .timeout = 300);

enum { BATCH = 2, LONG = 2, STEPS = 7 };

static struct run *begin(void)
{
	struct decode_opts o = golden_opts(GOLDEN_TIED, DECODE_FP32);
	struct run *r;

	need_device();
	o.batch = BATCH;
	o.positions = 24; /* one lap: few tokens come twice */
	o.output = DECODE_TO_HOST;
	r = run_begin(o);
	cr_assert(r->s.host && *r->s.host == UINT32_MAX, "no step has written there yet");
	return r;
}

static cudaGraphExec_t executable(struct run *r, int64_t steps)
{
	cudaGraph_t graph = run_capture(r, steps);
	cudaGraphExec_t exec;

	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphDestroy(graph));
	return exec;
}

/* As the harness does for a depth of 3: graphs of 2 steps and of 1, by turns, from a reset on. */
static struct run *begin_graphs(void)
{
	struct run *r = begin();
	cudaGraphExec_t two = executable(r, LONG), one = executable(r, 1);

	run_reset(r);
	r->graph_steps = LONG;
	for (int i = 0; i < STEPS / (LONG + 1); i++) {
		CUDA(cudaGraphLaunch(two, r->stream));
		CUDA(cudaGraphLaunch(one, r->stream));
	}
	CUDA(cudaGraphLaunch(one, r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	CUDA(cudaGraphExecDestroy(two));
	CUDA(cudaGraphExecDestroy(one));
	return r;
}

/* The slot that the graph of 1 step has written: the first after those of the other. */
static uint32_t *last_slot(struct run *r)
{
	int slot = DECODE_HOST_SLOTS - 1;

	while (r->s.host[slot * BATCH] == UINT32_MAX)
		slot--;
	return &r->s.host[slot * BATCH];
}

Test(small_decode_host, graphs_of_two_lengths_pass)
{
	struct run *r = begin_graphs();

	run_passes(r, STEPS);
	run_end(r);
}

Test(small_decode_host, another_token_of_a_graph_is_found)
{
	struct run *r = begin_graphs();

	last_slot(r)[1] ^= 64;
	run_fails(r, STEPS, "the last step's token");
	last_slot(r)[1] ^= 64;
	run_passes(r, STEPS);
	(last_slot(r) - BATCH)[1] ^= 64;
	run_fails(r, STEPS, "an earlier step's token");
	run_end(r);
}

Test(small_decode_host, a_lost_copy_of_a_graph_is_found)
{
	struct run *r = begin_graphs();

	memset(last_slot(r), 0xff, BATCH * sizeof(uint32_t));
	run_fails(r, STEPS, "the last copy lost");
	run_end(r);
}

/* The last step's tokens are there, those of others are not. */
Test(small_decode_host, too_few_copies_of_a_graph_are_found)
{
	struct run *r = begin_graphs();

	for (int slot = 0; slot < DECODE_HOST_SLOTS; slot++)
		if (&r->s.host[slot * BATCH] != last_slot(r))
			memset(&r->s.host[slot * BATCH], 0xff, BATCH * sizeof(uint32_t));
	run_fails(r, STEPS, "the others lost");
	run_end(r);
}

/* The first of them is written again, and the second has an earlier step's tokens. */
Test(small_decode_host, slots_in_turn)
{
	struct run *r = begin();

	run_steps(r, DECODE_HOST_SLOTS + 1);
	run_passes(r, DECODE_HOST_SLOTS + 1);
	r->s.host[1] ^= 64;
	run_fails(r, DECODE_HOST_SLOTS + 1, "another token");
	r->s.host[1] ^= 64;
	memset(r->s.host + BATCH, 0xff, BATCH * sizeof(uint32_t));
	run_fails(r, DECODE_HOST_SLOTS + 1, "a lost copy");
	run_end(r);
}
