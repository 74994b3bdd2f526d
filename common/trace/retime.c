/* retime.c - the simulation: calls and operations of a trace at other prices. */
#include "common/trace/retime.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"

/* ---- prices ----------------------------------------------------------------------------- */

struct call_prices prices_of_trace(const struct trace *t, int c, int z, int g)
{
	const struct trace_calibration *k = &t->calibration;
	double launch = k->launch_call_ns[c];
	double rest = k->launch_and_wait_ns[z] - launch - k->kernel_ns;
	struct call_prices p = {
		.launch_ns = launch,
		.start_ns = rest > 0 ? rest / 2 : 0,
		.wake_ns = rest > 0 ? rest / 2 : 0,
		.gap_ns = k->gap_ns[g],
		.window = k->window,
		.graph_call_ns = { k->graph_launch_ns[0], k->graph_launch_ns[1] },
		.sync_ns = NAN,
		.host_factor = 1,
		.clock_factor = 1,
	};

	for (int d = 0; d < COPY_DIRECTIONS; d++)
		p.copy[d] = (struct copy_price){ NAN, NAN };
	return p;
}

/* ---- state -------------------------------------------------------------------------------- */

/* Ends of the last launches of a stream, as many as its queue takes. */
struct queue {
	double *end;
	int64_t n;
};

struct simulation {
	const struct steps *s;
	const struct trace *t;
	struct call_prices p;
	struct timed *out;
	double *thread, *stream, *event; /* times */
	int *kind; /* of what a stream waits for last, queue_kind(); TRACE_NONE: an event */
	struct queue *queue;
	int64_t window;			     /* 0: no limit */
	double copy_end[COPY_DIRECTIONS];    /* queues of copies */
	double submitted;		     /* end of all submissions */
	double legacy, blocking, device_end; /* ends of these streams, of all */
};

static double latest(double a, double b)
{
	return a > b ? a : b;
}

static double *times_new(int64_t n, double value)
{
	double *times = malloc(((size_t)n + 1) * sizeof(*times));

	CHECK(times, "memory of %ld times", (long)n);
	for (int64_t i = 0; i < n; i++)
		times[i] = value;
	return times;
}

static void simulation_init(struct simulation *sim, const struct steps *s,
			    const struct call_prices *p, struct timed *out)
{
	const struct trace *t = s->trace;
	double window = isinf(p->window) ? s->window : p->window;

	*sim = (struct simulation){ .s = s, .t = t, .p = *p, .out = out };
	if (isnan(p->sync_ns))
		sim->p.sync_ns = s->sync_ns;
	sim->window = window < (double)t->ops ? (int64_t)window : 0;
	sim->thread = times_new(t->threads, s->start_ns);
	sim->stream = times_new(t->streams, -INFINITY);
	sim->event = times_new(trace_events(t), -INFINITY);
	sim->queue = calloc((size_t)t->streams + 1, sizeof(*sim->queue));
	sim->kind = malloc(((size_t)t->streams + 1) * sizeof(*sim->kind));
	CHECK(sim->queue && sim->kind, "memory of %ld streams", (long)t->streams);
	for (int64_t i = 0; i < t->streams; i++)
		sim->kind[i] = TRACE_NONE;
	for (int d = 0; d < COPY_DIRECTIONS; d++)
		sim->copy_end[d] = -INFINITY;
	sim->submitted = sim->legacy = sim->blocking = sim->device_end = -INFINITY;
}

static void simulation_release(struct simulation *sim)
{
	for (int64_t i = 0; i < sim->t->streams; i++)
		free(sim->queue[i].end);
	free(sim->queue);
	free(sim->kind);
	free(sim->thread);
	free(sim->stream);
	free(sim->event);
}

/* ---- streams ------------------------------------------------------------------------------ */

/* What another stream's work makes this one wait for. */
static double other_streams(const struct simulation *sim, int32_t stream)
{
	switch (sim->t->stream[stream].kind) {
	case STREAM_LEGACY:
		return latest(sim->legacy, sim->blocking);
	case STREAM_NON_BLOCKING:
		return -INFINITY;
	default:
		return sim->legacy;
	}
}

static struct call_extra extra_of(const struct simulation *sim, int64_t call)
{
	return sim->p.extra ? sim->p.extra[call] : (struct call_extra){ 0 };
}

static void set_end(struct simulation *sim, int32_t stream, double end)
{
	enum stream_kind kind = sim->t->stream[stream].kind;

	sim->stream[stream] = latest(sim->stream[stream], end);
	sim->device_end = latest(sim->device_end, end);
	if (kind == STREAM_LEGACY)
		sim->legacy = latest(sim->legacy, end);
	else if (kind != STREAM_NON_BLOCKING)
		sim->blocking = latest(sim->blocking, end);
}

