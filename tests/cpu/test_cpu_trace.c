/*
 * test_cpu_trace.c - the trace that the CPU device writes of a program (RIFT_TRACE): nothing is
 * missing, times are in order, limits hold, and a program that ends badly keeps what was written.
 * The program is traced.cu. No test judges a length of time.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <signal.h>
#include <sys/stat.h>

#include "harness/profile/ranges.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/traces.h"

TEST_FOLDER(folder);

TestSuite(small_cpu_trace, .timeout = 120, .init = make_folder, .fini = remove_folder);

static const char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Runs traced's words, recorded into NAME; its status, and its output in *out. */
static int record_as(const char *name, const char *variables, const char *words, const char **out)
{
	char program[4096];

	snprintf(program, sizeof(program), "%s", beside_tests("cpu/traced"));
	return shell(out, "exec 2>&1; RIFT_TRACE='%s/%s' %s '%s' %s", folder, name, variables,
		     program, words);
}

/* The same; it must succeed, and the trace must keep the rules. */
static json_t *record(const char *variables, const char *words)
{
	const char *out;
	json_t *rows;

	unlink(path_of("a.trace"));
	cr_assert(zero(int, record_as("a.trace", variables, words, &out)), "%s", out);
	cr_assert(eq(str, (char *)out, ""));
	rows = traced_rows(path_of("a.trace"));
	trace_judge(rows);
	return rows;
}

/* ---- what is recorded ------------------------------------------------------------------- */

Test(small_cpu_trace, every_call_and_every_kernel_is_there)
{
	json_t *rows = record("RIFT_TRACE_FOLD=0", "long");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 60000));
	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 60000));
	cr_assert(eq(i64, trace_calls_of(rows, "sync_device"), 1));
	cr_assert(eq(i64, trace_calls_of(rows, "alloc"), 1));
	cr_assert(zero(i64, trace_int(trace_row(rows, "end", "reason", "exit"), "dropped")));
	json_decref(rows);
}

Test(small_cpu_trace, the_header_says_what_recorded)
{
	json_t *rows = record("", "ten");
	const json_t *h = json_array_get(rows, 0), *c = json_object_get(h, "calibration");

	cr_assert(eq(str, (char *)json_string_value(json_object_get(h, "trace")), "1.0"));
	cr_assert(eq(str, (char *)json_string_value(json_object_get(h, "recorder")), "cpu-device"));
	cr_assert(eq(int, json_array_size(json_object_get(h, "program")), 2));
	cr_assert(le(i64, trace_int(h, "process_start_ns"), 0));
	cr_assert(lt(i64, 900, trace_int(c, "n")));
	cr_assert(eq(i64, trace_int(c, "window"), 1024));
	cr_assert(eq(sz, json_array_size(json_object_get(c, "launch_call_ns")), 3));
	cr_assert(eq(sz, json_array_size(json_object_get(c, "launch_and_wait_ns")), 3));
	cr_assert(eq(sz, json_array_size(json_object_get(c, "gap_ns")), 3));
	json_decref(rows);
}

static void has(const json_t *rows, const char *record, const char *key, const char *text,
		const char *member, int64_t value)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		const char *is = json_string_value(json_object_get(row, key));

		if (!strcmp(json_string_value(json_object_get(row, "record")), record) && is &&
		    !strcmp(is, text) && trace_int(row, member) == value)
			return;
	}
	cr_assert(0, "no %s with %s %s and %s %lld", record, key, text, member, (long long)value);
}

