/* folder.c - calls joined with their operations, and whose calls are one sequence. */
#include "common/recorder/folder.h"

#include <stdlib.h>
#include <string.h>

#include "common/recorder/fold.h"

enum {
	TURN_CALLS = 3,	   /* of one thread in a row, before another's ... */
	TURNS_MIN = 8,	   /* ... so often that the two share a queue, */
	PLAIN_MOST = 4096, /* until so many calls did not fold there ... */
	FOLDED_LEAST = 8,  /* ... and not so many times as many did */
};

/* An operation whose call has not come, and when the one before it on its stream ended. */
struct early {
	struct trace_event op;
	int64_t before;
};

struct stream_end {
	int64_t t1;	   /* of operations that have come, of whatever thread */
	int64_t joined_t1; /* of the last that was given to its call */
	bool waits;	   /* for an event: what is submitted next is behind that, too */
};

/* The highest number and the latest end of calls that came. */
struct last {
	bool is_known;
	uint64_t id;
	int64_t t1;
};

/* What one thread did, in order, or several that take turns. */
struct queue {
	struct trace_sequence s;
	struct last last;
	bool is_shared;
};

/* A thread, and whose queue its calls are in. */
struct member {
	uint32_t shares; /* that thread plus one; 0: its own */
	struct last last;
};

/* Threads whose calls came in turns: one made several, which returned, and then the other did. */
struct turns {
	uint32_t thread, other; /* who made the last call, and who the ones before */
	int64_t t1;		/* of the last call */
	int calls, n;		/* of that thread in a row; turns of the two in a row */
};

struct trace_folder {
	struct trace_writer *w;
	bool fold, is_ordered;
	struct queue *queue; /* by thread */
	size_t n_queues;
	struct turns turns;
	struct member *member; /* by thread */
	size_t n_members;
	struct early *early;
	size_t n_early, room_early;
	struct stream_end *stream; /* by number */
	size_t n_streams;
	uint64_t calls, ops;
};

/* ---- tables ---------------------------------------------------------------------------- */

/* The table, with room for its i-th element; it grows by zeros. NULL: no memory, and it is as it
 * was. */
static void *with_room(void *table, size_t *n, size_t i, size_t size)
{
	size_t larger_n = 2 * i + 4;
	char *larger;

	if (i < *n)
		return table;
	larger = realloc(table, larger_n * size);
	if (!larger)
		return NULL;
	memset(larger + *n * size, 0, (larger_n - *n) * size);
	*n = larger_n;
	return larger;
}

/* Whose queue a thread's calls are in. */
static uint32_t owner(const struct trace_folder *f, uint32_t thread)
{
	return thread < f->n_members && f->member[thread].shares ? f->member[thread].shares - 1
								 : thread;
}

static struct queue *queue_of(struct trace_folder *f, uint32_t thread)
{
	uint32_t at = owner(f, thread);
	struct queue *queue = with_room(f->queue, &f->n_queues, at, sizeof(*queue));

	if (!queue)
		return NULL;
	f->queue = queue;
	queue[at].s.w = f->w;
	queue[at].s.folds = f->fold;
	return &queue[at];
}

static struct stream_end *stream_of(struct trace_folder *f, uint32_t stream)
{
	struct stream_end *end = with_room(f->stream, &f->n_streams, stream, sizeof(*end));

	f->stream = end ? end : f->stream;
	return end ? &end[stream] : NULL;
}

/* ---- threads that take turns ------------------------------------------------------------ */

/* The later call of both. */
static struct last later(struct last a, struct last b)
{
	return (struct last){ .is_known = a.is_known || b.is_known,
			      .id = a.id > b.id ? a.id : b.id,
			      .t1 = a.t1 > b.t1 ? a.t1 : b.t1 };
}

/* What came before is written, so that each thread's calls stay in order. */
static void share_queue(struct trace_folder *f, uint32_t a, uint32_t b)
{
	uint32_t to = owner(f, a), from = owner(f, b);
	struct queue *q;

	if (to == from)
		return;
	trace_folder_flush(f);
	q = &f->queue[to];
	q->is_shared = true;
	q->s.plain = q->s.folded = 0;
	q->last = later(q->last, f->queue[from].last);
	for (uint32_t i = 0; i < f->n_members; i++)
		if (owner(f, i) == from)
			f->member[i].shares = to + 1;
}

/* Each thread has its own again, for good: those that were not one sequence fold better apart. */
static void part_queue(struct trace_folder *f, uint32_t of)
{
	trace_folder_flush(f);
	f->queue[of].is_shared = false;
	f->is_ordered = false;
	for (uint32_t i = 0; i < f->n_members && i < f->n_queues; i++)
		if (owner(f, i) == of)
			f->queue[i].last = f->member[i].last;
	for (uint32_t i = 0; i < f->n_members; i++)
		if (owner(f, i) == of)
			f->member[i].shares = 0;
}

