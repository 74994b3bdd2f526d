/* measure.c - what each call that has to do with a graph takes. */
#include "workloads/graph/samples.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/interrupt.h"
#include "common/timing.h"

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 101, SAMPLES_QUICK = 21, WARMUP_MIN = 2, WARMUP_MAX = 10 };
enum { STUCK_MAX = 2 };

const struct measure_row graph_quantities[MEASURE_QUANTITIES] = {
	[MEASURE_CAPTURE] = { "capture", "us" },
	[MEASURE_NODES] = { "add nodes", "us" },
	[MEASURE_INSTANTIATE] = { "instantiate", "us" },
	[MEASURE_UPLOAD] = { "upload call", "us" },
	[MEASURE_UPLOADED] = { "upload", "us" },
	[MEASURE_UPLOAD_DEVICE] = { "upload device", "us" },
	[MEASURE_FIRST_CALL] = { "first launch call", "us" },
	[MEASURE_FIRST_TOTAL] = { "first launch total", "us" },
	[MEASURE_FIRST_DEVICE] = { "first launch device", "us" },
	[MEASURE_READY_CALL] = { "first, uploaded, call", "us" },
	[MEASURE_CALL] = { "launch call", "us" },
	[MEASURE_TOTAL] = { "launch total", "us" },
	[MEASURE_DEVICE] = { "launch device", "us" },
	[MEASURE_FIRST_CHAIN] = { "first chain's end", "us" },
	[MEASURE_LAST_CHAIN] = { "last chain's end", "us" },
	[MEASURE_IDLE_FIRST_CALL] = { "first launch call, idle", "us" },
	[MEASURE_IDLE_FIRST_TOTAL] = { "first launch end to end", "us" },
	[MEASURE_IDLE_CALL] = { "launch call, idle", "us" },
	[MEASURE_IDLE_TOTAL] = { "launch end to end", "us" },
	[MEASURE_PACE] = { "pace of one graph", "us" },
	[MEASURE_PACE_TWO] = { "pace of two in turn", "us" },
	[MEASURE_UPDATE] = { "update", "us" },
	[MEASURE_PARAMS] = { "set one node", "us" },
	[MEASURE_UPDATED_CALL] = { "updated, call, idle", "us" },
	[MEASURE_UPDATED_TOTAL] = { "updated, end to end", "us" },
	[MEASURE_MANY_MAKE] = { "many: make one", "us" },
	[MEASURE_MANY_FIRST] = { "many: first launch call", "us" },
	[MEASURE_MANY_CALL] = { "many: launch call", "us" },
	[MEASURE_MEMORY] = { "memory", "bytes" },
	[MEASURE_HOST_MEMORY] = { "memory of the host", "bytes" },
};

bool graph_has(const struct graph_opts *o, enum measure_quantity q)
{
	bool ends = graph_stages((enum graph_kind)o->node) &&
		    o->length > o->copies; /* chains with a kernel */

	return ends || (q != MEASURE_FIRST_CHAIN && q != MEASURE_LAST_CHAIN);
}

static int make_events(void *plan)
{
	struct measure_plan *p = plan;

	CUDA(cudaEventCreate(&p->begin));
	CUDA(cudaEventCreate(&p->end));
	return 0;
}

static void drop_events(void *plan)
{
	struct measure_plan *p = plan;

	if (p->begin)
		CUDA(cudaEventDestroy(p->begin));
	if (p->end)
		CUDA(cudaEventDestroy(p->end));
}

