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
#include "tests/cli.h"
#include "tests/rows.h"
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

/* A graph takes the slot after the last one's, resident: a step's slot is the device's choice. */
static inline void run_graphs_go_on(struct RUN_NAME(, RUN, _opts) o)
{
	struct run *r;

	need_device();
	o.set.slots = 5;
	r = run_begin(o);
	run_graphs(r, 2, 2);
	run_passes(r, 4); /* slot 4 is still poison */
	run_fused(r, 3);
	run_passes(r, 7);
	run_fails(r, 6, "7 steps *6");
	run_end(r);
}

/* ---- data=streamed ---------------------------------------------------------------------- */

static inline void run_streams(struct RUN_NAME(, RUN, _opts) o, int64_t steps)
{
	struct run *r = run_begin(o);

	run_steps(r, steps);
	run_passes(r, steps);
	run_reset(r);
	run_steps(r, 1);
	run_passes(r, 1); /* the other slots are poison again */
	run_end(r);
}

/* A graph repeats the slots that it saw when it was captured: the host has chosen them. */
static inline void run_graphs_repeat(struct RUN_NAME(, RUN, _opts) o)
{
	struct run *r;

	o.set.slots = 3;
	r = run_begin(o);
	run_graphs(r, 2, 2);
	run_passes(r, 4);
	run_fails(r, 2, "4 steps *2");
	run_reset(r);
	run_fails(r, 4, "0 steps *4");
	run_end(r);
}

/* Two steps leave the same bits, however data travel. */
static inline void run_same_bits(struct RUN_NAME(, RUN, _opts) a, struct RUN_NAME(, RUN, _opts) b)
{
	struct run *r[2] = { run_begin(a), run_begin(b) };
	void *outputs[2];
	size_t bytes[2];

	for (int i = 0; i < 2; i++) {
		run_steps(r[i], 2);
		outputs[i] = run_outputs(r[i], &bytes[i]);
		run_end(r[i]);
	}
	cr_assert(bytes[0] == bytes[1] && !memcmp(outputs[0], outputs[1], bytes[0]), "overlap=%ld",
		  (long)b.set.overlap);
	for (int i = 0; i < 2; i++)
		free(outputs[i]);
}

/* ---- what is refused, and what is said of steps ------------------------------------------ */

static inline struct limits run_limits(struct RUN_NAME(, RUN, _opts) o)
{
	struct limits limits;

	cr_assert(!workload_limits(&RUN_WORKLOAD, &o, &limits), "limits");
	return limits;
}

/* Copies and modes that none of them can have; the command's own options are right. */
static inline void run_copies_refused(const char *command)
{
	static const struct wrong_args rows[] = {
		{ "memory=pageable", "memory=pageable has no effect" },
		{ "data=streamed block=100000", "block=100000: must be 0 or a power of two" },
		{ "data=streamed memory=pageable --mode graph", "stream mode only" },
		{ "data=streamed --mode fused", "data=streamed has copies" },
	};

	ROWS_REFUSED(command, rows);
}

/* What tests call the default options is what a user gets, and no mode is refused. */
static inline void run_defaults(struct RUN_NAME(, RUN, _opts) o)
{
	struct limits limits = run_limits(o);

	rows_default_to(&RUN_WORKLOAD, &o);
	for (int m = 0; m < MODE_COUNT; m++)
		cr_assert(!limits.mode_refused[m], "mode %d", m);
}

/* Where it takes no state. */
static inline struct cost run_cost(struct RUN_NAME(, RUN, _opts) o)
{
	struct cost c;

	cr_assert(!RUN_WORKLOAD.cost(&o, NULL, &c), "cost");
	return c;
}

/* A run that ends with its report; static memory. */
static inline const struct report *run_report(struct RUN_NAME(, RUN, _opts) o)
{
	static struct report report;
	struct run *r;

	need_device();
	r = run_begin(o);
	report.n = 0;
	cr_assert(!RUN_WORKLOAD.report(&r->o, &r->s, &report), "report");
	run_end(r);
	return &report;
}

#endif

#endif
