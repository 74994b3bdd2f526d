/* trace.c - reads a trace: its header, its tables, the order of its rows. */
#include "common/trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/unpacked.h"
#include "common/json_get.h"
#include "common/plural.h"
#include "common/typed.h"
#include "common/trace/kineto.h"
#include "common/trace/trace_impl.h"

const struct record_format trace_format = { "trace", 1, 1, "trace" };

const char *trace_name(const struct trace *t, int32_t name)
{
	return name < 0 ? "" : t->string[name];
}

int64_t trace_events(const struct trace *t)
{
	int64_t n = 0;

	for (int64_t i = 0; i < t->calls; i++)
		n = t->call[i].event >= n ? t->call[i].event + 1 : n;
	return n;
}

bool call_is_sync(enum call_class c)
{
	return c == CALL_SYNC_STREAM || c == CALL_SYNC_EVENT || c == CALL_SYNC_DEVICE;
}

bool call_is_memory(enum call_class c)
{
	return c == CALL_ALLOC || c == CALL_FREE || c == CALL_MODULE;
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* A time of 0 or more, as a double. */
static int take_ns(const struct reading *r, const json_t *value, const char *name, double *out)
{
	*out = json_number_value(value);
	if (!json_is_number(value) || !(*out >= 0 && *out <= (double)TRACE_TIME_MAX))
		return trace_damaged(r, "%s must be a time in ns", name);
	return 0;
}

static int take_list(const struct reading *r, const json_t *o, const char *name, double *out,
		     size_t n)
{
	const json_t *list = json_object_get(o, name);
	int err = 0;

	if (json_array_size(list) != n)
		return trace_damaged(r, "%s must be a list of %zu times", name, n);
	for (size_t i = 0; i < n && !err; i++)
		err = take_ns(r, json_array_get(list, i), name, &out[i]);
	return err;
}

/* Quantiles, which rise. */
static int take_quantiles(const struct reading *r, const json_t *o, const char *name, double *out)
{
	int err = take_list(r, o, name, out, QUANTILES);

	if (!err &&
	    (out[QUANTILE_P05] > out[QUANTILE_P50] || out[QUANTILE_P50] > out[QUANTILE_P95]))
		err = trace_damaged(r, "%s: p05, p50 and p95 must rise", name);
	return err;
}

static int take_optional_ns(const struct reading *r, const json_t *o, const char *name, double *out)
{
	const json_t *value = json_object_get(o, name);

	*out = 0;
	return !value || json_is_null(value) ? 0 : take_ns(r, value, name, out);
}

/* ---- header ------------------------------------------------------------------------------- */

static int take_window(const struct reading *r, const json_t *o, double *window)
{
	const json_t *value = json_object_get(o, "window");

	*window = INFINITY;
	if (!value || json_is_null(value))
		return 0;
	*window = (double)json_integer_value(value);
	return json_is_integer(value) && *window >= 1 ? 0
						      : trace_damaged(r, "window must be a count");
}

/* Are there times of each kind? One that could not be measured is null. */
static bool is_measured(const json_t *o)
{
	return json_is_array(json_object_get(o, "launch_call_ns")) &&
	       json_is_array(json_object_get(o, "launch_and_wait_ns")) &&
	       json_is_array(json_object_get(o, "gap_ns"));
}

static int take_calibration(struct reading *r, const json_t *o)
{
	struct trace_calibration *c = &r->t->calibration;
	const json_t *recorder = json_object_get(o, "recorder");
	const json_t *graph = json_object_get(o, "graph_launch_ns");
	int err;

	if (r->t->is_calibrated)
		return trace_damaged(r, "a second calibration");
	if (!is_measured(o))
		return 0;
	err = take_quantiles(r, o, "launch_call_ns", c->launch_call_ns);
	if (!err)
		err = take_quantiles(r, o, "launch_and_wait_ns", c->launch_and_wait_ns);
	if (!err)
		err = take_quantiles(r, o, "gap_ns", c->gap_ns);
	if (!err)
		err = take_optional_ns(r, o, "n", &c->n);
	c->n = c->n < 1 ? 1 : c->n;
	if (!err)
		err = take_window(r, o, &c->window);
	if (!err)
		err = take_optional_ns(r, recorder, "call_ns", &c->call_ns);
	if (!err)
		err = take_optional_ns(r, recorder, "pace_ns", &c->pace_ns);
	if (!err)
		err = take_optional_ns(r, recorder, "kernel_ns", &c->kernel_ns);
	if (!err)
		err = take_optional_ns(r, recorder, "copy_pace_ns", &c->copy_pace_ns);
	if (!(c->copy_pace_ns > 0))
		c->copy_pace_ns = c->pace_ns;
	if (!err)
		err = take_optional_ns(r, recorder, "not_recorded_ns", &c->not_recorded_ns);
	c->graph_launch_ns[0] = c->graph_launch_ns[1] = NAN;
	if (!err && graph && !json_is_null(graph))
		err = take_list(r, o, "graph_launch_ns", c->graph_launch_ns, 2);
	r->t->is_calibrated = !err;
	return err;
}

/* The words of the program's command line. */
static char *program_of(const json_t *header)
{
	const json_t *words = json_object_get(header, "program");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out, "memory of a command line");
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		fprintf(out, "%s%s", i ? " " : "", word ? word : "?");
	}
	CHECK(!fclose(out), "memory of a command line");
	return text;
}

