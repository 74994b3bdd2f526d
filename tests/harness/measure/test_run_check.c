/* test_run_check.c - how many steps of a run are checked, and that they are run. */
#include "tests/test.h"
#include "tests/fake_run.h"

TestSuite(small_run_check, .timeout = 300);

Test(small_run_check, long_batches_are_checked_at_check_steps_in_every_mode)
{
	static const char *const mode[] = { "--mode=stream", "--mode=graph", "--mode=fused" };

	for (int i = 0; i < MODE_COUNT; i++) {
		must_pass(run_fake(mode[i], "--depth=100", "--check-steps=7", "--samples=2", NULL));
		cr_assert(eq(i64, fake_log.checked_steps, 7), "%s", mode[i]);
		release_fake();
	}
}

Test(small_run_check, a_batch_of_check_steps_is_checked_as_it_is)
{
	must_pass(run_fake("--depth=100", "--check-steps=100", "--samples=2", NULL));
	cr_assert(eq(i64, fake_log.checked_steps, 100), "steps");
	release_fake();
	must_pass(run_fake("--depth=2000", "--mode=fused", "--samples=2", NULL));
	cr_assert(eq(i64, fake_log.checked_steps, 2000), "steps");
	release_fake();
}

/* The fake's check compares with the steps that ran since the last reset. */
Test(small_run_check, short_batches_are_checked_at_more_steps_in_every_mode)
{
	static const char *const mode[] = { "--mode=stream", "--mode=graph", "--mode=fused" };

	for (int i = 0; i < MODE_COUNT; i++) {
		must_pass(
			run_fake(mode[i], "--depth=3", "--samples=2", "--check-steps=1024", NULL));
		cr_assert(eq(i64, fake_log.checked_steps, 1024), "%s: 341 batches and 1", mode[i]);
		release_fake();
		must_pass(run_fake(mode[i], "--depth=100", "--check-steps=250", NULL));
		cr_assert(eq(i64, fake_log.checked_steps, 250), "%s: 2 batches and 50", mode[i]);
		release_fake();
	}
}

/* No block of the check is deeper than the workload allows either. */
Test(small_run_check, steps_to_check_keep_to_depth_max)
{
	int fuseds;

	must_pass(run_fake("depth_max=4", "--mode=fused", "--depth=4", "--samples=2",
			   "--check-steps=4", NULL));
	fuseds = fake_log.fuseds;
	release_fake();
	must_pass(run_fake("depth_max=4", "--mode=fused", "--depth=4", "--samples=2",
			   "--check-steps=1024", NULL));
	cr_assert(le(int, 256, fake_log.fuseds), "%d launches, %d without them", fake_log.fuseds,
		  fuseds);
	cr_assert(le(i64, fake_log.fused_steps, 4 * (int64_t)fake_log.fuseds), "too deep");
	release_fake();
}

Test(small_run_check, steps_to_check)
{
	static const struct {
		int64_t asked, depth;
		double step_ns;
		int64_t want;
	} cases[] = {
		{ 7, 100, 1e3, 7 },	{ 1 << 20, 1, 1e9, 1 << 20 },
		{ 0, 1, 1e3, 1024 },	{ 0, 1023, 1e3, 1024 },
		{ 0, 1025, 1e3, 1025 }, { 0, 4096, 1e9, 4096 },
		{ 0, 4097, 1, 4096 },	{ 0, 1, 0, 1024 },
		{ 0, 1, 1e7, 64 },	{ 0, 10, 1e7, 64 },
		{ 0, 70, 1e7, 70 },	{ 0, 1, 5e9, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_assert(eq(i64, check_steps_for(cases[i].asked, cases[i].depth, cases[i].step_ns),
			     cases[i].want),
			  "case %zu", i);
}
