/* side.h - who is compared: two sides, and the points that they have in common. */
#ifndef RIFT_COMPARE_SIDE_H
#define RIFT_COMPARE_SIDE_H

#include "harness/measure/plan.h"
#include "harness/record/journal.h"

/* ---- a side ---------------------------------------------------------------------------- */

/*
 * One of the two that are compared: processes of one side of a session, which is read from a record
 * file.
 */

enum half { HALF_BOTH, HALF_FIRST, HALF_SECOND };

struct compared_side {
	const char *path;
	int side; /* of the session: 0 a, 1 b */
	enum half half;
	bool alone;	     /* the session has one side */
	struct journal view; /* its processes, as side a of a session: journal_view() */
	int n;		     /* of them */
	int failed;	     /* results that are missing or failed their check */
	double canary_ns;    /* median of the processes'; NAN: none */
};

/*
 * Halves are taken in the order 1 2 2 1, so that a drift hits both alike. The session must live as
 * long. Release it also where it was never filled in, if it is zeroed.
 */
void side_init(struct compared_side *p, const struct journal *session, const char *path, int side,
	       enum half half);
void side_release(struct compared_side *p);

/* Did each process of one run together with that of the other: pairs of one session? */
bool side_is_pair(const struct compared_side *a, const struct compared_side *b);

/* The header of its first process. */
const json_t *side_header(const struct compared_side *p);

/* Does some layer of it imitate the costs of another one? */
bool side_is_model(const struct compared_side *p);

/*
 * ns per step of every process at a point of its plan. Returns how many have measured it; only
 * where that is p->n are they in the order of processes.
 */
int side_values(const struct compared_side *p, int point, double *value);

/* ---- why two plans have no point in common ---------------------------------------------- */

/*
 * Says the first thing that no point of A has as one of B has it: the workload, a parameter, the
 * mode, the depth. workload: NULL, or the only one that was asked for. Returns -EPROTONOSUPPORT.
 */
int common_points_refuse(const struct plan *a, const struct plan *b,
			 const struct workload *workload);

/* ---- the points that two sides have in common, by their keys -------------------------- */

enum { PAIR_A, PAIR_B };

struct pair {
	int at[2];    /* numbers in the plans of A and B */
	int workload; /* number in pairs.workload[] */
	bool whole;   /* every process of both has measured it */
	/* ns per step in the order of processes; where it is not whole, of those that have it */
	double *value[2];
	int n[2];
};

struct pairs {
	struct pair *pair; /* in the order of A's plan */
	int n;
	int only[2]; /* points that only A, only B has */
	const struct workload **workload;
	int n_workloads;
};

/*
 * workload: of these points only; NULL: of all. Returns 0, or -EPROTONOSUPPORT after one line that
 * says why no point is in both. *out may be released after a failure too.
 */
int pairs_make(struct pairs *out, const struct compared_side *a, const struct compared_side *b,
	       const struct workload *workload);
void pairs_release(struct pairs *p);

#endif
