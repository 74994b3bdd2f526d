/*
 * plan.c - what a step does, of a trace: each call of the part that is a step as an act.
 *
 * A step begins with an idle device where the program has a moment of that kind: the calls of a
 * period are turned round so that they end with the synchronize that waits for all streams. The
 * harness waits at the end of a step, so this one is left to it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/timing.h"
#include "common/trace/host_gaps.h"
#include "common/trace/retime.h"
#include "common/typed.h"
#include "workloads/replay/part.h"

/* ---- calls as acts ------------------------------------------------------------------------ */

enum { GRAPH_NODES_MAX = 1 << 20 };

struct making {
	struct replay_plan *p;
	const struct replay_choice *part;
	bool makes_memory;
	double waiting_ns, slept_ns; /* of the host, for the gap of the next act */
	int *stream_at, *graph_at;   /* numbers of the plan by those of the trace; -1: none yet */
	int *event_at;
};

static int number_of(int *at, int *n)
{
	if (*at < 0)
		*at = (*n)++;
	return *at;
}

static int stream_number(struct making *m, int32_t stream)
{
	static const enum replay_stream_kind kinds[STREAM_KINDS] = {
		[STREAM_LEGACY] = STREAM_OF_LEGACY,
		[STREAM_PER_THREAD] = STREAM_OF_BLOCKING,
		[STREAM_BLOCKING] = STREAM_OF_BLOCKING,
		[STREAM_NON_BLOCKING] = STREAM_OF_OWN,
	};
	const struct trace_stream *of;
	int number;

	if (stream < 0)
		return -1;
	of = &m->part->t->stream[stream];
	number = number_of(&m->stream_at[stream], &m->p->streams);
	m->p->stream[number].kind = kinds[of->kind];
	m->p->stream[number].priority = of->priority;
	return number;
}

/* That of what the call gave the device, else the call's. */
static int stream_of(struct making *m, const struct trace_call *c)
{
	return stream_number(m, c->ops ? m->part->t->op[c->first_op].stream : c->stream);
}

static int event_of(struct making *m, const struct trace_call *c)
{
	return c->event < 0 ? -1 : number_of(&m->event_at[c->event], &m->p->events);
}

/* Its kernels last as they do in the mean of its launches in a step. */
static int graph_of(struct making *m, const struct trace_op *op, double ns)
{
	const struct trace_graph *of = &m->part->t->graph[op->graph];
	int number = number_of(&m->graph_at[op->graph], &m->p->graphs);
	struct replay_graph *g = &m->p->graph[number];

	g->nodes = of->nodes > 0 ? of->nodes : 1;
	g->kernels = of->kernels >= 0 && of->kernels < g->nodes ? of->kernels : g->nodes;
	g->ns += ns;
	g->number++;
	return number;
}

static int threads_of(const struct trace_op *op)
{
	double n = (double)op->block[0] * op->block[1] * op->block[2];

	return n < 1 ? 1 : n > 1024 ? 1024 : (int)n;
}

static int64_t blocks_of(const struct trace_op *op)
{
	double n = (double)op->grid[0] * op->grid[1] * op->grid[2];

	return n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : (int64_t)n;
}

static enum replay_memory memory_of(int32_t memory)
{
	return memory == MEMORY_PAGEABLE ? REPLAY_PAGEABLE
	       : memory == MEMORY_MAPPED ? REPLAY_MAPPED
					 : REPLAY_PINNED;
}

static void take_kernel(struct replay_act *act, const struct replay_seen *seen,
			const struct trace_op *op)
{
	act->kind = ACT_KERNEL;
	act->blocks = seen->overlaps ? (int)blocks_of(op) : 1;
	act->threads = seen->overlaps ? threads_of(op) : 1;
}

static void take_copy(struct replay_act *act, const struct trace_call *c, const struct trace_op *op)
{
	static const enum replay_direction to[COPY_DIRECTIONS] = {
		[COPY_TO_DEVICE] = REPLAY_TO_DEVICE,
		[COPY_TO_HOST] = REPLAY_TO_HOST,
		[COPY_WITHIN] = REPLAY_WITHIN,
		[COPY_PEER] = REPLAY_WITHIN,
	};

	act->kind = ACT_COPY;
	act->direction = to[op->direction];
	act->memory = act->direction == REPLAY_WITHIN ? REPLAY_PINNED : memory_of(op->memory);
	act->bytes = op->bytes > 0 ? op->bytes : 1;
	act->blocks_host = !c->async && act->direction != REPLAY_WITHIN;
}

