/*
 * loss.h - the values that make a prediction fit measurements best.
 *
 * The loss of a point is Huber's, of its relative residual r = predicted / measured - 1:
 * r^2 / 2 up to the knee, growing with |r| beyond it (Huber, Ann. Math. Stat. 35, 1964). Blocks of
 * 5 us and of 50 ms count alike, and a point that something disturbed pulls little. It is minimised
 * without derivatives, which the closed form lacks at its corners, by NLopt: Nelder and Mead's
 * simplex with restarts (Sbplx) where the start is a guess, Powell's BOBYQA where it is near.
 */
#ifndef RIFT_MODEL_LOSS_H
#define RIFT_MODEL_LOSS_H

#define LOSS_KNEE 0.05

enum { LOSS_X_MAX = 6 };

struct loss {
	int n;			/* points */
	const double *measured; /* each above 0 */
	double *room;		/* n values */
	/* Fills in what n points take with the values x. */
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

#endif
