/*
 * part.c - which calls of a trace are a step, and what each of them was like in the mean of all
 * repeats.
 */
#include "workloads/replay/part.h"

#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/trace/steps.h"
#include "common/typed.h"

/* ---- the whole ---------------------------------------------------------------------------- */

/* Work of the device begins the part and ends it, or a wait for it. */
static void find_whole(struct replay_choice *p)
{
	const struct trace *t = p->t;

	p->first = t->calls;
	p->last = -1;
	for (int64_t i = 0; i < t->calls; i++) {
		if (t->call[i].ops && p->first == t->calls)
			p->first = i;
		if (p->first <= i && (t->call[i].ops || call_is_sync(t->call[i].class)))
			p->last = i;
	}
}

/* ---- a period ----------------------------------------------------------------------------- */

static double length_of(const struct trace_fold *f)
{
	return (double)(f->t1 - f->t0);
}

/* The fold that a call is of; -1: of none. Ids of folds fall. */
static int64_t fold_of(const struct trace *t, int64_t id)
{
	int64_t low = 0, high = t->folds;

	if (id >= 0)
		return -1;
	while (high - low > 1) {
		int64_t middle = (low + high) / 2;

		if (t->fold[middle].id >= id)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Calls of the first repeat of each fold, by their places. */
static int64_t **bodies_new(const struct trace *t)
{
	int64_t **body = calloc((size_t)t->folds + 1, sizeof(*body));

	CHECK(body, "memory of %ld folds", (long)t->folds);
	for (int64_t f = 0; f < t->folds; f++) {
		body[f] = calloc((size_t)t->fold[f].n, sizeof(**body));
		CHECK(body[f], "memory of a fold");
	}
	for (int64_t i = 0; i < t->calls; i++) {
		int64_t f = fold_of(t, t->call[i].id);
		int64_t behind = f < 0 ? 0 : t->fold[f].id - t->call[i].id;

		if (f >= 0 && behind < t->fold[f].n)
			body[f][behind] = i;
	}
	return body;
}

static void bodies_free(int64_t **body, int64_t n)
{
	for (int64_t f = 0; f < n; f++)
		free(body[f]);
	free(body);
}

static bool is_alike(const struct trace *t, int64_t a, int64_t b)
{
	const struct trace_call *x = &t->call[a], *y = &t->call[b];

	return x->class == y->class && x->stream == y->stream && x->bytes == y->bytes &&
	       x->thread == y->thread;
}

/* By how many places the body of fold g is turned against that of f; -1: it is another one. */
static int64_t turn_between(const struct trace *t, int64_t **body, int64_t f, int64_t g)
{
	int64_t n = t->fold[f].n;

	if (t->fold[g].n != n)
		return -1;
	for (int64_t turn = 0; turn < n; turn++) {
		int64_t k = 0;

		while (k < n && is_alike(t, body[f][(k + turn) % n], body[g][k]))
			k++;
		if (k == n)
			return turn;
	}
	return -1;
}

/*
 * A recorder ends folds now and then, and begins the next one at any place of the period: those
 * whose bodies are the same but for a turn belong together. Takes the set that lasts longest.
 */
static double find_period(struct replay_choice *p)
{
	const struct trace *t = p->t;
	int64_t **body = bodies_new(t), *turn = calloc((size_t)t->folds + 1, sizeof(*turn));
	bool *seen = calloc((size_t)t->folds + 1, sizeof(*seen)); /* in a set before */
	double best = 0;

	CHECK(turn && seen, "memory of %ld folds", (long)t->folds);
	for (int64_t f = 0; f < t->folds; f++) {
		double ns = 0;

		if (seen[f])
			continue;
		for (int64_t g = 0; g < t->folds; g++) {
			turn[g] = turn_between(t, body, f, g);
			seen[g] |= turn[g] >= 0;
			ns += turn[g] >= 0 ? length_of(&t->fold[g]) : 0;
		}
		if (ns <= best)
			continue;
		best = ns;
		for (int64_t g = 0; g < t->folds; g++)
			p->turn[g] = turn[g];
		p->fold = &t->fold[f];
	}
	free(turn);
	free(seen);
	bodies_free(body, t->folds);
	return best;
}

static void take_period(struct replay_choice *p)
{
	p->n = p->fold->n;
	p->repeats = 0;
	for (int64_t f = 0; f < p->t->folds; f++)
		p->repeats += p->turn[f] >= 0 ? p->t->fold[f].times : 0;
}

int replay_part_choose(struct replay_choice *p, const struct trace *t, const struct steps *s,
		       const struct replay_opts *o)
{
	double period_ns, whole_ns;

	*p = (struct replay_choice){ .t = t, .s = s };
	find_whole(p);
	if (p->last < 0)
		return complain(EINVAL, "trace=%s: the program gives the device no work",
				text_shown(o->trace).s);
	p->turn = malloc(((size_t)t->folds + 1) * sizeof(*p->turn));
	CHECK(p->turn, "memory of %ld folds", (long)t->folds);
	for (int64_t f = 0; f < t->folds; f++)
		p->turn[f] = -1;
	period_ns = find_period(p);
	whole_ns = (double)(t->call[p->last].t1 - t->call[p->first].t0);
	if (!p->fold && o->part == REPLAY_PERIOD)
		return complain(EINVAL, "trace=%s: no part of it repeats; use part=whole",
				text_shown(o->trace).s);
	if (o->part == REPLAY_WHOLE || (o->part == REPLAY_AUTO && 2 * period_ns < whole_ns))
		p->fold = NULL;
	p->n = p->last - p->first + 1;
	p->repeats = 1;
	p->ns = p->fold ? period_ns : whole_ns;
	if (p->fold)
		take_period(p);
	return 0;
}

int64_t replay_part_row(const struct replay_choice *p, int64_t i)
{
	int64_t f;

	if (!p->fold)
		return i >= p->first && i <= p->last ? 0 : -1;
	f = fold_of(p->t, p->t->call[i].id);
	return f < 0 || p->turn[f] < 0 ? -1 : f;
}

int64_t replay_part_position(const struct replay_choice *p, int64_t i)
{
	int64_t row = replay_part_row(p, i);

	if (row < 0)
		return -1;
	return p->fold ? (p->t->fold[row].id - p->t->call[i].id + p->turn[row]) % p->n
		       : i - p->first;
}

void replay_part_release(struct replay_choice *p)
{
	free(p->turn);
	free(p->seen);
	*p = (struct replay_choice){ 0 };
}

/* ---- what its calls were like ------------------------------------------------------------- */

/* Time of the thread in which it did not compute. */
static double slept(const struct trace_call *c, double gap_ns)
{
	return c->cpu_ns < 0 || (double)c->cpu_ns > gap_ns ? 0 : gap_ns - (double)c->cpu_ns;
}

/* Threads take turns as one: a gap is from the end of all calls before. */
static double gap_of(const struct replay_choice *p, int64_t i, int64_t end)
{
	const struct trace_call *c = &p->t->call[i];
	const struct trace_calibration *k = &p->t->calibration;
	double added = k->call_ns + (double)c->not_recorded * k->not_recorded_ns;
	double gap = p->threads > 1 ? (double)(c->t0 - end) - (p->t->is_calibrated ? added : 0)
				    : p->s->step[i].gap_ns;

	return !p->fold && i == p->first ? 0 : gap > 0 ? gap : 0;
}

/* Its kernels, as far as they are known: nodes stand closer together where it is shorter. */
static double graph_length(const struct replay_choice *p, const struct trace_op *op)
{
	double ns = (double)(op->t1 - op->t0) * p->s->graph_factor;

	return op->busy_ns >= 0 && (double)op->busy_ns < ns ? (double)op->busy_ns : ns;
}

static double op_length(const struct replay_choice *p, const struct trace_call *c)
{
	const struct trace *t = p->t;
	double ns = 0;

	for (int32_t k = 0; k < c->ops; k++) {
		const struct trace_op *op = &t->op[c->first_op + k];

		ns += op->kind == OP_GRAPH ? graph_length(p, op) : (double)(op->t1 - op->t0);
	}
	return ns;
}

static void see(struct replay_seen *seen, const struct replay_choice *p, int64_t i, int64_t end)
{
	const struct trace_call *c = &p->t->call[i];
	double gap = gap_of(p, i, end);

	if (!seen->n || c->ops)
		seen->call = i;
	seen->n++;
	seen->gap_ns += gap;
	seen->slept_ns += slept(c, gap);
	seen->own_ns += p->s->step[i].own_ns;
	if (!c->ops)
		return;
	seen->with_op++;
	seen->op_ns += op_length(p, c);
}

/* Ends of operations in order of starts: which kernels ran beside others? */
struct running {
	int64_t start, end, position;
};

static int by_start(const void *a, const void *b)
{
	const struct running *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void find_overlaps(struct replay_seen *seen, const struct replay_choice *p)
{
	const struct trace *t = p->t;
	struct running *run = calloc((size_t)t->ops + 1, sizeof(*run));
	int64_t n = 0, last = 0;

	CHECK(run, "memory of %ld operations", (long)t->ops);
	for (int64_t i = 0; i < t->ops; i++)
		if (t->op[i].kind == OP_KERNEL && t->op[i].t1 > t->op[i].t0)
			run[n++] = (struct running){ t->op[i].t0, t->op[i].t1,
						     replay_part_position(p, t->op[i].call) };
	qsort(run, (size_t)n, sizeof(*run), by_start);
	for (int64_t i = 1; i < n; i++) {
		bool beside = run[i].start < run[last].end;

		if (beside && run[i].position >= 0)
			seen[run[i].position].overlaps = true;
		if (beside && run[last].position >= 0)
			seen[run[last].position].overlaps = true;
		if (run[i].end > run[last].end)
			last = i;
	}
	free(run);
}

static int count_threads(const struct replay_choice *p)
{
	const struct trace *t = p->t;
	bool *calls = calloc((size_t)t->threads + 1, sizeof(*calls));
	int n = 0;

	CHECK(calls, "memory of %ld threads", (long)t->threads);
	for (int64_t i = 0; i < t->calls; i++)
		if (replay_part_position(p, i) >= 0 && !calls[t->call[i].thread]) {
			calls[t->call[i].thread] = true;
			n++;
		}
	free(calls);
	return n;
}

void replay_part_see(struct replay_choice *p)
{
	int64_t end = 0;

	p->seen = calloc((size_t)p->n + 1, sizeof(*p->seen));
	CHECK(p->seen, "memory of %ld calls", (long)p->n);
	p->threads = count_threads(p);
	for (int64_t i = 0; i < p->t->calls; i++) {
		int64_t at = replay_part_position(p, i);

		if (at >= 0)
			see(&p->seen[at], p, i, end);
		end = p->t->call[i].t1 > end ? p->t->call[i].t1 : end;
	}
	find_overlaps(p->seen, p);
}
