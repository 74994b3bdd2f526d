/* trace_fold.c - folds of a trace: repeats of a sequence of calls, made calls again. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/trace/trace_impl.h"

enum { VALUES_MAX = 256, BODY_MAX = 65536 };
/* Gaps from which on a recorder asks for the thread's processor time. */
enum { CPU_GAP_NS = 20000 };

/* ---- distributions ------------------------------------------------------------------------ */

/* Values and how often each is there; given: how often it was taken in this round. */
struct values {
	int64_t *value, *count, *given;
	int64_t sum, taken; /* of the counts; of given */
	int64_t left;	    /* that were not taken */
	int n;		    /* 0: the fold does not have it */
};

/* How many values a distribution has: one each repeat, or fewer. */
enum how_many { EACH, EACH_OR_NONE, SOME, SOME_OR_NONE };

static void values_release(struct values *v)
{
	free(v->value);
	free(v->count);
	free(v->given);
}

static int parse_value(const struct reading *r, const json_t *pair, const char *name,
		       struct values *v, int i)
{
	int64_t least = strcmp(name, "lag_ns") != 0 ? 0 : -TRACE_TIME_MAX;
	const json_t *value = json_array_get(pair, 0), *count = json_array_get(pair, 1);

	v->value[i] = json_integer_value(value);
	v->count[i] = json_integer_value(count);
	if (!json_is_integer(value) || !json_is_integer(count) || json_array_size(pair) != 2 ||
	    v->value[i] < least || v->value[i] > TRACE_TIME_MAX || v->count[i] < 1 ||
	    v->count[i] > TRACE_ROWS_MAX)
		return trace_damaged(r, "%s must be [[ns, count], ...]", name);
	return 0;
}

static int values_parse(const struct reading *r, const json_t *o, const char *name, int64_t times,
			enum how_many how_many, struct values *v)
{
	const json_t *list = json_object_get(o, name);
	int err = 0;

	if ((how_many == EACH_OR_NONE || how_many == SOME_OR_NONE) && (!list || json_is_null(list)))
		return 0;
	if (!json_array_size(list) || json_array_size(list) > VALUES_MAX)
		return trace_damaged(r, "a fold without %s, or of more than %d values", name,
				     VALUES_MAX);
	v->n = (int)json_array_size(list);
	v->value = calloc((size_t)v->n, sizeof(int64_t));
	v->count = calloc((size_t)v->n, sizeof(int64_t));
	v->given = calloc((size_t)v->n, sizeof(int64_t));
	CHECK(v->value && v->count && v->given, "memory of %d values", v->n);
	for (int i = 0; i < v->n && !err; i++) {
		err = parse_value(r, json_array_get(list, (size_t)i), name, v, i);
		v->sum += v->count[i];
	}
	v->left = v->sum;
	if (!err && (v->sum > times || (how_many < SOME && v->sum != times)))
		err = trace_damaged(r, "%s has %ld values of %ld repeats", name, (long)v->sum,
				    (long)times);
	return err;
}

/* The next value in a cycle, which spreads each value evenly and wraps around. */
static int64_t next_value(struct values *v)
{
	int best = 0;
	int64_t most = INT64_MIN;

	if (v->taken == v->sum) {
		v->taken = 0;
		memset(v->given, 0, (size_t)v->n * sizeof(*v->given));
	}
	v->taken++;
	for (int i = 0; i < v->n; i++) {
		int64_t behind = v->count[i] * v->taken - v->given[i] * v->sum;

		if (behind > most) {
			most = behind;
			best = i;
		}
	}
	v->given[best]++;
	return v->value[best];
}

/* There is one left. */
static int64_t values_take(struct values *v)
{
	v->left--;
	return next_value(v);
}

/* Begins at this share of a round. */
static void values_begin_at(struct values *v, double share)
{
	int64_t n = v->n > 1 ? (int64_t)(share * (double)v->sum) : 0;

	for (int64_t i = 0; i < n; i++)
		next_value(v);
}

/* ---- the body ------------------------------------------------------------------------------ */

struct body_call {
	struct trace_call call;
	struct trace_op op;
	struct values gap, took, cpu, op_took, op_lag, op_behind, op_busy;
	bool has_op;
};

struct fold {
	struct body_call *body;
	size_t n;
	int64_t times, t0, t1;
	double scale;	     /* of host times, so that they end where the fold does */
	int64_t *stream_end; /* of operations so far */
};

