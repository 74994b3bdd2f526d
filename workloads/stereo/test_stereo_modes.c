/*
 * test_stereo_modes.c - steps of data=resident: the same in every mode, slots in turn, and sizes
 * around the borders of strips and passes.
 */
#include "tests/plain.h"
#include "workloads/stereo/test_stereo.h"

#include "tests/races.h"

TestSuite(small_stereo_modes, .timeout = 300);

/* Fewer steps than slots, as many, and more; one pass and two. */
Test(small_stereo_modes, stream_graph_and_fused_give_the_same)
{
	static const int64_t depths[] = { 1, 4, 3 };

	need_device();
	for (int passes = 1 + RACES; passes <= 2; passes++) {
		struct stereo_opts o = make_opts(20, RACES ? 3 : 6);
		struct run *r;

		o.set.slots = 3;
		o.dmax = passes == 2 ? 2 : 0;
		r = run_begin(o);
		for (size_t i = RACES; i < (RACES ? 2 : 3); i++)
			run_modes_agree(r, depths[i], 3);
		run_end(r);
	}
}

Test(small_stereo_modes, graphs_go_on_where_the_last_one_ended)
{
	run_graphs_go_on(make_opts(9, 5));
}

static void matches(struct stereo_opts o)
{
	struct run *r = run_begin(o);

	run_steps(r, 2);
	run_passes(r, 2);
	run_end(r);
}

/* 112 columns are a strip. */
Test(small_stereo_modes, sizes_around_borders_of_strips)
{
	static const int64_t sizes[][3] = {
		{ 113, 3, 2 }, { 1, 1, 1 },  { 112, 6, 6 }, { 17, 40, 32 },
		{ 225, 3, 2 }, { 3, 35, 0 }, { 111, 9, 1 },
	};

	need_device();
	for (size_t i = 0; i < (RACES ? 1 : sizeof(sizes) / sizeof(*sizes)); i++) {
		struct stereo_opts o = make_opts(sizes[i][0], sizes[i][1]);

		o.strip = sizes[i][2];
		matches(o);
	}
}

/* 18 disparities are a pass, six those of a thread. */
Test(small_stereo_modes, any_range_of_disparities)
{
	static const int64_t ranges[][2] = {
		{ -18, 0 }, { 5, 5 }, { -3, 2 }, { -17, 0 }, { 10, 16 }, { -64, 64 }, { -64, -27 },
	};

	need_device();
	for (size_t i = 0; i < (RACES ? 1 : sizeof(ranges) / sizeof(*ranges)); i++) {
		struct stereo_opts o = make_opts(33, 4);

		o.dmin = ranges[i][0];
		o.dmax = ranges[i][1];
		matches(o);
	}
}
