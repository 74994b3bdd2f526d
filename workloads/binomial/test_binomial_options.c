/*
 * test_binomial_options.c - what the binomial workload offers and refuses, what a step costs, and
 * what it reports.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/binomial/test_binomial.h"

TestSuite(small_binomial_options, .timeout = 300);

Test(small_binomial_options, defaults_are_those_of_the_rows)
{
	run_defaults(make_opts(2048, 1024));
}

/* A probability outside 0 to 1 would give a price all the same, and infinities none. */
Test(small_binomial_options, what_makes_no_sense_is_refused)
{
	static const struct wrong_args rows[] = {
		{ "steps=3", "steps=3 rate=0.06 volatility=0.1: the probability of a step up is "
			     "not between 0 and 1; use more than 3 steps" },
		{ "steps=8k rate=1 volatility=0.01", "use a higher volatility" },
		{ "steps=10 rate=-0.1 volatility=0.1", "not between 0 and 1" },
		{ "steps=8k volatility=0.3", "steps=8192 volatility=0.3: the highest price does "
					     "not fit a float; use at most 8027 steps" },
		{ "data=streamed options=130 overlap=4",
		  "overlap=4: 130 options make at most 3 chunks of 64" },
		{ "data=streamed total=100", "total=100: less than the 24576 bytes of one step" },
		{ "launch_options=512 --mode fused", "a step of several launches" },
	};

	words_refused("run binomial",
		      "steps=0 steps=-5 steps=8193 steps=many options=0 options=65537 "
		      "launch_options=-1 volatility=0 rate=nan form=three");
	ROWS_REFUSED("run binomial", rows);
	run_copies_refused("run binomial");
}

Test(small_binomial_options, more_than_there_is_is_refused_with_the_numbers)
{
	/* no user can ask for that */
	run_setup_fails(make_opts(16, 1ll << 46), "options=70368744177664 slots=2: takes ");
}

/* ---- cost and report -------------------------------------------------------------------- */

Test(small_binomial_options, a_step_costs_what_the_formula_says)
{
	struct binomial_opts o = make_opts(2048, 1024);
	struct cost c;

	c = run_cost(o);
	cr_assert(c.launches == 1 && c.bytes_moved == 24 * 1024, "resident");
	cr_assert(c.flops == 1.5 * 1024 * 2048 * 2049 && c.evaluations == 1024, "%g", c.flops);
	o.launch_options = 1000;
	cr_assert(!workload_binomial.cost(&o, NULL, &c) && c.launches == 2, "launches");
	o.set.data = STREAMED_STREAMED;
	o.set.overlap = 5; /* of 192 and 256 options */
	o.launch_options = 200;
	c = run_cost(o);
	cr_assert(c.launches == 6, "%g launches", c.launches);
	cr_assert(c.to_device.calls == 25 && c.to_device.bytes == 20 * 1024, "%g calls",
		  c.to_device.calls);
	cr_assert(c.to_host.calls == 5 && c.to_host.bytes == 4 * 1024, "to the host");
}

Test(small_binomial_options, the_report_has_rates)
{
	const struct report *report = run_report(streamed_opts(4, 65, 2));

	has_row(report, "options", NULL);
	has_row(report, "nodes", NULL);
	has_row(report, "nodes of use", NULL);
	has_row(report, "working set", "MB of device memory");
	has_row(report, "copies a step", "to the device");
}
