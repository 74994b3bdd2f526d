/* run.c - one configuration of one workload: set up, warmed up, timed, checked, reported. */
#include "harness/measure/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/progress.h"
#include "harness/measure/nvtx.h"
#include "harness/stats/stats.h"

static const struct run_options *options_of(const struct run *r)
{
	return r->options->opts;
}

/* Memory, stream, the workload's own set-up, and the counts that depend on it. */
static int set_up(struct run *r)
{
	const struct workload *w = r->workload;
	struct subject *s = &r->subject;
	int64_t begin;
	int err;

	s->workload = w;
	s->opts = r->params->opts;
	s->state = calloc(1, w->state_size ? w->state_size : 1);
	CHECK(s->state, "%zu bytes of state", w->state_size);
	CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
	s->event = sync_event(s->sync);
	progress("%s: setting up", w->name);
	r->cold.start_ns = cold_since_start_ns();
	begin = clock_ns();
	NVTX_BEGIN("setup");
	err = w->setup(s->opts, s->state);
	NVTX_END();
	r->cold.setup_ns = (double)(clock_ns() - begin);
	if (!err)
		err = w->cost(s->opts, s->state, &r->cost);
	/* a step that only copies still fills a graph */
	s->launches = r->cost.launches >= 1 ? (int64_t)ceil(r->cost.launches) : 1;
	return err ? err : interrupted() ? -EINTR : 0;
}

/* A depth asked for is kept, whatever it takes. */
static int cut_default_depth(struct run *r)
{
	int64_t step_ns, fits;
	int err;

	if (options_of(r)->depth || r->limits.depth_asked)
		return 0;
	err = measure_one_step(&r->subject, r->mode, &step_ns);
	if (err)
		return err;
	fits = depth_that_fits(r->depth, step_ns);
	r->depth_cut_from = fits < r->depth ? r->depth : 0;
	r->depth = fits;
	return 0;
}

/* Warm-up, the kernels' own time, and the blocks, in the mode and at the depth asked for. */
static int time_blocks(struct run *r, struct submission *sub)
{
	double step_ns;
	int64_t n = options_of(r)->blocks;
	int err;

	progress("%s: warming up", r->workload->name);
	err = cut_default_depth(r);
	if (!err)
		err = submission_init(sub, &r->subject, r->mode, r->depth);
	r->graph_steps = sub->graph_steps;
	r->rest_steps = sub->rest_steps;
	if (!err)
		err = measure_warmup(sub, &r->warmup);
	if (err)
		return err;
	r->cold.block_ns = (double)r->warmup.first_ns;
	step_ns = (double)r->warmup.total_ns / (double)r->depth;
	err = kernel_time_measure(&r->kernel, &r->subject, r->allowed, step_ns, r->depth,
				  r->limits.depth_max);
	if (!err)
		err = measure_blocks(sub, n ? n : blocks_that_fit(r->warmup.per_block_ns),
				     &r->blocks);
	return err;
}

/* Medians, not sums: one block that an interrupt hit says nothing about the overhead. */
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

/* The submission goes first: a long check need not hold graphs in device memory. */
static int measure_and_check(struct run *r)
{
	struct submission sub = { 0 };
	int err = time_blocks(r, &sub);

	submission_release(&sub);
	if (!err)
		find_overhead(r);
	return err ? err : run_check(r);
}

static int report(struct run *r)
{
	int err;

	if (!r->workload->report)
		return 0;
	progress("%s: reporting", r->workload->name);
	err = r->workload->report(r->subject.opts, r->subject.state, &r->report);
	/* a wrong result may well be one that cannot be reported: it failed its check first */
	return r->passed || err == -EINTR ? err : 0;
}

/* Before anything takes time. */
static int prepare_picture(struct run *r)
{
	struct picture *p = &r->picture;
	const char *folder = options_of(r)->plot;

	if (!folder)
		return 0;
	p->asked = true;
	plot_begin(&p->plot, folder, r->workload->name, r->platform.device);
	return picture_folder("--plot", folder);
}

/* Data files first: they are worth something without gnuplot. */
static int draw(struct run *r)
{
	struct picture *p = &r->picture;
	int err;

	if (!p->asked)
		return 0;
	if (!r->passed)
		return complain(EDOM, "not drawn: a picture of a result that failed its check "
				      "would mislead");
	progress("%s: drawing", r->workload->name);
	err = r->workload->plot(r->subject.opts, r->subject.state, &p->plot);
	if (err)
		p->plot.files = 0;
	else if (interrupted())
		err = complain(EINTR, "not drawn: interrupted");
	return err ? err : picture_draw(p);
}

static int execute(void *arg)
{
	struct run *r = arg;
	int err = set_up(r);

	if (!err && r->limits.action)
		r->passed = true;
	else if (!err)
		err = measure_and_check(r);
	if (!err)
		err = report(r);
	if (!err)
		r->picture_error = draw(r);
	return err;
}

int run_execute(struct run *r)
{
	struct refusal refusal;
	int err = run_admit(r);

	if (!err)
		err = prepare_picture(r);
	if (!err)
		err = refusal_catch(execute, r, &refusal);
	progress_clear();
	if (err == -ENOSYS)
		refusal_complain(&refusal, r->workload->name);
	if (err == -EINTR)
		complain(EINTR, "interrupted after %ld timed blocks; nothing is reported",
			 (long)r->blocks.n);
	return err;
}

static void tear_down(void *arg)
{
	struct run *r = arg;
	struct subject *s = &r->subject;

	if (s->state)
		r->workload->teardown(s->state);
	if (s->stream)
		CUDA(cudaStreamDestroy(s->stream));
	if (s->event)
		CUDA(cudaEventDestroy(s->event));
}

void run_release(struct run *r)
{
	struct subject *s = &r->subject;

	/* a failed hook may have left work in the stream that uses what is freed here */
	refusal_settle(s->stream);
	refusal_ignore(tear_down, r);
	free(s->state);
	blocks_release(&r->blocks);
	picture_release(&r->picture);
	platform_release(&r->platform);
	*s = (struct subject){ 0 };
}
