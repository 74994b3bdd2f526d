/* shares.c - every ns of a program's wall time, once. */
#include "harness/profile/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/stats/stats.h"

const char *const share_names[SHARES] = {
	"kernels", "copies",	 "stream", "gaps",  "api",  "interrupted",
	"sync",	   "copy_calls", "memory", "other", "host", "outside",
};
const char *const share_texts[SHARES] = {
	"a kernel runs",
	"copies only",
	"memsets, host functions of a stream",
	"device idle between queued work, dependencies",
	"device idle in launch calls",
	"device idle, host interrupted in a launch call",
	"device idle while the host wakes and relaunches",
	"device idle in copy calls",
	"device idle in allocations, loading of code",
	"device idle in other calls of the runtime",
	"device idle, host outside any call",
	"before the first call and after the last",
};

static const char *const host_texts[SHARES] = {
	[SHARE_API] = "in launch calls",
	[SHARE_INTERRUPTED] = "interrupted in a launch call",
	[SHARE_SYNC] = "in synchronizes and queries",
	[SHARE_COPY_CALLS] = "in copy calls",
	[SHARE_MEMORY] = "in allocations, loading of code",
	[SHARE_OTHER] = "in other calls of the runtime",
	[SHARE_HOST] = "outside any call",
};

/* ---- state -------------------------------------------------------------------------------- */

/* An operation begins or ends. */
struct edge {
	double t;
	int64_t op;
	int8_t way; /* 1 begins, -1 ends */
};

/* Calls of each thread in their order: list[first[thread] ... first[thread + 1]]. */
struct threads {
	int64_t *list, *first, *at; /* at: of each call, its place in the list */
};

struct sharing {
	struct shares *out;
	const struct trace *t;
	const struct steps *s;
	const struct timed *times;
	struct threads threads;
	int64_t idle_room;
	double latency_ns;
	bool with_idle;
};

static void *zeroed(int64_t n, size_t size)
{
	void *p = calloc((size_t)n + 1, size);

	CHECK(p, "memory of %ld rows", (long)n);
	return p;
}

static void threads_init(struct threads *th, const struct trace *t)
{
	int64_t *next = zeroed(t->threads, sizeof(*next));

	*th = (struct threads){ zeroed(t->calls, sizeof(int64_t)),
				zeroed(t->threads + 1, sizeof(int64_t)),
				zeroed(t->calls, sizeof(int64_t)) };
	for (int64_t i = 0; i < t->calls; i++)
		th->first[t->call[i].thread + 1]++;
	for (int64_t i = 0; i < t->threads; i++)
		th->first[i + 1] += th->first[i];
	for (int64_t i = 0; i < t->threads; i++)
		next[i] = th->first[i];
	for (int64_t i = 0; i < t->calls; i++) {
		th->at[i] = next[t->call[i].thread]++;
		th->list[th->at[i]] = i;
	}
	free(next);
}

static void threads_release(struct threads *th)
{
	free(th->list);
	free(th->first);
	free(th->at);
}

static void add(struct sharing *sh, enum share what, double t0, double t1)
{
	struct shares *out = sh->out;

	if (!(t1 > t0))
		return;
	out->ns[what] += t1 - t0;
	if (!sh->with_idle)
		return;
	if (out->idles == sh->idle_room) {
		sh->idle_room = sh->idle_room ? 2 * sh->idle_room : 256;
		out->idle = realloc(out->idle, (size_t)sh->idle_room * sizeof(*out->idle));
		CHECK(out->idle, "memory of %ld gaps", (long)sh->idle_room);
	}
	out->idle[out->idles++] = (struct idle){ t0, t1, what };
}

/* ---- idle times --------------------------------------------------------------------------- */

enum share share_of_call(const struct steps *s, int64_t call)
{
	enum call_class class = s->trace->call[call].class;

	if (call_is_memory(class) || s->step[call].loads)
		return SHARE_MEMORY;
	if (s->step[call].is_held_up)
		return SHARE_INTERRUPTED;
	if (call_is_sync(class) || class == CALL_QUERY)
		return SHARE_SYNC;
	return class == CALL_COPY    ? SHARE_COPY_CALLS
	       : class == CALL_OTHER ? SHARE_OTHER
				     : SHARE_API;
}

static bool empties_queue(enum step_role role)
{
	return role == STEP_SYNC || role == STEP_COPY_WAIT || role == STEP_FREE_WAIT ||
	       role == STEP_POLL_WAIT;
}

static double later(double a, double b)
{
	return a > b ? a : b;
}

static double earlier(double a, double b)
{
	return a < b ? a : b;
}

/* Place in the list of the first call that ends behind t, at `from` or before it. */
static int64_t first_behind(const struct sharing *sh, int64_t from, int64_t least, double t)
{
	const int64_t *list = sh->threads.list;

	while (from > least && sh->times->call[list[from - 1]].t1 > t)
		from--;
	return from;
}

