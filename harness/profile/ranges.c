/* ranges.c - what a program did in the ranges that it names. */
#include "harness/profile/ranges.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "common/trace/trace_impl.h"

enum { DEPTH_MAX = 64 };

/* Ranges that a thread is in; deeper ones than these are counted and not listed. */
struct stack {
	int32_t name[DEPTH_MAX];
	int64_t t0[DEPTH_MAX];
	double retimed_t0[DEPTH_MAX];
	int64_t before[DEPTH_MAX]; /* the thread's last call before it; TRACE_NONE */
	int depth;
};

struct naming {
	struct ranges *out;
	const struct trace *t;
	const struct timed *retimed; /* or NULL */
	struct stack *stack;	     /* of each thread */
	int64_t *last;		     /* call of each thread that the sweep has passed; TRACE_NONE */
	int64_t *first, *next;	     /* call of each thread; after each call, of its thread */
	struct span *op;	     /* of the range at hand */
	int64_t room, span_room, op_room;
};

/* ---- when a mark is without the recorder ---------------------------------------------------- */

static int64_t *calls_new(int64_t n)
{
	int64_t *calls = malloc(((size_t)n + 1) * sizeof(*calls));

	CHECK(calls, "memory of %ld calls", (long)n);
	for (int64_t i = 0; i < n; i++)
		calls[i] = TRACE_NONE;
	return calls;
}

static void order_calls(struct naming *w)
{
	const struct trace *t = w->t;

	w->last = calls_new(t->threads);
	w->first = calls_new(t->threads);
	w->next = calls_new(t->calls);
	for (int64_t i = t->calls - 1; i >= 0; i--) {
		w->next[i] = w->first[t->call[i].thread];
		w->first[t->call[i].thread] = i;
	}
}

/* t of [t0, t1], at its place in `to`. */
static double placed(int64_t t, int64_t t0, int64_t t1, struct span to)
{
	return t1 > t0 ? to.t0 + (to.t1 - to.t0) * (double)(t - t0) / (double)(t1 - t0) : to.t1;
}

/* For a mark where the sweep is. A thread without calls has its times as recorded. */
static double retimed_at(const struct naming *w, int32_t thread, int64_t t)
{
	const struct trace_call *call = w->t->call;
	const struct span *to;
	int64_t last = w->last[thread], next = last < 0 ? w->first[thread] : w->next[last];

	if (!w->retimed)
		return NAN;
	to = w->retimed->call;
	if (last < 0)
		return next < 0 ? (double)t : to[next].t0 - (double)(call[next].t0 - t);
	if (t < call[last].t1)
		return placed(t, call[last].t0, call[last].t1, to[last]);
	if (next < 0)
		return to[last].t1 + (double)(t - call[last].t1);
	return placed(t, call[last].t1, call[next].t0, (struct span){ to[last].t1, to[next].t0 });
}

/* ---- what the device did of a range ---------------------------------------------------------- */

static struct span op_span(const struct naming *w, int64_t i)
{
	const struct trace_op *op = &w->t->op[i];

	return w->retimed ? w->retimed->op[i] : (struct span){ (double)op->t0, (double)op->t1 };
}

/* Of a graph: of its time, the gaps between its kernels. */
static double node_gaps(const struct trace_op *op, const struct span *s)
{
	bool known = op->kind == OP_GRAPH && op->busy_ns >= 0;

	return known ? fmax(s->t1 - s->t0 - (double)op->busy_ns, 0) : 0;
}

