/* report.c - probe=yes: what copies cost, by direction, kind of memory and size. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/refusal.h"
#include "workloads/transfer/measure.h"

struct probe {
	struct transfer_state *s;
	struct report *out;
	struct measure_plan plan;
};

__attribute__((format(printf, 5, 6))) static void add(struct probe *p, const char *unit,
						      double value, int64_t n, const char *fmt, ...)
{
	struct report *out = p->out;
	char *name = (*p->s->names)[out->n];
	va_list args;

	CHECK(out->n < REPORT_ROWS_MAX, "%s", fmt);
	va_start(args, fmt);
	vsnprintf(name, sizeof((*p->s->names)[0]), fmt, args);
	va_end(args);
	out->row[out->n++] =
		(struct report_row){ .name = name, .unit = unit, .value = value, .n = n };
}

/* Sizes that programs copy: no line goes through all of them on every platform. */
enum { PROGRAM_SIZES = 3 };
static const struct {
	int64_t bytes;
	const char *name;
} sizes[PROGRAM_SIZES] = { { 64 << 10, "64 KiB" }, { 1 << 20, "1 MiB" }, { 16 << 20, "16 MiB" } };

static void add_sizes(struct probe *p, const struct measure_series *m)
{
	for (int k = 0; k < PROGRAM_SIZES; k++)
		for (int i = 0; i < m->sizes; i++)
			if (m->bytes[i] == (double)sizes[k].bytes)
				add(p, "us", m->us[i], m->time[i].n, "%s %s", m->kind->name,
				    sizes[k].name);
}

/* n: samples of the size that is the least certain, the largest one. */
static void add_series(struct probe *p, const struct measure_series *m)
{
	const char *name = m->kind->name;
	const struct two_lines *fit = &m->fit;
	int64_t n = m->time[m->sizes - 1].n;

	add(p, "us", m->time[0].total_us, m->time[0].n, "%s 4 B", name);
	add(p, "us", m->time[0].call_us, m->time[0].n, "%s 4 B call", name);
	add_sizes(p, m);
	add(p, "us", fit->low.fixed, n, "%s fixed", name);
	add(p, "GB/s", transfer_rate(fit->high.slope), n, "%s rate", name);
	if (!isfinite(fit->knee))
		return;
	add(p, "bytes", fit->knee, n, "%s knee", name);
	add(p, "GB/s", transfer_rate(fit->low.slope), n, "%s rate below", name);
}

/* 64 copies of 4 bytes before a synchronize, and cudaMemcpy instead. */
static int probe_small(struct probe *p, const struct measure_kind *kind, struct transfer_state *s)
{
	struct transfer_opts o = transfer_kind_opts(kind, 4);
	struct measure_time t;
	int err = 0;

	if (kind->host == TRANSFER_PINNED) {
		err = transfer_measure_steps(&o, s, MEASURE_ROW, &p->plan, &t);
		if (!err)
			add(p, "us", t.total_us, t.n, "%s 4 B in a row", kind->name);
	}
	if (err || kind->host != TRANSFER_PAGEABLE)
		return err;
	o.call = TRANSFER_SYNC;
	err = transfer_measure_steps(&o, s, 1, &p->plan, &t);
	if (!err)
		add(p, "us", t.call_us, t.n, "%s 4 B cudaMemcpy", kind->name);
	return err;
}

/* What blocks cost, as a share of one copy: every fourth power of 2. */
static int probe_blocks(struct probe *p, const struct measure_kind *kind, struct transfer_state *s)
{
	struct measure_time time[MEASURE_BLOCKS + 1];
	int64_t block[MEASURE_BLOCKS + 1];
	int n, err;

	if (kind->host != TRANSFER_PINNED || kind->dir == TRANSFER_D2D)
		return 0;
	err = transfer_measure_blocks(kind, s, &p->plan, block, time, &n);
	for (int i = 0; i + 1 < n && !err; i += 2)
		add(p, "1", time[i].total_us / time[n - 1].total_us, time[i].n,
		    "%s in blocks of %ldk", kind->name, (long)(block[i] >> 10));
	return err;
}

