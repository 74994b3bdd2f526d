/* validate_work.c - does what launches cost predict real workloads? */
#include "harness/model/validate_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/stats/sorted.h"

static struct errors no_errors(void)
{
	return (struct errors){ .worst_point = -1, .median = NAN, .p95 = NAN, .worst = NAN };
}

/* Sorts the n errors. */
static void take_quantiles(struct errors *e, double *size, int n)
{
	*e = (struct errors){ .worst_point = e->worst_point, .n = n };
	sort_doubles(size, n);
	e->median = quantile_of_sorted(size, n, 0.5);
	e->p95 = quantile_of_sorted(size, n, 0.95);
	e->worst = quantile_of_sorted(size, n, 1);
}

static double error_of(const struct priced *p)
{
	return fabs(p->total_ns.value / p->b_ns - 1);
}

/* mode MODE_COUNT: of all. size gets the errors, sorted. */
static struct errors errors_of(const struct prices *p, const struct grid *g, int mode, bool covered,
			       double *size)
{
	struct errors e = no_errors();
	double worst = -1;
	int n = 0;

	for (int i = 0; i < p->n; i++) {
		const struct priced *at = &p->priced[i];

		if (!at->known || at->seen || at->covered != covered ||
		    (mode != MODE_COUNT && (int)g->point[at->point].batch.mode != mode))
			continue;
		size[n++] = error_of(at);
		if (error_of(at) > worst) {
			worst = error_of(at);
			e.worst_point = at->point;
		}
	}
	if (n)
		take_quantiles(&e, size, n);
	return e;
}

void validate_work(struct work_validation *out, const struct grid *work, const struct fit *launches)
{
	const struct price_request r = {
		.work = work, .a = launches, .b = launches, .measured = work
	};
	struct prices p;

	*out = (struct work_validation){ .work = work };
	out->error = calloc((size_t)work->n_points + 1, sizeof(*out->error));
	CHECK(out->error, "memory of %d errors", work->n_points);
	price_make(&p, &r);
	for (int mode = 0; mode < MODE_COUNT; mode++)
		out->mode[mode] = errors_of(&p, work, mode, true, out->error);
	out->outside = errors_of(&p, work, MODE_COUNT, false, out->error);
	out->all = errors_of(&p, work, MODE_COUNT, true, out->error); /* last: error[] is of it */
	for (int i = 0; i < p.n; i++) {
		out->unknown += !p.priced[i].known;
		out->seen += p.priced[i].known && p.priced[i].seen;
	}
	out->accepted = out->all.median <= ERROR_MEDIAN_MAX && out->all.p95 <= ERROR_P95_MAX;
	prices_release(&p);
}

struct errors validate_all_work(const struct work_validation *v, int n)
{
	struct errors e = no_errors();
	double *all;
	int count = 0;

	for (int i = 0; i < n; i++)
		count += v[i].all.n;
	if (!count)
		return e;
	all = calloc((size_t)count, sizeof(*all));
	CHECK(all, "memory of %d errors", count);
	count = 0;
	for (int i = 0; i < n; i++) {
		memcpy(all + count, v[i].error, (size_t)v[i].all.n * sizeof(*all));
		count += v[i].all.n;
	}
	take_quantiles(&e, all, count);
	free(all);
	return e;
}

void work_validation_release(struct work_validation *v)
{
	free(v->error);
	*v = (struct work_validation){ 0 };
}
