/* kineto.c - PyTorch's trace events become a trace. */
#include "common/trace/kineto_impl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/json_get.h"
#include "common/typed.h"
#include "common/trace/chrome_events.h"
#include "common/trace/nsys.h"
#include "common/trace/own_costs.h"

/* Times are at most so many us, 126 years: differences of two, in ns, have 63 bits. */
#define US_MAX 4e15
static const char *category_of(const json_t *e)
{
	return json_get_text(e, "cat");
}

/* ---- tables --------------------------------------------------------------------------------- */

/* A text's index in a table that begins with that of the trace; new: it has none yet. */
static int32_t index_of(json_t *table, const char *text, bool *new)
{
	json_t *known = json_object_get(table, text);
	int32_t n = (int32_t)json_object_size(table);

	*new = !known;
	if (known)
		return (int32_t)json_integer_value(known);
	CHECK(!json_object_set_new_nocheck(table, text, json_integer(n)), "memory of a table");
	return n;
}

static char *copied(const char *text)
{
	char *copy = strdup(text);

	CHECK(copy, "memory of a text");
	return copy;
}

static int32_t name_index(struct kineto *k, const char *text)
{
	struct trace *t = k->t;
	bool new;
	int32_t i = index_of(k->names, text, &new);

	if (new) {
		t->string = trace_grow(t->string, t->strings, &k->room.strings, sizeof(char *));
		t->string[t->strings++] = copied(text);
	}
	return i;
}

/* A member that is a number, or a text that begins with one, as ids of threads may be. */
static int64_t whole_of(const json_t *value)
{
	double n = json_is_string(value)   ? (double)strtoll(json_string_value(value), NULL, 10)
		   : json_is_number(value) ? json_number_value(value)
					   : NAN;

	return fabs(n) <= (double)TRACE_TIME_MAX ? (int64_t)n : TRACE_NONE;
}

static int64_t whole(const json_t *o, const char *name)
{
	return whole_of(json_object_get(o, name));
}

static int32_t thread_index(struct kineto *k, const json_t *e)
{
	struct trace *t = k->t;
	int64_t pid = whole(e, "pid"), tid = whole(e, "tid");
	char key[64];
	bool new;
	int32_t i;

	snprintf(key, sizeof(key), "%ld/%ld", (long)pid, (long)tid);
	i = index_of(k->threads, key, &new);
	if (new) {
		t->thread = trace_grow(t->thread, t->threads, &k->room.threads, sizeof(*t->thread));
		t->thread[t->threads++] = (struct trace_thread){ .tid = tid };
	}
	return i;
}

/* CUDA's default stream has the number 7 there; PyTorch's own do not wait for it. */
enum { DEFAULT_STREAM = 7 };

static enum stream_kind kind_of_stream(int64_t id)
{
	return id == DEFAULT_STREAM ? STREAM_LEGACY : STREAM_NON_BLOCKING;
}

static int32_t stream_index(struct kineto *k, int64_t device, int64_t id)
{
	struct trace *t = k->t;
	char key[64];
	bool new;
	int32_t i;

	snprintf(key, sizeof(key), "%ld/%ld", (long)device, (long)id);
	i = index_of(k->streams, key, &new);
	if (new) {
		t->stream = trace_grow(t->stream, t->streams, &k->room.streams, sizeof(*t->stream));
		t->stream[t->streams++] =
			(struct trace_stream){ .id = id, .kind = kind_of_stream(id) };
	}
	return i;
}

/* ---- times ---------------------------------------------------------------------------------- */

static int take_us(const struct kineto *k, const json_t *e, const char *name, int64_t *ns)
{
	double us = json_get_number(e, name);

	if (!(fabs(us) <= US_MAX))
		return complain(EINVAL,
				"%s: an event of the category %s has no %s, or one that is "
				"no time in us",
				k->r->path, text_shown(category_of(e)).s, name);
	*ns = llround(us * 1000);
	return 0;
}