/*
 * Two threads that hand work to each other, as those of a training step do, are one sequence:
 * folded apart, nobody could tell which call of one was before which of the other.
 */
static void see_turn(struct trace_folder *f, const struct trace_event *call)
{
	struct turns *t = &f->turns;
	bool is_turn = t->calls >= TURN_CALLS && t->t1 <= call->t0;

	if (call->thread != t->thread) {
		t->n = is_turn && (call->thread == t->other || !t->n) ? t->n + 1 : 0;
		t->other = t->thread;
		t->thread = call->thread;
		t->calls = 0;
	}
	t->calls += t->calls < TURN_CALLS;
	t->t1 = call->t1;
	if (t->n == TURNS_MIN) {
		share_queue(f, t->other, t->thread);
		t->n = 0;
	}
}

static void see_member(struct trace_folder *f, const struct trace_event *call, struct last last)
{
	struct member *m = with_room(f->member, &f->n_members, call->thread, sizeof(*m));

	if (!m)
		return;
	f->member = m;
	m[call->thread].last = later(m[call->thread].last, last);
}

/* The place of the last call but `but` that waits; n: there is none. */
static size_t last_call(const struct trace_sequence *s, size_t but)
{
	for (size_t i = s->n; i-- > s->first;)
		if (s->entry[i].call.what == TRACE_CALL && !but--)
			return i;
	return s->n;
}

/*
 * A call that began while one of another thread was under way. Both stay rows, as a fold does not
 * say exactly when its last call was. The one before is still here: count_joined() sees to that.
 */
static void keep_plain(struct trace_sequence *s, struct trace_entry *e)
{
	size_t before = last_call(s, 1);

	e->is_plain = true;
	if (before < s->n)
		s->entry[before].is_plain = true;
}

/* ---- what comes ------------------------------------------------------------------------ */

static void take_call(struct trace_folder *f, const struct trace_event *call)
{
	struct last last = { .is_known = true, .id = call->id, .t1 = call->t1 };
	struct trace_entry *e;
	struct queue *q;

	if (f->is_ordered && f->fold && call->what == TRACE_CALL) {
		see_member(f, call, last);
		see_turn(f, call);
	}
	q = queue_of(f, call->thread);
	e = q ? trace_sequence_append(&q->s) : NULL;
	if (!e)
		return;
	e->call = *call;
	if (call->what != TRACE_CALL)
		return;
	e->gap_ns = q->last.is_known ? call->t0 - q->last.t1 : 0;
	if (q->is_shared && e->gap_ns < 0)
		keep_plain(&q->s, e);
	q->last = later(q->last, last);
	f->calls++;
}

/* When its stream's operation before it ended. */
static int64_t follow_stream(struct trace_folder *f, const struct trace_event *op)
{
	struct stream_end *s = stream_of(f, op->stream);
	int64_t before = s ? s->t1 : 0;

	if (s && op->t1 > before)
		s->t1 = op->t1;
	return before;
}

static void take_op(struct trace_folder *f, const struct trace_event *op)
{
	if (f->n_early == f->room_early) {
		size_t room = f->room_early ? 2 * f->room_early : 256;
		struct early *larger = realloc(f->early, room * sizeof(*larger));

		if (!larger)
			return;
		f->early = larger;
		f->room_early = room;
	}
	f->early[f->n_early++] = (struct early){ *op, follow_stream(f, op) };
}

void trace_folder_take(struct trace_folder *f, const struct trace_event *e)
{
	if (e->what == TRACE_OP)
		take_op(f, e);
	else
		take_call(f, e);
}

/* ---- joining --------------------------------------------------------------------------- */

/* The first waiting entry whose call's number is not below id; marks have their next call's. */
static size_t find_call(const struct trace_sequence *s, uint64_t id)
{
	size_t low = s->joined, high = s->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->entry[middle].call.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same in a shared queue, where threads may have taken their numbers in another order. */
static size_t find_near(const struct trace_sequence *s, uint64_t id)
{
	enum { NEAR = 8 };
	size_t i = find_call(s, id);
	size_t from = i > s->joined + NEAR ? i - NEAR : s->joined;

	for (size_t k = from; k < s->n && k < i + NEAR; k++)
		if (s->entry[k].call.id == id && s->entry[k].call.what == TRACE_CALL)
			return k;
	return i;
}

enum fate { JOINED, EARLY, LATE };

static enum fate join(struct queue *q, const struct early *early)
{
	const struct trace_event *op = &early->op;
	struct trace_sequence *s = &q->s;
	size_t i = q->is_shared ? find_near(s, op->id) : find_call(s, op->id);

	while (i < s->n && s->entry[i].call.id == op->id && s->entry[i].call.what != TRACE_CALL)
		i++;
	if (i < s->n && s->entry[i].call.id == op->id && s->entry[i].op_came)
		return EARLY; /* another one: a row of its own once the call is written */
	if (i < s->n && s->entry[i].call.id == op->id) {
		s->entry[i].op = *op;
		s->entry[i].before = early->before;
		s->entry[i].op_came = true;
		return JOINED;
	}
	/* Its call went on without it, or has not come. */
	return op->id <= q->last.id ? LATE : EARLY;
}

static void join_all(struct trace_folder *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->n_early; i++) {
		const struct trace_event *op = &f->early[i].op;
		struct queue *q = queue_of(f, op->thread);
		enum fate fate = q ? join(q, &f->early[i]) : LATE;

		f->ops += fate != EARLY;
		if (fate == LATE)
			trace_write(f->w, op);
		else if (fate == EARLY)
			f->early[kept++] = f->early[i];
	}
	f->n_early = kept;
}

