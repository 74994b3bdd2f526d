/* trace_impl.h - what the readers of a trace's rows share. */
#ifndef RIFT_TRACE_IMPL_H
#define RIFT_TRACE_IMPL_H

#include <stddef.h>

#include "common/trace/trace.h"
#include "common/record_lines.h"

/* Ids of the file to indexes: at[id], TRACE_NONE where there is none. */
struct id_map {
	int32_t *at;
	int64_t size;
};

/* An array that grows: what it has room for. */
struct room {
	int64_t strings, threads, streams, graphs, calls, ops, marks, owns, folds;
};

/* What is sorted: a row's key, and where it was. */
struct key {
	int64_t first, second;
	int64_t at;
};

struct reading {
	struct trace *t;
	struct room room;
	struct id_map string, thread, stream, graph;
	const char *path;
	int64_t line;	    /* under way, from 1 */
	int64_t *call_line; /* of each call, for messages */
	int64_t *op_line;
	int64_t call_line_room, op_line_room;
	int64_t made; /* ids given to calls of folds */
};

/* "PATH:LINE: MESSAGE", -EINVAL. */
int trace_damaged(const struct reading *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Room for one element more of an array. */
void *trace_grow(void *array, int64_t n, int64_t *room, size_t size);

/* ---- members ------------------------------------------------------------------------------ */

/* A whole number of 64 or 32 bits, a choice of names, a reference to a row of a table, or a bool.
 */
enum member_type { MEMBER_64, MEMBER_32, MEMBER_CHOICE, MEMBER_REF, MEMBER_BOOL };

struct member {
	const char *name;
	enum member_type type;
	size_t at;
	bool required;
	const char *const *names; /* of a choice */
	size_t map;		  /* of a reference: which id_map of struct reading */
	int64_t least;
};

/* Reads all of a table, which ends with a name that is NULL, into a struct. 0 or -EINVAL. */
int trace_members(const struct reading *r, const json_t *o, const char *what,
		  const struct member *m, void *out);

/* Whole times of 2^53 ns are 104 days: beyond, a double would lose some. */
#define TRACE_TIME_MAX ((int64_t)1 << 53)

/* ---- rows ------------------------------------------------------------------------------- */

/* Without id and times where it is of a fold. */
int trace_parse_call(struct reading *r, const json_t *o, struct trace_call *call, bool folded);
int trace_parse_op(struct reading *r, const json_t *o, struct trace_op *op, bool folded);

/* Is there room for so many more? 0, or -EFBIG after one line, which says how much they take. */
int trace_has_room(const struct reading *r, int64_t calls, int64_t ops);

/* The first line. 0, or -EINVAL. */
int trace_take_header(struct reading *r, const json_t *o);

/* At the end of the arrays; op->call is still an id. 0, or as trace_has_room(). */
int trace_add_call(struct reading *r, const struct trace_call *call);
int trace_add_op(struct reading *r, const struct trace_op *op);

int trace_take_fold(struct reading *r, const json_t *o);

/* host_gaps.c: member host_gaps of the row `runs`. */
int trace_take_host_gaps(const struct reading *r, const json_t *o);
void trace_release_host_gaps(struct trace *t);

void trace_sort_keys(struct key *keys, int64_t n);

/* Once all rows are there: order, references from operations to calls. */
int trace_link(struct reading *r);

#endif
