/*
 * host_gaps.h - what the host takes from one call to the next, from runs that are hardly slowed.
 *
 * CUPTI slows a program's calls, and what that adds is known from a calibration, not from the
 * program itself. A recording of calls alone costs a fraction of that, but knows nothing of the
 * device. So the two are joined: what the device does, and in which order, is the first one's, and
 * how long the host takes is the second one's.
 *
 * Functions that all recordings saw equally often are common. A passage leads from one common call
 * to the next, of a thread or of threads that hand work to each other. What only one of the two
 * recorders sees lies within passages: cuBLAS launches by the driver, say. Passages between the
 * same two functions are a pair.
 *
 * The lighter runs give each pair a mean. Passages longer than four times the median and 10 us do
 * not count. The traced passages of the pair are then made shorter, or longer, all by so many ns
 * that their mean is the same: what a recorder adds is no share of how long a host sleeps.
 *
 * A launch is the host's time, so a passage that begins with one has it, too. It has not where it
 * waited for a full queue or loaded code, which is no sample, and not right behind a wait: there Z
 * says what a launch takes that wakes an idle device.
 */
#ifndef RIFT_TRACE_HOST_GAPS_H
#define RIFT_TRACE_HOST_GAPS_H

#include <jansson.h>

#include "common/trace/steps.h"

/* Pairs with fewer passages in a run are left as they were recorded. */
enum { HOST_PAIR_LEAST = 20 };
/* Names of functions, and pairs, in a trace: beyond that it is refused. */
enum { HOST_FUNCTIONS_MAX = 1000, HOST_PAIRS_MAX = 20000 };

/*
 * What runs with calls alone say of the program that `full` is a recording of, which is calibrated
 * and outlives this. First all of them are counted, then all are added: each trace may be released
 * in between.
 */
struct host_gaps *host_gaps_new(const struct trace *full);
void host_gaps_count(struct host_gaps *g, const struct trace *run);
void host_gaps_add(struct host_gaps *g, const struct trace *run);
void host_gaps_free(struct host_gaps *g);

/* {runs, functions[], pairs[{from, to, after, n, ns}]} for the trace's row `runs`: a new reference,
 * or NULL where there is no pair. */
json_t *host_gaps_json(struct host_gaps *g);

/*
 * Corrects the gaps of a trace that has such means; launch_ns: what its launches are priced at.
 * Returns how many gaps that concerns: 0 where it has none.
 */
int64_t host_gaps_apply(struct steps *s, double launch_ns);

#endif
