/* host_gaps.c - passages of the host between calls, in a trace and in lighter recordings. */
#include "common/trace/host_gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/timing.h"
#include "common/trace/trace_impl.h"

/* So many percent of a pair, at either end, do not count: interrupts, first uses. */
enum { TRIM_PERCENT = 5 };
/* Counts of one function or pair that differ by more percent are of two programs. */
enum { APART_PERCENT = 2, APART_LEAST = 2 };
/* A launch that lasts so many times as long as others, and so many ns more, waits or loads. */
enum { LONG_TIMES = 4, LONG_NS = 10000 };
/* Calls that one recorder alone has seen, in a row, within a passage. */
enum { UNSEEN_MOST = 1000 };

/* ---- passages ----------------------------------------------------------------------------- */

/* From one common call to the next. */
struct passage {
	int64_t from;
	bool after;	/* another thread's call */
	double gap_ns;	/* outside calls */
	double call_ns; /* in calls that are not common, launches not among them */
	int64_t launches;
	double launch_ns; /* of these, as recorded */
};

struct walk {
	const struct trace *t;
	struct step *step;
	bool *is_common; /* by the index of a name */
	int64_t *before; /* of each call: its thread's call before; TRACE_NONE */
};

static bool is_common(const struct walk *w, int64_t call)
{
	int32_t name = w->t->call[call].name;

	return name >= 0 && w->is_common[name];
}

static void walk_init(struct walk *w, const struct steps *s)
{
	const struct trace *t = s->trace;
	int64_t *last = malloc(((size_t)t->threads + 1) * sizeof(*last));

	*w = (struct walk){ .t = t, .step = s->step };
	w->is_common = calloc((size_t)t->strings + 1, sizeof(*w->is_common));
	w->before = malloc(((size_t)t->calls + 1) * sizeof(*w->before));
	CHECK(last && w->is_common && w->before, "memory of %ld calls", (long)t->calls);
	for (int64_t i = 0; i < t->threads; i++)
		last[i] = TRACE_NONE;
	for (int64_t i = 0; i < t->calls; i++) {
		w->before[i] = last[t->call[i].thread];
		last[t->call[i].thread] = i;
	}
	free(last);
}

static void walk_release(struct walk *w)
{
	free(w->is_common);
	free(w->before);
}

static double *gap_before(const struct walk *w, int64_t call)
{
	struct step *step = &w->step[call];

	return step->after == TRACE_NONE ? &step->gap_ns : &step->after_ns;
}

static int64_t call_before(const struct walk *w, int64_t call)
{
	int64_t after = w->step[call].after;

	return after == TRACE_NONE ? w->before[call] : after;
}

static bool is_wait(const struct trace_call *c)
{
	return call_is_sync(c->class) || c->class == CALL_QUERY;
}

static void pass_call(struct passage *p, const struct trace_call *c)
{
	double ns = (double)(c->t1 - c->t0);

	if (c->class == CALL_LAUNCH) {
		p->launches++;
		p->launch_ns += ns;
	} else {
		p->call_ns += ns;
	}
}

/* The one that leads to a common call. False: it has no beginning, or waits for the device. */
static bool passage_to(const struct walk *w, int64_t to, struct passage *out)
{
	*out = (struct passage){ .from = to };
	if (w->t->call[to].class == CALL_QUERY) /* it polls: the loop around it is part of a wait */
		return false;
	for (int unseen = 0; unseen < UNSEEN_MOST; unseen++) {
		const struct trace_call *c;

		out->gap_ns += *gap_before(w, out->from);
		out->after |= w->step[out->from].after != TRACE_NONE;
		out->from = call_before(w, out->from);
		if (out->from == TRACE_NONE)
			return false;
		if (is_common(w, out->from))
			return true;
		c = &w->t->call[out->from];
		if (is_wait(c))
			return false;
		pass_call(out, c);
	}
	return false;
}

/* ---- pairs -------------------------------------------------------------------------------- */

struct samples {
	double *ns;
	int64_t n, room;
};

/* By names, which are another trace's than those of its fellow recordings. */
struct pair {
	const char *from, *to;
	bool after;
	int64_t n; /* passages, those without a sample too */
	struct samples whole, fixed;
};

struct pairs {
	struct pair *list;
	int64_t n, room;
};

static void samples_add(struct samples *s, double ns)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->ns = realloc(s->ns, (size_t)s->room * sizeof(*s->ns));
		CHECK(s->ns, "memory of %ld passages", (long)s->room);
	}
	s->ns[s->n++] = ns;
}

