/* findings.c - see findings.h. */
#include "harness/share/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"

const char *const share_fairness_names[] = { "fair", "unfair", "not resolved" };

/* A client that got nothing in a window: there is no logarithm of 0, and no ratio to it. */
#define STARVED 1e-6

/* What is computed from. */
struct table {
	const struct share *share;
	int windows;
	int units; /* what is resampled: starts, where there are enough of them, else windows */
	double alone[SHARE_MIX_MAX]; /* steps a second of each workload; NAN */
	double *alone_times;	     /* [units]: its time over its median; the mean of all */
	double *own_times;	     /* [mixes * units]: the same of each */
	double *times;		     /* [sets * units]: n / sum of x; NAN */
	/* units of two sets, and of one set that belong together */
	struct contrast apart, paired;
};

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	CHECK(p, "%zu bytes", n * size);
	return p;
}

/* ---- windows ---------------------------------------------------------------------------- */

static double rate_of(const json_t *window, int client)
{
	const json_t *c = json_array_get(json_object_get(window, "clients"), (size_t)client);

	return json_get_number(c, "steps") / json_get_number(window, "seconds");
}

static bool has_all(const struct table *t, const struct share_measured *m)
{
	for (int k = 0; k < t->windows; k++)
		if (!m->window[k])
			return false;
	return !*m->not_run;
}

static double median_rate(const struct table *t, const struct share_measured *m, int client)
{
	double *rate = zeroed((size_t)t->windows, sizeof(*rate)), median;

	for (int k = 0; k < t->windows; k++)
		rate[k] = rate_of(m->window[k], client);
	median = median_of(rate, t->windows);
	free(rate);
	return median;
}

/* Alone over shared time of a client in a window. */
static double share_in(const struct table *t, const struct share_measured *m, int window,
		       int client)
{
	double alone = t->alone[share_client_mix(&t->share->plan, &m->set, client)];

	return fmax(STARVED, rate_of(m->window[window], client) / alone);
}

static double sum_in(const struct table *t, const struct share_measured *m, int window)
{
	double sum = 0;

	for (int i = 0; i < m->set.n; i++)
		sum += share_in(t, m, window, i);
	return sum;
}

/* Windows into units: each has the median of its own. */
static void fold(const struct table *t, const double *window, double *unit)
{
	const struct share_plan *p = &t->share->plan;
	double *own = zeroed((size_t)t->windows, sizeof(*own));

	for (int u = 0; u < t->units; u++) {
		int n = 0;

		for (int k = 0; k < t->windows; k++)
			if ((t->units == t->windows ? k : k / p->windows % p->starts) == u)
				own[n++] = window[k];
		unit[u] = all_finite(own, n) ? median_of(own, n) : NAN;
	}
	free(own);
}

/* ---- alone ------------------------------------------------------------------------------ */

static const struct share_measured *find_set(const struct share *s, enum share_arm arm, int n,
					     int first)
{
	for (int i = 0; i < s->sets; i++) {
		const struct share_set *set = &s->set[i].set;

		if (set->arm == arm && set->n == n && set->first == first)
			return &s->set[i];
	}
	return NULL;
}

static void find_alone(struct table *t)
{
	int mixes = t->share->plan.mixes;
	double *times = zeroed((size_t)t->windows, sizeof(*times));
	double *own = zeroed((size_t)t->windows, sizeof(*own));

	for (int i = 0; i < mixes; i++) {
		const struct share_measured *m = find_set(t->share, ARM_PROCESSES, 1, i);

		t->alone[i] = m && has_all(t, m) ? median_rate(t, m, 0) : NAN;
		if (!(t->alone[i] > 0))
			t->alone[i] = NAN;
		for (int k = 0; k < t->windows; k++) {
			own[k] = isnan(t->alone[i]) ? NAN : 1 / share_in(t, m, k, 0);
			times[k] += own[k] / mixes;
		}
		fold(t, own, t->own_times + i * t->units);
	}
	fold(t, times, t->alone_times);
	free(own);
	free(times);
}

