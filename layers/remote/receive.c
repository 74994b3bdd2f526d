/* receive.c - see receive.h. */
#include "layers/remote/receive.h"

/* ---- what goes out ------------------------------------------------------------------------ */

struct outlet outlet_new(int fd)
{
	return (struct outlet){ .fd = fd, .lock = PTHREAD_MUTEX_INITIALIZER };
}

/* A client that is gone is noticed where its messages come in. */
static void send_message(struct outlet *o, struct remote_frame f, const void *body)
{
	struct iovec part[2] = { { &f, sizeof(f) }, { (void *)body, f.bytes } };

	pthread_mutex_lock(&o->lock);
	o->told = f.position;
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

/* A client waits for its blocks and for room in the ring, of which it must hear in time. */
void outlet_done(struct outlet *o, const struct remote_channel *ch, const struct remote_command *c,
		 uint64_t position, const struct remote_answer *answer)
{
	struct remote_frame f = { .position = position };
	unsigned block = 0;
	uint64_t bytes = remote_block_bytes(c, REMOTE_COPY_OUT, &block);

	if (bytes) {
		f.message = MESSAGE_BLOCK;
		f.block = (uint8_t)block;
		f.bytes = (uint32_t)bytes;
		send_message(o, f, ch->out[block]);
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
	return !f->bytes || remote_read(in, ch->in[f->block], f->bytes);
}

static void publish(struct remote_channel *ch, uint64_t head)
{
	atomic_store(&ch->head, head);
	if (atomic_load(&ch->sleeping)) {
		atomic_fetch_add(&ch->bell, 1);
		remote_wake(&ch->bell);
	}
}

enum received receive_message(struct remote_inlet *in, struct remote_channel *ch)
{
	uint64_t head = atomic_load(&ch->head);
	struct remote_command c;
	struct remote_frame f;
	uint8_t *at;

	if (!remote_read(in, &f, sizeof(f)) || !remote_read(in, &c, sizeof(c)))
		return RECEIVED_END;
	if (f.message != MESSAGE_COMMAND || f.block >= REMOTE_BLOCKS ||
	    f.bytes > REMOTE_BLOCK_BYTES || c.op == REMOTE_PAD || c.bytes % 16 ||
	    c.bytes < sizeof(c) || c.bytes > REMOTE_COMMAND_BYTES)
		return RECEIVED_NONSENSE;
	at = room_in_ring(ch, &head, c.bytes);
	if (!at)
		return RECEIVED_NONSENSE;
	atomic_store(&ch->threads, f.threads);
	memcpy(at, &c, sizeof(c));
	if (!remote_read(in, at + sizeof(c), c.bytes - sizeof(c)) || !read_block(in, ch, &f))
		return RECEIVED_END;
	publish(ch, head + c.bytes);
	return RECEIVED;
}

enum received receive_all(struct remote_inlet *in, struct remote_channel *ch)
{
	enum received r;

	do
		r = receive_message(in, ch);
	while (r == RECEIVED);
	return r;
}
