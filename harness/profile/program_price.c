/* program_price.c - a traced program at the prices of another platform. */
#include "harness/profile/program_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/fit/copies.h"
#include "harness/probe/costs.h"
#include "harness/stats/stats.h"

const char *const remedy_names[] = { "graphs", "batch", "pinned", "pool", "sync", NULL };

/* Resamples of the runs without the recorder are those of `rift profile`. */
enum { SEED = 1, GROUP_RUNS = 2 };

/* Kernels that overlap for more than this share of the time. */
static const double reordered_share = 0.05;

/*
 * Copies of pageable memory that take so much longer in the program than in the probe, and by more
 * than this share of the time. Where both directions share a block of the host, a pair takes 1.4 to
 * 1.6 times its two copies (docs/guide/predict.md); processes differ by a tenth.
 */
static const double slow_copies_ratio = 1.3, slow_copies_share = 0.05;

/* ---- prices of launches ------------------------------------------------------------------- */

/*
 * What a launch passes, ns: the stations of harness/model/model.h, but for has_stage(). There L may
 * be less than nothing, here it is how long a wait takes.
 */
struct stations {
	double call, behind, ends; /* c, d, L + wake */
	double gap;
};

/*
 * Does a stage behind the call set the pace? The fit as a whole says it: where p is c within their
 * intervals, draws in which it happens to be longer would make a stage of the call's own time. And
 * Z holds the call and the stage, or there is no room for one.
 */
static bool has_stage(const struct fit *f)
{
	const struct interval *c = &f->param[MODEL_C].interval, *p = &f->param[MODEL_P].interval;
	const double *v = f->model.v;
	bool apart = c->known && p->known ? p->lo > c->hi : v[MODEL_P] > v[MODEL_C];

	return apart && v[MODEL_C] + v[MODEL_P] <= v[MODEL_Z];
}

/* Without a stage behind it the call is the pace. */
static struct stations stations_of(const struct fit *f, const struct model *m)
{
	bool staged = has_stage(f);
	double d = staged ? m->v[MODEL_P] : 0;
	double c = staged ? fmin(m->v[MODEL_C], m->v[MODEL_P]) : m->v[MODEL_P];

	return (struct stations){
		.call = c, .behind = d, .ends = m->v[MODEL_Z] - c - d, .gap = m->v[MODEL_G]
	};
}

static void set_ends(struct call_prices *p, double ends)
{
	p->start_ns = p->wake_ns = fmax(ends, 0) / 2;
}

/* From Zg, which the call's price is not in. */
static double graph_start_ns(const struct fit *f, const struct model *m)
{
	return m->v[MODEL_GRAPH_Z] - stations_of(f, m).ends;
}

static void set_graphs(struct call_prices *out, const struct fit *f, const struct model *m)
{
	if (!f->has[MODE_GRAPH])
		return;
	out->graph_call_ns[0] = m->v[MODEL_GRAPH_A];
	out->graph_call_ns[1] = m->v[MODEL_GRAPH_B];
}

/* The trace's own, and where a fit says what its calibration lacks. */
static struct call_prices prices_on_a(const struct profile *p, const struct fit *a)
{
	struct call_prices out = p->prices;

	if (a)
		set_graphs(&out, a, &a->model);
	return out;
}

/*
 * B's model beyond A's, on top of A's prices. A stage behind the call is B's own: a trace cannot
 * tell A's from the time to a kernel's start.
 */
static void add_beyond(struct call_prices *out, const struct price_sources *s,
		       const struct model *a, const struct model *b)
{
	struct stations on_a = stations_of(s->a, a), on_b = stations_of(s->b, b);
	double rest = out->submission_ns + out->start_ns + out->wake_ns + on_b.behind + on_b.ends -
		      on_a.behind - on_a.ends;

	out->launch_ns = fmax(out->launch_ns + on_b.call - on_a.call, 0);
	out->submission_ns = on_b.behind;
	set_ends(out, rest - on_b.behind);
	out->gap_ns = fmax(out->gap_ns + on_b.gap - on_a.gap, 0);
	out->node_gap_ns = b->v[MODEL_GRAPH_G] - a->v[MODEL_GRAPH_G];
	out->graph_start_ns = graph_start_ns(s->b, b) - graph_start_ns(s->a, a);
}

