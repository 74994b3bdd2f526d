/*
 * hosts.c - host functions: what streams and graphs call in the program. The daemon's device asks
 * for one by its number, and a thread that is there from the first use on calls it. So it moves the
 * program's memory for copies of graphs.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/remote/preload/client.h"

typedef void callback(void *stream, int error, void *data);

SHOWN int cudaLaunchHostFunc(void *stream, void (*function)(void *data), void *data);
SHOWN int cudaStreamAddCallback(void *stream, callback *function, void *data, unsigned flags);

/* ---- what the numbers stand for ----------------------------------------------------------- */

enum host_kind { HOST_CALL, HOST_IN, HOST_OUT };

struct host {
	enum host_kind kind;
	void (*function)(void *data);
	callback *callback; /* the same, and is told of the stream */
	void *data, *stream;
	struct remote_rows rows; /* the program's, without gaps on the other side */
	bool live, once;	 /* once: it goes when it has run */
	uint32_t uses;		 /* of the place, before */
	uint32_t next_free;
};

/* No CUDA lock is held with it: who has the client's may wait for a host function. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct host *table;
static uint32_t n_hosts, room, free_place; /* + 1; 0: none */

#define NO_HOST UINT64_MAX

static bool grow(void)
{
	uint32_t more = room ? 2 * room : 64;
	struct host *larger = more <= REMOTE_HOSTS ? realloc(table, more * sizeof(*larger)) : NULL;

	if (!larger)
		return false;
	table = larger;
	room = more;
	return true;
}

/* NO_HOST: all places are taken. */
static uint64_t take_place(const struct host *host, bool may_grow)
{
	uint32_t place = free_place ? free_place - 1 : n_hosts, uses;

	if (!free_place && n_hosts == room && (!may_grow || !grow()))
		return NO_HOST;
	if (free_place)
		free_place = table[place].next_free;
	else
		table[n_hosts++] = (struct host){ 0 };
	uses = table[place].uses;
	table[place] = *host;
	table[place].live = true;
	table[place].uses = uses;
	return place | (uint64_t)uses << 32;
}

/* NULL: it is none, or no longer. */
static struct host *find(uint64_t number)
{
	uint32_t place = (uint32_t)number;
	struct host *h = place < n_hosts ? &table[place] : NULL;

	return h && h->live && h->uses == number >> 32 ? h : NULL;
}

void hosts_forget(uint64_t number)
{
	struct host *h;

	pthread_mutex_lock(&table_lock);
	h = find(number);
	if (h) {
		h->live = false;
		h->uses++;
		h->next_free = free_place;
		free_place = (uint32_t)number + 1;
	}
	pthread_mutex_unlock(&table_lock);
}

/* Those whose graphs are gone. False: there are none. */
static bool forget_gone(void)
{
	enum { FIT = REMOTE_ANSWER_BYTES / 8 - 1 };
	struct {
		uint64_t n, number[FIT];
	} *gone = calloc(1, sizeof(*gone));
	bool some = gone && !client_ask(REMOTE_HOST_GONE, NULL, 0, gone, sizeof(*gone)) && gone->n;

	for (uint64_t i = 0; some && i < gone->n && i < FIT; i++)
		hosts_forget(gone->number[i]);
	free(gone);
	return some;
}

static uint64_t enter(const struct host *host)
{
	uint64_t number;

	for (bool may_grow = false;; may_grow = true) {
		pthread_mutex_lock(&table_lock);
		number = take_place(host, may_grow || !room);
		pthread_mutex_unlock(&table_lock);
		if (number != NO_HOST || (may_grow && !forget_gone()))
			return number;
		while (forget_gone())
			;
	}
}

/* ---- the thread that calls them ----------------------------------------------------------- */

/* How often it looks whether the daemon is there. */
enum { LOOK_NS = 1000000000 };

/* A child of the program's that a host function has forked is not asked. False: so it is, or the
 * daemon has ended. */
static bool await(struct remote_turn *t, unsigned done, pid_t pid)
{
	while (atomic_load(&t->asked) == done && getpid() == pid) {
		remote_sleep(&t->asked, done, LOOK_NS);
		if (atomic_load(&t->asked) == done && connection_is_lost(client_connection()))
			return false;
	}
	return getpid() == pid;
}

/* Part of the rows, as they lie without gaps. */
static void move_rows(const struct host *h, const struct remote_asked *what, uint8_t *data)
{
	const struct remote_rows *r = &h->rows;
	bool in = h->kind == HOST_IN;
	uint64_t base = in ? r->src : r->dst, pitch = in ? r->src_pitch : r->dst_pitch;
	uint64_t all = r->width * r->height, bytes;

	if (what->offset > all || what->bytes > all - what->offset ||
	    what->bytes > REMOTE_TURN_BYTES)
		return;
	for (uint64_t done = 0; done < what->bytes; done += bytes) {
		uint64_t at = what->offset + done, column = at % r->width;
		void *here = (void *)(uintptr_t)(base + at / r->width * pitch + column);

		bytes = r->width - column;
		bytes = bytes < what->bytes - done ? bytes : what->bytes - done;
		memcpy(in ? (void *)(data + done) : here, in ? here : (void *)(data + done), bytes);
	}
}

