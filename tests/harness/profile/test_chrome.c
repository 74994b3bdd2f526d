/*
 * test_chrome.c - harness/profile: what is written for Chrome and Perfetto is held against the
 * rules of their format, event by event.
 */
#include "tests/test.h"
#include "harness/profile/chrome.h"

#include <jansson.h>

#include "harness/base/json.h"
#include "tests/golden.h"
#include "tests/made_trace.h"

TestSuite(small_chrome, .timeout = 60);

static json_t *chrome_of(const struct trace *trace)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *events;

	chrome_write(trace, out);
	fclose(out);
	events = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert(ne(ptr, events, NULL), "JSON: %s", text);
	free(text);
	return events;
}

/* Each kind of row that a trace has. */
static json_t *written(void)
{
	struct made made;
	struct trace trace;
	json_t *events;

	made_begin(&made, "", NULL);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"a \\\"quoted\\\"\\n<name>\"}");
	made_row(&made, "{\"record\":\"mark\",\"thread\":0,\"kind\":\"push\",\"t\":5,\"name\":2}");
	made_row(&made, "{\"record\":\"mark\",\"thread\":1,\"kind\":\"pop\",\"t\":6}");
	made_row(&made, "{\"record\":\"mark\",\"thread\":0,\"kind\":\"push\",\"t\":7,\"name\":1}");
	made_row(&made, "{\"record\":\"mark\",\"thread\":0,\"kind\":\"pop\",\"t\":80000}");
	made_call(&made, "alloc", 10, 1000, ",\"bytes\":4096,\"name\":2");
	made_call(&made, "copy", 1000, 12000, ",\"bytes\":4096");
	made_op(&made, "copy", 2, 2000, 11000, ",\"direction\":\"to_device\",\"bytes\":4096");
	made_kernel(&made, 2, 12001, 11999, 20000); /* its clock is a little behind */
	made_call(&made, "memset", 15000, 16000, ",\"bytes\":64");
	made_op(&made, "memset", 3, 18000, 18500, ",\"bytes\":64");
	made_call(&made, "graph_launch", 16000, 17000, ",\"graph\":1");
	made_op(&made, "graph", 2, 21000, 40000, ",\"graph\":1,\"busy_ns\":9000");
	made_call(&made, "hostfunc", 17000, 17500, "");
	made_op(&made, "hostfunc", 2, 40000, 41000, "");
	made_call(&made, "sync_device", 17500, 45000, "");
	made_call(&made, "sync_event", 17400, 18400, ",\"thread\":1,\"event\":1");
	made_end(&made, 90000, 0, 0);
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	events = chrome_of(&trace);
	trace_release(&trace);
	made_remove(&made);
	return events;
}

static double number(const json_t *event, const char *name)
{
	return json_get_number(event, name);
}

static bool is_phase(const json_t *event, const char *phase)
{
	return !strcmp(json_get_text(event, "ph"), phase);
}

static bool same_row(const json_t *a, const json_t *b)
{
	return number(a, "pid") == number(b, "pid") && number(a, "tid") == number(b, "tid");
}

static double end_of(const json_t *event)
{
	return number(event, "ts") + number(event, "dur");
}

/* ---- rules -------------------------------------------------------------------------------- */

static void has_members(const json_t *e, size_t i)
{
	static const char categories[] = " cuda_runtime kernel gpu_memcpy gpu_memset cuda_sync "
					 "cpu_op user_annotation gpu_user_annotation ac2g ";
	char category[64];

	cr_assert(eq(int, json_is_integer(json_object_get(e, "pid")), 1), "%zu", i);
	cr_assert(eq(int, json_is_integer(json_object_get(e, "tid")), 1), "%zu", i);
	cr_assert(eq(sz, strlen(json_get_text(e, "ph")), 1), "%zu", i);
	cr_assert(ne(ptr, strchr("MXBEsf", json_get_text(e, "ph")[0]), NULL), "%zu", i);
	if (is_phase(e, "M"))
		return;
	cr_assert(le(dbl, 0, number(e, "ts")), "%zu: ts", i);
	if (is_phase(e, "E"))
		return;
	snprintf(category, sizeof(category), " %s ", json_get_text(e, "cat"));
	cr_assert(ne(ptr, strstr(categories, category), NULL), "%zu:%s", i, category);
	cr_assert(ne(str, (char *)json_get_text(e, "name"), ""), "%zu: name", i);
	if (is_phase(e, "X"))
		cr_assert(le(dbl, 0, number(e, "dur")), "%zu: dur", i);
}

