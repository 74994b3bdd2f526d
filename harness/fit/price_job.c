/* price_job.c - what one block of a workload is priced with, and its time by a model. */
#include "common/cost.h"
#include "common/mode.h"
#include "harness/fit/price.h"

#include <math.h>

#include "harness/measure/model.h"

/* ---- the workload ------------------------------------------------------------------------- */

/* Per launch, between the two deepest blocks of a size and mode; NaN: fewer than two. */
static double slope(const struct grid *g, int size, enum mode mode)
{
	const struct grid_point *large, *small;

	grid_two_deepest(g, size, mode, &large, &small);
	return small ? (large->total_ns - small->total_ns) /
			       ((large->batch.depth - small->batch.depth) * large->batch.launches)
		     : NAN;
}

/* Was K of this size measured in stream blocks, as there are no others? */
static bool is_from_streams(const struct grid *g, int size)
{
	const struct grid_size *s = &g->size[size];

	return !g->nominal && s->small >= 0 && g->point[s->large].batch.mode == MODE_STREAM;
}

/* For a size that was swept at one depth: that block less A's ends and gaps, in ns per launch. */
static double remainder_ns(const struct model *a, const struct grid_point *one)
{
	struct batch empty = one->batch;
	double n = empty.depth * empty.launches, ends_ns;

	empty.kernel_ns = 0;
	ends_ns = empty.mode == MODE_GRAPH    ? model_total_ns(a, &empty)
		  : empty.mode == MODE_STREAM ? a->v[MODEL_Z] + (n - 1) * a->v[MODEL_G]
					      : a->v[MODEL_FUSED_Z];
	return fmax(one->total_ns - ends_ns, 0) / n;
}

/* Device time of a launch; without a fit of A what the grid says. */
static double kernel_price_ns(const struct price_request *r, int size)
{
	const struct grid *g = r->work;
	const struct model *a = r->a ? &r->a->model : NULL;
	double graph_ns = slope(g, size, MODE_GRAPH), kernel_ns = g->size[size].kernel_ns;

	if (!a)
		return kernel_ns;
	if (isfinite(graph_ns))
		return fmax(graph_ns - a->v[MODEL_GRAPH_G] - a->v[MODEL_GRAPH_B], 0);
	if (is_from_streams(g, size))
		return fmax(kernel_ns - a->v[MODEL_G], 0);
	if (!g->nominal && g->size[size].small < 0)
		return remainder_ns(a, &g->point[g->size[size].large]);
	return g->nominal && kernel_ns > 0 ? a->v[MODEL_CLOCK] * kernel_ns + a->v[MODEL_E]
					   : kernel_ns;
}

/* Device time of a unit of a fused launch; NaN: not known. */
static double fused_price_ns(const struct price_request *r, int size)
{
	const struct grid_point *one, *none;

	grid_two_deepest(r->work, size, MODE_FUSED, &one, &none);
	if (one && !none && r->a && r->a->has[MODE_FUSED])
		return remainder_ns(&r->a->model, one);
	return slope(r->work, size, MODE_FUSED);
}

/* ---- what launches do not know of a workload ---------------------------------------------- */

static const struct grid_point *shallowest(const struct grid *g, int size, enum mode mode)
{
	const struct grid_point *least = NULL;

	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];

		if (p->size == size && p->batch.mode == mode &&
		    (!least || p->batch.depth < least->batch.depth))
			least = p;
	}
	return least;
}

/* Model of measured kernels: their device time is not the nominal one. */
static struct model model_for(const struct model *m, const struct price_job *job)
{
	struct model out = *m;

	if (job->measured_kernel) {
		out.v[MODEL_CLOCK] = 1;
		out.v[MODEL_E] = 0;
	}
	return out;
}

static bool says_more(const struct price_request *r, enum mode mode)
{
	return r->a && r->a->has[mode] && !r->work->nominal;
}

/* The first step may do less than the others, or wait for less: the shallowest graph block tells.
 */
static double first_step_ns(const struct price_request *r, const struct price_job *job, int size)
{
	const struct grid_point *one = shallowest(r->work, size, MODE_GRAPH);
	struct model a;
	struct batch b;

	if (!says_more(r, MODE_GRAPH) || isnan(slope(r->work, size, MODE_GRAPH)))
		return 0;
	a = model_for(&r->a->model, job);
	b = one->batch;
	b.kernel_ns = job->batch.kernel_ns;
	return one->total_ns - model_total_ns(&a, &b);
}

