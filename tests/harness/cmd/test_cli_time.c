/*
 * test_cli_time.c - `rift time` of the real binary: sides in turns, programs that are wrong, hang,
 * read stdin, leave something behind; the record, going on with it, and what is refused. No time is
 * judged but one of seconds.
 */
/* sanitizers: seen elsewhere */
/* begins early: it waits long */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/need_gnuplot.h"

#include "harness/base/command.h"
#include "harness/base/json.h"

TEST_FOLDER(folder);

static void prepare(void)
{
	make_folder();
	cr_assert(zero(int, chdir(folder)));
}

TestSuite(small_cli_time, .timeout = 120, .init = prepare, .fini = remove_folder);

static const json_t *side_of(const json_t *o, int i)
{
	return json_array_get(json_object_get(o, "sides"), (size_t)i);
}

/* Ends with any exit code; JSON, which is to be released. */
static json_t *timed(int *rc, const char *arguments)
{
	const char *text;
	json_t *o;

	*rc = run_rift(OUT, &text, "time --quiet --json %s", arguments);
	o = json_loads(text, 0, NULL);
	cr_assert(ne(ptr, o, NULL), "%s: %d, %s", arguments, *rc, text);
	return o;
}

static void is_wrong(const char *arguments, const char *why)
{
	int rc;
	json_t *o = timed(&rc, arguments);
	const char *said = get_text(side_of(o, 1), "wrong");

	cr_expect(eq(int, rc, RIFT_CHECK_FAILED), "%s", arguments);
	cr_expect(eq(str, (char *)(uintptr_t)get_text(o, "outcome"), "wrong results"));
	cr_expect(tells(said, why), "%s: %s", arguments, said);
	json_decref(o);
}

/* ---- sides ---------------------------------------------------------------------------------- */

/* Half a second more is beyond any margin, on any machine. */
Test(small_cli_time, a_command_that_sleeps_before_the_program_is_slower)
{
	int rc;
	json_t *o = timed(&rc, "--runs 5 --against 'sh -c \"sleep 0.5; exec \\\"\\$@\\\"\" sh' "
			       "--output a.jsonl -- true"),
	       *side = json_incref((json_t *)(uintptr_t)side_of(o, 1));
	const char *text;

	cr_expect(eq(int, rc, RIFT_CHECK_FAILED));
	cr_expect(eq(str, (char *)(uintptr_t)get_text(side, "verdict"), "slower"));
	cr_expect(le(dbl, 0.4, json_get_number(json_object_get(side, "difference_s"), "value")));
	cr_expect(eq(int, (int)json_integer_value(json_object_get(o, "rounds")), 5));
	json_decref(side);
	json_decref(o);

	cr_expect(zero(int, run_rift(OUT, &text, "show --check a.jsonl")));
	cr_expect(tells(text, "valid; rift time"), "%s", text);
	cr_expect(eq(int, run_rift(OUT, &text, "show a.jsonl"), RIFT_CHECK_FAILED));
	cr_expect(tells(text, "is slower by more than 2 %"), "%s", text);
	cr_expect(eq(int, run_rift(OUT, &text, "compare --margin 50 a.jsonl"), RIFT_CHECK_FAILED));
	cr_expect(tells(text, "is slower by more than 50 %"), "%s", text);
}

Test(small_cli_time, each_layer_is_a_side_in_turns)
{
	int rc;
	json_t *o = timed(&rc, "--runs 3 --layer none --layer shim --against env --output a.jsonl "
			       "-- sh -c 'echo $RIFT_LAYERS >>order; exit 0'");
	const char *text;

	cr_expect(eq(int, (int)json_array_size(json_object_get(o, "sides")), 4));
	for (int i = 0; i < 4; i++)
		cr_expect(eq(int, (int)json_integer_value(json_object_get(side_of(o, i), "runs")),
			     4));
	json_decref(o);
	cr_assert(zero(int,
		       shell(&text, "sed 's/^$/-/; s/.*name\": *\"//; s/.*name\":\"//; s/\".*//' "
				    "order | tr '\\n' ' '")));
	cr_expect(eq(str, (char *)(uintptr_t)text,
		     "- none shim - - none shim - - shim none - - none shim - "),
		  "%s", text);
}

Test(small_cli_time, a_program_alone_has_a_time_and_no_verdict)
{
	const char *text;

	cr_expect(
		zero(int, run_rift(OUT, &text, "time --quiet --runs 5 --output a.jsonl -- true")));
	cr_expect(tells(text, "The program takes "), "%s", text);
	cr_expect(tells(text, "n = 5 runs"), "%s", text);
}

/* ---- programs that are wrong -------------------------------------------------------------------
 */

