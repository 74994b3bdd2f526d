/* pair.h - the points that two parties have in common, by their keys. */
#ifndef RIFT_COMPARE_PAIR_H
#define RIFT_COMPARE_PAIR_H

#include "harness/compare/party.h"

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
int pairs_make(struct pairs *out, const struct party *a, const struct party *b,
	       const struct workload *workload);
void pairs_release(struct pairs *p);

#endif
