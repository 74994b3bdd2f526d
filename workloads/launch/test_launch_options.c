/*
 * test_launch_options.c - what the launch workload offers and refuses, what it costs, what it
 * reports, and that it leaves nothing behind.
 */
#include "tests/plain.h"
#include "tests/ledger.h"
#include "tests/rows.h"
#include "workloads/launch/probe.h"
#include "workloads/launch/test_steps.h"

TestSuite(small_launch_options, .timeout = 300);

Test(small_launch_options, defaults_are_those_of_the_rows)
{
	const struct launch_opts o = default_opts();
	struct limits limits = { 0 };

	rows_default_to(&workload_launch, &o);
	cr_assert(!workload_launch.limits(&o, &limits), "limits");
	cr_assert(!limits.action && !limits.depth_max && limits.depth_run == 256, "limits");
	for (int m = 0; m < MODE_COUNT; m++)
		cr_assert(!limits.mode_refused[m], "mode %d", m);
}

/* The sweep goes from the empty kernel to a millisecond. */
Test(small_launch_options, the_axis_is_the_duration)
{
	const struct param *us = param_row(&workload_launch, "us");

	cr_assert(us->axis && !strncmp(us->axis, "0,1,2,5,", 8), "%s", us->axis);
	cr_assert(strstr(us->axis, ",1000"), "%s", us->axis);
	cr_assert(us->max == LAUNCH_US_MAX, "%g", us->max);
}

Test(small_launch_options, no_time_is_the_empty_kernel)
{
	struct launch_opts o = default_opts();

	cr_assert(launch_effective_body(&o) == LAUNCH_EMPTY, "spin of 0 us");
	o.kernel = LAUNCH_FILL_WORK;
	cr_assert(launch_effective_body(&o) == LAUNCH_EMPTY, "work of 0 us");
	o.us = 1;
	cr_assert(launch_effective_body(&o) == LAUNCH_WORK, "work");
	o.kernel = LAUNCH_FILL_SPIN;
	cr_assert(launch_effective_body(&o) == LAUNCH_SPIN, "spin");
}

Test(small_launch_options, several_streams_are_not_fused)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_SPIN, 0, 2);
	struct limits limits = { 0 };

	cr_assert(!workload_launch.limits(&o, &limits), "limits");
	cr_assert(limits.mode_refused[MODE_FUSED] && !limits.mode_refused[MODE_GRAPH] &&
			  !limits.mode_refused[MODE_STREAM],
		  "modes");
}

Test(small_launch_options, probes_take_one_stream_and_short_kernels)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_SPIN, PROBE_US_MAX, 1);
	struct limits limits = { 0 };

	o.probe = 1;
	cr_assert(!workload_launch.limits(&o, &limits) && limits.action, "an action");
	o.us++;
	is_refused(&o, "us=101: ");
	o = opts_for(LAUNCH_FILL_SPIN, 0, 2);
	o.probe = 1;
	is_refused(&o, "streams=2: ");
}

Test(small_launch_options, too_many_fused_steps_are_refused)
{
	const char *text;
	struct run *r;
	int err;

	need_device();
	r = run_begin(default_opts());
	divert_stderr();
	err = workload_launch.fused(&r->o, &r->s, r->stream, (int64_t)UINT32_MAX + 1);
	text = diverted_stderr();
	cr_assert(err == -ENOTSUP && is_one_complaint(text), "%d: %s", err, text);
	run_end(r);
}

/* ---- counts ----------------------------------------------------------------------------- */

