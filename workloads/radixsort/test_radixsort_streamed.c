/*
 * test_radixsort_streamed.c - steps of data=streamed: every byte comes and goes, in blocks that do
 * not divide the arrays, from each kind of memory.
 */
#include "tests/plain.h"
#include "workloads/radixsort/test_pairs.h"

#include "tests/on_cpu.h"
#include "tests/races.h"

TestSuite(small_radixsort_streamed, .timeout = 300);
TestSuite(large_radixsort_streamed, .timeout = 300);

enum { N = 20011, BLOCK = STREAMED_BLOCK_MIN }; /* arrays of 80,044 bytes: a block and a rest */

Test(small_radixsort_streamed, blocks_and_their_rests)
{
	struct radixsort_opts o = streamed_opts(RACES ? 4100 : N, BLOCK);

	need_device();
	o.set.memory = STREAMED_PAGEABLE;
	o.set.slots = 3;
	run_streams(o, 2);
	run_streams(streamed_opts(1, 0), 2);
	if (RACES)
		return;
	o.set.memory = STREAMED_PINNED;
	run_streams(o, 4);
	run_streams(streamed_opts(BLOCK / 4, BLOCK), 2); /* no rest */
}

Test(small_radixsort_streamed, graphs_repeat_their_slots)
{
	need_device();
	run_graphs_repeat(streamed_opts(1000, 0));
}

Test(small_radixsort_streamed, the_check_finds_every_byte)
{
	char *keys, *values, says[64];
	struct run *r;

	need_device();
	if (RACES)
		return;
	r = run_begin(streamed_opts(N, BLOCK));
	keys = (char *)host_out(r, 0, 0);
	values = (char *)host_out(r, 1, 1);
	run_steps(r, 2);
	run_passes(r, 2);
	keys[0] ^= 1;
	run_fails(r, 2, "came back different from what was computed, slot 0, pair 0");
	keys[0] ^= 1;
	values[4 * N - 1] ^= 1; /* the last byte of the short block */
	snprintf(says, sizeof(says), "different from what was computed, slot 1, pair %d", N - 1);
	run_fails(r, 2, says);
	values[4 * N - 1] ^= 1;
	values[4 * N] = 0;
	snprintf(says, sizeof(says), "written where nothing was to be, slot 1, pair %d", N);
	run_fails(r, 2, says);
	values[4 * N] = SLOTS_POISON_INTEGER;
	run_passes(r, 2);
	/* a wrong input that travelled as it should: outputs are computed once more from its own */
	((char *)dataset_host(&r->s.set, 0, 0))[4 * N - 1] ^= 1;
	run_reset(r);
	run_steps(r, 2);
	run_fails(r, 2, "different from what was computed, slot 0");
	run_end(r);
}

Test(large_radixsort_streamed, millions_come_back_whole)
{
	struct radixsort_opts o = streamed_opts((1 << (ON_CPU ? 19 : 22)) + 99, 1 << 20);
	struct run *r;

	need_device();
	o.set.slots = 1;
	r = run_begin(o);
	run_steps(r, 1);
	run_passes(r, 1);
	((char *)host_out(r, 1, 0))[4 * 500000] ^= 1;
	run_fails(r, 1, "slot 0, pair 500000");
	run_end(r);
}
