/* feed.c - records of CUPTI become events of a trace. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/recorder/cupti/feed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/recorder/calibration.h"
#include "common/recorder/recorder.h"

enum { NUMBER_MAX = 1 << 20 }; /* of a stream or an event; CUPTI has ~0 for none */

/* A call or a mark, and when it came. */
struct waiting {
	struct trace_event event;
	unsigned round;
	int64_t order; /* by which equal times are told apart */
};

/* What another record tells of a call. */
struct detail {
	uint64_t correlation;
	struct trace_event event; /* an operation where is_op; else stream, event, bytes, memory */
	bool is_op;
	unsigned round;
};

/* A call that went on without its operation. */
struct awaiting {
	uint64_t correlation;
	uint64_t call; /* the same, or that of the launch around it */
	uint32_t thread;
	unsigned round;
};

/* The last launch of a thread. */
struct launch {
	uint64_t id;
	int64_t t1;
};

struct stream_row {
	bool known;
	uint32_t kind;
	int32_t priority;
};

struct list {
	void *item;
	size_t n, room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list waiting, details, awaiting, streams, recordings, captures, launches;
static unsigned this_round = 1;
static int64_t n_taken;
static struct calibration *diverted;

/* One more item of that size, zeroed; NULL: no memory. */
static void *append(struct list *l, size_t bytes)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		void *larger = realloc(l->item, room * bytes);

		if (!larger)
			return NULL;
		l->item = larger;
		l->room = room;
	}
	return memset((char *)l->item + l->n++ * bytes, 0, bytes);
}

/* The item of a small number; NULL: no memory. */
static void *at(struct list *l, size_t number, size_t bytes)
{
	while (l->n <= number)
		if (!append(l, bytes))
			return NULL;
	return (char *)l->item + number * bytes;
}

/* ---- which calls there are ------------------------------------------------------------- */

enum { DOMAIN_RUNTIME = CUPTI_RUNTIME, DOMAIN_DRIVER = CUPTI_DRIVER };

static const struct call {
	uint32_t domain, number;
	enum trace_class class;
	const char *name;
} calls[] = {
#define CUPTI_CALL(domain, number, class, name, cuptis)                                            \
	{ DOMAIN_##domain, number, TRACE_CLASS_##class, #name },
#include "common/recorder/cupti/calls.h"
#undef CUPTI_CALL
};

static const struct call *find_call(const struct cupti_api *api)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].domain == api->kind && calls[i].number == api->cbid)
			return &calls[i];
	return NULL;
}

/* ---- records are taken ----------------------------------------------------------------- */

static uint32_t small(uint32_t number)
{
	return number < NUMBER_MAX ? number : 0;
}

static void wait_for_round(const struct trace_event *e)
{
	struct waiting *w = append(&waiting, sizeof(*w));

	if (w)
		*w = (struct waiting){ *e, this_round, n_taken++ };
}

/* The name that the thread has now: it may have ended since. */
static int number_of_thread(uint32_t tid)
{
	char path[64], name[16] = "";
	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	FILE *f = fopen(path, "re");

	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	return recorder_thread((int)tid, name);
}

static uint32_t thread_of(uint32_t tid)
{
	static uint32_t last_tid;
	static int last = -1;

	if (last < 0 || tid != last_tid) {
		last = number_of_thread(tid);
		last_tid = tid;
	}
	return last < 0 ? 0 : (uint32_t)last;
}

static void take_call(const struct cupti_api *api)
{
	const struct call *call = find_call(api);
	struct trace_event e = {
		.what = TRACE_CALL,
		.id = api->correlation,
		.t0 = (int64_t)api->start,
		.t1 = (int64_t)api->end,
		.cpu_ns = -1,
		.busy_ns = -1,
	};

	if (!call)
		return;
	e.thread = thread_of(api->thread);
	e.kind = (int)call->class;
	e.name = call->name;
	e.is_async = strstr(call->name, "Async") != NULL;
	if (!strncmp(call->name, "cudaProfiler", strlen("cudaProfiler"))) {
		e.what = TRACE_MARK;
		e.kind = strstr(call->name, "Start") ? TRACE_MARK_start : TRACE_MARK_stop;
		e.name = NULL;
	}
	if (diverted)
		calibration_take(&e, diverted);
	else
		wait_for_round(&e);
}

