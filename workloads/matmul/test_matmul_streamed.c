/*
 * test_matmul_streamed.c - steps of data=streamed: every byte comes and goes. Blocks do not divide
 * the matrices; memory is of each kind; rows of A come in chunks that overlap.
 */
#include "tests/plain.h"
#include "workloads/matmul/test_matmul.h"

#include "tests/races.h"

TestSuite(small_matmul_streamed, .timeout = 300);

enum { BLOCK = STREAMED_BLOCK_MIN };

/* A of 99,200 bytes, B of 74,400, C of 76,800: a block of each and a rest. */
Test(small_matmul_streamed, blocks_and_their_rests)
{
	struct matmul_opts o = streamed_opts(160, 120, 155, BLOCK, 0);

	need_device();
	run_streams(streamed_opts(1, 1, 1, 0, 0), 2);
	o.set.memory = STREAMED_PAGEABLE;
	o.set.slots = 3;
	if (RACES)
		o.n = 10, o.m = 30;
	run_streams(o, 2);
	if (RACES)
		return;
	o.set.memory = STREAMED_PINNED;
	run_streams(o, 4);
}

Test(small_matmul_streamed, chunks_that_overlap)
{
	struct matmul_opts o = streamed_opts(40, 24, 36, 0, 3);

	need_device();
	run_streams(streamed_opts(17, 5, 9, 0, 16), 3);
	for (int tile = MATMUL_TILE_128; tile <= MATMUL_TILE_32; tile += 1 + RACES) {
		o.tile = tile;
		run_streams(o, 3);
	}
}

Test(small_matmul_streamed, the_library_takes_chunks_too)
{
	struct matmul_opts o = streamed_opts(50, 24, 36, 0, 4);
	struct run *r;

	need_device();
	o.impl = MATMUL_CUBLAS;
	run_streams(o, 3);
	r = run_begin(o); /* captured at once: of 50 rows, chunks of 12 and 13 */
	run_graphs(r, 2, 2);
	run_passes(r, 4);
	run_end(r);
	o.set.overlap = 0;
	o.set.memory = STREAMED_PAGEABLE;
	run_streams(o, 2);
}

Test(small_matmul_streamed, graphs_repeat_their_slots)
{
	struct matmul_opts o = streamed_opts(20, 24, 28, 0, 0);

	need_device();
	for (o.set.overlap = RACES ? 4 : 0; o.set.overlap <= 4; o.set.overlap += 4)
		run_graphs_repeat(o);
}
