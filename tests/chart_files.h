/* chart_files.h - charts of made-up sessions in a folder of their own, and what their files say. */
#ifndef RIFT_TESTS_CHART_FILES_H
#define RIFT_TESTS_CHART_FILES_H

#include <stdio.h>

#include "harness/chart/charts.h"
#include "tests/fake_session.h"

/* Made by chart_folder_make(), removed by chart_folder_remove(): for a suite's init and fini. */
extern char chart_folder[];
void chart_folder_make(void);
void chart_folder_remove(void);

/* launch on a grid of 4 sizes and 5 depths, without noise. */
struct fake_session chart_session(int sides);

/* The file of a small session, chart_folder/name, whose whole name is put into out. */
const char *chart_session_write(char out[256], const char *name, int sides, uint64_t seed);

/* T / ideal - 1 in per cent, from the model that a session was made from. */
double overhead_percent(const struct model *m, enum mode mode, double us, double depth);

/* The charts of the sides of one session; kept until the test ends. */
struct chart_files {
	struct journal journal;
	const char *over; /* rift plot --over: may be set between the two below */
	struct chart_side side[CHART_SIDES];
	struct charts charts;
};

/* The session alone; then data and scripts of all its charts, into chart_folder. Must succeed. */
void chart_files_session(struct chart_files *m, const struct fake_session *s);
void chart_files_make(struct chart_files *m);

/* Both. */
void charts_of(struct chart_files *m, const struct fake_session *s);
void chart_files_release(struct chart_files *m);

/*
 * A data file of chart_folder: numbers where cells are numbers, NaN elsewhere. Rows are those with
 * cells; the first line is the header.
 */
enum { TABLE_ROWS = 2000, TABLE_COLUMNS = 16 };

struct table {
	char header[256];
	int rows, columns;
	double v[TABLE_ROWS][TABLE_COLUMNS];
};

/* Static memory, until the next call. Must be there. */
const struct table *table_read(const char *name);

/* The column of that name; must be there. */
int table_column(const struct table *t, const char *name);

/* All data files and scripts there whose names begin so are held (tests/golden.h), in their order.
 */
void chart_folder_said(const char *begins);

/* A variable of NAME.gp, as it stands there, without quotes; "" where it is not. Static memory. */
const char *script_value(const char *name, const char *variable);

/* It must tell this (tests/divert.h); its figures (tests/figures.h) must be these. */
void script_says(const char *name, const char *variable, const char *want);
void script_figures(const char *name, const char *variable, const char *want);

#endif
