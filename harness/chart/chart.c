/* chart.c - what one or two platforms say of one workload, and how charts name them. */
#include "harness/chart/chart.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/text.h"
#include "harness/chart/words.h"
#include "harness/compare/compare.h"
#include "harness/measure/run.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"
#include "harness/stats/decide.h"

/* ---- what one or two platforms say of one workload -------------------------------------- */

/* Leaves a title space for its finding. */
enum { SUBJECT_CHARACTERS = 40 };

const struct param *chart_over(const struct workload *w, const char *name)
{
	for (const struct param *row = w->params; name && row->name; row++)
		if (!strcmp(row->name, name) &&
		    (row->kind == PARAM_INT || row->kind == PARAM_SIZE || row->kind == PARAM_REAL))
			return row;
	return NULL;
}

/* ---- two platforms ---------------------------------------------------------------------- */

static void index_points(struct chart_pair *p)
{
	const struct comparison *c = &p->comparison;
	size_t points = (size_t)p->side[PAIR_A].view.plan.n_points;

	p->of_a = calloc(points + 1, sizeof(*p->of_a));
	CHECK(p->of_a, "memory of %zu points", points);
	for (int i = 0; i < c->pairs.n; i++)
		p->of_a[c->pairs.pair[i].at[PAIR_A]] = &c->point[i];
}

/* Other devices and wait policies are remarked on, not refused. */
int chart_pair_init(struct chart_pair *out, const struct chart_side side[CHART_SIDES])
{
	bool separate = !session_same(side[0].journal, side[1].journal);
	struct compare_options o = compare_options_usual(compare_not_given, separate);

	o.force = true;
	for (int k = 0; k < CHART_SIDES; k++)
		side_init(&out->side[k], side[k].journal, side[k].journal->path, side[k].side,
			  HALF_BOTH);
	if (compare_by_points(&out->comparison, &out->side[0], &out->side[1], &o))
		return -EXDEV;
	index_points(out);
	return 0;
}

void chart_pair_release(struct chart_pair *p)
{
	compare_release(&p->comparison);
	for (int k = 0; k < CHART_SIDES; k++)
		side_release(&p->side[k]);
	free(p->of_a);
	*p = (struct chart_pair){ 0 };
}

/* ---- a workload ------------------------------------------------------------------------- */

/* Both sides of one session whose processes ran in pairs. */
static bool are_pairs(const struct chart_set *s)
{
	const struct journal *a = s->side[0].journal;

	return s->sides == CHART_SIDES && a->plan.design.pairs &&
	       session_same(a, s->side[1].journal) && s->grid[0].processes == s->grid[1].processes;
}

/* The side's grid has to be made before. */
static void begin_side(struct chart_set *s, int i, bool fitted)
{
	const struct chart_side *side = &s->side[i];
	uint32_t group = are_pairs(s) ? 0 : (uint32_t)i;

	/* the seed of rift compare */
	CHECK(!resamples_init(&s->resamples[i], s->grid[i].processes,
			      s->side[0].journal->plan.design.seed, group),
	      "%d processes", s->grid[i].processes);
	if (!fitted)
		return;
	progress("fitting %s%s%s", s->grid[i].workload->name, *side->letter ? ", platform " : "",
		 side->letter);
	/* without a fit the charts have no fitted lines; it has said why */
	s->fitted[i] = !fit_make(&s->fit[i], &s->grid[i], group);
	progress_clear();
	if (!s->fitted[i])
		fit_release(&s->fit[i]);
}