Test(small_cpu_trace, each_class_has_its_bytes_and_memory)
{
	json_t *rows = record("", "every");

	has(rows, "call", "memory", "device", "bytes", 4096);
	has(rows, "call", "memory", "pinned", "bytes", 4096);
	has(rows, "op", "kind", "memset", "bytes", 100);
	has(rows, "op", "direction", "to_device", "bytes", 200);
	has(rows, "op", "direction", "to_host", "bytes", 300);
	has(rows, "op", "memory", "pageable", "bytes", 400);
	has(rows, "op", "direction", "within", "bytes", 500);
	cr_assert(eq(i64, trace_calls_of(rows, "hostfunc"), 1));
	cr_assert(eq(i64, trace_ops_of(rows, "hostfunc"), 1));
	cr_assert(eq(i64, trace_calls_of(rows, "query"), 1));
	cr_assert(eq(i64, trace_calls_of(rows, "free"), 2));
	cr_assert(eq(i64, trace_calls_of(rows, "copy"), 4));
	json_decref(rows);
}

/* Readers take no number that JSON may not hold. */
Test(small_cpu_trace, more_bytes_than_there_can_be_are_left_out)
{
	json_t *rows = record("", "much");

	cr_assert(zero(ptr, json_object_get(trace_row(rows, "call", "class", "alloc"), "bytes")));
	json_decref(rows);
}

/* The host function sleeps for a millisecond: that is the operation's time, not the call's. */
Test(small_cpu_trace, times_of_operations_are_the_devices)
{
	json_t *rows = record("", "every");
	const json_t *op = trace_row(rows, "op", "kind", "hostfunc");

	cr_assert(le(i64, 1000000, trace_int(op, "t1") - trace_int(op, "t0")));
	json_decref(rows);
}

Test(small_cpu_trace, graphs_have_their_nodes_and_their_kernels_time)
{
	json_t *rows = record("", "graph");
	const json_t *g = trace_row(rows, "graph", NULL, NULL);
	const json_t *op = trace_row(rows, "op", "kind", "graph");

	cr_assert(eq(i64, trace_int(g, "nodes"), 3));
	cr_assert(eq(i64, trace_int(g, "kernels"), 2));
	cr_assert(eq(i64, trace_calls_of(rows, "graph_launch"), 5));
	cr_assert(eq(i64, trace_ops_of(rows, "graph"), 5));
	cr_assert(lt(i64, 0, trace_int(op, "busy_ns")));
	cr_assert(le(i64, trace_int(op, "busy_ns"), trace_int(op, "t1") - trace_int(op, "t0")));
	/* What was captured gave the device nothing. */
	cr_assert(zero(i64, trace_calls_of(rows, "launch")));
	cr_assert(zero(i64, trace_ops_of(rows, "kernel")));
	cr_assert(eq(sz, trace_count(rows, "call", "class", "other"), 7));
	json_decref(rows);
}

Test(small_cpu_trace, each_thread_has_its_calls)
{
	json_t *rows = record("", "threads");

	cr_assert(eq(sz, trace_count(rows, "thread", NULL, NULL), 5));
	for (int64_t t = 1; t <= 4; t++) {
		json_t *calls = trace_calls(rows, t);

		cr_assert(eq(sz, json_array_size(calls), 502));
		json_decref(calls);
	}
	json_decref(rows);
}

Test(small_cpu_trace, records_of_events_are_numbered)
{
	json_t *rows = record("", "periods"), *calls = trace_calls(rows, 0), *call;
	int64_t recorded = 0, waited = 0;
	size_t i;

	json_array_foreach(calls, i, call)
	{
		const char *class = json_string_value(json_object_get(call, "class"));

		if (!strcmp(class, "record"))
			cr_assert(eq(i64, trace_int(call, "recording"), ++recorded));
		if (!strcmp(class, "wait_event"))
			cr_assert(eq(i64, trace_int(call, "recording"), ++waited));
	}
	cr_assert(eq(i64, recorded, 200));
	cr_assert(eq(i64, waited, 200));
	json_decref(calls);
	json_decref(rows);
}

