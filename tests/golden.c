/* golden.c - what some command lines print, against what they printed. */
#include "tests/plain.h"
#include "tests/cli.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/new/assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>

/*
 * Functions of the shell, for numbers with six digits, as other libraries of mathematics round the
 * last ones. rounded: of what it reads, such as JSON. chart_data: of the data files and scripts in
 * a folder; of a long file the first rows, 24 or so many, and of each column the sum and the sum of
 * each value times its row.
 */
static const char functions[] =
	"rounded() { awk '{ for (s = \"\"; match($0, /[0-9]+[.][0-9][0-9][0-9][0-9][0-9][0-9]+"
	"(e[-+]?[0-9]+)?/); $0 = substr($0, RSTART + RLENGTH)) s = s substr($0, 1, RSTART - 1) "
	"sprintf(\"%.6g\", substr($0, RSTART, RLENGTH)); print s $0 }'; }; "
	"chart_data() { for f in \"$1\"/*.csv \"$1\"/*.gp; do echo \"== ${f##*/}\"; "
	"case $f in *.csv) awk -F, -v most=\"${2:-24}\" '"
	"{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9]+[.]?[0-9]*(e[-+]?[0-9]+)?$/) "
	"{ s[i] += $i; w[i] += $i * NR; if (i > n) n = i } } NR <= most { print } "
	"END { for (i = 1; NR > most && i <= n; i++) printf \"sum %d %.6g %.6g\\n\", i, s[i], w[i] "
	"}' \"$f\" ;; *) sed -n '/^[a-z][a-z_0-9]* = /p; /^reset/q' \"$f\"; "
	"grep '^# [a-z_]*[.]gp - ' \"$f\" ;; esac | rounded; "
	"done; };";

/* Sessions that are made up are of today, and have an identifier each. */
static void mask(char *text)
{
	static const char id[] = "0123456789abcdef", date[] = "0123456789-T:Z";

	for (char *at = text; *at;) {
		size_t hex = strspn(at, id), time = strspn(at, date);

		if (hex == 16)
			memset(at, 'x', hex);
		else if (time >= 10 && at[4] == '-' && at[7] == '-')
			for (size_t i = 0; i < time; i++)
				at[i] = strchr("-T:Z", at[i]) ? at[i] : '0';
		at += hex ? hex : 1;
	}
}

/* ---- long JSON ------------------------------------------------------------------------------ */

/*
 * A key, or one of its texts: how many values; of numbers the sum, and that of each times its place
 * among the key's values, of a text that of its places.
 */
struct sum {
	char name[256];
	int n, places;
	double sum, weighted;
};

enum { SUMS = 1024 };

static struct sum *find_sum(struct sum *sums, const char *name)
{
	int i = 0;

	while (i < SUMS - 1 && *sums[i].name && strcmp(sums[i].name, name) != 0)
		i++;
	cr_assert(lt(int, i, SUMS - 1), "room for %s", name);
	snprintf(sums[i].name, sizeof(sums[i].name), "%s", name);
	return &sums[i];
}

/* A text as it is; all hashes are alike, and all files of a build. */
static const char *known_as(const char *text)
{
	if (strspn(text + 1, "0123456789abcdef") == 64)
		return "hash";
	return strstr(text, "/build/") || strstr(text, "/.bundle/") ? "place" : text;
}

/* A number counts with its key, a text for itself. */
static void add_value(struct sum *sums, const char *key, const json_t *value)
{
	struct sum *of_key = find_sum(sums, key), *s = of_key;
	char name[256], *text = json_dumps(value, JSON_ENCODE_ANY);

	if (!json_is_number(value)) {
		snprintf(name, sizeof(name), "%s %s", key, known_as(text));
		s = find_sum(sums, name);
	}
	free(text);
	s->n++;
	s->sum += json_number_value(value);
	s->weighted += ++of_key->places * (json_is_number(value) ? json_number_value(value) : 1);
}

static void add_values(struct sum *sums, const char *key, json_t *value)
{
	const char *member;
	json_t *inner;
	size_t i;

	json_array_foreach(value, i, inner) add_values(sums, key, inner);
	json_object_foreach(value, member, inner) add_values(sums, member, inner);
	if (!json_is_array(value) && !json_is_object(value))
		add_value(sums, key, value);
}

