/* sensitivity.c - which runs there are, in which order; what follows from their figures. */
#include "harness/probe/sensitivity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/plural.h"
#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "harness/base/text.h"
#include "harness/platform/enter.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "harness/measure/wait.h"
#include "harness/probe/sensitivity_costs.h"
#include "harness/stats/stats.h"
#include "layers/layer.h"

const double frontier_ratios[FRONTIERS] = { 1.05, 1.25 };

/* ---- what is asked for -------------------------------------------------------------------- */

bool sensitivity_is_rate(const struct param *row)
{
	return !strcmp(row->unit, "GB/s") || !strcmp(row->unit, "Gbit/s");
}

double sensitivity_severity(const struct param *row, double value)
{
	if (!sensitivity_is_rate(row))
		return value;
	return value > 0 ? 1 / value : 0; /* 0: no limit */
}

int sensitivity_init(struct sensitivity *s, const struct sensitivity_request *r)
{
	const struct layer *l;
	const char *why;
	int err;

	*s = (struct sensitivity){ .request = r,
				   .workload = workload_find(r->words[0]),
				   .source = cost_source_find(r->layer) };
	CHECK(s->source, "%s: no layer with costs", r->layer);
	if (!s->workload)
		return -EINVAL;
	l = layer_find(s->source->layer);
	err = sensitivity_costs(s);
	why = layer_missing(l);
	if (!err && why)
		return complain(ENODEV, "layer %s: not available here: %s", l->name, why);
	return err;
}

static void release_cell(struct sensitivity_cell *c, int turns)
{
	for (int i = 0; i < turns && c->run; i++)
		run_process_release(&c->run[i]);
	free(c->run);
}

void sensitivity_release(struct sensitivity *s)
{
	for (int i = 0; i < s->cells; i++)
		release_cell(&s->cell[i], s->turns);
	run_process_release(&s->first);
	run_process_release(&s->under);
	free(s->cell);
	free(s->cost);
	*s = (struct sensitivity){ .n = 0 };
}

/* ---- a run -------------------------------------------------------------------------------- */

enum { OWN_WORDS = 16 };

struct words {
	const char **word;
	int n;
	char depth[24];
};

static void add(struct words *w, const char *option, const char *value)
{
	if (!value)
		return;
	w->word[w->n++] = option;
	w->word[w->n++] = value;
}

static void words_init(struct words *w, const char *const *given)
{
	int n = 0;

	while (given[n])
		n++;
	*w = (struct words){ .word = calloc((size_t)n + OWN_WORDS, sizeof(*w->word)) };
	CHECK(w->word, "memory of %d words", n);
	add(w, "rift", "run");
	for (int i = 0; i < n; i++)
		w->word[w->n++] = given[i];
	add(w, "--json", "--quiet");
}

/* What was chosen natively holds for all: a default depth may be another under a layer. */
static int run_one(const struct sensitivity *s, const char *layer, bool words,
		   struct run_process *out)
{
	const struct sensitivity_request *r = s->request;
	const struct step_figures *chosen = &s->first.step;
	bool has = chosen->depth > 0;
	struct words w;
	int err;

	words_init(&w, r->words);
	snprintf(w.depth, sizeof(w.depth), "%.0f", chosen->depth);
	add(&w, "--depth", has ? w.depth : r->depth);
	add(&w, "--mode", has ? mode_name(chosen->mode) : r->mode);
	add(&w, "--samples", r->blocks);
	add(&w, "--layer", *layer ? layer : NULL);
	err = run_process(out, (char *const *)w.word, words);
	free(w.word);
	return err;
}

/* ---- the plan ----------------------------------------------------------------------------- */

/* What depends on the time of a step: warm-up, blocks, and steps that are checked. */
static double stepping_s(const struct sensitivity *s, double ratio)
{
	enum { WARM_UP_BLOCKS = 3 };
	const struct step_figures *f = &s->first.step;
	double step_ns = f->step_ns * ratio, block_ns = step_ns * f->depth;
	double blocks = s->request->blocks ? (double)s->first.blocks
					   : (double)blocks_that_fit((int64_t)block_ns);
	double checked = (double)check_steps_for(0, (int64_t)f->depth, step_ns);

	return ((blocks + WARM_UP_BLOCKS) * block_ns + checked * step_ns) / 1e9;
}

