/* program_costs.c - see program_costs.h. */
#include "harness/profile/program_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/probe/costs.h"

/*
 * Copies of pageable memory that take so much longer in the program than in the probe, and by more
 * than this share of the time. Where both directions share a block of the host, a pair takes 1.4 to
 * 1.6 times its two copies (docs/reference/predict.md); processes differ by a tenth.
 */
static const double slow_copies_ratio = 1.3, slow_copies_share = 0.05;

/* Where copies come in turn, one direction takes at least so much of the other's time. */
static const double in_turn_share = 0.2;

/* ---- rows of both files ------------------------------------------------------------------- */

/* A row's median, or an end of its interval ("lo", "hi"), in ns or ns a byte. */
static double row_ns(const json_t *row, const char *which)
{
	double value = json_get_number(row, which);
	const char *unit = json_get_text(row, "unit");

	if (!strcmp(unit, "us"))
		return 1e3 * value;
	return !strcmp(unit, "GB/s") ? 1 / value : NAN;
}

double call_cost_ns(const json_t *costs, const char *workload, const char *name)
{
	return row_ns(costs_row(costs, workload, name), "median");
}

/* From a row's median to the end of its interval that lies towards another one's. */
static double reach(const json_t *row, bool upwards)
{
	return json_get_number(row, upwards ? "hi" : "lo") - json_get_number(row, "median");
}

/*
 * Does their difference's 95 % interval leave out 0? It reaches as far as the root of the sum of
 * squares of what the two intervals do. Rows without intervals are taken as they are.
 */
static bool is_told_apart(const json_t *a, const json_t *b)
{
	double apart = json_get_number(b, "median") - json_get_number(a, "median");

	return !(fabs(apart) <= hypot(reach(a, apart > 0), reach(b, apart < 0)));
}

/* From a median to the end of the interval where the call takes longer, or less. */
static double reach_ns(const json_t *row, bool longer)
{
	bool is_rate = !strcmp(json_get_text(row, "unit"), "GB/s");

	return row_ns(row, longer != is_rate ? "hi" : "lo") - row_ns(row, "median");
}

/* How far the difference may be longer or shorter than it is; 0: a row has no interval. */
static double reach_apart_ns(const json_t *a, const json_t *b, bool longer)
{
	double both = hypot(reach_ns(a, !longer), reach_ns(b, longer));

	return isfinite(both) ? both : 0;
}

/*
 * How much more it is on B; NAN where one of them lacks it. Processes differ by a tenth and more in
 * calls that allocate and in copies of pageable memory, and a program makes thousands of them: what
 * the two files do not tell apart is taken to be equal.
 */
static double told_beyond_ns(const struct price_sources *s, const char *workload, const char *name)
{
	const json_t *a = costs_row(s->costs_a, workload, name);
	const json_t *b = costs_row(s->costs_b, workload, name);
	double beyond = row_ns(b, "median") - row_ns(a, "median");

	if (isnan(beyond))
		return NAN;
	return (is_told_apart(a, b) ? beyond : 0) +
	       s->costs_at * reach_apart_ns(a, b, s->costs_at > 0);
}

static double or_nothing(double ns)
{
	return isfinite(ns) ? ns : 0;
}

/* 0 where one of them lacks it. */
static double beyond_ns(const struct price_sources *s, const char *workload, const char *name)
{
	return or_nothing(told_beyond_ns(s, workload, name));
}

/* On A alone; NAN: the file lacks it. */
static double on_a_ns(const struct price_sources *s, const char *workload, const char *name)
{
	return call_cost_ns(s->costs_a, workload, name);
}

const char *copy_row(enum copy_direction direction, bool pageable)
{
	static const char *const rows[COPY_DIRECTIONS][2] = {
		[COPY_TO_DEVICE] = { "h2d pinned", "h2d pageable" },
		[COPY_TO_HOST] = { "d2h pinned", "d2h pageable" },
		[COPY_WITHIN] = { "d2d", "d2d" },
		[COPY_PEER] = { "d2d", "d2d" },
	};

	return rows[direction][pageable];
}

/* A kind of copies: fixed part, host call, a byte, and all of it at three sizes. */
enum { COPY_SIZES = 3 };
static const struct {
	const char *name;
	double bytes;
} copy_size[COPY_SIZES] = { { "64 KiB", 64 << 10 }, { "1 MiB", 1 << 20 }, { "16 MiB", 16 << 20 } };

