/*
 * retime.h - when a traced program's calls and operations would have been without the recorder, or
 * with other prices: a discrete-event simulation.
 *
 * The order of calls, the host's gaps between them, what depends on what, and how long kernels and
 * copies last are taken from the trace. What calls cost is taken from prices. State: the time of
 * each thread, the end of each stream, a queue for each direction of copies, the end of all
 * submissions, and the launches under way of each stream.
 *
 *   gap           h += (what the thread did since its last call, less the recorder's part) x factor
 *   launch        waits for a place among the window's; h += c; W = max(h, W) + d
 *                 start = max(W + L, end of its stream + g, what it depends on); end = start + K
 *   graph launch  the same with a + b n for c; the span of its nodes for K
 *   event         a record keeps the end of its stream, a wait is another thing to depend on
 *   legacy stream waits for all streams but non-blocking ones, and they for it
 *   sync          h = max(h + c_sync, end of what it waits for + wake)
 *   copy          starts so long after its call as recorded, behind its stream and its direction's
 *                 queue; where the call waits, h = end + what it took from there to its return
 *   other kinds   of queued operations than kernels stand apart by g and by what was recorded
 *                 beyond it
 *   free          waits for the device where the recorded one did
 *   polling       queries in a row that end with what they ask for are one wait
 *   long launch   one that lasts much longer than launches do, without a full queue: what it takes
 *                 beyond c stays. It loads code where no launch of its kernel had returned, or
 *                 waits while another thread does; else its thread lost its processor
 *   threads       a gap in which a thread slept, and that ends right after another thread's
 *                 synchronize: it waited for that one
 *
 * L + wake = Z - c - K0 is known only as a sum: each is half of it.
 */
#ifndef RIFT_TRACE_RETIME_H
#define RIFT_TRACE_RETIME_H

#include "common/trace/steps.h"

/* ---- prices ----------------------------------------------------------------------------- */

/* NAN: as recorded. */
struct copy_price {
	double latency_ns, ns_per_byte;
};

/* What one call takes beyond what was recorded of it. */
struct call_extra {
	double call_ns;	  /* to its return; of a launch: beyond its price */
	double lead_ns;	  /* copy: to its start */
	double tail_ns;	  /* copy that waits: from its end to the return */
	double length_ns; /* each of its operations; negative: shorter */
};

/* What calls cost on a platform; prices_of_trace(): on the one that the trace is of. */
struct call_prices {
	double launch_ns;	  /* c */
	double submission_ns;	  /* d; 0: there is no submission proxy that is slower than c */
	double start_ns, wake_ns; /* L; from the end of work to the return of a synchronize */
	double gap_ns;		  /* g: between operations that are queued */
	double window;		  /* Q, launches of a stream; INFINITY: no limit */
	double notice_ns;	  /* from a place in the queue to the call that takes it */
	double graph_call_ns[2];  /* a, b of a + b n; NAN: as recorded */
	double graph_added_ns;	  /* added to each launch of a graph */
	double graph_start_ns;	  /* added to L where a graph starts */
	double node_gap_ns;	  /* added between nodes of graphs */
	double sync_ns;		  /* c_sync; NAN: as recorded */
	double copy_latency_ns;	  /* added to each copy */
	struct copy_price copy[COPY_DIRECTIONS];
	double host_factor;		/* of host gaps */
	double clock_factor;		/* of kernels */
	const struct call_extra *extra; /* one for each call; NULL: none */
};

/* One of QUANTILES of its calibration for each of c, Z and g. The trace is calibrated. */
struct call_prices prices_of_trace(const struct trace *t, int c, int z, int g);

/* ---- times ------------------------------------------------------------------------------ */

struct span {
	double t0, t1;
};

/* When calls and operations are; start and end are the process's. */
struct timed {
	struct span *call, *op;
	double start, end;
};

/* As recorded. */
void timed_recorded(struct timed *out, const struct steps *s);

/* As simulated. */
void timed_priced(struct timed *out, const struct steps *s, const struct call_prices *p);

void timed_release(struct timed *t);

/* How long the process takes with these prices. */
double retimed_ns(const struct steps *s, const struct call_prices *p);

#endif