/* Was only a part of the program to be recorded? */
static bool has_limits(const json_t *header)
{
	const json_t *limits = json_object_get(header, "limits");

	return json_get_number(limits, "delay_ns") > 0 ||
	       json_get_number(limits, "duration_ns") > 0 ||
	       json_is_string(json_object_get(limits, "range"));
}

static int take_process_start(struct reading *r, const json_t *o)
{
	const json_t *start = json_object_get(o, "process_start_ns");

	if (!start || json_is_null(start))
		return 0;
	r->t->process_start_ns = json_integer_value(start);
	if (!json_is_integer(start) || r->t->process_start_ns > 0 ||
	    r->t->process_start_ns < -TRACE_TIME_MAX)
		return trace_damaged(r, "process_start_ns must be a time, 0 or before");
	return 0;
}

/* Calls alone are recorded by the other recorder there, too. */
static bool is_cpu_device(const json_t *header)
{
	static const char device[] = "CPU device";

	return !strcmp(json_get_text(header, "recorder"), "cpu-device") ||
	       !strncmp(json_get_text(header, "device"), device, strlen(device));
}

int trace_take_header(struct reading *r, const json_t *o)
{
	struct trace *t = r->t;
	const char *times = json_get_text(o, "device_times");
	const json_t *calibration = json_object_get(o, "calibration");

	if (t->header)
		return trace_damaged(r, "a second header");
	t->header = json_deep_copy(o);
	CHECK(t->header, "memory of a header");
	t->program = program_of(o);
	t->partial = has_limits(o);
	t->is_cpu = is_cpu_device(o);
	t->device_times = !strcmp(times, "recorded");
	if (!t->device_times && strcmp(times, "none") != 0)
		return trace_damaged(r, "device_times must be recorded or none");
	if (take_process_start(r, o))
		return -EINVAL;
	return !calibration || json_is_null(calibration) ? 0 : take_calibration(r, calibration);
}

/* ---- tables ------------------------------------------------------------------------------- */

static int map_add(struct reading *r, struct id_map *map, const json_t *o, int64_t index)
{
	const json_t *id = json_object_get(o, "id");
	int64_t at = json_integer_value(id), size = map->size ? map->size : 64;

	if (!json_is_integer(id) || at < 0 || at >= TRACE_ID_MAX)
		return trace_damaged(r, "id must be a whole number below %d", TRACE_ID_MAX);
	while (size <= at)
		size *= 2;
	if (size > map->size) {
		map->at = realloc(map->at, (size_t)size * sizeof(*map->at));
		CHECK(map->at, "memory of %ld ids", (long)size);
		for (; map->size < size; map->size++)
			map->at[map->size] = TRACE_NONE;
	}
	if (map->at[at] != TRACE_NONE)
		return trace_damaged(r, "id %ld is there twice", (long)at);
	map->at[at] = (int32_t)index;
	return 0;
}

