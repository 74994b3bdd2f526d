/* card.c - a card that was taken before. */
#include "harness/probe/card.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/input.h"
#include "harness/base/text.h"

enum { CARD_BYTES_MAX = 1 << 24 }; /* 300 times one of 5 processes */

/* ---- files ------------------------------------------------------------------------------ */

/* A file that could hold a card; NULL and *err: none. */
static FILE *open_card(const char *path, int *err)
{
	int fd = input_open(path, false);
	struct stat st;
	FILE *f;

	*err = fd;
	if (fd < 0)
		return NULL;
	*err = fstat(fd, &st) ? -errno : st.st_size > CARD_BYTES_MAX ? -EFBIG : 0;
	f = *err ? NULL : fdopen(fd, "r");
	if (!f)
		close(fd);
	if (!f && !*err)
		*err = -ENOMEM;
	return f;
}

/* As rift writes one, whatever became of the rest. */
static bool begins_as_card(FILE *f)
{
	int end = 0;

	return fscanf(f, " { \"record\" : \"card\"%n", &end) != EOF && end;
}

bool card_is(const char *path)
{
	int err;
	FILE *f = open_card(path, &err);
	const char *kind;
	json_t *o;
	bool is;

	if (!f)
		return false;
	is = begins_as_card(f);
	rewind(f);
	/* the first object: of a session it is a line */
	o = is ? NULL : json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL);
	kind = json_string_value(json_object_get(o, "record"));
	is |= kind && !strcmp(kind, "card");
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
				path, text_shown(text_of(card, "schema")).s, CARD_SCHEMA);
	if (n < 1 || n > CARD_PROCESSES_MAX || !json_array_size(rows))
		why = "no rows, or no processes";
	json_array_foreach(rows, i, row)
	{
		why = why ? why : damage_of(card, row);
	}
	return why ? complain(EINVAL, "%s: a damaged card: %s", path, why) : 0;
}

/* Of a file that is no JSON as a whole: a session is many objects, one a line. */
static int refuse(const char *path, int line)
{
	if (!card_is(path))
		return complain(EINVAL, "%s: no card: rift probe --output FILE makes one", path);
	return complain(EINVAL, "%s:%d: a damaged card: from here on it is no JSON", path, line);
}

int card_read(const char *path, json_t **card)
{
	json_error_t error;
	int err;
	FILE *f = open_card(path, &err);

	*card = NULL;
	if (!f)
		return err == -EFBIG ? complain(EFBIG, "%s: no card: more than %d MiB", path,
						CARD_BYTES_MAX >> 20)
				     : complain(-err, "%s: %s", path, input_reason(err));
	*card = json_loadf(f, JSON_REJECT_DUPLICATES, &error);
	fclose(f);
	err = *card ? check(path, *card) : refuse(path, error.line);
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

bool card_has_refusals(const json_t *card)
{
	static const char refused[] = "not supported here";
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(card, "rows"), i, row)
	{
		const char *text = json_string_value(json_object_get(row, "text"));

		if (text && !strncmp(text, refused, strlen(refused)))
			return true;
	}
	return false;
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