static int compare_ns(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Without those at either end; NAN: there are none. */
static double trimmed_mean(struct samples *s)
{
	int64_t cut = s->n * TRIM_PERCENT / 100;
	double sum = 0;

	if (!s->n)
		return NAN;
	qsort(s->ns, (size_t)s->n, sizeof(*s->ns), compare_ns);
	for (int64_t i = cut; i < s->n - cut; i++)
		sum += s->ns[i];
	return sum / (double)(s->n - 2 * cut);
}

static struct pair *pair_find(struct pairs *p, const char *from, const char *to, bool after)
{
	for (int64_t i = 0; i < p->n; i++)
		if (p->list[i].after == after && !strcmp(p->list[i].to, to) &&
		    !strcmp(p->list[i].from, from))
			return &p->list[i];
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 64;
		p->list = realloc(p->list, (size_t)p->room * sizeof(*p->list));
		CHECK(p->list, "memory of %ld pairs", (long)p->room);
	}
	p->list[p->n] = (struct pair){ .from = from, .to = to, .after = after };
	return &p->list[p->n++];
}

static struct pair *pair_of(struct pairs *pairs, const struct walk *w, int64_t to,
			    const struct passage *p)
{
	return pair_find(pairs, trace_name(w->t, w->t->call[p->from].name),
			 trace_name(w->t, w->t->call[to].name), p->after);
}

static void pairs_release(struct pairs *p)
{
	for (int64_t i = 0; i < p->n; i++) {
		free(p->list[i].whole.ns);
		free(p->list[i].fixed.ns);
	}
	free(p->list);
}

static bool agree(double a, double b)
{
	return fabs(a - b) <= fmax(APART_LEAST, fmax(a, b) * APART_PERCENT / 100);
}

/* ---- what the lighter recordings say ------------------------------------------------------ */

static int64_t calls_named(const struct trace *t, const char *name)
{
	int64_t n = 0;

	for (int64_t i = 0; i < t->calls; i++)
		n += !strcmp(trace_name(t, t->call[i].name), name);
	return n;
}

/* By the index of their names. */
static int64_t *count_calls(const struct trace *t)
{
	int64_t *n = calloc((size_t)t->strings + 1, sizeof(*n));

	CHECK(n, "memory of %ld names", (long)t->strings);
	for (int64_t i = 0; i < t->calls; i++)
		if (t->call[i].name >= 0)
			n[t->call[i].name]++;
	return n;
}

/* Names of functions, a new reference. */
static json_t *common_functions(const struct trace *full, const struct trace *calls, int n)
{
	int64_t *counts = count_calls(full);
	json_t *list = json_array();

	for (int64_t i = 0; i < full->strings; i++) {
		bool common = counts[i] > 0;

		for (int k = 0; k < n && common; k++)
			common = agree((double)counts[i],
				       (double)calls_named(&calls[k], full->string[i]));
		if (common)
			json_array_append_new(list, json_string(full->string[i]));
	}
	free(counts);
	return list;
}

static void mark_common(struct walk *w, const char *function)
{
	for (int64_t i = 0; i < w->t->strings; i++)
		w->is_common[i] |= !strcmp(w->t->string[i], function);
}

/* What launches of this trace last for, those that wait or load aside. */
static double longest_launch(const struct trace *t)
{
	int64_t *ns = malloc(((size_t)t->calls + 1) * sizeof(*ns)), n = 0;
	double limit = INFINITY;

	CHECK(ns, "memory of %ld calls", (long)t->calls);
	for (int64_t i = 0; i < t->calls; i++)
		if (t->call[i].class == CALL_LAUNCH)
			ns[n++] = t->call[i].t1 - t->call[i].t0;
	if (n)
		limit = timing_median(ns, n) * LONG_TIMES + LONG_NS;
	free(ns);
	return limit;
}

/*
 * How long the call that a passage begins with is the host's; NAN: it did more than launch. Right
 * behind a wait it is not asked: there Z says what a launch takes that wakes an idle device.
 */
static double first_call_ns(const struct walk *w, int64_t call, double longest, double launch_ns)
{
	const struct trace_call *c = &w->t->call[call];
	double ns = (double)(c->t1 - c->t0);
	int64_t before = call_before(w, call);

	if (c->class != CALL_LAUNCH || c->captured ||
	    (before != TRACE_NONE && is_wait(&w->t->call[before])))
		return 0;
	return ns > longest ? NAN : isnan(launch_ns) ? ns : launch_ns;
}

