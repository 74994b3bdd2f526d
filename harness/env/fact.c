/* fact.c - one thing about a machine: its value, or why it is not known. */
#include "harness/env/fact.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/json.h"

/* Control characters would break lines of tables; device trees end texts with NUL. */
static void tidy(char *text)
{
	size_t from = strspn(text, " \t\n"), n = strlen(text);

	while (n > from && isspace((unsigned char)text[n - 1]))
		n--;
	memmove(text, text + from, n - from);
	text[n - from] = '\0';
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
}

struct fact fact_text(const char *fmt, ...)
{
	struct fact f = { .kind = FACT_TEXT };
	va_list args;

	va_start(args, fmt);
	vsnprintf(f.text, sizeof(f.text), fmt, args);
	va_end(args);
	tidy(f.text);
	return *f.text ? f : fact_unknown("empty");
}

struct fact fact_int(int64_t value)
{
	return (struct fact){ .kind = FACT_INT, .number = value };
}

struct fact fact_real(double value)
{
	if (!isfinite(value))
		return fact_unknown("not a number");
	return (struct fact){ .kind = FACT_REAL, .real = value };
}

struct fact fact_bool(bool value)
{
	return (struct fact){ .kind = FACT_BOOL, .number = value };
}

struct fact fact_unknown(const char *fmt, ...)
{
	struct fact f = { .kind = FACT_UNKNOWN };
	va_list args;

	va_start(args, fmt);
	vsnprintf(f.text, sizeof(f.text), fmt, args);
	va_end(args);
	tidy(f.text);
	return f;
}

bool fact_is(const struct fact *f, const char *text)
{
	return f->kind == FACT_TEXT && !strcmp(f->text, text);
}

bool fact_true(const struct fact *f)
{
	return f->kind == FACT_BOOL && f->number;
}

const char *fact_or(const struct fact *f, const char *fallback)
{
	return f->kind == FACT_TEXT ? f->text : fallback;
}

json_t *fact_json(const struct fact *f)
{
	switch (f->kind) {
	case FACT_TEXT:
		return json_text(f->text);
	case FACT_INT:
		return json_integer(f->number);
	case FACT_REAL:
		return json_number(f->real);
	case FACT_BOOL:
		return json_boolean(f->number);
	case FACT_UNKNOWN:
		break;
	}
	return json_null();
}

void facts_add(json_t *o, const char *name, json_t *value, const char *why)
{
	json_t *reasons = json_object_get(o, "why_null");

	json_object_set_new(o, name, value ? value : json_null());
	if (value && !json_is_null(value))
		return;
	if (!reasons) {
		reasons = json_object();
		json_object_set_new(o, "why_null", reasons);
	}
	json_object_set_new(reasons, name, json_text(*why ? why : "not asked"));
}

json_t *facts_json(const struct fact_row *rows, const void *facts)
{
	json_t *o = json_object();

	for (const struct fact_row *row = rows; row->name; row++) {
		const struct fact *f =
			(const struct fact *)(const void *)((const char *)facts + row->offset);

		facts_add(o, row->name, fact_json(f), f->text);
	}
	return o;
}