static int parse_body_op(struct reading *r, const json_t *op, int64_t times, struct body_call *b)
{
	int err = trace_parse_op(r, op, &b->op, true);

	if (!err)
		err = values_parse(r, op, "took_ns", times, SOME, &b->op_took);
	if (!err)
		err = values_parse(r, op, "lag_ns", b->op_took.sum, EACH_OR_NONE, &b->op_lag);
	if (!err)
		err = values_parse(r, op, "behind_ns", b->op_took.sum, SOME_OR_NONE, &b->op_behind);
	if (!err)
		err = values_parse(r, op, "busy_ns", b->op_took.sum, EACH_OR_NONE, &b->op_busy);
	return err;
}

static int parse_body_call(struct reading *r, const json_t *o, int64_t times, struct body_call *b)
{
	const json_t *op = json_object_get(o, "op");
	int err = json_is_object(o) ? trace_parse_call(r, o, &b->call, true)
				    : trace_damaged(r, "body must be a list of calls");

	if (!err)
		err = values_parse(r, o, "gap_ns", times, EACH, &b->gap);
	if (!err)
		err = values_parse(r, o, "took_ns", times, EACH, &b->took);
	if (!err)
		err = values_parse(r, o, "cpu_ns", times, SOME_OR_NONE, &b->cpu);
	b->has_op = op && !json_is_null(op);
	return err || !b->has_op ? err : parse_body_op(r, op, times, b);
}

/*
 * Which values of one call came with which of another is not in the file. Were all to begin with
 * their first, rare ones would all come in the same repeat: a late call behind each launch, or all
 * kernels short. So each call begins elsewhere, by multiples of the golden ratio, which are apart.
 * What belongs to one call stays together.
 */
static void begin_apart(struct body_call *b, size_t i)
{
	const double golden = 0.6180339887498949;
	double call = golden * (double)(2 * i), gap = golden * (double)(2 * i + 1);
	struct values *own[] = { &b->took, &b->op_took, &b->op_lag, &b->op_behind, &b->op_busy };

	for (size_t k = 0; k < sizeof(own) / sizeof(*own); k++)
		values_begin_at(own[k], call - floor(call));
	values_begin_at(&b->gap, gap - floor(gap));
	values_begin_at(&b->cpu, gap - floor(gap)); /* of the thread in the gap */
}

static const struct member fold_members[] = {
	{ "times", MEMBER_64, offsetof(struct fold, times), .required = true, .least = 1 },
	{ "t0", MEMBER_64, offsetof(struct fold, t0), .required = true },
	{ "t1", MEMBER_64, offsetof(struct fold, t1), .required = true },
	{ .name = NULL },
};

static int fold_parse(struct reading *r, const json_t *o, struct fold *f)
{
	const json_t *body = json_object_get(o, "body");
	int err = trace_members(r, o, "fold", fold_members, f);
	int64_t ops = 0;

	if (!err && (!json_array_size(body) || json_array_size(body) > BODY_MAX))
		err = trace_damaged(r, "body must be a list of 1 to %d calls", BODY_MAX);
	if (!err && f->t1 < f->t0)
		err = trace_damaged(r, "t1 is before t0");
	if (!err && f->times > TRACE_ROWS_MAX)
		err = complain(EFBIG, "%s:%ld: more than %d calls and operations", r->path,
			       (long)r->line, TRACE_ROWS_MAX);
	if (err)
		return err;
	f->n = json_array_size(body);
	f->body = calloc(f->n, sizeof(*f->body));
	CHECK(f->body, "memory of a fold of %zu calls", f->n);
	for (size_t i = 0; i < f->n && !err; i++)
		err = parse_body_call(r, json_array_get(body, i), f->times, &f->body[i]);
	for (size_t i = 0; i < f->n; i++)
		ops += f->body[i].op_took.sum;
	if (!err)
		err = trace_has_room(r, f->times * (int64_t)f->n, ops);
	for (size_t i = 0; i < f->n && !err; i++)
		begin_apart(&f->body[i], i);
	return err;
}

/* ---- repeats ------------------------------------------------------------------------------- */

static double sum_of(const struct values *v)
{
	double sum = 0;

	for (int i = 0; i < v->n; i++)
		sum += (double)v->value[i] * (double)v->count[i];
	return sum;
}

/* Values are quantised: their sum is not exactly the fold's length. */
static void fit_to_length(struct fold *f)
{
	double sum = 0;

	for (size_t i = 0; i < f->n; i++)
		sum += sum_of(&f->body[i].gap) + sum_of(&f->body[i].took);
	f->scale = sum > 0 ? (double)(f->t1 - f->t0) / sum : 0;
}

