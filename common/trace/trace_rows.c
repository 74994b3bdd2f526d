/* trace_rows.c - rows of a trace: members by tables, calls and operations. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/json_get.h"
#include "common/typed.h"
#include "common/trace/trace_impl.h"

/* clang-format off */
const char *const call_class_names[] = {
	"launch", "graph_launch", "copy", "memset", "record", "wait_event", "sync_stream",
	"sync_event", "sync_device", "query", "alloc", "free", "hostfunc", "module", "other", NULL,
};
/* clang-format on */
const char *const op_kind_names[] = { "kernel", "copy", "memset", "graph", "hostfunc", NULL };
const char *const copy_direction_names[] = { "to_device", "to_host", "within", "peer", NULL };
const char *const memory_kind_names[] = {
	"device", "pinned", "mapped", "managed", "pageable", NULL
};
const char *const stream_kind_names[] = { "legacy", "per-thread", "blocking", "non-blocking",
					  NULL };
const char *const mark_kind_names[] = { "push", "pop", "start", "stop", NULL };

int trace_damaged(const struct reading *r, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return complain(EINVAL, "%s:%ld: %s", r->path, (long)r->line, text);
}

void *trace_grow(void *array, int64_t n, int64_t *room, size_t size)
{
	if (n < *room)
		return array;
	*room = *room ? 2 * *room : 64;
	array = realloc(array, (size_t)*room * size);
	CHECK(array, "memory of %ld rows of a trace", (long)*room);
	return array;
}

int trace_has_room(const struct reading *r, int64_t calls, int64_t ops)
{
	/* while it is sorted, its key is there twice */
	const int64_t line = sizeof(*r->call_line), key = 2 * sizeof(struct key);
	int64_t rows, bytes;

	calls += r->t->calls;
	ops += r->t->ops;
	rows = calls + ops;
	bytes = calls * ((int64_t)sizeof(*r->t->call) + line + key) +
		ops * ((int64_t)sizeof(*r->t->op) + line + key);
	if (rows > TRACE_ROWS_MAX)
		return complain(EFBIG, "%s:%ld: more than %d calls and operations", r->path,
				(long)r->line, TRACE_ROWS_MAX);
	if (bytes > TRACE_BYTES_MAX)
		return complain(EFBIG,
				"%s:%ld: with this line the trace has %ld calls and operations, "
				"repeats counted each, which take %.2f GiB of memory; a trace may "
				"take %.0f GiB",
				r->path, (long)r->line, (long)rows, (double)bytes / 0x1p30,
				(double)TRACE_BYTES_MAX / 0x1p30);
	return 0;
}

/* ---- members ------------------------------------------------------------------------------ */

static int take_whole(const struct reading *r, const json_t *value, const struct member *m,
		      int64_t *out)
{
	int64_t most = m->type == MEMBER_64 ? TRACE_TIME_MAX : INT32_MAX;

	if (!json_is_integer(value))
		return trace_damaged(r, "%s must be a whole number", m->name);
	*out = json_integer_value(value);
	if (*out < m->least || *out > most)
		return trace_damaged(r, "%s: %ld: must be %ld to %ld", m->name, (long)*out,
				     (long)m->least, (long)most);
	return 0;
}

static int take_choice(const struct reading *r, const json_t *value, const struct member *m,
		       int32_t *out)
{
	const char *text = json_string_value(value);
	struct suggestion near = suggest_start(text ? text : "");

	for (*out = 0; text && m->names[*out]; ++*out) {
		if (!strcmp(text, m->names[*out]))
			return 0;
		suggest_offer(&near, m->names[*out]);
	}
	return trace_damaged(r, "%s: unknown value '%s'%s", m->name, text_shown(text ? text : "").s,
			     suggest_hint(&near).s);
}

static int take_ref(const struct reading *r, const json_t *value, const struct member *m,
		    int32_t *out)
{
	const struct id_map *map = (const void *)((const char *)r + m->map);
	int64_t id = json_is_integer(value) ? json_integer_value(value) : TRACE_NONE;

	if (id < 0 || id >= map->size || map->at[id] < 0)
		return trace_damaged(r, "%s: no row before this one has that id", m->name);
	*out = map->at[id];
	return 0;
}

