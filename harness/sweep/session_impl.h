/* session_impl.h - what session.c and session_worker.c share. */
#ifndef RIFT_SWEEP_SESSION_IMPL_H
#define RIFT_SWEEP_SESSION_IMPL_H

#include "harness/sweep/session.h"

/*
 * Runs one worker of s->slot to its end. Returns 0 when it ended by itself (s->bye is then NULL
 * where it was lost), -ETIMEDOUT when it hung and was killed, -EINTR when interrupted, -ESTALE, or
 * another negative errno after one line. s->point or s->config: where it was lost; -1: nowhere.
 */
int session_run_worker(struct session *s);

#endif
