/* chrome.c - a trace as Chrome's trace events. */
#include "harness/profile/chrome.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/profile/ranges.h"

/* The device is process 0, as Kineto has it; its synchronizes are rows below all streams, whose ids
 * are below TRACE_ID_MAX. */
enum { DEVICE_PID = 0, SYNC_ROW = TRACE_ID_MAX };

struct chrome {
	const struct trace *t;
	FILE *out;
	const char *between;
	int64_t pid;
	int64_t last_row; /* of the device, so far */
	int64_t *op_row;  /* of each operation */
};

/* ---- pieces ------------------------------------------------------------------------------- */

static void put_text(struct chrome *c, const char *text)
{
	json_t *value = json_text(text);

	json_dumpf(value, c->out, JSON_ENCODE_ANY);
	json_decref(value);
}

static void put_us(FILE *out, const char *key, int64_t ns)
{
	int64_t size = ns < 0 ? -ns : ns;

	fprintf(out, ",\"%s\":%s%ld.%03ld", key, ns < 0 ? "-" : "", (long)(size / 1000),
		(long)(size % 1000));
}

/* Begins an event; the caller adds members and ends it. */
static void begin(struct chrome *c, const char *phase, int64_t pid, int64_t tid)
{
	fprintf(c->out, "%s\n{\"ph\":\"%s\",\"pid\":%ld,\"tid\":%ld", c->between, phase, (long)pid,
		(long)tid);
	c->between = ",";
}

static void put_named(struct chrome *c, const char *category, const char *name)
{
	fprintf(c->out, ",\"cat\":\"%s\",\"name\":", category);
	put_text(c, name);
}

static void put_complete(struct chrome *c, const char *category, const char *name, int64_t t0,
			 int64_t t1)
{
	put_named(c, category, name);
	put_us(c->out, "ts", t0);
	put_us(c->out, "dur", t1 - t0);
}

