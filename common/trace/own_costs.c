/* own_costs.c - what calls cost, by the trace that they are of. */
#include "common/trace/own_costs.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"

enum { COSTS_LEAST = 5 };

struct sample {
	double *ns;
	int64_t n;
};

struct costs {
	const struct trace *t;
	struct sample launch, start, wake, gap;
	int64_t *stream_end;
	bool *was_kernel; /* what the stream had last */
	int64_t device_end;
};

static void sample_init(struct sample *s, int64_t room)
{
	s->ns = calloc((size_t)room + 1, sizeof(*s->ns));
	CHECK(s->ns, "memory of %ld times", (long)room);
}

static void sample_add(struct sample *s, int64_t ns)
{
	s->ns[s->n++] = (double)(ns > 0 ? ns : 0);
}

static bool is_enough(const struct sample *s)
{
	return s->n >= COSTS_LEAST;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* 5th, 50th and 95th percentile; 0 where there are none. */
static void quantiles(struct sample *s, double out[QUANTILES])
{
	static const double at[QUANTILES] = { 0.05, 0.5, 0.95 };

	qsort(s->ns, (size_t)s->n, sizeof(*s->ns), compare);
	for (int q = 0; q < QUANTILES; q++)
		out[q] = s->n ? s->ns[(int64_t)(at[q] * (double)(s->n - 1) + 0.5)] : 0;
}

static void take_launch(struct costs *c, const struct trace_call *call)
{
	const struct trace_op *op = &c->t->op[call->first_op];
	int64_t end = c->stream_end[op->stream];

	sample_add(&c->launch, call->t1 - call->t0);
	if (c->device_end <= call->t0)
		sample_add(&c->start, op->t0 - call->t1);
	if (c->was_kernel[op->stream] && call->t1 <= end && op->t0 >= end)
		sample_add(&c->gap, op->t0 - end);
}

static void take_call(struct costs *c, const struct trace_call *call)
{
	if (call->class == CALL_LAUNCH && call->ops)
		take_launch(c, call);
	if (call_is_sync(call->class) && c->device_end > call->t0 && c->device_end <= call->t1)
		sample_add(&c->wake, call->t1 - c->device_end);
	for (int32_t k = 0; k < call->ops; k++) {
		const struct trace_op *op = &c->t->op[call->first_op + k];
		int64_t *end = &c->stream_end[op->stream];

		*end = op->t1 > *end ? op->t1 : *end;
		c->was_kernel[op->stream] = op->kind == OP_KERNEL;
		c->device_end = op->t1 > c->device_end ? op->t1 : c->device_end;
	}
}

static void set_costs(struct trace *t, struct costs *c)
{
	struct trace_calibration *out = &t->calibration;
	double start[QUANTILES], wake[QUANTILES];

	*out = (struct trace_calibration){ .n = (double)c->launch.n,
					   .window = INFINITY,
					   .graph_launch_ns = { NAN, NAN } };
	quantiles(&c->launch, out->launch_call_ns);
	quantiles(&c->gap, out->gap_ns);
	quantiles(is_enough(&c->start) ? &c->start : &c->wake, start);
	quantiles(is_enough(&c->wake) ? &c->wake : &c->start, wake);
	for (int q = 0; q < QUANTILES; q++)
		out->launch_and_wait_ns[q] = out->launch_call_ns[QUANTILE_P50] + start[q] + wake[q];
	t->is_calibrated = t->is_estimated = true;
}

void own_costs_find(struct trace *t)
{
	struct costs c = { .t = t, .device_end = INT64_MIN };

	sample_init(&c.launch, t->calls);
	sample_init(&c.start, t->calls);
	sample_init(&c.wake, t->calls);
	sample_init(&c.gap, t->calls);
	c.stream_end = calloc((size_t)t->streams + 1, sizeof(*c.stream_end));
	c.was_kernel = calloc((size_t)t->streams + 1, sizeof(*c.was_kernel));
	CHECK(c.stream_end && c.was_kernel, "memory of %ld streams", (long)t->streams);
	for (int64_t i = 0; i < t->calls; i++)
		take_call(&c, &t->call[i]);
	if (is_enough(&c.launch) && (is_enough(&c.start) || is_enough(&c.wake)))
		set_costs(t, &c);
	free(c.launch.ns);
	free(c.start.ns);
	free(c.wake.ns);
	free(c.gap.ns);
	free(c.stream_end);
	free(c.was_kernel);
}