/*
 * What a thread did from t0 to t1, call by call up to place `end` of the list. What it did at a
 * time is why the device idled `shift` later. behind: the share of the time behind the last call.
 */
struct walk {
	int64_t at, end;
	double t0, t1, shift;
	enum share before; /* the time before the first of these calls */
	enum share behind;
};

static void walk(struct sharing *sh, const struct walk *w)
{
	double at = w->t0;
	bool emptied = false; /* the host had waited for the queue to become empty */
	enum share before = w->before, behind = w->behind;

	for (int64_t k = w->at; k < w->end && at < w->t1; k++) {
		int64_t call = sh->threads.list[k];
		const struct span *span = &sh->times->call[call];
		enum share what = share_of_call(sh->s, call);
		double from = earlier(later(span->t0, at), w->t1);
		double to = earlier(later(span->t1, from), w->t1);

		add(sh, before, at + w->shift, from + w->shift);
		before = SHARE_HOST;
		if (what == SHARE_API && emptied)
			what = SHARE_SYNC;
		/* whether the device idled then is not known of calls alone */
		emptied |= !sh->out->calls_alone && empties_queue(sh->s->step[call].role);
		add(sh, what, from + w->shift, to + w->shift);
		at = to;
	}
	if (behind == SHARE_API && emptied)
		behind = SHARE_SYNC;
	add(sh, behind, at + w->shift, w->t1 + w->shift);
}

/*
 * The device idles from t0 to t1, when the operation begins. What it was told by a call arrives
 * latency_ns after that call's return: until then it idles for what the host did so much earlier,
 * from then on for something else.
 */
static void idle_before(struct sharing *sh, double t0, double t1, int64_t op)
{
	int64_t call = sh->t->op[op].call;
	int64_t at = sh->threads.at[call];
	int64_t least = sh->threads.first[sh->t->call[call].thread];
	double told = sh->times->call[call].t1;
	double shift = later(earlier(t1 - told, sh->latency_ns), 0);
	double arrived = earlier(told + shift, t1);
	bool is_first = t0 <= sh->times->start;

	if (is_first) {
		shift = 0;
		arrived = t1;
	}
	arrived = later(arrived, t0);
	if (arrived > t0)
		walk(sh, &(struct walk){ first_behind(sh, at + 1, least, t0 - shift), at + 1,
					 t0 - shift, arrived - shift, shift,
					 is_first ? SHARE_OUTSIDE : SHARE_HOST,
					 share_of_call(sh->s, call) });
	add(sh, SHARE_GAPS, arrived, t1);
}

/* By the main thread: without operations, or behind the last of them. */
static void idle_to_end(struct sharing *sh, double t0)
{
	int32_t main = sh->s->main;
	int64_t least, end;

	if (main == TRACE_NONE) {
		add(sh, SHARE_OUTSIDE, t0, sh->times->end);
		return;
	}
	least = sh->threads.first[main];
	end = sh->threads.first[main + 1];
	walk(sh,
	     &(struct walk){ first_behind(sh, end, least, t0), end, t0, sh->times->end, 0,
			     t0 <= sh->times->start ? SHARE_OUTSIDE : SHARE_HOST, SHARE_OUTSIDE });
}

/* ---- the device --------------------------------------------------------------------------- */

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	if (x->way != y->way)
		return y->way - x->way; /* what begins comes first: no gap between neighbours */
	return (x->op > y->op) - (x->op < y->op);
}

/* How many of each are running. */
struct running {
	int64_t kernels, copies, others;
};

static void count(struct running *r, const struct trace_op *op, int way)
{
	if (op->kind == OP_KERNEL || op->kind == OP_GRAPH)
		r->kernels += way;
	else if (op->kind == OP_COPY)
		r->copies += way;
	else
		r->others += way;
}

static void take_interval(struct sharing *sh, const struct running *r, double t0, double t1)
{
	enum share what = r->kernels ? SHARE_KERNELS : r->copies ? SHARE_COPIES : SHARE_STREAM;

	sh->out->ns[what] += t1 - t0;
	if (r->kernels > 1)
		sh->out->overlapped_ns += t1 - t0;
}

/* Operations clamped to the process, so that no time is outside of it. */
static struct edge *edges_new(const struct sharing *sh)
{
	int64_t n = sh->t->ops;
	struct edge *edges = zeroed(2 * n, sizeof(*edges));

	for (int64_t i = 0; i < n; i++) {
		const struct span *s = &sh->times->op[i];
		double t0 = earlier(later(s->t0, sh->times->start), sh->times->end);

		edges[2 * i] = (struct edge){ t0, i, 1 };
		edges[2 * i + 1] =
			(struct edge){ later(earlier(s->t1, sh->times->end), t0), i, -1 };
	}
	qsort(edges, (size_t)(2 * n), sizeof(*edges), compare_edges);
	return edges;
}

