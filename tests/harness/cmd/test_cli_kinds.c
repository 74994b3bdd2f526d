/*
 * test_cli_kinds.c - what show, check, fit, predict, compare and plot make of a session that was
 * swept with several wait policies: what they say of one kind is what a session of that kind
 * alone says.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"

TEST_FOLDER(dir);
static char one[64], both[64];

/* Spin alone; the same, and blocking, which takes twice as long. */
static void prepare(void)
{
	struct fake_session s = fake_session();

	make_dir();
	snprintf(one, sizeof(one), "%s/one.jsonl", dir);
	snprintf(both, sizeof(both), "%s/both.jsonl", dir);
	s.size = "0,2,10,50,200";
	s.depth = "1,4,16,64";
	s.mode = "stream,graph";
	s.processes = 5;
	s.noise = 0.005;
	fake_session_write(&s, one);
	s.kinds = 2;
	s.kind[0] = SYNC_SPIN;
	s.kind[1] = SYNC_BLOCKING;
	s.policy_factor = 2;
	fake_session_write(&s, both);
}

TestSuite(small_cli_kinds, .init = prepare, .fini = remove_dir, .timeout = 300);

static void expect_text(const char *text, const char *want)
{
	cr_assert(tells(text, want), "'%s' in: %s", want, text);
}

/* The output of both commands, but for lines with the session's name. */
static void expect_same(const char *command_of_one, const char *command_of_both)
{
	const char *text;

	cr_assert(zero(int, shell(&text,
				  "cd '%s'; '%s' %s >1 2>&1; '%s' %s >2 2>&1; test -s 1 && "
				  "sed -i '/^session/d; /jsonl/d' 1 2 && cmp 1 2 && test -s 1",
				  dir, rift(), command_of_one, rift(), command_of_both)),
		  "%s", text);
}

Test(small_cli_kinds, it_is_valid_and_shown_by_kind)
{
	const char *text;

	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", both)), "%s", text);
	expect_text(text, "5 of 5 *400 points ok, 0 ");
	cr_assert(zero(int, run_rift(OUT, &text, "show '%s'", both)), "%s", text);
	expect_text(text, "launch, stream mode, sync spin: ");
	expect_text(text, "launch, graph mode, sync blocking: ");
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s' --csv '%s/p.csv'", both, dir)),
		  "%s", text);
	shell(&text, "head -n 1 '%s/p.csv'", dir);
	expect_text(text, "workload,mode,depth,sync,us,");
}

Test(small_cli_kinds, which_has_to_be_said)
{
	static const char wants[] = "both.jsonl *spin, blocking*--sync spin";

	refused(3, wants, "fit '%s'", both);
	refused(3, wants, "compare '%s' '%s'", one, both);
	refused(3, wants, "compare --self-test '%s'", both);
	refused(3, wants, "plot '%s'", both);
	refused(3, wants, "predict '%s' --on '%s'", one, both);
	refused(3, "--sync=poll: ", "fit '%s' --sync poll", both);
	refused(3, "spin, blocking", "plot '%s' --sync poll", both);
	refused(3, "one.jsonl", "compare '%s' '%s' --sync blocking", both, one);
	refused(3, "spin, yield, blocking, event, poll", "fit '%s' --sync sleep", both);
}

Test(small_cli_kinds, one_kind_is_fitted_as_if_it_were_alone)
{
	const char *text;

	expect_same("fit one.jsonl --sync spin", "fit both.jsonl --sync spin");
	cr_assert(zero(int, run_rift(OUT, &text, "fit '%s' --sync blocking", both)), "%s", text);
	expect_text(text, "\n  Z    11.6 us");
	expect_same("predict one.jsonl --on one.jsonl",
		    "predict both.jsonl --on one.jsonl --sync spin");
}

/* Keys of several kinds are others, but the points are the same measurements. */
Test(small_cli_kinds, one_kind_is_compared_with_a_session_of_it)
{
	const char *text;

	cr_assert(zero(int, run_rift(OUT, &text, "compare '%s' '%s' --sync spin", one, both)), "%s",
		  text);
	expect_text(text, "40 points");
	cr_assert(eq(ptr, strstr(text, "only"), NULL), "%s", text);
	expect_same("compare --self-test one.jsonl", "compare --self-test both.jsonl --sync spin");
}

Test(small_cli_kinds, one_kind_is_drawn_as_if_it_were_alone)
{
	const char *text;

	/* the pictures are for who has gnuplot; the data are there in any case */
	cr_assert(zero(int, shell(&text,
				  "cd '%s'; '%s' plot one.jsonl --output 1 >said 2>&1; '%s' plot "
				  "both.jsonl --sync spin --output 2 >>said 2>&1; cd 1 && ls *.csv "
				  "&& for f in *.csv; do cmp $f ../2/$f || exit 1; done",
				  dir, rift(), rift())),
		  "%s", text);
	expect_text(text, "launch-overhead-cells.csv");
}
