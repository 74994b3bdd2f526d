/*
 * test_radixsort_modes.c - steps of data=resident: the same in every mode, slots in turn, any
 * number of pairs and any keys, tiles of all sizes.
 */
#include "tests/plain.h"
#include "workloads/radixsort/test_pairs.h"

#include "tests/on_cpu.h"
#include "tests/races.h"

TestSuite(small_radixsort_modes, .timeout = 300);
TestSuite(large_radixsort_modes, .timeout = 300);

enum { TINY = 2048, NARROW = 4096, MIDDLE = 8192, WIDE = 11904 }; /* pairs of a tile */

/* ---- modes ------------------------------------------------------------------------------ */

/* Fewer steps than slots, as many, and more. */
Test(small_radixsort_modes, one_block_gives_the_same_in_every_mode)
{
	struct radixsort_opts o = make_opts(RACES ? 700 : 1100);
	struct run *r;

	need_device();
	o.set.slots = 3;
	r = run_begin(o);
	for (int64_t depth = RACES ? 4 : 1; depth <= 7; depth += depth < 3 ? 1 : 4)
		run_modes_agree(r, depth, 3);
	run_end(r);
}

Test(small_radixsort_modes, tiles_give_the_same_in_every_mode)
{
	struct radixsort_opts o = make_opts(2 * NARROW + 5);
	cudaGraph_t graph;
	size_t nodes = 0;
	struct run *r;

	need_device();
	o.set.slots = 3;
	r = run_begin(o);
	run_modes_agree(r, 2, 2); /* tiles have no fused form */
	if (!RACES)
		run_modes_agree(r, 4, 2);
	graph = run_capture(r, 2);
	CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
	cr_assert(nodes == 2 * 5, "%zu nodes", nodes);
	CUDA(cudaGraphDestroy(graph));
	run_end(r);
}

Test(small_radixsort_modes, graphs_go_on_where_the_last_one_ended)
{
	run_graphs_go_on(make_opts(1000));
}

/* ---- sizes ------------------------------------------------------------------------------ */

/* One step of each slot. */
static void sorts(struct radixsort_opts o, enum radixsort_size size)
{
	struct run *r = run_begin(o);

	use_tiles(r, size);
	run_steps(r, o.set.slots);
	run_passes(r, o.set.slots);
	run_end(r);
}

/* Around a warp, the two items of a thread, and the eight. */
Test(small_radixsort_modes, any_number_of_pairs_in_one_block)
{
	static const int64_t sizes[] = { 1, 2, 31, 33, 1023, 1024, 1025, 4095, 4096 };

	need_device();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (!RACES || sizes[i] == 1025)
			sorts(make_opts(sizes[i]), RADIXSORT_NARROW);
}

/* Around tiles, and more of them than one look back sees. */
Test(small_radixsort_modes, any_number_of_pairs_in_tiles)
{
	static const int64_t tile[RADIXSORT_SIZES] = { TINY, NARROW, MIDDLE, MIDDLE, WIDE };

	need_device();
	for (int size = 0; size < RADIXSORT_SIZES; size++) {
		const int64_t pairs[] = { RADIXSORT_ONE_MAX + 1, 2 * tile[size], tile[size] + 1,
					  9 * tile[size] + 65 };

		for (int i = 0; i < 4; i++)
			if (!RACES || (i == 2 && size % 2))
				sorts(make_opts(pairs[i]), (enum radixsort_size)size);
	}
}

Test(small_radixsort_modes, any_keys)
{
	need_device();
	if (RACES)
		cr_skip("the threads do the same with other keys");
	for (int keys = 0; keys <= RADIXSORT_TOPBYTE; keys++) {
		struct radixsort_opts o = make_opts(3000);

		o.keys = keys;
		o.seed = 7;
		sorts(o, RADIXSORT_TINY);
		o.pairs = WIDE + 100;
		sorts(o, (enum radixsort_size)(keys % RADIXSORT_SIZES));
	}
}

/* Programmatic dependent launches, whole sorts back to back. */
static void overlap(int64_t pairs, int size)
{
	struct radixsort_opts o = make_opts(pairs);
	struct run *r;

	o.launch = PROGRAMMATIC_YES;
	o.set.slots = 3;
	r = run_begin(o);
	if (size >= 0)
		use_tiles(r, (enum radixsort_size)size);
	run_steps(r, 2);
	run_graphs(r, 2, RACES ? 1 : 2);
	run_passes(r, RACES ? 4 : 6);
	run_end(r);
}

/* One block, tiles of every size, and a tile that has an SM to itself. */
Test(small_radixsort_modes, dependent_launches_sort_the_same)
{
	need_device();
	if (programmatic_check(PROGRAMMATIC_YES))
		cr_skip("launches overlap from compute capability 9.0 on");
	overlap(1500, -1);
	overlap(2 * TINY + 77, RADIXSORT_TINY);
	for (int size = 1; size < RADIXSORT_SIZES && !RACES; size++)
		overlap(2 * WIDE + 77, size);
	if (!RACES)
		overlap(5000, RADIXSORT_MIDDLE);
}

/* Tiles of all sizes, as setup chooses them. On the CPU device a quarter of the pairs, or an
 * eighth, goes through the same tiles, and there are still 16 of them and more. */
Test(large_radixsort_modes, millions_of_pairs)
{
	static const int64_t pairs[] = { 1 << 16, 1 << 18, 1 << 20, 1 << 21, 1 << 23 };

	need_device();
	for (int i = 0; i < 5; i++)
		cr_assert(radixsort_size_for(pairs[i]) == (enum radixsort_size)i, "tiles of %ld",
			  (long)pairs[i]);
	for (int i = 1; i < RADIXSORT_SIZES; i++) {
		int64_t n = i < 4 ? pairs[i] : (1 << 21) + 123456;
		struct radixsort_opts o = make_opts(!ON_CPU ? n : n / (i == 1 ? 4 : 8));

		o.set.slots = 1;
		sorts(o, (enum radixsort_size)i);
	}
}