/* Slices of one row lie beside or within each other. */
static void is_nested(const json_t *events, const json_t *e, size_t i)
{
	const json_t *other;
	size_t k;

	json_array_foreach(events, k, other)
	{
		double a0 = number(e, "ts"), a1 = end_of(e);
		double b0 = number(other, "ts"), b1 = end_of(other);

		if (k == i || !is_phase(other, "X") || !same_row(e, other))
			continue;
		cr_assert(
			eq(int,
			   a1 <= b0 || b1 <= a0 || (a0 <= b0 && b1 <= a1) || (b0 <= a0 && a1 <= b1),
			   1),
			"%zu and %zu overlap", i, k);
	}
}

static int slices_at(const json_t *events, const json_t *flow)
{
	const json_t *e;
	size_t k;
	int n = 0;

	json_array_foreach(events, k, e) n += is_phase(e, "X") && same_row(e, flow) &&
					      number(e, "ts") <= number(flow, "ts") &&
					      number(flow, "ts") <= end_of(e);
	return n;
}

/* A flow begins in a slice and ends in one, not before it began. */
static void is_flow(const json_t *events, const json_t *begin)
{
	const json_t *e;
	size_t k;
	int ends = 0;

	cr_assert(le(int, 1, slices_at(events, begin)), "begins in a slice");
	json_array_foreach(events, k, e)
	{
		if (!is_phase(e, "f") || number(e, "id") != number(begin, "id"))
			continue;
		ends++;
		cr_assert(le(dbl, number(begin, "ts"), number(e, "ts")), "backwards");
		cr_assert(eq(str, (char *)json_get_text(e, "bp"), "e"),
			  "binds to the slice around it");
		cr_assert(le(int, 1, slices_at(events, e)), "ends in a slice");
	}
	cr_assert(eq(int, ends, 1), "ends once");
}

static void is_named(const json_t *events, const json_t *e, size_t i)
{
	const json_t *other;
	size_t k;
	int names = 0;

	json_array_foreach(events, k, other) names +=
		is_phase(other, "M") && same_row(e, other) &&
		!strcmp(json_get_text(other, "name"), "thread_name");
	cr_assert(eq(int, names, 1), "%zu: its row has a name", i);
}

Test(small_chrome, every_event_keeps_the_rules)
{
	json_t *all = written(), *events = json_object_get(all, "traceEvents"), *e;
	int depth[2] = { 0, 0 }, flows = 0; /* depth: of threads 100 and 101 */
	size_t i;

	json_array_foreach(events, i, e)
	{
		has_members(e, i);
		if (is_phase(e, "B") || is_phase(e, "E"))
			depth[(int)number(e, "tid") - 100] += is_phase(e, "B") ? 1 : -1;
		cr_assert(le(int, 0, depth[0]), "%zu: an end without a begin", i);
		cr_assert(le(int, 0, depth[1]), "%zu: an end without a begin", i);
		if (!is_phase(e, "M"))
			is_named(events, e, i);
		if (is_phase(e, "X"))
			is_nested(events, e, i);
		flows += is_phase(e, "s");
		if (is_phase(e, "s"))
			is_flow(events, e);
	}
	cr_expect(eq(int, depth[0] + depth[1], 0), "ranges end");
	cr_expect(eq(int, flows, 5), "one for each operation");
	json_decref(all);
}

static int count(const json_t *events, const char *category, const char *name)
{
	const json_t *e;
	size_t i;
	int n = 0;

	json_array_foreach(events, i, e) n += !strcmp(json_get_text(e, "cat"), category) &&
					      !strcmp(json_get_text(e, "name"), name);
	return n;
}