static struct trace_event *add_detail(uint32_t correlation, uint32_t stream, bool is_op)
{
	static struct detail none;
	struct detail *d = diverted ? NULL : append(&details, sizeof(*d));

	d = d ? d : &none;
	d->correlation = correlation;
	d->is_op = is_op;
	d->round = this_round;
	d->event.what = is_op ? TRACE_OP : TRACE_CALL;
	d->event.id = correlation;
	d->event.stream = small(stream);
	d->event.busy_ns = -1;
	return &d->event;
}

static struct trace_event *add_op(enum trace_kind kind, uint32_t correlation, uint32_t stream,
				  uint64_t start, uint64_t end)
{
	struct trace_event *e = add_detail(correlation, stream, true);

	e->kind = (int)kind;
	e->t0 = (int64_t)start;
	e->t1 = (int64_t)end;
	return e;
}

static void take_kernel(const struct cupti_kernel *k)
{
	struct trace_event *e =
		add_op(TRACE_KIND_kernel, k->correlation, k->stream, k->start, k->end);

	e->name = recorder_keep(k->name);
	if (diverted)
		calibration_take(e, diverted);
	for (int i = 0; i < 3; i++) {
		e->grid[i] = (uint32_t)k->grid[i];
		e->block[i] = (uint32_t)k->block[i];
	}
	e->shared = (uint32_t)(k->static_shared + k->dynamic_shared);
	e->registers = k->registers;
}

static uint8_t memory_of(uint32_t kind)
{
	switch (kind) {
	case CUPTI_MEMORY_PAGEABLE:
		return TRACE_MEMORY_pageable;
	case CUPTI_MEMORY_PINNED:
		return TRACE_MEMORY_pinned;
	case CUPTI_MEMORY_DEVICE:
		return TRACE_MEMORY_device;
	case CUPTI_MEMORY_MANAGED:
		return TRACE_MEMORY_managed;
	default:
		return TRACE_MEMORY_none;
	}
}

static void take_copy(const struct cupti_copy *c)
{
	struct trace_event *e =
		add_op(TRACE_KIND_copy, c->correlation, c->stream, c->start, c->end);

	e->bytes = c->bytes;
	e->is_async = c->flags & CUPTI_ASYNC;
	e->direction = c->direction == CUPTI_COPY_TO_DEVICE ? TRACE_DIRECTION_to_device
		       : c->direction == CUPTI_COPY_TO_HOST ? TRACE_DIRECTION_to_host
		       : c->direction == CUPTI_COPY_PEER    ? TRACE_DIRECTION_peer
		       : c->direction == CUPTI_COPY_WITHIN  ? TRACE_DIRECTION_within
							    : TRACE_DIRECTION_none;
	e->memory = memory_of(c->direction == CUPTI_COPY_TO_HOST ? c->to : c->from);
}

static void take_set(const struct cupti_set *s)
{
	struct trace_event *e =
		add_op(TRACE_KIND_memset, s->correlation, s->stream, s->start, s->end);

	e->bytes = s->bytes;
	e->memory = TRACE_MEMORY_device;
}

static void take_graph(const struct cupti_graph *g)
{
	struct trace_event *e =
		add_op(TRACE_KIND_graph, g->correlation, g->stream, g->start, g->end);

	e->graph = small(g->graph);
}

