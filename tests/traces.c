/* traces.c - traces as tests read them. */
#include "tests/traces.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

json_t *traced_rows(const char *path)
{
	FILE *f = fopen(path, "re");
	json_t *rows = json_array();
	char *line = NULL;
	size_t room = 0;

	cr_assert(f != NULL, "%s", path);
	while (getline(&line, &room, f) > 0) {
		json_error_t error;
		json_t *row = json_loads(line, 0, &error);

		cr_assert(row != NULL, "%s: %s: %s", path, error.text, line);
		json_array_append_new(rows, row);
	}
	free(line);
	fclose(f);
	return rows;
}

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static int is_row(const json_t *row, const char *record, const char *key, const char *text)
{
	return (!record || !strcmp(text_of(row, "record"), record)) &&
	       (!key || !strcmp(text_of(row, key), text));
}

size_t trace_count(const json_t *rows, const char *record, const char *key, const char *text)
{
	size_t i, n = 0;
	json_t *row;

	json_array_foreach(rows, i, row) n += is_row(row, record, key, text);
	return n;
}

const json_t *trace_row(const json_t *rows, const char *record, const char *key, const char *text)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) if (is_row(row, record, key, text)) return row;
	cr_assert(0, "no %s with %s %s", record, key ? key : "", text ? text : "");
	return NULL;
}

int64_t trace_int(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

const char *traced_name(const json_t *rows, const json_t *row)
{
	int64_t id = trace_int(row, "name");
	size_t i;
	json_t *r;

	json_array_foreach(rows, i, r) if (is_row(r, "string", NULL, NULL) &&
					   trace_int(r, "id") == id) return text_of(r, "text");
	return "";
}

/* ---- unfolded --------------------------------------------------------------------------- */

/* One call of a body, or a row: what is the same in all repeats, and its recording. */
static json_t *plain(const json_t *call, const json_t *op, int64_t repeat)
{
	static const char *const keys[] = { "class",  "name",  "stream",   "event",
					    "graph",  "bytes", "memory",   "async",
					    "thread", "kind",  "captured", NULL };
	json_t *out = json_object();

	for (const char *const *k = keys; *k; k++)
		json_object_set(out, *k, json_object_get(call, *k));
	if (json_object_get(call, "recording"))
		json_object_set_new(out, "recording",
				    json_integer(trace_int(call, "recording") +
						 repeat * trace_int(call, "recording_step")));
	if (op) {
		json_t *copy = json_deep_copy(op);

		json_object_del(copy, "took_ns");
		json_object_del(copy, "lag_ns");
		json_object_del(copy, "behind_ns");
		json_object_del(copy, "busy_ns");
		json_object_del(copy, "t0");
		json_object_del(copy, "t1");
		json_object_del(copy, "call");
		json_object_set_new(out, "op", copy);
	}
	return out;
}

/* Operations that have rows, by the numbers of their calls. The caller releases it. */
static json_t *ops_by_call(const json_t *rows)
{
	json_t *ops = json_object(), *row;
	char call[24];
	size_t i;

	json_array_foreach(rows, i, row) if (is_row(row, "op", NULL, NULL))
	{
		snprintf(call, sizeof(call), "%lld", (long long)trace_int(row, "call"));
		json_object_set(ops, call, row);
	}
	return ops;
}

/* NULL for a mark, and a call without one. */
static const json_t *op_of(const json_t *ops, const json_t *row)
{
	char call[24];

	snprintf(call, sizeof(call), "%lld", (long long)trace_int(row, "id"));
	return is_row(row, "call", NULL, NULL) ? json_object_get(ops, call) : NULL;
}

static void add_fold(json_t *out, const json_t *fold, int64_t thread)
{
	const json_t *body = json_object_get(fold, "body");
	size_t i;
	json_t *call;

	for (int64_t r = 0; r < trace_int(fold, "times"); r++)
		json_array_foreach(body, i, call) if (trace_int(call, "thread") == thread)
			json_array_append_new(out, plain(call, json_object_get(call, "op"), r));
}

json_t *trace_calls(const json_t *rows, int64_t thread)
{
	json_t *out = json_array(), *ops = ops_by_call(rows), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		bool is_its = is_row(row, "call", NULL, NULL) || is_row(row, "mark", NULL, NULL);

		if (is_row(row, "fold", NULL, NULL))
			add_fold(out, row, thread);
		else if (is_its && trace_int(row, "thread") == thread)
			json_array_append_new(out, plain(row, op_of(ops, row), 0));
	}
	json_decref(ops);
	return out;
}

static int64_t count_in_fold(const json_t *fold, const char *class, const char *kind)
{
	size_t i;
	int64_t n = 0;
	json_t *call;

	json_array_foreach(json_object_get(fold, "body"), i, call)
	{
		const json_t *op = json_object_get(call, "op");

		if (class)
			n += !*class || is_row(call, NULL, "class", class);
		else
			n += op && (!*kind || is_row(op, NULL, "kind", kind));
	}
	return n * trace_int(fold, "times");
}