struct copy_cost {
	double fixed_ns, call_ns, byte_ns;
	double at_ns[COPY_SIZES]; /* NAN: files of before have no such rows */
};

/* By what is read of each row; NAN: it is not known. */
static struct copy_cost copy_cost(const struct price_sources *s, const char *kind,
				  double read_ns(const struct price_sources *, const char *,
						 const char *))
{
	struct copy_cost out;
	char row[64];

	snprintf(row, sizeof(row), "%s fixed", kind);
	out.fixed_ns = read_ns(s, "transfer", row);
	snprintf(row, sizeof(row), "%s 4 B call", kind);
	out.call_ns = read_ns(s, "transfer", row);
	snprintf(row, sizeof(row), "%s rate", kind);
	out.byte_ns = read_ns(s, "transfer", row);
	for (int i = 0; i < COPY_SIZES; i++) {
		snprintf(row, sizeof(row), "%s %s", kind, copy_size[i].name);
		out.at_ns[i] = read_ns(s, "transfer", row);
	}
	return out;
}

/*
 * The same of copies of pageable memory in turn, whose two directions share a block of the host.
 * Beyond the largest size a byte takes what it takes there. Files of before have no such rows.
 */
static void put_in_turn(struct copy_cost *c, const struct price_sources *s, const char *kind,
			double read_ns(const struct price_sources *, const char *, const char *))
{
	char row[64];

	for (int i = 0; i < COPY_SIZES; i++) {
		snprintf(row, sizeof(row), "%s %s in turn", kind, copy_size[i].name);
		c->at_ns[i] = read_ns(s, "transfer", row);
	}
	c->byte_ns = c->at_ns[COPY_SIZES - 1] / copy_size[COPY_SIZES - 1].bytes;
}

/* On B beyond A: what one of them lacks is nothing, but for sizes, which have another rule then. */
static struct copy_cost copy_beyond(const struct price_sources *s, const char *kind)
{
	struct copy_cost out = copy_cost(s, kind, told_beyond_ns);

	out.fixed_ns = or_nothing(out.fixed_ns);
	out.call_ns = or_nothing(out.call_ns);
	out.byte_ns = or_nothing(out.byte_ns);
	return out;
}

/* What so many bytes take beyond the fixed part: between the sizes on straight lines. */
static double length_ns(const struct copy_cost *c, double bytes)
{
	double from = 0, from_ns = c->fixed_ns;

	for (int i = 0; i < COPY_SIZES; i++) {
		if (isnan(c->at_ns[i]))
			return bytes * c->byte_ns;
		if (bytes <= copy_size[i].bytes)
			return from_ns - c->fixed_ns +
			       (c->at_ns[i] - from_ns) * (bytes - from) /
				       (copy_size[i].bytes - from);
		from = copy_size[i].bytes;
		from_ns = c->at_ns[i];
	}
	return from_ns - c->fixed_ns + (bytes - from) * c->byte_ns;
}

/* ---- copies that are not what the probe times ---------------------------------------------- */

/* Is it a copy of pageable memory that is waited for, and is not mostly the call's fixed part? */
static bool is_large_pageable(const struct program_price *p, int64_t i)
{
	const struct trace *t = &p->profile->trace;
	const struct trace_call *c = &t->call[i];
	const struct trace_op *op = c->ops ? &t->op[c->first_op] : NULL;

	return op && p->profile->steps.step[i].role == STEP_COPY_WAIT &&
	       op->memory == MEMORY_PAGEABLE && (double)op->bytes >= copy_size[0].bytes &&
	       (op->direction == COPY_TO_DEVICE || op->direction == COPY_TO_HOST);
}

bool copy_is_in_turn(const struct program_price *p, int64_t call)
{
	return p->copies_in_turn && is_large_pageable(p, call);
}

double in_turn_byte_ns(const json_t *costs, enum copy_direction direction, double bytes)
{
	int i = COPY_SIZES - 1;
	char row[64];

	while (i && copy_size[i].bytes > bytes)
		i--;
	snprintf(row, sizeof(row), "%s %s in turn", copy_row(direction, true), copy_size[i].name);
	return call_cost_ns(costs, "transfer", row) / copy_size[i].bytes;
}

