/* receive.c - see receive.h. */
#include "layers/remote/transport/receive.h"

#include "common/check.h"

/* ---- what goes out ------------------------------------------------------------------------ */

struct outlet outlet_new(int fd, uint64_t block_bytes, struct mirrors *mirrors)
{
	struct outlet o = { .fd = fd,
			    .lock = PTHREAD_MUTEX_INITIALIZER,
			    .block_bytes = block_bytes,
			    .mirrors = mirrors };

	if (mirrors)
		o.pass = calloc(1, sizeof(*o.pass));
	CHECK(!mirrors || o.pass, "memory of changes");
	return o;
}

void outlet_release(struct outlet *o)
{
	free(o->pass);
	pthread_mutex_destroy(&o->lock);
}

/* With the lock. */
static void send_changes(struct outlet *o)
{
	if (o->mirrors)
		mirrors_send(o->mirrors, o->pass, o->fd);
}

void outlet_watch(struct outlet *o)
{
	const struct timespec rest = { .tv_nsec = MIRROR_REST_NS };

	while (!atomic_load(&o->over)) {
		nanosleep(&rest, NULL);
		pthread_mutex_lock(&o->lock);
		send_changes(o);
		pthread_mutex_unlock(&o->lock);
	}
}

/* A client that is gone is noticed where its messages come in. What it hears of it finds done. */
static void send_message(struct outlet *o, struct remote_frame f, const void *body)
{
	struct iovec part[2] = { { &f, sizeof(f) }, { (void *)body, f.bytes } };

	pthread_mutex_lock(&o->lock);
	o->told = f.position;
	f.sent_ns = remote_now_ns();
	if (f.message == MESSAGE_ANSWER)
		send_changes(o);
	remote_write(o->fd, part, f.bytes ? 2 : 1);
	pthread_mutex_unlock(&o->lock);
}

void outlet_answer(struct outlet *o, unsigned thread, uint64_t position,
		   const struct remote_answer *answer)
{
	const struct remote_frame f = {
		.message = MESSAGE_ANSWER,
		.thread = (uint8_t)thread,
		.bytes = answer->bytes,
		.position = position,
		.error = answer->error,
		.late = answer->late,
	};

	send_message(o, f, answer->data);
}

void outlet_ask(struct outlet *o, const struct remote_asked *what, const void *data, uint32_t bytes)
{
	struct remote_frame f = { .message = MESSAGE_ASK, .bytes = bytes };
	struct iovec part[3] = { { &f, sizeof(f) },
				 { (void *)what, sizeof(*what) },
				 { (void *)data, bytes } };

	pthread_mutex_lock(&o->lock);
	f.sent_ns = remote_now_ns();
	send_changes(o);
	remote_write(o->fd, part, bytes ? 3 : 2);
	pthread_mutex_unlock(&o->lock);
}

/* A client waits for its blocks and for room in the ring, of which it must hear in time. */
void outlet_done(struct outlet *o, struct remote_channel *ch, const struct remote_command *c,
		 uint64_t position, const struct remote_answer *answer)
{
	struct remote_frame f = { .position = position };
	unsigned block = 0;
	uint64_t bytes = remote_block_bytes(c, REMOTE_COPY_OUT, o->block_bytes, &block);

	if (bytes) {
		f.message = MESSAGE_BLOCK;
		f.block = (uint8_t)block;
		f.bytes = (uint32_t)bytes;
		send_message(o, f, remote_block_out(ch, o->block_bytes, block));
	}
	if (answer) {
		outlet_answer(o, c->thread, position, answer);
	} else if (!bytes && (c->op == REMOTE_COPY_IN || c->op == REMOTE_IMAGE_PART ||
			      position - o->told >= REMOTE_RING_BYTES / 4)) {
		f.message = MESSAGE_DONE;
		send_message(o, f, NULL);
	}
}

/* ---- what comes in ------------------------------------------------------------------------ */

