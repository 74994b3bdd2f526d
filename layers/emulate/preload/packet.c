/* packet.c - see packet.h. */
#include "layers/emulate/preload/packet.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layers/emulate/preload/others.h"
#include "layers/emulate/preload/spin.h"
#include "layers/interpose.h"

struct packet {
	struct packet *next;
	struct command *first, **last;
	int64_t commands;
	size_t bytes;
	uint64_t opened, closed; /* ticks */
};

/* All packets, oldest first; the last one may be open. Those being delivered are in it until their
 * commands have been issued. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct packet *first, **last, *open;
	uint64_t closed, done; /* how many packets */
	bool running, asleep, stop;
	pthread_t submitter;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

/* Delivery is one at a time, and in order, by the submitter or by callers. */
static pthread_mutex_t delivering = PTHREAD_MUTEX_INITIALIZER;
static uint64_t delivered; /* ticks: when the packet before had been */

#define FORGET_AFTER_NS 2e6 /* a submitter without work polls so long, then sleeps */
#define YIELD_AFTER_NS 5e4

/* Between two looks at a packet's age. */
#define SLEEP_MIN_NS 5e4
#define SLEEP_MAX_NS 1e6

bool packets_in_use(void)
{
	return emulate_waits(&shared->costs) && !others_submit();
}

/* Must a thread of its own deliver? */
static bool has_submitter(void)
{
	const struct emulate_costs *c = &shared->costs;

	return c->where == SUBMIT_THREAD || c->latency_ns > 0 || emulate_sends_blocks(c);
}

int call_next(long call, const uint64_t w[WORDS])
{
	void *found = next_function(call);
	int (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			uint64_t);

	memcpy(&function, &found, sizeof(function));
	return function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}

/* ---- packets one after another --------------------------------------------------------------- */

/* The packet before has an event on each stream that it used. Only under `delivering`. */
static struct {
	void **events;
	int n;
} before;

static void wait_for_packet_before(const void *stream)
{
	for (int i = 0; i < before.n; i++)
		call_next(CALL_cudaStreamWaitEvent,
			  (uint64_t[WORDS]){ word_of(stream), word_of(before.events[i]), 0 });
}

static bool used_earlier(const struct packet *p, const struct command *c)
{
	for (const struct command *e = p->first; e != c; e = e->next)
		if (e->stream == c->stream)
			return true;
	return false;
}

static void forget_packet_before(void)
{
	for (int i = 0; i < before.n; i++)
		call_next(CALL_cudaEventDestroy, (uint64_t[WORDS]){ word_of(before.events[i]) });
	before.n = 0;
}

void packet_settle(void)
{
	bool ended = true, had_error;

	if (!shared->costs.serialize)
		return;
	pthread_mutex_lock(&delivering);
	had_error = call_next(CALL_cudaPeekAtLastError, (uint64_t[WORDS]){ 0 });
	for (int i = 0; i < before.n && ended; i++)
		ended = !call_next(CALL_cudaEventQuery,
				   (uint64_t[WORDS]){ word_of(before.events[i]) });
	if (ended)
		forget_packet_before();
	else if (!had_error) /* "not ready" is not the program's */
		call_next(CALL_cudaGetLastError, (uint64_t[WORDS]){ 0 });
	pthread_mutex_unlock(&delivering);
}

static void note_end(const struct packet *p)
{
	enum { DISABLE_TIMING = 2 };

	forget_packet_before();
	for (const struct command *c = p->first; c; c = c->next) {
		void *event = NULL, **events;

		if (used_earlier(p, c))
			continue;
		events = realloc(before.events, (size_t)(before.n + 1) * sizeof(*events));
		if (!events)
			abort();
		before.events = events;
		if (call_next(CALL_cudaEventCreateWithFlags,
			      (uint64_t[WORDS]){ word_of(&event), DISABLE_TIMING }))
			continue;
		call_next(CALL_cudaEventRecord,
			  (uint64_t[WORDS]){ word_of(event), word_of(c->stream) });
		before.events[before.n++] = event;
	}
}

/* ---- issuing --------------------------------------------------------------------------------- */

