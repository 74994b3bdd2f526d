/*
 * rounds.c - one configuration set up, its points run once, then each of them once a round, in
 * random order; and all of it given back.
 */
#include "harness/session/rounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/philox.h"
#include "harness/base/json.h"
#include "harness/measure/contract.h"
#include "harness/measure/measure.h"
#include "harness/measure/estimate.h"
#include "harness/record/point_record.h"
#include "harness/session/calibrate.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

/* ---- set up and given back -------------------------------------------------------------- */

static int call_setup(void *instance)
{
	struct instance *s = instance;
	int err;

	s->event = sync_event(s->sync);
	err = workload_set_up(s->workload, s->opts, s->state);
	return err ? err : s->workload->cost(s->opts, s->state, &s->cost);
}

int worker_set_up(struct worker *w, int config, struct refusal *r)
{
	const struct config *c = &w->plan.config[config];
	struct instance *s = &w->instance[config];
	int err;

	worker_send(w, json_pack("{s:s, s:i}", "record", "setup", "config", config));
	*s = (struct instance){ .workload = c->workload,
				.opts = c->params.opts,
				.stream = w->stream,
				.sync = w->sync,
				.state = calloc(1, c->workload->state_size + 1) };
	CHECK(s->state, "%zu bytes of state", c->workload->state_size);
	err = refusal_catch(call_setup, s, r);
	/* a step that only copies still fills a graph */
	s->launches = s->cost.launches >= 1 ? (int64_t)ceil(s->cost.launches) : 1;
	if (err)
		worker_tear_down(w, config);
	return err;
}

static void give_back(void *instance)
{
	struct instance *s = instance;

	s->workload->teardown(s->state);
	if (s->event)
		CUDA(cudaEventDestroy(s->event));
}

void worker_tear_down(struct worker *w, int config)
{
	struct instance *s = &w->instance[config];

	if (!s->state)
		return;
	/* a failed hook may have left work in the stream that uses what is freed here */
	refusal_settle(w->stream);
	refusal_ignore(give_back, s);
	free(s->state);
	s->state = NULL;
}

static bool is_wanted(const struct worker *w, int point)
{
	int rounds = w->plan.design.rounds;

	if (w->skip[point])
		return false;
	for (int r = 0; r < rounds; r++)
		if (!w->done[point * rounds + r])
			return true;
	return false;
}

bool worker_leave_out(struct worker *w, int config)
{
	bool left = false;

	for (int i = 0; i < w->plan.n_points; i++) {
		if (w->plan.point[i].config != config)
			continue;
		w->skip[i] = !is_wanted(w, i);
		left |= !w->skip[i];
	}
	return left;
}

/* Where it cannot be set up, all of its points are lost. */
static int set_up_or_lose(struct worker *w, int config)
{
	struct refusal r;
	int err = worker_set_up(w, config, &r);

	for (int i = 0; err && i < w->plan.n_points; i++)
		if (w->plan.point[i].config == config && !w->skip[i] && worker_lose(w, i, err, &r))
			return -EINTR;
	return 0;
}

/* Host calls that put a block into the queue. */
static int64_t launch_calls(const struct submission *s)
{
	if (s->mode == MODE_GRAPH)
		return s->graph_launches + (s->rest != NULL);
	return s->mode == MODE_FUSED ? 1 : s->depth * s->instance->launches;
}

struct preparing {
	struct prepared *prepared;
	const struct instance *instance;
	const struct plan_point *at;
};

static int prepare_point(void *arg)
{
	struct preparing *a = arg;
	struct submission *s = &a->prepared->submission;
	int err = submission_init(s, a->instance, a->at->mode, a->at->depth);

	a->prepared->calls = launch_calls(s);
	return err ? err : visit_first(a->prepared);
}

/* Captures, instantiates, uploads, and runs it once. */
static int prepare_or_lose(struct worker *w, int point)
{
	const struct plan_point *at = &w->plan.point[point];
	struct preparing a = { &w->prepared[point], &w->instance[at->config], at };
	struct refusal r;

	worker_send(w,
		    json_pack("{s:s, s:i, s:i}", "record", "begin", "point", point, "round", -1));
	return worker_lose(w, point, refusal_catch(prepare_point, &a, &r), &r);
}

int worker_prepare(struct worker *w, int config)
{
	int err = set_up_or_lose(w, config);

	for (int i = 0; i < w->plan.n_points && !err; i++)
		if (w->plan.point[i].config == config && !w->skip[i])
			err = prepare_or_lose(w, i);
	return err;
}

void worker_put_away(struct worker *w, int config)
{
	for (int i = 0; i < w->plan.n_points; i++)
		if (w->plan.point[i].config == config) {
			submission_release(&w->prepared[i].submission);
			w->prepared[i] = (struct prepared){ 0 };
		}
	worker_tear_down(w, config);
}