static char *copy_text(const char *text)
{
	char *copy = strdup(text);

	CHECK(copy, "memory of a text");
	return copy;
}

static int take_string(struct reading *r, const json_t *o)
{
	struct trace *t = r->t;
	const char *text = json_string_value(json_object_get(o, "text"));

	if (!text)
		return trace_damaged(r, "a string without text");
	t->string = trace_grow(t->string, t->strings, &r->room.strings, sizeof(*t->string));
	t->string[t->strings++] = copy_text(text);
	return map_add(r, &r->string, o, t->strings - 1);
}

static int take_thread(struct reading *r, const json_t *o)
{
	struct trace *t = r->t;
	const char *name = json_string_value(json_object_get(o, "name"));

	t->thread = trace_grow(t->thread, t->threads, &r->room.threads, sizeof(*t->thread));
	t->thread[t->threads++] = (struct trace_thread){
		.tid = json_integer_value(json_object_get(o, "tid")),
		.name = name ? copy_text(name) : NULL,
	};
	return map_add(r, &r->thread, o, t->threads - 1);
}

#define STREAM(name) offsetof(struct trace_stream, name)

static int take_stream(struct reading *r, const json_t *o)
{
	static const struct member members[] = {
		{ "id", MEMBER_64, STREAM(id), .required = true },
		{ "kind", MEMBER_CHOICE, STREAM(kind), .required = true,
		  .names = stream_kind_names },
		{ "priority", MEMBER_32, STREAM(priority), .required = false, .least = INT32_MIN },
		{ .name = NULL },
	};
	struct trace *t = r->t;

	t->stream = trace_grow(t->stream, t->streams, &r->room.streams, sizeof(*t->stream));
	if (trace_members(r, o, "stream", members, &t->stream[t->streams]))
		return -EINVAL;
	if (!json_is_integer(json_object_get(o, "priority")))
		t->stream[t->streams].priority = 0; /* TRACE_NONE is a priority too */
	return map_add(r, &r->stream, o, t->streams++);
}

#define GRAPH(name) offsetof(struct trace_graph, name)

static int take_graph(struct reading *r, const json_t *o)
{
	static const struct member members[] = {
		{ "nodes", MEMBER_64, GRAPH(nodes), .required = false },
		{ "kernels", MEMBER_64, GRAPH(kernels), .required = false },
		{ .name = NULL },
	};
	struct trace *t = r->t;

	t->graph = trace_grow(t->graph, t->graphs, &r->room.graphs, sizeof(*t->graph));
	if (trace_members(r, o, "graph", members, &t->graph[t->graphs]))
		return -EINVAL;
	if (t->graph[t->graphs].nodes == TRACE_NONE)
		t->graph[t->graphs].nodes = 0;
	return map_add(r, &r->graph, o, t->graphs++);
}

/* ---- other rows --------------------------------------------------------------------------- */

#define MARK(name) offsetof(struct trace_mark, name)
#define MAP(name) offsetof(struct reading, name)

static int take_mark(struct reading *r, const json_t *o)
{
	static const struct member members[] = {
		{ "thread", MEMBER_REF, MARK(thread), .required = true, .map = MAP(thread) },
		{ "kind", MEMBER_CHOICE, MARK(kind), .required = true, .names = mark_kind_names },
		{ "t", MEMBER_64, MARK(t), .required = true },
		{ "name", MEMBER_REF, MARK(name), .required = false, .map = MAP(string) },
		{ .name = NULL },
	};
	struct trace *t = r->t;

	t->mark = trace_grow(t->mark, t->marks, &r->room.marks, sizeof(*t->mark));
	return trace_members(r, o, "mark", members, &t->mark[t->marks++]);
}

#define OWN(name) offsetof(struct trace_own, name)

