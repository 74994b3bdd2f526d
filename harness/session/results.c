/*
 * results.c - what the processes of a session say of its points, and its two sides of each other.
 */
#include "harness/session/results.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/measure/plan_record.h"
#include "harness/record/point_record.h"
#include "harness/stats/decide.h"
#include "harness/stats/stats.h"

/* ---- points ----------------------------------------------------------------------------- */

void results_init(struct results *r, const struct journal *j, int processes)
{
	*r = (struct results){ .j = j, .processes = processes };
	r->draws = calloc(BOOTSTRAP_DRAWS, sizeof(*r->draws));
	CHECK(r->draws, "memory of draws");
	for (int side = 0; side < j->sides; side++) {
		r->value[side] = calloc((size_t)processes, sizeof(double));
		CHECK(r->value[side], "memory of %d values", processes);
		CHECK(!resamples_init(&r->resamples[side], processes, j->plan.design.seed,
				      journal_draw_group(j, side)),
		      "%d processes", processes);
	}
}

void results_release(struct results *r)
{
	for (int side = 0; side < 2; side++) {
		resamples_release(&r->resamples[side]);
		free(r->value[side]);
	}
	free(r->draws);
	*r = (struct results){ 0 };
}

int results_values(const struct results *r, int side, int point, double *value)
{
	const struct journal *j = r->j;
	int n = 0;

	for (int i = 0; i < r->processes; i++) {
		size_t replicate = (size_t)(side * j->plan.design.processes + i);
		size_t at = replicate * (size_t)j->plan.n_points + (size_t)point;

		if (j->status[at] == POINT_OK && isfinite(j->total_ns[at]))
			value[n++] = j->total_ns[at] / (double)j->plan.point[point].depth;
	}
	return n;
}

/* Into value[side]. */
static int take_values(const struct results *r, int side, int point)
{
	return results_values(r, side, point, r->value[side]);
}

int results_count(const struct results *r, int side, int point)
{
	return take_values(r, side, point);
}

struct interval results_interval(const struct results *r, int side, int point)
{
	int n = take_values(r, side, point);
	struct interval c;

	if (n == r->processes &&
	    !bootstrap_median(&c, &r->resamples[side], r->value[side], r->draws))
		return c;
	c = interval_unknown(n);
	c.value = median_of(r->value[side], n);
	return c;
}

struct modality results_modality(const struct results *r, int side, int point)
{
	int n = take_values(r, side, point);
	struct modality m;

	if (modality_of(&m, r->value[side], n))
		m = (struct modality){ false, { { NAN, 1 }, { NAN, 0 } } };
	return m;
}

/* ---- two kinds of processes: two states of the machine, most likely --------------------- */

enum { SHOWN = 3 };

struct split {
	struct modality m;
	int side, point;
};

static double apart(const struct split *s)
{
	return s->m.mode[1].median / s->m.mode[0].median;
}

static int by_distance(const void *a, const void *b)
{
	double x = apart(a), y = apart(b);

	return (x < y) - (x > y);
}

static int find_splits(const struct results *r, struct split *out)
{
	int n = 0;

	for (int side = 0; side < r->j->sides; side++) {
		for (int i = 0; i < r->j->plan.n_points; i++) {
			struct modality m = results_modality(r, side, i);

			if (m.bimodal)
				out[n++] = (struct split){ m, side, i };
		}
	}
	return n;
}

static void print_one(const struct results *r, const struct split *s, FILE *out)
{
	int n = results_count(r, s->side, s->point);
	char text[160];

	plan_point_text(&r->j->plan, s->point, text, sizeof(text));
	fprintf(out, "  %s%s: %s at %s", text,
		r->j->sides < 2 ? ""
		: s->side	? ", side b"
				: ", side a",
		counted(lround(s->m.mode[0].share * n), "process").s,
		text_time(s->m.mode[0].median).s);
	fprintf(out, ", %ld at %s\n", lround(s->m.mode[1].share * n),
		text_time(s->m.mode[1].median).s);
}

