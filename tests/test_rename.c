/*
 * test_rename.c - tests/golden/rename.map is all that --json calls otherwise since schema 2.0: it
 * makes of what rift said of the kept sessions before (tests/golden/before) what rift says now,
 * byte for byte; not of comparisons, whose statistics are others since. Where numbers changed on
 * purpose, what was said before has today's. Sessions and call costs of schema 1 are read.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/capture.h"
#include "tests/cli.h"

TestSuite(small_rename, .timeout = 300);
TestSuite(large_rename, .timeout = 300);

#define MAP "tests/golden/rename.map"
#define KEPT "data/sessions/h200-"
enum { RENAMES_MAX = 32, BYTES_MAX = 1 << 19 };

/* ---- the map ------------------------------------------------------------------------------ */

/* PART stands anywhere in a sentence, START at its beginning. */
enum what { KEY, VALUE, PART, START, WHATS };

struct rename {
	enum what what;
	char before[128], since[128];
};

struct renames {
	struct rename at[RENAMES_MAX];
	int n;
};

static bool begins_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static void read_map(struct renames *m)
{
	static const char *const names[] = { "key", "value", "part", "start" };
	char line[256], what[8];
	FILE *f = fopen(MAP, "r");

	cr_assert(ne(ptr, f, NULL), MAP);
	*m = (struct renames){ 0 };
	while (fgets(line, sizeof(line), f)) {
		struct rename *r = &m->at[m->n];

		if (*line == '#')
			continue;
		cr_assert(lt(int, m->n, RENAMES_MAX), "more than the test has room for");
		cr_assert(
			eq(int,
			   sscanf(line,
				  strchr(line, '>') ? "%7s %127[^>]> %127[^\n]" : "%7s %127s %127s",
				  what, r->before, r->since),
			   3),
			"%s", line);
		while (r->what < WHATS && strcmp(what, names[r->what]) != 0)
			r->what++;
		cr_assert(lt(int, r->what, WHATS), "%s", line);
		m->n++;
	}
	fclose(f);
}

/* Appends what a part is called since that begins here, else this byte. */
static char *put_part(char *out, const struct renames *m, const char **s)
{
	for (int i = 0; i < m->n; i++)
		if (m->at[i].what == PART && begins_with(*s, m->at[i].before)) {
			*s += strlen(m->at[i].before);
			return stpcpy(out, m->at[i].since);
		}
	*out++ = *(*s)++;
	return out;
}

/* Appends what a string of n bytes is called since. */
static char *put_renamed(char *out, const struct renames *m, const char *s, size_t n,
			 enum what what)
{
	const char *end = s + n;

	for (int i = 0; i < m->n; i++) {
		const struct rename *r = &m->at[i];

		if (r->what == what && strlen(r->before) == n && begins_with(s, r->before))
			return stpcpy(out, r->since);
		if (r->what == START && what == VALUE && begins_with(s, r->before)) {
			out = stpcpy(out, r->since);
			s += strlen(r->before);
			break;
		}
	}
	while (s < end)
		out = put_part(out, m, &s);
	return out;
}

/* JSON of before, in the words of since. */
static void apply(const struct renames *m, const char *json, char *out)
{
	while (*json) {
		size_t n = 0;

		*out++ = *json;
		if (*json++ != '"')
			continue;
		while (json[n] != '"')
			n += json[n] == '\\' ? 2 : 1;
		out = put_renamed(out, m, json, n, json[n + 1] == ':' ? KEY : VALUE);
		json += n;
		*out++ = *json++;
	}
	*out = '\0';
}

/* ---- what was said before ----------------------------------------------------------------- */

struct said {
	const char *file, *command;
};

