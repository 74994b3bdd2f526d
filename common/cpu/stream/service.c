/*
 * service.c - streams from inside: the queue, the thread that runs it, and the list of all
 * streams.
 *
 * The thread takes the whole queue at once and hands used entries back the same way, so that
 * submitters and it meet at the lock once a batch.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/base/base.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_STACK_BYTES = 2 << 20 }; /* a thread of each block runs on it */

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

void stream_ref(struct stream *s)
{
	atomic_fetch_add_explicit(&s->n_refs, 1, memory_order_relaxed);
}

void stream_unref(struct stream *s)
{
	if (atomic_fetch_sub_explicit(&s->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	while (s->spare) {
		struct op *op = s->spare;

		s->spare = op->next;
		op_free(op);
	}
	free(s);
}

/* ---- the queue -------------------------------------------------------------------------- */

struct op *stream_new_op(struct stream *s)
{
	lock_acquire(&s->lock);
	struct op *op = s->spare;

	if (op)
		s->spare = op->next;
	lock_release(&s->lock);
	return op ? op : op_new();
}

void stream_append(struct stream *s, struct op *op)
{
	op->next = NULL;
	lock_acquire(&s->lock);
	*s->last = op;
	s->last = &op->next;
	uint64_t n = ++s->n_submitted;
	lock_release(&s->lock);
	/* Outside the lock: waking the thread is a system call. */
	progress_raise(&s->queued, n);
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
			op_run(op);
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

/* ---- birth and death -------------------------------------------------------------------- */

int thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	err = pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	if (!err)
		err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return err;
}

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
	struct stream *s = aligned_alloc(_Alignof(struct stream), sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	s->last = &s->first;
	s->blocking = blocking;
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
