/*
 * finish.c - what follows from the acts of a plan: who waits for whom at the end of a step, where
 * copies go, which memory is taken, and in which modes steps may run.
 */
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "workloads/replay/replay.h"

static bool is_op(const struct replay_act *a)
{
	return a->kind <= ACT_HOSTFUNC;
}

static bool is_sync(const struct replay_act *a)
{
	return a->kind == ACT_SYNC_STREAM || a->kind == ACT_SYNC_EVENT ||
	       a->kind == ACT_SYNC_DEVICE;
}

/* ---- who has waited for whom -------------------------------------------------------------- */

/* The last operation of each stream that is over when a stream, an event or the host is. */
struct order {
	const struct replay_plan *p;
	int64_t *last;	 /* [stream]: its last operation, from 1 */
	int64_t *stream; /* [stream][stream] */
	int64_t *event;	 /* [event][stream] */
	int64_t *host;	 /* [stream] */
};

static int64_t *times_new(int64_t n)
{
	int64_t *times = calloc((size_t)n + 1, sizeof(*times));

	CHECK(times, "memory of %ld streams and events", (long)n);
	return times;
}

static void order_init(struct order *o, const struct replay_plan *p)
{
	*o = (struct order){ .p = p };
	o->last = times_new(p->streams);
	o->host = times_new(p->streams);
	o->stream = times_new((int64_t)p->streams * p->streams);
	o->event = times_new((int64_t)p->events * p->streams);
}

static void order_release(struct order *o)
{
	free(o->last);
	free(o->host);
	free(o->stream);
	free(o->event);
}