struct prepared *worker_longest(const struct worker *w)
{
	struct prepared *longest = NULL;

	for (int i = 0; i < w->plan.n_points; i++)
		if (w->prepared[i].last_ns &&
		    (!longest || w->prepared[i].last_ns > longest->last_ns))
			longest = &w->prepared[i];
	return longest;
}

/* ---- rounds ----------------------------------------------------------------------------- */

/* A visit's blocks are marked where a canary is off by more than this, or by what is usual here. */
static const double canary_limit = 0.01;

/* ---- order ------------------------------------------------------------------------------ */

/* What of a process is drawn: the order of its configurations, or of the points of a round. */
enum { OF_CONFIGS = ROUNDS_MAX };

/*
 * Fisher-Yates with numbers of (seed, process, of): both sides of a session have one order, and any
 * part of it can be drawn again.
 */
static void permute(int *order, int n, const struct worker *w, int of)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		struct philox r = philox4x32((uint32_t)i, (uint32_t)of, (uint32_t)w->process, 0,
					     w->plan.design.seed);
		int j = (int)(philox_uniform(r.word[0]) * (i + 1)), kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
}

void worker_order(const struct worker *w, int *order)
{
	permute(order, w->plan.n_configs, w, OF_CONFIGS);
}

/* The configuration's points of a round: permuted first, then without those that need nothing. */
static int draw_round(const struct worker *w, int config, int round, int *order)
{
	int n = w->plan.n_points, left = 0;

	permute(order, n, w, round);
	for (int i = 0; i < n; i++)
		if (w->plan.point[order[i]].config == config && !w->skip[order[i]] &&
		    !w->done[order[i] * w->plan.design.rounds + round])
			order[left++] = order[i];
	return left;
}

/* ---- checking --------------------------------------------------------------------------- */

/* A block of at most check_steps, where the visit's own were longer. */
static int run_steps_to_check(const struct prepared *p, int64_t steps)
{
	struct submission sub = { 0 };
	struct block ignored;
	int err;

	if (steps == p->submission.depth)
		return 0;
	err = submission_init(&sub, p->submission.instance, p->submission.mode, steps);
	if (!err)
		err = measure_block(&sub, &ignored);
	submission_release(&sub);
	return err;
}

static json_t *check_json(const struct verdict *v, int64_t steps)
{
	return json_pack("{s:s, s:o, s:o, s:f, s:I}", "state",
			 verdict_holds(v) ? "passed" : "failed", "error", json_number(v->error),
			 "tolerance", json_number(v->tolerance), "share",
			 v->total > 0 ? (double)v->compared / (double)v->total : 0.0, "steps",
			 (json_int_t)steps);
}

/*
 * Checks the state that a visit left, or that of a block of at most design.check_steps. Returns a
 * new reference, or NULL with what a hook returned in *err.
 */
static json_t *check_point(struct worker *w, int point, int *err)
{
	struct prepared *p = &w->prepared[point];
	const struct instance *s = p->submission.instance;
	struct verdict v = { .seed = CHECK_SEED };
	int64_t start = clock_ns(), steps = predict_check_steps(&w->plan, point);

	v.graph_steps = longest_graph(s, p->submission.mode, steps);
	*err = run_steps_to_check(p, steps);
	if (!*err)
		*err = s->workload->check(s->opts, s->state, steps, &v);
	p->check_ns = clock_ns() - start;
	w->checks_ns += p->check_ns;
	return *err ? NULL : check_json(&v, steps);
}

/* Is there time for a check that is not due? Each visit adds its share to what may be spent. */
static bool can_spare(const struct worker *w, int point)
{
	const struct prepared *p = &w->prepared[point];
	double ns = p->check_ns ? (double)p->check_ns : predict_check_ns(&w->plan, w->side, point);

	return (double)w->spare_ns + ns <= check_share * w->visited_ns;
}

/* NULL: not checked in this round, or *err is set. */
static json_t *maybe_check(struct worker *w, int point, int round, int *err)
{
	json_t *check;

	*err = 0;
	if (round == 0 && w->check_all)
		return check_point(w, point, err);
	if (!can_spare(w, point))
		return NULL;
	check = check_point(w, point, err);
	w->spare_ns += w->prepared[point].check_ns;
	return check;
}

/* ---- visits ----------------------------------------------------------------------------- */

static struct visit_rules make_rules(const struct worker *w)
{
	return (struct visit_rules){
		.queue_depth = w->calibration.queue_depth,
		.canary_ns = isfinite(w->canary_ref_ns) ? w->canary_ref_ns : w->warm.canary_ns,
		.canary_limit = fmax(canary_limit, 3 * w->warm.spread),
	};
}