static int take_own(struct reading *r, const json_t *o)
{
	static const struct member members[] = {
		{ "thread", MEMBER_REF, OWN(thread), .required = true, .map = MAP(thread) },
		{ "t0", MEMBER_64, OWN(t0), .required = true, .least = -TRACE_TIME_MAX },
		{ "t1", MEMBER_64, OWN(t1), .required = true, .least = -TRACE_TIME_MAX },
		{ .name = NULL },
	};
	struct trace *t = r->t;
	struct trace_own *own;

	t->own = trace_grow(t->own, t->owns, &r->room.owns, sizeof(*t->own));
	own = &t->own[t->owns++];
	if (trace_members(r, o, "own", members, own))
		return -EINVAL;
	return own->t1 < own->t0 ? trace_damaged(r, "t1 is before t0") : 0;
}

static int take_end(struct reading *r, const json_t *o)
{
	struct ending {
		int64_t t, calls, ops, dropped, call_ns;
	} end;
	static const struct member members[] = {
		{ "t", MEMBER_64, offsetof(struct ending, t), .required = true },
		{ "calls", MEMBER_64, offsetof(struct ending, calls), .required = true },
		{ "ops", MEMBER_64, offsetof(struct ending, ops), .required = true },
		{ "dropped", MEMBER_64, offsetof(struct ending, dropped), .required = true },
		{ "call_ns", MEMBER_64, offsetof(struct ending, call_ns), .required = false },
		{ .name = NULL },
	};
	struct trace *t = r->t;

	if (trace_members(r, o, "end", members, &end))
		return -EINVAL;
	t->end_ns = end.t;
	t->dropped = end.dropped;
	t->finished = true;
	snprintf(t->reason, sizeof(t->reason), "%s", json_get_text(o, "reason"));
	t->partial |= *t->reason && strcmp(t->reason, "exit") != 0;
	if (!t->device_times && end.call_ns > 0)
		t->calibration.call_ns = (double)end.call_ns;
	if (end.calls != t->calls || end.ops != t->ops)
		return trace_damaged(
			r, "%ld calls and %ld ops are said to be here, but %ld and %ld are",
			(long)end.calls, (long)end.ops, (long)t->calls, (long)t->ops);
	return 0;
}

static int take_empty(const struct reading *r, const json_t *o, struct trace_empty *e)
{
	const struct {
		const char *name;
		double *ns;
	} times[] = { { "wall_ns", &e->wall_ns },
		      { "own_ns", &e->own_ns },
		      { "launch_call_ns", &e->launch_call_ns },
		      { "launch_and_wait_ns", &e->launch_and_wait_ns },
		      { "gap_ns", &e->gap_ns } };
	int err = 0;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times) && !err; i++)
		err = take_ns(r, json_object_get(o, times[i].name), times[i].name, times[i].ns);
	return err;
}

/* What the recorder adds to a process, where that was measured. */
static int take_empties(const struct reading *r, const json_t *o)
{
	const json_t *list = json_object_get(o, "recorded");
	size_t n = json_array_size(list);
	size_t plain = json_array_size(json_object_get(o, "unprofiled_wall_ns"));
	struct trace *t = r->t;
	int err = 0;

	if (n > TRACE_RUNS_MAX || plain > TRACE_RUNS_MAX)
		return trace_damaged(r, "empty: more than %d processes", TRACE_RUNS_MAX);
	for (size_t i = 0; i < n && !err; i++)
		err = take_empty(r, json_array_get(list, i), &t->empty[i]);
	if (!err)
		err = take_list(r, o, "unprofiled_wall_ns", t->plain_empty_ns, plain);
	t->empties = err ? 0 : (int)n;
	t->plain_empties = err ? 0 : (int)plain;
	return err;
}

/* The disk is full, or the like: nothing follows. */
static int take_failed(struct reading *r, const json_t *o)
{
	const char *why = json_get_text(o, "why");

	if (!*why)
		return trace_damaged(r, "why must be a text");
	snprintf(r->t->failed, sizeof(r->t->failed), "%s", text_shown(why).s);
	return 0;
}