/* A line per key and text, in the order in which they come. */
static void put_sums(FILE *out, json_t *o)
{
	struct sum *sums = calloc(SUMS, sizeof(*sums));

	add_values(sums, "", o);
	for (struct sum *s = sums; *s->name; s++)
		if (s->n)
			fprintf(out, "%s: %d, %.6g, %.6g\n", s->name, s->n, s->sum, s->weighted);
	free(sums);
	json_decref(o);
}

/* What all commands of it say, as a terminal has it; and how they end, unless well. */
static const char *said_by(const struct golden_output *o, bool refused)
{
	static char all[1 << 18];
	FILE *out = fmemopen(all, sizeof(all), "w");
	char command[2048];
	const char *text;

	for (const char *const *c = o->commands; *c; c++) {
		bool hidden = **c == ':', is_json = **c == '+';
		int rc;

		snprintf(command, sizeof(command), "%s { %s; } %s", functions,
			 *c + 2 * (hidden || is_json), is_json ? "" : "2>&1");
		rc = figures_folder_run(&text, command);
		cr_assert(eq(int, hidden ? 0 : refused, rc > 2), "%s: %d: %s", *c, rc, text);
		cr_assert(le(int, refused && !hidden, is_one_complaint(text)), "%s: %s", *c, text);
		if (!hidden)
			fprintf(out, "$ %s\n%s", *c, is_json ? "" : text);
		if (is_json)
			put_sums(out, json_loads(text, 0, NULL));
		if (rc)
			fprintf(out, "[%d]\n", rc);
	}
	cr_assert(lt(i64, ftell(out), (int64_t)sizeof(all) - 1), "room for %s", o->name);
	fclose(out);
	mask(all);
	return all;
}

/* Until the first line that differs. */
static void expect_lines(const char *path, const char *got, const char *want)
{
	int line = 1;

	for (; *got && *got == *want; got++, want++)
		line += *got == '\n';
	cr_assert(eq(chr, *got, *want),
		  "%s:%d: now '%.*s' where '%.*s' was; if it is meant, make golden", path, line,
		  (int)strcspn(got, "\n"), got, (int)strcspn(want, "\n"), want);
}

void golden_text(const char *name, const char *got)
{
	static char want[1 << 18];
	bool update = getenv("UPDATE_GOLDEN");
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "tests/golden/outputs/%s.txt", name);
	f = fopen(path, update ? "w" : "r");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	if (update)
		fputs(got, f);
	else
		want[fread(want, 1, sizeof(want) - 1, f)] = '\0';
	cr_assert(zero(int, fclose(f)), "%s", path);
	if (!update)
		expect_lines(path, got, want);
}

void golden(const struct golden_output *o, bool refused)
{
	golden_text(o->name, said_by(o, refused));
}

void golden_json(FILE *out, json_t *o)
{
	char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY);

	fprintf(out, "%s\n", text);
	free(text);
	json_decref(o);
}

/* ---- what tests print themselves, a part of a file each ------------------------------------ */

/* Some tests work in a folder of their own. */
static char root[PATH_MAX];

__attribute__((constructor)) static void keep_root(void)
{
	if (!getcwd(root, sizeof(root)))
		*root = '\0';
}

enum { SAID_BYTES = 1 << 18, DIGITS = 6 };

/* A number with more decimals than are shown becomes one with six digits; returns its end. */
static const char *put_number(FILE *out, const char *at)
{
	size_t whole = strspn(at, "0123456789");
	size_t decimals = at[whole] == '.' ? strspn(at + whole + 1, "0123456789") : 0;
	char *end;
	double v = strtod(at, &end);

	if (decimals < DIGITS)
		return fprintf(out, "%.*s", (int)whole, at), at + whole;
	return fprintf(out, "%.*g", DIGITS, v), end;
}

/* The length of a name that differs from run to run: "rift-trace-4fK2xQ"; 0: it begins with none.
 */
