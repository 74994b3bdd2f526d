/* listen_tcp.c - the daemon's socket where clients come over TCP, and the token that they need. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "common/check.h"
#include "layers/remote/remote.h"
#include "layers/remote/transport/tcp.h"

/* ---- the token ---------------------------------------------------------------------------- */

bool remote_own_token(const char *path)
{
	uint8_t drawn[REMOTE_TOKEN / 2 - 1];
	char text[REMOTE_TOKEN] = "";
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool drew = getrandom(drawn, sizeof(drawn), 0) == (ssize_t)sizeof(drawn), written;

	for (size_t i = 0; i < sizeof(drawn); i++)
		snprintf(text + 2 * i, 3, "%02x", drawn[i]);
	written = drew && fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return written;
}

/* ---- the socket --------------------------------------------------------------------------- */

static int listen_at(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, SOMAXCONN)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* As it is, with the port that the system has chosen where none was named. */
static void put_address(int fd, char out[REMOTE_ADDRESS])
{
	struct sockaddr_storage a;
	socklen_t size = sizeof(a);

	memset(out, 0, REMOTE_ADDRESS);
	if (!getsockname(fd, (struct sockaddr *)&a, &size))
		tcp_numbers((struct sockaddr *)&a, size, out);
}

int remote_listen_tcp(const struct remote_opts *o, const char *folder)
{
	const char *where = o->listen ? o->listen : "127.0.0.1:0";
	struct addrinfo *a = tcp_address(where, true);
	struct remote_shared *s = remote_shared_map(folder, 0);
	int fd = a ? listen_at(a) : -1;

	if (!a)
		complain(EINVAL, "layer remote: listen=%s: unknown HOST:PORT", where);
	else if (fd < 0)
		complain(errno, "layer remote: listen=%s: %s", where, strerror(errno));
	else if (s)
		put_address(fd, s->address);
	if (a)
		freeaddrinfo(a);
	if (s)
		munmap(s, sizeof(*s));
	return fd;
}
