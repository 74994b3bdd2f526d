/*
 * app_derivatives.c - states=IN.csv derivatives=OUT.csv: the right-hand side of the device for
 * states of the user's choice.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "workloads/myocyte/myocyte.h"

/* What a row of states= holds; the parameters are looked for as p0..p15. */
struct table {
	struct csv csv;
	int t, y[MYOCYTE_STATES], p[MYOCYTE_PARAMS];
	bool has_p;
};

/* Columns PREFIX0 .. PREFIX(n-1), all of which must be there. */
static int find_columns(const struct csv *csv, const char *prefix, int n, int *columns)
{
	char name[16];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%d", prefix, i);
		columns[i] = csv_column(csv, name);
		if (columns[i] < 0)
			return columns[i];
	}
	return 0;
}

/* All of p0..p15 or none: p5 alone, or P5, is a mistake that would go unnoticed. */
static bool any_parameter(const struct csv *csv)
{
	char name[16];

	for (int i = 0; i < MYOCYTE_PARAMS; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		if (csv_find(csv, name) >= 0)
			return true;
	}
	return false;
}

static int open_table(const struct myocyte_opts *o, struct table *t)
{
	int err = csv_read(o->states, &t->csv);

	if (err)
		return err;
	err = csv_must_end(&t->csv);
	if (err)
		return err;
	t->t = csv_column(&t->csv, "t");
	err = t->t < 0 ? t->t : find_columns(&t->csv, "y", MYOCYTE_STATES, t->y);
	t->has_p = !err && any_parameter(&t->csv);
	if (t->has_p)
		err = find_columns(&t->csv, "p", MYOCYTE_PARAMS, t->p);
	if (!err && t->has_p && o->parameters)
		err = complain(EINVAL, "parameters=%s is not used: %s has p0..p15 of its own",
			       o->parameters, o->states);
	if (!err && t->csv.rows > MYOCYTE_CELLS_MAX)
		err = complain(EINVAL, "%s: %ld rows; at most %d fit", o->states, (long)t->csv.rows,
			       MYOCYTE_CELLS_MAX);
	return err;
}

/* ---- host copies, [component][row], as the device wants them --------------------------- */

struct rows {
	double *t, *y, *p;
};

static void free_rows(struct rows *r)
{
	free(r->t);
	free(r->y);
	free(r->p);
}

static struct rows allocate_rows(int64_t n)
{
	struct rows r = {
		.t = malloc((size_t)n * sizeof(double)),
		.y = malloc((size_t)n * sizeof(double) * MYOCYTE_STATES),
		.p = malloc((size_t)n * sizeof(double) * MYOCYTE_PARAMS),
	};

	CHECK(r.t && r.y && r.p, "%ld rows", (long)n);
	return r;
}

/* Times and parameters are checked: the states may be anything finite. */
static int read_row(const struct table *t, int64_t row, const double nominal[], struct rows *r)
{
	int64_t n = t->csv.rows;
	int err = csv_number(&t->csv, row, t->t, &r->t[row]);

	for (int i = 0; !err && i < MYOCYTE_STATES; i++)
		err = csv_number(&t->csv, row, t->y[i], &r->y[i * n + row]);
	for (int i = 0; !err && i < MYOCYTE_PARAMS; i++) {
		r->p[i * n + row] = nominal[i];
		if (t->has_p)
			err = csv_number(&t->csv, row, t->p[i], &r->p[i * n + row]);
	}
	if (!err && !(r->p[row] > 0))
		err = complain(EINVAL, "%s:%ld: p0=%g: must be a cycle length above 0 ms",
			       t->csv.path, (long)row + 2, r->p[row]);
	return err;
}

static int read_rows(const struct table *t, const double nominal[], struct rows *r)
{
	int err = 0;

	for (int64_t row = 0; !err && row < t->csv.rows; row++)
		err = interrupted() ? -EINTR : read_row(t, row, nominal, r);
	return err;
}

/* In the precision of the cells. */
static void upload_reals(const struct myocyte_cells *c, void *to, const double *from, size_t n)
{
	float *rounded = c->single ? malloc(n * sizeof(*rounded)) : NULL;

	CHECK(rounded || !c->single, "%zu numbers", n);
	for (size_t i = 0; rounded && i < n; i++)
		rounded[i] = (float)from[i];
	CUDA(cudaMemcpy(to, rounded ? (const void *)rounded : from, n * myocyte_real_bytes(c),
			cudaMemcpyHostToDevice));
	free(rounded);
}

static void upload_states(const struct rows *r, const struct myocyte_cells *c)
{
	size_t n = (size_t)c->cells;

	CUDA(cudaMemcpy(c->t, r->t, n * sizeof(double), cudaMemcpyHostToDevice));
	upload_reals(c, c->y, r->y, n * MYOCYTE_STATES);
	upload_reals(c, c->p, r->p, n * MYOCYTE_PARAMS);
}

static int load_states(const struct table *t, struct myocyte_state *s)
{
	struct rows r = allocate_rows(t->csv.rows);
	int err = read_rows(t, s->parameters, &r);

	s->cells.cells = s->cells.stride = s->cells.running = t->csv.rows;
	s->cells.by_host = false; /* nothing to decide */
	s->cells.states_only = true;
	s->cells.guarded = s->cells.benchmark;
	if (!err)
		err = myocyte_allocate(&s->cells);
	if (!err)
		upload_states(&r, &s->cells);
	free_rows(&r);
	return err;
}

int myocyte_setup_derivatives(const struct myocyte_opts *o, struct myocyte_state *s)
{
	struct table t = { .csv = { 0 } };
	int err = open_table(o, &t);

	if (!err)
		err = output_create(&s->output, "derivatives", o->derivatives);
	if (!err)
		err = load_states(&t, s);
	if (!err)
		s->ignored = t.csv.columns - 1 - MYOCYTE_STATES - (t.has_p ? MYOCYTE_PARAMS : 0);
	csv_free(&t.csv);
	return err;
}

/* ---- writing --------------------------------------------------------------------------- */

/* Number i of an array of the cells. */
static double real_at(const struct myocyte_cells *c, const void *array, int64_t i)
{
	return c->single ? ((const float *)array)[i] : ((const double *)array)[i];
}

static void write_rows(struct output *out, const struct myocyte_cells *c, const void *f)
{
	double row[MYOCYTE_STATES];
	int64_t n = c->cells;

	for (int i = 0; i < MYOCYTE_STATES; i++)
		fprintf(out->file, "f%d%c", i, i == MYOCYTE_STATES - 1 ? '\n' : ',');
	for (int64_t r = 0; r < n && !interrupted(); r++) {
		for (int i = 0; i < MYOCYTE_STATES; i++)
			row[i] = real_at(c, f, i * n + r);
		output_numbers(out, row, MYOCYTE_STATES);
	}
}

int myocyte_write_derivatives(struct myocyte_state *s)
{
	size_t bytes = (size_t)s->cells.cells * MYOCYTE_STATES * myocyte_real_bytes(&s->cells);
	void *f = malloc(bytes);

	CHECK(f, "%zu bytes", bytes);
	CHECK(s->output.file, "derivatives: setup opens it for one report");
	myocyte_derivatives(&s->cells, NULL);
	CUDA(cudaMemcpy(f, s->cells.k, bytes, cudaMemcpyDeviceToHost));
	write_rows(&s->output, &s->cells, f);
	free(f);
	return interrupted() ? -EINTR : output_commit(&s->output);
}
