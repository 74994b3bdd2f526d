/* remote.h - what rift's side of the layer and its daemon share. */
#ifndef RIFT_REMOTE_H
#define RIFT_REMOTE_H

#include <stdint.h>

#include "layers/layer.h"

struct remote_opts {
	int strict;	/* 0: no, 1: yes */
	double poll;	/* us */
	int64_t memory; /* bytes */
	int transport;	/* enum remote_transport */
};

/*
 * The daemon: opens the socket in the folder, writes a byte to `ready`, and has a process serve
 * each client that comes. Returns only where it cannot, after one line.
 */
void remote_listen(const struct remote_opts *o, const char *folder, int ready);

/* One client, from the handshake on, until it is gone or says what makes no sense. */
void remote_serve(const struct remote_opts *o, const char *folder, int client);

#endif
