/* plan_record.h - the plan as a record, and read back; what a point is called. */
#ifndef RIFT_MEASURE_PLAN_RECORD_H
#define RIFT_MEASURE_PLAN_RECORD_H

#include <jansson.h>

#include "harness/base/text.h"
#include "harness/measure/plan.h"

/* lock_mhz as records have it: a number, or "base". New reference. */
json_t *design_lock_json(const struct design *d);

/*
 * The plan as a record, and back; table: where workloads are looked for. where: put before what is
 * complained of, "FILE:1: " or "".
 */
json_t *plan_json(const struct plan *p);
int plan_parse(struct plan *out, const json_t *o, const struct workload *const *table,
	       const char *where);

/*
 * What is wrong with such a record, "points[3].depth must be 1 to 16777216"; "": nothing. Whether
 * its configurations are any of a workload's is not asked.
 */
struct text plan_wrong(const json_t *o);

/*
 * {workload, mode, depth, with several wait policies sync, and each parameter that is not at its
 * default}. New reference.
 */
json_t *plan_axes_json(const struct plan *p, int point);

/* "myocyte cells=32 graph depth 16": the kernel size, and what is at no default. */
void plan_point_text(const struct plan *p, int point, char *out, size_t size);

#endif
