/* promise.c - see promise.h. */
#include "harness/share/promise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/share/findings.h"
#include "harness/stats/stats.h"

const char *const promise_names[] = { "holds",	     "gets more than allowed",
				      "gets less",   "inconclusive",
				      "not used up", "not judged" };

const double promise_span_s[PROMISE_SPANS] = { 0.01, 0.1, 1 };

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	CHECK(p, "%zu bytes", n * size);
	return p;
}

/* ---- one client's progress --------------------------------------------------------------- */

/* Steps by bins; of the record. */
struct series {
	const json_t *steps;
	int n;
	double bin_s, seconds;
};

static const json_t *timeline_of(const json_t *window, int client)
{
	const json_t *c = json_array_get(json_object_get(window, "clients"), (size_t)client);

	return json_object_get(c, "timeline");
}

static struct series series_of(const json_t *window, int client)
{
	const json_t *p = timeline_of(window, client), *steps = json_object_get(p, "steps");

	return (struct series){ steps, (int)json_array_size(steps), json_get_number(p, "bin_s"),
				json_get_number(window, "seconds") };
}

static double steps_in(const struct series *s, int bin)
{
	return json_number_value(json_array_get(s->steps, (size_t)bin));
}

static double sum_steps(const struct series *s, int from, int to)
{
	double sum = 0;

	for (int i = from; i < to; i++)
		sum += steps_in(s, i);
	return sum;
}

/* Steps a second in the second half. The last bin may be shorter than the others. */
static double steady_rate(const struct series *s)
{
	int half = s->n / 2;
	double seconds = s->seconds - half * s->bin_s;

	return seconds > 0 ? sum_steps(s, half, s->n) / seconds : NAN;
}

/* How far it is ahead of its own steady rate after each bin of the first half, in steps: the most,
 * and when nine tenths of that were reached. */
static double burst_steps(const struct series *s, double *when_s)
{
	double rate = steady_rate(s) * s->bin_s, done = 0, most = 0;

	for (int i = 0; i < s->n / 2; i++) {
		done += steps_in(s, i);
		most = fmax(most, done - rate * (i + 1));
	}
	done = 0;
	for (int i = 0; i < s->n / 2; i++) {
		done += steps_in(s, i);
		*when_s = (i + 1) * s->bin_s;
		if (done - rate * (i + 1) >= 0.9 * most)
			break;
	}
	return most;
}

/* How long it is as fast as without a limit: until 100 ms have less than 0.8 of what those have. */
static double full_speed_s(const struct series *s, double unlimited_rate)
{
	const double least = 0.8, span_s = 0.1;
	int bins = (int)lround(span_s / s->bin_s), i = 0;

	while (bins > 0 && i + bins <= s->n &&
	       sum_steps(s, i, i + bins) >= least * unlimited_rate * span_s)
		i += bins;
	return i * s->bin_s;
}

/* Each whole span of the second half, in steps a second, added to what there is. */
static int add_spans(const struct series *s, double span_s, double *rate, int n)
{
	int bins = (int)lround(span_s / s->bin_s);

	for (int i = s->n / 2; bins > 0 && i + bins <= s->n; i += bins)
		rate[n++] = sum_steps(s, i, i + bins) / (bins * s->bin_s);
	return n;
}

/* ---- the base ---------------------------------------------------------------------------- */

static const json_t *window_of(const struct share_measured *m, int start, enum timeline_how how)
{
	return m->window[start * TIMELINE_HOWS + (int)how];
}

static bool has_all(const struct share *s, const struct share_measured *m)
{
	for (int k = 0; k < share_plan_windows(&s->plan); k++)
		if (!m->window[k])
			return false;
	return !*m->not_run;
}

static void find_rates(const struct share *s, const struct share_measured *m, int client,
		       enum timeline_how how, double *rate)
{
	for (int k = 0; k < s->plan.starts; k++) {
		struct series each = series_of(window_of(m, k, how), client);

		rate[k] = steady_rate(&each);
	}
}

static const struct share_measured *base_of(const struct share *s, int mix)
{
	for (int i = 0; i < s->sets; i++)
		if (s->set[i].set.arm == ARM_PROCESSES && s->set[i].set.first == mix)
			return has_all(s, &s->set[i]) ? &s->set[i] : NULL;
	return NULL;
}

/* With fewer steps in 100 ms one more or less would look like a base that is not steady. */
#define LEAST_STEPS 20