static void send_visit(struct worker *w, int point, int round, json_t *check)
{
	const struct submission *sub = &w->prepared[point].submission;
	json_t *o = json_pack("{s:s, s:i, s:i}", "record", "visit", "point", point, "round", round);
	json_t *visit = visit_json(&w->visit, &w->canary);

	json_object_update(o, visit);
	json_decref(visit);
	json_object_set_new(o, "launches_per_step", json_integer(sub->instance->launches));
	json_object_set_new(o, "step", work_count_json(&sub->instance->cost));
	if (sub->mode == MODE_GRAPH)
		json_object_set_new(o, "graph_steps", json_integer(sub->graph_steps));
	if (check)
		json_object_set_new(o, "check", check);
	worker_send(w, o);
}

struct visiting {
	struct worker *w;
	int point, round, place; /* in the round */
	json_t *check;		 /* of its check, where there was one */
};

/* The blocks and the check. */
static int measure_visit(void *arg)
{
	struct visiting *v = arg;
	struct worker *w = v->w;
	struct visit_rules rules = make_rules(w);
	int err = visit_run(&w->visit, &w->prepared[v->point], &w->canary, &w->plan.design, &rules);

	if (err)
		return err;
	w->blocks_ns += w->visit.block_ns;
	w->visited_ns += predict_visit_ns(&w->plan, w->side, v->point);
	v->check = maybe_check(w, v->point, v->round, &err);
	return err;
}

/* What fails or is refused costs its point, not the process. */
static int visit_point(struct visiting *v)
{
	struct worker *w = v->w;
	struct refusal r;
	int err;

	worker_send(w, json_pack("{s:s, s:i, s:i}", "record", "begin", "point", v->point, "round",
				 v->round));
	err = worker_await_turn(w, v->round, v->place);
	if (err)
		return err;
	err = refusal_catch(measure_visit, v, &r);
	if (!err)
		send_visit(w, v->point, v->round, v->check);
	return worker_lose(w, v->point, err, &r);
}

/*
 * Each point once, in its turn, whatever its canaries say: they mark its blocks. A visit that waits
 * for a better time, or is thrown away, would hide what a layer does that shifts clocks, and would
 * no longer lie beside the other side's.
 */
static int run_round(struct worker *w, int config, int round, int *queue)
{
	int n = draw_round(w, config, round, queue), err = 0;

	for (int i = 0; i < n && !err; i++) {
		struct visiting v = { w, queue[i], round, i, NULL };

		if (!w->skip[queue[i]]) /* or it was refused with another one of its kind */
			err = visit_point(&v);
	}
	return err;
}

/* ---- alone ------------------------------------------------------------------------------ */

static void send_alone(struct worker *w, int point, int round)
{
	double ns[VISIT_BLOCKS_MAX];

	for (int i = 0; i < w->visit.n; i++)
		ns[i] = (double)w->visit.total_ns[i];
	worker_send(w, json_pack("{s:s, s:i, s:i, s:f}", "record", "alone", "point", point, "round",
				 round, "t_total_ns", median_of(ns, w->visit.n)));
}

static int measure_alone(void *arg)
{
	struct visiting *v = arg;
	struct visit_rules rules = make_rules(v->w);

	return visit_run(&v->w->visit, &v->w->prepared[v->point], &v->w->canary, &v->w->plan.design,
			 &rules);
}

static int visit_alone(struct worker *w, int point, int round)
{
	struct visiting v = { w, point, round, 0, NULL };
	struct refusal r;
	int err;

	worker_send(w,
		    json_pack("{s:s, s:i, s:i}", "record", "begin", "point", point, "round", -1));
	err = worker_await_turn(w, TURN_ALONE, round);
	if (err)
		return err;
	err = refusal_catch(measure_alone, &v, &r);
	if (!err)
		send_alone(w, point, round);
	return worker_lose(w, point, err, &r);
}

int worker_rounds_alone(struct worker *w, int config)
{
	int rounds = w->alone, err = 0;

	w->alone = 0;
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < w->plan.n_points && !err; i++)
			if (w->plan.point[i].config == config && !w->skip[i])
				err = visit_alone(w, i, r);
	return err;
}

/* ---- all -------------------------------------------------------------------------------- */

int worker_rounds(struct worker *w, int config)
{
	size_t points = (size_t)w->plan.n_points;
	int *queue = calloc(points + 1, sizeof(*queue));
	int err = 0;

	CHECK(queue, "memory of %zu points", points);
	for (int r = 0; r < w->plan.design.rounds && !err; r++)
		err = run_round(w, config, r, queue);
	free(queue);
	return err;
}