/* ratio: predicted time over native; NAN: not known. */
static double run_s(const struct sensitivity *s, const char *layer, double ratio)
{
	double more_s = isfinite(ratio) ? stepping_s(s, ratio) - stepping_s(s, 1) : 0;

	return (*layer ? s->under.wall_s : s->first.wall_s) + fmax(0, more_s);
}

static int add_cell(struct sensitivity *s, const char *layer, double ratio)
{
	struct sensitivity_cell *c;

	for (int i = 0; i < s->cells; i++)
		if (!strcmp(s->cell[i].layer, layer))
			return i;
	s->cell = realloc(s->cell, (size_t)(s->cells + 1) * sizeof(*s->cell));
	CHECK(s->cell, "memory of %d cells", s->cells + 1);
	c = &s->cell[s->cells];
	*c = (struct sensitivity_cell){
		.predicted_s = run_s(s, layer, ratio), .step_ns = NAN, .lo_ns = NAN, .hi_ns = NAN
	};
	snprintf(c->layer, sizeof(c->layer), "%s", layer);
	return s->cells++;
}

/* Costs that add nothing are the same layer, which is measured once. */
static void plan_cost(struct sensitivity *s, struct sensitivity_cost *c)
{
	char layer[LAYER_TEXT];

	c->in_step = step_has_cost(&s->first.step, c->row->name);
	for (int i = 0; i < c->n && c->in_step; i++) {
		s->source->words(layer, s->layer, c->row, c->value[i]);
		c->cell[i] =
			add_cell(s, layer, step_predict(&s->first.step, c->row->name, c->value[i]));
	}
}

static double turn_s_of(const struct sensitivity *s)
{
	double sum_s = 0;

	for (int i = 0; i < s->cells; i++)
		sum_s += s->cell[i].predicted_s;
	return sum_s;
}

/* As many turns as were asked for, or as there is time for. */
static int plan_turns(struct sensitivity *s)
{
	double turn_s = turn_s_of(s), limit_s = s->request->limit_s;

	s->turns = s->request->processes;
	if (limit_s > 0 && turn_s * s->turns > limit_s)
		s->turns = (int)(limit_s / turn_s);
	if (!s->turns)
		return complain(EINVAL,
				"one process of each of %d values takes about %s, more than "
				"--time-limit: try fewer values or --samples",
				s->cells, text_time(turn_s * 1e9).s);
	for (int i = 0; i < s->cells; i++) {
		s->cell[i].run = calloc((size_t)s->turns, sizeof(*s->cell[i].run));
		CHECK(s->cell[i].run, "memory of %d runs", s->turns);
	}
	return 0;
}

/* A run that has refused has said why. */
static int judge_first(const struct sensitivity *s)
{
	const struct run_process *p = &s->first;
	bool ended = p->exit_code <= RIFT_INTERRUPTED;

	if (!ended)
		complain(EIO, "%s: the first run, a native one, ended with exit code %d",
			 s->workload->name, p->exit_code);
	if (p->exit_code == RIFT_CHECK_FAILED)
		complain(EIO, "%s: the first run, a native one, failed its check",
			 s->workload->name);
	if (p->exit_code)
		return ended ? p->exit_code : (int)RIFT_FAILED_POINTS;
	if (!(p->step.step_ns > 0))
		return complain(EINVAL, "%s: nothing is timed with these parameters",
				s->workload->name);
	return 0;
}

int sensitivity_plan_runs(struct sensitivity *s)
{
	add_cell(s, "", 1);
	for (int i = 0; i < s->n; i++)
		plan_cost(s, &s->cost[i]);
	return plan_turns(s);
}

