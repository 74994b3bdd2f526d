/* host_gaps.c - passages of the host between calls, in a trace and in lighter recordings. */
#include "common/trace/host_gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/trace/trace_impl.h"

/* Counts of one function or pair that differ by more, in percent and in calls, are of two programs.
 */
enum { APART_PERCENT = 2, APART_LEAST = 2 };
/* A launch that is longer than so many times the usual plus so many ns waits or loads. In a passage
 * that is so much longer than its pair's median the host sleeps. */
enum { LONG_TIMES = 4, LONG_NS = 10000 };
/* So many percent of a pair's launches must be launches alone. */
enum { SAMPLES_PERCENT = 80 };
/* Calls that one recorder alone has seen, in a row, within a passage. */
enum { UNSEEN_MOST = 1000 };

static void *memory(size_t n, size_t size)
{
	void *m = calloc(n + 1, size);

	CHECK(m, "memory of host gaps");
	return m;
}

static bool agree(double a, double b)
{
	return fabs(a - b) <= fmax(APART_LEAST, fmax(a, b) * (APART_PERCENT / 100.0));
}

/* ---- passages ----------------------------------------------------------------------------- */

enum { NOT_COMMON = -1 };

struct walk {
	const struct trace *t;
	struct steps *steps;
	int32_t *function; /* common, by the index of its name */
	int64_t *before;   /* of each call: its thread's call before; TRACE_NONE */
	double launch_max; /* that is no launch alone, ns */
};

/* From one common call to the next. */
struct passage {
	int64_t from;
	bool after;	/* another thread's call */
	double gap_ns;	/* outside calls */
	double call_ns; /* in calls that are not common, launches not among them */
	int64_t launches;
	double launch_ns; /* in these, as recorded */
	bool waits;	  /* a launch for a place, or it loads */
};

static double longest_launch(const struct trace *t)
{
	return t->calibration.launch_call_ns[QUANTILE_P95] * LONG_TIMES + LONG_NS;
}

static void walk_init(struct walk *w, struct steps *s, double launch_max)
{
	const struct trace *t = s->trace;
	int64_t *last = memory((size_t)t->threads, sizeof(*last));

	*w = (struct walk){ .t = t, .steps = s, .launch_max = launch_max };
	w->function = memory((size_t)t->strings, sizeof(*w->function));
	w->before = memory((size_t)t->calls, sizeof(*w->before));
	for (int64_t i = 0; i < t->strings; i++)
		w->function[i] = NOT_COMMON;
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
	free(w->function);
	free(w->before);
}

static void set_common(struct walk *w, int32_t function, const char *name)
{
	for (int64_t i = 0; i < w->t->strings; i++)
		if (!strcmp(w->t->string[i], name))
			w->function[i] = function;
}

static int32_t function_of(const struct walk *w, int64_t call)
{
	int32_t name = w->t->call[call].name;

	return name < 0 ? NOT_COMMON : w->function[name];
}

static bool is_common(const struct walk *w, int64_t call)
{
	return function_of(w, call) != NOT_COMMON;
}

static double *gap_before(const struct walk *w, int64_t call)
{
	struct step *step = &w->steps->step[call];

	return step->after == TRACE_NONE ? &step->gap_ns : &step->after_ns;
}

static int64_t call_before(const struct walk *w, int64_t call)
{
	int64_t after = w->steps->step[call].after;

	return after == TRACE_NONE ? w->before[call] : after;
}

static bool is_wait(const struct trace_call *c)
{
	return call_is_sync(c->class) || c->class == CALL_QUERY;
}

static bool is_launch(const struct trace_call *c)
{
	return c->class == CALL_LAUNCH && !c->captured;
}

static void pass_call(const struct walk *w, struct passage *p, int64_t call)
{
	const struct trace_call *c = &w->t->call[call];
	double ns = (double)(c->t1 - c->t0);

	if (!is_launch(c)) {
		p->call_ns += ns;
		return;
	}
	p->launches++;
	p->launch_ns += ns;
	p->waits |= ns > w->launch_max || w->steps->step[call].is_behind_full;
}

