/*
 * test_stereo_options.c - what the stereo workload offers and refuses, which strips it takes, what
 * a step costs, and what it reports.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/stereo/test_stereo.h"

TestSuite(small_stereo_options, .timeout = 300);

Test(small_stereo_options, defaults_are_those_of_the_rows)
{
	run_defaults(make_opts(640, 0));
}

Test(small_stereo_options, what_makes_no_sense_is_refused)
{
	static const struct wrong_args rows[] = {
		{ "dmin=3", "dmin=3 dmax=0: the least is above the largest" },
		{ "dmax=-17", "dmin=-16 dmax=-17: " },
		{ "data=streamed upload_output=2", "upload_output=2" },
		{ "upload_output=1", "upload_output=1 has no effect" },
		{ "overlap=4", "overlap=4 has no effect" },
		{ "left=a.ppm", "left=a.ppm has no effect" },
		{ "right=a.ppm", "right=a.ppm has no effect" },
		{ "data=streamed width=8192 block=64k upload_output=1 --mode graph",
		  "more than 2048 copies per step" },
		{ "data=streamed width=7 height=5 overlap=8",
		  "overlap=8: 35 pixels make at most 5 chunks of 7" },
		{ "data=streamed width=128 height=64 total=1000",
		  "total=1000: less than the 98304 bytes of one step" },
	};

	words_refused("run stereo", "width=0 width=32769 height=-1 dmin=-65 dmax=65 strip=many");
	ROWS_REFUSED("run stereo", rows);
	run_copies_refused("run stereo width=32");
}

Test(small_stereo_options, more_than_there_is_is_refused_with_the_numbers)
{
	struct stereo_opts o = make_opts(32768, 32768);

	need_device();
	o.set.slots = 1 << 24; /* no user can ask for that */
	run_setup_fails(o, "width=32768 height=32768 slots=16777216: takes ");
	o = streamed_opts(32, 32, 0, 0);
	o.set.slots = 1ll << 40;
	run_setup_fails(o, "more than 25 % of its ");
}

static int64_t count_steps(int64_t upload_output, int64_t total)
{
	struct stereo_opts o = streamed_opts(4096, 2048, 0, 0);

	o.upload_output = upload_output;
	o.set.total = total;
	return run_limits(o).depth_asked;
}

/* Those of the paper: 26 pairs, 100 pairs. */
Test(small_stereo_options, totals_make_steps)
{
	cr_assert(count_steps(1, 3328ll << 20) == 26, "table 1");
	cr_assert(count_steps(1, 12800ll << 20) == 100, "large");
	cr_assert(count_steps(0, 96ll << 20) == 1 && count_steps(0, (96ll << 20) + 1) == 2,
		  "one more");
}

/* ---- sizes and strips ------------------------------------------------------------------- */

Test(small_stereo_options, heights_go_with_widths)
{
	static const int32_t known[][2] = {
		{ 160, 120 }, { 320, 240 },   { 640, 533 },   { 1280, 1066 },
		{ 1, 1 },     { 4096, 2048 }, { 8192, 4096 }, { 16384, 9984 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		cr_assert(stereo_height_for(known[i][0]) == known[i][1], "%d: %d", known[i][0],
			  stereo_height_for(known[i][0]));
}

/* The least that keeps two blocks on each multiprocessor, and taller ones for large images. */
Test(small_stereo_options, strips_go_with_the_size)
{
	static const struct {
		struct stereo_size size;
		int32_t strip;
	} known[] = {
		{ { 640, 533 }, 13 },
		{ { 160, 120 }, 4 },
		{ { 1, 1 }, 4 },
		{ { 16384, 9984 }, 128 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		cr_assert(stereo_strip_for(known[i].size) == known[i].strip, "%d: %d",
			  known[i].size.w, stereo_strip_for(known[i].size));
}

/* ---- cost and report -------------------------------------------------------------------- */

static struct cost find_cost(struct stereo_opts o)
{
	struct run *r = run_begin(o);
	struct cost c;

	cr_assert(!workload_stereo.cost(&o, &r->s, &c), "cost");
	run_end(r);
	return c;
}

Test(small_stereo_options, a_step_costs_what_the_formula_says)
{
	struct stereo_opts o = make_opts(30, 20);
	struct cost c;

	need_device();
	c = find_cost(o);
	cr_assert(c.launches == 1 && c.bytes_moved == 7200 && c.evaluations == 600, "resident");
	cr_assert(!c.bytes_transferred && !c.to_device.calls, "resident");
	o = streamed_opts(200, 100, STREAMED_BLOCK_MIN, 0);
	c = find_cost(o);
	cr_assert(c.to_device.calls == 4 && c.to_device.bytes == 160000, "%g calls of %g bytes",
		  c.to_device.calls, c.to_device.bytes);
	cr_assert(c.to_host.calls == 2 && c.to_host.bytes == 80000 && !c.pageable, "to the host");
	o.upload_output = 1;
	o.set.overlap = 4; /* 33 rows come first, 17 last */
	o.set.memory = STREAMED_PAGEABLE;
	c = find_cost(o);
	cr_assert(c.launches == 4 && c.to_device.calls == 12 && c.to_host.calls == 4, "chunks: %g",
		  c.to_device.calls);
	cr_assert(c.bytes_transferred == 320000 && c.pageable, "chunks: %g bytes",
		  c.bytes_transferred);
}

Test(small_stereo_options, the_report_has_rates_and_sizes)
{
	for (int streamed = 0; streamed < 2; streamed++) {
		const struct report *report =
			run_report(streamed ? streamed_opts(64, 48, 0, 2) : make_opts(64, 48));

		has_row(report, "pixels", NULL);
		has_row(report, "as drawn", NULL);
		has_row(report, "strips", "of 4 rows, of an image of 64 x 48");
		has_row(report, "working set", "MB of device memory");
		if (streamed) {
			has_row(report, "copied", NULL);
			has_row(report, "copies a step", "4 of 0.02458 MB to the device");
		}
	}
}
