/* disjoint.h - why two plans have no point in common. */
#ifndef RIFT_COMPARE_DISJOINT_H
#define RIFT_COMPARE_DISJOINT_H

#include "harness/plan/plan.h"

/*
 * Says the first thing that no point of A has as one of B has it: the workload, a parameter, the
 * mode, the depth. workload: NULL, or the only one that was asked for. Returns -EPROTONOSUPPORT.
 */
int disjoint_refuse(const struct plan *a, const struct plan *b, const struct workload *workload);

#endif
