/*
 * test_cli_compare.c - `rift compare` of the real binary on files of made-up sessions: exit codes,
 * what stands in the first line, what is refused.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/compared.h"
#include "tests/folder.h"

TEST_FOLDER(dir);
static char a[64], b[64], both[64];

static void prepare(void)
{
	make_dir();
	snprintf(a, sizeof(a), "%s/a session.jsonl", dir);
	snprintf(b, sizeof(b), "%s/b.jsonl", dir);
	snprintf(both, sizeof(both), "%s/both.jsonl", dir);
}

TestSuite(small_cli_compare, .init = prepare, .fini = remove_dir, .timeout = 300);
TestSuite(large_cli_compare, .init = prepare, .fini = remove_dir, .timeout = 300);

/* Few points, so that a file is small. */
static struct fake_session made_up(int sides)
{
	struct fake_session s = two_sides();

	s.depth = "1,16,256";
	s.mode = "stream";
	s.sides = sides;
	s.noise = 0.001;
	return s;
}

/* Every launch of it takes 5 us more. */
static void slow_down(struct model *m)
{
	m->v[MODEL_C] += 5000;
	m->v[MODEL_P] += 5000;
	m->v[MODEL_Z] += 5000;
}

static void write_sessions(void)
{
	struct fake_session s = made_up(1);

	fake_session_write(&s, a);
	s.seed = 2;
	fake_session_write(&s, b);
}

static void write_both(bool slower)
{
	struct fake_session s = made_up(2);

	if (slower)
		slow_down(&s.model[1]);
	fake_session_write(&s, both);
}

/* rift compare with these arguments ends with this code, and its first line tells this. */
static const char *ends(int code, const char *first, const char *args)
{
	const char *text, *err;
	int got = run_rift_once(&text, &err, "compare %s", args);
	char line[512];

	cr_assert(eq(int, got, code), "compare %s: %s", args, err);
	cr_assert(eq(str, (char *)err, ""), "compare %s: %s", args, err);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	cr_assert(tells(line, first), "compare %s: %s", args, line);
	return text;
}

static const char *quoted(const char *x, const char *y, const char *options)
{
	static char text[256];

	snprintf(text, sizeof(text), "'%s' %s%s%s %s", x, y ? "'" : "", y ? y : "", y ? "'" : "",
		 options);
	return text;
}

static void expect_texts(const char *text, const char *const *want)
{
	for (; *want; want++)
		cr_assert(tells(text, *want), "'%s' in\n%s", *want, text);
}

static int lines_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* ---- findings ----------------------------------------------------------------------------- */

Test(small_cli_compare, the_finding_first_then_what_it_rests_on)
{
	const char *text;

	write_both(true);
	text = ends(1, "B *A *2 %: launch ", quoted(both, NULL, ""));
	expect_texts(text, (const char *const[]){ " (90.5 % ", ", n = 5)",
						  "; a launch costs 5.00 us more (", "\n  launch  ",
						  "\nenvironment       the same on both sides",
						  "\nmore  ", NULL });
	cr_assert(eq(ptr, strstr(text, "\nparameters"), NULL), "%s", text);
	cr_assert(lt(int, lines_of(text), 25), "%s", text);
	text = ends(1, "B *A *2 %: launch ", quoted(both, NULL, "--all"));
	expect_texts(text, (const char *const[]){ "\nparameters of launch",
						  "\n  c        2.00 us    7.00 us", "\npoints, ",
						  NULL });
	cr_assert(lt(ptr, (void *)strstr(text, "\n  launch "), (void *)strstr(text, "\nparam")),
		  "order");
	cr_assert(lt(ptr, (void *)strstr(text, "\nparam"), (void *)strstr(text, "\npoints")),
		  "order");
}

/* All but the finding, which is one line for logs: here with p hidden, and reasons for it. */
Test(small_cli_compare, lines_fit_into_100_columns)
{
	struct fake_session s = made_up(2);
	const char *text;

	s.model[0].v[MODEL_C] = s.model[0].v[MODEL_P] = 300;
	s.model[1].v[MODEL_CLOCK] = 1.05;
	fake_session_write(&s, both);
	shell(&text, "'%s' compare --all '%s' | sed 1d | awk 'length > 100'", rift(), both);
	cr_assert(eq(str, (char *)text, ""), "%s", text);
	shell(&text, "'%s' compare --all '%s' | grep -c 'not identified'", rift(), both);
	cr_assert(ne(str, (char *)text, "0\n"), "%s", text);
}

Test(small_cli_compare, one_object_for_machines)
{
	const char *text;
	json_error_t error;
	const json_t *point;
	json_t *o;

	write_both(true);
	cr_assert(eq(int, run_rift(OUT, &text, "compare --json '%s'", both), 1), "%s", text);
	o = json_loads(text, 0, &error);
	cr_assert(ne(ptr, o, NULL), "%s", error.text);
	cr_assert(eq(str, (char *)get_text(o, "verdict"), (char *)outcome_name(OUTCOME_SLOWER)),
		  "verdict");
	cr_assert(eq(int, (int)json_integer_value(json_object_get(o, "exit_code")), 1), "code");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "points")), 18), "points");
	point = json_array_get(json_object_get(o, "points"), 0);
	cr_assert(eq(str, (char *)get_text(json_object_get(point, "axes"), "workload"), "launch"),
		  "axes");
	cr_assert(
		lt(dbl, 0, json_real_value(json_object_get(json_object_get(point, "ratio"), "lo"))),
		"interval");
	cr_assert(eq(int,
		     (int)json_integer_value(json_object_get(json_object_get(o, "a"), "processes")),
		     5),
		  "n");
	json_decref(o);
}

