/* p_adjust.c - p-values of many tests, each as if it were the only one. */
#include "harness/stats/decide.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"

struct test {
	double p;
	int place; /* in the caller's array */
};

static int by_p(const void *a, const void *b)
{
	double x = ((const struct test *)a)->p, y = ((const struct test *)b)->p;

	return (x > y) - (x < y);
}

/* The tests by ascending p, for the caller to free; NULL where a p is none. */
static struct test *sorted_tests(const double *p, int m)
{
	struct test *t;

	for (int i = 0; i < m; i++) {
		if (!(p[i] >= 0 && p[i] <= 1))
			return NULL;
	}
	t = malloc((size_t)(m > 0 ? m : 1) * sizeof(*t));
	CHECK(t, "room for %d tests", m);
	for (int i = 0; i < m; i++)
		t[i] = (struct test){ p[i], i };
	qsort(t, (size_t)(m > 0 ? m : 0), sizeof(*t), by_p);
	return t;
}

/* Stepping down from the smallest: times the number of tests left, never less than the last. */
int p_adjust_holm(double *p, int m)
{
	struct test *t = sorted_tests(p, m);
	double last = 0;

	if (!t)
		return -EINVAL;
	for (int i = 0; i < m; i++) {
		last = fmin(1, fmax(last, (m - i) * t[i].p));
		p[t[i].place] = last;
	}
	free(t);
	return 0;
}

/* Stepping up from the largest: times m / rank, never more than the last. */
int p_adjust_fdr(double *p, int m)
{
	struct test *t = sorted_tests(p, m);
	double last = 1;

	if (!t)
		return -EINVAL;
	for (int i = m - 1; i >= 0; i--) {
		last = fmin(last, t[i].p * m / (i + 1));
		p[t[i].place] = last;
	}
	free(t);
	return 0;
}
