/*
 * test_cli_compare_many.c - `rift compare` of many sessions, the real binary on files of made-up
 * ones: exit codes, tables, JSON, the chart's files, and what is refused.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/compared.h"
#include "tests/folder.h"
#include "tests/need_gnuplot.h"

TEST_FOLDER(dir);
static char base[64], one[64], both[64];

static void prepare(void)
{
	make_dir();
	snprintf(base, sizeof(base), "%s/base.jsonl", dir);
	snprintf(one, sizeof(one), "%s/one side.jsonl", dir);
	snprintf(both, sizeof(both), "%s/both.jsonl", dir);
}

TestSuite(small_cli_compare_many, .init = prepare, .fini = remove_dir, .timeout = 120);
TestSuite(large_cli_compare_many, .init = prepare, .fini = remove_dir, .timeout = 120);

/* Few points, so that a file is small. */
static struct fake_session made_up(int sides)
{
	struct fake_session s = two_sides();

	s.depth = "1,16,64";
	s.size = "0,1";
	s.mode = "stream";
	s.sides = sides;
	s.noise = 0.001;
	return s;
}

/* A base, a session of one side, and one whose side b takes 5 us more. */
static void write_sessions(void)
{
	struct fake_session s = made_up(1);

	fake_session_write(&s, base);
	s.seed = 2;
	fake_session_write(&s, one);
	s = made_up(2);
	s.model[1].v[MODEL_C] += 5000;
	s.model[1].v[MODEL_P] += 5000;
	s.model[1].v[MODEL_Z] += 5000;
	fake_session_write(&s, both);
}

static void expect_texts(const char *text, const char *const *want)
{
	for (; *want; want++)
		cr_assert(tells(text, *want), "'%s' in\n%s", *want, text);
}

Test(small_cli_compare_many, a_row_for_each_session)
{
	const char *text;

	write_sessions();
	cr_assert(zero(int, run_rift(OUT, &text, "compare '%s' '%s' '%s'", base, one, both)), "%s",
		  text);
	expect_texts(text, (const char *const[]){
				   "base.jsonl: made-up GPU, n = 5 processes",
				   "one side: *one side.jsonl, n = 5, over the base",
				   "both: *both.jsonl, side b, n = 5, over side a",
				   "launch us=0 stream: *depth 1 *depth 64 *n\n",
				   "  one side *not resolved (*to *) *not resolved (*to *) *5\n",
				   "  both *1.8* (*to *) *3.* (*to *) *5\n",
				   "1 % (sd) a session",
				   NULL,
			   });
	/* but for names of files, which are not wrapped */
	shell(&text, "'%s' compare '%s' '%s' '%s' | awk 'length($0) > 100' | grep -v jsonl", rift(),
	      base, one, both);
	cr_assert(eq(str, (char *)text, ""), "more than 100 characters: %s", text);
	cr_assert(zero(int, run_rift(ERR, &text, "compare '%s' 'row=%s'", base, both)), "%s", text);
	cr_assert(eq(str, (char *)text, ""), "%s", text);
}

Test(small_cli_compare_many, one_object_for_machines)
{
	const json_t *o, *session, *w, *step;

	write_sessions();
	o = rift_json("compare --json '%s' '%s' '%s'", base, both, one);
	cr_assert(eq(str, (char *)get_text(o, "command"), "compare"), "command");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "sessions")), 2), "sessions");
	session = json_array_get(json_object_get(o, "sessions"), 0);
	cr_assert(eq(ptr, json_object_get(session, "own_base"), json_true()), "its own base");
	cr_assert(eq(str, (char *)get_text(session, "side"), "b"), "side");
	w = json_array_get(json_object_get(session, "workloads"), 0);
	cr_assert(eq(sz, json_array_size(json_object_get(w, "parameters")), 6), "parameters");
	step = json_array_get(json_object_get(w, "steps"), 0);
	cr_assert(eq(str, (char *)get_text(step, "state"), "known"), "state");
	cr_assert(lt(dbl, 1.5,
		     json_real_value(json_object_get(json_object_get(step, "ratio"), "lo"))),
		  "interval");
	cr_assert(eq(str, (char *)get_text(json_object_get(session, "comparison"), "verdict"),
		     (char *)outcome_name(OUTCOME_SLOWER)),
		  "the one engine's verdict");
	w = json_array_get(json_object_get(json_object_get(o, "base"), "workloads"), 0);
	step = json_array_get(json_object_get(w, "steps"), 0);
	cr_assert(epsilon_eq(dbl, json_real_value(json_object_get(step, "value")), 5800, 50),
		  "the base's own time");
}

