/* history.c - sessions of one plan over time: from which date on is it slower? */
#include "harness/compare/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/environment_diff.h"
#include "harness/record/recorded.h"
#include "harness/stats/contrast.h"
#include "harness/stats/stats.h"

void history_init(struct history *h, int n, const struct compare_options *options)
{
	*h = (struct history){ .n = n, .options = *options, .level = NAN, .scatter = NAN };
	if (!isfinite(h->options.margin))
		h->options.margin = HISTORY_MARGIN;
	h->of = calloc((size_t)n + 1, sizeof(*h->of));
	CHECK(h->of, "memory of %d sessions", n);
	for (int i = 0; i < n; i++)
		h->of[i].session = JOURNAL_NONE;
}

void history_add(struct history *h, int number, int side)
{
	struct history_session *s = &h->of[number];

	side_init(&s->side, &s->session, s->session.path, side, HALF_BOTH);
	snprintf(s->date, sizeof(s->date), "%.31s",
		 text_escaped(json_get_text(side_header(&s->side), "start_utc")).s);
}

void history_release(struct history *h)
{
	for (int i = 0; i < h->n; i++) {
		free(h->of[i].mean);
		side_release(&h->of[i].side);
		journal_release(&h->of[i].session);
	}
	free(h->of);
	*h = (struct history){ .n = 0 };
}

/* ---- what sessions have in common ------------------------------------------------------- */

static int by_date(const void *x, const void *y)
{
	const struct history_session *a = x, *b = y;

	int order = strcmp(a->date, b->date);

	return order ? order : strcmp(a->side.path, b->side.path);
}

static int check(const struct history *h)
{
	for (int i = 1; i < h->n; i++) {
		const struct history_session *a = &h->of[i - 1], *b = &h->of[i];
		int err = h->options.force ? 0 : environment_diff_refuse(&h->of[0].side, &b->side);

		if (session_same(&a->session, &b->session) && a->side.side == b->side.side)
			return complain(EINVAL, "%s and %s are the same session (%s)", a->side.path,
					b->side.path, a->session.session_id);
		if (err)
			return complain(-err, "%s is not comparable with %s", b->side.path,
					h->of[0].side.path);
	}
	return 0;
}

/* The number of the point with that key, measured by every process; -1: there is none. */
static int find_point(const struct compared_side *side, const char *key, double *value)
{
	const struct plan *p = &side->view.plan;

	for (int i = 0; i < p->n_points; i++)
		if (!strcmp(p->point[i].key, key))
			return side_values(side, i, value) == side->n ? i : -1;
	return -1;
}

/* Does every session have that point of the first one? */
static bool is_common(const struct history *h, int point, double *value)
{
	const char *key = h->of[0].side.view.plan.point[point].key;

	for (int i = 0; i < h->n; i++)
		if (find_point(&h->of[i].side, key, value) < 0)
			return false;
	return true;
}

/* ---- what each says --------------------------------------------------------------------- */

/* Adds the logarithms at a point, times its weight in the mean over workloads. */
static void add_point(struct history *h, int point, double weight, double *value)
{
	const char *key = h->of[0].side.view.plan.point[point].key;

	for (int i = 0; i < h->n; i++) {
		struct history_session *s = &h->of[i];

		find_point(&s->side, key, value);
		for (int k = 0; k < s->side.n; k++)
			s->mean[k] += weight * log(value[k]);
	}
}

static const struct workload *workload_of(const struct plan *p, int point)
{
	return p->config[p->point[point].config].workload;
}

/* Points of the same workload among the common ones. */
static int count_alike(const struct plan *p, const bool *common, int point)
{
	int n = 0;

	for (int i = 0; i < p->n_points; i++)
		n += common[i] && workload_of(p, i) == workload_of(p, point);
	return n;
}

/* Finds the points that all have: h->points, h->workloads. common: a flag for each. */
static void find_common(struct history *h, bool *common, double *value)
{
	const struct plan *p = &h->of[0].side.view.plan;

	for (int i = 0; i < p->n_points; i++) {
		bool first = true;

		common[i] = is_common(h, i, value);
		for (int k = 0; k < i; k++)
			first &= !common[k] || workload_of(p, k) != workload_of(p, i);
		h->points += common[i];
		h->workloads += common[i] && first;
	}
}

static void take_means(struct history *h, const bool *common, double *value)
{
	const struct plan *p = &h->of[0].side.view.plan;

	for (int i = 0; i < p->n_points; i++)
		if (common[i])
			add_point(h, i, 1.0 / h->workloads / count_alike(p, common, i), value);
	for (int i = 0; i < h->n; i++) {
		struct history_session *s = &h->of[i];

		for (int k = 0; k < s->side.n; k++)
			value[k] = s->mean[k] = exp(s->mean[k]);
		s->value = median_of(value, s->side.n);
	}
}

static void take_steps(struct history *h)
{
	for (int i = 0; i < h->n; i++) {
		struct history_session *s = &h->of[i];
		struct contrast c;

		contrast_init(&c, s->side.n, s->side.n, true, 1);
		if (contrast_median(&s->step, &c, s->mean))
			s->step = interval_unknown(s->side.n);
		levels_add(&h->of_step, c.level);
		contrast_release(&c);
	}
}

/* Over the first session, by their processes. */
static void take_ratios(struct history *h)
{
	for (int i = 0; i < h->n; i++) {
		struct history_session *s = &h->of[i];
		const struct point_pair p = { .b = s->mean, .a = h->of[0].mean };
		struct contrast c;

		contrast_init(&c, s->side.n, h->of[0].side.n, false, 1);
		if (contrast_ratio(&s->ratio, &c, &p))
			s->ratio = interval_unknown(s->side.n);
		levels_add(&h->of_ratio, c.level);
		contrast_release(&c);
	}
}

