/* nsys.c - exports of Nsight Systems as trace events. */
#include "common/trace/nsys.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/typed.h"
#include "common/unpacked.h"

bool nsys_is(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char begin[sizeof(magic)] = "";
	struct unpacked in;
	bool is = !unpacked_open(&in, path, false) &&
		  unpacked_read(&in, begin, sizeof(begin)) == sizeof(begin) &&
		  !memcmp(begin, magic, sizeof(magic));

	unpacked_close(&in);
	return is;
}

/* ---- SQLite's library ----------------------------------------------------------------------- */

/* Its interface has been the same since 2004 (sqlite.org/c3ref); these are its numbers. */
enum { SQLITE_OK = 0, SQLITE_ROW = 100, SQLITE_DONE = 101, SQLITE_OPEN_READONLY = 1 };

struct sqlite {
	void *library, *db;
	const char *path;
	int (*open_v2)(const char *, void **, int, const char *);
	int (*close)(void *);
	const char *(*errmsg)(void *);
	int (*prepare_v2)(void *, const char *, int, void **, const char **);
	int (*step)(void *);
	int (*finalize)(void *);
	int64_t (*column_int64)(void *, int);
	const unsigned char *(*column_text)(void *, int);
};

static const char *find_functions(struct sqlite *s)
{
	const struct {
		const char *name;
		void *at; /* of a pointer to a function */
	} functions[] = {
		{ "sqlite3_open_v2", &s->open_v2 },
		{ "sqlite3_close", &s->close },
		{ "sqlite3_errmsg", &s->errmsg },
		{ "sqlite3_prepare_v2", &s->prepare_v2 },
		{ "sqlite3_step", &s->step },
		{ "sqlite3_finalize", &s->finalize },
		{ "sqlite3_column_int64", &s->column_int64 },
		{ "sqlite3_column_text", &s->column_text },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *p = dlsym(s->library, functions[i].name);

		if (!p)
			return functions[i].name;
		memcpy(functions[i].at, &p, sizeof(p));
	}
	return NULL;
}

