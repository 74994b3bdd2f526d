/*
 * test_matmul_options.c - what the matmul workload offers and refuses, which tiles it takes, what a
 * step costs, and what it reports.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/matmul/test_matmul.h"

TestSuite(small_matmul_options, .timeout = 300);

Test(small_matmul_options, defaults_are_those_of_the_rows)
{
	run_defaults(make_opts(0, 1024, 0));
}

Test(small_matmul_options, what_makes_no_sense_is_refused)
{
	static const struct wrong_args rows[] = {
		{ "impl=cublas tile=64", "tile=64 " },
		{ "overlap=4", "overlap=4 " },
		{ "data=streamed m=7 n=5 overlap=8", "overlap=8: 35 " },
		{ "data=streamed n=128 total=1000", " 196608 " },
		{ "n=32 impl=cublas --mode fused", "impl=cublas: " },
		{ "data=streamed n=8k block=64k --mode graph", " 2048 " },
	};

	words_refused("run matmul",
		      "n=0 n=32769 m=-1 k=32769 k=many fill=ones tile=16 impl=cutlass");
	ROWS_REFUSED("run matmul", rows);
	run_copies_refused("run matmul n=32");
}

Test(small_matmul_options, more_than_there_is_is_refused_with_the_numbers)
{
	struct matmul_opts o = make_opts(0, 32768, 0);

	need_device();
	o.set.slots = 1 << 24; /* no user can ask for that */
	run_setup_fails(o, "m=32768 n=32768 k=32768 slots=16777216: takes ");
	o = streamed_opts(0, 32, 0, 0, 0);
	o.set.slots = 1ll << 40;
	run_setup_fails(o, "more than 25 % of its ");
}

Test(small_matmul_options, totals_make_steps)
{
	struct matmul_opts o = streamed_opts(0, 64, 0, 0, 0);

	o.set.total = 3 * 64 * 64 * 4 + 1;
	cr_assert(run_limits(o).depth_asked == 2, "%ld steps", (long)run_limits(o).depth_asked);
}

/* ---- tiles ------------------------------------------------------------------------------ */

/* Large ones where they keep all multiprocessors at work. */
Test(small_matmul_options, tiles_go_with_the_size)
{
	static const struct {
		struct matmul_shape shape;
		enum matmul_tile tile;
	} known[] = {
		{ { 16384, 16384, 16384 }, MATMUL_TILE_128 },
		{ { 4096, 4096, 4096 }, MATMUL_TILE_128 },
		{ { 2048, 2048, 2048 }, MATMUL_TILE_128 },
		{ { 1024, 1024, 1024 }, MATMUL_TILE_64 },
		{ { 512, 512, 512 }, MATMUL_TILE_32 },
		{ { 320, 640, 320 }, MATMUL_TILE_32 },
		{ { 1, 1, 1 }, MATMUL_TILE_32 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		cr_assert(matmul_tile_for(known[i].shape) == known[i].tile, "m=%u n=%u: %d",
			  known[i].shape.m, known[i].shape.n, matmul_tile_for(known[i].shape));
}

/* ---- cost and report -------------------------------------------------------------------- */

Test(small_matmul_options, a_step_costs_what_the_formula_says)
{
	struct matmul_opts o = make_opts(100, 200, 300);
	struct cost c = run_cost(o);

	cr_assert(c.launches == 1 && c.flops == 12e6 && c.bytes_moved == 440000, "resident");
	cr_assert(!c.bytes_transferred && !c.to_device.calls, "resident");
	o.impl = MATMUL_CUBLAS;
	cr_assert(run_cost(o).launches == 2, "one of them counts");
	o = streamed_opts(100, 200, 300, STREAMED_BLOCK_MIN, 0);
	c = run_cost(o);
	cr_assert(c.to_device.calls == 6 && c.to_device.bytes == 360000, "%g calls of %g bytes",
		  c.to_device.calls, c.to_device.bytes);
	cr_assert(c.to_host.calls == 2 && c.to_host.bytes == 80000 && !c.pageable, "to the host");
	o.set.overlap = 4;
	o.set.memory = STREAMED_PAGEABLE;
	c = run_cost(o);
	cr_assert(c.launches == 4 && c.to_device.calls == 8 && c.pageable, "chunks: %g calls",
		  c.to_device.calls);
	cr_assert(c.bytes_transferred == 440000, "chunks: %g bytes", c.bytes_transferred);
}

Test(small_matmul_options, the_report_has_rates_and_sizes)
{
	struct matmul_opts o = make_opts(40, 33, 5);
	const struct report *r;

	need_device();
	r = run_report(o);
	has_row(r, "products", NULL);
	has_row(r, "tiles", "4 of 32 x 32");
	has_row(r, "working set", "MB of device memory");
	setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
	o = streamed_opts(40, 33, 5, 0, 2);
	o.impl = MATMUL_CUBLAS;
	r = run_report(o);
	has_row(r, "library", "with NVIDIA_TF32_OVERRIDE=0");
	has_row(r, "copied", NULL);
	has_row(r, "copies a step", "3 of 0.00146 MB to the device, 2 of 0.00528 MB back");
}