int history_make(struct history *h)
{
	double *value = calloc(CONTRAST_N_MAX, sizeof(*value));
	bool *common;
	int points, err;

	/* before its points are counted: the first is then another one */
	qsort(h->of, (size_t)h->n, sizeof(*h->of), by_date);
	points = h->of[0].side.view.plan.n_points;
	common = calloc((size_t)points + 1, sizeof(*common));
	CHECK(common && value, "memory of %d points", points);
	err = h->n > CONTRAST_N_MAX ? complain(EINVAL, "%d sessions: --each date takes %d at most",
					       h->n, CONTRAST_N_MAX)
				    : check(h);
	for (int i = 0; i < h->n && !err; i++) {
		h->of[i].mean = calloc((size_t)h->of[i].side.n + 1, sizeof(double));
		CHECK(h->of[i].mean, "memory of %d processes", h->of[i].side.n);
	}
	if (!err)
		find_common(h, common, value);
	if (!err && !h->points)
		err = complain(EPROTONOSUPPORT, "no point is in all %d sessions", h->n);
	if (!err) {
		take_means(h, common, value);
		take_steps(h);
		take_ratios(h);
		history_judge(h);
	}
	for (int i = 0; i < h->n && !err; i++)
		distrusted_add(&h->distrusted, h->of[i].date, &h->of[i].side.view);
	free(common);
	free(value);
	return err;
}

/* ---- dates ------------------------------------------------------------------------------ */

/* What the series says of a date: the sessions from there on over those before. */
struct date {
	struct judged judged;
	struct interval ratio;
	double level;
	double squares; /* of the logarithms, that the two groups' means explain */
	bool could;	/* sessions that all agree would decide it, after the correction */
};

static double mean_log(const double *value, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += log(value[i]);
	return sum / n;
}

static double explained(const double *value, int since, int n)
{
	double apart = mean_log(value + since, n - since) - mean_log(value, since);

	return apart * apart * since * (n - since) / n;
}

static void judge_date(struct date *d, const double *value, int since, int n, double margin,
		       int dates)
{
	const struct point_pair p = { .b = value + since, .a = value };
	struct contrast c;

	contrast_init(&c, n - since, since, false, 1);
	d->judged = contrast_judge(&c, &p, margin, 0);
	d->squares = explained(value, since, n);
	d->level = c.level;
	d->could = contrast_least_p(&c) * dates <= JUDGE_LEVEL;
	if (contrast_ratio(&d->ratio, &c, &p))
		d->ratio = interval_unknown(n);
	contrast_release(&c);
}

static bool is_found(const struct date *d)
{
	return d->judged.verdict == VERDICT_SLOWER || d->judged.verdict == VERDICT_FASTER;
}

/* Of those found the one that explains most: where a step most likely is. -1: none is found. */
static int clearest(const struct date *date, int n)
{
	int best = -1;

	for (int i = 0; i < n; i++)
		if (is_found(&date[i]) && (best < 0 || date[i].squares > date[best].squares))
			best = i;
	return best;
}

/* The median distance of sessions from the median of their group, as a share of it. */
static double scatter_of(const double *value, int since, int n)
{
	double *apart = calloc((size_t)n + 1, sizeof(*apart)), median;
	double *copy = calloc((size_t)n + 1, sizeof(*copy));

	CHECK(apart && copy, "memory of %d values", n);
	for (int from = 0; from < n; from = from < since ? since : n) {
		int to = from < since ? since : n;

		memcpy(copy, value + from, (size_t)(to - from) * sizeof(*copy));
		median = median_of(copy, to - from);
		for (int i = from; i < to; i++)
			apart[i] = fabs(value[i] / median - 1);
	}
	median = median_of(apart, n);
	free(apart);
	free(copy);
	return median;
}

/* Makes date[i] of the session HISTORY_LEAST + i. */
static void judge_dates(struct history *h, const double *value, struct date *date)
{
	struct judged **all = calloc((size_t)h->dates + 1, sizeof(*all));

	CHECK(all, "memory of %d dates", h->dates);
	for (int i = 0; i < h->dates; i++) {
		judge_date(&date[i], value, HISTORY_LEAST + i, h->n, h->options.margin, h->dates);
		h->enough |= date[i].could;
		all[i] = &date[i].judged;
	}
	judge(all, h->dates, p_adjust_holm, JUDGE_LEVEL);
	free(all);
}

void history_judge(struct history *h)
{
	struct date *date;
	double *value = calloc((size_t)h->n + 1, sizeof(*value));
	int best;

	h->dates = h->n > 2 * HISTORY_LEAST ? h->n - 2 * HISTORY_LEAST + 1 : 0;
	date = calloc((size_t)h->dates + 1, sizeof(*date));
	CHECK(value && date, "memory of %d sessions", h->n);
	for (int i = 0; i < h->n; i++)
		value[i] = h->of[i].value;
	judge_dates(h, value, date);
	best = clearest(date, h->dates);
	h->since = best < 0 ? 0 : HISTORY_LEAST + best;
	if (h->since) {
		h->judged = date[best].judged;
		h->ratio = date[best].ratio;
		h->level = date[best].level;
	}
	h->scatter = scatter_of(value, h->since, h->n);
	free(value);
	free(date);
}

enum exit_code history_exit_code(const struct history *h)
{
	if (h->since)
		return h->judged.verdict == VERDICT_SLOWER ? RIFT_CHECK_FAILED : RIFT_OK;
	return h->enough ? RIFT_OK : RIFT_FAILED_POINTS;
}
