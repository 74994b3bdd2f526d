/*
 * test_sweep_sizes.c - how long configurations take that were not tried: larger sizes by the two
 * before them, checks by the last one that was timed, side b by its smallest size.
 */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/measure/estimate.h"
#include "tests/fake_workload.h"

TestSuite(small_sweep_sizes, .timeout = 300);

/* cells=1,4,16,64 at depth 1; nothing is known of how long they take. */
static struct plan four_sizes(void)
{
	char cells[] = "cells=1,4,16,64", *args[] = { cells };
	struct plan_request r = { .workload = fakes,
				  .assignment = args,
				  .n_assignments = 1,
				  .depth = "1",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_configs, 4), "%d sizes", p.n_configs);
	for (int i = 0; i < 4; i++)
		p.config[i].timing[0] = p.config[i].timing[1] = side_timing_unknown();
	return p;
}

static struct side_timing timing(double setup_ns, double step_ns)
{
	return (struct side_timing){ .setup_ns = setup_ns,
				     .ends_ns = 5000,
				     .step_ns = step_ns,
				     .gap_ns = 300,
				     .check_ends_ns = NAN,
				     .check_step_ns = NAN,
				     .device_bytes = 1e6 * step_ns };
}

Test(small_sweep_sizes, a_size_is_predicted_by_the_two_before_it)
{
	struct plan p = four_sizes();
	struct side_timing t;

	cr_assert(not(predict_by_smaller(&p, 0, 0, &t)), "nothing is before the first");
	cr_assert(not(predict_by_smaller(&p, 0, 2, &t)), "nothing is known");
	cr_assert(isnan(t.step_ns) && isnan(t.setup_ns), "nor made up");
	p.config[0].timing[0] = timing(1e6, 100);
	p.config[1].timing[0] = timing(1e6, 400);
	cr_assert(predict_by_smaller(&p, 0, 2, &t), "two are known");
	cr_assert(epsilon_eq(dbl, t.step_ns, 1600, 1e-6), "in proportion: %g", t.step_ns);
	/* a set-up that did not grow yet may be about to */
	cr_assert(epsilon_eq(dbl, t.setup_ns, 4e6, 1), "%g", t.setup_ns);
	cr_assert(eq(dbl, t.ends_ns, 5000), "%g", t.ends_ns);
	cr_assert(eq(dbl, t.gap_ns, 300), "%g", t.gap_ns);
	cr_assert(isnan(t.check_ends_ns) && isnan(t.check_step_ns), "checks are predicted apart");
	cr_assert(epsilon_eq(dbl, t.device_bytes, 1600e6, 1), "%g", t.device_bytes);
	p.config[1].timing[0] = timing(1e6, 1600); /* with the square of the size */
	cr_assert(predict_by_smaller(&p, 0, 2, &t), "again");
	cr_assert(epsilon_eq(dbl, t.step_ns, 25600, 1e-3), "as it grew: %g", t.step_ns);
	cr_assert(not(predict_by_smaller(&p, 0, 1, &t)), "one is before the second");
	p.config[2].timing[0] = timing(2e6, 12800); /* of the last two, eight times for four */
	cr_assert(predict_by_smaller(&p, 0, 3, &t), "the last");
	cr_assert(epsilon_eq(dbl, t.step_ns, 102400, 1e-2), "as it grew: %g", t.step_ns);
	p.config[1].timing[0].step_ns = 0;
	cr_assert(not(predict_by_smaller(&p, 0, 3, &t)), "one takes nothing");
	plan_release(&p);
}

Test(small_sweep_sizes, a_check_is_predicted_by_the_last_that_was_timed)
{
	struct plan p = four_sizes();

	p.config[0].timing[0] = timing(0, 100);
	p.config[0].timing[0].check_ends_ns = 1e6;
	p.config[0].timing[0].check_step_ns = 10;
	p.config[1].timing[0] = timing(0, 400);
	p.config[1].timing[0].check_ends_ns = 8e6;
	p.config[1].timing[0].check_step_ns = 80;
	predict_check_by_smaller(&p, 0, 1);
	cr_assert(eq(dbl, p.config[1].timing[0].check_ends_ns, 8e6), "what was timed stays");
	predict_check_by_smaller(&p, 0, 2);
	cr_assert(epsilon_eq(dbl, p.config[2].timing[0].check_ends_ns, 32e6, 1), "%g",
		  p.config[2].timing[0].check_ends_ns);
	cr_assert(epsilon_eq(dbl, p.config[2].timing[0].check_step_ns, 320, 1e-3), "%g",
		  p.config[2].timing[0].check_step_ns);
	/* of much larger ones a check is a sample */
	p.config[2].timing[0] = side_timing_unknown();
	p.config[1].timing[0].check_ends_ns = 0.2e9;
	predict_check_by_smaller(&p, 0, 3);
	cr_assert(epsilon_eq(dbl, p.config[3].timing[0].check_ends_ns, 0.25e9, 1), "%g",
		  p.config[3].timing[0].check_ends_ns);
	plan_release(&p);
}

