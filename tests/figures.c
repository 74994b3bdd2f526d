/* figures.c - the numbers of what rift says. */
#include "tests/figures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/stats/decide.h"
#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"

static char folder[] = TEST_FOLDER_PATH;

void figures_folder_make(void)
{
	test_folder_make(folder);
	cr_assert(zero(int,
		       shell(NULL, "mkdir %s/out && ln -s \"$PWD/data\" %s/data", folder, folder)),
		  "%s", folder);
}

void figures_folder_remove(void)
{
	test_folder_remove(folder);
}

const char *figures_folder(void)
{
	return folder;
}

/* ---- numbers of what is said -------------------------------------------------------------- */

static bool is_number(const char *word)
{
	char *end;

	strtod(word, &end);
	return end > word && (!*end || !strcmp(end, "%") || !strcmp(end, "x"));
}

/* A verdict as rift calls it, a mode, a regime, an option; else NULL. */
static const char *enumerated(const char *word)
{
	static const char *const words[] = { "stream",	  "graph",	  "fused",	  "not",
					     "nowhere",	  "everywhere",	  "corner",	  "window",
					     "identical", "launch-bound", "device-bound", NULL };

	for (int v = VERDICT_SAME; v <= VERDICT_INCONCLUSIVE; v++)
		if (!strcmp(verdict_names[v], word))
			return word;
	for (const char *const *w = words; *w; w++)
		if (!strcmp(*w, word))
			return word;
	return !strncmp(word, "--", 2) ? word : NULL;
}

static bool is_unit(const char *word)
{
	static const char units[] = " ns us \u00b5s ms s % GB/s ";
	const char *at = strstr(units, word);

	return at && *word && at[-1] == ' ' && at[strlen(word)] == ' ';
}

static const char between[] = " \t\n,;()'\"=[]{}";

/* Only lines that have numbers or words are written. */
static void put_text(FILE *out, char *text)
{
	char *rest, *more;

	for (char *at = text; (at = strstr(at, "\u2212"));)
		memcpy(at, "  -", 3);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *gap = "";

		for (char *w = strtok_r(line, between, &more); w;
		     w = strtok_r(NULL, between, &more)) {
			size_t n = strlen(w);

			if (n > 1 && strchr(".:", w[n - 1]))
				w[n - 1] = '\0';
			if (is_number(w) || enumerated(w)) {
				fprintf(out, "%s%s", gap, is_number(w) ? w : enumerated(w));
				gap = " ";
			}
		}
		if (*gap)
			fputc('\n', out);
	}
}

const char *figures_of(const char *sentence)
{
	static char figures[1024];
	char text[2048], *more;
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", sentence);
	figures[0] = '\0';
	for (char *w = strtok_r(text, between, &more); w; w = strtok_r(NULL, between, &more)) {
		size_t end = strlen(w);

		if (end > 1 && strchr(".:", w[end - 1]))
			w[end - 1] = '\0';
		if (is_number(w) || is_unit(w) || enumerated(w))
			n += (size_t)snprintf(figures + n, sizeof(figures) - n, "%s%s",
					      n ? " " : "", enumerated(w) ? enumerated(w) : w);
	}
	return figures;
}

struct column {
	char name[96];
	int n;
	double sum, weighted;
};

enum { COLUMNS = 500 };

struct columns {
	struct column at[COLUMNS];
	int n;
};

static void add_value(struct columns *c, const char *name, double value)
{
	int i = 0;

	while (i < c->n && strcmp(c->at[i].name, name) != 0)
		i++;
	cr_assert(lt(int, i, COLUMNS), "room for %s", name);
	if (i == c->n)
		snprintf(c->at[c->n++].name, sizeof(c->at[i].name), "%s", name);
	c->at[i].n++;
	if (isfinite(value)) {
		c->at[i].sum += value;
		c->at[i].weighted += value * c->at[i].n;
	}
}

static void put_columns(FILE *out, const struct columns *c)
{
	for (int i = 0; i < c->n; i++)
		fprintf(out, "%s %d %.4g %.4g\n", c->at[i].name, c->at[i].n, c->at[i].sum,
			c->at[i].weighted);
}

static void put_csv(FILE *out, char *text)
{
	static char header[32][96];
	struct columns *c = calloc(1, sizeof(*c));
	char *rest, *cell, name[16];

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		for (int i = 0; i < 32 && (cell = strsep(&line, ",")); i++) {
			snprintf(name, sizeof(name), "column%d", i + 1);
			if (*cell && is_number(cell))
				add_value(c, *header[i] ? header[i] : name, strtod(cell, NULL));
			else if (enumerated(cell))
				add_value(c, enumerated(cell), 0);
			else if (!*header[i])
				snprintf(header[i], sizeof(header[i]), "%s", cell);
		}
	memset(header, 0, sizeof(header));
	put_columns(out, c);
	free(c);
}

