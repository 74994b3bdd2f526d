/*
 * timeline.h - what a client gets done over time: steps by the moment at which they ended.
 *
 * The client idles until the window begins, then works without a pause until it ends. Steps are
 * counted where they end on the device: when the event behind them has come. So neither the layer
 * nor its clock is asked. Queued: so many steps are under way at any time that the device never
 * waits for the host. Waited for: one at a time, as a program that synchronizes after each launch.
 */
#ifndef RIFT_SHARE_TIMELINE_H
#define RIFT_SHARE_TIMELINE_H

#include <jansson.h>
#include <stdint.h>

#include "harness/measure/submit.h"

enum timeline_how { TIMELINE_QUEUED, TIMELINE_WAITS, TIMELINE_HOWS };
extern const char *const timeline_names[]; /* by enum timeline_how, then NULL */

/* -EINVAL: none is called that. */
int timeline_find(const char *name);

#define TIMELINE_BIN_NS 10000000 /* 10 ms: the shortest window that is judged */

struct timeline {
	int64_t from_ns, to_ns; /* of clock_ns() */
	int64_t last_ns;	/* when the last step ended; at first from_ns */
	int64_t longest_ns;	/* without the end of a step */
	double *steps;		/* [bins]: that ended in each 10 ms */
	int bins;		/* the last one may be shorter */
	double *times_ns;	/* [times_max]: from the end of one step to that of the next */
	int64_t times, times_max;
};

/* steps is allocated; times_ns is the caller's. */
void timeline_init(struct timeline *p, int64_t from_ns, int64_t to_ns, double *times_ns,
		   int64_t times_max);
void timeline_release(struct timeline *p);

/* Steps ended at this moment; those after the window do not count. */
void timeline_note(struct timeline *p, int64_t ended_ns, double steps);

/* The window is over: the time since the last step counts as one without. */
void timeline_end(struct timeline *p);

/*
 * Waits for the beginning, works until the end, and waits for what is still under way. step_ns: how
 * long a step takes about, by which it is chosen how many are queued. Returns 0, or what a hook
 * returned.
 */
int timeline_run(struct timeline *p, const struct submission *s, enum timeline_how how,
		 double step_ns);

/* {bin_s, steps: [...], longest_s} */
json_t *timeline_json(const struct timeline *p);

#endif
