/* environment_diff.c - in what the places of two sides differ. */
#include "harness/compare/environment_diff.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/record/environment.h"
#include "harness/measure/plan_record.h"

/* ---- in what the places of two sides differ ------------------------------------------- */

/* Canaries of two sides may be so far apart, a share, before it is worth a word. */
static const double clocks_alike = 0.01;

/* ---- fields ----------------------------------------------------------------------------- */

static void add_row(json_t *rows, const char *field, const json_t *a, const json_t *b)
{
	json_t *row = json_pack("{s:s}", "field", field);

	if (a)
		json_object_set(row, "a", (json_t *)(uintptr_t)a);
	if (b)
		json_object_set(row, "b", (json_t *)(uintptr_t)b);
	json_array_append_new(rows, row);
}

/* What is in x and not in y. New reference. */
static json_t *only_in(const json_t *x, const json_t *y)
{
	json_t *only = json_array(), *v, *w;
	size_t i, k;

	json_array_foreach(x, i, v)
	{
		bool found = false;

		json_array_foreach(y, k, w)
		{
			found |= json_equal(v, w);
		}
		if (!found)
			json_array_append(only, v);
	}
	return only;
}

static void compare_lists(json_t *rows, const char *field, const json_t *a, const json_t *b)
{
	json_t *in_a = only_in(a, b), *in_b = only_in(b, a);

	if (json_array_size(in_a) || json_array_size(in_b))
		add_row(rows, field, in_a, in_b);
	json_decref(in_a);
	json_decref(in_b);
}

static void compare_values(json_t *rows, const char *field, const json_t *a, const json_t *b);

static void compare_objects(json_t *rows, const char *field, const json_t *a, const json_t *b)
{
	json_t *all = json_copy((json_t *)(uintptr_t)a), *v;
	char name[256];
	const char *key;

	json_object_update_missing(all, (json_t *)(uintptr_t)b);
	json_object_foreach(all, key, v)
	{
		if (environment_explains(key))
			continue;
		snprintf(name, sizeof(name), "%s%s%s", field, *field ? "." : "", key);
		compare_values(rows, name, json_object_get(a, key), json_object_get(b, key));
	}
	json_decref(all);
}

static void compare_values(json_t *rows, const char *field, const json_t *a, const json_t *b)
{
	if (json_is_object(a) && json_is_object(b))
		compare_objects(rows, field, a, b);
	else if (json_is_array(a) && json_is_array(b))
		compare_lists(rows, field, a, b);
	else if (!a || !b || !json_equal(a, b))
		add_row(rows, field, a, b);
}

/* How it was measured, as far as figures may depend on it. New reference. */
static json_t *side_design(const struct compared_side *p)
{
	const struct design *d = &p->view.plan.design;
	json_t *o =
		json_pack("{s:s, s:i, s:I, s:i, s:i, s:s}", "name", design_name(d), "rounds",
			  d->rounds, "visit_ns", (json_int_t)d->visit_ns, "blocks_min",
			  d->blocks_min, "blocks_max", d->blocks_max, "sync", sync_names[d->sync]);

	if (d->lock)
		json_object_set_new(o, "lock_clocks_mhz", design_lock_json(d));
	return o;
}

/* Everything that is compared, in the order of the rows; takes over design. New reference. */
static json_t *environment_diff(const json_t *header, json_t *design)
{
	static const char *const parts[] = { "virt", "gpu",   "host",	   "cuda_flags",
					     "env",  "build", "libraries", NULL };
	static const char *const alone[] = { "boot_id", "tool_version", "git_commit", "git_dirty",
					     NULL };
	json_t *lasting = environment_parts(header), *o = json_object();
	char layers[LAYERS_TEXT];

	for (int i = 0; parts[i]; i++)
		if (json_object_get(lasting, parts[i]))
			json_object_set(o, parts[i], json_object_get(lasting, parts[i]));
	for (int i = 0; alone[i]; i++)
		if (json_object_get(header, alone[i]))
			json_object_set(o, alone[i], json_object_get(header, alone[i]));
	environment_layers(header, layers);
	if (*layers)
		json_object_set_new(o, "layers", json_string(layers));
	json_object_set_new(o, "design", design);
	json_decref(lasting);
	return o;
}

json_t *environment_diff_rows(const json_t *header_a, const json_t *header_b, json_t *design_a,
			      json_t *design_b)
{
	json_t *a = environment_diff(header_a, design_a), *b = environment_diff(header_b, design_b);
	json_t *rows = json_array();

	compare_objects(rows, "", a, b);
	json_decref(a);
	json_decref(b);
	return rows;
}

json_t *environment_diff_any(const struct compared_side *a, const struct compared_side *b)
{
	return environment_diff_rows(side_header(a), side_header(b), side_design(a),
				     side_design(b));
}

/* ---- what follows ----------------------------------------------------------------------- */

