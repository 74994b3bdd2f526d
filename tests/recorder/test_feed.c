/*
 * test_feed.c - common/recorder/cupti/feed.h: records of CUPTI in any order, and what a recorder is
 * told of them, all of it, in tests/golden/outputs/cupti-feed.txt. The recorder is this file.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/recorder/cupti/feed.h"

#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "common/recorder/calibration.h"
#include "common/recorder/recorder.h"
#include "tests/golden.h"

/* ---- the recorder: a line for each thing that it is told ----------------------------------- */

static char got[1 << 16];
static int64_t from, until;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	size_t used = strlen(got);
	va_list rest;

	va_start(rest, format);
	vsnprintf(got + used, sizeof(got) - used, format, rest);
	va_end(rest);
}

static void say_if(const char *name, uint64_t value)
{
	if (value)
		say(" %s %llu", name, (unsigned long long)value);
}

static void say_event(const struct trace_event *e)
{
	static const char *const whats[] = { "call", "op", "mark" };

	say("%s %llu: thread %u kind %d %s %lld-%lld", whats[e->what], (unsigned long long)e->id,
	    e->thread, e->kind, e->name ? e->name : "-", (long long)e->t0, (long long)e->t1);
	say_if("stream", e->stream);
	say_if("of kind", e->stream_kind);
	if (e->priority)
		say(" priority %d", e->priority);
	say_if("event", e->event);
	say_if("recording", e->recording);
	say_if("graph", e->graph);
	say_if("bytes", e->bytes);
	say_if("memory", e->memory);
	say_if("direction", e->direction);
	say_if("shared", e->shared);
	say_if("registers", e->registers);
	say_if("not recorded", e->not_recorded);
	if (e->grid[0])
		say(" grid %u %u %u block %u %u %u", e->grid[0], e->grid[1], e->grid[2],
		    e->block[0], e->block[1], e->block[2]);
	say("%s%s%s%s%s\n", e->is_async ? " async" : "", e->has_op ? " has op" : "",
	    e->is_captured ? " captured" : "",
	    e->cpu_ns == (e->what == TRACE_CALL ? -1 : 0) ? "" : " cpu",
	    e->busy_ns == -1 ? "" : " busy");
}

void recorder_take(const struct trace_event *e)
{
	say_event(e);
}

void recorder_mark_at(enum trace_mark kind, const char *name, uint32_t thread, uint64_t id,
		      int64_t t)
{
	say("mark %d %s of thread %u after call %llu at %lld\n", (int)kind, name ? name : "-",
	    thread, (unsigned long long)id, (long long)t);
}

bool recorder_wants(int64_t t)
{
	return t >= from && t < until;
}

void recorder_lost(uint64_t n)
{
	say("lost %llu\n", (unsigned long long)n);
}

const char *recorder_keep(const char *text)
{
	return text;
}

enum { OTHER = 8888888, NO_ROOM = 9999999 };

int recorder_thread(int tid, const char *name)
{
	say("thread %s \"%s\"\n", tid == (int)syscall(SYS_gettid) ? "own" : "other", name);
	return tid == NO_ROOM ? -1 : tid == OTHER;
}

void calibration_take(const struct trace_event *e, void *to)
{
	say("calibration %s: ", (const char *)to);
	say_event(e);
}

static void begin(void)
{
	pthread_setname_np(pthread_self(), "feeder");
	from = 0;
	until = INT64_MAX;
}

TestSuite(small_feed, .timeout = 60, .init = begin);

/* ---- records ------------------------------------------------------------------------------- */

enum { NONE = 0xffffffff };
enum { MALLOC = 20, COPY = 31, COPY_ASYNC = 41, SET = 51, RECORD = 135, SYNC_EVENT = 137 };
enum { WAIT_EVENT = 147, PROFILER_START = 171, PROFILER_STOP = 172, LAUNCH = 211 };
enum { GRAPH_LAUNCH = 311, BEGIN = 315, END = 319, BEGIN_TO_GRAPH = 452, DRIVER_LAUNCH = 307 };

