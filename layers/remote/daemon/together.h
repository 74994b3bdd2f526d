/*
 * together.h - one process serves all clients, a thread each. Where its device does no more, as
 * after a fault of a kernel, or it has ended, the clients that come have another process.
 *
 * The listener only starts them, one after the other, when a client comes. The process itself takes
 * clients from the socket that listens. One whose device does no more takes none, and ends when its
 * last client has. Who is on the way into it is passed on to the next.
 */
#ifndef RIFT_REMOTE_TOGETHER_H
#define RIFT_REMOTE_TOGETHER_H

#include <stdbool.h>

#include "layers/remote/daemon/server.h"

/* Held at a time before they have said who they are. */
enum { STRANGERS_MAX = 64 };

/* What a client is told where there are more. */
extern const char strangers_too_many[];

/*
 * Does not return, where the first process can be had. may_come: false: who has connected is
 * nobody's client. Without it, an error and one line.
 */
void together_listen(struct serving *with, int listening,
		     bool (*may_come)(const struct remote_opts *o, int client));

/* ---- in a process that serves all ---------------------------------------------------------- */

/* Its device does no more; says so once. */
void together_break(void *together);

/*
 * The next process serves the client, of which nothing is left to read. False: this one has to say
 * why not, as its device works or never did: the next one's would not either.
 */
bool together_pass_on(struct together *t, int client);

/* A client is served: the device works, or has. */
void together_works(struct together *t);

#endif
