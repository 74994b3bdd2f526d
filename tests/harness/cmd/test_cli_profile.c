/*
 * test_cli_profile.c - `rift profile` and `rift show --check` of the real binary on traces; a shell
 * that copies one to where a recorder would write it stands in for a program.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/base/json.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/made_trace.h"
#include "tests/need_gnuplot.h"

static char dir[] = "/tmp/rift profile XXXXXX";
static struct made made;

enum { N = 20, K = 20000, STEP = MADE_C + MADE_L + K + MADE_WAKE };

/* wall_ns of runs without the recorder; 0: no runs; -1: no end. */
static void make_trace(long wall_ns)
{
	made_begin(&made, "", MADE_CALIBRATION);
	for (long i = 0; i < N; i++) {
		long start = i * STEP + MADE_C + MADE_L;

		made_kernel(&made, 2, i * STEP, start, start + K);
		made_call(&made, "sync_device", i * STEP + MADE_C, (i + 1) * STEP, "");
	}
	if (wall_ns >= 0)
		made_end(&made, N * STEP, wall_ns ? 5 : 0, wall_ns);
	else
		fclose(made.out);
}

static void make_folder(void)
{
	test_folder_make(dir);
}

static void remove_folder(void)
{
	if (*made.path)
		made_remove(&made);
	test_folder_remove(dir);
}

TestSuite(small_cli_profile, .init = make_folder, .fini = remove_folder, .timeout = 300);

static double share(const json_t *o, const char *name)
{
	return json_get_number(json_object_get(json_object_get(o, "shares"), name), "share");
}

Test(small_cli_profile, shares_of_a_trace)
{
	const json_t *o;
	const char *name;
	json_t *value;
	double sum = 0;

	make_trace(N * STEP);
	o = rift_json("profile %s --json --quiet", made.path);
	json_object_foreach(json_object_get(o, "shares"), name, value) sum +=
		json_get_number(value, "share");
	cr_expect(epsilon_eq(dbl, sum, 1, 1e-12), "of all time");
	cr_expect(epsilon_eq(dbl, share(o, "kernels"), (double)K / STEP, 1e-12), "kernels");
	cr_expect(eq(str, (char *)get_text(o, "verdict"), "sync-bound"), "kind");
	cr_expect(eq(str, (char *)get_text(o, "self_check"), "passed"), "trusted");
	cr_expect(eq(str, (char *)get_text(o, "program"), "./app x"), "program");
}

Test(small_cli_profile, text_names_kind_and_shares)
{
	static const char *const want[] = { "./app x",	 "sync-bound", "kernels*69.0 %",
					    "sync*30.1", "passed",     NULL };
	char args[96];

	make_trace(N * STEP);
	snprintf(args, sizeof(args), "profile %s", made.path);
	says(args, want);
}

Test(small_cli_profile, a_refused_trace_has_no_kind)
{
	const char *text;

	make_trace(3 * N * STEP);
	cr_expect(eq(int, run_rift(OUT, &text, "profile %s --json --quiet", made.path), 2), "%s",
		  text);
	cr_expect(ne(ptr, strstr(text, "\"verdict\": null"), NULL), "%s", text);
	cr_expect(ne(ptr, strstr(text, "\"self_check\": \"refused\""), NULL), "%s", text);
}

Test(small_cli_profile, rules_are_options)
{
	make_trace(N * STEP);
	cr_expect(eq(str,
		     (char *)get_text(
			     rift_json("profile %s --json --quiet --rule sync=90", made.path),
			     "verdict"),
		     "mixed"),
		  "kind");
	refused(3, "--rule=gap", "profile %s --rule gap", made.path);
	refused(3, "'sync'", "profile %s --rule snc=5", made.path);
	refused(3, "--rule=gpu=101: gpu *0.1 to 100", "profile %s --rule gpu=101", made.path);
	refused(3, "--rule=cpu=: cpu *0.1 to 100", "profile %s --rule cpu=", made.path);
}