/* As recorded, without what it waited for. */
static double recorded_copy_ns(const struct program_price *p, int64_t i)
{
	const struct trace *t = &p->profile->trace;
	const struct trace_call *c = &t->call[i];
	const struct trace_op *first = &t->op[c->first_op], *last = first + c->ops - 1;
	const struct step *step = &p->profile->steps.step[i];

	return step->lead_ns + (double)(last->t1 - first->t0) + step->tail_ns;
}

/* What the probe has for it. */
static double probed_copy_ns(const struct copy_cost *c, const struct trace_op *op)
{
	return c->fixed_ns + length_ns(c, (double)op->bytes);
}

/* All such copies: as recorded, and as the probe on A has them. */
struct pageable_copies {
	double direction_ns[COPY_DIRECTIONS]; /* recorded */
	double recorded_ns, alone_ns;
	double in_turn_ns; /* NAN: a file of costs has no copies in turn */
};

static struct pageable_copies sum_pageable(const struct program_price *p)
{
	const struct trace *t = &p->profile->trace;
	struct copy_cost alone[COPY_DIRECTIONS], in_turn[COPY_DIRECTIONS];
	struct pageable_copies out = { .recorded_ns = 0 };

	for (int d = 0; d < COPY_DIRECTIONS; d++) {
		const char *row = copy_row((enum copy_direction)d, true);

		alone[d] = in_turn[d] = copy_cost(p->sources, row, on_a_ns);
		put_in_turn(&in_turn[d], p->sources, row, on_a_ns);
	}
	for (int64_t i = 0; i < t->calls; i++) {
		const struct trace_op *op;
		double recorded_ns;

		if (!is_large_pageable(p, i))
			continue;
		op = &t->op[t->call[i].first_op];
		recorded_ns = recorded_copy_ns(p, i);
		out.direction_ns[op->direction] += recorded_ns;
		out.recorded_ns += recorded_ns;
		out.alone_ns += probed_copy_ns(&alone[op->direction], op);
		out.in_turn_ns += probed_copy_ns(&in_turn[op->direction], op);
	}
	return out;
}

/* Do both files of costs have copies in turn, of both directions? */
static bool has_turns(const struct price_sources *s)
{
	static const enum copy_direction both[] = { COPY_TO_DEVICE, COPY_TO_HOST };
	struct copy_cost c = { 0 };
	double sum = 0;

	for (int k = 0; k < 2 && s->costs_b; k++) {
		put_in_turn(&c, s, copy_row(both[k], true), told_beyond_ns);
		for (int i = 0; i < COPY_SIZES; i++)
			sum += c.at_ns[i];
	}
	return s->costs_b && isfinite(sum);
}

/*
 * A trace does not say which memory copies share. They are taken to share a block of the host where
 * both directions take a part of the time, and where their time on A is nearer, as a ratio, to the
 * probe's copies in turn than to those alone.
 */
static bool are_in_turn(const struct program_price *p, const struct pageable_copies *sum)
{
	double there = sum->direction_ns[COPY_TO_DEVICE], back = sum->direction_ns[COPY_TO_HOST];

	return has_turns(p->sources) && fmin(there, back) >= in_turn_share * fmax(there, back) &&
	       sum->recorded_ns * sum->recorded_ns > sum->alone_ns * sum->in_turn_ns;
}

static bool is_slow(const struct program_price *p, double recorded_ns, double probed_ns)
{
	return recorded_ns > slow_copies_ratio * probed_ns &&
	       recorded_ns - probed_ns > slow_copies_share * p->simulated_a_ns;
}

static void find_slow_copies(struct program_price *p)
{
	struct pageable_copies sum;

	p->copies_ratio = NAN;
	if (!p->sources->costs_a)
		return;
	sum = sum_pageable(p);
	if (!(sum.alone_ns > 0))
		return;
	p->copies_ratio = sum.recorded_ns / sum.alone_ns;
	p->slow_copies = is_slow(p, sum.recorded_ns, sum.alone_ns);
	p->copies_in_turn = p->slow_copies && are_in_turn(p, &sum);
	if (!p->copies_in_turn)
		return;
	p->copies_ratio = sum.recorded_ns / sum.in_turn_ns;
	p->slow_copies = is_slow(p, sum.recorded_ns, sum.in_turn_ns) ||
			 is_slow(p, sum.in_turn_ns, sum.recorded_ns);
}

/* ---- what calls take more on B --------------------------------------------------------------- */