static void sample_calls(struct pairs *pairs, const struct trace *t, const json_t *functions)
{
	double longest = longest_launch(t);
	struct steps s;
	struct walk w;

	steps_init(&s, t);
	walk_init(&w, &s);
	for (size_t k = 0; k < json_array_size(functions); k++)
		mark_common(&w, json_string_value(json_array_get(functions, k)));
	for (int64_t i = 0; i < t->calls; i++) {
		struct passage p;
		struct pair *pair;
		double first;

		if (!is_common(&w, i) || !passage_to(&w, i, &p))
			continue;
		pair = pair_of(pairs, &w, i, &p);
		pair->n++;
		first = first_call_ns(&w, p.from, longest, NAN);
		if (!isnan(first))
			samples_add(&pair->whole, first + p.gap_ns + p.call_ns + p.launch_ns);
	}
	walk_release(&w);
	steps_release(&s);
}

static json_t *pairs_json(struct pairs *pairs, int runs)
{
	json_t *list = json_array();

	for (int64_t i = 0; i < pairs->n; i++) {
		struct pair *p = &pairs->list[i];
		double ns = trimmed_mean(&p->whole);

		if (isnan(ns) || p->n < HOST_PAIR_LEAST * runs)
			continue;
		json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:f, s:f}", "from", p->from,
						      "to", p->to, "after", p->after, "n",
						      (double)p->n / runs, "ns", ns));
	}
	return list;
}

json_t *host_gaps_json(const struct trace *full, const struct trace *calls, int n)
{
	json_t *functions = common_functions(full, calls, n), *list;
	struct pairs pairs = { 0 };

	for (int i = 0; i < n; i++)
		sample_calls(&pairs, &calls[i], functions);
	list = pairs_json(&pairs, n);
	pairs_release(&pairs);
	if (json_array_size(functions))
		return json_pack("{s:i, s:o, s:o}", "runs", n, "functions", functions, "pairs",
				 list);
	json_decref(functions);
	json_decref(list);
	return NULL;
}

/* ---- as a trace has it -------------------------------------------------------------------- */

static char *copy_of(const json_t *text)
{
	char *copy = json_is_string(text) ? strdup(json_string_value(text)) : NULL;

	CHECK(copy || !json_is_string(text), "memory of a name");
	return copy;
}

static int take_function(const struct reading *r, const json_t *o)
{
	struct trace *t = r->t;

	t->host_function[t->host_functions] = copy_of(o);
	if (!t->host_function[t->host_functions])
		return trace_damaged(r, "host_gaps: functions is no list of names");
	t->host_functions++;
	return 0;
}

static int take_pair(const struct reading *r, const json_t *o)
{
	const json_t *n = json_object_get(o, "n"), *ns = json_object_get(o, "ns");
	struct trace *t = r->t;
	struct trace_host_pair *pair = &t->host_pair[t->host_pairs];

	*pair = (struct trace_host_pair){
		.from = copy_of(json_object_get(o, "from")),
		.to = copy_of(json_object_get(o, "to")),
		.after = json_is_true(json_object_get(o, "after")),
		.n = json_number_value(n),
		.ns = json_number_value(ns),
	};
	t->host_pairs++; /* what it has is released in any case */
	if (!pair->from || !pair->to || !json_is_number(n) || pair->n < 1 || !json_is_number(ns) ||
	    pair->ns < 0 || pair->ns > (double)TRACE_TIME_MAX)
		return trace_damaged(r, "host_gaps: a pair lacks from, to, n of 1 or more, or ns "
					"of 0 or more");
	return 0;
}

int trace_take_host_gaps(const struct reading *r, const json_t *o)
{
	const json_t *functions = json_object_get(o, "functions"),
		     *pairs = json_object_get(o, "pairs");
	json_int_t runs = json_integer_value(json_object_get(o, "runs"));
	struct trace *t = r->t;
	int err = 0;

	trace_release_host_gaps(t);
	if (runs < 1 || runs > TRACE_RUNS_MAX || !json_is_array(functions) || !json_is_array(pairs))
		return trace_damaged(r, "host_gaps lacks runs, 1 to %d, functions or pairs",
				     TRACE_RUNS_MAX);
	t->host_runs = (int)runs;
	t->host_function = calloc(json_array_size(functions) + 1, sizeof(*t->host_function));
	t->host_pair = calloc(json_array_size(pairs) + 1, sizeof(*t->host_pair));
	CHECK(t->host_function && t->host_pair, "memory of host gaps");
	for (size_t i = 0; i < json_array_size(functions) && !err; i++)
		err = take_function(r, json_array_get(functions, i));
	for (size_t i = 0; i < json_array_size(pairs) && !err; i++)
		err = take_pair(r, json_array_get(pairs, i));
	return err;
}

