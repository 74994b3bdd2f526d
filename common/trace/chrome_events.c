/* chrome_events.c - files of Chrome's trace events, read an event at a time. */
#include "common/trace/chrome_events.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/typed.h"
#include "common/unpacked.h"

/* A file's text is in memory, its events one at a time; what jansson counts with is an int. */
#define TEXT_MAX ((size_t)1 << 30)
/* Members beside the events may come first: so much of them. */
enum { HEAD_BYTES = 1 << 16 };

static const char events_name[] = "traceEvents";

bool chrome_events_are(const char *path)
{
	char *head = malloc(HEAD_BYTES + 1);
	struct unpacked in;
	size_t n = 0, at = 0;
	bool are;

	CHECK(head, "memory of a file's beginning");
	if (!unpacked_open(&in, path, false))
		n = unpacked_read(&in, head, HEAD_BYTES);
	unpacked_close(&in);
	head[n] = '\0';
	while (isspace((unsigned char)head[at]))
		at++;
	if (head[at] == '[')
		are = strstr(head + at, "\"ph\"") != NULL;
	else
		are = head[at] == '{' && strstr(head + at, "\"traceEvents\"");
	free(head);
	return are;
}

/* ---- the text ------------------------------------------------------------------------------- */

struct text_of_file {
	const char *path;
	char *text;
	size_t n, at;
};

static int read_all(struct text_of_file *f, struct unpacked *in)
{
	size_t room = 1 << 20, got;

	f->text = malloc(room);
	CHECK(f->text, "memory of a file");
	while ((got = unpacked_read(in, f->text + f->n, room - f->n)) > 0) {
		f->n += got;
		if (f->n > TEXT_MAX)
			return complain(EFBIG, "%s: is more than 1 GiB unpacked; record less",
					f->path);
		if (f->n == room) {
			room *= 2;
			f->text = realloc(f->text, room);
			CHECK(f->text, "memory of a file");
		}
	}
	return in->err ? complain(-in->err, "%s: %s", f->path, unpacked_reason(in)) : 0;
}

/* ---- JSON, a value at a time ---------------------------------------------------------------- */

static int damaged(const struct text_of_file *f, const char *why)
{
	return complain(EINVAL, "%s: is no whole file of trace events: %s at byte %zu", f->path,
			why, f->at);
}

/* What comes next, which stays; '\0': nothing. */
static char next_char(struct text_of_file *f)
{
	while (f->at < f->n && isspace((unsigned char)f->text[f->at]))
		f->at++;
	return f->at < f->n ? f->text[f->at] : '\0';
}

static bool take_char(struct text_of_file *f, char c)
{
	bool there = next_char(f) == c;

	f->at += there;
	return there;
}

/* Bytes of one value: as JSON in memory it may take many times as much. */
enum { VALUE_MAX = 16 << 20 };

/* A new reference; NULL after one line. */
static json_t *take_value(struct text_of_file *f)
{
	const size_t flags = JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK;
	json_error_t error = { 0 };
	size_t left = f->n - f->at;
	json_t *value =
		json_loadb(f->text + f->at, left < VALUE_MAX ? left : VALUE_MAX, flags, &error);

	if (value)
		f->at += (size_t)error.position;
	else
		damaged(f, text_shown(error.text).s);
	return value;
}

/* The events, behind the bracket that begins them. */
static int take_events(struct text_of_file *f, const struct chrome_reader *reader)
{
	int err = 0;

	while (!err && !take_char(f, ']')) {
		json_t *event = take_value(f);

		if (!event)
			return -EINVAL;
		err = json_is_object(event) ? reader->event(event, reader->arg)
					    : damaged(f, "an event is no object");
		json_decref(event);
		if (!err && !take_char(f, ',') && next_char(f) != ']')
			err = damaged(f, "no ',' or ']' after an event");
	}
	return err;
}

static int take_member(struct text_of_file *f, const struct chrome_reader *reader)
{
	json_t *name = take_value(f), *value;
	const char *text = json_string_value(name);
	int err = 0;

	if (!text || !take_char(f, ':')) {
		err = name ? damaged(f, "no member") : -EINVAL;
	} else if (!strcmp(text, events_name) && take_char(f, '[')) {
		err = take_events(f, reader);
	} else {
		value = take_value(f);
		if (value)
			reader->member(text, value, reader->arg);
		err = value ? 0 : -EINVAL;
		json_decref(value);
	}
	json_decref(name);
	return err;
}

static int take_file(struct text_of_file *f, const struct chrome_reader *reader)
{
	int err = 0;

	if (take_char(f, '['))
		return take_events(f, reader);
	if (!take_char(f, '{'))
		return damaged(f, "neither '{' nor '['");
	while (!err && !take_char(f, '}')) {
		err = take_member(f, reader);
		if (!err && !take_char(f, ',') && next_char(f) != '}')
			err = damaged(f, "no ',' or '}' after a member");
	}
	return err;
}

int chrome_events_read(const char *path, const struct chrome_reader *reader)
{
	struct text_of_file f = { .path = path };
	struct unpacked in;
	int err = unpacked_open(&in, path, false);

	if (err)
		err = complain(-err, "%s: %s", path,
			       unpacked_reason(&(struct unpacked){ .err = err }));
	else
		err = read_all(&f, &in);
	unpacked_close(&in);
	if (!err)
		err = take_file(&f, reader);
	free(f.text);
	return err;
}
