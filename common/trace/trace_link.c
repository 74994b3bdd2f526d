/* trace_link.c - the rows of a trace in order, and operations by their calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/trace/trace_impl.h"

/* ---- sorting ------------------------------------------------------------------------------ */

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static struct key *keys_new(int64_t n)
{
	struct key *keys = calloc((size_t)n + 1, sizeof(*keys));

	CHECK(keys, "memory of %ld rows", (long)n);
	return keys;
}

void trace_sort_keys(struct key *keys, int64_t n)
{
	int64_t i = 1;

	while (i < n && compare_keys(&keys[i - 1], &keys[i]) < 0)
		i++;
	if (i < n) /* it takes memory of its own, and time; most files are in order */
		qsort(keys, (size_t)n, sizeof(*keys), compare_keys);
}

/*
 * Puts rows, and the lines that they were on, into the order of sorted keys: in place, as there may
 * be millions. What belongs to place i is at keys[i].at; each cycle of such places is gone once.
 */
static void reorder(void *rows, size_t size, int64_t *lines, struct key *keys, int64_t n)
{
	char *row = rows, *held = malloc(size);

	CHECK(held, "memory of a row");
	for (int64_t first = 0; first < n; first++) {
		int64_t to = first, line = lines[first];

		if (keys[first].at == first)
			continue;
		memcpy(held, row + (size_t)first * size, size);
		for (int64_t from = keys[to].at; from != first; from = keys[to].at) {
			memcpy(row + (size_t)to * size, row + (size_t)from * size, size);
			lines[to] = lines[from];
			keys[to].at = to;
			to = from;
		}
		memcpy(row + (size_t)to * size, held, size);
		lines[to] = line;
		keys[to].at = to;
	}
	free(held);
}

/* ---- calls -------------------------------------------------------------------------------- */

static void sort_calls(struct reading *r)
{
	struct trace *t = r->t;
	struct key *keys = keys_new(t->calls);

	for (int64_t i = 0; i < t->calls; i++)
		keys[i] = (struct key){ t->call[i].t0, t->call[i].t1, i };
	trace_sort_keys(keys, t->calls);
	reorder(t->call, sizeof(*t->call), r->call_line, keys, t->calls);
	free(keys);
}

static int check_overlaps(struct reading *r)
{
	struct trace *t = r->t;
	int64_t *end = calloc((size_t)t->threads + 1, sizeof(*end));
	int err = 0;

	CHECK(end, "memory of %ld threads", (long)t->threads);
	for (int64_t i = 0; i < t->calls && !err; i++) {
		const struct trace_call *c = &t->call[i];

		r->line = r->call_line[i];
		if (c->t0 < end[c->thread])
			err = trace_damaged(r, "begins while another call of its thread lasts");
		end[c->thread] = c->t1;
	}
	free(end);
	return err;
}

/* By id; the same id twice is damage. */
static int sort_ids(struct reading *r, struct key **out)
{
	struct trace *t = r->t;
	struct key *keys = keys_new(t->calls);

	*out = keys;
	for (int64_t i = 0; i < t->calls; i++)
		keys[i] = (struct key){ t->call[i].id, 0, i };
	trace_sort_keys(keys, t->calls);
	for (int64_t i = 1; i < t->calls; i++)
		if (keys[i].first == keys[i - 1].first) {
			r->line = r->call_line[keys[i].at];
			return trace_damaged(r, "id %ld is there twice", (long)keys[i].first);
		}
	return 0;
}

/* ---- operations --------------------------------------------------------------------------- */

