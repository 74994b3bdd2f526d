/*
 * test_daemon.h - a daemon of a test program's own: the program is then its own client, as another
 * process that runs some of its tests again with the client's library preloaded.
 */
#ifndef RIFT_REMOTE_TEST_DAEMON_H
#define RIFT_REMOTE_TEST_DAEMON_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layers/remote/remote.h"
#include "layers/remote/transport/tcp.h"
#include "layers/remote/wire/wire.h"
#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/under_layer.h"

struct own_daemon {
	pid_t pid;
	char folder[128];
};

/* How it and its clients talk: as for the layer's option. */
static enum remote_transport own_transport;
static enum remote_schedule own_schedule;
static bool own_is_shared; /* one process serves all */
/* In microseconds. Short, as tests run on few cores: who polls there keeps the other from going on.
 */
static int own_poll = 5;

/* With the folder's file, where a client reads how it is to wait. */
static inline void own_shared(const char *folder, bool strict)
{
	struct remote_shared s = {
		.poll_ns = 1000 * own_poll,
		.strict = strict,
		.transport = own_transport,
	};
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/" REMOTE_SHARED, folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	snprintf(s.token, sizeof(s.token), "%s/token", folder);
	cr_assert(fd >= 0 && write(fd, &s, sizeof(s)) == (ssize_t)sizeof(s), "%s", path);
	close(fd);
	unlink(s.token);
	cr_assert(remote_own_token(s.token), "%s", s.token);
}

/* After layers_apart(). begin: called in the daemon's process first; NULL: nothing. */
static inline struct own_daemon own_daemon_start(bool strict, void (*begin)(void))
{
	const struct remote_opts opts = {
		.poll = own_poll,
		.memory = 256 << 20,
		.transport = own_transport,
		.shared = own_is_shared,
		.schedule = own_schedule,
		.devices = { 1, { -1 } },
	};
	struct own_daemon d;
	int ready[2];
	char byte;

	snprintf(d.folder, sizeof(d.folder), "%s/own", getenv("XDG_RUNTIME_DIR"));
	mkdir(d.folder, 0700);
	own_shared(d.folder, strict);
	cr_assert(zero(int, pipe(ready)), "pipe");
	d.pid = fork();
	if (!d.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* where an assertion ends the test */
		if (begin)
			begin();
		remote_listen(&opts, d.folder, ready[1]);
		_exit(1);
	}
	close(ready[1]);
	cr_assert(read(ready[0], &byte, 1) == 1, "the daemon did not start");
	close(ready[0]);
	return d;
}

static inline void own_daemon_end(const struct own_daemon *d)
{
	char path[256];

	kill(d->pid, SIGKILL);
	waitpid(d->pid, NULL, 0);
	snprintf(path, sizeof(path), "%s/" REMOTE_SOCKET, d->folder);
	unlink(path); /* for the test's next one */
}

/* What its folder's file says. */
static inline struct remote_shared own_daemon_told(const struct own_daemon *d)
{
	struct remote_shared *s = remote_shared_map(d->folder, 0), told;

	cr_assert(s != NULL, "%s", d->folder);
	told = *s;
	munmap(s, sizeof(*s));
	return told;
}

static inline int own_daemon_reach_tcp(const struct own_daemon *d)
{
	const struct remote_shared told = own_daemon_told(d);
	struct addrinfo *a = tcp_address(told.address, false);
	int fd = a ? socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

	cr_assert(fd >= 0 && !connect(fd, a->ai_addr, a->ai_addrlen), "%s", told.address);
	freeaddrinfo(a);
	return fd;
}

static inline int own_daemon_reach_unix(const struct own_daemon *d)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%.90s/" REMOTE_SOCKET, d->folder);
	cr_assert(zero(int, connect(fd, (struct sockaddr *)&a, sizeof(a))), "%s", a.sun_path);
	return fd;
}

/* A connection to it. */
static inline int own_daemon_reach(const struct own_daemon *d)
{
	if (own_transport == REMOTE_TCP)
		return own_daemon_reach_tcp(d);
	return own_daemon_reach_unix(d);
}

/* The layer's library, beside rift. Static memory. */
static inline const char *client_library(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/layers/remote.so", (int)(strrchr(rift(), '/') - rift()),
		 rift());
	return path;
}

/* Runs tests of this program, chosen by a pattern, with `set` before it (NAME=VALUE...): as a
 * client of the daemon's, or, where that is NULL, without. Its exit status. */
static inline int run_own_tests(const struct own_daemon *d, const char *pattern, const char *set,
				const char **out)
{
	char self[PATH_MAX], client[PATH_MAX + 256] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	if (d)
		snprintf(client, sizeof(client), REMOTE_VARIABLE "='%s' LD_PRELOAD='%s'", d->folder,
			 client_library());
	/* of Criterion's process for this test, which the other is not */
	return shell(out,
		     "env -u BXFI_MAP %s %s ASAN_OPTIONS=verify_asan_link_order=0 '%s' -j1 "
		     "--filter '%s' 2>&1",
		     client, set, self, pattern);
}

/* Behind a client's test: what it has sent ahead is dropped where its process ends, and not
 * recorded. */
static inline void await_daemon(void)
{
	cudaDeviceSynchronize();
}

#endif
