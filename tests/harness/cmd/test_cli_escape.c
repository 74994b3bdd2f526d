/*
 * test_cli_escape.c - text out of a record never commands a terminal: no command prints a control
 * character of a file, on stdout or stderr.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"
#include "tests/spoilt.h"

#include "common/escape.h"
#include "harness/base/text.h"

/* Red, the title of the window, the one-character CSI of U+009B, and a line of its own; in JSON and
 * in C. */
#define EVIL "\033[31mred\033]0;owned\007\302\2337m\177\nrift: FORGED\r"

TEST_FOLDER(dir);
static char plain[64], file[64], costs[64];

static void prepare(void)
{
	make_dir();
	snprintf(plain, sizeof(plain), "%s/plain.jsonl", dir);
	snprintf(file, sizeof(file), "%s/evil.jsonl", dir);
	snprintf(costs, sizeof(costs), "%s/card.json", dir);
}

TestSuite(small_cli_escape, .init = prepare, .fini = remove_dir, .timeout = 300);
TestSuite(small_escape, .timeout = 300);

/* ---- the function ----------------------------------------------------------------------- */

static char *escaped(const char *text)
{
	static char out[256];

	*escape_controls(out, text, strlen(text)) = '\0';
	return out;
}

Test(small_escape, controls_and_nothing_else)
{
	cr_assert(eq(str, escaped("plain, 5 µs ±1 \xe2\x80\xa6 \xf0\x9f\x98\x80"),
		     "plain, 5 µs ±1 \xe2\x80\xa6 \xf0\x9f\x98\x80"),
		  "text");
	cr_assert(eq(str, escaped("a\033[2Jb\177\t\n"), "a\\x1b[2Jb\\x7f\\t\\n"), "C0");
	cr_assert(eq(str, escaped("\302\2332J\302\240"), "\\u009b2J\302\240"),
		  "C1, no-break space");
	cr_assert(eq(str, escaped("\2332J\302"), "\\x9b2J\302"), "no UTF-8");
	cr_assert(eq(str, escaped(""), ""), "empty");
}

/* Bytes and characters on either side of each range that is escaped, and of what UTF-8 may be. */
Test(small_escape, bytes_at_the_ends_of_ranges)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "\001\037 ~", "\\x01\\x1f ~" },
		{ "\176\177", "~\\x7f" },
		{ "\200\237\240\241\301\365\377", "\\x80\\x9f\240\241\301\365\377" },
		{ "\302\200\302\237\302\240\303\200", "\\u0080\\u009f\302\240\303\200" },
		{ "\337\277\340\240\200", "\337\277\340\240\200" },
		{ "\357\277\277\360\220\200\200\364\217\277\277",
		  "\357\277\277\360\220\200\200\364\217\277\277" },
		/* cut off, or without what must follow */
		{ "\360\220\200", "\360\\x90\\x80" },
		{ "\340\200", "\340\\x80" },
		{ "\303\033", "\303\\x1b" },
		{ "\360\220\033\200", "\360\\x90\\x1b\\x80" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(eq(str, escaped(rows[i].text), (char *)rows[i].want), "%zu: %s", i,
			  escaped(rows[i].text));
}

