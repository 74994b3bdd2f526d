/* fold.c - calls joined with their operations, and what repeats folded. */
#include "common/recorder/fold.h"

#include <stdlib.h>
#include <string.h>

enum {
	WINDOW = 4096,		  /* entries that periods are looked for in */
	PERIOD_MAX = 1024,	  /* entries of a period */
	REPEATS_MIN = 3,	  /* of a fold */
	REPEATS_TIMED = 8,	  /* of a longer period that times ask for ... */
	LONGER_MAX = 64,	  /* ... how many times as long it may be ... */
	COVER_TIMED = 100,	  /* ... and entries that are enough to tell */
	BINS_MAX = 256,		  /* of a distribution, as its readers expect */
	COVER_MIN = 8,		  /* entries that are worth a fold */
	TURN_CALLS = 3,		  /* of one thread in a row, before another's ... */
	TURNS_MIN = 8,		  /* ... so often that the two share a queue, */
	PLAIN_MOST = 4096,	  /* until so many calls did not fold there ... */
	FOLDED_LEAST = 8,	  /* ... and not so many times as many did */
	BINS_PER_OCTAVE_LOG2 = 3, /* a bin is 12 % wide */
};

/* A call with its operation, or a mark. */
struct entry {
	struct trace_event call, op;
	bool op_came;
	int64_t gap_ns;	   /* since the queue's previous call */
	int64_t before;	   /* when the operation before it on its stream ended; 0: there is none */
	int64_t behind_ns; /* how far behind that; -1: it was not queued */
	uint64_t hash;	   /* equal where all but times and recordings are */
	bool is_plain;	   /* stays a row: another thread's call was under way, or may be */
};

/* An operation whose call has not come, and what `before` says above. */
struct early {
	struct trace_event op;
	int64_t before;
};

struct stream_end {
	int64_t t1;	   /* of operations that have come, of whatever thread */
	int64_t joined_t1; /* of the last that was given to its call */
	bool waits;	   /* for an event: what is submitted next is behind that, too */
};

/* What one thread did, in order, or several that take turns; first .. n are waiting. */
struct queue {
	struct entry *entry;
	size_t first, n, room, joined; /* those before joined have all that they wait for */
	uint64_t last_id;	       /* of the last call that came */
	int64_t last_t1;	       /* of all that came, the latest */
	bool has_last;
	struct trace_fold open; /* n 0: none */
	size_t at;		/* entries of the queue that are the beginning of another repeat */
	bool is_shared;
	size_t plain, folded; /* that were written as rows, and in folds */
};

/* A thread, and whose queue its calls are in. */
struct member {
	uint32_t shares; /* that thread plus one; 0: its own */
	uint64_t last_id;
	int64_t last_t1;
	bool has_last;
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
	struct queue *queue;
	size_t n_queues;
	struct turns turns;
	struct member *member; /* by thread */
	size_t n_members;
	struct early *early;
	size_t n_early, room_early;
	struct stream_end *stream; /* by number */
	size_t n_streams;
	uint64_t calls, ops, marks;
};

/* ---- distributions --------------------------------------------------------------------- */

/* Exact below 8; above, the octave and its eighth. */
static uint32_t bin_of(int64_t value)
{
	uint64_t v = value < 0 ? 0 : (uint64_t)value;
	uint32_t octave = v ? 63 - (uint32_t)__builtin_clzll(v) : 0;

	if (octave < BINS_PER_OCTAVE_LOG2)
		return (uint32_t)v;
	return (octave << BINS_PER_OCTAVE_LOG2) +
	       (uint32_t)(v >> (octave - BINS_PER_OCTAVE_LOG2) & 7);
}

