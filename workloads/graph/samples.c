/* samples.c - samples of calls that need no latch: calls of the host, one graph or two in turn. */
#include "workloads/graph/samples.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

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

/* Launched as well, as nothing else is of this graph. */
static int run_made(struct measure_plan *p, struct graph_state *s, cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	graph_clear(s, p->stream);
	CUDA(cudaGraphLaunch(exec, p->stream));
	CUDA(cudaStreamSynchronize(p->stream));
	CUDA(cudaGraphExecDestroy(exec));
	return graph_check_run(s, 1);
}

int graph_sample_nodes(struct measure_plan *p, struct graph_state *s, int64_t *ns, const char **why)
{
	bool edges_hidden = false;
	cudaGraph_t graph;
	int64_t begin, wrong;
	int err;

	if (!graph_can_be_made(&s->shape)) {
		*why = "not measured: copies between host and device are captured alone";
		return 0;
	}
	begin = timing_now_ns();
	graph = graph_make(s, GRAPH_ADD);
	ns[0] = timing_now_ns() - begin;
	wrong = graph_misshapen(&s->shape, graph, &edges_hidden);
	err = wrong ? complain(EIO, "a graph of single nodes lacks %ld nodes, edges and roots",
			       (long)wrong)
		    : run_made(p, s, graph);
	CUDA(cudaGraphDestroy(graph));
	return err;
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

/* What an update leaves to the next launch. Where there is another graph to update to and back. */
int graph_sample_updated(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			 const char **why)
{
	cudaGraphExecUpdateResultInfo info;

	(void)why;
	CUDA(cudaGraphExecUpdate(s->exec[0], s->other, &info));
	CUDA(cudaGraphExecUpdate(s->exec[0], s->graph, &info));
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

/* ---- a process with many graphs ----------------------------------------------------------- */

static int64_t free_bytes(void)
{
	size_t left, total;

	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemGetInfo(&left, &total));
	return (int64_t)left;
}

/* Of the process, resident; 0: not known. */
static int64_t host_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

struct many {
	cudaGraphExec_t exec[MEMORY_COPIES_MAX];
	int64_t n, launched;
};

/* Graphs of long kernels are not all launched: what they take was measured before. */
static int64_t launches_within(const struct measure_plan *p, const struct measure_length *out,
			       int64_t n)
{
	enum { TIMES_BUDGET = 10, LEAST = 2 };
	double us = out->value[MEASURE_IDLE_TOTAL];
	double most = TIMES_BUDGET * 1e-3 * (double)p->budget_ns / us;

	return !isfinite(us) || most < LEAST ? LEAST : most < (double)n ? (int64_t)most : n;
}

static int64_t make_many(struct measure_plan *p, struct graph_state *s, struct many *m)
{
	int64_t begin = timing_now_ns();

	for (int64_t i = 0; i < m->n; i++) {
		CUDA(cudaGraphInstantiate(&m->exec[i], s->graph, 0));
		CUDA(cudaGraphUpload(m->exec[i], p->stream));
	}
	CUDA(cudaStreamSynchronize(p->stream));
	return timing_now_ns() - begin;
}

/* Of the calls alone; each is waited for, so that none waits for room. */
static int64_t launch_many(struct measure_plan *p, const struct many *m)
{
	int64_t calls = 0;

	for (int64_t i = 0; i < m->launched; i++) {
		int64_t begin = timing_now_ns();

		CUDA(cudaGraphLaunch(m->exec[i], p->stream));
		calls += timing_now_ns() - begin;
		CUDA(cudaStreamSynchronize(p->stream));
	}
	return calls;
}

static void set_mean(struct measure_length *out, enum measure_quantity q, double sum, int64_t n)
{
	out->value[q] = sum / (double)n;
	out->n[q] = 0; /* of no median */
}

/* A mean over many graphs, as memory is taken in large pieces. */
static void set_memory(struct measure_length *out, enum measure_quantity q, int64_t taken,
		       int64_t n)
{
	if (taken > 0)
		set_mean(out, q, (double)taken, n);
	else
		out->why[q] = "not seen: no less memory is free with many";
}

int graph_measure_many(struct measure_plan *p, struct graph_state *s, struct measure_length *out)
{
	struct many m = { .n = MEMORY_NODES / s->shape.nodes };
	int64_t device, host;

	m.n = m.n > MEMORY_COPIES_MAX ? MEMORY_COPIES_MAX : m.n < 2 ? 2 : m.n;
	m.launched = launches_within(p, out, m.n);
	graph_clear(s, p->stream);
	device = free_bytes();
	host = host_bytes();
	set_mean(out, MEASURE_MANY_MAKE, 1e-3 * (double)make_many(p, s, &m), m.n);
	set_memory(out, MEASURE_MEMORY, device - free_bytes(), m.n);
	set_memory(out, MEASURE_HOST_MEMORY, host_bytes() - host, m.n);
	set_mean(out, MEASURE_MANY_FIRST, 1e-3 * (double)launch_many(p, &m), m.launched);
	set_mean(out, MEASURE_MANY_CALL, 1e-3 * (double)launch_many(p, &m), m.launched);
	for (int64_t i = 0; i < m.n; i++)
		CUDA(cudaGraphExecDestroy(m.exec[i]));
	return graph_check_run(s, 2 * m.launched);
}
