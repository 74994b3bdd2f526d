/* stack.c - where the time of a block goes. */
#include "harness/model/stack.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"

const char *const stack_names[STACK_PARTS] = {
	[STACK_KERNEL] = "kernel", [STACK_GAP] = "gap",		  [STACK_SUBMISSION] = "submission",
	[STACK_SYNC] = "sync",	   [STACK_TRANSFER] = "transfer", [STACK_ALLOCATION] = "allocation",
	[STACK_OTHER] = "other",
};

/* ---- what a step is ----------------------------------------------------------------------- */

enum stack_step stack_step_of(const struct grid *g, int point)
{
	const struct cost *c = &g->j->step[g->point[point].point];

	if (c->allocations > 0)
		return STACK_CALLS;
	if (isnan(c->launches) || c->launches > 0) /* older records count launches alone */
		return STACK_LAUNCHES;
	return c->to_device.calls + c->to_host.calls + c->within.calls > 0 ? STACK_COPIES
									   : STACK_CALLS;
}

const struct fit *stack_fit_of(const struct stack_request *r, int point)
{
	return stack_step_of(r->work, point) == STACK_LAUNCHES && r->from ? r->from : r->own;
}

/* ---- copies ------------------------------------------------------------------------------- */

static double copies_ns(const struct copies *c, const struct copy_cost *cost)
{
	bool below = c->calls > 0 && c->bytes / c->calls < cost->knee;

	return c->calls > 0 ? c->calls * cost->call_ns +
				      c->bytes * (below ? cost->below_byte_ns : cost->byte_ns)
			    : 0;
}

double stack_transfer_ns(const struct stack_request *r, int point)
{
	const struct cost *c = &r->work->j->step[r->work->point[point].point];

	if (!r->card || isnan(c->launches) || c->to_device.calls + c->to_host.calls <= 0)
		return NAN;
	return copies_ns(&c->to_device, &r->card->to_device[c->pageable]) +
	       copies_ns(&c->to_host, &r->card->to_host[c->pageable]);
}

/* ---- parts of the model ------------------------------------------------------------------- */

/* What the model says of a block; NaN: gaps that are part of the kernels, calls not known. */
struct modelled {
	double total_ns, kernel_ns, gap_ns, sync_ns;
};

static double launches_of(const struct batch *b)
{
	return b->depth * b->launches;
}

static double kernels_ns(const struct price_job *job)
{
	const double *v = job->model.v;
	const struct batch *b = &job->batch;

	return b->kernel_ns > 0 ? launches_of(b) * (v[MODEL_CLOCK] * b->kernel_ns + v[MODEL_E]) : 0;
}

static struct modelled of_stream(const struct price_job *job, const struct fit *f)
{
	const double *v = job->model.v;

	return (struct modelled){
		.total_ns = model_total_ns(&job->model, &job->batch),
		.kernel_ns = kernels_ns(job),
		.gap_ns = f->param[MODEL_G].identified ? (launches_of(&job->batch) - 1) * v[MODEL_G]
						       : NAN,
		.sync_ns = v[MODEL_Z] - v[MODEL_C],
	};
}

/* Where K was measured in the same graphs gn is -b, and only gaps between graphs are left. */
static struct modelled of_graph(const struct price_job *job, const struct fit *f)
{
	const struct graph_shape s = graph_shape_of(&job->batch);
	double graphs = s.graphs + (s.rest >= 1), within = f->model.v[MODEL_GRAPH_G];

	return (struct modelled){
		.total_ns = model_total_ns(&job->model, &job->batch),
		.kernel_ns = kernels_ns(job),
		.gap_ns = f->grid->nominal || graphs > 1
				  ? (f->grid->nominal ? launches_of(&job->batch) - graphs
						      : (graphs - 1) * (s.nodes - 1)) *
						    within +
					    (graphs - 1) * f->model.v[MODEL_GRAPH_GG]
				  : NAN,
		.sync_ns = f->model.v[MODEL_GRAPH_Z],
	};
}

static struct modelled of_fused(const struct price_job *job, const struct fit *f, bool own)
{
	const double *v = job->model.v;
	double n = launches_of(&job->batch);
	struct modelled out = { .kernel_ns = n * job->fused_ns, .gap_ns = NAN };

	if (own) {
		out.kernel_ns = v[MODEL_FUSED_PHI] * model_ideal_ns(&job->model, &job->batch);
		out.gap_ns = (n - 1) * v[job->batch.kernel_ns > 0 ? MODEL_FUSED_B : MODEL_FUSED_B0];
	}
	out.sync_ns = v[MODEL_FUSED_Z] - (f->has[MODE_STREAM] ? v[MODEL_C] : 0);
	out.total_ns = v[MODEL_FUSED_Z] + out.kernel_ns + (own ? out.gap_ns : 0);
	return out;
}

