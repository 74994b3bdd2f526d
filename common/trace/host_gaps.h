/*
 * host_gaps.h - what the host takes from one call to the next, from runs that are hardly slowed.
 *
 * CUPTI slows a program's calls, and what that adds is known from a calibration, not from the
 * program itself. A recording of calls alone costs some tens of ns a call, but knows nothing of the
 * device. So the two are joined: what the device does, and in which order, is the first one's, and
 * how long the host takes is the second one's.
 *
 * Functions that both recordings saw equally often are common. A passage leads from one common call
 * to the next, of a thread or of threads that hand work to each other. Passages between the same
 * two functions are a pair, and a pair has one mean: of the lighter runs it is known, and the
 * traced gaps of the pair are scaled until their mean is the same. What only one of the two
 * recorders sees lies within passages: cuBLAS launches by the driver, say.
 */
#ifndef RIFT_TRACE_HOST_GAPS_H
#define RIFT_TRACE_HOST_GAPS_H

#include <jansson.h>

#include "common/trace/steps.h"

/* Fewer passages of a run than that are left as they were recorded. */
enum { HOST_PAIR_LEAST = 20 };

/*
 * From n recordings of calls alone of the program that `full` is of: a new reference,
 * {runs, functions[], pairs[{from, to, after, n, ns}]}, for the trace's row `runs`. NULL where they
 * have no function in common.
 */
json_t *host_gaps_json(const struct trace *full, const struct trace *calls, int n);

/*
 * Scales the gaps of a trace that has such means; launch_ns: what its launches are priced at.
 * Returns how many gaps that concerns: 0 where it has none.
 */
int64_t host_gaps_apply(struct steps *s, double launch_ns);

#endif
