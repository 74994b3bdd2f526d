/* card.c - a card that was taken before. */
#include "harness/card/card.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/check.h"
#include "harness/text.h"

/* ---- files ------------------------------------------------------------------------------ */

bool card_is(const char *path)
{
	struct stat st;
	FILE *f = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	const char *kind;
	json_t *o;
	bool is;

	if (!f)
		return false;
	/* the first object: of a session it is a line */
	o = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL);
	kind = json_string_value(json_object_get(o, "record"));
	is = kind && !strcmp(kind, "card");
	json_decref(o);
	fclose(f);
	return is;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

/* Why a row cannot be one, or NULL. */
static const char *damage_of(const json_t *card, const json_t *row)
{
	const json_t *values = json_object_get(row, "values"), *v;
	size_t i;

	if (!*text_of(row, "workload") || !*text_of(row, "name"))
		return "a row has no name";
	if (json_array_size(values) != (size_t)card_processes(card))
		return "a row has not as many values as there were processes";
	json_array_foreach(values, i, v)
	{
		if (!json_is_null(v) && !json_is_number(v))
			return "a value is no number";
	}
	return NULL;
}

static int check(const char *path, const json_t *card)
{
	const json_t *rows = json_object_get(card, "rows"), *row;
	int n = card_processes(card);
	const char *why = NULL;
	size_t i;

	if (strcmp(text_of(card, "record"), "card"))
		return complain(EINVAL, "%s: no card: rift probe --output FILE makes one", path);
	if (atoi(text_of(card, "schema")) != CARD_SCHEMA_MAJOR)
		return complain(EPROTONOSUPPORT, "%s: a card of schema %s; this rift reads %s",
				path, text_of(card, "schema"), CARD_SCHEMA);
	if (n < 1 || n > CARD_PROCESSES_MAX || !json_array_size(rows))
		why = "no rows, or no processes";
	json_array_foreach(rows, i, row)
	{
		why = why ? why : damage_of(card, row);
	}
	return why ? complain(EINVAL, "%s: a damaged card: %s", path, why) : 0;
}

int card_read(const char *path, json_t **card)
{
	json_error_t error;
	int err;

	*card = json_load_file(path, 0, &error);
	if (!*card)
		return complain(error.line > 0 ? EINVAL : ENOENT, "%s: %s", path, error.text);
	err = check(path, *card);
	if (err) {
		json_decref(*card);
		*card = NULL;
	}
	return err;
}

/* ---- rows ------------------------------------------------------------------------------- */

const json_t *card_row(const json_t *card, const char *workload, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(card, "rows"), i, row)
	{
		if (!strcmp(text_of(row, "workload"), workload) &&
		    !strcmp(text_of(row, "name"), name))
			return row;
	}
	return NULL;
}

bool card_is_cpu(const json_t *card)
{
	return !strcmp(text_of(json_object_get(card, "device"), "kind"), "cpu");
}

int card_processes(const json_t *card)
{
	return (int)json_integer_value(json_object_get(card, "processes"));
}

bool card_values(const json_t *card, const json_t *row, double *value)
{
	const json_t *values = json_object_get(row, "values"), *v;
	size_t i;

	json_array_foreach(values, i, v)
	{
		if (!json_is_number(v))
			return false;
		value[i] = json_number_value(v);
	}
	return json_array_size(values) == (size_t)card_processes(card);
}

/* Units of the rows: times are us. */
const char *card_number(double value, const char *unit)
{
	static char text[2][80];
	static int turn;
	char *t = text[turn ^= 1];

	if (!isfinite(value))
		snprintf(t, sizeof(text[0]), "-");
	else if (!strcmp(unit, "us"))
		snprintf(t, sizeof(text[0]), "%s", text_time(1e3 * value).s);
	else if (!strcmp(unit, "bytes"))
		snprintf(t, sizeof(text[0]), "%s", text_bytes(value).s);
	else
		snprintf(t, sizeof(text[0]), "%.4g%s%.40s", value, strcmp(unit, "1") ? " " : "",
			 strcmp(unit, "1") ? text_shown(unit).s : "");
	return t;
}
