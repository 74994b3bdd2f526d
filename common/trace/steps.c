/* steps.c - what a trace says of each call, whatever calls cost: gaps, waits, who waits for whom.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/trace/steps.h"
#include "common/timing.h"

/* A launch call this much longer than the 95 % quantile, and so many ns more, is no launch alone.
 */
enum { LONG_TIMES = 4, LONG_NS = 10000 };
/* So many launches under way are a full queue, where its size is not known. */
enum { FULL_LEAST = 64 };
/* Queries further apart than that have work of the program between them. */
enum { POLL_GAP_NS = 20000 };
/* Pairs of operations from which on their gaps say something. */
enum { QUEUED_LEAST = 5 };
/* A thread that sleeps wakes within that after what it waited for. */
enum { EDGE_NS = 50000 };
/* Calls of a thread that are a turn. */
enum { TURN_LEAST = 3 };

/* ---- what is known while the calls go by -------------------------------------------------- */

struct stream_state {
	int64_t end;	   /* recorded, of its operations so far */
	int kind;	   /* of the last of them; TRACE_NONE */
	bool is_folded;	   /* that one */
	bool waits;	   /* for an event, since then */
	int64_t *ends;	   /* of all its operations, in order of their calls */
	int64_t n, issued; /* issued: by calls so far */
	int64_t done;	   /* of those, ended before the call at hand */
};

struct thread_state {
	int64_t end;	    /* of its last call */
	int64_t last;	    /* that call; TRACE_NONE */
	int64_t first_poll; /* of the queries in a row that its last call is of */
	double own_ns;	    /* the recorder's since then */
};

/* Times from which medians are made. */
struct times {
	int64_t *ns;
	int64_t n, room;
};

struct scan {
	struct steps *s;
	const struct trace *t;
	struct stream_state *stream;
	struct thread_state *thread;
	int64_t *event_end;
	int64_t events;
	int64_t *
		usable; /* from when on a kernel's code is there, by its name; INT64_MAX: not yet */
	int64_t loading; /* until then a thread loads code, and others may wait for that */
	int64_t device_end;
	int64_t owns;	   /* taken so far */
	int64_t last_sync; /* call, of any thread, that returned last; TRACE_NONE */
	int64_t first;	   /* thread of the first call */
	int64_t syncs;	   /* synchronizes, those that had nothing to wait for among them */
	struct times sync, full, latency,
		lead[COPY_DIRECTIONS][2][2]; /* leads: by waiting, beside others */
	int64_t behind[COPY_DIRECTIONS][2];  /* copies in a queue, by waiting */
	struct times queued[QUEUE_KINDS][QUEUE_KINDS];
};

static void times_add(struct times *t, int64_t ns)
{
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->ns = realloc(t->ns, (size_t)t->room * sizeof(*t->ns));
		CHECK(t->ns, "memory of %ld times", (long)t->room);
	}
	t->ns[t->n++] = ns;
}

