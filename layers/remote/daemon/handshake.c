/* handshake.c - see handshake.h. */
#include "layers/remote/daemon/handshake.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "layers/remote/daemon/backend.h"
#include "layers/remote/wire/image.h"
#include "layers/remote/transport/socket.h"
#include "layers/remote/transport/tcp.h"

enum { PAGE_BYTES = 4096, AVOID_LEAST = 1 << 20, STACK_ROOM = 64 << 20 };

#define AVOID_MOST (UINT64_C(128) << 30)

/* ---- what a client is told ----------------------------------------------------------------- */

void handshake_refuse(int client, const char *reason)
{
	struct remote_welcome w = { .magic = REMOTE_MAGIC, .verdict = REMOTE_REFUSED };

	snprintf(w.reason, sizeof(w.reason), "%s", reason);
	send(client, &w, REMOTE_REFUSAL_BYTES, MSG_NOSIGNAL);
}

void handshake_again(int client, uint64_t offered)
{
	struct remote_welcome w = { REMOTE_MAGIC, REMOTE_TAKEN, "the daemon uses these addresses",
				    offered, 0 };

	send(client, &w, sizeof(w), MSG_NOSIGNAL);
}

bool handshake_welcome(int client, uint64_t block_bytes, const int *fd, unsigned n)
{
	struct remote_welcome w = { .magic = REMOTE_MAGIC,
				    .verdict = REMOTE_WELCOME,
				    .block_bytes = block_bytes };

	return remote_send_fds(client, &w, sizeof(w), fd, n);
}

/* ---- who it is ----------------------------------------------------------------------------- */

/* Why the client gets nothing; NULL: it may have what it wants. */
static const char *judge(const struct remote_hello *h, const struct image *program,
			 const struct secret *secret)
{
	if (h->magic != REMOTE_MAGIC)
		return "it is not a client of this layer";
	if (h->version != REMOTE_VERSION)
		return "client and daemon are of different versions";
	if (!tcp_same_token(h->token, secret->token))
		return "its token is not the daemon's";
	if (h->transport != secret->transport)
		return "client and daemon use different transports";
	if (remote_backend()->kernels == REMOTE_IMAGES)
		return h->kernels == REMOTE_IMAGES ? NULL
						   : "its kernels are built for the CPU device, "
						     "but the daemon has a GPU";
	if (!program->has_id)
		return "rift was linked without a build id";
	if (memcmp(h->build_id, program->build_id, sizeof(h->build_id)) != 0)
		return "the program must be the same build of rift as the daemon; its kernels are "
		       "unknown there";
	return NULL;
}

/* Nobody has mapped anything there: the addresses are this process's, without access. */
static bool reserve_bytes(uint64_t base, uint64_t bytes)
{
	void *want = (void *)(uintptr_t)base;
	void *got = mmap(want, bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got != MAP_FAILED && got != want)
		munmap(got, bytes);
	return got == want;
}

static bool reserve(uint64_t base)
{
	return base % PAGE_BYTES == 0 && reserve_bytes(base, REMOTE_SPACE_BYTES);
}

static void release(uint64_t base)
{
	if (base)
		munmap((void *)(uintptr_t)base, REMOTE_SPACE_BYTES);
}

/* What another version says is of another length; it has its number at the same place. */
static bool read_hello(int client, struct remote_hello *h)
{
	const size_t first = offsetof(struct remote_hello, kernels), rest = sizeof(*h) - first;

	if (recv(client, h, first, MSG_WAITALL) != (ssize_t)first)
		return false;
	return h->magic != REMOTE_MAGIC || h->version != REMOTE_VERSION ||
	       recv(client, &h->kernels, rest, MSG_WAITALL) == (ssize_t)rest;
}

/* ---- where ---------------------------------------------------------------------------------- */

/* By halves, as some of it may be taken. Both are multiples of AVOID_LEAST. */
static void avoid(uint64_t from, uint64_t bytes)
{
	uint64_t half = bytes / 2 / AVOID_LEAST * AVOID_LEAST;

	if (reserve_bytes(from, bytes) || errno != EEXIST || !half)
		return;
	avoid(from, half);
	avoid(from + half, bytes - half);
}

/* Where that is more than the most, its upper end, as Linux maps from above. This thread's stack
 * keeps its room, and what is above it is nobody's. */
void handshake_avoid(const struct remote_hello *h)
{
	uint64_t from = h->used, bytes = h->used_bytes;
	uint64_t below_stack = (uint64_t)(uintptr_t)&from - STACK_ROOM;

	if (from + bytes < from || from >= below_stack)
		return;
	if (bytes > below_stack - from)
		bytes = below_stack - from;
	if (bytes > AVOID_MOST) {
		from += bytes - AVOID_MOST;
		bytes = AVOID_MOST;
	}
	bytes += from % AVOID_LEAST;
	from -= from % AVOID_LEAST;
	bytes = (bytes + AVOID_LEAST - 1) / AVOID_LEAST * AVOID_LEAST;
	if (from && bytes)
		avoid(from, bytes);
}

/* The next that nobody has mapped, which is reserved then; 0: there is none. */
static uint64_t next_offer(unsigned *n)
{
	while (*n < REMOTE_OFFERS) {
		uint64_t base = remote_offer((*n)++);

		if (reserve(base))
			return base;
	}
	return 0;
}

uint64_t handshake_agree(int client, const struct secret *secret, bool offers,
			 struct remote_hello *h)
{
	const struct image program = image_of_program();
	uint64_t offered = 0;
	unsigned n = 0;

	for (int i = 0; i < REMOTE_ROUNDS; i++) {
		const char *reason;

		*h = (struct remote_hello){ 0 };
		if (!read_hello(client, h))
			break;
		reason = judge(h, &program, secret);
		if (reason) {
			handshake_refuse(client, reason);
			break;
		}
		if (h->base && h->base == offered)
			return offered;
		release(offered);
		offered = 0;
		if (h->base && reserve(h->base))
			return h->base;
		offered = offers ? next_offer(&n) : 0;
		handshake_again(client, offered);
	}
	release(offered);
	return 0;
}