static uint32_t thread;		  /* of the calls; 0: this one's */
static struct cupti_kernel shape; /* of kernels */

static void call_of(uint32_t domain, uint32_t cbid, uint32_t id, uint64_t t0, uint64_t t1)
{
	struct cupti_api r = { .kind = domain,
			       .cbid = cbid,
			       .start = t0,
			       .end = t1,
			       .thread = thread ? thread : (uint32_t)syscall(SYS_gettid),
			       .correlation = id };

	feed_take((struct cupti_record *)&r);
}

static void call(uint32_t cbid, uint32_t id, uint64_t t0, uint64_t t1)
{
	call_of(CUPTI_RUNTIME, cbid, id, t0, t1);
}

static void kernel(uint32_t id, uint32_t stream, uint64_t t0, uint64_t t1)
{
	struct cupti_kernel r = shape;

	r.kind = CUPTI_KERNEL;
	r.start = t0;
	r.end = t1;
	r.stream = stream;
	r.correlation = id;
	r.name = "_Z5saxpyPf";
	feed_take((struct cupti_record *)&r);
}

static void copy(uint32_t id, uint8_t direction, uint8_t here, uint8_t there, uint8_t flags)
{
	struct cupti_copy r = { .kind = CUPTI_MEMCPY,
				.direction = direction,
				.from = here,
				.to = there,
				.flags = flags,
				.bytes = 1000 + id,
				.start = 10 * id + 4,
				.end = 10 * id + 9,
				.stream = 7,
				.correlation = id };

	feed_take((struct cupti_record *)&r);
}

static void graph(uint32_t id, uint32_t number)
{
	struct cupti_graph r = { .kind = CUPTI_GRAPH,
				 .correlation = id,
				 .start = 10 * id + 5,
				 .end = 10 * id + 8,
				 .graph = number,
				 .stream = 7 };

	feed_take((struct cupti_record *)&r);
}

static void stream(uint32_t number, uint32_t flag, uint32_t priority)
{
	struct cupti_stream r = {
		.kind = CUPTI_STREAM, .stream = number, .priority = priority, .flag = flag
	};

	feed_take((struct cupti_record *)&r);
}

static void event(uint32_t id, uint32_t on, uint32_t number)
{
	struct cupti_event r = {
		.kind = CUPTI_CUDA_EVENT, .correlation = id, .stream = on, .event = number
	};

	feed_take((struct cupti_record *)&r);
}

static void wait(uint32_t id, uint32_t on, uint32_t number)
{
	struct cupti_sync r = {
		.kind = CUPTI_SYNCHRONIZATION, .correlation = id, .stream = on, .event = number
	};

	feed_take((struct cupti_record *)&r);
}

static void memory(uint32_t id, uint32_t kind)
{
	struct cupti_memory r = {
		.kind = CUPTI_MEMORY, .memory = kind, .correlation = id, .bytes = 4096
	};

	feed_take((struct cupti_record *)&r);
}

static void marker(uint32_t object, uint32_t flags, uint64_t t, const char *name)
{
	struct cupti_marker r = { .kind = CUPTI_MARKER,
				  .flags = flags,
				  .timestamp = t,
				  .object = object,
				  .thread = (uint32_t)syscall(SYS_gettid),
				  .name = name };

	feed_take((struct cupti_record *)&r);
}

static void forward(bool end)
{
	say("--\n");
	feed_forward(end);
}

/* ---- what is told -------------------------------------------------------------------------- */

static void is_told(const char *name)
{
	golden_text(name, got);
}

