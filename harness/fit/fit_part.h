/* fit_part.h - a fit's tools: the loss, what is fitted to, parameters fitted together. */
#ifndef RIFT_FIT_FIT_PART_H
#define RIFT_FIT_FIT_PART_H

#include "harness/fit/grid.h"
#include "harness/stats/bootstrap.h"

/* ---- the loss --------------------------------------------------------------------------- */

/*
 * The loss of a point is Huber's, of its relative residual r = predicted / measured - 1:
 * r^2 / 2 up to the knee, growing with |r| beyond it (Huber, Ann. Math. Stat. 35, 1964). Blocks of
 * 5 us and of 50 ms count alike, and a point that something disturbed pulls little. It is minimised
 * without derivatives, which the closed form lacks at its corners, by NLopt: Nelder and Mead's
 * simplex with restarts (Sbplx) where the start is a guess, Powell's BOBYQA where it is near.
 *
 * A point that is a bound counts only where the prediction is beyond what was measured.
 */

#define LOSS_KNEE 0.05

enum { LOSS_X_MAX = 6 };

struct loss {
	int n, bounds;		/* points, and those behind them that are bounds */
	const double *measured; /* each above 0 */
	double *predicted;	/* as many */
	/* Fills in what all of them take with the values x. */
	void (*predict)(const void *arg, const double *x, double *out);
	const void *arg;
};

/* One value that is looked for. lo == hi: held there. */
struct unknown {
	double x, lo, hi, step; /* step: a change that matters, above 0 */
};

enum loss_start { LOSS_GUESS, LOSS_NEAR };

/* The sum over all points. */
double loss_at(const struct loss *l, const struct unknown *u, int n);

/* Moves u[].x to the minimum and returns the loss there. n: 1 to LOSS_X_MAX unknowns. */
double loss_minimise(const struct loss *l, struct unknown *u, int n, enum loss_start start);

/* ---- what the parts of a fit are fitted to ---------------------------------------------- */

/* The medians over processes, or those of one draw. */
struct fit_data {
	double *total_ns, *enq_ns; /* of each point of the grid */
	double *kernel_ns;	   /* K of each size */
};

void fit_data_of(struct fit_data *d, const struct grid *g);
void fit_data_release(struct fit_data *d);

/* Medians of every draw: [point][draw]. */
struct fit_draws {
	struct resamples resamples;
	double *total, *enq;
};

/* Returns 0, or -EINVAL after one line. Released also after a failure. */
int fit_draws_init(struct fit_draws *m, const struct grid *g, uint32_t group);
void fit_draws_release(struct fit_draws *m);

/* Those of one draw into d, which fit_data_of() has made. */
void fit_draws_take(const struct fit_draws *m, const struct grid *g, int draw, struct fit_data *d);

/* ---- parameters that are fitted together ------------------------------------------------ */

/*
 * Parameters that are fitted together, to the points that say them. The parts are fitted one after
 * the other; what an earlier one found is held fixed in a later one.
 */

/* A point as it is fitted: what no parameter changes is found once. */
struct fitted {
	struct batch batch; /* with the kernels of the data */
	struct graph_shape shape;
};

struct fit_part {
	const struct grid *grid;
	bool enqueue; /* t_enq, not t_total */
	bool offset;  /* and a constant beside the model, of no interest */
	/* An effect that the model lacks, in units of an unknown cost, at some number of launches;
	 * NULL: none (diagnostics.h). */
	double (*effect)(const struct batch *b, double at);
	double effect_at, effect_ns; /* effect_ns: the cost that part_fit() found */
	enum model_param free[LOSS_X_MAX];
	int n_free;
	int *at;       /* numbers of the points, then of those that are bounds; owned */
	int n, bounds; /* how many of each */
	double *measured, *predicted; /* of both; owned */
	struct fitted *batch;	      /* of both; owned */
	struct fit_memo *memo;	      /* of part_refit(); owned */
};

void part_init(struct fit_part *p, const struct grid *g);

/* The same points and parameters, to be fitted beside the first. */
void part_copy(struct fit_part *out, const struct fit_part *p);
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
 * The same from near, for a part that has all its points and parameters: a fit of the same values
 * from the same model is not made again.
 */
void part_refit(struct fit_part *p, const struct fit_data *d, struct model *m);

/*
 * Does the data hold this parameter of the part: does the loss rise, with it half or one and a half
 * times as large (at least `least` up and down) and the others free, by what a 95 % profile
 * interval asks for? m: of part_fit().
 */
bool part_holds(struct fit_part *p, const struct fit_data *d, const struct model *m,
		enum model_param which, double least);

/* How large it may be until the loss rises by that; INFINITY: nothing bounds it. */
double part_most(struct fit_part *p, const struct fit_data *d, const struct model *m,
		 enum model_param which, double least);

#endif