/* A launch call, beyond A's c and its copies; 0 where kernels outlast the calls, and hide them. */
static double library_ns(const struct price_request *r, const struct price_job *job, int size)
{
	const struct grid_point *one = shallowest(r->work, size, MODE_STREAM);
	double call_ns, c, kernel_ns;

	if (!one || !says_more(r, MODE_STREAM))
		return 0;
	c = r->a->model.v[MODEL_C] + job->on_a.submit_ns;
	call_ns = one->enq_ns / (one->batch.depth * one->batch.launches);
	kernel_ns = job->batch.kernel_ns + r->a->model.v[MODEL_G];
	return call_ns > (1 + PRICE_CALL_SHARE) * c && call_ns > kernel_ns ? call_ns - c : 0;
}

/* Copies of a step, spread over its launches. */
static void add_copies(struct work_extra *out, const struct copy_paces *own,
		       const struct copy_paces *other, const struct cost *step,
		       const struct batch *b)
{
	const struct step_copies c = copies_of_step(own, other, step, b->mode);
	double launches = b->launches;

	out->submit_ns = c.submit_ns / launches;
	out->device_ns = c.device_ns / launches;
	out->copies = c.copies / launches;
	out->in_turn = c.in_turn;
	out->first_ns = c.first_ns;
}

/* The ends of a block of launches alone, as a turn of copies has them. */
static double ends_ns(const struct model *m, enum mode mode)
{
	const double *v = m->v;

	if (mode == MODE_GRAPH)
		return v[MODEL_GRAPH_A] + COPY_TURN_NODES * v[MODEL_GRAPH_B] + v[MODEL_GRAPH_Z];
	return v[MODEL_Z];
}

/* What the model has of ends are those of launches; copies at the ends of a block add to that. */
static double ends_beyond_ns(const struct price_request *r, const struct price_job *job)
{
	enum mode mode = job->batch.mode;

	if (!job->on_b.in_turn || isnan(job->on_b.first_ns) || !says_more(r, mode))
		return 0;
	return job->on_b.first_ns - (ends_ns(&r->b->model, mode) - ends_ns(&r->a->model, mode));
}

static void add_extra(struct price_job *job, const struct price_request *r,
		      const struct grid_point *at)
{
	const struct cost *step = &r->work->j->step[at->point];

	if (r->copies_a && r->copies_b && !r->work->nominal && !isnan(step->launches)) {
		add_copies(&job->on_a, r->copies_a, r->copies_b, step, &at->batch);
		add_copies(&job->on_b, r->copies_b, r->copies_a, step, &at->batch);
		job->on_a.device_ns = 0; /* it is in what was measured */
	}
	job->on_a.call_ns = library_ns(r, job, at->size);
	job->on_b.call_ns = job->on_a.call_ns * (r->library ? *r->library : 1);
	job->on_b.call_is_all = r->library;
	if (r->library && job->on_a.call_ns > 0)
		job->on_b.least_ns = r->a->model.v[MODEL_P] + job->on_a.call_ns;
	job->on_a.first_ns = first_step_ns(r, job, at->size);
	job->on_b.first_ns = job->on_a.first_ns + ends_beyond_ns(r, job);
	job->on_a.no_call = r->a && !r->a->param[MODEL_C].identified;
	job->on_b.no_call = !r->b->param[MODEL_C].identified;
}

/* ---- its time ----------------------------------------------------------------------------- */

/*
 * What a library's call takes longer than a launch's is the host's, c, and where others submit too,
 * a driver's thread or a layer's process, also theirs: by the share of p that is beyond c. Natively
 * that is next to nothing. Where a process of a layer makes the calls it is nearly all.
 */
static double library_pace_ns(const struct model *m, double call_ns)
{
	const double c = m->v[MODEL_C], p = m->v[MODEL_P];

	return p > c ? fmax(c + call_ns, p + call_ns * (1 - c / p)) : c + call_ns;
}

static struct model model_with(const struct model *m, const struct price_job *job,
			       const struct work_extra *x)
{
	struct model out = model_for(m, job);

	if (x->no_call)
		out.v[MODEL_C] = out.v[MODEL_P];
	if (x->call_is_all)
		out.v[MODEL_P] = fmax(out.v[MODEL_P] + x->call_ns, x->least_ns);
	else
		out.v[MODEL_P] = library_pace_ns(&out, x->call_ns);
	out.v[MODEL_P] += x->submit_ns;
	out.v[MODEL_C] += x->call_ns;
	out.v[MODEL_Z] += x->call_ns;
	return out;
}

/*
 * Stream launches whose first step takes first_ns longer or shorter, and that have copies between
 * them. The first step tells where the device is what the block waits for, but later steps do not
 * start before they are launched; and where submission is, the last thing is a launch or a copy,
 * not all of the step.
 */