Test(small_cli_profile, what_it_takes)
{
	make_trace(N * STEP);
	refused(3, "FILE", "profile");
	refused(3, "--", "profile %s -- true", made.path);
	refused(3, "--", "profile --");
	refused(3, "--output", "profile %s --output '%s/x'", made.path, dir);
	refused(3, "--chrome", "profile %s --chrome %s", made.path, made.path);
	refused(3, "none", "profile '%s/none'", dir);
	refused(3, "--chrome", "profile %s --chrome '%s/none/c.json'", made.path, dir);
	refused(3, "--output", "profile --output '%s/x.gz' -- true", dir);
	refused(3, "/dev/null", "profile %s --plot /dev/null", made.path);
	refused(3, "trace", "profile data/sessions/h200-launch.jsonl");
}

/* Nothing of it is damaged: it is named, and who takes it. */
Test(small_cli_profile, files_of_another_kind_are_named)
{
	static const struct {
		const char *file, *says;
	} others[] = {
		{ "data/sessions/h200-launch.jsonl", "a session*rift fit" },
		{ "data/sessions/h200-costs.json", "call costs*rift compare" },
		{ "data/traces/h100-copies-remote.json.gz", "call costs*rift compare" },
		{ "/bin/true", "a program*rift profile -- " },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		refused(3, others[i].says, "profile %s", others[i].file);
		refused(3, others[i].says, "run replay trace=%s", others[i].file);
	}
	refused(3, "a program*rift profile -- ", "predict /bin/true --on %s", others[0].file);
	refused(3, "a program*rift profile -- ", "fit '%s'", rift());
	make_trace(N * STEP);
	refused(3, "a session*not a trace", "predict %s --on %s --measured %s", made.path,
		others[0].file, others[0].file);
	refused(3, "is a trace of rift profile", "predict %s --on %s", made.path, made.path);
	refused(3, "is a trace of rift profile", "fit %s", made.path);
}

/* ---- check -------------------------------------------------------------------------------- */

Test(small_cli_profile, check_takes_traces)
{
	const char *text;

	make_trace(0);
	cr_expect(zero(int, run_rift(OUT, &text, "show --check %s", made.path)), "%s", text);
	cr_expect(eq(int, tells(text, "valid; trace 1.0 of ./app x, 40 calls, 20"), 1), "%s", text);
	cr_assert(zero(int, shell(NULL, "gzip -c %s >'%s/a.gz'", made.path, dir)), "gzip");
	cr_expect(zero(int, run_rift(OUT, &text, "show --check '%s/a.gz'", dir)), "%s", text);
	cr_expect(
		eq(str,
		   (char *)get_text(rift_json("profile '%s/a.gz' --json --quiet", dir), "verdict"),
		   "sync-bound"),
		"compressed");
	shell(NULL, "sed '12s/\"t1\":[0-9]*/\"t1\":1/' %s >'%s/bad'", made.path, dir);
	refused(3, "bad:12:", "show --check '%s/bad'", dir);
	refused(3, "bad:12:", "profile '%s/bad'", dir);
}

/* Which are by another recorder than the device's own. */
Test(small_cli_profile, calls_alone_of_the_cpu_device)
{
	static const char *const headers[] = {
		",\"device_times\":\"none\",\"device\":\"CPU device (2 workers)\"",
		",\"device_times\":\"none\",\"device\":\"NVIDIA H200\"",
	};
	const char *text;

	for (int i = 0; i < 2; i++) {
		made_begin(&made, headers[i], NULL);
		made_call(&made, "launch", 0, 1000, "");
		made_end(&made, 5000, 0, 0);
		shell(NULL, "sed -i 's/\"cpu-device\"/\"calls\"/' %s", made.path);
		cr_assert(zero(int, run_rift(OUT, &text, "profile %s", made.path)));
		cr_expect(tells(text, "self-check*none: calls alone"), "%s", text);
		cr_expect(eq(int, tells(text, "not GPU figures"), i == 0), "%s", text);
		made_remove(&made);
	}
	*made.path = '\0';
}

