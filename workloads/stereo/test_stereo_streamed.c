/*
 * test_stereo_streamed.c - steps of data=streamed: every byte comes and goes, in blocks that do not
 * divide the images, from each kind of memory, with chunks of rows that overlap.
 */
#include "workloads/stereo/test_stereo.h"

#include "tests/races.h"
#include "workloads/stereo/reference.h"

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
		RACES ? streamed_opts(30, 4, BLOCK, 0) : streamed_opts(201, 100, BLOCK, 0);

	need_device();
	o.set.memory = STREAMED_PAGEABLE;
	o.set.slots = 3;
	o.upload_output = 1;
	streams(o, 2);
	streams(streamed_opts(1, 1, 0, 0), 2);
}

/* Chunks of fewer rows than a window reaches, and of more. */
Test(small_stereo_streamed, chunks_that_overlap)
{
	need_device();
	streams(streamed_opts(20, RACES ? 5 : 16, 0, RACES ? 5 : 16), 3);
	if (!RACES)
		streams(streamed_opts(40, 53, 0, 3), 3);
}

/*
 * All but row 8 is black, and that is the last row that the first chunk, row 0, depends on: it has
 * to come with that chunk. Nodes of a graph run one after the other on the CPU device.
 */
Test(small_stereo_streamed, rows_below_come_with_a_chunk)
{
	enum { W = 24, H = 16, AT = 8 * W };
	struct stereo_pair pair = { { W, H }, NULL, NULL, -16, 0 };
	uint32_t left[W * H] = { 0 }, right[W * H] = { 0 };
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(W, H, 0, H));
	for (int x = 0; x < W; x++) {
		right[AT + x] = (uint32_t)(x * x * 12345) & 0xffffff;
		left[AT + x] = x < 5 ? 0 : right[AT + x - 5];
	}
	memcpy(on_host(r, 0, 0), left, sizeof(left));
	memcpy(on_host(r, 1, 0), right, sizeof(right));
	run_graph(r, 1);
	pair.left = left;
	pair.right = right;
	for (int i = 0; i < W * H; i++)
		cr_assert(out_on_host(r, 0)[i] == stereo_defined(&pair, i % W, i / W), "pixel %d",
			  i);
	run_end(r);
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