/* By class for calls, by kind for operations; "": of any. */
static int64_t count(const json_t *rows, const char *class, const char *kind)
{
	size_t i;
	int64_t n = 0;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (is_row(row, "fold", NULL, NULL))
			n += count_in_fold(row, class, kind);
		else if (class)
			n += is_row(row, "call", *class ? "class" : NULL, class);
		else
			n += is_row(row, "op", *kind ? "kind" : NULL, kind);
	}
	return n;
}

int64_t trace_calls_of(const json_t *rows, const char *class)
{
	return count(rows, class, NULL);
}

int64_t trace_ops_of(const json_t *rows, const char *kind)
{
	return count(rows, NULL, kind);
}

static int threads_of(const json_t *body)
{
	const json_t *call;
	uint64_t seen = 0;
	size_t i;

	json_array_foreach(body, i, call) seen |= UINT64_C(1) << trace_int(call, "thread") % 64;
	return __builtin_popcountll(seen);
}

const json_t *trace_longest_fold(const json_t *rows, int *threads)
{
	const json_t *row, *best = NULL;
	size_t i, most = 0;

	json_array_foreach(rows, i, row)
	{
		size_t calls = json_array_size(json_object_get(row, "body")) *
			       (size_t)trace_int(row, "times");

		best = calls > most ? row : best;
		most = calls > most ? calls : most;
	}
	*threads = threads_of(json_object_get(best, "body"));
	return best;
}

/* ---- rules ------------------------------------------------------------------------------ */

enum { IDS = 1 << 20 };

struct judge {
	char known[4][IDS]; /* strings, streams, threads, graphs */
	int64_t call_t0[IDS], thread_t1[IDS];
	size_t line;
};

static void judge_references(struct judge *j, const json_t *row)
{
	static const char *const keys[] = { "name", "stream", "thread", "graph" };

	for (int i = 0; i < 4; i++) {
		const json_t *id = json_object_get(row, keys[i]);

		int is_id = json_is_integer(id);
		long long number = json_integer_value(id);

		cr_assert(le(int, is_id, j->known[i][number % IDS]),
			  "line %zu: %s %lld is not known", j->line, keys[i], number);
	}
}

static void judge_span(struct judge *j, const json_t *row, int64_t thread)
{
	cr_assert(le(i64, trace_int(row, "t0"), trace_int(row, "t1")), "line %zu", j->line);
	cr_assert(le(i64, j->thread_t1[thread], trace_int(row, "t0")), "line %zu", j->line);
	j->thread_t1[thread] = trace_int(row, "t1");
}

static void judge_fold(struct judge *j, const json_t *fold)
{
	const json_t *body = json_object_get(fold, "body");
	size_t i;
	json_t *call;

	judge_span(j, fold, trace_int(json_array_get(body, 0), "thread"));
	json_array_foreach(body, i, call)
	{
		int64_t n = 0;
		size_t b;
		json_t *bin;

		judge_references(j, call);
		json_array_foreach(json_object_get(call, "took_ns"), b, bin) n +=
			json_integer_value(json_array_get(bin, 1));
		cr_assert(eq(i64, n, trace_int(fold, "times")), "line %zu", j->line);
	}
}

static void judge_row(struct judge *j, const json_t *row)
{
	static const char *const tables[] = { "string", "stream", "thread", "graph" };

	for (int i = 0; i < 4; i++)
		if (is_row(row, tables[i], NULL, NULL))
			j->known[i][trace_int(row, "id") % IDS] = 1;
	judge_references(j, row);
	if (is_row(row, "call", NULL, NULL)) {
		judge_span(j, row, trace_int(row, "thread"));
		j->call_t0[trace_int(row, "id") % IDS] = trace_int(row, "t0");
	} else if (is_row(row, "op", NULL, NULL)) {
		cr_assert(le(i64, j->call_t0[trace_int(row, "call") % IDS], trace_int(row, "t0")),
			  "line %zu", j->line);
		cr_assert(le(i64, trace_int(row, "t0"), trace_int(row, "t1")));
	} else if (is_row(row, "fold", NULL, NULL)) {
		judge_fold(j, row);
	} else if (is_row(row, "trace", NULL, NULL)) {
		cr_assert(zero(sz, j->line));
	}
}

void trace_judge(const json_t *rows)
{
	struct judge *j = calloc(1, sizeof(*j));
	const json_t *last = json_array_get(rows, json_array_size(rows) - 1);
	json_t *row;

	json_array_foreach(rows, j->line, row) judge_row(j, row);
	if (is_row(last, "end", NULL, NULL)) {
		cr_assert(eq(i64, trace_int(last, "calls"), trace_calls_of(rows, "")));
		cr_assert(eq(i64, trace_int(last, "ops"), trace_ops_of(rows, "")));
	}
	free(j);
}