static int take_bool(const struct reading *r, const json_t *value, const struct member *m,
		     bool *out)
{
	if (!json_is_boolean(value))
		return trace_damaged(r, "%s must be true or false", m->name);
	*out = json_is_true(value);
	return 0;
}

static int take_member(const struct reading *r, const json_t *value, const struct member *m,
		       void *out)
{
	int64_t whole = 0;
	int err;

	if (m->type == MEMBER_CHOICE)
		return take_choice(r, value, m, out);
	if (m->type == MEMBER_REF)
		return take_ref(r, value, m, out);
	if (m->type == MEMBER_BOOL)
		return take_bool(r, value, m, out);
	err = take_whole(r, value, m, &whole);
	if (err)
		return err;
	if (m->type == MEMBER_64)
		*(int64_t *)out = whole;
	else
		*(int32_t *)out = (int32_t)whole;
	return 0;
}

static void leave_out(const struct member *m, void *out)
{
	if (m->type == MEMBER_64)
		*(int64_t *)out = TRACE_NONE;
	else if (m->type == MEMBER_BOOL)
		*(bool *)out = false;
	else
		*(int32_t *)out = TRACE_NONE;
}

int trace_members(const struct reading *r, const json_t *o, const char *what,
		  const struct member *m, void *out)
{
	int err = 0;

	for (; m->name && !err; m++) {
		const json_t *value = json_object_get(o, m->name);
		void *to = (char *)out + m->at;

		if (value && !json_is_null(value))
			err = take_member(r, value, m, to);
		else if (m->required)
			err = trace_damaged(r, "a %s without %s", what, m->name);
		else
			leave_out(m, to);
	}
	return err;
}

/* ---- calls -------------------------------------------------------------------------------- */

#define CALL(name) offsetof(struct trace_call, name)
#define MAP(name) offsetof(struct reading, name)

/* What a fold does not have comes first. */
enum { CALL_MEMBERS_TIMED = 5, OP_MEMBERS_TIMED = 4 };

static const struct member call_members[] = {
	{ "id", MEMBER_64, CALL(id), .required = true },
	{ "t0", MEMBER_64, CALL(t0), .required = true },
	{ "t1", MEMBER_64, CALL(t1), .required = true },
	{ "recording", MEMBER_64, CALL(recording), .required = false },
	{ "cpu_ns", MEMBER_64, CALL(cpu_ns), .required = false },
	{ "thread", MEMBER_REF, CALL(thread), .required = true, .map = MAP(thread) },
	{ "class", MEMBER_CHOICE, CALL(class), .required = true, .names = call_class_names },
	{ "name", MEMBER_REF, CALL(name), .required = false, .map = MAP(string) },
	{ "kernel", MEMBER_REF, CALL(kernel), .required = false, .map = MAP(string) },
	{ "stream", MEMBER_REF, CALL(stream), .required = false, .map = MAP(stream) },
	{ "event", MEMBER_32, CALL(event), .required = false },
	{ "graph", MEMBER_REF, CALL(graph), .required = false, .map = MAP(graph) },
	{ "bytes", MEMBER_64, CALL(bytes), .required = false },
	{ "not_recorded", MEMBER_64, CALL(not_recorded), .required = false },
	{ "memory", MEMBER_CHOICE, CALL(memory), .required = false, .names = memory_kind_names },
	{ "async", MEMBER_BOOL, CALL(async), .required = false },
	{ "captured", MEMBER_BOOL, CALL(captured), .required = false },
	{ .name = NULL },
};

int trace_parse_call(struct reading *r, const json_t *o, struct trace_call *call, bool folded)
{
	const struct member *m = call_members + (folded ? CALL_MEMBERS_TIMED : 0);
	int err;

	*call = (struct trace_call){ .recording = TRACE_NONE,
				     .cpu_ns = TRACE_NONE,
				     .fold = TRACE_NONE };
	err = trace_members(r, o, "call", m, call);
	if (!err && !folded && call->t1 < call->t0)
		err = trace_damaged(r, "t1 is before t0");
	if (call->not_recorded == TRACE_NONE)
		call->not_recorded = 0;
	if (!err && call->event >= TRACE_ID_MAX)
		err = trace_damaged(r, "event must be below %d", TRACE_ID_MAX);
	return err;
}

