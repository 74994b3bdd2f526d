/* measure.c - what each call that has to do with a graph takes. */
#include "workloads/graph/measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/timing.h"

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 101, SAMPLES_QUICK = 21, WARMUP = 2 };
enum { PACE_LAUNCHES = 8, STUCK_MAX = 2 };
enum { MEMORY_NODES = 1 << 16, MEMORY_COPIES_MAX = 256 };

const struct measure_row graph_quantities[MEASURE_QUANTITIES] = {
	[MEASURE_CAPTURE] = { "capture", "us" },
	[MEASURE_INSTANTIATE] = { "instantiate", "us" },
	[MEASURE_UPLOAD] = { "upload call", "us" },
	[MEASURE_UPLOADED] = { "upload", "us" },
	[MEASURE_FIRST_CALL] = { "first launch call", "us" },
	[MEASURE_FIRST_TOTAL] = { "first launch total", "us" },
	[MEASURE_FIRST_DEVICE] = { "first launch device", "us" },
	[MEASURE_READY_CALL] = { "first, uploaded, call", "us" },
	[MEASURE_CALL] = { "launch call", "us" },
	[MEASURE_TOTAL] = { "launch total", "us" },
	[MEASURE_DEVICE] = { "launch device", "us" },
	[MEASURE_PACE] = { "pace of one graph", "us" },
	[MEASURE_PACE_TWO] = { "pace of two in turn", "us" },
	[MEASURE_UPDATE] = { "update", "us" },
	[MEASURE_PARAMS] = { "set one node", "us" },
	[MEASURE_MEMORY] = { "memory", "bytes" },
};