/* Does it leave an idle device behind? Small copies to the device may not. */
static bool leaves_idle(const struct trace_call *c)
{
	return is_wait(c) || ((c->class == CALL_COPY || c->class == CALL_FREE) && !c->async);
}

/* Is the common call before this one such a call, or is there none? */
static bool is_behind_wait(const struct walk *w, int64_t call)
{
	for (int unseen = 0; unseen < UNSEEN_MOST; unseen++) {
		call = call_before(w, call);
		if (call == TRACE_NONE)
			return true;
		if (is_common(w, call))
			return leaves_idle(&w->t->call[call]);
	}
	return false;
}

/* The launch that a passage begins with. */
static void pass_first(const struct walk *w, struct passage *p)
{
	if (is_launch(&w->t->call[p->from]) && !is_behind_wait(w, p->from))
		pass_call(w, p, p->from);
}

/* The one that leads to a common call. False: it has no beginning, or waits for the device. */
static bool passage_to(const struct walk *w, int64_t to, struct passage *out)
{
	*out = (struct passage){ .from = to };
	if (w->t->call[to].class == CALL_QUERY) /* it polls: the loop around it is part of a wait */
		return false;
	for (int unseen = 0; unseen < UNSEEN_MOST; unseen++) {
		out->gap_ns += *gap_before(w, out->from);
		out->after |= w->steps->step[out->from].after != TRACE_NONE;
		out->from = call_before(w, out->from);
		if (out->from == TRACE_NONE)
			return false;
		if (is_common(w, out->from)) {
			pass_first(w, out);
			return true;
		}
		if (is_wait(&w->t->call[out->from]) ||
		    w->t->call[out->from].class ==
			    CALL_GRAPH_LAUNCH) /* its price is not known here */
			return false;
		pass_call(w, out, out->from);
	}
	return false;
}

/* ---- pairs -------------------------------------------------------------------------------- */

struct sample {
	double whole_ns, gap_ns;
};

struct pair {
	int32_t from, to; /* functions */
	bool after;
	int64_t n; /* passages, those that are no sample too */
	struct sample *sample;
	int64_t samples, room;
};

struct pairs {
	int32_t functions;
	int32_t *at; /* one more than its index: 0 for none; by from, to and after */
	struct pair *list;
	int64_t n, room;
};

static void pairs_init(struct pairs *p, int32_t functions)
{
	*p = (struct pairs){ .functions = functions };
	p->at = memory(2 * (size_t)functions * (size_t)functions, sizeof(*p->at));
}

static void pairs_release(struct pairs *p)
{
	for (int64_t i = 0; i < p->n; i++)
		free(p->list[i].sample);
	free(p->list);
	free(p->at);
}

static int32_t *place_of(const struct pairs *p, int32_t from, int32_t to, bool after)
{
	return &p->at[((size_t)from * (size_t)p->functions + (size_t)to) * 2 + after];
}

/* The passage's, which leads to that call. */
static struct pair *pair_of(struct pairs *pairs, const struct walk *w, const struct passage *p,
			    int64_t to)
{
	int32_t from_function = function_of(w, p->from), to_function = function_of(w, to);
	int32_t *at = place_of(pairs, from_function, to_function, p->after);

	if (!*at) {
		pairs->list = trace_grow(pairs->list, pairs->n, &pairs->room, sizeof(*pairs->list));
		pairs->list[pairs->n++] = (struct pair){ .from = from_function,
							 .to = to_function,
							 .after = p->after };
		*at = (int32_t)pairs->n;
	}
	return &pairs->list[*at - 1];
}

static void pair_add(struct pair *p, double whole_ns, double gap_ns)
{
	p->sample = trace_grow(p->sample, p->samples, &p->room, sizeof(*p->sample));
	p->sample[p->samples++] = (struct sample){ whole_ns, gap_ns };
}

