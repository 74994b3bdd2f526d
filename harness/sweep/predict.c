/* predict.c - how long points, processes and a session will take. */
#include "harness/sweep/predict.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/sweep/visit.h"

/* Two canaries, waited for, and what the harness itself does around a visit. */
static const double visit_extra_ns = 0.6e6;
/* Calibration; and opening a device where no probe has told. */
static const double calibrate_ns = 120e6, start_unknown_ns = 500e6;
static const double unknown_block_ns = 10e6;

static double known(double ns, double otherwise)
{
	return isfinite(ns) ? ns : otherwise;
}

void predict_blocks(struct plan *p)
{
	for (int i = 0; i < p->n_points; i++) {
		const struct config *c = &p->config[p->point[i].config];

		p->point[i].block_ns = c->ends_ns + (double)p->point[i].depth * c->step_ns;
	}
}

double predict_visit_ns(const struct plan *p, int point)
{
	const struct plan_point *at = &p->point[point];
	double block_ns = known(at->block_ns, unknown_block_ns);
	double gap_ns = known(p->config[at->config].gap_ns, 0);
	double blocks = visit_blocks(&p->design, block_ns) + (block_ns < 1e6);

	return blocks * (block_ns + gap_ns) + visit_extra_ns;
}

double predict_start_ns(const struct plan *p)
{
	const struct design *d = &p->design;
	double ns = known(p->start_ns, start_unknown_ns) + calibrate_ns;

	/* steady clocks are met at once or, on a shared machine, never */
	ns += (double)(d->warmup_min_ns + d->warmup_max_ns) / 2;
	for (int i = 0; i < p->n_configs; i++)
		ns += known(p->config[i].setup_ns, 0);
	for (int i = 0; i < p->n_points; i++)
		ns += known(p->point[i].block_ns, unknown_block_ns);
	return ns;
}

double predict_process_ns(const struct plan *p)
{
	double ns = 0;

	for (int i = 0; i < p->n_points; i++)
		ns += predict_visit_ns(p, i);
	return predict_start_ns(p) + p->design.rounds * ns;
}

double predict_processes_ns(const struct plan *p, int sides, int processes)
{
	const struct design *d = &p->design;
	double pause_ns = (double)(d->pause_min_ns + d->pause_max_ns) / 2;

	return sides * processes * (predict_process_ns(p) + pause_ns);
}

double predict_session_ns(const struct plan *p, int sides)
{
	return predict_processes_ns(p, sides, p->design.processes);
}

static bool is_too_long(const struct plan *p, int i, void *arg)
{
	const struct plan_point *at = &p->point[i];
	bool size_given = p->config[at->config].size_given;

	(void)arg;
	if ((size_given && p->depth_given) || at->block_ns <= BLOCK_LONGEST_NS)
		return false;
	return !(size_given && at->depth == 1);
}

int predict_drop_long(struct plan *p)
{
	return plan_drop(p, is_too_long, NULL);
}

/* ---- the quick design ------------------------------------------------------------------- */

struct place {
	double corner, visit_ns;
	int point;
};

/* The outermost first, and among equals the longest. */
static int by_corner(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->corner != y->corner)
		return x->corner < y->corner ? 1 : -1;
	if (x->visit_ns != y->visit_ns)
		return x->visit_ns < y->visit_ns ? 1 : -1;
	return x->point - y->point;
}

static bool is_chosen(const struct plan *p, int point, void *arg)
{
	const bool *chosen = arg;

	(void)p;
	return chosen[point];
}

int predict_drop_corners(struct plan *p, int sides, double limit_ns)
{
	size_t n = (size_t)p->n_points;
	struct place *place = calloc(n + 1, sizeof(*place));
	bool *chosen = calloc(n + 1, sizeof(*chosen));
	double ns = predict_session_ns(p, sides);
	int dropped;

	CHECK(place && chosen, "memory of %zu points", n);
	for (int i = 0; i < p->n_points; i++)
		place[i] = (struct place){ p->point[i].corner, predict_visit_ns(p, i), i };
	qsort(place, n, sizeof(*place), by_corner);
	for (size_t i = 0; i + 1 < n && !(ns < limit_ns); i++) {
		double block_ns = known(p->point[place[i].point].block_ns, unknown_block_ns);

		chosen[place[i].point] = true;
		ns -= sides * p->design.processes *
		      (p->design.rounds * place[i].visit_ns + block_ns);
	}
	dropped = plan_drop(p, is_chosen, chosen);
	free(place);
	free(chosen);
	return dropped;
}
