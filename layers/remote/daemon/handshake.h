/* handshake.h - who may be a client, and at which addresses: the daemon's side. */
#ifndef RIFT_REMOTE_HANDSHAKE_H
#define RIFT_REMOTE_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/remote/wire/wire.h"

/* How a client must come, and over TCP with what; zeros else. What network is imitated. */
struct secret {
	uint32_t transport;
	char token[REMOTE_TOKEN];
	int64_t rtt_ns, gbit_s;
};

void handshake_refuse(int client, const char *reason);

/* It is to say hello once more, with these addresses where it has them free; 0: with others. */
void handshake_again(int client, uint64_t offered);

/*
 * Until both have the same addresses free, from the one that is returned on: they are without
 * access, and to be unmapped. 0: no client that may stay. offers: where the client's are taken, it
 * is told of others, as by a process that has several clients. *h: what it has said last.
 */
uint64_t handshake_agree(int client, const struct secret *secret, bool offers,
			 struct remote_hello *h);

/* Before the device is opened: keeps the addresses that the client uses from whoever maps something
 * in this process later, as a GPU's driver does. What is there already stays. Until the process
 * ends. */
void handshake_avoid(const struct remote_hello *h);

/* With the size of the channel's blocks, and n descriptors, two at most, of what both will have
 * mapped. False: the client is gone. */
bool handshake_welcome(int client, uint64_t block_bytes, const int *fd, unsigned n);

#endif
