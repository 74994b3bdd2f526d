/*
 * test_binomial_streamed.c - steps of data=streamed: every byte comes and goes, from each kind of
 * memory, in chunks that overlap and in several launches.
 */
#include "tests/plain.h"
#include "workloads/binomial/test_binomial.h"

#include "tests/races.h"

TestSuite(small_binomial_streamed, .timeout = 300);
TestSuite(large_binomial_streamed, .timeout = 300);

Test(small_binomial_streamed, options_come_and_prices_go)
{
	struct binomial_opts o = streamed_opts(16, 21, 0);

	need_device();
	o.set.memory = STREAMED_PAGEABLE;
	o.set.slots = 3;
	run_streams(o, 2);
	run_streams(streamed_opts(4, 1, 0), 2);
}

Test(small_binomial_streamed, chunks_that_overlap)
{
	struct binomial_opts o = streamed_opts(4, 65, 2);

	need_device();
	run_streams(o, 3);
	o.options = RACES ? 129 : 300; /* chunks of 64, and the rest */
	o.launch_options = 50;
	o.set.overlap = 3;
	run_streams(o, 2);
}

/* Arrays of 68,000 bytes: a block and a rest. */
Test(large_binomial_streamed, blocks_and_their_rests)
{
	struct binomial_opts o = streamed_opts(4, 17000, 0);

	need_device();
	o.set.block = STREAMED_BLOCK_MIN;
	run_streams(o, 2);
}

/* The same bits as data=resident, however they travel. */
Test(small_binomial_streamed, prices_are_those_of_resident_options)
{
	enum { FEW = 130 };

	need_device();
	for (int overlap = 0; overlap <= 3; overlap += 3)
		run_same_bits(make_opts(8, FEW), streamed_opts(8, FEW, overlap));
}

Test(small_binomial_streamed, graphs_repeat_their_slots)
{
	need_device();
	run_graphs_repeat(streamed_opts(8, 70, 2));
}

/* ---- what the check finds --------------------------------------------------------------- */

Test(small_binomial_streamed, the_check_finds_every_byte)
{
	enum { N = 11 };
	struct run *r;
	char *out;

	need_device();
	r = run_begin(streamed_opts(16, N, 0));
	out = (char *)host_out(r, 1);
	run_steps(r, 2);
	run_passes(r, 2);
	out[4 * N - 4] ^= 1;
	run_fails(r, 2, "came back different from what was computed, slot 1, option 10");
	out[4 * N - 4] ^= 1;
	out[4 * N] = 0;
	run_fails(r, 2, "written where nothing was to be, slot 1, option 11");
	out[4 * N] = -1;
	run_passes(r, 2);
	run_end(r);
}

/* Wrong inputs that travelled as they should: the check makes its own. */
Test(small_binomial_streamed, the_check_finds_inputs_that_did_not_come)
{
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(16, 11, 0));
	((float *)dataset_host(&r->s.set, 1, 0))[10] = 2; /* a strike */
	run_steps(r, 1);
	run_fails(r, 1, "option 10");
	run_end(r);
}