/* Where there were several recordings: this is the trace of the median one. */
static int take_retimed(const struct reading *r, const json_t *o)
{
	const json_t *list = json_object_get(o, "retimed_wall_ns");
	size_t n = json_array_size(list);
	int err = 0;

	if (list && (!json_is_array(list) || n > TRACE_RUNS_MAX))
		return trace_damaged(r, "retimed_wall_ns must be a list of at most %d times",
				     TRACE_RUNS_MAX);
	if (n)
		err = take_list(r, o, "retimed_wall_ns", r->t->retimed_wall_ns, n);
	r->t->recordings = err ? 0 : (int)n;
	return err;
}

static int take_under(const struct reading *r, const json_t *o)
{
	const json_t *under = json_object_get(o, "under");

	if (under && (!json_is_string(under) || json_string_length(under) >= sizeof(r->t->under)))
		return trace_damaged(r, "under must be a text of less than %zu bytes",
				     sizeof(r->t->under));
	snprintf(r->t->under, sizeof(r->t->under), "%s", under ? json_string_value(under) : "");
	return 0;
}

static int take_runs(struct reading *r, const json_t *o)
{
	static const struct member members[] = {
		{ "profiled_wall_ns", MEMBER_64, offsetof(struct trace, profiled_wall_ns),
		  .required = false },
		{ "processes", MEMBER_64, offsetof(struct trace, processes), .required = false },
		{ "exit_status", MEMBER_64, offsetof(struct trace, exit_status),
		  .required = false },
		{ .name = NULL },
	};
	const json_t *list = json_object_get(o, "unprofiled_wall_ns");
	struct trace *t = r->t;
	size_t n = json_array_size(list);
	int err = trace_members(r, o, "runs", members, t);

	if (!err && (!json_is_array(list) || n > TRACE_RUNS_MAX))
		err = trace_damaged(r, "unprofiled_wall_ns must be a list of at most %d times",
				    TRACE_RUNS_MAX);
	if (!err && n)
		err = take_list(r, o, "unprofiled_wall_ns", t->unprofiled_wall_ns, n);
	t->unprofiled = err ? 0 : (int)n;
	if (!err)
		err = take_retimed(r, o);
	if (!err)
		err = take_under(r, o);
	if (!err && json_object_get(o, "empty"))
		err = take_empties(r, json_object_get(o, "empty"));
	if (!err && json_object_get(o, "host_gaps"))
		err = trace_take_host_gaps(r, json_object_get(o, "host_gaps"));
	return err;
}

static int take_call(struct reading *r, const json_t *o)
{
	struct trace_call call;
	int err = trace_parse_call(r, o, &call, false);

	return err ? err : trace_add_call(r, &call);
}

static int take_op(struct reading *r, const json_t *o)
{
	struct trace_op op;
	int err = trace_parse_op(r, o, &op, false);

	return err ? err : trace_add_op(r, &op);
}

/* ---- lines -------------------------------------------------------------------------------- */

static int take_row(const json_t *o, const struct record_scan *scan, void *arg)
{
	static const struct {
		const char *record;
		int (*take)(struct reading *r, const json_t *o);
		bool after_end;
	} rows[] = {
		{ "trace", trace_take_header, false },
		{ "call", take_call, false },
		{ "op", take_op, false },
		{ "fold", trace_take_fold, false },
		{ "mark", take_mark, false },
		{ "string", take_string, false },
		{ "thread", take_thread, false },
		{ "stream", take_stream, false },
		{ "graph", take_graph, false },
		{ "own", take_own, true },
		{ "calibration", take_calibration, false },
		{ "end", take_end, false },
		{ "failed", take_failed, false },
		{ "runs", take_runs, true },
	};
	struct reading *r = arg;
	const char *record = json_string_value(json_object_get(o, "record"));

	r->line = scan->line + 1;
	if (!record)
		return trace_damaged(r, "a line without record");
	if (!r->t->header && strcmp(record, "trace") != 0)
		return trace_damaged(r, "not a trace of rift: the first line is not a header");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(record, rows[i].record))
			return r->t->finished && !rows[i].after_end
				       ? trace_damaged(r, "a row of kind %s after the end", record)
				       : rows[i].take(r, o);
	return 0;
}

