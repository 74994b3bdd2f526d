/* set.c - what one or two platforms say of one workload. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/chart/words.h"
#include "harness/compare/between.h"
#include "harness/decide.h"
#include "harness/progress.h"

/* Leaves a title room for its finding. */
enum { SUBJECT_CHARACTERS = 40 };

const struct param *chart_over(const struct workload *w, const char *name)
{
	for (const struct param *row = w->params; name && row->name; row++)
		if (!strcmp(row->name, name) &&
		    (row->kind == PARAM_INT || row->kind == PARAM_SIZE || row->kind == PARAM_REAL))
			return row;
	return NULL;
}

/* Of a side whose grid is made. */
static void side_init(struct chart_set *s, int i, bool fitted)
{
	const struct chart_side *side = &s->side[i];

	/* the seed of rift compare */
	CHECK(!resamples_init(&s->resamples[i], s->grid[i].processes,
			      s->side[0].journal->plan.design.seed, (uint32_t)i),
	      "%d processes", s->grid[i].processes);
	if (!fitted)
		return;
	progress("fitting %s%s%s", s->grid[i].workload->name, *side->letter ? ", platform " : "",
		 side->letter);
	/* without a fit the charts have no fitted lines; it has said why */
	s->fitted[i] = !fit_make(&s->fit[i], &s->grid[i], (uint32_t)i);
	progress_clear();
	if (!s->fitted[i])
		fit_release(&s->fit[i]);
}

static void begin(struct chart_set *s, const struct chart_side *side, int sides)
{
	*s = (struct chart_set){ .side = side, .sides = sides, .margin = MARGIN_DEFAULT };
	s->draws = calloc(BOOTSTRAP_DRAWS, sizeof(*s->draws));
	CHECK(s->draws, "memory of draws");
}

static void name_subject(struct chart_set *s)
{
	const struct grid *g = &s->grid[0];

	snprintf(s->subject, sizeof(s->subject), "%s%s%s", g->workload->name, *g->others ? " " : "",
		 g->others);
	words_cut(s->subject, sizeof(s->subject), SUBJECT_CHARACTERS);
}

int chart_set_init(struct chart_set *out, const struct chart_side *side, int sides,
		   const struct workload *w)
{
	const struct grid *g = &out->grid[0];
	int err = 0;

	begin(out, side, sides);
	if (sides > 1 && side[0].journal != side[1].journal) {
		out->margin = BETWEEN_MARGIN_DEFAULT;
		out->between = between_factors(BETWEEN_DEFAULT, side[0].journal->plan.design.seed);
	}
	for (int i = 0; i < sides && !err; i++) {
		err = grid_make_over(&out->grid[i], side[i].journal, side[i].side, w->name,
				     chart_over(w, side[i].over));
		if (!err)
			side_init(out, i, !side[i].over); /* the model is of sizes */
	}
	if (err)
		return err;
	name_subject(out);
	for (int i = 0; sides > 1 && i < g->n_points; i++)
		out->common += chart_partner(out, &g->point[i]) != NULL;
	return 0;
}

int chart_set_init_like(struct chart_set *out, const struct chart_side *side,
			const struct config *c)
{
	int err;

	begin(out, side, 1);
	err = grid_make_like(&out->grid[0], side->journal, side->side, c);
	if (err)
		return err;
	/* elsewhere K is measured, and a fit says no more of what is ideal */
	side_init(out, 0, out->grid[0].nominal);
	name_subject(out);
	return 0;
}

void chart_set_release(struct chart_set *s)
{
	for (int i = 0; i < CHART_SIDES; i++) {
		if (s->fitted[i])
			fit_release(&s->fit[i]);
		grid_release(&s->grid[i]);
		resamples_release(&s->resamples[i]);
	}
	free(s->between);
	free(s->draws);
	*s = (struct chart_set){ 0 };
}

/* ---- points ----------------------------------------------------------------------------- */

static const char *key_of(const struct chart_set *s, int side, const struct grid_point *p)
{
	return s->side[side].journal->plan.point[p->point].key;
}