static void put_meta(struct chrome *c, const char *what, int64_t pid, int64_t tid, const char *name)
{
	begin(c, "M", pid, tid);
	fprintf(c->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	put_text(c, name);
	fputs("}}", c->out);
}

/* ---- rows --------------------------------------------------------------------------------- */

static int64_t tid_of(const struct chrome *c, int32_t thread)
{
	return c->t->thread[thread].tid;
}

static void put_rows(struct chrome *c)
{
	const struct trace *t = c->t;
	char name[64];

	put_meta(c, "process_name", c->pid, 0, t->program);
	put_meta(c, "process_name", DEVICE_PID, 0, "device");
	for (int32_t i = 0; i < t->threads; i++) {
		snprintf(name, sizeof(name), "thread %ld%s%.40s", (long)tid_of(c, i),
			 t->thread[i].name ? " " : "", t->thread[i].name ? t->thread[i].name : "");
		put_meta(c, "thread_name", c->pid, tid_of(c, i), name);
		snprintf(name, sizeof(name), "synchronizes of thread %ld", (long)tid_of(c, i));
		put_meta(c, "thread_name", DEVICE_PID, SYNC_ROW + i, name);
	}
	for (int64_t i = 0; i < t->streams; i++) {
		snprintf(name, sizeof(name), "stream %ld %s", (long)t->stream[i].id,
			 stream_kind_names[t->stream[i].kind]);
		put_meta(c, "thread_name", DEVICE_PID, t->stream[i].id, name);
	}
}

/*
 * Slices of a row must not overlap, or a viewer drops them. Kernels of one stream may, as where one
 * is launched before the one ahead of it has ended: these get rows of their own beside the
 * stream's. So may ranges of one thread, on the device.
 */
struct slice {
	int64_t group; /* whose rows it is on */
	int64_t t0, t1;
	int64_t at; /* index */
};

static int compare_slices(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	if (x->t1 != y->t1)
		return x->t1 < y->t1 ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* A row of a group, the how many-th of it: its id. */
typedef int64_t add_row_fn(struct chrome *c, int64_t group, int64_t beside);

static int64_t add_stream_row(struct chrome *c, int64_t group, int64_t beside)
{
	const struct trace_stream *s = &c->t->stream[group];
	char name[64];

	if (!beside)
		return s->id;
	snprintf(name, sizeof(name), "stream %ld, at the same time", (long)s->id);
	put_meta(c, "thread_name", DEVICE_PID, ++c->last_row, name);
	return c->last_row;
}

static void *zeroed(int64_t n, size_t size)
{
	void *p = calloc((size_t)n + 1, size);

	CHECK(p, "memory of %ld slices", (long)n);
	return p;
}

/* Sorts n slices, and gives each the first row of its group that is free: row_of[at]. */
static void give_rows(struct chrome *c, struct slice *slice, int64_t n, add_row_fn *add_row,
		      int64_t *row_of)
{
	struct row {
		int64_t id, end;
	} *row = zeroed(n, sizeof(*row));
	int64_t rows = 0, k;

	qsort(slice, (size_t)n, sizeof(*slice), compare_slices);
	for (int64_t i = 0; i < n; i++) {
		if (i && slice[i].group != slice[i - 1].group)
			rows = 0;
		for (k = 0; k < rows && row[k].end > slice[i].t0; k++)
			;
		if (k == rows)
			row[rows++].id = add_row(c, slice[i].group, k);
		row[k].end = slice[i].t1;
		row_of[slice[i].at] = row[k].id;
	}
	free(row);
}

static void find_op_rows(struct chrome *c)
{
	const struct trace *t = c->t;
	struct slice *slice = zeroed(t->ops, sizeof(*slice));

	c->op_row = zeroed(t->ops, sizeof(*c->op_row));
	c->last_row = SYNC_ROW + t->threads;
	for (int64_t i = 0; i < t->ops; i++)
		slice[i] = (struct slice){ t->op[i].stream, t->op[i].t0, t->op[i].t1, i };
	give_rows(c, slice, t->ops, add_stream_row, c->op_row);
	free(slice);
}

/* ---- calls -------------------------------------------------------------------------------- */

static const char *call_name(const struct trace *t, const struct trace_call *call)
{
	return call->name < 0 ? call_class_names[call->class] : t->string[call->name];
}

static void put_sync(struct chrome *c, const struct trace_call *call)
{
	begin(c, "X", DEVICE_PID, SYNC_ROW + call->thread);
	put_complete(c, "cuda_sync",
		     call->class == CALL_SYNC_STREAM  ? "Stream Synchronize"
		     : call->class == CALL_SYNC_EVENT ? "Event Synchronize"
						      : "Context Synchronize",
		     call->t0, call->t1);
	fputs("}", c->out);
}

static void put_call(struct chrome *c, int64_t i)
{
	const struct trace_call *call = &c->t->call[i];

	begin(c, "X", c->pid, tid_of(c, call->thread));
	put_complete(c, "cuda_runtime", call_name(c->t, call), call->t0, call->t1);
	fprintf(c->out, ",\"args\":{\"correlation\":%ld", (long)i + 1);
	if (call->bytes >= 0)
		fprintf(c->out, ",\"bytes\":%ld", (long)call->bytes);
	fputs("}}", c->out);
	if (call_is_sync(call->class))
		put_sync(c, call);
}

/* ---- operations --------------------------------------------------------------------------- */

static const char *op_category(enum op_kind kind)
{
	static const char *const category[OP_KINDS] = { "kernel", "gpu_memcpy", "gpu_memset",
							"kernel", "cpu_op" };

	return category[kind];
}

/* As Kineto has it, with the memory of the host's side. Static memory. */
static const char *copy_name(const struct trace_op *op)
{
	static const char *const ways[COPY_DIRECTIONS] = { "HtoD", "DtoH", "DtoD", "PtoP" };
	static const char *const memories[MEMORY_KINDS] = { "Device", "Pinned", "Mapped", "Managed",
							    "Pageable" };
	static char name[64];
	const char *host = op->memory < 0 ? NULL : memories[op->memory];
	const char *way = ways[op->direction];

	if (host && op->direction == COPY_TO_DEVICE)
		snprintf(name, sizeof(name), "Memcpy %s (%s -> Device)", way, host);
	else if (host && op->direction == COPY_TO_HOST)
		snprintf(name, sizeof(name), "Memcpy %s (Device -> %s)", way, host);
	else
		snprintf(name, sizeof(name), "Memcpy %s", way);
	return name;
}

static const char *op_name(const struct trace *t, const struct trace_op *op)
{
	if (op->name >= 0)
		return t->string[op->name];
	if (op->kind == OP_COPY)
		return copy_name(op);
	return op->kind == OP_MEMSET ? "Memset" : op_kind_names[op->kind];
}

/* What is in it, and how long its kernels ran. */
static void put_graph(const struct chrome *c, const struct trace_op *op)
{
	const struct trace_graph *g = &c->t->graph[op->graph];

	fprintf(c->out, ",\"nodes\":%ld,\"kernels\":%ld", (long)g->nodes, (long)g->kernels);
	put_us(c->out, "busy_us", op->busy_ns >= 0 ? op->busy_ns : op->t1 - op->t0);
}

static void put_op_args(struct chrome *c, const struct trace_op *op)
{
	FILE *out = c->out;

	fprintf(out, ",\"args\":{\"correlation\":%ld,\"device\":0,\"stream\":%ld",
		(long)op->call + 1, (long)c->t->stream[op->stream].id);
	if (op->bytes >= 0)
		fprintf(out, ",\"bytes\":%ld", (long)op->bytes);
	if (op->kind == OP_KERNEL)
		fprintf(out, ",\"grid\":[%d,%d,%d],\"block\":[%d,%d,%d]", op->grid[0], op->grid[1],
			op->grid[2], op->block[0], op->block[1], op->block[2]);
	if (op->kind == OP_GRAPH)
		put_graph(c, op);
	if (op->registers >= 0)
		fprintf(out, ",\"registers per thread\":%d", op->registers);
	if (op->shared >= 0)
		fprintf(out, ",\"shared memory\":%d", op->shared);
	fputs("}}", out);
}

static void put_flow(struct chrome *c, const char *phase, int64_t pid, int64_t tid, int64_t id,
		     int64_t t)
{
	begin(c, phase, pid, tid);
	fprintf(c->out, ",\"id\":%ld", (long)id);
	put_named(c, "ac2g", "ac2g");
	put_us(c->out, "ts", t);
	fputs(*phase == 'f' ? ",\"bp\":\"e\"}" : "}", c->out);
}

static void put_op(struct chrome *c, int64_t i)
{
	const struct trace_op *op = &c->t->op[i];
	const struct trace_call *call = &c->t->call[op->call];
	int64_t row = c->op_row[i];

	begin(c, "X", DEVICE_PID, row);
	put_complete(c, op_category(op->kind), op_name(c->t, op), op->t0, op->t1);
	put_op_args(c, op);
	put_flow(c, "s", c->pid, tid_of(c, call->thread), i + 1, call->t0);
	put_flow(c, "f", DEVICE_PID, row, i + 1, op->t0 > call->t0 ? op->t0 : call->t0);
}

/* ---- marks -------------------------------------------------------------------------------- */

/* Ranges that were begun and have no end yet, of each thread. */
static void put_marks(struct chrome *c)
{
	const struct trace *t = c->t;
	int64_t *depth = calloc((size_t)t->threads + 1, sizeof(*depth));

	CHECK(depth, "memory of %ld threads", (long)t->threads);
	for (int64_t i = 0; i < t->marks; i++) {
		const struct trace_mark *m = &t->mark[i];
		bool begins = m->kind == MARK_PUSH;

		if (!begins && (m->kind != MARK_POP || !depth[m->thread]))
			continue;
		depth[m->thread] += begins ? 1 : -1;
		begin(c, begins ? "B" : "E", c->pid, tid_of(c, m->thread));
		put_named(c, "user_annotation", trace_name(t, m->name));
		put_us(c->out, "ts", m->t);
		fputs("}", c->out);
	}
	for (int32_t i = 0; i < t->threads; i++)
		for (; depth[i]; depth[i]--) {
			begin(c, "E", c->pid, tid_of(c, i));
			put_us(c->out, "ts", t->end_ns);
			fputs("}", c->out);
		}
	free(depth);
}

/* ---- what the device did of ranges ---------------------------------------------------------- */

static int64_t range_group(const struct chrome *c, const struct range_span *s)
{
	return (int64_t)s->depth * c->t->threads + s->thread;
}

static int64_t add_range_row(struct chrome *c, int64_t group, int64_t beside)
{
	char name[64];

	snprintf(name, sizeof(name), "ranges of thread %ld, on the device%s",
		 (long)tid_of(c, (int32_t)(group % c->t->threads)),
		 beside ? ", at the same time" : "");
	put_meta(c, "thread_name", DEVICE_PID, ++c->last_row, name);
	return c->last_row;
}

static void put_range(struct chrome *c, const struct range_span *s, int64_t row)
{
	begin(c, "X", DEVICE_PID, row);
	put_complete(c, "gpu_user_annotation", trace_name(c->t, s->name), (int64_t)s->device.t0,
		     (int64_t)s->device.t1);
	fputs(",\"args\":{\"thread\":", c->out);
	fprintf(c->out, "%ld", (long)tid_of(c, s->thread));
	put_us(c->out, "busy_us", (int64_t)s->busy_ns);
	fputs("}}", c->out);
}

/* Beside each other, those within others on rows of their own. */
static void put_ranges(struct chrome *c)
{
	struct ranges ranges;
	struct slice *slice;
	int64_t *row, n = 0;

	ranges_make(&ranges, c->t, NULL);
	slice = zeroed(ranges.spans, sizeof(*slice));
	row = zeroed(ranges.spans, sizeof(*row));
	for (int64_t i = 0; i < ranges.spans; i++) {
		const struct range_span *s = &ranges.span[i];

		if (s->has_device)
			slice[n++] = (struct slice){ range_group(c, s), (int64_t)s->device.t0,
						     (int64_t)s->device.t1, i };
	}
	give_rows(c, slice, n, add_range_row, row);
	for (int64_t i = 0; i < n; i++)
		put_range(c, &ranges.span[slice[i].at], row[slice[i].at]);
	free(slice);
	free(row);
	ranges_release(&ranges);
}

/* ---- all ---------------------------------------------------------------------------------- */

static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";

bool chrome_is(const char *path)
{
	char begins[sizeof(head)] = "";
	struct stat st;
	FILE *f = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;

	if (!f)
		return false;
	if (fread(begins, 1, sizeof(head) - 1, f) != sizeof(head) - 1)
		*begins = '\0';
	fclose(f);
	return !strcmp(begins, head);
}

void chrome_write(const struct trace *t, FILE *out)
{
	struct chrome c = { .t = t, .out = out, .between = "" };

	c.pid = json_integer_value(json_object_get(t->header, "pid"));
	if (c.pid == DEVICE_PID)
		c.pid = 1;
	fputs(head, out);
	put_rows(&c);
	find_op_rows(&c);
	for (int64_t i = 0; i < t->calls; i++)
		put_call(&c, i);
	for (int64_t i = 0; i < t->ops; i++)
		put_op(&c, i);
	put_marks(&c);
	put_ranges(&c);
	free(c.op_row);
	fputs("\n],\"deviceProperties\":[{\"id\":0,\"name\":", out);
	put_text(&c, json_get_text(t->header, "device"));
	fputs("}],\"recorder\":", out);
	put_text(&c, json_get_text(t->header, "recorder"));
	fputs("}\n", out);
}
