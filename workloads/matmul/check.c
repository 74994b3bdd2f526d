/*
 * check.c - is the product right, all of it there, and nothing written besides?
 *
 * Elements are compared with products in double of matrices that are made anew: all of them, or
 * where that takes too long those where some rows and some columns cross. All are looked at for
 * what no step has written. The other bytes, and copies, are looked at by dataset_audit().
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/matmul/matmul.h"
#include "workloads/matmul/reference.h"
#include "workloads/workload.h"

enum {
	SAMPLE_TAG = 31,
	STRETCHES = 64,	    /* of a sample: one row of each, and one column */
	ENDS = 8,	    /* and these beside the borders of tiles */
	PANEL = 1 << 21,    /* numbers of B that are kept at a time: 16 MiB */
	PANEL_COLUMNS = 64, /* at least */
};

static const double all_below = 0x1p27; /* multiply-adds of a slot: 0.1 to 0.2 s */

/*
 * In units of the norms of the row and the column. In plain float the error is up to 1.8e-7,
 * whatever the inner length is; in TF32 its root mean square is 1.9e-6 or more. Sums of small
 * integers have none.
 */
static const double allowed = 5e-7;
static const double each_flaw = 1000; /* added to the error for what is not as it must be */

/* Indices of the rows or columns that are compared, in order. */
struct lines {
	uint32_t *at, n;
};

struct audit {
	const struct matmul_opts *o;
	const struct matmul_state *s;
	struct verdict *v;
	struct dataset_audit found;
	struct matmul_inputs in; /* of the slot in hand */
	struct lines rows, cols;
	double *panel, *norm; /* some columns of B, and their norms */
	double *row, *want;   /* a row of A, and what it gives with these columns */
	float *got;
	double worst;
};

static void *allocate_zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	CHECK(p, "%zu times %zu bytes", n, size);
	return p;
}

/* ---- which rows and columns --------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static struct lines all_lines(uint32_t length)
{
	struct lines l = { allocate_zeroed(length, sizeof(*l.at)), length };

	for (uint32_t i = 0; i < length; i++)
		l.at[i] = i;
	return l;
}

/* In order, each once. */
static void sort_lines(struct lines *l)
{
	uint32_t n = 0;

	qsort(l->at, l->n, sizeof(*l->at), compare_numbers);
	for (uint32_t i = 0; i < l->n; i++)
		if (!i || l->at[i] != l->at[i - 1])
			l->at[n++] = l->at[i];
	l->n = n;
}

/* One of each stretch, and those around borders of tiles. which: 0 for rows, 1 for columns. */
static struct lines sample_lines(uint32_t length, uint32_t which, uint64_t seed)
{
	uint32_t last = (length - 1) / 128 * 128; /* where the last large tile begins */
	const uint32_t ends[ENDS] = { 0, 31, 32, 63, 64, last - 1, last, length - 1 };
	struct lines l = { allocate_zeroed(STRETCHES + ENDS, sizeof(*l.at)), 0 };

	for (uint64_t i = 0; i < STRETCHES; i++) {
		uint32_t begin = (uint32_t)(length * i / STRETCHES);
		uint32_t n = (uint32_t)(length * (i + 1) / STRETCHES) - begin;
		struct philox r = philox4x32((uint32_t)i, which, SAMPLE_TAG, 0, seed);

		if (n)
			l.at[l.n++] = begin + r.word[0] % n;
	}
	for (int i = 0; i < ENDS; i++)
		if (ends[i] < length)
			l.at[l.n++] = ends[i];
	sort_lines(&l);
	return l;
}

static void choose_lines(struct audit *a)
{
	struct matmul_shape s = a->s->shape;
	bool all = a->v->full || (double)s.m * s.n * s.k <= all_below;

	a->rows = all ? all_lines(s.m) : sample_lines(s.m, 0, a->v->seed);
	a->cols = all ? all_lines(s.n) : sample_lines(s.n, 1, a->v->seed);
}

/* ---- elements --------------------------------------------------------------------------- */

/* The error of an element, relative to the product of the norms where rounding is allowed. */
static double element_error(const struct audit *a, double got, double want, double norms)
{
	double off = fabs(got - want);

	if (a->o->fill == MATMUL_SMALL || off == 0)
		return off;
	return off / norms;
}

static void compare_element(struct audit *a, uint32_t row, uint32_t col, double got, double want,
			    double norms)
{
	double error = element_error(a, got, want, norms);

	a->v->compared++;
	if (error <= a->worst)
		return;
	a->worst = error;
	snprintf(a->v->worst, sizeof(a->v->worst), "C[%u,%u], slot %u: %.9g instead of %.9g", row,
		 col, a->in.slot, got, want);
}

