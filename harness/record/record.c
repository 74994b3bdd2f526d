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
#include "common/input.h"
#include "common/unpacked.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"

/* Digits of a real in a line: enough for ns in a day, and short. */
enum { REAL_DIGITS = 12 };

/* Bytes of a line that is read: 30 times the longest, a plan of all workloads. */
enum { RECORD_LINE_MAX = 1 << 26 };

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

static bool is_readable_major(const struct record_format *f, long major)
{
	return major >= f->oldest && major <= f->newest;
}

/* The number before the point of "MAJOR.MINOR"; -1: the text is not of this form. */
static long major_of(const char *text)
{
	char *end;
	long major = text ? strtol(text, &end, 10) : -1;

	return !text || end == text || *end != '.' ? -1 : major;
}

/* Who reads, and how. */
struct reader {
	const struct record_format *format;
	int (*each)(const json_t *o, const struct record_scan *scan, void *arg);
	void *arg;
	bool salvages;
};

static int check_version(const struct record_scan *scan, const json_t *o,
			 const struct record_format *f)
{
	const json_t *version = json_object_get(o, f->version);
	const char *text = json_string_value(version);
	long major = major_of(text);

	if (!version && !scan->line)
		return complain(EINVAL, "%s: no %s of rift: the first line has no %s", scan->path,
				f->what, f->version);
	if (!version)
		return 0;
	if (major < 0)
		return complain(EINVAL, "%s:%ld: %s is not \"MAJOR.MINOR\"", scan->path,
				(long)scan->line + 1, f->version);
	if (!is_readable_major(f, major))
		return complain(EPROTONOSUPPORT, "%s:%ld: %s %s; this rift reads %d.x to %d.x",
				scan->path, (long)scan->line + 1, f->version, text_shown(text).s,
				f->oldest, f->newest);
	return 0;
}

static void step_over(struct record_scan *scan, const char *line, size_t n)
{
	hash_add(&scan->hash, line, n);
	scan->bytes += (int64_t)n;
	scan->line++;
}

/* jansson tells a lack of memory as a syntax error, or not at all: it is seen where it happens. */
static json_malloc_t usual_malloc;
static bool lacked;

static void *watched_malloc(size_t n)
{
	void *p = usual_malloc(n);

	lacked |= !p;
	return p;
}

/* NULL where it is no object; *err: there is no memory for it, which says nothing of the file. */
static json_t *parse_line(const struct record_scan *scan, const char *line, size_t n, int *err)
{
	json_free_t usual_free;
	json_t *o = NULL;

	*err = 0;
	if (!n || line[n - 1] != '\n')
		return NULL;
	lacked = false;
	json_get_alloc_funcs(&usual_malloc, &usual_free);
	json_set_alloc_funcs(watched_malloc, usual_free);
	o = json_loadb(line, n - 1, JSON_REJECT_DUPLICATES, NULL);
	json_set_alloc_funcs(usual_malloc, usual_free);
	if (lacked)
		*err = complain(ENOMEM, "%s:%ld: no memory for this line of %zu bytes", scan->path,
				(long)scan->line + 1, n);
	if (json_is_object(o) && !lacked)
		return o;
	json_decref(o);
	return NULL;
}

/* No object: 1 where it is the last line, which is then torn. */
static int take_damage(struct record_scan *scan, const char *line, size_t n, bool last,
		       const struct reader *r)
{
	if (last) {
		scan->torn = true;
		return 1;
	}
	if (!r->salvages)
		return complain(EINVAL, "%s:%ld: this line is no JSON object: the file is damaged",
				scan->path, (long)scan->line + 1);
	scan->dropped++;
	step_over(scan, line, n);
	return 0;
}

static bool is_readable(const json_t *o, const struct record_format *f)
{
	return is_readable_major(f, major_of(json_get_text(o, f->version)));
}

/*
 * One line of n bytes, its end included. 1: it is the last and torn. Only the last line may be
 * without an end or be something else than an object.
 */
