/*
 * socket.h - how commands and answers go over a socket, for client and daemon. Each side then has a
 * struct remote_channel of its own (wire.h), which the other's messages keep up to date: the
 * daemon's ring is written by the thread that reads its socket, the client's answers likewise.
 */
#ifndef RIFT_REMOTE_SOCKET_H
#define RIFT_REMOTE_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "layers/remote/wire/wire.h"

/* ---- messages ----------------------------------------------------------------------------- */

enum remote_message {
	/* the client's: a command as in the ring, and what its block holds */
	MESSAGE_COMMAND = 1,
	/* the daemon's: so far it is; an answer, and its bytes; a block, and its bytes */
	MESSAGE_DONE,
	MESSAGE_ANSWER,
	MESSAGE_BLOCK,
	/* of both: bytes of pinned memory at the position (mirror.h) */
	MESSAGE_MEMORY,
	/* the daemon's: struct remote_asked, and the data of a copy to the client */
	MESSAGE_ASK,
	/* the client's: that is done, and the data of a copy from it */
	MESSAGE_ASKED,
};

/* Before each message. Its parts follow without gaps. */
struct remote_frame {
	uint8_t message, thread, block;
	uint8_t threads;   /* of the client that make calls */
	uint32_t bytes;	   /* of a block, an answer, memory, or data */
	uint64_t position; /* of the daemon in the ring, when it is done; of memory */
	int32_t error, late;
	int64_t sent_ns; /* by the clock of this machine, for a network that is imitated */
};

/* What a command has in a block, bytes, at most as many as it holds; the block that it names goes
 * to *block. 0: nothing. */
static inline uint64_t remote_block_bytes(const struct remote_command *c, enum remote_op op,
					  uint64_t most, unsigned *block)
{
	uint64_t bytes;

	if (c->op != op)
		return 0;
	if (op == REMOTE_IMAGE_PART) {
		*block = (unsigned)(c->word[1] >> 32);
		bytes = (uint32_t)c->word[1];
	} else {
		*block = (unsigned)(c->word[3] >> 32);
		if (__builtin_mul_overflow(c->word[2], c->word[3] & UINT32_MAX, &bytes))
			return 0;
	}
	return *block < REMOTE_BLOCKS && bytes <= most ? bytes : 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Small messages come many at a time. A network is imitated where it has a bound. */
struct remote_inlet {
	int fd;
	int64_t rtt_ns, gbit_s;
	int64_t free_ns; /* when the last message had left the sender */
	uint64_t block_bytes;
	size_t at, n;
	uint8_t buffer[64 << 10];
};

/* False: the other side has ended, or the connection. */
static inline bool remote_receive_some(int fd, void *to, size_t room, size_t *got)
{
	ssize_t n;

	do
		n = recv(fd, to, room, 0);
	while (n < 0 && errno == EINTR);
	*got = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static inline bool remote_read(struct remote_inlet *in, void *to, size_t bytes)
{
	uint8_t *at = to;
	size_t got;

	while (bytes) {
		if (in->at < in->n) {
			got = in->n - in->at < bytes ? in->n - in->at : bytes;
			memcpy(at, in->buffer + in->at, got);
			in->at += got;
		} else if (bytes >= sizeof(in->buffer)) {
			if (!remote_receive_some(in->fd, at, bytes, &got))
				return false;
		} else {
			in->at = in->n = got = 0;
			if (!remote_receive_some(in->fd, in->buffer, sizeof(in->buffer), &in->n))
				return false;
		}
		at += got;
		bytes -= got;
	}
	return true;
}

/* Messages leave one after the other at so many bytes a second, and are half a round trip under
 * way. Returns when that one has come, all of which has been read: bytes with its body. */
static inline void remote_deliver(struct remote_inlet *in, int64_t sent_ns, uint64_t bytes)
{
	enum { SPIN_NS = 60000 }; /* a sleep may end so late */
	int64_t now = remote_now_ns(), due;
	struct timespec until;

	if (!in->rtt_ns && !in->gbit_s)
		return;
	sent_ns = sent_ns < now ? sent_ns : now;
	in->free_ns = in->free_ns > sent_ns ? in->free_ns : sent_ns;
	in->free_ns += in->gbit_s ? (int64_t)(bytes * 8 / (uint64_t)in->gbit_s) : 0;
	due = in->free_ns + in->rtt_ns / 2;
	if (due - now > SPIN_NS) {
		until.tv_sec = (due - SPIN_NS) / 1000000000;
		until.tv_nsec = (due - SPIN_NS) % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	while (remote_now_ns() < due)
		remote_pause();
}

/* ---- writing ------------------------------------------------------------------------------ */

enum { REMOTE_PARTS = 3 };

/* All of it; false: the other side has ended, or the connection. The parts are used up. */
static inline bool remote_write(int fd, struct iovec *part, size_t n)
{
	while (n) {
		struct msghdr m = { .msg_iov = part, .msg_iovlen = n };
		ssize_t sent = sendmsg(fd, &m, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return false;
		while (n && (size_t)sent >= part->iov_len) {
			sent -= (ssize_t)part->iov_len;
			part++;
			n--;
		}
		if (n) {
			part->iov_base = (uint8_t *)part->iov_base + sent;
			part->iov_len -= (size_t)sent;
		}
	}
	return true;
}

/* ---- descriptors --------------------------------------------------------------------------- */

enum { REMOTE_FDS = 2 }; /* with one message, at most */

union remote_fds {
	struct cmsghdr align;
	char room[CMSG_SPACE(REMOTE_FDS * sizeof(int))];
};

/* In one message by a Unix socket, with n of them; without any, by each socket. */
static inline bool remote_send_fds(int socket, const void *from, size_t bytes, const int *fd,
				   unsigned n)
{
	union remote_fds control = { 0 };
	struct iovec part = { (void *)(uintptr_t)from, bytes };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = n ? CMSG_SPACE(n * sizeof(int)) : 0,
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (n) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fd, n * sizeof(int));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* False: not so many bytes have come. fd: n of them, or -1 each where others or none have. */
static inline bool remote_receive_fds(int socket, void *to, size_t bytes, int flags, int *fd,
				      unsigned n)
{
	union remote_fds control = { 0 };
	struct iovec part = { to, bytes };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	bool came = recvmsg(socket, &m, flags | MSG_CMSG_CLOEXEC) == (ssize_t)bytes;
	const struct cmsghdr *c = came ? CMSG_FIRSTHDR(&m) : NULL;

	for (unsigned i = 0; i < n; i++)
		fd[i] = -1;
	if (n && c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(n * sizeof(int)))
		memcpy(fd, CMSG_DATA(c), n * sizeof(int));
	return came;
}

/* ---- the ring ----------------------------------------------------------------------------- */

/* Bytes behind a command in the ring that it cannot go into, as it does not go across the end. */
static inline uint64_t remote_skipped(uint64_t head, uint64_t bytes)
{
	uint64_t left = REMOTE_RING_BYTES - head % REMOTE_RING_BYTES;

	return left < bytes ? left : 0;
}

#endif
