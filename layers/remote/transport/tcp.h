/* tcp.h - what client and daemon share where TCP is between them: addresses, the token, options. */
#ifndef RIFT_REMOTE_TCP_H
#define RIFT_REMOTE_TCP_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "layers/remote/wire/wire.h"

static inline bool tcp_is_address(const char *text)
{
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : "";
	long number = strtol(port, NULL, 10);

	/* getaddrinfo() takes 65,537 for 1 */
	return colon != text && *port && strlen(port) < 6 && !port[strspn(port, "0123456789")] &&
	       number >= 0 && number <= UINT16_MAX && strlen(text) < REMOTE_ADDRESS;
}

/* HOST:PORT, the host in brackets where it has colons. NULL: there is no such. Else release it. */
static inline struct addrinfo *tcp_address(const char *text, bool listens)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = listens ? AI_PASSIVE : 0,
	};
	struct addrinfo *found = NULL;
	char host[REMOTE_ADDRESS];
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (!tcp_is_address(text))
		return NULL;
	if (text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	memcpy(host, text, n);
	host[n] = '\0';
	return getaddrinfo(host, colon + 1, &hints, &found) ? NULL : found;
}

/*
 * The first line of the file, which nobody else may read. Returns what is wrong, one line without a
 * full stop; NULL: nothing.
 */
static inline const char *tcp_token(const char *path, char token[REMOTE_TOKEN])
{
	enum { LEAST = 16 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *why = NULL;
	struct stat st;
	ssize_t n;

	memset(token, 0, REMOTE_TOKEN);
	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		why = "must be a file of yours that nobody else may read: chmod 600";
	n = why ? 0 : read(fd, token, REMOTE_TOKEN);
	close(fd);
	if (why)
		return why;
	n = n < 0 ? 0 : n;
	for (ssize_t i = 0; i < n; i++)
		if (token[i] == '\n' || token[i] == '\r') { /* as of a file that Windows has seen */
			memset(token + i, 0, (size_t)(REMOTE_TOKEN - i));
			n = i;
		}
	return n < LEAST || n == REMOTE_TOKEN ? "its first line must have 16 to 63 characters"
					      : NULL;
}

/* In a time that says nothing of where they differ. */
static inline bool tcp_same_token(const char a[REMOTE_TOKEN], const char b[REMOTE_TOKEN])
{
	volatile uint8_t differs = 0;

	for (int i = 0; i < REMOTE_TOKEN; i++)
		differs |= (uint8_t)(a[i] ^ b[i]);
	return !differs;
}

/* An address in numbers: 127.0.0.1:7000, [::1]:7000. */
static inline void tcp_numbers(const struct sockaddr *a, socklen_t size, char out[REMOTE_ADDRESS])
{
	char host[INET6_ADDRSTRLEN] = "", port[8] = "";

	getnameinfo(a, size, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(out, REMOTE_ADDRESS, a->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/*
 * Where a daemon that listens at an address, in numbers, also takes clients of its own machine and
 * user, who share memory with it: a name in the network's namespace. Another address of the same
 * port may lead to another machine. Returns the length of *a.
 */
static inline socklen_t tcp_nearby(struct sockaddr_un *a, const char *numbers)
{
	int n;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "rift-remote-%u-%.64s",
		     (unsigned)geteuid(), numbers);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Is the other end a process of the same user, on this machine? */
static inline bool tcp_same_user(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
}

/* Nothing waits to be sent with more, and a machine that is gone is noticed within seconds. */
static inline void tcp_set_options(int fd)
{
	const int on = 1, idle_s = 2, interval_s = 1, times = 3;
	const unsigned unread_ms = 10000;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof(times));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unread_ms, sizeof(unread_ms));
}

#endif