Test(small_chrome, nothing_is_missing)
{
	json_t *all = written(), *events = json_object_get(all, "traceEvents");

	cr_expect(eq(int, count(events, "kernel", "saxpy"), 1), "kernel");
	cr_expect(eq(int, count(events, "kernel", "graph"), 1), "graph");
	cr_expect(eq(int, count(events, "gpu_memcpy", "Memcpy HtoD"), 1), "copy");
	cr_expect(eq(int, count(events, "gpu_memset", "Memset"), 1), "memset");
	cr_expect(eq(int, count(events, "cuda_sync", "Context Synchronize"), 1), "wait");
	cr_expect(eq(int, count(events, "cuda_sync", "Event Synchronize"), 1), "wait");
	cr_expect(eq(int, count(events, "cuda_runtime", "a \"quoted\"\n<name>"), 1), "names");
	cr_expect(eq(int, count(events, "user_annotation", "saxpy"), 1), "ranges");
	json_decref(all);
}

/* ---- values --------------------------------------------------------------------------------- */

/* The event of this phase and name, in this row; there is one. */
static const json_t *the(const json_t *events, const char *phase, const char *name, double pid,
			 double tid)
{
	const json_t *e, *found = NULL;
	size_t i;

	json_array_foreach(events, i, e)
	{
		if (!is_phase(e, phase) || strcmp(json_get_text(e, "name"), name) ||
		    number(e, "pid") != pid || number(e, "tid") != tid)
			continue;
		cr_assert(eq(ptr, (void *)(uintptr_t)found, NULL), "two of %s %s", phase, name);
		found = e;
	}
	cr_assert(ne(ptr, (void *)(uintptr_t)found, NULL), "no %s %s", phase, name);
	return found;
}

static void is_named_so(const json_t *events, const char *what, double pid, double tid,
			const char *name)
{
	const json_t *args = json_object_get(the(events, "M", what, pid, tid), "args");

	cr_expect(eq(str, (char *)json_get_text(args, "name"), (char *)name));
}

/* The program is process 7; the device is process 0, with a row for each stream. */
Test(small_chrome, rows_have_their_names)
{
	json_t *all = written(), *events = json_object_get(all, "traceEvents");

	is_named_so(events, "process_name", 7, 0, "./app x");
	is_named_so(events, "process_name", 0, 0, "device");
	is_named_so(events, "thread_name", 7, 100, "thread 100");
	is_named_so(events, "thread_name", 7, 101, "thread 101");
	is_named_so(events, "thread_name", 0, TRACE_ID_MAX, "synchronizes of thread 100");
	is_named_so(events, "thread_name", 0, TRACE_ID_MAX + 1, "synchronizes of thread 101");
	json_decref(all);
}

static void lasts(const json_t *e, double from_us, double us)
{
	cr_expect(epsilon_eq(dbl, number(e, "ts"), from_us, 1e-9), "%g", number(e, "ts"));
	cr_expect(epsilon_eq(dbl, number(e, "dur"), us, 1e-9), "%g", number(e, "dur"));
}