int copy_in_blocks(long call, const uint64_t words[WORDS])
{
	const struct emulate_costs *costs = &shared->costs;
	uint64_t start = ticks_now(), w[WORDS];
	int64_t total = (int64_t)words[2];
	int err = 0;

	memcpy(w, words, sizeof(w));
	for (int64_t at = 0; at < total && !err; at += costs->copy_block) {
		int64_t n = total - at < costs->copy_block ? total - at : costs->copy_block;

		wait_until(start + (uint64_t)ticks_of((double)(at + n) / costs->copy_bytes_per_ns));
		w[0] = words[0] + (uint64_t)at;
		w[1] = words[1] + (uint64_t)at;
		w[2] = (uint64_t)n;
		err = call_next(call, w);
	}
	return err;
}

/* cudaErrorLaunchFailure stands for any status of cuBLAS that is none of success. */
static int make_product(const struct command *c)
{
	return c->make(c->payload) ? 719 : 0;
}

static void issue(struct command *c, int *device)
{
	int err = 0;

	if (c->device != *device) {
		err = call_next(CALL_cudaSetDevice, (uint64_t[WORDS]){ (uint64_t)c->device });
		*device = c->device;
	}
	if (c->ready)
		wait_until(c->ready);
	if (!err && c->make)
		err = make_product(c);
	else if (!err)
		err = c->in_blocks ? copy_in_blocks(c->call, c->words)
				   : call_next(c->call, c->words);
	if (!err)
		return;
	call_next(CALL_cudaGetLastError, (uint64_t[WORDS]){ 0 });
	__atomic_compare_exchange_n(&c->from->error, &(int){ 0 }, err, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static void free_commands(struct command *c)
{
	while (c) {
		struct command *next = c->next;

		free(c);
		c = next;
	}
}

/* When the packet is due, by the costs; ticks. */
static uint64_t due(const struct packet *p)
{
	const struct emulate_costs *c = &shared->costs;
	uint64_t at = p->closed + (uint64_t)ticks_of(c->latency_ns);

	at = (int64_t)(delivered - at) > 0 ? delivered : at;
	if (c->bytes_per_ns > 0)
		at += (uint64_t)ticks_of((double)p->bytes / c->bytes_per_ns);
	return c->where == SUBMIT_THREAD ? at + (uint64_t)ticks_of(c->submit_ns) : at;
}

/* Issues a packet when it is due. The device that this thread is set to comes and goes by device.
 */
static void deliver(const struct packet *p, int *device)
{
	uint64_t at = due(p);

	wait_until(at);
	if (has_submitter())
		note_lateness(&shared->deliveries, (int64_t)(ticks_now() - at));
	for (struct command *c = p->first; c; c = c->next) {
		if (shared->costs.serialize && !used_earlier(p, c))
			wait_for_packet_before(c->stream);
		issue(c, device);
	}
	if (shared->costs.serialize)
		note_end(p);
	delivered = ticks_now(); /* issuing takes its time, too */
	__atomic_fetch_add(&shared->packets, 1, __ATOMIC_RELAXED);
}

/* The oldest packet if it is closed; under the lock. */
static struct packet *oldest_closed(void)
{
	return queue.first && queue.first != queue.open ? queue.first : NULL;
}

/* Delivers the oldest closed packet. Returns whether there was one. Under `delivering`. */
static bool deliver_oldest(int *device)
{
	struct packet *p;

	pthread_mutex_lock(&queue.lock);
	p = oldest_closed();
	pthread_mutex_unlock(&queue.lock);
	if (!p)
		return false;
	deliver(p, device);
	pthread_mutex_lock(&queue.lock);
	queue.first = p->next;
	if (!queue.first)
		queue.last = &queue.first;
	pthread_mutex_unlock(&queue.lock);
	free_commands(p->first);
	free(p);
	__atomic_fetch_add(&queue.done, 1, __ATOMIC_RELEASE);
	return true;
}

/* ---- closing --------------------------------------------------------------------------------- */

/* Under the lock. */
static void close_open(void)
{
	if (!queue.open)
		return;
	queue.open->closed = ticks_now();
	queue.open = NULL;
	__atomic_fetch_add(&queue.closed, 1, __ATOMIC_RELEASE);
	if (queue.asleep)
		pthread_cond_signal(&queue.wake);
}

static bool is_old(const struct packet *p)
{
	double age = shared->costs.packet_age_ns;

	return age > 0 && (int64_t)(ticks_now() - p->opened) >= ticks_of(age);
}

/* ---- the submitter --------------------------------------------------------------------------- */

/* The open packet if it is old; NULL: it is not, or there is none. */
static const struct packet *old_packet(void)
{
	const struct packet *p = NULL;

	if (!__atomic_load_n(&queue.open, __ATOMIC_RELAXED))
		return NULL;
	pthread_mutex_lock(&queue.lock);
	if (queue.open && is_old(queue.open))
		p = queue.open;
	pthread_mutex_unlock(&queue.lock);
	return p;
}

/* The call that submits it is this thread's, where the program's would have made it. */
static bool close_if_old(void)
{
	const struct packet *p = old_packet();

	if (!p)
		return false;
	if (shared->costs.where == SUBMIT_CALLER)
		wait_until(ticks_now() + (uint64_t)ticks_of(shared->costs.submit_ns));
	pthread_mutex_lock(&queue.lock);
	if (queue.open == p) /* nobody else has closed it meanwhile */
		close_open();
	pthread_mutex_unlock(&queue.lock);
	return true;
}

static void sleep_until_woken(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.asleep = true;
	while (!queue.first && !queue.stop)
		pthread_cond_wait(&queue.wake, &queue.lock);
	queue.asleep = false;
	pthread_mutex_unlock(&queue.lock);
}

static void *submit(void *unused)
{
	static struct thread self = { .inside = true };
	uint64_t busy = ticks_now();
	int device = 0;

	(void)unused;
	thread_is(&self);
	while (!__atomic_load_n(&queue.stop, __ATOMIC_RELAXED)) {
		double idle_ns;

		close_if_old();
		if (__atomic_load_n(&queue.closed, __ATOMIC_ACQUIRE) != queue.done) {
			pthread_mutex_lock(&delivering);
			deliver_oldest(&device);
			pthread_mutex_unlock(&delivering);
			busy = ticks_now();
			continue;
		}
		idle_ns = (double)(ticks_now() - busy) / shared->ticks_per_ns;
		if (idle_ns > FORGET_AFTER_NS) {
			sleep_until_woken();
			busy = ticks_now();
		} else if (idle_ns > YIELD_AFTER_NS) {
			sched_yield();
		}
	}
	return NULL;
}

/* ---- a packet's age, where callers deliver --------------------------------------------------- */

/* Where no thread delivers, the caller does. */
static void deliver_closed(struct thread *by)
{
	int device = by->device;

	if (has_submitter())
		return;
	pthread_mutex_lock(&delivering);
	while (deliver_oldest(&device))
		;
	pthread_mutex_unlock(&delivering);
	if (device != by->device) /* others' commands were in it */
		call_next(CALL_cudaSetDevice, (uint64_t[WORDS]){ (uint64_t)by->device });
}

/* How long the open packet still has, or a new one would: the next one may open at once. */
static double age_left_ns(void)
{
	double left_ns = shared->costs.packet_age_ns;

	pthread_mutex_lock(&queue.lock);
	if (queue.open)
		left_ns -= (double)(ticks_now() - queue.open->opened) / shared->ticks_per_ns;
	pthread_mutex_unlock(&queue.lock);
	return left_ns;
}

/*
 * Sleeps and looks, so that callers pay nothing for being watched: a packet closes up to a tenth of
 * a millisecond late, and up to a millisecond where none was opened for a while.
 */
static void *watch_age(void *unused)
{
	enum { QUIET = 100 }; /* looks without an old packet, until it looks less often */
	static struct thread self = { .inside = true };
	int quiet = 0;

	(void)unused;
	thread_is(&self);
	while (!__atomic_load_n(&queue.stop, __ATOMIC_RELAXED)) {
		double ns = quiet < QUIET ? age_left_ns() : SLEEP_MAX_NS;

		ns = ns < SLEEP_MIN_NS ? SLEEP_MIN_NS : ns > SLEEP_MAX_NS ? SLEEP_MAX_NS : ns;
		nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
		quiet = close_if_old() ? 0 : quiet + 1;
		deliver_closed(&self);
	}
	return NULL;
}

/* What was given is issued, as it would have been without the layer, then the thread ends. */
static void end_submitter(void)
{
	if (!queue.running)
		return;
	packet_drain(thread_self());
	pthread_mutex_lock(&queue.lock);
	__atomic_store_n(&queue.stop, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&queue.wake);
	pthread_mutex_unlock(&queue.lock);
	pthread_join(queue.submitter, NULL);
	queue.running = false;
}

/* A child has no thread but its own, and the runtime is of no use to it. */
static void forget_all(void)
{
	pthread_mutex_init(&queue.lock, NULL);
	pthread_cond_init(&queue.wake, NULL);
	pthread_mutex_init(&delivering, NULL);
	queue.first = queue.open = NULL;
	queue.last = &queue.first;
	queue.closed = queue.done = 0;
	queue.running = queue.asleep = queue.stop = false;
}

/* Under the lock. */
static void start_submitter(void)
{
	static bool before_first = true;

	if (before_first) {
		atexit(end_submitter);
		pthread_atfork(NULL, NULL, forget_all);
		before_first = false;
	}
	if (pthread_create(&queue.submitter, NULL, has_submitter() ? submit : watch_age, NULL))
		abort();
	queue.running = true;
}

/* ---- for callers ----------------------------------------------------------------------------- */

/* Under the lock. */
static struct packet *open_packet(void)
{
	struct packet *p = queue.open;

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		abort();
	p->last = &p->first;
	p->opened = ticks_now();
	if (!queue.first)
		queue.last = &queue.first;
	*queue.last = p;
	queue.last = &p->next;
	queue.open = p;
	if (queue.asleep)
		pthread_cond_signal(&queue.wake);
	return p;
}

/* The caller makes the call that submits. */
static void spend_submit(struct thread *by)
{
	if (shared->costs.where == SUBMIT_CALLER)
		spend(shared->costs.submit_ns, ticks_now(), &by->account);
}

void packet_add(struct command *c)
{
	struct thread *by = c->from;
	struct packet *p;
	bool full;

	pthread_mutex_lock(&queue.lock);
	if ((has_submitter() || shared->costs.packet_age_ns > 0) && !queue.running)
		start_submitter();
	p = open_packet();
	*p->last = c;
	p->last = &c->next;
	p->bytes += c->bytes;
	p->commands++;
	full = p->commands >= shared->costs.packet_commands ||
	       (shared->costs.where == SUBMIT_CALLER && is_old(p));
	pthread_mutex_unlock(&queue.lock);
	if (full)
		packet_flush(by);
}

void packet_flush(struct thread *by)
{
	if (!__atomic_load_n(&queue.open, __ATOMIC_ACQUIRE))
		return;
	spend_submit(by);
	pthread_mutex_lock(&queue.lock);
	close_open();
	pthread_mutex_unlock(&queue.lock);
	deliver_closed(by);
}

void packet_drain(struct thread *by)
{
	uint64_t closed, start = ticks_now();

	packet_flush(by);
	closed = __atomic_load_n(&queue.closed, __ATOMIC_ACQUIRE);
	while ((int64_t)(closed - __atomic_load_n(&queue.done, __ATOMIC_ACQUIRE)) > 0)
		if ((double)(ticks_now() - start) > YIELD_AFTER_NS * shared->ticks_per_ns)
			sched_yield();
}

static bool concerns(const struct command *c, const void *stream, const void *event)
{
	if (event)
		return c->event == event;
	return !stream || !c->stream || c->stream == stream;
}

bool packet_has(const void *stream, const void *event)
{
	bool found = false;

	pthread_mutex_lock(&queue.lock);
	for (const struct packet *p = queue.first; p && !found; p = p->next)
		for (const struct command *c = p->first; c && !found; c = c->next)
			found = concerns(c, stream, event);
	pthread_mutex_unlock(&queue.lock);
	return found;
}
