/* price.c - what a workload that was measured on platform A would cost on platform B. */
#include "harness/model/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/model/recursion.h"
#include "harness/stats/sorted.h"

/* ---- the workload ------------------------------------------------------------------------- */

static void two_deepest(const struct grid *g, int size, enum mode mode,
			const struct grid_point **first, const struct grid_point **second)
{
	const struct grid_point *deep = NULL, *shallow = NULL;

	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];

		if (p->size != size || p->batch.mode != mode)
			continue;
		if (!deep || p->batch.depth > deep->batch.depth) {
			shallow = deep;
			deep = p;
		} else if (!shallow || p->batch.depth > shallow->batch.depth) {
			shallow = p;
		}
	}
	*first = deep;
	*second = shallow;
}

/* Per launch, between the two deepest blocks of a size and mode; NaN: fewer than two. */
static double slope_of(const struct grid *g, int size, enum mode mode)
{
	const struct grid_point *deep, *shallow;

	two_deepest(g, size, mode, &deep, &shallow);
	return shallow ? (deep->total_ns - shallow->total_ns) /
				 ((deep->batch.depth - shallow->batch.depth) * deep->batch.launches)
		       : NAN;
}

/* Was K of this size measured in stream blocks, as there are no others? */
static bool of_streams(const struct grid *g, int size)
{
	const struct grid_size *s = &g->size[size];

	return !g->nominal && s->shallow >= 0 && g->point[s->deep].batch.mode == MODE_STREAM;
}

/* Of a size that was swept at one depth: what A's ends and gaps leave of that block, per launch. */
static double rest_of(const struct model *a, const struct grid_point *one)
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
static double kernel_of(const struct price_request *r, int size)
{
	const struct grid *g = r->work;
	const struct model *a = r->a ? &r->a->model : NULL;
	double graph_ns = slope_of(g, size, MODE_GRAPH), kernel_ns = g->size[size].kernel_ns;

	if (!a)
		return kernel_ns;
	if (isfinite(graph_ns))
		return fmax(graph_ns - a->v[MODEL_GRAPH_G] - a->v[MODEL_GRAPH_B], 0);
	if (of_streams(g, size))
		return fmax(kernel_ns - a->v[MODEL_G], 0);
	if (!g->nominal && g->size[size].shallow < 0)
		return rest_of(a, &g->point[g->size[size].deep]);
	return g->nominal && kernel_ns > 0 ? a->v[MODEL_CLOCK] * kernel_ns + a->v[MODEL_E]
					   : kernel_ns;
}

/* Device time of a unit of a fused launch; NaN: not known. */
static double fused_of(const struct price_request *r, int size)
{
	const struct grid_point *one, *none;

	two_deepest(r->work, size, MODE_FUSED, &one, &none);
	if (one && !none && r->a && r->a->has[MODE_FUSED])
		return rest_of(&r->a->model, one);
	return slope_of(r->work, size, MODE_FUSED);
}

/* ---- on B --------------------------------------------------------------------------------- */

static struct model model_for(const struct model *m, const struct price_job *job)
{
	struct model out = *m;

	if (job->measured_kernel) {
		out.v[MODEL_CLOCK] = 1;
		out.v[MODEL_E] = 0;
	}
	return out;
}

static double fused_total(const struct model *m, const struct price_job *job)
{
	return m->v[MODEL_FUSED_Z] + job->batch.depth * job->batch.launches * job->fused_ns;
}

/* The closed form: for equal kernels it is what the recursion gives, and 5000 draws take no time.
 */
static double total_of(const struct model *m, const void *arg)
{
	const struct price_job *job = arg;
	const struct model on_b = model_for(m, job);

	return job->batch.mode == MODE_FUSED ? fused_total(m, job)
					     : model_total_ns(&on_b, &job->batch);
}

static double by_recursion(const struct model *m, const struct price_job *job)
{
	const struct model on_b = model_for(m, job);

	return job->batch.mode == MODE_FUSED ? fused_total(m, job)
					     : recursion_block(&on_b, &job->batch).total_ns;
}

