/* listen.c - the daemon's socket, who may connect, and the handshake. */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
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
#include "layers/remote/backend.h"
#include "layers/remote/image.h"
#include "layers/remote/remote.h"
#include "layers/remote/schedule.h"
#include "layers/remote/serve.h"
#include "layers/remote/tcp.h"
#include "layers/remote/wire.h"

/* ---- one client: the handshake ------------------------------------------------------------ */

enum { HELLO_WAIT_S = 5 };

/* Held at a time before they have said who they are. */
enum { STRANGERS_MAX = 64, FREE = 0, TAKEN = -1 };

static void answer_hello(int client, enum remote_verdict verdict, const char *reason)
{
	struct remote_welcome w = { .magic = REMOTE_MAGIC, .verdict = verdict };

	snprintf(w.reason, sizeof(w.reason), "%s", reason);
	send(client, &w, REMOTE_ANSWER_TO_HELLO, MSG_NOSIGNAL);
}

/* With what both will have mapped. */
static bool welcome(int client, uint64_t block_bytes, const int *fd, unsigned n)
{
	struct remote_welcome w = { .magic = REMOTE_MAGIC,
				    .verdict = REMOTE_WELCOME,
				    .block_bytes = block_bytes };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { &w, sizeof(w) };
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
	return sendmsg(client, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(w);
}

/* How a client must come, and over TCP with what; zeros else. What network is imitated. */
struct secret {
	uint32_t transport;
	char token[REMOTE_TOKEN];
	int64_t rtt_ns, gbit_s;
};

/* Why the client gets nothing; NULL: it may have what it wants. */
static const char *judge(const struct remote_hello *h, const struct image *program,
			 const struct secret *secret)
{
	if (h->magic != REMOTE_MAGIC)
		return "it is no client of this layer";
	if (h->version != REMOTE_VERSION)
		return "client and daemon are of different versions";
	if (!tcp_same_token(h->token, secret->token))
		return "its token is not the daemon's";
	if (h->transport != secret->transport)
		return "client and daemon were told different transports";
	if (remote_backend()->kernels == REMOTE_IMAGES)
		return h->kernels == REMOTE_IMAGES
			       ? NULL
			       : "its kernels are the CPU device's, and the daemon has a GPU";
	if (!program->has_id)
		return "rift was linked without a build id";
	if (memcmp(h->build_id, program->build_id, sizeof(h->build_id)) != 0)
		return "the program is not the rift that the daemon runs, of the same build; its "
		       "kernels are unknown there";
	return NULL;
}

/* Nobody has mapped anything there: the addresses are this process's, without access. */
static bool reserve(uint64_t base)
{
	void *want = (void *)(uintptr_t)base;
	void *got =
		base % 4096
			? MAP_FAILED
			: mmap(want, REMOTE_SPACE_BYTES, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
			       -1, 0);

	if (got != MAP_FAILED && got != want)
		munmap(got, REMOTE_SPACE_BYTES);
	return got == want;
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

/* Until both have the same addresses free. 0: no client that may stay. */
static uint64_t agree(int client, const struct secret *secret)
{
	const struct image program = image_of_program();
	static const uint64_t bases[] = REMOTE_BASES;

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		struct remote_hello h = { 0 };
		const char *reason;

		if (!read_hello(client, &h))
			return 0;
		reason = judge(&h, &program, secret);
		if (reason) {
			answer_hello(client, REMOTE_REFUSED, reason);
			return 0;
		}
		if (reserve(h.base))
			return h.base;
		answer_hello(client, REMOTE_TAKEN, "the daemon uses these addresses");
	}
	return 0;
}

/* Memory that two processes map; neither can change its size under the other. */
static int shared_memory(const char *name, uint64_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, (off_t)bytes) ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* fd: of pinned memory, and of the channel. */
static struct remote_channel *share(uint64_t base, int transport, uint64_t block_bytes, int fd[2])
{
	void *channel = MAP_FAILED, *pinned = MAP_FAILED;
	size_t bytes = remote_channel_bytes(block_bytes);

	fd[0] = shared_memory("rift-remote-pinned", REMOTE_PINNED_BYTES);
	fd[1] = shared_memory("rift-remote-channel", bytes);
	if (fd[0] >= 0 && fd[1] >= 0) {
		pinned = transport == REMOTE_TCP
				 ? NULL /* piece by piece */
				 : mmap((void *)(uintptr_t)base, REMOTE_PINNED_BYTES,
					PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd[0], 0);
		channel = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd[1], 0);
	}
	if (channel == MAP_FAILED || pinned == MAP_FAILED) {
		complain(errno, "layer remote: no shared memory: %s", strerror(errno));
		return NULL;
	}
	return channel;
}