Test(small_escape, long_text_is_cut_between_characters)
{
	char text[2000];

	memset(text, '\033', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cr_assert(le(sz, strlen(text_shown(text).s), 63), "60 bytes and dots");
	cr_assert(zero(sz, (strlen(text_escaped(text).s) - 3) % 4), "whole escapes");
	cr_assert(lt(sz, strlen(text_escaped(text).s), sizeof(struct text_line)), "room");
}

/* ---- records ---------------------------------------------------------------------------- */

static const char *const id = "0123456789\033[31m!";

/* The same session with such texts, and with the hashes of its lines. */
static void write_evil(void)
{
	spoilt_record(plain, file, EVIL, id);
}

static void write_sessions(void)
{
	struct fake_session s = fake_session();

	s.quick = true;
	s.processes = 5;
	s.sides = 2;
	s.noise = 0.01;
	s.size = "0,2,10";
	s.depth = "1,4,16";
	s.mode = "stream,graph";
	fake_session_write(&s, plain);
	write_evil();
}

/* This command shows the texts, and no byte of them that a terminal would obey. */
static void is_tame(const char *fmt, const char *a, const char *b)
{
	char args[256];
	const char *text;

	snprintf(args, sizeof(args), fmt, a, b);
	shell(&text, "'%s' %s 2>&1", rift(), args);
	cr_assert(ne(ptr, strstr(text, "[31m"), NULL), "%s: %s", args, text);
	for (const char *c = text; *c; c++) {
		bool control = ((unsigned char)*c < 0x20 && *c != '\n') || *c == 0x7f;

		cr_assert(not(control), "%s: byte %d: %s", args, (int)(c - text), text);
	}
	cr_assert(eq(ptr, strstr(text, "\302\233"), NULL), "%s: U+009B: %s", args, text);
	cr_assert(eq(ptr, strstr(text, "\nrift: FORGED"), NULL), "%s: a line: %s", args, text);
}

Test(small_cli_escape, of_sessions)
{
	write_sessions();
	is_tame("show --check '%s'%s", file, "");
	is_tame("show '%s'%s", file, "");
	is_tame("show '%s'%s --side b", file, "");
	is_tame("fit '%s:b'%s", file, "");
	is_tame("fit '%s:b'%s --json", file, "");
	is_tame("predict '%s:a' --on '%s:b'", file, file);
	is_tame("fit --stack '%s'%s", file, "");
	is_tame("compare '%s'%s", file, "");
	is_tame("compare '%s'%s --json", file, "");
	is_tame("compare '%s:a' '%s:a' --force", file, plain);
	is_tame("compare '%s:a' '%s:a'", file, plain);
	is_tame("fit '%s:a' --off-grid '%s:a'", plain, file);
}

/* One alone, and two together. */
Test(small_cli_escape, of_shares)
{
	char first[64];

	shell(NULL, "gzip -dc data/sessions/share-h200/harm-kill.jsonl.gz >'%s'", plain);
	write_evil();
	is_tame("share --from '%s'%s", file, "");
	is_tame("share --from '%s'%s --json", file, "");
	snprintf(first, sizeof(first), "%s/first.jsonl", dir);
	cr_assert(zero(int, rename(file, first)), "%s", first);
	shell(NULL, "gzip -dc data/sessions/share-h200/harm-crash.jsonl.gz >'%s'", plain);
	write_evil();
	is_tame("share --from '%s' --from '%s'", first, file);
}

Test(small_cli_escape, of_plots)
{
	const char *text;

	write_sessions();
	is_tame("plot '%s:a' '%s:a'", file, plain);
	cr_assert(ne(int, shell(&text, "grep -rlP '\\x1b|\\x07' '%s' --include='*.gp'", dir), 0),
		  "%s", text);
}

/* Five processes, so that there is a verdict, and the finding names its row. */
static void write_costs(const char *path, double us)
{
	json_t *o = json_pack(
		"{s:s, s:s, s:i, s:s, s:{s:s}, s:{s:s}, s:[{s:s, s:s, s:s, s:[f, f, f, f, f], "
		"s:f}]}",
		"record", "card", "schema", "1.0", "processes", 5, "sync", "spin", "gpu", "name",
		"GPU", "device", "name", "GPU", "rows", "workload", "launch", "name", "call " EVIL,
		"unit", "us", "values", us, us, us, us, us, "median", us);

	cr_assert(zero(int, json_dump_file(o, path, 0)), "%s", path);
	json_decref(o);
}

Test(small_cli_escape, of_findings)
{
	write_costs(costs, 1.5);
	write_costs(plain, 9.5);
	is_tame("compare --strict '%s' '%s'", costs, plain);
}

Test(small_cli_escape, of_cards)
{
	json_t *o = json_pack(
		"{s:s, s:s, s:i, s:s, s:s, s:{s:s}, s:{s:s}, s:{s:s}, s:[{s:s, s:s}], s:[{s:s, "
		"s:s, s:s, s:[f], s:f}, {s:s, s:s, s:s, s:[n], s:s}]}",
		"record", "card", "schema", "1.0", "processes", 1, "start_utc", EVIL, "sync", EVIL,
		"gpu", "name", EVIL, "device", "name", EVIL, "virt", "declared_platform", EVIL,
		"failed", "workload", EVIL, "process", "0", "rows", "workload", EVIL, "name", EVIL,
		"unit", EVIL, "values", 1.5, "median", 1.5, "workload", "launch", "name",
		"launch call", "unit", "us", "values", "text", EVIL);

	cr_assert(zero(int, json_dump_file(o, costs, 0)), "%s", costs);
	is_tame("show '%s'%s", costs, "");
	json_object_set_new(o, "sync", json_string("x"));
	json_object_set_new(json_array_get(json_object_get(o, "rows"), 0), "values",
			    json_pack("[f]", 9.5));
	snprintf(plain, sizeof(plain), "%s/other.json", dir);
	cr_assert(zero(int, json_dump_file(o, plain, 0)), "%s", plain);
	is_tame("compare --all --force '%s' '%s'", costs, plain);
	is_tame("compare --strict --force '%s' '%s'", costs, plain);
	is_tame("compare '%s' '%s'", costs, plain);
	json_decref(o);
}
