/*
 * test_bench.c - bench/accept.sh continues what was cut off and refuses what is not in its table;
 * bench/holds.py finds what is held to cost what it was made to. No figure is measured.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/folder.h"

/*
 * A rift that measures nothing. Its sweep is cut off and leaves a .part; one that goes on is whole,
 * or with machine=another begins NAME-2 instead and is cut off, as rift's is on another machine.
 */
static const char rift[] = "#!/bin/sh\n"
			   "case \"$*\" in\n"
			   "'sweep --resume '*)\n"
			   "	if [ \"$machine\" = another ]; then\n"
			   "		echo anew >\"${3%.jsonl}-2.jsonl.part\"\n"
			   "		exit 75\n"
			   "	fi\n"
			   "	mv \"$3.part\" \"$3\" ;;\n"
			   "'sweep '*)\n"
			   "	for last; do :; done\n"
			   "	echo begun >\"$last.part\"\n"
			   "	exit 75 ;;\n"
			   "esac\n";

/* A folder with that rift and the sessions of the tests. */
TEST_FOLDER(folder);

static void prepare(void)
{
	char path[64];
	FILE *f;

	make_folder();
	snprintf(path, sizeof(path), "%s/rift", folder);
	f = fopen(path, "w");
	cr_assert(f && fputs(rift, f) >= 0 && !fclose(f), "%s", path);
	cr_assert(zero(int, shell(NULL, "chmod +x %s", path)), "chmod");
}

TestSuite(small_bench, .init = prepare, .fini = remove_folder, .timeout = 120);

static bool has(const char *text, const char *what)
{
	return strstr(text, what);
}

/* One call of the script for one row, and then which sessions there are and what they hold. */
static const char *measured(const char *variables, const char *experiment)
{
	const char *text;

	shell(&text, "%s ROWS=none RIFT=%s/rift OUT=%s/out bash bench/accept.sh %s", variables,
	      folder, folder, experiment);
	shell(&text,
	      "cd %s/out && for f in *.jsonl *.part; do [ ! -e $f ] || echo $f: $(cat $f); done",
	      folder);
	return text;
}

static const char *sessions_after(const char *variables)
{
	return measured(variables, "atlas");
}

Test(small_bench, a_row_that_was_cut_off_goes_on)
{
	cr_assert(eq(str, (char *)sessions_after(""), "atlas-none.jsonl.part: begun\n"));
	cr_assert(eq(str, (char *)sessions_after(""), "atlas-none.jsonl: begun\n"));
}

Test(small_bench, a_row_that_is_whole_is_not_measured_again)
{
	for (int i = 0; i < 3; i++)
		sessions_after("");
	cr_assert(eq(str, (char *)sessions_after(""), "atlas-none.jsonl: begun\n"));
}

Test(small_bench, on_another_machine_the_row_is_the_session_that_was_begun_there)
{
	sessions_after("");
	cr_assert(eq(str, (char *)sessions_after("machine=another"),
		     "atlas-none.jsonl.part: anew\n"));
	cr_assert(eq(str, (char *)sessions_after(""), "atlas-none.jsonl: anew\n"));
}

Test(small_bench, what_is_held_is_measured_in_sessions_of_its_own)
{
	sessions_after("");
	cr_assert(eq(str, (char *)measured("", "holds"),
		     "atlas-none.jsonl.part: begun\nholds-none.jsonl.part: begun\n"));
}

Test(small_bench, a_dry_run_measures_nothing_and_after_its_budget_nothing_begins)
{
	cr_assert(eq(str, (char *)sessions_after("DRY=1"), ""));
	cr_assert(eq(str, (char *)sessions_after("BUDGET=0"), ""));
}

/* A dry run of NAME prints commands, and nothing that bash or rift complains of. */
static const char *commands(const char *name)
{
	const char *text;

	cr_assert(zero(int,
		       shell(&text,
			     "DRY=1 ROWS=none RIFT=%s/rift OUT=%s/out bash bench/accept.sh %s 2>&1",
			     folder, folder, name)),
		  "%s: %s", name, text);
	return text;
}

/* make test does without Python, and says so. */
static void need_python(void)
{
	if (shell(NULL, "python3 -c 'import gzip' 2>/dev/null"))
		cr_skip("needs python3 (python3)");
}

