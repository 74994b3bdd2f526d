/*
 * receive.h - a daemon's side of a socket: what comes is put where a client with shared memory
 * would have put it, and what is done is told.
 */
#ifndef RIFT_REMOTE_RECEIVE_H
#define RIFT_REMOTE_RECEIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/remote/transport/mirror.h"
#include "layers/remote/transport/socket.h"

/* What goes out, by whichever thread. */
struct outlet {
	int fd;
	pthread_mutex_t lock;
	uint64_t block_bytes;
	uint64_t told; /* the last position */
	/* Pinned memory that both sides have, and its changes; NULL: they share it. */
	struct mirrors *mirrors;
	struct mirror_pass *pass;
	atomic_bool over; /* nothing is told any more */
};

/* mirrors: NULL, or what remains as long as the outlet. */
struct outlet outlet_new(int fd, uint64_t block_bytes, struct mirrors *mirrors);

void outlet_release(struct outlet *o);

/* Tells what the device has changed in pinned memory now and then: a thread's life, until it is
 * over. */
void outlet_watch(struct outlet *o);

/* The command is done, up to that position; its answer, or NULL where it has none. */
void outlet_done(struct outlet *o, struct remote_channel *ch, const struct remote_command *c,
		 uint64_t position, const struct remote_answer *answer);

/* An answer to a command that was done before. */
void outlet_answer(struct outlet *o, unsigned thread, uint64_t position,
		   const struct remote_answer *answer);

/* Asks the client for that, with the data of a copy to it. */
void outlet_ask(struct outlet *o, const struct remote_asked *what, const void *data,
		uint32_t bytes);

enum received { RECEIVED, RECEIVED_END, RECEIVED_NONSENSE };

/* One message, into the ring and the blocks. Its command is the server's to judge. */
enum received receive_message(struct remote_inlet *in, struct remote_channel *ch,
			      struct mirrors *mirrors);

/* All that come: the rest of the thread's life, until the connection ends. */
enum received receive_all(struct remote_inlet *in, struct remote_channel *ch,
			  struct mirrors *mirrors);

#endif
