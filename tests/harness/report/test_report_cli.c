/*
 * test_report_cli.c - `rift report` of the real binary: a part for each kind of record, several
 * together, records full of an attacker's texts, and what is refused.
 */
/* sanitizers: seen elsewhere */
/* begins early: it waits long */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"
#include "tests/made_trace.h"
#include "tests/page_check.h"
#include "tests/spoilt.h"

#include "harness/base/command.h"

#include <sys/stat.h>
#include <unistd.h>

TEST_FOLDER(folder);

TestSuite(small_report_cli, .timeout = 300, .init = make_folder, .fini = remove_folder);

static const char *at(const char *name)
{
	static char path[4][256];
	static int i;
	char *p = path[i++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static void write_session(const char *name, int sides, double launch_ns)
{
	struct fake_session s = fake_session();

	s.quick = true;
	s.processes = 6;
	s.sides = sides;
	s.noise = 0.01;
	s.size = "0,2,10";
	s.depth = "1,4,16";
	s.mode = "stream,graph";
	s.seed = (uint64_t)launch_ns;
	s.model[sides - 1].v[MODEL_C] = launch_ns;
	s.model[sides - 1].v[MODEL_P] = launch_ns + 200;
	fake_session_write(&s, at(name));
}

/* The page of these words, to be freed; a relative word is in the folder. */
static char *page_of(const char *words)
{
	const char *said;
	char *text = NULL;
	size_t size = 0;
	FILE *in;
	int rc = run_rift(ERR, &said, "report %s --quiet --output %s", words, at("page.html"));

	cr_assert(zero(int, rc), "%s: %s", words, said);
	in = fopen(at("page.html"), "r");
	cr_assert(ne(ptr, in, NULL), "%s", words);
	cr_assert(lt(int, 0, (int)getdelim(&text, &size, '\0', in)), "%s", words);
	fclose(in);
	unlink(at("page.html"));
	return text;
}

/* And in Markdown. */
static const char *markdown_of(const char *words)
{
	const char *text;
	int lines = 0;

	cr_assert(zero(int, run_rift(OUT, &text, "report --markdown %s", words)), "%s", words);
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	cr_expect(lt(int, lines, 60), "%s: %d lines", words, lines);
	return text;
}

static void has(const char *words, const char *const *want)
{
	char *page = page_of(words);

	page_is_safe(page);
	for (; *want; want++)
		cr_expect(tells(page, *want), "%s: %s", words, *want);
	if (!system("command -v gnuplot >/dev/null")) {
		cr_expect(tells(page, "<svg role=\"img\" aria-label="), "%s: a chart", words);
		cr_expect(zero(ptr, strstr(page, "missing here")), "%s: all charts", words);
	}
	free(page);
}

/* ---- a part for each kind --------------------------------------------------------------- */

#define H200 "data/sessions/atlas-h200/"
#define SECTIONS "Charts", "How it was measured", "What was not measured", "Repeat it", "In full"

Test(small_report_cli, of_one_session)
{
	char words[300];

	write_session("one.jsonl", 1, 2000);
	snprintf(words, sizeof(words), "%s", at("one.jsonl"));
	has(words,
	    (const char *const[]){ "Kernels need ", "c: a launch call, on the host",
				   "launch us=0 stream depth 1", "rift show", SECTIONS, NULL });
	cr_expect(tells(markdown_of(words), "**Kernels need "), "%s", words);
}

Test(small_report_cli, of_two_sides)
{
	char words[300];
	const char *text;

	write_session("two.jsonl", 2, 9000);
	snprintf(words, sizeof(words), "%s", at("two.jsonl"));
	has(words, (const char *const[]){ "B is slower than A by more than 2 %", "n = 6",
					  "class=\"slower\"", "What differs between the platforms",
					  "rift compare", SECTIONS, NULL });
	text = markdown_of(words);
	cr_expect(tells(text, "| launch | "), "%s", text);
	cr_expect(tells(text, "| slower | 6 | "), "%s", text);
}

Test(small_report_cli, of_two_sessions_and_of_many)
{
	char words[800];

	write_session("a.jsonl", 1, 2000);
	write_session("b.jsonl", 1, 9000);
	write_session("c.jsonl", 1, 9500);
	snprintf(words, sizeof(words), "%s %s", at("a.jsonl"), at("b.jsonl"));
	has(words, (const char *const[]){ "B is slower than A by more than 5 %",
					  "separate sessions", SECTIONS, NULL });
	snprintf(words, sizeof(words), "%s slow=%s slower=%s", at("a.jsonl"), at("b.jsonl"),
		 at("c.jsonl"));
	has(words,
	    (const char *const[]){ "2 of 2 layers are proven to make programs slower",
				   "slower: proven", "1 slower, 0 faster, 0 not decided, of 1",
				   "Which layer costs what", SECTIONS, NULL });
	cr_expect(tells(markdown_of(words), "| slow | "), "%s", words);
}

Test(small_report_cli, of_a_timed_program_beside_a_share_record)
{
	char words[400];
	const char *text;

	cr_assert(zero(int, run_rift(OUT, &text, "time --quiet --runs 2 --output %s -- true",
				     at("time.jsonl"))));
	snprintf(words, sizeof(words), "%s data/sessions/share-h200/harm-kill.jsonl.gz",
		 at("time.jsonl"));
	has(words, (const char *const[]){ "The program takes ", "What it costs the program",
					  "What sharing costs", "times as long as alone", SECTIONS,
					  NULL });
}

Test(small_report_cli, of_a_trace)
{
	has("data/traces/cpu-mlp.trace.gz",
	    (const char *const[]){ "In one recorded run", "is CPU-bound (",
				   " % of the time from its first call to its last, and 30 % are "
				   "enough): ",
				   "lies before its first call and after its last",
				   "n = 1 recorded run", "1 recording; prices of its ",
				   "Where the time goes", "self-check", "not GPU figures", SECTIONS,
				   NULL });
}

/* Kept ones: some results are wrong, others could not run, and their machines differ. */
Test(small_report_cli, of_layers_that_lack_results)
{
	static const char words[] = H200 "none.jsonl.gz:a nvshare=" H200
					 "nvshare.jsonl.gz Lupine=" H200 "Lupine.jsonl.gz "
					 "--force";
	const char *text;

	has(words, (const char *const[]){
			   "39 of 435 results wrong", "nvshare: 69 of 522 results could not run",
			   "39 of 435 results are wrong; their times are not used",
			   "5 pairs, 93.8 %", "at 93.8 to 96.9 %", "3 sessions", "cold start",
			   "a library loaded first: libnvshare.so", "(190 ms)",
			   "blackscholes under Lupine, waiting after 64 steps or so, takes 23.7",
			   SECTIONS, NULL });
	text = markdown_of(words);
	cr_expect(tells(text, "n: pairs of a process on each side"), "%s", text);
	cr_expect(tells(text, "without the layer: Lupine"), "%s", text);
}

/* ---- a series --------------------------------------------------------------------------- */

static void set_date(json_t *o, const void *date)
{
	if (!strcmp(json_get_text(o, "record"), "header"))
		json_object_set_new(o, "start_utc", json_string(date));
}

/* Sessions of a date each in the folder "series", slower from the given one on. */
static void write_dated(int n, int since, const char *format)
{
	cr_assert(zero(int, mkdir(at("series"), 0777)));
	for (int i = 0; i < n; i++) {
		struct fake_session s = fake_session();
		char name[32], date[32];

		s.quick = true;
		s.processes = 3;
		s.noise = 0.002;
		s.size = "0,2,10";
		s.depth = "1,4,16";
		s.mode = "stream";
		s.seed = (uint64_t)i + 1;
		s.model[0].v[MODEL_C] *= i >= since ? 1.2 : 1;
		s.model[0].v[MODEL_P] *= i >= since ? 1.2 : 1;
		snprintf(name, sizeof(name), "series/%d.jsonl", n - i);
		snprintf(date, sizeof(date), format, i + 1);
		fake_session_write(&s, at("plain.jsonl"));
		changed_record(at("plain.jsonl"), at(name), set_date, date);
		unlink(at("plain.jsonl"));
	}
}

static void write_series(int n, int since)
{
	write_dated(n, since, "2026-11-%02dT05:00:00Z");
}

Test(small_report_cli, of_a_series)
{
	char words[300];
	const char *text;

	write_series(12, 7);
	snprintf(words, sizeof(words), "--each date %s", at("series"));
	has(words,
	    (const char *const[]){ "From 2026-11-08T05:00:00Z on it is slower", "Every session",
				   "over the first session", SECTIONS, NULL });
	cr_expect(tells(markdown_of(words), "| 2026-11-01T05:00:00Z | "), "%s", words);
	cr_expect(eq(int, run_rift(OUT, &text, "compare %s", words), RIFT_CHECK_FAILED));
	cr_expect(tells(text, "From 2026-11-08T05:00:00Z on it is slower by more than 0.5 %"), "%s",
		  text);
	cr_expect(tells(text, "<- from here on"), "%s", text);
	cr_expect(eq(int, run_rift(OUT, &text, "compare %s --json", words), RIFT_CHECK_FAILED));
	cr_expect(tells(text, "\"since\": \"2026-11-08T05:00:00Z\""), "%s", text);
}

Test(small_report_cli, sessions_of_one_day_are_told_apart_by_time)
{
	const char *text;

	write_dated(3, 3, "2026-11-01T%02d:30:00Z");
	run_rift(OUT, &text, "compare --each date %s --plot=%s", at("series"), at("plots"));
	cr_expect(zero(int, shell(&text, "grep -h '^date[12] ' %s/history.gp", at("plots"))), "%s",
		  text);
	cr_expect(tells(text, "date1 = '01:30'*date2 = '02:30'"), "%s", text);
}

Test(small_report_cli, of_a_series_that_is_too_short)
{
	char words[300];
	const char *text;

	write_series(5, 3);
	snprintf(words, sizeof(words), "--each date %s", at("series"));
	cr_expect(eq(int, run_rift(OUT, &text, "compare %s", words), RIFT_FAILED_POINTS));
	cr_expect(tells(text, "Nothing is decided: 5 sessions are too few"), "%s", text);
	has(words, (const char *const[]){ "Nothing is decided", NULL });
	refused(RIFT_USAGE, "must be date", "compare --each name %s", at("series"));
	refused(RIFT_USAGE, "two sessions or more", "compare --each date %s", at("series/1.jsonl"));
	refused(RIFT_USAGE, "no effect with --each", "compare %s --all", words);
}

/* ---- an attacker's texts ---------------------------------------------------------------- */

static const char *const id = "0123456789<b>\"'!"; /* 16 characters */

/* All pages of these words show the text and take none of it as markup. */
static void is_tame(const char *words)
{
	char *page = page_of(words);

	page_is_safe(page);
	cr_expect(tells(page, "&lt;script&gt;"), "%s: shown", words);
	free(page);
	markdown_is_safe(markdown_of(words));
}

Test(small_report_cli, hostile_sessions)
{
	char words[600];

	write_session("two.jsonl", 2, 9000);
	spoilt_record(at("two.jsonl"), at("<b>'evil.jsonl"), HOSTILE, id);
	snprintf(words, sizeof(words), "\"%s\"", at("<b>'evil.jsonl"));
	is_tame(words);
	snprintf(words, sizeof(words), "\"%s:b\"", at("<b>'evil.jsonl"));
	is_tame(words);
	snprintf(words, sizeof(words), "\"%s:a\" \"<b>'=%s\" --force", at("<b>'evil.jsonl"),
		 at("<b>'evil.jsonl"));
	is_tame(words);
}

Test(small_report_cli, hostile_records_of_programs)
{
	const char *text;

	cr_assert(
		le(int,
		   run_rift(OUT, &text, "time --quiet --runs 2 --against env --output %s -- true x",
			    at("time.jsonl")),
		   RIFT_FAILED_POINTS));
	spoilt_record(at("time.jsonl"), at("evil.jsonl"), HOSTILE, id);
	is_tame(at("evil.jsonl"));
}

Test(small_report_cli, hostile_shares)
{
	cr_assert(zero(int, shell(NULL, "gzip -dc data/sessions/share-h200/harm-kill.jsonl.gz >%s",
				  at("share.jsonl"))));
	spoilt_record(at("share.jsonl"), at("evil.jsonl"), HOSTILE, id);
	is_tame(at("evil.jsonl"));
}

Test(small_report_cli, hostile_traces)
{
	struct made m;

	made_begin(&m, "", MADE_CALIBRATION);
	for (int i = 0; i < 3; i++)
		made_kernel(&m, 1, 10000 + 20000 * i, 16000 + 20000 * i, 20000 + 20000 * i);
	made_end(&m, 100000, 5, 100000);
	spoilt_record(m.path, at("evil.trace"), HOSTILE, id);
	made_remove(&m);
	is_tame(at("evil.trace"));
}

/* ---- what is refused -------------------------------------------------------------------- */

Test(small_report_cli, refusals)
{
	char words[300];

	write_session("one.jsonl", 1, 2000);
	snprintf(words, sizeof(words), "%s", at("one.jsonl"));
	refused(RIFT_USAGE, "no file", "report");
	refused(RIFT_USAGE, "nowhere", "report %s", at("nowhere"));
	refused(RIFT_USAGE, "exists", "report %s --output %s", words, words);
	refused(RIFT_USAGE, "same session", "report %s %s", words, words);
}