/* The same point, by its key, measured on B; NaN: not there. */
static double measured_ns(const struct price_request *r, int point)
{
	const struct grid *g = r->measured;
	const char *key = r->work->j->plan.point[r->work->point[point].point].key;

	for (int i = 0; g && i < g->n_points; i++)
		if (!strcmp(g->j->plan.point[g->point[i].point].key, key))
			return g->point[i].total_ns;
	return NAN;
}

/* The block by the sizes that B swept: nominal ones, where these are durations. */
static struct batch as_swept(const struct price_request *r, const struct batch *b, int size)
{
	const double *v = r->b->model.v;
	struct batch out = *b;

	if (r->b->grid->nominal && r->work->nominal)
		out.kernel_ns = r->work->size[size].kernel_ns;
	else if (r->b->grid->nominal)
		out.kernel_ns = fmax((b->kernel_ns - v[MODEL_E]) / v[MODEL_CLOCK], 0);
	return out;
}

struct price_job price_job_of(const struct price_request *r, int point)
{
	const struct grid_point *at = &r->work->point[point];
	struct price_job job = { .batch = at->batch, .measured_kernel = !r->work->nominal || r->a };

	job.batch.kernel_ns = kernel_of(r, at->size);
	job.fused_ns = fused_of(r, at->size);
	job.known = r->b->has[at->batch.mode] &&
		    (at->batch.mode != MODE_FUSED || isfinite(job.fused_ns));
	job.model = model_for(&r->b->model, &job);
	return job;
}

/* Did this block give the kernel time that it is priced with? */
static bool is_seen(const struct grid *g, const struct grid_point *at)
{
	const struct grid_point *deep, *shallow;

	two_deepest(g, at->size, at->batch.mode, &deep, &shallow);
	return at->is_k || (at->batch.mode != MODE_STREAM && (at == deep || at == shallow));
}

static void price_point(struct priced *p, const struct price_request *r, int i)
{
	const struct grid_point *at = &r->work->point[i];
	const struct price_job job = price_job_of(r, i);
	struct batch swept;

	*p = (struct priced){ .point = i, .a_ns = at->total_ns, .b_ns = measured_ns(r, i) };
	p->seen = is_seen(r->work, at);
	p->total_ns = interval_unknown(r->b->n);
	p->known = job.known;
	if (!p->known)
		return;
	swept = as_swept(r, &job.batch, at->size);
	p->covered = fit_covers(r->b, &swept);
	p->total_ns = fit_interval(r->b, total_of, &job, NULL);
	p->total_ns.value = by_recursion(&r->b->model, &job);
}

/* itself: the blocks that prices are held against are those that kernels were measured in. */
static void compare(struct prices *p, bool itself)
{
	double *error = calloc((size_t)p->n + 1, sizeof(*error));

	CHECK(error, "memory of %d prices", p->n);
	for (int i = 0; i < p->n; i++) {
		const struct priced *at = &p->priced[i];

		p->n_known += at->known;
		if (at->known && isfinite(at->b_ns) && !(itself && at->seen))
			error[p->compared++] = fabs(at->total_ns.value / at->b_ns - 1);
	}
	sort_doubles(error, p->compared);
	p->median = quantile_of_sorted(error, p->compared, 0.5);
	p->p95 = quantile_of_sorted(error, p->compared, 0.95);
	p->worst = quantile_of_sorted(error, p->compared, 1);
	free(error);
}

void price_make(struct prices *out, const struct price_request *r)
{
	*out = (struct prices){ .n = r->work->n_points };
	out->priced = calloc((size_t)out->n + 1, sizeof(*out->priced));
	CHECK(out->priced, "memory of %d prices", out->n);
	for (int i = 0; i < out->n; i++)
		price_point(&out->priced[i], r, i);
	compare(out, r->measured == r->work);
}

void prices_release(struct prices *p)
{
	free(p->priced);
	*p = (struct prices){ 0 };
}
