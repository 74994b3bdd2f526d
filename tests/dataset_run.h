/*
 * dataset_run.h - tests of workloads whose state holds a struct dataset named `set`
 * (common/dataset.h). To be included in place of tests/workload_run.h, with RUN defined.
 */
#ifndef RIFT_TESTS_DATASET_RUN_H
#define RIFT_TESTS_DATASET_RUN_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/dataset.h"
#include "harness/params/param.h"
#include "tests/divert.h"
#include "tests/workload_run.h"

#ifdef RUN

/* All outputs of all slots where they lie, guards included, to be freed. */
static inline void *run_outputs(const struct run *r, size_t *bytes)
{
	const struct dataset *set = &r->s.set;
	int first = set->shape.inputs;
	bool streamed = r->o.set.data == STREAMED_STREAMED;
	void *outputs;

	*bytes = dataset_output_bytes(&set->shape, r->o.set.slots);
	outputs = malloc(*bytes);
	CHECK(outputs, "memory");
	CUDA(cudaMemcpy(outputs,
			streamed ? dataset_host(set, first, 0) : dataset_device(set, first, 0),
			*bytes, cudaMemcpyDefault));
	return outputs;
}

/* Must pass with everything compared. */
static inline void run_passes(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(v.passed && v.compared == v.total, "%ld steps: error %g, %s", (long)steps,
		  v.error, v.worst);
}

/* Must fail, and say so with this text. */
static inline void run_fails(struct run *r, int64_t steps, const char *says)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(!v.passed && tells(v.worst, says), "not '%s': %ld steps, error %g, %s", says,
		  (long)steps, v.error, v.worst);
}

/* n steps leave the same bits in a stream, a graph and, where modes is 3, fused. */
static inline void run_modes_agree(struct run *r, int64_t n, int modes)
{
	void *outputs[3];
	size_t bytes;

	for (int mode = 0; mode < modes; mode++) {
		run_reset(r);
		(mode == 0 ? run_steps : mode == 1 ? run_graph : run_fused)(r, n);
		run_passes(r, n);
		outputs[mode] = run_outputs(r, &bytes);
		cr_assert(!memcmp(outputs[0], outputs[mode], bytes), "depth=%ld, mode %d", (long)n,
			  mode);
	}
	for (int mode = 0; mode < modes; mode++)
		free(outputs[mode]);
}

#endif

/* What tests call the default options is what a user gets. */
static inline void expect_defaults(const struct workload *w, const void *opts)
{
	for (const struct param *p = w->params; p->name; p++)
		cr_assert(param_is_default(p, opts), "%s", p->name);
}

#endif
