/* chart_files.c - charts of made-up sessions, and what their files say. */
#include "tests/chart_files.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/capture.h"
#include "tests/divert.h"
#include "tests/figures.h"
#include "tests/folder.h"
#include "tests/golden.h"

char chart_folder[] = TEST_FOLDER_PATH;

void chart_folder_make(void)
{
	test_folder_make(chart_folder);
}

void chart_folder_remove(void)
{
	test_folder_remove(chart_folder);
}

struct fake_session chart_session(int sides)
{
	struct fake_session s = fake_session();

	s.size = "0,2,20,200";
	s.depth = "1,4,16,64,256";
	s.processes = 5;
	s.sides = sides;
	s.noise = 0;
	return s;
}

const char *chart_session_write(char out[256], const char *name, int sides, uint64_t seed)
{
	struct fake_session s = fake_session();

	s.size = "2,20,200";
	s.depth = "1,16";
	s.mode = "stream,graph";
	s.processes = 5;
	s.sides = sides;
	s.seed = seed;
	snprintf(out, 256, "%s/%s", chart_folder, name);
	fake_session_write(&s, out);
	return out;
}

double overhead_percent(const struct model *m, enum mode mode, double us, double depth)
{
	const struct batch b = {
		.mode = mode, .depth = depth, .launches = 1, .kernel_ns = 1000 * us
	};

	return 100 * (model_total_ns(m, &b) / model_ideal_ns(m, &b) - 1);
}

void chart_files_session(struct chart_files *m, const struct fake_session *s)
{
	*m = (struct chart_files){ .journal.path = NULL };
	fake_session_journal(s, &m->journal);
}

void chart_files_make(struct chart_files *m)
{
	int sides = m->journal.sides;

	for (int i = 0; i < sides; i++) {
		chart_side_init(&m->side[i], &m->journal, i, sides < 2 ? "" : i ? "B" : "A");
		m->side[i].over = m->over;
	}
	cr_assert(zero(int, charts_init(&m->charts, m->side, sides)), "charts");
	cr_assert(zero(int, charts_write(&m->charts, chart_folder)), "files");
}

void charts_of(struct chart_files *m, const struct fake_session *s)
{
	chart_files_session(m, s);
	chart_files_make(m);
}

void chart_files_release(struct chart_files *m)
{
	charts_release(&m->charts);
	journal_release(&m->journal);
}

/* ---- data files ------------------------------------------------------------------------- */

static void read_row(struct table *t, char *line)
{
	char *end, *cell;

	cr_assert(lt(int, t->rows, TABLE_ROWS), "rows");
	for (t->columns = 0; (cell = strsep(&line, ",")); t->columns++) {
		cr_assert(lt(int, t->columns, TABLE_COLUMNS), "columns");
		t->v[t->rows][t->columns] = strtod(cell, &end);
		if (!*cell || *end)
			t->v[t->rows][t->columns] = NAN;
	}
	t->rows++;
}

const struct table *table_read(const char *name)
{
	static struct table t;
	char path[512], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", chart_folder, name);
	golden_chart(path);
	f = fopen(path, "r");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	t.rows = 0;
	cr_assert(ne(ptr, fgets(t.header, sizeof(t.header), f), NULL), "%s is empty", path);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			read_row(&t, line);
	}
	fclose(f);
	return &t;
}

static int is_data_or_script(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && (!strcmp(dot, ".csv") || !strcmp(dot, ".gp"));
}

void chart_folder_said(const char *begins)
{
	struct dirent **file;
	int n = scandir(chart_folder, &file, is_data_or_script, alphasort);

	cr_assert(lt(int, 0, n), "%s", chart_folder);
	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", chart_folder, file[i]->d_name);
		if (!strncmp(file[i]->d_name, begins, strlen(begins)))
			golden_chart(path);
		free(file[i]);
	}
	free(file);
}

int table_column(const struct table *t, const char *name)
{
	char header[256], *rest = header, *cell;

	strcpy(header, t->header);
	for (int i = 0; (cell = strsep(&rest, ",\n")); i++)
		if (!strcmp(cell, name))
			return i;
	cr_fatal("no column %s in %s", name, t->header);
	return -1;
}

/* ---- scripts ---------------------------------------------------------------------------- */

const char *script_value(const char *name, const char *variable)
{
	static char value[512];
	char path[512], line[512], want[64];
	size_t n = (size_t)snprintf(want, sizeof(want), "%s = ", variable);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.gp", chart_folder, name);
	golden_chart(path);
	f = fopen(path, "r");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	*value = '\0';
	while (!*value && fgets(line, sizeof(line), f))
		if (!strncmp(line, want, n))
			strcpy(value, line + n);
	fclose(f);
	value[strcspn(value, "\n")] = '\0';
	if (*value == '\'') {
		memmove(value, value + 1, strlen(value));
		value[strlen(value) - 1] = '\0';
	}
	return value;
}

void script_says(const char *name, const char *variable, const char *want)
{
	const char *text = script_value(name, variable);

	cr_assert(tells(text, want), "%s, %s: '%s' in '%s'", name, variable, want, text);
}

void script_figures(const char *name, const char *variable, const char *want)
{
	const char *text = script_value(name, variable);

	cr_assert(eq(str, (char *)figures_of(text), (char *)want), "%s, %s: '%s'", name, variable,
		  text);
}