/* Operations of the thread's calls behind call `before`, into w->op; *gaps is of graphs. */
static int64_t collect_ops(struct naming *w, int32_t thread, int64_t before, double *gaps)
{
	int64_t n = 0, i = before < 0 ? w->first[thread] : w->next[before];

	*gaps = 0;
	for (; i >= 0 && i <= w->last[thread]; i = w->next[i])
		for (int32_t k = 0; k < w->t->call[i].ops; k++) {
			int64_t at = w->t->call[i].first_op + k;

			w->op = trace_grow(w->op, n, &w->op_room, sizeof(*w->op));
			w->op[n] = op_span(w, at);
			*gaps += node_gaps(&w->t->op[at], &w->op[n++]);
		}
	return n;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/* How long one of n operations or more runs; *last: the end of all. */
static double union_of(struct span *op, int64_t n, double *last)
{
	double busy = 0;

	qsort(op, (size_t)n, sizeof(*op), compare_spans);
	*last = op[0].t0;
	for (int64_t i = 0; i < n; i++) {
		busy += fmax(op[i].t1 - fmax(op[i].t0, *last), 0);
		*last = fmax(*last, op[i].t1);
	}
	return busy;
}

static void find_device(struct naming *w, struct range_span *s, int64_t before)
{
	double gaps, busy;
	int64_t n = collect_ops(w, s->thread, before, &gaps);

	s->has_device = n > 0;
	if (!n)
		return;
	busy = union_of(w->op, n, &s->device.t1);
	s->device.t0 = w->op[0].t0;
	s->busy_ns = fmax(busy - gaps, 0);
}

/* ---- ranges and the calls in them ----------------------------------------------------------- */

static struct range *range_of(struct naming *w, int32_t name)
{
	struct ranges *r = w->out;

	for (int64_t i = 0; i < r->n; i++)
		if (r->list[i].name == name)
			return &r->list[i];
	r->list = trace_grow(r->list, r->n, &w->room, sizeof(*r->list));
	r->list[r->n] = (struct range){ .name = name, .device_ns = NAN, .busy_ns = NAN };
	return &r->list[r->n++];
}

/* Is the one at that depth within another of its name? */
static bool is_within_itself(const struct stack *s, int depth)
{
	for (int d = 0; d < depth; d++)
		if (s->name[d] == s->name[depth])
			return true;
	return false;
}

static void push(struct naming *w, const struct trace_mark *m)
{
	struct stack *s = &w->stack[m->thread];

	if (s->depth < DEPTH_MAX) {
		s->name[s->depth] = m->name;
		s->t0[s->depth] = m->t;
		s->retimed_t0[s->depth] = retimed_at(w, m->thread, m->t);
		s->before[s->depth] = w->last[m->thread];
		if (!is_within_itself(s, s->depth))
			range_of(w, m->name)->times++;
	}
	s->depth++;
}

/* The range that the thread's stack has just left, whose end is t. */
static const struct range_span *add_span(struct naming *w, int32_t thread, int64_t t)
{
	const struct stack *s = &w->stack[thread];
	struct ranges *out = w->out;
	struct range_span *span;

	out->span = trace_grow(out->span, out->spans, &w->span_room, sizeof(*span));
	span = &out->span[out->spans++];
	*span = (struct range_span){ .name = s->name[s->depth],
				     .thread = thread,
				     .depth = s->depth,
				     .host = { (double)s->t0[s->depth], (double)t } };
	if (w->retimed)
		span->host = (struct span){ s->retimed_t0[s->depth], retimed_at(w, thread, t) };
	find_device(w, span, s->before[s->depth]);
	return span;
}

static double added(double sum, double ns)
{
	return isnan(sum) ? ns : sum + ns;
}

static void pop(struct naming *w, int32_t thread, int64_t t)
{
	struct stack *s = &w->stack[thread];
	const struct range_span *span;
	struct range *r;

	if (!s->depth || --s->depth >= DEPTH_MAX || is_within_itself(s, s->depth))
		return;
	if (t < s->t0[s->depth]) /* a trace that ends within it, with a mark behind the last call */
		t = s->t0[s->depth];
	r = range_of(w, s->name[s->depth]);
	r->ns += t - s->t0[s->depth];
	r->retimed_ns += retimed_at(w, thread, t) - s->retimed_t0[s->depth];
	span = add_span(w, thread, t);
	if (span->has_device) {
		r->device_ns = added(r->device_ns, span->device.t1 - span->device.t0);
		r->busy_ns = added(r->busy_ns, span->busy_ns);
	}
}

static void take_mark(struct naming *w, const struct trace_mark *m)
{
	if (m->kind == MARK_PUSH)
		push(w, m);
	else if (m->kind == MARK_POP)
		pop(w, m->thread, m->t);
}

static void take_call(struct naming *w, const struct trace_call *call)
{
	const struct stack *s = &w->stack[call->thread];
	bool launches = call->class == CALL_LAUNCH || call->class == CALL_GRAPH_LAUNCH;
	bool waits = call_is_sync(call->class) || (call->class == CALL_COPY && !call->async);

	for (int d = 0; (launches || waits) && d < s->depth && d < DEPTH_MAX; d++) {
		struct range *r = is_within_itself(s, d) ? NULL : range_of(w, s->name[d]);

		if (r) {
			r->launches += launches;
			r->waits += waits;
		}
	}
}

static int compare_longest(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

static int compare_marks(const void *a, const void *b)
{
	const struct trace_mark *const *x = a, *const *y = b;

	if ((*x)->t != (*y)->t)
		return (*x)->t < (*y)->t ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

/* In the order of time; those of one time as the file has them. */
static const struct trace_mark **sorted_marks(const struct trace *t)
{
	const struct trace_mark **list = malloc((size_t)t->marks * sizeof(const void *));

	CHECK(list, "memory of %ld marks", (long)t->marks);
	for (int64_t i = 0; i < t->marks; i++)
		list[i] = &t->mark[i];
	qsort(list, (size_t)t->marks, sizeof(const void *), compare_marks);
	return list;
}

/* A mark of the time of a call stands before it. */
static void sweep(struct naming *w)
{
	const struct trace *t = w->t;
	const struct trace_mark **mark = sorted_marks(t);
	int64_t m = 0;

	for (int64_t i = 0; i < t->calls; i++) {
		while (m < t->marks && mark[m]->t <= t->call[i].t0)
			take_mark(w, mark[m++]);
		take_call(w, &t->call[i]);
		w->last[t->call[i].thread] = i;
	}
	while (m < t->marks)
		take_mark(w, mark[m++]);
	free(mark);
	for (int32_t i = 0; i < t->threads; i++)
		while (w->stack[i].depth)
			pop(w, i, t->end_ns);
}

void ranges_make(struct ranges *out, const struct trace *t, const struct timed *retimed)
{
	struct naming w = { .out = out, .t = t, .retimed = retimed };

	*out = (struct ranges){ 0 };
	if (!t->marks)
		return;
	w.stack = calloc((size_t)t->threads + 1, sizeof(*w.stack));
	CHECK(w.stack, "memory of %ld threads", (long)t->threads);
	order_calls(&w);
	sweep(&w);
	if (out->n)
		qsort(out->list, (size_t)out->n, sizeof(*out->list), compare_longest);
	free(w.last);
	free(w.first);
	free(w.next);
	free(w.stack);
	free(w.op);
}

void ranges_release(struct ranges *r)
{
	free(r->list);
	free(r->span);
	*r = (struct ranges){ 0 };
}

/* ---- output ---------------------------------------------------------------------------- */

/* How long, and "100 %" of it busy; "-" where nothing was submitted. */
static void print_device(const struct range *r, FILE *out)
{
	if (isnan(r->device_ns))
		fprintf(out, " %10s %7s", "-", "-");
	else
		fprintf(out, " %10s %5.0f %%", text_time(r->device_ns).s,
			r->device_ns > 0 ? 100 * r->busy_ns / r->device_ns : 100);
}

void ranges_print(const struct ranges *r, const struct trace *t, FILE *out)
{
	if (!r->n)
		return;
	fprintf(out, "\n%-26s %7s %10s %10s %10s %7s %9s %7s\n", "ranges", "times", "recorded",
		"re-timed", "device", "busy", "launches", "waits");
	for (int64_t i = 0; i < r->n && i < RANGES_SHOWN; i++) {
		const struct range *range = &r->list[i];

		fprintf(out, "  %-24.24s %7ld %10s %10s",
			text_escaped(trace_name(t, range->name)).s, (long)range->times,
			text_time((double)range->ns).s,
			isnan(range->retimed_ns) ? "-" : text_time(range->retimed_ns).s);
		print_device(range, out);
		fprintf(out, " %9ld %7ld\n", (long)range->launches, (long)range->waits);
	}
	if (r->n > RANGES_SHOWN)
		fprintf(out, "  %ld more\n", (long)(r->n - RANGES_SHOWN));
}

json_t *ranges_json(const struct ranges *r, const struct trace *t)
{
	json_t *list = json_array();

	for (int64_t i = 0; i < r->n; i++) {
		const struct range *range = &r->list[i];

		json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:o, s:o, s:o, s:I, s:I}",
						      "name", json_text(trace_name(t, range->name)),
						      "times", (json_int_t)range->times, "ns",
						      (json_int_t)range->ns, "retimed_ns",
						      json_number(range->retimed_ns), "device_ns",
						      json_number(range->device_ns), "busy_ns",
						      json_number(range->busy_ns), "launches",
						      (json_int_t)range->launches, "waits",
						      (json_int_t)range->waits));
	}
	return list;
}