/* The first gap computed for 20 ms, the second slept for 100. */
Test(small_cpu_trace, a_gap_computed_or_slept)
{
	json_t *rows = record("RIFT_TRACE_FOLD=0", "gaps"), *row;
	int64_t last = 0, gap[3], cpu[3];
	size_t i;
	int n = 0;

	json_array_foreach(rows, i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "record")), "call"))
			continue;
		if (trace_int(row, "t0") &&
		    !strcmp("sync_device", json_string_value(json_object_get(row, "class")))) {
			gap[n] = trace_int(row, "t0") - last;
			cpu[n++] = trace_int(row, "cpu_ns");
		}
		/* short gaps are not worth a look */
		if (json_object_get(row, "cpu_ns"))
			cr_assert(le(i64, 20000, trace_int(row, "t0") - last), "row %zu", i);
		last = trace_int(row, "t1");
	}
	cr_assert(eq(int, n, 3));
	cr_assert(le(i64, 20000000, cpu[1]));
	cr_assert(lt(i64, cpu[2], gap[2] / 2));
	json_decref(rows);
}

Test(small_cpu_trace, the_workloads_launches_are_all_there)
{
	const char *out;
	json_t *rows, *row;
	size_t i;
	int blocks = 0;

	cr_assert(zero(int, shell(&out,
				  "RIFT_TRACE='%s/r.trace' '%s' run launch us=0 --depth 64 "
				  "--samples 3 --mode stream",
				  folder, rift())),
		  "%s", out);
	rows = traced_rows(path_of("r.trace"));
	trace_judge(rows);
	json_array_foreach(rows, i, row) blocks +=
		!strcmp(json_string_value(json_object_get(row, "record")), "mark") &&
		!strcmp(traced_name(rows, row), "block");
	cr_assert(le(int, 3, blocks));
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), trace_ops_of(rows, "kernel")));
	cr_assert(le(i64, 3 * 64, trace_calls_of(rows, "launch")));
	json_decref(rows);
}

/* ---- folds ------------------------------------------------------------------------------ */

Test(small_cpu_trace, folds_say_what_rows_would)
{
	json_t *plain = record("RIFT_TRACE_FOLD=0", "periods every graph periods");
	json_t *folded = record("RIFT_TRACE_FOLD=1", "periods every graph periods");
	json_t *a = trace_calls(plain, 0), *b = trace_calls(folded, 0);

	cr_assert(zero(sz, trace_count(plain, "fold", NULL, NULL)));
	cr_assert(le(sz, 2, trace_count(folded, "fold", NULL, NULL)));
	cr_assert(lt(sz, trace_count(folded, NULL, NULL, NULL), 120));
	cr_assert(eq(sz, json_array_size(a), json_array_size(b)));
	for (size_t i = 0; i < json_array_size(a); i++)
		cr_assert(json_equal(json_array_get(a, i), json_array_get(b, i)),
			  "call %zu: %s\n%s", i, json_dumps(json_array_get(a, i), 0),
			  json_dumps(json_array_get(b, i), 0));
	json_decref(a);
	json_decref(b);
	json_decref(plain);
	json_decref(folded);
}

/* ---- limits ----------------------------------------------------------------------------- */

Test(small_cpu_trace, no_more_rows_than_asked_for)
{
	json_t *rows = record("RIFT_TRACE_FOLD=0 RIFT_TRACE_MAX_EVENTS=1000", "long");
	const json_t *end = trace_row(rows, "end", "reason", "limit");

	cr_assert(le(sz,
		     trace_count(rows, "call", NULL, NULL) + trace_count(rows, "op", NULL, NULL),
		     1001));
	cr_assert(eq(i64, trace_int(end, "calls") + trace_int(end, "dropped"), 60002));
	json_decref(rows);
}

/* 60,000 launches are a row of a fold. */
Test(small_cpu_trace, what_is_folded_stays_within_the_limit)
{
	json_t *rows = record("RIFT_TRACE_MAX_EVENTS=20000", "long");

	cr_assert(zero(i64, trace_int(trace_row(rows, "end", "reason", "exit"), "dropped")));
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 60000));
	json_decref(rows);
}

