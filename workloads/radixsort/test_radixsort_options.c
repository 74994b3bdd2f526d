/*
 * test_radixsort_options.c - what the radixsort workload offers and refuses, what a step costs, and
 * what it reports.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/radixsort/test_pairs.h"

TestSuite(small_radixsort_options, .timeout = 300);

Test(small_radixsort_options, defaults_are_those_of_the_rows)
{
	struct radixsort_opts o = make_opts(1 << 20);
	struct limits limits = run_limits(o);

	rows_default_to(&workload_radixsort, &o);
	cr_assert(!limits.mode_refused[MODE_STREAM] && !limits.mode_refused[MODE_GRAPH], "modes");
	cr_assert(limits.mode_refused[MODE_FUSED], "fused");
	o.pairs = RADIXSORT_ONE_MAX;
	cr_assert(!run_limits(o).mode_refused[MODE_FUSED], "one block");
}

Test(small_radixsort_options, what_makes_no_sense_is_refused)
{
	static const struct wrong_args rows[] = {
		{ "data=streamed block=256M", "block=256M" },
		{ "data=streamed overlap=2", "overlap=2: no part of a sort can begin" },
		{ "data=streamed pairs=16M block=64k --mode graph",
		  "more than 2048 copies per step" },
		{ "total=1G", "total=1G has no effect" },
		{ "data=streamed total=16777215",
		  "total=16777215: less than the 16777216 bytes of one step" },
		{ "preset=vmcuda-table2", "did you mean 'vmcuda-table1'?" },
		{ "launch=sometimes", "launch=sometimes: no such choice" },
		{ "launch=programmatic data=streamed",
		  "launch=programmatic has no effect: it is used only with data=resident" },
		{ "pairs=64 launch=programmatic --mode fused", "launches that follow one another" },
		{ "pairs=4097 --mode fused", "sorts up to 4096 pairs" },
	};

	words_refused("run radixsort", "pairs=0 pairs=-5 pairs=many "
				       "pairs=1G " /* 2^30: one too many */
				       "keys=gauss slots=65 seed=-1");
	ROWS_REFUSED("run radixsort", rows);
	run_copies_refused("run radixsort pairs=64");
}

Test(small_radixsort_options, a_total_makes_steps)
{
	struct radixsort_opts o = streamed_opts(1000, 0);

	o.set.total = 16000 * 3 + 1;
	cr_assert(run_limits(o).depth_asked == 4, "%ld steps", (long)run_limits(o).depth_asked);
}

Test(small_radixsort_options, more_than_there_is_is_refused_with_the_numbers)
{
	struct radixsort_opts o = make_opts(1ll << 46); /* no user can ask for that */

	run_setup_fails(o, "pairs=70368744177664 slots=2: takes ");
	o = streamed_opts(1024, 0);
	o.set.slots = 1ll << 40;
	run_setup_fails(o, "more than 25 % of its ");
}

/* ---- cost and report -------------------------------------------------------------------- */

Test(small_radixsort_options, a_step_costs_what_the_formula_says)
{
	struct radixsort_opts o = make_opts(1000);
	double board;
	struct cost c;

	c = run_cost(o);
	cr_assert(c.launches == 1 && c.bytes_moved == 16000 && !c.flops, "one block");
	cr_assert(c.evaluations == 1000 && !c.bytes_transferred && !c.to_device.calls, "one block");
	o.pairs = 10000;
	board = (double)radixsort_board_bytes(o.pairs, RADIXSORT_TINY);
	cr_assert(board > sizeof(struct radixsort_board), "%g bytes", board);
	c = run_cost(o);
	cr_assert(c.launches == 5 && c.bytes_moved == 680000 + 3 * board, "tiles: %g",
		  c.bytes_moved);
	o = streamed_opts(40000, STREAMED_BLOCK_MIN);
	o.set.memory = STREAMED_PAGEABLE;
	c = run_cost(o);
	cr_assert(c.to_device.calls == 6 && c.to_device.bytes == 320000, "to the device");
	cr_assert(c.to_host.calls == 6 && c.to_host.bytes == 320000 && c.pageable, "back");
	cr_assert(c.bytes_transferred == 640000, "both ways");
}

Test(small_radixsort_options, the_report_has_rates_and_sizes)
{
	for (int streamed = 0; streamed < 2; streamed++) {
		const struct report *report =
			run_report(streamed ? streamed_opts(1000, 0) : make_opts(1000));

		has_row(report, "pairs", NULL);
		has_row(report, streamed ? "copied" : "moved", NULL);
		has_row(report, "working set", "MB of device memory");
		if (streamed)
			has_row(report, "copies a step", "to the device");
	}
}
