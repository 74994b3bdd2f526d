/* remote.h - what rift's side of the layer and its daemon share. */
#ifndef RIFT_REMOTE_H
#define RIFT_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/layer.h"
#include "layers/remote/wire/wire.h"

/* Which device of the daemon's a client gets: the first one, in turn, or where least is. */
enum remote_schedule { REMOTE_FIRST, REMOTE_STATIC, REMOTE_LOAD };

struct remote_opts {
	int strict;		      /* 0: no, 1: yes */
	double poll;		      /* us; below 0: remote_poll_ns() says */
	int64_t memory;		      /* bytes */
	int transport;		      /* enum remote_transport */
	const char *listen, *connect; /* HOST:PORT; NULL: the layer's own */
	struct param_list network;    /* round trip, us; Gbit/s; 0: none, without a bound */
	const char *token;	      /* a file; NULL: likewise */
	int shared;		      /* 0: a process a client, 1: one for all */
	int schedule;		      /* enum remote_schedule */
	struct param_list devices;    /* in the order that they are dealt in; -1: all */
	int64_t block;		      /* bytes; 0: what the transport does best with */
	bool nearby; /* TCP, chosen by itself: clients on this machine share memory (tcp.h) */
};

/* How long client and daemon poll: as told, or as there are processors for it. */
int64_t remote_poll_ns(const struct remote_opts *o);

/*
 * The daemon: opens the socket in the folder, writes a byte to `ready`, and serves each client
 * that comes, in a process of its own or in a thread. Returns only where it cannot, after one line.
 */
void remote_listen(const struct remote_opts *o, const char *folder, int ready);

/* The folder's file; flags: O_CREAT or 0. NULL: errno says why. */
struct remote_shared *remote_shared_map(const char *folder, int flags);

/* TCP: a file that nobody else can read, with a new token. */
bool remote_own_token(const char *path);

/* TCP: the daemon's socket; where it is, is written to the folder's file. -1 after one line. */
int remote_listen_tcp(const struct remote_opts *o, const char *folder);

#endif