static size_t own_name(const char *at)
{
	static const char between[] = "- _";
	bool is = !strncmp(at, "rift", 4) && at[4] && strchr(between, at[4]);
	size_t kind = is ? strspn(at + 5, "abcdefghijklmnopqrstuvwxyz") : 0, n = 0;

	if (kind && at[5 + kind] && strchr(between, at[5 + kind]))
		while (isalnum((unsigned char)at[6 + kind + n]))
			n++;
	return n == 6 ? 6 + kind + n : 0;
}

static void put_alike(FILE *out, const char *text)
{
	for (const char *at = text; *at;) {
		bool inside = at > text && (at[-1] == '.' || isalnum((unsigned char)at[-1]));

		if (*root && !strncmp(at, root, strlen(root))) {
			at += strlen(root);
			fputc('.', out);
		} else if (own_name(at)) {
			at += own_name(at);
			fputs("rift-x", out);
		} else if (isdigit((unsigned char)*at) && !inside) {
			at = put_number(out, at);
		} else {
			fputc(*at++, out);
		}
	}
}

/* Its part begins behind that line, and goes on to the next one. */
static char *find_part(char *file, const char *test)
{
	char line[128], *at;

	snprintf(line, sizeof(line), "\n#### %s\n", test);
	at = strstr(file, line);
	return at ? at + strlen(line) : NULL;
}

static void write_part(const char *path, char *file, const char *test, const char *said)
{
	char *part = find_part(file, test), *rest = part ? strstr(part - 1, "\n#### ") : NULL;
	FILE *f = fopen(path, "w");

	cr_assert(ne(ptr, f, NULL), "%s", path);
	if (part && !strcmp(said, "\n")) /* the test says nothing any more */
		fprintf(f, "%.*s%s", (int)(part - file - strlen("#### \n") - strlen(test)), file,
			rest ? rest + 1 : "");
	else if (part)
		fprintf(f, "%.*s%s%s", (int)(part - file), file, said, rest ? rest + 1 : "");
	else
		fprintf(f, "%s#### %s\n%s", *file ? file : "\n", test, said);
	cr_assert(zero(int, fclose(f)), "%s", path);
}

static void compare_part(const char *path, char *file, const char *test, const char *said)
{
	const char *want = find_part(file, test), *got = said;

	cr_assert(ne(ptr, (void *)(uintptr_t)want, NULL), "%s has no %s: make golden", path, test);
	for (; *got && *got == *want; got++)
		want++;
	cr_assert(zero(chr, *got),
		  "%s, %s: now '%.*s' where '%.*s' was; if it is meant, make golden", path, test,
		  (int)strcspn(got, "\n"), got, (int)strcspn(want, "\n"), want);
}

/* Lines that it has not said before, and how many others. */
static void add_lines(char said[SAID_BYTES], char *text)
{
	static char line[SAID_BYTES];
	char *rest = text, *at, *end = said + strlen(said);
	int before = 0;

	while ((at = strsep(&rest, "\n")) && (*at || rest)) {
		snprintf(line, sizeof(line), "\n%s\n", at);
		if (strstr(said, line)) {
			before++;
			continue;
		}
		cr_assert(lt(sz, (size_t)(end - said) + strlen(line) + 16, SAID_BYTES), "room");
		end += before ? sprintf(end, "(%d)\n", before) : 0;
		end += sprintf(end, "%s", line + 1);
		before = 0;
	}
	sprintf(end, before ? "(%d)\n" : "", before);
}

/* Adds it, as it is on each run, unless it is what was added last. */
static bool add_said(char said[SAID_BYTES], const char *text)
{
	static char alike[SAID_BYTES], last[SAID_BYTES];
	FILE *out = fmemopen(alike, sizeof(alike), "w");

	put_alike(out, text);
	fclose(out);
	mask(alike);
	if (!strcmp(last, alike))
		return false;
	strcpy(last, alike);
	add_lines(said, alike);
	return true;
}

/* What the test has said so far, and what its suite's file has, which is empty where there is none.
 */
static char said[SAID_BYTES] = "\n", file[SAID_BYTES];

static bool is_kept(void)
{
#ifdef __SANITIZE_ADDRESS__
	return false;
#endif
	return !strncmp(criterion_current_suite->name, "small_", 6) &&
	       criterion_current_test->data->kind_ == CR_TEST_NORMAL;
}