static void reading_release(struct reading *r)
{
	free(r->string.at);
	free(r->thread.at);
	free(r->stream.at);
	free(r->graph.at);
	free(r->call_line);
	free(r->op_line);
}

/* ---- files -------------------------------------------------------------------------------- */

static bool is_own(const char *path)
{
	char name[RECORD_NAME];

	return record_first_name(path, name) && !strcmp(name, "trace");
}

bool trace_is(const char *path)
{
	return is_own(path) || kineto_is(path);
}

/* Other files of rift are named, with who takes them. Else 0: the reader says what is wrong. */
static int refuse_other(const char *path)
{
	static const struct {
		const char *record, *what;
	} others[] = {
		{ "plan", "a session of rift sweep, not a trace: rift show, rift fit and rift "
			  "compare take it" },
		{ "call_costs",
		  "call costs of rift probe, not a trace: rift show and rift compare take it" },
		{ "card",
		  "call costs of rift probe, not a trace: rift show and rift compare take it" },
		{ "probe_grid",
		  "a grid of rift probe, not a trace: rift show and rift plot take it" },
		{ "warmup_curves",
		  "curves of rift probe --warmup, not a trace: rift show and rift plot take them" },
		{ "share", "a record of rift share, not a trace: rift share --from takes it" },
	};
	char name[RECORD_NAME];

	record_first_name(path, name);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i].record))
			return complain(EINVAL, "%s: %s", path, others[i].what);
	return 0;
}

/* A line at a time, and linked. */
static int read_lines(struct reading *r)
{
	struct record_scan scan;
	int err = refuse_other(r->path);

	if (!err) {
		err = record_read_as(&scan, r->path, &trace_format, take_row, r);
		r->t->torn = scan.torn;
	}
	if (!err && !r->t->header)
		err = complain(EINVAL, "%s: is not a trace: it has no whole line", r->path);
	return err ? err : trace_link(r);
}

int trace_read(struct trace *t, const char *path)
{
	struct reading r = { .t = t, .path = path };
	int err;

	*t = (struct trace){ .profiled_wall_ns = TRACE_NONE,
			     .exit_status = TRACE_NONE,
			     .processes = TRACE_NONE };
	t->path = copy_text(path);
	err = !is_own(path) && kineto_is(path) ? kineto_read(&r) : read_lines(&r);
	reading_release(&r);
	return err;
}

int trace_refuse_failed(const char *path, const char *why)
{
	return complain(EIO,
			"%s: is incomplete: %s; record where there is room, or record less with "
			"--duration or --max-events",
			path, why);
}

void trace_release(struct trace *t)
{
	for (int64_t i = 0; i < t->strings; i++)
		free(t->string[i]);
	for (int64_t i = 0; i < t->threads; i++)
		free(t->thread[i].name);
	trace_release_host_gaps(t);
	free(t->string);
	free(t->thread);
	free(t->stream);
	free(t->graph);
	free(t->call);
	free(t->op);
	free(t->mark);
	free(t->own);
	free(t->fold);
	free(t->program);
	free(t->path);
	json_decref(t->header);
	*t = (struct trace){ 0 };
}

int trace_check(const char *path, bool *incomplete)
{
	struct trace t;
	int err = trace_read(&t, path);

	*incomplete |= !err && !t.finished;
	if (!err)
		printf("%s: %s; %s %s of %s, %s, %s, %ld dropped%s%s%s\n", text_escaped(path).s,
		       t.finished ? "valid" : "incomplete",
		       t.is_foreign ? "trace events, read as a trace" : "trace",
		       text_shown(json_get_text(t.header, "trace")).s,
		       text_shown(*t.program ? t.program : "a program without a name").s,
		       counted(t.calls, "call").s, counted(t.ops, "operation").s, (long)t.dropped,
		       t.torn ? "; a torn last line is dropped" : "",
		       *t.failed ? "; not written whole: " : "", t.failed);
	trace_release(&t);
	return err;
}
