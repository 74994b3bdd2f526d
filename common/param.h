/*
 * param.h - rows that declare parameters: of workloads, layers and rift's own options.
 * harness/base parses and shows them.
 */
#ifndef RIFT_PARAM_H
#define RIFT_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum param_kind {
	PARAM_INT,    /* int64_t: 12, -3 */
	PARAM_SIZE,   /* int64_t: 12, 64k, 8M, 1G (powers of 1024) */
	PARAM_REAL,   /* double: 0.5, 1e-6 */
	PARAM_CHOICE, /* int: index into choices */
	PARAM_PATH,   /* const char *: a file name, or a text; NULL when not given; the harness's */
	PARAM_LIST,   /* struct param_list: 784,512,10 */
};

enum { PARAM_LIST_MAX = 32 };

struct param_list {
	int n;
	int64_t value[PARAM_LIST_MAX];
};

/* The field of any row. A path is owned by whoever has the value. */
union param_value {
	int64_t whole;
	double real;
	int choice;
	char *path;
	struct param_list list;
};

/*
 * One parameter. Parsing, range check, help, JSON and CSV columns all come from this
 * row. Write rows with the macros below: they check the field's type.
 */
struct param {
	const char *name; /* name=value on the command line */
	enum param_kind kind;
	size_t offset;		    /* of the field in the opts */
	const char *unit;	    /* "ms", "cells", "1" for a pure number, "" for choice and path;
				     * of a text its form */
	const char *def;	    /* default, as a user would type it; "" for a path: none */
	double min, max;	    /* inclusive; of every element of a list */
	const char *const *choices; /* PARAM_CHOICE: names, ends with NULL */
	const char *help;	    /* one line, no full stop */
	const char *axis; /* the kernel-size axis: its sweep values, "1,32,1k"; else NULL */
	/* Values that a full sweep also gives it, all else at the centre of the grid; NULL: none.
	 * They must go with the defaults of the others. */
	const char *one_factor;
	bool written; /* a path: of a file that the workload writes, not one that it reads */
};

/* clang-format off */
#define PARAM_FIELD(T, f, type)                                                                    \
	(offsetof(struct T, f) + 0 * sizeof(char[_Generic(((struct T *)0)->f, type: 1, default: -1)]))
#define PARAM_INT(T, f, unit, def, lo, hi, help)                                                   \
	{ #f, PARAM_INT, PARAM_FIELD(T, f, int64_t), unit, def, lo, hi, NULL, help, NULL, NULL, false }
#define PARAM_SIZE(T, f, unit, def, lo, hi, help)                                                  \
	{ #f, PARAM_SIZE, PARAM_FIELD(T, f, int64_t), unit, def, lo, hi, NULL, help, NULL, NULL, false }
#define PARAM_AXIS(T, f, unit, def, lo, hi, values, help)                                          \
	{ #f, PARAM_SIZE, PARAM_FIELD(T, f, int64_t), unit, def, lo, hi, NULL, help, values, NULL, false }
#define PARAM_REAL(T, f, unit, def, lo, hi, help)                                                  \
	{ #f, PARAM_REAL, PARAM_FIELD(T, f, double), unit, def, lo, hi, NULL, help, NULL, NULL, false }
#define PARAM_CHOICE(T, f, def, names, help)                                                       \
	{ #f, PARAM_CHOICE, PARAM_FIELD(T, f, int), "", def, 0, 0, names, help, NULL, NULL, false }
#define PARAM_PATH(T, f, help)                                                                     \
	{ #f, PARAM_PATH, PARAM_FIELD(T, f, const char *), "", "", 0, 0, NULL, help, NULL, NULL, false }
/* Any text but a file name; form says which: "seconds, or p1". */
#define PARAM_TEXT(T, f, form, help)                                                               \
	{ #f, PARAM_PATH, PARAM_FIELD(T, f, const char *), form, "", 0, 0, NULL, help, NULL, NULL, false }
#define PARAM_PATH_OUT(T, f, help)                                                                 \
	{ #f, PARAM_PATH, PARAM_FIELD(T, f, const char *), "", "", 0, 0, NULL, help, NULL, NULL, true }
/* A unit with a comma is the form of the whole list: "RTT,BANDWIDTH in us and Gbit/s". */
#define PARAM_LIST(T, f, unit, def, lo, hi, help)                                                  \
	{ #f, PARAM_LIST, PARAM_FIELD(T, f, struct param_list), unit, def, lo, hi, NULL, help, NULL, NULL, false }
/* With values that are swept aside of the grid. */
#define PARAM_INT_ASIDE(T, f, unit, def, lo, hi, values, help)                                     \
	{ #f, PARAM_INT, PARAM_FIELD(T, f, int64_t), unit, def, lo, hi, NULL, help, NULL, values, false }
#define PARAM_CHOICE_ASIDE(T, f, def, names, values, help)                                         \
	{ #f, PARAM_CHOICE, PARAM_FIELD(T, f, int), "", def, 0, 0, names, help, NULL, values, false }
#define PARAM_END { NULL, PARAM_INT, 0, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, false }
/* clang-format on */

/*
 * A parameter that counts only with others: given without them it is refused, not ignored. when is
 * "trajectory" (that path is given), "!trajectory", or "solver=fixed|euler" (one of these is
 * chosen). All entries for one parameter must hold.
 */
struct param_need {
	const char *name, *when;
};

/* `preset=NAME`: values for parameters that the user does not give. */
struct preset {
	const char *name;
	const char *values; /* "name=value name=value" */
	const char *help;   /* one line, no full stop */
};

#endif
