/* report.c - what `rift run` prints about products: how fast, how they are cut, what is copied. */
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "workloads/matmul/matmul.h"
#include "workloads/workload.h"

static struct report_row *add_row(struct report *r, const char *name, const char *unit,
				  double value)
{
	struct report_row *row = &r->row[r->n];

	CHECK(r->n < REPORT_ROWS_MAX, "%s", name);
	r->n++;
	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

static void report_tiles(const struct matmul_state *s, struct report *out)
{
	static const int sides[] = { 0, 128, 64, 32 };
	struct report_row *row = add_row(out, "tiles", "", 0);
	int side = sides[s->tile];

	snprintf(row->text, sizeof(row->text), "%u of %d x %d",
		 (s->shape.m + side - 1) / side * ((s->shape.n + side - 1) / side), side, side);
}

/* The variable makes cuBLAS round what it multiplies to 10 bits, which the check then finds. */
static void report_library(const struct matmul_state *s, struct report *out)
{
	const char *forced = getenv("NVIDIA_TF32_OVERRIDE");
	struct report_row *row = add_row(out, "library", "", 0);

	snprintf(row->text, sizeof(row->text), "%s%s%.40s", s->library.blas->name,
		 forced ? ", with NVIDIA_TF32_OVERRIDE=" : "", forced ? forced : "");
}

int matmul_report(const void *opts, void *state, struct report *out)
{
	const struct matmul_opts *o = opts;
	struct matmul_state *s = state;
	bool streamed = o->set.data == STREAMED_STREAMED;
	double flops = 2.0 * s->shape.m * s->shape.n * s->shape.k;
	double bytes = (double)dataset_bytes(&s->set.shape);
	int64_t n;
	double ns = dataset_step_ns(matmul_step, opts, state, &n);

	add_row(out, "products", "GFLOP/s", flops / ns)->n = n;
	if (streamed)
		add_row(out, "copied", "GB/s", bytes / ns)->n = n;
	if (o->impl == MATMUL_CUBLAS)
		report_library(s, out);
	else
		report_tiles(s, out);
	dataset_touched_text(&s->set, add_row(out, "working set", "", 0)->text);
	if (streamed)
		dataset_copies_text(&s->set, add_row(out, "copies a step", "", 0)->text);
	return 0;
}
