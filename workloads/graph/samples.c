/* samples.c - samples of calls that need no latch: calls of the host, one graph or two in turn. */
#include "workloads/graph/samples.h"

#include <errno.h>
#include <math.h>

#include "common/cuda_check.h"
#include "common/timing.h"

enum { PACE_LAUNCHES = 8 };
enum { MEMORY_NODES = 1 << 16, MEMORY_COPIES_MAX = 256 };

int graph_check_run(struct graph_state *s, int64_t runs)
{
	char worst[96];

	if (!graph_wrong(s, runs, NULL, GRAPH_ADD, worst, sizeof(worst)))
		return 0;
	return complain(EIO, "a graph of %ld nodes, launched %ld times: %s", (long)s->shape.nodes,
			(long)runs, worst);
}

/* ---- calls of the host -------------------------------------------------------------------- */

int graph_sample_capture(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			 const char **why)
{
	int64_t begin = timing_now_ns(), wrong;
	cudaGraph_t graph = graph_capture(s, GRAPH_ADD);
	bool edges_hidden = false;

	(void)p;
	(void)why;
	ns[0] = timing_now_ns() - begin;
	wrong = graph_misshapen(&s->shape, graph, &edges_hidden);
	CUDA(cudaGraphDestroy(graph));
	return wrong ? complain(EIO, "a captured graph lacks %ld nodes, edges and roots",
				(long)wrong)
		     : 0;
}

int graph_sample_instantiate(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			     const char **why)
{
	cudaGraphExec_t exec;
	int64_t begin = timing_now_ns();

	(void)p;
	(void)why;
	CUDA(cudaGraphInstantiate(&exec, s->graph, 0));
	ns[0] = timing_now_ns() - begin;
	CUDA(cudaGraphExecDestroy(exec));
	return 0;
}

int graph_sample_upload(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			const char **why)
{
	cudaGraphExec_t exec;
	int64_t begin;

	(void)why;
	CUDA(cudaGraphInstantiate(&exec, s->graph, 0));
	begin = timing_now_ns();
	CUDA(cudaGraphUpload(exec, p->stream));
	ns[0] = timing_now_ns() - begin;
	CUDA(cudaStreamSynchronize(p->stream));
	ns[1] = timing_now_ns() - begin;
	CUDA(cudaGraphExecDestroy(exec));
	return 0;
}

/* There and back: both count, and exec[0] is as it was. */
int graph_sample_update(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			const char **why)
{
	cudaGraphExecUpdateResultInfo info;
	int64_t begin = timing_now_ns();

	(void)p;
	(void)why;
	CUDA(cudaGraphExecUpdate(s->exec[0], s->other, &info));
	CUDA(cudaGraphExecUpdate(s->exec[0], s->graph, &info));
	ns[0] = (timing_now_ns() - begin) / 2;
	return 0;
}

int graph_sample_params(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			const char **why)
{
	int64_t begin, i;

	(void)p;
	if (!s->kernels || graph_stages(s->shape.kind)) {
		*why = s->kernels ? "not applicable: kernels hang on copies"
				  : "not applicable: no node is a kernel";
		return 0;
	}
	i = s->updates++ % s->kernels;
	begin = timing_now_ns();
	graph_set_params(s, i, GRAPH_ADD_PARAMS);
	graph_set_params(s, i, GRAPH_ADD);
	ns[0] = (timing_now_ns() - begin) / 2;
	return 0;
}

/* ---- launches into an idle stream --------------------------------------------------------- */

/* ns: call, total. */
static int launch_idle(struct measure_plan *p, struct graph_state *s, cudaGraphExec_t exec,
		       int64_t *ns)
{
	int64_t begin;

	graph_clear(s, p->stream);
	CUDA(cudaStreamSynchronize(p->stream));
	begin = timing_now_ns();
	CUDA(cudaGraphLaunch(exec, p->stream));
	ns[0] = timing_now_ns() - begin;
	CUDA(cudaStreamSynchronize(p->stream));
	ns[1] = timing_now_ns() - begin;
	return graph_check_run(s, 1);
}

int graph_sample_idle_first(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			    const char **why)
{
	cudaGraphExec_t exec;
	int err;

	(void)why;
	CUDA(cudaGraphInstantiate(&exec, s->graph, 0));
	err = launch_idle(p, s, exec, ns);
	CUDA(cudaGraphExecDestroy(exec));
	return err;
}

int graph_sample_idle(struct measure_plan *p, struct graph_state *s, int64_t *ns, const char **why)
{
	(void)why;
	return launch_idle(p, s, s->exec[0], ns);
}

/* ---- one graph again and again, or two in turn -------------------------------------------- */

static int sample_pace(struct measure_plan *p, struct graph_state *s, int graphs, int64_t *ns)
{
	int64_t begin;

	graph_clear(s, p->stream);
	CUDA(cudaStreamSynchronize(p->stream));
	begin = timing_now_ns();
	for (int i = 0; i < PACE_LAUNCHES; i++)
		CUDA(cudaGraphLaunch(s->exec[i % graphs], p->stream));
	CUDA(cudaStreamSynchronize(p->stream));
	*ns = (timing_now_ns() - begin) / PACE_LAUNCHES;
	return graph_check_run(s, PACE_LAUNCHES);
}

int graph_sample_pace(struct measure_plan *p, struct graph_state *s, int64_t *ns, const char **why)
{
	int err = sample_pace(p, s, 1, &ns[0]);

	(void)why;
	return err ? err : sample_pace(p, s, 2, &ns[1]);
}

/* ---- memory ------------------------------------------------------------------------------- */

static int64_t free_bytes(void)
{
	size_t left, total;

	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemGetInfo(&left, &total));
	return (int64_t)left;
}

/* The mean over many graphs, as the driver takes memory in large pieces. */
void graph_measure_memory(struct measure_plan *p, struct graph_state *s, struct measure_length *out)
{
	int64_t copies = MEMORY_NODES / s->shape.nodes, before, taken;
	cudaGraphExec_t exec[MEMORY_COPIES_MAX];

	copies = copies > MEMORY_COPIES_MAX ? MEMORY_COPIES_MAX : copies < 2 ? 2 : copies;
	before = free_bytes();
	for (int64_t i = 0; i < copies; i++) {
		CUDA(cudaGraphInstantiate(&exec[i], s->graph, 0));
		CUDA(cudaGraphUpload(exec[i], p->stream));
	}
	taken = before - free_bytes();
	for (int64_t i = 0; i < copies; i++)
		CUDA(cudaGraphExecDestroy(exec[i]));
	out->value[MEASURE_MEMORY] = taken > 0 ? (double)taken / (double)copies : NAN;
	out->n[MEASURE_MEMORY] = taken > 0;
	if (!(taken > 0))
		out->why[MEASURE_MEMORY] = "not seen: the device has no less memory free with many";
}