Test(small_cpu_trace, only_the_range_that_is_asked_for)
{
	json_t *rows = record("RIFT_TRACE_RANGE='inner \"quoted\"'", "ranges");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 10));
	json_decref(rows);
	rows = record("RIFT_TRACE_RANGE=outer", "ranges");
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 20));
	cr_assert(eq(sz, trace_count(rows, "mark", "kind", "push"), 2));
	cr_assert(eq(sz, trace_count(rows, "mark", "kind", "pop"), 2));
	json_decref(rows);
	rows = record("RIFT_TRACE_RANGE=none", "ranges");
	cr_assert(zero(i64, trace_calls_of(rows, "")));
	json_decref(rows);
}

/* The program opens the gate for its 1000 kernels once the range has ended. Those of a fold that
 * are next to a mark may be counted on its other side. */
static void is_queued(const char *variables, int64_t least)
{
	struct trace t;
	struct ranges r;

	json_decref(record(variables, "queued"));
	cr_assert(zero(int, trace_read(&t, path_of("a.trace"))));
	ranges_make(&r, &t, NULL);
	cr_assert(eq(i64, r.spans, 1), "%s", variables);
	cr_expect(lt(i64, 0, t.owns), "the recorder worked, too");
	for (int64_t i = 0; i < t.owns; i++) {
		cr_expect(le(i64, t.own[i].t0, t.own[i].t1));
		cr_expect(lt(i64, t.own[i].t1 - t.own[i].t0, INT64_C(60000000000)));
	}
	cr_expect(le(i64, least, r.list[0].launches), "%s", variables);
	cr_expect(le(i64, r.list[0].launches, 1000), "%s", variables);
	cr_expect(eq(int, r.span[0].has_device, 1), "%s", variables);
	cr_expect(lt(dbl, r.span[0].host.t1, r.span[0].device.t0), "%s", variables);
	cr_expect(lt(dbl, 0, r.list[0].busy_ns), "%s", variables);
	cr_expect(le(dbl, r.list[0].busy_ns, r.list[0].device_ns), "%s", variables);
	ranges_release(&r);
	trace_release(&t);
}

Test(small_cpu_trace, a_range_that_queues_ends_before_the_device_begins)
{
	is_queued("RIFT_TRACE_FOLD=0", 1000);
	is_queued("", 900);
}

Test(small_cpu_trace, the_profilers_calls_stop_and_go_on)
{
	json_t *rows = record("", "profiler");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 20));
	trace_row(rows, "mark", "kind", "stop");
	trace_row(rows, "end", "reason", "stop");
	json_decref(rows);
	rows = record("RIFT_TRACE_RANGE=@profiler", "profiler");
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 10));
	json_decref(rows);
}

Test(small_cpu_trace, delay_and_duration)
{
	json_t *rows = record("RIFT_TRACE_DELAY_NS=3600000000000", "ten");

	cr_assert(zero(i64, trace_calls_of(rows, "")));
	trace_row(rows, "end", "reason", "exit");
	json_decref(rows);
	rows = record("RIFT_TRACE_DURATION_NS=1", "ten");
	cr_assert(zero(i64, trace_calls_of(rows, "")));
	trace_row(rows, "end", "reason", "stop");
	json_decref(rows);
	rows = record("RIFT_TRACE_DURATION_NS=3600000000000", "ten");
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 10));
	json_decref(rows);
}

/* What is empty is as if it were not there; times that no clock reaches are no limits, or all. */
Test(small_cpu_trace, settings_at_their_limits)
{
	json_t *rows = record("RIFT_TRACE_FOLD=0 RIFT_TRACE_DELAY_NS= RIFT_TRACE_RANGE= "
			      "RIFT_TRACE_ANONYMOUS=0 RIFT_TRACE_DURATION_NS=9223372036854775807",
			      "ten");
	const json_t *limits = json_object_get(json_array_get(rows, 0), "limits");

	cr_expect(eq(i64, trace_calls_of(rows, "launch"), 10));
	cr_expect(eq(i64, trace_int(limits, "delay_ns"), 0));
	cr_expect(eq(i64, trace_int(limits, "duration_ns"), INT64_MAX));
	cr_expect(eq(int, json_is_null(json_object_get(limits, "range")), 1));
	cr_expect(lt(sz, 0, json_array_size(json_object_get(json_array_get(rows, 0), "program"))));
	json_decref(rows);
	rows = record("RIFT_TRACE_DELAY_NS=9223372036854775807 RIFT_TRACE_DURATION_NS=1", "ten");
	cr_expect(zero(i64, trace_calls_of(rows, "")));
	json_decref(rows);
}