static void take_model(struct stack *s, const struct stack_request *r, const struct fit *f)
{
	const struct price_request price = { .work = r->work,
					     .a = f == r->from ? f : NULL,
					     .b = f };
	const struct price_job job = price_job_of(&price, s->point);
	enum stack_step step = stack_step_of(r->work, s->point);
	enum mode mode = job.batch.mode;
	struct modelled m;

	/* from its own fit a fused block needs no slope */
	if (!f->has[mode] || (f == r->from && !job.known))
		return;
	m = mode == MODE_STREAM	 ? of_stream(&job, f)
	    : mode == MODE_GRAPH ? of_graph(&job, f)
				 : of_fused(&job, f, f == r->own);
	s->part_ns[STACK_GAP] = m.gap_ns;
	s->part_ns[STACK_SYNC] = m.sync_ns;
	s->part_ns[STACK_SUBMISSION] =
		m.total_ns - m.kernel_ns - m.sync_ns - (isnan(m.gap_ns) ? 0 : m.gap_ns);
	if (mode == MODE_FUSED && !f->has[MODE_STREAM])
		s->part_ns[STACK_SUBMISSION] = NAN; /* nobody knows the call */
	s->part_ns[step == STACK_COPIES ? STACK_TRANSFER : STACK_KERNEL] = m.kernel_ns;
	if (step == STACK_LAUNCHES) {
		double transfer_ns = job.batch.depth * stack_transfer_ns(r, s->point);

		s->part_ns[STACK_TRANSFER] = transfer_ns;
		s->part_ns[STACK_KERNEL] -= isnan(transfer_ns) ? 0 : transfer_ns;
	}
}

/* ---- all ---------------------------------------------------------------------------------- */

static void take_calls(struct stack *s, const struct grid *g)
{
	const struct grid_point *at = &g->point[s->point];
	bool takes_memory = g->j->step[at->point].allocations > 0;

	s->part_ns[takes_memory ? STACK_ALLOCATION : STACK_SUBMISSION] = at->enq_ns;
	s->part_ns[STACK_SYNC] = at->total_ns - at->enq_ns;
}

static void fill(struct stack *s, const struct stack_request *r, int point)
{
	const struct fit *f = stack_fit_of(r, point);
	double known_ns = 0;

	*s = (struct stack){ .point = point, .total_ns = r->work->point[point].total_ns };
	for (int k = 0; k < STACK_PARTS; k++)
		s->part_ns[k] = NAN;
	if (stack_step_of(r->work, point) == STACK_CALLS)
		take_calls(s, r->work);
	else if (f)
		take_model(s, r, f);
	for (int k = 0; k < STACK_OTHER; k++)
		known_ns += isnan(s->part_ns[k]) ? 0 : s->part_ns[k];
	s->part_ns[STACK_OTHER] = s->total_ns - known_ns;
}

double stack_share(const struct stack *s, enum stack_part part)
{
	double share = s->part_ns[part] / s->total_ns;

	return isfinite(share) ? share : NAN;
}

struct stack *stacks_make(const struct stack_request *r)
{
	struct stack *all = calloc((size_t)r->work->n_points + 1, sizeof(*all));

	CHECK(all, "memory of %d blocks", r->work->n_points);
	for (int i = 0; i < r->work->n_points; i++)
		fill(&all[i], r, i);
	return all;
}

/* ---- a selection -------------------------------------------------------------------------- */

/* Points of a mode and size: the first and the last by depth; -1: none. */
static void ends_of(const struct grid *g, enum mode mode, int size, int end[2])
{
	end[0] = end[1] = -1;
	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];

		if (p->batch.mode != mode || p->size != size)
			continue;
		if (end[0] < 0 || p->batch.depth < g->point[end[0]].batch.depth)
			end[0] = i;
		if (end[1] < 0 || p->batch.depth > g->point[end[1]].batch.depth)
			end[1] = i;
	}
}

int stacks_select(const struct grid *g, bool *in)
{
	int count = 0;

	for (int i = 0; i < g->n_points; i++)
		in[i] = false;
	for (int mode = 0; mode < MODE_COUNT; mode++) {
		int *size = calloc((size_t)g->n_sizes + 1, sizeof(*size)), n = 0, end[2];

		CHECK(size, "memory of %d sizes", g->n_sizes);
		for (int i = 0; i < g->n_sizes; i++) {
			ends_of(g, (enum mode)mode, i, end);
			if (end[0] >= 0)
				size[n++] = i;
		}
		for (int i = 0; n && i < 3; i++) {
			ends_of(g, (enum mode)mode, size[i * (n - 1) / 2], end);
			in[end[0]] = in[end[1]] = true;
		}
		free(size);
	}
	for (int i = 0; i < g->n_points; i++)
		count += in[i];
	return count;
}
