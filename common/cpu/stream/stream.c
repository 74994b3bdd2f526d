/*
 * stream.c - streams: the queue and the thread that runs it, the list of all streams, the legacy
 * default stream's order, waiting.
 *
 * The thread takes the whole queue at once and hands used entries back the same way, so that
 * submitters and it meet at the lock once a batch.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/stream/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct lock list_lock;
static struct stream *streams; /* whose thread has not ended */

void streams_each(void (*f)(struct stream *s, void *arg), void *arg)
{
	lock_acquire(&list_lock);
	for (struct stream *s = streams; s; s = s->next_live)
		f(s, arg);
	lock_release(&list_lock);
}

/* The list holds a stream until its thread ends: a destroyed one may have work left. */
static void list_add(struct stream *s)
{
	lock_acquire(&list_lock);
	s->next_live = streams;
	streams = s;
	lock_release(&list_lock);
}

static void list_remove(struct stream *s)
{
	struct stream **link = &streams;

	lock_acquire(&list_lock);
	while (*link != s)
		link = &(*link)->next_live;
	*link = s->next_live;
	lock_release(&list_lock);
}

/* ---- the queue ------------------------------------------------------------------------- */

struct op *stream_new_op(struct stream *s)
{
	lock_acquire(&s->lock);
	struct op *op = s->spare;

	if (op)
		s->spare = op->next;
	lock_release(&s->lock);
	return op ? op : op_new();
}

/* Queues an op as it is, without checks and default-stream order. Returns its number. */
static uint64_t stream_append(struct stream *s, struct op *op)
{
	op->next = NULL;
	lock_acquire(&s->lock);
	*s->last = op;
	s->last = &op->next;
	uint64_t n = ++s->n_submitted;
	lock_release(&s->lock);
	/* Outside the lock: waking the thread is a system call. */
	progress_raise(&s->queued, n);
	return n;
}

/* Entries that have run, most recent first. */
struct spent {
	struct op *first, *last;
};

static void spend(struct spent *spent, struct op *op)
{
	op_clear(op);
	if (!spent->first)
		spent->last = op;
	op->next = spent->first;
	spent->first = op;
}

static struct op *take_queue(struct stream *s, struct spent *spent)
{
	lock_acquire(&s->lock);
	struct op *batch = s->first;

	s->first = NULL;
	s->last = &s->first;
	if (spent->first) {
		spent->last->next = s->spare;
		s->spare = spent->first;
		spent->first = NULL;
	}
	lock_release(&s->lock);
	return batch;
}

void stream_tell(const struct stream *s, struct trace_event *e)
{
	e->stream = s->number;
	e->stream_kind = stream_is_null(s) ? TRACE_STREAM_legacy
			 : s->blocking	   ? TRACE_STREAM_blocking
					   : TRACE_STREAM_non_blocking;
}

static void run(const struct stream *s, struct op *op)
{
	struct trace_event e;

	if (!op->recorded) {
		op_run(op);
		return;
	}
	memset(&e, 0, sizeof(e));
	stream_tell(s, &e);
	op_run_recorded(op, &e);
}

/* The stream's thread. Every operation counts as done on its own, as hosts wait for a number. */
static void *serve(void *arg)
{
	struct stream *s = arg;
	struct spent spent = { NULL, NULL };
	uint64_t n_done = 0;
	bool quit = false;

	faults_explain();
	while (!quit) {
		progress_wait(&s->queued, n_done + 1, config()->spin_ns);
		for (struct op *op = take_queue(s, &spent), *next; op; op = next) {
			next = op->next;
			quit = op->kind == OP_QUIT;
			run(s, op);
			spend(&spent, op);
			TS_RELEASE(&s->tag);
			progress_raise(&s->done, ++n_done);
		}
	}
	take_queue(s, &spent);
	executor_release();
	list_remove(s);
	stream_unref(s);
	return NULL;
}

/* ---- birth and death ------------------------------------------------------------------- */

static bool start_thread(struct stream *s)
{
	pthread_t thread;

	if (thread_start(&thread, serve, s))
		return false;
	pthread_setname_np(thread, "rift-stream");
	pthread_detach(thread);
	return true;
}

