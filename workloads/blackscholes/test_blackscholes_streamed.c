/*
 * test_blackscholes_streamed.c - steps of data=streamed: every byte comes and goes, in blocks that
 * do not divide the arrays, from each kind of memory, with chunks that overlap.
 */
#include "tests/plain.h"
#include "tests/counted_back.h"
#include "workloads/blackscholes/test_options.h"

#include "tests/races.h"

TestSuite(small_blackscholes_streamed, .timeout = 300);
TestSuite(large_blackscholes_streamed, .timeout = 300);

enum { N = 20011, BLOCK = STREAMED_BLOCK_MIN }; /* arrays of 80,044 bytes: a block and a rest */

Test(small_blackscholes_streamed, blocks_and_their_rests)
{
	struct blackscholes_opts o = streamed_opts(N, BLOCK, 0);

	need_device();
	o.set.memory = STREAMED_PAGEABLE;
	o.set.slots = 3;
	run_streams(o, 2);
	run_streams(streamed_opts(1, 0, 0), 2);
	if (RACES)
		return;
	o.set.memory = STREAMED_PINNED;
	run_streams(o, 4);
	run_streams(streamed_opts(2 * BLOCK / 4, BLOCK, 0), 2); /* no rest */
}

Test(small_blackscholes_streamed, chunks_that_overlap)
{
	need_device();
	run_streams(streamed_opts(1025, 0, 16), 3); /* 17 groups of 64 in 16 chunks */
	run_streams(streamed_opts(RACES ? 5000 : N, BLOCK, 2), 3);
	if (!RACES)
		run_streams(streamed_opts(4 * N, BLOCK, 3), 3);
}

/* The same bits as data=resident, however they travel. */
Test(small_blackscholes_streamed, prices_are_those_of_resident_options)
{
	enum { FEW = 5000 };

	need_device();
	for (int overlap = 0; overlap <= 4; overlap += 4)
		run_same_bits(make_opts(FEW), streamed_opts(FEW, 0, overlap));
}

/* A graph repeats the slots that it saw when it was captured. */
Test(small_blackscholes_streamed, graphs_repeat_their_slots)
{
	struct blackscholes_opts o = streamed_opts(3000, 0, 0);
	struct run *r;

	need_device();
	o.set.slots = 3;
	for (o.set.overlap = 0; o.set.overlap <= 4; o.set.overlap += 4) {
		r = run_begin(o);
		run_graphs(r, 2, 2);
		run_passes(r, 4);
		run_fails(r, 2, "4 steps were counted");
		memset(host_out(r, 0, 1), SLOTS_POISON_REAL, 3000 * sizeof(float));
		run_fails(r, 4, "came back different from what was computed, slot 1, option 0");
		run_reset(r);
		run_fails(r, 4, "0 steps were counted");
		run_end(r);
	}
}

/* As the harness does it: captured, then reset, then launched. */
Test(small_blackscholes_streamed, graphs_from_before_the_reset)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(2000, 0, 2));
	graph = run_capture(r, 1);
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	run_reset(r);
	CUDA(cudaGraphLaunch(exec, r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	run_fails(r, 1, "no slot has answers"); /* of no graph does it know */
	r->graph_steps = 1;
	run_passes(r, 1);
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
	run_end(r);
}

/* Three streams: nothing comes in before the fork, the step ends when all is out. */
Test(small_blackscholes_streamed, chunks_fork_and_join)
{
	enum { CHUNKS = 4, ARRAYS = BLACKSCHOLES_INPUTS + BLACKSCHOLES_OUTPUTS };
	size_t nodes = 0;
	cudaGraph_t graph;
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(5000, 0, CHUNKS));
	graph = run_capture(r, 2);
	CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
	cr_assert(nodes == 2 * CHUNKS * (ARRAYS + 1), "%zu nodes", nodes);
	CUDA(cudaGraphDestroy(graph));
	run_end(r);
}

/* ---- what the check finds --------------------------------------------------------------- */