static const char *said_path(void)
{
	static char path[PATH_MAX + 128];

	snprintf(path, sizeof(path), "%s/tests/golden/said/%s.txt", root,
		 strchr(criterion_current_suite->name, '_') + 1);
	return path;
}

static bool read_said(void)
{
	FILE *f = is_kept() ? fopen(said_path(), "r") : NULL;

	if (!f)
		return false;
	file[fread(file, 1, sizeof(file) - 1, f)] = '\0';
	fclose(f);
	return true;
}

void golden_said(const char *text)
{
	const char *test = criterion_current_test->name;

	if (!is_kept() || !add_said(said, text) || !read_said())
		return;
	if (getenv("UPDATE_GOLDEN"))
		write_part(said_path(), file, test, said);
	else
		compare_part(said_path(), file, test, said);
}

/* The line that its file has behind what it has said so far; "": there is no more. */
static const char *not_said(void)
{
	const char *part = read_said() ? find_part(file, criterion_current_test->name) : NULL;
	const char *rest = part ? part + strlen(said) : "";

	return strncmp(rest, "#### ", 5) ? rest : "";
}

static void (*own_test)(void);

static void test_and_end(void)
{
	const char *test = criterion_current_test->name, *rest;

	own_test();
	rest = not_said();
	if (*rest && getenv("UPDATE_GOLDEN"))
		write_part(said_path(), file, test, said);
	else
		cr_assert(zero(chr, *rest),
			  "%s, %s: '%.*s' is not said now; if it is meant, make golden",
			  said_path(), test, (int)strcspn(rest, "\n"), rest);
}

/* In place of Criterion's, which calls a test: at its end nothing is left that it said before. */
void criterion_internal_test_main(void (*test)(void))
{
	void (*next)(void (*)(void)), *p = dlsym(RTLD_NEXT, "criterion_internal_test_main");

	memcpy(&next, &p, sizeof(p));
	own_test = test;
	next(is_kept() ? test_and_end : test);
}

void golden_said_json(const json_t *o)
{
	char *text = json_dumps(o, JSON_INDENT(1) | JSON_ENCODE_ANY);

	golden_said(text);
	free(text);
}

void golden_said_sums(json_t *o)
{
	static char text[SAID_BYTES];
	FILE *out = fmemopen(text, sizeof(text), "w");

	put_sums(out, o);
	fclose(out);
	golden_said(text);
}

/* Of a data file the first rows, and of each column the sum and that of each value times its row.
 */
static void put_rows(FILE *out, FILE *data)
{
	enum { SHOWN = 4, COLUMNS = 16 };
	double sum[COLUMNS] = { 0 }, weighted[COLUMNS] = { 0 };
	char line[1024], *rest, *cell, *end;
	int rows = 0, columns = 0;

	while (fgets(line, sizeof(line), data)) {
		if (rows++ < SHOWN)
			fputs(line, out);
		rest = line;
		for (int i = 0; i < COLUMNS && (cell = strsep(&rest, ",\n")); i++) {
			double v = strtod(cell, &end);

			columns = i >= columns ? i + 1 : columns;
			sum[i] += *cell && !*end && isfinite(v) ? v : 0;
			weighted[i] += *cell && !*end && isfinite(v) ? v * rows : 0;
		}
	}
	for (int i = 0; i < columns && rows > SHOWN; i++)
		fprintf(out, "sum %d %.6g %.6g\n", i + 1, sum[i], weighted[i]);
}

/* Of a script what is set before the look begins. */
static void put_values(FILE *out, FILE *script)
{
	char line[1024];

	while (fgets(line, sizeof(line), script) && strcmp(line, "reset\n") != 0)
		if (*line != '#')
			fputs(line, out);
}

void golden_chart(const char *path)
{
	static char text[SAID_BYTES];
	const char *name = strrchr(path, '/') + 1;
	FILE *f = fopen(path, "r"), *out = fmemopen(text, sizeof(text), "w");

	cr_assert(ne(ptr, f, NULL), "%s", path);
	fprintf(out, "== %s\n", name);
	if (strstr(name, ".csv"))
		put_rows(out, f);
	else
		put_values(out, f);
	fclose(out);
	fclose(f);
	golden_said(text);
}
