/* conformance.c - a workload of the table, small, driven through its hooks. */
#include "tests/conformance.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "harness/measure/run.h"

static void assign(struct driven *s, const char *name, const char *value)
{
	cr_assert(!params_set(&s->params, name, value), "%s: %s=%s", s->w->name, name, value);
}

/* The axis' values stand in rising order. */
static void make_small(struct driven *s, int slots)
{
	/* the last strip of rows is cut, and the last row of tiles */
	static const struct {
		const char *name, *unit, *value;
	} less[] = { { "images", "images", "2000" },
		     { "width", "pixels", "80" },
		     { "height", "pixels", "50" },
		     { "layers", "layers", "1" },
		     { "context", "positions", "16" } };
	const struct param *axis = workload_axis(s->w);
	char text[32];

	if (axis) {
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(axis->axis, ","), axis->axis);
		assign(s, axis->name, text);
	}
	snprintf(text, sizeof(text), "%d", slots);
	if (params_find(s->w->params, "slots", 5) >= 0)
		assign(s, "slots", text);
	/* decode's own models have 32000 tokens, for each of which there is a product */
	if (params_find(s->w->params, "checkpoint", 10) >= 0)
		assign(s, "checkpoint", "workloads/decode/golden/tied-f32");
	/* what is made before steps begin, and a picture, show as much where they are small */
	for (const struct param *p = s->w->params; p->name; p++)
		for (size_t i = 0; p != axis && i < sizeof(less) / sizeof(*less); i++)
			if (!strcmp(p->name, less[i].name) && !strcmp(p->unit, less[i].unit))
				assign(s, p->name, less[i].value);
}

struct driven *driven_begin(const struct workload *w, int slots)
{
	struct driven *s = calloc(1, sizeof(*s));

	CHECK(s, "memory");
	s->w = w;
	s->opts = calloc(1, w->opts_size + 1);
	s->state = calloc(1, w->state_size + 1);
	CHECK(s->opts && s->state, "memory");
	params_init(&s->params, w->params, w->name, s->opts);
	make_small(s, slots);
	cr_assert(!workload_limits(w, s->opts, &s->limits) && !s->limits.device_refused, "%s",
		  w->name);
	CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
	cr_assert(!w->setup(s->opts, s->state), "%s: setup", w->name);
	CUDA(cudaDeviceSynchronize());
	return s;
}

void driven_end(struct driven *s)
{
	s->w->teardown(s->state);
	CUDA(cudaStreamDestroy(s->stream));
	params_release(&s->params);
	free(s->opts);
	free(s->state);
	free(s);
}

bool driven_allows(const struct driven *s, enum mode mode, int64_t n)
{
	return !mode_refused(s->w, &s->limits, mode) &&
	       (!s->limits.depth_max || n <= s->limits.depth_max);
}

void driven_reset(struct driven *s)
{
	cr_assert(!s->w->reset(s->opts, s->state, s->stream), "%s: reset", s->w->name);
	CUDA(cudaStreamSynchronize(s->stream));
}

static void steps(struct driven *s, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		cr_assert(!s->w->step(s->opts, s->state, s->stream), "%s: step", s->w->name);
}

/* Steps of a graph: half of them, so that it is launched twice, where that is possible. */
static int64_t in_graph(int64_t n)
{
	return n % 2 ? n : n / 2;
}

/* Captured and launched behind a reset each. */
static void as_graph(struct driven *s, int64_t n)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeGlobal));
	steps(s, in_graph(n));
	CUDA(cudaStreamEndCapture(s->stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	driven_reset(s);
	for (int64_t i = 0; i < n; i += in_graph(n))
		CUDA(cudaGraphLaunch(exec, s->stream));
	CUDA(cudaStreamSynchronize(s->stream));
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
}

void driven_add(struct driven *s, enum mode mode, int64_t n)
{
	if (mode == MODE_GRAPH)
		as_graph(s, n);
	else if (mode == MODE_STREAM)
		steps(s, n);
	else
		cr_assert(!s->w->fused(s->opts, s->state, s->stream, n), "%s: fused", s->w->name);
	CUDA(cudaDeviceSynchronize());
}

void driven_run(struct driven *s, enum mode mode, int64_t n)
{
	driven_reset(s);
	driven_add(s, mode, n);
}

bool driven_passes(struct driven *s, enum mode mode, int64_t n)
{
	struct verdict v = { .seed = 1, .graph_steps = mode == MODE_GRAPH ? in_graph(n) : 0 };

	cr_assert(!s->w->check(s->opts, s->state, n, &v), "%s: check", s->w->name);
	CUDA(cudaDeviceSynchronize());
	return v.passed && v.error <= v.tolerance && v.compared > 0;
}
