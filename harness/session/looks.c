/* looks.c - are there enough processes? */
#include "harness/session/looks.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/session/stopping.h"
#include "harness/session/results.h"

int looks_next(const struct design *d, int processes)
{
	return goals_any(&d->goals) ? goals_next_look(processes, d->processes)
				    : next_look(processes);
}

bool looks_due(const struct design *d, int processes)
{
	return d->sequential && looks_next(d, processes - 1) == processes;
}

/* NaN, not known, is wider than anything. */
static bool is_wider(const struct interval *a, const struct interval *b)
{
	double width = interval_half_width(a);

	return isnan(width) || width > interval_half_width(b);
}

/* The wider one of the sides; false: a process lacks the point. */
static bool widest(const struct results *r, int point, struct interval *out)
{
	for (int side = 0; side < r->j->sides; side++) {
		struct interval c = results_interval(r, side, point);

		if (c.n < r->processes)
			return false;
		if (!side || is_wider(&c, out))
			*out = c;
	}
	return true;
}

static json_t *look_json(const struct look *l, const struct journal *j, int processes,
			 const int *of, const bool *wide)
{
	json_t *keys = json_array();

	for (int i = 0; i < l->points; i++)
		if (wide[i])
			json_array_append_new(keys, json_string(j->plan.point[of[i]].key));
	return json_pack("{s:i, s:i, s:i, s:f, s:b, s:i, s:o}", "processes", processes, "points",
			 l->points, "wide", l->wide, "half_width_max",
			 j->plan.design.half_width_max, "stop", l->stop, "next", l->next,
			 "wide_keys", keys);
}

static struct look look_at_points(const struct journal *j, int processes, json_t **json)
{
	size_t points = (size_t)j->plan.n_points;
	struct interval *interval = calloc(points + 1, sizeof(*interval));
	bool *wide = calloc(points + 1, sizeof(*wide));
	int *of = calloc(points + 1, sizeof(*of)), n = 0;
	struct results r;
	struct look look;

	CHECK(interval && wide && of, "memory of %zu points", points);
	results_init(&r, j, processes);
	for (int i = 0; i < j->plan.n_points; i++)
		if (widest(&r, i, &interval[n]))
			of[n++] = i;
	results_release(&r);
	if (look_at(&look, processes, interval, n, j->plan.design.half_width_max, wide))
		look = (struct look){ .stop = true };
	if (json)
		*json = look_json(&look, j, processes, of, wide);
	free(interval);
	free(wide);
	free(of);
	return look;
}

struct look looks_take(const struct journal *j, int processes, json_t **json)
{
	if (goals_any(&j->plan.design.goals))
		return goals_look(j, processes, json);
	return look_at_points(j, processes, json);
}