/* B's model alone: an empty kernel's own time is in its Z and g, and in the trace's kernels. */
static void set_alone(struct call_prices *out, const struct fit *f, const struct model *b,
		      double empty_kernel_ns)
{
	struct stations on_b = stations_of(f, b);

	out->launch_ns = on_b.call;
	out->submission_ns = on_b.behind;
	set_ends(out, on_b.ends - empty_kernel_ns);
	out->gap_ns = fmax(on_b.gap - empty_kernel_ns, 0);
	out->graph_start_ns = graph_start_ns(f, b);
}

static struct call_prices prices_on_b(const struct program_price *p, const struct model *a,
				      const struct model *b)
{
	struct call_prices out = p->on_a;

	if (a)
		add_beyond(&out, p->sources, a, b);
	else
		set_alone(&out, p->sources->b, b, p->profile->trace.calibration.kernel_ns);
	set_graphs(&out, p->sources->b, b);
	out.window = b->v[MODEL_Q];
	out.notice_ns = isfinite(out.window) ? fmax(b->v[MODEL_W] - b->v[MODEL_Z], 0) : 0;
	out.extra = p->extra;
	return out;
}

/* ---- call costs --------------------------------------------------------------------------- */

/* ns, ns a byte where it is a rate; NAN: not known. */
static double cost_ns(const json_t *costs, const char *workload, const char *name)
{
	const json_t *row = costs_row(costs, workload, name);
	const json_t *median = row ? json_object_get(row, "median") : NULL;
	const char *unit = row ? json_get_text(row, "unit") : NULL;

	if (!json_is_number(median) || !unit)
		return NAN;
	if (!strcmp(unit, "us"))
		return 1e3 * json_number_value(median);
	return !strcmp(unit, "GB/s") ? 1 / json_number_value(median) : NAN;
}

/* Are two rows' intervals apart? Rows without intervals are taken as they are. */
static bool is_told_apart(const json_t *a, const json_t *b)
{
	double lo_a = json_get_number(a, "lo"), hi_a = json_get_number(a, "hi"),
	       lo_b = json_get_number(b, "lo"), hi_b = json_get_number(b, "hi");

	return !(lo_a <= hi_b && lo_b <= hi_a);
}

/*
 * How much more it is on B; NAN where one of them lacks it. Processes differ by a tenth and more in
 * calls that allocate and in copies of pageable memory, and a program makes thousands of them: what
 * the two files do not tell apart is taken to be equal.
 */
static double told_beyond_ns(const struct price_sources *s, const char *workload, const char *name)
{
	double beyond = cost_ns(s->costs_b, workload, name) - cost_ns(s->costs_a, workload, name);

	if (isnan(beyond))
		return NAN;
	return is_told_apart(costs_row(s->costs_a, workload, name),
			     costs_row(s->costs_b, workload, name))
		       ? beyond
		       : 0;
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
	return cost_ns(s->costs_a, workload, name);
}

/* The rows of `transfer` for copies of one kind: "h2d pinned". */
static const char *copy_row(enum copy_direction direction, bool pageable)
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
 * Their rate is that between the two largest sizes; files of before have no such rows.
 */
static void put_in_turn(struct copy_cost *c, const struct price_sources *s, const char *kind,
			double read_ns(const struct price_sources *, const char *, const char *))
{
	enum { LAST = COPY_SIZES - 1 };
	char row[64];

	for (int i = 0; i < COPY_SIZES; i++) {
		snprintf(row, sizeof(row), "%s %s in turn", kind, copy_size[i].name);
		c->at_ns[i] = read_ns(s, "transfer", row);
	}
	c->byte_ns = (c->at_ns[LAST] - c->at_ns[LAST - 1]) /
		     (copy_size[LAST].bytes - copy_size[LAST - 1].bytes);
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
	double recorded_ns, alone_ns;
	double in_turn_ns; /* NAN: a file of costs has no copies in turn */
};

static struct pageable_copies sum_pageable(const struct program_price *p)
{
	const struct trace *t = &p->profile->trace;
	struct copy_cost alone[COPY_DIRECTIONS], in_turn[COPY_DIRECTIONS];
	struct pageable_copies out = { 0 };

