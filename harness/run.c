/* run.c - one configuration of one workload: set up, warmed up, timed, checked, reported. */
#include "harness/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "harness/interrupt.h"
#include "harness/nvtx.h"
#include "harness/progress.h"
#include "harness/stats.h"

enum { DEPTH_RUN = 64, CHECK_SEED = 1 };

static const char *const mode_names[] = { "stream", "graph", "fused", NULL };
static const char *const check_names[] = { "sample", "full", NULL };

/* Names with a '-' keep the macros of workload.h away. */
#define ROW(name, kind, f, unit, def, max, choices, help)                                          \
	{                                                                                          \
		name, kind, offsetof(struct run_options, f), unit, def, 1, max, choices, help,     \
			NULL                                                                       \
	}

const struct param run_option_rows[] = {
	ROW("mode", PARAM_CHOICE, mode, "", "", 0, mode_names, "how steps are submitted"),
	ROW("depth", PARAM_SIZE, depth, "steps", "", 1 << 24, NULL, "steps before a synchronize"),
	ROW("blocks", PARAM_INT, blocks, "blocks", "", 1000000, NULL, "timed blocks"),
	ROW("check", PARAM_CHOICE, check, "", "sample", 0, check_names, "what is compared"),
	ROW("check-steps", PARAM_SIZE, check_steps, "steps", "4k", 1 << 24, NULL, "steps checked"),
	PARAM_END,
};

static const struct run_options *options_of(const struct run *r)
{
	return r->options->opts;
}

static bool given(const struct run *r, const char *name, size_t len)
{
	return r->options->given[params_find(r->options->rows, name, len)];
}

const char *mode_refused(const struct workload *w, const struct limits *limits, enum mode mode)
{
	if (limits->mode_refused[mode])
		return limits->mode_refused[mode];
	return mode == MODE_FUSED && !w->fused ? "this workload has no fused form" : NULL;
}

const struct param *workload_axis(const struct workload *w)
{
	for (const struct param *row = w->params; row->name; row++)
		if (row->axis)
			return row;
	return NULL;
}

/* The mode asked for if it is allowed, else the first one that is. */
static int choose_mode(struct run *r)
{
	enum mode want = (enum mode)options_of(r)->mode;
	const char *name = r->workload->name;

	for (int m = MODE_COUNT - 1; m >= 0; m--) {
		r->allowed[m] = !mode_refused(r->workload, &r->limits, (enum mode)m);
		if (r->allowed[m])
			r->mode = (enum mode)m;
	}
	if (!r->allowed[r->mode])
		return complain(EINVAL, "%s allows no mode with these parameters: %s", name,
				mode_refused(r->workload, &r->limits, MODE_STREAM));
	if (!given(r, "mode", 4))
		return 0;
	r->mode = want;
	if (!r->allowed[want])
		return complain(EINVAL, "--mode=%s: %s refuses it: %s", mode_name(want), name,
				mode_refused(r->workload, &r->limits, want));
	return 0;
}

static int choose_depth(struct run *r)
{
	const struct limits *l = &r->limits;

	r->depth = options_of(r)->depth;
	if (!r->depth) {
		r->depth = l->depth_run ? l->depth_run : DEPTH_RUN;
		if (l->depth_max && r->depth > l->depth_max)
			r->depth = l->depth_max;
	}
	if (l->depth_max && r->depth > l->depth_max)
		return complain(EINVAL, "--depth=%ld: %s allows at most %ld: %s", (long)r->depth,
				r->workload->name, (long)l->depth_max,
				l->depth_why ? l->depth_why : "no reason given");
	return 0;
}

/* All that can be refused without a device; then the device. */
static int admit(struct run *r)
{
	const void *opts = r->params->opts;
	int err = r->workload->limits(opts, &r->limits);

	if (!err && !r->limits.action)
		err = choose_mode(r);
	if (!err && !r->limits.action)
		err = choose_depth(r);
	if (err)
		return err;
	if (r->limits.device_refused)
		return complain(ENODEV, "%s does not run on this device: %s", r->workload->name,
				r->limits.device_refused);
	platform_host(&r->platform);
	return platform_device(&r->platform);
}

