/*
 * test_cells.h - what the tests of the myocyte workload share: options as a user leaves them,
 * a run through the hooks, files in a folder of the test's own.
 */
#ifndef RIFT_MYOCYTE_TEST_CELLS_H
#define RIFT_MYOCYTE_TEST_CELLS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cuda_check.h"
#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "workloads/myocyte/myocyte.h"
#include "workloads/myocyte/test_golden.h"
#include "workloads/workload.h"

/* Rounding of the CPU device is that of the source; a GPU fuses, and has its own exp. */
#ifdef RIFT_CPU_DEVICE
static const bool rounds_as_written = true;
#else
static const bool rounds_as_written = false;
#endif

static inline int64_t default_size(const char *text)
{
	char *end;
	int64_t n = strtoll(text, &end, 10);

	return *end == 'k' ? n << 10 : *end == 'M' ? n << 20 : n;
}

static inline void set_default(const struct param *row, void *field)
{
	int choice = 0;

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
		*(int64_t *)field = default_size(row->def);
		break;
	case PARAM_REAL:
		*(double *)field = strtod(row->def, NULL);
		break;
	case PARAM_CHOICE:
		while (strcmp(row->choices[choice], row->def))
			choice++;
		*(int *)field = choice;
		break;
	default:
		CHECK(row->kind == PARAM_PATH, "%s", row->name);
	}
}

static inline struct myocyte_opts default_opts(void)
{
	struct myocyte_opts o;

	memset(&o, 0, sizeof(o));
	for (const struct param *row = workload_myocyte.params; row->name; row++)
		set_default(row, (char *)&o + row->offset);
	return o;
}

/* ---- a run ----------------------------------------------------------------------------- */

#define RUN myocyte
#include "tests/workload_run.h"

/* Cells 0 .. n - 1. */
static inline void run_read(struct run *r, int64_t n, struct myocyte_cell *out)
{
	for (int64_t i = 0; i < n; i++)
		cr_assert(!myocyte_read_cells(&r->s, &i, 1, &out[i]), "cell %ld", (long)i);
}

/* ---- files ----------------------------------------------------------------------------- */

/* A path in a folder of this test's own; removed by remove_files(). */
static char test_folder[64];

static inline const char *file_here(const char *name)
{
	static char paths[32][128];
	static int next;
	char *path = paths[next++ % 32];

	if (!*test_folder) {
		strcpy(test_folder, TEST_FOLDER_PATH);
		test_folder_make(test_folder);
	}
	snprintf(path, sizeof(paths[0]), "%s/%s", test_folder, name);
	return path;
}

static inline void remove_files(void)
{
	if (*test_folder)
		test_folder_remove(test_folder);
	*test_folder = '\0';
}

static inline bool exists(const char *path)
{
	return !access(path, F_OK);
}

static inline const char *write_file(const char *name, const char *text)
{
	const char *path = file_here(name);
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && !fclose(f), "%s", path);
	return path;
}

/* Path of a file under workloads/myocyte; static memory. */
static inline const char *data_file(const char *name)
{
	static char path[DATAFILE_PATH_BYTES];
	char file[128];

	snprintf(file, sizeof(file), "workloads/myocyte/%s", name);
	CHECK(!datafile_find(file, path), "%s", file);
	return path;
}

/* Line i of a text, without its end; static memory. "" past the last. */
static inline const char *first_line(const char *text, int i)
{
	static char line[1024];

	for (; i && text; i--) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	snprintf(line, sizeof(line), "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	return line;
}

#endif
