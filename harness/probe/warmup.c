/* warmup.c - warm-up curves that were taken: read, and what each of them says. */
#include "harness/probe/warmup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "harness/record/recorded.h"
#include "harness/stats/stats.h"

const char *const beginning_names[] = { "rested", "resumed", "following", NULL };

/* ---- reading ------------------------------------------------------------------------------- */

/* Times and counts, from 0 to some 30 years. */
static const char *damage_of_series(const json_t *o, const char *const *names)
{
	size_t n = json_array_size(json_object_get(o, *names)), i;
	const json_t *v;

	for (; *names; names++) {
		const json_t *series = json_object_get(o, *names);
		double least = names[1] ? 0 : 1e-3; /* the last one is divided by */

		if (!json_is_array(series) || json_array_size(series) != n)
			return "series of a curve are not of one length";
		json_array_foreach(series, i, v)
		{
			double value = json_is_number(v) ? json_number_value(v) : -1;

			if (!(value >= least && value < 1e18))
				return "a time is none";
		}
	}
	return NULL;
}

static const char *damage_of_curve(const json_t *curve)
{
	static const char *const blocks[] = { "begin_ns", "enq_ns", "total_ns", NULL };
	static const char *const bins[] = { "first", "n", "begin_ns", "median_ns", NULL };
	const char *beginning = json_get_text(curve, "beginning"),
		   *why = damage_of_series(curve, blocks);
	json_int_t depth = json_integer_value(json_object_get(curve, "depth"));
	int b = 0;

	while (b < BEGINNINGS && strcmp(beginning, beginning_names[b]) != 0)
		b++;
	if (b == BEGINNINGS)
		return "a curve has no beginning";
	if (depth < 1 || depth > RUN_DEPTH_MAX)
		return "a curve has no depth";
	why = why ? why : damage_of_series(json_object_get(curve, "bins"), bins);
	if (!why && !json_array_size(json_object_get(curve, "total_ns")))
		why = "a curve has no sample";
	return why;
}

static const char *damage_of(const json_t *curves)
{
	const json_t *array = json_object_get(curves, "curves"), *curve;
	json_int_t n = json_integer_value(json_object_get(curves, "processes"));
	const char *why = n < 1 || n > WARMUP_PROCESSES_MAX || !json_array_size(array)
				  ? "no processes or no curves, or too many"
				  : NULL;
	size_t i;

	json_array_foreach(array, i, curve)
	{
		why = why ? why : damage_of_curve(curve);
	}
	return why;
}

int warmup_read(const char *path, json_t **curves)
{
	static const struct object_kind kind = {
		"warm-up curves", "rift probe --warmup --output FILE makes them",
		WARMUP_SCHEMA,	  WARMUP_SCHEMA_MAJOR,
		warmup_is_named,  damage_of,
	};

	return object_read(curves, path, &kind);
}

/* ---- one curve ----------------------------------------------------------------------------- */

static void append(struct curve *c, const json_t *begin, const json_t *total)
{
	for (size_t i = 0; i < json_array_size(total); i++) {
		c->begin_ns[c->n] = json_number_value(json_array_get(begin, i));
		c->total_ns[c->n++] = json_number_value(json_array_get(total, i));
	}
}

void curve_init(struct curve *c, const json_t *curve)
{
	const json_t *bins = json_object_get(curve, "bins");
	const json_t *total = json_object_get(curve, "total_ns");
	const json_t *medians = json_object_get(bins, "median_ns");
	const json_t *enq = json_object_get(curve, "enq_ns");
	size_t n = json_array_size(total) + json_array_size(medians);

	*c = (struct curve){ .depth = json_get_number(curve, "depth"),
			     .begin_ns = calloc(n + 1, sizeof(double)),
			     .total_ns = calloc(n + 1, sizeof(double)),
			     .enq_ns = calloc(n + 1, sizeof(double)) };
	CHECK(c->begin_ns && c->total_ns && c->enq_ns, "memory of %zu blocks", n);
	append(c, json_object_get(curve, "begin_ns"), total);
	c->raw = c->n;
	for (int i = 0; i < c->raw; i++)
		c->enq_ns[i] = json_number_value(json_array_get(enq, (size_t)i));
	append(c, json_object_get(bins, "begin_ns"), medians);
}