void graph_measure_init(struct measure_plan *p, bool quick)
{
	*p = (struct measure_plan){ .samples = quick ? SAMPLES_QUICK : SAMPLES_MAX,
				    .budget_ns = quick ? 10000000 : 100000000 };
	struct refusal ignored;

	CUDA(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
	refusal_catch(make_events, p, &ignored); /* series that need them say so */
	p->latch = latch_new(LATCH_WATCHDOG_MS, LATCH_TIMEOUT_MS, &p->no_latch);
}

void graph_measure_release(struct measure_plan *p)
{
	latch_free(p->latch);
	refusal_ignore(drop_events, p);
	CUDA(cudaStreamDestroy(p->stream));
}

/* ---- samples ------------------------------------------------------------------------------ */

struct series {
	sample_fn *sample;
	int n; /* quantities, from `first` on in the order of measure_quantity */
	enum measure_quantity first;
};

/* The first calls of a kind are slower; of large graphs two of them have to do. */
static bool is_warm(const struct measure_plan *p, int done, int64_t since_ns)
{
	return done >= WARMUP_MAX ||
	       (done >= WARMUP_MIN && timing_now_ns() - since_ns > p->budget_ns / 10);
}

static void give_reason(struct measure_length *out, const struct series *series, const char *why)
{
	for (int k = 0; k < series->n; k++) {
		enum measure_quantity q = (enum measure_quantity)(series->first + k);

		snprintf(out->refused[q], sizeof(out->refused[q]), "%s", why);
		out->why[q] = out->refused[q];
	}
}

/* Medians of what a kind of sample yields; or the reason of the first that yields nothing. */
static int take_series(struct measure_plan *p, struct graph_state *s, const struct series *series,
		       struct measure_length *out)
{
	int64_t ns[SERIES_MAX][SAMPLES_MAX], one[SERIES_MAX], begin = timing_now_ns();
	const char *why = NULL;
	int n = 0, err = 0;
	bool warm = false;

	for (int done = 0; n < p->samples && !err && !why; done++) {
		if (n >= SAMPLES_MIN && timing_now_ns() - begin > p->budget_ns)
			break;
		warm = warm || is_warm(p, done, begin);
		err = series->sample(p, s, one, &why);
		for (int k = 0; k < series->n && warm; k++)
			ns[k][n] = one[k];
		n += warm;
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

/* ---- launches behind a latch -------------------------------------------------------------- */

static bool keeps_ends(const struct graph_state *s)
{
	return graph_stages(s->shape.kind) && s->shape.length > s->shape.before_kernel;
}

/* ns: of the first chain, of the last one to end. Before the launch ends[GRAPH_WIDTH_MAX] was set.
 */
static void read_ends(const struct graph_state *s, int64_t *ns)
{
	unsigned long long ends[GRAPH_WIDTH_MAX + 1], begin, last = 0;

	CUDA(cudaMemcpy(ends, s->ends, sizeof(ends), cudaMemcpyDeviceToHost));
	begin = ends[GRAPH_WIDTH_MAX];
	for (int i = 0; i < s->shape.width; i++)
		last = ends[i] > last ? ends[i] : last;
	ns[0] = (int64_t)(ends[0] - begin);
	ns[1] = (int64_t)(last - begin);
}

/* False: the stream cannot be held, and why. */
static bool can_hold(const struct measure_plan *p, const char **why)
{
	bool can = p->latch && p->stuck < STUCK_MAX;

	if (!can)
		*why = p->latch ? latch_why(LATCH_WATCHED) : p->no_latch;
	return can;
}

static void note_hold(struct measure_plan *p, const char **why)
{
	if (latch_ended(p->latch) == LATCH_OPENED)
		return;
	*why = latch_why(latch_ended(p->latch));
	p->stuck++;
}

/* An upload on the device: it moves what the host has made of the graph. */
static int sample_upload_device(struct measure_plan *p, struct graph_state *s, int64_t *ns,
				const char **why)
{
	cudaGraphExec_t exec;
	float ms;

	if (!can_hold(p, why))
		return 0;
	if (!p->end) /* refused here where it was refused before */
		CUDA(cudaEventCreate(&p->end));
	CUDA(cudaGraphInstantiate(&exec, s->graph, 0));
	latch_close(p->latch, p->stream);
	CUDA(cudaEventRecord(p->begin, p->stream));
	CUDA(cudaGraphUpload(exec, p->stream));
	CUDA(cudaEventRecord(p->end, p->stream));
	latch_open(p->latch);
	CUDA(cudaStreamSynchronize(p->stream));
	CUDA(cudaEventElapsedTime(&ms, p->begin, p->end));
	ns[0] = llround(1e6 * (double)ms);
	note_hold(p, why);
	CUDA(cudaGraphExecDestroy(exec));
	return 0;
}

/* ns: call, total, device, and of staged nodes the ends of chains. */
static int launch_held(struct measure_plan *p, struct graph_state *s, cudaGraphExec_t exec,
		       int64_t *ns, const char **why)
{
	int64_t begin, called, opened;
	float ms;

	if (!can_hold(p, why))
		return 0;
	if (!p->end) /* refused here where it was refused before */
		CUDA(cudaEventCreate(&p->end));
	graph_clear(s, p->stream);
	CUDA(cudaStreamSynchronize(p->stream));
	latch_close(p->latch, p->stream);
	if (keeps_ends(s))
		graph_stamp_time(s->ends + GRAPH_WIDTH_MAX, p->stream);
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
	if (keeps_ends(s))
		read_ends(s, ns + 3);
	note_hold(p, why);
	return graph_check_run(s, 1);
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

static bool is_gpu(void)
{
	return device_attribute(cudaDevAttrComputeCapabilityMajor) > 0;
}

/* ---- all of it ---------------------------------------------------------------------------- */

struct taking {
	struct measure_plan *p;
	struct graph_state *s;
	const struct series *series;
	struct measure_length *out;
};

static int call_series(void *arg)
{
	struct taking *t = arg;

	return take_series(t->p, t->s, t->series, t->out);
}

/* What the platform does not support is a reason, and the others are measured. */
static int take_or_refuse(struct measure_plan *p, struct graph_state *s,
			  const struct series *series, struct measure_length *out)
{
	struct taking t = { p, s, series, out };
	char text[REFUSAL_TEXT];
	struct refusal r;
	int err = refusal_catch(call_series, &t, &r);

	if (err != -ENOSYS)
		return err;
	graph_end_captures(s);
	if (p->latch)
		latch_open(p->latch); /* nothing is held until the watchdog looks */
	refusal_settle(p->stream);
	refusal_text(&r, text);
	give_reason(out, series, text);
	return 0;
}

struct many {
	struct measure_plan *p;
	struct graph_state *s;
	struct measure_length *out;
};

static int call_many(void *arg)
{
	struct many *m = arg;

	return graph_measure_many(m->p, m->s, m->out);
}

static int many_or_refuse(struct measure_plan *p, struct graph_state *s, struct measure_length *out)
{
	const struct series all = { NULL, MEASURE_QUANTITIES - MEASURE_MANY_MAKE,
				    MEASURE_MANY_MAKE };
	struct many m = { p, s, out };
	char text[REFUSAL_TEXT];
	struct refusal r;
	int err = refusal_catch(call_many, &m, &r);

	if (err != -ENOSYS)
		return err;
	refusal_settle(p->stream);
	refusal_text(&r, text);
	give_reason(out, &all, text);
	return 0;
}

static int measure_all(struct measure_plan *p, struct graph_state *s, struct measure_length *out)
{
	const struct series all[] = {
		{ graph_sample_capture, 1, MEASURE_CAPTURE },
		{ graph_sample_nodes, 1, MEASURE_NODES },
		{ graph_sample_instantiate, 1, MEASURE_INSTANTIATE },
		{ graph_sample_upload, 2, MEASURE_UPLOAD },
		{ sample_upload_device, 1, MEASURE_UPLOAD_DEVICE },
		{ sample_first, 3, MEASURE_FIRST_CALL },
		{ sample_ready, 1, MEASURE_READY_CALL },
		{ sample_launch, keeps_ends(s) ? 5 : 3, MEASURE_CALL },
		{ graph_sample_idle_first, 2, MEASURE_IDLE_FIRST_CALL },
		{ graph_sample_idle, 2, MEASURE_IDLE_CALL },
		{ graph_sample_pace, 2, MEASURE_PACE },
		{ graph_sample_update, 1, MEASURE_UPDATE },
		{ graph_sample_params, 1, MEASURE_PARAMS },
		{ graph_sample_updated, 2, MEASURE_UPDATED_CALL },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !err; i++)
		err = take_or_refuse(p, s, &all[i], out);
	if (!err)
		err = many_or_refuse(p, s, out);
	if (!is_gpu()) {
		out->value[MEASURE_MEMORY] = NAN;
		out->why[MEASURE_MEMORY] = "not applicable: graphs of the CPU device lie in memory "
					   "of the host";
	}
	/* whatever was updated and set is as it was */
	graph_clear(s, p->stream);
	CUDA(cudaGraphLaunch(s->exec[0], p->stream));
	CUDA(cudaStreamSynchronize(p->stream));
	return err ? err : graph_check_run(s, 1);
}

struct measuring {
	struct measure_plan *p;
	struct graph_state *s;
	const struct graph_opts *o;
	struct measure_length *out;
};

static int measure_one(void *arg)
{
	struct measuring *a = arg;
	struct measure_plan *p = a->p;
	struct graph_state *s = a->s;
	struct measure_length *out = a->out;
	const struct graph_opts *o = a->o;
	int err;

	out->length = o->length;
	out->nodes = graph_nodes(o);
	err = graph_prepare(o, s);
	if (!err)
		err = measure_all(p, s, out);
	return err;
}

/* A platform that has no graph of this kind at all. */
static void refuse_all(struct measure_length *out, const struct refusal *r)
{
	char text[REFUSAL_TEXT];

	refusal_text(r, text);
	for (int q = 0; q < MEASURE_QUANTITIES; q++) {
		struct series one = { NULL, 1, (enum measure_quantity)q };

		if (!out->why[q] && !isfinite(out->value[q]))
			give_reason(out, &one, text);
	}
}

int graph_measure(struct measure_plan *p, const struct graph_opts *o, struct measure_length *out)
{
	struct measuring a = { p, calloc(1, sizeof(*a.s)), o, out };
	struct refusal r;
	int err;

	CHECK(a.s, "memory of a state");
	memset(out, 0, sizeof(*out));
	for (int q = 0; q < MEASURE_QUANTITIES; q++)
		out->value[q] = NAN;
	err = refusal_catch(measure_one, &a, &r);
	if (err == -ENOSYS) {
		refuse_all(out, &r);
		err = 0;
	}
	graph_end_captures(a.s);
	refusal_settle(p->stream);
	refusal_ignore(graph_teardown, a.s);
	free(a.s);
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