/* The least lag: what an operation that stands behind no other has. */
static int64_t least_of(const struct values *v)
{
	int64_t least = v->value[0];

	for (int i = 1; i < v->n; i++)
		least = v->value[i] < least ? v->value[i] : least;
	return least;
}

/*
 * Behind what its stream has, as far as those that were queued stood. Lags of kernels grow while a
 * queue fills: in which order they came is not in the file, but follows from the queue.
 */
static int add_folded_op(struct reading *r, struct fold *f, struct body_call *b,
			 const struct trace_call *call)
{
	int64_t *end = &f->stream_end[b->op.stream];
	bool waits = call->class == CALL_COPY && !call->async;
	struct trace_op op = b->op;

	op.call = call->id;
	op.t0 = waits ? call->t0 : call->t1;
	if (b->op_lag.n)
		op.t0 = call->t0 + (waits ? values_take(&b->op_lag) : least_of(&b->op_lag));
	op.behind_ns = op.t0 < *end && b->op_behind.n ? next_value(&b->op_behind) : TRACE_NONE;
	if (op.t0 < *end)
		op.t0 = *end + (op.behind_ns == TRACE_NONE ? 0 : op.behind_ns);
	op.t1 = op.t0 + values_take(&b->op_took);
	if (b->op_busy.n)
		op.busy_ns = values_take(&b->op_busy);
	op.busy_ns = op.busy_ns > op.t1 - op.t0 ? op.t1 - op.t0 : op.busy_ns;
	*end = op.t1;
	return op.t1 > TRACE_TIME_MAX ? trace_damaged(r, "took_ns: longer than any trace")
				      : trace_add_op(r, &op);
}

/* Repeat k's part of what all repeats have together, so that none is lost. */
static int64_t part_of(int64_t all, int64_t k, int64_t times)
{
	return (int64_t)((double)all * (double)(k + 1) / (double)times) -
	       (int64_t)((double)all * (double)k / (double)times);
}

/* One call of repeat k; *host: host time of the fold so far, before it is stretched. */
static int add_folded_call(struct reading *r, struct fold *f, struct body_call *b, int64_t k,
			   double *host)
{
	struct trace_call call = b->call;
	int64_t gap = values_take(&b->gap);
	int err;

	call.id = -++r->made;
	call.fold = (int32_t)r->t->folds - 1;
	call.not_recorded = part_of(call.not_recorded, k, f->times);
	if (gap >= CPU_GAP_NS && b->cpu.left)
		call.cpu_ns = values_take(&b->cpu);
	*host += (double)gap;
	call.t0 = f->t0 + (int64_t)(*host * f->scale);
	*host += (double)values_take(&b->took);
	call.t1 = f->t0 + (int64_t)(*host * f->scale);
	err = trace_add_call(r, &call);
	return err || !b->op_took.left ? err : add_folded_op(r, f, b, &call);
}

static void keep_fold(struct reading *r, const struct fold *f)
{
	struct trace *t = r->t;

	t->fold = trace_grow(t->fold, t->folds, &r->room.folds, sizeof(*t->fold));
	t->fold[t->folds++] = (struct trace_fold){
		.id = -r->made - 1, .n = (int64_t)f->n, .times = f->times, .t0 = f->t0, .t1 = f->t1
	};
}

static int add_repeats(struct reading *r, struct fold *f)
{
	double host = 0;
	int err = 0;

	for (int64_t k = 0; k < f->times; k++)
		for (size_t i = 0; i < f->n && !err; i++)
			err = add_folded_call(r, f, &f->body[i], k, &host);
	return err;
}

static void fold_release(struct fold *f)
{
	for (size_t i = 0; i < f->n; i++) {
		values_release(&f->body[i].gap);
		values_release(&f->body[i].took);
		values_release(&f->body[i].cpu);
		values_release(&f->body[i].op_took);
		values_release(&f->body[i].op_lag);
		values_release(&f->body[i].op_behind);
		values_release(&f->body[i].op_busy);
	}
	free(f->body);
	free(f->stream_end);
}

int trace_take_fold(struct reading *r, const json_t *o)
{
	struct fold f = { 0 };
	int err = fold_parse(r, o, &f);

	if (!err) {
		f.stream_end = calloc((size_t)r->t->streams + 1, sizeof(int64_t));
		CHECK(f.stream_end, "memory of %ld streams", (long)r->t->streams);
		fit_to_length(&f);
		keep_fold(r, &f);
		err = add_repeats(r, &f);
	}
	fold_release(&f);
	return err;
}