/* Lines NAME = VALUE: names that differ by their numbers are one column. */
static void put_script(FILE *out, char *text)
{
	struct columns *c = calloc(1, sizeof(*c));
	char *rest, *more, name[96];

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, " 0123456789"), line);
		for (char *w = strtok_r(strstr(line, " = ") + 3, between, &more); w;
		     w = strtok_r(NULL, between, &more))
			if (is_number(w))
				add_value(c, name, strtod(w, NULL));
			else if (enumerated(w))
				add_value(c, enumerated(w), 0);
	}
	put_columns(out, c);
	free(c);
}

static void add_json(struct columns *c, const char *path, const json_t *v)
{
	char below[96];
	const char *key;
	json_t *at;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)v, key, at)
	{
		snprintf(below, sizeof(below), "%.60s.%.30s", path, key);
		add_json(c, below, at);
	}
	json_array_foreach(v, i, at) add_json(c, path, at);
	if (json_is_number(v) || json_is_boolean(v))
		add_value(c, path, json_is_boolean(v) ? json_is_true(v) : json_number_value(v));
	if (json_is_string(v) && enumerated(json_string_value(v))) {
		snprintf(below, sizeof(below), "%.60s.%.30s", path,
			 enumerated(json_string_value(v)));
		add_value(c, below, 0);
	}
}

static void put_json(FILE *out, const char *text)
{
	struct columns *c = calloc(1, sizeof(*c));
	json_t *o = json_loads(text, 0, NULL);

	cr_assert(ne(ptr, o, NULL), "JSON: %.200s", text);
	add_json(c, "", o);
	put_columns(out, c);
	json_decref(o);
	free(c);
}

/* ---- what they were ----------------------------------------------------------------------- */

/* Sums are printed with four digits, of which the last may round the other way. */
static bool alike(const char *got, const char *want)
{
	double a = strtod(got, NULL), b = strtod(want, NULL);

	return !strcmp(got, want) ||
	       (is_number(got) && is_number(want) && fabs(a - b) <= 1e-3 * fabs(b));
}

static void compare_line(const char *name, int number, char *got, char *want)
{
	char whole[2][160], *g, *w, *rest[2];

	snprintf(whole[0], sizeof(whole[0]), "%.158s", got);
	snprintf(whole[1], sizeof(whole[1]), "%.158s", want);
	g = strtok_r(got, " \n", &rest[0]);
	w = strtok_r(want, " \n", &rest[1]);
	while (g && w && alike(g, w)) {
		g = strtok_r(NULL, " \n", &rest[0]);
		w = strtok_r(NULL, " \n", &rest[1]);
	}
	cr_assert(zero(int, g || w), "tests/figures/%s.txt:%d: %s is now %s, in\n%snow\n%s", name,
		  number, w ? w : "nothing", g ? g : "nothing", whole[1], whole[0]);
}

static void compare_file(const char *name, char *figures)
{
	char path[256], want[4096], *rest, *got = strtok_r(figures, "\n", &rest);
	FILE *f;
	int number = 0;

	snprintf(path, sizeof(path), "tests/figures/%s.txt", name);
	f = fopen(path, "r");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	while (fgets(want, sizeof(want), f)) {
		number++;
		cr_assert(ne(ptr, got, NULL), "%s:%d: now missing: %s", path, number, want);
		compare_line(name, number, got, want);
		got = strtok_r(NULL, "\n", &rest);
	}
	cr_assert(eq(ptr, got, NULL), "%s: new: %s", path, got ? got : "");
	fclose(f);
}

static void compare_or_update(const char *name, char *figures)
{
	char path[256];
	FILE *f;

	if (!getenv("UPDATE_FIGURES")) {
		compare_file(name, figures);
		return;
	}
	snprintf(path, sizeof(path), "tests/figures/%s.txt", name);
	f = fopen(path, "w");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	fputs(figures, f);
	fclose(f);
}

/* ---- sessions that are made up ------------------------------------------------------------ */

static double cells_ns(double cells)
{
	return 3000 + 10 * cells;
}

static double some_slower(const struct batch *b, int side)
{
	return !side ? 1 : b->mode == MODE_GRAPH && b->depth > 8 ? 0.9 : b->depth > 60 ? 1.2 : 1.01;
}

/* Whether the command names a session that is not made yet; its path. */
static bool wanted(const char *command, const char *name, char path[256])
{
	snprintf(path, 256, "%s/%s", folder, name);
	return strstr(command, name) && access(path, F_OK);
}

static double bytes_ns(double bytes)
{
	return 0.02 * bytes;
}