static void find_times(struct table *t)
{
	double *times = zeroed((size_t)t->windows, sizeof(*times));

	for (int i = 0; i < t->share->sets; i++) {
		const struct share_measured *m = &t->share->set[i];

		for (int k = 0; k < t->windows; k++)
			times[k] = has_all(t, m) ? m->set.n / sum_in(t, m, k) : NAN;
		fold(t, times, t->times + i * t->units);
	}
	free(times);
}

/* ---- a set ------------------------------------------------------------------------------ */

/* Windows in which it is not known are left out. */
static double median_member(const struct table *t, const struct share_measured *m, const char *name)
{
	double *value = zeroed((size_t)t->windows, sizeof(*value)), median;
	int n = 0;

	for (int k = 0; k < t->windows; k++) {
		const json_t *v = json_object_get(m->window[k], name);

		if (json_is_number(v))
			value[n++] = json_number_value(v);
	}
	median = median_of(value, n);
	free(value);
	return median;
}

/* Processors that were used, as ns per step of any client: of windows in which both are known. */
static double median_per_step(const struct table *t, const struct share_measured *m,
			      const char *name)
{
	double *ns = zeroed((size_t)t->windows, sizeof(*ns)), median;
	int n = 0;

	for (int k = 0; k < t->windows; k++) {
		const json_t *v = json_object_get(m->window[k], name);
		double rate = 0;

		for (int i = 0; i < m->set.n; i++)
			rate += rate_of(m->window[k], i);
		if (json_is_number(v) && rate > 0)
			ns[n++] = 1e9 * json_number_value(v) / rate;
	}
	median = median_of(ns, n);
	free(ns);
	return median;
}

/* NAN: no step of it ended in that window. */
static double quantile_in(const struct share_measured *m, int window, int client, int quantile)
{
	const json_t *c =
		json_array_get(json_object_get(m->window[window], "clients"), (size_t)client);
	const json_t *q = json_array_get(json_object_get(c, "step_ns"), (size_t)quantile);

	return json_is_number(q) ? json_number_value(q) : NAN;
}

/* Unless some window has none. */
static struct interval quantile_interval(const struct table *t, const struct share_measured *m,
					 int client, int quantile)
{
	double *window = zeroed((size_t)t->windows, sizeof(*window));
	double *unit = zeroed((size_t)t->units, sizeof(*unit));
	struct interval of;

	for (int k = 0; k < t->windows; k++)
		window[k] = quantile_in(m, k, client, quantile);
	fold(t, window, unit);
	if (contrast_median(&of, &t->paired, unit))
		of = interval_unknown(0);
	free(window);
	free(unit);
	return of;
}

static double median_quantile(const struct table *t, const struct share_measured *m, int client,
			      int quantile)
{
	double *ns = zeroed((size_t)t->windows, sizeof(*ns)), median;
	int n = 0;

	for (int k = 0; k < t->windows; k++) {
		double q = quantile_in(m, k, client, quantile);

		if (isfinite(q))
			ns[n++] = q;
	}
	median = median_of(ns, n);
	free(ns);
	return median;
}

static void find_client(const struct table *t, struct share_found *f, int i)
{
	struct share_client_found *c = &f->client[i];
	double alone = t->alone[share_client_mix(&t->share->plan, &f->of->set, i)];

	c->rate = median_rate(t, f->of, i);
	c->slowdown = alone / fmax(STARVED * alone, c->rate);
	for (int q = 0; q < SHARE_QUANTILES; q++)
		c->quantile_ns[q] = median_quantile(t, f->of, i, q);
	c->median_ns = quantile_interval(t, f->of, i, SHARE_P50);
	c->p99_ns = quantile_interval(t, f->of, i, SHARE_P99);
}

static void sum_up(struct share_found *f)
{
	double sum = 0, squares = 0, most = 0, least = INFINITY;
	int n = f->of->set.n;

	f->stp = f->mean_slowdown = 0;
	for (int i = 0; i < n; i++) {
		double x = 1 / f->client[i].slowdown;

		sum += x;
		squares += x * x;
		most = fmax(most, x);
		least = fmin(least, x);
		f->mean_slowdown += f->client[i].slowdown / n;
	}
	f->stp = sum;
	f->jain = sum * sum / (n * squares);
	f->max_min = most / least;
}