struct stream *stream_new(bool blocking)
{
	static atomic_uint n_streams;
	struct stream *s = aligned_alloc(_Alignof(struct stream), sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	s->last = &s->first;
	s->blocking = blocking;
	s->number = 1 + atomic_fetch_add(&n_streams, 1);
	progress_init(&s->queued);
	progress_init(&s->done);
	atomic_init(&s->n_refs, 2); /* the handle and the thread */
	list_add(s);
	if (!start_thread(s)) {
		list_remove(s);
		free(s);
		return NULL;
	}
	return s;
}

/* By the queue, so that everything submitted before still runs. */
void stream_quit(struct stream *s)
{
	struct op *op = stream_new_op(s);

	if (!op)
		starve("no memory to end a stream");
	op->kind = OP_QUIT;
	stream_append(s, op);
}

/* ---- the default stream, and handles --------------------------------------------------- */

/* Made at its first use: many programs never need it, and it costs a thread. */
static _Atomic(struct stream *) null_stream;

static void make_null_stream(void)
{
	struct stream *s = stream_new(true);

	if (!s)
		starve("no memory or thread for the default stream");
	atomic_store(&null_stream, s);
}

struct stream *stream_null(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct stream *s = atomic_load_explicit(&null_stream, memory_order_acquire);

	if (s)
		return s;
	pthread_once(&once, make_null_stream);
	return atomic_load(&null_stream);
}

bool stream_is_null(const struct stream *s)
{
	return s == atomic_load_explicit(&null_stream, memory_order_relaxed);
}

struct stream *stream_find(cudaStream_t handle)
{
	if ((uintptr_t)handle <= (uintptr_t)cudaStreamPerThread)
		return stream_null();
	return handle_object(HANDLE_STREAM, handle);
}

/* ---- submission ------------------------------------------------------------------------ */

static uint64_t count_submitted(struct stream *s)
{
	return atomic_load_explicit(&s->queued.reached, memory_order_acquire);
}

/* Lets s wait for what `other` has been given so far. */
static void join(struct stream *s, struct stream *other)
{
	uint64_t count = count_submitted(other);

	/* Idle streams, the usual case, cost two loads. The checker must be told all the same. */
	if (!TS_PRESENT && progress_passed(&other->done, count))
		return;
	struct op *op = stream_new_op(s);

	if (!op)
		starve("no memory to order two streams");
	stream_ref(other);
	op->kind = OP_JOIN;
	op->join.stream = other;
	op->join.count = count;
	stream_append(s, op);
}

static void join_if_blocking(struct stream *other, void *arg)
{
	struct stream *s = arg;

	if (other != s && other->blocking)
		join(s, other);
}

/* The legacy default stream waits for all blocking streams, and they for it. */
static void keep_default_order(struct stream *s)
{
	struct stream *null = atomic_load_explicit(&null_stream, memory_order_acquire);

	if (s == null)
		streams_each(join_if_blocking, s);
	else if (s->blocking && null)
		join(s, null);
}

/*
 * Returns when less than QUEUE_OPS operations are queued or running; more by what other threads
 * submit meanwhile. Under no lock: the stream's thread may need one to go on.
 */
static void wait_for_room(struct stream *s)
{
	uint64_t queued = count_submitted(s);

	if (queued - atomic_load_explicit(&s->done_seen, memory_order_relaxed) < QUEUE_OPS)
		return;
	if (queued >= QUEUE_OPS)
		progress_wait(&s->done, queued - QUEUE_OPS + 1,
			      atomic_load_explicit(&host_spin_ns, memory_order_relaxed));
	atomic_store_explicit(&s->done_seen,
			      atomic_load_explicit(&s->done.reached, memory_order_relaxed),
			      memory_order_relaxed);
}

/* What a trace has operations of; the others take the device no time. */
static bool is_work(const struct op *op)
{
	return op->kind == OP_COPY || op->kind == OP_SET || op->kind == OP_KERNEL ||
	       op->kind == OP_HOST || op->kind == OP_GRAPH;
}

uint64_t stream_queue(struct stream *s, struct op *op)
{
	op->recorded = recorder_has_call() && is_work(op) ? recorder_submit() : 0;
	wait_for_room(s);
	keep_default_order(s);
	return stream_append(s, op);
}

/* ---- waiting --------------------------------------------------------------------------- */

bool stream_done(struct stream *s)
{
	bool done = progress_passed(&s->done, count_submitted(s));

	if (done)
		TS_ACQUIRE(&s->tag);
	return done;
}

/* What is submitted meanwhile by other threads is not waited for. */
void stream_wait(struct stream *s)
{
	int64_t spin_ns = atomic_load_explicit(&host_spin_ns, memory_order_relaxed);

	progress_wait(&s->done, count_submitted(s), spin_ns);
	TS_ACQUIRE(&s->tag);
}

struct snapshot {
	struct stream **stream;
	size_t n, room;
};

/* References, as waiting under the lock of the list would hold up every submission. */
static void take_into(struct stream *s, void *arg)
{
	struct snapshot *all = arg;

	if (all->n == all->room) {
		all->room = all->room ? 2 * all->room : 16;
		all->stream = realloc(all->stream, all->room * sizeof(*all->stream));
		if (!all->stream)
			starve("no memory to wait for %zu streams", all->room);
	}
	stream_ref(s);
	all->stream[all->n++] = s;
}

void streams_wait_all(bool only_blocking)
{
	struct snapshot all = { NULL, 0, 0 };

	streams_each(take_into, &all);
	for (size_t i = 0; i < all.n; i++) {
		if (all.stream[i]->blocking || !only_blocking)
			stream_wait(all.stream[i]);
		stream_unref(all.stream[i]);
	}
	free(all.stream);
}