Test(small_bench, a_dry_run_prints_each_command)
{
	static const char *const names[][2] = {
		{ "holds", "/rift sweep launch launch.us=0 launch.hold_pinned=0\\,256M " },
		{ "contact", "/rift layer --quiet none -- " },
		{ "engine five", "/rift sweep myocyte particlefilter mlp alignment radixsort " },
		{ "resolution 15",
		  " --express --processes 9 --rounds 6 --warm-up 0.1 --against env " },
		{ "graphs roots layers", " --layer none --processes 5 " },
		{ "decode", " launches=few\\,many --depth 1\\,16 --mode stream\\,graph " },
		{ "warmup rested",
		  "/rift probe --warmup blackscholes options=1M slots=1 --rest 30 " },
		{ "wsl2 mlp", "/rift sweep mlp batch=16\\,64\\,256\\,1k\\,4k launches=many " },
		{ "remote copies", "/rift sweep transfer host=pageable dir=d2h " },
		{ "share harm unfair", " --layer-of 2=emulate\\ call=50 " },
		{ "limits emulate",
		  "--allow compute=50%\\,memory=8G --layer emulate\\ compute=50" },
		{ "limits mps", " --allow compute=75% --layer mps\\ threads=75 --window 8 " },
		{ "limits remote", " --allow memory=8G --layer remote\\ memory=8G " },
		{ "share sizes", "transport=tcp shared=yes block=128M -- " },
		{ "share cpu", "/rift share stereo preset=vmcuda-table1 --sync blocking " },
		{ "kills", "/rift run transfer dir=h2d host=pageable bytes=64M " },
	};

	need_python();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *text = commands(names[i][0]);

		cr_expect(has(text, names[i][1]) && !has(text, "bench/accept"), "%s: %s",
			  names[i][0], text);
	}
}

/* Told of in one line, before anything is measured. */
Test(small_bench, what_is_not_in_the_table_is_refused)
{
	static const char *const wrong[][2] = {
		{ "", "accept.sh: '' must be one of: atlas holds " },
		{ "atlsa", "accept.sh: 'atlsa' must be one of: atlas holds " },
		{ "emulate call-5 call-6",
		  "accept.sh: emulate: 'call-6' must be one of: truth/call-5 " },
		{ "remote .", "accept.sh: remote: '.' must be one of: launch " },
	};
	const char *text;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		int rc = shell(&text, "RIFT=%s/rift OUT=%s/out bash bench/accept.sh %s 2>&1",
			       folder, folder, wrong[i][0]);

		cr_expect(eq(int, rc, 3), "%s", wrong[i][0]);
		cr_expect(eq(int, strncmp(text, wrong[i][1], strlen(wrong[i][1])), 0), "%s", text);
	}
	cr_expect(eq(int, shell(&text, "RIFT=%s/none bash bench/accept.sh atlas 2>&1", folder), 3));
	cr_expect(has(text, "/none: no such program"), "%s", text);
}

/* ---- bench/holds.py --------------------------------------------------------------------- */

/* What `python3 bench/holds.py` prints. */
static int holds(const char **text, const char *rift_there)
{
	need_python();
	return shell(text, "python3 bench/holds.py %s/%s %s 2>&1", folder, rift_there, folder);
}

enum { KINDS = 4, PINNED = 1, DEVICE = 2, STREAMS = 4, EVENTS = 8 };

static void write_point(FILE *f, const char *side, int process, int held, int ns)
{
	fprintf(f,
		"{\"record\":\"point\",\"status\":\"ok\",\"side\":\"%s\",\"process_index\":%d,"
		"\"axes\":{\"hold_pinned\":%d,\"hold_device\":%d,\"hold_streams\":%d,"
		"\"hold_events\":%d},\"t_total_ns\":[%d,%d],"
		"\"summary\":{\"t_total_ns\":{\"median\":%d}}}\n",
		side, process, held & PINNED ? 256 << 20 : 0, held & DEVICE ? 1 << 30 : 0,
		held & STREAMS ? 64 : 0, held & EVENTS ? 1000 : 0, ns, 3 * ns, ns);
}

/*
 * Three processes a side, which differ by more than what is looked for. Streams cost 1 us on both
 * sides; 1 GiB of the device costs 5 us on side b, in two processes of three.
 */
static void write_session(void)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/holds-none.jsonl", folder);
	f = fopen(path, "w");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	fputs("{\"record\":\"header\",\"gpu\":{\"name\":\"X\"},\"start_utc\":\"2026-11-27T00:00:"
	      "00Z\"}\n",
	      f);
	for (int process = 0; process < 3; process++)
		for (int held = 0; held < 1 << KINDS; held++) {
			int ns = 100000 * (process + 1) + (held & STREAMS ? 1000 : 0);

			write_point(f, "a", process, held, ns);
			write_point(f, "b", process, held,
				    ns + (held & DEVICE && process ? 5000 : 0));
		}
	cr_assert(zero(int, fclose(f)), "%s", path);
}