static double least_of(const struct share *s, const struct share_measured *m)
{
	int most = 0, n = 0;
	double *each, least = NAN;

	for (int k = 0; k < s->plan.starts; k++)
		most += series_of(window_of(m, k, TIMELINE_QUEUED), 0).n;
	each = zeroed((size_t)most, sizeof(*each));
	for (int k = 0; k < s->plan.starts; k++) {
		struct series of = series_of(window_of(m, k, TIMELINE_QUEUED), 0);

		n = add_spans(&of, 0.1, each, n);
	}
	sort_doubles(each, n);
	if (n && 0.1 * quantile_of_sorted(each, n, 0.5) >= LEAST_STEPS)
		least = quantile_of_sorted(each, n, 0.05) / quantile_of_sorted(each, n, 0.5);
	free(each);
	return least;
}

static void find_base(struct promise_base *b, const struct share *s, int mix)
{
	const struct share_measured *m = base_of(s, mix);
	double *rate = zeroed((size_t)s->plan.starts, sizeof(*rate));

	*b = (struct promise_base){ NAN, NAN, NAN };
	if (m) {
		find_rates(s, m, 0, TIMELINE_QUEUED, rate);
		b->rate = median_of(rate, s->plan.starts);
		find_rates(s, m, 0, TIMELINE_WAITS, rate);
		b->waits = median_of(rate, s->plan.starts) / b->rate;
		b->least = least_of(s, m);
	}
	free(rate);
}

/* ---- rows -------------------------------------------------------------------------------- */

static const struct promise_base *base_of_row(const struct promise *l, const struct share *s,
					      const struct promise_row *r)
{
	return &l->base[share_client_mix(&s->plan, &r->of->set, r->client)];
}

static void find_spread(const struct promise_row *r, const struct share *s, double rate, int span,
			struct promise_spread *out)
{
	int most = 0, n = 0;
	double *each;

	for (int k = 0; k < s->plan.starts; k++)
		most += series_of(window_of(r->of, k, r->how), r->client).n;
	each = zeroed((size_t)most, sizeof(*each));
	for (int k = 0; k < s->plan.starts; k++) {
		struct series of = series_of(window_of(r->of, k, r->how), r->client);

		n = add_spans(&of, promise_span_s[span], each, n);
	}
	sort_doubles(each, n);
	*out = (struct promise_spread){ n ? quantile_of_sorted(each, n, 0.05) / rate : NAN,
					n ? quantile_of_sorted(each, n, 0.95) / rate : NAN };
	free(each);
}

static void find_burst(struct promise_row *r, const struct share *s, const struct promise_base *b)
{
	int n = s->plan.starts;
	double *burst = zeroed((size_t)n, sizeof(*burst)), *when = zeroed((size_t)n, sizeof(*when));
	double *full = zeroed((size_t)n, sizeof(*full)), rate = b->rate;

	for (int k = 0; k < n; k++) {
		const json_t *window = window_of(r->of, k, r->how);
		struct series each = series_of(window, r->client);

		burst[k] = burst_steps(&each, &when[k]) / rate;
		full[k] = full_speed_s(&each, r->how == TIMELINE_WAITS ? rate * b->waits : rate);
		r->pause_s = fmax(r->pause_s,
				  json_get_number(timeline_of(window, r->client), "longest_s"));
	}
	r->burst_s = median_of(burst, n);
	r->settled_s = median_of(when, n);
	r->full_s = median_of(full, n);
	free(full);
	free(burst);
	free(when);
}

static void find_row(struct promise_row *r, const struct promise *l, const struct share *s)
{
	double rate = base_of_row(l, s, r)->rate;
	double *own;

	r->known = isfinite(rate) && rate > 0 && has_all(s, r->of);
	if (!r->known)
		return;
	own = zeroed((size_t)s->plan.starts, sizeof(*own));
	find_rates(s, r->of, r->client, r->how, own);
	r->share = median_of(own, s->plan.starts) / rate;
	for (int i = 0; i < PROMISE_SPANS; i++)
		find_spread(r, s, rate, i, &r->spread[i]);
	find_burst(r, s, base_of_row(l, s, r));
	free(own);
}

static int count_rows(const struct share *s)
{
	int n = 0;

	for (int i = 0; i < s->sets; i++)
		if (s->set[i].set.arm == ARM_LIMITED)
			n += s->set[i].set.n * TIMELINE_HOWS;
	return n;
}