static void begin_set(struct chart_set *s, const struct chart_side *side, int sides)
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
		   const struct chart_pair *pair, const struct workload *w)
{
	const struct grid *g = &out->grid[0];
	int err = 0;

	begin_set(out, side, sides);
	if (pair) {
		out->pair = pair;
		out->margin = pair->comparison.options.margin;
		out->two_sessions = pair->comparison.contrast.apart > 1;
	}
	for (int i = 0; i < sides && !err; i++) {
		err = grid_make_over(&out->grid[i], side[i].journal, side[i].side, w->name,
				     chart_over(w, side[i].over));
		if (!err)
			begin_side(out, i, !side[i].over); /* the model is of sizes */
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

	begin_set(out, side, 1);
	err = grid_make_like(&out->grid[0], side->journal, side->side, c);
	if (err)
		return err;
	/* elsewhere K is measured, and a fit says no more of what is ideal */
	begin_side(out, 0, out->grid[0].nominal);
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

static struct interval scale_interval(struct interval c, double factor)
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
	return scale_interval(chart_total(s, side, p), 1 / p->batch.depth);
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
	return scale_interval(chart_total(s, side, p), 1 / ideal_ns(s, side, p));
}

/* NULL: B lacks it, or has no good result of every process. */
static const struct compared_point *find_compared(const struct chart_set *s,
						  const struct grid_point *a)
{
	return chart_partner(s, a) ? s->pair->of_a[a->point] : NULL;
}

struct interval chart_ratio(const struct chart_set *s, const struct grid_point *a)
{
	const struct compared_point *p = find_compared(s, a);

	return p ? p->ratio : interval_unknown(0);
}

const struct judged *chart_judged(const struct chart_set *s, const struct grid_point *a)
{
	const struct compared_point *p = find_compared(s, a);

	return p ? &p->judged : NULL;
}

struct interval chart_mean_ratio(const struct chart_set *s, const struct point_pair *pair,
				 int points)
{
	const struct contrast *c = &s->pair->comparison.contrast;
	double *b = calloc((size_t)c->nb, sizeof(*b)), *a = calloc((size_t)c->na, sizeof(*a));
	struct interval mean;

	CHECK(a && b, "memory of %d and %d processes", c->na, c->nb);
	contrast_means(c, pair, points, b, a);
	if (contrast_ratio(&mean, c, &(struct point_pair){ .b = b, .a = a }))
		mean = interval_unknown(0);
	free(a);
	free(b);
	return mean;
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
	return s->kernel_ns > 0 && (g->nominal || s->small >= 0);
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

/* ---- a platform as charts name it ------------------------------------------------------- */

/* What fits into a line of small print, 900 pixels wide, in characters. */
enum { MADE_CHARACTERS = 132, COMMAND_CHARACTERS = 60 };

static const char *get_text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* "VM with passthrough (kvm, docker)": what the user calls it, and what was found. */
static void platform_text(const struct chart_side *s, const json_t *header, char *out, size_t size)
{
	static const char *const layers[] = { "hypervisor", "wsl", "container", "sandbox", "gpu" };
	const json_t *virt = json_object_get(header, "virt");
	const char *declared = get_text(virt, "declared_platform");
	const char *command = get_text(header, "command");
	char found[128] = "", under[LAYERS_TEXT];
	size_t used = 0;

	if (!declared && !s->side && *s->journal->plan.declared)
		declared = s->journal->plan.declared;
	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers) && used < sizeof(found); i++)
		if (get_text(virt, layers[i]))
			used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%s",
						 used ? ", " : "", get_text(virt, layers[i]));
	if (!used)
		snprintf(found, sizeof(found), "no virtualization found");
	environment_layers(header, under);
	if (*under) {
		words_cut(under, sizeof(under), COMMAND_CHARACTERS);
		snprintf(out, size, "%s (%s)", under, found);
	} else if (command) {
		char shown[256];

		snprintf(shown, sizeof(shown), "%s", command);
		words_cut(shown, sizeof(shown), COMMAND_CHARACTERS);
		snprintf(out, size, "behind '%s' (%s)", shown, found);
	} else if (declared)
		snprintf(out, size, "%s (%s)", declared, found);
	else
		snprintf(out, size, "%s", found);
}

void chart_side_init(struct chart_side *s, const struct journal *j, int side, const char *letter)
{
	const json_t *header = j->header[side], *gpu = json_object_get(header, "gpu");
	const char *device = get_text(gpu, "name"), *driver = get_text(gpu, "driver_version");
	const char *start = get_text(header, "start_utc");
	char platform[512];

	*s = (struct chart_side){ .journal = j, .side = side, .letter = letter };
	s->is_gpu = !session_is_cpu(j, side);
	snprintf(s->device, sizeof(s->device), "%s", device ? device : "unknown device");
	platform_text(s, header, platform, sizeof(platform));
	snprintf(s->made, sizeof(s->made), "%s%s%s%s%s; %s; n = %s, %.10s%s", letter,
		 *letter ? ": " : "", s->device, driver ? ", driver " : "", driver ? driver : "",
		 platform, counted(journal_processes(j), "process").s, start ? start : "",
		 s->is_gpu ? "" : "; not GPU figures");
	words_cut(s->made, sizeof(s->made), MADE_CHARACTERS);
}

/* ---- all sets of parameters of a session ------------------------------------------------ */

static bool is_same(const struct config *x, const struct config *y)
{
	return x->workload == y->workload && grid_alike(x, y, workload_axis(x->workload));
}

static bool is_there(const struct variants *v, const struct config *c)
{
	for (int i = 0; i < v->sets; i++)
		if (is_same(v->set[i]->grid[0].base, c))
			return true;
	return false;
}

static bool is_of_these(const struct chart_set *given, int sets, const struct config *c)
{
	for (int i = 0; i < sets; i++)
		if (given[i].grid[0].workload == c->workload)
			return true;
	return false;
}

int variants_init(struct variants *v, const struct chart_set *given, int sets)
{
	const struct plan *p = &given->side->journal->plan;
	size_t capacity = (size_t)(p->n_configs + sets);
	int err = 0;

	/* a set stays where it is: its fit points into it */
	*v = (struct variants){ .set = calloc(capacity + 1, sizeof(*v->set)),
				.other = calloc(capacity + 1, sizeof(*v->other)) };
	CHECK(v->set && v->other, "memory of %zu sets", capacity);
	for (; v->sets < sets; v->sets++)
		v->set[v->sets] = &given[v->sets];
	for (int i = 0; i < p->n_configs && !err; i++) {
		const struct config *c = &p->config[i];

		if (!is_of_these(given, sets, c) || is_there(v, c))
			continue;
		err = chart_set_init_like(&v->other[v->others], given->side, c);
		v->set[v->sets++] = &v->other[v->others++];
	}
	return err;
}

void variants_release(struct variants *v)
{
	for (int i = 0; i < v->others; i++)
		chart_set_release(&v->other[i]);
	free(v->other);
	free(v->set);
	*v = (struct variants){ 0 };
}
