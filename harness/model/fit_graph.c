/* parts_fit_graph.c - launch calls, and what graph and fused blocks take. */
#include <math.h>

#include "harness/model/fit_choose.h"

/* ---- calls -------------------------------------------------------------------------------- */

/* Per launch, of one of the blocks. */
static double call_start(const struct fit_part *p, const struct fit_data *d)
{
	const struct batch *b;

	if (!p->n)
		return 0;
	b = &p->grid->point[p->at[0]].batch;
	return d->enq_ns[p->at[0]] / (b->depth * b->launches);
}

void parts_fit_calls(struct fit_parts *p, const bool *in, const struct fit_data *d, struct model *m)
{
	struct fit_part *call = &p->part[PART_CALL], *graph = &p->part[PART_GRAPH_CALL];

	call->enqueue = call->offset = graph->enqueue = true;
	part_take_smallest(call, in, MODE_STREAM, batch_is_half_a_queue);
	part_set_free(call, 1, (enum model_param[]){ MODEL_C });
	m->v[MODEL_C] = call_start(call, d);
	part_fit(call, d, m, LOSS_GUESS);
	part_take_smallest(graph, in, MODE_GRAPH, batch_is_one_graph);
	part_set_free(graph, 2, (enum model_param[]){ MODEL_GRAPH_A, MODEL_GRAPH_B });
	m->v[MODEL_GRAPH_A] = graph->n ? d->enq_ns[graph->at[0]] : 0;
	part_fit(graph, d, m, LOSS_GUESS);
}

/* ---- graph -------------------------------------------------------------------------------- */

static int relaunches(const struct fit_part *p)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		n += !batch_is_one_graph(p->grid, &p->grid->point[p->at[i]].batch);
	return n;
}

void parts_fit_graph(struct fit_parts *p, const bool *in, const struct fit_data *d, struct model *m)
{
	struct fit_part *graph = &p->part[PART_GRAPH];

	part_take_mode(graph, in, MODE_GRAPH);
	p->has[MODE_GRAPH] = part_is_enough(graph);
	if (!p->has[MODE_GRAPH]) {
		graph->n = 0;
		return;
	}
	part_set_free(graph, 1, (enum model_param[]){ MODEL_GRAPH_Z });
	m->v[MODEL_GRAPH_Z] = part_least_beside_kernel(graph, d);
	m->v[MODEL_GRAPH_G] = -m->v[MODEL_GRAPH_B]; /* where K is measured, see model.h */
	if (graph->grid->nominal) {
		graph->free[graph->n_free++] = MODEL_GRAPH_G;
		m->v[MODEL_GRAPH_G] = 0.1 * m->v[MODEL_GRAPH_Z];
	}
	if (relaunches(graph) >= POINTS_MIN)
		graph->free[graph->n_free++] = MODEL_GRAPH_GG;
	if (part_says_clock(graph, m))
		graph->free[graph->n_free++] = MODEL_CLOCK;
	if (part_has_empty(graph))
		graph->free[graph->n_free++] = MODEL_E;
	part_fit(graph, d, m, LOSS_GUESS);
}

/* ---- fused -------------------------------------------------------------------------------- */

void parts_fit_fused(struct fit_parts *p, const bool *in, const struct fit_data *d, struct model *m)
{
	struct fit_part *fused = &p->part[PART_FUSED];

	part_take_mode(fused, in, MODE_FUSED);
	p->has[MODE_FUSED] = part_is_enough(fused);
	if (!p->has[MODE_FUSED]) {
		fused->n = 0;
		return;
	}
	part_set_free(fused, 1, (enum model_param[]){ MODEL_FUSED_Z });
	if (part_count_kernels(fused, false) >= POINTS_MIN) {
		fused->free[fused->n_free++] = MODEL_FUSED_PHI;
		fused->free[fused->n_free++] = MODEL_FUSED_B;
	}
	if (part_count_kernels(fused, true) >= POINTS_MIN)
		fused->free[fused->n_free++] = MODEL_FUSED_B0;
	m->v[MODEL_FUSED_Z] = m->v[MODEL_Z];
	part_fit(fused, d, m, LOSS_GUESS);
}