void graph_measure_begin(struct measure_plan *p, bool quick)
{
	*p = (struct measure_plan){ .samples = quick ? SAMPLES_QUICK : SAMPLES_MAX,
				    .budget_ns = quick ? 10000000 : 100000000 };
	CUDA(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
	CUDA(cudaEventCreate(&p->begin));
	CUDA(cudaEventCreate(&p->end));
	p->latch = latch_new(LATCH_WATCHDOG_MS, LATCH_TIMEOUT_MS);
}

void graph_measure_end(struct measure_plan *p)
{
	latch_free(p->latch);
	CUDA(cudaEventDestroy(p->begin));
	CUDA(cudaEventDestroy(p->end));
	CUDA(cudaStreamDestroy(p->stream));
}

/* ---- samples ------------------------------------------------------------------------------ */

enum { SERIES_MAX = 3 }; /* quantities that one kind of sample yields */

/* A sample: fills ns[], or says why there is none. Negative: an errno after one line. */
typedef int sample_fn(struct measure_plan *p, struct graph_state *s, int64_t *ns, const char **why);

struct series {
	sample_fn *sample;
	int n; /* quantities, from `first` on in the order of measure_quantity */
	enum measure_quantity first;
};

/* Medians of what a kind of sample yields; or the reason of the first that yields nothing. */
static int take_series(struct measure_plan *p, struct graph_state *s, const struct series *series,
		       struct measure_length *out)
{
	int64_t ns[SERIES_MAX][SAMPLES_MAX], one[SERIES_MAX], begin = timing_now_ns();
	const char *why = NULL;
	int n = 0, err = 0;

	for (int i = -WARMUP; i < p->samples && !err && !why; i++) {
		if (n >= SAMPLES_MIN && timing_now_ns() - begin > p->budget_ns)
			break;
		err = series->sample(p, s, one, &why);
		for (int k = 0; k < series->n && i >= 0; k++)
			ns[k][n] = one[k];
		n += i >= 0;
		if (!err && interrupted())
			err = -EINTR;
	}
	for (int k = 0; k < series->n && !err; k++) {
		enum measure_quantity q = (enum measure_quantity)(series->first + k);

		out->value[q] = why ? NAN : 1e-3 * timing_median(ns[k], n);
		out->n[q] = why ? 0 : n;
		out->why[q] = why;
	}
	return err;
}

static int check_run(struct graph_state *s, int64_t runs)
{
	char worst[96];

	if (!graph_wrong(s, runs, NULL, GRAPH_ADD, worst, sizeof(worst)))
		return 0;
	return complain(EIO, "a graph of %ld nodes, launched %ld times: %s", (long)s->shape.nodes,
			(long)runs, worst);
}

/* ---- launches behind a latch -------------------------------------------------------------- */

static const char no_latch[] = "not applicable: the device maps no host memory";

/* ns: call, total, device. */
static int launch_held(struct measure_plan *p, struct graph_state *s, cudaGraphExec_t exec,
		       int64_t *ns, const char **why)
{
	int64_t begin, called, opened;
	float ms;

	if (!p->latch || p->stuck >= STUCK_MAX) {
		*why = p->latch ? latch_why(LATCH_WATCHED) : no_latch;
		return 0;
	}
	graph_clear(s, p->stream);
	CUDA(cudaStreamSynchronize(p->stream));
	latch_close(p->latch, p->stream);
	CUDA(cudaEventRecord(p->begin, p->stream));
	begin = timing_now_ns();
	CUDA(cudaGraphLaunch(exec, p->stream));
	called = timing_now_ns();
	CUDA(cudaEventRecord(p->end, p->stream));
	opened = timing_now_ns();
	latch_open(p->latch);
	CUDA(cudaStreamSynchronize(p->stream));
	ns[0] = called - begin;
	ns[1] = timing_now_ns() - opened;
	CUDA(cudaEventElapsedTime(&ms, p->begin, p->end));
	ns[2] = llround(1e6 * (double)ms);
	if (latch_ended(p->latch) != LATCH_OPENED) {
		*why = latch_why(latch_ended(p->latch));
		p->stuck++;
	}
	return check_run(s, 1);
}

static int sample_launch(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			 const char **why)
{
	return launch_held(p, s, s->exec[0], ns, why);
}

static int sample_first(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			const char **why)
{
	cudaGraphExec_t exec;
	int err;

	CUDA(cudaGraphInstantiate(&exec, s->graph, 0));
	err = launch_held(p, s, exec, ns, why);
	CUDA(cudaGraphExecDestroy(exec));
	return err;
}

/* Upload first, then the launch: what of it is off the critical path. */
static int sample_ready(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			const char **why)
{
	int64_t launch_ns[SERIES_MAX] = { 0 };
	cudaGraphExec_t exec;
	int err;

	CUDA(cudaGraphInstantiate(&exec, s->graph, 0));
	CUDA(cudaGraphUpload(exec, p->stream));
	CUDA(cudaStreamSynchronize(p->stream));
	err = launch_held(p, s, exec, launch_ns, why);
	CUDA(cudaGraphExecDestroy(exec));
	ns[0] = launch_ns[0];
	return err;
}

/* ---- calls of the host -------------------------------------------------------------------- */

static int sample_capture(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			  const char **why)
{
	int64_t begin = timing_now_ns(), wrong;
	cudaGraph_t graph = graph_capture(s, GRAPH_ADD);

	(void)p;
	(void)why;
	ns[0] = timing_now_ns() - begin;
	wrong = graph_misshapen(&s->shape, graph);
	CUDA(cudaGraphDestroy(graph));
	return wrong ? complain(EIO, "a captured graph lacks %ld nodes, edges and roots",
				(long)wrong)
		     : 0;
}

static int sample_instantiate(struct measure_plan *p, struct graph_state *s, int64_t *ns,
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

static int sample_upload(struct measure_plan *p, struct graph_state *s, int64_t *ns,
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
static int sample_update(struct measure_plan *p, struct graph_state *s, int64_t *ns,
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

static int sample_params(struct measure_plan *p, struct graph_state *s, int64_t *ns,
			 const char **why)
{
	int64_t begin, i;

	(void)p;
	if (!s->kernels) {
		*why = "not applicable: no node is a kernel";
		return 0;
	}
	i = s->updates++ % s->kernels;
	begin = timing_now_ns();
	graph_set_params(s, i, GRAPH_ADD_PARAMS);
	graph_set_params(s, i, GRAPH_ADD);
	ns[0] = (timing_now_ns() - begin) / 2;
	return 0;
}

/* ---- one graph again and again, or two in turn -------------------------------------------- */

static int pace(struct measure_plan *p, struct graph_state *s, int graphs, int64_t *ns)
{
	int64_t begin;

	graph_clear(s, p->stream);
	CUDA(cudaStreamSynchronize(p->stream));
	begin = timing_now_ns();
	for (int i = 0; i < PACE_LAUNCHES; i++)
		CUDA(cudaGraphLaunch(s->exec[i % graphs], p->stream));
	CUDA(cudaStreamSynchronize(p->stream));
	*ns = (timing_now_ns() - begin) / PACE_LAUNCHES;
	return check_run(s, PACE_LAUNCHES);
}

static int sample_pace(struct measure_plan *p, struct graph_state *s, int64_t *ns, const char **why)
{
	int err = pace(p, s, 1, &ns[0]);

	(void)why;
	return err ? err : pace(p, s, 2, &ns[1]);
}

/* ---- memory ------------------------------------------------------------------------------- */

static int64_t free_bytes(void)
{
	size_t left, total;

	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemGetInfo(&left, &total));
	return (int64_t)left;
}

/* Of many, as the driver takes memory in large pieces. */
static void measure_memory(struct measure_plan *p, struct graph_state *s,
			   struct measure_length *out)
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

static bool is_gpu(void)
{
	int major, device;

	CUDA(cudaGetDevice(&device));
	CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
	return major > 0;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static int measure_all(struct measure_plan *p, struct graph_state *s, struct measure_length *out)
{
	static const struct series all[] = {
		{ sample_capture, 1, MEASURE_CAPTURE },
		{ sample_instantiate, 1, MEASURE_INSTANTIATE },
		{ sample_upload, 2, MEASURE_UPLOAD },
		{ sample_first, 3, MEASURE_FIRST_CALL },
		{ sample_ready, 1, MEASURE_READY_CALL },
		{ sample_launch, 3, MEASURE_CALL },
		{ sample_pace, 2, MEASURE_PACE },
		{ sample_update, 1, MEASURE_UPDATE },
		{ sample_params, 1, MEASURE_PARAMS },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !err; i++)
		err = take_series(p, s, &all[i], out);
	if (!err && is_gpu())
		measure_memory(p, s, out);
	else
		out->why[MEASURE_MEMORY] = "not applicable: graphs of the CPU device lie in memory "
					   "of the host";
	/* whatever was updated and set is as it was */
	graph_clear(s, p->stream);
	CUDA(cudaGraphLaunch(s->exec[0], p->stream));
	CUDA(cudaStreamSynchronize(p->stream));
	return err ? err : check_run(s, 1);
}

int graph_measure(struct measure_plan *p, const struct graph_opts *o, struct measure_length *out)
{
	struct graph_state *s = calloc(1, sizeof(*s));
	int err;

	CHECK(s, "memory of a state");
	memset(out, 0, sizeof(*out));
	for (int q = 0; q < MEASURE_QUANTITIES; q++)
		out->value[q] = NAN;
	out->length = o->length;
	out->nodes = graph_nodes(o);
	err = graph_prepare(o, s);
	if (!err)
		err = measure_all(p, s, out);
	CUDA(cudaStreamSynchronize(p->stream));
	graph_teardown(s);
	free(s);
	return err;
}

struct line graph_measure_fit(const struct measure_length *m, int n, enum measure_quantity q)
{
	double x[32], y[32];
	int k = 0;

	for (int i = 0; i < n && k < 32; i++)
		if (isfinite(m[i].value[q])) {
			x[k] = (double)m[i].nodes;
			y[k++] = m[i].value[q];
		}
	return line_fit(x, y, k);
}
