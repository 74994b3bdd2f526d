/* report.c - what `rift run` prints about the cells, and the files that options ask for. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cuda_check.h"
#include "workloads/myocyte/myocyte.h"
#include "workloads/workload.h"

enum { CA_I = 37 };

static const char *const equations[] = {
	[MYOCYTE_PUBLISHED] = "as published",
	[MYOCYTE_RODINIA] = "as the Rodinia benchmark has them",
};

static const char *const spreads[] = {
	[MYOCYTE_THREAD] = "a thread for each cell",
	[MYOCYTE_CELL_A_BLOCK] = "a block for each cell",
	[MYOCYTE_CELLS_A_BLOCK] = "a block for 32 cells",
};

static struct report_row *add_row(struct report *r, const char *name, const char *unit,
				  double value)
{
	struct report_row *row = &r->row[r->n];

	CHECK(r->n < REPORT_ROWS_MAX, "%s", name);
	r->n++;
	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

static void add_text(struct report *r, const char *name, const char *text)
{
	struct report_row *row = add_row(r, name, "", 0);

	snprintf(row->text, sizeof(row->text), "%s", text);
}

static void add_file(struct report *r, const char *name, const char *path, int64_t rows)
{
	struct report_row *row = add_row(r, name, "", 0);

	snprintf(row->text, sizeof(row->text), "%ld rows in %s", (long)rows, path);
}

static int report_derivatives(const struct myocyte_opts *o, struct myocyte_state *s,
			      struct report *out)
{
	int64_t rows = s->cells.cells;
	int err = myocyte_write_derivatives(s);

	if (err)
		return err;
	add_file(out, "derivatives", o->derivatives, rows);
	if (s->ignored)
		add_row(out, "columns ignored", "1", (double)s->ignored);
	return 0;
}

static int report_cell(const struct myocyte_opts *o, struct myocyte_state *s, struct report *out)
{
	const int64_t first = 0;
	struct myocyte_cell cell;
	int err = myocyte_read_cells(s, &first, 1, &cell);

	if (err)
		return err;
	add_text(out, "equations", equations[myocyte_equations(o)]);
	add_text(out, "spread", spreads[s->cells.spread]);
	if (o->solver == MYOCYTE_ADAPTIVE || o->solver == MYOCYTE_ROSENBROCK)
		add_row(out, "tolerance", "1", myocyte_tolerance(o));
	add_row(out, "simulated time", "ms", cell.t);
	add_row(out, "spans completed", "1", (double)cell.count[MYOCYTE_SPANS]);
	add_row(out, "V", "mV", cell.y[MYOCYTE_V]);
	add_row(out, "Ca_i", "uM", 1e3 * cell.y[CA_I]);
	add_row(out, "steps accepted", "1", (double)cell.count[MYOCYTE_ACCEPTED]);
	if (o->solver != MYOCYTE_FIXED)
		add_row(out, "steps rejected", "1", (double)cell.count[MYOCYTE_REJECTED]);
	return 0;
}

int myocyte_report(const void *opts, void *state, struct report *out)
{
	const struct myocyte_opts *o = opts;
	struct myocyte_state *s = state;
	int64_t rows;
	int err;

	if (o->derivatives)
		return report_derivatives(o, s, out);
	err = report_cell(o, s, out);
	if (err || !o->trajectory)
		return err;
	err = myocyte_write_trajectory(o, s, &rows);
	if (!err)
		add_file(out, "trajectory", o->trajectory, rows);
	return err;
}
