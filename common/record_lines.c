/* record_lines.c - JSON Lines, read. */
#include "common/record_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/input.h"
#include "common/json_get.h"
#include "common/typed.h"
#include "common/unpacked.h"

/* Bytes of a line that is read: 30 times the longest, a plan of all workloads. */
enum { RECORD_LINE_MAX = 1 << 26 };

/* Bytes of memory for what a line says: 60 KB of gzip may be a line whose values take 2 GB. */
enum { RECORD_LINE_MEMORY = 1 << 29 };

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
	char up_to[32] = "";

	if (!version && !scan->line && json_is_string(json_object_get(o, "trace")))
		return complain(EINVAL, "%s: is a trace of rift profile, not a %s of rift",
				scan->path, f->what);
	if (!version && !scan->line)
		return complain(EINVAL, "%s: not a %s of rift: the first line has no %s",
				scan->path, f->what, f->version);
	if (!version)
		return 0;
	if (major < 0)
		return complain(EINVAL, "%s:%ld: %s is not \"MAJOR.MINOR\"", scan->path,
				(long)scan->line + 1, f->version);
	if (f->oldest != f->newest)
		snprintf(up_to, sizeof(up_to), " to %d.x", f->newest);
	if (!is_readable_major(f, major))
		return complain(EPROTONOSUPPORT, "%s:%ld: %s %s; this rift reads %d.x%s",
				scan->path, (long)scan->line + 1, f->version, text_shown(text).s,
				f->oldest, up_to);
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
static size_t taken; /* for this line */
static bool lacked;

static void *watched_malloc(size_t n)
{
	void *p = (taken += n) > RECORD_LINE_MEMORY ? NULL : usual_malloc(n);

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
	taken = 0;
	json_get_alloc_funcs(&usual_malloc, &usual_free);
	json_set_alloc_funcs(watched_malloc, usual_free);
	o = json_loadb(line, n - 1, JSON_REJECT_DUPLICATES, NULL);
	json_set_alloc_funcs(usual_malloc, usual_free);
	if (taken > RECORD_LINE_MEMORY)
		*err = complain(EFBIG, "%s:%ld: this line of %zu bytes takes over %d MiB of memory",
				scan->path, (long)scan->line + 1, n, RECORD_LINE_MEMORY >> 20);
	else if (lacked)
		*err = complain(ENOMEM, "%s:%ld: no memory for this line of %zu bytes", scan->path,
				(long)scan->line + 1, n);
	if (json_is_object(o) && !lacked)
		return o;
	json_decref(o);
	return NULL;
}

/* Does it begin as an executable file does? */
static bool is_program(const char *line, size_t n)
{
	return n > 3 && (!memcmp(line, "\177ELF", 4) || !memcmp(line, "#!", 2));
}

/*
 * What editors and transfers of Windows do to a text: a byte-order mark before it, CRLF at ends of
 * lines, two bytes a character. It is not damage, and can be undone. JSON has no bare CR in a text.
 */
static int refuse_foreign(const struct record_scan *scan, const char *line, size_t n)
{
	if (!scan->line && n > 2 && !memcmp(line, "\xef\xbb\xbf", 3))
		return complain(EINVAL,
				"%s: begins with a byte-order mark (BOM), which no file of rift "
				"has; remove it with: sed -i '1s/^\\xef\\xbb\\xbf//' FILE",
				scan->path);
	if (!scan->line && n > 1 && (!memcmp(line, "\xff\xfe", 2) || !memcmp(line, "\xfe\xff", 2)))
		return complain(EINVAL,
				"%s: is UTF-16, but files of rift are UTF-8; convert it with: "
				"iconv -f UTF-16 -t UTF-8",
				scan->path);
	if (n > 1 && line[n - 2] == '\r' && line[n - 1] == '\n')
		return complain(EINVAL,
				"%s:%ld: this line ends in CRLF, but lines of rift end in LF; "
				"convert them with: sed -i 's/\\r$//' FILE",
				scan->path, (long)scan->line + 1);
	return 0;
}

/* No object: 1 where it is the last line, which is then torn. */
static int take_damage(struct record_scan *scan, const char *line, size_t n, bool last,
		       const struct reader *r)
{
	if (!scan->line && is_program(line, n))
		return complain(
			EINVAL,
			"%s: is a program, not a %s; rift profile -- COMMAND records a trace of it",
			scan->path, r->format->what);
	if (last) {
		scan->torn = true;
		return 1;
	}
	if (!r->salvages)
		return complain(EINVAL,
				"%s:%ld: this line is not a JSON object: the file is damaged",
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
	int err = refuse_foreign(scan, line, n);
	json_t *o = err ? NULL : parse_line(scan, line, n, &err);

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

int record_salvage_as(struct record_scan *scan, const char *path,
		      const struct record_format *format,
		      int (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		      void *arg)
{
	return read_lines(scan, path, &(struct reader){ format, each, arg, true });
}

bool record_first_name(const char *path, char name[RECORD_NAME])
{
	char head[64] = "";
	struct unpacked in;
	bool says;

	if (!unpacked_open(&in, path, false))
		unpacked_read(&in, head, sizeof(head) - 1);
	unpacked_close(&in);
	says = sscanf(head, " { \"record\" : \"%15[a-z_]\"", name) == 1;
	if (!says)
		*name = '\0';
	return says;
}
