/* test_overhead.c - what the harness computes and says, on figures worked by hand; no device. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"
#include "harness/measure/overhead.h"
#include "harness/measure/submit.h"
#include "harness/stats/stats.h"

TestSuite(small_overhead, .timeout = 300);

static const bool all_modes[MODE_COUNT] = { true, true, true };
static const bool stream_only[MODE_COUNT] = { true };

/* Times in us. Z ends, K kernels of a step, E and T of a block. */
static struct overhead overhead(double z, double k, int64_t depth, double e, double t)
{
	struct kernel_time kt = { .ns = 1e3 * k, .ends_ns = 1e3 * z };
	struct timing timing = { .mode = MODE_STREAM,
				 .depth = depth,
				 .total_ns = 1e3 * t,
				 .enq_ns = 1e3 * e,
				 .allowed = all_modes,
				 .axis = "cells" };
	struct overhead o;

	non_kernel_share(&o, &kt, &timing);
	return o;
}

#define SAYS(o, words) cr_assert(tells((o).meaning, words), "%s", (o).meaning)

Test(small_overhead, device_bound)
{
	struct overhead o = overhead(6, 50, 64, 130, 3206);

	cr_assert(epsilon_eq(dbl, o.share, 6.0 / 3206, 1e-9), "share");
	SAYS(o, "device-bound: *ends");
}

Test(small_overhead, device_bound_with_gaps_names_them)
{
	struct overhead o = overhead(6, 50, 64, 130, 6 + 64 * 51.5);

	SAYS(o, "device-bound: ");
	SAYS(o, "gaps of 1.50 us");
}

Test(small_overhead, below_noise)
{
	struct overhead o = overhead(6, 50, 64, 130, 3190);

	cr_assert(lt(dbl, o.share, 0), "share");
	SAYS(o, "below noise");
}

Test(small_overhead, kernels_longer_than_blocks_are_no_figure)
{
	struct overhead o = overhead(6, 12.6, 64, 1, 134);

	cr_assert(eq(int, isnan(o.share) != 0, 1), "share");
	SAYS(o, "not known: *12.6 us");
}

Test(small_overhead, submission_bound_names_pace_and_ways_out)
{
	struct overhead o = overhead(6, 1, 64, 157, 163);

	cr_assert(epsilon_eq(dbl, o.share, 99.0 / 163, 1e-9), "share");
	SAYS(o, "submission-bound: *2.45 us*1.00 us");
	SAYS(o, "--mode graph, --mode fused *'cells'");
}

Test(small_overhead, too_shallow_predicts_four_times_the_depth)
{
	struct overhead o = overhead(20, 10, 1, 3, 30);

	cr_assert(epsilon_eq(dbl, o.share, 20.0 / 30, 1e-9), "share");
	SAYS(o, "depth is small");
	SAYS(o, "20.0 us *10.0 us");
	SAYS(o, "--depth 4 *33 %"); /* 20 / (20 + 40) */
}

Test(small_overhead, too_shallow_but_no_deeper_is_allowed)
{
	struct kernel_time k = { .ns = 1e4, .ends_ns = 2e4 };
	struct timing t = { .mode = MODE_STREAM,
			    .depth = 1,
			    .depth_max = 1,
			    .total_ns = 3e4,
			    .enq_ns = 3e3,
			    .allowed = stream_only,
			    .axis = "cells" };
	struct overhead o;

	non_kernel_share(&o, &k, &t);
	SAYS(o, "'cells'");
	cr_assert(eq(ptr, strstr(o.meaning, "--"), NULL), "%s", o.meaning);
}

Test(small_overhead, gaps_that_the_host_does_not_explain)
{
	struct overhead o = overhead(6, 2, 64, 20, 6 + 64 * 5);

	SAYS(o, "gap-bound: *2.00 us *3.00 us");
}

/* us: the ends of a block, kernels of its one step, submission, all of it; and what it is said to
 * be. */