static double stream_beyond_ns(const struct model *m, const struct batch *b,
			       const struct work_extra *x)
{
	double n = b->depth * b->launches, l = b->launches, kernel_ns = b->kernel_ns;
	double device = kernel_ns + m->v[MODEL_G], p = m->v[MODEL_P], pace = fmax(device, p);
	double last = n > l ? kernel_ns : fmax(kernel_ns + x->first_ns / l, 0);
	/* from here all are beyond Z and a kernel */
	double first = (n - 1) * device + x->first_ns;
	double submit = (n - 1) * p + x->submit_ns + last / (1 + x->copies) - kernel_ns;
	double later = n > l ? l * p + x->submit_ns + (n - l - 1) * device : first;

	return fmax(first, fmax(submit, later)) - (n - 1) * pace;
}

static double beyond_equal_ns(const struct model *m, const struct batch *b,
			      const struct work_extra *x)
{
	return b->mode == MODE_STREAM ? stream_beyond_ns(m, b, x) : x->first_ns;
}

static double total_with(const struct model *m, const struct price_job *job,
			 const struct work_extra *x, bool by_recursion)
{
	const struct model with = model_with(m, job, x);
	struct batch b = job->batch;

	if (b.mode == MODE_FUSED)
		return m->v[MODEL_FUSED_Z] + b.depth * b.launches * job->fused_ns;
	b.kernel_ns += x->device_ns;
	return (by_recursion ? recursion_block(&with, &b).total_ns : model_total_ns(&with, &b)) +
	       beyond_equal_ns(&with, &b, x);
}

double price_total_a(const struct model *m, const void *job)
{
	return total_with(m, job, &((const struct price_job *)job)->on_a, false);
}

double price_total_b(const struct model *m, const void *job)
{
	return total_with(m, job, &((const struct price_job *)job)->on_b, false);
}

double price_recursion(const struct model *m, const struct price_job *job, bool on_b)
{
	return total_with(m, job, on_b ? &job->on_b : &job->on_a, true);
}

/* ---- the job ------------------------------------------------------------------------------ */

/*
 * Where the device is waited for, the model follows its kernels: with those that explain the pace
 * it has that pace, but for rounding. Where the host is, it does not move.
 */
static const double followed = 1e-4;

/* ns a launch between two stream blocks, by A's model with kernels of so many ns. */
static double model_slope(const struct price_request *r, const struct price_job *job,
			  const struct grid_point *large, const struct grid_point *small,
			  double kernel_ns)
{
	struct price_job deep = *job, shallow = *job;

	deep.batch = large->batch;
	shallow.batch = small->batch;
	deep.batch.kernel_ns = shallow.batch.kernel_ns = kernel_ns;
	return (price_recursion(&r->a->model, &deep, false) -
		price_recursion(&r->a->model, &shallow, false)) /
	       ((large->batch.depth - small->batch.depth) * large->batch.launches);
}

/*
 * The kernels of stream blocks. Where A's deep ones wait for the device, what its model does not
 * have of their pace is the device's: kernels are that much longer or shorter than graphs of them
 * say. On B something else may be waited for, and then it is hidden there.
 */
static double stream_kernel_ns(const struct price_request *r, const struct price_job *job, int size)
{
	double kernel_ns = job->batch.kernel_ns, measured_ns = slope(r->work, size, MODE_STREAM);
	const struct grid_point *large, *small;

	grid_two_deepest(r->work, size, MODE_STREAM, &large, &small);
	if (!small)
		return kernel_ns;
	kernel_ns += measured_ns - model_slope(r, job, large, small, kernel_ns);
	if (!(kernel_ns > 0) || fabs(model_slope(r, job, large, small, kernel_ns) - measured_ns) >
					followed * measured_ns)
		return job->batch.kernel_ns;
	return kernel_ns;
}

struct price_job price_job_of(const struct price_request *r, int point)
{
	const struct grid_point *at = &r->work->point[point];
	struct price_job job = { .batch = at->batch, .measured_kernel = !r->work->nominal || r->a };

	job.batch.kernel_ns = kernel_price_ns(r, at->size);
	job.fused_ns = fused_price_ns(r, at->size);
	job.known = r->b->has[at->batch.mode] &&
		    (at->batch.mode != MODE_FUSED || isfinite(job.fused_ns));
	job.model = model_for(&r->b->model, &job);
	add_extra(&job, r, at);
	if (r->from_measured && at->batch.mode == MODE_STREAM && says_more(r, MODE_STREAM))
		job.batch.kernel_ns = stream_kernel_ns(r, &job, at->size);
	return job;
}

bool price_seen(const struct price_request *r, const struct price_job *job, int point)
{
	const struct grid *g = r->work;
	const struct grid_point *at = &g->point[point], *large, *small;
	bool shallow = at == shallowest(g, at->size, at->batch.mode);

	grid_two_deepest(g, at->size, at->batch.mode, &large, &small);
	if (at->is_k)
		return true;
	if (at->batch.mode == MODE_STREAM)
		return shallow && job->on_a.call_ns > 0;
	return at == large || at == small ||
	       (shallow && at->batch.mode == MODE_GRAPH && job->on_a.first_ns != 0);
}