Test(small_cpu_trace, anonymous_has_no_name_of_the_program)
{
	json_t *rows = record("RIFT_TRACE_ANONYMOUS=1", "ranges");
	const char *out;

	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 30));
	shell(&out, "grep -c -e traced -e '\"count' -e outer -e quoted -e / '%s'",
	      path_of("a.trace"));
	cr_assert(eq(str, (char *)out, "0\n"));
	json_decref(rows);
}

static void refuses(const char *variable, const char *says)
{
	const char *out;

	cr_assert(eq(int, record_as("no.trace", variable, "ten", &out), 3));
	cr_assert(strstr(out, says) != NULL, "%s", out);
	cr_assert(ne(int, access(path_of("no.trace"), F_OK), 0));
}

Test(small_cpu_trace, numbers_that_are_none_are_refused)
{
	refuses("RIFT_TRACE_MAX_EVENTS=many", "RIFT_TRACE_MAX_EVENTS=many");
	refuses("RIFT_TRACE_MAX_EVENTS=1x", "RIFT_TRACE_MAX_EVENTS=1x: must be a whole number");
	refuses("RIFT_TRACE_DELAY_NS=-1", "RIFT_TRACE_DELAY_NS=-1");
	refuses("RIFT_TRACE_DURATION_NS=99999999999999999999", "RIFT_TRACE_DURATION_NS");
}

/* ---- files ------------------------------------------------------------------------------ */

Test(small_cpu_trace, a_file_that_is_there_stays_as_it_is)
{
	const char *out;

	shell(NULL, "echo mine >'%s'", path_of("b.trace"));
	cr_assert(eq(int, record_as("b.trace", "", "ten print", &out), 3));
	cr_assert(strstr(out, "b.trace") && !strstr(out, "printed"), "%s", out);
	shell(&out, "cat '%s'", path_of("b.trace"));
	cr_assert(eq(str, (char *)out, "mine\n"));
	cr_assert(eq(int, record_as("none/b.trace", "", "ten print", &out), 3));
}

/* One that never calls CUDA makes none. */
Test(small_cpu_trace, without_a_call_there_is_no_file)
{
	const char *out;

	cr_assert(zero(int, record_as("c.trace", "", "print", &out)));
	cr_assert(ne(int, access(path_of("c.trace"), F_OK), 0));
	cr_assert(zero(int, record_as("c.trace", "RIFT_TRACE=", "ten", &out)));
	cr_assert(ne(int, access(path_of("c.trace"), F_OK), 0));
}

Test(small_cpu_trace, its_path_is_that_of_the_start)
{
	const char *out;
	char program[4096];

	snprintf(program, sizeof(program), "%s", beside_tests("cpu/traced"));
	cr_assert(zero(int, shell(&out,
				  "p=$(realpath '%s') && cd '%s' && RIFT_TRACE=d.trace \"$p\" "
				  "elsewhere ten",
				  program, folder)),
		  "%s", out);
	cr_assert(zero(int, access(path_of("d.trace"), F_OK)));
}

static void child_has_its_own(const char *word)
{
	const char *out;
	char name[64];
	json_t *rows;
	int pid;

	shell(NULL, "rm -f '%s'/e.trace*", folder);
	cr_assert(zero(int, record_as("e.trace", "", word, &out)), "%s", out);
	cr_assert(eq(int, sscanf(out, "child %d", &pid), 1), "%s", out);
	snprintf(name, sizeof(name), "e.trace.%d", pid);
	rows = traced_rows(path_of(name));
	trace_judge(rows);
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 10));
	trace_row(rows, "end", "reason", "exit");
	json_decref(rows);
}