void curve_release(struct curve *c)
{
	free(c->begin_ns);
	free(c->total_ns);
	free(c->enq_ns);
	*c = (struct curve){ 0 };
}

static double median_from(const struct curve *c, int from, int n)
{
	double *sorted = sorted_copy(c->total_ns + from, n), median;

	if (!sorted)
		return NAN;
	median = median_of(sorted, n);
	free(sorted);
	return median;
}

/* By time: of the last quarter, but of three at least. */
static double steady_ns(const struct curve *c)
{
	double from = 0.75 * c->begin_ns[c->n - 1];
	int i = 0;

	while (i < c->n - 3 && c->begin_ns[i] < from)
		i++;
	return median_from(c, i, c->n - i);
}

static int settled(const struct curve *c, double steady)
{
	for (int i = 0; i + 3 <= c->n; i++)
		if (fabs(median_from(c, i, 3) / steady - 1) <= 0.05 &&
		    fabs(c->total_ns[i] / steady - 1) <= 0.05)
			return i;
	return c->n - 1;
}

/* measure_warmup(): two blocks in turn within 5 %, or 1 s. */
static int left_out(const struct curve *c)
{
	for (int i = 1; i < c->raw; i++)
		if (fabs(c->total_ns[i] - c->total_ns[i - 1]) <= 0.05 * c->total_ns[i - 1] ||
		    c->begin_ns[i] + c->total_ns[i] >= SECOND_NS)
			return i + 1;
	return c->raw;
}

/* The blocks that `rift run` would time: those that fit in a second. NAN: there are none left. */
static double median_after(const struct curve *c, int from)
{
	int64_t n;

	if (from >= c->n)
		return NAN;
	n = blocks_that_fit((int64_t)c->total_ns[from - 1]);
	return median_from(c, from, from + n <= c->n ? (int)n : c->n - from);
}

/* Blocks that begin from so many ns on and before so many; NAN: there are none. */
static double median_between(const struct curve *c, double from, double to)
{
	int i = 0, n = 0;

	while (i < c->n && c->begin_ns[i] < from)
		i++;
	while (i + n < c->n && c->begin_ns[i + n] < to)
		n++;
	return n ? median_from(c, i, n) : NAN;
}

/*
 * Single blocks alone: launch calls, and what is left of each block. Later is the median of their
 * last quarter. All are NAN where the calls are not known.
 */
static void split(struct curve_facts *out, const struct curve *c)
{
	int n = c->enq_ns ? c->raw / 4 : 0, from = c->raw - n;
	double *call = calloc((size_t)n + 1, sizeof(*call));
	double *rest = calloc((size_t)n + 1, sizeof(*rest));

	CHECK(call && rest, "memory of %d blocks", n);
	for (int i = 0; i < n; i++) {
		call[i] = c->enq_ns[from + i];
		rest[i] = c->total_ns[from + i] - call[i];
	}
	out->call_first_ns = n ? c->enq_ns[0] : NAN;
	out->rest_first_ns = n ? c->total_ns[0] - c->enq_ns[0] : NAN;
	out->call_later_ns = median_of(call, n);
	out->rest_later_ns = median_of(rest, n);
	out->call_more_ns = out->call_first_ns - out->call_later_ns;
	out->rest_more_ns = out->rest_first_ns - out->rest_later_ns;
	free(call);
	free(rest);
}

void curve_facts(struct curve_facts *out, const struct curve *c)
{
	double steady = steady_ns(c), end = c->begin_ns[c->n - 1] + c->total_ns[c->n - 1];
	int from = settled(c, steady), skipped = left_out(c);

	*out = (struct curve_facts){ .first_ns = c->total_ns[0] / c->depth,
				     .steady_ns = steady / c->depth,
				     .settled_block = from,
				     .settled_ns = c->begin_ns[from],
				     .warmup_blocks = skipped,
				     .after_warmup = median_after(c, skipped) / steady };
	out->early_ns = median_between(c, 1e6, 1e7) / c->depth;
	out->late_ns = median_between(c, end - SECOND_NS, end) / c->depth;
	out->late_over_early = out->late_ns / out->early_ns;
	split(out, c);
}

/* ---- over processes ------------------------------------------------------------------------ */

struct facts_list {
	int n;
	struct curve_facts of[WARMUP_PROCESSES_MAX];
};

