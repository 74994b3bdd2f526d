/* window.h - a window: from one time to another all clients of a set step, and are counted. */
#ifndef RIFT_SHARE_WINDOW_H
#define RIFT_SHARE_WINDOW_H

#include "harness/platform/nvml.h"
#include "harness/share/clients.h"
#include "harness/share/helpers.h"

/* With an allowance clients idle so long before each window: what a limit lets them save up
 * meanwhile, they have by then. */
enum { WINDOW_IDLE_S = 1 };

struct window {
	double seconds; /* how long */
	double lead_s;	/* before it: all are at work when it begins */
	double busy;	/* of the last one: share of time with a kernel, by NVML; NAN: not known */
	double daemons; /* processors that other processes used for its clients; NAN: not known */
	double memory;	/* bytes of the device in use while its clients are up; NAN: not known */
	int64_t from_ns, to_ns;
	const char *how; /* clients idle first, and work in this way (timeline.h); NULL: they work
			  * when it begins */

	struct helpers helpers;
	int64_t begun_ns, ended_ns; /* of the time that helpers were looked at */

	struct nvml nvml;
	bool has_nvml;
	int64_t sampled_ns;
	double sum;
	int samples;
};

/* NVML of the GPU at this address; "": none. */
void window_open(struct window *w, const char *pci_bus_id);
void window_close(struct window *w);

/* As the plan says; a base needs no longer than it takes to count steps, since nothing holds it
 * back. */
double window_planned_s(const struct share_plan *p, const struct share_set *set);

/* As long as planned, or longer where a client would do fewer than 4 steps in it. */
void window_for(struct window *w, const struct share *s, const struct share_set *set);

/* All clients start anew, and wait; who serves them is known then, and w->memory. Returns 0,
 * -EINTR, or -ECHILD where one is lost. */
int window_prepare(struct window *w, struct share_clients *c);

/* The clients' answers are then in c. other_words: what the process of the first client is told
 * behind the times, " crash 0"; NULL: nothing. 0 or -EINTR. */
int window_run(struct window *w, struct share_clients *c, const char *other_words);

#endif
