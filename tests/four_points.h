/*
 * four_points.h - sessions of the fake workload at four points, made by hand. For one test program
 * each: everything is static.
 */
#ifndef RIFT_TESTS_FOUR_POINTS_H
#define RIFT_TESTS_FOUR_POINTS_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "harness/record/journal_impl.h"
#include "tests/fake_plan.h"

/* As if `processes` of each side had measured every point in 1000 ns a step. */
static inline struct journal session_of(int sides, int processes, bool quick)
{
	struct journal j = { .plan = four_points(fakes, quick), .sides = sides };

	j.part.fd = j.visits.fd = -1;
	journal_allocate(&j);
	for (int i = 0; i < sides * processes; i++)
		j.complete[journal_replicate(&j, i)] = true;
	for (int i = 0; i < j.replicates * POINTS; i++) {
		j.status[i] = POINT_OK;
		j.total_ns[i] = 1000.0 * (double)j.plan.point[i % POINTS].depth;
	}
	return j;
}

/* Process i of a side is off by `factor` at this point, and by i steps of `spread`. */
static inline void scale_times(struct journal *j, int side, int point, double factor, double spread)
{
	for (int i = 0; i < j->plan.design.processes; i++) {
		int replicate = side * j->plan.design.processes + i;

		j->total_ns[replicate * POINTS + point] *= factor + spread * (i % 5 - 2);
	}
}

#endif