static void find_rows(struct promise *l, const struct share *s)
{
	l->row = zeroed((size_t)count_rows(s), sizeof(*l->row));
	for (int i = 0; i < s->sets; i++) {
		const struct share_measured *m = &s->set[i];

		if (m->set.arm != ARM_LIMITED)
			continue;
		for (int k = 0; k < m->set.n * TIMELINE_HOWS; k++) {
			struct promise_row *r = &l->row[l->rows++];

			*r = (struct promise_row){ .of = m,
						   .client = k / TIMELINE_HOWS,
						   .how = (enum timeline_how)(k % TIMELINE_HOWS),
						   .share = NAN,
						   .verdict = PROMISE_OPEN };
			find_row(r, l, s);
		}
	}
}

/* ---- verdicts ---------------------------------------------------------------------------- */

/* Starved all through: no logarithm of 0, and no ratio to it. */
#define STARVED 1e-6

/* b: the promise's part of what was done, a: all that the base did. So b / a is share / promise. */
static void fill_pair(const struct promise *l, const struct share *s, const struct promise_row *r,
		      double *b, double *a)
{
	int mix = share_client_mix(&s->plan, &r->of->set, r->client);
	double least = STARVED * l->base[mix].rate;

	find_rates(s, r->of, r->client, r->how, b);
	find_rates(s, base_of(s, mix), 0, TIMELINE_QUEUED, a);
	for (int k = 0; k < s->plan.starts; k++) {
		b[k] = fmax(least, b[k]) / s->plan.allow.compute;
		a[k] = fmax(least, a[k]);
	}
}

static enum promise_verdict conclude(const struct promise *l, const struct share *s,
				     const struct promise_row *r)
{
	static const enum promise_verdict of[] = { [VERDICT_SAME] = PROMISE_HOLDS,
						   [VERDICT_SLOWER] = PROMISE_MORE,
						   [VERDICT_FASTER] = PROMISE_LESS,
						   [VERDICT_INCONCLUSIVE] = PROMISE_OPEN };
	enum promise_verdict v = of[r->judged.judged.verdict];
	double promised = s->plan.allow.compute;

	if (!promise_is_steady(base_of_row(l, s, r)))
		return PROMISE_OPEN;
	if (v == PROMISE_MORE || v == PROMISE_HOLDS)
		return v;
	if (r->how == TIMELINE_WAITS && r->share < promised &&
	    base_of_row(l, s, r)->waits < promised * (1 + PROMISE_MARGIN))
		return PROMISE_UNUSED;
	return !share_is_cpu(s) && r->of->set.n * promised > 1 ? PROMISE_CROWDED : v;
}

/* All rows at once. SLOWER is a ratio above 1: more than was promised. */
static void judge_rows(struct promise *l, const struct share *s)
{
	size_t n = (size_t)s->plan.starts, rows = (size_t)l->rows, k = 0;
	double *values = zeroed(2 * n * rows, sizeof(*values));
	struct point_pair *pair = zeroed(rows, sizeof(*pair));
	struct judged_point *point = zeroed(rows, sizeof(*point));
	struct contrast c;

	contrast_init(&c, (int)n, (int)n, false, 1);
	l->level = c.level;
	for (size_t i = 0; i < rows; i++) {
		double *b = values + 2 * n * i, *a = b + n;

		if (l->row[i].known)
			fill_pair(l, s, &l->row[i], b, a);
		pair[i] = (struct point_pair){ b, l->row[i].known ? a : NULL };
	}
	contrast_points(point, pair, (int)rows, &c, PROMISE_MARGIN);
	for (k = 0; k < rows; k++) {
		l->row[k].judged = point[k];
		l->row[k].verdict = l->row[k].known ? conclude(l, s, &l->row[k]) : PROMISE_OPEN;
	}
	contrast_release(&c);
	free(values);
	free(pair);
	free(point);
}

/* The worse of two: what was promised is missed by the one that misses it. */
static enum promise_verdict worse(enum promise_verdict a, enum promise_verdict b)
{
	static const enum promise_verdict order[] = { PROMISE_MORE, PROMISE_LESS, PROMISE_OPEN };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return PROMISE_HOLDS;
}

static enum promise_verdict verdict_of_rows(const struct promise *l)
{
	enum promise_verdict v = PROMISE_HOLDS;
	int judged = 0;

	for (int i = 0; i < l->rows; i++) {
		if (l->row[i].verdict == PROMISE_UNUSED || l->row[i].verdict == PROMISE_CROWDED)
			continue;
		v = worse(v, l->row[i].verdict);
		judged++;
	}
	return judged ? v : PROMISE_OPEN;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* What a GPU gives out at once, 2 MiB, may be rounded up by a limit that counts it so. */
#define GRANULE 2097152.0

/* The largest single allocation that a line says of: "alone", "freed", "exited", ... */
static double largest(const json_t *line, const char *when)
{
	return json_get_number(json_object_get(line, when), "one");
}

/* May all be taken again, as before, after a free, an exit and a kill? */
static bool comes_back(const json_t *line, double slack)
{
	static const char *const after[] = { "freed", "exited", "killed" };

	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++)
		if (largest(line, after[i]) < largest(line, "alone") - slack)
			return false;
	return true;
}

