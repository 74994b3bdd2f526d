/* library.c - see library.h. */
#include "harness/fit/library.h"

#include <math.h>
#include <string.h>

#include "common/cost.h"
#include "harness/fit/price.h"
#include "workloads/workload.h"

static bool is_cublas(const struct config *c)
{
	char value[64];
	int i = params_find(c->params.rows, "impl", strlen("impl"));

	if (strcmp(c->workload->name, "matmul") != 0 || i < 0)
		return false;
	param_format(&c->params.rows[i], c->params.opts, value, sizeof(value));
	return !strcmp(value, "cublas");
}

/* Products that stay on the device: copies would count as well. False: the session has none. */
static bool take_products(struct grid *g, const struct fit *launches)
{
	const struct grid *of = launches->grid;
	const struct plan *p = &of->j->plan;

	for (int i = 0; i < p->n_configs; i++) {
		if (!is_cublas(&p->config[i]))
			continue;
		if (!grid_make_like(g, of->j, of->side, &p->config[i]) && g->n_points &&
		    !(of->j->step[g->point[0].point].to_device.calls > 0))
			return true;
		grid_release(g);
	}
	*g = (struct grid){ 0 };
	return false;
}

/*
 * ns that a product of the smallest size takes beyond a launch; its step has a launch beside it.
 * NAN: of one depth alone.
 */
static double beyond_launch_ns(const struct grid *g, const struct fit *launches)
{
	const struct grid_point *large, *small;

	grid_two_deepest(g, 0, MODE_STREAM, &large, &small);
	return small ? (large->total_ns - small->total_ns) /
				       (large->batch.depth - small->batch.depth) -
			       large->batch.launches * launches->model.v[MODEL_P]
		     : NAN;
}

bool library_ratio(double *out, const struct fit *a, const struct fit *b)
{
	struct grid on_a = { 0 }, on_b = { 0 };
	bool has = take_products(&on_a, a) && take_products(&on_b, b);
	double a_ns = NAN;

	if (has && on_a.j == on_b.j && on_a.n_points == on_b.n_points)
		grid_pair(&on_b, &on_a);
	if (has) {
		a_ns = beyond_launch_ns(&on_a, a);
		*out = fmax(beyond_launch_ns(&on_b, b), 0) / a_ns;
	}
	has = has && isfinite(*out) && a_ns > PRICE_CALL_SHARE * a->model.v[MODEL_C];
	grid_release(&on_b);
	grid_release(&on_a);
	return has;
}