static const json_t *header_field(const json_t *header, const char *part, const char *name)
{
	return json_object_get(json_object_get(header, part), name);
}

static bool same_field(const json_t *a, const json_t *b, const char *part, const char *name)
{
	const json_t *x = header_field(a, part, name), *y = header_field(b, part, name);

	return x ? json_equal(x, y) : !y;
}

static const char *gpu_name(const json_t *header)
{
	const char *name = json_string_value(header_field(header, "gpu", "name"));

	return name ? name : "a device without a name";
}

int environment_diff_refuse_devices(const json_t *a, const json_t *b)
{
	if (same_field(a, b, "gpu", "name") && same_field(a, b, "gpu", "sms"))
		return 0;
	return complain(EPROTONOSUPPORT,
			"not comparable: A is of %s, %ld multiprocessors, B of %s, %ld; "
			"--force compares them all the same",
			gpu_name(a), (long)json_integer_value(header_field(a, "gpu", "sms")),
			gpu_name(b), (long)json_integer_value(header_field(b, "gpu", "sms")));
}

int environment_diff_refuse(const struct compared_side *a, const struct compared_side *b)
{
	enum wait_policy sync_a = a->view.plan.design.sync, sync_b = b->view.plan.design.sync;
	int err = environment_diff_refuse_devices(side_header(a), side_header(b));

	if (err)
		return err;
	if (sync_a != sync_b)
		return complain(EPROTONOSUPPORT,
				"not comparable: A was swept with --sync %s, B with --sync %s; "
				"--force compares them all the same",
				sync_names[sync_a], sync_names[sync_b]);
	return 0;
}

json_t *environment_diff_warn(const struct compared_side *a, const struct compared_side *b)
{
	json_t *texts = json_array();
	double apart = b->canary_ns / a->canary_ns - 1;

	if (!same_field(side_header(a), side_header(b), "build", "binary_sha256"))
		json_array_append_new(
			texts, json_string("the binaries differ: what is found may come from the "
					   "build, not from the platform"));
	if (fabs(apart) > clocks_alike)
		json_array_append_new(
			texts, json_sprintf("the clocks differ: the canary, a kernel of fixed "
					    "cycles, takes %.1f %% %s on B, and so do kernels",
					    100 * fabs(apart), apart > 0 ? "more" : "less"));
	return texts;
}

/* ---- in what the places of two sides differ, for people ------------------------------- */

/* A longer field takes from the columns of its values. */
enum { FIELD_LEAST = 26, FIELD_MOST = 44, VALUE_MOST = 34 };

/* A value as it fits into a column. */
static void format_value(const json_t *v, int width, char out[VALUE_MOST + 1])
{
	char *text = json_is_string(v) ? strdup(json_string_value(v))
		     : v	       ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY)
				       : strdup("missing");
	struct text_line safe;

	CHECK(text, "memory of a value");
	safe = text_escaped(text);
	snprintf(out, (size_t)width + 1, "%s", safe.s);
	if (strlen(safe.s) > (size_t)width)
		memcpy(out + width - 3, "...", 3);
	free(text);
}

/* Names of variables are in it. */
static struct text_line row_field(const json_t *row)
{
	return text_escaped(json_string_value(json_object_get(row, "field")));
}

static int field_width(const json_t *rows)
{
	int width = FIELD_LEAST;
	const json_t *o;
	size_t i;

	json_array_foreach(rows, i, o)
	{
		int n = (int)strlen(row_field(o).s);

		width = n > width ? n : width;
	}
	return width < FIELD_MOST ? width : FIELD_MOST;
}

static void print_fields(const json_t *rows, FILE *out)
{
	const int width = text_columns(STDOUT_FILENO, ROW_WIDTH), named = field_width(rows);
	const int field = named < width / 2 ? named : width / 2, rest = (width - field - 5) / 2;
	const int value = rest < VALUE_MOST ? rest : VALUE_MOST;
	char a[VALUE_MOST + 1], b[VALUE_MOST + 1];
	const json_t *o;
	size_t i;

	fprintf(out, "  %-*s %-*s  %s\n", field, "", value, "A", "B");
	json_array_foreach(rows, i, o)
	{
		format_value(json_object_get(o, "a"), value, a);
		format_value(json_object_get(o, "b"), value, b);
		fprintf(out, "  %-*s %-*s  %s\n", field, row_field(o).s, value, a, b);
	}
}

void environment_diff_print(const json_t *rows, const json_t *warnings, FILE *out)
{
	size_t i, n = json_array_size(rows);
	const json_t *o;

	if (!n)
		row(out, "environment", "the same on both sides, as far as it is recorded");
	else
		fprintf(out, "environment: %zu field%s\n", n, n == 1 ? " differs" : "s differ");
	if (n)
		print_fields(rows, out);
	json_array_foreach(warnings, i, o)
	{
		row(out, "  warning", "%s", json_string_value(o));
	}
}