static void sweep(struct sharing *sh)
{
	struct edge *edges = edges_new(sh);
	struct running running = { 0 };
	double at = sh->times->start;

	for (int64_t i = 0; i < 2 * sh->t->ops; i++) {
		const struct edge *e = &edges[i];

		if (running.kernels || running.copies || running.others)
			take_interval(sh, &running, at, e->t);
		else if (e->t > at)
			idle_before(sh, at, e->t, e->op);
		count(&running, &sh->t->op[e->op], e->way);
		at = e->t;
	}
	idle_to_end(sh, at);
	free(edges);
}

/* The gaps between a graph's kernels are in its span. */
static void take_out_node_gaps(struct sharing *sh)
{
	double gaps = 0;

	for (int64_t i = 0; i < sh->t->ops; i++) {
		const struct trace_op *op = &sh->t->op[i];

		if (op->kind == OP_GRAPH && op->busy_ns >= 0)
			gaps += later(
				sh->times->op[i].t1 - sh->times->op[i].t0 - (double)op->busy_ns, 0);
	}
	gaps = earlier(gaps, sh->out->ns[SHARE_KERNELS]);
	sh->out->ns[SHARE_KERNELS] -= gaps;
	sh->out->ns[SHARE_GAPS] += gaps;
}

/* ---- counts ------------------------------------------------------------------------------- */

static void count_calls(struct shares *out, const struct trace *t)
{
	for (int64_t i = 0; i < t->calls; i++) {
		enum call_class class = t->call[i].class;

		out->launches += class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH;
		out->syncs += call_is_sync(class) || (class == CALL_COPY && !t->call[i].async);
		out->allocations += class == CALL_ALLOC || class == CALL_FREE;
		out->copies += out->calls_alone && class == CALL_COPY;
	}
}

static double op_kernels(const struct trace *t, const struct trace_op *op)
{
	if (op->kind == OP_GRAPH && t->graph[op->graph].kernels > 0)
		return (double)t->graph[op->graph].kernels;
	return op->kind == OP_KERNEL;
}

static void count_ops(struct sharing *sh)
{
	struct shares *out = sh->out;
	double *ns = zeroed(sh->t->ops, sizeof(*ns));
	int64_t n = 0;

	for (int64_t i = 0; i < sh->t->ops; i++) {
		const struct trace_op *op = &sh->t->op[i];
		double took = sh->times->op[i].t1 - sh->times->op[i].t0;

		out->kernels += (int64_t)op_kernels(sh->t, op);
		if (op_kernels(sh->t, op) > 0)
			ns[n++] = took / op_kernels(sh->t, op);
		out->copies += op->kind == OP_COPY;
		out->copied_ns += op->kind == OP_COPY ? took : 0;
		if (op->kind == OP_COPY && op->memory == MEMORY_PAGEABLE)
			out->pageable_ns += took;
	}
	out->kernel_median_ns = n ? median_of(ns, (int)n) : NAN;
	out->kernels_per_sync = out->syncs ? (double)out->kernels / (double)out->syncs : INFINITY;
	free(ns);
}

static bool one_thread_calls(const struct trace *t)
{
	for (int64_t i = 1; i < t->calls; i++)
		if (t->call[i].thread != t->call[0].thread)
			return false;
	return true;
}

/* ---- all ---------------------------------------------------------------------------------- */

void shares_make(struct shares *out, const struct steps *s, const struct timed *times,
		 double latency_ns, bool with_idle)
{
	struct sharing sh = { .out = out,
			      .latency_ns = latency_ns,
			      .t = s->trace,
			      .s = s,
			      .times = times,
			      .with_idle = with_idle };

	*out = (struct shares){ .total_ns = times->end - times->start,
				.calls_alone = !sh.t->device_times,
				.one_thread = one_thread_calls(sh.t) };
	threads_init(&sh.threads, sh.t);
	sweep(&sh);
	take_out_node_gaps(&sh);
	count_calls(out, sh.t);
	count_ops(&sh);
	threads_release(&sh.threads);
}

void shares_release(struct shares *s)
{
	free(s->idle);
	*s = (struct shares){ 0 };
}

double share_of(const struct shares *s, enum share what)
{
	return s->total_ns > 0 ? s->ns[what] / s->total_ns : 0;
}

double share_inside(const struct shares *s, enum share what)
{
	double inside = s->total_ns - s->ns[SHARE_OUTSIDE];

	return inside > 0 ? s->ns[what] / inside : 0;
}

bool share_is_known(const struct shares *s, enum share what)
{
	return !s->calls_alone || what >= SHARES_OF_HOST;
}

const char *share_text(const struct shares *s, enum share what)
{
	const char *text = s->calls_alone ? host_texts[what] : NULL;

	return text ? text : share_texts[what];
}