/* Returns how many bytes go to the daemon. */
static uint32_t answer(const struct remote_asked *what, uint8_t *data)
{
	struct host h = { HOST_CALL };
	const struct host *found;

	pthread_mutex_lock(&table_lock);
	found = find(what->number);
	if (found)
		h = *found;
	pthread_mutex_unlock(&table_lock);
	if (h.function)
		h.function(h.data);
	else if (h.callback)
		h.callback(h.stream, 0, h.data);
	else if (h.live)
		move_rows(&h, what, data);
	if (h.once)
		hosts_forget(what->number);
	return h.kind == HOST_IN && what->bytes <= REMOTE_TURN_BYTES ? what->bytes : 0;
}

static void *answer_all(void *unused)
{
	struct connection *c = client_connection();
	struct remote_turn *t = &c->channel->turn;
	pid_t pid = getpid();

	client_runs_hosts();
	for (unsigned done = 0; await(t, done, pid);) {
		/* a copy: what is looked at must not change before it is used */
		struct remote_asked what = t->what;
		uint32_t bytes = answer(&what, t->data);

		if (getpid() != pid)
			break;
		done++;
		if (c->transport == REMOTE_SHM) {
			atomic_store(&t->done, done);
			remote_wake(&t->done);
		} else {
			socket_done(c, bytes);
		}
	}
	return unused;
}

static bool running;

bool hosts_are_used(void)
{
	return running;
}

/* The program's signals are its own threads'. */
static bool begin(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;

	if (running)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	running = !pthread_create(&thread, &attr, answer_all, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return running;
}

/* ---- calls -------------------------------------------------------------------------------- */

static int launch(uint64_t where, struct host host)
{
	bool captured;
	int error = client_is_captured(where, &captured);
	uint64_t number;

	/* such a wait is an error, too, and ends the capture likewise */
	if (!error && captured && host.callback)
		error = client_ask(REMOTE_STREAM_WAIT, WORDS(where), NULL, 0);
	if (error)
		return error;
	host.once = !captured;
	number = begin() ? enter(&host) : NO_HOST;
	if (number == NO_HOST)
		return CUDA_NO_MEMORY;
	error = client_ahead_if(!captured, REMOTE_HOST_CALL, WORDS(number, where, captured));
	if (error)
		hosts_forget(number);
	return error;
}

static uint64_t enter_for_graph(const struct host *host)
{
	return begin() ? enter(host) : NO_HOST;
}

uint64_t hosts_enter_call(void (*function)(void *data), void *data)
{
	return enter_for_graph(&(struct host){ .function = function, .data = data });
}

uint64_t hosts_enter_copy(const struct remote_rows *rows, bool to_device)
{
	return enter_for_graph(
		&(struct host){ .kind = to_device ? HOST_IN : HOST_OUT, .rows = *rows });
}

int hosts_copy(const struct remote_rows *rows, bool to_device, uint64_t where)
{
	uint64_t number = hosts_enter_copy(rows, to_device);
	int error;

	if (number == NO_HOST)
		return CUDA_NO_MEMORY;
	error = client_ask(REMOTE_HOST_COPY,
			   WORDS(number, where, to_device ? rows->dst : rows->src,
				 to_device ? rows->dst_pitch : rows->src_pitch, rows->width,
				 rows->height, to_device),
			   NULL, 0);
	if (error)
		hosts_forget(number);
	return error;
}

/* ---- a wait that captures bear ------------------------------------------------------------- */

static void pass(void *passed)
{
	atomic_store((atomic_uint *)passed, 1);
	remote_wake(passed);
}

/* A device that has failed calls no functions: it is asked for an error now and then. */
static int look(atomic_uint *passed)
{
	client_unlock();
	remote_sleep(passed, 0, LOOK_NS);
	client_lock();
	return atomic_load(passed) ? 0 : client_ask(REMOTE_MEM_INFO, NULL, 0, NULL, 0);
}

/* By a host function of its own. After an error that may run yet: the word stays then. */
int hosts_await(uint64_t where)
{
	atomic_uint *passed = calloc(1, sizeof(*passed));
	uint64_t number =
		passed ? enter(&(struct host){ .function = pass, .data = passed, .once = true })
		       : NO_HOST;
	int error = CUDA_NO_MEMORY;

	if (number != NO_HOST)
		error = client_ask(REMOTE_HOST_CALL, WORDS(number, where, 0), NULL, 0);
	else
		free(passed);
	if (number != NO_HOST && error)
		hosts_forget(number);
	while (!error && !atomic_load(passed))
		error = look(passed);
	if (!error)
		free(passed);
	return error;
}

/* ---- functions of CUDA ---------------------------------------------------------------------- */

int cudaLaunchHostFunc(void *stream, void (*function)(void *data), void *data)
{
	int error = function ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t where;

	if (error)
		return error;
	return client_leave(
		handle_stream(stream, &where)
			? launch(where, (struct host){ .function = function, .data = data })
			: CUDA_INVALID_HANDLE);
}

int cudaStreamAddCallback(void *stream, callback *function, void *data, unsigned flags)
{
	int error = function && !flags ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t where;

	if (error)
		return error;
	return client_leave(handle_stream(stream, &where)
				    ? launch(where, (struct host){ .callback = function,
								   .data = data,
								   .stream = stream })
				    : CUDA_INVALID_HANDLE);
}