void bimodal_print(const struct results *r, FILE *out)
{
	size_t capacity = (size_t)(r->j->plan.n_points * r->j->sides) + 1;
	struct split *split = calloc(capacity, sizeof(*split));
	int n;

	CHECK(split, "memory of %zu points", capacity);
	n = find_splits(r, split);
	qsort(split, (size_t)n, sizeof(*split), by_distance);
	if (n)
		fprintf(out,
			"\nprocesses fall into two groups at %d of %d points; furthest apart:\n", n,
			(int)capacity - 1);
	for (int i = 0; i < n && i < SHOWN; i++)
		print_one(r, &split[i], out);
	free(split);
}

/* ---- verdicts --------------------------------------------------------------------------- */

/* Values of all points on both sides. */
struct values {
	double *of[2]; /* [point * processes] */
	struct point_pair *pair;
	int *n; /* processes that measured it, on the side with fewer */
};

static void values_init(struct values *v, const struct results *r)
{
	size_t points = (size_t)r->j->plan.n_points, processes = (size_t)r->processes;

	*v = (struct values){ .pair = calloc(points + 1, sizeof(*v->pair)),
			      .n = calloc(points + 1, sizeof(*v->n)) };
	for (int side = 0; side < 2; side++) {
		v->of[side] = calloc(points * processes + 1, sizeof(double));
		CHECK(v->of[side] && v->pair && v->n, "memory of %zu points", points);
	}
	for (size_t i = 0; i < points; i++) {
		double *a = &v->of[0][i * processes], *b = &v->of[1][i * processes];
		int n_a = results_values(r, 0, (int)i, a), n_b = results_values(r, 1, (int)i, b);

		v->n[i] = n_a < n_b ? n_a : n_b;
		if (v->n[i] == r->processes)
			v->pair[i] = (struct point_pair){ .a = a, .b = b };
	}
}

static void values_release(struct values *v)
{
	free(v->of[0]);
	free(v->of[1]);
	free(v->pair);
	free(v->n);
}

/* The points of one wait policy, among each other. */
static void judge_policy(struct judged_point *out, const struct values *v, const struct results *r,
			 const struct contrast *c, enum wait_policy kind)
{
	const struct plan *p = &r->j->plan;
	struct point_pair *pair = calloc((size_t)p->n_points + 1, sizeof(*pair));
	struct judged_point *some = calloc((size_t)p->n_points + 1, sizeof(*some));
	int n = 0;

	CHECK(pair && some, "memory of %d points", p->n_points);
	for (int i = 0; i < p->n_points; i++)
		if (p->point[i].sync == kind)
			pair[n++] = v->pair[i];
	contrast_points(some, pair, n, c, MARGIN_DEFAULT);
	n = 0;
	for (int i = 0; i < p->n_points; i++)
		if (p->point[i].sync == kind)
			out[i] = some[n++];
	free(pair);
	free(some);
}

struct judged_point *sides_judge(const struct results *r, double *level)
{
	int n = r->j->plan.n_points;
	struct judged_point *out = calloc((size_t)n + 1, sizeof(*out));
	struct contrast c;
	struct values v;

