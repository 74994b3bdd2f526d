/* session_impl.h - what session.c, session_process.c and session_worker.c share. */
#ifndef RIFT_SWEEP_SESSION_IMPL_H
#define RIFT_SWEEP_SESSION_IMPL_H

#include "harness/sweep/session.h"

static inline const struct plan *plan_of(const struct session *s)
{
	return &s->journal.plan;
}

/*
 * All of the process s->slot that is missing, its trailer included. Returns 0, -EINTR when
 * interrupted, -ESTALE, or another negative errno after one line.
 */
int session_run_process(struct session *s);

/* Between processes, so that they do not all fall into the same beat of the machine. */
void session_pause(const struct session *s, int turn);

/*
 * Runs one worker of s->slot and s->kind to its end. Returns 0 when it ended by itself (s->bye is
 * then NULL where it was lost), -ETIMEDOUT when it hung and was killed, -EINTR when interrupted,
 * -ESTALE, or another negative errno after one line. s->point or s->config: where it was lost; -1:
 * nowhere.
 */
int session_run_worker(struct session *s);

#endif
