/*
 * server.c - see server.h. A client is watched by a thread, which reads its socket: the socket's
 * end is the client's. A process that is the client's alone ends then; in one that is shared all
 * that the client had is given back.
 */
#include "layers/remote/daemon/server.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/check.h"
#include "layers/remote/daemon/backend.h"
#include "layers/remote/daemon/serve.h"
#include "layers/remote/daemon/together.h"

enum { HELLO_WAIT_S = 5 };

struct server {
	const struct serving *with;
	int client;    /* its socket; -1: it is another process's */
	uint64_t base; /* of the addresses that both have */
	uint64_t block_bytes;
	struct scheduled given;
	struct remote_channel *channel;
	bool pinned_blocks;
	struct mirrors mirrors;
	struct mirrors *mirrored; /* those; NULL: the client maps the same memory */
	struct outlet outlet;
	struct remote_inlet in;
	struct session session;
	atomic_uint left; /* a futex: 1 when no call is made for the client any more */
	pthread_t reader, teller;
	bool reads, tells; /* they have begun */
};

/* ---- what both will have ------------------------------------------------------------------- */

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
static struct remote_channel *share(const struct server *v, int fd[2])
{
	void *channel = MAP_FAILED, *pinned = MAP_FAILED;
	size_t bytes = remote_channel_bytes(v->block_bytes);

	fd[0] = shared_memory("rift-remote-pinned", REMOTE_PINNED_BYTES);
	fd[1] = shared_memory("rift-remote-channel", bytes);
	if (fd[0] >= 0 && fd[1] >= 0) {
		pinned = v->with->o->transport == REMOTE_TCP
				 ? NULL /* piece by piece */
				 : mmap((void *)(uintptr_t)v->base, REMOTE_PINNED_BYTES,
					PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd[0], 0);
		channel = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd[1], 0);
	}
	if (channel == MAP_FAILED || pinned == MAP_FAILED) {
		complain(errno, "layer remote: no shared memory: %s", strerror(errno));
		if (channel != MAP_FAILED)
			munmap(channel, bytes);
		return NULL;
	}
	return channel;
}

/* The addresses are taken first, as the device may be opened here. */
static const char *open_device(const struct server *v)
{
	const struct remote_backend *backend = remote_backend();

	if (!backend->open && cudaSetDevice(v->with->o->shared ? v->given.device : 0))
		return "the daemon's device is not available";
	if (backend->place)
		backend->place((void *)(uintptr_t)(v->base + REMOTE_PINNED_BYTES),
			       REMOTE_DEVICE_BYTES);
	return backend->open ? backend->open(v->with->o->shared ? v->given.device : 0) : NULL;
}

/* The device then reads blocks itself. Where it cannot, copies by way of them are slower. */
static bool pin_blocks(const struct server *v)
{
	return remote_backend()->kernels == REMOTE_IMAGES &&
	       !cudaHostRegister(v->channel->blocks, 2 * REMOTE_BLOCKS * v->block_bytes, 0);
}

/* NULL: it has begun. */
static const char *begin_session(struct server *v)
{
	const struct remote_opts *o = v->with->o;
	struct session *s = &v->session;

	*s = session_new(remote_backend(), v->base, remote_block_in(v->channel, v->block_bytes, 0),
			 remote_block_out(v->channel, v->block_bytes, 0), (uint64_t)o->memory);
	s->block_bytes = v->block_bytes;
	s->store = v->with->folder;
	s->told = v->given.bytes;
	s->mirrors = v->mirrored;
	s->outlet = o->transport == REMOTE_SHM ? NULL : &v->outlet;
	hosts_connect(s->hosts, &v->channel->turn, s->outlet);
	if (!o->shared)
		return NULL;
	s->device = v->given.device;
	s->lost = together_break;
	s->lost_arg = v->with->together;
	return order_begin(s) ? NULL
			      : "the daemon's device has no streams for another client, or no "
				"memory pools";
}

/* What both will have, and the device. NULL: the client is to be told no more. */
static const char *prepare(struct server *v, int fd[2])
{
	const char *why;

	v->channel = share(v, fd);
	if (!v->channel)
		return "the daemon has no shared memory";
	why = open_device(v);
	return why ? why : begin_session(v);
}

/* It is the next process's, and says hello again, to that. False: it is still the client of this
 * one, which works or never did. */
static bool pass_on(struct server *v)
{
	struct together *t = v->with->together;

	if (!t || !together_pass_on(t, v->client))
		return false;
	handshake_again(v->client, v->base);
	v->client = -1;
	return true;
}

static void begin_or_break(struct together *t, bool begun)
{
	if (begun)
		together_works(t);
	else if (ends_the_device((int)cudaGetLastError()))
		together_break(t);
}

/* False: the client has been told why not, where it is there, or is the next process's. */
static bool welcome(struct server *v)
{
	static const unsigned shared[] = { [REMOTE_SHM] = 2, [REMOTE_UNIX] = 1, [REMOTE_TCP] = 0 };
	int fd[2] = { -1, -1 };
	const char *why = prepare(v, fd);
	bool ok;

	if (v->with->together)
		begin_or_break(v->with->together, !why);
	ok = !why &&
	     handshake_welcome(v->client, v->block_bytes, fd, shared[v->with->o->transport]);
	if (why && !pass_on(v))
		handshake_refuse(v->client, why);
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return ok;
}

/* ---- its end ------------------------------------------------------------------------------- */

static const char no_command[] =
	"layer remote: a client sent an invalid command and is no longer served";

