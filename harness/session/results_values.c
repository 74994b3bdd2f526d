/* results.c - what the processes of a session say of its points. */
#include "harness/session/results.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/sorted.h"

void results_init(struct results *r, const struct journal *j, int processes)
{
	*r = (struct results){ .j = j, .processes = processes };
	r->draws = calloc(BOOTSTRAP_DRAWS, sizeof(*r->draws));
	CHECK(r->draws, "memory of draws");
	for (int side = 0; side < j->sides; side++) {
		r->value[side] = calloc((size_t)processes, sizeof(double));
		CHECK(r->value[side], "memory of %d values", processes);
		CHECK(!resamples_init(&r->resamples[side], processes, j->plan.design.seed,
				      journal_draw_group(j, side)),
		      "%d processes", processes);
	}
}

void results_release(struct results *r)
{
	for (int side = 0; side < 2; side++) {
		resamples_release(&r->resamples[side]);
		free(r->value[side]);
	}
	free(r->draws);
	*r = (struct results){ 0 };
}

int results_values(const struct results *r, int side, int point, double *value)
{
	const struct journal *j = r->j;
	int n = 0;

	for (int i = 0; i < r->processes; i++) {
		size_t slot = (size_t)(side * j->plan.design.processes + i);
		size_t at = slot * (size_t)j->plan.n_points + (size_t)point;

		if (j->status[at] == POINT_OK && isfinite(j->total_ns[at]))
			value[n++] = j->total_ns[at] / (double)j->plan.point[point].depth;
	}
	return n;
}

/* Into value[side]. */
static int take_values(const struct results *r, int side, int point)
{
	return results_values(r, side, point, r->value[side]);
}

int results_count(const struct results *r, int side, int point)
{
	return take_values(r, side, point);
}

struct interval results_interval(const struct results *r, int side, int point)
{
	int n = take_values(r, side, point);
	struct interval c;

	if (n == r->processes &&
	    !bootstrap_median(&c, &r->resamples[side], r->value[side], r->draws))
		return c;
	c = interval_unknown(n);
	c.value = median_of(r->value[side], n);
	return c;
}

struct modality results_modality(const struct results *r, int side, int point)
{
	int n = take_values(r, side, point);
	struct modality m;

	if (modality_of(&m, r->value[side], n))
		m = (struct modality){ false, { { NAN, 1 }, { NAN, 0 } } };
	return m;
}