/* A row of the product in `count` columns, which a->panel has. */
static void check_row(struct audit *a, uint32_t row, const uint32_t *col, uint32_t count)
{
	struct matmul_shape s = a->s->shape;
	double norm;

	matmul_row(&a->in, row, a->row);
	matmul_reference(a->row, a->panel, s.k, count, a->want);
	norm = matmul_norm(a->row, s.k, 1);
	dataset_fetch(&a->s->set, 0, a->in.slot, (int64_t)row * s.n + col[0],
		      col[count - 1] - col[0] + 1, a->got);
	for (uint32_t c = 0; c < count; c++)
		compare_element(a, row, col[c], a->got[col[c] - col[0]], a->want[c],
				norm * a->norm[c]);
}

/* Columns of B that are kept at a time. */
static uint32_t panel_width(const struct audit *a)
{
	uint32_t fit = PANEL / a->s->shape.k;

	fit = fit < PANEL_COLUMNS ? PANEL_COLUMNS : fit;
	return fit < a->cols.n ? fit : a->cols.n;
}

static int compare_slot(struct audit *a)
{
	uint32_t k = a->s->shape.k, width = panel_width(a), count;

	for (uint32_t at = 0; at < a->cols.n; at += count) {
		const uint32_t *col = a->cols.at + at;

		count = a->cols.n - at < width ? a->cols.n - at : width;
		matmul_columns(&a->in, col, count, a->panel);
		for (uint32_t c = 0; c < count; c++)
			a->norm[c] = matmul_norm(a->panel + c, k, count);
		for (uint32_t i = 0; i < a->rows.n; i++) {
			if (interrupted())
				return -EINTR;
			check_row(a, a->rows.at[i], col, count);
		}
	}
	return 0;
}

/* Is there a number in all elements of the slot? */
static int find_unwritten(struct audit *a)
{
	int64_t words = a->s->set.shape.array[MATMUL_C].words, n;
	float *piece = allocate_zeroed(DATASET_PIECE, sizeof(*piece));
	bool stop = false;

	for (int64_t at = 0; at < words && !stop; at += n) {
		n = words - at < DATASET_PIECE ? words - at : DATASET_PIECE;
		dataset_fetch(&a->s->set, 0, a->in.slot, at, n, piece);
		for (int64_t i = 0; i < n; i++)
			if (isnan(piece[i]))
				dataset_flaw(&a->found, &a->s->set, "no number", a->in.slot,
					     at + i);
		stop = interrupted();
	}
	free(piece);
	return stop ? -EINTR : 0;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static int check_slots(struct audit *a)
{
	int err = 0;

	for (int64_t slot = 0; slot < a->o->set.slots && !err; slot++) {
		if (!(a->found.answers >> slot & 1))
			continue;
		a->in.slot = (uint32_t)slot;
		err = find_unwritten(a);
		if (!err)
			err = compare_slot(a);
	}
	return err;
}

static void set_verdict(struct audit *a)
{
	struct verdict *v = a->v;
	bool small = a->o->fill == MATMUL_SMALL;

	v->measure = small ? "largest difference of an element, of which there may be none"
			   : "largest error of an element, in units of the norms of its row of A "
			     "and its column of B";
	v->total = a->s->set.shape.array[MATMUL_C].words * __builtin_popcountll(a->found.answers);
	v->tolerance = small ? 0 : allowed;
	v->error = a->worst + each_flaw * (double)a->found.flaws;
	v->passed = v->error <= v->tolerance;
	if (a->found.flaws)
		snprintf(v->worst, sizeof(v->worst), "%s", a->found.first);
}

static int check_elements(struct audit *a)
{
	const struct matmul_opts *o = a->o;
	uint32_t width;
	int err;

	a->v->compared = 0;
	a->in = (struct matmul_inputs){ a->s->shape, 0, (uint64_t)o->seed,
					(enum matmul_fill)o->fill };
	choose_lines(a);
	width = panel_width(a);
	a->panel = allocate_zeroed((size_t)width * a->s->shape.k, sizeof(*a->panel));
	a->norm = allocate_zeroed(width, sizeof(*a->norm));
	a->want = allocate_zeroed(width, sizeof(*a->want));
	a->row = allocate_zeroed(a->s->shape.k, sizeof(*a->row));
	a->got = allocate_zeroed(a->s->shape.n, sizeof(*a->got));
	err = check_slots(a);
	set_verdict(a);
	free(a->rows.at);
	free(a->cols.at);
	free(a->panel);
	free(a->norm);
	free(a->want);
	free(a->row);
	free(a->got);
	return err;
}

int matmul_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct matmul_state *s = state;
	struct audit a = { .o = opts, .s = s, .v = v };
	const struct dataset_extent extent = { steps, v->graph_steps, v->full, v->seed };
	int err = dataset_audit(&s->set, &matmul_work, opts, state, &extent, &a.found);

	return err ? err : check_elements(&a);
}
