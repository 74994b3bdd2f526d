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
	int depth;
};

struct naming {
	struct ranges *out;
	const struct trace *t;
	const struct timed *retimed; /* or NULL */
	struct stack *stack;	     /* of each thread */
	int64_t *last;		     /* call of each thread that the sweep has passed; TRACE_NONE */
	int64_t *first, *next;	     /* call of each thread; after each call, of its thread */
	int64_t room;
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

/* ---- ranges and the calls in them ----------------------------------------------------------- */

static struct range *range_of(struct naming *w, int32_t name)
{
	struct ranges *r = w->out;

	for (int64_t i = 0; i < r->n; i++)
		if (r->list[i].name == name)
			return &r->list[i];
	r->list = trace_grow(r->list, r->n, &w->room, sizeof(*r->list));
	r->list[r->n] = (struct range){ .name = name };
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
		if (!is_within_itself(s, s->depth))
			range_of(w, m->name)->times++;
	}
	s->depth++;
}

static void pop(struct naming *w, int32_t thread, int64_t t)
{
	struct stack *s = &w->stack[thread];
	struct range *r;

	if (!s->depth || --s->depth >= DEPTH_MAX || is_within_itself(s, s->depth))
		return;
	if (t < s->t0[s->depth]) /* a trace that ends within it, with a mark behind the last call */
		t = s->t0[s->depth];
	r = range_of(w, s->name[s->depth]);
	r->ns += t - s->t0[s->depth];
	r->retimed_ns += retimed_at(w, thread, t) - s->retimed_t0[s->depth];
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
}

void ranges_release(struct ranges *r)
{
	free(r->list);
	*r = (struct ranges){ 0 };
}

/* ---- output ---------------------------------------------------------------------------- */

void ranges_print(const struct ranges *r, const struct trace *t, FILE *out)
{
	if (!r->n)
		return;
	fprintf(out, "\n%-26s %9s %11s %11s %11s %9s\n", "ranges", "times", "recorded", "re-timed",
		"launches", "waits");
	for (int64_t i = 0; i < r->n && i < RANGES_SHOWN; i++)
		fprintf(out, "  %-24.24s %9ld %11s %11s %11ld %9ld\n",
			text_escaped(trace_name(t, r->list[i].name)).s, (long)r->list[i].times,
			text_time((double)r->list[i].ns).s,
			isnan(r->list[i].retimed_ns) ? "-" : text_time(r->list[i].retimed_ns).s,
			(long)r->list[i].launches, (long)r->list[i].waits);
	if (r->n > RANGES_SHOWN)
		fprintf(out, "  %ld more\n", (long)(r->n - RANGES_SHOWN));
}

json_t *ranges_json(const struct ranges *r, const struct trace *t)
{
	json_t *list = json_array();

	for (int64_t i = 0; i < r->n; i++) {
		const struct range *range = &r->list[i];

		json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:o, s:I, s:I}", "name",
						      json_text(trace_name(t, range->name)),
						      "times", (json_int_t)range->times, "ns",
						      (json_int_t)range->ns, "retimed_ns",
						      json_number(range->retimed_ns), "launches",
						      (json_int_t)range->launches, "waits",
						      (json_int_t)range->waits));
	}
	return list;
}