/* The device of this process, which has not been opened before: the addresses are taken first. */
static const char *open_device(const struct remote_backend *backend, uint64_t base)
{
	if (backend->place)
		backend->place((void *)(uintptr_t)(base + REMOTE_PINNED_BYTES),
			       REMOTE_DEVICE_BYTES);
	return backend->open ? backend->open() : NULL;
}

/* What both will have, and the device. NULL: the client has been told why not. */
static struct remote_channel *prepare(int client, uint64_t base, int transport,
				      uint64_t block_bytes)
{
	static const unsigned shared[] = { [REMOTE_SHM] = 2, [REMOTE_UNIX] = 1, [REMOTE_TCP] = 0 };
	int fd[2];
	struct remote_channel *channel = share(base, transport, block_bytes, fd);
	const char *why =
		channel ? open_device(remote_backend(), base) : "the daemon has no shared memory";

	if (why)
		answer_hello(client, REMOTE_REFUSED, why);
	else if (!welcome(client, block_bytes, fd, shared[transport]))
		why = "it is gone";
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return why ? NULL : channel;
}

/* The device then reads blocks itself. Where it cannot, copies by way of them are slower. */
static bool pin_blocks(struct remote_channel *channel, uint64_t block_bytes)
{
	return remote_backend()->kernels == REMOTE_IMAGES &&
	       !cudaHostRegister(channel->blocks, 2 * REMOTE_BLOCKS * block_bytes, 0);
}

static const char no_command[] =
	"layer remote: a client wrote what is no command; it is served no more";

struct watched {
	int client;
	struct remote_channel *channel; /* NULL: the client writes it itself */
	struct mirrors *mirrors;
	const struct secret *secret;
	uint64_t block_bytes;
};

/* The socket's end is the client's, and what it had ends with this process. */
static void *watch(void *watched)
{
	const struct watched *w = watched;
	struct remote_inlet *in = calloc(1, sizeof(*in));
	char byte;

	CHECK(in, "memory of a socket");
	in->fd = w->client;
	in->rtt_ns = w->secret->rtt_ns;
	in->gbit_s = w->secret->gbit_s;
	in->block_bytes = w->block_bytes;
	if (w->channel && receive_all(in, w->channel, w->mirrors) == RECEIVED_NONSENSE) {
		complain(EPROTO, no_command);
		_exit(1);
	}
	while (!w->channel && recv(w->client, &byte, 1, 0) < 0 && errno == EINTR)
		;
	_exit(0);
}

static void *watch_pinned(void *outlet)
{
	outlet_watch(outlet);
	return NULL;
}

/* One of several, where they are scheduled. False: the client has been told why there is none. */
static bool take_device(struct schedule *schedule, int client, struct scheduled *given)
{
	*given = schedule ? schedule_take(schedule) : (struct scheduled){ 0, NULL };
	if (given->device < 0)
		answer_hello(client, REMOTE_REFUSED, "the daemon has no place for a client more");
	else if (schedule)
		schedule_see_only(given->device);
	return given->device >= 0;
}

/* What every client is served with; strangers: below. */
struct listener {
	const struct remote_opts *o;
	const char *folder;
	struct secret secret;
	struct schedule *schedule;
	pid_t *strangers;
};

/* Whole pages, as the device may have them pinned. */
static uint64_t block_bytes(const struct remote_opts *o)
{
	if (!o->block)
		return o->transport == REMOTE_SHM ? REMOTE_BLOCK_SHARED : REMOTE_BLOCK_BYTES;
	return ((uint64_t)o->block + 4095) / 4096 * 4096;
}