/* Times are in us, to a ns. */
Test(small_chrome, times_are_as_recorded)
{
	json_t *all = written(), *events = json_object_get(all, "traceEvents");
	const json_t *args;

	lasts(the(events, "X", "a \"quoted\"\n<name>", 7, 100), 0.010, 0.990);
	lasts(the(events, "X", "Memcpy HtoD", 0, 2), 2, 9);
	lasts(the(events, "X", "saxpy", 0, 2), 11.999, 8.001);
	lasts(the(events, "X", "graph", 0, 2), 21, 19);
	lasts(the(events, "X", "Memset", 0, 3), 18, 0.5);
	lasts(the(events, "X", "Context Synchronize", 0, TRACE_ID_MAX), 17.5, 27.5);
	lasts(the(events, "X", "Event Synchronize", 0, TRACE_ID_MAX + 1), 17.4, 1);
	args = json_object_get(the(events, "X", "saxpy", 0, 2), "args");
	cr_expect(eq(dbl, json_number_value(json_array_get(json_object_get(args, "grid"), 0)), 2));
	cr_expect(
		eq(dbl, json_number_value(json_array_get(json_object_get(args, "block"), 0)), 32));
	/* what was not recorded is not there */
	cr_expect(eq(ptr, json_object_get(args, "bytes"), NULL), "bytes");
	args = json_object_get(the(events, "X", "Memset", 0, 3), "args");
	cr_expect(eq(dbl, number(args, "bytes"), 64), "bytes");
	cr_expect(eq(dbl, number(args, "stream"), 3), "stream");
	cr_expect(eq(ptr, json_object_get(args, "grid"), NULL), "no kernel");
	cr_expect(eq(ptr, json_object_get(args, "registers per thread"), NULL), "registers");
	cr_expect(eq(ptr, json_object_get(args, "shared memory"), NULL), "shared memory");
	json_decref(all);
}

/* A kernel whose shape was not recorded has none, rather than a wrong one. */
Test(small_chrome, a_kernel_without_a_shape)
{
	struct made made;
	struct trace trace;

	made_begin(&made, "", NULL);
	made_call(&made, "launch", 0, 10, "");
	made_op(&made, "kernel", 2, 20, 30, ",\"name\":1");
	made_op(&made, "kernel", 2, 30, 40, ",\"name\":1,\"grid\":[2,3,4],\"block\":[5,6,7]");
	made_end(&made, 100, 0, 0);
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	for (int k = 0; k < 3; k++) {
		cr_expect(zero(int, trace.op[0].grid[k]), "%d", k);
		cr_expect(zero(int, trace.op[0].block[k]), "%d", k);
		cr_expect(eq(int, trace.op[1].grid[k], 2 + k), "%d", k);
		cr_expect(eq(int, trace.op[1].block[k], 5 + k), "%d", k);
	}
	trace_release(&trace);
	made_remove(&made);
}

/* A flow has its operation's number; one whose kernel began before its call begins with the call.
 */
Test(small_chrome, flows_lead_from_calls_to_operations)
{
	static const struct {
		double from, to, row;
	} want[] = {
		{ 1, 2, 2 }, { 12.001, 12.001, 2 }, { 15, 18, 3 }, { 16, 21, 2 }, { 17, 40, 2 },
	};
	json_t *all = written(), *events = json_object_get(all, "traceEvents"), *e;
	size_t i;

	json_array_foreach(events, i, e)
	{
		int id = (int)number(e, "id");

		if (!is_phase(e, "s") && !is_phase(e, "f"))
			continue;
		cr_assert(le(int, 1, id), "%zu", i);
		cr_assert(le(int, id, 5), "%zu", i);
		cr_expect(eq(dbl, number(e, "ts"),
			     is_phase(e, "s") ? want[id - 1].from : want[id - 1].to),
			  "%d", id);
		cr_expect(eq(dbl, number(e, "tid"), is_phase(e, "s") ? 100 : want[id - 1].row),
			  "%d", id);
	}
	json_decref(all);
}

/* One of two ranges ends with the trace; an end without a begin is left out. */
Test(small_chrome, ranges_begin_and_end_where_they_did)
{
	static const struct {
		const char *phase;
		double ts;
	} want[] = { { "B", 0.005 }, { "B", 0.007 }, { "E", 80 }, { "E", 90 } };
	json_t *all = written(), *events = json_object_get(all, "traceEvents"), *e;
	size_t i, n = 0;

	json_array_foreach(events, i, e)
	{
		if (!is_phase(e, "B") && !is_phase(e, "E"))
			continue;
		cr_assert(lt(sz, n, sizeof(want) / sizeof(*want)), "more than four");
		cr_expect(is_phase(e, want[n].phase), "%zu", n);
		cr_expect(eq(dbl, number(e, "ts"), want[n].ts), "%zu: %g", n, number(e, "ts"));
		cr_expect(eq(dbl, number(e, "tid"), 100), "%zu", n);
		n++;
	}
	cr_expect(eq(sz, n, 4), "%zu", n);
	json_decref(all);
}

