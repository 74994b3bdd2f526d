/* kineto_settle.c - what is known when all of PyTorch's trace events have been read: see
 * kineto_impl.h. */
#include "common/trace/kineto_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "common/check.h"

/* A call that ends so much later than the one around it, is within it: times are rounded. */
enum { ROUNDED_NS = 1000 };

/* ---- all times from the first one on -------------------------------------------------------- */

static int64_t first_time(const struct kineto *k)
{
	int64_t first = INT64_MAX;

	for (int64_t i = 0; i < k->t->calls; i++)
		first = k->t->call[i].t0 < first ? k->t->call[i].t0 : first;
	for (int64_t i = 0; i < k->t->ops; i++)
		first = k->t->op[i].t0 < first ? k->t->op[i].t0 : first;
	for (int64_t i = 0; i < k->annotations; i++)
		first = k->annotation[i].t0 < first ? k->annotation[i].t0 : first;
	return first;
}

static int move_times(struct kineto *k)
{
	int64_t first = first_time(k), last = 0;

	for (int64_t i = 0; i < k->t->calls; i++) {
		k->t->call[i].t0 -= first;
		k->t->call[i].t1 -= first;
		last = k->t->call[i].t1 > last ? k->t->call[i].t1 : last;
	}
	for (int64_t i = 0; i < k->t->ops; i++) {
		k->t->op[i].t0 -= first;
		k->t->op[i].t1 -= first;
		last = k->t->op[i].t1 > last ? k->t->op[i].t1 : last;
	}
	for (int64_t i = 0; i < k->annotations; i++) {
		k->annotation[i].t0 -= first;
		k->annotation[i].t1 -= first;
		last = k->annotation[i].t1 > last ? k->annotation[i].t1 : last;
	}
	return last <= TRACE_TIME_MAX
		       ? 0
		       : complain(EINVAL, "%s: lasts more than 104 days", k->r->path);
}

/* ---- calls within calls --------------------------------------------------------------------- */