Test(small_cli_time, a_program_that_ends_otherwise_is_wrong)
{
	is_wrong("--runs 5 --against 'sh -c \"exit 7\"' --output a.jsonl -- true",
		 "ended with status 7, and by itself ended with status 0");
	is_wrong("--runs 5 --against 'sh -c \"kill -SEGV \\$\\$\"' --output b.jsonl -- true",
		 "ended by signal 11");
	is_wrong("--runs 5 --against 'sh -c \"echo no such thing >&2; exit 1\"' --output c.jsonl "
		 "-- true",
		 "no such thing");
}

/* Those whose numbers the programs have left in a file are gone: nothing else on the machine
 * counts. */
static void none_is_left(int begun)
{
	const char *text;
	int n = -1;

	shell(&text,
	      "wc -l <pids; for p in $(cat pids); do kill -0 $p 2>/dev/null && echo $p; done");
	cr_expect(eq(int, sscanf(text, "%d", &n), 1), "%s", text);
	cr_expect(eq(int, n, begun), "%s", text);
	cr_expect(eq(ptr, strchr(strchr(text, '\n') + 1, '\n'), NULL), "left: %s", text);
}

Test(small_cli_time, one_that_hangs_is_ended_with_its_children)
{
	is_wrong("--runs 5 --patience 1 --against 'sh -c \"sleep 98765 & echo \\$! >>pids; wait\"' "
		 "--output a.jsonl -- true",
		 "did not end in time");
	none_is_left(1);
	refused(RIFT_USAGE, "give it longer: --patience",
		"time --quiet --patience 1 --output b.jsonl -- sleep 98765");
}

Test(small_cli_time, outputs_are_compared_where_asked)
{
	is_wrong("--runs 5 --same-output --against 'env A=b' --output a.jsonl -- sh -c 'echo $A'",
		 "its output is another");
	is_wrong("--runs 5 --same-output=out --against 'env A=b' --output b.jsonl -- "
		 "sh -c 'echo $A >out'",
		 "its output is another");
	is_wrong("--runs 5 --same-output=out --against 'sh -c \"rm -f out\"' --output c.jsonl -- "
		 "sh -c 'echo a >out'",
		 "its output is another");
	/* what the run before has left is not this one's */
	is_wrong("--runs 5 --same-output=out --against 'sh -c true' --output d.jsonl -- "
		 "sh -c 'echo a >out'",
		 "its output is another");
}

Test(small_cli_time, outputs_that_differ_by_themselves_are_not_compared)
{
	int rc;
	json_t *o = timed(&rc, "--runs 5 --same-output --layer none --output a.jsonl -- "
			       "sh -c 'echo $$; cat /proc/sys/kernel/random/uuid'");

	cr_expect(ne(int, json_is_true(json_object_get(o, "outputs_differ")), 0));
	cr_expect(ne(str, (char *)(uintptr_t)get_text(o, "outcome"), "wrong results"));
	json_decref(o);
}

/* ---- what programs do --------------------------------------------------------------------------
 */

/* Megabytes, from a file and from a pipe, the same in each run. */
Test(small_cli_time, stdin_is_given_anew_to_each_run)
{
	const char *text;

	cr_assert(zero(int, shell(NULL, "seq 300000 >in; sha256sum <in >want")));
	for (int pipe = 0; pipe < 2; pipe++) {
		shell(&text,
		      "%s '%s' time --quiet --runs 3 --layer none --output %d.jsonl -- "
		      "sh -c 'sha256sum >>sums' %s; sort -u sums | cmp - want && wc -l <sums",
		      pipe ? "cat in |" : "", rift(), pipe, pipe ? "" : "<in");
		cr_expect(tells(text, pipe ? "16\n" : "8\n"), "%d: %s", pipe, text);
	}
}

Test(small_cli_time, what_is_left_behind_is_ended_and_said)
{
	const char *text;

	run_rift(OUT, &text,
		 "time --quiet --runs 1 --output a.jsonl -- "
		 "sh -c 'sleep 87654 & echo $! >>pids; exit 0'");
	cr_expect(tells(text, "left processes running"), "%s", text);
	none_is_left(2);
}

