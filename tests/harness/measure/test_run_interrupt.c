/* test_run_interrupt.c - Ctrl-C in every part of a run: one line, torn down, soon. */
#include "tests/test.h"
#include "tests/fake_run.h"

#include <criterion/parameterized.h>
#include <signal.h>

#include "common/interrupt.h"

TestSuite(small_run_interrupt, .timeout = 300);

static void heed_control_c(void)
{
	signal(SIGINT, SIG_DFL);
	interrupt_install();
}

/* Arrays, not pointers: each case is a process of its own, as a signal is remembered for ever. */
struct interruption {
	char hook[24], fail[16];
};

ParameterizedTestParameters(small_run_interrupt, control_c_ends_it)
{
	static struct interruption in[] = {
		{ "interrupt=setup", "fail=none" },    { "interrupt=step", "fail=none" },
		{ "interrupt=check", "fail=none" },    { "interrupt=check", "fail=check" },
		{ "interrupt=report", "fail=report" },
	};

	return cr_make_param_array(struct interruption, in, sizeof(in) / sizeof(*in));
}

/* Whether the hook looks itself and returns -EINTR, or ends as if nothing had come. */
ParameterizedTest(struct interruption *in, small_run_interrupt, control_c_ends_it)
{
	int err;

	heed_control_c();
	/* nor does a failed check count before it */
	err = run_fake(in->hook, in->fail, "fail_errno=4", "verdict=wrong", "--samples=2", NULL);
	cr_assert(eq(int, err, -EINTR), "%s %s: %s", in->hook, in->fail, said);
	cr_assert(is_one_complaint(said), "%s %s: %s", in->hook, in->fail, said);
	cr_assert(ne(ptr, strstr(said, "interrupted after "), NULL), "%s: %s", in->hook, said);
	release_fake();
	cr_assert(eq(int, fake_log.teardowns, 1), "%s %s", in->hook, in->fail);
}

/* In the third step of 100,000: within the next 1024, and the block does not count. */
Test(small_run_interrupt, a_deep_block_is_given_up)
{
	heed_control_c();
	cr_assert(eq(int, run_fake("--depth=100000", "interrupt=step", "interrupt_at=3", NULL),
		     -EINTR),
		  "%s", said);
	cr_assert(le(int, fake_log.steps, 3 + 1024), "%d steps", fake_log.steps);
	cr_assert(eq(i64, run.blocks.n, 0), "blocks");
	release_fake();
}

/* Graphs hold 1024 steps each: none is launched after the first. The first reset is for the
 * capture. */
Test(small_run_interrupt, a_deep_block_of_graphs_is_given_up)
{
	struct verdict v = { 0 };

	heed_control_c();
	cr_assert(eq(int,
		     run_fake("--depth=1M", "--mode=graph", "interrupt=reset", "interrupt_at=2",
			      NULL),
		     -EINTR),
		  "%s", said);
	workload_fake.check(&fake_opts, run.instance.state, 1024, &v);
	cr_assert(eq(dbl, v.error, 0), "%s", v.worst);
	release_fake();
}