/* place: where it stands as a stranger. */
static void serve(const struct listener *l, int client, pid_t *place)
{
	const struct remote_opts *o = l->o;
	const uint64_t block = block_bytes(o);
	const struct timeval wait = { .tv_sec = HELLO_WAIT_S }, for_ever = { 0 };
	struct remote_channel *channel;
	struct mirrors mirrors = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct watched watched = { client, NULL, o->transport == REMOTE_TCP ? &mirrors : NULL,
				   &l->secret, block };
	struct outlet outlet = outlet_new(client, block, watched.mirrors);
	struct scheduled given = { 0, NULL };
	struct session session;
	pthread_t watcher;
	uint64_t base;

	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	base = agree(client, &l->secret);
	__atomic_store_n(place, FREE, __ATOMIC_RELAXED);
	channel = base && take_device(l->schedule, client, &given)
			  ? prepare(client, base, o->transport, block)
			  : NULL;
	if (!channel)
		return;
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof(for_ever));
	watched.channel = o->transport == REMOTE_SHM ? NULL : channel;
	if (pthread_create(&watcher, NULL, watch, &watched))
		return;
	if (watched.mirrors && pthread_create(&watcher, NULL, watch_pinned, &outlet))
		return;
	session = session_new(remote_backend(), base, remote_block_in(channel, block, 0),
			      remote_block_out(channel, block, 0), (uint64_t)o->memory);
	session.block_bytes = block;
	session.pinned_blocks = pin_blocks(channel, block);
	session.store = l->folder;
	session.told = given.bytes;
	session.mirrors = watched.mirrors;
	session.outlet = watched.channel ? &outlet : NULL;
	hosts_connect(session.hosts, &channel->turn, session.outlet);
	serve_channel(&session, channel, (int64_t)(o->poll * 1000));
	complain(EPROTO, no_command);
}

/* ---- clients come -----------------------------------------------------------------------------
 */

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

static bool is_same_user(int client)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
}

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

/* One process a client: what a kernel does to its process is nobody else's. */
static void start_server(const struct listener *l, int client, pid_t *place)
{
	pid_t parent = getpid(), pid, taken = TAKEN;

	__atomic_store_n(place, TAKEN, __ATOMIC_RELAXED);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* the listener has one thread */
		if (getppid() == parent)
			serve(l, client, place);
		_exit(0);
	}
	if (pid < 0)
		complain(errno, "layer remote: no process for a client: %s", strerror(errno));
	/* unless it is no stranger any more */
	__atomic_compare_exchange_n(place, &taken, pid < 0 ? FREE : pid, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static void take_client(const struct listener *l, int client)
{
	pid_t *place = stranger_place(l->strangers);

	if (l->o->transport == REMOTE_TCP)
		tcp_set_options(client);
	else if (!is_same_user(client))
		return;
	if (place)
		start_server(l, client, place);
	else
		answer_hello(client, REMOTE_REFUSED, "too many others have not said who they are");
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

void remote_listen(const struct remote_opts *o, const char *folder, int ready)
{
	struct listener l = { o, folder, { .transport = (uint32_t)o->transport }, NULL, NULL };
	int fd = o->transport == REMOTE_TCP ? remote_listen_tcp(o, folder) : open_socket(folder);
	bool ok;

	if (fd < 0 && o->transport != REMOTE_TCP)
		complain(errno, "layer remote: no socket in %s: %s", folder, strerror(errno));
	if (fd < 0 || !read_secret(o, folder, &l.secret))
		return;
	l.schedule = schedule_new(o, &ok);
	if (!ok)
		return;
	l.strangers = strangers_new();
	signal(SIGCHLD, SIG_IGN); /* nobody asks how they ended */
	fcntl(ready, F_SETFD, FD_CLOEXEC);
	if (write(ready, "r", 1) != 1)
		return;
	close(ready);
	for (;;) {
		int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0)
			continue;
		take_client(&l, client);
		close(client);
	}
}