/* Where the client writes to the ring itself, nothing comes by the socket. */
static bool read_to_the_end(struct server *v)
{
	char byte;

	if (v->session.outlet)
		return receive_all(&v->in, v->channel, v->mirrored) == RECEIVED_END;
	while (recv(v->client, &byte, 1, 0) < 0 && errno == EINTR)
		;
	return true;
}

/* The call that is made for the client may wait for work that does not end. */
static void await_last_call(struct server *v)
{
	int64_t end = remote_now_ns() + ORDER_SLOW_NS, now;

	while (!atomic_load(&v->left) && (now = remote_now_ns()) < end)
		remote_sleep(&v->left, 0, end - now);
	if (!atomic_load(&v->left))
		order_say_slow();
}

static void *read_socket(void *server)
{
	struct server *v = server;
	bool in_order = read_to_the_end(v);

	if (!in_order && !atomic_load(&v->session.over))
		complain(EPROTO, no_command);
	if (!v->with->o->shared)
		_exit(!in_order);
	shutdown(v->client, SHUT_RDWR);
	serve_end(&v->session, v->channel);
	await_last_call(v);
	return NULL;
}

static void *tell_pinned(void *outlet)
{
	outlet_watch(outlet);
	return NULL;
}

/* False: there is no thread. */
static bool begin_threads(struct server *v)
{
	v->in.fd = v->client;
	v->in.rtt_ns = v->with->secret.rtt_ns;
	v->in.gbit_s = v->with->secret.gbit_s;
	v->in.block_bytes = v->block_bytes;
	v->reads = !pthread_create(&v->reader, NULL, read_socket, v);
	v->tells = v->reads && v->mirrored &&
		   !pthread_create(&v->teller, NULL, tell_pinned, &v->outlet);
	return v->reads && (v->tells || !v->mirrored);
}

/* The client hears of it at once; then nobody else touches what it had. */
static void end_threads(struct server *v)
{
	atomic_store(&v->left, 1);
	remote_wake(&v->left);
	shutdown(v->client, SHUT_RDWR);
	atomic_store(&v->outlet.over, true);
	if (v->reads)
		pthread_join(v->reader, NULL);
	if (v->tells)
		pthread_join(v->teller, NULL);
}

static void release(struct server *v)
{
	if (v->channel) {
		if (v->session.order)
			session_close(&v->session);
		else
			hosts_free(v->session.hosts); /* it has not begun */
		if (v->pinned_blocks)
			cudaHostUnregister(v->channel->blocks);
		munmap(v->channel, remote_channel_bytes(v->block_bytes));
	}
	if (v->channel && remote_backend()->unplace)
		remote_backend()->unplace();
	if (v->base)
		munmap((void *)(uintptr_t)v->base, REMOTE_SPACE_BYTES);
	schedule_leave(v->given);
	outlet_release(&v->outlet);
	mirrors_release(&v->mirrors);
	cudaGetLastError();
}

/* ---- from its hello on --------------------------------------------------------------------- */

/* One of several, where they are scheduled. False: the client has been told why there is none. */
static bool take_device(struct server *v)
{
	struct schedule *schedule = v->with->schedule;

	if (schedule)
		v->given = schedule_take(schedule);
	if (v->given.device < 0)
		handshake_refuse(v->client, "the daemon has no place for another client");
	else if (schedule && !v->with->o->shared)
		schedule_see_only(v->given.device);
	return v->given.device >= 0;
}

static void limit_reads(int client, time_t seconds)
{
	const struct timeval wait = { .tv_sec = seconds };

	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
}

/* False: it is nobody's client. */
static bool meet(struct server *v, void (*known)(void *arg), void *arg)
{
	struct remote_hello hello;

	limit_reads(v->client, HELLO_WAIT_S);
	v->base = handshake_agree(v->client, &v->with->secret, v->with->o->shared, &hello);
	known(arg);
	/* a process of several has a device already, and would keep them after the client's end */
	if (v->base && remote_backend()->kernels == REMOTE_IMAGES && !v->with->o->shared)
		handshake_avoid(&hello);
	if (!v->base || pass_on(v) || !take_device(v) || !welcome(v))
		return false;
	limit_reads(v->client, 0); /* for ever */
	return true;
}

/* Whole pages, as the device may have them pinned. */
static uint64_t block_bytes(const struct remote_opts *o)
{
	if (!o->block)
		return o->transport == REMOTE_SHM ? REMOTE_BLOCK_SHARED : REMOTE_BLOCK_BYTES;
	return ((uint64_t)o->block + 4095) / 4096 * 4096;
}

static void serve(struct server *v)
{
	if (!begin_threads(v))
		return;
	v->pinned_blocks = v->session.pinned_blocks = pin_blocks(v);
	if (!serve_channel(&v->session, v->channel, remote_poll_ns(v->with->o)))
		complain(EPROTO, no_command);
}

void server_run(const struct serving *with, int client, void (*known)(void *arg), void *arg)
{
	struct server *v = calloc(1, sizeof(*v));

	if (!v) {
		known(arg);
		return;
	}
	v->with = with;
	v->client = client;
	v->given = (struct scheduled){ 0, NULL, -1 };
	v->mirrors = (struct mirrors){ .lock = PTHREAD_MUTEX_INITIALIZER };
	v->mirrored = with->o->transport == REMOTE_TCP ? &v->mirrors : NULL;
	v->block_bytes = block_bytes(with->o);
	v->outlet = outlet_new(client, v->block_bytes, v->mirrored);
	if (meet(v, known, arg))
		serve(v);
	if (!with->o->shared)
		_exit(0);
	end_threads(v);
	release(v);
	free(v);
}