static void put_mark(struct made *made, const char *kind, long t, int name)
{
	made_row(made, "{\"record\":\"mark\",\"thread\":0,\"kind\":\"%s\",\"t\":%ld,\"name\":%d}",
		 kind, t, name);
}

/* Two ranges that the device works on at the same time, and one within the first. */
static json_t *with_ranges(void)
{
	struct made made;
	struct trace trace;
	json_t *events;

	made_begin(&made, "", NULL);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"first\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":3,\"text\":\"inner\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":4,\"text\":\"second\"}");
	put_mark(&made, "push", 0, 2);
	put_mark(&made, "push", 1000, 3);
	made_kernel(&made, 2, 2000, 50000, 60000);
	put_mark(&made, "pop", 5000, 3);
	made_kernel(&made, 2, 6000, 70000, 90000);
	put_mark(&made, "pop", 9000, 2);
	put_mark(&made, "push", 10000, 4);
	made_kernel(&made, 4, 11000, 80000, 95000);
	put_mark(&made, "pop", 14000, 4);
	made_end(&made, 200000, 0, 0);
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	events = chrome_of(&trace);
	trace_release(&trace);
	made_remove(&made);
	return events;
}

static const json_t *device_range(const json_t *events, const char *name)
{
	const json_t *e;
	size_t i;

	json_array_foreach(events, i, e)
	{
		if (!strcmp(json_get_text(e, "cat"), "gpu_user_annotation") &&
		    !strcmp(json_get_text(e, "name"), name))
			return e;
	}
	cr_fatal("no %s", name);
}

static void is_drawn(const json_t *e, double ts, double dur, double busy)
{
	cr_expect(zero(dbl, number(e, "pid")), "on the device");
	cr_expect(eq(dbl, number(e, "ts"), ts), "%g", number(e, "ts"));
	cr_expect(eq(dbl, number(e, "dur"), dur), "%g", number(e, "dur"));
	cr_expect(eq(dbl, number(json_object_get(e, "args"), "busy_us"), busy), "busy");
	cr_expect(eq(dbl, number(json_object_get(e, "args"), "thread"), 100), "thread");
}

Test(small_chrome, the_device_has_a_track_of_ranges)
{
	json_t *all = with_ranges(), *events = json_object_get(all, "traceEvents"), *e;
	const json_t *first = device_range(events, "first"), *inner = device_range(events, "inner");
	const json_t *second = device_range(events, "second");
	size_t i;

	is_drawn(first, 50, 40, 30);
	is_drawn(inner, 50, 10, 10);
	is_drawn(second, 80, 15, 15);
	cr_expect(not(same_row(first, inner)), "within");
	cr_expect(not(same_row(first, second)), "at the same time");
	json_array_foreach(events, i, e)
	{
		if (is_phase(e, "X"))
			is_nested(events, e, i);
	}
	json_decref(all);
}

/* A line each. */
static void say_events(const json_t *all)
{
	static char text[1 << 16];
	FILE *out = fmemopen(text, sizeof(text), "w");
	json_t *e;
	size_t i;

	json_array_foreach(json_object_get(all, "traceEvents"), i, e)
	{
		json_dumpf(e, out, 0);
		fputc('\n', out);
	}
	fclose(out);
	golden_said(text);
}