double promise_context_bytes(const json_t *line, int64_t allowed)
{
	const json_t *alone = json_object_get(line, "alone");
	double total = json_get_number(alone, "total"), is_free = json_get_number(alone, "free");

	return total <= (double)allowed + GRANULE && total > is_free ? total - is_free : 0;
}

struct promise_taken promise_most(const json_t *line)
{
	static const struct promise_taken ways[] = { { "one", "cudaMalloc", 0 },
						     { "many", "cudaMalloc in pieces", 0 },
						     { "pool", "cudaMallocAsync", 0 },
						     { "array", "cudaMallocArray", 0 },
						     { "graph", "a graph's memory nodes", 0 } };
	const json_t *alone = json_object_get(line, "alone");
	struct promise_taken most = { NULL, "", -1 };

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		double bytes = json_get_number(alone, ways[i].member);

		if (bytes > most.bytes)
			most = (struct promise_taken){ ways[i].member, ways[i].by, bytes };
	}
	return most;
}

enum promise_verdict promise_of_memory(const json_t *line, int64_t allowed, bool is_cpu)
{
	const json_t *alone = json_object_get(line, "alone");
	double most = fmax(json_get_number(alone, "one"), json_get_number(alone, "many"));
	double promised = (double)allowed, slack = is_cpu ? 0 : GRANULE;

	if (!line)
		return PROMISE_OPEN;
	if (promise_most(line).bytes > promised + slack)
		return PROMISE_MORE;
	most += promise_context_bytes(line, allowed);
	return most < promised * (1 - PROMISE_MARGIN) || !comes_back(line, slack) ? PROMISE_LESS
										  : PROMISE_HOLDS;
}

const char *promise_memory_wrong(const json_t *line)
{
	static const char *const whens[] = { "alone", "freed", "beside", "exited", "killed" };

	for (size_t i = 0; i < sizeof(whens) / sizeof(*whens); i++)
		if (!(largest(line, whens[i]) >= 0))
			return whens[i];
	return json_get_number(json_object_get(line, "alone"), "many") >= 0 ? NULL : "many";
}

/* ---- all --------------------------------------------------------------------------------- */

void promise_init(struct promise *l, const struct share *s)
{
	const struct share_allow *a = &s->plan.allow;

	*l = (struct promise){ .starts = s->plan.starts,
			       .level = NAN,
			       .compute = PROMISE_OPEN,
			       .memory = promise_of_memory(s->memory, a->memory, share_is_cpu(s)) };
	for (int i = 0; i < s->plan.mixes; i++)
		find_base(&l->base[i], s, i);
	if (a->compute > 0) {
		find_rows(l, s);
		judge_rows(l, s);
		l->compute = verdict_of_rows(l);
	}
	l->verdict = a->compute > 0 && a->memory > 0 ? worse(l->compute, l->memory)
		     : a->compute > 0		     ? l->compute
						     : l->memory;
}

void promise_release(struct promise *l)
{
	free(l->row);
	l->row = NULL;
}

int promise_exit_code(const struct share *s)
{
	static const int codes[] = { [PROMISE_HOLDS] = RIFT_OK,
				     [PROMISE_MORE] = RIFT_CHECK_FAILED,
				     [PROMISE_LESS] = RIFT_CHECK_FAILED,
				     [PROMISE_OPEN] = RIFT_FAILED_POINTS,
				     [PROMISE_UNUSED] = RIFT_FAILED_POINTS,
				     [PROMISE_CROWDED] = RIFT_FAILED_POINTS };
	int code = share_exit_code(s);
	struct promise l;

	if (code)
		return code;
	promise_init(&l, s);
	code = codes[l.verdict];
	promise_release(&l);
	return code;
}

/* ---- what a record may hold --------------------------------------------------------------- */

const char *promise_client_wrong(const json_t *client)
{
	const json_t *p = json_object_get(client, "timeline"), *steps = json_object_get(p, "steps");
	const json_t *each;
	size_t i;

	if (!(json_get_number(p, "bin_s") > 0) || !(json_get_number(p, "longest_s") >= 0) ||
	    json_array_size(steps) < 2)
		return "timeline";
	json_array_foreach(steps, i, each)
	{
		if (!json_is_number(each) || !(json_number_value(each) >= 0))
			return "timeline";
	}
	return NULL;
}
