/* ranges.c - what a program did in the ranges that it names. */
#include "harness/profile/ranges.h"

#include <stdlib.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "common/trace/trace_impl.h"

enum { DEPTH_MAX = 64, SHOWN = 10 };

/* Ranges that a thread is in; deeper ones than these are counted and not listed. */
struct stack {
	int32_t name[DEPTH_MAX];
	int64_t t0[DEPTH_MAX];
	int depth;
};

struct naming {
	struct ranges *out;
	const struct trace *t;
	struct stack *stack; /* of each thread */
	int64_t room;
};

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
		if (!is_within_itself(s, s->depth))
			range_of(w, m->name)->times++;
	}
	s->depth++;
}

static void pop(struct naming *w, struct stack *s, int64_t t)
{
	if (!s->depth || --s->depth >= DEPTH_MAX)
		return;
	if (!is_within_itself(s, s->depth))
		range_of(w, s->name[s->depth])->ns += t - s->t0[s->depth];
}

static void take_mark(struct naming *w, const struct trace_mark *m)
{
	if (m->kind == MARK_PUSH)
		push(w, m);
	else if (m->kind == MARK_POP)
		pop(w, &w->stack[m->thread], m->t);
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
	}
	while (m < t->marks)
		take_mark(w, mark[m++]);
	free(mark);
	for (int64_t i = 0; i < t->threads; i++)
		while (w->stack[i].depth)
			pop(w, &w->stack[i], t->end_ns);
}

void ranges_make(struct ranges *out, const struct trace *t)
{
	struct naming w = { .out = out, .t = t };

	*out = (struct ranges){ 0 };
	if (!t->marks)
		return;
	w.stack = calloc((size_t)t->threads + 1, sizeof(*w.stack));
	CHECK(w.stack, "memory of %ld threads", (long)t->threads);
	sweep(&w);
	if (out->n)
		qsort(out->list, (size_t)out->n, sizeof(*out->list), compare_longest);
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
	fprintf(out, "\n%-26s %9s %11s %11s %9s\n", "ranges, as recorded", "times", "time",
		"launches", "waits");
	for (int64_t i = 0; i < r->n && i < SHOWN; i++)
		fprintf(out, "  %-24.24s %9ld %11s %11ld %9ld\n",
			text_escaped(trace_name(t, r->list[i].name)).s, (long)r->list[i].times,
			text_time((double)r->list[i].ns).s, (long)r->list[i].launches,
			(long)r->list[i].waits);
	if (r->n > SHOWN)
		fprintf(out, "  %ld more\n", (long)(r->n - SHOWN));
}

json_t *ranges_json(const struct ranges *r, const struct trace *t)
{
	json_t *list = json_array();

	for (int64_t i = 0; i < r->n; i++)
		json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:I, s:I}", "name",
						      json_text(trace_name(t, r->list[i].name)),
						      "times", (json_int_t)r->list[i].times, "ns",
						      (json_int_t)r->list[i].ns, "launches",
						      (json_int_t)r->list[i].launches, "waits",
						      (json_int_t)r->list[i].waits));
	return list;
}
