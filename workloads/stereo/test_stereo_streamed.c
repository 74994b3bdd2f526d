/*
 * test_stereo_streamed.c - steps of data=streamed: every byte comes and goes, in blocks that do not
 * divide the images, from each kind of memory, with chunks of rows that overlap.
 */
#include "workloads/stereo/test_stereo.h"

#include "tests/races.h"

TestSuite(small_stereo_streamed, .timeout = 120);

enum { BLOCK = STREAMED_BLOCK_MIN };

static void streams(struct stereo_opts o, int64_t steps)
{
	struct run *r = run_begin(o);

	run_steps(r, steps);
	run_passes(r, steps);
	run_reset(r);
	run_steps(r, 1);
	run_passes(r, 1); /* the other slots are poison again */
	run_end(r);
}

/* Arrays of 80,400 bytes: a block and a rest. */
Test(small_stereo_streamed, blocks_and_their_rests)
{
	struct stereo_opts o =
		RACES ? streamed_opts(30, 10, BLOCK, 0) : streamed_opts(201, 100, BLOCK, 0);

	need_device();
	o.set.memory = STREAMED_PAGEABLE;
	o.set.slots = 3;
	streams(o, 2);
	streams(streamed_opts(1, 1, 0, 0), 2);
}

/* Chunks of fewer rows than a window reaches, and of more. */
Test(small_stereo_streamed, chunks_that_overlap)
{
	need_device();
	streams(streamed_opts(20, 16, 0, 16), 3);
	if (!RACES)
		streams(streamed_opts(40, 53, 0, 3), 3);
}

Test(small_stereo_streamed, zeros_are_copied_too)
{
	struct stereo_opts o = streamed_opts(20, 12, 0, 2);

	need_device();
	o.upload_output = 1;
	streams(o, 2);
}

/* The same as data=resident, however they travel. */
Test(small_stereo_streamed, disparities_are_those_of_resident_images)
{
	struct run *resident, *streamed;
	int32_t *want, *got;
	size_t bytes;

	need_device();
	resident = run_begin(opts_of(30, 21));
	run_steps(resident, 2);
	want = run_disparities(resident, &bytes);
	for (int overlap = RACES ? 4 : 0; overlap <= 4; overlap += 4) {
		streamed = run_begin(streamed_opts(30, 21, 0, overlap));
		run_steps(streamed, 2);
		got = run_disparities(streamed, &bytes);
		cr_assert(!memcmp(want, got, bytes), "overlap=%d", overlap);
		free(got);
		run_end(streamed);
	}
	free(want);
	run_end(resident);
}

/* A graph repeats the slots that it saw when it was captured. */
Test(small_stereo_streamed, graphs_repeat_their_slots)
{
	struct stereo_opts o = streamed_opts(12, 9, 0, 0);
	struct run *r;

	need_device();
	o.set.slots = 3;
	for (o.set.overlap = RACES ? 4 : 0; o.set.overlap <= 4; o.set.overlap += 4) {
		r = run_begin(o);
		run_graphs(r, 2, 2);
		run_passes(r, 4);
		run_fails(r, 2, "4 steps were counted");
		run_reset(r);
		run_fails(r, 4, "0 steps were counted");
		run_end(r);
	}
}