Test(small_cpu_trace, children_have_files_of_their_own)
{
	child_has_its_own("fork");
	cr_assert(ne(int, access(path_of("e.trace"), F_OK), 0));
	child_has_its_own("exec");
	child_has_its_own("exec ten");
	cr_assert(zero(int, access(path_of("e.trace"), F_OK)));
}

/* The device cannot be used in such a child, but its end must not touch the parent's file. */
Test(small_cpu_trace, a_child_of_one_that_records_leaves_its_file)
{
	const char *out;
	json_t *rows;

	cr_assert(zero(int, record_as("f.trace", "", "ten exec ten", &out)), "%s", out);
	rows = traced_rows(path_of("f.trace"));
	trace_judge(rows);
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 20));
	cr_assert(eq(sz, trace_count(rows, "end", NULL, NULL), 1));
	json_decref(rows);
}

/* ---- programs that end badly ------------------------------------------------------------ */

Test(small_cpu_trace, who_is_killed_keeps_what_was_written)
{
	const char *out;
	json_t *rows;

	cr_assert(eq(int, record_as("g.trace", "", "ten ten die", &out), 128 + SIGKILL), "%s", out);
	rows = traced_rows(path_of("g.trace"));
	trace_judge(rows);
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 20));
	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 20));
	cr_assert(zero(sz, trace_count(rows, "end", NULL, NULL)));
	json_decref(rows);
}

static void has_row(const char *name, const char *record, const char *key, const char *text)
{
	json_t *rows = traced_rows(path_of(name));

	trace_row(rows, record, key, text);
	json_decref(rows);
}

Test(small_cpu_trace, statuses_and_streams_are_the_programs)
{
	const char *out;

	cr_assert(eq(int, record_as("h.trace", "", "ten print fail", &out), 7));
	cr_assert(strstr(out, "printed") && strstr(out, "complained"), "%s", out);
	cr_assert(eq(sz, strlen(out), strlen("printed complained ")));
	has_row("h.trace", "end", "reason", "exit");
	cr_assert(eq(int, record_as("i.trace", "", "ten abort", &out), 128 + SIGABRT));
	has_row("i.trace", "trace", NULL, NULL);
}

/* What the program opens under the number of the trace's file is not written to. */
Test(small_cpu_trace, a_program_that_closes_all_files)
{
	const char *out;
	char variable[4200];

	snprintf(variable, sizeof(variable), "TRACED_FILE='%s'", path_of("own"));
	cr_assert(zero(int, record_as("k.trace", variable, "ten close ten print", &out)), "%s",
		  out);
	cr_assert(strstr(out, "the trace ends here") && strstr(out, "printed"), "%s", out);
	shell(&out, "wc -c <'%s'", path_of("own"));
	cr_assert(eq(str, (char *)out, "0\n"));
}

/* A limit on the size of files is a full disk: the program goes on. */
Test(small_cpu_trace, a_full_disk_ends_the_trace_not_the_program)
{
	const char *out;

	cr_assert(zero(int, record_as("j.trace",
				      "RIFT_TRACE_FOLD=0 sh -c 'trap \"\" XFSZ; ulimit "
				      "-f 64; exec \"$0\" \"$@\"'",
				      "long print", &out)),
		  "%s", out);
	cr_assert(strstr(out, "the trace ends here") && strstr(out, "printed"), "%s", out);
	has_row("j.trace", "failed", "why", "File too large");
	cr_assert(eq(int, run_rift(OUT, &out, "show --check '%s'", path_of("j.trace")), 2), "%s",
		  out);
	cr_assert(strstr(out, "incomplete") && strstr(out, "File too large"), "%s", out);
	refused(3, "is incomplete: File too large", "profile '%s'", path_of("j.trace"));
}