/* What it gave the device. */
static void take_op(struct making *m, struct replay_act *act, const struct replay_seen *seen)
{
	const struct trace_call *c = &m->part->t->call[seen->call];
	const struct trace_op *op = &m->part->t->op[c->first_op];

	act->stream = stream_of(m, c);
	act->ns = seen->op_ns / (double)seen->with_op;
	switch (op->kind) {
	case OP_KERNEL:
		take_kernel(act, seen, op);
		break;
	case OP_COPY:
		take_copy(act, c, op);
		break;
	case OP_MEMSET:
		act->kind = ACT_MEMSET;
		act->bytes = op->bytes > 0 ? op->bytes : 1;
		break;
	case OP_GRAPH:
		act->kind = ACT_GRAPH;
		act->graph = graph_of(m, op, act->ns);
		break;
	default:
		act->kind = ACT_HOSTFUNC;
	}
}

static bool take_event(struct making *m, struct replay_act *act, const struct trace_call *c)
{
	act->kind = c->class == CALL_RECORD	  ? ACT_RECORD
		    : c->class == CALL_WAIT_EVENT ? ACT_WAIT_EVENT
						  : ACT_SYNC_EVENT;
	act->event = event_of(m, c);
	act->stream = c->class == CALL_SYNC_EVENT ? -1 : stream_number(m, c->stream);
	return act->event >= 0 && (c->class == CALL_SYNC_EVENT || act->stream >= 0);
}

static bool take_query(struct making *m, struct replay_act *act, const struct trace_call *c,
		       enum step_role role)
{
	act->kind = role == STEP_POLL_WAIT ? ACT_POLL : ACT_QUERY;
	act->event = event_of(m, c);
	act->stream = act->event >= 0 ? -1 : stream_number(m, c->stream);
	return role != STEP_POLL && (act->event >= 0 || act->stream >= 0);
}

static void take_memory(struct replay_act *act, const struct trace_call *c, double own_ns)
{
	act->ns = own_ns; /* should it not be played */
	act->kind = c->class == CALL_ALLOC ? ACT_ALLOC : ACT_FREE;
	act->bytes = c->bytes > 0 ? c->bytes : 1;
	act->taken = c->async			  ? TAKEN_ASYNC
		     : c->memory == MEMORY_PINNED ? TAKEN_PINNED
						  : TAKEN_DEVICE;
}

/* A call that leaves nothing on the device. */
static bool take_call(struct making *m, struct replay_act *act, const struct replay_seen *seen)
{
	const struct trace_call *c = &m->part->t->call[seen->call];

	switch (c->class) {
	case CALL_RECORD:
	case CALL_WAIT_EVENT:
	case CALL_SYNC_EVENT:
		return take_event(m, act, c);
	case CALL_SYNC_STREAM:
		act->stream = stream_number(m, c->stream);
		act->kind = act->stream < 0 ? ACT_SYNC_DEVICE : ACT_SYNC_STREAM;
		return true;
	case CALL_SYNC_DEVICE:
		act->kind = ACT_SYNC_DEVICE;
		return true;
	case CALL_QUERY:
		return take_query(m, act, c, m->part->s->step[seen->call].role);
	case CALL_ALLOC:
	case CALL_FREE:
		take_memory(act, c, seen->own_ns / (double)seen->n);
		return true;
	default:
		return false;
	}
}

/* A call that is not played takes the host's time. */
static void wait_instead(struct making *m, const struct replay_seen *seen)
{
	const struct step *step = &m->part->s->step[seen->call];

	if (step->role == STEP_FIXED || step->role == STEP_FREE_WAIT)
		m->waiting_ns += seen->own_ns / (double)seen->n;
}

static void add_act(struct making *m, struct replay_act act)
{
	act.gap_ns = m->waiting_ns;
	act.sleeps = 2 * m->slept_ns > m->waiting_ns;
	m->p->act[m->p->acts++] = act;
	m->waiting_ns = m->slept_ns = 0;
}

