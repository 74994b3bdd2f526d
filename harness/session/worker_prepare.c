/*
 * worker_prepare.c - one configuration set up, its points captured, uploaded and run once; and all
 * of it given back.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "harness/session/worker.h"

static int call_setup(void *subject)
{
	struct subject *s = subject;
	int err;

	s->event = sync_event(s->sync);
	err = s->workload->setup(s->opts, s->state);
	return err ? err : s->workload->cost(s->opts, s->state, &s->cost);
}

int worker_set_up(struct worker *w, int config, struct refusal *r)
{
	const struct config *c = &w->plan.config[config];
	struct subject *s = &w->subject[config];
	int err;

	worker_say(w, json_pack("{s:s, s:i}", "record", "setup", "config", config));
	*s = (struct subject){ .workload = c->workload,
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

static void give_back(void *subject)
{
	struct subject *s = subject;

	s->workload->teardown(s->state);
	if (s->event)
		CUDA(cudaEventDestroy(s->event));
}

void worker_tear_down(struct worker *w, int config)
{
	struct subject *s = &w->subject[config];

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
static int64_t calls_of(const struct submission *s)
{
	if (s->mode == MODE_GRAPH)
		return s->graph_launches + (s->rest != NULL);
	return s->mode == MODE_FUSED ? 1 : s->depth * s->subject->launches;
}

struct preparing {
	struct prepared *prepared;
	const struct subject *subject;
	const struct plan_point *at;
};

static int prepare_point(void *arg)
{
	struct preparing *a = arg;
	struct submission *s = &a->prepared->submission;
	int err = submission_init(s, a->subject, a->at->mode, a->at->depth);

	a->prepared->calls = calls_of(s);
	return err ? err : visit_first(a->prepared);
}

/* Captures, instantiates, uploads, and runs it once. */
static int prepare_or_lose(struct worker *w, int point)
{
	const struct plan_point *at = &w->plan.point[point];
	struct preparing a = { &w->prepared[point], &w->subject[at->config], at };
	struct refusal r;

	worker_say(w, json_pack("{s:s, s:i, s:i}", "record", "begin", "point", point, "round", -1));
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