Test(small_cli_compare, two_sessions_of_one_system)
{
	const char *text;

	write_sessions();
	text = ends(0, "B *A *5 %: ", quoted(a, b, ""));
	expect_texts(text, (const char *const[]){ "margin 5 %", "assumed",
						  "a session.jsonl: made-up GPU, n = 5 processes",
						  NULL });
	ends(2, "B *A *2 %: ", quoted(a, b, "--margin 2%"));
	ends(0, "B *A *2 %: ", quoted(a, b, "--margin=2 --session-sd 0"));
}

Test(small_cli_compare, one_process_is_one)
{
	struct fake_session s = made_up(1);
	const char *text;

	s.processes = 1;
	fake_session_write(&s, a);
	s.seed = 2;
	fake_session_write(&s, b);
	run_rift(OUT, &text, "compare '%s' '%s'", a, b);
	cr_expect(ne(ptr, strstr(text, "made-up GPU, n = 1 process, begun"), NULL), "%s", text);
}

Test(small_cli_compare, halves_of_a_session_are_alike)
{
	struct fake_session s = made_up(1);
	const char *text;

	s.processes = 10;
	fake_session_write(&s, a);
	text = ends(0, "B *A *10 %", quoted(a, NULL, "--self-test --margin 10"));
	expect_texts(text, (const char *const[]){ ", first half: ", ", second half: ",
						  "0 *, 0 *, 18 *, 0 *18", NULL });
	write_both(true);
	text = ends(2, "B *A *: ", quoted(both, NULL, "--self-test"));
	expect_texts(text, (const char *const[]){ "side a, first half", "side b, second half",
						  "n = 2 ", "--processes 6", NULL });
}

/* The mean has figures; workloads have theirs in the table below. */
Test(small_cli_compare, the_workloads_that_decide_are_named_after_the_mean)
{
	static const struct {
		const char *session, *said;
		int code;
	} of[] = {
		{ "HAMi-O0", "n = 6 pairs); open: memory, alignment; n = 6 is too few", 2 },
		{ "HAMi-O2", "n = 6 pairs); open: memory, alignment, mlp and 2 more; ", 2 },
		{ "neighbour-spin", "n = 6); slower: launch, transfer, myocyte and 8 more", 1 },
	};
	const char *text;

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		int code = run_rift(OUT, &text, "compare data/sessions/atlas-h200/%s.jsonl.gz",
				    of[i].session);

		cr_expect(eq(int, code, of[i].code), "%s", of[i].session);
		cr_expect(ne(ptr, strstr(text, of[i].said), NULL), "'%s' in %.500s", of[i].said,
			  text);
	}
}

/* More real layers, n = 5 or 6: what all pairs agree on is decided, and wrong results are told. */
Test(large_cli_compare, kept_sessions_of_layers_end_in_a_verdict)
{
	static const struct {
		const char *session, *first;
		int code;
	} kept[] = {
		{ "atlas-h100/neighbour-spin", "B is slower than A by more than 2 %: ", 1 },
		{ "atlas-h200/CUPTI", "B is slower than A by more than 2 %: ", 1 },
		{ "atlas-h100/CUPTI", "B is slower than A by more than 2 %: ", 1 },
		{ "atlas-h200/Lupine", "B computes wrong results: 39 of 435 ", 1 },
		{ "atlas-h200/none", "Inconclusive: ", 2 },
		{ "atlas-h200/none-1", "Inconclusive: ", 2 },
		{ "atlas-h100/none", "Inconclusive: ", 2 },
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		char path[64];

		snprintf(path, sizeof(path), "data/sessions/%s.jsonl.gz", kept[i].session);
		ends(kept[i].code, kept[i].first, quoted(path, NULL, ""));
	}
}

/* Five processes each: no half of them is known well enough to be called different. */
Test(large_cli_compare, halves_of_the_kept_sessions_are_alike)
{
	static const char *const kept[] = { "h200-launch", "h200-myocyte" };
	char path[64];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "data/sessions/%s.jsonl", kept[i]);
		ends(2, "B *A *: ", quoted(path, NULL, "--self-test"));
	}
	refused(5, "workload ",
		"compare data/sessions/h200-launch.jsonl data/sessions/h200-myocyte.jsonl");
}

/* ---- what is refused ---------------------------------------------------------------------- */