/* A rift that compares: with nothing held side b takes 2 us, twice as long as side a. */
static void write_compare(const char *nothing)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/compares", folder);
	f = fopen(path, "w");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	fprintf(f,
		"#!/bin/sh\necho '{\"points\":[{\"axes\":{%s},'\n"
		"echo '\"b_step_ns\":{\"value\":2000,\"lo\":1000,\"hi\":3000},'\n"
		"echo '\"ratio\":{\"value\":2,\"lo\":1,\"hi\":3}}]}'\n",
		nothing);
	cr_assert(zero(int, fclose(f)), "%s", path);
	cr_assert(zero(int, shell(NULL, "chmod +x %s", path)), "chmod");
}

Test(small_bench, what_is_held_costs_what_it_was_made_to)
{
	const char *text;

	write_session();
	write_compare("\"hold_pinned\":0,\"hold_device\":0,\"hold_streams\":0,\"hold_events\":0");
	cr_assert(zero(int, holds(&text, "compares")), "%s", text);
	cr_assert(has(text, "| 256 MiB pinned | 1 GiB device | 64 streams | 1000 events |"), "%s",
		  text);
	cr_assert(has(text, "| no layer, n = 3 | 200.0 us (100.0 to 300.0) | 1 | "
			    "+0.00 (0.00 to 0.00) | +0.00 (0.00 to 0.00) | +1.00 (1.00 to 1.00) | "
			    "+0.00 (0.00 to 0.00) | +1.00 (1.00 to 1.00) |\n"),
		  "%s", text);
	cr_assert(has(text, "| none, n = 3 | 2.0 us (1.0 to 3.0) | 2.00 (1.00 to 3.00) | "
			    "+0.00 (0.00 to 0.00) | +5.00 (0.00 to 5.00) | +1.00 (1.00 to 1.00) | "
			    "+0.00 (0.00 to 0.00) | +6.00 (1.00 to 6.00) |\n"),
		  "%s", text);
	cr_assert(has(text, " of 96, 0.9 ms"), "%s", text);
}

/* Two processes a side, with 256 modules and without: 0.5 us more on side b, or no such points. */
static const char *modules_table(bool refused)
{
	const char *text;
	char path[64];
	FILE *f;

	write_compare("\"hold_modules\":0");
	snprintf(path, sizeof(path), "%s/holds-none.jsonl", folder);
	f = fopen(path, "w");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	for (int i = 0; i < 8; i++) {
		int side_b = i % 2, held = i / 2 % 2, ns = side_b && held ? 1500 : 1000;

		if (!(refused && side_b && held))
			fprintf(f,
				"{\"record\":\"point\",\"status\":\"ok\",\"side\":\"%c\","
				"\"process_index\":%d,\"axes\":{\"hold_modules\":%d},"
				"\"t_total_ns\":[%d],"
				"\"summary\":{\"t_total_ns\":{\"median\":%d}}}\n",
				'a' + side_b, i / 4, 256 * held, ns, ns);
	}
	cr_assert(zero(int, fclose(f)), "%s", path);
	cr_assert(zero(int, holds(&text, "compares")), "%s", text);
	return text;
}

/* One thing, so no column of all at once; what sessions vary is what was held. */
Test(small_bench, modules_are_a_table_of_their_own)
{
	const char *text = modules_table(false);

	cr_assert(has(text, "| layer | nothing held | times as long | 256 modules |\n"), "%s",
		  text);
	cr_assert(has(text, "| none, n = 2 | 2.0 us (1.0 to 3.0) | 2.00 (1.00 to 3.00) | "
			    "+0.50 (0.50 to 0.50) |\n"),
		  "%s", text);
}

Test(small_bench, what_a_layer_does_not_hold_is_refused)
{
	const char *text = modules_table(true);

	cr_assert(
		has(text, "| no layer, n = 2 | 1.0 us (1.0 to 1.0) | 1 | +0.00 (0.00 to 0.00) |\n"),
		"%s", text);
	cr_assert(has(text, "| none, n = 0 | 2.0 us (1.0 to 3.0) | 2.00 (1.00 to 3.00) | "
			    "refused |\n"),
		  "%s", text);
}

Test(small_bench, where_nothing_was_held_there_is_no_table)
{
	const char *text;

	cr_assert(eq(int, holds(&text, "rift"), 1), "%s", text);
	cr_assert(has(text, "no session holds-ROW.jsonl"), "%s", text);
}
