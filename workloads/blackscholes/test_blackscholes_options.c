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
	const struct blackscholes_opts o = make_opts(4000000);
	struct limits limits = run_limits(o);

	expect_defaults(&workload_blackscholes, &o);
	for (int m = 0; m < MODE_COUNT; m++)
		cr_assert(!limits.mode_refused[m], "mode %d", m);
}

Test(small_blackscholes_options, bad_values_are_refused)
{
	refused(3, "options=0", "run blackscholes options=0");
	refused(3, "options=-5", "run blackscholes options=-5");
	refused(3, "options=many", "run blackscholes options=many");
	refused(3, "options=1G", "run blackscholes options=1G");
	refused(3, "slots=65", "run blackscholes slots=65");
	refused(3, "volatility=0", "run blackscholes volatility=0");
	refused(3, "volatility=-0.3", "run blackscholes volatility=-0.3");
	refused(3, "rate=nan", "run blackscholes rate=nan");
	refused(3, "rate=inf", "run blackscholes rate=inf");
	refused(3, "cnd=table", "run blackscholes cnd=table");
}

Test(small_blackscholes_options, bad_copies_are_refused)
{
	refused(3, "memory=pageable has no effect", "run blackscholes memory=pageable");
	refused(3, "overlap=4 has no effect", "run blackscholes overlap=4");
	refused(3, "block=100000: must be 0 or a power of two",
		"run blackscholes data=streamed block=100000");
	refused(3, "block=32768: must be 0 or a power", "run blackscholes data=streamed block=32k");
	refused(3, "block=256M", "run blackscholes data=streamed block=256M");
	refused(3, "overlap=1: ", "run blackscholes data=streamed overlap=1");
	refused(3, "overlap=17", "run blackscholes data=streamed overlap=17");
	refused(3, "overlap=8: 448 options make at most 7 chunks",
		"run blackscholes data=streamed options=448 overlap=8");
}

Test(small_blackscholes_options, a_total_makes_steps)
{
	struct blackscholes_opts o = streamed_opts(1000, 0, 0);

	o.set.total = 40001;
	cr_assert(run_limits(o).depth_asked == 3, "%ld steps", (long)run_limits(o).depth_asked);
	refused(3, "total=1G has no effect", "run blackscholes total=1G");
	refused(3, "total=79999999: less than the 80000000 bytes of one step",
		"run blackscholes data=streamed total=79999999");
	refused(3, "total=1099511627776: more than 16777216 steps of 20 bytes",
		"run blackscholes data=streamed options=1 total=1024G");
	refused(3, "total=-1", "run blackscholes data=streamed total=-1");
	refused(3, "did you mean 'vmcuda-table1'?", "run blackscholes preset=vmcuda-table2");
	refused(3, "given twice", "run blackscholes preset=vmcuda-table1 preset=vmcuda-large");
}

Test(small_blackscholes_options, launches_that_cannot_overlap_are_refused)
{
	refused(3, "launch=sometimes: no such choice", "run blackscholes launch=sometimes");
	refused(3, "launch=programmatic has no effect: it is used only with data=resident",
		"run blackscholes launch=programmatic data=streamed");
	refused(3, "launches that follow one another",
		"run blackscholes options=64 launch=programmatic --mode fused");
}

Test(small_blackscholes_options, modes_that_cannot_be_are_refused)
{
	refused(3, "stream mode only",
		"run blackscholes data=streamed memory=pageable --mode graph");
	refused(3, "has copies", "run blackscholes data=streamed --mode fused");
	refused(3, "more than 2048 copies per step",
		"run blackscholes data=streamed options=32M block=64k --mode graph");
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
