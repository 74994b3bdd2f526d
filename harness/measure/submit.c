/* submit.c - a block's steps enqueued. */
#include "harness/measure/submit.h"

#include <errno.h>
#include <stddef.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "workloads/workload.h"

/* ---- enqueues exactly `depth` steps of a workload in one of the three modes ------------- */

enum { ASK_EVERY = 1024 }; /* steps: often enough to end soon, too rarely to cost a block time */

int64_t graph_steps_for(int64_t depth, int64_t launches)
{
	int64_t s = 1;

	while (2 * s <= depth && 2 * s * launches <= GRAPH_LAUNCHES_MAX)
		s *= 2;
	return s;
}

int64_t longest_graph(const struct instance *s, enum mode mode, int64_t depth)
{
	return mode == MODE_GRAPH ? graph_steps_for(depth, s->launches) : 0;
}

/*
 * Stops at the first step that fails, or soon after Ctrl-C; what was enqueued before stays in the
 * stream.
 */
static int enqueue_steps(const struct instance *s, int64_t n)
{
	int err = 0;

	for (int64_t i = 0; i < n && !err; i++) {
		if (i % ASK_EVERY == ASK_EVERY - 1 && interrupted())
			return -EINTR;
		err = s->workload->step(s->opts, s->state, s->stream);
	}
	return err;
}

struct capturing {
	const struct instance *instance;
	int64_t n;
	cudaGraphExec_t *exec;
};

/*
 * Captures n steps that follow a reset (struct workload, reset). Global capture mode, so that a
 * step that allocates or synchronizes is caught by CUDA. A failing step leaves no capture behind.
 */
static int capture_steps(void *arg)
{
	const struct capturing *c = arg;
	const struct instance *s = c->instance;
	cudaGraph_t graph = NULL;
	int err = s->workload->reset(s->opts, s->state, s->stream);

	if (err)
		return err;
	CUDA(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeGlobal));
	err = enqueue_steps(s, c->n);
	CUDA(cudaStreamEndCapture(s->stream, &graph));
	if (!err) {
		CUDA(cudaGraphInstantiate(c->exec, graph, 0));
		CUDA(cudaGraphUpload(*c->exec, s->stream));
	}
	CUDA(cudaGraphDestroy(graph));
	return err;
}

static int capture(const struct instance *s, int64_t n, cudaGraphExec_t *exec)
{
	struct capturing c = { s, n, exec };
	struct refusal r;
	int err = refusal_catch(capture_steps, &c, &r);

	if (err == -ENOSYS) {
		refusal_settle(s->stream);
		refusal_pass_on(&r);
	}
	return err;
}

int submission_init(struct submission *s, const struct instance *instance, enum mode mode,
		    int64_t depth)
{
	int err = 0;

	*s = (struct submission){ .instance = instance, .mode = mode, .depth = depth };
	CHECK(depth >= 1, "depth=%ld", (long)depth);
	CHECK(mode != MODE_FUSED || instance->workload->fused, "%s has no fused form",
	      instance->workload->name);
	if (mode != MODE_GRAPH)
		return 0;
	s->graph_steps = longest_graph(instance, mode, depth);
	s->graph_launches = depth / s->graph_steps;
	s->rest_steps = depth % s->graph_steps;
	err = capture(instance, s->graph_steps, &s->graph);
	if (!err && s->rest_steps)
		err = capture(instance, s->rest_steps, &s->rest);
	if (!err) /* uploads are not to be waited for inside the first block */
		CUDA(cudaStreamSynchronize(instance->stream));
	return err;
}

int submission_enqueue(const struct submission *s)
{
	const struct instance *instance = s->instance;

	switch (s->mode) {
	case MODE_STREAM:
		return enqueue_steps(instance, s->depth);
	case MODE_FUSED:
		return instance->workload->fused(instance->opts, instance->state, instance->stream,
						 s->depth);
	default:
		/* one executable graph again and again: its launches run one after the other */
		for (int64_t i = 0; i < s->graph_launches; i++) {
			/* where there are many, each has over ASK_EVERY / 2 launches */
			if (i && interrupted())
				return -EINTR;
			CUDA(cudaGraphLaunch(s->graph, instance->stream));
		}
		if (s->rest)
			CUDA(cudaGraphLaunch(s->rest, instance->stream));
		return 0;
	}
}

static void destroy_graphs(void *submission)
{
	struct submission *s = submission;

	if (s->graph)
		CUDA(cudaGraphExecDestroy(s->graph));
	if (s->rest)
		CUDA(cudaGraphExecDestroy(s->rest));
}

void submission_release(struct submission *s)
{
	refusal_ignore(destroy_graphs, s);
	s->graph = s->rest = NULL;
}
