/* surroundings_text.c - in what the places of two parties differ, for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/compare/surroundings.h"

/* A longer field takes from the columns of its values. */
enum { FIELD_LEAST = 26, FIELD_MOST = 44, VALUE_MOST = 34 };

/* A value as it fits into a column. */
static void shown(const json_t *v, int width, char out[VALUE_MOST + 1])
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
static struct text_line field_of(const json_t *row)
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
		int n = (int)strlen(field_of(o).s);

		width = n > width ? n : width;
	}
	return width < FIELD_MOST ? width : FIELD_MOST;
}

static void print_fields(const json_t *rows, FILE *out)
{
	const int field = field_width(rows), rest = (ROW_WIDTH - field - 5) / 2;
	const int value = rest < VALUE_MOST ? rest : VALUE_MOST;
	char a[VALUE_MOST + 1], b[VALUE_MOST + 1];
	const json_t *o;
	size_t i;

	fprintf(out, "  %-*s %-*s  %s\n", field, "", value, "A", "B");
	json_array_foreach(rows, i, o)
	{
		shown(json_object_get(o, "a"), value, a);
		shown(json_object_get(o, "b"), value, b);
		fprintf(out, "  %-*s %-*s  %s\n", field, field_of(o).s, value, a, b);
	}
}

void surroundings_print(const json_t *rows, const json_t *warnings, FILE *out)
{
	size_t i, n = json_array_size(rows);
	const json_t *o;

	fprintf(out, "\nenvironment: %zu field%s differ%s\n", n, n == 1 ? "" : "s",
		n == 1 ? "s" : "");
	if (n)
		print_fields(rows, out);
	json_array_foreach(warnings, i, o)
	{
		row(out, "  warning", "%s", json_string_value(o));
	}
}
