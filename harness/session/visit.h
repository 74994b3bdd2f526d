/*
 * visit.h - one visit of one point: canary, a few timed blocks, canary.
 *
 * A block: reset, synchronize, clock, enqueue `depth` steps, clock (t_enq), synchronize, clock
 * (t_total). Every fourth block of a point has an event pair around its steps (t_dev).
 */
#ifndef RIFT_SESSION_VISIT_H
#define RIFT_SESSION_VISIT_H

#include <jansson.h>

#include "harness/measure/submit.h"
#include "harness/measure/plan.h"
#include "harness/record/record.h"
#include "harness/session/canary.h"

enum { VISIT_EVENT_EVERY = 4 };

/* A point made ready, and what is known of it in this process. */
struct prepared {
	struct submission submission;
	int64_t last_ns;  /* t_total of its last block */
	int64_t blocks;	  /* timed so far; which of them have events */
	int64_t check_ns; /* what its last check took; 0: none yet */
	int64_t calls;	  /* launches that the host makes in a block */
};

struct visit {
	int n, n_dev;
	int64_t enq_ns[VISIT_BLOCKS_MAX], total_ns[VISIT_BLOCKS_MAX], dev_ns[VISIT_BLOCKS_MAX];
	unsigned char marks[VISIT_BLOCKS_MAX];
	int64_t canary_ns[2];	    /* before and after, by canary_run() */
	int64_t host_canary_ns[2];  /* the same, by host_canary_run() */
	int64_t utime_us, stime_us; /* of the thread, in the blocks */
	int64_t steal_ticks;	    /* of the machine, 10 ms each; -1: unknown */
	int64_t block_ns;	    /* spent in timed blocks */
};

/* What a visit is judged by. */
struct visit_rules {
	double queue_depth;  /* launches that fit; NAN: any */
	double canary_ns;    /* what a canary should take ... */
	double canary_limit; /* ... within this share */
};

/* Is this canary off? */
bool visit_is_off(const struct visit_rules *r, int64_t canary_ns);

/*
 * One untimed block where they are short, by design_has_untimed(), then the timed ones; beside a
 * canary that is off all are marked. Returns 0, what a hook returned, or -EINTR after Ctrl-C,
 * without a line.
 */
int visit_run(struct visit *v, struct prepared *p, const struct canary *c, const struct design *d,
	      const struct visit_rules *r);

/* One untimed block, to load and upload what it needs and to know how long it takes. */
int visit_first(struct prepared *p);

/* As a line of the .visits file. */
json_t *visit_json(const struct visit *v, const struct canary *c);

#endif
