/* run_check.c - how many steps of a run are checked, and their check. */
#include <errno.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/nvtx.h"
#include "harness/progress.h"
#include "harness/run.h"
#include "harness/stats.h"

enum { SEED = 1, STEPS_LEAST = 1024, STEPS_MOST = 4096 };

int64_t check_steps_for(int64_t asked, int64_t depth, double step_ns)
{
	int64_t block = depth < STEPS_MOST ? depth : STEPS_MOST, steps;

	if (asked)
		return asked;
	steps = depth_that_fits(block > STEPS_LEAST ? block : STEPS_LEAST, (int64_t)step_ns);
	return steps > block ? steps : block;
}

/* Further steps, `depth` at a time, without a reset. */
static int advance(const struct run *r, int64_t depth, int64_t times)
{
	struct submission sub = { 0 };
	int err = submission_init(&sub, &r->subject, r->mode, depth);

	for (int64_t i = 0; i < times && !err; i++) {
		err = submission_enqueue(&sub);
		CUDA(cudaStreamSynchronize(r->subject.stream));
		if (!err && interrupted())
			err = -EINTR;
	}
	submission_release(&sub);
	return err;
}

/*
 * The last block's result where it has just these steps. Else a fresh run, in the same mode and
 * in batches as deep as the timed ones: shallow ones too get somewhere worth checking.
 */
static int run_steps(struct run *r)
{
	struct subject *s = &r->subject;
	int64_t batch = r->depth < r->check_steps ? r->depth : r->check_steps;
	int err;

	if (r->check_steps == r->depth)
		return 0;
	err = s->workload->reset(s->opts, s->state, s->stream);
	if (!err)
		err = advance(r, batch, r->check_steps / batch);
	if (!err && r->check_steps % batch)
		err = advance(r, r->check_steps % batch, 1);
	return err;
}

int run_check(struct run *r)
{
	const struct run_options *o = r->options->opts;
	struct verdict *v = &r->verdict;
	int err;

	progress("%s: checking", r->workload->name);
	r->check_steps =
		check_steps_for(o->check_steps, r->depth,
				stats_of(r->blocks.total_ns, r->blocks.n, (double)r->depth).median);
	err = run_steps(r);
	if (err)
		return err;
	v->full = o->check == 1;
	v->seed = SEED;
	NVTX_BEGIN("check");
	err = r->workload->check(r->subject.opts, r->subject.state, r->check_steps, v);
	NVTX_END();
	/* a hook that lets NaN pass, or compares nothing, must not pass here */
	r->passed = !err && v->passed && v->error <= v->tolerance && v->compared > 0;
	return err ? err : interrupted() ? -EINTR : 0;
}