/* Its runs are 20 % longer than it, which would be refused, but are of other processes, too. */
Test(small_cli_profile, one_of_several_processes_is_not_refused)
{
	static const struct {
		const char *processes, *said;
	} cases[] = { { "", "refused" },
		      { ",\"processes\":1", "refused" },
		      { ",\"processes\":2", "low confidence" } };
	const char *text;

	make_trace(N * STEP * 6 / 5);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		shell(NULL, "sed 's/\"exit_status\":0/&%s/' %s >'%s/one'", cases[i].processes,
		      made.path, dir);
		cr_expect(eq(int, run_rift(OUT, &text, "profile '%s/one'", dir), i < 2 ? 2 : 0));
		cr_expect(tells(text, cases[i].said), "%s: %s", cases[i].processes, text);
	}
}

/* The trace of a program that failed is one of a part of it, perhaps. */
Test(small_cli_profile, how_the_program_ended_is_told)
{
	static const struct {
		const char *status, *said;
	} cases[] = { { "1792", "it exited with 7" }, { "9", "it ended by signal 9 (Killed)" } };
	const char *text;

	make_trace(N * STEP);
	cr_assert(zero(int, run_rift(OUT, &text, "profile %s", made.path)));
	cr_expect(not(tells(text, "exited with")), "%s", text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		shell(NULL, "sed 's/\"exit_status\":0/\"exit_status\":%s/' %s >'%s/ended'",
		      cases[i].status, made.path, dir);
		cr_assert(zero(int, run_rift(OUT, &text, "profile '%s/ended'", dir)));
		cr_expect(tells(text, cases[i].said), "%s", text);
	}
	shell(NULL, "sed 's/\"program\":[^]]*],/\"program\":[],/' %s >'%s/unnamed'", made.path,
	      dir);
	cr_assert(zero(int, run_rift(OUT, &text, "profile '%s/unnamed'", dir)));
	cr_expect(tells(text, "not named"), "%s", text);
}

Test(small_cli_profile, a_trace_without_end_is_incomplete)
{
	const char *text;

	make_trace(-1);
	cr_expect(eq(int, run_rift(OUT, &text, "show --check %s", made.path), 2), "%s", text);
	cr_expect(ne(ptr, strstr(text, "incomplete"), NULL), "%s", text);
	cr_expect(zero(int, run_rift(OUT, &text, "profile %s", made.path)));
	cr_expect(tells(text, "of what is there*no end"), "%s", text);
	cr_expect(eq(str,
		     (char *)get_text(rift_json("profile %s --json --quiet", made.path),
				      "self_check"),
		     "low confidence"),
		  "analysed as far as it goes");
}

/* ---- recording ------------------------------------------------------------------------------ */

/* Where a recorder would write, this copies the trace to, without its end's rows of runs. */
#define PROGRAM "-- sh -c '[ -z \"$RIFT_TRACE\" ] || cp %s \"$RIFT_TRACE\"; echo it; exit %d'"

/* A mark behind the last call, as where the rest was cut off. */
Test(small_cli_profile, a_range_that_is_cut_off_is_not_less_than_nothing)
{
	const json_t *range;

	made_begin(&made, "", MADE_CALIBRATION);
	made_row(&made, "{\"record\":\"string\",\"id\":9,\"text\":\"work\"}");
	made_call(&made, "sync_device", 0, 1000, "");
	made_row(&made,
		 "{\"record\":\"mark\",\"thread\":0,\"kind\":\"push\",\"t\":3000,\"name\":9}");
	fclose(made.out);
	range = json_array_get(
		json_object_get(rift_json("profile %s --json --quiet", made.path), "ranges"), 0);
	cr_expect(zero(dbl, json_get_number(range, "ns")));
}

