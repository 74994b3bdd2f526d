/* client.c - see client.h: the lock, commands, answers, errors. */
#include "layers/remote/preload/client.h"
#include "layers/remote/preload/blas.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { NEW, CONNECTED, UNREACHED, LOST, FORKED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum state state;
static struct connection connection;
static struct remote_shared *shared;
static int64_t poll_ns, told_poll_ns;

static uint64_t head, tail; /* of the ring; tail: as last seen */
static int64_t sent;	    /* commands */
static int64_t uncounted;   /* of those sent ahead: not yet in what all clients have sent */
static struct remote_command *begun; /* in the ring, or in `nowhere` */
static struct remote_command *nowhere;

/* ---- threads and their errors ------------------------------------------------------------- */

static __thread int last_error __attribute__((tls_model("initial-exec")));
static __thread int thread_slot __attribute__((tls_model("initial-exec"))); /* + 1; 0: none */

static __thread bool runs_hosts __attribute__((tls_model("initial-exec")));

static unsigned answers[REMOTE_THREADS]; /* by slot: how many were asked for */
static uint64_t slots_taken;
static pthread_key_t slot_key;

/* The daemon is told how many threads there are. */
static void set_slots(uint64_t taken)
{
	slots_taken = taken;
	if (state == CONNECTED)
		atomic_store(&connection.channel->threads, (unsigned)__builtin_popcountll(taken));
}

static void free_slot(void *slot)
{
	pthread_mutex_lock(&lock);
	set_slots(slots_taken & ~(UINT64_C(1) << ((uintptr_t)slot - 1)));
	pthread_mutex_unlock(&lock);
}

/* False: more threads than there are slots. */
static bool take_slot(void)
{
	int slot;

	if (thread_slot)
		return true;
	if (slots_taken == UINT64_MAX)
		return false;
	slot = __builtin_ctzll(~slots_taken);
	set_slots(slots_taken | UINT64_C(1) << slot);
	thread_slot = slot + 1;
	pthread_setspecific(slot_key, (void *)(uintptr_t)thread_slot);
	return true;
}

static int error_of_status(int status)
{
	switch (status) {
	case BLAS_NOT_INITIALIZED:
		return CUDA_NOT_INITIALIZED;
	case BLAS_ALLOC_FAILED:
		return CUDA_NO_MEMORY;
	case BLAS_INVALID_VALUE:
		return CUDA_INVALID_VALUE;
	case BLAS_NOT_SUPPORTED:
		return CUDA_NOT_SUPPORTED;
	default:
		return CUDA_LAUNCH_FAILED;
	}
}

int client_result(int error)
{
	if (error & REMOTE_STATUS)
		error = error_of_status(error & ~REMOTE_STATUS);
	if (error && error != CUDA_NOT_READY)
		last_error = error;
	return error;
}

int client_last_error(bool forget)
{
	int error = last_error;

	if (forget)
		last_error = 0;
	return error;
}

void client_say_refused(const char *function)
{
	static const char *said[512];
	static atomic_int n;
	int known = atomic_load(&n);

	for (int i = 0; i < known && i < 512; i++)
		if (said[i] && !strcmp(said[i], function))
			return;
	known = atomic_fetch_add(&n, 1);
	if (known < 512)
		said[known] = strdup(function); /* it may be a line of the caller's */
	fprintf(stderr, "rift: layer remote: not supported: %s\n", function);
	if (shared)
		atomic_fetch_add(&shared->refused, 1);
}

int client_refuse(const char *function)
{
	client_say_refused(function);
	return client_result(CUDA_NOT_SUPPORTED);
}

/* ---- entering and leaving ----------------------------------------------------------------- */

/* The child has neither the ring nor the daemon; CUDA itself would not work there either. */
static void after_fork(void)
{
	if (state != NEW)
		state = FORKED;
	pthread_mutex_init(&lock, NULL);
}