static size_t find_bin(const struct trace_distribution *d, uint32_t bin)
{
	size_t low = 0, high = d->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->bin[middle].bin < bin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_value(struct trace_distribution *d, int64_t value)
{
	uint32_t bin = bin_of(value);
	size_t i = find_bin(d, bin);

	if (d->n == BINS_MAX && i == d->n)
		i--; /* as good as the next one below */
	if (d->n < BINS_MAX && (i == d->n || d->bin[i].bin != bin)) {
		if (d->n == d->room) {
			size_t room = d->room ? 2 * d->room : 4;
			struct trace_bin *larger = realloc(d->bin, room * sizeof(*larger));

			if (!larger)
				return;
			d->bin = larger;
			d->room = room;
		}
		memmove(d->bin + i + 1, d->bin + i, (d->n - i) * sizeof(*d->bin));
		d->bin[i] = (struct trace_bin){ .bin = bin };
		d->n++;
	}
	d->bin[i].count++;
	d->bin[i].sum += value < 0 ? 0 : value;
}

/* ---- what is equal --------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
	return hash * 0xff51afd7ed558ccd;
}

/* Texts that are equal may lie apart: then they only do not fold. */
static uint64_t hash_event(uint64_t hash, const struct trace_event *e)
{
	const uint64_t parts[] = {
		(uint64_t)e->what << 32 | (uint64_t)e->kind,
		(uintptr_t)e->name,
		(uint64_t)e->stream << 32 | e->graph,
		e->event,
		e->bytes,
		(uint64_t)e->memory << 32 | (uint64_t)e->direction << 16 |
			(uint64_t)e->is_async << 2 | (uint64_t)e->has_op << 1 | e->is_captured,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		hash = mix(hash, parts[i]);
	if (e->what != TRACE_OP)
		return hash;
	for (int i = 0; i < 3; i++)
		hash = mix(hash, (uint64_t)e->grid[i] << 32 | e->block[i]);
	return mix(hash, (uint64_t)e->shared << 32 | e->registers);
}

/*
 * A mark is like no other, so that it stays a row of its own, and so is a call without its
 * operation, or one beside a call of another thread.
 */
static void hash_entry(struct trace_folder *f, struct entry *e)
{
	e->hash = hash_event(e->call.thread, &e->call);
	if (e->op_came)
		e->hash = hash_event(e->hash, &e->op);
	if (e->call.what == TRACE_MARK || e->call.has_op != e->op_came || e->is_plain)
		e->hash = mix(e->hash, ++f->marks);
}

/* ---- rows as they are ------------------------------------------------------------------ */

static void write_entry(struct trace_folder *f, const struct entry *e)
{
	trace_write(f->w, &e->call);
	if (e->op_came)
		trace_write(f->w, &e->op);
}

/* ---- folds ----------------------------------------------------------------------------- */

static void release_fold(struct trace_fold *fold)
{
	for (size_t i = 0; i < fold->n; i++) {
		struct trace_step *s = &fold->step[i];

		free(s->gap.bin);
		free(s->took.bin);
		free(s->cpu.bin);
		free(s->op_took.bin);
		free(s->op_lag.bin);
		free(s->op_behind.bin);
		free(s->op_busy.bin);
	}
	free(fold->step);
	*fold = (struct trace_fold){ .n = 0 };
}

static void add_entry(struct trace_step *s, const struct entry *e)
{
	add_value(&s->gap, e->gap_ns);
	add_value(&s->took, e->call.t1 - e->call.t0);
	s->not_recorded += e->call.not_recorded;
	if (e->call.cpu_ns >= 0)
		add_value(&s->cpu, e->call.cpu_ns);
	if (!e->op_came)
		return;
	add_value(&s->op_took, e->op.t1 - e->op.t0);
	add_value(&s->op_lag, e->op.t0 - e->call.t0);
	if (e->behind_ns >= 0)
		add_value(&s->op_behind, e->behind_ns);
	if (e->op.busy_ns >= 0)
		add_value(&s->op_busy, e->op.busy_ns);
}

static void add_repeat(struct trace_fold *fold, const struct entry *e)
{
	for (size_t i = 0; i < fold->n; i++)
		add_entry(&fold->step[i], &e[i]);
	fold->t1 = e[fold->n - 1].call.t1;
	fold->times++;
}

/* Begins one with the first repeats of a period, all known to be equal; false: no memory. */
static bool open_fold(struct trace_fold *fold, const struct entry *e, size_t period)
{
	fold->step = calloc(period, sizeof(*fold->step));
	if (!fold->step)
		return false;
	fold->n = period;
	fold->times = 0;
	fold->t0 = e->call.t0 - e->gap_ns;
	for (size_t i = 0; i < period; i++) {
		fold->step[i].call = e[i].call;
		fold->step[i].op = e[i].op;
		fold->step[i].hash = e[i].hash;
		fold->step[i].recording_step = e[i + period].call.recording - e[i].call.recording;
	}
	return true;
}

/* Is e what step i of the next repeat must be? */
static bool continues(const struct trace_fold *fold, size_t i, const struct entry *e)
{
	const struct trace_step *s = &fold->step[i];

	return e->hash == s->hash &&
	       e->call.recording == s->call.recording + fold->times * s->recording_step;
}

static void close_fold(struct trace_folder *f, struct queue *q)
{
	if (!q->open.n)
		return;
	trace_write_fold(f->w, &q->open);
	release_fold(&q->open);
	q->at = 0;
}

/* Takes what is joined into the open fold; closes it at the first entry that does not fit. */
static void extend_fold(struct trace_folder *f, struct queue *q)
{
	while (q->open.n && q->first + q->at < q->joined) {
		if (!continues(&q->open, q->at, &q->entry[q->first + q->at])) {
			close_fold(f, q);
			return;
		}
		if (++q->at < q->open.n)
			continue;
		add_repeat(&q->open, &q->entry[q->first]);
		q->first += q->open.n;
		q->folded += q->open.n;
		q->at = 0;
	}
}

/* ---- periods --------------------------------------------------------------------------- */

/* As lag entries before, and its recording grows as it did at the period before. */
static bool repeats(const struct entry *e, size_t i, size_t lag)
{
	if (e[i].hash != e[i - lag].hash)
		return false;
	return i < 2 * lag || e[i].call.recording - e[i - lag].call.recording ==
				      e[i - lag].call.recording - e[i - 2 * lag].call.recording;
}

/* Entries that whole repeats of the period cover, from the first of n on; 0: too few. */
static size_t covered(const struct entry *e, size_t n, size_t period)
{
	size_t i = period;

	while (i < n && repeats(e, i, period))
		i++;
	i -= i % period;
	return i / period < REPEATS_MIN || i < COVER_MIN ? 0 : i;
}

/* The shortest period of those that cover most. */
static size_t find_period(const struct entry *e, size_t n, size_t *cover)
{
	size_t best = 0;

	*cover = 0;
	for (size_t p = 1; p <= PERIOD_MAX && p * REPEATS_MIN <= n; p++) {
		size_t c = covered(e, n, p);

		if (c > *cover) {
			*cover = c;
			best = p;
		}
	}
	return best;
}

/* ---- periods of times ------------------------------------------------------------------ */

/* Sums over values of one place in the period. */
struct moments {
	double n, sum, squares;
};

static void add_to(struct moments *m, int64_t value)
{
	double v = bin_of(value);

	m->n++;
	m->sum += v;
	m->squares += v * v;
}

static double deviation(const struct moments *m)
{
	return m->n > 0 ? m->squares - m->sum * m->sum / m->n : 0;
}

/* Values of a place, every `period` entries: gaps of the host, times of operations. */
static void look_at(const struct entry *e, size_t cover, size_t period, size_t place,
		    struct moments *gap, struct moments *took)
{
	*gap = *took = (struct moments){ 0 };
	for (size_t i = place; i < cover; i += period) {
		add_to(gap, e[i].gap_ns);
		if (e[i].op_came)
			add_to(took, e[i].op.t1 - e[i].op.t0);
	}
}

/* Places of the shortest period whose values differ by more than a bin, as times do anyway. */
struct varying {
	bool gap[PERIOD_MAX], took[PERIOD_MAX];
};

static bool is_varying(const struct moments *m)
{
	return deviation(m) > m->n - 1;
}

static void find_varying(struct varying *v, const struct entry *e, size_t cover, size_t period)
{
	struct moments gap, took;

	for (size_t place = 0; place < period; place++) {
		look_at(e, cover, period, place, &gap, &took);
		v->gap[place] = is_varying(&gap);
		v->took[place] = took.n > 0 && is_varying(&took);
	}
}

/*
 * How far gaps and times of operations are from the mean of their place, in a period that is as
 * many times as long as the shortest one: variances within places, of those places that vary at
 * all. In bins, which are logarithms, so that a late value weighs little.
 */
struct spread {
	double gap, took;
};

static void add_spread(double *sum, double *freedom, const struct moments *m)
{
	*sum += deviation(m);
	*freedom += m->n > 1 ? m->n - 1 : 0;
}

static struct spread spread_of(const struct varying *v, const struct entry *e, size_t cover,
			       size_t shortest, size_t times)
{
	struct spread sum = { 0 }, freedom = { 0 };
	struct moments gap, took;

	cover -= cover % (times * shortest);
	for (size_t place = 0; place < times * shortest; place++) {
		if (!v->gap[place % shortest] && !v->took[place % shortest])
			continue;
		look_at(e, cover, times * shortest, place, &gap, &took);
		if (v->gap[place % shortest])
			add_spread(&sum.gap, &freedom.gap, &gap);
		if (v->took[place % shortest])
			add_spread(&sum.took, &freedom.took, &took);
	}
	return (struct spread){ freedom.gap > 0 ? sum.gap / freedom.gap : 0,
				freedom.took > 0 ? sum.took / freedom.took : 0 };
}

/* By more than chance, and by more than a bin, by which times differ anyway. */
static bool is_less(double a, double b)
{
	return a < 0.8 * b - 1;
}

/*
 * The same calls may come with other times by turns: kernels of 5, 20 and 50 us, a wait after 20 of
 * them. A fold of 21 calls would forget which follows which. So the period is as many times as long
 * as the times ask for: the last that tells gaps or operations better than the one chosen before.
 */
static size_t timed_period(const struct entry *e, size_t cover, size_t period)
{
	struct varying varying = { .gap = { false } };
	struct spread least;
	size_t chosen = 1;

	if (cover < COVER_TIMED)
		return period;
	find_varying(&varying, e, cover, period);
	least = spread_of(&varying, e, cover, period, 1);
	for (size_t times = 2; times <= LONGER_MAX && times * period <= PERIOD_MAX &&
			       times * period * REPEATS_TIMED <= cover;
	     times++) {
		struct spread s = spread_of(&varying, e, cover, period, times);

		if (is_less(s.gap, least.gap) || is_less(s.took, least.took)) {
			least = s;
			chosen = times;
		}
	}
	return chosen * period;
}

/*
 * Writes the joined entries from the first on, folded where they repeat, until what is left is the
 * open fold's, or so few that a period that begins there might not be seen.
 */
static void reduce(struct trace_folder *f, struct queue *q, size_t keep)
{
	while (q->first + keep < q->joined && !q->open.n) {
		struct entry *e = &q->entry[q->first];
		size_t cover, period = f->fold ? find_period(e, q->joined - q->first, &cover) : 0;

		if (period) {
			period = timed_period(e, cover, period);
			cover -= cover % period;
		}
		if (!period || !open_fold(&q->open, e, period)) {
			write_entry(f, e);
			q->first++;
			q->plain++;
			continue;
		}
		for (size_t i = 0; i < cover; i += period)
			add_repeat(&q->open, e + i);
		q->first += cover;
		q->folded += cover;
		q->at = 0;
		extend_fold(f, q);
	}
}

static void advance_queue(struct trace_folder *f, struct queue *q)
{
	size_t window = f->fold ? WINDOW : 1, keep = f->fold ? WINDOW / 2 : 0;

	extend_fold(f, q);
	while (!q->open.n && q->joined - q->first >= window) {
		reduce(f, q, keep);
		extend_fold(f, q);
	}
}

/* ---- joining --------------------------------------------------------------------------- */

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

	f->queue = queue ? queue : f->queue;
	return queue ? &queue[at] : NULL;
}

static struct stream_end *stream_of(struct trace_folder *f, uint32_t stream)
{
	struct stream_end *end = with_room(f->stream, &f->n_streams, stream, sizeof(*end));

	f->stream = end ? end : f->stream;
	return end ? &end[stream] : NULL;
}

/* What has gone on makes room for what comes. */
static struct entry *append(struct queue *q)
{
	if (q->n == q->room && q->first > q->room / 2) {
		memmove(q->entry, q->entry + q->first, (q->n - q->first) * sizeof(*q->entry));
		q->n -= q->first;
		q->joined -= q->first;
		q->first = 0;
	}
	if (q->n == q->room) {
		size_t room = q->room ? 2 * q->room : 256;
		struct entry *larger = realloc(q->entry, room * sizeof(*larger));

		if (!larger)
			return NULL;
		q->entry = larger;
		q->room = room;
	}
	return memset(&q->entry[q->n++], 0, sizeof(*q->entry));
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
	q->plain = q->folded = 0;
	if (f->queue[from].last_t1 > q->last_t1)
		q->last_t1 = f->queue[from].last_t1;
	if (f->queue[from].last_id > q->last_id)
		q->last_id = f->queue[from].last_id;
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
	for (uint32_t i = 0; i < f->n_members && i < f->n_queues; i++) {
		const struct member *m = &f->member[i];

		if (owner(f, i) != of)
			continue;
		f->queue[i].last_t1 = m->last_t1;
		f->queue[i].last_id = m->last_id;
		f->queue[i].has_last = m->has_last;
	}
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

static void see_member(struct trace_folder *f, const struct trace_event *call)
{
	struct member *m = with_room(f->member, &f->n_members, call->thread, sizeof(*m));

	if (!m)
		return;
	f->member = m;
	m += call->thread;
	m->last_id = call->id > m->last_id ? call->id : m->last_id;
	m->last_t1 = call->t1;
	m->has_last = true;
}

/* The place of the last call but `but` that waits; n: there is none. */
static size_t last_call(const struct queue *q, size_t but)
{
	for (size_t i = q->n; i-- > q->first;)
		if (q->entry[i].call.what == TRACE_CALL && !but--)
			return i;
	return q->n;
}

/*
 * A call that began while one of another thread was under way. Both stay rows, as a fold does not
 * say exactly when its last call was. The one before is still here: count_joined() sees to that.
 */
static void keep_plain(struct queue *q, struct entry *e)
{
	size_t before = last_call(q, 1);

	e->is_plain = true;
	if (before < q->n)
		q->entry[before].is_plain = true;
}

static void take_call(struct trace_folder *f, const struct trace_event *call)
{
	if (f->is_ordered && f->fold && call->what == TRACE_CALL) {
		see_member(f, call);
		see_turn(f, call);
	}

	struct queue *q = queue_of(f, call->thread);
	struct entry *e = q ? append(q) : NULL;

	if (!e)
		return;
	e->call = *call;
	if (call->what != TRACE_CALL)
		return;
	e->gap_ns = q->has_last ? call->t0 - q->last_t1 : 0;
	if (q->is_shared && e->gap_ns < 0)
		keep_plain(q, e);
	q->last_t1 = call->t1 > q->last_t1 ? call->t1 : q->last_t1;
	q->last_id = call->id > q->last_id ? call->id : q->last_id;
	q->has_last = true;
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

/* The first waiting entry whose call's number is not below id; marks have their next call's. */
static size_t find_call(const struct queue *q, uint64_t id)
{
	size_t low = q->joined, high = q->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (q->entry[middle].call.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same in a shared queue, where threads may have taken their numbers in another order. */
static size_t find_near(const struct queue *q, uint64_t id)
{
	enum { NEAR = 8 };
	size_t i = find_call(q, id);
	size_t from = i > q->joined + NEAR ? i - NEAR : q->joined;

	for (size_t k = from; q->is_shared && k < q->n && k < i + NEAR; k++)
		if (q->entry[k].call.id == id && q->entry[k].call.what == TRACE_CALL)
			return k;
	return i;
}

enum fate { JOINED, EARLY, LATE };

static enum fate join(struct queue *q, const struct early *early)
{
	const struct trace_event *op = &early->op;
	size_t i = find_near(q, op->id);

	while (i < q->n && q->entry[i].call.id == op->id && q->entry[i].call.what != TRACE_CALL)
		i++;
	if (i < q->n && q->entry[i].call.id == op->id && q->entry[i].op_came)
		return EARLY; /* another one: a row of its own once the call is written */
	if (i < q->n && q->entry[i].call.id == op->id) {
		q->entry[i].op = *op;
		q->entry[i].before = early->before;
		q->entry[i].op_came = true;
		return JOINED;
	}
	/* Its call went on without it, or has not come. */
	return op->id <= q->last_id ? LATE : EARLY;
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
static int64_t ahead(const struct stream_end *s, const struct entry *e)
{
	int64_t came = e->before <= e->op.t0 ? e->before : 0;

	return s->joined_t1 <= e->op.t0 && s->joined_t1 > came ? s->joined_t1 : came;
}

/* An operation is queued where its call returned before the one ahead of it on its stream ended. */
static void find_behind(struct trace_folder *f, struct entry *e)
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
	size_t last = q->is_shared ? last_call(q, 0) : q->n;

	for (; q->joined < (all ? q->n : last); q->joined++) {
		struct entry *e = &q->entry[q->joined];

		if (e->call.has_op && !e->op_came && !all)
			return;
		e->is_plain |= q->joined == last;
		hash_entry(f, e);
		find_behind(f, e);
	}
}

/* Much of what several threads did together was not the same time and again. */
static bool is_no_sequence(const struct queue *q)
{
	return q->is_shared && q->plain > PLAIN_MOST && FOLDED_LEAST * q->plain > q->folded;
}

void trace_folder_advance(struct trace_folder *f)
{
	join_all(f);
	for (size_t i = 0; i < f->n_queues; i++) {
		count_joined(f, &f->queue[i], false);
		advance_queue(f, &f->queue[i]);
		if (is_no_sequence(&f->queue[i]))
			part_queue(f, (uint32_t)i);
	}
}

void trace_folder_flush(struct trace_folder *f)
{
	join_all(f);
	for (size_t i = 0; i < f->n_queues; i++) {
		struct queue *q = &f->queue[i];

		count_joined(f, q, true);
		extend_fold(f, q);
		do {
			close_fold(f, q);
			reduce(f, q, 0);
		} while (q->open.n || q->first < q->joined);
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
	for (size_t i = 0; f && i < f->n_queues; i++) {
		release_fold(&f->queue[i].open);
		free(f->queue[i].entry);
	}
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
		n += f->queue[i].n - f->queue[i].first;
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
