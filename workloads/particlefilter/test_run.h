/* test_run.h - a run of the particle filter through its hooks, as the harness makes one. */
#ifndef RIFT_PARTICLEFILTER_TEST_RUN_H
#define RIFT_PARTICLEFILTER_TEST_RUN_H

#include "workloads/particlefilter/test_particlefilter.h"

#define RUN particlefilter
#include "tests/workload_run.h"

/* What is left after the step of frame k: the caller's to free. */
static inline struct pf_view run_view(struct run *r, int64_t k)
{
	struct pf_view v;

	cr_assert(!particlefilter_view_init(&v, r->o.particles), "view");
	cr_assert(!particlefilter_view_read(&r->s.filter, k, &v), "view");
	return v;
}

#endif
