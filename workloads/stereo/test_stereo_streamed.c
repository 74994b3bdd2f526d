/*
 * test_stereo_streamed.c - steps of data=streamed: every byte comes and goes, in blocks that do not
 * divide the images, from each kind of memory, with chunks of rows that overlap.
 */
#include "tests/plain.h"
#include "workloads/stereo/test_stereo.h"

#include "tests/races.h"

TestSuite(small_stereo_streamed, .timeout = 300);

enum { BLOCK = STREAMED_BLOCK_MIN };

/* Arrays of 80,400 bytes: a block and a rest. */
Test(small_stereo_streamed, blocks_and_their_rests)
{
	struct stereo_opts o =
		RACES ? streamed_opts(30, 4, BLOCK, 0) : streamed_opts(201, 100, BLOCK, 0);

	need_device();
	o.set.memory = STREAMED_PAGEABLE;
	o.set.slots = 3;
	o.upload_output = 1;
	run_streams(o, 2);
	run_streams(streamed_opts(1, 1, 0, 0), 2);
}

/* Chunks of fewer rows than a window reaches, and of more. */
Test(small_stereo_streamed, chunks_that_overlap)
{
	need_device();
	run_streams(streamed_opts(20, RACES ? 5 : 16, 0, RACES ? 5 : 16), 3);
	if (!RACES)
		run_streams(streamed_opts(40, 53, 0, 3), 3);
}

Test(small_stereo_streamed, graphs_repeat_their_slots)
{
	struct stereo_opts o = streamed_opts(12, 9, 0, 0);

	need_device();
	for (o.set.overlap = RACES ? 4 : 0; o.set.overlap <= 4; o.set.overlap += 4)
		run_graphs_repeat(o);
}
