/* faults.h - results that a side lacks, or that are wrong, at the points that are compared. */
#ifndef RIFT_COMPARE_FAULTS_H
#define RIFT_COMPARE_FAULTS_H

#include "harness/base/text.h"
#include "harness/compare/side.h"

enum { FAULTS_TEXT = 160 };

struct faults {
	int results;		      /* processes times points */
	int wrong;		      /* failed their check */
	int lacking;		      /* the platform lacks a call that they need */
	int missing;		      /* for any other reason */
	char wrong_of[FAULTS_TEXT];   /* workloads, "binomial, mlp" */
	char lacks[FAULTS_TEXT];      /* calls, "cudaMallocAsync, cudaGraphLaunch" */
	char missing_of[FAULTS_TEXT]; /* workloads */
};

/* Of side k, PAIR_A or PAIR_B. */
struct faults faults_of(const struct compared_side *p, const struct pairs *pairs, int k);

#endif
