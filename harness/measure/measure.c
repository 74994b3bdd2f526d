/* measure.c - samples (here: blocks): what is timed, and how often. */
#include "harness/measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/text.h"
#include "harness/measure/nvtx.h"
#include "harness/measure/submit.h"
#include "workloads/workload.h"

/* ---- blocks: what is timed, and how often ----------------------------------------------- */

int measure_block_between(const struct submission *s, cudaEvent_t first, cudaEvent_t last,
			  struct block *out)
{
	const struct instance *w = s->instance;
	int64_t begin, enqueued;
	int err;

	err = w->workload->reset(w->opts, w->state, w->stream);
	if (err)
		return err;
	CUDA(cudaStreamSynchronize(w->stream));
	NVTX_BEGIN("block");
	begin = clock_ns();
	if (first)
		CUDA(cudaEventRecord(first, w->stream));
	err = submission_enqueue(s);
	if (last)
		CUDA(cudaEventRecord(last, w->stream));
	enqueued = clock_ns();
	sync_wait(w->sync, w->stream, w->event);
	out->total_ns = clock_ns() - begin;
	out->enq_ns = enqueued - begin;
	NVTX_END();
	if (err)
		return err;
	return interrupted() ? -EINTR : 0;
}

int measure_block(const struct submission *s, struct block *out)
{
	return measure_block_between(s, NULL, NULL, out);
}

int measure_one_step(const struct instance *instance, enum mode mode, int64_t *step_ns)
{
	struct submission s;
	struct block b;
	int err = submission_init(&s, instance, mode, 1);

	*step_ns = INT64_MAX;
	for (int i = 0; i < 3 && !err; i++) {
		err = measure_block(&s, &b);
		if (!err && b.total_ns < *step_ns)
			*step_ns = b.total_ns;
	}
	submission_release(&s);
	return err;
}

int64_t depth_that_fits(int64_t depth, int64_t step_ns)
{
	int64_t most = SECOND_NS / (step_ns > 0 ? step_ns : 1), fits = 1;

	while (2 * fits <= most)
		fits *= 2;
	return depth <= most ? depth : fits;
}

/*
 * Clocks, caches and lazily loaded code settle in the first blocks. The first two may agree by
 * being equally cold: harmless, since the timed blocks are kept raw and judged by their median.
 */
static int warm_up(const struct submission *s, struct warmup *out)
{
	int64_t start = clock_ns(), before = start;
	struct block b = { 0 };
	int err;

	*out = (struct warmup){ .ended_by = "time" };
	do {
		double last = (double)b.total_ns;

		err = measure_block(s, &b);
		if (err)
			return err;
		if (!out->blocks++)
			out->first_ns = b.total_ns;
		out->per_block_ns = clock_ns() - before;
		before += out->per_block_ns;
		out->elapsed_ns = before - start;
		if (out->blocks >= 2 && fabs((double)b.total_ns - last) <= 0.05 * last) {
			out->ended_by = "steady";
			break;
		}
	} while (out->blocks < 2 || out->elapsed_ns < SECOND_NS);
	out->total_ns = b.total_ns;
	return 0;
}

int measure_warmup(const struct submission *s, struct warmup *out)
{
	int err;

	NVTX_BEGIN("warm-up");
	clock_probe(); /* waits for a clock that is slow at first */
	err = warm_up(s, out);
	NVTX_END();
	return err;
}

int64_t blocks_that_fit(int64_t per_block_ns)
{
	int64_t n = per_block_ns > 0 ? SECOND_NS / per_block_ns : BLOCKS_MAX;

	return n < BLOCKS_MIN ? BLOCKS_MIN : n > BLOCKS_MAX ? BLOCKS_MAX : n;
}

int measure_blocks(const struct submission *s, int64_t n, struct blocks *out)
{
	struct block b;
	int err;

	out->n = 0;
	out->enq_ns = calloc((size_t)n, sizeof(*out->enq_ns));
	out->total_ns = calloc((size_t)n, sizeof(*out->total_ns));
	CHECK(out->enq_ns && out->total_ns, "%ld samples", (long)n);
	for (int64_t i = 0; i < n; i++) {
		if (i % (n / 100 + 1) == 0)
			progress("sample %ld of %ld", (long)i + 1, (long)n);
		err = measure_block(s, &b);
		if (err)
			return err;
		out->enq_ns[i] = b.enq_ns;
		out->total_ns[i] = b.total_ns;
		out->n = i + 1;
	}
	return 0;
}

void blocks_release(struct blocks *b)
{
	free(b->enq_ns);
	free(b->total_ns);
	*b = (struct blocks){ 0 };
}