static bool all_passed(const struct share_measured *m)
{
	const json_t *passed;
	size_t i;

	json_array_foreach(json_object_get(m->checked, "passed"), i, passed)
	{
		if (!json_is_true(passed))
			return false;
	}
	return m->checked;
}

static void find_slowdown(const struct table *t, struct share_found *f, int set)
{
	struct point_pair pair = { .b = t->times + set * t->units, .a = t->alone_times };
	struct judged_point p;

	contrast_points(&p, &pair, 1, &t->apart, MARGIN_DEFAULT);
	f->slowdown = p.ratio;
	/* without enough values for an interval there is one all the same */
	if (!isfinite(f->slowdown.value))
		f->slowdown.value = f->of->set.n / f->stp;
	f->overhead = f->slowdown.value / f->of->set.n - 1;
}

/* ---- fairness --------------------------------------------------------------------------- */

int share_fairness_needs(int clients)
{
	return contrast_processes_needed(JUDGE_LEVEL / clients, true);
}

static enum share_fairness conclude_fairness(const struct share_found *f)
{
	int same = 0;

	for (int i = 0; i < f->of->set.n; i++) {
		enum ratio_verdict v = f->client[i].against_mean.judged.verdict;

		if (v == VERDICT_SLOWER || v == VERDICT_FASTER)
			return FAIRNESS_UNFAIR;
		same += v == VERDICT_SAME;
	}
	return same == f->of->set.n ? FAIRNESS_FAIR : FAIRNESS_OPEN;
}

/* Each client's time over that of its workload alone. */
static void find_over_alone(const struct table *t, struct share_found *f, const double *own)
{
	struct point_pair pair[SHARE_CLIENTS_MAX];
	struct judged_point point[SHARE_CLIENTS_MAX];
	int n = f->of->set.n;

	for (int i = 0; i < n; i++)
		pair[i] =
			(struct point_pair){ .b = own + i * t->units,
					     .a = t->own_times + share_client_mix(&t->share->plan,
										  &f->of->set, i) *
									 t->units };
	contrast_points(point, pair, n, &t->apart, MARGIN_DEFAULT);
	for (int i = 0; i < n; i++)
		f->client[i].over_alone = point[i];
}

/* A client and the mean of one window are a pair. */
static void find_fairness(const struct table *t, struct share_found *f)
{
	int n = f->of->set.n;
	double *window = zeroed((size_t)t->windows, sizeof(*window));
	double *mean = zeroed((size_t)t->units, sizeof(*mean));
	double *own = zeroed((size_t)(n * t->units), sizeof(*own));
	struct point_pair pair[SHARE_CLIENTS_MAX];
	struct judged_point point[SHARE_CLIENTS_MAX];

	for (int k = 0; k < t->windows; k++)
		window[k] = n / sum_in(t, f->of, k);
	fold(t, window, mean);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < t->windows; k++)
			window[k] = 1 / share_in(t, f->of, k, i);
		fold(t, window, own + i * t->units);
		pair[i] = (struct point_pair){ .b = own + i * t->units, .a = mean };
	}
	contrast_points(point, pair, n, &t->paired, SHARE_FAIR_MARGIN);
	for (int i = 0; i < n; i++)
		f->client[i].against_mean = point[i];
	f->fairness = conclude_fairness(f);
	find_over_alone(t, f, own);
	free(window);
	free(mean);
	free(own);
}

/* ---- all sets --------------------------------------------------------------------------- */

