/*
 * step_cost.h - what a workload counts of a step (struct cost), as far as records keep it:
 * launches, copies and allocations. The fields are those of `step` in RECORDS.md.
 */
#ifndef RIFT_SWEEP_STEP_COST_H
#define RIFT_SWEEP_STEP_COST_H

#include <jansson.h>

#include "workloads/workload.h"

/* New reference. */
json_t *step_cost_json(const struct cost *c);

/* Back from a record; where it has none (NULL) or a damaged one, *out stays as it is. */
void step_cost_take(struct cost *out, const json_t *step);

#endif