static int take_line(struct record_scan *scan, const char *line, size_t n, bool last,
		     const struct reader *r)
{
	int err;
	json_t *o = parse_line(scan, line, n, &err);

	if (err)
		return err;
	if (o && r->salvages && !is_readable(o, r->format)) {
		json_decref(o);
		o = NULL;
		last = false;
	}
	if (!o)
		return take_damage(scan, line, n, last, r);
	err = check_version(scan, o, r->format);
	if (!err)
		err = r->each(o, scan, r->arg);
	json_decref(o);
	step_over(scan, line, n);
	return err;
}

static int grow_line(char **line, size_t *size)
{
	size_t larger = *size ? 2 * *size : 1 << 12;
	char *moved = larger > RECORD_LINE_MAX ? NULL : realloc(*line, larger);

	if (!moved)
		return larger > RECORD_LINE_MAX ? -EFBIG : -ENOMEM;
	*line = moved;
	*size = larger;
	return 0;
}

/*
 * As getline(), for lines of up to RECORD_LINE_MAX: beyond, -EFBIG. A file without line ends would
 * otherwise take all memory before it is found to be no record. 0: the end.
 */
static ssize_t next_line(char **line, size_t *size, struct unpacked *in)
{
	size_t n = 0;
	int c, err;

	while ((c = unpacked_getc(in)) >= 0) {
		err = n + 1 >= *size ? grow_line(line, size) : 0;
		if (err)
			return err;
		(*line)[n++] = (char)c;
		if (c == '\n')
			break;
	}
	return c < 0 && in->err ? in->err : (ssize_t)n;
}

/* The file is not at its end: nothing is said of the line that would be the last. */
static int refuse_unread(const struct record_scan *scan, const struct unpacked *in, int err)
{
	const char *why = err == -EFBIG ? "a line longer than any of a record"
			  : in->err	? unpacked_reason(in)
					: strerror(-err);

	return complain(-err, "%s:%ld: %s", scan->path, (long)scan->line + 1, why);
}

static int take_all(struct record_scan *scan, struct unpacked *in, const struct reader *r)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = next_line(&line, &size, in)) != 0) {
		bool last = n > 0 && unpacked_peek(in) < 0;

		if (n < 0 || (last && in->err))
			err = refuse_unread(scan, in, n < 0 ? (int)n : in->err);
		else
			err = take_line(scan, line, (size_t)n, last, r);
	}
	free(line);
	return scan->torn && err == 1 ? 0 : err;
}

/* Regular files only: a pipe may never end, and nothing in it can be read again. */
static int read_lines(struct record_scan *scan, const char *path, const struct reader *r)
{
	struct unpacked in;
	int err = unpacked_open(&in, path, false);

	*scan = (struct record_scan){ .path = path };
	hash_start(&scan->hash);
	if (err)
		return complain(-err, "%s: %s", path, input_reason(err));
	err = take_all(scan, &in, r);
	scan->packed = in.gzip;
	unpacked_close(&in);
	return err;
}

int record_read_as(struct record_scan *scan, const char *path, const struct record_format *format,
		   int (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		   void *arg)
{
	return read_lines(scan, path, &(struct reader){ format, each, arg, false });
}

int record_read(struct record_scan *scan, const char *path,
		int (*each)(const json_t *o, const struct record_scan *scan, void *arg), void *arg)
{
	return record_read_as(scan, path, &record_sessions, each, arg);
}

int record_salvage(struct record_scan *scan, const char *path,
		   int (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		   void *arg)
{
	return read_lines(scan, path, &(struct reader){ &record_sessions, each, arg, true });
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
			"%s: is compressed, and a session goes on in a plain file: gunzip it "
			"first",
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
		return complain(err, "cannot write %s: %s; its %ld lines are kept", f->path,
				strerror(err), (long)f->lines);
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
		return complain(errno, "cannot write %s: %s; its %ld lines are kept", f->path,
				strerror(errno), (long)f->lines);
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