	for (int d = 0; d < COPY_DIRECTIONS; d++) {
		const char *row = copy_row((enum copy_direction)d, true);

		alone[d] = in_turn[d] = copy_cost(p->sources, row, on_a_ns);
		put_in_turn(&in_turn[d], p->sources, row, on_a_ns);
	}
	for (int64_t i = 0; i < t->calls; i++) {
		const struct trace_op *op;

		if (!is_large_pageable(p, i))
			continue;
		op = &t->op[t->call[i].first_op];
		out.recorded_ns += recorded_copy_ns(p, i);
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

static bool is_slow(const struct program_price *p, double recorded_ns, double probed_ns)
{
	return recorded_ns > slow_copies_ratio * probed_ns &&
	       recorded_ns - probed_ns > slow_copies_share * p->simulated_a_ns;
}

/*
 * A trace does not say which memory copies share. Where they take so long on A that they are nearer
 * to the probe's copies in turn, by ratio, they are taken to be such, on both platforms.
 */
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
	if (!p->slow_copies || !has_turns(p->sources) ||
	    sum.recorded_ns * sum.recorded_ns <= sum.alone_ns * sum.in_turn_ns)
		return;
	p->copies_in_turn = true;
	p->copies_ratio = sum.recorded_ns / sum.in_turn_ns;
	p->slow_copies = is_slow(p, sum.recorded_ns, sum.in_turn_ns);
}

/* ---- what calls take more on B --------------------------------------------------------------- */

struct beyond {
	struct copy_cost copy[COPY_DIRECTIONS][2];
	struct copy_cost in_turn[COPY_DIRECTIONS]; /* of pageable memory */
	double record_ns, wake_ns;
};

/*
 * A call that copies pageable memory and waits stages it on the host before the device's part and
 * beside it: what it takes more may be less than that part is long, and comes before it.
 */
static struct call_extra copy_extra(const struct beyond *b, const struct trace_op *op, bool waits,
				    bool in_turn)
{
	bool pageable = op->memory == MEMORY_PAGEABLE;
	const struct copy_cost *c =
		in_turn ? &b->in_turn[op->direction] : &b->copy[op->direction][pageable];
	struct call_extra out = { .length_ns = length_ns(c, fmax((double)op->bytes, 0)) };

	if (waits) {
		out.lead_ns = c->fixed_ns + (pageable ? out.length_ns : 0);
		out.length_ns = pageable ? 0 : out.length_ns;
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
		return copy_extra(b, &t->op[c->first_op], role == STEP_COPY_WAIT,
				  p->copies_in_turn && is_large_pageable(p, i));
	if (is_stream_call(c->class))
		return (struct call_extra){ .call_ns = b->record_ns };
	if (call_is_memory(c->class))
		return (struct call_extra){ .call_ns = beyond_ns(p->sources, "memory",
								 trace_name(t, c->name)) };
	return (struct call_extra){ 0 };
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

/* ---- copies that nobody waits for ---------------------------------------------------------- */

/* Simulated again, with such copies at A's prices. */
static void find_dear_copies(struct program_price *p)
{
	int64_t calls = p->profile->trace.calls;
	struct call_prices prices = p->on_b;
	struct call_extra *extra = calloc((size_t)calls + 1, sizeof(*extra));

	CHECK(extra, "memory of %ld calls", (long)calls);
	for (int64_t i = 0; i < calls; i++)
		if (p->profile->steps.step[i].role != STEP_COPY)
			extra[i] = p->extra[i];
	prices.extra = extra;
	p->copies_share =
		(p->simulated_b_ns - retimed_ns(&p->profile->steps, &prices)) / p->b_ns.value;
	p->dear_copies = fabs(p->copies_share) > COPIES_DOUBTFUL;
	free(extra);
}

/* ---- the interval ------------------------------------------------------------------------- */

static double simulated(const struct program_price *p, const struct model *a, const struct model *b)
{
	const struct call_prices prices = prices_on_b(p, a, b);

	return retimed_ns(&p->profile->steps, &prices);
}

static const struct model *model_a(const struct program_price *p)
{
	return p->sources->a ? &p->sources->a->model : NULL;
}

/* Time on B over each parameter of B: what A's are worth has the other sign. */
struct slopes {
	double a[MODEL_PARAMS], b[MODEL_PARAMS];
};

/* By half of a parameter's interval, where it has one. */
static double step_of(const struct fit *f, int param)
{
	const struct interval *i = &f->param[param].interval;
	bool is_moved = f->param[param].identified && i->known && param != MODEL_Q;

	return is_moved ? (i->hi - i->lo) / 2 : 0;
}

static double slope(const struct program_price *p, const struct fit *f, int param, bool on_b)
{
	struct model moved = f->model;
	double step = step_of(f, param), time;

	if (!(step > 0))
		return 0;
	moved.v[param] += step;
	time = on_b ? simulated(p, model_a(p), &moved)
		    : simulated(p, &moved, &p->sources->b->model);
	return (time - p->simulated_b_ns) / step;
}

static void find_slopes(const struct program_price *p, struct slopes *s)
{
	for (int i = 0; i < MODEL_PARAMS; i++) {
		s->b[i] = slope(p, p->sources->b, i, true);
		s->a[i] = p->sources->a ? slope(p, p->sources->a, i, false) : 0;
	}
}

static double moved_by(const struct fit *f, const double *slope, int draw)
{
	double moved = 0;

	for (int i = 0; f && i < MODEL_PARAMS; i++)
		if (slope[i] != 0)
			moved += slope[i] * (f->draw[draw].v[i] - f->model.v[i]);
	return moved;
}

/* Medians of the runs without the recorder; without them what was simulated. */
static void draw_on_a(struct program_price *p, double *draws)
{
	const struct trace *t = &p->profile->trace;
	struct resamples r = { 0 };
	int err;

	p->a_ns = p->profile->measured;
	if (!p->profile->measured.n || t->partial) {
		p->a_ns = p->profile->predicted;
		for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
			draws[d] = p->a_ns.value;
		return;
	}
	err = resamples_init(&r, t->unprofiled, SEED, GROUP_RUNS);
	if (!err)
		err = bootstrap_median(&p->a_ns, &r, t->unprofiled_wall_ns, draws);
	CHECK(!err, "times of %d runs", t->unprofiled);
	resamples_release(&r);
}

/*
 * A process on B starts as unevenly as those that did nothing on A: by so much longer or shorter
 * than their median. Processes of a GPU differ by tens of milliseconds before their first call.
 */
static void add_starts(const struct trace *t, double *draws)
{
	double sorted[TRACE_RUNS_MAX], median;

	if (!t->plain_empties)
		return;
	memcpy(sorted, t->plain_empty_ns, sizeof(sorted));
	median = median_of(sorted, t->plain_empties);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] += t->plain_empty_ns[d % t->plain_empties] - median;
}

static void find_interval(struct program_price *p)
{
	double *draws = malloc(BOOTSTRAP_DRAWS * sizeof(*draws));
	double beyond = p->simulated_b_ns - p->simulated_a_ns;
	const struct price_sources *s = p->sources;
	struct slopes slopes;
	int n;

	CHECK(draws, "memory of draws");
	draw_on_a(p, draws);
	find_slopes(p, &slopes);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] += beyond + moved_by(s->b, slopes.b, d) + moved_by(s->a, slopes.a, d);
	add_starts(&p->profile->trace, draws);
	n = s->a && s->a->n < s->b->n ? s->a->n : s->b->n;
	n = p->a_ns.n < n ? p->a_ns.n : n;
	if (interval_of_draws(&p->b_ns, p->a_ns.value + beyond, n, draws))
		p->b_ns = interval_unknown(n);
	p->b_ns.value = p->a_ns.value + beyond;
	free(draws);
}

/* ---- all ---------------------------------------------------------------------------------- */

static void find_shares(struct program_price *p)
{
	struct timed times;

	timed_priced(&times, &p->profile->steps, &p->on_b);
	shares_make(&p->shares_b, &p->profile->steps, &times, p->on_b.start_ns, false);
	timed_release(&times);
}

static void find_costs(struct program_price *p)
{
	for (int i = 0; i < PROFILE_COSTS; i++) {
		struct call_prices dearer = prices_dearer(p->on_b, (enum sensitivity_cost)i, 1000);

		p->cost_ns[i] = retimed_ns(&p->profile->steps, &dearer) - p->simulated_b_ns;
	}
}

void program_price_make(struct program_price *out, const struct profile *p,
			const struct price_sources *sources)
{
	*out = (struct program_price){ .profile = p, .sources = sources };
	out->on_a = prices_on_a(p, sources->a);
	out->on_b = prices_on_b(out, model_a(out), &sources->b->model);
	out->simulated_a_ns = retimed_ns(&p->steps, &out->on_a);
	find_slow_copies(out);
	find_extra(out);
	out->on_b.extra = out->extra;
	out->simulated_b_ns = retimed_ns(&p->steps, &out->on_b);
	find_interval(out);
	find_shares(out);
	find_costs(out);
	out->reordered = p->shares.overlapped_ns > reordered_share * p->shares.total_ns;
	find_dear_copies(out);
}

void program_price_release(struct program_price *p)
{
	shares_release(&p->shares_b);
	free(p->extra);
	*p = (struct program_price){ 0 };
}

/* ---- remedies ----------------------------------------------------------------------------- */

/* The program with a remedy: steps of its own, and what its calls take more, on one platform. */
struct remedied {
	struct steps steps;
	struct call_extra *extra;
	struct call_prices prices;
	const struct trace *trace;
	double node_gap_ns;  /* between nodes of a graph, in place of prices.gap_ns */
	const json_t *costs; /* of the platform, or NULL */
};

/* Launches further apart have work of the program between them. */
enum { RUN_GAP_NS = 20000 };

/* Launches of one thread and stream, one right behind the other. */
struct launch_run {
	int64_t first, last, n;
	int32_t stream;
};

static void end_run(struct remedied *r, struct launch_run *run, struct remedy *out)
{
	const double *price = r->prices.graph_call_ns;

	if (run->n >= 2) {
		r->steps.step[run->first].own_ns = price[0] + price[1] * (double)run->n;
		out->calls += run->n;
	} else if (run->n) {
		r->steps.step[run->first].role = STEP_LAUNCH;
	}
	run->n = 0;
}

/* It is a node now: the host's work before it falls away, its call costs nothing. */
static void add_node(struct remedied *r, int64_t i, struct launch_run *run)
{
	struct step *step = &r->steps.step[i];

	step->role = STEP_SUBMIT;
	if (run->n++) {
		step->own_ns = step->gap_ns = 0;
		r->extra[i].length_ns += r->node_gap_ns - r->prices.gap_ns;
		return;
	}
	run->first = i;
	run->stream = r->trace->op[r->trace->call[i].first_op].stream;
}

static bool goes_on(const struct remedied *r, int64_t i, const struct launch_run *run)
{
	return !run->n || (r->steps.step[i].gap_ns < RUN_GAP_NS &&
			   r->trace->op[r->trace->call[i].first_op].stream == run->stream);
}

static void apply_graphs(struct remedied *r, struct remedy *out)
{
	struct launch_run *run = calloc((size_t)r->trace->threads + 1, sizeof(*run));

	CHECK(run, "memory of %ld threads", (long)r->trace->threads);
	for (int64_t i = 0; i < r->trace->calls; i++) {
		const struct trace_call *c = &r->trace->call[i];
		bool launches = r->steps.step[i].role == STEP_LAUNCH && c->ops == 1;

		if (!launches || !goes_on(r, i, &run[c->thread]))
			end_run(r, &run[c->thread], out);
		if (launches)
			add_node(r, i, &run[c->thread]);
	}
	for (int64_t i = 0; i < r->trace->threads; i++)
		end_run(r, &run[i], out);
	free(run);
}

static void apply_batch(struct remedied *r, struct remedy *out)
{
	int64_t seen = 0;

	for (int64_t i = 0; i < r->trace->calls; i++)
		if (r->steps.step[i].role == STEP_SYNC && ++seen % out->n) {
			r->steps.step[i].role = STEP_FIXED;
			r->steps.step[i].own_ns = 0;
			out->calls++;
		}
}

static void apply_pool(struct remedied *r, struct remedy *out)
{
	for (int64_t i = 0; i < r->trace->calls; i++) {
		const struct trace_call *c = &r->trace->call[i];

		if ((c->class != CALL_ALLOC && c->class != CALL_FREE) || c->async)
			continue;
		r->steps.step[i].role = STEP_FIXED;
		r->steps.step[i].own_ns = 0;
		r->extra[i] = (struct call_extra){ 0 };
		out->calls++;
	}
}

static void apply_pinned(struct remedied *r, struct remedy *out)
{
	for (int64_t i = 0; i < r->trace->calls; i++) {
		const struct trace_call *c = &r->trace->call[i];
		const struct trace_op *op = c->ops ? &r->trace->op[c->first_op] : NULL;
		char slow[64], fast[64];

		if (!op || op->kind != OP_COPY || op->memory != MEMORY_PAGEABLE)
			continue;
		snprintf(slow, sizeof(slow), "%s rate", copy_row(op->direction, true));
		snprintf(fast, sizeof(fast), "%s rate", copy_row(op->direction, false));
		r->extra[i].length_ns += (double)op->bytes * (cost_ns(r->costs, "transfer", fast) -
							      cost_ns(r->costs, "transfer", slow));
		out->calls++;
	}
}

static void apply_sync(const struct remedied *r, struct remedy *out)
{
	for (int64_t i = 0; i < r->trace->calls; i++)
		out->calls += r->steps.step[i].role == STEP_SYNC ||
			      r->steps.step[i].role == STEP_COPY_WAIT;
}

static void apply(struct remedied *r, struct remedy *out)
{
	out->calls = 0;
	switch (out->kind) {
	case REMEDY_GRAPHS:
		apply_graphs(r, out);
		break;
	case REMEDY_BATCH:
		apply_batch(r, out);
		break;
	case REMEDY_PINNED:
		apply_pinned(r, out);
		break;
	case REMEDY_SYNC:
		apply_sync(r, out);
		break;
	default:
		apply_pool(r, out);
	}
}

/* What a synchronize takes more by another policy, ns; NAN: no session of the platform says it. */
static double sync_beyond_ns(const struct price_sources *s, bool on_b, enum wait_policy sync)
{
	const struct fit *own = on_b ? s->b : s->a,
			 *other = on_b ? s->sync_b[sync] : s->sync_a[sync];

	if (!own || !other)
		return NAN;
	return stations_of(other, &other->model).ends - stations_of(own, &own->model).ends;
}

static bool is_priced(const struct call_prices *prices, const json_t *costs, const struct remedy *r)
{
	switch (r->kind) {
	case REMEDY_GRAPHS:
		return isfinite(prices->graph_call_ns[0]);
	case REMEDY_PINNED:
		return isfinite(cost_ns(costs, "transfer", "h2d pinned rate")) &&
		       isfinite(cost_ns(costs, "transfer", "h2d pageable rate")) &&
		       isfinite(cost_ns(costs, "transfer", "d2h pinned rate")) &&
		       isfinite(cost_ns(costs, "transfer", "d2h pageable rate"));
	default:
		return true;
	}
}

/* Between nodes of a graph: the fit's, less an empty kernel's own time; without one the stream's.
 */
static double node_gap_ns(const struct program_price *p, const struct fit *f,
			  const struct call_prices *prices)
{
	if (!f || !f->has[MODE_GRAPH])
		return prices->gap_ns;
	return fmax(f->model.v[MODEL_GRAPH_G] - p->profile->trace.calibration.kernel_ns, 0);
}

/* The simulated time with a remedy, on one platform; NAN: no price of it there. */
static double time_with(const struct program_price *p, bool on_b, struct remedy *out)
{
	const struct trace *t = &p->profile->trace;
	const struct price_sources *s = p->sources;
	const struct call_prices *prices = on_b ? &p->on_b : &p->on_a;
	struct remedied r = { .steps = p->profile->steps,
			      .trace = t,
			      .node_gap_ns = node_gap_ns(p, on_b ? s->b : s->a, prices),
			      .costs = on_b ? s->costs_b : s->costs_a };
	double ns, later_ns = out->kind == REMEDY_SYNC ? sync_beyond_ns(s, on_b, out->sync) : 0;

	if (!is_priced(prices, r.costs, out) || isnan(later_ns))
		return NAN;
	r.steps.step = calloc((size_t)t->calls + 1, sizeof(*r.steps.step));
	r.extra = calloc((size_t)t->calls + 1, sizeof(*r.extra));
	CHECK(r.steps.step && r.extra, "memory of %ld calls", (long)t->calls);
	memcpy(r.steps.step, p->profile->steps.step, (size_t)t->calls * sizeof(*r.steps.step));
	if (prices->extra)
		memcpy(r.extra, prices->extra, (size_t)t->calls * sizeof(*r.extra));
	r.prices = *prices;
	r.prices.extra = r.extra;
	r.prices.wake_ns = fmax(r.prices.wake_ns + later_ns, 0);
	apply(&r, out);
	ns = retimed_ns(&r.steps, &r.prices);
	free(r.steps.step);
	free(r.extra);
	return ns;
}

void program_price_remedy(const struct program_price *p, struct remedy *r)
{
	double a = time_with(p, false, r), b = time_with(p, true, r);

	r->a_ns = p->a_ns.value + a - p->simulated_a_ns;
	r->b_ns = p->b_ns.value + b - p->simulated_b_ns;
}
