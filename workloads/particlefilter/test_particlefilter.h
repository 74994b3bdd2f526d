/*
 * test_particlefilter.h - what the tests of the particle filter share: options as a user leaves
 * them, golden files, runs through the hooks.
 */
#ifndef RIFT_PARTICLEFILTER_TEST_H
#define RIFT_PARTICLEFILTER_TEST_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/csv.h"
#include "common/cuda_check.h"
#include "common/datafile.h"
#include "tests/capture.h"
#include "tests/cli.h"
#include "workloads/particlefilter/particlefilter.h"
#include "workloads/particlefilter/reference.h"
#include "workloads/workload.h"

static inline int64_t default_size(const char *text)
{
	char *end;
	int64_t n = strtoll(text, &end, 10);

	return *end == 'k' ? n << 10 : *end == 'M' ? n << 20 : n;
}

static inline struct particlefilter_opts default_opts(void)
{
	struct particlefilter_opts o;

	memset(&o, 0, sizeof(o));
	for (const struct param *row = workload_particlefilter.params; row->name; row++) {
		char *field = (char *)&o + row->offset;
		int choice = 0;

		if (row->kind == PARAM_INT || row->kind == PARAM_SIZE)
			*(int64_t *)field = default_size(row->def);
		if (row->kind == PARAM_REAL)
			*(double *)field = strtod(row->def, NULL);
		if (row->kind == PARAM_LIST)
			((struct param_list *)field)->n = 2; /* 0,0 */
		if (row->kind == PARAM_CHOICE)
			while (strcmp(row->choices[choice], row->def))
				choice++;
		if (row->kind == PARAM_CHOICE)
			*(int *)field = choice;
	}
	return o;
}

static inline struct particlefilter_opts rodinia_opts(int64_t particles, const char *clock)
{
	struct particlefilter_opts o = default_opts();

	o.variant = PF_RODINIA;
	o.particles = particles;
	o.clock = clock;
	return o;
}

/* ---- golden files ------------------------------------------------------------------------ */

static inline struct csv golden_open(const char *name)
{
	char file[256], path[DATAFILE_PATH_BYTES];
	struct csv csv;

	snprintf(file, sizeof(file), "workloads/particlefilter/golden/%s", name);
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

static inline uint32_t golden_crc(const struct csv *csv, int64_t row, const char *column)
{
	return (uint32_t)strtoul(csv_text(csv, row, csv_column(csv, column)), NULL, 16);
}

/* Within a share of the value; `least` is a size below which the difference counts absolutely. */
static inline bool agrees(double got, double want, double tolerance, double least)
{
	return fabs(got - want) <= tolerance * fmax(fabs(want), least);
}

/* The columns of a golden track against a row. */
static inline void row_agrees(const struct csv *csv, int64_t i, const struct pf_row *row,
			      double tolerance)
{
	for (int c = 1; c < PF_TRACK_COLUMNS; c++) {
		double want;

		CHECK(!csv_number(csv, i, c, &want), "%s", csv->path);
		cr_assert(agrees(row->value[c - 1], want, tolerance, 0),
			  "%s, frame %ld: column %d is %.17g, not %.17g", csv->path,
			  (long)row->frame, c, row->value[c - 1], want);
	}
	cr_assert(row->frame == (int64_t)golden_number(csv, i, "frame"), "%s: frame", csv->path);
	cr_assert(row->crc == golden_crc(csv, i, "ancestors_crc32"),
		  "%s, frame %ld: other ancestors", csv->path, (long)row->frame);
}

/* The first eight particles of frame k; a log-likelihood near 0 is a difference of large ones. */
static inline void eight_agree(const struct csv *csv, int64_t k, const struct pf_view *v,
			       double tolerance)
{
	for (int i = 0; i < 8; i++) {
		int64_t row = 8 * (k - 1) + i;
		double n = (double)v->particles;
		double got[] = { v->x[i],
				 v->y[i],
				 v->loglik[i],
				 v->w[i],
				 v->c[i],
				 (v->estimate.u + i) / n,
				 (double)v->ancestor[i] };

		for (int c = 0; c < 7; c++) {
			double want;

			CHECK(!csv_number(csv, row, c + 2, &want), "%s", csv->path);
			cr_assert(agrees(got[c], want, tolerance, c == 2 ? 1 : 0),
				  "%s, frame %ld, particle %d: column %d is %.17g, not %.17g",
				  csv->path, (long)k, i, c + 2, got[c], want);
		}
	}
}

#endif