/* Ranges in ranges of two threads, and a range of one thread that overlaps one of its own. */
Test(small_chrome, all_that_is_written)
{
	struct made made;
	struct trace trace;
	json_t *all = written();

	say_events(all);
	json_decref(all);
	made_begin(&made, "", NULL);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"outer\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":3,\"text\":\"inner\"}");
	for (int thread = 0; thread < 2; thread++)
		for (long i = 0; i < 3; i++) {
			long at = 10000 * i + 5000 * thread;
			char of[40];

			for (int name = 2; name < 4; name++)
				made_row(&made,
					 "{\"record\":\"mark\",\"thread\":%d,\"kind\":\"push\","
					 "\"t\":%ld,\"name\":%d}",
					 thread, at + name, name);
			snprintf(of, sizeof(of), ",\"thread\":%d,\"stream\":%d", thread,
				 2 + thread);
			made_call(&made, "launch", at + 10, at + 900, of);
			made_op(&made, "kernel", 2 + thread, at + 3000, at + 15000,
				",\"name\":1,\"shared\":0,\"registers\":32");
			for (int pop = 0; pop < 2; pop++) {
				made_row(&made,
					 "{\"record\":\"mark\",\"thread\":%d,\"kind\":\"pop\","
					 "\"t\":%ld}",
					 thread, at + 1000 + 1500 * pop);
				made_call(&made, pop ? "other" : "record", at + 1100 + 1500 * pop,
					  at + 1200 + 1500 * pop, of);
			}
		}
	made_end(&made, 90000, 0, 0);
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	all = chrome_of(&trace);
	say_events(all);
	json_decref(all);
	trace_release(&trace);
	made_remove(&made);
}

Test(small_chrome, its_files_are_known_by_their_beginning)
{
	char path[] = "/tmp/rift-chrome-XXXXXX";
	int fd = mkstemp(path);
	struct made made;
	struct trace trace;
	FILE *out;

	cr_assert(le(int, 0, fd), "%s", path);
	close(fd);
	cr_expect(not(chrome_is(path)), "empty");
	cr_expect(not(chrome_is("/tmp")), "a folder");
	cr_expect(not(chrome_is("/nowhere")), "nothing");
	made_begin(&made, "", NULL);
	made_call(&made, "other", 0, 10, "");
	made_end(&made, 90000, 0, 0);
	cr_expect(not(chrome_is(made.path)), "a trace of ours");
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	out = fopen(path, "w");
	chrome_write(&trace, out);
	fclose(out);
	cr_expect(chrome_is(path), "what was written");
	trace_release(&trace);
	made_remove(&made);
	unlink(path);
}

/* ---- operations of one stream ------------------------------------------------------------- */

enum { DRAWN_MAX = 8 };

/* Times of slices of a category, in the order of the file, and their rows. */
struct drawn {
	double ts[DRAWN_MAX], end[DRAWN_MAX], tid[DRAWN_MAX];
	int n;
};

static struct drawn kernels_drawn(const struct trace *t)
{
	struct drawn d = { .n = 0 };
	json_t *all = chrome_of(t), *e;
	size_t i;

	json_array_foreach(json_object_get(all, "traceEvents"), i, e)
	{
		if (strcmp(json_get_text(e, "cat"), "kernel") != 0 || d.n == DRAWN_MAX)
			continue;
		d.ts[d.n] = number(e, "ts");
		d.end[d.n] = end_of(e);
		d.tid[d.n++] = number(e, "tid");
	}
	json_decref(all);
	return d;
}

/* A row's kernel of 2 to 30 us; a fold of four that took 5 us each; perhaps a row's behind them. */
static struct drawn folded_between(long next_t0)
{
	struct made made;
	struct trace trace;
	struct drawn d;

	made_begin(&made, "", NULL);
	made_kernel(&made, 2, 1000, 2000, 30000);
	made_row(&made, "{\"record\":\"fold\",\"times\":4,\"t0\":3000,\"t1\":11000,\"body\":["
			"{\"record\":\"call\",\"thread\":0,\"class\":\"launch\",\"stream\":2,"
			"\"gap_ns\":[[1000,4]],\"took_ns\":[[1000,4]],\"op\":{\"record\":\"op\","
			"\"kind\":\"kernel\",\"stream\":2,\"took_ns\":[[5000,4]],\"lag_ns\":"
			"[[1000,4]]}}]}");
	if (next_t0)
		made_kernel(&made, 2, 20000, next_t0, next_t0 + 1000);
	made.calls += 4;
	made.ops += 4;
	made_end(&made, 90000, 0, 0);
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	d = kernels_drawn(&trace);
	trace_release(&trace);
	made_remove(&made);
	return d;
}