void trace_release_host_gaps(struct trace *t)
{
	for (int64_t i = 0; i < t->host_functions; i++)
		free(t->host_function[i]);
	for (int64_t i = 0; i < t->host_pairs; i++) {
		free(t->host_pair[i].from);
		free(t->host_pair[i].to);
	}
	free(t->host_function);
	free(t->host_pair);
	t->host_function = NULL;
	t->host_pair = NULL;
	t->host_functions = t->host_pairs = 0;
}

/* ---- a trace's gaps ----------------------------------------------------------------------- */

static void sample_trace(struct pairs *pairs, const struct walk *w, double launch_ns)
{
	double longest = longest_launch(w->t);

	for (int64_t i = 0; i < w->t->calls; i++) {
		struct passage p;
		struct pair *pair;
		double first, fixed;

		if (!is_common(w, i) || !passage_to(w, i, &p))
			continue;
		pair = pair_of(pairs, w, i, &p);
		pair->n++;
		first = first_call_ns(w, p.from, longest, launch_ns);
		if (isnan(first))
			continue;
		fixed = first + p.call_ns + (double)p.launches * launch_ns;
		samples_add(&pair->fixed, fixed);
		samples_add(&pair->whole, fixed + p.gap_ns);
	}
}

/* What makes a pair's gaps as long as they are known to be: a passage's are shortened in
 * proportion, or each of them is made longer by as much. */
struct correction {
	double factor; /* 1 or less; NAN: not known */
	double added_ns;
};

static struct correction correct(struct pair *p, const struct trace_host_pair *known)
{
	struct correction c = { NAN, 0 };
	double fixed, gaps, wanted;

	if (!known || !p->whole.n || !agree((double)p->n, known->n))
		return c;
	fixed = trimmed_mean(&p->fixed);
	gaps = fmax(trimmed_mean(&p->whole) - fixed, 0);
	wanted = fmax(known->ns - fixed, 0);
	c.factor = wanted < gaps ? wanted / gaps : 1;
	c.added_ns = fmax(wanted - gaps, 0);
	return c;
}

static const struct trace_host_pair *find_known(const struct trace *t, const struct pair *p)
{
	for (int64_t i = 0; i < t->host_pairs; i++) {
		const struct trace_host_pair *k = &t->host_pair[i];

		if (k->after == p->after && !strcmp(k->to, p->to) && !strcmp(k->from, p->from))
			return k;
	}
	return NULL;
}

/* The calls from a common one back to that which its passage begins with, this one not. */
static int64_t calls_of(const struct walk *w, int64_t to)
{
	int64_t n = 1;

	for (int64_t i = call_before(w, to); !is_common(w, i); i = call_before(w, i))
		n++;
	return n;
}

/* Each gap once: passages of threads that part begin with the same calls. */
static int64_t scale(const struct walk *w, int64_t to, const struct correction *c, bool *done)
{
	int64_t n = calls_of(w, to), scaled = 0;

	for (int64_t i = to, k = 0; k < n; i = call_before(w, i), k++) {
		double *gap = gap_before(w, i);

		if (done[i])
			continue;
		*gap = *gap * c->factor + c->added_ns / (double)n;
		done[i] = true;
		scaled++;
	}
	return scaled;
}

static int64_t scale_all(const struct walk *w, struct pairs *pairs,
			 const struct correction *correction)
{
	bool *done = calloc((size_t)w->t->calls + 1, sizeof(*done));
	int64_t n = 0;

	CHECK(done, "memory of %ld calls", (long)w->t->calls);
	for (int64_t i = 0; i < w->t->calls; i++) {
		const struct correction *c;
		struct passage p;

		if (!is_common(w, i) || !passage_to(w, i, &p))
			continue;
		c = &correction[pair_of(pairs, w, i, &p) - pairs->list];
		n += isnan(c->factor) ? 0 : scale(w, i, c, done);
	}
	free(done);
	return n;
}

int64_t host_gaps_apply(struct steps *s, double launch_ns)
{
	const struct trace *t = s->trace;
	struct correction *correction;
	struct pairs pairs = { 0 };
	int64_t scaled;
	struct walk w;

	if (!t->host_pairs)
		return 0;
	walk_init(&w, s);
	for (int64_t i = 0; i < t->host_functions; i++)
		mark_common(&w, t->host_function[i]);
	sample_trace(&pairs, &w, launch_ns);
	correction = malloc(((size_t)pairs.n + 1) * sizeof(*correction));
	CHECK(correction, "memory of %ld pairs", (long)pairs.n);
	for (int64_t i = 0; i < pairs.n; i++)
		correction[i] = correct(&pairs.list[i], find_known(t, &pairs.list[i]));
	scaled = scale_all(&w, &pairs, correction);
	free(correction);
	pairs_release(&pairs);
	walk_release(&w);
	return scaled;
}
