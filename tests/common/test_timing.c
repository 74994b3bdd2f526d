/* test_timing.c - common/timing.h: medians and quantiles of a few times. */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "common/timing.h"

TestSuite(small_timing, .timeout = 300);

Test(small_timing, medians)
{
	int64_t odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 100 }, one[] = { 7 };

	cr_assert(timing_median(odd, 3) == 5, "odd");
	cr_assert(timing_median(even, 4) == 3.5, "even");
	cr_assert(timing_median(one, 1) == 7, "one");
}

Test(small_timing, quantiles_are_values)
{
	int64_t ns[100], one[] = { 7 };

	for (int i = 0; i < 100; i++)
		ns[i] = 100 - i;
	cr_assert(timing_quantile(ns, 100, 0.99) == 99, "p99 of 100");
	cr_assert(timing_quantile(ns, 100, 0) == 1 && timing_quantile(ns, 100, 1) == 100, "ends");
	cr_assert(timing_quantile(ns, 10, 0.99) == 10, "of few the largest");
	cr_assert(timing_quantile(one, 1, 0.5) == 7, "one");
}

Test(small_timing, the_clock_does_not_run_backwards)
{
	int64_t last = timing_now_ns();

	for (int i = 0; i < 1000; i++) {
		int64_t now = timing_now_ns();

		cr_assert(now >= last, "%ld after %ld", (long)now, (long)last);
		last = now;
	}
}
