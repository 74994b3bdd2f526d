/* test_chart_words.c - harness/chart/words.h: numbers as charts show them, and texts cut to fit. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/chart/words.h"

TestSuite(small_chart_words, .timeout = 300);

static void expect_text(struct text t, const char *want)
{
	cr_assert(eq(str, t.s, (char *)want), "%s, not %s", t.s, want);
}

Test(small_chart_words, durations_have_two_or_three_digits)
{
	expect_text(words_time(0.42), "0.42 ns");
	expect_text(words_time(13.4), "13 ns");
	expect_text(words_time(999.4), "999 ns");
	expect_text(words_time(999.6), "1.0 µs");
	expect_text(words_time(2449), "2.4 µs");
	expect_text(words_time(9960), "10 µs");
	expect_text(words_time(2.86e6), "2.9 ms");
	expect_text(words_time(3e9), "3.0 s");
	expect_text(words_time(5e12), "5000 s");
}

Test(small_chart_words, percent_fits_into_a_cell)
{
	expect_text(words_percent(0.0042), "0.4");
	expect_text(words_time(-12345), "-12 µs");
	expect_text(words_time(-1234), "-1.2 µs");
	expect_text(words_percent(-0.012), "−1.2");
	expect_text(words_percent(-0.0004), "0.0");
	expect_text(words_percent(0.0996), "10");
	expect_text(words_percent(36.6), "3660");
	expect_text(words_percent(123.4), "12k");
}

Test(small_chart_words, ratios_for_a_sentence)
{
	expect_text(words_ratio(1.36), "36 % longer");
	expect_text(words_ratio(1.004), "0.4 % longer");
	expect_text(words_ratio(0.88), "12 % less time");
	expect_text(words_ratio(2.35), "2.4 times as long");
	expect_text(words_ratio(37), "37 times as long");
}

Test(small_chart_words, where_digits_and_units_change)
{
	expect_text(words_time(0.994), "0.99 ns");
	expect_text(words_time(0.996), "1.0 ns");
	expect_text(words_time(-0.996), "-1.0 ns");
	expect_text(words_time(9.94), "9.9 ns");
	expect_text(words_time(9.96), "10 ns");
	expect_text(words_time(-2449), "-2.4 µs");
	expect_text(words_time(999.6e3), "1.0 ms");
	expect_text(words_time(999.6e6), "1.0 s");
	expect_text(words_percent(0.0994), "9.9");
	expect_text(words_percent(-0.0006), "−0.1");
	expect_text(words_percent(99.99), "9999");
	expect_text(words_percent(99.996), "10k");
	expect_text(words_percent(-123.4), "−12k");
	expect_text(words_percent(0), "0.0");
	expect_text(words_ratio(1), "0.0 % longer");
	expect_text(words_ratio(1.0994), "9.9 % longer");
	expect_text(words_ratio(1.0996), "10 % longer");
	expect_text(words_ratio(0.9006), "9.9 % less time");
	expect_text(words_ratio(1.994), "99 % longer");
	expect_text(words_ratio(1.996), "2.0 times as long");
	expect_text(words_ratio(9.96), "10 times as long");
}

Test(small_chart_words, a_text_is_cut_between_characters)
{
	char text[16] = "12 µs, 34 µs";

	words_cut(text, sizeof(text), 12);
	cr_assert(eq(str, text, "12 µs, 34 µs"), "it fits: %s", text);
	words_cut(text, sizeof(text), 11);
	cr_assert(eq(str, text, "12 µs, 34 …"), "%s", text);
	words_cut(text, sizeof(text), 4);
	cr_assert(eq(str, text, "12 …"), "%s", text);
}

Test(small_chart_words, a_text_that_fills_its_array_is_cut_within_it)
{
	char text[4] = "abc";

	words_cut(text, sizeof(text), 2);
	cr_assert(lt(sz, strlen(text), sizeof(text)), "%s", text);
}
