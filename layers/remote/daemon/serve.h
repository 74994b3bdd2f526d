/* serve.h - a daemon's loop over the ring. */
#ifndef RIFT_REMOTE_SERVE_H
#define RIFT_REMOTE_SERVE_H

#include "layers/remote/daemon/session.h"

/*
 * Does the commands that come, one after the other, until serve_end() is called. False: the client
 * has written what cannot be one. Polls for so long before it sleeps, then until the bell rings.
 */
bool serve_channel(struct session *s, struct remote_channel *ch, int64_t poll_ns);

/* By another thread: the client is gone. What waits for it waits no longer. */
void serve_end(struct session *s, struct remote_channel *ch);

/*
 * Does those that lie between *tail and head, and moves *tail. False: one of them is none. buffer:
 * REMOTE_COMMAND_BYTES, at a multiple of 16.
 */
bool serve_commands(struct session *s, struct remote_channel *ch, uint64_t *tail, uint64_t head,
		    struct remote_command *buffer);

/* Shown each command that was taken from the ring, before it is done; for tests. NULL: nobody. */
extern void (*serve_shown)(const struct remote_command *c);

#endif
