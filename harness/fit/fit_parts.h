/* fit_parts.h - all parameters from one set of measurements, part by part. */
#ifndef RIFT_FIT_FIT_PARTS_H
#define RIFT_FIT_FIT_PARTS_H

#include "harness/fit/fit_part.h"

/* ---- the parts in their order ----------------------------------------------------------- */

/*
 * All parameters from one set of measurements: the parts in their order, and which points and
 * parameters each has.
 *
 *   call        c                  t_enq of stream launches, up to half a queue, smallest kernels
 *   graph_call  a, b               t_enq of single graphs, smallest kernels
 *   graph       Zg, gn, G, k, e    t_total of graph blocks
 *   stream      Z, p, g, W         t_total of stream blocks; those near the corner are bounds
 *   fused       Zf, phi, bf, b0    t_total of fused blocks
 *
 * Where there are no graphs, streams say k and e.
 */

enum { PART_CALL, PART_GRAPH_CALL, PART_GRAPH, PART_STREAM, PART_FUSED, PARTS };

struct fit_parts {
	struct fit_part part[PARTS];
	bool has[MODE_COUNT]; /* enough points of the mode */
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

/* For another thread, which refits. */
void parts_copy(struct fit_parts *out, const struct fit_parts *p);

/*
 * Is this a pace that a single block says? It is fitted, so that the model does not contradict that
 * block, but nothing checks it.
 */
bool parts_is_single(const struct fit_parts *p, enum model_param which);

void parts_release(struct fit_parts *p);

/* ---- what a part takes ------------------------------------------------------------------ */

/* Points that a part needs: fewer determine nothing, or leave nothing to check. */
enum { POINTS_MIN = 3 };

void part_set_free(struct fit_part *p, int n, const enum model_param *which);
bool part_is_free(const struct fit_part *p, enum model_param which);

/* ---- points ------------------------------------------------------------------------------- */

/* Enough points at two depths or more? */
bool part_is_enough(const struct fit_part *p);

/* All of a mode; in: NULL, or which points of the grid. */
void part_take_mode(struct fit_part *p, const bool *in, enum mode mode);

/* Those of the smallest size of the mode that has enough that are wanted; else none. */
void part_take_smallest(struct fit_part *p, const bool *in, enum mode mode,
			bool (*wanted)(const struct grid *, const struct batch *));
bool batch_is_half_a_queue(const struct grid *g, const struct batch *b);
bool batch_is_one_graph(const struct grid *g, const struct batch *b);

/* Points of kernels, or of empty ones. */
int part_count_kernels(const struct fit_part *p, bool empty);

/* The least that a block takes beside one kernel: about Z. */
double part_least_beside_kernel(const struct fit_part *p, const struct fit_data *d);

/* ---- clock and e -------------------------------------------------------------------------- */

/* Do these points hold sizes enough, set by the device, to tell the clock from a gap? */
bool part_says_clock(const struct fit_part *p, const struct model *m);

/* Are there empty kernels and others, enough of each to tell what the others take beyond K? */
bool part_has_empty(const struct fit_part *p);

/* Fits e as well, which stays free if the loss falls by what is beyond chance. */
void part_try_e(struct fit_part *p, const struct fit_data *d, struct model *m);

/* ---- the parts, in their order ------------------------------------------------------------ */

void parts_fit_calls(struct fit_parts *p, const bool *in, const struct fit_data *d,
		     struct model *m);
void parts_fit_graph(struct fit_parts *p, const bool *in, const struct fit_data *d,
		     struct model *m);
void parts_fit_stream(struct fit_parts *p, const bool *in, const struct fit_data *d,
		      struct model *m);
void parts_fit_fused(struct fit_parts *p, const bool *in, const struct fit_data *d,
		     struct model *m);

#endif
