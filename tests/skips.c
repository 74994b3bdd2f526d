/*
 * skips.c - linked into every test program: makes skipped tests visible.
 *
 * Criterion counts a skipped test as nothing at all. Here every skip is printed with its
 * reason, totals are printed for tools/run_tests.sh, and with REQUIRE_GPU set a test that was
 * skipped for want of a GPU is a failure, and so is a program that ran no test. A test says why it
 * skips: cr_skip("no CUDA device")              for want of a GPU, exactly these words
 *   cr_skip("needs gnuplot (gnuplot-nox)") for want of a package, named in parentheses
 */
#include <criterion/criterion.h>
#include <criterion/stats.h>
#include <criterion/hooks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Criterion's own count includes what a filter left out. */
static size_t skipped, without_gpu;

ReportHook(POST_TEST)(struct criterion_test_stats *test)
{
	const char *why = test->message ? test->message : "no reason given";

	if (test->test_status != CR_STATUS_SKIPPED)
		return;
	skipped++;
	printf("skipped: %s::%s: %s\n", test->test->category, test->test->name, why);
	if (strstr(why, "no CUDA device"))
		without_gpu++;
}

ReportHook(POST_ALL)(struct criterion_global_stats *all)
{
	if (getenv("REQUIRE_GPU") && without_gpu) {
		printf("REQUIRE_GPU: %zu tests were skipped for want of a GPU\n", without_gpu);
		all->tests_failed += without_gpu;
	}
	printf("counts: passed %zu failed %zu skipped %zu\n", all->tests_passed, all->tests_failed,
	       skipped);
	fflush(stdout);
}