static int compare_calls(const void *a, const void *b)
{
	const struct trace_call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	if (x->t1 != y->t1)
		return x->t1 > y->t1 ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* What the inner call gives the device is the outer one's. */
static void put_within(struct kineto *k, struct trace_call *outer, const struct trace_call *inner)
{
	k->within = trace_grow(k->within, k->withins, &k->room.withins, sizeof(*k->within));
	k->within[k->withins++] = (struct correlation){ inner->id, outer->id };
	if (outer->class == CALL_OTHER)
		outer->class = inner->class;
}

/* Calls of a thread do not overlap afterwards. */
static void settle_calls(struct kineto *k)
{
	struct trace *t = k->t;
	int64_t kept = 0;

	if (t->calls)
		qsort(t->call, (size_t)t->calls, sizeof(*t->call), compare_calls);
	for (int64_t i = 0; i < t->calls; i++) {
		struct trace_call *c = &t->call[i], *before = kept ? &t->call[kept - 1] : NULL;

		if (before && before->thread == c->thread && c->t0 < before->t1) {
			if (c->t1 <= before->t1 + ROUNDED_NS) {
				put_within(k, before, c);
				continue;
			}
			c->t0 = before->t1;
		}
		t->call[kept++] = *c;
	}
	t->calls = kept;
}

/* The same correlation twice, as of two processes: the later one has no operations. */
static void number_twins(struct kineto *k)
{
	struct trace *t = k->t;
	struct key *keys = calloc((size_t)t->calls + 1, sizeof(*keys));

	CHECK(keys, "memory of %ld calls", (long)t->calls);
	for (int64_t i = 0; i < t->calls; i++)
		keys[i] = (struct key){ t->call[i].id, 0, i };
	trace_sort_keys(keys, t->calls);
	for (int64_t i = 1; i < t->calls; i++)
		if (keys[i].first == keys[i - 1].first)
			t->call[keys[i].at].id = OWN_IDS + k->unnamed++;
	free(keys);
}

static int compare_correlations(const void *a, const void *b)
{
	const struct correlation *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static const struct correlation *find_correlation(const struct correlation *list, int64_t n,
						  int64_t id)
{
	const struct correlation key = { .id = id };

	return n ? bsearch(&key, list, (size_t)n, sizeof(*list), compare_correlations) : NULL;
}

static void follow_correlations(struct kineto *k)
{
	struct trace *t = k->t;

	if (k->withins)
		qsort(k->within, (size_t)k->withins, sizeof(*k->within), compare_correlations);
	if (k->syncs)
		qsort(k->sync, (size_t)k->syncs, sizeof(*k->sync), compare_correlations);
	for (int64_t i = 0; i < t->ops; i++) {
		const struct correlation *outer =
			find_correlation(k->within, k->withins, t->op[i].call);

		t->op[i].call = outer ? outer->call : t->op[i].call;
	}
	for (int64_t i = 0; i < t->calls; i++) {
		const struct correlation *sync = find_correlation(k->sync, k->syncs, t->call[i].id);

		if (sync && t->call[i].class == CALL_SYNC_STREAM)
			t->call[i].stream = (int32_t)sync->call;
	}
}

/* ---- graphs: one operation each ------------------------------------------------------------- */

/* n operations of a graph, in the order of their starts, become the first of them. */
static void make_graph(struct kineto *k, struct trace_op *op, int64_t n)
{
	struct trace_op *graph = op;
	int64_t busy = 0, busy_to = op->t0, kernels = 0, end = op->t1;

	for (int64_t i = 0; i < n; i++) {
		int64_t from = op[i].t0 > busy_to ? op[i].t0 : busy_to;

		end = op[i].t1 > end ? op[i].t1 : end;
		if (op[i].kind != OP_KERNEL)
			continue;
		kernels++;
		busy += op[i].t1 > from ? op[i].t1 - from : 0;
		busy_to = op[i].t1 > busy_to ? op[i].t1 : busy_to;
	}
	graph->kind = OP_GRAPH;
	graph->t1 = end;
	if (graph->graph < 0 || n > 1) {
		graph->graph = kineto_graph(k, n, kernels);
		graph->busy_ns = busy;
	}
	if (graph->busy_ns > end - graph->t0)
		graph->busy_ns = end - graph->t0;
	graph->name = graph->direction = graph->memory = TRACE_NONE;
	graph->bytes = TRACE_NONE;
}

/* Operations are in the order of their calls. */
void kineto_settle_graphs(struct kineto *k)
{
	struct trace *t = k->t;
	int64_t kept = 0;

	for (int64_t i = 0; i < t->calls; i++) {
		struct trace_call *c = &t->call[i];
		int64_t first = c->first_op, n = c->ops;

		if (c->class == CALL_GRAPH_LAUNCH && n) {
			make_graph(k, &t->op[first], n);
			c->ops = 1;
		}
		c->first_op = (int32_t)kept;
		for (int32_t o = 0; o < c->ops; o++)
			t->op[kept++] = t->op[first + o];
	}
	t->ops = kept;
}

/* ---- ranges --------------------------------------------------------------------------------- */

static int compare_annotations(const void *a, const void *b)
{
	const struct annotation *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	if (x->phase == 'X' && y->phase == 'X' && x->t1 != y->t1)
		return x->t1 > y->t1 ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void put_mark(struct kineto *k, enum mark_kind kind, int64_t time,
		     const struct annotation *a)
{
	struct trace *t = k->t;

	t->mark = trace_grow(t->mark, t->marks, &k->room.marks, sizeof(*t->mark));
	t->mark[t->marks++] = (struct trace_mark){ time, a->thread, a->name, kind };
}

/* Ends those that lie before a time, the innermost first; of n how many go on. */
static int64_t end_ranges(struct kineto *k, const struct annotation **open, int64_t n,
			  int64_t until)
{
	while (n && open[n - 1]->t1 <= until) {
		n--;
		put_mark(k, MARK_POP, open[n]->t1, open[n]);
	}
	return n;
}

/* Each thread's whole ranges, one in the other. Begins and ends that are alone stay as they are. */
static void make_marks(struct kineto *k)
{
	const struct annotation **open = calloc((size_t)k->annotations + 1, sizeof(const void *));
	int64_t n = 0;

	CHECK(open, "memory of %ld ranges", (long)k->annotations);
	if (k->annotations)
		qsort(k->annotation, (size_t)k->annotations, sizeof(*k->annotation),
		      compare_annotations);
	for (int64_t i = 0; i < k->annotations; i++) {
		const struct annotation *a = &k->annotation[i];
		bool same = i && a->thread == a[-1].thread;

		n = end_ranges(k, open, n, same ? a->t0 : INT64_MAX);
		put_mark(k, a->phase == 'E' ? MARK_POP : MARK_PUSH, a->t0, a);
		if (a->phase == 'X')
			open[n++] = a;
	}
	end_ranges(k, open, n, INT64_MAX);
	free(open);
}

/* ---- all ------------------------------------------------------------------------------------ */

int kineto_settle(struct kineto *k)
{
	int err = move_times(k);

	if (err)
		return err;
	settle_calls(k);
	number_twins(k);
	follow_correlations(k);
	make_marks(k);
	return 0;
}