int trace_add_call(struct reading *r, const struct trace_call *call)
{
	struct trace *t = r->t;

	if (trace_has_room(r, 1, 0))
		return -EFBIG;
	t->call = trace_grow(t->call, t->calls, &r->room.calls, sizeof(*t->call));
	r->call_line = trace_grow(r->call_line, t->calls, &r->call_line_room, sizeof(int64_t));
	r->call_line[t->calls] = r->line;
	t->call[t->calls++] = *call;
	return 0;
}

/* ---- operations --------------------------------------------------------------------------- */

#define OP(name) offsetof(struct trace_op, name)

static const struct member op_members[] = {
	{ "call", MEMBER_64, OP(call), .required = true },
	{ "t0", MEMBER_64, OP(t0), .required = true },
	{ "t1", MEMBER_64, OP(t1), .required = true },
	{ "busy_ns", MEMBER_64, OP(busy_ns), .required = false },
	{ "kind", MEMBER_CHOICE, OP(kind), .required = true, .names = op_kind_names },
	{ "stream", MEMBER_REF, OP(stream), .required = true, .map = MAP(stream) },
	{ "name", MEMBER_REF, OP(name), .required = false, .map = MAP(string) },
	{ "graph", MEMBER_REF, OP(graph), .required = false, .map = MAP(graph) },
	{ "bytes", MEMBER_64, OP(bytes), .required = false },
	{ "direction", MEMBER_CHOICE, OP(direction), .required = false,
	  .names = copy_direction_names },
	{ "memory", MEMBER_CHOICE, OP(memory), .required = false, .names = memory_kind_names },
	{ "shared", MEMBER_32, OP(shared), .required = false },
	{ "registers", MEMBER_32, OP(registers), .required = false },
	{ "async", MEMBER_BOOL, OP(async), .required = false },
	{ .name = NULL },
};

/* [x, y, z], each 1 or more. */
static int take_shape(const struct reading *r, const json_t *o, const char *name, int32_t shape[3])
{
	const json_t *list = json_object_get(o, name);

	memset(shape, 0, 3 * sizeof(*shape));
	for (size_t i = 0; i < 3 && list; i++) {
		const json_t *value = json_array_get(list, i);
		int64_t n = json_integer_value(value);

		if (json_array_size(list) != 3 || !json_is_integer(value) || n < 1 || n > INT32_MAX)
			return trace_damaged(r, "%s must be [x, y, z], each 1 or more", name);
		shape[i] = (int32_t)n;
	}
	return 0;
}

int trace_parse_op(struct reading *r, const json_t *o, struct trace_op *op, bool folded)
{
	const struct member *m = op_members + (folded ? OP_MEMBERS_TIMED : 0);
	int err;

	*op = (struct trace_op){ .busy_ns = TRACE_NONE };
	err = trace_members(r, o, "op", m, op);

	if (!err)
		err = take_shape(r, o, "grid", op->grid);
	if (!err)
		err = take_shape(r, o, "block", op->block);
	if (!err && !folded && op->t1 < op->t0)
		err = trace_damaged(r, "t1 is before t0");
	if (!err && op->kind == OP_COPY && op->direction == TRACE_NONE)
		err = trace_damaged(r, "a copy without direction");
	if (!err && op->kind == OP_GRAPH && op->graph == TRACE_NONE)
		err = trace_damaged(r, "a graph's operation without graph");
	if (!err && !folded && op->busy_ns > op->t1 - op->t0)
		err = trace_damaged(r, "busy_ns is longer than the operation");
	return err;
}

int trace_add_op(struct reading *r, const struct trace_op *op)
{
	struct trace *t = r->t;

	if (trace_has_room(r, 0, 1))
		return -EFBIG;
	t->op = trace_grow(t->op, t->ops, &r->room.ops, sizeof(*t->op));
	r->op_line = trace_grow(r->op_line, t->ops, &r->op_line_room, sizeof(int64_t));
	r->op_line[t->ops] = r->line;
	t->op[t->ops++] = *op;
	return 0;
}