/* Room for so many bytes where the client's ring has them. NULL: it may not send so much yet. */
static uint8_t *room_in_ring(struct remote_channel *ch, uint64_t *head, uint64_t bytes)
{
	uint64_t skipped = remote_skipped(*head, bytes);

	if (*head + skipped + bytes - atomic_load(&ch->tail) > REMOTE_RING_BYTES)
		return NULL;
	if (skipped) {
		struct remote_command pad = { .bytes = (uint32_t)skipped, .op = REMOTE_PAD };

		pad.payload = (uint32_t)(skipped - sizeof(pad));
		memcpy(ch->ring + *head % REMOTE_RING_BYTES, &pad, sizeof(pad));
	}
	*head += skipped;
	return ch->ring + *head % REMOTE_RING_BYTES;
}

/* False: the connection has ended. */
static bool read_block(struct remote_inlet *in, struct remote_channel *ch,
		       const struct remote_frame *f)
{
	return !f->bytes ||
	       remote_read(in, remote_block_in(ch, in->block_bytes, f->block), f->bytes);
}

static void publish(struct remote_channel *ch, uint64_t head)
{
	atomic_store(&ch->head, head);
	if (atomic_load(&ch->sleeping)) {
		atomic_fetch_add(&ch->bell, 1);
		remote_wake(&ch->bell);
	}
}

static enum received receive_memory(struct remote_inlet *in, const struct remote_frame *f,
				    struct mirrors *mirrors)
{
	int got = mirrors_receive(mirrors, in, f);

	return got > 0 ? RECEIVED : got ? RECEIVED_END : RECEIVED_NONSENSE;
}

static enum received receive_asked(struct remote_inlet *in, struct remote_channel *ch,
				   const struct remote_frame *f)
{
	if (f->bytes > REMOTE_TURN_BYTES)
		return RECEIVED_NONSENSE;
	if (!remote_read(in, ch->turn.data, f->bytes))
		return RECEIVED_END;
	remote_deliver(in, f->sent_ns, sizeof(*f) + f->bytes);
	atomic_fetch_add(&ch->turn.done, 1);
	remote_wake(&ch->turn.done);
	return RECEIVED;
}

enum received receive_message(struct remote_inlet *in, struct remote_channel *ch,
			      struct mirrors *mirrors)
{
	uint64_t head = atomic_load(&ch->head);
	struct remote_command c;
	struct remote_frame f;
	uint8_t *at;

	if (!remote_read(in, &f, sizeof(f)))
		return RECEIVED_END;
	if (f.message == MESSAGE_MEMORY)
		return receive_memory(in, &f, mirrors);
	if (f.message == MESSAGE_ASKED)
		return receive_asked(in, ch, &f);
	if (!remote_read(in, &c, sizeof(c)))
		return RECEIVED_END;
	if (f.message != MESSAGE_COMMAND || f.block >= REMOTE_BLOCKS || f.bytes > in->block_bytes ||
	    c.op == REMOTE_PAD || c.bytes % 16 || c.bytes < sizeof(c) ||
	    c.bytes > REMOTE_COMMAND_BYTES)
		return RECEIVED_NONSENSE;
	at = room_in_ring(ch, &head, c.bytes);
	if (!at)
		return RECEIVED_NONSENSE;
	atomic_store(&ch->threads, f.threads);
	memcpy(at, &c, sizeof(c));
	if (!remote_read(in, at + sizeof(c), c.bytes - sizeof(c)) || !read_block(in, ch, &f))
		return RECEIVED_END;
	remote_deliver(in, f.sent_ns, sizeof(f) + c.bytes + f.bytes);
	publish(ch, head + c.bytes);
	return RECEIVED;
}

enum received receive_all(struct remote_inlet *in, struct remote_channel *ch,
			  struct mirrors *mirrors)
{
	enum received r;

	do
		r = receive_message(in, ch, mirrors);
	while (r == RECEIVED);
	return r;
}
