/* test_startup.c - what is known of a process that has just started. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/measure/run.h"

#include "harness/measure/measure.h"

TestSuite(small_cold, .timeout = 300);

/* Tests are processes too, which time out after a minute; by the book of the kernel, in hundredths
 * of a second. */
Test(small_cold, a_process_knows_since_when_it_runs)
{
	double first = startup_since_start_ns();

	cr_assert(le(dbl, 0, first), "%g ns", first);
	cr_assert(le(dbl, first, 60e9), "%g ns", first);
	for (int64_t begin = clock_ns(); clock_ns() - begin < 20000000;)
		;
	cr_assert(le(dbl, 19e6, startup_since_start_ns() - first), "time passes");
}

Test(small_cold, a_cold_process_is_its_three_parts)
{
	struct startup c = { 1, 20, 300 };

	cr_assert(eq(dbl, startup_total_ns(&c), 321), "sum");
	c.start_ns = NAN;
	cr_assert(isnan(startup_total_ns(&c)), "not known");
}
