/* param_text.c - declared parameters as text and JSON: values, ranges, units, rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/json.h"
#include "harness/params/param.h"

/* Appends to out, cut to fit; *used counts what is there. */
static void append(char *out, size_t size, size_t *used, const char *s)
{
	int n = snprintf(out + *used, size - *used, "%s", s);

	*used = *used + (size_t)n < size ? *used + (size_t)n : size - 1;
}

static bool is_whole(const struct param *row)
{
	return row->kind == PARAM_INT || row->kind == PARAM_SIZE || row->kind == PARAM_LIST;
}

static void format_list(const struct param_list *list, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < list->n; i++) {
		append(out, size, &used, i ? "," : "");
		append(out, size, &used, text_int(list->value[i], 1).s);
	}
}

void param_format(const struct param *row, const void *opts, char *out, size_t size)
{
	const void *field = (const char *)opts + row->offset;
	const char *path;

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
		snprintf(out, size, "%s",
			 text_int(*(const int64_t *)field, row->kind == PARAM_SIZE).s);
		break;
	case PARAM_REAL:
		snprintf(out, size, "%s", text_real(*(const double *)field).s);
		break;
	case PARAM_CHOICE:
		snprintf(out, size, "%s", row->choices[*(const int *)field]);
		break;
	case PARAM_PATH:
		path = *(const char *const *)field;
		snprintf(out, size, "%s", path ? path : "");
		break;
	case PARAM_LIST:
		format_list(field, out, size);
		break;
	}
}

/* A limit as text; whole numbers beyond int64 cannot be reached and have no text. */
static struct text limit_text(const struct param *row, double limit)
{
	if (is_whole(row))
		return text_int((int64_t)limit, row->kind != PARAM_INT);
	return text_real(limit);
}

static bool is_bound(const struct param *row, double limit)
{
	return is_whole(row) ? fabs(limit) < 0x1p63 : fabs(limit) < HUGE_VAL;
}

/* A missing limit is left out rather than printed as a huge number. */
static void range_of_numbers(const struct param *row, char *out, size_t size)
{
	bool low = is_bound(row, row->min), high = is_bound(row, row->max);

	if (low && high)
		snprintf(out, size, "%s to %s", limit_text(row, row->min).s,
			 limit_text(row, row->max).s);
	else if (low)
		snprintf(out, size, "at least %s", limit_text(row, row->min).s);
	else if (high)
		snprintf(out, size, "at most %s", limit_text(row, row->max).s);
	else
		snprintf(out, size, "any");
}

void param_range(const struct param *row, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	if (row->kind == PARAM_PATH)
		append(out, size, &used, *row->unit ? row->unit : "file name");
	else if (row->kind != PARAM_CHOICE)
		range_of_numbers(row, out, size);
	else
		for (int i = 0; row->choices[i]; i++) {
			append(out, size, &used, i ? ", " : "");
			append(out, size, &used, row->choices[i]);
		}
}

const char *param_kind_name(const struct param *row)
{
	static const char *const name[] = { "int", "size", "real", "choice", "path", "list" };

	return row->kind == PARAM_PATH && *row->unit ? "text" : name[row->kind];
}

bool param_is_default(const struct param *row, const void *opts)
{
	char now[512];

	/* through the parser, so that 1024 and 1k are one value */
	union {
		int64_t align;
		char bytes[sizeof(struct param_list)];
	} fresh = { 0 };
	struct param alone = *row;
	char def[512];

	alone.offset = 0;
	param_format(row, opts, now, sizeof(now));
	if (!*row->def || row->kind == PARAM_PATH)
		return !strcmp(now, row->def);
	if (param_parse(&alone, row->name, row->def, &fresh))
		return false;
	param_format(&alone, &fresh, def, sizeof(def));
	return !strcmp(now, def);
}

struct text param_unit(const struct param *row)
{
	struct text t = { "" };

	if (row->kind != PARAM_PATH && *row->unit && strcmp(row->unit, "1"))
		snprintf(t.s, sizeof(t.s), " %s", row->unit);
	return t;
}

json_t *param_json(const struct param *row, const void *opts)
{
	const void *field = (const char *)opts + row->offset;
	const struct param_list *list = field;
	json_t *array;

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
		return json_integer(*(const int64_t *)field);
	case PARAM_REAL:
		return json_number(*(const double *)field);
	case PARAM_CHOICE:
		return json_string(row->choices[*(const int *)field]);
	case PARAM_PATH:
		return json_text(*(const char *const *)field);
	case PARAM_LIST:
		array = json_array();
		for (int i = 0; i < list->n; i++)
			json_array_append_new(array, json_integer(list->value[i]));
		return array;
	}
	return json_null();
}

/* Integers stay integers, and what is no limit is null. */
static json_t *limit_json(const struct param *row, double limit)
{
	if (row->kind == PARAM_CHOICE || row->kind == PARAM_PATH || !is_bound(row, limit))
		return json_null();
	return is_whole(row) ? json_integer((int64_t)limit) : json_real(limit);
}

json_t *param_row_json(const struct param *row)
{
	json_t *choices = json_null(), *o = json_object();

	if (row->kind == PARAM_CHOICE) {
		choices = json_array();
		for (int i = 0; row->choices[i]; i++)
			json_array_append_new(choices, json_string(row->choices[i]));
	}
	json_object_set_new(o, "name", json_string(row->name));
	json_object_set_new(o, "kind", json_string(param_kind_name(row)));
	json_object_set_new(o, "unit", json_string(row->unit));
	json_object_set_new(o, "default", *row->def ? json_string(row->def) : json_null());
	json_object_set_new(o, "min", limit_json(row, row->min));
	json_object_set_new(o, "max", limit_json(row, row->max));
	json_object_set_new(o, "choices", choices);
	json_object_set_new(o, "help", json_string(row->help));
	json_object_set_new(o, "axis", json_text(row->axis));
	json_object_set_new(o, "aside", json_text(row->aside));
	return o;
}