static int open_database(struct sqlite *s, const char *path)
{
	static const char library[] = "libsqlite3.so.0";
	const char *lacks;

	*s = (struct sqlite){ .path = path, .library = dlopen(library, RTLD_NOW | RTLD_LOCAL) };
	if (!s->library)
		return complain(ENOENT,
				"%s: is an SQLite file, which needs %s; on Debian and Ubuntu, "
				"install libsqlite3-0",
				path, library);
	lacks = find_functions(s);
	if (lacks)
		return complain(ENOENT, "%s: %s lacks %s", path, library, lacks);
	if (s->open_v2(path, &s->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return complain(EINVAL, "%s: %s", path, text_shown(s->errmsg(s->db)).s);
	return 0;
}

static void close_database(struct sqlite *s)
{
	if (s->db)
		s->close(s->db);
	if (s->library)
		dlclose(s->library);
}

enum { ROWS_MAX = 50000000 };

/* ---- rows become events --------------------------------------------------------------------- */

struct rows {
	struct sqlite *s;
	void *row; /* a statement */
	const struct chrome_reader *reader;
	int64_t n;	  /* so far */
	int64_t *process; /* whose calls these are; -1: none yet */
};

static int64_t whole(const struct rows *r, int column)
{
	return r->s->column_int64(r->row, column);
}

static const char *text(const struct rows *r, int column)
{
	const unsigned char *value = r->s->column_text(r->row, column);

	return value ? (const char *)value : "";
}

/* A thread's number holds its process's: the manual says how. */
static int64_t pid_of(int64_t thread)
{
	return thread / 0x1000000 % 0x1000000;
}

static json_t *text_json(const char *value)
{
	json_t *text = json_string(value);

	return text ? text : json_string("?"); /* no UTF-8 */
}

/* Whose start and end are columns 0 and 1, in ns. args is stolen; NULL: none. */
static int put_event(const struct rows *r, const char *category, const char *name, int64_t pid,
		     int64_t tid, json_t *args)
{
	int64_t t0 = whole(r, 0), t1 = whole(r, 1);
	json_t *event =
		json_pack("{s:s, s:s, s:o, s:I, s:I, s:f, s:f, s:o}", "ph", "X", "cat", category,
			  "name", text_json(name), "pid", (json_int_t)pid, "tid", (json_int_t)tid,
			  "ts", (double)t0 / 1000, "dur", ((double)t1 - (double)t0) / 1000, "args",
			  args ? args : json_object());
	int err;

	CHECK(event, "memory of an event");
	err = r->reader->event(event, r->reader->arg);
	json_decref(event);
	return err;
}

/* start, end, globalTid, correlationId, name */
static int take_call(const struct rows *r)
{
	int64_t thread = whole(r, 2);

	/* correlations count in each process */
	if (*r->process >= 0 && *r->process != pid_of(thread))
		return complain(EINVAL,
				"%s: has the calls of several processes, and rift reads those of "
				"one: record one process",
				r->s->path);
	*r->process = pid_of(thread);
	return put_event(r, "cuda_runtime", text(r, 4), pid_of(thread), thread % 0x1000000,
			 json_pack("{s:I}", "correlation", (json_int_t)whole(r, 3)));
}

/* start, end, deviceId, streamId, correlationId of all operations */
static json_t *op_args(const struct rows *r)
{
	return json_pack("{s:I, s:I, s:I}", "device", (json_int_t)whole(r, 2), "stream",
			 (json_int_t)whole(r, 3), "correlation", (json_int_t)whole(r, 4));
}

/* name, gridX, gridY, gridZ, blockX, blockY, blockZ */
static int take_kernel(const struct rows *r)
{
	json_t *args = op_args(r);

	json_object_set_new(args, "grid",
			    json_pack("[I, I, I]", (json_int_t)whole(r, 6), (json_int_t)whole(r, 7),
				      (json_int_t)whole(r, 8)));
	json_object_set_new(args, "block",
			    json_pack("[I, I, I]", (json_int_t)whole(r, 9),
				      (json_int_t)whole(r, 10), (json_int_t)whole(r, 11)));
	return put_event(r, "kernel", text(r, 5), whole(r, 2), whole(r, 3), args);
}

/* CUPTI's numbers of kinds of copies and of memory. */
static const char *way_of(int64_t kind)
{
	return kind == 1 ? "HtoD" : kind == 2 ? "DtoH" : kind == 10 ? "PtoP" : "DtoD";
}

/* As exports number them in ENUM_CUDA_MEM_KIND, which is not as CUPTI does. */
static const char *memory_of(int64_t kind)
{
	static const char *const names[] = { "Pageable", "Pinned", "Device", "Array",
					     "Managed",	 "Device", "Managed" };

	return kind >= 0 && kind < (int64_t)(sizeof(names) / sizeof(*names)) ? names[kind]
									     : "Unknown";
}

/* bytes, copyKind, srcKind, dstKind */
static int take_copy(const struct rows *r)
{
	json_t *args = op_args(r);
	char name[64];

	snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)", way_of(whole(r, 6)),
		 memory_of(whole(r, 7)), memory_of(whole(r, 8)));
	json_object_set_new(args, "bytes", json_integer(whole(r, 5)));
	return put_event(r, "gpu_memcpy", name, whole(r, 2), whole(r, 3), args);
}

/* bytes */
static int take_memset(const struct rows *r)
{
	json_t *args = op_args(r);

	json_object_set_new(args, "bytes", json_integer(whole(r, 5)));
	return put_event(r, "gpu_memset", "Memset", whole(r, 2), whole(r, 3), args);
}

/* A whole graph, of which no more is known. */
static int take_graph(const struct rows *r)
{
	json_t *args = op_args(r);
	double busy_us = ((double)whole(r, 1) - (double)whole(r, 0)) / 1000;

	json_object_set_new(args, "nodes", json_integer(0));
	json_object_set_new(args, "kernels", json_integer(0));
	json_object_set_new(args, "busy_us", json_real(busy_us));
	return put_event(r, "kernel", "graph", whole(r, 2), whole(r, 3), args);
}

/* Of the kinds of synchronizes the one of a stream: number 3. */
static int take_sync(const struct rows *r)
{
	return put_event(r, "cuda_sync", "Stream Synchronize", whole(r, 2), whole(r, 3),
			 op_args(r));
}

/* start, end, globalTid, text */
static int take_range(const struct rows *r)
{
	int64_t thread = whole(r, 2);

	return put_event(r, "user_annotation", text(r, 3), pid_of(thread), thread % 0x1000000,
			 NULL);
}