static int probe_kind(struct probe *p, const struct measure_kind *kind)
{
	struct transfer_opts o = transfer_kind_opts(kind, transfer_largest(&p->plan));
	struct transfer_state s = { .bytes = 0 };
	struct measure_series m;
	int err = transfer_prepare(&o, &s, true);

	if (!err)
		err = transfer_measure_kind(kind, &s, &p->plan, &m);
	if (!err) {
		add_series(p, &m);
		err = probe_small(p, kind, &s);
	}
	if (!err)
		err = probe_blocks(p, kind, &s);
	CUDA(cudaStreamSynchronize(p->plan.stream));
	transfer_teardown(&s);
	return err;
}

/* One block of the host for both directions. Such a pair takes longer than its two copies alone. */
static int measure_turns(struct probe *p, struct transfer_state *s, char *block)
{
	struct measure_turns t;
	int err = 0;

	for (int i = 0; i < PROGRAM_SIZES && !err; i++) {
		err = transfer_measure_turns(sizes[i].bytes, s, block, &p->plan, &t);
		if (err)
			break;
		add(p, "us", t.to_device_us, t.n, "h2d pageable %s in turn", sizes[i].name);
		add(p, "us", t.to_host_us, t.n, "d2h pageable %s in turn", sizes[i].name);
	}
	return err;
}

static int probe_turns(struct probe *p)
{
	int64_t most = sizes[PROGRAM_SIZES - 1].bytes;
	struct transfer_opts o = { .bytes = most, .dir = TRANSFER_D2D };
	struct transfer_state s = { .bytes = 0 };
	char *block = calloc(1, (size_t)most);
	int err = block ? transfer_prepare(&o, &s, true)
			: complain(ENOMEM, "no %ld bytes", (long)most);

	if (!err)
		err = measure_turns(p, &s, block);
	CUDA(cudaStreamSynchronize(p->plan.stream));
	transfer_teardown(&s);
	free(block);
	return err;
}

struct part {
	struct probe *p;
	const struct measure_kind *kind; /* NULL: copies in turn */
};

static int call_part(void *arg)
{
	struct part *part = arg;

	return part->kind ? probe_kind(part->p, part->kind) : probe_turns(part->p);
}

/* What the platform does not support is a row; the others are measured. */
static int take_part(struct probe *p, const struct measure_kind *kind)
{
	struct part part = { p, kind };
	char text[REFUSAL_TEXT];
	struct refusal r;
	int err = refusal_catch(call_part, &part, &r);

	if (err != -ENOSYS)
		return err;
	CUDA(cudaDeviceSynchronize());
	refusal_text(&r, text);
	if (kind)
		add(p, "", 0, 0, "%s 4 B", kind->name);
	else
		add(p, "", 0, 0, "h2d pageable 1 MiB in turn");
	snprintf(p->out->row[p->out->n - 1].text, sizeof(p->out->row->text), "%s", text);
	return 0;
}

static int probe(const struct transfer_opts *o, struct transfer_state *s, struct report *out)
{
	struct probe p = { .s = s, .out = out };
	cudaStream_t stream;
	int err = 0;

	s->names = calloc(1, sizeof(*s->names));
	CHECK(s->names, "memory of names");
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	p.plan = transfer_measure_plan(o->probe == TRANSFER_QUICK, stream);
	for (int i = 0; i < MEASURE_KINDS && !err; i++)
		err = take_part(&p, &transfer_kinds[i]);
	if (!err)
		err = take_part(&p, NULL);
	CUDA(cudaStreamDestroy(stream));
	return err;
}

int transfer_report(const void *opts, void *state, struct report *out)
{
	const struct transfer_opts *o = opts;

	return o->probe ? probe(o, state, out) : 0;
}