static double priced_length(const struct simulation *sim, const struct trace_op *op)
{
	double ns = (double)(op->t1 - op->t0);
	const struct copy_price *price;

	if (op->kind == OP_KERNEL)
		return ns * sim->p.clock_factor;
	if (op->kind == OP_GRAPH)
		ns *= sim->s->graph_factor;
	if (op->kind == OP_GRAPH)
		return ns * sim->p.clock_factor +
		       fmax((double)sim->t->graph[op->graph].nodes - 1, 0) * sim->p.node_gap_ns;
	if (op->kind != OP_COPY)
		return ns;
	price = &sim->p.copy[op->direction];
	return isnan(price->latency_ns) || op->bytes < 0
		       ? ns
		       : price->latency_ns + (double)op->bytes * price->ns_per_byte;
}

static double length_of(const struct simulation *sim, const struct trace_op *op)
{
	return latest(priced_length(sim, op) + extra_of(sim, op->call).length_ns, 0);
}

/* Between the stream's last operation and this one, where this one was queued. */
static double queue_gap(struct simulation *sim, const struct trace_op *op)
{
	int before = sim->kind[op->stream], kind = queue_kind(op);
	double beyond = before == TRACE_NONE ? 0 : sim->s->queue_ns[before][kind];

	sim->kind[op->stream] = kind;
	return latest(sim->p.gap_ns + beyond, 0);
}

/* One operation that could start at `ready`. */
static double run_op(struct simulation *sim, int64_t i, double ready)
{
	const struct trace_op *op = &sim->t->op[i];
	double start = latest(ready, sim->stream[op->stream] + queue_gap(sim, op));
	double end;

	start = latest(start, other_streams(sim, op->stream));
	if (op->kind == OP_COPY)
		start = latest(start, sim->copy_end[op->direction]);
	end = start + length_of(sim, op);
	if (op->kind == OP_COPY)
		sim->copy_end[op->direction] = end;
	set_end(sim, op->stream, end);
	sim->out->op[i] = (struct span){ start, end };
	return end;
}

