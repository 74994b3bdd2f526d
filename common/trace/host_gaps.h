/*
 * host_gaps.h - what the host takes from one call to the next, from runs that are hardly slowed.
 *
 * CUPTI slows a program's calls, and what that adds is known from a calibration, not from the
 * program itself. A recording of calls alone costs a fraction of that, but knows nothing of the
 * device. So the two are joined: what the device does, and in which order, is the first one's, and
 * how long the host takes is the second one's.
 *
 * Calls of a kind that all recordings saw equally often, apart by 2 calls or 2 % at most, are
 * common. passages.h says what kinds, passages and pairs are. A passage with a wait in it, or to a
 * query, is none.
 *
 * The lighter runs give each pair a mean. Passages longer than four times the median plus 10 us do
 * not count. Each traced passage of the pair then becomes shorter, or longer, by the same number of
 * ns, but never less than 0. The number is such that the mean of those that count is the lighter
 * runs': what a recorder adds is no share of how long a host sleeps. Where a passage is still
 * longer than theirs without any gap, the launch that it begins with takes less than its price.
 *
 * A passage that begins with a launch includes that launch. A launch that lasted four times as long
 * as usual plus 10 us, or that found its queue full, makes the passage no sample. A launch behind a
 * wait, or a captured one, is left out: Z has what it takes to wake an idle device.
 *
 * CUPTI slows graphs, too: their nodes stand further apart. A stretch leads from the return of one
 * wait to that of the next. Where the thread's graphs ran for four fifths of it or more, it waited
 * for them. What such stretches are longer by, re-timed, than in the lighter runs, is taken off
 * their graphs, all by one factor. What the lighter recorder adds stays in its stretches. Where
 * several threads wait, or the runs wait once more or less often, nothing is taken off.
 */
#ifndef RIFT_TRACE_HOST_GAPS_H
#define RIFT_TRACE_HOST_GAPS_H

#include <jansson.h>

#include "common/trace/retime.h"

/* Pairs with fewer passages in a run are left as they were recorded. */
enum { HOST_PAIR_LEAST = 20 };
/* Pairs in a trace, beside CALL_KINDS_MAX functions: beyond that it is refused. */
enum { HOST_PAIRS_MAX = 20000 };

/*
 * What runs with calls alone say of a program. `full` is a recording of it, calibrated, and stays
 * until host_gaps_free(). First all runs are counted, then all are added: each trace may be
 * released in between.
 */
struct host_gaps *host_gaps_new(const struct trace *full);
void host_gaps_count(struct host_gaps *g, const struct trace *run);
void host_gaps_add(struct host_gaps *g, const struct trace *run);
void host_gaps_free(struct host_gaps *g);

/* {runs, by_kernel, functions[], pairs[{from, to, after, n, ns, median_ns}], graph_waits{n, ns}}
 * for the trace's row `runs`: a new reference, or NULL where there is neither a pair nor a wait for
 * graphs. */
json_t *host_gaps_json(struct host_gaps *g);

/*
 * Corrects the gaps of a trace that has such means, and what its graphs take; prices: by which it
 * is re-timed without the recorder. Returns how many gaps have a known mean, changed or not: 0
 * where the trace has no such means.
 */
int64_t host_gaps_apply(struct steps *s, const struct call_prices *prices);

#endif
