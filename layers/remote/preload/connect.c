/* connect.c - how a client finds its daemon (client.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/escape.h"
#include "layers/remote/wire/image.h"
#include "layers/remote/preload/client.h"
#include "layers/remote/transport/socket.h"
#include "layers/remote/transport/tcp.h"

/* A daemon may say anything, of which nothing commands a terminal. */
static bool fail(const char *what, const char *why)
{
	char shown[ESCAPE_MOST * (REMOTE_ADDRESS + 96) + 1];

	*escape_controls(shown, why, strnlen(why, REMOTE_ADDRESS + 96)) = '\0';
	fprintf(stderr, "rift: layer remote: %s: %s\n", what, shown);
	return false;
}

/* By way of the folder's descriptor: the path may be longer than a socket's may. */
static int reach(const char *folder)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err = place < 0 || fd < 0;

	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" REMOTE_SOCKET, place);
	err = err || connect(fd, (struct sockaddr *)&a, sizeof(a));
	if (place >= 0)
		close(place);
	if (err && fd >= 0)
		close(fd);
	return err ? -1 : fd;
}

/* 0: for ever. A connect() is limited by it as well. */
static void limit_waits(int fd, time_t seconds)
{
	const struct timeval wait = { .tv_sec = seconds };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
}

/* A port may be that of something else, which accepts and says nothing. */
enum { WELCOME_WAIT_S = 60 };

static int reach_tcp(const char *address)
{
	struct addrinfo *all = tcp_address(address, false);
	int fd = -1;

	for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		limit_waits(fd, WELCOME_WAIT_S);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen)) {
			close(fd);
			fd = -1;
		}
	}
	if (!all)
		errno = EHOSTUNREACH; /* its name has no address */
	if (all)
		freeaddrinfo(all);
	if (fd >= 0)
		tcp_set_options(fd);
	return fd;
}

/* An address of this machine can be bound. */
static bool is_own_address(const struct addrinfo *a)
{
	struct sockaddr_storage at;
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool own;

	memcpy(&at, a->ai_addr, a->ai_addrlen);
	if (a->ai_family == AF_INET)
		((struct sockaddr_in *)&at)->sin_port = 0;
	else
		((struct sockaddr_in6 *)&at)->sin6_port = 0;
	own = fd >= 0 && !bind(fd, (struct sockaddr *)&at, a->ai_addrlen);
	if (fd >= 0)
		close(fd);
	return own;
}

/* Never waits: another user may have the name, and take nobody. */
static int connect_nearby(const char *numbers)
{
	struct sockaddr_un a;
	socklen_t size = tcp_nearby(&a, numbers);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && (connect(fd, (struct sockaddr *)&a, size) || !tcp_same_user(fd) ||
			fcntl(fd, F_SETFL, 0))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The second socket of a daemon that is on this machine, of this user, and listens at this address
 * or at all of them; -1: there is none. */
static int reach_nearby(const char *address)
{
	static const char *const everywhere[] = { "0.0.0.0", "[::]" };
	struct addrinfo *all = tcp_address(address, false);
	int fd = -1;

	for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next) {
		char numbers[REMOTE_ADDRESS];

		if (!is_own_address(a))
			continue;
		tcp_numbers(a->ai_addr, a->ai_addrlen, numbers);
		fd = connect_nearby(numbers);
		for (int i = 0; i < 2 && fd < 0; i++) {
			char any[REMOTE_ADDRESS];

			snprintf(any, sizeof(any), "%s%.8s", everywhere[i], strrchr(numbers, ':'));
			fd = connect_nearby(any);
		}
	}
	if (all)
		freeaddrinfo(all);
	return fd;
}

/* The addresses are this process's, and nothing is there. */
static bool reserve(uint64_t base)
{
	void *want = (void *)(uintptr_t)base;
	void *got = mmap(want, REMOTE_SPACE_BYTES, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got != MAP_FAILED && got != want)
		munmap(got, REMOTE_SPACE_BYTES);
	return got == want;
}

/* Around this library, as far as there is no wide gap, lies what Linux has mapped for this process;
 * what follows it will map below. */
static void say_what_is_used(struct remote_hello *h)
{
	const uint64_t gap = UINT64_C(1) << 30, more = UINT64_C(64) << 30;
	const uint64_t own = (uint64_t)(uintptr_t)&say_what_is_used;
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t from = 0, to = 0, low, high;
	bool found = false;
	char *line = NULL;
	size_t room = 0;

	while (maps && getline(&line, &room, maps) > 0 &&
	       sscanf(line, "%" SCNx64 "-%" SCNx64, &low, &high) == 2) {
		bool apart = low - to >= gap || strstr(line, "[stack]");

		if (apart && found)
			break;
		from = apart ? low : from;
		to = high;
		found |= own - low < high - low;
	}
	free(line);
	if (maps)
		fclose(maps);
	if (!found)
		return;
	h->used = from > more ? from - more : 0;
	h->used_bytes = to - h->used;
}

