/* workers.h - the workers of a session: started, listened to, given their turns. */
#ifndef RIFT_SESSION_WORKERS_H
#define RIFT_SESSION_WORKERS_H

#include "harness/session/supervisor.h"

static inline const struct plan *session_plan(const struct session *s)
{
	return &s->journal.plan;
}

static inline int side_of(const struct lane *l)
{
	return journal_side(&l->session->journal, l->replicate);
}

/*
 * Whose turn comes first, by what both will do then (worker_await_turn()): -1: x, 1: y, 0: they are
 * level. Who is behind; where a configuration is measured apart (struct config), who has begun it,
 * up to its end.
 */
int turns_order(const int x[3], const int y[3], bool apart);

/*
 * The lane whose worker is to start next; NULL: none, or not yet. One at a time, and of a pair the
 * second one when the first has had its rounds alone: while a worker starts, the other one waits.
 */
struct lane *session_to_start(struct session *s);

/* Starts a worker of the lane's replicate, of s->policy. Returns 0 or a negative errno after one
 * line. */
int session_start_worker(struct lane *l);

/*
 * Attends to the workers that run, and gives each its turn, until one has ended (*ended; its bye is
 * NULL where it was lost) or nothing more can happen before one is started (*ended: NULL). Returns
 * 0, -ETIMEDOUT when *ended hung and was killed, -EINTR when interrupted, -ESTALE, or another
 * negative errno after one line; of the latter, no worker runs any more. point or config of *ended:
 * where it was lost; -1: nowhere.
 */
int session_attend(struct session *s, struct lane **ended);

#endif
