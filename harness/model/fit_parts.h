/*
 * fit_parts.h - all parameters from one set of measurements: the parts in their order, and which
 * points and parameters each has.
 *
 *   call        c                  t_enq of stream launches, up to half a queue, smallest kernels
 *   graph_call  a, b               t_enq of single graphs, smallest kernels
 *   graph       Zg, gn, G, k, e    t_total of graph blocks
 *   stream      Z, p, g, W         t_total of stream blocks beside the corner
 *   fused       Zf, phi, bf, b0    t_total of fused blocks
 *
 * Where there are no graphs, streams say k and e.
 */
#ifndef RIFT_MODEL_FIT_PARTS_H
#define RIFT_MODEL_FIT_PARTS_H

#include "harness/model/fit_part.h"

enum { PART_CALL, PART_GRAPH_CALL, PART_GRAPH, PART_STREAM, PART_FUSED, PARTS };

struct fit_parts {
	struct fit_part part[PARTS];
	bool has[MODE_COUNT]; /* enough points of the mode */
	int corner;	      /* stream points that were left out */
	int bound[2];	      /* stream points of 2 launches or more: launch-bound, device-bound */
};

/*
 * Chooses points and parameters, and fits from several starts. in: NULL, or which points of the
 * grid to use. *p may be released after it, whatever it found.
 */
void parts_fit(struct fit_parts *p, const struct grid *g, const bool *in, const struct fit_data *d,
	       struct model *m);

/* The same points and parameters to other data, from the values of *m. */
void parts_refit(struct fit_parts *p, const struct fit_data *d, struct model *m);

/* The part that fits this parameter; NULL: none does. */
struct fit_part *parts_find(struct fit_parts *p, enum model_param which);

void parts_release(struct fit_parts *p);

#endif