static double run_ops(struct simulation *sim, const struct trace_call *c, double ready)
{
	double end = -INFINITY;

	for (int32_t k = 0; k < c->ops; k++)
		end = latest(end, run_op(sim, c->first_op + k, ready));
	return end;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* When there is a place in the stream's queue. */
static double place_in_queue(struct simulation *sim, int32_t stream)
{
	struct queue *q = &sim->queue[stream];

	if (!sim->window || q->n < sim->window)
		return -INFINITY;
	return q->end[q->n % sim->window] + sim->p.notice_ns;
}

static void take_place(struct simulation *sim, int32_t stream, double end)
{
	struct queue *q = &sim->queue[stream];

	if (!sim->window)
		return;
	if (!q->end)
		q->end = times_new(sim->window, 0);
	q->end[q->n++ % sim->window] = end;
}

/* A call that costs so much and puts its operations on a stream. */
static double submit(struct simulation *sim, const struct trace_call *c, double h, double price,
		     double start_ns)
{
	double end;

	if (!c->ops)
		return h + price;
	h = latest(h, place_in_queue(sim, sim->t->op[c->first_op].stream)) + price;
	/* a proxy that takes no time is no queue: threads do not wait for each other there */
	sim->submitted =
		sim->p.submission_ns > 0 ? latest(h, sim->submitted) + sim->p.submission_ns : h;
	end = run_ops(sim, c, sim->submitted + start_ns);
	take_place(sim, sim->t->op[c->first_op].stream, end);
	return h;
}

static double graph_price(const struct simulation *sim, const struct trace_call *c,
			  const struct step *step)
{
	const double *price = sim->p.graph_call_ns;
	int32_t graph = c->ops ? sim->t->op[c->first_op].graph : c->graph;

	if (isnan(price[0]) || graph < 0)
		return step->own_ns + sim->p.graph_added_ns;
	return sim->p.graph_added_ns + price[0] + price[1] * (double)sim->t->graph[graph].nodes;
}

static double copy(struct simulation *sim, const struct trace_call *c, const struct step *step,
		   const struct call_extra *extra, double h)
{
	double lead = step->lead_ns + extra->lead_ns + sim->p.copy_latency_ns;
	double end = run_ops(sim, c, h + lead);

	return step->role == STEP_COPY_WAIT ? end + step->tail_ns + extra->tail_ns
					    : h + step->own_ns + extra->call_ns;
}

static double scope_end(const struct simulation *sim, const struct trace_call *c)
{
	if ((c->class == CALL_SYNC_EVENT || c->class == CALL_QUERY) && c->event >= 0)
		return sim->event[c->event];
	if ((c->class == CALL_SYNC_STREAM || c->class == CALL_QUERY) && c->stream >= 0)
		return sim->stream[c->stream];
	return sim->device_end;
}

static void keep_event(struct simulation *sim, const struct trace_call *c)
{
	if (c->event < 0 || c->captured)
		return;
	if (c->class == CALL_RECORD)
		sim->event[c->event] = c->stream < 0 ? sim->device_end
						     : latest(sim->stream[c->stream],
							      other_streams(sim, c->stream));
	/* no operation, but its end is what later ones of the stream wait for */
	if (c->class == CALL_WAIT_EVENT && c->stream >= 0 &&
	    sim->event[c->event] > sim->stream[c->stream]) {
		sim->stream[c->stream] = sim->event[c->event];
		sim->kind[c->stream] = TRACE_NONE;
	}
}

/* The call begins at h: when it returns. */
static double call(struct simulation *sim, int64_t i, double h)
{
	const struct trace_call *c = &sim->t->call[i];
	const struct step *step = &sim->s->step[i];
	const struct call_extra extra = extra_of(sim, i);
	double own = step->own_ns + extra.call_ns, start = sim->p.start_ns;

	switch (step->role) {
	case STEP_LAUNCH:
		return submit(sim, c, h, latest(sim->p.launch_ns + own, 0), start);
	case STEP_GRAPH:
		return submit(sim, c, h, graph_price(sim, c, step) + extra.call_ns,
			      start + sim->p.graph_start_ns);
	case STEP_SUBMIT:
		return submit(sim, c, h, own, start);
	case STEP_COPY:
	case STEP_COPY_WAIT:
		return copy(sim, c, step, &extra, h);
	case STEP_SYNC:
		return latest(h + sim->p.sync_ns, scope_end(sim, c) + sim->p.wake_ns);
	case STEP_FREE_WAIT:
		return latest(h, sim->device_end) + own;
	case STEP_POLL:
		return h;
	case STEP_POLL_WAIT:
		return latest(h, scope_end(sim, c) + step->tail_ns);
	case STEP_FIXED:
		break;
	}
	keep_event(sim, c);
	return h + own;
}

/* In the order of the trace, which also says which thread's operation is first on a stream. */
static void simulate(struct simulation *sim)
{
	const struct trace *t = sim->t;

	for (int64_t i = 0; i < t->calls; i++) {
		const struct step *step = &sim->s->step[i];
		double *h = &sim->thread[t->call[i].thread];
		double t0 = *h + step->gap_ns * sim->p.host_factor;

		if (step->after != TRACE_NONE)
			t0 = latest(t0, sim->out->call[step->after].t1 + step->after_ns);
		*h = call(sim, i, t0);
		sim->out->call[i] = (struct span){ t0, *h };
	}
}

/* ---- times ------------------------------------------------------------------------------ */

static struct span *spans_new(int64_t n)
{
	struct span *spans = calloc((size_t)n + 1, sizeof(*spans));

	CHECK(spans, "memory of %ld times", (long)n);
	return spans;
}

void timed_recorded(struct timed *out, const struct steps *s)
{
	const struct trace *t = s->trace;
	double end = s->start_ns;

	*out = (struct timed){ spans_new(t->calls), spans_new(t->ops), s->start_ns, 0 };
	for (int64_t i = 0; i < t->calls; i++) {
		out->call[i] = (struct span){ (double)t->call[i].t0, (double)t->call[i].t1 };
		if (t->call[i].thread == s->main)
			end = latest(end, out->call[i].t1);
	}
	for (int64_t i = 0; i < t->ops; i++)
		out->op[i] = (struct span){ (double)t->op[i].t0, (double)t->op[i].t1 };
	out->end = end + s->tail_ns;
}

void timed_priced(struct timed *out, const struct steps *s, const struct call_prices *p)
{
	const struct trace *t = s->trace;
	struct simulation sim;

	*out = (struct timed){ spans_new(t->calls), spans_new(t->ops), s->start_ns, 0 };
	simulation_init(&sim, s, p, out);
	simulate(&sim);
	out->end = (s->main == TRACE_NONE ? s->start_ns : sim.thread[s->main]) + s->tail_ns;
	out->end = latest(out->end, sim.device_end); /* of a program that does not wait for it */
	simulation_release(&sim);
}

void timed_release(struct timed *t)
{
	free(t->call);
	free(t->op);
	*t = (struct timed){ 0 };
}

double retimed_ns(const struct steps *s, const struct call_prices *p)
{
	struct timed timed;
	double ns;

	timed_priced(&timed, s, p);
	ns = timed.end - timed.start;
	timed_release(&timed);
	return ns;
}