Test(small_sweep_sizes, a_size_of_zero_is_in_proportion_to_none)
{
	const struct workload *const launch[] = { workload_find("launch"), NULL };
	char us[] = "us=0,10", *args[] = { us };
	struct plan_request r = { .workload = launch,
				  .assignment = args,
				  .n_assignments = 1,
				  .depth = "1",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	p.config[0].timing[0] = timing(0, 100);
	p.config[0].timing[0].check_ends_ns = 5e4;
	p.config[0].timing[0].check_step_ns = 90;
	p.config[1].timing[0] = side_timing_unknown();
	predict_check_by_smaller(&p, 0, 1);
	cr_assert(eq(dbl, p.config[1].timing[0].check_ends_ns, 5e4), "%g",
		  p.config[1].timing[0].check_ends_ns);
	cr_assert(eq(dbl, plan_times_the_size(&p, 0, 1), 1), "a smaller one is no quicker");
	plan_release(&p);
}

Test(small_sweep_sizes, side_b_is_slower_as_its_smallest_size_is)
{
	struct plan p = four_sizes();
	const struct side_timing *b = &p.config[2].timing[1];

	for (int i = 0; i < 4; i++)
		p.config[i].timing[0] = timing(1e6 * (i + 1), 100 * pow(4, i));
	p.config[0].timing[1] = timing(3e6, 2100);
	p.config[0].timing[1].ends_ns = 55000;
	p.config[0].timing[1].gap_ns = 50300;
	p.config[0].timing[0].check_ends_ns = p.config[0].timing[0].check_step_ns = 100;
	p.config[0].timing[1].check_ends_ns = 300;
	p.config[0].timing[1].check_step_ns = 500;
	p.config[2].timing[0].check_ends_ns = p.config[2].timing[0].check_step_ns = 7000;
	predict_side_b(&p);
	cr_assert(epsilon_eq(dbl, b->check_ends_ns, 21000, 1e-6), "3 times: %g", b->check_ends_ns);
	cr_assert(epsilon_eq(dbl, b->check_step_ns, 35000, 1e-6), "5 times: %g", b->check_step_ns);
	cr_assert(epsilon_eq(dbl, b->ends_ns, 55000, 1e-6), "50 us more: %g", b->ends_ns);
	cr_assert(epsilon_eq(dbl, b->step_ns, 1600 + 2000, 1e-6), "2 us more: %g", b->step_ns);
	cr_assert(epsilon_eq(dbl, b->gap_ns, 50300, 1e-6), "50 us more: %g", b->gap_ns);
	cr_assert(epsilon_eq(dbl, b->setup_ns, 9e6, 1e-3), "three times: %g", b->setup_ns);
	cr_assert(eq(dbl, p.config[0].timing[1].step_ns, 2100), "what was tried stays");
	plan_release(&p);
}

/* What its own probe has timed is kept; and nothing takes less than no time. */
Test(small_sweep_sizes, side_b_keeps_its_own_times)
{
	struct plan p = four_sizes();

	for (int i = 0; i < 4; i++)
		p.config[i].timing[0] = timing(1e6, 1000);
	p.config[0].timing[1] = timing(1e6, 1000);
	p.config[0].timing[1].ends_ns = p.config[0].timing[1].gap_ns = 10;
	p.config[2].timing[1] = timing(7e6, 777);
	p.config[1].timing[0].ends_ns = 4000;
	p.config[1].timing[0].gap_ns = 200;
	predict_side_b(&p);
	cr_assert(zero(dbl, p.config[1].timing[1].ends_ns), "%g", p.config[1].timing[1].ends_ns);
	cr_assert(zero(dbl, p.config[1].timing[1].gap_ns), "%g", p.config[1].timing[1].gap_ns);
	cr_assert(eq(dbl, p.config[2].timing[1].step_ns, 777), "%g", p.config[2].timing[1].step_ns);
	cr_assert(eq(dbl, p.config[3].timing[1].step_ns, 1000), "as side a");
	plan_release(&p);
}

/* Faster it may be, but no step takes nothing. */
Test(small_sweep_sizes, side_b_takes_some_time)
{
	struct plan p = four_sizes();

	for (int i = 0; i < 4; i++)
		p.config[i].timing[0] = timing(1e6, i ? 10 : 1000);
	p.config[0].timing[1] = timing(1e6, 100);
	predict_side_b(&p);
	cr_assert(epsilon_eq(dbl, p.config[1].timing[1].step_ns, 5, 1e-9), "%g",
		  p.config[1].timing[1].step_ns);
	plan_release(&p);
}