/*
 * When the operation ahead of e's ended; 0: none is known. Operations come about as they
 * end: then it is the last that had come, of whatever thread. CUPTI may bring a copy before the
 * kernel ahead of it: then it is the one before in the thread's own order.
 */
static int64_t ahead(const struct stream_end *s, const struct trace_entry *e)
{
	int64_t came = e->before <= e->op.t0 ? e->before : 0;

	return s->joined_t1 <= e->op.t0 && s->joined_t1 > came ? s->joined_t1 : came;
}

/* An operation is queued where its call returned before the one ahead of it on its stream ended. */
static void find_behind(struct trace_folder *f, struct trace_entry *e)
{
	bool waits = e->call.what == TRACE_CALL && e->call.kind == TRACE_CLASS_wait_event &&
		     !e->call.is_captured;
	struct stream_end *s = NULL;

	e->behind_ns = -1;
	if (e->op_came || waits)
		s = stream_of(f, e->op_came ? e->op.stream : e->call.stream);
	if (!s)
		return;
	if (e->op_came) {
		int64_t end = ahead(s, e);

		if (!s->waits && e->call.t1 <= end)
			e->behind_ns = e->op.t0 - end;
		s->joined_t1 = e->op.t1;
	}
	s->waits = waits;
}

/*
 * Up to the first call that waits for its operation; all, where none is waited for. What comes next
 * may begin while the last call of a shared queue is under way: that one waits for it, or stays a
 * row.
 */
static void count_joined(struct trace_folder *f, struct queue *q, bool all)
{
	struct trace_sequence *s = &q->s;
	size_t last = q->is_shared ? last_call(s, 0) : s->n;

	for (; s->joined < (all ? s->n : last); s->joined++) {
		struct trace_entry *e = &s->entry[s->joined];

		if (e->call.has_op && !e->op_came && !all)
			return;
		e->is_plain |= s->joined == last;
		trace_sequence_hash(s, e);
		find_behind(f, e);
	}
}

/* Much of what several threads did together was not the same time and again. */
static bool is_no_sequence(const struct queue *q)
{
	return q->is_shared && q->s.plain > PLAIN_MOST && FOLDED_LEAST * q->s.plain > q->s.folded;
}

void trace_folder_advance(struct trace_folder *f)
{
	join_all(f);
	for (size_t i = 0; i < f->n_queues; i++) {
		count_joined(f, &f->queue[i], false);
		trace_sequence_advance(&f->queue[i].s);
		if (is_no_sequence(&f->queue[i]))
			part_queue(f, (uint32_t)i);
	}
}

void trace_folder_flush(struct trace_folder *f)
{
	join_all(f);
	for (size_t i = 0; i < f->n_queues; i++) {
		count_joined(f, &f->queue[i], true);
		trace_sequence_flush(&f->queue[i].s);
	}
	join_all(f);
}

/* ---- birth and death ------------------------------------------------------------------- */

struct trace_folder *trace_folder_new(struct trace_writer *w, bool fold)
{
	struct trace_folder *f = calloc(1, sizeof(*f));

	if (f) {
		f->w = w;
		f->fold = fold;
	}
	return f;
}

void trace_folder_expect_order(struct trace_folder *f)
{
	f->is_ordered = true;
}

void trace_folder_free(struct trace_folder *f)
{
	for (size_t i = 0; f && i < f->n_queues; i++)
		trace_sequence_release(&f->queue[i].s);
	if (f) {
		free(f->queue);
		free(f->member);
		free(f->early);
		free(f->stream);
	}
	free(f);
}

size_t trace_folder_waiting(const struct trace_folder *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_queues; i++)
		n += f->queue[i].s.n - f->queue[i].s.first;
	return n;
}

uint64_t trace_folder_calls(const struct trace_folder *f)
{
	return f->calls;
}

uint64_t trace_folder_ops(const struct trace_folder *f)
{
	return f->ops;
}