static void add_call(struct making *m, const struct replay_seen *seen)
{
	const struct trace_call *c = &m->part->t->call[seen->call];
	const struct replay_act none = { .stream = -1, .event = -1, .graph = -1, .place = -1 };
	struct replay_act act = none;
	bool is_memory = c->class == CALL_ALLOC || c->class == CALL_FREE;
	bool plays = !c->captured;

	if (plays && seen->with_op)
		take_op(m, &act, seen);
	else if (plays)
		plays = take_call(m, &act, seen);
	m->waiting_ns += seen->gap_ns / (double)seen->n;
	m->slept_ns += seen->slept_ns / (double)seen->n;
	if (plays && (!is_memory || m->makes_memory)) {
		add_act(m, act);
		return;
	}
	/* from memory held: as long as it took, and it waits where it waited */
	if (m->part->s->step[seen->call].role == STEP_FREE_WAIT) {
		act = none;
		act.kind = ACT_SYNC_DEVICE;
		add_act(m, act);
	}
	wait_instead(m, seen);
}

/* ---- tables ------------------------------------------------------------------------------- */

static int *numbers_new(int64_t n)
{
	int *at = malloc(((size_t)n + 1) * sizeof(*at));

	CHECK(at, "memory of %ld numbers", (long)n);
	for (int64_t i = 0; i <= n; i++)
		at[i] = -1;
	return at;
}

static void making_init(struct making *m, struct replay_plan *p, const struct replay_choice *part,
			const struct replay_opts *o)
{
	const struct trace *t = part->t;

	*m = (struct making){ .p = p, .part = part };
	m->makes_memory = o->allocations == REPLAY_MADE;
	m->stream_at = numbers_new(t->streams);
	m->graph_at = numbers_new(t->graphs);
	m->event_at = numbers_new(trace_events(t));
	p->act = calloc((size_t)part->n + 1, sizeof(*p->act));
	p->stream = calloc((size_t)t->streams + 1, sizeof(*p->stream));
	p->graph = calloc((size_t)t->graphs + 1, sizeof(*p->graph));
	CHECK(p->act && p->stream && p->graph, "memory of %ld calls", (long)part->n);
}

static void making_release(struct making *m)
{
	free(m->stream_at);
	free(m->graph_at);
	free(m->event_at);
}

static bool ends_step(const struct trace_call *c, bool copies_too)
{
	return call_is_sync(c->class) || (copies_too && c->class == CALL_COPY && !c->async);
}

/* From which call of a period on, so that a synchronize comes last, else a copy that waits. */
static int64_t turned_by(const struct replay_choice *p)
{
	for (int copies = 0; copies < 2 && p->fold; copies++)
		for (int64_t i = p->n; i > 0; i--)
			if (ends_step(&p->t->call[p->seen[i - 1].call], copies))
				return i % p->n;
	return 0;
}

/* The median of the runs without the recorder; there are some. */
static double unprofiled_ns(const struct trace *t)
{
	int64_t ns[TRACE_RUNS_MAX] = { 0 };

	for (int i = 0; i < t->unprofiled; i++)
		ns[i] = llround(t->unprofiled_wall_ns[i]);
	return timing_median(ns, t->unprofiled);
}

/* Time of the recorder itself in the part; all: in the trace. */
static double own_ns(const struct replay_choice *p, bool all)
{
	const struct trace *t = p->t;
	double ns = 0;

	for (int64_t i = 0; i < t->owns; i++)
		if (all || (!p->fold && t->own[i].t0 >= t->call[p->first].t0 &&
			    t->own[i].t1 <= t->call[p->last].t1))
			ns += (double)(t->own[i].t1 - t->own[i].t0);
	return ns;
}

/*
 * By the runs without the recorder: of what those are shorter by, a step's calls have a share.
 * Starts of processes differ by tenths of a second, which are in it, too.
 */
static double by_runs_ns(const struct replay_choice *p)
{
	const struct trace *t = p->t;
	double share = (double)(p->n * p->repeats) / (double)t->calls, less;

	if (!t->unprofiled || t->profiled_wall_ns < 0)
		return NAN;
	less = (double)t->profiled_wall_ns - unprofiled_ns(t);
	less -= own_ns(p, true);
	return p->ns - own_ns(p, false) - less * share;
}

