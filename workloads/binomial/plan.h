/* plan.h - how a tree is gone through by warps. */
#ifndef RIFT_BINOMIAL_PLAN_H
#define RIFT_BINOMIAL_PLAN_H

#include "workloads/binomial/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The plan of a tree of 1 to BINOMIAL_STEPS_MAX steps. */
struct binomial_plan binomial_plan(int64_t steps);

/* Nodes of the tree, as a share of the nodes that are computed. */
double binomial_useful(const struct binomial_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