/* What a layer refuses is said once, before all others are tried. */
static int run_under(struct sensitivity *s)
{
	const struct run_process *p = &s->under;
	const struct sensitivity_cost *c = &s->cost[0];
	char layer[LAYER_TEXT];
	int err;

	s->source->words(layer, s->layer, c->row, c->value[0]);
	progress("%s: a first run under %s", s->workload->name, layer);
	err = run_one(s, layer, false, &s->under);
	progress_clear();
	if (err || !p->exit_code)
		return err;
	complain(EIO, "%s under %s: %s", s->workload->name, layer, *p->why ? p->why : "it failed");
	return p->exit_code <= RIFT_INTERRUPTED ? p->exit_code : (int)RIFT_FAILED_POINTS;
}

int sensitivity_plan(struct sensitivity *s)
{
	int err;

	progress("%s: a first run, natively", s->workload->name);
	err = run_one(s, "", true, &s->first);
	progress_clear();
	if (!err)
		err = judge_first(s);
	if (!err)
		err = run_under(s);
	return err ? err : sensitivity_plan_runs(s);
}

double sensitivity_plan_s(const struct sensitivity *s)
{
	return turn_s_of(s) * s->turns;
}

/* ---- measuring ---------------------------------------------------------------------------- */

/* Fisher and Yates' shuffle: a drift of the machine is no cell's own. */
void sensitivity_order(int *order, int cells, int turn)
{
	for (int i = 0; i < cells; i++)
		order[i] = i;
	for (int i = cells - 1; i > 0; i--) {
		struct philox random = philox4x32((uint32_t)i, (uint32_t)turn, 0, 0, 1);
		int other = (int)(random.word[0] % (uint32_t)(i + 1)), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

static int run_turn(struct sensitivity *s, int turn)
{
	int *order = calloc((size_t)s->cells, sizeof(*order)), err = 0;

	CHECK(order, "memory of %d cells", s->cells);
	progress_part("%s: turn %d of %d: %s", s->workload->name, turn + 1, s->turns,
		      counted(s->cells, "process").s);
	sensitivity_order(order, s->cells, turn);
	for (int i = 0; i < s->cells && !err; i++) {
		struct sensitivity_cell *c = &s->cell[order[i]];

		progress("%s: run %d of %d: %s", s->workload->name, turn * s->cells + i + 1,
			 s->turns * s->cells, *c->layer ? c->layer : "native");
		err = run_one(s, c->layer, false, &c->run[turn]);
		c->run[turn].place = i;
	}
	free(order);
	return err;
}

int sensitivity_measure(struct sensitivity *s)
{
	int err = 0;

	for (int i = 0; i < s->turns && !err; i++)
		err = run_turn(s, i);
	progress_clear();
	if (!err)
		sensitivity_conclude(s);
	return err;
}

/* ---- what follows ------------------------------------------------------------------------- */

static void conclude_cell(struct sensitivity_cell *c, int turns)
{
	double *step = calloc((size_t)turns, sizeof(*step));

	CHECK(step, "memory of %d times", turns);
	c->failed = 0;
	for (int i = 0; i < turns; i++) {
		c->failed += c->run[i].exit_code != 0;
		step[i] = c->run[i].step.step_ns;
	}
	c->step_ns = c->lo_ns = c->hi_ns = NAN;
	if (!c->failed && all_finite(step, turns)) {
		c->step_ns = median_of(step, turns);
		c->lo_ns = step[0];
		c->hi_ns = step[turns - 1];
	}
	free(step);
}

/* The median over the native processes; NAN where one of them lacks the figure. */
static double median_figure(const struct sensitivity *s, size_t offset)
{
	double *value = calloc((size_t)s->turns, sizeof(*value)), median = NAN;

	CHECK(value, "memory of %d figures", s->turns);
	for (int i = 0; i < s->turns; i++)
		memcpy(&value[i], (const char *)&s->cell[0].run[i].step + offset, sizeof(*value));
	if (all_finite(value, s->turns))
		median = median_of(value, s->turns);
	free(value);
	return median;
}

static void conclude_native(struct sensitivity *s)
{
	s->native = s->first.step; /* counts are the same in all */
	s->native.step_ns = s->cell[0].step_ns;
	s->native.submit_ns = median_figure(s, offsetof(struct step_figures, submit_ns));
	s->native.kernel_ns = median_figure(s, offsetof(struct step_figures, kernel_ns));
	s->native.ends_ns = median_figure(s, offsetof(struct step_figures, ends_ns));
}

/* On the line between two values. */
static double crossing(const struct param *row, const double value[2], const double ratio[2],
		       double crossed)
{
	double from = sensitivity_severity(row, value[0]);
	double to = sensitivity_severity(row, value[1]);
	double at = from + (crossed - ratio[0]) / (ratio[1] - ratio[0]) * (to - from);

	return sensitivity_is_rate(row) ? 1 / at : at;
}

/* The last one before i that has a figure; -1: none. */
static int figure_before(const double *ratio, int i)
{
	do
		i--;
	while (i >= 0 && !isfinite(ratio[i]));
	return i;
}

/* From the worst on: costs that grow take no time away, so what lies above in between is noise. */
struct frontier frontier_find(const struct param *row, const double *value, const double *ratio,
			      int n, double crossed)
{
	int above = -1, i = figure_before(ratio, n);

	for (; i >= 0 && ratio[i] >= crossed; i = figure_before(ratio, i))
		above = i;
	if (above < 0 && i < 0)
		return (struct frontier){ FRONTIER_UNKNOWN, NAN };
	if (above < 0)
		return (struct frontier){ FRONTIER_BEYOND, value[i] };
	if (i < 0)
		return (struct frontier){ FRONTIER_BEFORE, value[above] };
	return (struct frontier){ FRONTIER_AT,
				  crossing(row, (double[]){ value[i], value[above] },
					   (double[]){ ratio[i], ratio[above] }, crossed) };
}

/* The model has a value for each cost, so its own crossing is found on many of them. */
static struct frontier predict_frontier(const struct sensitivity *s,
					const struct sensitivity_cost *c, double crossed)
{
	enum { POINTS = 2000 };
	double value[POINTS + 1], ratio[POINTS + 1];
	double worst = sensitivity_severity(c->row, c->value[c->n - 1]);

	for (int i = 0; i <= POINTS; i++) {
		/* closer to each other where costs are small */
		double severity = worst * pow((double)i / POINTS, 3);

		value[i] = sensitivity_is_rate(c->row) && severity > 0 ? 1 / severity : severity;
		ratio[i] = step_predict(&s->native, c->row->name, value[i]);
	}
	value[POINTS] = c->value[c->n - 1];
	return frontier_find(c->row, value, ratio, POINTS + 1, crossed);
}

/* What the layer itself takes left aside: it is in the mildest value, too. */
static struct frontier find_alone(const struct sensitivity_cost *c, double crossed)
{
	double ratio[SENSITIVITY_VALUES_MAX];

	for (int i = 0; i < c->n; i++)
		ratio[i] = c->ratio[i] / c->ratio[0];
	return frontier_find(c->row, c->value, ratio, c->n, crossed);
}

static void conclude_cost(struct sensitivity *s, struct sensitivity_cost *c)
{
	for (int i = 0; i < c->n && c->in_step; i++) {
		c->ratio[i] = s->cell[c->cell[i]].step_ns / s->cell[0].step_ns;
		c->predicted[i] = step_predict(&s->native, c->row->name, c->value[i]);
	}
	for (int i = 0; i < FRONTIERS && c->in_step; i++) {
		c->measured[i] =
			frontier_find(c->row, c->value, c->ratio, c->n, frontier_ratios[i]);
		c->model[i] = predict_frontier(s, c, frontier_ratios[i]);
		c->alone[i] = find_alone(c, frontier_ratios[i]);
	}
}

void sensitivity_conclude(struct sensitivity *s)
{
	for (int i = 0; i < s->cells; i++)
		conclude_cell(&s->cell[i], s->turns);
	conclude_native(s);
	for (int i = 0; i < s->n; i++)
		conclude_cost(s, &s->cost[i]);
}

enum exit_code sensitivity_exit_code(const struct sensitivity *s)
{
	enum exit_code code = RIFT_OK;

	for (int i = 0; i < s->cells; i++)
		for (int k = 0; k < s->turns; k++) {
			int one = s->cell[i].run[k].exit_code;

			if (one == RIFT_CHECK_FAILED)
				return RIFT_CHECK_FAILED;
			code = one ? RIFT_FAILED_POINTS : code;
		}
	return code;
}