/* From the first call of each row of steps to the return of its last one, re-timed. */
static double retimed_ns_of(const struct replay_choice *p, const struct timed *timed)
{
	const struct trace *t = p->t;
	double ns = 0;
	int64_t first = -1;

	for (int64_t i = 0; i < t->calls; i++) {
		bool ends = i + 1 == t->calls || replay_part_row(p, i + 1) != replay_part_row(p, i);

		if (replay_part_row(p, i) < 0)
			continue;
		first = first < 0 ? i : first;
		if (ends) {
			ns += timed->call[i].t1 - timed->call[first].t0;
			first = -1;
		}
	}
	return ns;
}

/* A step without the recorder: re-timed where the trace has what the recorder costs. */
static double without_recorder(const struct replay_choice *p)
{
	struct call_prices prices;
	struct timed timed;
	double ns;

	if (!p->t->is_calibrated)
		return by_runs_ns(p) / (double)p->repeats;
	prices = prices_of_trace(p->t, QUANTILE_P50, QUANTILE_P50, QUANTILE_P50);
	timed_priced(&timed, p->s, &prices);
	ns = retimed_ns_of(p, &timed);
	timed_release(&timed);
	return ns / (double)p->repeats;
}

static void take_calls(struct replay_plan *p, struct replay_choice *part,
		       const struct replay_opts *o)
{
	struct making m;
	int64_t turned;

	replay_part_see(part);
	turned = turned_by(part);
	making_init(&m, p, part, o);
	for (int64_t i = 0; i < part->n; i++)
		add_call(&m, &part->seen[(i + turned) % part->n]);
	if (m.waiting_ns > 0)
		add_act(&m, (struct replay_act){
				    .kind = ACT_HOST, .stream = -1, .event = -1, .graph = -1 });
	making_release(&m);
	p->threads = part->threads;
	p->repeats = part->repeats;
	p->whole = !part->fold;
	p->has_no_end = !part->t->finished;
	p->kernel_floor_ns = part->t->is_calibrated ? part->t->calibration.kernel_ns : 0;
	p->recorded_ns = part->ns / (double)part->repeats;
	p->program_ns = without_recorder(part);
}

/* As runs with calls alone have them, where there were such. */
static void correct_gaps(struct steps *s)
{
	struct call_prices prices;

	if (!s->trace->is_calibrated)
		return;
	prices = prices_of_trace(s->trace, QUANTILE_P50, QUANTILE_P50, QUANTILE_P50);
	host_gaps_apply(s, &prices);
}

static int take_trace(struct replay_plan *p, const struct trace *t, const struct replay_opts *o)
{
	struct replay_choice part;
	struct steps steps;
	int err;

	if (*t->failed)
		return trace_refuse_failed(text_shown(o->trace).s, t->failed);
	if (!t->device_times)
		return complain(
			EINVAL,
			"trace=%s: has no times of the device, so the length of kernels is unknown",
			text_shown(o->trace).s);
	for (int64_t i = 0; i < t->graphs; i++)
		if (t->graph[i].nodes > GRAPH_NODES_MAX)
			return complain(
				EFBIG, "trace=%s: a graph of %ld nodes; %d at most can be played",
				text_shown(o->trace).s, (long)t->graph[i].nodes, GRAPH_NODES_MAX);
	steps_init(&steps, t);
	correct_gaps(&steps);
	err = replay_part_choose(&part, t, &steps, o);
	if (!err)
		take_calls(p, &part, o);
	replay_part_release(&part);
	steps_release(&steps);
	return err;
}

int replay_plan_make(struct replay_plan *p, const struct replay_opts *o)
{
	struct trace t;
	int err;

	*p = (struct replay_plan){ .main = -1, .program_ns = NAN };
	if (!o->trace) {
		replay_plan_pattern(p);
		replay_plan_finish(p, (enum replay_waits)o->waits);
		return 0;
	}
	err = trace_read(&t, o->trace);
	if (!err)
		err = take_trace(p, &t, o);
	if (!err) {
		snprintf(p->program, sizeof(p->program), "%.120s", text_escaped(t.program).s);
		replay_plan_finish(p, (enum replay_waits)o->waits);
	}
	trace_release(&t);
	return err;
}

void replay_plan_release(struct replay_plan *p)
{
	free(p->act);
	free(p->stream);
	free(p->graph);
	free(p->area);
	free(p->kept);
	*p = (struct replay_plan){ 0 };
}