/* Each kind of record, number and memory; 10 ns a call, by its number. */
Test(small_feed, kinds)
{
	static const uint8_t directions[] = { CUPTI_COPY_TO_DEVICE, CUPTI_COPY_TO_HOST,
					      CUPTI_COPY_WITHIN, CUPTI_COPY_PEER, 3 };
	struct cupti_set set = { .kind = CUPTI_MEMSET,
				 .bytes = 64,
				 .start = 95,
				 .end = 97,
				 .stream = 13,
				 .correlation = 9 };
	struct cupti_record unknown = { .kind = 3 };
	uint32_t id = 1;

	shape = (struct cupti_kernel){ .registers = 32,
				       .grid = { 4, 3, 2 },
				       .block = { 128, 7, 5 },
				       .static_shared = 100,
				       .dynamic_shared = 28 };
	stream(7, CUPTI_STREAM_NULL, 0);
	stream(63, CUPTI_STREAM_NON_BLOCKING, (uint32_t)-2);
	stream(13, CUPTI_STREAM_DEFAULT, 3);
	feed_take(&unknown);
	for (uint8_t i = 0; i < 5; i++, id++) {
		call(i % 2 ? COPY_ASYNC : COPY, id, 10 * id, 10 * id + 3);
		copy(id, directions[i], i, CUPTI_MEMORY_MANAGED, i % 3);
	}
	call(COPY, id, 60, 63); /* what it waits for is no part of it */
	copy(id++, CUPTI_COPY_TO_DEVICE, CUPTI_MEMORY_MANAGED, 0, 2);
	call(MALLOC, id, 70, 73);
	memory(id++, CUPTI_MEMORY_DEVICE);
	call(MALLOC, id, 80, 83);
	memory(id++, 4);
	call(SET, id++, 90, 93);
	feed_take((struct cupti_record *)&set);
	call(GRAPH_LAUNCH, id, 100, 103);
	graph(id++, (1 << 20) - 1);
	call_of(CUPTI_DRIVER, 514, id, 110, 113);
	graph(id++, 1 << 20);
	for (uint32_t s = 62; s < 65; s++, id++) {
		call_of(CUPTI_DRIVER, s < 64 ? DRIVER_LAUNCH : 653, id, 10 * id, 10 * id + 3);
		kernel(id, s, 10 * id + 2, 10 * id + 7);
	}
	call(DRIVER_LAUNCH, id, 150, 153); /* of the runtime: another call */
	call_of(CUPTI_DRIVER, LAUNCH, id, 150, 153);
	marker(CUPTI_OBJECT_THREAD, CUPTI_MARKER_START | 1, 5, "outer");
	marker(CUPTI_OBJECT_THREAD, CUPTI_MARKER_END, 155, "no name");
	marker(CUPTI_OBJECT_THREAD, 1, 7, "neither");
	marker(1, CUPTI_MARKER_START, 8, "of no thread");
	call(PROFILER_STOP, 16, 160, 163);
	call(PROFILER_START, 17, 170, 173);
	forward(true);
	is_told("cupti-feed-kinds");
}

/* Calls go on in the second round after they came, and in order; operations that are late go to
 * them, and are lost where there is no call. */
Test(small_feed, rounds)
{
	thread = OTHER;
	call(LAUNCH, 3, 300, 310);
	call(LAUNCH, 2, 200, 210);
	kernel(3, 1, 320, 330);
	kernel(77, 1, 320, 330);
	wait(78, 1, 1);
	forward(false);
	call(LAUNCH, 1, 100, 110); /* came late: what is after it waits */
	call(LAUNCH, 4, 400, 410);
	forward(false);
	kernel(2, 1, 190, 195);
	call(LAUNCH, 5, 500, 510);
	forward(false);
	kernel(1, 1, 120, 130);
	forward(false);
	kernel(5, 1, 520, 530);
	kernel(4, 1, 420, 430);
	kernel(79, 1, 420, 430);
	forward(true);
	kernel(4, 1, 440, 450); /* another one of the same call */
	call(MALLOC, 6, 600, 610);
	forward(true);
	kernel(6, 1, 620, 630); /* of a call that gives the device nothing */
	forward(true);
	is_told("cupti-feed-rounds");
}

