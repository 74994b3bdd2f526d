/* test_compare_carrier.c - a mean over workloads that one of them alone puts beyond the margin. */
#include "tests/test.h"

#include "harness/compare/compare.h"

#include <math.h>

TestSuite(small_compare_carrier, .timeout = 30);

enum { N = 6 };

static double ones[N] = { 1, 1, 1, 1, 1, 1 };

/* Three workloads that take so many times as long, in each of six pairs. */
static const struct compared_workload *carrier_of(const double times[3], struct interval *rest)
{
	static struct compared_workload w[3];
	static double b[3][N];
	const struct compared_side side = { .n = N };
	struct comparison c = { .side = { &side, &side },
				.options = { .margin = 0.02 },
				.workload = w };
	const struct compared_workload *found;

	c.pairs.n_workloads = 3;
	c.whole.points = 3;
	c.whole.ratio.value = cbrt(times[0] * times[1] * times[2]);
	contrast_init(&c.contrast, N, N, true, 1);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < N; k++)
			b[i][k] = times[i];
		w[i] = (struct compared_workload){ .points = 1, .mean = { ones, b[i] } };
		w[i].ratio.value = times[i];
	}
	found = compare_carrier(&c, rest);
	contrast_release(&c.contrast);
	return found;
}

Test(small_compare_carrier, without_it_the_mean_is_within_the_margin)
{
	struct interval rest;
	const struct compared_workload *w;

	w = carrier_of((const double[]){ 1.01, 0.5, 1.01 }, &rest);
	cr_assert(ne(ptr, (void *)(uintptr_t)w, NULL));
	cr_expect(epsilon_eq(dbl, w->ratio.value, 0.5, 1e-9));
	cr_expect(epsilon_eq(dbl, rest.value, 1.01, 1e-9));
	cr_expect(epsilon_eq(dbl, rest.lo, 1.01, 1e-9));
	cr_expect(eq(int, rest.n, N));
}

Test(small_compare_carrier, there_is_none)
{
	struct interval rest;

	/* within the margin; two of them; without the furthest it is beyond on the other side */
	cr_expect(zero(ptr, (void *)(uintptr_t)carrier_of((const double[]){ 1.03, 1, 1 }, &rest)));
	cr_expect(zero(ptr, (void *)(uintptr_t)carrier_of((const double[]){ 1.5, 1.4, 1 }, &rest)));
	cr_expect(zero(ptr, (void *)(uintptr_t)carrier_of((const double[]){ 3, 0.9, 0.9 }, &rest)));
}