static void open_connection(void)
{
	const char *folder = getenv(REMOTE_VARIABLE);

	shared = connection_shared(folder ? folder : "/nonexistent");
	poll_ns = told_poll_ns = shared->poll_ns;
	nowhere = aligned_alloc(64, (REMOTE_COMMAND_BYTES + 63) / 64 * 64);
	pthread_key_create(&slot_key, free_slot);
	pthread_atfork(NULL, NULL, after_fork);
	state = UNREACHED;
	if (!folder)
		fprintf(stderr, "rift: layer remote: its library is loaded, but %s is not set\n",
			REMOTE_VARIABLE);
	else if (nowhere && connection_open(&connection, folder, shared)) {
		state = CONNECTED;
		libraries_say_driver();
	}
}

static int error_of_state(void)
{
	if (state == CONNECTED)
		return take_slot() ? 0 : client_refuse("calls of more than 64 threads");
	return state == LOST ? CUDA_CONTEXT_GONE : CUDA_NOT_INITIALIZED;
}

void client_lock(void)
{
	pthread_mutex_lock(&lock);
}

void client_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void client_runs_hosts(void)
{
	runs_hosts = true;
}

/* The lock may be held by who waits for the host function. */
int client_enter(void)
{
	int error;

	if (__builtin_expect(runs_hosts, 0))
		return client_result(CUDA_NOT_PERMITTED);
	pthread_mutex_lock(&lock);
	if (__builtin_expect(state == NEW, 0))
		open_connection();
	error = __builtin_expect(state == CONNECTED && thread_slot, 1) ? 0 : error_of_state();
	if (!error)
		return 0;
	pthread_mutex_unlock(&lock);
	return client_result(error);
}

int client_leave(int error)
{
	pthread_mutex_unlock(&lock);
	return client_result(error);
}

struct connection *client_connection(void)
{
	return &connection;
}

uint64_t client_base(void)
{
	return connection.base;
}

void client_poll(int64_t ns)
{
	poll_ns = ns < 0 ? told_poll_ns : ns;
}

struct mirrors *client_mirrors(void)
{
	return connection.mirrors;
}

/* One line, and no call works any more. */
static void lose(void)
{
	if (state == CONNECTED)
		fprintf(stderr, "rift: layer remote: the daemon has ended; no call of CUDA works "
				"any more\n");
	state = LOST;
}

/* ---- the ring ----------------------------------------------------------------------------- */

/* LOOK_NS: how often a daemon is looked for. NAP_NS: while the ring is full, thousands of commands.
 */
enum { LOOKS_A_YIELD = 64, LOOK_NS = 50000000, NAP_NS = 50000 };

/* Until the daemon is so far; false: it is gone. */
static bool await_tail(uint64_t position)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int64_t start = 0, now, looked = 0;

	for (int looks = 1; tail < position; looks++) {
		tail = atomic_load_explicit(&connection.channel->tail, memory_order_acquire);
		remote_pause();
		if (looks % LOOKS_A_YIELD)
			continue;
		now = remote_now_ns();
		start = start ? start : now;
		looked = looked ? looked : now;
		if (now - looked > LOOK_NS && connection_is_lost(&connection)) {
			lose();
			return false;
		}
		looked = now - looked > LOOK_NS ? now : looked;
		if (now - start < poll_ns)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
	return true;
}

static struct remote_command *ring_at(uint64_t position)
{
	return (struct remote_command *)(connection.channel->ring + position % REMOTE_RING_BYTES);
}

/* A command does not go across the end of the ring: what is left there is passed by. */
static void pad(uint64_t bytes)
{
	*ring_at(head) = (struct remote_command){
		.bytes = (uint32_t)bytes,
		.op = REMOTE_PAD,
		.payload = (uint32_t)(bytes - sizeof(struct remote_command)),
	};
	head += bytes;
}

/* Room for so many bytes in one piece. */
static struct remote_command *make_room(uint32_t bytes)
{
	uint64_t left = REMOTE_RING_BYTES - head % REMOTE_RING_BYTES;
	uint64_t skipped = left < bytes ? left : 0;