Test(small_cli_profile, a_program_is_recorded)
{
	const char *text;
	const json_t *o;

	make_trace(0);
	o = rift_json("profile --json --quiet --runs 4 --output '%s/x' " PROGRAM, dir, made.path,
		      3);
	/* too few for an interval: how long a shell takes decides nothing here */
	cr_expect(eq(dbl, json_get_number(json_object_get(o, "without_recorder"), "n"), 4), "runs");
	shell(&text, "tail -n 1 '%s/x'", dir);
	cr_expect(ne(ptr, strstr(text, "\"record\":\"runs\""), NULL), "%s", text);
	cr_expect(zero(int, run_rift(OUT, &text, "show --check '%s/x'", dir)), "%s", text);
	refused(3, "exists", "profile --output '%s/x' " PROGRAM, dir, made.path, 0);
}

/* What a layer takes cannot be told from what the program does: that is said, of a trace too. */
Test(small_cli_profile, a_layer_that_it_ran_under_is_named)
{
	const char *text;

	make_trace(0);
	setenv("RIFT_LAYERS", "[{\"name\":\"emulate\",\"label\":\"model\",\"set\":[\"call=20\"]}]",
	       1);
	rift_json("profile --json --quiet --runs 1 --output '%s/x' " PROGRAM, dir, made.path, 0);
	rift_json("profile --json --quiet --runs 1 --anonymous --output '%s/y' " PROGRAM, dir,
		  made.path, 0);
	unsetenv("RIFT_LAYERS");
	run_rift(OUT, &text, "profile '%s/x'", dir);
	cr_expect(ne(ptr,
		     strstr(text, "under emulate call=20 (model), whose time counts as the "
				  "program's own\n"),
		     NULL),
		  "%s", text);
	cr_expect(eq(str,
		     (char *)get_text(rift_json("profile '%s/y' --json --quiet", dir), "under"),
		     "a layer"));
	rift_json("profile --json --quiet --runs 1 --output '%s/z' " PROGRAM, dir, made.path, 0);
	run_rift(OUT, &text, "profile '%s/z'", dir);
	cr_expect(eq(ptr, strstr(text, "whose time"), NULL), "%s", text);
}

Test(small_cli_profile, a_layer_without_a_name_is_refused)
{
	make_trace(N * STEP);
	shell(NULL, "sed -i 's/\"exit_status\":0}/\"exit_status\":0,\"under\":7}/' '%s'",
	      made.path);
	refused(3, "under must be a text", "profile '%s'", made.path);
}

Test(small_cli_profile, several_recordings_are_one_trace)
{
	const char *text;
	const json_t *o;

	make_trace(0);
	o = rift_json("profile --json --quiet --runs 2 --recordings 3 --output '%s/x' " PROGRAM,
		      dir, made.path, 0);
	cr_expect(eq(sz, json_array_size(json_object_get(o, "recordings_ns")), 3), "recordings");
	shell(&text, "ls '%s'", dir);
	cr_expect(eq(str, (char *)text, "x\n"), "%s", text);
	run_rift(OUT, &text, "profile '%s/x'", dir);
	cr_expect(ne(ptr, strstr(text, "the median one of 3 recordings"), NULL), "%s", text);
	refused(3, "recordings", "profile --recordings 0 -- true");
}

/* There is nothing to re-time them by. */
Test(small_cli_profile, calls_alone_are_recorded_once)
{
	const char *text;

	made_begin(&made, "", NULL);
	made_call(&made, "sync_device", 1000, 2000, "");
	made_end(&made, 3000, 0, 0);
	shell(NULL, "sed -i 's/\"device_times\":\"recorded\"/\"device_times\":\"none\"/' '%s'",
	      made.path);
	cr_expect(zero(int, run_rift(OUT, &text,
				     "profile --quiet --runs 0 --recordings 3 --output '%s/x' -- "
				     "sh -c 'cp %s \"$RIFT_TRACE\"; echo >>\"%s/n\"'",
				     dir, made.path, dir)),
		  "%s", text);
	shell(&text, "cd '%s'; ls; wc -l <n; grep -c retimed x", dir);
	cr_expect(eq(str, (char *)text, "n\nx\n1\n0\n"), "%s", text);
}