/* Frees them. */
static double times_median(struct times *t, double without)
{
	double median = t->n ? timing_median(t->ns, t->n) : without;

	free(t->ns);
	*t = (struct times){ 0 };
	return median;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static double longest(double a, double b)
{
	return a > b ? a : b;
}

/* ---- threads ------------------------------------------------------------------------------ */

static int compare_owns(const void *a, const void *b)
{
	const struct trace_own *x = a, *y = b;

	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/* What the recorder did before that time, on the account of the thread that waited. */
static void take_owns(struct scan *scan, const struct trace_own *own, int64_t before)
{
	for (; scan->owns < scan->t->owns && own[scan->owns].t0 < before; scan->owns++)
		scan->thread[own[scan->owns].thread].own_ns +=
			(double)(own[scan->owns].t1 - own[scan->owns].t0);
}

static double take_gap(struct thread_state *th, double from, double to, double added)
{
	double gap = to - from - th->own_ns - added;

	th->own_ns = 0;
	return longest(gap, 0);
}

/* Slept in the gap, and another thread's synchronize returned right before its end. */
static bool waited_for_sync(const struct scan *scan, const struct trace_call *c, double gap)
{
	const struct trace_call *sync;

	if (scan->last_sync == TRACE_NONE || c->cpu_ns < 0 || (double)c->cpu_ns * 2 > gap)
		return false;
	sync = &scan->t->call[scan->last_sync];
	return sync->thread != c->thread && sync->t1 <= c->t0 && c->t0 - sync->t1 < EDGE_NS &&
	       sync->t1 > scan->thread[c->thread].end;
}

/* Are the calls from i on, or back from i where step is -1, a turn of one thread in one fold? */
static bool has_turn(const struct trace *t, int64_t i, int step)
{
	const struct trace_call *c = &t->call[i];

	for (int64_t k = i, n = 0; n < TURN_LEAST; k += step, n++)
		if (k < 0 || k >= t->calls || t->call[k].thread != c->thread ||
		    t->call[k].fold != c->fold)
			return false;
	return true;
}

/*
 * Threads of one fold make their calls in turns, the same calls time and again. They hand work to
 * each other, as the two of a training step do: while one is at work, the other waits.
 */
static bool takes_turn(const struct scan *scan, int64_t i)
{
	const struct trace *t = scan->t;
	const struct trace_call *c = &t->call[i];

	return i && c->fold != TRACE_NONE && t->call[i - 1].fold == c->fold &&
	       t->call[i - 1].thread != c->thread && t->call[i - 1].t1 <= c->t0 &&
	       scan->thread[c->thread].last != TRACE_NONE && has_turn(t, i - 1, -1) &&
	       has_turn(t, i, 1);
}

static void set_after(struct scan *scan, int64_t i, int64_t after, double added)
{
	struct step *step = &scan->s->step[i];
	double apart = (double)(scan->t->call[i].t0 - scan->t->call[after].t1);

	step->after = after;
	step->after_ns = longest(apart - added, 0);
	step->gap_ns = 0;
	scan->s->inferred++;
}

/* The first call of a later thread: what began it is the first thread's last call before. */
static bool begins_thread(const struct scan *scan, const struct trace_call *c)
{
	const struct thread_state *first = &scan->thread[scan->first];

	return scan->thread[c->thread].last == TRACE_NONE && c->thread != scan->first &&
	       first->last != TRACE_NONE && first->end <= c->t0;
}

/* What the recorder adds to the gap before a call: beside the call, and to calls without rows. 0
 * where it is not known. */
static double added_to_gap(const struct scan *scan, const struct trace_call *c)
{
	const struct trace_calibration *k = &scan->t->calibration;
	bool is_first = scan->thread[c->thread].last == TRACE_NONE;

	return (is_first ? 0 : k->call_ns) + (double)c->not_recorded * k->not_recorded_ns;
}

static void find_gap(struct scan *scan, int64_t i)
{
	const struct trace_call *c = &scan->t->call[i];
	struct thread_state *th = &scan->thread[c->thread];
	struct step *step = &scan->s->step[i];
	double from = th->last == TRACE_NONE ? scan->s->start_ns : (double)th->end;
	double added = added_to_gap(scan, c);
	double gap = (double)c->t0 - from; /* as recorded */
	bool begins = begins_thread(scan, c);

	step->after = TRACE_NONE;
	step->gap_ns = take_gap(th, from, (double)c->t0, added);
	if (begins)
		set_after(scan, i, scan->thread[scan->first].last, added);
	else if (waited_for_sync(scan, c, gap))
		set_after(scan, i, scan->last_sync, added);
	else if (takes_turn(scan, i))
		set_after(scan, i, i - 1, added);
	th->end = c->t1;
	th->last = i;
}

/* ---- launches ----------------------------------------------------------------------------- */

/* Operations of the stream that were under way when the call began. */
static int64_t under_way(struct stream_state *s, int64_t t0)
{
	while (s->done < s->issued && s->ends[s->done] <= t0)
		s->done++;
	return s->issued - s->done;
}

static bool is_long(const struct trace *t, const struct trace_call *c)
{
	const double *ns = t->calibration.launch_call_ns;

	return t->is_calibrated &&
	       (double)(c->t1 - c->t0) > ns[QUANTILE_P95] * LONG_TIMES + LONG_NS;
}

/* Where no launch of the kernel had returned before. All kernels without a name are one. */
static int64_t *usable_from(struct scan *scan, const struct trace_call *c)
{
	const struct trace_op *op = c->ops ? &scan->t->op[c->first_op] : NULL;

	return &scan->usable[1 + (op && op->kind == OP_KERNEL ? op->name : c->kernel)];
}

static void forget_code(struct scan *scan)
{
	for (int64_t i = 0; i <= scan->t->strings; i++)
		scan->usable[i] = INT64_MAX;
}

/* A long launch call: code is loaded for it, here or by another thread; or the host was held up. */
static void find_cause(struct scan *scan, const struct trace_call *c, struct step *step)
{
	step->loads = *usable_from(scan, c) > c->t0 || scan->loading > c->t0;
	step->is_held_up = !step->loads;
	step->own_ns = (double)(c->t1 - c->t0) - scan->t->calibration.launch_call_ns[QUANTILE_P50];
	scan->s->loads += step->loads;
	if (step->loads)
		scan->loading = later(scan->loading, c->t1);
}

static void find_launch_call(struct scan *scan, int64_t i, int64_t pending)
{
	const struct trace *t = scan->t;
	const struct trace_call *c = &t->call[i];
	struct step *step = &scan->s->step[i];
	double window = t->is_calibrated ? t->calibration.window : INFINITY;
	double full = isinf(window) ? FULL_LEAST : window * 0.9;

	step->role = STEP_LAUNCH;
	if (c->ops && scan->device_end <= c->t0)
		times_add(&scan->latency, later(t->op[c->first_op].t0 - c->t1, 0));
	step->is_behind_full = (double)pending >= full;
	if (!is_long(t, c))
		return;
	if (step->is_behind_full) {
		times_add(&scan->full, pending);
		return;
	}
	find_cause(scan, c, step);
}

/* ---- copies, waits ------------------------------------------------------------------------ */

static int32_t direction_of(const struct trace *t, const struct trace_call *c)
{
	int32_t direction = c->ops ? t->op[c->first_op].direction : TRACE_NONE;

	return direction < 0 ? COPY_WITHIN : direction;
}

static bool copy_waits(const struct trace_call *c, const struct trace_op *last)
{
	return c->t1 >= last->t1 && (!c->async || last->memory == MEMORY_PAGEABLE);
}

/* lead_ns: NAN where it stood behind others, until find_leads(). */
static void find_copy(struct scan *scan, int64_t i, int64_t pending)
{
	const struct trace *t = scan->t;
	const struct trace_call *c = &t->call[i];
	const struct trace_op *first = &t->op[c->first_op];
	const struct trace_op *last = c->ops ? first + c->ops - 1 : first;
	struct step *step = &scan->s->step[i];
	int64_t lead;
	bool waits;

	if (!c->ops)
		return;
	waits = copy_waits(c, last);
	step->role = waits ? STEP_COPY_WAIT : STEP_COPY;
	step->tail_ns = waits ? (double)(c->t1 - last->t1) : 0;
	lead = later(first->t0 - c->t0, 0);
	step->lead_ns = pending ? NAN : (double)lead;
	step->beside = scan->device_end > c->t0;
	if (pending)
		scan->behind[direction_of(t, c)][waits]++;
	else
		times_add(&scan->lead[direction_of(t, c)][waits][step->beside], lead);
}

/* When what a synchronize or a query waits for had ended; negative: nothing. */
static int64_t scope_end(const struct scan *scan, const struct trace_call *c)
{
	if ((c->class == CALL_SYNC_EVENT || c->class == CALL_QUERY) && c->event >= 0)
		return scan->event_end[c->event];
	if ((c->class == CALL_SYNC_STREAM || c->class == CALL_QUERY) && c->stream >= 0)
		return scan->stream[c->stream].end;
	return scan->device_end;
}

static void find_sync(struct scan *scan, int64_t i)
{
	const struct trace_call *c = &scan->t->call[i];

	scan->s->step[i].role = STEP_SYNC;
	scan->syncs++;
	if (scope_end(scan, c) <= c->t0)
		times_add(&scan->sync, c->t1 - c->t0);
}

static void find_free(struct scan *scan, int64_t i)
{
	const struct trace_call *c = &scan->t->call[i];
	struct step *step = &scan->s->step[i];

	if (c->async || scan->device_end <= c->t0 || scan->device_end > c->t1)
		return;
	step->role = STEP_FREE_WAIT;
	step->own_ns = (double)(c->t1 - scan->device_end);
}

static bool same_poll(const struct trace_call *a, const struct trace_call *b)
{
	return a->class == CALL_QUERY && a->event == b->event && a->stream == b->stream &&
	       b->t0 - a->t1 < POLL_GAP_NS;
}

/* The queries of a thread from call `first` to call i are one wait; the loop around them too. */
static void make_wait(struct scan *scan, int64_t first, int64_t i, int64_t end)
{
	struct step *step = scan->s->step;

	for (int64_t k = first; k <= i; k++)
		if (scan->t->call[k].thread == scan->t->call[i].thread) {
			step[k].role = STEP_POLL;
			step[k].gap_ns = k == first ? step[k].gap_ns : 0;
		}
	step[i].role = STEP_POLL_WAIT;
	step[i].tail_ns = (double)(scan->t->call[i].t1 - end);
}

/* The last of a row of queries is the one that found the work ended. */
static void find_poll(struct scan *scan, int64_t i, int64_t before)
{
	const struct trace_call *c = &scan->t->call[i];
	int64_t *first = &scan->thread[c->thread].first_poll;
	int64_t end = scope_end(scan, c);

	if (before == TRACE_NONE || !same_poll(&scan->t->call[before], c))
		*first = i;
	if (*first == TRACE_NONE || end <= scan->t->call[*first].t0 || end > c->t1)
		return;
	make_wait(scan, *first, i, end);
	*first = TRACE_NONE; /* what follows finds it ended */
}

/* ---- the calls, one after the other ------------------------------------------------------- */

static int64_t stream_of(const struct trace *t, const struct trace_call *c)
{
	return c->ops ? t->op[c->first_op].stream : c->stream;
}

static void find_role(struct scan *scan, int64_t i, int64_t before)
{
	const struct trace_call *c = &scan->t->call[i];
	int64_t stream = stream_of(scan->t, c);
	int64_t pending = stream < 0 ? 0 : under_way(&scan->stream[stream], c->t0);
	struct step *step = &scan->s->step[i];

	step->role = STEP_FIXED;
	step->own_ns = 0;
	if (c->class == CALL_LAUNCH && !c->captured) {
		find_launch_call(scan, i, pending);
		return;
	}
	step->own_ns = (double)(c->t1 - c->t0);
	if (c->captured)
		return;
	if (c->class == CALL_GRAPH_LAUNCH)
		step->role = STEP_GRAPH;
	else if (c->class == CALL_COPY)
		find_copy(scan, i, pending);
	else if (call_is_sync(c->class))
		find_sync(scan, i);
	else if (c->class == CALL_FREE)
		find_free(scan, i);
	else if (c->class == CALL_QUERY)
		find_poll(scan, i, before);
	else if (c->ops)
		step->role = STEP_SUBMIT;
}

static bool is_folded(const struct trace_call *c)
{
	return c->id < 0;
}

int queue_kind(const struct trace_op *op)
{
	bool is_copy = op->kind == OP_COPY && op->direction >= 0;

	return is_copy ? OP_KINDS + op->direction : (int)op->kind;
}

/* How far behind its stream a queued operation began; TRACE_NONE: not known, or not queued. */
static int64_t recorded_gap(const struct stream_state *s, const struct trace_call *c,
			    const struct trace_op *op)
{
	if (is_folded(c))
		return op->behind_ns;
	/* where operations of folds are is made up */
	return s->is_folded || c->t1 > s->end || op->t0 < s->end ? TRACE_NONE : op->t0 - s->end;
}

/* Not where another stream is at work, or an event came between: it may have waited for that. */
static void see_queued(struct scan *scan, const struct trace_call *c, const struct trace_op *op)
{
	const struct stream_state *s = &scan->stream[op->stream];
	int64_t gap = s->kind == TRACE_NONE ? TRACE_NONE : recorded_gap(s, c, op);

	if (gap != TRACE_NONE && !s->waits && s->end == scan->device_end)
		times_add(&scan->queued[s->kind][queue_kind(op)], gap);
}

/* From the return of a kernel's first launch on; a reset takes the code away. */
static void follow_code(struct scan *scan, const struct trace_call *c)
{
	int64_t *usable = usable_from(scan, c);

	if (c->class == CALL_LAUNCH && !c->captured)
		*usable = c->t1 < *usable ? c->t1 : *usable;
	else if (c->class == CALL_OTHER && !strcmp(trace_name(scan->t, c->name), "cudaDeviceReset"))
		forget_code(scan);
}

/* What the call leaves behind: code, and on streams and events. */
static void follow(struct scan *scan, const struct trace_call *c)
{
	follow_code(scan, c);
	for (int32_t k = 0; k < c->ops; k++) {
		const struct trace_op *op = &scan->t->op[c->first_op + k];
		struct stream_state *s = &scan->stream[op->stream];

		see_queued(scan, c, op);
		s->kind = queue_kind(op);
		s->is_folded = is_folded(c);
		s->waits = false;
		s->end = op->t1 > s->end ? op->t1 : s->end;
		s->ends[s->issued++] = s->end;
		scan->device_end = op->t1 > scan->device_end ? op->t1 : scan->device_end;
	}
	if (c->class == CALL_WAIT_EVENT && c->stream >= 0 && !c->captured)
		scan->stream[c->stream].waits = true;
	if (c->class == CALL_RECORD && c->event >= 0 && !c->captured)
		scan->event_end[c->event] =
			c->stream < 0 ? scan->device_end : scan->stream[c->stream].end;
}

static void scan_calls(struct scan *scan, const struct trace_own *own)
{
	for (int64_t i = 0; i < scan->t->calls; i++) {
		const struct trace_call *c = &scan->t->call[i];
		int64_t before = scan->thread[c->thread].last;

		take_owns(scan, own, c->t0);
		find_gap(scan, i);
		find_role(scan, i, before);
		follow(scan, c);
		if (call_is_sync(c->class) &&
		    (scan->last_sync == TRACE_NONE || c->t1 > scan->t->call[scan->last_sync].t1))
			scan->last_sync = i;
	}
	take_owns(scan, own, INT64_MAX);
}

/* ---- around them -------------------------------------------------------------------------- */

static void scan_init(struct scan *scan, struct steps *s)
{
	const struct trace *t = s->trace;

	*scan = (struct scan){ .s = s, .t = t, .last_sync = TRACE_NONE, .device_end = INT64_MIN };
	scan->first = t->calls ? t->call[0].thread : 0;
	for (int64_t i = 0; i < t->calls; i++)
		scan->events =
			t->call[i].event >= scan->events ? t->call[i].event + 1 : scan->events;
	scan->stream = calloc((size_t)t->streams + 1, sizeof(*scan->stream));
	scan->thread = calloc((size_t)t->threads + 1, sizeof(*scan->thread));
	scan->event_end = calloc((size_t)scan->events + 1, sizeof(*scan->event_end));
	scan->usable = calloc((size_t)t->strings + 1, sizeof(*scan->usable));
	CHECK(scan->stream && scan->thread && scan->event_end && scan->usable,
	      "memory of a trace's streams");
	forget_code(scan);
	for (int64_t i = 0; i < t->ops; i++)
		scan->stream[t->op[i].stream].n++;
	for (int64_t i = 0; i < t->streams; i++) {
		scan->stream[i].end = INT64_MIN;
		scan->stream[i].kind = TRACE_NONE;
		scan->stream[i].ends = calloc((size_t)scan->stream[i].n + 1, sizeof(int64_t));
		CHECK(scan->stream[i].ends, "memory of a stream's operations");
	}
	for (int64_t i = 0; i < t->threads; i++)
		scan->thread[i].last = TRACE_NONE;
	for (int64_t i = 0; i < scan->events; i++)
		scan->event_end[i] = INT64_MIN;
}

static void scan_release(struct scan *scan)
{
	for (int64_t i = 0; i < scan->t->streams; i++)
		free(scan->stream[i].ends);
	free(scan->stream);
	free(scan->thread);
	free(scan->event_end);
	free(scan->usable);
}

/*
 * Their median, where there is one for every 20 copies in a queue. Fewer may be none: of thousands
 * of rows that are folded, a few times are put together as they never were.
 */
static double lead_seen(struct times *seen, int64_t behind, double without)
{
	bool enough = seen->n * 20 >= behind;
	double median = times_median(seen, without);

	return enough ? median : without;
}

/* What a copy's start takes by itself: of an idle device, where that was seen. */
static void median_leads(struct scan *scan, double lead[COPY_DIRECTIONS][2])
{
	for (int d = 0; d < COPY_DIRECTIONS; d++)
		for (int waits = 0; waits < 2; waits++) {
			struct times *of = scan->lead[d][waits];
			int64_t behind = scan->behind[d][waits];
			double beside = lead_seen(&of[true], behind, 0);

			lead[d][waits] = lead_seen(&of[false], behind, beside);
		}
}

/* Copies that stood in a queue, or may have waited for other streams: as those that did not. */
static void find_leads(struct scan *scan)
{
	const struct trace *t = scan->t;
	double lead[COPY_DIRECTIONS][2];

	median_leads(scan, lead);
	for (int64_t i = 0; i < t->calls; i++) {
		struct step *step = &scan->s->step[i];
		double usual = lead[direction_of(t, &t->call[i])][step->role == STEP_COPY_WAIT];

		if (isnan(step->lead_ns) || (step->beside && step->lead_ns > usual))
			step->lead_ns = usual;
	}
}

/* Has an engine of its own; copies within a device are kernels. */
static bool is_engines(int queue_kind)
{
	return queue_kind >= OP_KINDS && queue_kind != OP_KINDS + COPY_WITHIN;
}

/*
 * What CUPTI adds between queued operations of two kinds: pace_ns where none has an engine of its
 * own, copy_pace_ns where one has (for the smallest copies to the device, too much). Where two
 * engines wait for each other, in copies of opposite directions, it is not known: -0.4 to +4 us (an
 * H200, CUPTI 13.0.1, docs/reference/profile.md).
 */
static double added_between(const struct trace_calibration *k, int a, int b)
{
	if (!is_engines(a) && !is_engines(b))
		return k->pace_ns;
	return is_engines(a) && is_engines(b) && a != b ? 0 : k->copy_pace_ns;
}

/*
 * How far apart queued operations of two kinds are, beyond the calibration's gap, which is that of
 * kernels. For all other pairs it is what was recorded, less what the recorder adds. Copies have
 * engines of their own: a kernel behind one starts microseconds later, a copy behind a copy at
 * once.
 */
static void find_queued(struct scan *scan)
{
	const struct trace_calibration *k = &scan->t->calibration;
	double gap = scan->t->is_calibrated ? k->gap_ns[QUANTILE_P50] : 0;

	for (int a = 0; a < QUEUE_KINDS; a++)
		for (int b = 0; b < QUEUE_KINDS; b++) {
			bool known = scan->queued[a][b].n >= QUEUED_LEAST &&
				     !(a == OP_KERNEL && b == OP_KERNEL);
			double added = scan->t->is_calibrated ? added_between(k, a, b) : 0;
			double ns = times_median(&scan->queued[a][b], gap);

			scan->s->queue_ns[a][b] = known ? longest(ns - added, 0) - gap : 0;
		}
}

/* The last of all calls and operations. */
static double last_end(const struct trace *t)
{
	int64_t end = 0;

	for (int64_t i = 0; i < t->calls; i++)
		end = t->call[i].t1 > end ? t->call[i].t1 : end;
	for (int64_t i = 0; i < t->ops; i++)
		end = t->op[i].t1 > end ? t->op[i].t1 : end;
	return (double)end;
}

/*
 * The process ends where `rift profile` saw it end, else where the recording does; a part of it
 * where its last call or operation does.
 */
static double process_end(const struct trace *t)
{
	double end = (double)t->process_start_ns + (double)t->profiled_wall_ns;

	if (t->partial)
		return last_end(t);
	return longest(t->profiled_wall_ns < 0 ? 0 : end, (double)t->end_ns);
}

/* Beyond what it worked itself, by the medians of processes that do nothing. */
static double added_to_process(const struct trace *t)
{
	struct times with = { 0 }, without = { 0 };

	for (int i = 0; i < t->empties; i++)
		times_add(&with, (int64_t)(t->empty[i].wall_ns - t->empty[i].own_ns));
	for (int i = 0; i < t->plain_empties; i++)
		times_add(&without, (int64_t)t->plain_empty_ns[i]);
	return longest(times_median(&with, 0) - times_median(&without, INFINITY), 0);
}

/* What the recorder adds to a process is taken off its beginning. */
static double process_start(const struct trace *t)
{
	double start = (double)t->process_start_ns, added = added_to_process(t);

	if (t->partial && t->calls)
		return (double)t->call[0].t0;
	return start + (added < -start ? added : -start);
}

static void find_tail(struct scan *scan)
{
	struct steps *s = scan->s;
	int64_t end = INT64_MIN;

	s->main = TRACE_NONE;
	for (int32_t i = 0; i < scan->t->threads; i++)
		if (scan->thread[i].last != TRACE_NONE && scan->thread[i].end > end) {
			s->main = i;
			end = scan->thread[i].end;
		}
	if (s->main != TRACE_NONE)
		s->tail_ns = longest(
			process_end(scan->t) - (double)end - scan->thread[s->main].own_ns, 0);
	else
		s->tail_ns = process_end(scan->t) - s->start_ns;
}

enum { FEW = 10 }; /* idle synchronizes: less than one of so many */

/*
 * What a synchronize takes at least: those that had nothing to wait for say so. Few of them may be
 * the first ones of a process, which take longer than others; then it is at most the calibration's
 * wait behind a launch.
 */
static double least_sync(struct scan *scan)
{
	const struct trace_calibration *k = &scan->t->calibration;
	bool are_few = scan->sync.n * FEW < scan->syncs;
	double idle_ns = times_median(&scan->sync, 0);

	if (!are_few || !scan->t->is_calibrated)
		return idle_ns;
	return fmin(idle_ns, k->launch_and_wait_ns[QUANTILE_P50] - k->launch_call_ns[QUANTILE_P50]);
}

void steps_init(struct steps *s, const struct trace *t)
{
	struct trace_own *own = malloc(((size_t)t->owns + 1) * sizeof(*own));
	struct scan scan;

	*s = (struct steps){ .trace = t, .graph_factor = 1, .start_ns = process_start(t) };
	s->step = calloc((size_t)t->calls + 1, sizeof(*s->step));
	CHECK(own && s->step, "memory of %ld calls", (long)t->calls);
	if (t->owns)
		memcpy(own, t->own, (size_t)t->owns * sizeof(*own));
	qsort(own, (size_t)t->owns, sizeof(*own), compare_owns);
	scan_init(&scan, s);
	scan_calls(&scan, own);
	find_leads(&scan);
	find_queued(&scan);
	find_tail(&scan);
	s->full = scan.full.n;
	s->window = times_median(&scan.full, INFINITY);
	if (t->is_calibrated && !isinf(t->calibration.window))
		s->window = t->calibration.window;
	s->sync_ns = least_sync(&scan);
	s->latency_ns = times_median(&scan.latency, 0);
	scan_release(&scan);
	free(own);
}

void steps_release(struct steps *s)
{
	free(s->step);
	*s = (struct steps){ 0 };
}
