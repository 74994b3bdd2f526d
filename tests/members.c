/* members.c - rows of JSON of which one member at a time is something else. */
#include "tests/plain.h"
#include "tests/members.h"

#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

json_t *member_row(const char *text)
{
	char *copy = strdup(text);
	json_t *row;

	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	row = json_loads(copy, 0, NULL);
	cr_assert(ne(ptr, row, NULL), "%s", copy);
	free(copy);
	return row;
}

void members_write(const char *path, json_t *const row[], int n)
{
	FILE *f = fopen(path, "w");

	for (int i = 0; i < n; i++) {
		json_dumpf(row[i], f, JSON_COMPACT);
		fputc('\n', f);
	}
	cr_assert(zero(int, fclose(f)), "%s", path);
}

/* Where a value is: in a list or in an object. */
struct place {
	json_t *list, *object;
	size_t i;
	const char *key;
	void (*looks)(const char *what);
};

static void put_in(const struct place *p, json_t *value)
{
	if (p->object)
		json_object_set_new(p->object, p->key, value);
	else
		json_array_set_new(p->list, p->i, value);
}

static void try_value(const struct place *p, json_t *value, const char *path)
{
	char what[256], *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	snprintf(what, sizeof(what), "%s = %s", path, text);
	free(text);
	put_in(p, value);
	p->looks(what);
}

static void change_below(json_t *value, const char *path, void (*looks)(const char *what));

static void change(const struct place *p, json_t *value, const char *path)
{
	json_incref(value);
	try_value(p, json_null(), path);
	if (json_is_integer(value)) {
		try_value(p, json_integer(-1), path);
		try_value(p, json_integer(0), path);
		try_value(p, json_integer(json_integer_value(value) + 1), path);
		try_value(p, json_integer(INT64_C(1) << 54), path);
	} else {
		try_value(p, json_string("?"), path);
		try_value(p, json_true(), path);
	}
	put_in(p, value);
	change_below(value, path, p->looks);
}

static void change_below(json_t *value, const char *path, void (*looks)(const char *what))
{
	enum { TRIED = 2 };
	char below[192];
	json_t *v;
	size_t i;

	json_array_foreach(value, i, v)
	{
		if (i >= TRIED)
			break;
		snprintf(below, sizeof(below), "%s[%zu]", path, i);
		change(&(struct place){ .list = value, .i = i, .looks = looks }, v, below);
	}
	for (void *at = json_object_iter(value); at;) {
		const char *key = json_object_iter_key(at);

		v = json_object_iter_value(at);
		snprintf(below, sizeof(below), "%s %s", path, key);
		change(&(struct place){ .object = value, .key = key, .looks = looks }, v, below);
		at = json_object_iter_next(value, json_object_iter_at(value, key));
	}
}

void each_member(json_t *const row[], int n, void (*looks)(const char *what))
{
	char name[64];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%d: %s", i + 1,
			 json_string_value(json_object_get(row[i], "record")));
		change_below(row[i], name, looks);
	}
}

char *members_said(int (*reads)(FILE *out))
{
	FILE *said = tmpfile();
	int own = dup(STDERR_FILENO);
	char *text, *all;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	ssize_t n;

	dup2(fileno(said), STDERR_FILENO);
	if (reads(out))
		rewind(out);
	dup2(own, STDERR_FILENO);
	close(own);
	fclose(out);
	all = calloc(1, size + 4096);
	memcpy(all, text, size);
	n = pread(fileno(said), all + size, 4095, 0);
	cr_assert(le(int, 0, (int)n), "what was said");
	fclose(said);
	free(text);
	return all;
}
