/* trace_link.c - the rows of a trace in order, and operations by their calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/trace/trace_impl.h"

/* ---- sorting ------------------------------------------------------------------------------ */

/* What is sorted: a row's key, and where it was. */
struct key {
	int64_t first, second;
	int64_t at;
};

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

/* Puts rows, and the lines that they were on, into the order of sorted keys. */
static void *reorder(void *rows, size_t size, int64_t *lines, const struct key *keys, int64_t n)
{
	char *sorted = malloc((size_t)(n + 1) * size);
	int64_t *sorted_lines = malloc((size_t)(n + 1) * sizeof(*lines));

	CHECK(sorted && sorted_lines, "memory of %ld rows", (long)n);
	for (int64_t i = 0; i < n; i++) {
		memcpy(sorted + (size_t)i * size, (char *)rows + (size_t)keys[i].at * size, size);
		sorted_lines[i] = lines[keys[i].at];
	}
	if (n)
		memcpy(lines, sorted_lines, (size_t)n * sizeof(*lines));
	free(sorted_lines);
	free(rows);
	return sorted;
}

/* ---- calls -------------------------------------------------------------------------------- */

static void sort_calls(struct reading *r)
{
	struct trace *t = r->t;
	struct key *keys = keys_new(t->calls);

	for (int64_t i = 0; i < t->calls; i++)
		keys[i] = (struct key){ t->call[i].t0, t->call[i].t1, i };
	qsort(keys, (size_t)t->calls, sizeof(*keys), compare_keys);
	t->call = reorder(t->call, sizeof(*t->call), r->call_line, keys, t->calls);
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
	qsort(keys, (size_t)t->calls, sizeof(*keys), compare_keys);
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
	qsort(keys, (size_t)t->ops, sizeof(*keys), compare_keys);
	t->op = reorder(t->op, sizeof(*t->op), r->op_line, keys, t->ops);
	free(keys);
	for (int64_t i = t->ops - 1; i >= 0; i--) {
		struct trace_call *c = &t->call[t->op[i].call];

		c->first_op = (int32_t)i;
		c->ops++;
	}
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
	find_end(r->t);
	return 0;
}