	if (state != CONNECTED || (head + skipped + bytes > tail + REMOTE_RING_BYTES &&
				   !await_tail(head + skipped + bytes - REMOTE_RING_BYTES)))
		return nowhere;
	if (skipped)
		pad(skipped);
	return ring_at(head);
}

uint8_t *client_begin(enum remote_op op, const uint64_t *words, size_t n, uint32_t payload)
{
	uint32_t bytes = remote_command_bytes((unsigned)n, payload);

	begun = make_room(bytes);
	*begun = (struct remote_command){
		.bytes = bytes,
		.op = (uint16_t)op,
		.thread = (uint8_t)(thread_slot - 1),
		.payload = payload,
	};
	if (n)
		memcpy(begun->word, words, n * sizeof(*words));
	return (uint8_t *)(begun->word + n);
}

/*
 * The daemon's processor has the ring's lines, which it read a lap ago: the next commands' are
 * asked for while it gives this one's away. A launch is two or three lines.
 */
static void take_lines_ahead(void)
{
	enum { LINE = 64, FROM = 256, LINES = 3 };

	for (int i = 0; i < LINES; i++) {
		const void *line =
			connection.channel->ring + (head + FROM + i * LINE) % REMOTE_RING_BYTES;

#ifdef __x86_64__
		__asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
		__builtin_prefetch(line, 1);
#endif
	}
}

/*
 * Without a fence, which would wait for the daemon's processor to give the ring's lines away: so it
 * may be that a daemon that is about to sleep is not seen here, and does not see this command. It
 * naps first, and looks again (serve.c).
 */
static void publish(void)
{
	struct remote_channel *ch = connection.channel;

	/* a daemon that is gone is noticed by who waits for it */
	if (connection.transport != REMOTE_SHM)
		socket_send(&connection, begun);
	head += begun->bytes;
	sent++;
	take_lines_ahead();
	atomic_store_explicit(&ch->head, head, memory_order_release);
	if (__builtin_expect(atomic_load_explicit(&ch->sleeping, memory_order_acquire), 0)) {
		atomic_fetch_add(&ch->bell, 1);
		remote_wake(&ch->bell);
	}
}

/*
 * Now and then, as several processes count in one place. A process that ends by a signal or by
 * _exit() leaves out its last ones.
 */
static void count_ahead(void)
{
	if (!uncounted)
		return;
	atomic_fetch_add_explicit(&shared->ahead, uncounted, memory_order_relaxed);
	uncounted = 0;
}

__attribute__((destructor)) static void count_last(void)
{
	if (state == CONNECTED || state == LOST)
		count_ahead();
}

int client_send(void)
{
	enum { COUNT_EVERY = 256 };

	if (shared->strict)
		return client_ask_now(NULL, 0, false);
	if (state != CONNECTED)
		return CUDA_CONTEXT_GONE;
	publish();
	if (++uncounted == COUNT_EVERY)
		count_ahead();
	return 0;
}

uint64_t client_position(void)
{
	return head;
}

void client_await_position(uint64_t position)
{
	if (state == CONNECTED)
		await_tail(position);
}

static uint64_t read_until[REMOTE_BLOCKS];

uint8_t *client_take_block(unsigned block)
{
	client_await_position(read_until[block]);
	return remote_block_in(connection.channel, connection.block_bytes, block);
}

bool client_sends_from(const void *data)
{
	if (connection.transport == REMOTE_SHM)
		return false;
	connection.from = data;
	return true;
}

void client_block_is_read(unsigned block)
{
	read_until[block] = head;
}

const uint8_t *client_block_out(unsigned block)
{
	return remote_block_out(connection.channel, connection.block_bytes, block);
}

uint64_t client_block_bytes(void)
{
	return connection.block_bytes;
}

/* ---- answers ------------------------------------------------------------------------------ */

