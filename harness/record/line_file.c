/* line_file.c - see line_file.h. */
#include "harness/record/line_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/output.h"
#include "common/unpacked.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"

static const char part_end[] = ".part";

bool line_file_is(const char *path, const char *kind)
{
	char begins[64], head[sizeof(begins)] = "";
	struct unpacked in;

	snprintf(begins, sizeof(begins), "{\"record\":\"%s\"", kind);
	if (!unpacked_open(&in, path, false))
		unpacked_read(&in, head, strlen(begins));
	unpacked_close(&in);
	return !strcmp(head, begins);
}

/* ---- reading ---------------------------------------------------------------------------- */

struct reading {
	struct line_file *file;
	const struct line_kind *kind;
	void *of;
};

static int wrong(const struct record_scan *scan, const char *what)
{
	return complain(EINVAL, "%s:%ld: %s", scan->path, (long)scan->line + 1, what);
}

static int take_first(const struct reading *r, const json_t *o, const struct record_scan *scan)
{
	char where[300];

	snprintf(r->file->id, sizeof(r->file->id), "%.31s", json_get_text(o, "id"));
	snprintf(r->file->created, sizeof(r->file->created), "%.31s", json_get_text(o, "created"));
	snprintf(where, sizeof(where), "%.200s:%ld", scan->path, (long)scan->line + 1);
	return r->kind->plan(r->of, json_object_get(o, "plan"), where);
}

static bool crc_is_right(const json_t *o)
{
	const json_t *crc = json_object_get(o, "crc32");

	return json_is_integer(crc) && json_integer_value(crc) == (json_int_t)record_crc32(o);
}

static int take_end(const struct reading *r, const json_t *o, const struct record_scan *scan)
{
	char text[HASH_TEXT];

	hash_text(&scan->hash, text);
	if (strcmp(json_get_text(o, "lines_sha256"), text) != 0)
		return wrong(scan, "lines_sha256 does not match the lines before");
	r->file->ended = true;
	return 0;
}

static int take_line(const json_t *o, const struct record_scan *scan, void *arg)
{
	const struct reading *r = arg;
	const char *what;
	char text[160];

	if (!scan->line && !record_is(o, r->kind->name)) {
		snprintf(text, sizeof(text),
			 "not a record of %s: its first line is of another kind", r->kind->command);
		return wrong(scan, text);
	}
	if (!crc_is_right(o))
		return wrong(scan, "crc32 does not match this line: it was damaged");
	if (!scan->line)
		return take_first(r, o, scan);
	if (r->file->ended)
		return wrong(scan, "there are lines after the end");
	if (record_is(o, "end"))
		return take_end(r, o, scan);
	what = r->kind->take(r->of, o);
	if (!what)
		return 0;
	snprintf(text, sizeof(text), "a line '%.40s' whose %.60s is wrong",
		 text_shown(json_get_text(o, "record")).s, what);
	return wrong(scan, text);
}

static void set_path(struct line_file *f, const char *path)
{
	f->path = strdup(path);
	CHECK(f->path, "memory of a name");
	if (record_is_called(path, part_end))
		f->path[strlen(f->path) - strlen(part_end)] = '\0';
}

static int read_scan(struct line_file *f, const struct line_kind *kind, const char *path, void *of,
		     struct record_scan *scan)
{
	struct reading r = { f, kind, of };
	int err;

	*f = LINE_FILE_NONE;
	err = record_read(scan, path, take_line, &r);
	if (!err && !scan->line)
		err = complain(EINVAL, "%s: is empty", path);
	set_path(f, path);
	return err;
}

int line_file_read(struct line_file *f, const struct line_kind *kind, const char *path, void *of,
		   bool *torn)
{
	struct record_scan scan;
	int err = read_scan(f, kind, path, of, &scan);

	if (torn)
		*torn = scan.torn;
	return err;
}

int line_file_resume(struct line_file *f, const struct line_kind *kind, const char *path, void *of)
{
	struct record_scan scan;
	int err = read_scan(f, kind, path, of, &scan);

	if (!err && f->ended)
		return complain(EINVAL, "%s: is complete; nothing is left to measure", path);
	if (!err && !record_is_called(path, part_end))
		return complain(EINVAL, "%s: is not an unfinished record, whose name ends in .part",
				path);
	if (!err)
		err = record_open(&f->file, path);
	if (!err)
		err = lock_take(&f->lock, f->file.fd, f->path);
	return err ? err : record_go_on(&f->file, &scan);
}

/* ---- writing ---------------------------------------------------------------------------- */

static int write_line(struct line_file *f, json_t *o)
{
	int err;

	json_object_set_new(o, "crc32", json_integer((json_int_t)record_crc32(o)));
	if (f->file.fd < 0) {
		json_decref(o);
		return 0;
	}
	err = record_write(&f->file, o);
	return err ? err : record_sync(&f->file, false);
}

int line_file_add(struct line_file *f, const struct line_kind *kind, void *of, json_t *line)
{
	const char *what = kind->take(of, line);

	CHECK(!what, "a line of our own: %s", what);
	return write_line(f, line);
}

static void draw_id(struct line_file *f)
{
	unsigned char bytes[8];

	CHECK(getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes), "no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(f->id + 2 * i, 3, "%02x", bytes[i]);
}

static json_t *first_line(struct line_file *f, const char *kind, json_t *plan)
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(f->created, sizeof(f->created), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "record", kind, "schema", RECORD_SCHEMA,
			 "id", f->id, "version", RIFT_VERSION, "created", f->created, "plan", plan);
}

int line_file_create(struct line_file *f, const struct line_kind *kind, const char *path,
		     json_t *plan)
{
	json_t *first;
	char *part;
	int err = output_refuse("--output", path);

	*f = LINE_FILE_NONE;
	draw_id(f);
	first = first_line(f, kind->name, plan);
	f->path = strdup(path);
	CHECK(f->path && asprintf(&part, "%s%s", path, part_end) > 0, "memory of a name");
	if (!err)
		err = access(path, F_OK)
			      ? record_create(&f->file, part)
			      : complain(EEXIST, "%s: exists; give another --output", path);
	free(part);
	if (!err)
		err = lock_take(&f->lock, f->file.fd, f->path);
	if (!err)
		return write_line(f, first);
	json_decref(first);
	return err;
}

static int take_name(struct line_file *f)
{
	char *part, *taken = NULL;
	int err;

	CHECK(asprintf(&part, "%s%s", f->path, part_end) > 0, "memory of a name");
	err = output_rename_new(part, f->path, &taken);
	if (err) {
		err = complain(err, "cannot rename %s: %s", part, strerror(err));
	} else {
		free(f->path);
		f->path = taken;
	}
	free(part);
	return err;
}

int line_file_end(struct line_file *f)
{
	char text[HASH_TEXT];
	int err;

	if (f->file.fd < 0)
		return 0;
	hash_text(&f->file.hash, text);
	err = write_line(f, json_pack("{s:s, s:s}", "record", "end", "lines_sha256", text));
	f->ended = !err;
	if (!err)
		err = record_sync(&f->file, true);
	if (err)
		return err;
	err = take_name(f);
	lock_release(&f->lock);
	record_close(&f->file);
	return err;
}

void line_file_abandon(struct line_file *f)
{
	if (f->file.fd >= 0)
		unlink(f->file.path);
}

void line_file_release(struct line_file *f)
{
	lock_release(&f->lock);
	record_close(&f->file);
	free(f->path);
	*f = LINE_FILE_NONE;
}
