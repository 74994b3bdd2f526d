/* plan.h - how a tree is gone through by warps. */
#ifndef RIFT_BINOMIAL_PLAN_H
#define RIFT_BINOMIAL_PLAN_H

#include "workloads/binomial/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a tree of 1 to BINOMIAL_STEPS_MAX steps. */
struct binomial_plan binomial_plan(int64_t steps);

/* The share of the nodes that are computed which the tree has. */
double binomial_useful(const struct binomial_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