Test(small_cli_profile, names_of_traces_replace_nothing)
{
	const char *text;

	make_trace(0);
	for (int i = 0; i < 2; i++)
		shell(&text, "cd '%s' && '%s' profile --quiet --runs 0 " PROGRAM, dir, rift(),
		      made.path, 0);
	cr_expect(ne(ptr, strstr(text, "exited with 0"), NULL), "%s", text);
	shell(&text, "ls '%s'", dir);
	cr_expect(eq(str, (char *)text, "sh-2.trace\nsh.trace\n"), "%s", text);
}

Test(small_cli_profile, programs_that_leave_no_trace)
{
	refused(3, "exited with 3", "profile --output '%s/x' -- sh -c 'exit 3'", dir);
	refused(3, "by signal 15", "profile --output '%s/x' -- sh -c 'kill $$'", dir);
	refused(3, "no trace can be written there", "profile --output '%s/none/x' -- true", dir);
	refused(3, "wrote no trace", "profile --output '%s/x' -- true", dir);
	refused(3, "/none/such", "profile --output '%s/x' -- /none/such", dir);
	cr_expect(ne(int, access(dir, F_OK), 1), "folder");
}

/* A file is read by each run from the same place, which need not be its beginning. */
Test(small_cli_profile, each_run_reads_the_same_file)
{
	const char *text;

	make_trace(0);
	shell(&text,
	      "cd '%s'; printf '1\\n2\\n3\\n' >in; { read first; '%s' profile --quiet --runs 2 "
	      "--output x "
	      "-- sh -c 'wc -l; [ -z \"$RIFT_TRACE\" ] || cp %s \"$RIFT_TRACE\"' | grep -cx 2; } "
	      "<in",
	      dir, rift(), made.path);
	cr_expect(eq(str, (char *)text, "3\n"), "%s", text);
}

/* It would be in the way of the next one. */
Test(small_cli_profile, a_recording_without_a_call_is_removed)
{
	const char *said;

	made_begin(&made, "", MADE_CALIBRATION);
	made_end(&made, 1000, 0, 0);
	cr_expect(eq(int,
		     run_rift(ERR, &said,
			      "profile --quiet --runs 0 --output '%s/x' -- sh -c 'cp %s "
			      "\"$RIFT_TRACE\"'",
			      dir, made.path),
		     3));
	cr_expect(tells(said, "has no calls"), "%s", said);
	cr_expect(eq(int, shell(NULL, "test -e '%s/x'", dir), 1), "removed");
	refused(3, "has no calls", "profile %s", made.path);
	cr_expect(zero(int, access(made.path, F_OK)), "what was there before stays");
	refused(3, "--range=: is empty", "profile --range '' -- true");
}

Test(small_cli_profile, traces_of_processes_that_it_started_are_named)
{
	const char *text;

	make_trace(0);
	cr_assert(zero(int, run_rift(OUT, &text,
				     "profile --runs 0 --output '%s/x' -- sh -c 'cp %s "
				     "\"$RIFT_TRACE\"; touch \"$RIFT_TRACE.12\" "
				     "\"$RIFT_TRACE.34\"'",
				     dir, made.path)),
		  "%s", text);
	cr_expect(tells(text, "x, and of processes that it started:*x.12,*x.34"), "%s", text);
	cr_expect(tells(text, "one process of several"), "%s", text);
	shell(&text, "tail -n 1 '%s/x'", dir);
	cr_expect(tells(text, "\"processes\":3"), "%s", text);
}