Test(small_cli_time, a_program_of_cuda_has_its_first_and_last_call)
{
	int rc;
	char arguments[4500];
	json_t *o, *beside;
	double wall, before, calls, after;

	need_device();
	snprintf(arguments, sizeof(arguments),
		 "--runs 5 --output a.jsonl -- '%s' run launch us=0 --samples 5", rift());
	o = timed(&rc, arguments);
	beside = json_object_get(side_of(o, 0), "beside");
	wall = json_get_number(json_object_get(side_of(o, 0), "wall_s"), "value");
	before = json_get_number(json_object_get(json_object_get(beside, "before_s"), "value"),
				 "value");
	calls = json_get_number(json_object_get(json_object_get(beside, "calls_s"), "value"),
				"value");
	after = json_get_number(json_object_get(json_object_get(beside, "after_s"), "value"),
				"value");
#ifdef __x86_64__
	cr_expect(lt(dbl, 0, before));
	cr_expect(lt(dbl, 0, calls));
	cr_expect(lt(dbl, 0, after));
	cr_expect(le(dbl, before + calls + after, 1.5 * wall), "%g, %g, %g of %g", before, calls,
		  after, wall);
#endif
	json_decref(o);
	snprintf(arguments, sizeof(arguments),
		 "--bare --runs 5 --output b.jsonl -- '%s' run launch us=0 --samples 5", rift());
	o = timed(&rc, arguments);
	beside = json_object_get(side_of(o, 0), "beside");
	cr_expect(
		ne(int,
		   json_is_null(json_object_get(
			   json_object_get(json_object_get(beside, "before_s"), "value"), "value")),
		   0));
	json_decref(o);
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------
 */

Test(small_cli_time, no_finished_run_is_lost)
{
	const char *text;
	int rc = shell(&text,
		       "env --default-signal=INT '%s' time --quiet --runs 12 --layer none --output "
		       "a.jsonl -- "
		       "sleep 0.05 2>err & rift=$!; "
		       "until [ -e a.jsonl.part ] && [ \"$(grep -c '\"record\":\"run\"' "
		       "a.jsonl.part)\" -ge 6 ]; do sleep "
		       "0.01; done; kill -INT $rift; wait $rift; rc=$?; cat err; exit $rc",
		       rift());

	cr_expect(eq(int, rc, RIFT_INTERRUPTED));
	cr_expect(tells(text, "rift time --resume a.jsonl.part continues"), "%s", text);
	shell(NULL, "cp a.jsonl.part before");
	run_rift(OUT, &text, "time --quiet --resume a.jsonl.part");
	cr_expect(zero(int,
		       shell(&text, "n=$(stat -c %%s before); head -c $n a.jsonl | cmp - before && "
				    "grep -c '\"record\":\"run\"' a.jsonl")));
	cr_expect(eq(str, (char *)(uintptr_t)text, "26\n"), "%s", text);
}

/* ---- refusals ----------------------------------------------------------------------------------
 */

Test(small_cli_time, what_is_refused)
{
	refused(RIFT_USAGE, "needs a program", "time");
	refused(RIFT_USAGE, "takes no word before --", "time app -- true");
	refused(RIFT_USAGE, "did you mean '--layer'", "time --layr none -- true");
	refused(RIFT_USAGE, "did you mean 'none'", "time --layer nonne -- true");
	refused(RIFT_USAGE, "--within=5x: must be a time", "time --within 5x -- true");
	refused(RIFT_USAGE, "--patience=0: must be a time", "time --patience 0 -- true");
	refused(RIFT_USAGE, "nosuch: cannot be started", "time -- nosuch");
	refused(RIFT_USAGE, "holds all other settings", "time --resume a.jsonl.part -- true");
	refused(RIFT_USAGE, "holds all other settings", "time --resume a.jsonl.part --margin 3");
	refused(RIFT_USAGE, "holds all other settings", "time --resume a.jsonl.part --bare");
	refused(RIFT_USAGE, "a.jsonl.part", "time --resume a.jsonl.part");
	shell(NULL, "echo kept >a.jsonl");
	refused(RIFT_USAGE, "a.jsonl: exists", "time --quiet --output a.jsonl -- true");
	cr_expect(zero(int, shell(NULL, "grep -qx kept a.jsonl && test ! -e a.jsonl.part")));
}

/* Text that is no UTF-8 loses what it is of, and no side. */
Test(small_cli_time, words_of_any_bytes)
{
	const char *text;

	shell(&text,
	      "'%s' time --quiet --runs 2 --against \"$(printf 'env A=x\\377')\" --output a.jsonl "
	      "-- true; '%s' show --check a.jsonl",
	      rift(), rift());
	cr_expect(tells(text, "valid; rift time"), "%s", text);
	cr_expect(tells(text, "2 sides, 2 rounds"), "%s", text);
}

Test(small_cli_time, it_draws)
{
	const char *text;

	NEED_GNUPLOT();
	run_rift(OUT, &text,
		 "time --quiet --runs 5 --layer none --output a.jsonl --plot p -- true");
	cr_expect(tells(text, "p/time.png"), "%s", text);
	cr_expect(zero(int, run_rift(OUT, &text, "plot a.jsonl --output q")));
	cr_expect(zero(int,
		       shell(NULL, "test -s p/time.svg && test -s q/time.png && "
				   "[ $(wc -l <p/time-runs.csv) = $(wc -l <q/time-runs.csv) ]")));
}
