/* test_format.c - levels of exact intervals, which differ with n, in words. */
#include "tests/test.h"

#include "harness/compare/format.h"

#include <math.h>

TestSuite(small_format, .timeout = 30);

Test(small_format, levels_of_several_rows)
{
	struct levels l = { 0 };

	cr_expect(eq(str, levels_text(&l).s, "95 %"), "none is known");
	levels_add(&l, NAN);
	cr_expect(zero(int, l.n));
	levels_add(&l, 0.96875);
	cr_expect(eq(str, levels_text(&l).s, "96.9 %"));
	levels_add(&l, 0.907);
	levels_add(&l, 0.9375);
	cr_expect(eq(str, levels_text(&l).s, "90.7 to 96.9 %"));
	cr_expect(epsilon_eq(dbl, l.least, 0.907, 1e-12));
}