static bool read_welcome(int fd, struct remote_welcome *w, int *shared, unsigned n)
{
	const size_t rest = sizeof(*w) - REMOTE_REFUSAL_BYTES;

	if (!remote_receive_fds(fd, w, REMOTE_REFUSAL_BYTES, MSG_WAITALL, shared, n) ||
	    w->magic != REMOTE_MAGIC)
		return false;
	if (w->verdict == REMOTE_REFUSED)
		return true;
	if (recv(fd, &w->base, rest, MSG_WAITALL) != (ssize_t)rest)
		return false;
	return w->verdict != REMOTE_WELCOME || !n || shared[0] >= 0;
}

/* The process's own where the descriptor is -1. */
static void *map(void *at, size_t bytes, int fd)
{
	int flags = (at ? MAP_FIXED : 0) | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
	void *got = mmap(at, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);

	if (fd >= 0)
		close(fd);
	return got;
}

static bool take_blocks(struct connection *c, const struct remote_welcome *w)
{
	c->block_bytes = w->block_bytes;
	return (w->block_bytes >= REMOTE_BLOCK_LEAST && w->block_bytes <= REMOTE_BLOCK_MOST) ||
	       fail("no daemon", "its block size is not valid");
}

/* shared: of pinned memory, and of the channel. */
static bool map_shared(struct connection *c, const int shared[2])
{
	void *channel = map(NULL, remote_channel_bytes(c->block_bytes), shared[1]);
	void *pinned = map((void *)(uintptr_t)c->base, REMOTE_PINNED_BYTES, shared[0]);

	if (channel == MAP_FAILED || pinned == MAP_FAILED)
		return fail("no shared memory", strerror(errno));
	/* a dump of this process need not hold it */
	madvise(pinned, REMOTE_PINNED_BYTES, MADV_DONTDUMP);
	c->channel = channel;
	if (c->transport == REMOTE_TCP)
		limit_waits(c->socket, 0);
	if (c->transport != REMOTE_SHM && !socket_begin(c))
		return fail("no thread for a socket", strerror(errno));
	return true;
}

/* Says hello with one base after the other, until both sides have it free: one that the daemon has
 * named, or else the next of those that a client tries. */
static bool shake_hands(struct connection *c, const struct remote_shared *told)
{
	static const uint64_t bases[] = REMOTE_BASES;
	const struct image program = image_of_program();
	struct remote_hello h = { .magic = REMOTE_MAGIC, .version = REMOTE_VERSION };
	static const unsigned descriptors[] = {
		[REMOTE_SHM] = 2, [REMOTE_UNIX] = 1, [REMOTE_TCP] = 0
	};
	struct remote_welcome w = { 0 };
	int shared[2] = { -1, -1 };
	size_t i = 0, n = sizeof(bases) / sizeof(*bases);
	int rounds = 0;

	h.transport = (uint32_t)c->transport;
	if (told->transport == REMOTE_TCP) { /* a daemon that is near wants it too */
		const char *why = tcp_token(told->token, h.token);

		if (why)
			return fail("no token", why);
	}
	h.kernels = kernels_are_functions() ? REMOTE_FUNCTIONS : REMOTE_IMAGES;
	memcpy(h.build_id, program.build_id, sizeof(h.build_id));
	say_what_is_used(&h);
	while ((h.base = c->base = w.base ? w.base : i < n ? bases[i++] : 0)) {
		w.base = 0;
		if (!reserve(h.base))
			continue;
		if (rounds++ == REMOTE_ROUNDS)
			return fail("no addresses for memory",
				    "the daemon reports every requested address as in use");
		if (send(c->socket, &h, sizeof(h), MSG_NOSIGNAL) != (ssize_t)sizeof(h) ||
		    !read_welcome(c->socket, &w, shared, descriptors[c->transport]))
			return fail("no daemon", "it does not answer");
		if (w.verdict == REMOTE_WELCOME)
			return take_blocks(c, &w) && map_shared(c, shared);
		munmap((void *)(uintptr_t)h.base, REMOTE_SPACE_BYTES);
		if (w.verdict == REMOTE_REFUSED) {
			w.reason[REMOTE_REASON - 1] = '\0';
			return fail("the daemon refuses this program", w.reason);
		}
	}
	return fail("no addresses for memory", "all allowed addresses are in use");
}

bool connection_open(struct connection *c, const char *folder, const struct remote_shared *told)
{
	c->told = told;
	c->transport = told->transport;
	c->socket = told->nearby ? reach_nearby(told->address) : -1;
	if (c->socket >= 0)
		c->transport = REMOTE_SHM;
	else
		c->socket = c->transport == REMOTE_TCP ? reach_tcp(told->address) : reach(folder);
	if (c->socket < 0) {
		char why[REMOTE_ADDRESS + 96];

		snprintf(why, sizeof(why), "%s%s%s", told->address, *told->address ? ": " : "",
			 strerror(errno));
		return fail("no daemon", why);
	}
	return shake_hands(c, told);
}

bool connection_is_lost(const struct connection *c)
{
	char byte;
	ssize_t n;

	if (c->transport != REMOTE_SHM)
		return atomic_load(&c->ended);
	n = recv(c->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return !n || (n < 0 && errno != EAGAIN && errno != EINTR);
}

struct remote_shared *connection_shared(const char *folder)
{
	static struct remote_shared own;
	struct remote_shared *s = MAP_FAILED;
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/" REMOTE_SHARED, folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	return s == MAP_FAILED ? &own : s;
}
