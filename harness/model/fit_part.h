/*
 * fit_part.h - parameters that are fitted together, to the points that say them. The parts are
 * fitted one after the other; what an earlier one found is held fixed in a later one.
 */
#ifndef RIFT_MODEL_FIT_PART_H
#define RIFT_MODEL_FIT_PART_H

#include "harness/model/fit_data.h"
#include "harness/model/loss.h"

struct fit_part {
	const struct grid *grid;
	bool enqueue; /* t_enq, not t_total */
	bool offset;  /* and a constant beside the model, of no interest */
	/* An effect that the model lacks, in units of an unknown cost, at some number of launches;
	 * NULL: none (signs.h). */
	double (*effect)(const struct batch *b, double at);
	double effect_at, effect_ns; /* effect_ns: the cost that part_fit() found */
	enum model_param free[LOSS_X_MAX];
	int n_free;
	int *at; /* numbers of the points; owned */
	int n;
	double *measured, *room; /* n values; owned */
};

void part_init(struct fit_part *p, const struct grid *g);
void part_release(struct fit_part *p);

/* Adds the point number i of the grid. */
void part_take(struct fit_part *p, int i);

/*
 * Fits from the values of *m, and leaves them there with those found. Returns the loss. Without
 * points or free parameters nothing changes.
 */
double part_fit(struct fit_part *p, const struct fit_data *d, struct model *m,
		enum loss_start start);

/*
 * Does the data hold this parameter of the part: does the loss rise, with it half or one and a half
 * times as large (at least `least` up and down) and the others free, by what a 95 % profile
 * interval asks for? m: of part_fit().
 */
bool part_holds(struct fit_part *p, const struct fit_data *d, const struct model *m,
		enum model_param which, double least);

#endif