Test(small_cli_compare_many, a_chart_with_its_data)
{
	const char *text;

	NEED_GNUPLOT();
	write_sessions();
	cr_assert(zero(int, run_rift(OUT, &text, "compare '%s' '%s' '%s' --plot '%s/charts/'", base,
				     one, both, dir)),
		  "%s", text);
	cr_assert(tells(text, "/charts/launch-atlas.png, .svg\n"), "%s", text);
	shell(&text, "cd '%s/charts' && LC_ALL=C ls -A | tr '\\n' ' '", dir);
	cr_assert(eq(str, (char *)text,
		     "launch-atlas-cells.csv launch-atlas.gp launch-atlas.png launch-atlas.svg "),
		  "%s", text);
	shell(&text, "grep -c ',known,\"both\"' '%s/charts/launch-atlas-cells.csv'", dir);
	cr_assert(ne(str, (char *)text, "0\n"), "%s", text);
}

/* One row that is a thousand times as far out leaves the axis to the others. */
Test(small_cli_compare_many, what_is_far_out_is_told_in_words)
{
	struct fake_session s = made_up(2);
	const char *text;
	char far[64];

	NEED_GNUPLOT();
	write_sessions();
	snprintf(far, sizeof(far), "%s/far.jsonl", dir);
	s.model[1].v[MODEL_Z] += 5e6;
	fake_session_write(&s, far);
	cr_assert(zero(int, run_rift(OUT, &text, "compare '%s' '%s' '%s' '%s' --plot '%s/charts/'",
				     base, one, both, far, dir)),
		  "%s", text);
	shell(&text, "grep -B3 '^word_far[0-9]* = 1' '%s/charts/launch-atlas.gp'", dir);
	cr_assert(tells(text, "word* = '+5.0 ms'*word* = 2"), "Z of the third row: %s", text);
	cr_assert(tells(text, "word* = '8* times'"), "its step: %s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "compare '%s' '%s' '%s' --plot '%s/near/'", base,
				     one, both, dir)));
	shell(&text, "grep -c '^word_far[0-9]* = 1' '%s/near/launch-atlas.gp'", dir);
	cr_assert(zero(int, atoi(text)), "of two rows none is: %s", text);
}

/* Starts, which belong to no workload, have a chart of their own. */
Test(small_cli_compare_many, a_chart_of_other_costs)
{
	struct fake_session s = made_up(1);
	const char *text;

	NEED_GNUPLOT();
	s.startup_ns[0] = 200e6;
	fake_session_write(&s, base);
	s = made_up(2);
	s.startup_ns[0] = 200e6;
	s.startup_ns[1] = 300e6;
	fake_session_write(&s, both);
	cr_assert(zero(int, run_rift(OUT, &text, "compare '%s' 'both=%s' --plot '%s/charts/'", base,
				     both, dir)),
		  "%s", text);
	cr_assert(tells(text, "cold start *n\n  base *200 ms (*\n  both *+100* ms (* 5\n"), "%s",
		  text);
	cr_assert(tells(text, "/charts/costs-atlas.png, .svg\n"), "%s", text);
	shell(&text, "grep -v ^panel '%s/charts/costs-atlas-cells.csv'", dir);
	cr_assert(tells(text, "1,0,100,*,1,5,ms,cold start,known,\"both\"\n"), "%s", text);
	shell(&text, "wc -l <'%s/charts/costs-atlas-cells.csv'", dir);
	cr_assert(eq(int, atoi(text), 2), "one panel, one row");
}

/* Kept sessions of a GPU, compressed: tracing makes each launch longer, so each program. */
Test(large_cli_compare_many, all_programs_on_one_chart)
{
	static const char kept[] = "data/sessions/atlas-h100";
	const char *text;

	NEED_GNUPLOT();
	cr_assert(zero(int, run_rift(OUT, &text,
				     "compare '%s/none.jsonl.gz:a' none='%s/none.jsonl.gz' "
				     "CUPTI='%s/CUPTI.jsonl.gz' --plot '%s/charts/'",
				     kept, kept, kept, dir)),
		  "%s", text);
	cr_assert(tells(text, "/charts/programs-atlas.png, .svg\n"), "%s", text);
	cr_assert(tells(text,
			"\n  a step *1k *1c *2a *1k\n  base *10.1 us, 4.04 us *\n  CUPTI *1.23, "
			"1.58 *1.34, 1.65 *±7 %, ±23 %*1.08, 1.01\n"),
		  "%s", text);
	/* two depths of twelve programs; tracing leaves memory alone, and particlefilter at depth
	 * 64 */
	shell(&text, "grep -c '^[01],[0-9]*,1,.*,known,' '%s/charts/programs-atlas-cells.csv'",
	      dir);
	cr_assert(eq(int, atoi(text), 21), "%s", text);
	shell(&text, "grep '^[01],[0-9]*,1,.*,not resolved,' '%s/charts/programs-atlas-cells.csv'",
	      dir);
	cr_assert(tells(text, "0,2,1,*,memory\n1,2,1,*,memory\n1,4,1,*,particlefilter\n"), "%s",
		  text);
	shell(&text, "grep '^kind' '%s/charts/programs-atlas.gp'", dir);
	cr_assert(tells(text, "kind1 = '1k'\nkind2 = '1c'\nkind3 = '2a'\n*kind6 = '4k 2c'\n"), "%s",
		  text);
}

