/* warmup_chart.c - warm-up curves drawn: a column a depth, and the clocks below. */
#include "harness/chart/warmup_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/chart/words.h"
#include "harness/probe/warmup.h"

enum { COLUMNS_MAX = 4 };

/* What is drawn below, each over its last value, and where a curve has it. */
static const struct {
	const char *part, *key, *name;
} watched[] = {
	{ "samples", "canary_ns", "device canary" },
	{ "samples", "host_canary_ns", "host canary" },
	{ "gpu", "sm_mhz", "SM clock" },
	{ "gpu", "power_mw", "power" },
	{ "gpu", "temperature_c", "temperature" },
};

enum { WATCHED = sizeof(watched) / sizeof(*watched) };

struct drawn {
	const json_t *curves;
	struct warmup_row row[WARMUP_DEPTHS_MAX * BEGINNINGS];
	int rows, columns;
	int64_t depth[COLUMNS_MAX];
	bool has[WATCHED];
};

static void drawn_init(struct drawn *d, const json_t *curves)
{
	int k;

	d->curves = curves;
	d->rows = warmup_rows(d->row, curves);
	for (int i = 0; i < d->rows; i++) {
		for (k = 0; k < d->columns && d->depth[k] != d->row[i].depth; k++)
			;
		if (k == d->columns && k < COLUMNS_MAX)
			d->depth[d->columns++] = d->row[i].depth;
	}
}

/* From 1; 0: it is not drawn. */
static int column_of(const struct drawn *d, const json_t *curve)
{
	for (int k = 0; k < d->columns; k++)
		if ((int64_t)json_get_number(curve, "depth") == d->depth[k])
			return k + 1;
	return 0;
}

static int beginning_of(const json_t *curve)
{
	int b = 0;

	while (strcmp(json_get_text(curve, "beginning"), beginning_names[b]) != 0)
		b++;
	return b + 1;
}

/* ---- data --------------------------------------------------------------------------------- */

/* By a block's end: the axis is a logarithm, and the first begins at 0. */
static void write_curve(struct output *out, const struct drawn *d, const json_t *curve)
{
	struct curve c;

	curve_init(&c, curve);
	for (int i = 0; i < c.n; i++) {
		double v[] = { column_of(d, curve), beginning_of(curve),
			       1e-6 * (c.begin_ns[i] + c.total_ns[i]),
			       1e-3 * c.total_ns[i] / c.depth };

		output_numbers(out, v, sizeof(v) / sizeof(*v));
	}
	curve_release(&c);
}

static int write_blocks(struct plot *plot, const struct drawn *d)
{
	const json_t *curve;
	struct output out;
	size_t i;
	int err = plot_open(plot, "blocks", "-blocks.csv", &out);

	if (err)
		return err;
	fputs("column,beginning,ms,us\n", out.file);
	json_array_foreach(json_object_get(d->curves, "curves"), i, curve)
	{
		if (column_of(d, curve))
			write_curve(&out, d, curve);
	}
	return output_commit(&out);
}

/* NVML's clock has its zero at its own first sample, just before the first block. */
static double sample_ms(const json_t *curve, int w, size_t i)
{
	const json_t *part = json_object_get(curve, watched[w].part);
	bool ours = !strcmp(watched[w].part, "samples");
	const json_t *at = json_array_get(json_object_get(part, ours ? "at_ns" : "t_ms"), i);

	return json_number_value(at) * (ours ? 1e-6 : 1);
}

static void write_series(struct output *out, struct drawn *d, const json_t *curve, int w)
{
	const json_t *part = json_object_get(curve, watched[w].part);
	const json_t *series = json_object_get(part, watched[w].key), *value;
	size_t n = json_array_size(series), i;
	double last = n ? json_number_value(json_array_get(series, n - 1)) : 0;

	json_array_foreach(series, i, value)
	{
		double v[] = { column_of(d, curve), w + 1, sample_ms(curve, w, i),
			       json_number_value(value) / last };

		if (!(last > 0) || !json_is_number(value))
			continue;
		d->has[w] = true;
		output_numbers(out, v, sizeof(v) / sizeof(*v));
	}
}

