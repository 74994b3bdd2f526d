/* fit_choose.c - which points and parameters a part of the fit takes. */
#include "harness/model/fit_choose.h"

#include <math.h>
#include <string.h>

/* Sizes that differ by less leave open whether a gap or the clock makes kernels longer. */
static const double clock_range = 4;

void part_set_free(struct fit_part *p, int n, const enum model_param *which)
{
	p->n_free = n;
	memcpy(p->free, which, (size_t)n * sizeof(*which));
}

bool part_is_free(const struct fit_part *p, enum model_param which)
{
	for (int i = 0; i < p->n_free; i++)
		if (p->free[i] == which)
			return true;
	return false;
}

/* ---- points ------------------------------------------------------------------------------- */

static bool is_in(const struct grid *g, const bool *in, int i, enum mode mode)
{
	return g->point[i].batch.mode == mode && (!in || in[i]);
}

/* Enough points at two depths or more? */
bool part_is_enough(const struct fit_part *p)
{
	bool deep = false;

	for (int i = 1; i < p->n; i++)
		deep |= p->grid->point[p->at[i]].batch.depth !=
			p->grid->point[p->at[0]].batch.depth;
	return p->n >= POINTS_MIN && deep;
}

void part_take_mode(struct fit_part *p, const bool *in, enum mode mode)
{
	p->n = 0;
	for (int i = 0; i < p->grid->n_points; i++)
		if (is_in(p->grid, in, i, mode))
			part_take(p, i);
}

/* The smallest size of the mode that has enough points. */
void part_take_smallest(struct fit_part *p, const bool *in, enum mode mode,
			bool (*wanted)(const struct grid *, const struct batch *))
{
	const struct grid *g = p->grid;

	for (int size = 0; size < g->n_sizes; size++) {
		p->n = 0;
		for (int i = 0; i < g->n_points; i++)
			if (g->point[i].size == size && is_in(g, in, i, mode) &&
			    wanted(g, &g->point[i].batch))
				part_take(p, i);
		if (part_is_enough(p))
			return;
	}
	p->n = 0;
}

bool batch_is_half_a_queue(const struct grid *g, const struct batch *b)
{
	return b->depth * b->launches <= g->queue / 2;
}

bool batch_is_one_graph(const struct grid *g, const struct batch *b)
{
	const struct graph_shape s = graph_shape_of(b);

	(void)g;
	return s.graphs < 2 && s.rest < 1;
}

/* The least that a block takes beside one kernel: about Z. */
double part_least_beside_kernel(const struct fit_part *p, const struct fit_data *d)
{
	double least = INFINITY;

	for (int i = 0; i < p->n; i++) {
		double rest_ns = d->total_ns[p->at[i]] - p->grid->point[p->at[i]].batch.kernel_ns;

		if (rest_ns > 0)
			least = fmin(least, rest_ns);
	}
	return isfinite(least) ? least : 0;
}

/* ---- clock -------------------------------------------------------------------------------- */

/* Do these points hold sizes enough, set by the device, to tell the clock from a gap? */
bool part_says_clock(const struct fit_part *p, const struct model *m)
{
	double least = INFINITY, most = 0;
	int sizes = 0;

	for (int size = 0; p->grid->nominal && size < p->grid->n_sizes; size++) {
		double kernel_ns = p->grid->size[size].kernel_ns;
		bool there = false;

		for (int i = 0; i < p->n && kernel_ns > 0; i++) {
			const struct grid_point *at = &p->grid->point[p->at[i]];
			enum regime r = model_regime(m, &at->batch);

			there |= at->size == size && (r == REGIME_DEVICE || r == REGIME_GRAPH);
		}
		if (!there)
			continue;
		sizes++;
		least = fmin(least, kernel_ns);
		most = fmax(most, kernel_ns);
	}
	return sizes >= 3 && most >= clock_range * least;
}

/* Points of kernels, or of empty ones. */
int part_count_kernels(const struct fit_part *p, bool empty)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		n += (p->grid->point[p->at[i]].batch.kernel_ns > 0) != empty;
	return n;
}

/* Are there empty kernels and others, enough of each to tell what the others take beyond K? */
bool part_has_empty(const struct fit_part *p)
{
	int empty = part_count_kernels(p, true);

	return p->grid->nominal && empty >= POINTS_MIN && p->n - empty >= POINTS_MIN;
}

/* In stream blocks p may hide what empty kernels would say: then it changes nothing and stays out.
 */
void part_try_e(struct fit_part *p, const struct fit_data *d, struct model *m)
{
	static const double share_left = 0.9;
	const struct model before = *m;
	double without;

	if (!part_has_empty(p))
		return;
	without = part_fit(p, d, m, LOSS_GUESS);
	m->v[MODEL_E] = 100;
	p->free[p->n_free++] = MODEL_E;
	if (part_fit(p, d, m, LOSS_GUESS) < share_left * without)
		return;
	p->n_free--;
	*m = before;
	part_fit(p, d, m, LOSS_GUESS);
}