/* All passages of a trace. launch_ns: what a launch takes; NAN: as recorded. */
static void sample_passages(struct pairs *pairs, const struct walk *w, double launch_ns)
{
	for (int64_t i = 0; i < w->t->calls; i++) {
		struct passage p;
		struct pair *pair;
		double launches;

		if (!is_common(w, i) || !passage_to(w, i, &p))
			continue;
		pair = pair_of(pairs, w, &p, i);
		pair->n++;
		launches = isnan(launch_ns) ? p.launch_ns : (double)p.launches * launch_ns;
		if (!p.waits)
			pair_add(pair, p.gap_ns + p.call_ns + launches, p.gap_ns);
	}
}

static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->whole_ns > y->whole_ns) - (x->whole_ns < y->whole_ns);
}

/* In order; false: too many of the passages are no sample. */
static bool sort_samples(struct pair *p)
{
	if (!p->samples || p->samples * 100 < p->n * SAMPLES_PERCENT)
		return false;
	qsort(p->sample, (size_t)p->samples, sizeof(*p->sample), compare_samples);
	return true;
}

static double median_whole(const struct pair *p)
{
	return p->sample[(p->samples - 1) / 2].whole_ns;
}

/* In a passage that is longer the host sleeps. By the lighter runs' median. */
static double longest_passage(double median_ns)
{
	return median_ns * LONG_TIMES + LONG_NS;
}

/* How many count, which come first. */
static int64_t samples_up_to(const struct pair *p, double most_ns)
{
	int64_t n = p->samples;

	while (n && p->sample[n - 1].whole_ns > most_ns)
		n--;
	return n;
}

static double mean_whole(const struct pair *p, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += p->sample[i].whole_ns;
	return sum / (double)n;
}

/* With each passage so much shorter, but never less than nothing. */
static double mean_gap(const struct pair *p, int64_t n, double less_ns)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += fmax(p->sample[i].gap_ns - less_ns, 0);
	return sum / (double)n;
}

/* ---- what the lighter recordings say ------------------------------------------------------ */

struct candidate {
	const char *name; /* full's */
	int64_t calls;
	bool is_common;
};

struct host_gaps {
	const struct trace *full;
	struct candidate *candidate;
	int32_t candidates;
	int runs;
	struct pairs pairs; /* once a run is added; functions: common candidates in their order */
};

/* By the index of their names. */
static int64_t *count_calls(const struct trace *t)
{
	int64_t *n = memory((size_t)t->strings, sizeof(*n));

	for (int64_t i = 0; i < t->calls; i++)
		if (t->call[i].name >= 0)
			n[t->call[i].name]++;
	return n;
}

struct host_gaps *host_gaps_new(const struct trace *full)
{
	struct host_gaps *g = memory(1, sizeof(*g));
	int64_t *calls = count_calls(full);

	g->full = full;
	g->candidate = memory(HOST_FUNCTIONS_MAX, sizeof(*g->candidate));
	for (int64_t i = 0; i < full->strings && g->candidates < HOST_FUNCTIONS_MAX; i++)
		if (calls[i])
			g->candidate[g->candidates++] =
				(struct candidate){ full->string[i], calls[i], true };
	free(calls);
	return g;
}

void host_gaps_free(struct host_gaps *g)
{
	pairs_release(&g->pairs);
	free(g->candidate);
	free(g);
}

void host_gaps_count(struct host_gaps *g, const struct trace *run)
{
	int64_t *calls = count_calls(run);

	for (int32_t k = 0; k < g->candidates; k++) {
		struct candidate *c = &g->candidate[k];
		int64_t n = 0;

		for (int64_t i = 0; i < run->strings; i++)
			n += calls[i] && !strcmp(run->string[i], c->name) ? calls[i] : 0;
		c->is_common &= n && agree((double)c->calls, (double)n);
	}
	free(calls);
}

void host_gaps_add(struct host_gaps *g, const struct trace *run)
{
	int32_t common = 0;
	struct steps s;
	struct walk w;

	steps_init(&s, run);
	walk_init(&w, &s, longest_launch(g->full));
	for (int32_t k = 0; k < g->candidates; k++)
		if (g->candidate[k].is_common)
			set_common(&w, common++, g->candidate[k].name);
	if (!g->runs++)
		pairs_init(&g->pairs, common);
	sample_passages(&g->pairs, &w, NAN);
	walk_release(&w);
	steps_release(&s);
}