static void find_set_findings(const struct table *t, struct share_found *f, int i)
{
	const struct share_measured *m = &t->share->set[i];

	*f = (struct share_found){ .of = m,
				   .stp = NAN,
				   .mean_slowdown = NAN,
				   .jain = NAN,
				   .max_min = NAN,
				   .overhead = NAN,
				   .processors = NAN,
				   .daemons = NAN,
				   .cpu_ns = NAN,
				   .daemons_ns = NAN,
				   .memory = NAN,
				   .busy = NAN,
				   .slowdown = interval_unknown(0),
				   .fairness = FAIRNESS_OPEN,
				   .passed = all_passed(m) };
	f->known = has_all(t, m) && all_finite(t->times + i * t->units, t->units);
	if (!f->known)
		return;
	for (int k = 0; k < m->set.n; k++)
		find_client(t, f, k);
	sum_up(f);
	find_slowdown(t, f, i);
	if (m->set.n > 1)
		find_fairness(t, f);
	f->processors = median_member(t, m, "processors");
	f->daemons = median_member(t, m, "daemons");
	f->cpu_ns = median_per_step(t, m, "processors");
	f->daemons_ns = median_per_step(t, m, "daemons");
	f->memory = median_member(t, m, "memory");
	f->busy = median_member(t, m, "busy");
}

/* Every arm against its base at the same n, judged together. */
static void find_over_base(const struct table *t, struct share_findings *f)
{
	struct point_pair *pair = zeroed((size_t)f->sets, sizeof(*pair));
	struct judged_point *point = zeroed((size_t)f->sets, sizeof(*point));
	int *set = zeroed((size_t)f->sets, sizeof(*set)), n = 0;

	for (int i = 0; i < f->sets; i++) {
		const struct share_set *own = &f->set[i].of->set;
		enum share_arm base = share_arms[own->arm].base;
		const struct share_measured *m = find_set(t->share, base, own->n, own->first);
		int at = m ? (int)(m - t->share->set) : -1;

		if (base == own->arm || at < 0 || !f->set[i].known || !f->set[at].known)
			continue;
		pair[n] = (struct point_pair){ t->times + i * t->units, t->times + at * t->units };
		set[n++] = i;
	}
	contrast_points(point, pair, n, &t->apart, MARGIN_DEFAULT);
	for (int i = 0; i < n; i++) {
		f->set[set[i]].has_base = true;
		f->set[set[i]].over_base = point[i];
	}
	free(pair);
	free(point);
	free(set);
}

void share_findings_init(struct share_findings *f, const struct share *s)
{
	struct table t = { .share = s, .windows = share_plan_windows(&s->plan) };

	t.units = s->plan.starts >= BOOTSTRAP_N_MIN ? s->plan.starts : t.windows;
	*f = (struct share_findings){ .set = zeroed((size_t)s->sets, sizeof(*f->set)),
				      .sets = s->sets,
				      .units = t.units,
				      .unit = s->plan.starts >= BOOTSTRAP_N_MIN ? "start"
										: "window" };
	t.alone_times = zeroed((size_t)t.units, sizeof(*t.alone_times));
	t.own_times = zeroed((size_t)(s->plan.mixes * t.units), sizeof(*t.own_times));
	t.times = zeroed((size_t)(s->sets * t.units), sizeof(*t.times));
	contrast_init(&t.apart, t.units, t.units, false, 1);
	contrast_init(&t.paired, t.units, t.units, true, 1);
	f->level = t.apart.level;
	f->pair_level = t.paired.level;
	find_alone(&t);
	find_times(&t);
	for (int i = 0; i < s->sets; i++)
		find_set_findings(&t, &f->set[i], i);
	find_over_base(&t, f);
	contrast_release(&t.apart);
	contrast_release(&t.paired);
	free(t.alone_times);
	free(t.own_times);
	free(t.times);
}

void share_findings_release(struct share_findings *f)
{
	free(f->set);
	f->set = NULL;
}

int share_exit_code(const struct share *s)
{
	int code = RIFT_OK;

	for (int i = 0; i < s->sets; i++) {
		const struct share_measured *m = &s->set[i];

		if (m->checked && !all_passed(m))
			return RIFT_CHECK_FAILED;
		if (m->lost)
			code = RIFT_FAILED_POINTS;
	}
	return code;
}