/* Six hundred rounds after its call an operation is still its own, and then it is lost. */
Test(small_feed, what_waits_for_long)
{
	enum { ROUNDS = 600 };

	for (uint32_t id = 1; id < 4; id++)
		call(LAUNCH, id, 10 * id, 10 * id + 5);
	forward(true);
	call(LAUNCH, 9, 90, 95);
	for (int i = 1; i < ROUNDS; i++)
		feed_forward(false);
	kernel(1, 1, 20, 30);
	forward(false);
	kernel(2, 1, 20, 30);
	forward(false);
	kernel(9, 1, 20, 30); /* it went on two rounds later */
	forward(true);
	kernel(3, 1, 20, 30);
	forward(true);
	is_told("cupti-feed-long");
}

/* Marks before calls, longer calls before shorter ones, and else as they came. */
Test(small_feed, what_begins_at_once)
{
	call(MALLOC, 1, 100, 105);
	marker(CUPTI_OBJECT_THREAD, CUPTI_MARKER_START, 100, "first");
	call(MALLOC, 2, 100, 120);
	marker(CUPTI_OBJECT_THREAD, CUPTI_MARKER_START, 100, "second");
	call(MALLOC, 3, 100, 105);
	call(MALLOC, 4, 99, 100);
	marker(CUPTI_OBJECT_THREAD, CUPTI_MARKER_END, 101, NULL);
	call(MALLOC, 5, 101, 102);
	marker(CUPTI_OBJECT_THREAD, CUPTI_MARKER_END, 103, NULL);
	forward(true);
	marker(CUPTI_OBJECT_THREAD, CUPTI_MARKER_START, 200, "third"); /* after none */
	forward(true);
	is_told("cupti-feed-order");
}

/* A record of an event counts from its call on; what others tell of a call is put together. */
Test(small_feed, what_records_tell_of_a_call)
{
	uint32_t id = 1;

	for (int i = 0; i < 2; i++)
		for (uint32_t e = 5; e < 7; e++, id++) {
			call(RECORD, id, 10 * id, 10 * id + 3);
			event(id, 7, e);
		}
	call(WAIT_EVENT, id, 10 * id, 10 * id + 3);
	wait(id++, 9, 5);
	call(SYNC_EVENT, id, 10 * id, 10 * id + 3);
	wait(id++, NONE, 6);
	call(RECORD, id, 10 * id, 10 * id + 3); /* of no event that is known */
	event(id++, 7, NONE);
	call(COPY_ASYNC, id, 10 * id, 10 * id + 3);
	memory(id, CUPTI_MEMORY_PAGEABLE);
	event(id, 8, 6);
	copy(id, CUPTI_COPY_TO_HOST, 3, 2, 0);
	memory(id, 0);
	forward(true);
	is_told("cupti-feed-told");
}

/* Device times are mapped to the host's clock. */
Test(small_feed, times_that_are_before_their_call)
{
	static const uint64_t times[][2] = { { 90, 95 }, { 99, 200 }, { 100, 100 }, { 101, 100 } };

	for (uint32_t i = 0; i < 4; i++) {
		call(LAUNCH, i + 1, 100 + i * 1000, 120 + i * 1000);
		kernel(i + 1, 1, times[i][0] + i * 1000, times[i][1] + i * 1000);
	}
	forward(true);
	is_told("cupti-feed-times");
}

/* Of that thread, until the end of its capture, what has no operation. */
Test(small_feed, captures)
{
	static const uint32_t captured[] = { LAUNCH, SET, COPY, GRAPH_LAUNCH, RECORD, MALLOC };
	uint32_t id = 1;

	for (int round = 0; round < 2; round++) {
		call(round ? BEGIN_TO_GRAPH : BEGIN, id, 10 * id, 10 * id + 3), id++;
		for (int i = 0; i < 6; i++, id++)
			call(captured[i], id, 10 * id, 10 * id + 3);
		thread = OTHER;
		call(LAUNCH, id, 10 * id, 10 * id + 3), id++;
		thread = 0;
		call(LAUNCH, id, 10 * id, 10 * id + 3);
		kernel(id, 1, 10 * id + 4, 10 * id + 6), id++;
		call(END, id, 10 * id, 10 * id + 3), id++;
		call(LAUNCH, id, 10 * id, 10 * id + 3), id++;
	}
	forward(true);
	is_told("cupti-feed-captures");
}

