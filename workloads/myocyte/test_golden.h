/*
 * test_golden.h - what the tests of the myocyte model share: golden tables, the model's
 * inputs, comparisons. Included by test programs only; a table that cannot be read aborts.
 */
#ifndef RIFT_MYOCYTE_TEST_GOLDEN_H
#define RIFT_MYOCYTE_TEST_GOLDEN_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "common/check.h"
#include "common/datafile.h"
#include "common/csv.h"
#include "workloads/myocyte/inputs.h"
#include "workloads/myocyte/reference.h"

/* Opens workloads/myocyte/NAME. */
static inline struct csv golden_open(const char *name)
{
	char file[256], path[DATAFILE_PATH_BYTES];
	struct csv csv;

	snprintf(file, sizeof(file), "workloads/myocyte/%s", name);
	CHECK(!datafile_find(file, path), "%s", file);
	CHECK(!csv_read(path, &csv), "%s", path);
	return csv;
}

static inline double golden_number(const struct csv *csv, int64_t row, const char *column)
{
	int c = csv_column(csv, column);
	double value;

	CHECK(c >= 0 && !csv_number_or_nan(csv, row, c, &value), "%s", csv->path);
	return value;
}

/* The 91 columns PREFIX0..PREFIX90 of one row. */
static inline void golden_vector(const struct csv *csv, int64_t row, const char *prefix,
				 double v[MYOCYTE_STATES])
{
	char name[32];

	for (int i = 0; i < MYOCYTE_STATES; i++) {
		snprintf(name, sizeof(name), "%s%d", prefix, i);
		v[i] = golden_number(csv, row, name);
	}
}

/* State at time t, ms, of a golden trajectory that has a row for it. */
static inline void golden_state(const char *name, double t, double y[MYOCYTE_STATES])
{
	struct csv csv = golden_open(name);
	int64_t row = 0;

	while (golden_number(&csv, row, "t") != t)
		CHECK(++row < csv.rows, "%s has no row for t=%g ms", csv.path, t);
	golden_vector(&csv, row, "y", y);
	csv_free(&csv);
}

/* The model with the parameters that rift ships. */
static inline struct myocyte_model golden_model(enum myocyte_equations equations)
{
	struct myocyte_model m = { equations, { 0 } };
	char path[DATAFILE_PATH_BYTES];

	CHECK(!datafile_find("workloads/myocyte/parameters.csv", path), "parameters.csv");
	CHECK(!myocyte_read_parameters(path, m.p), "%s", path);
	return m;
}

/* The initial state that rift ships. */
static inline void golden_start(double y[MYOCYTE_STATES])
{
	char path[DATAFILE_PATH_BYTES];

	CHECK(!datafile_find("workloads/myocyte/initial_state.csv", path), "initial_state.csv");
	CHECK(!myocyte_read_initial_state(path, y), "%s", path);
}

/* |a - b|/|b|, 0 for two zeros; not a number when either is not finite and they differ. */
static inline double relative(double a, double b)
{
	return a == b ? 0 : fabs(a - b) / fabs(b);
}

#endif
