/*
 * conformance.h - a workload of the table at a small size, driven through its hooks, for tests that
 * ask of every workload what workloads/workload.h promises.
 *
 * Its options are the defaults, with the least value of the axis, fewer images, layers and
 * positions, a smaller model and smaller pictures, and with as many data sets as a test wants where
 * steps take some in turn (common/dataset.h).
 */
#ifndef RIFT_TESTS_CONFORMANCE_H
#define RIFT_TESTS_CONFORMANCE_H

#include "harness/base/param.h"
#include "workloads/workload.h"

struct driven {
	const struct workload *w;
	void *opts, *state;
	struct params params;
	struct limits limits;
	cudaStream_t stream;
};

/* Ends the test where that fails. */
struct driven *driven_begin(const struct workload *w, int slots);
void driven_end(struct driven *s);

/* May it run so many steps in that mode? */
bool driven_allows(const struct driven *s, enum mode mode, int64_t n);

/* A reset, n steps in that mode, and all of it is over. A graph of an even n is half of it, twice.
 */
void driven_run(struct driven *s, enum mode mode, int64_t n);
void driven_reset(struct driven *s);
void driven_add(struct driven *s, enum mode mode, int64_t n);

/* Does the workload's check pass, of so many steps? */
bool driven_passes(struct driven *s, enum mode mode, int64_t n);

#endif