static json_t *functions_json(const struct host_gaps *g)
{
	json_t *list = json_array();

	for (int32_t k = 0; k < g->candidates; k++)
		if (g->candidate[k].is_common)
			json_array_append_new(list, json_string(g->candidate[k].name));
	return list;
}

static json_t *pair_json(const struct host_gaps *g, struct pair *p, const json_t *functions)
{
	double median;

	if (p->n < (int64_t)HOST_PAIR_LEAST * g->runs || !sort_samples(p))
		return NULL;
	median = median_whole(p);
	return json_pack("{s:O, s:O, s:b, s:f, s:f, s:f}", "from",
			 json_array_get(functions, (size_t)p->from), "to",
			 json_array_get(functions, (size_t)p->to), "after", p->after, "n",
			 (double)p->n / g->runs, "ns",
			 mean_whole(p, samples_up_to(p, longest_passage(median))), "median_ns",
			 median);
}

json_t *host_gaps_json(struct host_gaps *g)
{
	json_t *functions = functions_json(g), *pairs = json_array(), *all = NULL;

	for (int64_t i = 0; i < g->pairs.n && json_array_size(pairs) < HOST_PAIRS_MAX; i++) {
		json_t *pair = pair_json(g, &g->pairs.list[i], functions);

		if (pair)
			json_array_append_new(pairs, pair);
	}
	if (json_array_size(pairs))
		all = json_pack("{s:i, s:O, s:O}", "runs", g->runs, "functions", functions, "pairs",
				pairs);
	json_decref(functions);
	json_decref(pairs);
	return all;
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

static bool is_time(const json_t *o, const char *name, double *ns)
{
	const json_t *value = json_object_get(o, name);

	*ns = json_number_value(value);
	return json_is_number(value) && *ns >= 0 && *ns <= (double)TRACE_TIME_MAX;
}

static int take_pair(const struct reading *r, const json_t *o)
{
	const json_t *n = json_object_get(o, "n"), *after = json_object_get(o, "after");
	struct trace *t = r->t;
	struct trace_host_pair *pair = &t->host_pair[t->host_pairs];

	*pair = (struct trace_host_pair){
		.from = copy_of(json_object_get(o, "from")),
		.to = copy_of(json_object_get(o, "to")),
		.after = json_is_true(after),
		.n = json_number_value(n),
	};
	t->host_pairs++; /* what it has is released in any case */
	if (!pair->from || !pair->to || !json_is_boolean(after))
		return trace_damaged(r, "host_gaps: a pair lacks from, to or after");
	if (!json_is_number(n) || pair->n < 1 || pair->n > TRACE_ROWS_MAX)
		return trace_damaged(r, "host_gaps: a pair's n is not 1 to %d", TRACE_ROWS_MAX);
	if (!is_time(o, "ns", &pair->ns) || !is_time(o, "median_ns", &pair->median_ns))
		return trace_damaged(r, "host_gaps: a pair's ns or median_ns is no time");
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
	if (json_array_size(functions) > HOST_FUNCTIONS_MAX ||
	    json_array_size(pairs) > HOST_PAIRS_MAX)
		return trace_damaged(r, "host_gaps: more than %d functions or %d pairs",
				     HOST_FUNCTIONS_MAX, HOST_PAIRS_MAX);
	t->host_runs = (int)runs;
	t->host_function = memory(json_array_size(functions), sizeof(*t->host_function));
	t->host_pair = memory(json_array_size(pairs), sizeof(*t->host_pair));
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

/* What makes a pair's passages as long as they are known to be, each of them by as much. */
struct correction {
	bool is_known;
	double less_ns, more_ns; /* one of them is 0 */
};

/* Each of n passages shorter by so much that their gaps are as long as wanted in the mean. */
static double less_for(const struct pair *p, int64_t n, double wanted_ns)
{
	enum { HALVINGS = 60 };
	double low = 0, high = 0;

	for (int64_t i = 0; i < n; i++)
		high = fmax(high, p->sample[i].gap_ns);
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (mean_gap(p, n, middle) > wanted_ns)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Both means are of the same passages: what is added is added to the longest that counts, too. */
static struct correction correct(struct pair *p, const struct trace_host_pair *known)
{
	struct correction c = { 0 };
	double gap, wanted, most;
	int64_t n;

	if (!agree((double)p->n, known->n) || !sort_samples(p))
		return c;
	most = longest_passage(known->median_ns) + median_whole(p) - known->median_ns;
	n = samples_up_to(p, most);
	if (!n)
		return c;
	gap = mean_gap(p, n, 0);
	wanted = fmax(known->ns - (mean_whole(p, n) - gap), 0);
	c.is_known = true;
	if (wanted < gap)
		c.less_ns = less_for(p, n, wanted);
	else
		c.more_ns = wanted - gap;
	return c;
}

static int32_t find_function(const struct trace *t, const char *name)
{
	for (int32_t i = 0; i < t->host_functions; i++)
		if (!strcmp(t->host_function[i], name))
			return i;
	return NOT_COMMON;
}

/* One for each pair; to be freed. */
static struct correction *correct_all(struct pairs *pairs, const struct trace *t)
{
	struct correction *c = memory((size_t)pairs->n, sizeof(*c));

	for (int64_t i = 0; i < t->host_pairs; i++) {
		const struct trace_host_pair *known = &t->host_pair[i];
		int32_t from = find_function(t, known->from), to = find_function(t, known->to);
		int32_t at = from == NOT_COMMON || to == NOT_COMMON
				     ? 0
				     : *place_of(pairs, from, to, known->after);

		if (at && !c[at - 1].is_known) /* of two that are the same, the first */
			c[at - 1] = correct(&pairs->list[at - 1], known);
	}
	return c;
}

/* The gaps of a passage, from that before the call it leads to back. */
static int64_t gaps_of(const struct walk *w, int64_t to)
{
	int64_t n = 1;

	for (int64_t i = call_before(w, to); !is_common(w, i); i = call_before(w, i))
		n++;
	return n;
}

/* As they will be: NAN as they are. Each gap once: passages of two threads may share their first
 * gaps. */
static void change(const struct walk *w, const struct passage *p, int64_t to,
		   const struct correction *c, double *changed)
{
	double factor = p->gap_ns > 0 ? fmax(p->gap_ns - c->less_ns, 0) / p->gap_ns : 1;
	int64_t n = gaps_of(w, to);

	for (int64_t i = to, k = 0; k < n; i = call_before(w, i), k++)
		if (isnan(changed[i]))
			changed[i] = *gap_before(w, i) * factor + c->more_ns / (double)n;
}

static int64_t change_all(const struct walk *w, struct pairs *pairs, const struct correction *all)
{
	double *changed = memory((size_t)w->t->calls, sizeof(*changed));
	int64_t n = 0;

	for (int64_t i = 0; i < w->t->calls; i++)
		changed[i] = NAN;
	for (int64_t i = 0; i < w->t->calls; i++) {
		const struct correction *c;
		struct passage p;

		if (!is_common(w, i) || !passage_to(w, i, &p))
			continue;
		c = &all[pair_of(pairs, w, &p, i) - pairs->list];
		if (c->is_known)
			change(w, &p, i, c, changed);
	}
	for (int64_t i = 0; i < w->t->calls; i++) {
		if (isnan(changed[i]))
			continue;
		*gap_before(w, i) = changed[i];
		n++;
	}
	free(changed);
	return n;
}

int64_t host_gaps_apply(struct steps *s, double launch_ns)
{
	const struct trace *t = s->trace;
	struct correction *all;
	struct pairs pairs;
	int64_t changed;
	struct walk w;

	if (!t->host_pairs || !t->is_calibrated)
		return 0;
	walk_init(&w, s, longest_launch(t));
	for (int32_t i = 0; i < t->host_functions; i++)
		set_common(&w, i, t->host_function[i]);
	pairs_init(&pairs, (int32_t)t->host_functions);
	sample_passages(&pairs, &w, launch_ns);
	all = correct_all(&pairs, t);
	changed = change_all(&w, &pairs, all);
	free(all);
	pairs_release(&pairs);
	walk_release(&w);
	return changed;
}
