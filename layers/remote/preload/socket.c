/*
 * socket.c - a client whose daemon is at the other end of a socket (client.h). Commands go out as
 * they are written to the ring; a thread puts answers and blocks where a daemon with shared memory
 * would have put them.
 */
#include "layers/remote/transport/socket.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "layers/remote/preload/client.h"

/* ---- pinned memory, over TCP -------------------------------------------------------------- */

static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;
static struct mirror_pass pass; /* with `sending` */
static struct mirrors mirrors = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The device sees what the program writes without a call, as it does a latch, a little later. */
static void *watch_pinned(void *connection)
{
	const struct timespec rest = { .tv_nsec = MIRROR_REST_NS };
	struct connection *c = connection;

	while (!atomic_load(&c->ended)) {
		nanosleep(&rest, NULL);
		pthread_mutex_lock(&sending);
		mirrors_send(&mirrors, &pass, c->socket);
		pthread_mutex_unlock(&sending);
	}
	return NULL;
}

/* ---- what goes out; with the client's lock ------------------------------------------------ */

bool socket_send(struct connection *c, const struct remote_command *command)
{
	struct remote_frame f = {
		.message = MESSAGE_COMMAND,
		.sent_ns = remote_now_ns(),
		.threads = (uint8_t)atomic_load(&c->channel->threads),
	};
	struct iovec part[REMOTE_PARTS] = { { &f, sizeof(f) },
					    { (void *)command, command->bytes } };
	unsigned block = 0;
	bool sent;
	uint64_t bytes = remote_block_bytes(command, REMOTE_COPY_IN, c->block_bytes, &block);

	bytes = bytes ? bytes
		      : remote_block_bytes(command, REMOTE_IMAGE_PART, c->block_bytes, &block);
	f.block = (uint8_t)block;
	f.bytes = (uint32_t)bytes;
	part[2] = (struct iovec){ c->from ? (void *)c->from
					  : remote_block_in(c->channel, c->block_bytes, block),
				  bytes };
	c->from = NULL;
	pthread_mutex_lock(&sending);
	/* what the command is to find there */
	if (c->mirrors)
		mirrors_send(&mirrors, &pass, c->socket);
	sent = remote_write(c->socket, part, bytes ? 3 : 2);
	/* a part of a message, as where the program has no memory there: what follows would be read
	 * as the rest */
	if (!sent)
		shutdown(c->socket, SHUT_RDWR);
	pthread_mutex_unlock(&sending);
	return sent;
}

void socket_done(struct connection *c, uint32_t bytes)
{
	struct remote_frame f = { .message = MESSAGE_ASKED, .bytes = bytes };
	struct iovec part[2] = { { &f, sizeof(f) }, { c->channel->turn.data, bytes } };

	pthread_mutex_lock(&sending);
	if (c->mirrors)
		mirrors_send(&mirrors, &pass, c->socket);
	f.sent_ns = remote_now_ns();
	remote_write(c->socket, part, bytes ? 2 : 1);
	pthread_mutex_unlock(&sending);
}

/* ---- what comes in ------------------------------------------------------------------------ */

static bool read_answer(struct remote_inlet *in, struct remote_channel *ch,
			const struct remote_frame *f)
{
	struct remote_answer *a = &ch->answer[f->thread % REMOTE_THREADS];

	if (f->thread >= REMOTE_THREADS || f->bytes > REMOTE_ANSWER_BYTES ||
	    !remote_read(in, a->data, f->bytes))
		return false;
	remote_deliver(in, f->sent_ns, sizeof(*f) + f->bytes);
	a->error = f->error;
	a->late = f->late;
	a->bytes = f->bytes;
	atomic_store(&ch->tail, f->position);
	atomic_fetch_add(&a->count, 1);
	if (atomic_load(&a->sleeping))
		remote_wake(&a->count);
	return true;
}

/* Nothing else is asked before this is done. */
static bool read_question(struct remote_inlet *in, struct remote_turn *t,
			  const struct remote_frame *f)
{
	if (f->bytes > REMOTE_TURN_BYTES || !remote_read(in, &t->what, sizeof(t->what)) ||
	    !remote_read(in, t->data, f->bytes))
		return false;
	remote_deliver(in, f->sent_ns, sizeof(*f) + sizeof(t->what) + f->bytes);
	atomic_fetch_add(&t->asked, 1);
	remote_wake(&t->asked);
	return true;
}

/* False: it is none, or the connection has ended. */
static bool take_message(struct remote_inlet *in, struct remote_channel *ch)
{
	struct remote_frame f;

	if (!remote_read(in, &f, sizeof(f)))
		return false;
	/* of a piece that was given back meanwhile: nothing is to be done */
	if (f.message == MESSAGE_MEMORY)
		return f.bytes <= MIRROR_PAGE && mirrors_receive(&mirrors, in, &f) >= 0;
	if (f.message == MESSAGE_ASK)
		return read_question(in, &ch->turn, &f);
	if (f.message == MESSAGE_ANSWER)
		return read_answer(in, ch, &f);
	if (f.message == MESSAGE_BLOCK &&
	    (f.block >= REMOTE_BLOCKS || f.bytes > in->block_bytes ||
	     !remote_read(in, remote_block_out(ch, in->block_bytes, f.block), f.bytes)))
		return false;
	remote_deliver(in, f.sent_ns, sizeof(f) + f.bytes);
	atomic_store(&ch->tail, f.position);
	return f.message == MESSAGE_BLOCK || f.message == MESSAGE_DONE;
}

static void *take_messages(void *connection)
{
	static struct remote_inlet in;
	struct connection *c = connection;

	in.fd = c->socket;
	in.rtt_ns = c->told->rtt_ns;
	in.gbit_s = c->told->gbit_s;
	in.block_bytes = c->block_bytes;
	while (take_message(&in, c->channel))
		;
	atomic_store(&c->ended, true);
	return NULL;
}

/* The program's signals are its own threads'. */
bool socket_begin(struct connection *c)
{
	sigset_t all, before;
	pthread_t thread;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (c->transport == REMOTE_TCP) {
		c->mirrors = &mirrors;
		err = pthread_create(&thread, NULL, watch_pinned, c);
	}
	err = err ? err : pthread_create(&thread, NULL, take_messages, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return !err;
}
