/*
 * mirror.h - pieces of pinned memory that client and daemon each have at the same address, over a
 * connection that shares none: what one side has changed goes to the other, word by word.
 *
 * What a side knows the other to have is the shadow. Words are of 4 bytes, so that each side may
 * change its own beside the other's; one of 8 bytes at a multiple of 8 never comes in halves. Words
 * that change between two commands come in no order.
 */
#ifndef RIFT_REMOTE_MIRROR_H
#define RIFT_REMOTE_MIRROR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layers/remote/transport/socket.h"

enum {
	REMOTE_MIRROR_BYTES = 1 << 20,	 /* of a piece */
	REMOTE_MIRRORED_BYTES = 8 << 20, /* of all of them */
	MIRROR_BUFFER = 64 << 10,
	MIRROR_PAGE = 4096,
	MIRROR_REST_NS = 200000, /* between two looks at what nobody has asked about */
};

struct mirror {
	uint64_t base, bytes; /* multiples of 8 */
	uint8_t *shadow;
};

/* The lock is held for short times only: never while anything is sent. */
struct mirrors {
	pthread_mutex_t lock;
	struct mirror *at;
	size_t n;
	uint64_t bytes;
};

/* Changes on their way out. */
struct mirror_pass {
	size_t piece;		 /* where it has got to */
	uint64_t offset;	 /* in that */
	size_t n, last;		 /* bytes in the buffer, and where the last message begins */
	struct remote_frame run; /* that message's frame; 0 bytes: there is none to go on with */
	uint8_t buffer[MIRROR_BUFFER];
};

/* ---- which there are ---------------------------------------------------------------------- */

static inline uint64_t mirror_round(uint64_t bytes)
{
	return (bytes + 7) / 8 * 8;
}

/* May a piece of so many bytes be one more? */
static inline bool mirrors_may_add(const struct mirrors *m, uint64_t bytes)
{
	return bytes <= REMOTE_MIRROR_BYTES && m->bytes <= REMOTE_MIRRORED_BYTES - bytes;
}

static inline bool mirrors_grow(struct mirrors *m)
{
	struct mirror *larger = realloc(m->at, (m->n + 1) * sizeof(*larger));

	if (!larger)
		return false;
	m->at = larger;
	return true;
}

/* Both sides have zeros there. */
static inline bool mirrors_add(struct mirrors *m, uint64_t base, uint64_t bytes)
{
	struct mirror piece = { base, mirror_round(bytes), NULL };

	pthread_mutex_lock(&m->lock);
	if (mirrors_may_add(m, bytes) && mirrors_grow(m))
		piece.shadow = calloc(1, piece.bytes);
	if (piece.shadow) {
		m->at[m->n++] = piece;
		m->bytes += piece.bytes;
	}
	pthread_mutex_unlock(&m->lock);
	return piece.shadow != NULL;
}

static inline void mirrors_remove(struct mirrors *m, uint64_t base)
{
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->n; i++)
		if (m->at[i].base == base) {
			free(m->at[i].shadow);
			m->bytes -= m->at[i].bytes;
			m->at[i] = m->at[--m->n];
			break;
		}
	pthread_mutex_unlock(&m->lock);
}

static inline void mirrors_release(struct mirrors *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->at[i].shadow);
	free(m->at);
}

/* ---- what has changed --------------------------------------------------------------------- */

/* A change goes on in the message before it where it lies behind it. */
static inline void mirror_put(struct mirror_pass *p, uint64_t address, const void *value,
			      uint32_t bytes)
{
	if (!p->run.bytes || p->run.position + p->run.bytes != address) {
		p->run = (struct remote_frame){
			.message = MESSAGE_MEMORY,
			.position = address,
			.sent_ns = remote_now_ns(),
		};
		p->last = p->n;
		p->n += sizeof(p->run);
	}
	p->run.bytes += bytes;
	memcpy(p->buffer + p->last, &p->run, sizeof(p->run));
	memcpy(p->buffer + p->n, value, bytes);
	p->n += bytes;
}