/* Another thread may see the loss first: it has the lock then, and says so. */
static bool sleep_for(struct remote_answer *a, unsigned count)
{
	atomic_store(&a->sleeping, 1);
	if (atomic_load(&a->count) != count)
		remote_sleep(&a->count, count - 1, LOOK_NS);
	atomic_store(&a->sleeping, 0);
	return !connection_is_lost(&connection);
}

/* False: the daemon is gone. Its last answer may have come before. */
static bool await_answer(struct remote_answer *a, unsigned count)
{
	int64_t start = 0, now = 0, next_look = 0;

	for (int looks = 0; atomic_load_explicit(&a->count, memory_order_acquire) != count;
	     looks++) {
		remote_pause();
		if (looks % LOOKS_A_YIELD != LOOKS_A_YIELD - 1)
			continue;
		now = remote_now_ns();
		start = start ? start : now;
		next_look = next_look ? next_look : now + LOOK_NS;
		if (now - start >= poll_ns || now > next_look) {
			if (now > next_look && connection_is_lost(&connection))
				break;
			next_look = now + LOOK_NS;
			if (now - start >= poll_ns && !sleep_for(a, count))
				break;
			continue;
		}
		sched_yield();
	}
	return atomic_load_explicit(&a->count, memory_order_acquire) == count;
}

static int take_answer(const struct remote_answer *a, void *out, size_t room)
{
	size_t bytes = a->bytes < room ? a->bytes : room;

	if (bytes && bytes <= REMOTE_ANSWER_BYTES)
		memcpy(out, a->data, bytes);
	if (a->late & REMOTE_STATUS)
		fprintf(stderr,
			"rift: layer remote: a call of cuBLAS that was sent ahead has failed: %s\n",
			cublasGetStatusName(a->late & ~REMOTE_STATUS));
	if (a->late)
		client_result(a->late);
	return a->error ? a->error : a->late;
}

int client_ask_now(void *out, size_t room, bool keep)
{
	int slot = thread_slot - 1;
	struct remote_answer *a;
	int64_t start = remote_now_ns();
	unsigned count;
	bool came;

	if (state != CONNECTED)
		return CUDA_CONTEXT_GONE;
	a = &connection.channel->answer[slot];
	begun->flags = REMOTE_ANSWERED;
	count = ++answers[slot];
	publish();
	if (!keep)
		pthread_mutex_unlock(&lock);
	came = await_answer(a, count);
	if (!keep)
		pthread_mutex_lock(&lock);
	if (!came) {
		lose();
		return CUDA_CONTEXT_GONE;
	}
	count_ahead();
	atomic_fetch_add_explicit(&shared->answered, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&shared->answer_bins[remote_bin(remote_now_ns() - start)], 1,
				  memory_order_relaxed);
	return take_answer(a, out, room);
}

/* ---- commands without payload ------------------------------------------------------------------
 */

int client_ahead(enum remote_op op, const uint64_t *words, size_t n)
{
	client_begin(op, words, n, 0);
	return client_send();
}

int client_ask(enum remote_op op, const uint64_t *words, size_t n, void *out, size_t room)
{
	client_begin(op, words, n, 0);
	return client_ask_now(out, room, false);
}

int client_ahead_if(bool promising, enum remote_op op, const uint64_t *words, size_t n)
{
	return promising ? client_ahead(op, words, n) : client_ask(op, words, n, NULL, 0);
}

/* ---- what rift's side asks ---------------------------------------------------------------------
 */

SHOWN remote_sent_function rift_remote_sent, rift_remote_done, rift_remote_way;

int64_t rift_remote_way(void)
{
	return connection.transport;
}

int64_t rift_remote_sent(void)
{
	return __atomic_load_n(&sent, __ATOMIC_RELAXED);
}

/* The question is one more. */
int64_t rift_remote_done(void)
{
	int64_t done = 0;
	int error = client_enter();

	if (error)
		return -error;
	error = client_leave(client_ask(REMOTE_COUNT, NULL, 0, &done, sizeof(done)));
	return error ? -error : done;
}