/* name */
static int take_device(const struct rows *r)
{
	json_t *list = json_pack("[{s:o}]", "name", text_json(text(r, 0)));

	r->reader->member("deviceProperties", list, r->reader->arg);
	json_decref(list);
	return 0;
}

/* pid, name */
static int take_process(const struct rows *r)
{
	json_t *event =
		json_pack("{s:s, s:s, s:I, s:{s:o}}", "ph", "M", "name", "process_name", "pid",
			  (json_int_t)whole(r, 0), "args", "name", text_json(text(r, 1)));
	int err = r->reader->event(event, r->reader->arg);

	json_decref(event);
	return err;
}

/* ---- tables --------------------------------------------------------------------------------- */

#define OP_COLUMNS "SELECT start, end, deviceId, streamId, correlationId"
#define ACTIVITY " FROM CUPTI_ACTIVITY_KIND_"
#define LIBRARY_RANGES(table)                                                                      \
	"SELECT start, end, globalTid, value FROM " table                                          \
	" LEFT JOIN StringIds ON StringIds.id = nameId"

static const struct {
	const char *query;
	int (*take)(const struct rows *r);
	bool required; /* without it the file is no export, or has no CUDA in it */
} tables[] = {
	{ "SELECT start, end, globalTid, correlationId, value" ACTIVITY
	  "RUNTIME LEFT JOIN StringIds ON StringIds.id = nameId ORDER BY start",
	  take_call, true },
	{ OP_COLUMNS ", value, gridX, gridY, gridZ, blockX, blockY, blockZ" ACTIVITY
		     "KERNEL LEFT JOIN StringIds ON StringIds.id = shortName",
	  take_kernel, false },
	{ OP_COLUMNS ", bytes, copyKind, srcKind, dstKind" ACTIVITY "MEMCPY", take_copy, false },
	{ OP_COLUMNS ", bytes" ACTIVITY "MEMSET", take_memset, false },
	{ OP_COLUMNS ACTIVITY "GRAPH_TRACE", take_graph, false },
	{ OP_COLUMNS ACTIVITY "SYNCHRONIZATION WHERE syncType = 3", take_sync, false },
	{ "SELECT start, end, globalTid, coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN "
	  "StringIds ON StringIds.id = textId WHERE eventType = 59 AND end IS NOT NULL",
	  take_range, false },
	{ LIBRARY_RANGES("CUDNN_EVENTS"), take_range, false },
	{ LIBRARY_RANGES("CUBLAS_EVENTS"), take_range, false },
	{ "SELECT name FROM TARGET_INFO_GPU ORDER BY id LIMIT 1", take_device, false },
	{ "SELECT pid, name FROM PROCESSES", take_process, false },
};

static int refuse(const struct sqlite *s, bool required)
{
	const char *why = s->errmsg(s->db);

	if (!strncmp(why, "no such table", strlen("no such table")))
		return required ? complain(EINVAL,
					   "%s: is no export of nsys with CUDA calls in it: %s",
					   s->path, text_shown(why).s)
				: 0;
	return complain(EINVAL, "%s: %s", s->path, text_shown(why).s);
}

static int take_table(struct rows *r, size_t i)
{
	struct sqlite *s = r->s;
	int err = 0, got;

	r->row = NULL;
	if (s->prepare_v2(s->db, tables[i].query, -1, &r->row, NULL) != SQLITE_OK)
		return refuse(s, tables[i].required);
	while ((got = s->step(r->row)) == SQLITE_ROW && !err)
		err = ++r->n > ROWS_MAX
			      ? complain(EFBIG, "%s: has more than %d rows", s->path, (int)ROWS_MAX)
			      : tables[i].take(r);
	if (!err && got != SQLITE_DONE)
		err = complain(EINVAL, "%s: %s", s->path, text_shown(s->errmsg(s->db)).s);
	s->finalize(r->row);
	return err;
}

int nsys_read(const char *path, const struct chrome_reader *reader)
{
	struct sqlite s;
	int64_t process = -1;
	struct rows r = { .s = &s, .reader = reader, .process = &process };
	int err = open_database(&s, path);

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++)
		err = take_table(&r, i);
	close_database(&s);
	return err;
}