static inline void mirror_word(struct mirror_pass *p, const struct mirror *m, uint64_t offset)
{
	uint64_t at = m->base + offset, known;
	uint64_t now = __atomic_load_n((uint64_t *)(uintptr_t)at, __ATOMIC_ACQUIRE);
	bool low, high;

	memcpy(&known, m->shadow + offset, 8);
	memcpy(m->shadow + offset, &now, 8);
	low = (uint32_t)now != (uint32_t)known;
	high = now >> 32 != known >> 32;
	if (low)
		mirror_put(p, at, &now, high ? 8 : 4);
	else if (high)
		mirror_put(p, at + 4, (uint8_t *)&now + 4, 4);
}

/* Messages about what has changed since, as many as the buffer holds; false: that was all. */
static inline bool mirrors_collect(struct mirrors *m, struct mirror_pass *p)
{
	/* the most that a page can be: a message for every other word */
	enum { MOST = MIRROR_PAGE / 8 * (sizeof(struct remote_frame) + 8) };
	bool more = false;

	p->n = 0;
	pthread_mutex_lock(&m->lock);
	while (p->piece < m->n && !(more = p->n > sizeof(p->buffer) - MOST)) {
		const struct mirror *piece = &m->at[p->piece];
		const uint8_t *page = (const uint8_t *)(uintptr_t)(piece->base + p->offset);
		uint64_t bytes = p->offset < piece->bytes ? piece->bytes - p->offset : 0;

		p->run.bytes = 0;
		bytes = bytes < MIRROR_PAGE ? bytes : MIRROR_PAGE;
		if (bytes && memcmp(page, piece->shadow + p->offset, bytes) != 0)
			for (uint64_t i = 0; i < bytes; i += 8)
				mirror_word(p, piece, p->offset + i);
		p->offset += bytes;
		if (p->offset >= piece->bytes) {
			p->offset = 0;
			p->piece++;
		}
	}
	pthread_mutex_unlock(&m->lock);
	return more;
}

/* All of it. Whoever calls keeps others from writing to the socket. False: it has ended. */
static inline bool mirrors_send(struct mirrors *m, struct mirror_pass *p, int fd)
{
	bool more, alive = true;

	p->piece = p->offset = 0;
	do {
		struct iovec part;

		more = mirrors_collect(m, p);
		part = (struct iovec){ p->buffer, p->n };
		alive = !p->n || remote_write(fd, &part, 1);
	} while (more && alive);
	return alive;
}

/* ---- what the other side has changed ------------------------------------------------------- */

static inline void mirror_store(const struct mirror *m, uint64_t offset, const uint8_t *value,
				uint64_t bytes)
{
	for (uint64_t i = 0, step; i < bytes; i += step) {
		void *to = (void *)(uintptr_t)(m->base + offset + i);

		step = (offset + i) % 8 == 0 && bytes - i >= 8 ? 8 : 4;
		if (step == 8) {
			uint64_t word;

			memcpy(&word, value + i, 8);
			__atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
		} else {
			uint32_t word;

			memcpy(&word, value + i, 4);
			__atomic_store_n((uint32_t *)to, word, __ATOMIC_RELEASE);
		}
	}
	memcpy(m->shadow + offset, value, bytes);
}

/* The message's own bytes; false: they lie in no piece. */
static inline bool mirrors_apply(struct mirrors *m, const struct remote_frame *f,
				 const uint8_t *value)
{
	bool found = false;

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; !found && i < m->n; i++) {
		uint64_t offset = f->position - m->at[i].base;

		found = offset < m->at[i].bytes && f->bytes <= m->at[i].bytes - offset &&
			offset % 4 == 0 && f->bytes % 4 == 0;
		if (found)
			mirror_store(&m->at[i], offset, value, f->bytes);
	}
	pthread_mutex_unlock(&m->lock);
	return found;
}

/* How a message of changes comes in: 1: done, 0: it is none, -1: the connection has ended. */
static inline int mirrors_receive(struct mirrors *m, struct remote_inlet *in,
				  const struct remote_frame *f)
{
	uint8_t value[MIRROR_PAGE];

	if (!m || f->bytes > sizeof(value))
		return 0;
	if (!remote_read(in, value, f->bytes))
		return -1;
	remote_deliver(in, f->sent_ns, sizeof(*f) + f->bytes);
	return mirrors_apply(m, f, value);
}

#endif
