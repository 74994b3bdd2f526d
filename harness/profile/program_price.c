/* program_price.c - a traced program at the prices of another platform. */
#include "harness/profile/program_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/fit/copies.h"
#include "harness/probe/costs.h"
#include "harness/profile/price_spread.h"
#include "harness/profile/program_change.h"
#include "harness/profile/program_costs.h"
#include "harness/record/recorded.h"
#include "harness/stats/stats.h"

const char *const remedy_names[] = { "graphs", "batch",	  "pinned",  "pool", "sync",
				     "merge",  "kernels", "overlap", NULL };

/* Kernels that overlap for more than this share of the time. */
static const double reordered_share = 0.05;

/* ---- prices of launches ------------------------------------------------------------------- */

/*
 * What a launch passes, ns: the stations of harness/measure/model.h, but for has_stage(). There L
 * may be less than nothing, here it is how long a wait takes.
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

static bool has_gap(const struct fit *f)
{
	return f->param[MODEL_G].identified;
}

/* The gap on B. Where B's session does not hold one, nothing is known of it, and A's is taken. */
static double gap_alone(const struct fit *f, double on_b, double on_a, double empty_kernel_ns)
{
	return has_gap(f) ? fmax(on_b - empty_kernel_ns, 0) : on_a;
}

/*
 * B's model beyond A's, on top of A's prices. A stage behind the call is B's own: a trace cannot
 * tell A's from the time to a kernel's start.
 */
static void add_beyond(struct call_prices *out, const struct price_sources *s,
		       const struct model *a, const struct model *b, double empty_kernel_ns)
{
	struct stations on_a = stations_of(s->a, a), on_b = stations_of(s->b, b);
	double rest = out->submission_ns + out->start_ns + out->wake_ns + on_b.behind + on_b.ends -
		      on_a.behind - on_a.ends;

	out->launch_ns = fmax(out->launch_ns + on_b.call - on_a.call, 0);
	out->submission_ns = on_b.behind;
	set_ends(out, rest - on_b.behind);
	if (has_gap(s->a) && has_gap(s->b))
		out->gap_ns = fmax(out->gap_ns + on_b.gap - on_a.gap, 0);
	else
		out->gap_ns = gap_alone(s->b, on_b.gap, out->gap_ns, empty_kernel_ns);
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
	out->gap_ns = gap_alone(f, on_b.gap, out->gap_ns, empty_kernel_ns);
	out->graph_start_ns = graph_start_ns(f, b);
}

static struct call_prices prices_on_b(const struct program_price *p, const struct model *a,
				      const struct model *b)
{
	struct call_prices out = p->on_a;
	double empty_kernel_ns = p->profile->trace.calibration.kernel_ns;

	if (a)
		add_beyond(&out, p->sources, a, b, empty_kernel_ns);
	else
		set_alone(&out, p->sources->b, b, empty_kernel_ns);
	set_graphs(&out, p->sources->b, b);
	out.window = b->v[MODEL_Q];
	out.notice_ns = isfinite(out.window) ? fmax(b->v[MODEL_W] - b->v[MODEL_Z], 0) : 0;
	out.extra = p->extra;
	return out;
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

double price_simulated(const struct program_price *p, const struct model *a, const struct model *b)
{
	const struct call_prices prices = prices_on_b(p, a, b);

	return retimed_ns(&p->profile->steps, &prices);
}

static const struct model *model_a(const struct program_price *p)
{
	return p->sources->a ? &p->sources->a->model : NULL;
}

/* ---- devices ------------------------------------------------------------------------------ */

/* Models; "": the file does not say. */
static const char *device_of_trace(const struct trace *t)
{
	return t->is_cpu ? CPU_DEVICE : json_get_text(t->header, "device");
}

static const char *device_of_launches(const struct fit *f)
{
	return f && f->grid && f->grid->j ? session_device(f->grid->j, f->grid->side) : "";
}

static const char *device_of_costs(const json_t *costs)
{
	if (!costs)
		return "";
	return costs_is_cpu(costs) ? CPU_DEVICE
				   : json_get_text(json_object_get(costs, "device"), "name");
}

/* The trace's device, and the first other one of what prices are made of. */
static void find_other_device(struct program_price *p)
{
	const struct price_sources *s = p->sources;
	const char *own = device_of_trace(&p->profile->trace);
	const char *others[] = { device_of_launches(s->b), device_of_launches(s->a),
				 device_of_costs(s->costs_b), device_of_costs(s->costs_a) };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others) && !p->a_device; i++)
		if (*own && *others[i] && strcmp(own, others[i]) != 0) {
			p->a_device = own;
			p->b_device = others[i];
		}
}

