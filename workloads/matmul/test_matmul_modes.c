/*
 * test_matmul_modes.c - steps of data=resident: the same bits in every mode, slots in turn, and
 * sizes around the borders of tiles.
 */
#include "tests/plain.h"
#include "workloads/matmul/test_matmul.h"

#include "tests/races.h"

TestSuite(small_matmul_modes, .timeout = 300);

/* ---- modes ------------------------------------------------------------------------------ */

/* Fewer steps than slots, as many, and more. */
Test(small_matmul_modes, stream_graph_and_fused_give_the_same_bits)
{
	static const int64_t depths[] = { 1, 3, 5 };

	need_device();
	for (int tile = MATMUL_TILE_128; tile <= MATMUL_TILE_32; tile++) {
		struct matmul_opts o = tile_opts(33, 36, 68, tile);
		struct run *r;

		o.set.slots = 3;
		r = run_begin(o);
		for (size_t i = RACES; i < sizeof(depths) / sizeof(*depths); i += 1 + RACES)
			run_modes_agree(r, depths[i], 3);
		run_end(r);
	}
}

Test(small_matmul_modes, graphs_go_on_where_the_last_one_ended)
{
	run_graphs_go_on(make_opts(20, 20, 20));
}

/* The library's graphs repeat the slots that they were captured with. */
Test(small_matmul_modes, the_library_in_streams_and_graphs)
{
	struct matmul_opts o = make_opts(24, 40, 17);
	struct run *r;

	need_device();
	o.impl = MATMUL_CUBLAS;
	o.set.slots = 3;
	r = run_begin(o);
	run_steps(r, 2);
	run_passes(r, 2); /* slot 2 is still poison */
	run_steps(r, 2);
	run_passes(r, 4);
	run_reset(r);
	run_graphs(r, 2, 3);
	run_passes(r, 6);
	run_fails(r, 5, "6 steps *5");
	run_end(r);
}

/* ---- sizes ------------------------------------------------------------------------------ */

struct size {
	int64_t m, n, k;
};

static void multiplies(struct size s, int tile)
{
	struct run *r = run_begin(tile_opts(s.m, s.n, s.k, tile));

	run_steps(r, 2);
	run_passes(r, 2);
	run_end(r);
}

/* One tile and a bit of the next, with and without rows that begin at multiples of 16 bytes. */
Test(small_matmul_modes, sizes_around_borders_of_tiles)
{
	static const struct size around[4][4] = {
		[MATMUL_TILE_128] = { { 129, 132, 16 },
				      { 130, 129, 17 },
				      { 128, 128, 40 },
				      { 127, 127, 33 } },
		[MATMUL_TILE_64] = { { 65, 68, 32 },
				     { 66, 65, 33 },
				     { 64, 64, 68 },
				     { 63, 63, 65 } },
		[MATMUL_TILE_32] = { { 33, 36, 64 },
				     { 34, 33, 65 },
				     { 32, 32, 132 },
				     { 31, 31, 130 } },
	};

	need_device();
	for (int tile = MATMUL_TILE_128; tile <= MATMUL_TILE_32; tile++)
		for (int i = 0; i < (RACES ? 2 : 4); i++)
			multiplies(around[tile][i], tile);
}

Test(small_matmul_modes, any_small_size)
{
	static const struct size any[] = { { 1, 1, 1 },	  { 1, 70, 5 },	 { 70, 1, 6 },
					   { 3, 2, 200 }, { 4, 4, 4 },	 { 5, 3, 7 },
					   { 2, 64, 12 }, { 9, 10, 15 }, { 17, 5, 16 } };

	need_device();
	for (size_t i = 0; i < sizeof(any) / sizeof(*any); i += RACES ? 3 : 1)
		multiplies(any[i], MATMUL_TILE_AUTO);
	multiplies(any[8], MATMUL_TILE_64);
	multiplies(any[3], MATMUL_TILE_128);
}
