/* buffers.c - a list of buffers, each a chain of chunks. */
#include "common/recorder/buffers.h"

#include <stdlib.h>

enum {
	CHUNK_EVENTS = 1024,
	CHUNKS_MAX = 512, /* of a thread, some 100 MB: what comes then is dropped */
	WAIT_TIMES = 16,  /* buffer_add_ns() */
	WAIT_NS = 2000,
};

struct buffer_chunk {
	struct buffer_chunk *next;
	struct trace_event event[CHUNK_EVENTS];
};

static __thread struct buffer *own;
static struct buffer *buffers; /* a list that only grows */

/* ---- writing --------------------------------------------------------------------------------- */

struct buffer *buffer_own(void)
{
	struct buffer *b = own;

	if (b)
		return b;
	b = calloc(1, sizeof(*b));
	struct buffer_chunk *chunk = b ? malloc(sizeof(*chunk)) : NULL;

	if (!chunk) {
		free(b);
		return NULL;
	}
	chunk->next = NULL;
	b->head = b->tail = chunk;
	b->head_end = CHUNK_EVENTS;
	b->n_chunks = 1;
	b->thread = -1;
	b->next = __atomic_load_n(&buffers, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&buffers, &b->next, b, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	own = b;
	return b;
}

struct buffer *buffer_had(void)
{
	return own;
}

static struct buffer_chunk *next_chunk(struct buffer *b)
{
	struct buffer_chunk *chunk = __atomic_exchange_n(&b->spare, NULL, __ATOMIC_ACQUIRE);

	if (!chunk && __atomic_load_n(&b->n_chunks, __ATOMIC_RELAXED) < CHUNKS_MAX) {
		chunk = malloc(sizeof(*chunk));
		__atomic_add_fetch(&b->n_chunks, chunk != NULL, __ATOMIC_RELAXED);
	}
	if (!chunk)
		return NULL;
	chunk->next = NULL;
	__atomic_store_n(&b->tail->next, chunk, __ATOMIC_RELEASE);
	b->tail = chunk;
	return chunk;
}

void buffer_drop(struct buffer *b)
{
	__atomic_store_n(&b->dropped, b->dropped + 1, __ATOMIC_RELAXED);
}

struct trace_event *buffer_slot(struct buffer *b)
{
	uint64_t at = b->written % CHUNK_EVENTS;

	if (!at && b->written && !next_chunk(b)) {
		buffer_drop(b);
		return NULL;
	}
	return &b->tail->event[at];
}

void buffer_publish(struct buffer *b)
{
	__atomic_store_n(&b->written, b->written + 1, __ATOMIC_RELEASE);
}

bool buffer_is_full(const struct buffer *b)
{
	return b->written && b->written % CHUNK_EVENTS == 0 &&
	       __atomic_load_n(&b->n_chunks, __ATOMIC_RELAXED) >= CHUNKS_MAX;
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct buffer *all_buffers(void)
{
	return __atomic_load_n(&buffers, __ATOMIC_ACQUIRE);
}

/* A thread's next event; NULL: there is none. */
static const struct trace_event *peek(struct buffer *b)
{
	if (b->read == b->until)
		return NULL;
	if (b->read == b->head_end) {
		struct buffer_chunk *done = b->head;

		b->head = __atomic_load_n(&done->next, __ATOMIC_ACQUIRE);
		done = __atomic_exchange_n(&b->spare, done, __ATOMIC_ACQ_REL);
		__atomic_sub_fetch(&b->n_chunks, done != NULL, __ATOMIC_RELAXED);
		free(done);
		b->head_end += CHUNK_EVENTS;
	}
	return &b->head->event[b->read % CHUNK_EVENTS];
}

/* Hands the events of a thread on, one after the other, those alone that begin by then. */
static void drain(struct buffer *b, int64_t until, buffer_take *take, void *arg)
{
	for (const struct trace_event *e = peek(b); e && e->t0 <= until; e = peek(b)) {
		take(e, arg);
		b->read++;
	}
}

/* Whose next event begins first, and in *until when the first one of all others does. NULL: there
 * is none. */
static struct buffer *find_first(struct buffer *some, int64_t *until)
{
	struct buffer *first = NULL;
	int64_t t0 = INT64_MAX;

	*until = INT64_MAX;
	for (struct buffer *b = some; b; b = b->merged) {
		const struct trace_event *e = peek(b);

		if (!e)
			continue;
		*until = e->t0 < t0 ? t0 : e->t0 < *until ? e->t0 : *until;
		first = e->t0 < t0 ? b : first;
		t0 = e->t0 < t0 ? e->t0 : t0;
	}
	return first;
}

static void drain_merged(struct buffer *all, buffer_take *take, void *arg)
{
	struct buffer *some = NULL; /* that have something to be read */
	int64_t until;

	for (struct buffer *b = all; b; b = b->next)
		if (b->read != b->until) {
			b->merged = some;
			some = b;
		}
	for (struct buffer *b = find_first(some, &until); b; b = find_first(some, &until))
		drain(b, until, take, arg);
}

void buffers_drain(bool merge, buffer_take *take, void *arg)
{
	struct buffer *all = all_buffers();

	for (struct buffer *b = all; b; b = b->next)
		b->until = __atomic_load_n(&b->written, __ATOMIC_ACQUIRE);
	if (merge)
		drain_merged(all, take, arg);
	for (struct buffer *b = all; b && !merge; b = b->next)
		drain(b, INT64_MAX, take, arg);
}

uint64_t buffers_dropped(void)
{
	uint64_t n = 0;

	for (const struct buffer *b = all_buffers(); b; b = b->next)
		n += __atomic_load_n(&b->dropped, __ATOMIC_RELAXED);
	return n;
}

void buffer_add_ns(struct buffer *b, int64_t ns)
{
	int64_t least = b->least_added_ns; /* 0: it is the first */

	b->least_added_ns = !least || ns < least ? ns : least;
	if (!least || ns > WAIT_TIMES * b->least_added_ns + WAIT_NS)
		return;
	/* the thread that writes the end may read them meanwhile */
	__atomic_store_n(&b->added_ns, b->added_ns + ns, __ATOMIC_RELAXED);
	__atomic_store_n(&b->n_added, b->n_added + 1, __ATOMIC_RELAXED);
}

int64_t buffers_added_ns(void)
{
	int64_t ns = 0, n = 0;

	for (const struct buffer *b = all_buffers(); b; b = b->next) {
		ns += __atomic_load_n(&b->added_ns, __ATOMIC_RELAXED);
		n += __atomic_load_n(&b->n_added, __ATOMIC_RELAXED);
	}
	return n ? ns / n : 0;
}

void buffers_abandon(void)
{
	buffers = NULL;
	own = NULL;
}
