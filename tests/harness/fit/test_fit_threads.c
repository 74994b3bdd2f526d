/*
 * test_fit_threads.c - harness/fit/fit.h: threads share a fit's draws, and what comes out does not
 * depend on how many there are; values alone are those of the whole fit.
 */
#include "tests/test.h"
#include "tests/made_fit.h"

#include <sched.h>

TestSuite(small_fit_threads, .timeout = 300);

/* Ten processes: nearly every draw is a fit of its own. */
static struct fake_session ten_processes(void)
{
	struct fake_session s = fake_session();

	s.size = "0,20";
	s.depth = "1,4,64";
	s.mode = "stream,graph";
	s.blocks = 3;
	return s;
}

Test(small_fit_threads, draws_are_the_same_on_one_processor_and_on_all)
{
	struct fake_session s = ten_processes();
	struct made made = { 0 };
	struct fit all, one;
	cpu_set_t first;

	made_grid(&made, &s);
	cr_assert(zero(int, fit_make(&all, &made.grid, 0)), "all processors");
	CPU_ZERO(&first);
	for (int i = 0; i < CPU_SETSIZE; i++) /* a container may have others than the first */
		if (CPU_SET(i, &first), !sched_setaffinity(0, sizeof(first), &first))
			break;
		else
			CPU_ZERO(&first);
	cr_assert(zero(int, fit_make(&one, &made.grid, 0)), "one processor");
	cr_expect(zero(int, memcmp(all.draw, one.draw, BOOTSTRAP_DRAWS * sizeof(*all.draw))),
		  "draws");
	cr_expect(zero(int, memcmp(all.first, one.first, BOOTSTRAP_DRAWS * sizeof(*all.first))),
		  "which are alike");
	for (int i = 1; i < BOOTSTRAP_DRAWS; i++)
		cr_assert(
			zero(int, memcmp(&all.draw[i], &all.draw[all.first[i]], sizeof(*all.draw))),
			"draw %d", i);
	fit_release(&all);
	fit_release(&one);
	made_release(&made);
}

Test(small_fit_threads, values_alone_are_those_of_the_whole_fit)
{
	struct fake_session s = ten_processes();
	struct made made = { 0 };
	struct fit whole, values;

	made_grid(&made, &s);
	cr_assert(zero(int, fit_make(&whole, &made.grid, 0)), "whole");
	cr_assert(zero(int, fit_make_values(&values, &made.grid)), "values");
	cr_expect(zero(int, memcmp(&whole.model, &values.model, sizeof(whole.model))), "model");
	cr_expect(eq(dbl, whole.residual, values.residual), "residual");
	for (int i = 0; i < MODEL_PARAMS; i++)
		cr_expect(eq(int, whole.param[i].identified, values.param[i].identified), "%s",
			  model_param_rows[i].name);
	cr_expect(eq(ptr, values.draw, NULL), "no draws");
	fit_release(&whole);
	fit_release(&values);
	made_release(&made);
}