/* Options of compare mean the same on a page. */
Test(small_cli_compare_many, terms_that_are_given)
{
	const json_t *o;
	const char *text;

	write_sessions();
	cr_assert(
		zero(int, run_rift(OUT, &text, "compare '%s' 'row=%s' --session-sd 3", base, one)),
		"%s", text);
	cr_assert(tells(text, "--session-sd: *3 % (sd) a session"), "%s", text);
	o = rift_json("compare --json '%s' 'row=%s' --session-sd 3 --margin 20", base, one);
	o = json_array_get(json_object_get(o, "sessions"), 0);
	cr_assert(eq(str, (char *)get_text(o, "name"), "row"), "name");
	o = json_object_get(json_object_get(o, "comparison"), "terms");
	cr_assert(epsilon_eq(dbl, json_number_value(json_object_get(o, "margin")), 0.2, 1e-9));
	cr_assert(epsilon_eq(dbl, json_number_value(json_object_get(o, "session_sd")), 0.03, 1e-9));
	cr_assert(
		zero(int, run_rift(OUT, &text, "compare '%s' '%s' '%s' --quiet", base, one, both)),
		"%s", text);
	refused(3, "base.jsonl has one side", "compare '%s' 'row=%s' --side b", base, both);
	refused(3, "both.jsonl is the base itself", "compare '%s' 'row=%s' --side b", both, both);
}

/* ---- what is refused -------------------------------------------------------------------- */

Test(small_cli_compare_many, what_is_not_comparable)
{
	struct fake_session s = made_up(1);
	char other[96];

	write_sessions();
	s.device[0] = "another GPU";
	snprintf(other, sizeof(other), "%s/other.jsonl", dir);
	fake_session_write(&s, other);
	refused(5, "other.jsonl*base.jsonl: gpu.name: *another GPU*--force",
		"compare '%s' '%s' '%s'", base, one, other);
	cr_assert(zero(int, run_rift(OUT, NULL, "compare '%s' 'row=%s' --force", base, other)),
		  "force");
	refused(5, "side a*other.jsonl: gpu.name: ", "compare '%s' 'row=%s'", other, both);
	s = made_up(1);
	s.sync = SYNC_BLOCKING;
	snprintf(other, sizeof(other), "%s/waits.jsonl", dir);
	fake_session_write(&s, other);
	refused(5, "waits.jsonl*base.jsonl: sync: *blocking", "compare '%s' 'row=%s'", base, other);
	refused(5, "--workload=mlp*base.jsonl", "compare '%s' 'row=%s' --workload mlp", base, one);
	cr_assert(zero(int,
		       run_rift(OUT, NULL, "compare '%s' 'row=%s' --workload launch", base, one)),
		  "the one that there is");
}

Test(small_cli_compare_many, arguments)
{
	write_sessions();
	refused(3, "No such file", "compare '%s' row=/nonexistent/xyzzy", base);
	refused(3, "No such file", "compare row='%s' '%s' '%s'", base, one, both);
	refused(3, "base.jsonl", "compare '%s' 'row=%s'", base, base);
	refused(3, "one side.jsonl", "compare '%s' '%s' '%s'", base, one, one);
	refused(3, "both.jsonl:a", "compare '%s' 'row=%s'", both, one);
	refused(3, "one side.jsonl", "compare '%s' 'row=%s:b'", base, one);
	refused(3, "--plot", "compare '%s' 'row=%s' --plot ''", base, one);
	refused(3, "'launch'", "compare --workload lunch x y z");
	/* what is of two alone, and what is of a page alone */
	refused(3, "--self-test takes one", "compare '%s' '%s' '%s' --self-test", base, one, both);
	refused(3, "--strict has no effect", "compare '%s' '%s' '%s' --strict", base, one, both);
	refused(3, "--all has no effect", "compare '%s' '%s' '%s' --all", base, one, both);
	refused(3, "--plot *BASE NAME=SESSION", "compare '%s' '%s' --plot '%s/x'", base, one, dir);
	refused(3, "call costs", "compare '%s' '%s' data/sessions/h200-costs.json", base, one);
	/* a side of one session is a base for the session */
	cr_assert(zero(int, run_rift(OUT, NULL, "compare '%s:a' '%s' '%s'", both, both, one)),
		  "side a");
}
