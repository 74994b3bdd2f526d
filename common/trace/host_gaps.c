/* host_gaps.c - passages of the host between calls, in a trace and in lighter recordings. */
#include "common/trace/host_gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/trace/passages.h"
#include "common/trace/trace_impl.h"

/* Counts of one function or pair that differ by more, in percent and in calls, are of two programs.
 */
enum { APART_PERCENT = 2, APART_LEAST = 2 };
/* A launch that is longer than so many times the usual plus so many ns waits or loads. In a passage
 * that is so much longer than its pair's median the host sleeps. */
enum { LONG_TIMES = 4, LONG_NS = 10000 };
/* A kind's name in a file: its function, and its kernel behind that. */
enum { BETWEEN = ' ' };

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

static double longest_launch(const struct trace *t)
{
	return t->calibration.launch_call_ns[QUANTILE_P95] * LONG_TIMES + LONG_NS;
}

/* In a passage that is longer the host sleeps. By the lighter runs' median. */
static double longest_passage(double median_ns)
{
	return median_ns * LONG_TIMES + LONG_NS;
}

/* ---- what graphs take --------------------------------------------------------------------- */

/* From the return of one wait of a thread to that of its next. */
struct stretch {
	int64_t from, to; /* the waits */
	double ns, graphs_ns;
};

struct stretches {
	struct stretch *list;
	int64_t n, room;
	int32_t thread; /* whose these are; TRACE_NONE: there is none */
	bool several;	/* threads wait: which of them comes first differs from run to run */
};

struct graph_span {
	int64_t t0, t1;
};

/* A thread on its way to a wait: the wait before, and its graphs since then. */
struct waiting {
	int64_t from; /* TRACE_NONE: none */
	struct graph_span *span;
	int64_t n, room;
};

/* So many percent of a stretch must be graphs: then the host waited for them. */
enum { GRAPHS_PERCENT = 80 };
/* Graphs are no shorter than so much of what was recorded, or something else went on. */
#define GRAPH_FACTOR_LEAST 0.5