static int write_samples(struct plot *plot, struct drawn *d)
{
	const json_t *curve;
	struct output out;
	size_t i;
	int err = plot_open(plot, "samples", "-samples.csv", &out);

	if (err)
		return err;
	fputs("column,series,ms,over_last\n", out.file);
	json_array_foreach(json_object_get(d->curves, "curves"), i, curve)
	{
		if (column_of(d, curve) && beginning_of(curve) == BEGIN_RESTED + 1)
			for (int w = 0; w < WATCHED; w++)
				write_series(&out, d, curve, w);
	}
	return output_commit(&out);
}

/* ---- texts --------------------------------------------------------------------------------- */

static void set_numbered(struct plot *plot, const char *name, int i, const char *text)
{
	char variable[24];

	snprintf(variable, sizeof(variable), "%s%d", name, i);
	plot_text(plot, variable, "%s", text);
}

/* "2.4 times as long as", "36 % longer than"; where 1 is in the interval there is nothing to say.
 */
static struct text_line compared(const struct interval *ratio)
{
	double v = ratio->value;
	struct text_line t;

	if (fabs(v - 1) < 0.0005 || (ratio->known && ratio->lo <= 1 && ratio->hi >= 1))
		snprintf(t.s, sizeof(t.s), "as long as");
	else
		snprintf(t.s, sizeof(t.s), "%s %s", words_ratio(v).s, v >= 1.995 ? "as" : "than");
	return t;
}

static void set_title(struct plot *plot, const struct drawn *d)
{
	const struct warmup_row *r = &d->row[0];

	for (int i = 0; i < d->rows; i++)
		if (d->row[i].beginning == BEGIN_RESTED && d->row[i].depth == 10)
			r = &d->row[i];
	plot_text(plot, "title", "%s: the first %s take%s %s later ones",
		  json_get_text(d->curves, "workload"), counted(r->depth, "step").s,
		  r->depth > 1 ? "" : "s", compared(&r->ratio).s);
	plot_text(plot, "finding", "After %s, %s, a step takes %s in place of %s",
		  text_time(r->settled_ns.value).s, beginning_names[r->beginning],
		  text_time(r->steady_ns.value).s, text_time(r->first_ns.value).s);
}

static void set_texts(struct plot *plot, const struct drawn *d)
{
	const json_t *word;
	char words[128] = "";
	size_t i, used = 0;

	json_array_foreach(json_object_get(d->curves, "params"), i, word)
	{
		if (!json_is_string(word) || used >= sizeof(words))
			continue;
		snprintf(words + used, sizeof(words) - used, " %s",
			 text_shown(json_string_value(word)).s);
		used = strlen(words);
	}
	plot_text(plot, "made1", "%s%s, mode %s; the device idled for %.3g s",
		  json_get_text(d->curves, "workload"), words, json_get_text(d->curves, "mode"),
		  json_get_number(d->curves, "rest_s"));
	plot_text(plot, "made2", "%s, %.10s; computed on: %.60s",
		  counted(json_integer_value(json_object_get(d->curves, "processes")), "process").s,
		  json_get_text(d->curves, "start_utc"), plot->device);
	plot_count(plot, "columns", d->columns);
	plot_count(plot, "beginnings", BEGINNINGS);
	plot_count(plot, "series", WATCHED);
	for (int k = 0; k < d->columns; k++)
		set_numbered(plot, "depth", k + 1, text_int(d->depth[k], 0).s);
	for (int b = 0; b < BEGINNINGS; b++)
		set_numbered(plot, "beginning", b + 1, beginning_names[b]);
	for (int w = 0; w < WATCHED; w++)
		set_numbered(plot, "name", w + 1, d->has[w] ? watched[w].name : "");
	set_title(plot, d);
	plot->script = "plots/warmup.gp";
}

int warmup_chart(struct picture *p, const json_t *curves, const char *folder)
{
	struct drawn *d = calloc(1, sizeof(*d));
	int err;

	CHECK(d, "memory of a chart");
	*p = (struct picture){ .asked = true };
	drawn_init(d, curves);
	plot_begin(&p->plot, folder, "warmup",
		   json_get_text(json_object_get(curves, "device"), "name"));
	p->plot.option = "--output";
	err = write_blocks(&p->plot, d);
	if (!err)
		err = write_samples(&p->plot, d);
	if (!err)
		set_texts(&p->plot, d);
	if (err)
		p->plot.files = 0;
	else
		err = picture_draw(p);
	free(d);
	return err;
}