const struct grid_point *chart_partner(const struct chart_set *s, const struct grid_point *a)
{
	const struct grid *b = &s->grid[1];

	for (int i = 0; s->sides > 1 && i < b->n_points; i++)
		if (!strcmp(key_of(s, 1, &b->point[i]), key_of(s, 0, a)))
			return &b->point[i];
	return NULL;
}

static struct interval scaled(struct interval c, double factor)
{
	c.value *= factor;
	c.lo *= factor;
	c.hi *= factor;
	return c;
}

struct interval chart_total(const struct chart_set *s, int side, const struct grid_point *p)
{
	struct interval c;

	if (bootstrap_median(&c, &s->resamples[side], p->total, s->draws))
		c = interval_unknown(0);
	return c;
}

struct interval chart_step(const struct chart_set *s, int side, const struct grid_point *p)
{
	return scaled(chart_total(s, side, p), 1 / p->batch.depth);
}

/* Without a fit the clock is what the device says it is. */
static double ideal_ns(const struct chart_set *s, int side, const struct grid_point *p)
{
	if (s->fitted[side])
		return model_ideal_ns(&s->fit[side].model, &p->batch);
	return p->batch.depth * p->batch.launches * p->batch.kernel_ns;
}

struct interval chart_over_ideal(const struct chart_set *s, int side, const struct grid_point *p)
{
	return scaled(chart_total(s, side, p), 1 / ideal_ns(s, side, p));
}

/* What separate sessions differ by widens the interval. */
static struct interval widened(const struct chart_set *s, struct interval c)
{
	if (!s->between)
		return c;
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		s->draws[d] *= s->between[d];
	return interval_of_draws(&c, c.value, c.n, s->draws) ? interval_unknown(0) : c;
}

struct interval chart_ratio(const struct chart_set *s, const struct grid_point *a)
{
	const struct groups g = { .b = &s->resamples[1], .a = &s->resamples[0] };
	const struct grid_point *b = chart_partner(s, a);
	struct point_pair pair = { .a = a->total };
	struct interval c;

	if (!b)
		return interval_unknown(0);
	pair.b = b->total;
	if (bootstrap_ratio(&c, &g, &pair, s->draws))
		return interval_unknown(0);
	return widened(s, c);
}

struct interval chart_mean_ratio(const struct chart_set *s, const struct point_pair *pair,
				 int points)
{
	const struct groups g = { .b = &s->resamples[1], .a = &s->resamples[0] };
	struct interval c;

	if (bootstrap_geomean(&c, &g, pair, points, s->draws))
		return interval_unknown(0);
	return widened(s, c);
}

bool chart_is_even(const struct interval *ratio, double margin)
{
	enum ratio_verdict v = verdict_of(ratio, margin);

	return ratio->known && v != VERDICT_SLOWER && v != VERDICT_FASTER;
}

double chart_crossing(double share, double x, double at_x, double y, double at_y)
{
	const double least = 1e-3; /* noise may leave less, or less than nothing */
	double a = log(fmax(at_x, least)), b = log(fmax(at_y, least));

	return x * pow(y / x, (a - log(share)) / (a - b));
}

bool chart_has_ideal(const struct grid *g, int size)
{
	const struct grid_size *s = &g->size[size];

	/* of one depth alone K is all of T, and overhead nothing by definition */
	return s->kernel_ns > 0 && (g->nominal || s->shallow >= 0);
}

int chart_size_on(const struct chart_set *s, int side, int size)
{
	const struct grid *g = &s->grid[side];

	for (int i = 0; i < g->n_sizes; i++)
		if (g->size[i].value == s->grid[0].size[size].value)
			return i;
	return -1;
}

bool chart_has_mode(const struct chart_set *s, int side, enum mode mode)
{
	const struct grid *g = &s->grid[side];

	for (int i = 0; i < g->n_points; i++)
		if (g->point[i].batch.mode == mode)
			return true;
	return false;
}