static int set_up(struct run *r)
{
	const struct workload *w = r->workload;
	struct subject *s = &r->subject;
	int err;

	s->workload = w;
	s->opts = r->params->opts;
	s->state = calloc(1, w->state_size ? w->state_size : 1);
	CHECK(s->state, "%zu bytes of state", w->state_size);
	CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
	progress("%s: setting up", w->name);
	NVTX_BEGIN("setup");
	err = w->setup(s->opts, s->state);
	NVTX_END();
	if (!err)
		err = w->cost(s->opts, s->state, &r->cost);
	s->launches = r->cost.launches >= 1 ? (int64_t)ceil(r->cost.launches) : 1;
	return err ? err : interrupted() ? -EINTR : 0;
}

/* Warm-up, the kernels' own time, and the blocks, in the mode and at the depth asked for. */
static int time_blocks(struct run *r, struct submission *sub)
{
	double step_ns;
	int64_t n = options_of(r)->blocks;
	int err = submission_init(sub, &r->subject, r->mode, r->depth);

	r->graph_steps = sub->graph_steps;
	r->rest_steps = sub->rest_steps;
	progress("%s: warming up", r->workload->name);
	if (!err)
		err = measure_warmup(sub, &r->warmup);
	if (err)
		return err;
	step_ns = (double)r->warmup.total_ns / (double)r->depth;
	err = kernel_time_measure(&r->kernel, &r->subject, r->allowed, step_ns,
				  r->limits.depth_max);
	if (!err)
		err = measure_blocks(sub, n ? n : blocks_that_fit(r->warmup.per_block_ns),
				     &r->blocks);
	return err;
}

/*
 * The last block's result where it is not longer than check_steps, else a fresh run of that
 * many steps in the same mode: references run at the pace of a CPU.
 */
static int run_steps_to_check(struct run *r)
{
	int64_t limit = options_of(r)->check_steps;
	struct submission sub = { 0 };
	struct block ignored;
	int err;

	r->check_steps = r->depth < limit ? r->depth : limit;
	if (r->check_steps == r->depth)
		return 0;
	err = submission_init(&sub, &r->subject, r->mode, r->check_steps);
	if (!err)
		err = measure_block(&sub, &ignored);
	submission_release(&sub);
	return err;
}

static int check(struct run *r)
{
	struct verdict *v = &r->verdict;
	int err = run_steps_to_check(r);

	if (err)
		return err;
	progress("%s: checking", r->workload->name);
	v->full = options_of(r)->check == 1;
	v->seed = CHECK_SEED;
	NVTX_BEGIN("check");
	err = r->workload->check(r->subject.opts, r->subject.state, r->check_steps, v);
	NVTX_END();
	/* a hook that lets NaN pass, or compares nothing, must not pass here */
	r->passed = !err && v->passed && v->error <= v->tolerance && v->compared > 0;
	return err;
}

static void find_overhead(struct run *r)
{
	const struct param *axis = workload_axis(r->workload);
	struct timing t = {
		.mode = r->mode,
		.depth = r->depth,
		.depth_max = r->limits.depth_max,
		.total_ns = stats_of(r->blocks.total_ns, r->blocks.n, 1).median,
		.enq_ns = stats_of(r->blocks.enq_ns, r->blocks.n, 1).median,
		.allowed = r->allowed,
		.axis = axis ? axis->name : NULL,
	};

	overhead_of(&r->overhead, &r->kernel, &t);
}

static int measure_and_check(struct run *r)
{
	struct submission sub = { 0 };
	int err = time_blocks(r, &sub);

	submission_release(&sub);
	if (!err)
		find_overhead(r);
	return err ? err : check(r);
}

int run_execute(struct run *r)
{
	int err = admit(r);

	if (!err)
		err = set_up(r);
	if (!err && r->limits.action)
		r->passed = true;
	else if (!err)
		err = measure_and_check(r);
	if (!err && r->workload->report) {
		progress("%s: reporting", r->workload->name);
		err = r->workload->report(r->subject.opts, r->subject.state, &r->report);
	}
	progress_clear();
	if (err == -EINTR)
		complain(EINTR, "interrupted after %ld timed blocks; nothing is reported",
			 (long)r->blocks.n);
	return err;
}

void run_release(struct run *r)
{
	struct subject *s = &r->subject;

	/* a failed hook may have left work in the stream that uses what is freed here */
	if (s->stream)
		CUDA(cudaStreamSynchronize(s->stream));
	if (s->state)
		r->workload->teardown(s->state);
	if (s->stream)
		CUDA(cudaStreamDestroy(s->stream));
	free(s->state);
	blocks_release(&r->blocks);
	*s = (struct subject){ 0 };
}
