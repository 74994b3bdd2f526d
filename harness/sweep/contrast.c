/* contrast.c - what the two sides of a session say of each other. */
#include "harness/sweep/contrast.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/decide.h"
#include "harness/json.h"
#include "harness/sweep/csv_points.h"

static struct interval *ratios_of(const struct results *r)
{
	int n = r->j->plan.n_points;
	struct interval *ratio = calloc((size_t)n + 1, sizeof(*ratio));

	CHECK(ratio, "memory of %d ratios", n);
	for (int i = 0; i < n; i++)
		ratio[i] = results_ratio(r, i);
	return ratio;
}

/* ---- for people ------------------------------------------------------------------------- */

struct differing {
	int point;
	double size; /* |log ratio| */
};

static int by_size(const void *a, const void *b)
{
	const struct differing *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->point - y->point;
}

static void print_differing(const struct plan *p, const struct interval *ratio, FILE *out)
{
	struct differing *d = calloc((size_t)p->n_points + 1, sizeof(*d));
	char text[160];
	int n = 0;

	CHECK(d, "memory of %d points", p->n_points);
	for (int i = 0; i < p->n_points; i++) {
		enum ratio_verdict v = verdict_of(&ratio[i], MARGIN_DEFAULT);

		if (v == VERDICT_SLOWER || v == VERDICT_FASTER)
			d[n++] = (struct differing){ i, fabs(log(ratio[i].value)) };
	}
	qsort(d, (size_t)n, sizeof(*d), by_size);
	if (n)
		fprintf(out, "%8s  %-18s\n", "b / a", "95 % interval");
	for (int k = 0; k < n; k++) {
		const struct interval *i = &ratio[d[k].point];

		plan_point_text(p, d[k].point, text, sizeof(text));
		fprintf(out, "%8.4f  %.4f to %.4f  %s  %s\n", i->value, i->lo, i->hi,
			verdict_names[verdict_of(i, MARGIN_DEFAULT)], text);
	}
	free(d);
}

static void print_counts(const struct plan *p, const struct interval *ratio, FILE *out)
{
	const struct same_system s = same_system_of(ratio, p->n_points, MARGIN_DEFAULT);
	int same = 0;

	for (int i = 0; i < p->n_points; i++)
		same += verdict_of(&ratio[i], MARGIN_DEFAULT) == VERDICT_SAME;
	fprintf(out, "%d points: %d slower, %d faster, %d same, %d open", s.points, s.slower,
		s.faster, same, s.points - s.slower - s.faster - same);
	if (s.known)
		fprintf(out, "; %.1f %% exclude equality by more than %.0f %%", 100 * s.share,
			100 * MARGIN_DEFAULT);
	fprintf(out, "\n");
}

void contrast_print(const struct results *r, FILE *out)
{
	struct interval *ratio = ratios_of(r);

	fprintf(out, "\nside b over side a, n = %d processes each, time per step%s\n", r->processes,
		r->processes < BOOTSTRAP_N_MIN ? ": intervals take 5 processes or more" : "");
	print_differing(&r->j->plan, ratio, out);
	print_counts(&r->j->plan, ratio, out);
	free(ratio);
}

/* ---- for machines ----------------------------------------------------------------------- */

static json_t *row_of(const struct results *r, int point)
{
	const struct interval ratio = results_ratio(r, point);

	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:s}", "processes", ratio.n,
			 "a_step_ns", json_number(results_interval(r, 0, point).value), "b_step_ns",
			 json_number(results_interval(r, 1, point).value), "ratio",
			 json_number(ratio.value), "ratio_lo", json_number(ratio.lo), "ratio_hi",
			 json_number(ratio.hi), "verdict",
			 verdict_names[verdict_of(&ratio, MARGIN_DEFAULT)], "key",
			 r->j->plan.point[point].key);
}

static void put_row(FILE *out, const json_t *o, bool names)
{
	const char *name, *comma = "";
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)o, name, v)
	{
		fputs(comma, out);
		comma = ",";
		if (names)
			fputs(name, out);
		else
			csv_value(out, v);
	}
	fputc('\n', out);
}

/* The axes of all workloads, so that every line has the same columns. */
static json_t *columns_of(const struct plan *p)
{
	json_t *all = json_object(), *axes;

	for (int i = 0; i < p->n_points; i++) {
		axes = plan_axes_json(p, i);
		json_object_update_missing(all, axes);
		json_decref(axes);
	}
	return all;
}

void contrast_csv(const struct results *r, FILE *out)
{
	const struct plan *p = &r->j->plan;
	json_t *columns = columns_of(p), *empty = json_deep_copy(columns), *v;
	const char *name;

	json_object_foreach(columns, name, v)
	{
		json_object_set_new(empty, name, json_null());
	}
	for (int i = 0; i < p->n_points; i++) {
		json_t *line = json_deep_copy(empty), *axes = plan_axes_json(p, i);
		json_t *row = row_of(r, i);

		json_object_update(line, axes);
		json_object_update(line, row);
		if (!i)
			put_row(out, line, true);
		put_row(out, line, false);
		json_decref(line);
		json_decref(axes);
		json_decref(row);
	}
	json_decref(columns);
	json_decref(empty);
}
