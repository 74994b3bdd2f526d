/*
 * rounds.h - a worker's configurations, one after the other: set up, each point run once, then all
 * of them once a round in random order, and given back. What returns an int gives 0, -EINTR, or
 * what cannot be gone on from.
 */
#ifndef RIFT_SESSION_ROUNDS_H
#define RIFT_SESSION_ROUNDS_H

#include "harness/session/worker.h"

/* The order in which a process measures its configurations, of the plan's; one for both sides. */
void worker_order(const struct worker *w, int *order);
/* What is not wanted of a configuration is left out from here on. Is anything left? */
bool worker_leave_out(struct worker *w, int config);
/*
 * Sets a configuration up and runs each of its points that is wanted once; what fails is left out.
 * Then worker_rounds() measures them, and worker_put_away() gives all of it back.
 */
int worker_prepare(struct worker *w, int config);
int worker_rounds(struct worker *w, int config);
/* w->alone rounds of its points, which are said but are no results; then there are none to come. */
int worker_rounds_alone(struct worker *w, int config);
void worker_put_away(struct worker *w, int config);
/* -ENOSYS: *r says what the platform lacks. */
int worker_set_up(struct worker *w, int config, struct refusal *r);
void worker_tear_down(struct worker *w, int config);
/* The point with the longest block, of the configuration that is set up; NULL: none. */
struct prepared *worker_longest(const struct worker *w);

#endif
