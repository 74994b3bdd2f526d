/* csv_points.c - summaries of points as CSV. */
#include "harness/record/csv_points.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

static const char *const series[] = { "t_enq_ns", "t_total_ns", NULL };
static const char *const statistics[] = { "median", "min", "p10", "p25", "p75",
					  "p90",    "p99", "max", "mad", NULL };

void csv_value(FILE *out, const json_t *v)
{
	char *text;

	if (json_is_string(v)) {
		const char *s = json_string_value(v);

		if (!strpbrk(s, ",\"\n")) {
			fputs(s, out);
			return;
		}
		fputc('"', out);
		for (; *s; s++)
			fprintf(out, *s == '"' ? "\"\"" : "%c", *s);
		fputc('"', out);
		return;
	}
	if (!v || json_is_null(v))
		return;
	text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(10));
	CHECK(text, "memory of a value");
	/* a list of numbers: its commas are no columns */
	fprintf(out, strchr(text, ',') ? "\"%s\"" : "%s", text);
	free(text);
}

static void put_names(struct csv_points *c, const json_t *axes)
{
	const char *name;
	json_t *v;

	c->columns = json_array();
	fputs("side,process_index,status", c->out);
	json_object_foreach((json_t *)(uintptr_t)axes, name, v)
	{
		json_array_append_new(c->columns, json_string(name));
		fprintf(c->out, ",%s", name);
	}
	fputs(",blocks,share_marked,noisy", c->out);
	for (int i = 0; series[i]; i++)
		for (int k = 0; statistics[k]; k++)
			fprintf(c->out, ",%s_%s", series[i], statistics[k]);
	fputs(",key\n", c->out);
}

static void put_field(const struct csv_points *c, const json_t *o, const char *name)
{
	fputc(',', c->out);
	csv_value(c->out, json_object_get(o, name));
}

void csv_point(struct csv_points *c, const json_t *point)
{
	const json_t *axes = json_object_get(point, "axes");
	const json_t *summary = json_object_get(point, "summary");
	const char *side = json_string_value(json_object_get(point, "side"));

	if (c->side && side && strcmp(side, c->side))
		return;
	if (!c->columns)
		put_names(c, axes);
	csv_value(c->out, json_object_get(point, "side"));
	put_field(c, point, "process_index");
	put_field(c, point, "status");
	for (size_t i = 0; i < json_array_size(c->columns); i++)
		put_field(c, axes, json_string_value(json_array_get(c->columns, i)));
	put_field(c, point, "blocks");
	put_field(c, summary, "share_marked");
	put_field(c, summary, "noisy");
	for (int i = 0; series[i]; i++)
		for (int k = 0; statistics[k]; k++)
			put_field(c, json_object_get(summary, series[i]), statistics[k]);
	put_field(c, point, "key");
	fputc('\n', c->out);
}

void csv_points_release(struct csv_points *c)
{
	json_decref(c->columns);
	*c = (struct csv_points){ 0 };
}