Test(small_overhead, where_one_meaning_ends_and_the_next_begins)
{
	static const struct {
		double ends, kernel, enq, total;
		const char *says;
	} rows[] = {
		{ 5, 111, 10, 100, "not known" },   { 5, 109, 10, 100, "below noise" },
		{ 9, 91, 10, 100, " ends " },	    { 3, 91, 10, 100, "gaps of 6.00 us" },
		{ 4, 91, 10, 100, "gaps of 5.00" }, { 4.5, 91, 10, 100, " ends " },
		{ 8, 89, 10, 100, "depth is" },	    { 25, 50, 99, 100, "depth is small" },
		{ 24, 50, 80, 100, "submission-" }, { 24, 50, 79, 100, "gap-bound" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct overhead o =
			overhead(rows[i].ends, rows[i].kernel, 1, rows[i].enq, rows[i].total);

		SAYS(o, rows[i].says);
	}
}

Test(small_overhead, unknown_kernel_time_is_said)
{
	struct kernel_time k = { .ns = NAN, .ends_ns = NAN, .unknown = "because" };
	struct timing t = { .depth = 1, .total_ns = 1, .enq_ns = 1, .allowed = all_modes };
	struct overhead o;

	non_kernel_share(&o, &k, &t);
	cr_assert(eq(int, isnan(o.share) != 0, 1), "share");
	cr_assert(eq(str, o.meaning, "not known: because"), "words");
}

Test(small_overhead, graph_length_is_the_largest_power_of_two_that_fits)
{
	static const int64_t want[][3] = {
		/* depth, launches, steps */
		{ 1, 1, 1 },	  { 2, 1, 2 },	     { 7, 1, 4 },	{ 64, 1, 64 },
		{ 100, 1, 64 },	  { 1025, 1, 1024 }, { 4096, 1, 1024 }, { 4096, 2, 512 },
		{ 4096, 3, 256 }, { 64, 1024, 1 },   { 64, 5000, 1 },	{ 64, 300, 2 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_assert(eq(i64, graph_steps_for(want[i][0], want[i][1]), want[i][2]),
			  "depth=%ld launches=%ld", (long)want[i][0], (long)want[i][1]);
}

Test(small_overhead, blocks_that_fit_in_a_second)
{
	cr_assert(eq(i64, blocks_that_fit(0), 100), "unknown");
	cr_assert(eq(i64, blocks_that_fit(1000), 100), "short");
	cr_assert(eq(i64, blocks_that_fit(50000000), 20), "50 ms");
	cr_assert(eq(i64, blocks_that_fit(3000000000), 5), "3 s");
}

Test(small_overhead, a_default_depth_fits_in_a_second)
{
	cr_assert(eq(i64, depth_that_fits(64, 1000), 64), "short steps");
	cr_assert(eq(i64, depth_that_fits(1000, 1000000), 1000), "just fits");
	cr_assert(eq(i64, depth_that_fits(1024, 1000000), 512), "1 ms");
	cr_assert(eq(i64, depth_that_fits(1024, 12900000), 64), "12.9 ms");
	cr_assert(eq(i64, depth_that_fits(64, 3000000000), 1), "3 s");
	cr_assert(eq(i64, depth_that_fits(64, 0), 64), "no time at all");
}

Test(small_overhead, medians)
{
	int64_t odd[] = { 9, 1, 5 }, even[] = { 8, 2, 4, 6 };
	struct stats s = stats_of(odd, 3, 1);

	cr_assert(eq(dbl, s.median, 5), "odd");
	cr_assert(eq(dbl, s.min, 1), "min");
	cr_assert(eq(i64, s.n, 3), "n");
	cr_assert(eq(i64, odd[0], 9), "unchanged");
	s = stats_of(even, 4, 2);
	cr_assert(eq(dbl, s.median, 2.5), "even, for each of 2");
	cr_assert(eq(dbl, s.min, 1), "min for each of 2");
	cr_assert(eq(dbl, stats_of(odd, 1, 1).median, 9), "one");
	cr_assert(eq(int, isnan(stats_of(odd, 0, 1).median) != 0, 1), "none");
}

Test(small_overhead, numbers_as_people_read_them)
{
	cr_assert(eq(str, text_time(0).s, "0 ns"), "zero");
	cr_assert(eq(str, text_time(850).s, "850 ns"), "ns");
	cr_assert(eq(str, text_time(2410).s, "2.41 us"), "us");
	cr_assert(eq(str, text_time(99960).s, "100 us"), "rounds up to three digits");
	cr_assert(eq(str, text_time(999999).s, "1.00 ms"), "never 1000 us");
	cr_assert(eq(str, text_time(13.5e6).s, "13.5 ms"), "ms");
	cr_assert(eq(str, text_time(1234e9).s, "1234 s"), "no unit above");
	cr_assert(eq(str, text_time(0.42).s, "0.42 ns"), "below a ns");
	cr_assert(eq(str, text_count(1060000).s, "1.06 M"), "count");
	cr_assert(eq(str, text_bytes(139.0 * (1 << 30)).s, "139 GiB"), "bytes");
	cr_assert(eq(str, text_real(0.1).s, "0.1"), "shortest");
	cr_assert(eq(str, text_real(1e6).s, "1e6"), "exponent");
	cr_assert(eq(str, text_real(1000).s, "1000"), "plain");
	cr_assert(eq(str, text_real(-2.5e-7).s, "-2.5e-7"), "negative exponent");
	cr_assert(eq(str, text_int(-2048, 1).s, "-2k"), "size");
	cr_assert(eq(str, text_int(0, 1).s, "0"), "zero size");
	cr_assert(eq(str, text_int(2048, 0).s, "2048"), "int");
}

static void reads(struct text got, const char *want)
{
	cr_assert(eq(str, got.s, (char *)want), "%s, not %s", got.s, want);
}

Test(small_overhead, where_digits_and_units_change)
{
	reads(text_time(9.994), "9.99 ns");
	reads(text_time(9.996), "10.0 ns");
	reads(text_time(99.94), "99.9 ns");
	reads(text_time(99.96), "100 ns");
	reads(text_time(-9.996), "-10.0 ns");
	reads(text_time(999.9), "1000 ns");
	reads(text_time(999.96), "1.00 us");
	reads(text_time(-1500), "-1.50 us");
	reads(text_time(2e6), "2.00 ms");
	reads(text_time(2e9), "2.00 s");
	reads(text_time(2e12), "2000 s");
	reads(text_count(999), "999");
	reads(text_count(1000), "1.00 k");
	reads(text_count(2e9), "2.00 G");
	reads(text_count(2e12), "2.00 T");
	reads(text_count(2e15), "2000 T");
	reads(text_digits(0.125), "0.12");
	reads(text_digits(9.996), "10.0");
	reads(text_digits(-41.48), "-41.5");
	reads(text_digits(1264.4), "1264");
	reads(text_digits(5.0285e4), "50285");
	reads(text_half_width(0.0994, 1), "9.9");
	reads(text_half_width(0.0996, 1), "10");
	reads(text_half_width(0.043, 0), "4");
	reads(text_half_width(1, 1), "100");
	reads(text_half_width(1.0001, 1), ">100");
	reads(text_half_width(1169.88, 0), ">100");
	reads(text_bytes(1023), "1023 B");
	reads(text_bytes(1024), "1.00 KiB");
	reads(text_bytes(1 << 20), "1.00 MiB");
	reads(text_bytes(0x1p40), "1.00 TiB");
	reads(text_bytes(0x1p50), "1024 TiB");
	reads(text_real(1e5), "1e5");
	reads(text_real(12000), "12000");
	reads(text_real(1.2e6), "1200000");
	reads(text_real(1.2e7), "1.2e7");
	reads(text_real(1.5e15), "1.5e15");
	reads(text_real(123456789012345), "123456789012345");
	reads(text_real(1e-5), "1e-5");
	reads(text_real(1e100), "1e100");
	reads(text_real(1. / 3), "0.3333333333333333");
	reads(text_real(-0.5), "-0.5");
	reads(text_int(1 << 10, 1), "1k");
	reads(text_int(1023, 1), "1023");
	reads(text_int(1 << 20, 1), "1M");
	reads(text_int((int64_t)3 << 30, 1), "3G");
	reads(text_int((int64_t)1 << 40, 1), "1024G");
	reads(text_int(INT64_MIN, 0), "-9223372036854775808");
}

Test(small_overhead, texts_are_cut_between_characters)
{
	char word[600];

	for (int n = 59; n < 63; n++) {
		memset(word, 'x', sizeof(word));
		word[n] = '\0';
		cr_assert(eq(sz, strlen(text_shown(word).s), (size_t)(n <= 60 ? n : 63)), "%d", n);
		/* 2 bytes, or 4 of an escape, that fit or do not */
		strcpy(word + n - 1, "µ");
		cr_assert(eq(sz, strlen(text_shown(word).s),
			     (size_t)(n <= 59	? n + 1
				      : n == 60 ? 62
				      : n == 61 ? 63
						: 63)),
			  "%d: %s", n, text_shown(word).s);
	}
	memset(word, 'y', sizeof(word));
	for (size_t n = sizeof(struct text_line) - 6; n < sizeof(struct text_line) + 6; n++) {
		struct text_line t;
		bool fits = n < sizeof(t.s) - 3;

		word[n] = '\0';
		t = text_escaped(word);
		cr_assert(eq(sz, strlen(t.s), fits ? n : sizeof(t.s) - 1), "%zu: %zu", n,
			  strlen(t.s));
		cr_assert(eq(int, strstr(t.s, "...") == NULL, fits), "%zu", n);
		word[n] = 'y';
	}
}

Test(small_overhead, what_a_user_typed_fits_one_line)
{
	char word[200];

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	word[3] = '\n';
	cr_assert(eq(sz, strlen(text_shown(word).s), 63), "cut");
	cr_assert(eq(str, text_shown("a\tb\033[0m").s, "a\\tb\\x1b[0m"), "control characters");
	cr_assert(eq(str, text_shown("").s, ""), "empty");
}