static void collect(struct facts_list *list, const json_t *curves, int64_t depth,
		    enum beginning beginning)
{
	const json_t *curve;
	size_t i;

	list->n = 0;
	json_array_foreach(json_object_get(curves, "curves"), i, curve)
	{
		struct curve c;

		if ((int64_t)json_get_number(curve, "depth") != depth ||
		    list->n == WARMUP_PROCESSES_MAX ||
		    strcmp(json_get_text(curve, "beginning"), beginning_names[beginning]) != 0)
			continue;
		curve_init(&c, curve);
		curve_facts(&list->of[list->n++], &c);
		curve_release(&c);
	}
}

static struct interval over(const struct facts_list *list, const struct resamples *r, size_t offset,
			    double *draws)
{
	struct interval out = interval_unknown(list->n);
	double value[WARMUP_PROCESSES_MAX];

	for (int i = 0; i < list->n; i++)
		value[i] = *(const double *)(const void *)((const char *)&list->of[i] + offset);
	if (bootstrap_median(&out, r, value, draws))
		return interval_unknown(list->n);
	return out;
}

static struct interval ratio_over(const struct facts_list *list, const struct resamples *r,
				  double *draws)
{
	struct interval out = interval_unknown(list->n);
	double value[WARMUP_PROCESSES_MAX];

	for (int i = 0; i < list->n; i++)
		value[i] = list->of[i].first_ns / list->of[i].steady_ns;
	if (bootstrap_median(&out, r, value, draws))
		return interval_unknown(list->n);
	return out;
}

static void fill_row(struct warmup_row *row, const struct facts_list *list, uint64_t seed)
{
	double *draws = calloc(BOOTSTRAP_DRAWS, sizeof(*draws));
	struct resamples r;

	CHECK(draws, "memory of draws");
	CHECK(!resamples_init(&r, list->n, seed, 0), "%d processes", list->n);
#define OVER(field) row->field = over(list, &r, offsetof(struct curve_facts, field), draws)
	row->n = list->n;
	OVER(first_ns);
	OVER(steady_ns);
	OVER(settled_block);
	OVER(settled_ns);
	OVER(warmup_blocks);
	OVER(after_warmup);
	OVER(call_first_ns);
	OVER(call_later_ns);
	OVER(call_more_ns);
	OVER(rest_first_ns);
	OVER(rest_later_ns);
	OVER(rest_more_ns);
	OVER(early_ns);
	OVER(late_ns);
	OVER(late_over_early);
#undef OVER
	row->ratio = ratio_over(list, &r, draws);
	resamples_release(&r);
	free(draws);
}

/* Each once, in the order of the file. */
static int list_depths(const json_t *curves, int64_t *depth)
{
	const json_t *curve;
	int n = 0, k;
	size_t i;

	json_array_foreach(json_object_get(curves, "curves"), i, curve)
	{
		int64_t of = (int64_t)json_get_number(curve, "depth");

		for (k = 0; k < n && depth[k] != of; k++)
			;
		if (k == n && n < WARMUP_DEPTHS_MAX)
			depth[n++] = of;
	}
	return n;
}

int warmup_rows(struct warmup_row *row, const json_t *curves)
{
	struct facts_list *list = calloc(1, sizeof(*list));
	int64_t depth[WARMUP_DEPTHS_MAX];
	int depths = list_depths(curves, depth), n = 0;

	CHECK(list, "memory of facts");
	for (int i = 0; i < depths; i++)
		for (int b = 0; b < BEGINNINGS; b++) {
			collect(list, curves, depth[i], (enum beginning)b);
			if (!list->n)
				continue;
			row[n].depth = depth[i];
			row[n].beginning = (enum beginning)b;
			fill_row(&row[n++], list,
				 (uint64_t)json_integer_value(json_object_get(curves, "seed")));
		}
	free(list);
	return n;
}

bool warmup_check_failed(const json_t *curves)
{
	const json_t *curve;
	size_t i;

	json_array_foreach(json_object_get(curves, "curves"), i, curve)
	{
		if (!json_is_true(json_object_get(json_object_get(curve, "check"), "passed")))
			return true;
	}
	return false;
}

bool warmup_is_cpu(const json_t *curves)
{
	return !strcmp(json_get_text(json_object_get(curves, "device"), "kind"), "cpu");
}