/* ---- all ---------------------------------------------------------------------------------- */

static void simulate_a(struct program_price *p)
{
	struct timed times;

	timed_priced(&times, &p->profile->steps, &p->on_a);
	p->simulated_a_ns = times.end - times.start;
	ranges_make(&p->ranges_a, &p->profile->trace, &times);
	timed_release(&times);
}

static void simulate_b(struct program_price *p)
{
	struct timed times;

	timed_priced(&times, &p->profile->steps, &p->on_b);
	p->simulated_b_ns = times.end - times.start;
	ranges_make(&p->ranges_b, &p->profile->trace, &times);
	shares_make(&p->shares_b, &p->profile->steps, &times, p->on_b.start_ns, false);
	p->shares_b.ns[SHARE_OUTSIDE] += p->start_ns;
	p->shares_b.total_ns += p->start_ns;
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
	simulate_a(out);
	find_other_device(out);
	program_costs_find(out);
	out->on_b.extra = out->extra;
	simulate_b(out);
	price_spread_find(out);
	find_costs(out);
	out->reordered = p->shares.overlapped_ns > reordered_share * p->shares.total_ns;
	find_dear_copies(out);
}

void program_price_release(struct program_price *p)
{
	shares_release(&p->shares_b);
	ranges_release(&p->ranges_a);
	ranges_release(&p->ranges_b);
	free(p->extra);
	*p = (struct program_price){ 0 };
}

/* ---- remedies ----------------------------------------------------------------------------- */

/* The program with a remedy: steps of its own, and what its calls take more, on one platform. */
struct remedied {
	struct steps steps;
	struct call_extra *extra;
	struct call_prices prices;
	const struct program_price *price;
	const struct trace *trace;
	double node_gap_ns;  /* between nodes of a graph, in place of prices.gap_ns */
	const json_t *costs; /* of the platform, or NULL */
};

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
	return !run->n ||
	       (r->steps.step[i].after == TRACE_NONE && r->steps.step[i].gap_ns < CHANGE_GAP_NS &&
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

/* What a byte of that copy takes, of pageable memory as it is and of pinned memory. */
static double byte_ns(const struct remedied *r, int64_t call, bool pageable)
{
	const struct trace_op *op = &r->trace->op[r->trace->call[call].first_op];
	char row[64];

	if (pageable && copy_is_in_turn(r->price, call))
		return in_turn_byte_ns(r->costs, op->direction, (double)op->bytes);
	snprintf(row, sizeof(row), "%s rate", copy_row(op->direction, pageable));
	return call_cost_ns(r->costs, "transfer", row);
}

static void apply_pinned(struct remedied *r, struct remedy *out)
{
	for (int64_t i = 0; i < r->trace->calls; i++) {
		const struct trace_call *c = &r->trace->call[i];
		const struct trace_op *op = c->ops ? &r->trace->op[c->first_op] : NULL;

		if (!op || op->kind != OP_COPY || op->memory != MEMORY_PAGEABLE)
			continue;
		r->extra[i].length_ns +=
			(double)op->bytes * (byte_ns(r, i, false) - byte_ns(r, i, true));
		out->calls++;
	}
}

static void apply_sync(const struct remedied *r, struct remedy *out)
{
	for (int64_t i = 0; i < r->trace->calls; i++)
		out->calls += r->steps.step[i].role == STEP_SYNC ||
			      r->steps.step[i].role == STEP_COPY_WAIT;
}

static void apply_kernels(struct remedied *r, struct remedy *out)
{
	r->prices.clock_factor *= out->factor;
	for (int64_t i = 0; i < r->trace->ops; i++)
		out->calls += r->trace->op[i].kind == OP_KERNEL || r->trace->op[i].kind == OP_GRAPH;
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
	case REMEDY_MERGE:
		out->calls = change_merge(r->trace, r->steps.step, r->extra, out->n, &out->sloped);
		break;
	case REMEDY_KERNELS:
		apply_kernels(r, out);
		break;
	case REMEDY_OVERLAP:
		out->calls = change_overlap(r->trace, r->steps.step);
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
		return isfinite(call_cost_ns(costs, "transfer", "h2d pinned rate")) &&
		       isfinite(call_cost_ns(costs, "transfer", "h2d pageable rate")) &&
		       isfinite(call_cost_ns(costs, "transfer", "d2h pinned rate")) &&
		       isfinite(call_cost_ns(costs, "transfer", "d2h pageable rate"));
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
			      .price = p,
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
