/* record.c - record files: JSON Lines, read and written, and their digest. */
#include "harness/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/measure/measure.h"

/* Digits of a real in a line: enough for ns in a day, and short. */
enum { REAL_DIGITS = 12 };

/* ---- reading ---------------------------------------------------------------------------- */

bool record_is(const json_t *o, const char *kind)
{
	const char *record = json_string_value(json_object_get(o, "record"));

	return record && !strcmp(record, kind);
}

const char *record_is_no_plan(const json_t *o)
{
	return record_is(o, "share") ? "this is a record of rift share, which `rift share --from "
				       "FILE` shows"
				     : "the first line is no plan";
}

bool record_is_called(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	n -= n > 3 && !strcmp(path + n - 3, ".gz") ? 3 : 0;
	return n > k && !strncmp(path + n - k, end, k);
}

const struct record_format record_sessions = { "schema", RECORD_SCHEMA_OLDEST, RECORD_SCHEMA_MAJOR,
					       "record file" };

int record_read(struct record_scan *scan, const char *path,
		int (*each)(const json_t *o, const struct record_scan *scan, void *arg), void *arg)
{
	return record_read_as(scan, path, &record_sessions, each, arg);
}

int record_salvage(struct record_scan *scan, const char *path,
		   int (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		   void *arg)
{
	return record_salvage_as(scan, path, &record_sessions, each, arg);
}

/* ---- writing ---------------------------------------------------------------------------- */

static int open_file(struct record_file *f, const char *path, int flags)
{
	*f = (struct record_file){ .fd = open(path, O_WRONLY | O_CLOEXEC | O_APPEND | flags,
					      0666) };
	hash_start(&f->hash);
	if (f->fd < 0)
		return complain(errno, "cannot write %s: %s", path, strerror(errno));
	f->path = strdup(path);
	CHECK(f->path, "memory of a name");
	f->synced_ns = clock_ns();
	return 0;
}

int record_create(struct record_file *f, const char *path)
{
	return open_file(f, path, O_CREAT | O_EXCL);
}

int record_open(struct record_file *f, const char *path)
{
	return open_file(f, path, 0);
}

int record_append(struct record_file *f, const struct record_scan *scan)
{
	int err = record_open(f, scan->path);

	return err ? err : record_go_on(f, scan);
}

int record_refuse_packed(const char *path)
{
	return complain(EINVAL,
			"%s: is compressed, but a session can only be continued in a plain file; "
			"gunzip it first",
			path);
}

int record_go_on(struct record_file *f, const struct record_scan *scan)
{
	if (scan->packed)
		return record_refuse_packed(f->path);
	f->bytes = scan->bytes;
	f->lines = scan->line;
	f->hash = scan->hash;
	if (ftruncate(f->fd, f->bytes))
		return complain(errno, "cannot cut %s to its last whole line: %s", f->path,
				strerror(errno));
	return 0;
}

static int write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t did = write(fd, text, n);

		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0)
			return errno;
		text += did;
		n -= (size_t)did;
	}
	return 0;
}

/* As a line says it, without its end; to be freed. NULL where o is NULL or cannot be said. */
static char *text_of(const json_t *o)
{
	return o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS)) : NULL;
}

uint32_t record_crc32(const json_t *o)
{
	json_t *rest = json_copy((json_t *)(uintptr_t)o);
	uint32_t crc;
	char *text;

	json_object_del(rest, "crc32");
	text = text_of(rest);
	CHECK(text, "no JSON for a checksum");
	crc = (uint32_t)crc32(0, (const Bytef *)text, (uInt)strlen(text));
	free(text);
	json_decref(rest);
	return crc;
}

int record_write(struct record_file *f, json_t *o)
{
	char *text = text_of(o);
	size_t n;
	int err;

	CHECK(text, "no JSON for a line of %s", f->path);
	json_decref(o);
	n = strlen(text);
	text[n++] = '\n'; /* in place of the terminator */
	err = write_all(f->fd, text, n);
	if (err) {
		/* half a line is worth nothing; if this fails too, a reader drops it */
		if (ftruncate(f->fd, f->bytes))
			f->dirty = true;
		free(text);
		return complain(err, "cannot write %s: %s; kept: %s", f->path, strerror(err),
				counted(f->lines, "line").s);
	}
	hash_add(&f->hash, text, n);
	f->bytes += (int64_t)n;
	f->lines++;
	f->dirty = true;
	free(text);
	return 0;
}

int record_sync(struct record_file *f, bool now)
{
	if (!f->dirty || (!now && clock_ns() - f->synced_ns < SECOND_NS))
		return 0;
	f->synced_ns = clock_ns();
	f->dirty = false;
	/* EINVAL: a file system that cannot; the lines are as safe as it makes them */
	if (fdatasync(f->fd) && errno != EINVAL)
		return complain(errno, "cannot write %s: %s; kept: %s", f->path, strerror(errno),
				counted(f->lines, "line").s);
	return 0;
}

int record_clear(struct record_file *f)
{
	if (ftruncate(f->fd, 0))
		return complain(errno, "cannot empty %s: %s", f->path, strerror(errno));
	f->bytes = f->lines = 0;
	hash_start(&f->hash);
	return 0;
}

void record_close(struct record_file *f)
{
	if (f->fd >= 0 && f->path)
		close(f->fd);
	free(f->path);
	*f = (struct record_file){ .fd = -1 };
}
