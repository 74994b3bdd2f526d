/* listen.c - the daemon's socket, and a process for each client that comes, or one for all. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/check.h"
#include "layers/remote/remote.h"
#include "layers/remote/daemon/server.h"
#include "layers/remote/transport/tcp.h"
#include "layers/remote/daemon/together.h"

/* ---- sockets ------------------------------------------------------------------------------- */

/* By way of the folder's descriptor: the path may be longer than a socket's may. */
static int open_socket(const char *folder)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" REMOTE_SOCKET, place);
	umask(077);
	err = place < 0 || fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	      chmod(a.sun_path, 0600) || listen(fd, SOMAXCONN);
	if (place >= 0)
		close(place);
	return err ? -1 : fd;
}

/* For clients of this machine, of a daemon at that address. -1: another has the name. */
static int open_nearby(const char *address)
{
	struct sockaddr_un a;
	socklen_t size = tcp_nearby(&a, address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && (bind(fd, (struct sockaddr *)&a, size) || listen(fd, SOMAXCONN))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- a process a client --------------------------------------------------------------------- */

enum { FREE = 0, TAKEN = -1 };

struct listener {
	struct serving with;
	pid_t *strangers; /* processes, below */
};

/*
 * Processes whose clients have not shown yet that they may stay: each is held for HELLO_WAIT_S, and
 * over TCP anybody may come. Memory that they share: one that goes on, or has ended, is none.
 */
static pid_t *strangers_new(void)
{
	void *all = mmap(NULL, STRANGERS_MAX * sizeof(pid_t), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(all != MAP_FAILED, "memory of %d numbers", STRANGERS_MAX);
	return all;
}

/* NULL: there are too many. */
static pid_t *stranger_place(pid_t *all)
{
	for (int i = 0; i < STRANGERS_MAX; i++) {
		pid_t pid = __atomic_load_n(&all[i], __ATOMIC_RELAXED);

		if (pid == FREE || (kill(pid, 0) && errno == ESRCH))
			return &all[i];
	}
	return NULL;
}

static void leave_place(void *place)
{
	__atomic_store_n((pid_t *)place, FREE, __ATOMIC_RELAXED);
}

/* What a kernel does to its process is nobody else's. */
static void fork_server(const struct listener *l, int client, pid_t *place)
{
	pid_t parent = getpid(), pid, taken = TAKEN;

	__atomic_store_n(place, TAKEN, __ATOMIC_RELAXED);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* the listener has one thread */
		if (getppid() == parent)
			server_run(&l->with, client, leave_place, place);
		_exit(0);
	}
	if (pid < 0)
		complain(errno, "layer remote: no process for a client: %s", strerror(errno));
	/* unless it is no stranger any more */
	__atomic_compare_exchange_n(place, &taken, pid < 0 ? FREE : pid, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* ---- clients come --------------------------------------------------------------------------- */

static bool may_come(const struct remote_opts *o, int client)
{
	if (o->transport != REMOTE_TCP)
		return tcp_same_user(client);
	tcp_set_options(client);
	return true;
}

static void take_client(const struct listener *l, int client)
{
	bool may = may_come(l->with.o, client);
	pid_t *place = may ? stranger_place(l->strangers) : NULL;

	if (place)
		fork_server(l, client, place);
	else if (may)
		handshake_refuse(client, strangers_too_many);
	close(client);
}

/* What the folder's file says of it. False after one line. */
static bool read_secret(const struct remote_opts *o, const char *folder, struct secret *secret)
{
	struct remote_shared *s = remote_shared_map(folder, 0);
	bool has_token = s && o->transport == REMOTE_TCP;
	const char *why = has_token ? tcp_token(s->token, secret->token) : NULL;

	if (why)
		complain(EINVAL, "layer remote: token=%s: %s", s->token, why);
	if (s) {
		secret->rtt_ns = s->rtt_ns;
		secret->gbit_s = s->gbit_s;
		munmap(s, sizeof(*s));
	}
	return !why && (s || o->transport != REMOTE_TCP);
}

/* A GPU's queues for submissions are few by default, and streams of one queue wait for each other.
 */
static void share_queues(void)
{
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

enum { ACCEPT_AGAIN_US = 10000 };

static void take_clients(const struct listener *l, int fd)
{
	for (;;) {
		int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (client >= 0)
			take_client(l, client);
		else if (errno == EMFILE || errno == ENFILE)
			usleep(ACCEPT_AGAIN_US);
	}
}

/* A second listener, whose clients share memory. Where it cannot be had they come over TCP. */
static void listen_nearby(const struct remote_opts *o, const char *folder, struct secret secret)
{
	static struct remote_opts near;
	static struct listener l;
	struct remote_shared *s = remote_shared_map(folder, 0);
	int fd = s ? open_nearby(s->address) : -1;
	pid_t parent = getpid();

	if (s)
		munmap(s, sizeof(*s));
	if (fd >= 0 && !fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		near = *o;
		near.transport = REMOTE_SHM;
		secret.transport = REMOTE_SHM;
		l.with = (struct serving){ &near, folder, secret, NULL, NULL };
		l.strangers = strangers_new();
		signal(SIGCHLD, SIG_IGN);
		take_clients(&l, fd);
	}
	if (fd >= 0)
		close(fd);
}

void remote_listen(const struct remote_opts *o, const char *folder, int ready)
{
	static struct listener l; /* threads may see it to the process's end */
	int fd = o->transport == REMOTE_TCP ? remote_listen_tcp(o, folder) : open_socket(folder);
	bool ok;

	if (fd < 0 && o->transport != REMOTE_TCP)
		complain(errno, "layer remote: no socket in %s: %s", folder, strerror(errno));
	l.with = (struct serving){ o, folder, { .transport = (uint32_t)o->transport }, NULL, NULL };
	if (fd < 0 || !read_secret(o, folder, &l.with.secret))
		return;
	l.with.schedule = schedule_new(o, &ok);
	if (!ok)
		return;
	if (o->shared)
		share_queues();
	else
		l.strangers = strangers_new();
	signal(SIGCHLD, SIG_IGN); /* nobody asks how they ended */
	if (o->nearby)
		listen_nearby(o, folder, l.with.secret);
	fcntl(ready, F_SETFD, FD_CLOEXEC);
	if (write(ready, "r", 1) != 1)
		return;
	close(ready);
	if (o->shared) {
		together_listen(&l.with, fd, may_come);
		return;
	}
	take_clients(&l, fd);
}
