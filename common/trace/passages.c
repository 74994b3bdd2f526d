/* passages.c - calls told apart by kinds, passages between common ones, and pairs of these. */
#include "common/trace/passages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/trace/trace_impl.h"

/* So many percent of a pair's launches must be launches alone. */
enum { SAMPLES_PERCENT = 80 };
/* Calls that one recorder alone has seen, in a row, within a passage. */
enum { UNSEEN_MOST = 1000 };

static void *memory(size_t n, size_t size)
{
	void *m = calloc(n + 1, size);

	CHECK(m, "memory of passages");
	return m;
}

/* ---- kinds of calls ----------------------------------------------------------------------- */

enum {
	SLOTS = 4 * 1024,     /* more than CALL_KINDS_MAX by far */
	FUNCTIONS_ROOM = 200, /* kinds that are no kernels' find room for so many */
};

/* A launch that gave the device a kernel: which; TRACE_NONE: not known. */
static int32_t kernel_of(const struct trace *t, const struct trace_call *c)
{
	if (c->class != CALL_LAUNCH || c->captured)
		return TRACE_NONE;
	if (!t->device_times)
		return c->kernel;
	return c->ops && t->op[c->first_op].kind == OP_KERNEL ? t->op[c->first_op].name
							      : TRACE_NONE;
}

/* An anonymous trace has numbers in place of names, and another recording has other ones. */
bool trace_has_kernels(const struct trace *t)
{
	if (json_is_true(json_object_get(t->header, "anonymous")))
		return false;
	for (int64_t i = 0; i < t->calls; i++)
		if (t->call[i].kernel != TRACE_NONE || kernel_of(t, &t->call[i]) != TRACE_NONE)
			return true;
	return false;
}

/* The index of a code; it gets one where it has none and there are fewer than most. */
static int32_t find_kind(struct call_kinds *k, int64_t code, int32_t most)
{
	size_t at = (size_t)((uint64_t)code * 0x9e3779b97f4a7c15 >> 40) % SLOTS;

	while (k->slot[at] && k->kind[k->slot[at] - 1].code != code)
		at = (at + 1) % SLOTS;
	if (!k->slot[at]) {
		if (k->n >= most)
			return TRACE_NONE;
		k->kind[k->n++] = (struct call_kind){ .code = code, .function = NOT_COMMON };
		k->slot[at] = k->n;
	}
	return k->slot[at] - 1;
}

static int32_t kind_of(struct call_kinds *k, const struct trace *t, const struct trace_call *c,
		       bool by_kernel)
{
	int32_t kernel = by_kernel ? kernel_of(t, c) : TRACE_NONE, at;

	if (c->name < 0)
		return TRACE_NONE;
	at = find_kind(k, c->name + t->strings * ((int64_t)kernel + 1),
		       kernel == TRACE_NONE ? CALL_KINDS_MAX : CALL_KINDS_MAX - FUNCTIONS_ROOM);
	if (at == TRACE_NONE)
		return at;
	k->kind[at].name = t->string[c->name];
	k->kind[at].kernel = kernel == TRACE_NONE ? NULL : t->string[kernel];
	k->kind[at].calls++;
	return at;
}

void call_kinds_init(struct call_kinds *k, const struct trace *t, bool by_kernel)
{
	*k = (struct call_kinds){ .n = 0 };
	k->kind = memory(CALL_KINDS_MAX, sizeof(*k->kind));
	k->slot = memory(SLOTS, sizeof(*k->slot));
	k->of_call = memory((size_t)t->calls, sizeof(*k->of_call));
	for (int64_t i = 0; i < t->calls; i++)
		k->of_call[i] = kind_of(k, t, &t->call[i], by_kernel);
}

void call_kinds_release(struct call_kinds *k)
{
	free(k->kind);
	free(k->slot);
	free(k->of_call);
}

bool is_kind(const struct call_kind *k, const char *name, const char *kernel)
{
	if (strcmp(k->name, name) != 0 || !k->kernel != !kernel)
		return false;
	return !kernel || !strcmp(k->kernel, kernel);
}

/* ---- passages ----------------------------------------------------------------------------- */

void walk_init(struct walk *w, struct steps *s, bool by_kernel, double launch_max)
{
	const struct trace *t = s->trace;
	int64_t *last = memory((size_t)t->threads, sizeof(*last));

	*w = (struct walk){ .t = t, .steps = s, .launch_max = launch_max };
	call_kinds_init(&w->kinds, t, by_kernel);
	w->before = memory((size_t)t->calls, sizeof(*w->before));
	for (int64_t i = 0; i < t->threads; i++)
		last[i] = TRACE_NONE;
	for (int64_t i = 0; i < t->calls; i++) {
		w->before[i] = last[t->call[i].thread];
		last[t->call[i].thread] = i;
	}
	free(last);
}

