/* calibration.c - what calls and kernels cost, from the events of a few of them. */
#include "common/recorder/calibration.h"

#include <stdlib.h>

enum { VALUES_MAX = 4096 };

struct values {
	int64_t value[VALUES_MAX];
	int n;
};

struct calibration {
	struct trace_event call, op; /* the last ones; a call's t1 0: none */
	bool is_held;		     /* the kernels are queued behind a host function */
	struct values call_ns, wait_ns, gap_ns, between_ns, kernel_ns;
};

struct calibration *calibration_new(void)
{
	return calloc(1, sizeof(struct calibration));
}

void calibration_free(struct calibration *c)
{
	free(c);
}

static void add(struct values *v, int64_t value)
{
	if (v->n < VALUES_MAX)
		v->value[v->n++] = value;
}

/* A launch is one of a row until a synchronize follows it. */
static void take_call(struct calibration *c, const struct trace_event *e)
{
	bool after_launch = c->call.t1 && c->call.kind == TRACE_CLASS_launch;

	if (after_launch && e->kind == TRACE_CLASS_launch) {
		add(&c->call_ns, c->call.t1 - c->call.t0);
		add(&c->between_ns, e->t0 - c->call.t1);
	} else if (after_launch && e->kind == TRACE_CLASS_sync_stream) {
		add(&c->wait_ns, e->t1 - c->call.t0);
	}
	c->call = *e;
}

/* Only kernels that were queued when the one before ended: every other host function holds some. */
static void take_op(struct calibration *c, const struct trace_event *e)
{
	if (e->kind == TRACE_KIND_kernel)
		add(&c->kernel_ns, e->t1 - e->t0);
	if (e->kind == TRACE_KIND_hostfunc)
		c->is_held = !c->is_held;
	else if (c->is_held && c->op.kind == TRACE_KIND_kernel)
		add(&c->gap_ns, e->t0 - c->op.t1);
	c->op = *e;
}

void calibration_take(const struct trace_event *e, void *calibration)
{
	if (e->what == TRACE_CALL)
		take_call(calibration, e);
	else if (e->what == TRACE_OP)
		take_op(calibration, e);
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct trace_spread trace_spread_of(int64_t *value, int n)
{
	if (!n)
		return (struct trace_spread){ .n = 0 };
	qsort(value, (size_t)n, sizeof(*value), compare);
	return (struct trace_spread){ value[n * 5 / 100], value[n / 2], value[n * 95 / 100], n };
}

int64_t calibration_kernel_ns(const struct calibration *c)
{
	struct values sorted = c->kernel_ns;

	return trace_spread_of(sorted.value, sorted.n).p50;
}

void calibration_result(struct calibration *c, struct trace_calibration *out)
{
	out->launch_call = trace_spread_of(c->call_ns.value, c->call_ns.n);
	out->launch_and_wait = trace_spread_of(c->wait_ns.value, c->wait_ns.n);
	out->gap = trace_spread_of(c->gap_ns.value, c->gap_ns.n);
	out->call_ns = trace_spread_of(c->between_ns.value, c->between_ns.n).p50;
}
