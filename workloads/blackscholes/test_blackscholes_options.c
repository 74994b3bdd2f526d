/*
 * test_blackscholes_options.c - what the blackscholes workload offers and refuses, what a step
 * costs, and what it reports.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/blackscholes/test_options.h"

TestSuite(small_blackscholes_options, .timeout = 300);

Test(small_blackscholes_options, defaults_are_those_of_the_rows)
{
	run_defaults(make_opts(4000000));
}

Test(small_blackscholes_options, what_makes_no_sense_is_refused)
{
	static const struct wrong_args rows[] = {
		/* copies */
		{ "overlap=4", "overlap=4 has no effect" },
		{ "data=streamed block=32k", "block=32768: must be 0 or a power" },
		{ "data=streamed block=256M", "block=256M" },
		{ "data=streamed overlap=1", "overlap=1: " },
		{ "data=streamed overlap=17", "overlap=17" },
		{ "data=streamed options=448 overlap=8",
		  "overlap=8: 448 options make at most 7 chunks" },
		{ "data=streamed options=32M block=64k --mode graph",
		  "more than 2048 copies per step" },
		/* totals */
		{ "total=1G", "total=1G has no effect" },
		{ "data=streamed total=79999999",
		  "total=79999999: less than the 80000000 bytes of one step" },
		{ "data=streamed options=1 total=1024G",
		  "total=1099511627776: more than 16777216 steps of 20 bytes" },
		{ "data=streamed total=-1", "total=-1" },
		{ "preset=vmcuda-table2", "did you mean 'vmcuda-table1'?" },
		{ "preset=vmcuda-table1 preset=vmcuda-large", "given twice" },
		/* launches that overlap */
		{ "launch=sometimes", "launch=sometimes: no such choice" },
		{ "launch=programmatic data=streamed",
		  "launch=programmatic has no effect: it is used only with data=resident" },
		{ "options=64 launch=programmatic --mode fused",
		  "launches that follow one another" },
	};

	words_refused("run blackscholes",
		      "options=0 options=-5 options=many options=1G slots=65 volatility=0 "
		      "volatility=-0.3 rate=nan rate=inf cnd=table");
	ROWS_REFUSED("run blackscholes", rows);
	run_copies_refused("run blackscholes");
}

Test(small_blackscholes_options, a_total_makes_steps)
{
	struct blackscholes_opts o = streamed_opts(1000, 0, 0);

	o.set.total = 40001;
	cr_assert(run_limits(o).depth_asked == 3, "%ld steps", (long)run_limits(o).depth_asked);
}

Test(small_blackscholes_options, more_than_there_is_is_refused_with_the_numbers)
{
	struct blackscholes_opts o = make_opts(1ll << 46);

	run_setup_fails(o, "options=70368744177664 slots=2: takes ");
	o = streamed_opts(1024, 0, 0);
	o.set.slots = 1ll << 40; /* no user can ask for that */
	run_setup_fails(o, "more than 25 % of its ");
}

/* ---- cost and report -------------------------------------------------------------------- */

Test(small_blackscholes_options, a_step_costs_what_the_formula_says)
{
	struct blackscholes_opts o = make_opts(1000);
	struct cost c;

	c = run_cost(o);
	cr_assert(c.launches == 1 && c.flops == 60000 && c.bytes_moved == 20000, "resident");
	cr_assert(c.evaluations == 1000 && !c.bytes_transferred && !c.to_device.calls, "resident");
	o = streamed_opts(40000, STREAMED_BLOCK_MIN, 0);
	c = run_cost(o);
	cr_assert(c.to_device.calls == 9 && c.to_device.bytes == 480000, "%g calls of %g bytes",
		  c.to_device.calls, c.to_device.bytes);
	cr_assert(c.to_host.calls == 6 && c.to_host.bytes == 320000 && !c.pageable, "to the host");
	o.set.overlap = 4; /* chunks of 9,984 or 10,048 options: 40 KB */
	o.set.memory = STREAMED_PAGEABLE;
	c = run_cost(o);
	cr_assert(c.launches == 4 && c.to_device.calls == 12 && c.pageable, "chunks");
	cr_assert(c.bytes_transferred == 800000, "chunks: %g bytes", c.bytes_transferred);
}

Test(small_blackscholes_options, the_report_has_rates_and_sizes)
{
	for (int streamed = 0; streamed < 2; streamed++) {
		const struct report *report =
			run_report(streamed ? streamed_opts(1000, 0, 2) : make_opts(1000));

		has_row(report, "options", NULL);
		has_row(report, streamed ? "copied" : "moved", NULL);
		has_row(report, "working set", "MB of device memory");
		if (streamed)
			has_row(report, "copies a step", "to the device");
	}
}