Test(small_blackscholes_streamed, the_check_finds_every_byte)
{
	const int64_t n = RACES ? 2051 : N;
	char *call, *put, says[64];
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(n, BLOCK, 0));
	call = (char *)host_out(r, 0, 0);
	put = (char *)host_out(r, 1, 1);
	run_steps(r, 2);
	run_passes(r, 2);
	call[0] ^= 1;
	run_fails(r, 2, "came back different from what was computed, slot 0, option 0");
	call[0] ^= 1;
	put[4 * n - 4] ^= 1; /* the last price of the short block */
	snprintf(says, sizeof(says), "different from what was computed, slot 1, option %d",
		 (int)n - 1);
	run_fails(r, 2, says);
	put[4 * n - 4] ^= 1;
	put[4 * n] = 0;
	snprintf(says, sizeof(says), "written where nothing was to be, slot 1, option %d", (int)n);
	run_fails(r, 2, says);
	put[4 * n] = -1;
	run_passes(r, 2);
	run_end(r);
}

/* Wrong inputs that travelled as they should: the reference makes its own. */
Test(small_blackscholes_streamed, the_check_finds_inputs_that_did_not_come)
{
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(3000, 0, 0));
	((float *)dataset_host(&r->s.set, 1, 0))[2999] = 50;
	run_steps(r, 1);
	run_fails(r, 1, "option 2999");
	run_end(r);
}

Test(large_blackscholes_streamed, more_than_are_compared_come_back_whole)
{
	struct run *r;
	struct verdict v;

	need_device();
	r = run_begin(streamed_opts(1300000, 1 << 20, 3));
	run_steps(r, 2);
	v = run_check(r, 2, false);
	cr_assert(v.passed && v.compared < v.total, "%g: %s", v.error, v.worst);
	((char *)host_out(r, 0, 0))[4 * 777777] ^= 1;
	v = run_check(r, 2, false);
	cr_assert(!v.passed && strstr(v.worst, "slot 0, option 777777"), "%s", v.worst);
	run_end(r);
}

/* Three slots of 2 MiB of prices each are more than is compared byte by byte here. */
Test(large_blackscholes_streamed, pieces_of_many_bytes_are_compared)
{
	enum { SLOTS = 3, WORDS = 1 << 20, LOOK = 4 * WORDS, STRETCH = 100000 };
	enum { MANY = WORDS / (SLOTS * BLACKSCHOLES_OUTPUTS) + STRETCH };
	static const struct {
		int64_t slot;
		int output, at, n;
	} wrong[] = { { 0, 0, 0, 1 },
		      { SLOTS - 1, 0, MANY - 1, 1 },
		      { 0, 1, MANY - 1, 1 },
		      { SLOTS - 1, 1, MANY / 3, STRETCH } };
	struct blackscholes_opts o = streamed_opts(MANY, 1 << 18, 0);
	struct verdict v;
	struct run *r;

	need_device();
	cr_assert(dataset_look == 1 << 24, "as long as nobody asks for fewer");
	dataset_look = WORDS;
	o.set.slots = SLOTS;
	r = run_begin(o);
	run_steps(r, SLOTS);
	back = 0;
	v = run_check(r, SLOTS, false);
	cr_assert(v.passed, "error %g: %s", v.error, v.worst);
	cr_assert(back > LOOK / 2 && back <= LOOK + (1 << 17), "%zu bytes were copied back", back);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		uint32_t *word = (uint32_t *)host_out(r, wrong[i].output, wrong[i].slot);

		for (int k = 0; k < wrong[i].n; k++)
			word[wrong[i].at + k] ^= 1;
		v = run_check(r, SLOTS, false);
		cr_assert(!v.passed && strstr(v.worst, "different from what was computed"),
			  "%zu: %s", i, v.worst);
		for (int k = 0; k < wrong[i].n; k++)
			word[wrong[i].at + k] ^= 1;
	}
	run_end(r);
}
