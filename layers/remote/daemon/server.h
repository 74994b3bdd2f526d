/* server.h - serves one client, from its hello to its end: in a process or in a thread of its own.
 */
#ifndef RIFT_REMOTE_SERVER_H
#define RIFT_REMOTE_SERVER_H

#include "layers/remote/daemon/handshake.h"
#include "layers/remote/remote.h"
#include "layers/remote/daemon/schedule.h"

/* What every client is served with. */
struct serving {
	const struct remote_opts *o;
	const char *folder;
	struct secret secret;
	struct schedule *schedule; /* NULL: there is one device */
	struct together *together; /* NULL: each client has a process of its own */
};

/*
 * `known` is called when the client has shown that it may stay, or that it may not. Where the
 * process is the client's alone, that ends with it, and the call does not return then. Else the
 * call returns when nothing is left of the client, but for its socket, which is the caller's.
 */
void server_run(const struct serving *with, int client, void (*known)(void *arg), void *arg);

#endif