/* Copies and memory, on both sides; b starts later. */
static void make_copies(const char *path)
{
	static char *set[] = { "transfer.bytes=4,64k,1M", "transfer.dir=h2d,d2h",
			       "memory.bytes=4M" };
	struct fake_session s = fake_session();

	s.workload = "memory";
	s.also = "transfer";
	s.assignment = set;
	s.n_assignments = sizeof(set) / sizeof(*set);
	s.depth = "1,16";
	s.mode = "stream";
	s.quick = true;
	s.processes = 5;
	s.sides = 2;
	s.noise = 0.01;
	s.kernel_ns = bytes_ns;
	s.step_of = fake_count;
	s.model[1].v[MODEL_C] += 700;
	s.model[1].v[MODEL_P] += 900;
	s.model[1].v[MODEL_Z] += 1500;
	s.startup_ns[0] = 210e6;
	s.startup_ns[1] = 290e6;
	fake_session_write(&s, path);
}

/* Those in the folder that the command names; figures.h says what they are. */
static void make_sessions(const char *command)
{
	struct fake_session s = fake_session();
	char path[256];

	if (strstr(command, "costs.json ") && strstr(command, "other-costs.json"))
		shell(NULL,
		      "sed 's/\"session_id\": \"./&0/; s/^    4\\./    8./; s/^    13/    "
		      "15/' " KEPT "costs.json >%s/other-costs.json",
		      folder);
	s.noise = 0.01;
	s.processes = 5; /* of more, draws are less alike, and a fit of all takes long */
	s.size = "0,2,5,10,50";
	s.depth = "1,4,16,100,256";
	s.quick = true;
	if (wanted(command, "both.jsonl", path)) {
		s.sides = 2;
		s.factor = some_slower;
		s.device[1] = "another GPU";
		fake_session_write(&s, path);
		s.sides = 1;
		s.factor = NULL;
	}
	s.model[0].v[MODEL_C] = s.model[0].v[MODEL_P] = 6300;
	s.model[0].v[MODEL_Z] = 26000;
	s.model[0].v[MODEL_GRAPH_Z] = 21000;
	s.model[0].v[MODEL_E] = 400;
	s.queue = s.model[0].v[MODEL_Q] = 64;
	s.model[0].v[MODEL_W] = 900000;
	if (wanted(command, "guest.jsonl", path))
		fake_session_write(&s, path);
	if (wanted(command, "off.jsonl", path)) {
		s.size = "0,1,20";
		s.depth = "2,8,128";
		fake_session_write(&s, path);
		s.depth = "1,4,16,100,256";
	}
	if (wanted(command, "copies.jsonl", path))
		make_copies(path);
	s.workload = "myocyte";
	s.size = "1,100,1000,10000";
	s.kernel_ns = cells_ns;
	if (wanted(command, "elsewhere.jsonl", path))
		fake_session_write(&s, path);
	s.model[0] = fake_model();
	s.queue = 1024;
	if (wanted(command, "work.jsonl", path))
		fake_session_write(&s, path);
}

/* ---- all ---------------------------------------------------------------------------------- */

/* The data in OUT, and what the scripts of charts have in their titles. */
static void put_files(FILE *out)
{
	const char *text;
	char list[8192], *rest;

	shell(&text, "cd %s/out && ls *.csv *.gp 2>/dev/null", folder);
	snprintf(list, sizeof(list), "%s", text);
	for (char *name = strtok_r(list, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
		fprintf(out, "%s\n", name);
		shell(&text,
		      strstr(name, ".gp") ? "sed -n '/^[a-z][a-z_0-9]* = /p; /^reset/q' %s/out/%s"
					  : "cat %s/out/%s",
		      folder, name);
		if (strstr(name, ".gp"))
			put_script(out, (char *)(uintptr_t)text);
		else
			put_csv(out, (char *)(uintptr_t)text);
	}
}

/* The made-up ones lie in the folder, and so do links to what is kept. */
int figures_folder_run(const char **text, const char *command)
{
	static char binary[PATH_MAX];

	make_sessions(command);
	cr_assert(ne(ptr, realpath(rift(), binary), NULL), "%s", rift());
	return shell(text, "cd %s && rift() { '%s' \"$@\"; } && %s", folder, binary, command);
}

void figures_are_what_they_were(const struct said *s)
{
	static char figures[1 << 18];
	FILE *out = fmemopen(figures, sizeof(figures), "w");
	const char *text;
	char command[384];
	int rc;

	snprintf(command, sizeof(command), "rift $(echo '%s' | sed s/OUT/out/g) 2>/dev/null",
		 s->command);
	rc = figures_folder_run(&text, command);
	cr_assert(le(int, rc, 2), "rift %s: exit %d", s->command, rc);
	fprintf(out, "exit %d\n", rc);
	if (strstr(s->command, "--json"))
		put_json(out, text);
	else
		put_text(out, (char *)(uintptr_t)text);
	if (strstr(s->command, "OUT"))
		put_files(out);
	fclose(out);
	compare_or_update(s->name, figures);
}