/* What is there is an earlier timeline, or stays. */
Test(small_cli_profile, a_timeline_replaces_only_one)
{
	const char *text;

	make_trace(0);
	shell(NULL, "echo mine >'%s/c.json'", dir);
	refused(3, "not a timeline", "profile %s --chrome '%s/c.json'", made.path, dir);
	refused(3, "the trace itself", "profile --output '%s/x' --chrome '%s/x' -- true", dir, dir);
	shell(&text, "cat '%s/c.json'; rm '%s/c.json'", dir, dir);
	cr_expect(eq(str, (char *)text, "mine\n"));
	for (int i = 0; i < 2; i++)
		cr_expect(zero(int, run_rift(ERR, &text, "profile %s --quiet --chrome '%s/c.json'",
					     made.path, dir)),
			  "%s", text);
}

/* The program that was to be recorded would leave a file. */
Test(small_cli_profile, a_name_that_no_trace_can_have_is_refused_before_the_program_runs)
{
	shell(NULL, "ln -s none '%s/link'", dir);
	refused(3, "a broken link", "profile --output '%s/link' -- touch '%s/ran'", dir, dir);
	refused(3, "not to stdout", "profile --output - -- touch '%s/ran'", dir);
	refused(3, "not to stdout", "profile --chrome - -- touch '%s/ran'", dir);
	refused(3, "is not a folder", "profile --plot - -- touch '%s/ran'", dir);
	cr_expect(ne(int, shell(NULL, "test -e '%s/ran'", dir), 0), "it ran");
}

/* The first one records for as long as the second one is refused. */
Test(small_cli_profile, two_do_not_record_to_one_name)
{
	const char *text;

	make_trace(0);
	shell(&text,
	      "cd '%s' && { '%s' profile --quiet --runs 0 --output x -- sh -c "
	      "'touch began; until [ -e go ]; do sleep 0.01; done; cp %s \"$RIFT_TRACE\"' & } && "
	      "until [ -e began ]; do sleep 0.01; done; '%s' profile --output x -- true 2>&1; echo "
	      "$?; "
	      "touch go; wait; ls",
	      dir, rift(), made.path, rift());
	cr_expect(ne(ptr, strstr(text, "is being written by another rift profile\n3\n"), NULL),
		  "%s", text);
	cr_expect(ne(ptr, strstr(text, "\nx\n"), NULL), "%s", text);
}

Test(small_cli_profile, options_of_a_recording_are_not_for_a_trace)
{
	make_trace(0);
	refused(3, "--runs", "profile %s --runs 3", made.path);
	refused(3, "--anonymous", "profile --anonymous %s", made.path);
}

/* ---- pictures ----------------------------------------------------------------------------- */

Test(small_cli_profile, timelines)
{
	const char *text;

	NEED_GNUPLOT();
	make_trace(N * STEP);
	cr_assert(zero(int, run_rift(OUT, &text, "profile %s --chrome '%s/c.json' --plot '%s/p'",
				     made.path, dir, dir)),
		  "%s", text);
	shell(&text,
	      "cd '%s/p' && ls | sed 's/.*-\\(timeline\\|step\\|shares\\)/\\1/' | tr '\\n' ' '",
	      dir);
	cr_expect(eq(str, (char *)text,
		     "shares.gp shares.png shares.svg step-boxes.csv step-busy.csv "
		     "step-ranges.csv step.gp step.png step.svg timeline-boxes.csv "
		     "timeline-busy.csv timeline-ranges.csv timeline.gp timeline.png "
		     "timeline.svg "),
		  "%s", text);
	/* a step is from wait to wait: three boxes of it, and why the device idles before and
	 * behind */
	shell(&text, "cat '%s/p/'*-step-boxes.csv | cut -d, -f3- | sort -u | tr '\\n' ' '", dir);
	cr_expect(eq(str, (char *)text, "0,4 0,6 1,0 2,6 row,share "), "%s", text);
	shell(&text, "head -c 40 '%s/c.json'", dir);
	cr_expect(ne(ptr, strstr(text, "traceEvents"), NULL), "%s", text);
}