static void take_latest(int64_t *to, const int64_t *from, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void order_add(struct order *o, int64_t i)
{
	const struct replay_act *a = &o->p->act[i];
	int n = o->p->streams;
	int64_t *stream = a->stream < 0 ? NULL : o->stream + (int64_t)a->stream * n;
	int64_t *event = a->event < 0 ? NULL : o->event + (int64_t)a->event * n;

	if (is_op(a))
		stream[a->stream] = o->last[a->stream] = i + 1;
	if (a->kind == ACT_RECORD)
		memcpy(event, stream, (size_t)n * sizeof(*event));
	if (a->kind == ACT_WAIT_EVENT)
		take_latest(stream, event, n);
	if (a->kind == ACT_SYNC_STREAM || (a->kind == ACT_POLL && stream))
		take_latest(o->host, stream, n);
	if (a->kind == ACT_SYNC_EVENT || (a->kind == ACT_POLL && event))
		take_latest(o->host, event, n);
	if (a->kind == ACT_SYNC_DEVICE)
		take_latest(o->host, o->last, n);
}

/* Does the host wait for everything with the last act? */
static bool ends_idle(const struct replay_plan *p)
{
	struct order o;
	bool idle = true;

	order_init(&o, p);
	for (int64_t i = 0; i < p->acts; i++)
		order_add(&o, i);
	for (int s = 0; s < p->streams; s++)
		idle &= o.host[s] >= o.last[s];
	order_release(&o);
	return idle;
}

/* Streams whose last operation neither the host nor the main stream has waited for. */
static void find_open(struct replay_plan *p)
{
	struct order o;

	order_init(&o, p);
	for (int64_t i = 0; i < p->acts; i++)
		order_add(&o, i);
	if (p->main >= 0)
		take_latest(o.host, o.stream + (int64_t)p->main * p->streams, p->streams);
	for (int s = 0; s < p->streams; s++)
		p->stream[s].open = s != p->main && o.host[s] < o.last[s];
	order_release(&o);
}

/* ---- streams ------------------------------------------------------------------------------ */

static void find_main(struct replay_plan *p)
{
	bool legacy = false;
	int used = 0;

	for (int64_t i = 0; i < p->acts; i++)
		if (is_op(&p->act[i]))
			p->stream[p->act[i].stream].ops++;
	p->main = -1;
	for (int s = 0; s < p->streams; s++) {
		used += p->stream[s].ops > 0;
		legacy |= p->stream[s].ops > 0 && p->stream[s].kind == STREAM_OF_LEGACY;
		if (p->main < 0 || p->stream[s].ops > p->stream[p->main].ops)
			p->main = s;
	}
	/* the legacy stream waits for others, and they for it: all must be as they were */
	if (used > 1 && legacy)
		p->main = -1;
}

/* ---- where copies go ---------------------------------------------------------------------- */

static int compare_areas(const void *a, const void *b)
{
	const struct replay_act *x = *(const struct replay_act *const *)a;
	const struct replay_act *y = *(const struct replay_act *const *)b;
	const int64_t keys[][2] = { { x->kind, y->kind },
				    { x->direction, y->direction },
				    { x->memory, y->memory },
				    { x->stream, y->stream },
				    { x->bytes, y->bytes } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

/* The same, and by their places. */
static int compare_copies(const void *a, const void *b)
{
	const struct replay_act *x = *(const struct replay_act *const *)a;
	const struct replay_act *y = *(const struct replay_act *const *)b;
	int order = compare_areas(a, b);

	return order ? order : (x > y) - (x < y);
}

static struct replay_area *area_add(struct replay_plan *p, const struct replay_act *a)
{
	struct replay_area *area = &p->area[p->areas++];

	*area = (struct replay_area){ .direction = a->direction,
				      .memory = a->memory,
				      .stream = a->stream,
				      .memset = a->kind == ACT_MEMSET,
				      .bytes = a->bytes };
	return area;
}

/* Copies of a kind and size in a stream have slots in turn, as many as there is room for. */
static void lay_out(struct replay_plan *p)
{
	struct replay_act **copy = calloc((size_t)p->acts + 1, sizeof(struct replay_act *));
	int64_t n = 0;

	p->area = calloc((size_t)p->acts + 1, sizeof(*p->area));
	CHECK(copy && p->area, "memory of %ld acts", (long)p->acts);
	for (int64_t i = 0; i < p->acts; i++)
		if (p->act[i].kind == ACT_COPY || p->act[i].kind == ACT_MEMSET)
			copy[n++] = &p->act[i];
	qsort(copy, (size_t)n, sizeof(struct replay_act *), compare_copies);
	for (int64_t i = 0; i < n; i++) {
		bool begins = !i || compare_areas(&copy[i - 1], &copy[i]);
		struct replay_area *area = begins ? area_add(p, copy[i]) : &p->area[p->areas - 1];
		int64_t most = REPLAY_AREA_MAX / (int64_t)replay_stride(area);

		copy[i]->place = p->areas - 1;
		most = area->memset || most < 1 ? 1 : most;
		copy[i]->slot = (int)(area->copies++ % most);
		area->slots = (int)(area->copies < most ? area->copies : most);
	}
	free(copy);
}

/* Places of counters: of kernels, and of host functions. */
static void count_runs(struct replay_plan *p)
{
	int64_t functions = 0;

	for (int64_t i = 0; i < p->acts; i++)
		if (p->act[i].kind == ACT_KERNEL)
			p->act[i].place = p->counters++;
		else if (p->act[i].kind == ACT_HOSTFUNC)
			p->act[i].place = functions++;
	for (int g = 0; g < p->graphs; g++) {
		p->graph[g].place = p->counters;
		p->counters += p->graph[g].kernels;
		p->graph[g].ns /= (double)p->graph[g].number;
	}
}

/* ---- memory that is taken and given back -------------------------------------------------- */

enum { WAYS = TAKEN_PINNED + 1 };

/* Allocations that have come, in the order of acts; there is room for all. */
struct stack {
	struct replay_act **act;
	int64_t n;
};

/* Those of a step: of each way, and of each way and size. */
struct allocations {
	struct replay_act **all; /* by way and size: the room of the latter's stacks */
	struct stack way[WAYS], *size;
	int64_t n, sizes;
};

static int compare_sizes(const struct replay_act *x, const struct replay_act *y)
{
	if (x->taken != y->taken)
		return x->taken < y->taken ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int compare_allocations(const void *a, const void *b)
{
	return compare_sizes(*(const struct replay_act *const *)a,
			     *(const struct replay_act *const *)b);
}

/* Each has one of its own size in front, also before any has come. */
static int compare_stack(const void *key, const void *stack)
{
	return compare_sizes(key, ((const struct stack *)stack)->act[0]);
}

/* Nothing has come yet. */
static void allocations_init(struct allocations *m, struct replay_plan *p)
{
	size_t n = (size_t)p->acts + 1, bytes = sizeof(struct replay_act *);
	bool there;

	*m = (struct allocations){ .all = calloc(n, bytes), .size = calloc(n, sizeof(*m->size)) };
	there = m->all && m->size;
	for (int way = 0; way < WAYS; way++)
		there &= (m->way[way].act = calloc(n, bytes)) != NULL;
	CHECK(there, "memory of %ld acts", (long)p->acts);
	for (int64_t i = 0; i < p->acts; i++)
		if (p->act[i].kind == ACT_ALLOC)
			m->all[m->n++] = &p->act[i];
	qsort(m->all, (size_t)m->n, bytes, compare_allocations);
	for (int64_t i = 0; i < m->n; i++)
		if (!i || compare_sizes(m->all[i - 1], m->all[i]))
			m->size[m->sizes++].act = &m->all[i];
}

static void allocations_release(struct allocations *m)
{
	for (int way = 0; way < WAYS; way++)
		free(m->way[way].act);
	free(m->all);
	free(m->size);
}

/* Those of this way and size; NULL: there are none. */
static struct stack *of_size(const struct allocations *m, const struct replay_act *a)
{
	return bsearch(a, m->size, (size_t)m->sizes, sizeof(*m->size), compare_stack);
}

static void allocation_comes(struct allocations *m, struct replay_act *alloc)
{
	struct stack *way = &m->way[alloc->taken], *size = of_size(m, alloc);

	way->act[way->n++] = alloc;
	size->act[size->n++] = alloc;
}

/* The last one that the free may be for: its size is mostly not known. It has no block yet. */
static struct replay_act *find_alloc(struct allocations *m, const struct replay_act *a)
{
	struct stack *s = a->bytes <= 1 ? &m->way[a->taken] : of_size(m, a);

	while (s && s->n && s->act[s->n - 1]->place >= 0)
		s->n--;
	return s && s->n ? s->act[s->n - 1] : NULL;
}

static void pair(struct replay_plan *p, struct replay_act *alloc, struct replay_act *a, bool kept)
{
	p->kept[p->blocks] = kept;
	a->bytes = alloc->bytes;
	a->place = alloc->place = p->blocks++;
}

/* A free is for an allocation before it in the same step, else for one behind it in the last. */
static void pair_all(struct replay_plan *p, struct allocations *m)
{
	struct replay_act *alloc;

	for (struct replay_act *a = p->act; a < p->act + p->acts; a++)
		if (a->kind == ACT_ALLOC)
			allocation_comes(m, a);
		else if (a->kind == ACT_FREE && (alloc = find_alloc(m, a)))
			pair(p, alloc, a, false);
	for (struct replay_act *a = p->act; a < p->act + p->acts; a++) {
		alloc = a->kind == ACT_FREE && a->place < 0 ? find_alloc(m, a) : NULL;
		if (alloc && alloc > a)
			pair(p, alloc, a, true);
	}
}

/* Calls without their counterpart would run out of memory: they take their time alone. */
static void pair_memory(struct replay_plan *p)
{
	struct allocations m;

	p->kept = calloc((size_t)p->acts + 1, sizeof(*p->kept));
	CHECK(p->kept, "memory of %ld acts", (long)p->acts);
	allocations_init(&m, p);
	pair_all(p, &m);
	allocations_release(&m);
	for (int64_t i = 0; i < p->acts; i++) {
		struct replay_act *a = &p->act[i];

		if ((a->kind == ACT_ALLOC || a->kind == ACT_FREE) && a->place < 0) {
			a->kind = ACT_HOST;
			a->gap_ns += a->ns;
		}
	}
}

/* ---- what steps may be -------------------------------------------------------------------- */

static bool waits_for_last_step(const struct replay_plan *p)
{
	bool *recorded = calloc((size_t)p->events + 1, sizeof(*recorded)), found = false;

	CHECK(recorded, "memory of %d events", p->events);
	for (int64_t i = 0; i < p->acts; i++) {
		if (p->act[i].kind == ACT_RECORD)
			recorded[p->act[i].event] = true;
		found |= p->act[i].kind == ACT_WAIT_EVENT && !recorded[p->act[i].event];
	}
	free(recorded);
	return found;
}

static bool is_pageable(const struct replay_act *a)
{
	return a->kind == ACT_COPY && a->memory == REPLAY_PAGEABLE;
}

/* In a capture such a stream is neither forked nor joined. */
static bool has_idle_events(const struct replay_plan *p)
{
	for (int64_t i = 0; i < p->acts; i++) {
		const struct replay_act *a = &p->act[i];

		if ((a->kind == ACT_RECORD || a->kind == ACT_WAIT_EVENT) && a->stream >= 0 &&
		    a->stream != p->main && !p->stream[a->stream].ops)
			return true;
	}
	return false;
}

static void find_limits(struct replay_plan *p)
{
	bool waits = p->ends_waiting, pageable = false, asks = false;

	for (int64_t i = 0; i < p->acts; i++) {
		const struct replay_act *a = &p->act[i];

		waits |= is_sync(a) || a->kind == ACT_POLL || a->blocks_host;
		pageable |= is_pageable(a);
		asks |= a->kind == ACT_QUERY;
	}
	if (waits)
		p->only_one = "the program waits for the device in each step (waits=left)";
	p->only_stream = waits			  ? p->only_one
			 : p->graphs		  ? "the program launches graphs itself"
			 : pageable		  ? "copies of pageable memory cannot be captured"
			 : asks			  ? "a step asks whether the device is done"
			 : p->blocks		  ? "a step takes and gives back memory"
			 : p->main < 0		  ? "the legacy stream cannot be captured"
			 : waits_for_last_step(p) ? "a step waits for events of the one before"
			 : has_idle_events(p) ? "an event is of a stream that has no work in a step"
					      : NULL;
}

static void leave_wait(struct replay_act *a)
{
	a->blocks_host = false;
	if (!is_sync(a) && a->kind != ACT_POLL)
		return;
	a->kind = ACT_HOST;
	a->stream = a->event = -1;
}

/* Behind the last act the harness waits where the program did. */
static void leave_waits(struct replay_plan *p, enum replay_waits waits)
{
	struct replay_act *last = &p->act[p->acts - 1];

	if (waits == REPLAY_KEPT && p->acts && is_sync(last) && ends_idle(p)) {
		leave_wait(last);
		p->ends_waiting = true;
	}
	for (int64_t i = 0; i < p->acts && waits == REPLAY_LEFT; i++)
		leave_wait(&p->act[i]);
}

static void count_acts(struct replay_plan *p)
{
	for (int64_t i = 0; i < p->acts; i++) {
		const struct replay_act *a = &p->act[i];

		p->number[a->kind]++;
		p->host_ns += a->gap_ns;
		p->slept_ns += a->sleeps ? a->gap_ns : 0;
	}
}

void replay_plan_finish(struct replay_plan *p, enum replay_waits waits)
{
	enum { DEPTH_MOST = 64 };

	p->depth = p->repeats < DEPTH_MOST ? p->repeats : DEPTH_MOST;
	find_main(p);
	leave_waits(p, waits);
	find_open(p);
	lay_out(p);
	count_runs(p);
	pair_memory(p);
	find_limits(p);
	count_acts(p);
	if (p->only_one)
		p->depth = 1;
}

/* ---- the built-in pattern ----------------------------------------------------------------- */

enum { PATTERN_BYTES = 4096 };

static void pattern_add(struct replay_plan *p, struct replay_act act)
{
	act.gap_ns = 500;
	act.graph = -1;
	act.place = -1;
	act.blocks = act.threads = 1;
	p->act[p->acts++] = act;
}

/* Two kernels beside each other between a copy in and a copy out. */
void replay_plan_pattern(struct replay_plan *p)
{
	static const struct replay_act acts[] = {
		{ .kind = ACT_COPY, .bytes = PATTERN_BYTES, .event = -1 },
		{ .kind = ACT_RECORD, .event = 0 },
		{ .kind = ACT_WAIT_EVENT, .stream = 1, .event = 0 },
		{ .kind = ACT_KERNEL, .ns = 10000, .event = -1 },
		{ .kind = ACT_KERNEL, .ns = 5000, .stream = 1, .event = -1 },
		{ .kind = ACT_RECORD, .stream = 1, .event = 1 },
		{ .kind = ACT_WAIT_EVENT, .event = 1 },
		{ .kind = ACT_COPY,
		  .bytes = PATTERN_BYTES,
		  .direction = REPLAY_TO_HOST,
		  .event = -1 },
	};
	const size_t n = sizeof(acts) / sizeof(*acts);

	p->built_in = true;
	p->repeats = 16;
	p->threads = 1;
	p->streams = p->events = 2;
	p->act = calloc(n, sizeof(*p->act));
	p->stream = calloc(2, sizeof(*p->stream));
	CHECK(p->act && p->stream, "memory of a pattern");
	p->stream[0].kind = p->stream[1].kind = STREAM_OF_OWN;
	for (size_t i = 0; i < n; i++)
		pattern_add(p, acts[i]);
}
