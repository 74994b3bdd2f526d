/* report.c - probe=yes: what each call costs by itself, at one size. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/refusal.h"
#include "workloads/memory/measure.h"

enum { BUSY_US = 200 };

static const struct {
	enum memory_call call;
	const char *take, *give;
} pairs[] = {
	/* cudaMalloc first: what is timed first is the process's first of this size */
	{ MEMORY_MALLOC, "cudaMalloc", "cudaFree" },
	{ MEMORY_ASYNC, "cudaMallocAsync", "cudaFreeAsync" },
	{ MEMORY_MISS, "cudaMallocAsync, empty pool", NULL },
	{ MEMORY_PINNED, "cudaMallocHost", "cudaFreeHost" },
	{ MEMORY_REGISTER, "cudaHostRegister", "cudaHostUnregister" },
};

struct probe {
	struct memory_state *s;
	struct report *out;
	struct measure_plan plan;
	int64_t bytes;
};

static struct report_row *next_row(struct probe *p, const char *name, const char *what)
{
	struct report *out = p->out;
	char *text = (*p->s->names)[out->n];

	CHECK(out->n < REPORT_ROWS_MAX, "%s", name);
	snprintf(text, sizeof((*p->s->names)[0]), "%s%s", name, what);
	out->row[out->n] = (struct report_row){ .name = text, .unit = "" };
	return &out->row[out->n++];
}

static void add_row(struct probe *p, const char *name, const char *what, double us, int64_t n)
{
	struct report_row *row = next_row(p, name, what);

	row->unit = "us";
	row->value = us;
	row->n = n;
}

static void add_call(struct probe *p, const char *name, const struct measure_call *c, bool first)
{
	if (first)
		add_row(p, name, ", first", c->first, 1);
	add_row(p, name, "", c->median, c->n);
	add_row(p, name, ", p99", c->p99, c->n);
}

static bool is_refused(struct probe *p, size_t i)
{
	const char *why = memory_call_refused(pairs[i].call);
	struct report_row *row;

	if (!why)
		return false;
	row = next_row(p, pairs[i].take, "");
	snprintf(row->text, sizeof(row->text), "not applicable: %s", why);
	return true;
}

static int probe_pair(struct probe *p, size_t i)
{
	struct measure_pair m;
	int err;

	if (is_refused(p, i))
		return 0;
	err = memory_measure_pair(&p->plan, pairs[i].call, p->bytes, 0, &m);
	if (err)
		return err;
	add_call(p, pairs[i].take, &m.take, pairs[i].give != NULL);
	if (pairs[i].give)
		add_call(p, pairs[i].give, &m.give, false);
	return 0;
}

/* While a kernel runs elsewhere: a call that waits for it takes as long. */
static int probe_busy(struct probe *p, size_t i)
{
	struct measure_pair m;
	int err;

	if (memory_call_refused(pairs[i].call))
		return 0;
	err = memory_measure_pair(&p->plan, pairs[i].call, p->bytes, BUSY_US, &m);
	if (err)
		return err;
	add_row(p, pairs[i].take, ", busy", m.take.median, m.take.n);
	add_row(p, pairs[i].give, ", busy", m.give.median, m.give.n);
	return 0;
}

static int probe_touch(struct probe *p, bool on_device)
{
	const char *where = on_device ? "device memory" : "host memory";
	struct measure_pair m;
	int err = memory_measure_touch(&p->plan, on_device, p->bytes, &m);

	if (err)
		return err;
	add_row(p, where, ", first touch", m.take.median, m.take.n);
	add_row(p, where, ", next touch", m.give.median, m.give.n);
	return 0;
}

struct part {
	struct probe *p;
	const char *name; /* of the row that says so where the part is refused */
	int (*probe)(struct probe *p, size_t i);
	size_t i;
};

static int call_part(void *arg)
{
	struct part *part = arg;

	return part->probe(part->p, part->i);
}

/* What the platform does not support is a row; the others are measured. */
static int take_part(struct probe *p, const char *name, int (*fn)(struct probe *p, size_t i),
		     size_t i)
{
	struct part part = { p, name, fn, i };
	char text[REFUSAL_TEXT];
	struct refusal r;
	int err = refusal_catch(call_part, &part, &r);

	if (err != -ENOSYS)
		return err;
	CUDA(cudaDeviceSynchronize());
	refusal_text(&r, text);
	snprintf(next_row(p, name, "")->text, sizeof(p->out->row->text), "%s", text);
	return 0;
}

static int probe(const struct memory_opts *o, struct memory_state *s, struct report *out)
{
	static const char *const busy[] = { "cudaMalloc, busy", "cudaMallocAsync, busy" };
	struct probe p = { .s = s, .out = out, .bytes = o->bytes };
	int err = 0, end;

	s->names = calloc(1, sizeof(*s->names));
	CHECK(s->names, "memory of names");
	memory_measure_init(&p.plan, o->probe == MEMORY_QUICK);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs) && !err; i++)
		err = take_part(&p, pairs[i].take, probe_pair, i);
	for (size_t i = 0; i < 2 && !err; i++)
		err = take_part(&p, busy[i], probe_busy, i);
	if (!err)
		err = probe_touch(&p, true);
	if (!err)
		err = probe_touch(&p, false);
	end = memory_measure_release(&p.plan);
	return err ? err : end;
}

int memory_report(const void *opts, void *state, struct report *out)
{
	const struct memory_opts *o = opts;

	return o->probe ? probe(o, state, out) : 0;
}