static void take_stream(const struct cupti_stream *s)
{
	struct stream_row *row = at(&streams, small(s->stream), sizeof(*row));

	if (!row)
		return;
	row->known = true;
	row->kind = s->flag == CUPTI_STREAM_NULL	   ? TRACE_STREAM_legacy
		    : s->flag == CUPTI_STREAM_NON_BLOCKING ? TRACE_STREAM_non_blocking
							   : TRACE_STREAM_blocking;
	row->priority = (int32_t)s->priority;
}

static void take_memory(const struct cupti_memory *m)
{
	struct trace_event *e = add_detail(m->correlation, 0, false);

	e->bytes = m->bytes;
	e->memory = memory_of(m->memory);
}

/* Ranges of threads; an end has no name. */
static void take_marker(const struct cupti_marker *m)
{
	struct trace_event e = { .what = TRACE_MARK, .t0 = (int64_t)m->timestamp };

	if (m->object != CUPTI_OBJECT_THREAD ||
	    !(m->flags & (CUPTI_MARKER_START | CUPTI_MARKER_END)))
		return;
	e.kind = m->flags & CUPTI_MARKER_START ? TRACE_MARK_push : TRACE_MARK_pop;
	e.thread = thread_of(m->thread);
	e.name = e.kind == TRACE_MARK_push ? recorder_keep(m->name) : NULL;
	wait_for_round(&e);
}

static void take(const struct cupti_record *record)
{
	const void *r = record;
	struct trace_event *e;

	switch (record->kind) {
	case CUPTI_RUNTIME:
	case CUPTI_DRIVER:
		take_call(r);
		break;
	case CUPTI_KERNEL:
		take_kernel(r);
		break;
	case CUPTI_MEMCPY:
		take_copy(r);
		break;
	case CUPTI_MEMSET:
		take_set(r);
		break;
	case CUPTI_GRAPH:
		take_graph(r);
		break;
	case CUPTI_STREAM:
		take_stream(r);
		break;
	case CUPTI_SYNCHRONIZATION:
		e = add_detail(((const struct cupti_sync *)r)->correlation,
			       ((const struct cupti_sync *)r)->stream, false);
		e->event = small(((const struct cupti_sync *)r)->event);
		break;
	case CUPTI_CUDA_EVENT:
		e = add_detail(((const struct cupti_event *)r)->correlation,
			       ((const struct cupti_event *)r)->stream, false);
		e->event = small(((const struct cupti_event *)r)->event);
		break;
	case CUPTI_MEMORY:
		take_memory(r);
		break;
	case CUPTI_MARKER:
		take_marker(r);
		break;
	default:
		break;
	}
}

void feed_take(const struct cupti_record *record)
{
	pthread_mutex_lock(&lock);
	take(record);
	pthread_mutex_unlock(&lock);
}

/* ---- joined ---------------------------------------------------------------------------- */