static const struct said cases[] = {
	{ "costs-stack-mlp",
	  "stack " KEPT "mlp.jsonl --from " KEPT "launch.jsonl --costs " KEPT "costs.json" },
	{ "fit-collection", "fit " KEPT "collection.jsonl --workload launch" },
	{ "fit-launch", "fit " KEPT "launch.jsonl" },
	{ "fit-mlp", "fit " KEPT "mlp.jsonl" },
	{ "fit-myocyte", "fit " KEPT "myocyte.jsonl" },
	{ "fit-pathtrace", "fit " KEPT "pathtrace.jsonl" },
	{ "predict-mlp", "predict " KEPT "mlp.jsonl --on " KEPT "launch.jsonl" },
	{ "predict-myocyte", "predict " KEPT "myocyte.jsonl --on " KEPT "launch.jsonl" },
	{ "predict-pathtrace", "predict " KEPT "pathtrace.jsonl --on " KEPT "launch.jsonl" },
	{ "stack-block", "stack " KEPT "block.jsonl" },
	{ "stack-cells", "stack " KEPT "cells.jsonl" },
	{ "stack-collection", "stack " KEPT "collection.jsonl" },
	{ "stack-copied", "stack " KEPT "copied.jsonl" },
	{ "stack-launch", "stack " KEPT "launch.jsonl" },
	{ "stack-mlp", "stack " KEPT "mlp.jsonl" },
	{ "stack-myocyte", "stack " KEPT "myocyte.jsonl" },
	{ "stack-pathtrace", "stack " KEPT "pathtrace.jsonl" },
	{ "validate-collection", "validate " KEPT "collection.jsonl" },
};

static char before[BYTES_MAX], now[BYTES_MAX];

static void read_before(const char *file)
{
	char path[128];
	gzFile f;
	int n;

	snprintf(path, sizeof(path), "tests/golden/before/%s.json.gz", file);
	f = gzopen(path, "rb");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	n = gzread(f, before, sizeof(before) - 1);
	cr_assert(lt(int, 0, n), "%s", path);
	cr_assert(lt(int, n, (int)sizeof(before) - 1), "%s", path);
	before[n] = '\0';
	gzclose(f);
}

/* Numbers of cases: pointers do not come over into a test's own process. */
ParameterizedTestParameters(large_rename, json_is_that_of_before_in_other_words)
{
	static int number[sizeof(cases) / sizeof(*cases)];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		number[i] = (int)i;
	return cr_make_param_array(int, number, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(const int *number, large_rename, json_is_that_of_before_in_other_words)
{
	const struct said *s = &cases[*number];
	struct renames map;
	const char *text;
	int rc;

	read_map(&map);
	read_before(s->file);
	apply(&map, before, now);
	rc = run_rift(OUT, &text, "%s --json", s->command);
	cr_assert(rc == 0 || rc == 2, "%s: %d", s->command, rc);
	cr_assert(eq(str, (char *)text, now), "%s", s->command);
}

/* ---- sessions of schema 1 beside those of today -----------------------------------------------
 */

Test(large_rename, a_session_of_before_is_compared_with_one_of_today)
{
	static char dir[] = "/tmp/rift_rename_XXXXXX";
	const char *text;
	json_t *o;

	cr_assert(ne(ptr, mkdtemp(dir), NULL), "%s", dir);
	cr_assert(zero(int,
		       run_rift(ERR, &text,
				"sweep launch us=10 --depth 1 --mode stream --quick --processes 5 "
				"--rounds 1 --warm-up 0.01 --output %s/now.jsonl",
				dir)),
		  "%s", text);
	/* another device: slower, faster or neither, but compared */
	cr_assert(le(int,
		     run_rift(OUT, &text,
			      "compare " KEPT "launch.jsonl %s/now.jsonl --force --json", dir),
		     2),
		  "%s", text);
	o = json_loads(text, 0, NULL);
	cr_assert(eq(sz, json_array_size(json_object_get(o, "points")), 1), "%s", text);
	json_decref(o);
	shell(NULL, "rm -rf %s", dir);
}

/* ---- the map itself ----------------------------------------------------------------------- */

Test(small_rename, no_number_is_renamed)
{
	struct renames map;

	read_map(&map);
	cr_assert(lt(int, 0, map.n), "some are");
	for (int i = 0; i < map.n; i++)
		for (const char *s = map.at[i].before; *s; s++)
			cr_assert(zero(int, isdigit((unsigned char)*s)), "%s", map.at[i].before);
}

Test(small_rename, keys_and_values_are_told_apart)
{
	const struct renames map = {
		{ { KEY, "open", "key" }, { VALUE, "open", "value" }, { PART, "--x", "--y" } },
		3,
	};

	apply(&map, "{\"open\": \"open\", \"opened\": [\"open\", \"\\\"open --x\"], \"n\": 1}",
	      now);
	cr_assert(eq(str, now,
		     "{\"key\": \"value\", \"opened\": [\"value\", \"\\\"open --y\"], \"n\": 1}"),
		  "%s", now);
}