Test(small_cli_compare, files_that_are_no_sessions)
{
	write_sessions();
	refused(3, "No such file", "compare '%s' /nonexistent/xyzzy", a);
	refused(3, "/dev/null", "compare '%s' /dev/null", a);
	shell(NULL, ": >'%s/empty'", dir);
	refused(3, "/empty", "compare '%s' '%s/empty'", a, dir);
	shell(NULL, "printf 'hello' >'%s/short'", dir);
	refused(3, "/short", "compare '%s' '%s/short'", a, dir);
	shell(NULL, "printf 'x,y\\n1,2\\n' >'%s/foreign'", dir);
	refused(3, "/foreign:1:", "compare '%s' '%s/foreign'", a, dir);
	shell(NULL, "printf '{\"x\":1}\\n{}\\n' >'%s/json'", dir);
	refused(3, "/json", "compare '%s/json' '%s'", dir, a);
}

Test(small_cli_compare, sessions_that_are_damaged_or_not_whole)
{
	struct fake_session s = made_up(1);
	char part[96];

	write_sessions();
	shell(NULL, "head -c -9 '%s' >'%s/cut.jsonl'", a, dir);
	refused(3, "/cut.jsonl", "compare '%s' '%s/cut.jsonl'", a, dir);
	shell(NULL, "head -n 30 '%s' >'%s/half.jsonl'", a, dir);
	refused(3, "half.jsonl", "compare '%s/half.jsonl' '%s'", dir, b);
	shell(NULL, "sed '5s/\"rounds\":1/\"rounds\":2/' '%s' >'%s/changed.jsonl'", a, dir);
	refused(3, "lines_sha256", "compare '%s' '%s/changed.jsonl'", b, dir);
	s.done = 3;
	snprintf(part, sizeof(part), "%s/part.jsonl", dir);
	fake_session_write(&s, part);
	refused(3, "3 *5", "compare '%s.part' '%s'", part, b);
	refused(3, ".visits", "compare '%s' '%s.visits'", b, part);
}

Test(small_cli_compare, another_schema_is_not_comparable)
{
	write_sessions();
	shell(NULL, "sed '1s/\"schema\":\"[12][.][0-9]\"/\"schema\":\"3.0\"/' '%s' >'%s/new.jsonl'",
	      a, dir);
	refused(5, "new.jsonl:1: schema 3.0", "compare '%s' '%s/new.jsonl'", b, dir);
	shell(NULL,
	      "sed '2s/\"schema\":\"[12][.][0-9]\"/\"schema\":\"3.0\"/' '%s' >'%s/mixed.jsonl'", a,
	      dir);
	refused(5, "mixed.jsonl:2: schema 3.0", "compare '%s/mixed.jsonl' '%s'", dir, b);
}

/* Whichever side it is. */
Test(small_cli_compare, a_side_that_is_no_gpu_is_named)
{
	struct fake_session s = made_up(1);
	const char *text;
	char cpu[4096];

	write_sessions();
	snprintf(cpu, sizeof(cpu), "%s/cpu.jsonl", dir);
	s.on_cpu = true;
	fake_session_write(&s, cpu);
	run_rift(OUT, &text, "compare '%s' '%s' --force", a, cpu);
	cr_expect(tells(text, "these are not GPU figures"), "%s", text);
	run_rift(OUT, &text, "compare '%s' '%s' --force", cpu, b);
	cr_expect(tells(text, "these are not GPU figures"), "%s", text);
	run_rift(OUT, &text, "compare '%s' '%s'", a, b);
	cr_expect(not(tells(text, "these are not GPU figures")), "%s", text);
}

Test(small_cli_compare, what_cannot_be_compared)
{
	struct fake_session s = made_up(1);
	const char *text;

	write_sessions();
	unlink(b);
	s.device[0] = "another GPU";
	fake_session_write(&s, b);
	refused(5, "--force", "compare '%s' '%s'", a, b);
	text = ends(0, "B *A *5 %", quoted(a, b, "--force"));
	expect_texts(text, (const char *const[]){ "gpu.name", "another GPU", NULL });
	unlink(b);
	s = made_up(1);
	s.size = "20";
	fake_session_write(&s, b);
	refused(5, "0, 1, 2, 5, 10, 50", "compare '%s' '%s'", a, b);
}

Test(small_cli_compare, a_session_with_itself)
{
	write_sessions();
	refused(3, "--self-test", "compare '%s' '%s'", a, a);
	shell(NULL, "cp '%s' '%s/copy.jsonl'", a, dir);
	refused(3, "--self-test", "compare '%s' '%s/copy.jsonl'", a, dir);
	refused(3, "--against", "compare '%s'", a);
	write_both(false);
	refused(3, "--side a", "compare '%s' '%s'", a, both);
}

Test(small_cli_compare, arguments)
{
	refused(3, "rift compare A B", "compare");
	refused(3, "x: No such file", "compare x y z"); /* a page */
	refused(3, "--self-test", "compare --self-test x y");
	refused(3, "--margin=0.02: ", "compare --margin 0.02 x y");
	refused(3, "--margin=two", "compare --margin=two x y");
	refused(3, "--margin=-1", "compare --margin=-1 x y");
	refused(3, "--session-sd=nan", "compare --session-sd=nan x y");
	refused(3, "'launch'", "compare --workload lunch x y");
	refused(3, "'--margin'", "compare --margni=2 x y");
}