static int by_correlation(const void *a, const void *b)
{
	const struct detail *x = a, *y = b;

	return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

/* Starting together: a mark first, then the longer call, which is around others. */
static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;
	bool x_is_call = x->event.what == TRACE_CALL, y_is_call = y->event.what == TRACE_CALL;

	if (x->event.t0 != y->event.t0)
		return x->event.t0 < y->event.t0 ? -1 : 1;
	if (x_is_call != y_is_call)
		return x_is_call ? 1 : -1;
	if (x_is_call && x->event.t1 != y->event.t1)
		return x->event.t1 > y->event.t1 ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_call(const void *a, const void *b)
{
	const struct awaiting *x = a, *y = b;

	return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

/* The first detail of that correlation, or where it would stand. */
static size_t first_detail(uint64_t correlation)
{
	const struct detail *d = details.item;
	size_t low = 0, high = details.n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void complete_stream(struct trace_event *e)
{
	const struct stream_row *row = e->stream < streams.n ? streams.item : NULL;

	e->stream_kind = TRACE_STREAM_blocking;
	if (!row || !row[e->stream].known)
		return;
	e->stream_kind = row[e->stream].kind;
	e->priority = row[e->stream].priority;
}

static void merge(struct trace_event *call, const struct trace_event *detail)
{
	call->stream = detail->stream ? detail->stream : call->stream;
	call->event = detail->event ? detail->event : call->event;
	call->graph = detail->graph ? detail->graph : call->graph;
	call->bytes = detail->bytes ? detail->bytes : call->bytes;
	call->memory = detail->memory ? detail->memory : call->memory;
	if (detail->what == TRACE_OP && detail->kind == TRACE_KIND_copy)
		call->is_async = detail->is_async;
}

/* Records of an event are counted in the order of their calls. */
static void number_recording(struct trace_event *call)
{
	uint64_t *recording = call->event ? at(&recordings, call->event, sizeof(*recording)) : NULL;

	if (!recording)
		return;
	*recording += call->kind == TRACE_CLASS_record;
	call->recording = *recording;
}

/* Device times are mapped to the host's clock: an operation may seem to start before its call. */
static void send_op(struct trace_event *op, const struct trace_event *call)
{
	op->thread = call->thread;
	op->id = call->id;
	complete_stream(op);
	if (op->t0 < call->t0)
		op->t0 = call->t0;
	if (op->t1 < op->t0)
		op->t1 = op->t0;
	recorder_take(op);
}

static bool has_work(const struct trace_event *call)
{
	return call->kind == TRACE_CLASS_launch || call->kind == TRACE_CLASS_graph_launch ||
	       call->kind == TRACE_CLASS_copy || call->kind == TRACE_CLASS_memset;
}

/* What a thread submits between the begin and the end of its capture becomes nodes. */
static void judge_capture(struct trace_event *call)
{
	bool *captures_now = at(&captures, call->thread, sizeof(*captures_now));

	if (!captures_now)
		return;
	if (!strncmp(call->name, "cudaStreamBeginCapture", strlen("cudaStreamBeginCapture")))
		*captures_now = true;
	if (!strcmp(call->name, "cudaStreamEndCapture"))
		*captures_now = false;
	if (*captures_now && has_work(call) && !call->has_op) {
		call->is_captured = true;
		call->kind = TRACE_CLASS_other;
	}
}

/* Those that wait for long gave the device nothing. */
static void forget_old(void)
{
	enum { ROUNDS = 600 };
	struct awaiting *a = awaiting.item;
	size_t kept = 0;

	for (size_t i = 0; i < awaiting.n; i++)
		if (a[i].round + ROUNDS > this_round)
			a[kept++] = a[i];
	awaiting.n = kept;
}

static void await(uint64_t correlation, const struct trace_event *call)
{
	struct awaiting *a = append(&awaiting, sizeof(*a));

	if (a)
		*a = (struct awaiting){ correlation, call->id, call->thread, this_round };
}

static bool is_launch(const struct trace_event *call)
{
	return call->kind == TRACE_CLASS_launch || call->kind == TRACE_CLASS_graph_launch;
}

/* The launch that this one is part of: the runtime's, of the driver's; 0: it is its own. */
static uint64_t launch_around(const struct trace_event *call)
{
	struct launch *last = is_launch(call) ? at(&launches, call->thread, sizeof(*last)) : NULL;

	if (!last)
		return 0;
	if (call->t1 <= last->t1)
		return last->id;
	*last = (struct launch){ call->id, call->t1 };
	return 0;
}

/* What it has launched is its outer call's. */
static void send_inner(const struct trace_event *call, uint64_t outer)
{
	struct trace_event as = { .id = outer, .thread = call->thread, .t0 = call->t0 };
	struct detail *d = details.item;

	for (size_t i = first_detail(call->id); i < details.n && d[i].correlation == call->id; i++)
		if (d[i].is_op) {
			send_op(&d[i].event, &as);
			d[i].is_op = false;
			d[i].round = 0;
		}
	if (call->id != outer)
		await(call->id, &as);
}

/*
 * Calls that CUPTI has numbered since the one before and given no record: it slows these, too
 * (CUPTI 13.0). Which thread made them is not known. A lost record counts as one.
 */
static uint32_t not_recorded_before(uint64_t id)
{
	static uint32_t last;
	int32_t apart = (int32_t)((uint32_t)id - last);
	bool is_first = !last;

	if (apart > 0)
		last = (uint32_t)id;
	return apart > 1 && !is_first ? (uint32_t)apart - 1 : 0;
}

/* Details that are used are left with a correlation of 0. */
static void send_call(struct trace_event *call)
{
	struct detail *d = details.item;
	size_t first = first_detail(call->id), end = first;
	bool wanted = recorder_wants(call->t0);
	uint64_t outer = launch_around(call);
	uint32_t not_recorded = not_recorded_before(call->id);

	if (outer) {
		if (wanted)
			send_inner(call, outer);
		return;
	}
	for (; end < details.n && d[end].correlation == call->id; end++) {
		merge(call, &d[end].event);
		call->has_op |= d[end].is_op;
	}
	call->not_recorded = not_recorded;
	judge_capture(call);
	number_recording(call);
	complete_stream(call);
	if (wanted)
		recorder_take(call);
	for (size_t i = first; i < end; i++) {
		if (d[i].is_op && wanted)
			send_op(&d[i].event, call);
		d[i].round = 0;
		d[i].is_op = false;
	}
	if (wanted && has_work(call) && !call->has_op)
		await(call->id, call);
}

/* ---- onwards --------------------------------------------------------------------------- */

/* Those that came in the last round but one, or before. */
static bool is_due(unsigned round, bool end)
{
	return end || round + 1 < this_round;
}

static void send_waiting(bool end)
{
	struct waiting *w = waiting.item;
	uint64_t last = 0;
	size_t kept = 0, i;

	qsort(w, waiting.n, sizeof(*w), by_time);
	for (i = 0; i < waiting.n && is_due(w[i].round, end); i++) {
		struct trace_event *e = &w[i].event;

		if (e->what == TRACE_MARK)
			recorder_mark_at((enum trace_mark)e->kind, e->name, e->thread, last, e->t0);
		else
			send_call(e);
		last = e->what == TRACE_CALL ? e->id : last;
	}
	for (; i < waiting.n; i++)
		w[kept++] = w[i];
	waiting.n = kept;
}

/* To a call that has gone on; what has none, in the end or for long, is lost. */
static void send_late(bool end)
{
	struct detail *d = details.item;
	struct awaiting *a = awaiting.item;
	size_t kept = 0;

	if (awaiting.n)
		qsort(a, awaiting.n, sizeof(*a), by_call);
	for (size_t i = 0; i < details.n; i++) {
		struct awaiting key = { .correlation = d[i].correlation }, *found = NULL;

		if (d[i].is_op && awaiting.n)
			found = bsearch(&key, a, awaiting.n, sizeof(*a), by_call);
		if (found) {
			struct trace_event call = { .id = found->call,
						    .thread = found->thread,
						    .t0 = d[i].event.t0 };

			send_op(&d[i].event, &call);
		} else if (d[i].round && !is_due(d[i].round, end)) {
			d[kept++] = d[i];
		} else if (d[i].is_op) {
			recorder_lost(1);
		}
	}
	details.n = kept;
}

void feed_divert(struct calibration *to)
{
	pthread_mutex_lock(&lock);
	diverted = to;
	pthread_mutex_unlock(&lock);
}

void feed_forward(bool end)
{
	pthread_mutex_lock(&lock);
	this_round++;
	if (details.n)
		qsort(details.item, details.n, sizeof(struct detail), by_correlation);
	if (waiting.n)
		send_waiting(end);
	if (details.n)
		send_late(end);
	forget_old();
	pthread_mutex_unlock(&lock);
}