/* first: of the four, us; each as long. */
static void four_of_a_fold(long next_t0, double first, double took)
{
	struct drawn d = folded_between(next_t0);

	cr_assert(eq(int, d.n, next_t0 ? 6 : 5), "next at %ld", next_t0);
	for (int i = 0; i < 4; i++) {
		cr_expect(epsilon_eq(dbl, d.ts[1 + i], first + i * took, 1e-9), "%d", i);
		cr_expect(epsilon_eq(dbl, d.end[1 + i], first + (i + 1) * took, 1e-9), "%d", i);
		cr_expect(eq(dbl, d.tid[1 + i], d.tid[0]), "%d: its stream's row", i);
	}
}

Test(small_chrome, a_fold_keeps_the_order_of_its_stream)
{
	four_of_a_fold(0, 30, 5);     /* behind what the stream had */
	four_of_a_fold(60000, 30, 5); /* with time to spare */
	four_of_a_fold(46000, 30, 4); /* 16 us for 20 */
	four_of_a_fold(30000, 30, 0); /* none */
}

/* The one behind it is in the way, and the one ahead is not. */
Test(small_chrome, a_fold_ends_before_the_next_row_begins)
{
	struct made made;
	struct trace trace;
	struct drawn d;

	made_begin(&made, "", NULL);
	made_row(&made, "{\"record\":\"fold\",\"times\":2,\"t0\":10000,\"t1\":14000,\"body\":["
			"{\"record\":\"call\",\"thread\":0,\"class\":\"launch\",\"stream\":2,"
			"\"gap_ns\":[[1000,2]],\"took_ns\":[[1000,2]],\"op\":{\"record\":\"op\","
			"\"kind\":\"kernel\",\"stream\":2,\"took_ns\":[[5000,2]],\"lag_ns\":"
			"[[1000,2]]}}]}");
	made_kernel(&made, 2, 15000, 19000, 25000);
	made.calls += 2;
	made.ops += 2;
	made_end(&made, 90000, 0, 0);
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	d = kernels_drawn(&trace);
	cr_assert(eq(int, d.n, 3), "two of the fold and a row");
	cr_expect(epsilon_eq(dbl, d.ts[0], 9, 1e-9), "12 without what follows");
	cr_expect(epsilon_eq(dbl, d.ts[1], 14, 1e-9), "17 without what follows");
	cr_expect(epsilon_eq(dbl, d.ts[2], 19, 1e-9), "measured");
	trace_release(&trace);
	made_remove(&made);
}

/* As the device ran them: three at a time, and then one where the first has ended. */
Test(small_chrome, kernels_at_the_same_time_have_rows_of_their_own)
{
	struct made made;
	struct trace trace;
	struct drawn d;

	made_begin(&made, "", NULL);
	made_kernel(&made, 2, 1000, 10000, 20000);
	made_kernel(&made, 2, 4000, 15000, 30000);
	made_kernel(&made, 2, 7000, 16000, 18000);
	made_kernel(&made, 2, 12000, 20000, 21000);
	made_kernel(&made, 3, 15000, 16000, 17000);
	made_kernel(&made, 4, 22000, 40000, 60000);
	made_kernel(&made, 4, 25000, 40000, 50000);
	made_end(&made, 90000, 0, 0);
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	d = kernels_drawn(&trace);
	cr_assert(eq(int, d.n, 7), "kernels");
	cr_expect(eq(dbl, d.tid[0], 2), "the stream's");
	cr_expect(lt(dbl, TRACE_ID_MAX, d.tid[1]), "beside it");
	cr_expect(lt(dbl, d.tid[1], d.tid[2]), "beside both");
	cr_expect(eq(dbl, d.tid[3], 2), "free again");
	cr_expect(eq(dbl, d.tid[4], 3), "another stream's");
	cr_expect(lt(dbl, d.tid[2], d.tid[5]), "of two that begin at once the longer one");
	cr_expect(eq(dbl, d.tid[6], 4), "the stream's");
	trace_release(&trace);
	made_remove(&made);
}