Test(small_launch_options, cost_follows_the_counts)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_WORK, 0, 1);
	struct launch_state s = { .config = { .blocks = 10, .chain = 495, .cycles = 1980 } };
	struct cost c;

	cr_assert(!workload_launch.cost(&o, &s, &c) && c.formula, "cost");
	cr_assert(c.launches == 1 && c.flops == 0 && c.bytes_moved == 10 * 2 * 16, "empty: %g",
		  c.bytes_moved);
	o.us = 1;
	o.streams = 3;
	cr_assert(!workload_launch.cost(&o, &s, &c), "cost");
	cr_assert(c.launches == 3 && c.flops == 3 * 10 * 32 * 495 * 2, "work: %g", c.flops);
	cr_assert(c.bytes_moved == 3 * 10 * 3 * 16, "work: %g", c.bytes_moved);
	o.kernel = LAUNCH_FILL_SPIN;
	cr_assert(!workload_launch.cost(&o, &s, &c), "cost");
	cr_assert(c.flops == 0 && c.bytes_moved == 3 * 10 * 4 * 16, "spin: %g", c.bytes_moved);
}

Test(small_launch_options, kernels_are_sized_by_formula)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_WORK, 100, 1);
	struct launch_state first;
	struct run *r;

	need_device();
	o.mhz = 400;
	r = run_begin(o);
	first = r->s;
	cr_assert(first.config.cycles == 40000, "%llu cycles", first.config.cycles);
	cr_assert(first.config.chain == 40000u / (unsigned)first.cycles_per_fma, "%u links",
		  first.config.chain);
	run_end(r);
	r = run_begin(o);
	cr_assert(r->s.config.cycles == first.config.cycles &&
			  r->s.config.chain == first.config.chain &&
			  !memcmp(r->s.args, first.args, sizeof(first.args)),
		  "two runs do the same");
	run_end(r);
}

/* No two words of all blocks are alike, none is 0: a copy from elsewhere shows. */
Test(small_launch_options, argument_blocks_differ)
{
	struct run *r;

	need_device();
	r = run_begin(default_opts());
	for (int s = 0; s < LAUNCH_STREAMS_MAX; s++) {
		cr_assert((r->s.args[s][0] & 255) == (unsigned)s, "number of stream %d", s);
		cr_assert((uint32_t)r->s.args[s][0] >> 8, "tag of stream %d", s);
		cr_assert(!(r->s.args[s][0] >> 32), "no units yet, stream %d", s);
		for (int w = 1; w < LAUNCH_WORDS_MAX; w++)
			cr_assert(r->s.args[s][w] && r->s.args[s][w] != r->s.args[s][w - 1] &&
					  r->s.args[s][w] != r->s.args[(s + 1) % 8][w],
				  "stream %d, word %d", s, w);
	}
	run_end(r);
}

/* ---- report ----------------------------------------------------------------------------- */

static double reported(const struct report *report, const char *name)
{
	return report_row(report, name)->value;
}

static struct report make_report(struct launch_opts o, int64_t steps)
{
	struct run *r = run_begin(o);
	struct report report = { 0 };

	run_steps(r, steps);
	cr_assert(!workload_launch.report(&r->o, &r->s, &report), "report");
	run_end(r);
	return report;
}

Test(small_launch_options, report_tells_how_kernels_were_sized)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_SPIN, 5, 1);
	struct report report;

	need_device();
	o.mhz = 200;
	report = make_report(o, 20);
	cr_assert(reported(&report, "blocks a launch") == 1, "blocks");
	cr_assert(reported(&report, "cycles per us") == 200, "clock");
	cr_assert(reported(&report, "spin asked for") == 1000, "asked");
	cr_assert(reported(&report, "shortest spin") >= 1000, "shortest");
	cr_assert(reported(&report, "mean spin") >= reported(&report, "shortest spin"), "mean");
	o.kernel = LAUNCH_FILL_WORK;
	report = make_report(o, 20);
	cr_assert(reported(&report, "chain") * reported(&report, "cycles per link") <= 1032 &&
			  reported(&report, "chain") * reported(&report, "cycles per link") >= 968,
		  "chain");
}

/* ---- what is left ----------------------------------------------------------------------- */

Test(small_launch_options, teardown_takes_everything_back)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_WORK, 1, LAUNCH_STREAMS_MAX);
	struct launch_state nothing = { 0 };

	need_device();
	workload_launch.teardown(&nothing);
	o.width = LAUNCH_WIDTH_FULL;
	run_end(run_begin(o));
	cr_assert(!*ledger_open(), "left: %s", ledger_open());
}