/* A launch of the driver's within one of the runtime's, on the same thread. */
Test(small_feed, a_launch_within_another)
{
	call(LAUNCH, 1, 100, 200);
	call_of(CUPTI_DRIVER, DRIVER_LAUNCH, 2, 110, 200);
	kernel(2, 1, 210, 220);
	call(LAUNCH, 3, 300, 400);
	call_of(CUPTI_DRIVER, DRIVER_LAUNCH, 4, 310, 401); /* not within */
	kernel(4, 1, 410, 420);
	call(MALLOC, 5, 320, 330);
	call(LAUNCH, 6, 500, 600);
	thread = OTHER;
	call_of(CUPTI_DRIVER, DRIVER_LAUNCH, 7, 510, 590);
	thread = 0;
	call_of(CUPTI_DRIVER, 514, 8, 520, 590);
	event(8, 1, 3);
	forward(true);
	kernel(8, 1, 610, 620);
	forward(false);
	is_told("cupti-feed-within");
}

/* What is not wanted is left out with its operation, and counts as a record of its event. */
Test(small_feed, what_is_not_wanted)
{
	from = 200;
	until = 300;
	call(RECORD, 1, 100, 110);
	event(1, 1, 3);
	call(LAUNCH, 2, 120, 130);
	kernel(2, 1, 140, 150);
	call(RECORD, 4, 200, 210);
	event(4, 1, 3);
	call(LAUNCH, 5, 250, 310);
	kernel(5, 1, 320, 330);
	call(LAUNCH, 6, 300, 311);
	kernel(6, 1, 320, 330);
	forward(true);
	is_told("cupti-feed-not-wanted");
}

/* CUPTI numbers them all, and begins again at 0. */
Test(small_feed, calls_without_a_record)
{
	static const uint32_t ids[] = { 50, 51, 53, 40, 60, 0x7fffff00, 0xfffffe00, 0xfffffff8, 4 };

	for (uint32_t i = 0; i < 9; i++)
		call(MALLOC, ids[i], 10 * i, 10 * i + 3);
	forward(true);
	is_told("cupti-feed-numbers");
}

/* A thread is asked for when it changes; one that there is no room for is the first. */
Test(small_feed, threads)
{
	static const uint32_t of[] = { 0, 0, OTHER, OTHER, NO_ROOM, NO_ROOM, 0 };

	for (uint32_t i = 0; i < 7; i++) {
		thread = of[i];
		call(MALLOC, i + 1, 10 * i, 10 * i + 3);
	}
	forward(true);
	is_told("cupti-feed-threads");
}

/* Calls and kernels alone, which are in no trace. */
Test(small_feed, the_calibration)
{
	static char name[] = "c";

	feed_divert((struct calibration *)name);
	call(LAUNCH, 1, 10, 13);
	kernel(1, 1, 14, 18);
	copy(2, CUPTI_COPY_TO_HOST, 3, 2, 1);
	forward(true);
	feed_divert(NULL);
	call(LAUNCH, 3, 30, 33);
	kernel(3, 1, 34, 38);
	forward(true);
	is_told("cupti-feed-calibration");
}

/* 70 calls, each third with a kernel before it and each fifth with one after all, from the last
 * on: tables grow, and each has its own. */
Test(small_feed, many)
{
	enum { N = 70 };

	for (uint32_t i = N; i > 0; i--) {
		if (i % 3 == 0)
			kernel(i, i, 10 * i + 4, 10 * i + 6);
		call(i % 2 ? LAUNCH : GRAPH_LAUNCH, i, 10 * i, 10 * i + 3);
		if (i % 7 == 0)
			wait(i, i, i);
	}
	forward(true);
	for (uint32_t i = N; i > 0; i--)
		if (i % 5 == 0 && i % 3)
			kernel(i, i, 10 * i + 5, 10 * i + 7);
	forward(true);
	is_told("cupti-feed-many");
}