static void pass_graphs(struct waiting *w, const struct trace *t, const struct trace_call *c)
{
	for (int32_t k = 0; k < c->ops; k++) {
		const struct trace_op *op = &t->op[c->first_op + k];

		if (op->kind != OP_GRAPH)
			continue;
		w->span = trace_grow(w->span, w->n, &w->room, sizeof(*w->span));
		w->span[w->n++] = (struct graph_span){ op->t0, op->t1 };
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct graph_span *x = a, *y = b;

	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/* How long any of them ran between two times. */
static int64_t graphs_within(struct waiting *w, int64_t t0, int64_t t1)
{
	int64_t ns = 0;

	if (w->n) /* qsort() may not be given NULL */
		qsort(w->span, (size_t)w->n, sizeof(*w->span), compare_starts);
	for (int64_t i = 0; i < w->n; i++) {
		int64_t from = w->span[i].t0 > t0 ? w->span[i].t0 : t0;
		int64_t to = w->span[i].t1 < t1 ? w->span[i].t1 : t1;

		ns += to > from ? to - from : 0;
		t0 = to > t0 ? to : t0;
	}
	return ns;
}

static void add_stretch(struct stretches *s, const struct trace *t, struct waiting *w, int64_t to)
{
	const struct trace_call *c = &t->call[to];
	int64_t t0 = t->call[w->from].t1;

	s->several |= s->n && s->thread != c->thread;
	s->thread = c->thread;
	s->list = trace_grow(s->list, s->n, &s->room, sizeof(*s->list));
	s->list[s->n++] = (struct stretch){
		.from = w->from,
		.to = to,
		.ns = (double)(c->t1 - t0),
		.graphs_ns = (double)graphs_within(w, t0, c->t1),
	};
}

/* Between waits that are common. */
static void find_stretches(struct stretches *s, const struct walk *w)
{
	const struct trace *t = w->t;
	struct waiting *all = memory((size_t)t->threads, sizeof(*all));

	s->thread = TRACE_NONE;
	for (int64_t i = 0; i < t->threads; i++)
		all[i].from = TRACE_NONE;
	for (int64_t i = 0; i < t->calls; i++) {
		struct waiting *own = &all[t->call[i].thread];

		pass_graphs(own, t, &t->call[i]);
		if (!call_is_sync(t->call[i].class) || !is_common(w, i))
			continue;
		if (own->from != TRACE_NONE)
			add_stretch(s, t, own, i);
		own->from = i;
		own->n = 0;
	}
	for (int64_t i = 0; i < t->threads; i++)
		free(all[i].span);
	free(all);
}

static bool waits_for_graphs(const struct stretch *s)
{
	return s->graphs_ns > 0 && s->graphs_ns * 100 >= s->ns * GRAPHS_PERCENT;
}

/* ---- what the lighter recordings say ------------------------------------------------------ */

struct host_gaps {
	const struct trace *full;
	bool by_kernel;
	struct call_kinds kinds; /* full's, once a run is counted */
	int runs, added;
	struct passage_pairs pairs; /* once a run is added */
	struct stretches stretches; /* full's */
	double graph_waits_ns;	    /* of all runs' that wait for graphs in full */
	bool is_alike;		    /* all runs wait as often as full */
};

struct host_gaps *host_gaps_new(const struct trace *full)
{
	struct host_gaps *g = memory(1, sizeof(*g));

	g->full = full;
	return g;
}

void host_gaps_free(struct host_gaps *g)
{
	passage_pairs_release(&g->pairs);
	call_kinds_release(&g->kinds);
	free(g->stretches.list);
	free(g);
}

/* What the first run can tell apart decides for all. */
static void begin(struct host_gaps *g, const struct trace *run)
{
	g->by_kernel = trace_has_kernels(g->full) && trace_has_kernels(run);
	call_kinds_init(&g->kinds, g->full, g->by_kernel);
	for (int32_t i = 0; i < g->kinds.n; i++)
		g->kinds.kind[i].function = i;
}

static int64_t count(const struct call_kinds *all, const struct call_kind *k)
{
	int64_t n = 0;

	for (int32_t i = 0; i < all->n; i++)
		n += is_kind(&all->kind[i], k->name, k->kernel) ? all->kind[i].calls : 0;
	return n;
}

void host_gaps_count(struct host_gaps *g, const struct trace *run)
{
	struct call_kinds kinds;

	if (!g->runs++)
		begin(g, run);
	call_kinds_init(&kinds, run, g->by_kernel);
	for (int32_t i = 0; i < g->kinds.n; i++) {
		struct call_kind *k = &g->kinds.kind[i];
		int64_t n = count(&kinds, k);

		if (!n || !agree((double)k->calls, (double)n))
			k->function = NOT_COMMON;
	}
	call_kinds_release(&kinds);
}

/* Numbers without gaps. Returns how many there are. */
static int32_t number_common(struct call_kinds *kinds)
{
	int32_t n = 0;

	for (int32_t i = 0; i < kinds->n; i++)
		if (kinds->kind[i].function != NOT_COMMON)
			kinds->kind[i].function = n++;
	return n;
}

static void begin_walk(const struct host_gaps *g, struct walk *w, struct steps *s)
{
	walk_init(w, s, g->by_kernel, longest_launch(g->full));
	for (int32_t i = 0; i < g->kinds.n; i++) {
		const struct call_kind *k = &g->kinds.kind[i];

		if (k->function != NOT_COMMON)
			walk_set_common(w, k->function, k->name, k->kernel);
	}
}

/* Before the first run is added. */
static void begin_adding(struct host_gaps *g)
{
	struct steps s;
	struct walk w;

	passage_pairs_init(&g->pairs, number_common(&g->kinds));
	g->is_alike = true;
	steps_init(&s, g->full);
	begin_walk(g, &w, &s);
	find_stretches(&g->stretches, &w);
	walk_release(&w);
	steps_release(&s);
}

static void add_stretches(struct host_gaps *g, const struct walk *w)
{
	struct stretches light = { 0 };

	find_stretches(&light, w);
	g->is_alike &= light.n == g->stretches.n && !light.several && !g->stretches.several;
	for (int64_t i = 0; i < light.n && g->is_alike; i++)
		if (waits_for_graphs(&g->stretches.list[i]))
			g->graph_waits_ns += light.list[i].ns;
	free(light.list);
}

void host_gaps_add(struct host_gaps *g, const struct trace *run)
{
	struct steps s;
	struct walk w;

	if (!g->added++)
		begin_adding(g);
	steps_init(&s, run);
	begin_walk(g, &w, &s);
	passage_pairs_sample(&g->pairs, &w, NAN);
	add_stretches(g, &w);
	walk_release(&w);
	steps_release(&s);
}

static int64_t count_graph_waits(const struct stretches *s)
{
	int64_t n = 0;

	for (int64_t i = 0; i < s->n; i++)
		n += waits_for_graphs(&s->list[i]);
	return n;
}

static json_t *function_json(const struct call_kind *k)
{
	return k->kernel ? json_sprintf("%s%c%s", k->name, BETWEEN, k->kernel)
			 : json_string(k->name);
}

static json_t *functions_json(const struct host_gaps *g)
{
	json_t *list = json_array();

	for (int32_t i = 0; i < g->kinds.n; i++)
		if (g->kinds.kind[i].function != NOT_COMMON)
			json_array_append_new(list, function_json(&g->kinds.kind[i]));
	return list;
}

static json_t *pair_json(const struct host_gaps *g, struct passage_pair *p)
{
	double median;

	if (p->n < (int64_t)HOST_PAIR_LEAST * g->added || !passage_pair_sort(p))
		return NULL;
	median = passage_pair_median(p);
	return json_pack("{s:i, s:i, s:b, s:f, s:f, s:f}", "from", p->from, "to", p->to, "after",
			 p->after, "n", (double)p->n / g->added, "ns",
			 passage_pair_mean(p, passage_pair_up_to(p, longest_passage(median))),
			 "median_ns", median);
}

json_t *host_gaps_json(struct host_gaps *g)
{
	json_t *functions = functions_json(g), *pairs = json_array(), *all = NULL;
	int64_t waits = g->is_alike ? count_graph_waits(&g->stretches) : 0;

	for (int64_t i = 0; i < g->pairs.n && json_array_size(pairs) < HOST_PAIRS_MAX; i++) {
		json_t *pair = pair_json(g, &g->pairs.list[i]);

		if (pair)
			json_array_append_new(pairs, pair);
	}
	if (json_array_size(pairs) || waits)
		all = json_pack("{s:i, s:b, s:O, s:O}", "runs", g->added, "by_kernel", g->by_kernel,
				"functions", functions, "pairs", pairs);
	if (waits)
		json_object_set_new(all, "graph_waits",
				    json_pack("{s:I, s:f}", "n", (json_int_t)waits, "ns",
					      g->graph_waits_ns / g->added));
	json_decref(functions);
	json_decref(pairs);
	return all;
}

/* ---- as a trace has it -------------------------------------------------------------------- */

static int take_function(const struct reading *r, const json_t *o)
{
	struct trace *t = r->t;

	if (!json_is_string(o))
		return trace_damaged(r, "host_gaps: functions must be a list of names");
	t->host_function[t->host_functions] = strdup(json_string_value(o));
	CHECK(t->host_function[t->host_functions], "memory of a name");
	t->host_functions++;
	return 0;
}

/* Files of 2026-11-28 may have names there, and functions without kernels. */
static bool is_early(const json_t *pairs)
{
	return json_is_string(json_object_get(json_array_get(pairs, 0), "from"));
}

/* A number of a function. */
static bool is_function(const struct trace *t, const json_t *o, const char *name, int32_t *function)
{
	const json_t *value = json_object_get(o, name);
	json_int_t n = json_integer_value(value);

	*function = (int32_t)n;
	return json_is_integer(value) && n >= 0 && n < t->host_functions;
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

	*pair = (struct trace_host_pair){ .after = json_is_true(after), .n = json_number_value(n) };
	if (!is_function(t, o, "from", &pair->from) || !is_function(t, o, "to", &pair->to))
		return trace_damaged(r,
				     "host_gaps: a pair's from or to must be a function's number");
	if (!json_is_boolean(after))
		return trace_damaged(r, "host_gaps: a pair lacks after");
	if (!json_is_number(n) || pair->n < 1 || pair->n > TRACE_ROWS_MAX)
		return trace_damaged(r, "host_gaps: a pair's n must be 1 to %d", TRACE_ROWS_MAX);
	if (!is_time(o, "ns", &pair->ns) || !is_time(o, "median_ns", &pair->median_ns))
		return trace_damaged(r, "host_gaps: a pair's ns and median_ns must be times");
	t->host_pairs++;
	return 0;
}

/* NULL: there are none. */
static int take_graph_waits(const struct reading *r, const json_t *o)
{
	const json_t *n = json_object_get(o, "n");
	struct trace *t = r->t;

	t->graph_waits = json_integer_value(n);
	if (o &&
	    (!json_is_integer(n) || t->graph_waits < 1 || !is_time(o, "ns", &t->graph_waits_ns)))
		return trace_damaged(r, "host_gaps: graph_waits lacks n, 1 or more, or ns");
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
	if (is_early(pairs))
		return 0;
	if (runs < 1 || runs > TRACE_RUNS_MAX || !json_is_array(functions) || !json_is_array(pairs))
		return trace_damaged(r, "host_gaps lacks runs, 1 to %d, functions or pairs",
				     TRACE_RUNS_MAX);
	if (json_array_size(functions) > CALL_KINDS_MAX || json_array_size(pairs) > HOST_PAIRS_MAX)
		return trace_damaged(r, "host_gaps: more than %d functions or %d pairs",
				     CALL_KINDS_MAX, HOST_PAIRS_MAX);
	t->host_runs = (int)runs;
	t->host_by_kernel = json_is_true(json_object_get(o, "by_kernel"));
	t->host_function = memory(json_array_size(functions), sizeof(*t->host_function));
	t->host_pair = memory(json_array_size(pairs), sizeof(*t->host_pair));
	for (size_t i = 0; i < json_array_size(functions) && !err; i++)
		err = take_function(r, json_array_get(functions, i));
	for (size_t i = 0; i < json_array_size(pairs) && !err; i++)
		err = take_pair(r, json_array_get(pairs, i));
	return err ? err : take_graph_waits(r, json_object_get(o, "graph_waits"));
}

void trace_release_host_gaps(struct trace *t)
{
	for (int64_t i = 0; i < t->host_functions; i++)
		free(t->host_function[i]);
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
	double launch_less_ns;	 /* what its launch takes less, as without gaps it is still too long
				  */
};

/* Each of n passages shorter by so much that their gaps are as long as wanted in the mean. */
static double less_for(const struct passage_pair *p, int64_t n, double wanted_ns)
{
	enum { HALVINGS = 60 };
	double low = 0, high = 0;

	for (int64_t i = 0; i < n; i++)
		high = fmax(high, p->sample[i].gap_ns);
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (passage_pair_mean_gap(p, n, middle) > wanted_ns)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Both means are of the same passages: what is added is added to the longest that counts, too. */
static struct correction correct(struct passage_pair *p, const struct trace_host_pair *known)
{
	struct correction c = { 0 };
	double gap, wanted, most;
	int64_t n;

	if (!agree((double)p->n, known->n) || !passage_pair_sort(p))
		return c;
	most = longest_passage(known->median_ns) + passage_pair_median(p) - known->median_ns;
	n = passage_pair_up_to(p, most);
	if (!n)
		return c;
	gap = passage_pair_mean_gap(p, n, 0);
	wanted = known->ns - (passage_pair_mean(p, n) - gap);
	c.is_known = true;
	c.launch_less_ns = fmax(-wanted, 0);
	if (wanted < gap)
		c.less_ns = less_for(p, n, fmax(wanted, 0));
	else
		c.more_ns = wanted - gap;
	return c;
}

/* One for each pair; to be freed. */
static struct correction *correct_all(struct passage_pairs *pairs, const struct trace *t)
{
	struct correction *c = memory((size_t)pairs->n, sizeof(*c));

	for (int64_t i = 0; i < t->host_pairs; i++) {
		const struct trace_host_pair *known = &t->host_pair[i];
		struct passage_pair *p =
			passage_pair_find(pairs, known->from, known->to, known->after);
		int64_t at = p ? p - pairs->list : 0;

		if (p && !c[at].is_known) /* of two that are the same, the first */
			c[at] = correct(p, known);
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

/* The calibration's launches are in a row of their own; a program's may take less. */
static void shorten_launch(const struct walk *w, const struct passage *p,
			   const struct correction *c, double launch_ns)
{
	struct step *launch = &w->steps->step[p->from];

	if (p->begins_a_launch && !p->waits && !(launch->own_ns < 0))
		launch->own_ns = -fmin(c->launch_less_ns, launch_ns);
}

static int64_t change_all(const struct walk *w, struct passage_pairs *pairs,
			  const struct correction *all, double launch_ns)
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
		c = &all[passage_pair_of(pairs, w, &p, i) - pairs->list];
		if (!c->is_known)
			continue;
		change(w, &p, i, c, changed);
		shorten_launch(w, &p, c, launch_ns);
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

static void set_common(struct walk *w, int32_t function)
{
	char *name = strdup(w->t->host_function[function]), *kernel;

	CHECK(name, "memory of a name");
	kernel = w->t->host_by_kernel ? strchr(name, BETWEEN) : NULL;
	if (kernel)
		*kernel++ = '\0';
	walk_set_common(w, function, name, kernel);
	free(name);
}

/* The stretches that waited for graphs, re-timed as they are. */
static double retimed_waits_ns(const struct stretches *all, const struct steps *s,
			       const struct call_prices *prices)
{
	struct timed timed;
	double ns = 0;

	timed_priced(&timed, s, prices);
	for (int64_t i = 0; i < all->n; i++)
		if (waits_for_graphs(&all->list[i]))
			ns += timed.call[all->list[i].to].t1 - timed.call[all->list[i].from].t1;
	timed_release(&timed);
	return ns;
}

/* What these are longer by than in the lighter runs is the graphs'. */
static void fit_graphs(struct steps *s, const struct walk *w, const struct call_prices *prices)
{
	struct stretches all = { 0 };
	double graphs_ns = 0, factor;

	find_stretches(&all, w);
	for (int64_t i = 0; i < all.n; i++)
		graphs_ns += waits_for_graphs(&all.list[i]) ? all.list[i].graphs_ns : 0;
	if (w->t->graph_waits && count_graph_waits(&all) == w->t->graph_waits) {
		factor = 1 - (retimed_waits_ns(&all, s, prices) - w->t->graph_waits_ns) / graphs_ns;
		s->graph_factor = factor < GRAPH_FACTOR_LEAST ? 1 : fmin(factor, 1);
	}
	free(all.list);
}

int64_t host_gaps_apply(struct steps *s, const struct call_prices *prices)
{
	const struct trace *t = s->trace;
	struct correction *all;
	struct passage_pairs pairs;
	int64_t changed;
	struct walk w;

	if (!t->host_runs || !t->is_calibrated)
		return 0;
	walk_init(&w, s, t->host_by_kernel, longest_launch(t));
	for (int32_t i = 0; i < t->host_functions; i++)
		set_common(&w, i);
	passage_pairs_init(&pairs, (int32_t)t->host_functions);
	passage_pairs_sample(&pairs, &w, prices->launch_ns);
	all = correct_all(&pairs, t);
	changed = change_all(&w, &pairs, all, prices->launch_ns);
	fit_graphs(s, &w, prices);
	free(all);
	passage_pairs_release(&pairs);
	walk_release(&w);
	return changed;
}