static int64_t find_call(const struct key *ids, int64_t n, int64_t id)
{
	int64_t low = 0, high = n;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (ids[middle].first < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && ids[low].first == id ? ids[low].at : TRACE_NONE;
}

/* Drops those whose calls are not here, which may only be where rows are missing. */
static int find_calls(struct reading *r, const struct key *ids)
{
	struct trace *t = r->t;
	int64_t kept = 0;

	for (int64_t i = 0; i < t->ops; i++) {
		int64_t call = find_call(ids, t->calls, t->op[i].call);

		r->line = r->op_line[i];
		if (call == TRACE_NONE && t->finished && !t->dropped)
			return trace_damaged(r, "no call has the id %ld", (long)t->op[i].call);
		if (call == TRACE_NONE)
			continue;
		t->op[kept] = t->op[i];
		t->op[kept].call = call;
		r->op_line[kept++] = r->op_line[i];
	}
	t->orphans = t->ops - kept;
	t->ops = kept;
	return 0;
}

static void sort_ops(struct reading *r)
{
	struct trace *t = r->t;
	struct key *keys = keys_new(t->ops);

	for (int64_t i = 0; i < t->ops; i++)
		keys[i] = (struct key){ t->op[i].call, t->op[i].t0, i };
	trace_sort_keys(keys, t->ops);
	reorder(t->op, sizeof(*t->op), r->op_line, keys, t->ops);
	free(keys);
	for (int64_t i = t->ops - 1; i >= 0; i--) {
		struct trace_call *c = &t->call[t->op[i].call];

		c->first_op = (int32_t)i;
		c->ops++;
	}
}

/* ---- streams ------------------------------------------------------------------------------ */

/*
 * When operations of a fold began is made up, and those of rows are measured. So a stream's
 * operations of folds between two rows are moved: none begins before the one ahead of it has ended,
 * nor ends after the next row's has begun. They keep how long they took, unless they took longer
 * than there is time between the rows.
 */
struct between {
	struct trace_op *op;	/* of the trace */
	const struct key *keys; /* at[n] of the operations */
	int64_t n;
	int64_t from, until; /* until: INT64_MAX where no row follows */
};

static struct trace_op *op_between(const struct between *b, int64_t i)
{
	return &b->op[b->keys[i].at];
}

static void move_op(struct trace_op *op, int64_t t0)
{
	op->t1 += t0 - op->t0;
	op->t0 = t0;
}

static int64_t move_later(const struct between *b)
{
	int64_t end = b->from;

	for (int64_t i = 0; i < b->n; i++) {
		struct trace_op *op = op_between(b, i);

		if (op->t0 < end)
			move_op(op, end);
		end = op->t1;
	}
	return end;
}

static int64_t move_earlier(const struct between *b)
{
	int64_t begin = b->until;

	for (int64_t i = b->n - 1; i >= 0; i--) {
		struct trace_op *op = op_between(b, i);

		if (op->t1 > begin)
			move_op(op, begin - (op->t1 - op->t0));
		begin = op->t0;
	}
	return begin;
}

/* One behind the other, each shorter by the same factor. */
static void squeeze(const struct between *b)
{
	double took = 0, room = (double)(b->until - b->from), sum = 0;

	for (int64_t i = 0; i < b->n; i++)
		took += (double)(op_between(b, i)->t1 - op_between(b, i)->t0);
	for (int64_t i = 0; i < b->n; i++) {
		struct trace_op *op = op_between(b, i);
		double begin = sum;

		sum += (double)(op->t1 - op->t0);
		op->t0 = b->from + (int64_t)(room * begin / took);
		op->t1 = b->from + (int64_t)(room * sum / took);
		op->busy_ns = op->busy_ns > op->t1 - op->t0 ? op->t1 - op->t0 : op->busy_ns;
	}
}

static bool is_of_fold(const struct trace *t, const struct key *key)
{
	return t->call[t->op[key->at].call].fold != TRACE_NONE;
}

/*
 * From key i of a stream on, up to the next row; returns how many that were. A row that began
 * before the one ahead of it had ended bounds nothing: two threads raced for the stream.
 */
static int64_t settle_folded(struct trace *t, const struct key *keys, int64_t i, int64_t from)
{
	struct between b = { t->op, keys + i, 0, from, INT64_MAX };
	const struct key *next = keys + i;

	while (next < keys + t->ops && next->first == keys[i].first && is_of_fold(t, next))
		next++;
	b.n = next - b.keys;
	if (next < keys + t->ops && next->first == keys[i].first && t->op[next->at].t0 >= from)
		b.until = t->op[next->at].t0;
	if (move_later(&b) > b.until && move_earlier(&b) < b.from)
		squeeze(&b);
	return b.n;
}

static void settle_streams(struct trace *t)
{
	struct key *keys = keys_new(t->ops);
	int64_t end = 0;

	for (int64_t i = 0; i < t->ops; i++)
		keys[i] = (struct key){ t->op[i].stream, i, i };
	trace_sort_keys(keys, t->ops);
	for (int64_t i = 0; i < t->ops; i++) {
		if (!i || keys[i].first != keys[i - 1].first)
			end = 0;
		if (is_of_fold(t, &keys[i]))
			i += settle_folded(t, keys, i, end) - 1;
		if (t->op[keys[i].at].t1 > end)
			end = t->op[keys[i].at].t1;
	}
	free(keys);
}

/* ---- all ---------------------------------------------------------------------------------- */

/* A killed program's trace ends with the last thing that is known. */
static void find_end(struct trace *t)
{
	for (int64_t i = 0; i < t->calls; i++)
		t->end_ns = t->call[i].t1 > t->end_ns ? t->call[i].t1 : t->end_ns;
	for (int64_t i = 0; i < t->ops; i++)
		t->end_ns = t->op[i].t1 > t->end_ns ? t->op[i].t1 : t->end_ns;
}

int trace_link(struct reading *r)
{
	struct key *ids = NULL;
	int err;

	sort_calls(r);
	err = check_overlaps(r);
	if (!err)
		err = sort_ids(r, &ids);
	if (!err)
		err = find_calls(r, ids);
	free(ids);
	if (err)
		return err;
	sort_ops(r);
	settle_streams(r->t);
	find_end(r->t);
	return 0;
}
