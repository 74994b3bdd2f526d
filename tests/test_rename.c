/*
 * test_rename.c - tests/golden/rename.map says what --json calls otherwise since schema 2.0.
 * Sessions of schema 1 are read.
 */
#include "tests/test.h"

#include <ctype.h>

#include "tests/cli.h"

TestSuite(small_rename, .timeout = 300);
TestSuite(large_rename, .timeout = 300);

#define MAP "tests/golden/rename.map"
#define KEPT "data/sessions/h200-"
enum { RENAMES_MAX = 32 };

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
