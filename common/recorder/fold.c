/* fold.c - what repeats in a sequence of calls, folded. */
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
	BINS_PER_OCTAVE_LOG2 = 3, /* a bin is 12 % wide */
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
		(uintptr_t)e->kernel,
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
void trace_sequence_hash(struct trace_sequence *s, struct trace_entry *e)
{
	e->hash = hash_event(e->call.thread, &e->call);
	if (e->op_came)
		e->hash = hash_event(e->hash, &e->op);
	if (e->call.what == TRACE_MARK || e->call.has_op != e->op_came || e->is_plain)
		e->hash = mix(e->hash, ++s->unique);
}

/* ---- rows as they are ------------------------------------------------------------------ */

static void write_entry(struct trace_writer *w, const struct trace_entry *e)
{
	trace_write(w, &e->call);
	if (e->op_came)
		trace_write(w, &e->op);
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

static void add_entry(struct trace_step *s, const struct trace_entry *e)
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

static void add_repeat(struct trace_fold *fold, const struct trace_entry *e)
{
	for (size_t i = 0; i < fold->n; i++)
		add_entry(&fold->step[i], &e[i]);
	fold->t1 = e[fold->n - 1].call.t1;
	fold->times++;
}

/* Begins one with the first repeats of a period, all known to be equal; false: no memory. */
static bool open_fold(struct trace_fold *fold, const struct trace_entry *e, size_t period)
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
static bool continues(const struct trace_fold *fold, size_t i, const struct trace_entry *e)
{
	const struct trace_step *s = &fold->step[i];

	return e->hash == s->hash &&
	       e->call.recording == s->call.recording + fold->times * s->recording_step;
}

static void close_fold(struct trace_sequence *s)
{
	if (!s->open.n)
		return;
	trace_write_fold(s->w, &s->open);
	release_fold(&s->open);
	s->at = 0;
}

/* Takes what is joined into the open fold; closes it at the first entry that does not fit. */
static void extend_fold(struct trace_sequence *s)
{
	while (s->open.n && s->first + s->at < s->joined) {
		if (!continues(&s->open, s->at, &s->entry[s->first + s->at])) {
			close_fold(s);
			return;
		}
		if (++s->at < s->open.n)
			continue;
		add_repeat(&s->open, &s->entry[s->first]);
		s->first += s->open.n;
		s->folded += s->open.n;
		s->at = 0;
	}
}

/* ---- periods --------------------------------------------------------------------------- */

/* As lag entries before, and its recording grows as it did at the period before. */
static bool repeats(const struct trace_entry *e, size_t i, size_t lag)
{
	if (e[i].hash != e[i - lag].hash)
		return false;
	return i < 2 * lag || e[i].call.recording - e[i - lag].call.recording ==
				      e[i - lag].call.recording - e[i - 2 * lag].call.recording;
}

/* Entries that whole repeats of the period cover, from the first of n on; 0: too few. */
static size_t covered(const struct trace_entry *e, size_t n, size_t period)
{
	size_t i = period;

	while (i < n && repeats(e, i, period))
		i++;
	i -= i % period;
	return i / period < REPEATS_MIN || i < COVER_MIN ? 0 : i;
}

/* The shortest period of those that cover most. */
static size_t find_period(const struct trace_entry *e, size_t n, size_t *cover)
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
static void look_at(const struct trace_entry *e, size_t cover, size_t period, size_t place,
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

static void find_varying(struct varying *v, const struct trace_entry *e, size_t cover,
			 size_t period)
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

static struct spread spread_of(const struct varying *v, const struct trace_entry *e, size_t cover,
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
static size_t timed_period(const struct trace_entry *e, size_t cover, size_t period)
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
static void reduce(struct trace_sequence *s, size_t keep)
{
	while (s->first + keep < s->joined && !s->open.n) {
		struct trace_entry *e = &s->entry[s->first];
		size_t cover, period = s->folds ? find_period(e, s->joined - s->first, &cover) : 0;

		if (period) {
			period = timed_period(e, cover, period);
			cover -= cover % period;
		}
		if (!period || !open_fold(&s->open, e, period)) {
			write_entry(s->w, e);
			s->first++;
			s->plain++;
			continue;
		}
		for (size_t i = 0; i < cover; i += period)
			add_repeat(&s->open, e + i);
		s->first += cover;
		s->folded += cover;
		s->at = 0;
		extend_fold(s);
	}
}

void trace_sequence_advance(struct trace_sequence *s)
{
	size_t window = s->folds ? WINDOW : 1, keep = s->folds ? WINDOW / 2 : 0;

	extend_fold(s);
	while (!s->open.n && s->joined - s->first >= window) {
		reduce(s, keep);
		extend_fold(s);
	}
}

void trace_sequence_flush(struct trace_sequence *s)
{
	extend_fold(s);
	do {
		close_fold(s);
		reduce(s, 0);
	} while (s->open.n || s->first < s->joined);
}

/* ---- entries --------------------------------------------------------------------------- */

/* What has gone on makes room for what comes. */
struct trace_entry *trace_sequence_append(struct trace_sequence *s)
{
	if (s->n == s->room && s->first > s->room / 2) {
		memmove(s->entry, s->entry + s->first, (s->n - s->first) * sizeof(*s->entry));
		s->n -= s->first;
		s->joined -= s->first;
		s->first = 0;
	}
	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 256;
		struct trace_entry *larger = realloc(s->entry, room * sizeof(*larger));

		if (!larger)
			return NULL;
		s->entry = larger;
		s->room = room;
	}
	return memset(&s->entry[s->n++], 0, sizeof(*s->entry));
}

void trace_sequence_release(struct trace_sequence *s)
{
	release_fold(&s->open);
	free(s->entry);
}