static int take_times(const struct kineto *k, const json_t *e, int64_t *t0, int64_t *t1)
{
	int64_t took = 0;
	int err = take_us(k, e, "ts", t0);

	if (!err)
		err = take_us(k, e, "dur", &took);
	if (!err && took > TRACE_TIME_MAX)
		err = complain(EINVAL, "%s: an event of the category %s lasts more than 104 days",
			       k->r->path, text_shown(category_of(e)).s);
	*t1 = *t0 + (took > 0 ? took : 0);
	return err;
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* A function's class; a name without a function may be a class itself (--chrome). */
static enum call_class class_named(const char *class)
{
	for (int i = 0; call_class_names[i]; i++)
		if (!strcmp(call_class_names[i], class))
			return (enum call_class)i;
	return CALL_OTHER;
}

/* "cudaLaunchKernel_ptsz" is cudaLaunchKernel, of another default stream. */
static bool is_function(const char *name, const char *function)
{
	size_t n = strlen(function);

	return !strncmp(name, function, n) && (!name[n] || name[n] == '_');
}

static enum call_class class_of(const char *name)
{
	static const struct {
		const char *function, *class;
	} functions[] = {
#define CUPTI_CALL(domain, number, class, name, cuptis) { #name, #class },
#include "common/recorder/cupti/calls.h"
#undef CUPTI_CALL
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (is_function(name, functions[i].function))
			return class_named(functions[i].class);
	return class_named(name);
}

static int64_t correlation_of(const json_t *e)
{
	int64_t id = whole(json_object_get(e, "args"), "correlation");

	return id >= 0 && id < OWN_IDS ? id : TRACE_NONE;
}

static int take_call(struct kineto *k, const json_t *e)
{
	const char *name = json_get_text(e, "name");
	int64_t id = correlation_of(e);
	struct trace_call call = { .recording = TRACE_NONE,
				   .cpu_ns = TRACE_NONE,
				   .fold = TRACE_NONE,
				   .stream = TRACE_NONE,
				   .event = TRACE_NONE,
				   .graph = TRACE_NONE,
				   .memory = TRACE_NONE,
				   .kernel = TRACE_NONE };
	int err = take_times(k, e, &call.t0, &call.t1);

	if (err)
		return err;
	call.id = id > 0 ? id : OWN_IDS + k->unnamed++;
	call.bytes = whole(json_object_get(e, "args"), "bytes");
	call.thread = thread_index(k, e);
	call.name = name_index(k, name);
	call.class = class_of(name);
	call.async = strstr(name, "Async") != NULL;
	return trace_add_call(k->r, &call);
}

/* ---- graphs --------------------------------------------------------------------------------- */

/* One of as many operations, so many of them kernels. */
int32_t kineto_graph(struct kineto *k, int64_t nodes, int64_t kernels)
{
	struct trace *t = k->t;
	char key[64];
	bool new;
	int32_t i;

	snprintf(key, sizeof(key), "%ld/%ld", (long)nodes, (long)kernels);
	i = index_of(k->graphs, key, &new);
	if (new) {
		t->graph = trace_grow(t->graph, t->graphs, &k->room.graphs, sizeof(*t->graph));
		t->graph[t->graphs++] = (struct trace_graph){ nodes, kernels };
	}
	return i;
}

/* --chrome says what is in a graph, Kineto has its operations. */
static void take_graph(struct kineto *k, const json_t *args, struct trace_op *op)
{
	int64_t nodes = whole(args, "nodes"), kernels = whole(args, "kernels");
	double busy_us = json_get_number(args, "busy_us");

	if (nodes < 0 || kernels < 0 || !(busy_us >= 0 && busy_us <= US_MAX))
		return;
	op->graph = kineto_graph(k, nodes, kernels);
	op->busy_ns = llround(busy_us * 1000);
}

/* ---- operations ----------------------------------------------------------------------------- */

/* "Memcpy HtoD (Pageable -> Device)" */
static int32_t direction_named(const char *name)
{
	static const char *const words[COPY_DIRECTIONS] = { "HtoD", "DtoH", "DtoD", "PtoP" };

	for (int i = 0; i < COPY_DIRECTIONS; i++)
		if (strstr(name, words[i]))
			return i;
	return COPY_WITHIN;
}

static int32_t memory_named(const char *name)
{
	static const struct {
		const char *word;
		enum memory_kind kind;
	} words[] = {
		{ "Pageable", MEMORY_PAGEABLE },
		{ "Pinned", MEMORY_PINNED },
		{ "Mapped", MEMORY_MAPPED },
		{ "Managed", MEMORY_MANAGED },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(name, words[i].word))
			return (int32_t)words[i].kind;
	return TRACE_NONE;
}

/* [x, y, z]; zeros where the file does not say it, or says what is none. */
static void take_shape(const json_t *args, const char *name, int32_t shape[3])
{
	const json_t *list = json_object_get(args, name);

	for (size_t i = 0; i < 3; i++) {
		int64_t n = whole_of(json_array_get(list, i));

		shape[i] = n >= 1 && n <= INT32_MAX ? (int32_t)n : 0;
	}
}

static int take_op(struct kineto *k, const json_t *e, enum op_kind kind)
{
	const char *name = json_get_text(e, "name");
	const json_t *args = json_object_get(e, "args");
	int64_t id = correlation_of(e);
	struct trace_op op = { .call = id, .kind = kind, .name = TRACE_NONE, .graph = TRACE_NONE };
	int err = take_times(k, e, &op.t0, &op.t1);

	if (err)
		return err;
	op.bytes = whole(args, "bytes");
	op.busy_ns = TRACE_NONE;
	op.memory = kind == OP_COPY ? memory_named(name) : TRACE_NONE;
	op.direction = kind == OP_COPY ? direction_named(name) : TRACE_NONE;
	op.shared = op.registers = TRACE_NONE;
	op.async = op.memory != MEMORY_PAGEABLE;
	op.stream = stream_index(k, whole(args, "device"), whole(args, "stream"));
	if (kind == OP_KERNEL)
		op.name = name_index(k, name);
	take_graph(k, args, &op);
	take_shape(args, "grid", op.grid);
	take_shape(args, "block", op.block);
	return trace_add_op(k->r, &op);
}

/* ---- other events --------------------------------------------------------------------------- */

/* "ProfilerStep#12" is one of many of a name. */
static int32_t range_name(struct kineto *k, const char *name)
{
	static const char step[] = "ProfilerStep#";

	return name_index(k, strncmp(name, step, strlen(step)) ? name : "ProfilerStep");
}

static int take_annotation(struct kineto *k, const json_t *e, char phase)
{
	struct annotation a = { .at = k->annotations, .phase = phase, .name = TRACE_NONE };
	int err = phase == 'X' ? take_times(k, e, &a.t0, &a.t1) : take_us(k, e, "ts", &a.t0);

	if (err)
		return err;
	a.t1 = phase == 'X' ? a.t1 : a.t0;
	a.thread = thread_index(k, e);
	if (phase != 'E')
		a.name = range_name(k, json_get_text(e, "name"));
	k->annotation = trace_grow(k->annotation, k->annotations, &k->room.annotations, sizeof(a));
	k->annotation[k->annotations++] = a;
	return 0;
}

static int take_sync(struct kineto *k, const json_t *e)
{
	const json_t *args = json_object_get(e, "args");
	int64_t id = correlation_of(e), stream = whole(args, "stream");

	if (id <= 0 || stream < 0 || strcmp(json_get_text(e, "name"), "Stream Synchronize") != 0)
		return 0;
	k->sync = trace_grow(k->sync, k->syncs, &k->room.syncs, sizeof(*k->sync));
	k->sync[k->syncs++] =
		(struct correlation){ id, stream_index(k, whole(args, "device"), stream) };
	return 0;
}

/* Names of processes; and "stream 2 blocking", by which --chrome says what stream it is. */
static void take_metadata(struct kineto *k, const json_t *e)
{
	const char *what = json_get_text(e, "name");
	const char *text = json_get_text(json_object_get(e, "args"), "name");
	char key[64], kind[32] = "";
	long id;

	if (!strcmp(what, "process_name")) {
		snprintf(key, sizeof(key), "%ld", (long)whole(e, "pid"));
		json_object_set_new(k->processes, key, json_string(text));
	} else if (sscanf(text, "stream %ld %31s", &id, kind) == 2) {
		snprintf(key, sizeof(key), "%ld/%ld", (long)whole(e, "pid"), id);
		json_object_set_new(k->stream_kinds, key, json_string(kind));
	}
}

/* Of 2020 are those with capitals. */
static bool is_category(const char *category, const char *now, const char *former)
{
	return !strcmp(category, now) || !strcmp(category, former);
}

static int take_complete(struct kineto *k, const json_t *e)
{
	const char *category = category_of(e);

	if (is_category(category, "cuda_runtime", "Runtime") || !strcmp(category, "cuda_driver"))
		return take_call(k, e);
	if (is_category(category, "kernel", "Kernel"))
		return take_op(k, e, OP_KERNEL);
	if (is_category(category, "gpu_memcpy", "Memcpy"))
		return take_op(k, e, OP_COPY);
	if (is_category(category, "gpu_memset", "Memset"))
		return take_op(k, e, OP_MEMSET);
	if (!strcmp(category, "cuda_sync"))
		return take_sync(k, e);
	return strcmp(category, "user_annotation") ? 0 : take_annotation(k, e, 'X');
}

static int take_event(const json_t *e, void *arg)
{
	struct kineto *k = arg;
	const char *phase = json_get_text(e, "ph");

	if (*phase == 'M')
		take_metadata(k, e);
	if (*phase == 'X')
		return take_complete(k, e);
	if ((*phase == 'B' || *phase == 'E') && !strcmp(category_of(e), "user_annotation"))
		return take_annotation(k, e, *phase);
	return 0;
}

static void take_member(const char *name, const json_t *value, void *arg)
{
	struct kineto *k = arg;
	const char *device = json_get_text(json_array_get(value, 0), "name");

	if (!strcmp(name, "deviceProperties") && *device)
		json_object_set_new(k->header, "device", json_string(device));
	if (!strcmp(name, "recorder") && json_is_string(value))
		json_object_set(k->header, "recorder", (json_t *)(uintptr_t)value);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* By the key that the tables have: device/stream. */
static void set_stream_kinds(struct kineto *k)
{
	const char *key;
	json_t *index;

	json_object_foreach(k->streams, key, index)
	{
		const char *kind = json_get_text(k->stream_kinds, key);

		for (int i = 0; stream_kind_names[i]; i++)
			if (!strcmp(kind, stream_kind_names[i]))
				k->t->stream[json_integer_value(index)].kind = (enum stream_kind)i;
	}
}

/* The process that made the first call, by its name. */
static void name_program(struct kineto *k)
{
	const char *key, *name = "";
	json_t *index, *words = json_array();

	json_object_foreach(k->threads, key, index)
	{
		char pid[32];

		snprintf(pid, sizeof(pid), "%ld", strtol(key, NULL, 10));
		if (k->t->calls && json_integer_value(index) == k->t->call[0].thread)
			name = json_get_text(k->processes, pid);
	}
	if (*name)
		json_array_append_new(words, json_string(name));
	json_object_set_new(k->header, "program", words);
}

static int finish(struct kineto *k)
{
	struct trace *t = k->t;
	int err = kineto_settle(k);

	if (err)
		return err;
	set_stream_kinds(k);
	name_program(k);
	json_object_set_new(k->header, "device_times", json_string(t->ops ? "recorded" : "none"));
	err = trace_take_header(k->r, k->header);
	if (!err)
		err = trace_link(k->r);
	if (err)
		return err;
	kineto_settle_graphs(k);
	own_costs_find(t);
	t->finished = t->partial = t->is_foreign = true;
	return 0;
}

bool kineto_is(const char *path)
{
	return chrome_events_are(path) || nsys_is(path);
}

int kineto_read(struct reading *r)
{
	struct kineto k = { .r = r, .t = r->t };
	const struct chrome_reader reader = { take_event, take_member, &k };
	bool nsys = nsys_is(r->path);
	int err;

	k.names = json_object();
	k.threads = json_object();
	k.streams = json_object();
	k.graphs = json_object();
	k.stream_kinds = json_object();
	k.processes = json_object();
	k.header = json_pack("{s:s, s:s, s:s}", "record", "trace", "trace", TRACE_VERSION,
			     "recorder", nsys ? "nsys" : "kineto");
	CHECK(k.header, "memory of a header");
	err = nsys ? nsys_read(r->path, &reader) : chrome_events_read(r->path, &reader);
	if (!err)
		err = finish(&k);
	json_decref(k.names);
	json_decref(k.threads);
	json_decref(k.streams);
	json_decref(k.graphs);
	json_decref(k.stream_kinds);
	json_decref(k.processes);
	json_decref(k.header);
	free(k.annotation);
	free(k.within);
	free(k.sync);
	return err;
}