	CHECK(out, "memory of %d verdicts", n);
	values_init(&v, r);
	contrast_init(&c, r->processes, r->processes, r->j->plan.design.pairs, journal_looks(r->j));
	for (int kind = 0; kind < SYNC_COUNT; kind++)
		judge_policy(out, &v, r, &c, (enum wait_policy)kind);
	for (int i = 0; i < n; i++)
		if (v.n[i] < r->processes)
			out[i].ratio = interval_unknown(v.n[i]);
	if (level)
		*level = c.level;
	contrast_release(&c);
	values_release(&v);
	return out;
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

static bool is_different(const struct judged_point *p)
{
	return p->judged.verdict == VERDICT_SLOWER || p->judged.verdict == VERDICT_FASTER;
}

static void print_differing(const struct plan *p, const struct judged_point *point, double level,
			    FILE *out)
{
	struct differing *d = calloc((size_t)p->n_points + 1, sizeof(*d));
	char text[160];
	int n = 0;

	CHECK(d, "memory of %d points", p->n_points);
	for (int i = 0; i < p->n_points; i++)
		if (is_different(&point[i]))
			d[n++] = (struct differing){ i, fabs(log(point[i].ratio.value)) };
	qsort(d, (size_t)n, sizeof(*d), by_size);
	if (n)
		fprintf(out, "%8s  %.3g %% interval\n", "b / a", 100 * level);
	for (int k = 0; k < n; k++) {
		const struct judged_point *at = &point[d[k].point];

		plan_point_text(p, d[k].point, text, sizeof(text));
		fprintf(out, "%8.4f  %.4f to %.4f  %s  %s\n", at->ratio.value, at->ratio.lo,
			at->ratio.hi, verdict_names[at->judged.verdict], text);
	}
	free(d);
}

static void print_counts(const struct plan *p, const struct judged_point *point, FILE *out)
{
	int of[VERDICT_INCONCLUSIVE + 1] = { 0 }, alone = 0;

	for (int i = 0; i < p->n_points; i++) {
		const struct judged *j = &point[i].judged;

		of[j->verdict]++;
		alone += j->verdict == VERDICT_INCONCLUSIVE && j->alone != VERDICT_INCONCLUSIVE;
	}
	fprintf(out, "%s: %d slower, %d faster, %d same, %d inconclusive; margin %.0f %%\n",
		counted(p->n_points, "point").s, of[VERDICT_SLOWER], of[VERDICT_FASTER],
		of[VERDICT_SAME], of[VERDICT_INCONCLUSIVE], 100 * MARGIN_DEFAULT);
	if (alone)
		fprintf(out,
			"%d of the inconclusive %s beyond the margin alone; among so many points "
			"that "
			"proves nothing (Benjamini-Hochberg)\n",
			alone, alone == 1 ? "ones is" : "ones are");
}

void sides_print(const struct results *r, FILE *out)
{
	double level;
	struct judged_point *point = sides_judge(r, &level);

	fprintf(out, "\nside b over side a, n = %s each, time per step%s\n",
		counted(r->processes, "process").s, isnan(level) ? ": too few for intervals" : "");
	print_differing(&r->j->plan, point, level, out);
	print_counts(&r->j->plan, point, out);
	free(point);
}

/* ---- for machines ----------------------------------------------------------------------- */

static json_t *point_row(const struct results *r, const struct judged_point *p, int point)
{
	const struct interval *ratio = &p->ratio;

	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s}", "processes", ratio->n,
			 "a_step_ns", json_number(results_interval(r, 0, point).value), "b_step_ns",
			 json_number(results_interval(r, 1, point).value), "ratio",
			 json_number(ratio->value), "ratio_lo", json_number(ratio->lo), "ratio_hi",
			 json_number(ratio->hi), "verdict", verdict_names[p->judged.verdict],
			 "verdict_alone", verdict_names[p->judged.alone], "key",
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
static json_t *column_names(const struct plan *p)
{
	json_t *all = json_object(), *axes;

	for (int i = 0; i < p->n_points; i++) {
		axes = plan_axes_json(p, i);
		json_object_update_missing(all, axes);
		json_decref(axes);
	}
	return all;
}

void sides_csv(const struct results *r, FILE *out)
{
	const struct plan *p = &r->j->plan;
	json_t *columns = column_names(p), *empty = json_deep_copy(columns), *v;
	struct judged_point *point = sides_judge(r, NULL);
	const char *name;

	json_object_foreach(columns, name, v)
	{
		json_object_set_new(empty, name, json_null());
	}
	for (int i = 0; i < p->n_points; i++) {
		json_t *line = json_deep_copy(empty), *axes = plan_axes_json(p, i);
		json_t *row = point_row(r, &point[i], i);

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
	free(point);
}
