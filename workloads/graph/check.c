/*
 * check.c - has every node of every graph run, exactly as often as it should have, and is each
 * graph what it should be?
 *
 * A kernel node adds to a word of its own, so runs are counted. Copies and sets write the same
 * bytes each time: they were 0 before the block, and show that it ran. Copies between host and
 * device are compared byte by byte (areas.c). What a call has made without running it is run here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "workloads/graph/graph.h"

static unsigned long long expected_word(const struct graph_state *s, int64_t node, int64_t runs,
					unsigned add)
{
	switch (graph_node_kind(&s->shape, node)) {
	case GRAPH_MEMSET:
		return runs ? graph_set_word(node) : 0;
	case GRAPH_MEMCPY:
		return runs ? graph_copied_word(node) : 0;
	case GRAPH_H2D:
	case GRAPH_D2H:
		return 0; /* they write elsewhere */
	default:
		return (unsigned long long)runs * add;
	}
}

int64_t graph_wrong(struct graph_state *s, int64_t runs, const unsigned char *add, unsigned one,
		    char *worst, size_t size)
{
	size_t n = (size_t)s->shape.nodes;
	int64_t wrong = 0, copied, first = 0;

	CUDA(cudaMemcpy(s->found, s->trace, n * sizeof(*s->found), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < n; i++) {
		unsigned long long want = expected_word(s, (int64_t)i, runs, add ? add[i] : one);

		if (s->found[i] != want && !wrong++)
			snprintf(worst, size, "node %zu: its word is %llu, not %llu", i,
				 s->found[i], want);
	}
	copied = graph_areas_wrong(&s->areas, &s->shape, runs > 0, &first);
	if (copied && !wrong)
		snprintf(worst, size, "copy %" PRId64 ": its word %" PRId64 " is wrong",
			 first / (s->shape.copy_bytes / 8), first % (s->shape.copy_bytes / 8));
	return wrong + copied;
}

/*
 * Runs what steps have made, or uploaded, as far as it is kept; the trace is 0 before. Returns how
 * often each node should have run.
 */
static int64_t run_kept(enum graph_op op, struct graph_state *s)
{
	int64_t n = op == GRAPH_UPLOAD ? s->used : s->made;

	n = n < GRAPH_KEPT_MAX ? n : GRAPH_KEPT_MAX;
	for (int64_t i = 0; i < n; i++) {
		cudaGraphExec_t exec = s->kept[i];

		if (s->kept_graph[i])
			CUDA(cudaGraphInstantiate(&exec, s->kept_graph[i], 0));
		CUDA(cudaGraphLaunch(exec, s->stream[0]));
		CUDA(cudaStreamSynchronize(s->stream[0]));
		if (s->kept_graph[i])
			CUDA(cudaGraphExecDestroy(exec));
	}
	return n;
}

static int64_t run_exec(struct graph_state *s)
{
	CUDA(cudaGraphLaunch(s->exec[0], s->stream[0]));
	CUDA(cudaStreamSynchronize(s->stream[0]));
	return 1;
}

/* Words that are wrong after so many steps. */
static int64_t wrong_after(const struct graph_opts *o, struct graph_state *s, int64_t steps,
			   struct verdict *v)
{
	char *worst = v->worst;
	size_t size = sizeof(v->worst);
	int64_t wrong;

	if (graph_runs((enum graph_op)o->op))
		return graph_wrong(s, steps, NULL, GRAPH_ADD, worst, size);
	/* the others run nothing */
	wrong = graph_wrong(s, 0, NULL, GRAPH_ADD, worst, size);
	if (wrong)
		return wrong;
	if (o->op == GRAPH_UPDATE)
		return graph_wrong(s, run_exec(s), NULL,
				   s->updates % 2 ? GRAPH_ADD_OTHER : GRAPH_ADD, worst, size);
	if (o->op == GRAPH_PARAMS)
		return graph_wrong(s, run_exec(s), s->add, 0, worst, size);
	return graph_wrong(s, run_kept((enum graph_op)o->op, s), NULL, GRAPH_ADD, worst, size);
}

/* 0 where there is no graph, as for op=eager. */
static int64_t count_misshapen(const struct graph_state *s, bool *edges_hidden)
{
	int64_t n = 0;

	if (s->graph)
		n = graph_misshapen(&s->shape, s->graph, edges_hidden) +
		    graph_misshapen(&s->shape, s->other, edges_hidden);
	for (int i = 0; i < GRAPH_KEPT_MAX; i++)
		if (s->kept_graph[i])
			n += graph_misshapen(&s->shape, s->kept_graph[i], edges_hidden);
	return n;
}

int graph_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct graph_opts *o = opts;
	struct graph_state *s = state;
	int64_t missing = steps < s->steps ? s->steps - steps : steps - s->steps;
	bool edges_hidden = false;
	int64_t shapes = count_misshapen(s, &edges_hidden), wrong = wrong_after(o, s, steps, v);

	v->measure = edges_hidden
			     ? "nodes whose word is wrong, and missing steps; what they hang on "
			       "is not said here"
			     : "nodes whose word is wrong, or that hang on the wrong ones, and "
			       "missing steps";
	v->compared = v->total = s->shape.nodes;
	v->tolerance = 0;
	v->error = (double)(missing + shapes + wrong);
	if (shapes)
		snprintf(v->worst, sizeof(v->worst),
			 "%" PRId64 " nodes, edges and roots too many or too few", shapes);
	else if (missing)
		snprintf(v->worst, sizeof(v->worst), "%" PRId64 " steps, not %" PRId64, s->steps,
			 steps);
	v->passed = v->error <= v->tolerance;
	return 0;
}