void walk_release(struct walk *w)
{
	call_kinds_release(&w->kinds);
	free(w->before);
}

void walk_set_common(struct walk *w, int32_t function, const char *name, const char *kernel)
{
	for (int32_t i = 0; i < w->kinds.n; i++)
		if (is_kind(&w->kinds.kind[i], name, kernel))
			w->kinds.kind[i].function = function;
}

int32_t function_of(const struct walk *w, int64_t call)
{
	int32_t kind = w->kinds.of_call[call];

	return kind < 0 ? NOT_COMMON : w->kinds.kind[kind].function;
}

bool is_common(const struct walk *w, int64_t call)
{
	return function_of(w, call) != NOT_COMMON;
}

double *gap_before(const struct walk *w, int64_t call)
{
	struct step *step = &w->steps->step[call];

	return step->after == TRACE_NONE ? &step->gap_ns : &step->after_ns;
}

int64_t call_before(const struct walk *w, int64_t call)
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
	p->begins_a_launch = is_launch(&w->t->call[p->from]) && !is_behind_wait(w, p->from);
	if (p->begins_a_launch)
		pass_call(w, p, p->from);
}

bool passage_to(const struct walk *w, int64_t to, struct passage *out)
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

void passage_pairs_init(struct passage_pairs *p, int32_t functions)
{
	*p = (struct passage_pairs){ .functions = functions };
	p->at = memory(2 * (size_t)functions * (size_t)functions, sizeof(*p->at));
}

void passage_pairs_release(struct passage_pairs *p)
{
	for (int64_t i = 0; i < p->n; i++)
		free(p->list[i].sample);
	free(p->list);
	free(p->at);
}

static int32_t *place_of(const struct passage_pairs *p, int32_t from, int32_t to, bool after)
{
	return &p->at[((size_t)from * (size_t)p->functions + (size_t)to) * 2 + after];
}

struct passage_pair *passage_pair_find(const struct passage_pairs *p, int32_t from, int32_t to,
				       bool after)
{
	int32_t at = *place_of(p, from, to, after);

	return at ? &p->list[at - 1] : NULL;
}

struct passage_pair *passage_pair_of(struct passage_pairs *pairs, const struct walk *w,
				     const struct passage *p, int64_t to)
{
	int32_t from_function = function_of(w, p->from), to_function = function_of(w, to);
	int32_t *at = place_of(pairs, from_function, to_function, p->after);

	if (!*at) {
		pairs->list = trace_grow(pairs->list, pairs->n, &pairs->room, sizeof(*pairs->list));
		pairs->list[pairs->n++] = (struct passage_pair){ .from = from_function,
								 .to = to_function,
								 .after = p->after };
		*at = (int32_t)pairs->n;
	}
	return &pairs->list[*at - 1];
}

static void pair_add(struct passage_pair *p, double whole_ns, double gap_ns)
{
	p->sample = trace_grow(p->sample, p->samples, &p->room, sizeof(*p->sample));
	p->sample[p->samples++] = (struct passage_sample){ whole_ns, gap_ns };
}

void passage_pairs_sample(struct passage_pairs *pairs, const struct walk *w, double launch_ns)
{
	for (int64_t i = 0; i < w->t->calls; i++) {
		struct passage p;
		struct passage_pair *pair;
		double launches;

		if (!is_common(w, i) || !passage_to(w, i, &p))
			continue;
		pair = passage_pair_of(pairs, w, &p, i);
		pair->n++;
		launches = isnan(launch_ns) ? p.launch_ns : (double)p.launches * launch_ns;
		if (!p.waits)
			pair_add(pair, p.gap_ns + p.call_ns + launches, p.gap_ns);
	}
}

static int compare_samples(const void *a, const void *b)
{
	const struct passage_sample *x = a, *y = b;

	return (x->whole_ns > y->whole_ns) - (x->whole_ns < y->whole_ns);
}

bool passage_pair_sort(struct passage_pair *p)
{
	if (!p->samples || p->samples * 100 < p->n * SAMPLES_PERCENT)
		return false;
	qsort(p->sample, (size_t)p->samples, sizeof(*p->sample), compare_samples);
	return true;
}

double passage_pair_median(const struct passage_pair *p)
{
	return p->sample[(p->samples - 1) / 2].whole_ns;
}

int64_t passage_pair_up_to(const struct passage_pair *p, double most_ns)
{
	int64_t n = p->samples;

	while (n && p->sample[n - 1].whole_ns > most_ns)
		n--;
	return n;
}

double passage_pair_mean(const struct passage_pair *p, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += p->sample[i].whole_ns;
	return sum / (double)n;
}

double passage_pair_mean_gap(const struct passage_pair *p, int64_t n, double less_ns)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += fmax(p->sample[i].gap_ns - less_ns, 0);
	return sum / (double)n;
}
