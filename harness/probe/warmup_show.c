/* warmup_show.c - warm-up curves as tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/record/environment.h"
#include "harness/stats/stats.h"
#include "harness/probe/warmup.h"

static void print_head(const json_t *curves, FILE *out)
{
	const json_t *words = json_object_get(curves, "params"), *word;
	char under[LAYERS_TEXT];
	size_t i;

	fprintf(out, "warm-up          %s", text_shown(json_get_text(curves, "workload")).s);
	json_array_foreach(words, i, word)
	{
		if (json_is_string(word))
			fprintf(out, " %s", text_shown(json_string_value(word)).s);
	}
	fprintf(out, "\n");
	row(out, "device", "%s", json_get_text(json_object_get(curves, "device"), "name"));
	environment_layers(curves, under);
	if (*under)
		row(out, "", "%s", under);
	row(out, "taken", "%s, %s, mode %s, sync %s; %.3g s of idling, curves of %.3g s",
	    json_get_text(curves, "start_utc"),
	    counted(json_integer_value(json_object_get(curves, "processes")), "process").s,
	    json_get_text(curves, "mode"), json_get_text(curves, "sync"),
	    json_get_number(curves, "rest_s"), json_get_number(curves, "seconds"));
	row(out, "check", "%s", warmup_check_failed(curves) ? "FAILED" : "passed");
}

/* Shares of their steady value, as what is above it. */
static void print_above(const struct interval *i, FILE *out)
{
	fprintf(out, " %+8.1f %%", 100 * (i->value - 1));
	if (i->known)
		fprintf(out, " (%+.1f to %+.1f)", 100 * (i->lo - 1), 100 * (i->hi - 1));
}

static void print_row(const struct warmup_row *r, FILE *out)
{
	char interval[40] = "";

	if (r->ratio.known)
		snprintf(interval, sizeof(interval), " (%.3g to %.3g)", r->ratio.lo, r->ratio.hi);
	fprintf(out, "%6ld %-10s %10s %10s %8.3g%-18s %6.4g %10s %8.3g", (long)r->depth,
		beginning_names[r->beginning], text_time(r->first_ns.value).s,
		text_time(r->steady_ns.value).s, r->ratio.value, interval, r->settled_block.value,
		text_time(r->settled_ns.value).s, r->warmup_blocks.value);
	print_above(&r->after_warmup, out);
	fputc('\n', out);
}

static const struct warmup_row *find_row(const struct warmup_row *row, int n, int64_t depth,
					 enum beginning b)
{
	for (int i = 0; i < n; i++)
		if (row[i].depth == depth && row[i].beginning == b)
			return &row[i];
	return NULL;
}

static double more_ns(const struct warmup_row *r)
{
	return r ? (r->first_ns.value - r->steady_ns.value) * (double)r->depth : NAN;
}

/* What the first block has more, all its steps together. */
static void print_parts(const struct warmup_row *row, int n, FILE *out)
{
	fprintf(out, "\nwhat the first sample of a rested process takes more than a later one\n"
		     " depth        all  the process  the device    together\n");
	for (int i = 0; i < n; i++) {
		double all = more_ns(&row[i]);
		double process = more_ns(find_row(row, n, row[i].depth, BEGIN_FOLLOWING));
		double device = more_ns(find_row(row, n, row[i].depth, BEGIN_RESUMED));

		if (row[i].beginning != BEGIN_RESTED || !isfinite(process + device))
			continue;
		fprintf(out, "%6ld %10s", (long)row[i].depth, text_time(all).s);
		fprintf(out, " %12s", text_time(process).s);
		fprintf(out, " %11s", text_time(device).s);
		fprintf(out, " %11s\n", text_time(all - process - device).s);
	}
}

/* What comes before the first block of a process, over all processes and depths. */
static void print_preparation(const json_t *curves, FILE *out)
{
	static const char *const keys[] = { "start_ns", "setup_ns", "prepare_ns", NULL };
	static const char *const names[] = { "to the set-up", "set-up", "graphs" };
	const json_t *array = json_object_get(curves, "curves"), *curve;
	size_t n = json_array_size(array), i;
	double *value = calloc(n + 1, sizeof(*value));

	CHECK(value, "memory of %zu curves", n);
	fprintf(out, "\nbefore the first sample:");
	for (int k = 0; keys[k]; k++) {
		int used = 0;

		json_array_foreach(array, i, curve)
		{
			double ns = json_get_number(curve, keys[k]);
			const char *beginning = json_get_text(curve, "beginning");

			/* It resumes a process that another curve is of. */
			if (isfinite(ns) && strcmp(beginning, beginning_names[BEGIN_RESUMED]) != 0)
				value[used++] = ns;
		}
		fprintf(out, "%s %s %s", k ? "," : "", names[k],
			used ? text_time(median_of(value, used)).s : "not known");
		if (used > 1)
			fprintf(out, " (%s to %s)", text_time(value[0]).s,
				text_time(value[used - 1]).s);
	}
	fputc('\n', out);
	free(value);
}

