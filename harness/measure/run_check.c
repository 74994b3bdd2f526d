/* run_check.c - how many steps of a run are checked, and their check. */
#include <errno.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/progress.h"
#include "harness/measure/nvtx.h"
#include "harness/measure/run.h"
#include "harness/stats/stats.h"

enum { SEED = 1, STEPS_LEAST = 1024, STEPS_MOST = 4096 };

int64_t check_steps_for(int64_t asked, int64_t depth, double step_ns)
{
	int64_t block = depth < STEPS_MOST ? depth : STEPS_MOST, steps;

	if (asked)
		return asked;
	steps = depth_that_fits(block > STEPS_LEAST ? block : STEPS_LEAST, (int64_t)step_ns);
	return steps > block ? steps : block;
}

/* `times` batches, then the rest, which may hold none. */
static int launch(const struct submission batch[2], int64_t times)
{
	int err = 0;

	for (int64_t i = 0; i <= times && !err; i++) {
		const struct submission *sub = &batch[i == times];

		if (!sub->subject)
			break;
		err = submission_enqueue(sub);
		CUDA(cudaStreamSynchronize(sub->subject->stream));
		if (!err && interrupted())
			err = -EINTR;
	}
	return err;
}

/*
 * The last block's result where it has just these steps. Else a fresh run, in the same mode and
 * in batches as deep as the timed ones: shallow ones too get somewhere worth checking.
 */
static int run_steps(struct run *r, int64_t batch)
{
	const struct subject *s = &r->subject;
	struct submission sub[2] = { 0 };
	int64_t rest = r->check_steps % batch;
	int err;

	if (r->check_steps == r->depth)
		return 0;
	err = submission_init(&sub[0], s, r->mode, batch);
	if (!err && rest)
		err = submission_init(&sub[1], s, r->mode, rest);
	if (!err)
		err = s->workload->reset(s->opts, s->state, s->stream);
	if (!err)
		err = launch(sub, r->check_steps / batch);
	submission_release(&sub[0]);
	submission_release(&sub[1]);
	return err;
}

int run_check(struct run *r)
{
	const struct run_options *o = r->options->opts;
	struct verdict *v = &r->verdict;
	int64_t batch;
	int err;

	progress("%s: checking", r->workload->name);
	r->check_steps =
		check_steps_for(o->check_steps, r->depth,
				stats_of(r->blocks.total_ns, r->blocks.n, (double)r->depth).median);
	batch = r->depth < r->check_steps ? r->depth : r->check_steps;
	err = run_steps(r, batch);
	if (err)
		return err;
	v->full = o->check == 1;
	v->seed = SEED;
	v->graph_steps = longest_graph(&r->subject, r->mode, batch);
	NVTX_BEGIN("check");
	err = r->workload->check(r->subject.opts, r->subject.state, r->check_steps, v);
	NVTX_END();
	/* a hook that lets NaN pass, or compares nothing, must not pass here */
	r->passed = !err && v->passed && v->error <= v->tolerance && v->compared > 0;
	return err ? err : interrupted() ? -EINTR : 0;
}
