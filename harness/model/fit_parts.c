/* fit_parts.c - all parameters from one set of measurements. */
#include "harness/model/fit_choose.h"

void parts_fit(struct fit_parts *p, const struct grid *g, const bool *in, const struct fit_data *d,
	       struct model *m)
{
	*p = (struct fit_parts){ 0 };
	*m = (struct model){ { 0 } };
	m->v[MODEL_CLOCK] = m->v[MODEL_FUSED_PHI] = 1;
	m->v[MODEL_Q] = g->queue;
	for (int i = 0; i < PARTS; i++)
		part_init(&p->part[i], g);
	parts_fit_calls(p, in, d, m);
	parts_fit_graph(p, in, d, m);
	parts_fit_stream(p, in, d, m);
	parts_fit_fused(p, in, d, m);
}

void parts_refit(struct fit_parts *p, const struct fit_data *d, struct model *m)
{
	for (int i = 0; i < PARTS; i++) {
		part_fit(&p->part[i], d, m, LOSS_NEAR);
		if (i == PART_GRAPH_CALL && !p->part[i].grid->nominal)
			m->v[MODEL_GRAPH_G] = -m->v[MODEL_GRAPH_B];
		if (i == PART_STREAM && !part_is_free(&p->part[i], MODEL_P))
			m->v[MODEL_P] = m->v[MODEL_C];
	}
}

struct fit_part *parts_find(struct fit_parts *p, enum model_param which)
{
	for (int i = 0; i < PARTS; i++)
		if (p->part[i].n && part_is_free(&p->part[i], which))
			return &p->part[i];
	return NULL;
}

void parts_release(struct fit_parts *p)
{
	for (int i = 0; i < PARTS; i++)
		part_release(&p->part[i]);
}