/* ---- launch calls, the rest, and what comes later ------------------------------------------ */

/* As wide as its column; "-": not known. */
static void print_time(const struct interval *i, FILE *out)
{
	fprintf(out, " %10s", isfinite(i->value) ? text_time(i->value).s : "-");
}

/* Its interval behind it, in a column of so many characters. */
static void print_more(const struct interval *i, int width, FILE *out)
{
	char text[160] = "";

	print_time(i, out);
	if (i->known)
		snprintf(text, sizeof(text), " (%s to %s)", text_time(i->lo).s, text_time(i->hi).s);
	fprintf(out, "%-*s", width, text);
}

static void print_calls(const struct warmup_row *row, int n, FILE *out)
{
	enum { INTERVAL = 23 };

	fprintf(out,
		"\na sample's launch calls, and the rest of it: the first sample, later ones, what "
		"the first has more\n"
		" depth beginning      calls      later       more%*s       rest      later       "
		"more\n",
		INTERVAL, "");
	for (int i = 0; i < n; i++) {
		fprintf(out, "%6ld %-9s", (long)row[i].depth, beginning_names[row[i].beginning]);
		print_time(&row[i].call_first_ns, out);
		print_time(&row[i].call_later_ns, out);
		print_more(&row[i].call_more_ns, INTERVAL, out);
		print_time(&row[i].rest_first_ns, out);
		print_time(&row[i].rest_later_ns, out);
		print_more(&row[i].rest_more_ns, 0, out);
		fputc('\n', out);
	}
}

static void print_later(const struct warmup_row *row, int n, FILE *out)
{
	fprintf(out, "\na step 1 to 10 ms after the first sample began, and in the last second\n"
		     " depth beginning      early       late     change\n");
	for (int i = 0; i < n; i++) {
		const struct interval *r = &row[i].late_over_early;

		fprintf(out, "%6ld %-9s", (long)row[i].depth, beginning_names[row[i].beginning]);
		print_time(&row[i].early_ns, out);
		print_time(&row[i].late_ns, out);
		if (isfinite(r->value))
			print_above(r, out);
		fputc('\n', out);
	}
}

/* ---- what was looked at beside the blocks -------------------------------------------------- */

static const struct {
	const char *part, *key, *name;
	double unit; /* the record's in one of the name */
	bool first;  /* the first look of each curve alone */
} watched[] = {
	{ "samples", "sm_clock_mhz", "SM clock by the first canary, MHz", 1, true },
	{ "samples", "sm_clock_mhz", "SM clock by all canaries, MHz", 1, false },
	{ "gpu", "sm_mhz", "SM clock by NVML, MHz", 1, false },
	{ "gpu", "mem_mhz", "memory clock, MHz", 1, false },
	{ "gpu", "power_mw", "power, W", 1e3, false },
	{ "gpu", "temperature_c", "temperature, degrees", 1, false },
	{ "samples", "host_canary_ns", "host canary, us", 1e3, false },
};

enum { WATCHED = sizeof(watched) / sizeof(*watched) };

/* All values of one kind over all curves, sorted; owned by the caller. */
static double *watched_values(const json_t *curves, int k, int *n)
{
	const json_t *array = json_object_get(curves, "curves"), *curve, *v;
	double *value = NULL;
	size_t i, j;

	*n = 0;
	json_array_foreach(array, i, curve)
	{
		const json_t *series =
			json_object_get(json_object_get(curve, watched[k].part), watched[k].key);
		double *more =
			realloc(value, ((size_t)*n + json_array_size(series) + 1) * sizeof(*value));

		CHECK(more, "memory of samples");
		value = more;
		json_array_foreach(series, j, v)
		{
			if (json_is_number(v) && (!watched[k].first || !j))
				value[(*n)++] = json_number_value(v) / watched[k].unit;
		}
	}
	sort_doubles(value, *n);
	return value;
}

static void print_watched(const json_t *curves, FILE *out)
{
	fprintf(out, "\nbeside the samples, over all curves      least     median       most     "
		     "times\n");
	for (int k = 0; k < WATCHED; k++) {
		int n;
		double *value = watched_values(curves, k, &n);

		if (n)
			fprintf(out, "%-34s %10.4g %10.4g %10.4g %9d\n", watched[k].name, value[0],
				median_of(value, n), value[n - 1], n);
		free(value);
	}
}

void warmup_print(const json_t *curves, FILE *out)
{
	struct warmup_row *r = calloc(WARMUP_DEPTHS_MAX * BEGINNINGS, sizeof(*r));
	int n;

	CHECK(r, "memory of rows");
	n = warmup_rows(r, curves);
	print_head(curves, out);
	fprintf(out,
		"\n depth beginning   first step     steady    ratio%-18s sample      after    "
		"skips       off\n",
		"");
	for (int i = 0; i < n; i++)
		print_row(&r[i], out);
	print_parts(r, n, out);
	print_calls(r, n, out);
	print_later(r, n, out);
	print_watched(curves, out);
	print_preparation(curves, out);
	free(r);
}
