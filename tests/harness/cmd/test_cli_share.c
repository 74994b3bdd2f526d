/*
 * test_cli_share.c - `rift share` of the real binary: two clients in every way that can be had,
 * the record and going on with it, harm that a client does, and what is refused.
 */
/* sanitizers: faults on purpose */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/need_gnuplot.h"
#include "tests/on_cpu.h"

#include "harness/base/command.h"
#include "harness/platform/enter.h"

TestSuite(small_cli_share, .timeout = 120);
TestSuite(large_cli_share, .timeout = 120);

/* Empty kernels, and windows that are as short as can be. */
#define SHORT "share launch us=0 --sync blocking --window 0.02 --quiet"

TEST_FOLDER(dir);

static void prepare(void)
{
	need_device();
	make_dir();
}

Test(small_cli_share, a_quick_one_is_short_but_for_what_is_given)
{
	static const struct {
		const char *given;
		int clients, repetitions, starts;
		double window_s;
	} rows[] = {
		{ "", 2, 3, 1, 0.2 },
		{ "--clients 1,3", 3, 3, 1, 0.2 },
		{ "--repetitions 7 --window 0.5", 2, 7, 1, 0.5 },
		{ "--starts 4", 2, 4, 4, 0.2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const json_t *o = rift_json("share launch us=0 --quick %s --dry-run --json",
					    rows[i].given),
			     *plan = json_object_get(o, "plan"),
			     *clients = json_object_get(plan, "clients");
		size_t last = json_array_size(clients) - 1;

		cr_expect(eq(int, (int)json_integer_value(json_array_get(clients, last)),
			     rows[i].clients),
			  "%s", rows[i].given);
		cr_expect(eq(int, (int)json_integer_value(json_object_get(plan, "repetitions")),
			     rows[i].repetitions),
			  "%s", rows[i].given);
		cr_expect(eq(int, (int)json_integer_value(json_object_get(plan, "starts")),
			     rows[i].starts),
			  "%s", rows[i].given);
		cr_expect(epsilon_eq(dbl, json_number_value(json_object_get(plan, "window_s")),
				     rows[i].window_s, 1e-9),
			  "%s", rows[i].given);
	}
}

/* One client and two, 2 s to start each and a window of 2 s; the fault takes three more, and 2 s.
 */
Test(small_cli_share, a_fault_takes_its_time)
{
	const char *text;

	run_rift(OUT, &text,
		 "share launch us=0 --clients 2 --arms processes --repetitions 1 --windows 1 "
		 "--starts 1 --window 2 --fault kill --dry-run");
	cr_expect(tells(text, "about 16.0 s"), "%s", text);
}

/* What rift says of this file, with exit code 0. */
static void is_called(const char *name, const char *what)
{
	const char *text;

	cr_expect(zero(int, run_rift(OUT, &text, "show --check '%s/%s'", dir, name)), "%s", name);
	cr_expect(tells(text, what), "%s", text);
}

static const json_t *set_of(const json_t *o, const char *arm, int n)
{
	const json_t *set;
	size_t i;

	json_array_foreach(json_object_get(o, "sets"), i, set)
	{
		if (!strcmp(get_text(set, "arm"), arm) &&
		    json_integer_value(json_object_get(set, "n")) == n)
			return set;
	}
	cr_fatal("no set %s, %d", arm, n);
	return NULL;
}

static double number(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

/* Measured, and every check passed. */
static void was_measured(const json_t *o, const char *arm, int n)
{
	const json_t *set = set_of(o, arm, n), *clients = json_object_get(set, "clients");

	cr_expect(eq(ptr, (json_t *)json_object_get(set, "not_run"), json_null()), "%s, %d", arm,
		  n);
	cr_expect(eq(ptr, (json_t *)json_object_get(set, "passed"), json_true()), "%s, %d", arm, n);
	cr_expect(eq(sz, json_array_size(clients), (size_t)n), "%s, %d", arm, n);
	for (size_t i = 0; i < json_array_size(clients); i++) {
		const json_t *c = json_array_get(clients, i);

		cr_expect(lt(dbl, 0, number(c, "steps_per_s")), "%s, %d", arm, n);
		cr_expect(le(dbl, number(c, "p50_ns"), number(c, "p99_ns")), "%s, %d", arm, n);
	}
}

Test(small_cli_share, two_clients_in_every_arm, .init = prepare, .fini = remove_dir)
{
	const json_t *o;
	const char *text;
	char *kept;

	cr_assert(zero(
		int, run_rift(OUT, &text,
			      SHORT " --starts 1 --clients 2 --repetitions 3 --output '%s/a.jsonl'",
			      dir)));
	kept = strdup(text);
	is_called("a.jsonl", "valid");
	/* the record says the same */
	cr_assert(zero(int, run_rift(OUT, &text, "share --from '%s/a.jsonl'", dir)));
	cr_expect(eq(str, (char *)text, kept));
	free(kept);
	o = rift_json("share --quiet --json --from '%s/a.jsonl'", dir);
	cr_expect(eq(str, (char *)get_text(o, "command"), "share"));
	was_measured(o, "processes", 1);
	was_measured(o, "processes", 2);
	was_measured(o, "streams", 2);
	was_measured(o, "serial", 2);
	cr_expect(eq(ptr, json_object_get(set_of(o, "processes", 1), "fairness"), json_null()));
	cr_expect(eq(dbl, number(set_of(o, "processes", 2), "fairness_needs"), 6));
	cr_expect(eq(str, (char *)get_text(set_of(o, "streams", 2), "base"), "processes"));
	if (json_is_true(json_object_get(o, "is_cpu"))) {
		was_measured(o, "remote", 2);
		was_measured(o, "remote-shared", 2);
		cr_expect(tells(get_text(set_of(o, "mps", 2), "not_run"), "MPS"));
		cr_expect(tells(get_text(set_of(o, "remote+mps", 2), "not_run"), "MPS"));
		cr_expect(eq(ptr, json_object_get(o, "own_devices"), json_true()));
	}
}

/* The record says how its clients waited, and so do tables of several records. */
Test(small_cli_share, clients_that_wait_otherwise, .init = prepare, .fini = remove_dir)
{
	const char *text;

	for (int i = 0; i < 2; i++)
		cr_assert(zero(int, run_rift(OUT, &text,
					     "share launch us=0 --window 0.02 --quiet --starts 1 "
					     "--clients 1,2 --arms processes --repetitions 1 %s "
					     "--output '%s/%d.jsonl'",
					     i ? "--sync blocking" : "", dir, i)));
	cr_expect(tells(text, "depth 1, blocking waits, *CPU/step*daemons/step"), "%s", text);
	shell(&text, "grep -h '\"record\":\"size\"' '%s/1.jsonl'", dir);
	cr_expect(tells(text, "\"sync\":\"blocking\""), "%s", text);
	cr_assert(zero(int,
		       run_rift(OUT, &text, "share --quiet --from '%s/0.jsonl' --from '%s/1.jsonl'",
				dir, dir)));
	cr_expect(tells(text, "\nlaunch us=0 *processes*\nblocking: launch us=0 *processes"), "%s",
		  text);
	NEED_GNUPLOT();
	cr_assert(zero(int, run_rift(OUT, &text,
				     "share --quiet --from '%s/1.jsonl' --from '%s/0.jsonl' --plot "
				     "'%s/charts'",
				     dir, dir, dir)),
		  "%s", text);
	shell(&text, "grep '^name[0-9]' '%s/charts/share-growth-processes.gp'", dir);
	cr_expect(eq(str, (char *)text, "name1 = 'blocking: launch …'\nname2 = 'launch us=0'\n"),
		  "%s", text);
}

/* Sorts have no variables, which programs of the CPU device share: one client would have them. */
Test(small_cli_share, two_clients_in_one_process_of_a_daemon, .init = prepare, .fini = remove_dir)
{
	const json_t *o;

	need_device();
	o = rift_json(
		"share radixsort pairs=1k --arms remote,remote+shared --clients 2 --window 0.02 "
		"--windows 1 --repetitions 2 --starts 1 --quiet --json --output '%s/a.jsonl'",
		dir);
	was_measured(o, "remote+shared", 2);
	cr_expect(eq(str, (char *)get_text(set_of(o, "remote+shared", 2), "base"), "remote"));
}

/* Six lines are left, and half of one: they stay, and the rest is measured. */
Test(large_cli_share, a_record_is_gone_on_with, .init = prepare, .fini = remove_dir)
{
#define ARMS_OF " --clients 1,2 --arms processes,streams --windows 1 --repetitions 2 --starts 2"
	cr_assert(zero(int, run_rift(OUT, NULL, SHORT ARMS_OF " --output '%s/a.jsonl'", dir)));
	cr_assert(zero(int, shell(NULL,
				  "cd '%s' && head -n 6 a.jsonl >six && "
				  "head -n 7 a.jsonl | head -c -20 >b.jsonl.part",
				  dir)));
	is_called("b.jsonl.part", "under way*torn");
	cr_assert(zero(int, run_rift(OUT, NULL, "share --quiet --resume '%s/b.jsonl.part'", dir)));
	cr_expect(zero(int, shell(NULL,
				  "cd '%s' && head -n 6 b.jsonl | cmp - six && "
				  "[ ! -e b.jsonl.part ] && [ ! -e b.jsonl.lock ] && "
				  "[ $(wc -l <a.jsonl) = $(wc -l <b.jsonl) ]",
				  dir)));
	is_called("b.jsonl", "valid*4 of 4");
	/* whole: there is nothing to go on with, and nothing is replaced */
	refused(3, "is complete", "share --resume '%s/b.jsonl'", dir);
	refused(3, "b.jsonl", SHORT " --output '%s/b.jsonl'", dir);
	shell(NULL, "ln -s none '%s/link'", dir);
	refused(3, "is a broken link", SHORT " --output '%s/link'", dir);
	refused(3, "not to stdout", SHORT " --output -");
}

static void damaged_records(void)
{
	shell(NULL,
	      "cd '%s' && sed '5s/\"steps\":/\"steps\":1/' a.jsonl >digit.jsonl; "
	      "sed 6d a.jsonl >line.jsonl; sed '$d' a.jsonl >end.jsonl; "
	      "{ cat a.jsonl; tail -n 1 a.jsonl; } >more.jsonl; gzip -k a.jsonl",
	      dir);
	refused(3, ":5:", "show --check '%s/digit.jsonl'", dir);
	refused(3, "lines_sha256", "show --check '%s/line.jsonl'", dir);
	refused(3, "after the end", "show --check '%s/more.jsonl'", dir);
	refused(3, ":5:", "share --from '%s/digit.jsonl'", dir);
	cr_expect(eq(int, run_rift(OUT, NULL, "show --check '%s/end.jsonl'", dir), 2));
	is_called("a.jsonl.gz", "valid");
	/* other commands say who reads it, by whatever name it goes */
	refused(3, "a record of rift share, which `rift share --from FILE` shows",
		"show '%s/a.jsonl'", dir);
	refused(3, "`rift share --from FILE`", "compare '%s/a.jsonl.gz'", dir);
	refused(3, "`rift share --from FILE`", "plot '%s/a.jsonl'", dir);
	shell(NULL, "cp '%s/a.jsonl' '%s/b.jsonl.part'", dir, dir);
	refused(3, "`rift share --from FILE`", "show '%s/b.jsonl.part'", dir);
	refused(3, "kind", "share --from data/sessions/h200-launch.jsonl");
}

/* The platform is known, and a window of the first set. */
static void a_record_without_a_finished_set(void)
{
	shell(NULL,
	      "cd '%s' && sed '/\"record\":\"window\"/q' a.jsonl >b.jsonl; "
	      "cp b.jsonl b.jsonl.part",
	      dir);
	refused(3, "b.jsonl.part*2 configurations*--resume*b.jsonl.part",
		"share --from '%s/b.jsonl.part'", dir);
	refused(3, "b.jsonl*NAME.part", "share --from '%s/b.jsonl'", dir);
	refused(3, "b.jsonl.part*--resume", "share --from '%s/a.jsonl' --from '%s/b.jsonl.part'",
		dir, dir);
	cr_assert(zero(int, run_rift(OUT, NULL, "share --quiet --resume '%s/b.jsonl.part'", dir)));
}

/* By another name too, and under way: its clients would count twice. */
static void a_record_given_twice(void)
{
	shell(NULL, "cd '%s' && sed '$d' a.jsonl >c.jsonl.part", dir);
	refused(3, "a.jsonl*a.jsonl*same record", "share --from '%s/a.jsonl' --from '%s/a.jsonl'",
		dir, dir);
	refused(3, "a.jsonl*c.jsonl.part*same record",
		"share --json --from '%s/a.jsonl' --from '%s/c.jsonl.part'", dir, dir);
}

Test(small_cli_share, records_that_are_damaged_or_unfinished_or_given_twice, .init = prepare,
     .fini = remove_dir)
{
	cr_assert(zero(int, run_rift(OUT, NULL,
				     SHORT " --starts 1 --clients 2 --arms processes "
					   "--repetitions 1 --output '%s/a.jsonl'",
				     dir)));
	damaged_records();
	a_record_without_a_finished_set();
	a_record_given_twice();
}

/* Once a window is written: what there is can be gone on with. */
Test(small_cli_share, an_interrupted_one_can_be_gone_on_with, .init = prepare, .fini = remove_dir)
{
	const char *said;
	int code = shell(
		&said,
		"cd '%s' && { env --default-signal=INT '%s' share launch us=0 --quiet --starts 1 "
		"--clients 2 --arms processes "
		"--window 0.1 --windows 100 --repetitions 6 --output a.jsonl 2>&1 >/dev/null & } "
		"&& "
		"for i in $(seq 500); do grep -qs '\"window\"' a.jsonl.part && break; sleep 0.02; "
		"done; kill -INT $!; wait $!",
		dir, rift());

	cr_expect(eq(int, code, RIFT_INTERRUPTED), "exit code %d: %s", code, said);
	cr_expect(tells(said, "--resume a.jsonl.part"), "%s", said);
	cr_expect(zero(int, shell(NULL, "test -s '%s/a.jsonl.part'", dir)), "it stays");
}

/* A client holds 64 MiB and a little: three of them fit into 256, four do not. */
Test(small_cli_share, clients_that_do_not_fit, .init = prepare, .fini = remove_dir)
{
	const json_t *o;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: its memory can be chosen");
	setenv("RIFT_CPU_MEMORY_MIB", "256", 1);
	o = rift_json("share transfer bytes=32M --clients 3,4 --arms processes --window 0.02 "
		      "--windows 1 --repetitions 2 --starts 1 --quiet --json --output '%s/a.jsonl'",
		      dir);
	was_measured(o, "processes", 3);
	cr_expect(tells(get_text(set_of(o, "processes", 4), "not_run"),
			"4 clients * 257 MiB* 256 MiB"),
		  "%s", get_text(set_of(o, "processes", 4), "not_run"));
}

/* 2 ms more a call: the client under it takes many times as long. */
Test(large_cli_share, an_unfair_share_is_found, .init = prepare, .fini = remove_dir)
{
	const json_t *o, *set, *slow;

	if (layer_missing(layer_find("emulate")))
		cr_skip("the layer emulate is not available here");
	o = rift_json(
		SHORT
		" --starts 1 --clients 2 --arms processes,streams --json --output '%s/a.jsonl' "
		"--layer-of '2=emulate call=2000'",
		dir);
	set = set_of(o, "processes", 2);
	slow = json_object_get(json_array_get(json_object_get(set, "clients"), 1), "against_mean");
	cr_expect(eq(str, (char *)get_text(set, "fairness"), "unfair"));
	cr_expect(eq(str, (char *)get_text(slow, "verdict"), "slower"));
	cr_expect(lt(dbl, number(set, "jain"), 0.9));
	cr_expect(tells(get_text(set_of(o, "streams", 2), "not_run"), "--layer-of"));
}

/* Processes stand apart; clients of one process go down with it. */
Test(small_cli_share, harm_by_a_kill, .init = prepare, .fini = remove_dir)
{
	const json_t *o =
		rift_json(SHORT " --starts 1 --clients 2 --arms processes,streams --repetitions 1 "
				"--fault kill --json --output '%s/a.jsonl'",
			  dir);
	const json_t *faults = json_object_get(o, "faults"), *fault;
	const char *text;
	size_t i;

	cr_assert(eq(sz, json_array_size(faults), 2));
	json_array_foreach(faults, i, fault)
	{
		const json_t *clients = json_object_get(fault, "clients");
		const char *harm = get_text(json_array_get(clients, 1), "harm");
		bool apart = !strcmp(get_text(fault, "arm"), "processes");

		cr_expect(tells(get_text(json_array_get(clients, 0), "lost"), "signal 9"));
		cr_expect(eq(int, !strcmp(harm, "lost"), !apart), "%s", harm);
		cr_expect(ne(str, (char *)harm, "wrong results"));
		cr_expect(eq(str, (char *)get_text(fault, "newcomer"), "started"));
	}
	/* 2 windows: who is treated unfairly would not be found, and that is said */
	run_rift(OUT, &text, "share --from '%s/a.jsonl'", dir);
	cr_expect(tells(text, "not resolved: 2 windows may be too few"), "%s", text);
	cr_expect(tells(text, "6 are enough, by --repetitions"), "%s", text);
}

Test(small_cli_share, harm_by_an_illegal_address, .init = prepare, .fini = remove_dir)
{
	const json_t *o =
		rift_json(SHORT " --starts 1 --clients 2 --arms processes --repetitions 1 "
				"--fault crash --json --output '%s/a.jsonl'",
			  dir);
	const json_t *clients =
		json_object_get(json_array_get(json_object_get(o, "faults"), 0), "clients");

	cr_expect(ne(str, (char *)get_text(json_array_get(clients, 0), "lost"), ""));
	cr_expect(eq(ptr, (json_t *)json_object_get(json_array_get(clients, 1), "lost"),
		     json_null()));
	cr_expect(eq(ptr, (json_t *)json_object_get(json_array_get(clients, 1), "passed"),
		     json_true()));
}

/* Two workloads: one client alone of each is the base. The second has kernels of 3 ms. */
Test(small_cli_share, a_mix, .init = prepare, .fini = remove_dir)
{
	const json_t *o =
		rift_json(SHORT " --starts 1 --clients 2 --arms processes --repetitions 1 "
				"--json --with 'launch us=3000' --output '%s/a.jsonl'",
			  dir);
	const json_t *second =
		json_array_get(json_object_get(set_of(o, "processes", 2), "clients"), 1);

	cr_expect(eq(sz, json_array_size(json_object_get(o, "sets")), 3));
	cr_expect(eq(
		str,
		(char *)json_string_value(json_array_get(json_object_get(second, "workload"), 1)),
		"us=3000"));
	cr_expect(lt(dbl, 2.9e6, number(second, "p50_ns")));
	was_measured(o, "processes", 2);
}

/* ---- several records ---------------------------------------------------------------------- */

/* The pair of processes; NULL: there is none. */
static const json_t *pair_of(const json_t *o, const char *workload, const char *beside)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(json_object_get(o, "pairs"), i, pair)
	{
		if (!strcmp(get_text(pair, "workload"), workload) &&
		    !strcmp(get_text(pair, "beside"), beside))
			return pair;
	}
	return NULL;
}

/* As pairs name them. */
#define NONE "blocking: launch us=0"
#define LONG "blocking: launch us=3000"

/* The first n of: one of two of a kind, one of a pair of kinds, one with harm. */
static void make_records(int n)
{
	static const char *const words[] = { "launch us=0", "launch us=0 --with 'launch us=3000'",
					     "launch us=0 --fault kill" };

	for (int i = 0; i < n; i++)
		cr_assert(zero(int, run_rift(OUT, NULL,
					     "share %s --sync blocking --window 0.02 --quiet "
					     "--clients 2 --starts "
					     "1 --arms processes,serial --windows 1 --repetitions "
					     "5 --output '%s/%d.jsonl'",
					     words[i], dir, i)));
}

/* The first two of these records, drawn. */
static void expect_charts(void)
{
	const char *text;

	NEED_GNUPLOT();
	cr_assert(zero(int, run_rift(OUT, &text,
				     "share --from '%s/0.jsonl' --from '%s/1.jsonl' --quiet --plot "
				     "'%s/charts/'",
				     dir, dir, dir)),
		  "%s", text);
	cr_expect(tells(text, "share-growth-processes.png, .svg*share-matrix-processes.png, "
			      ".svg*share-beside-processes.png, .svg*"
			      "share-matrix-serial.png, .svg*share-beside-serial.png, .svg"),
		  "%s", text);
	shell(&text, "cut -d, -f1,2 '%s/charts/share-matrix-serial-cells.csv' | tr '\n' ' '", dir);
	cr_expect(eq(str, (char *)text, "column,row 0,0 1,0 0,1 "));
	shell(&text, "cut -d, -f1,2 '%s/charts/share-growth-processes-points.csv' | tr '\n' ' '",
	      dir);
	cr_expect(eq(str, (char *)text, "series,clients 1,1 1,2 "));
	shell(&text, "wc -l <'%s/charts/share-beside-serial-points.csv'", dir);
	cr_expect(eq(int, atoi(text), 1 + 3 * 23));
	/* all wait alike: short names have no word of it */
	shell(&text, "grep '^name[0-9]' '%s/charts/share-matrix-serial.gp'", dir);
	cr_expect(eq(str, (char *)text, "name1 = 'launch us=0'\nname2 = 'launch us=3000'\n"));
	/* a row of the key has room for six */
	cr_assert(zero(int, shell(&text,
				  "cd '%s' && from= && for i in 1 2 3 4 5 6 7 8; do '%s' " SHORT
				  " --clients 2 --starts 1 --arms processes --windows 1 "
				  "--repetitions 1 --output c$i.jsonl >/dev/null && "
				  "from=\"$from --from c$i.jsonl\"; done && '%s' "
				  "share $from --quiet --plot many/ 2>&1",
				  dir, rift(), rift())),
		  "%s", text);
	shell(&text,
	      "cut -d, -f1 '%s/many/share-growth-processes-points.csv' | sort -u | tail -n 2", dir);
	cr_expect(eq(str, (char *)text, "8\nseries\n"), "%s", text);
	shell(&text, "grep -c '>launch us=0<' '%s/many/share-growth-processes.svg'", dir);
	cr_expect(eq(int, atoi(text), 8));
}

Test(large_cli_share, who_hurts_whom_and_its_charts, .init = prepare, .fini = remove_dir)
{
	const json_t *o, *pair;
	const char *text;

	make_records(3);
	cr_assert(zero(int, run_rift(OUT, &text,
				     "share --from '%s/0.jsonl' --from '%s/1.jsonl' --from "
				     "'%s/2.jsonl' --quiet",
				     dir, dir, dir)),
		  "%s", text);
	cr_expect(tells(text, "3 records*processes, two clients*launch us=3000*beside*(alone)*"
			      "harm hurts most*kill*processes*a new client: started*"
			      "serial*lost"),
		  "%s", text);
	o = rift_json("share --from '%s/0.jsonl' --from '%s/1.jsonl' --from '%s/2.jsonl' --quiet "
		      "--json",
		      dir, dir, dir);
	cr_expect(eq(sz, json_array_size(json_object_get(o, "records")), 3));
	/* three cells an arm: nobody has measured two of the long ones */
	cr_expect(eq(sz, json_array_size(json_object_get(o, "pairs")), 6));
	cr_expect(eq(ptr, (void *)(uintptr_t)pair_of(o, LONG, LONG), NULL));
	pair = pair_of(o, LONG, NONE);
	cr_assert(ne(ptr, (void *)(uintptr_t)pair, NULL));
	cr_expect(lt(dbl, 2.9e6, number(pair, "p50_ns")));
	cr_expect(eq(int, (int)number(json_object_get(pair, "slowdown"), "n"), 5));
	pair = pair_of(o, NONE, LONG);
	cr_expect(lt(dbl, 0, number(json_object_get(pair, "slowdown"), "lo")));
	refused(3, "nobody.jsonl", "share --from '%s/0.jsonl' --from '%s/nobody.jsonl'", dir, dir);
	refused(3, "--clients", "share --from a --from b --clients 2");
	expect_charts();
}

Test(small_cli_share, charts, .init = prepare, .fini = remove_dir)
{
	const char *text;

	NEED_GNUPLOT();
	cr_assert(zero(int, run_rift(OUT, &text,
				     SHORT " --starts 1 --clients 1,2 --arms processes "
					   "--repetitions 3 --output '%s/a.jsonl' "
					   "--plot '%s/charts/'",
				     dir, dir)),
		  "%s", text);
	cr_expect(tells(text, "launch-share.png, .svg*launch-share-latency.png, .svg"), "%s", text);
	shell(&text, "cut -d, -f1,2,6 '%s/charts/launch-share-points.csv' | tr '\\n' ' '", dir);
	cr_expect(eq(str, (char *)text, "series,clients,arm 1,1,processes 1,2,processes "));
	shell(&text, "wc -l <'%s/charts/launch-share-latency-points.csv'", dir);
	cr_expect(eq(int, atoi(text), 1 + 23));
}

/* ---- what is allowed ------------------------------------------------------------------------ */

/* To the byte, whatever the machine is busy with: in one piece and in many, of pools, after a free,
 * an exit and a kill, and beside another client. */
Test(small_cli_share, memory_that_is_allowed, .init = prepare, .fini = remove_dir)
{
	static const char *const whens[] = { "alone", "freed", "beside", "exited", "killed" };
	static const char *const whats[] = { "one", "many", "pool", "free", "total" };
	const json_t *o, *taken;
	const char *text;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: a GPU gives out more at once");
	o = rift_json("share launch us=0 --allow memory=1000003 --layer 'emulate memory=1000003' "
		      "--quiet --json --output '%s/a.jsonl'",
		      dir);
	cr_expect(eq(str, (char *)get_text(o, "verdict"), "holds"));
	taken = json_object_get(o, "taken");
	for (size_t i = 0; i < sizeof(whens) / sizeof(*whens); i++)
		cr_expect(eq(dbl, number(json_object_get(taken, whens[i]), "one"), 1000003.0), "%s",
			  whens[i]);
	taken = json_object_get(taken, "alone");
	for (size_t i = 0; i < sizeof(whats) / sizeof(*whats); i++)
		cr_expect(eq(dbl, number(taken, whats[i]), 1000003.0), "%s", whats[i]);
	cr_expect(eq(str, (char *)get_text(taken, "one_error"), "cudaErrorMemoryAllocation"));
	cr_expect(zero(int, run_rift(OUT, &text, "share --from '%s/a.jsonl' --quiet", dir)));
	cr_expect(tells(text, "holds, to the byte"), "%s", text);
	is_called("a.jsonl", "valid");
}

/* Twice as much as is allowed is tried and no more: 1 is what a promise that is not kept comes to.
 */
Test(small_cli_share, memory_without_a_limit, .init = prepare, .fini = remove_dir)
{
	const char *text;

	cr_expect(eq(int,
		     run_rift(OUT, &text,
			      "share launch us=0 --allow memory=64k --layer none --quiet --output "
			      "'%s/a.jsonl'",
			      dir),
		     1));
	cr_expect(tells(text, "gets more than allowed: 131072 bytes by cudaMalloc"), "%s", text);
}

/* One start has no interval, so what is found is open: rows, their record, and its end are there.
 */
Test(small_cli_share, compute_that_is_allowed, .init = prepare, .fini = remove_dir)
{
	const char *text;
	char *kept;

	cr_expect(eq(int,
		     run_rift(OUT, &text,
			      "share launch us=200 --allow compute=50%% --layer 'emulate "
			      "compute=50' --window 0.1 --starts 1 --quiet --output '%s/a.jsonl'",
			      dir),
		     2));
	cr_expect(tells(text, "compute=50%: inconclusive*without a limit*queued*waited for*burst"),
		  "%s", text);
	kept = strdup(text);
	is_called("a.jsonl", "valid");
	cr_expect(eq(int, run_rift(OUT, &text, "share --from '%s/a.jsonl' --quiet", dir), 2));
	cr_expect(eq(str, (char *)text, kept), "the record says the same");
	free(kept);
}

/* The layer's library has the client's number in its name, and there is none of another number. */
Test(small_cli_share, a_client_has_a_layer_of_its_own, .init = prepare, .fini = remove_dir)
{
	const char *text;

	cr_assert(zero(int, shell(NULL,
				  "for n in 1 2; do cp \"$(dirname '%s')/tests/wrapper.so\" "
				  "'%s/'$n.so; done",
				  rift(), dir)));
	cr_expect(eq(int,
		     run_rift(OUT, &text,
			      "share launch us=0 --allow compute=50%% --layer 'preload "
			      "lib=%s/{client}.so' --clients 2 --window 0.05 --starts 1 --quiet "
			      "--output '%s/a.jsonl'",
			      dir, dir),
		     2));
	cr_expect(tells(text, "\n *2 *1 *queued*\n *2 *2 *queued"), "%s", text);
	cr_expect(not(tells(text, "not run")), "%s", text);
}

/* Made by --allow, and of what was asked: its exit code is rc. */
static void make_limited(const char *name, const char *allow, const char *layer, int rc)
{
	cr_assert(
		eq(int,
		   run_rift(OUT, NULL,
			    "share launch us=100 --allow %s --layer '%s' --clients 1 --window 0.05 "
			    "--sync blocking --starts 1 --quiet --output '%s/%s.jsonl'",
			    allow, layer, dir, name),
		   rc),
		"%s", name);
}

/* The first is drawn; of memory there is nothing to draw. */
static void expect_chart_of_limits(void)
{
	const char *text;

	NEED_GNUPLOT();
	cr_expect(eq(int,
		     run_rift(OUT, NULL, "share --from '%s/a.jsonl' --quiet --plot '%s/charts'",
			      dir, dir),
		     2));
	cr_expect(zero(int, shell(NULL,
				  "grep -q '^1,50,' '%s/charts/limits-points.csv' && test -s "
				  "'%s/charts/limits.png'",
				  dir, dir)));
	/* several layers are a series each */
	make_limited("f", "compute=25%", "none", 2);
	run_rift(OUT, NULL, "share --from '%s/a.jsonl' --from '%s/f.jsonl' --quiet --plot '%s/two'",
		 dir, dir, dir);
	cr_expect(zero(int, shell(NULL,
				  "cd '%s/two' && grep -q '^1,50,' limits-points.csv && "
				  "grep -q '^2,25,' limits-points.csv && "
				  "grep -q 'emulate (1)' limits.gp && grep -q 'none (1)' limits.gp",
				  dir)));
	make_limited("e", "memory=2000", "emulate memory=2000", 0);
	cr_expect(eq(int,
		     run_rift(ERR, &text,
			      "share --from '%s/c.jsonl' --from '%s/e.jsonl' --quiet --plot "
			      "'%s/charts'",
			      dir, dir, dir),
		     3));
	cr_expect(tells(text, "nothing to draw"), "%s", text);
}

Test(small_cli_share, asked_for_and_got, .init = prepare, .fini = remove_dir)
{
	const json_t *o;
	const char *text;

	make_limited("a", "compute=50%,memory=64k", "emulate compute=50 memory=64k", 2);
	make_limited("b", "compute=25%", "emulate compute=25", 2);
	make_limited("c", "memory=1000", "emulate memory=1000", 0);
	cr_expect(eq(int,
		     run_rift(OUT, &text,
			      "share --from '%s/a.jsonl' --from '%s/b.jsonl' --from '%s/c.jsonl' "
			      "--quiet",
			      dir, dir, dir),
		     2));
	cr_expect(tells(text, "50 %*queued*50 %*waited for*25 %*compute=25*65536*1000 *1000 "
			      "*cudaMalloc *holds"),
		  "%s", text);
	cr_assert(zero(int, shell(NULL, "gzip '%s/b.jsonl' '%s/c.jsonl'", dir, dir)));
	cr_expect(eq(int,
		     run_rift(OUT, &text,
			      "share --from '%s/b.jsonl.gz' --from '%s/a.jsonl' --quiet", dir, dir),
		     2),
		  "packed: %s", text);
	cr_assert(zero(int, shell(NULL, "gunzip '%s/b.jsonl.gz' '%s/c.jsonl.gz'", dir, dir)));
	cr_assert(eq(int,
		     run_rift(OUT, &text,
			      "share --from '%s/a.jsonl' --from '%s/c.jsonl' --quiet --json", dir,
			      dir),
		     2));
	o = json_loads(text, 0, NULL);
	cr_expect(eq(sz, json_array_size(json_object_get(o, "records")), 2));
	json_decref((json_t *)(uintptr_t)o);
	refused(3, "same record", "share --from '%s/a.jsonl' --from '%s/a.jsonl'", dir, dir);
	run_rift(OUT, NULL, SHORT " --starts 1 --clients 1 --output '%s/d.jsonl'", dir);
	refused(3, "of one kind", "share --from '%s/a.jsonl' --from '%s/d.jsonl'", dir, dir);
	refused(3, "of one kind", "share --from '%s/d.jsonl' --from '%s/a.jsonl'", dir, dir);
	expect_chart_of_limits();
}

Test(small_cli_share, what_is_refused)
{
	need_device();
	refused(3, "workload", "share");
	refused(3, "'launch'", "share lunch");
	refused(3, "'us'", "share launch su=0");
	refused(3, "--clients=", "share launch --clients 2,1");
	refused(3, "--clients=", "share launch --clients 1,,2");
	refused(3, "--clients=", "share launch --clients 1,");
	refused(3, "--clients=", "share launch --clients 49");
	refused(3, "'processes'", "share launch --arms process");
	refused(3, "twice", "share launch --arms serial,serial");
	refused(3, "--with", "share launch --with ''");
	refused(3, "CLIENT=LAYER", "share launch --layer-of 'emulate call=1'");
	refused(3, "--layer-of", "share launch --clients 2 --layer-of '3=none'");
	refused(3, "'emulate'", "share launch --layer-of '1=emulat'");
	refused(3, "--mode=", "share transfer --mode graph");
	refused(3, "--depth=0", "share launch --depth 0");
	refused(3, "--sync=spinn", "share launch --sync spinn");
	refused(3, "--sync", "share --from a --sync spin");
	refused(3, "nothing is timed", "share launch probe=quick");
	refused(3, "2 clients", "share launch --clients 1 --fault kill");
	refused(3, "'launch'", "share launch --from /dev/null");
	refused(3, "--starts=", "share launch --repetitions 5 --starts 6");
	refused(3, "compute=PERCENT", "share launch --allow 30%%");
	refused(3, "compute=", "share launch --allow compute=130%% --layer none");
	refused(3, "memory=", "share launch --allow memory=8X");
	refused(3, "needs --layer", "share launch --allow compute=30%%");
	refused(3, "needs --allow", "share launch --layer none");
	refused(3, "--allow", "share launch --arms limited");
	refused(3, "--allow", "share launch --arms processes --allow memory=1M");
	refused(3, "--allow", "share launch --depth 4 --allow memory=1M");
	refused(3, "'emulate'", "share launch --allow memory=1M --layer emulat");
	if (ON_CPU)
		refused(4, "no MPS", "share launch --allow compute=30%% --layer mps");
	refused(3, "--window=", "share launch --allow compute=3 --layer none --window 0.02");
	refused(3, "--allow", "share --from a --allow memory=1M");
	refused(3, "--clients", "share --from a --clients 2");
	refused(3, "--window", "share --resume a --window 1");
	refused(3, "--resume", "share --from a --resume b");
	refused(3, "/dev/null", "share --from /dev/null");
	refused(3, "/dev/null", "share launch --plot /dev/null");
}
