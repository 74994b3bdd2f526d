/*
 * golden.h - what command lines of rift print, byte for byte, against
 * tests/golden/outputs/NAME.txt. UPDATE_GOLDEN=1 writes the file anew (make golden).
 */
#ifndef RIFT_TESTS_GOLDEN_H
#define RIFT_TESTS_GOLDEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Shell commands, as figures_folder_run() has them. Those that begin with ':' prepare others; those
 * that begin with '+' print JSON, which becomes sums: of each key, and of each of its texts, how
 * many there are, the sum of the numbers, and that of each times its place (of a text that of its
 * places). `chart_data FOLDER [ROWS]` prints what data files and scripts of charts hold, and
 * `rounded` what it reads, both with six digits of each number.
 */
struct golden_output {
	const char *name;
	const char *const *commands; /* ends with NULL */
};

#define COMMANDS(...)                                                                              \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* What would be drawn, without gnuplot, and what of it is in the folder `out`. */
#define CHARTS(arguments)                                                                          \
	": rm -rf out; (PATH=; rift " arguments " --quiet; [ $? = 3 ])", "chart_data out"

/* The same in short: of each file one row and the sums. */
#define CHART_SUMS(arguments)                                                                      \
	": rm -rf out; (PATH=; rift " arguments " --quiet; [ $? = 3 ])", "chart_data out 1"

/* All of it succeeds (exit codes 0 to 2), or else is refused with a line each. */
void golden(const struct golden_output *o, bool refused);

/* What a test has printed itself, of things that it has made up, against NAME.txt. */
void golden_text(const char *name, const char *got);

/* For that text, with six digits of each number; the reference is taken. */
void golden_json(FILE *out, json_t *o);

/*
 * What a test prints, against its part of tests/golden/said/SUITE.txt, as far as it has come: lines
 * that it has not printed before, and between them how many others; without what differs from run
 * to run. A test that comes to its end has said all of it. Of small tests without parameters, in
 * suites that have the file: an empty one is enough for `make golden`. Under the address sanitizer
 * nothing is compared.
 */
void golden_said(const char *text);

/* The same of JSON, and of a chart's data file or script. */
void golden_said_json(const json_t *o);
void golden_said_sums(json_t *o); /* as sums, for long ones; the reference is taken */
void golden_chart(const char *path);

/* A suite with a test for each of a table's outputs, 8 at most, which succeed. */
#define GOLDEN_TESTS(suite, table)                                                                 \
	TestSuite(suite, .init = figures_folder_make, .fini = figures_folder_remove,               \
		  .timeout = 300);                                                                 \
	/* places in the table: a test's process has it elsewhere */                               \
	static int places[] = { 0, 1, 2, 3, 4, 5, 6, 7 };                                          \
	ParameterizedTestParameters(suite, outputs)                                                \
	{                                                                                          \
		return cr_make_param_array(int, places, sizeof(table) / sizeof(*(table)));         \
	}                                                                                          \
	ParameterizedTest(int *place, suite, outputs)                                              \
	{                                                                                          \
		golden(&(table)[*place], false);                                                   \
	}

#endif