struct beyond {
	struct copy_cost copy[COPY_DIRECTIONS][2];
	struct copy_cost in_turn[COPY_DIRECTIONS]; /* of pageable memory */
	double record_ns, wake_ns;
};

/*
 * A call that copies pageable memory and waits stages it on the host: before the device's part, or
 * behind it where the copy comes back. CUPTI has 22 us for the device's part of 1 MiB on an H100,
 * of calls of 139 and 205 us (2026-11-28). So what its bytes take more is there. What they take
 * less is there, too, as far as that part is long, and then the device's.
 */
static void add_staging(struct call_extra *out, const struct step *step, bool behind, double ns)
{
	double *part = behind ? &out->tail_ns : &out->lead_ns;
	double least = -(behind ? step->tail_ns : step->lead_ns + out->lead_ns);

	*part += fmax(ns, least);
	out->length_ns = fmin(ns - least, 0);
}

static struct call_extra copy_extra(const struct program_price *p, const struct beyond *b,
				    int64_t i)
{
	const struct trace *t = &p->profile->trace;
	const struct trace_op *op = &t->op[t->call[i].first_op];
	const struct step *step = &p->profile->steps.step[i];
	bool pageable = op->memory == MEMORY_PAGEABLE;
	const struct copy_cost *c = copy_is_in_turn(p, i) ? &b->in_turn[op->direction]
							  : &b->copy[op->direction][pageable];
	struct call_extra out = { .length_ns = length_ns(c, fmax((double)op->bytes, 0)) };

	if (step->role == STEP_COPY_WAIT) {
		out.lead_ns = c->fixed_ns;
		if (pageable)
			add_staging(&out, step, op->direction == COPY_TO_HOST, out.length_ns);
		return out;
	}
	out.call_ns = c->call_ns;
	out.lead_ns = c->call_ns + fmax(c->fixed_ns - c->call_ns - b->wake_ns, 0);
	return out;
}

/* The probe times event records; others that put something on a stream are taken to cost as much.
 */
static bool is_stream_call(enum call_class c)
{
	return c == CALL_RECORD || c == CALL_WAIT_EVENT || c == CALL_MEMSET || c == CALL_HOSTFUNC;
}

static struct call_extra extra_of(const struct program_price *p, const struct beyond *b, int64_t i)
{
	const struct trace *t = &p->profile->trace;
	const struct trace_call *c = &t->call[i];
	enum step_role role = p->profile->steps.step[i].role;

	if ((role == STEP_COPY || role == STEP_COPY_WAIT) && c->ops)
		return copy_extra(p, b, i);
	if (is_stream_call(c->class))
		return (struct call_extra){ .call_ns = b->record_ns };
	if (call_is_memory(c->class))
		return (struct call_extra){ .call_ns = beyond_ns(p->sources, "memory",
								 trace_name(t, c->name)) };
	return (struct call_extra){ 0 };
}

/* No start is in the time of a part. */
static void find_start(struct program_price *p)
{
	bool whole = p->sources->costs_b && !p->profile->trace.partial;

	p->start_ns = whole ? beyond_ns(p->sources, "process", "start and end") : 0;
}

/* Half of what a synchronize and a start take more is the wake. */
static void find_extra(struct program_price *p)
{
	int64_t calls = p->profile->trace.calls;
	struct beyond b = { .wake_ns = 0 };

	p->extra = calloc((size_t)calls + 1, sizeof(*p->extra));
	CHECK(p->extra, "memory of %ld calls", (long)calls);
	if (!p->sources->costs_b)
		return;
	b.record_ns = beyond_ns(p->sources, "launch", "event record");
	b.wake_ns = p->on_b.wake_ns - p->on_a.wake_ns;
	for (int d = 0; d < COPY_DIRECTIONS; d++) {
		for (int pageable = 0; pageable < 2; pageable++)
			b.copy[d][pageable] =
				copy_beyond(p->sources, copy_row((enum copy_direction)d, pageable));
		b.in_turn[d] = b.copy[d][true];
		put_in_turn(&b.in_turn[d], p->sources, copy_row((enum copy_direction)d, true),
			    told_beyond_ns);
	}
	for (int64_t i = 0; i < calls; i++)
		p->extra[i] = extra_of(p, &b, i);
}

void program_costs_find(struct program_price *p)
{
	find_slow_copies(p);
	find_start(p);
	find_extra(p);
}
